"""Lets allocations of a process fail, through the counters of the preloaded failing_memory.c."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sysconfig
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Faults", "is_lost", "open_cells"]

#: CPython's messages after it lost a MemoryError. Before 3.11 it loses some for frames of functions, such as
#: those whose cache of attributes (`_PyCode_InitOpcache`, at the 1,024th call) cannot be allocated.
_LOST = (
    "error return without exception set",
    "returned NULL without setting an error",
    "returned NULL without setting an exception",
)


def open_cells() -> memoryview:
    """Return counters: allocations that succeed before some fail (negative: none fails), failed ones, and how many fail.

    The latter is one unless the environment variable FAILING_IN_A_ROW is set.
    """
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    cells = memoryview((ctypes.c_long * 3).in_dll(library, "failing_memory_cells")).cast("B").cast("l")
    cells[2] = int(os.environ.get("FAILING_IN_A_ROW", "1"))
    return cells


def is_lost(message: str) -> bool:
    """Whether a SystemError with this message is a MemoryError that CPython has lost."""
    return any(words in message for words in _LOST)


def raise_each() -> None:
    """Let each allocation of a few raised exceptions fail in turn: some releases of CPython then damage memory."""

    def fail() -> None:
        raise ValueError("x" * 100)

    def throw() -> None:
        (_ for _ in ()).throw(ValueError("x" * 100))

    faults = Faults()
    for operation in (fail, throw):
        for _ in range(3):
            for _ in faults.each():
                with contextlib.suppress(ValueError):
                    faults.attempt(operation)


class Faults:
    """Lets each allocation of an operation fail in turn.

    for point in faults.each(least=20):
        result = faults.attempt(operation)
        assert result in (None, expected), point
    """

    def __init__(self) -> None:
        #: How many allocations have failed, each in a separate round.
        self.count = 0
        self._cells = open_cells()
        self._point = 0
        self._has_failed = False

    def each(self, least: int = 0) -> Iterator[int]:
        """Yield the number of the allocation to fail, until no attempt in a round makes as many.

        `least`: the minimum number of allocations, except in builds without the GIL, which have another allocator.
        """
        for self._point in range(5000):
            self._has_failed = False
            yield self._point
            if not self._has_failed:
                break
        else:
            raise AssertionError("an operation allocates more each time")
        assert sysconfig.get_config_var("Py_GIL_DISABLED") or self._point >= least, self._point
        self.count += self._point

    def attempt(self, operation: Callable[[], Any], begins: bool = True) -> Any:
        """Run an operation with one failing allocation; return its result, or None if it raised MemoryError.

        `begins`: counting starts at once; otherwise the operation calls `begin`.
        """
        if begins:
            self.begin()
        try:
            return operation()
        except MemoryError:
            return None
        except SystemError as error:
            assert is_lost(str(error)), error
        finally:
            self.end()

    def begin(self) -> None:
        """Start counting to the allocation that fails."""
        cells, point = self._cells, self._point
        cells[1] = 0
        cells[0] = point

    def end(self) -> None:
        """Let no more allocations fail."""
        self._cells[0] = -1
        self._has_failed |= self._cells[1] > 0


if __name__ == "__main__":
    raise_each()
