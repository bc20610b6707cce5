"""Measure in both modes and show the bars: `python3 tools/dev.py bench [OPTIONS]`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from .report import bar_lines, table_lines

MODES = ("cython", "ctypes")


def run_worker(mode: str, options: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.worker", json.dumps(options)],
        env={**os.environ, "FFI_MODE": mode},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("dev.py bench", description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="few and short rounds: to see that it works")
    parser.add_argument("--only", default="", metavar="PATTERN", help="rows or groups that match this")
    parser.add_argument("--mode", choices=MODES, action="append", help="in this mode alone")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    chosen = parse(arguments)
    rounds = {"rounds": 3, "slice_ns": 100_000} if chosen.quick else {"rounds": 40, "slice_ns": 1_000_000}
    for mode in chosen.mode or MODES:
        result = run_worker(mode, {"only": chosen.only, **rounds})
        for what, reason in result["missing"].items():
            print(f"Left out: {what}: {reason}")
        print(f"\n{mode}: nanoseconds, the fastest of {rounds['rounds']} interleaved rounds")
        print("\n".join(table_lines(result["times"])))
        print("\n" + "\n".join(bar_lines(mode, result["times"])))


if __name__ == "__main__":
    main(sys.argv[1:])
