"""Rows: each is one task, with the code that does it for every contender that can."""

from __future__ import annotations

import dataclasses

#: The contenders that bind functions, in the order of the columns.
CALLERS = ("anyffi", "raw", "floor", "cython", "nanobind", "pybind11", "cffi", "ctypes", "tvm-ffi")


@dataclasses.dataclass(frozen=True)
class Snippet:
    """A statement to time, and a setup that defines its names; `f` is the contender's function."""

    statement: str
    setup: str = ""
    function: str | None = None


@dataclasses.dataclass(frozen=True)
class Row:
    """One task.

    A statement performs it `per` times, and is unrolled `unrolled` times in the timed loop. Without
    `counts` its instructions are not counted.
    """

    name: str
    group: str
    snippets: dict[str, Snippet]
    per: int = 1
    unrolled: int = 10
    counts: bool = True


def call(
    name: str,
    function: str,
    arguments: str = "",
    setup: str = "",
    group: str = "calls",
    leave_out: tuple[str, ...] = (),
    **others: Snippet,
) -> Row:
    """Make a row of the same call for all contenders; `others` have their own code."""
    snippet = Snippet(f"f({arguments})", setup, function)
    snippets = {contender: snippet for contender in CALLERS if contender not in leave_out}
    return Row(name, group, {**snippets, **others})
