"""Lets the allocations of a process fail, by the counts of the preloaded failing_memory.c."""

from __future__ import annotations

import ctypes
import os
import sysconfig
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Faults", "is_lost", "open_cells"]

#: CPython's messages when it has lost a MemoryError. Until 3.11 these concern frames of functions, such as
#: those whose cache of attributes (`_PyCode_InitOpcache`, from their 1,024th call) cannot be made.
_LOST = (
    "error return without exception set",
    "returned NULL without setting an error",
    "returned NULL without setting an exception",
)


def open_cells() -> memoryview:
    """Return two counts: how many allocations succeed before one fails, none below 0; and how many have failed."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    return memoryview((ctypes.c_long * 2).in_dll(library, "failing_memory_cells")).cast("B").cast("l")


def is_lost(message: str) -> bool:
    """Whether the message of a SystemError stands for a MemoryError that CPython has lost."""
    return any(words in message for words in _LOST)


class Faults:
    """Each allocation of an operation, which fails in turn.

    for point in faults.each(least=20):
        result = faults.attempt(operation)
        assert result in (None, expected), point
    """

    def __init__(self) -> None:
        #: How many allocations have failed, each in a round of its own.
        self.count = 0
        self._cells = open_cells()
        self._point = 0
        self._has_failed = False

    def each(self, least: int = 0) -> Iterator[int]:
        """Yield the number of the allocation to fail, until there are fewer in all attempts of a round.

        `least`: how many there are at least. Fewer may be where CPython's objects have another allocator.
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
        """Return the result of an operation one of whose allocations fails, or None if it raised MemoryError.

        `begins`: from its start; otherwise it calls `begin`.
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
        """Let an allocation fail from now on."""
        cells, point = self._cells, self._point
        cells[1] = 0
        cells[0] = point

    def end(self) -> None:
        """Let none fail from now on."""
        self._cells[0] = -1
        self._has_failed |= self._cells[1] > 0
