"""The map: builds the libraries, measures each mode in a process, judges and reports."""

from __future__ import annotations

import contextlib
import csv
import json
import pathlib
import re
import time
from typing import Any

from .. import inside, record
from ..contenders import versions
from ..processes import Worker, run_module
from . import changes, compiling, memory, plot, sources
from .laws import INSIDE, MODES_LIMIT, is_wanted
from .table import SHAPES
from .verdict import Times, Verdict, as_rows, compare, judge, judge_growth, judge_modes, lines, summary

QUICK = {"rounds": 1, "more_rounds": 0, "slice_ns": 20_000}
FULL = {"rounds": 6, "more_rounds": 30, "slice_ns": 200_000}
#: Options for measuring only anyffi: the ratios between modes are far from their limits, so that few rounds
#: suffice.
ROUGH = {"rounds": 2, "more_rounds": 0, "slice_ns": 50_000}
#: How often both modes are measured again, in turns, if their ratio exceeds the limit divided by NEAR_MODES.
AGAIN, NEAR_MODES = 3, 1.5

CONTENDERS = ("anyffi", "nanobind", "tvm-ffi", "python", "numpy", "harmless")
ALONE = ("anyffi",)

#: What is measured besides shapes; patterns select it like groups of shapes.
PARTS = ("C++", "compiling", "memory")


class Progress:
    """Prints what is done, and how long it took."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def done(self, what: str) -> None:
        now = time.monotonic()
        print(f"{what}: {now - self._last:.0f} s", flush=True)
        self._last = now


def measure_shapes(
    modes: list[str], paths: dict[str, list[str]], options: dict[str, Any], progress: Progress
) -> list[Verdict]:
    """Measure in all modes, which take turns; the other contenders run in the first one only."""
    wanted = [shape for shape in SHAPES if is_wanted(options["only"], shape.name, shape.group)]
    times: dict[str, Times] = {mode: {} for mode in modes}
    refused = {}
    with contextlib.ExitStack() as stack:
        workers = {
            mode: stack.enter_context(Worker("map.measure", mode, {"paths": paths, "contenders": names}))
            for mode, names in zip(modes, (CONTENDERS, ALONE))
        }
        for shape in wanted:
            for mode, worker in workers.items():
                first = mode == modes[0]
                given = {**options, "contenders": CONTENDERS} if first else {**ROUGH, "contenders": ALONE}
                times[mode][shape.name], why = worker.ask({"shape": shape.name, **given})
                if first:
                    refused[shape.name] = why
            compare_again(shape.name, workers, times)
    progress.done(f"{len(wanted)} shapes, {' and '.join(modes)} mode")
    first_times = times[modes[0]]
    verdicts = [*judge(SHAPES, first_times, refused), *judge_growth(SHAPES, first_times)]
    if {"cython", "ctypes"} <= set(times):
        verdicts += judge_modes(SHAPES, times["cython"], times["ctypes"])
    return verdicts


def compare_again(name: str, workers: dict[str, Worker], times: dict[str, Times]) -> None:
    """Measure a shape again in both modes, in turns, as long as their ratio is near or above the limit."""
    for _ in range(AGAIN):
        fast, slow = (times.get(mode, {}).get(name, {}).get("anyffi") for mode in ("cython", "ctypes"))
        if not fast or not slow or slow / fast < MODES_LIMIT / NEAR_MODES:
            return
        for mode, worker in workers.items():
            again, _ = worker.ask({"shape": name, **ROUGH, "contenders": ALONE})
            times[mode][name]["anyffi"] = min(times[mode][name]["anyffi"], again["anyffi"])


def contenders_of(only: str) -> set[str]:
    """Return the contenders whose functions the wanted shapes call."""
    return {
        name
        for shape in SHAPES
        if is_wanted(only, shape.name, shape.group)
        for name, snippet in shape.snippets.items()
        if snippet.function is not None
    }


def measure_inside(options: dict[str, Any]) -> list[Verdict]:
    table = inside.measure(options, "map_inside")
    return [compare(f"C++: {row}", "C++", INSIDE, found) for row, found in table.items()]


def measure(modes: list[str], is_quick: bool, only: str) -> list[Verdict]:
    options = {**(QUICK if is_quick else FULL), "only": only}
    wanted = [part for part in PARTS if re.search(only, part)]
    progress = Progress()
    built = sources.build_all(contenders_of(only) | ({"anyffi", "nanobind"} if "memory" in wanted else set()))
    paths = {name: [str(path) for path in found] for name, found in built.items()}
    progress.done("Compiled")
    verdicts = measure_shapes(modes, paths, options, progress)
    if "C++" in wanted:
        verdicts += measure_inside(options)
        progress.done("C++")
    if "memory" in wanted and memory.CLEAR.exists() and "nanobind" in paths:
        verdicts += memory.judge(run_module("map.memory", "cython", {"paths": paths}))
        progress.done("Memory")
    if "compiling" in wanted:
        verdicts += compiling.measure({"functions": (1,)} if is_quick else compiling.COUNTS)
        progress.done("Compile time")
    return verdicts


def write(folder: pathlib.Path, verdicts: list[Verdict], text: list[str]) -> None:
    """Write the results as JSON and as text."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"about": record.describe(), "versions": versions()}
    (folder / "map.json").write_text(json.dumps({**about, "shapes": as_rows(verdicts)}, indent=1) + "\n")
    (folder / "map.txt").write_text("\n".join(text) + "\n")
    contenders = list(dict.fromkeys(name for each in verdicts for name in each.times))
    with (folder / "map.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["shape", "group", "law", "limit", "ratio", "note", *contenders])
        for each in verdicts:
            ratio = "" if each.ratio is None else f"{each.ratio:.3g}"
            found = (f"{each.times[name]:.4g}" if name in each.times else "" for name in contenders)
            table.writerow([each.shape, each.group, each.law, each.limit, ratio, each.note, *found])
    plot.draw(verdicts, folder)


def main(
    modes: list[str], only: str, is_quick: bool, output: pathlib.Path, against: pathlib.Path | None
) -> None:
    """Measure, print and write; with `against`, a file of an earlier run, also print what changed."""
    before = changes.read(against) if against else {}
    verdicts = measure(modes, is_quick, only)
    text = [*lines(verdicts), "", *summary(verdicts)]
    if before:
        text += ["", *changes.lines(before, verdicts)]
    print("\n".join(text))
    write(output, verdicts, text)
