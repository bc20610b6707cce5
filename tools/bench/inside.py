"""Builds and runs the C++ program, which compares anyffi in C++ with the standard library."""

from __future__ import annotations

import itertools
import json
import subprocess
from typing import Any

from . import native
from .bars import Table
from .contenders import anyffi_flags
from .timing import compile_loop


def measure(options: dict[str, Any], name: str = "inside") -> Table:
    """Return the program's table; for texts, with Python's time per ASCII character added."""
    program = native.compile_library(name, [native.SOURCES / f"{name}.cc"], *anyffi_flags(), form=())
    split = compile_loop("list(x)", {"x": "abcdefgh" * 128}, 1)
    table: Table = {}
    # In turns, since they run in different processes.
    for _ in range(3):
        best = min(split(itertools.repeat(None, 100)) for _ in range(options["rounds"])) / 100 / 1024
        rounds = [str(options["rounds"]), str(options["slice_ns"])]
        printed = subprocess.run(
            [str(program), *rounds], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        for row, found in json.loads(printed).items():
            texts = {"python": best} if row.startswith("split") else {}
            for contender, time in {**found, **texts}.items():
                kept = table.setdefault(row, {})
                kept[contender] = min(time, kept.get(contender, time))
    return table
