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
#: NumPy's column is `np.from_dlpack` of an array where the shape makes an ndarray of a tensor.
TENSOR = Law("tensor", "numpy", 1.5)
#: Access to elements in C++.
INSIDE = Law("C++", "std", 1.5)
COMPILE = Law("compile time", "nanobind", 1.2)
SIZE = Law("size", "nanobind", 1.2)
MEMORY = Law("peak memory", "nanobind", 1.5)

#: Crafted keys beside random ones.
KEYS = Law("keys", "harmless", 3.0)

#: ctypes mode beside cython mode; the second limit is for shapes that cython mode made faster.
MODES_LIMIT, MODES_MOST = 60.0, 100.0
#: A method grows too fast if the growth of its time, from the small to the large size, exceeds that of
#: Python's own by this factor.
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
