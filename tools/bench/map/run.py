"""The map: builds the libraries, measures each mode in a process, judges and reports."""

from __future__ import annotations

import csv
import json
import pathlib
import time
from typing import Any

from .. import record
from ..contenders import versions
from ..processes import run_module
from . import sources
from .table import SHAPES
from .verdict import Verdict, as_rows, judge, judge_growth, judge_modes, lines, summary

QUICK = {"rounds": 1, "more_rounds": 0, "slice_ns": 20_000}
FULL = {"rounds": 6, "more_rounds": 30, "slice_ns": 200_000}

CONTENDERS = ("anyffi", "nanobind", "tvm-ffi", "python", "numpy")


def measure(modes: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """Measure in each mode; the other contenders run beside anyffi in cython mode only."""
    start = time.monotonic()
    built = sources.build_all()
    paths = {name: [str(path) for path in found] for name, found in built.items()}
    print(f"Compiled in {time.monotonic() - start:.0f} s", flush=True)
    result = {}
    for mode in modes:
        contenders = CONTENDERS if mode == modes[0] else ("anyffi",)
        given = {**options, "paths": paths, "contenders": contenders}
        result[mode] = run_module("map.measure", mode, given)
        print(
            f"Measured {len(result[mode]['times'])} shapes, {mode}: {result[mode]['seconds']:.0f} s",
            flush=True,
        )
    return result


def judge_all(measured: dict[str, Any]) -> list[Verdict]:
    first = next(iter(measured))
    times, refused = measured[first]["times"], measured[first]["refused"]
    verdicts = [*judge(SHAPES, times, refused), *judge_growth(SHAPES, times)]
    if {"cython", "ctypes"} <= set(measured):
        verdicts += judge_modes(SHAPES, measured["cython"]["times"], measured["ctypes"]["times"])
    return verdicts


def write(folder: pathlib.Path, verdicts: list[Verdict], text: list[str]) -> None:
    """Write what was measured, for programs and for people."""
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


def main(modes: list[str], only: str, is_quick: bool, output: pathlib.Path) -> None:
    verdicts = judge_all(measure(modes, {**(QUICK if is_quick else FULL), "only": only}))
    text = [*lines(verdicts), "", *summary(verdicts)]
    print("\n".join(text))
    write(output, verdicts, text)
