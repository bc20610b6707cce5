"""Count instructions and calls of a program with Valgrind's callgrind; every run gives the same counts.

A program marks the end of a part by calling `os.getloadavg`, a C function that nothing else calls.
"""

from __future__ import annotations

import collections
import pathlib
import re
import shutil


def find_valgrind() -> str | None:
    return shutil.which("valgrind")


def command(valgrind: str, folder: pathlib.Path, *options: str) -> list[str]:
    """Return the command that runs a program and writes its counts to an empty folder."""
    marks = "--dump-before=getloadavg"
    return [valgrind, "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}", marks, *options]


def parts(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the files with the counts of the parts, in order."""
    # The part after the last mark is in `out`, which is ignored.
    return sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:]))


def instructions(part: pathlib.Path) -> int:
    """Return the number of instructions of a part."""
    found = re.search(r"^(?:totals|summary): (\d+)", part.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def entries(part: pathlib.Path, library: str) -> dict[str, int]:
    """Return how often each function of a shared library was called from outside the library.

    The program must be run with `--compress-strings=no` and `--compress-pos=no`.
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
            # For a call within the same object there is no `cob` line.
            callee = caller
    return dict(counts)
