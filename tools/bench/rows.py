"""What is measured: rows, each with a way to do the same thing for every contender that can."""

from __future__ import annotations

import dataclasses

#: Every contender that has functions, in the order of the columns.
CALLERS = ("anyffi", "raw", "floor", "cython", "nanobind", "pybind11", "cffi", "ctypes", "tvm-ffi")


@dataclasses.dataclass(frozen=True)
class Way:
    """A statement to time, after a setup that makes the names in it; `f` is the contender's function."""

    statement: str
    setup: str = ""
    function: str | None = None


@dataclasses.dataclass(frozen=True)
class Row:
    """The ways of each contender.

    A statement does `per` times what the row is about, and is written out `unrolled` times in a loop. Without
    `counts`, it is pointless to count its instructions.
    """

    name: str
    group: str
    ways: dict[str, Way]
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
    **others: Way,
) -> Row:
    """A call of the same shape of all contenders; `others` have a way of their own."""
    way = Way(f"f({arguments})", setup, function)
    ways = {contender: way for contender in CALLERS if contender not in leave_out}
    return Row(name, group, {**ways, **others})
