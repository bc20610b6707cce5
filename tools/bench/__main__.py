"""Measure in both modes and show the bars: `python3 tools/dev.py bench [OPTIONS]`."""

from __future__ import annotations

import argparse
import sys

from . import report
from .processes import MODES, count, measure

QUICK = {"rounds": 3, "slice_ns": 100_000}
FULL = {"rounds": 40, "slice_ns": 1_000_000}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("dev.py bench", description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="few and short rounds: to see that it works")
    parser.add_argument("--only", default="", metavar="PATTERN", help="rows or groups that match this")
    parser.add_argument("--mode", choices=MODES, action="append", help="in this mode alone")
    parser.add_argument("--instructions", action="store_true", help="also count instructions, by callgrind")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    chosen = parse(arguments)
    rounds = QUICK if chosen.quick else FULL
    for mode in chosen.mode or MODES:
        result = measure(mode, {"only": chosen.only, **rounds})
        for what, reason in result["missing"].items():
            print(f"Left out: {what}: {reason}")
        print(f"\n{mode}: nanoseconds, the fastest of {rounds['rounds']} interleaved rounds")
        print("\n".join(report.table_lines(result["rows"])))
        counted = count(mode, {"only": chosen.only}) if chosen.instructions else {}
        if counted:
            print(f"\n{mode}: instructions")
            print("\n".join(report.table_lines(counted)))
        print("\n" + "\n".join(report.bar_lines(mode, result["rows"], counted)))


if __name__ == "__main__":
    main(sys.argv[1:])
