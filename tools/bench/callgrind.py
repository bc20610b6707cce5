"""Valgrind's callgrind counts the instructions and calls of a program, the same ones in every run.

A program marks where one part ends and the next begins: it calls `os.getloadavg`, a C function that nothing
else calls.
"""

from __future__ import annotations

import collections
import pathlib
import re
import shutil


def find_valgrind() -> str | None:
    return shutil.which("valgrind")


def command(valgrind: str, folder: pathlib.Path, *options: str) -> list[str]:
    """What to put before a program, so that what is counted is written to an empty folder."""
    marks = "--dump-before=getloadavg"
    return [valgrind, "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}", marks, *options]


def parts(folder: pathlib.Path) -> list[pathlib.Path]:
    """What was written of each part that a mark ended."""
    # What follows the last mark goes to `out` itself.
    return sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:]))


def instructions(part: pathlib.Path) -> int:
    """How many instructions a part executed."""
    found = re.search(r"^(?:totals|summary): (\d+)", part.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def entries(part: pathlib.Path, library: str) -> dict[str, int]:
    """How often each function of a shared library was called from outside of it.

    Wants `--compress-strings=no` and `--compress-pos=no`.
    """
    counts: dict[str, int] = collections.Counter()
    caller = callee = called = ""
    for line in part.read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            caller = callee = value
        elif key == "cob":
            callee = value
        elif key == "cfn":
            called = value
        elif key == "calls":
            if callee.endswith(library) and not caller.endswith(library):
                counts[called] += int(value.split()[0])
            # A call within the same object does not name it.
            callee = caller
    return dict(counts)
