"""Bars: limits on a row's time for anyffi, relative to another contender's in the same run."""

from __future__ import annotations

import dataclasses

from .rows_calls import CALLBACKS, CALLS, CONTAINERS, TENSORS

#: The modes of anyffi that are measured.
PYTHON_MODES = ("cython", "ctypes")

#: Nanoseconds or instructions by row and contender.
Table = dict[str, dict[str, float]]


@dataclasses.dataclass(frozen=True)
class Bar:
    """At most `limit` times the time of contender `of` for `of_row`, by default the same row."""

    row: str
    limit: float
    of: str
    of_row: str | None = None
    contender: str = "anyffi"

    @property
    def text(self) -> str:
        row = f"'s {self.of_row}" if self.of_row else ""
        who = "" if self.contender == "anyffi" else f" in {self.contender}"
        return f"{self.row}{who}: at most {self.limit:g} times {self.of}{row}"

    def ratio(self, table: Table) -> float | None:
        """Return the ratio; None if one of the two was not measured."""
        ours = table.get(self.row, {}).get(self.contender)
        theirs = table.get(self.of_row or self.row, {}).get(self.of)
        return ours / theirs if ours and theirs else None


SHAPES = (
    "nop()",
    "nop(1)",
    "nop(1, 2, 3)",
    "nop(1.5)",
    "nop(None)",
    "nop(True)",
    'nop("mystr")',
    "nop(str of 64)",
    "nop(bytes of 5)",
    "nop(bytes of 64)",
)

CYTHON = [
    *(Bar(shape, 1.2 if shape == "nop()" else 1.1, "nanobind") for shape in SHAPES),
    *(Bar(shape, 0.3, "tvm-ffi") for shape in SHAPES),
    Bar("int in and out", 1.1, "nanobind"),
    Bar("str in and out", 1.1, "nanobind"),
    Bar("nop((1, 2, 3))", 1.0, "nanobind"),
    Bar("nop([1, 2, 3])", 1.0, "nanobind"),
    Bar("nop((None, ..., slice))", 0.4, "numpy"),
    Bar("list of 100 ints", 1.0, "nanobind"),
    Bar("list of 100 strings", 0.5, "nanobind"),
    Bar("dict of 100 str to int", 0.35, "nanobind"),
    Bar("one ndarray", 0.5, "nanobind"),
    Bar("three ndarrays", 0.5, "nanobind"),
    Bar("three ndarrays", 0.5, "numpy"),
    Bar("a torch tensor", 0.6, "tvm-ffi"),
    Bar("Python callback", 1.0, "nanobind"),
    Bar("f(1, b=2)", 1.3, "anyffi", "f(1, 2)"),
    Bar("iterate a List of ints", 4.0, "python"),
    Bar("iterate an Array of ints", 4.0, "python"),
    Bar("iterate a List of strings", 8.0, "python"),
    Bar("iterate an Array of strings", 8.0, "python"),
    Bar("d[key]", 3.0, "python"),
    Bar("len(a)", 3.0, "python"),
    Bar("a[5]", 3.0, "python"),
    Bar("to_python of 1,000 ints", 1.5, "python"),
    Bar("C++ throw", 1.2, "nanobind"),
    Bar("mistyped argument", 5.0, "python"),
    Bar("error returned", 5.0, "python"),
    Bar("Python exception through C++", 4.0, "python"),
    *(Bar(f"characters of {name}", 3.0, "python") for name in ("ASCII", "Latin-1", "CJK", "astral")),
    Bar("split into words, look them up", 0.5, "python"),
]

CTYPES = [Bar("nop(1)", 5.0, "ctypes")]

#: In the table of modes, the columns are modes of anyffi.
MODES = [
    *(
        Bar(row.name, 60.0, "cython", contender="ctypes")
        for row in (*CALLS, *CONTAINERS, *TENSORS, *CALLBACKS)
    ),
    Bar("nop(1)", 2.0, "ctypes", contender="PyPy"),
]

ALPHABETS = ("ASCII", "Latin-1", "CJK", "astral")
VIEWS = ("ints", "strings", "objects", "values")

INSIDE = [
    Bar("call int -> int", 1.5, "std"),
    Bar("push_back", 1.3, "std"),
    Bar("index", 1.3, "std"),
    Bar("look up a short string", 1.0, "std"),
    *(Bar(f"split {name}, typed", 1.25, "python") for name in ALPHABETS),
    *(Bar(f"split {name}, erased", 1.75, "python") for name in ALPHABETS),
    *(
        Bar(f"split {name}, {how}", 1.5, "anyffi", f"split ASCII, {how}")
        for how in ("typed", "erased")
        for name in ALPHABETS[1:]
    ),
    # A view takes constant time if ten elements take as long as ten thousand.
    *(Bar(f"view 10000 {what}", 1.5, "anyffi", f"view 10 {what}") for what in VIEWS),
]

BARS = {"cython": CYTHON, "ctypes": CTYPES, "modes": MODES, "C++": INSIDE}


@dataclasses.dataclass(frozen=True)
class Limit:
    """An upper or lower limit of a figure."""

    figure: str
    limit: float
    unit: str
    at_least: bool = False

    @property
    def text(self) -> str:
        return f"{self.figure}: at {'least' if self.at_least else 'most'} {self.limit:g} {self.unit}"

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


LIMITS = [
    Limit("import anyffi, cython", 25.0, "ms"),
    Limit("import anyffi, ctypes", 40.0, "ms"),
    Limit("import anyffi imports NumPy", 0.0, "times"),
    Limit("work of 4 threads, cython", 1.8, "times that of 1", at_least=True),
    Limit("work of 4 threads, ctypes", 1.8, "times that of 1", at_least=True),
    Limit("list of 1,000,000 ints, cython", 16.5, "bytes each"),
    Limit("list of 1,000,000 ints, ctypes", 16.5, "bytes each"),
    Limit("leaked by a list of 1,000,000 ints, cython", 0.0, "blocks"),
    Limit("leaked by a list of 1,000,000 ints, ctypes", 0.0, "blocks"),
    Limit("memory growth in a million calls of every shape, cython", 64.0, "KB"),
    Limit("memory growth in a million calls of every shape, ctypes", 64.0, "KB"),
    Limit("libanyffi, stripped", 600.0, "KB"),
]
