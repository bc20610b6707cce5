"""Counts the instructions of anyffi's own libraries per call, and compares them with the recorded counts.

    python -m bench.instructions [--update] [--tolerance PERCENT]

Callgrind counts the same instructions in every run of the same binaries. They depend on the compiler and the
interpreter, so that they are only compared within one environment.
"""

from __future__ import annotations

import argparse
import collections
import csv
import pathlib
import platform
import subprocess
import sys
import tempfile

from .callgrind import command, find_valgrind, parts
from .shapes import SHAPES, Shape

RECORD = pathlib.Path(__file__).with_name("instructions.csv")
TIMES = 50
#: Callgrind counts an object file whose name has one of these.
OBJECTS = ("libanyffi", "_core.", "libanyffi_testing")

_PROGRAM = """
import gc, os
import anyffi.testing
def make(name, setup, statement, function):
    names = {{"anyffi": anyffi, "f": anyffi.get_global_func("testing." + function)}}
    exec(setup, names)
    body = "def run():\\n  for _ in range({times}):\\n    " + statement
    local = ", ".join(f"{{x}}={{x}}" for x in names if not x.startswith("__"))
    exec(body.replace("run()", f"run({{local}})"), names)
    return names["run"]
made = [make(*shape) for shape in {shapes!r}]
gc.disable()
for run in made:
    run()
    os.getloadavg()
    run()
    os.getloadavg()
"""


def environment() -> str:
    """Return what the counts depend on besides the sources."""
    compiler = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True, check=False)
    return f"CPython {platform.python_version()}, c++ {compiler.stdout.strip()}, {platform.machine()}"


def count(python: str = sys.executable) -> dict[str, int]:
    """Count the instructions per call of each shape in cython mode."""
    valgrind = find_valgrind()
    if valgrind is None:
        raise SystemExit("there is no valgrind (Debian: apt-get install valgrind)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program.py"
        program.write_text(_PROGRAM.format(times=TIMES, shapes=[_fields(shape) for shape in SHAPES]))
        options = ("--compress-strings=no", "--compress-pos=no")
        subprocess.run(
            [*command(valgrind, folder, *options), python, str(program)],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": "0", "FFI_MODE": "cython", "PATH": "/usr/bin:/bin"},
        )
        # Each shape ends two parts: the one that warms up, and the one that counts.
        counted = parts(folder)[1 : 2 * len(SHAPES) : 2]
        return {shape.name: _own(part) // TIMES for shape, part in zip(SHAPES, counted)}


def _fields(shape: Shape) -> tuple[str, str, str, str]:
    return shape.name, shape.setup, shape.statement, shape.function


def _own(part: pathlib.Path) -> int:
    """Sum the instructions in our object files, without those in functions of others that they call."""
    costs: dict[str, int] = collections.Counter()
    current, is_inclusive = "", False
    for line in part.read_text().splitlines():
        if line.startswith("ob="):
            current = line[3:]
        elif line.startswith("calls="):
            is_inclusive = True
        elif line[:1].isdigit():
            if not is_inclusive:
                costs[current] += int(line.split()[1])
            is_inclusive = False
    return sum(cost for name, cost in costs.items() if any(known in name for known in OBJECTS))


def read_record() -> tuple[str, dict[str, int]]:
    """The environment and the counts that are recorded in the tree."""
    with RECORD.open(newline="") as file:
        (_, where), *rows = csv.reader(file)
    return where, {name: int(number) for name, number in rows}


def write_record(counts: dict[str, int]) -> None:
    with RECORD.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("environment", environment()), *counts.items()])


def differences(counts: dict[str, int], recorded: dict[str, int], tolerance: float) -> list[str]:
    """Describe every shape whose count is outside the tolerance, which is at least two instructions."""
    found = []
    for name, number in counts.items():
        before = recorded.get(name)
        if before is None:
            found.append(f"{name}: {number} instructions, not recorded yet")
        elif abs(number - before) > max(2, before * tolerance):
            found.append(f"{name}: {number} instructions, recorded {before} ({number / before - 1:+.1%})")
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.instructions", description=__doc__)
    parser.add_argument("--update", action="store_true", help="record what is counted")
    parser.add_argument("--tolerance", type=float, default=3, help="in percent (default: 3)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to count in")
    options = parser.parse_args(arguments)
    counts = count(options.python)
    for name, number in counts.items():
        print(f"{number:8,}  {name}")
    if options.update:
        write_record(counts)
        return 0
    where, recorded = read_record()
    if where != environment():
        print(f"Not compared: recorded for {where}, counted for {environment()}")
        return 0
    found = differences(counts, recorded, options.tolerance / 100)
    print("\n".join(found) or "All are as recorded.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
