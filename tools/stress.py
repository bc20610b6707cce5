"""Stress-test processes: forks, start methods, exits, embedding, imports, signals and threads.

    python3 tools/dev.py stress [NAMES] [--seconds N] [--calls N] [--modes cython,ctypes]

Each program runs in each mode, in its own process; they share the time. `sharing` uses the same objects in 8
threads. `--calls N` lets the soak, which makes calls in 16 threads, end after N calls instead. The programs
are in tests/support/stress.py.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "tests" / "support" / "stress.py"
NAMES = ("fork", "start_methods", "exits", "embed", "imports", "signals", "sharing", "soak")
#: A program counts as hanging this many seconds after its time.
PATIENCE = 300


def run(name: str, mode: str, seconds: float, calls: int) -> str | None:
    """Run a program; return what was wrong."""
    command = [sys.executable, "-W", "error", str(PROGRAM), name, f"--seconds={seconds}", f"--calls={calls}"]
    variables = {**os.environ, "FFI_MODE": mode}
    patience = None if calls else seconds + PATIENCE
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=variables, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return f"{name} in {mode} mode hangs"
    if done.returncode != 0:
        return f"{name} in {mode} mode: exit {done.returncode}\n{done.stdout}{done.stderr}"
    unit = "calls" if name == "soak" else "rounds"
    print(f"{mode:6} {name:13} {int(done.stdout):13,} {unit}, no error", flush=True)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/dev.py stress", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--seconds", type=float, default=20, help="of all programs together (default: 20)")
    parser.add_argument("--calls", type=int, default=0, help="of the soak in each mode")
    parser.add_argument("--modes", default="cython,ctypes", help="default: %(default)s")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in NAMES]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(NAMES)}")
    runs = [(name, mode) for name in given.names or NAMES for mode in given.modes.split(",")]
    failures = [
        failure
        for name, mode in runs
        if (failure := run(name, mode, given.seconds / len(runs), given.calls if name == "soak" else 0))
    ]
    print(*failures, sep="\n\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
