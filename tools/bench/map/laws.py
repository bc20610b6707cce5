"""Laws: how much a shape may cost, relative to another contender in the same run."""

from __future__ import annotations

import dataclasses
import re

from ..rows import Row


@dataclasses.dataclass(frozen=True)
class Law:
    """At most `limit` times the time of contender `of`."""

    name: str
    of: str
    limit: float


CALL = Law("call", "nanobind", 1.3)
#: For values that nanobind has no type for.
OPAQUE = Law("opaque", "tvm-ffi", 1.0)
METHOD = Law("method", "python", 5.0)
TO_PYTHON = Law("to_python", "nanobind", 2.0)
#: If the shape makes an ndarray of a tensor, NumPy's column is `np.from_dlpack` of an array.
TENSOR = Law("tensor", "numpy", 1.5)
#: Access to elements in C++.
INSIDE = Law("C++", "std", 1.5)
COMPILE = Law("compile time", "nanobind", 1.2)
SIZE = Law("size", "nanobind", 1.2)
MEMORY = Law("peak memory", "nanobind", 1.5)

#: Crafted keys compared with random ones.
KEYS = Law("keys", "harmless", 3.0)

#: ctypes mode compared with cython mode; the report also counts the shapes above the second limit.
MODES_LIMIT, MODES_MOST = 60.0, 100.0
#: A method grows too fast if its time grows, from the small to the large size, by this factor more than that
#: of Python's method.
GROWTH_LIMIT = 8.0


def is_wanted(only: str, name: str, group: str) -> bool:
    return bool(re.search(only, name) or re.search(only, group))


@dataclasses.dataclass(frozen=True)
class Shape(Row):
    """A row with a law.

    `series` and `size` name the shapes that differ in size alone.
    """

    law: Law = CALL
    series: str = ""
    size: int = 0
