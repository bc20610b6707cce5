"""Measure in both modes and report against the bars: `python3 tools/dev.py bench [OPTIONS]`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import sys
from typing import Any

from . import inside, installed, plots, record, report
from .bars import PYTHON_MODES
from .map import run
from .native import Missing, build_directory
from .processes import compare_modes, count, measure_pypy, run_module

QUICK = {"rounds": 3, "slice_ns": 100_000, "calls": 1000, "warm_up_s": 0.0}
FULL = {"rounds": 40, "slice_ns": 1_000_000, "calls": 1_000_000, "warm_up_s": 2.0}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("dev.py bench", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--quick", action="store_true", help="few, short rounds, only to test the benchmark itself"
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="PATTERN",
        help="only rows and groups that match; also inside, figures, growth",
    )
    parser.add_argument("--mode", choices=PYTHON_MODES, action="append", help="only in this mode")
    parser.add_argument("--instructions", action="store_true", help="also count instructions by callgrind")
    parser.add_argument("--growth", action="store_true", help="also measure how cost grows, in cython mode")
    parser.add_argument(
        "--map", action="store_true", help="measure the map of all shapes instead, and report what is slow"
    )
    parser.add_argument("--output", type=pathlib.Path, metavar="FOLDER", help="where to write the results")
    return parser.parse_args(arguments)


def measure_modes(modes: list[str], options: dict[str, Any], result: dict[str, Any], counts: bool) -> None:
    """Measure every row that is written in Python."""
    for mode in modes:
        done = run_module("worker", mode, options)
        result["missing"].update(done["missing"])
        result["versions"].update(done["versions"])
        if done["rows"]:
            result["times"][mode] = done["rows"]
            if counts:
                result["instructions"][mode] = count(mode, options)
    times = result["times"]
    if set(PYTHON_MODES) <= set(times):
        wanted = "nop(1)" in times["ctypes"] and options["warm_up_s"] > 0
        pypy = measure_pypy({**options, "only": "calls"}) if wanted else {}
        times["modes"] = compare_modes(times["cython"], times["ctypes"], pypy)


def measure_figures(modes: list[str], options: dict[str, Any]) -> dict[str, float]:
    figures = installed.measure(options)
    for mode in modes:
        # In ctypes mode a leak shows after fewer calls.
        calls = options["calls"] if mode == "cython" else options["calls"] // 10
        found = run_module("figures", mode, {**options, "calls": calls})
        figures.update({f"{name}, {mode}": value for name, value in found.items()})
    return figures


def main(arguments: list[str]) -> None:
    chosen = parse(arguments)
    options = {**(QUICK if chosen.quick else FULL), "only": chosen.only}
    modes = chosen.mode or list(PYTHON_MODES)
    output = chosen.output or build_directory() / "results"
    if chosen.map:
        try:
            run.main(modes, chosen.only, chosen.quick, output)
        except Missing as error:
            sys.exit(f"bench: {error}")
        return
    result: dict[str, Any] = {"about": record.describe(), "options": options}
    result.update(
        {"versions": {}, "missing": {}, "times": {}, "instructions": {}, "figures": {}, "growth": []}
    )
    try:
        measure_modes(modes, options, result, chosen.instructions)
        if re.search(chosen.only, "inside"):
            result["times"]["C++"] = inside.measure(options)
        if re.search(chosen.only, "figures"):
            result["figures"] = measure_figures(modes, options)
        if chosen.growth:
            result["growth"] = run_module("growth", "cython", options)
    except Missing as error:
        sys.exit(f"bench: {error}")

    verdicts = report.judge(result)
    for what, reason in result["missing"].items():
        print(f"Not measured: {what}: {reason}")
    for unit in ("times", "instructions"):
        for section, table in result[unit].items():
            print(f"\n{section}, {'nanoseconds' if unit == 'times' else unit}")
            print("\n".join(report.table_lines(table)))
    print("\n" + "\n".join(report.verdict_lines(verdicts)))
    result["bars"] = [{**dataclasses.asdict(verdict), "verdict": verdict.word} for verdict in verdicts]

    output.mkdir(parents=True, exist_ok=True)
    (output / "results.json").write_text(json.dumps(result, indent=1) + "\n")
    (output / "results.md").write_text(report.markdown(result, verdicts))
    plots.draw(result, output)
    print(f"\n{sum(verdict.word == 'pass' for verdict in verdicts)} of {len(verdicts)} bars hold")


if __name__ == "__main__":
    main(sys.argv[1:])
