"""Measure a call that does nothing, compared with the cheapest array of NumPy.

`nop` is type-erased: it takes any number of values of any type, so this measures how arguments are
passed to C++. The times depend on the machine; no test checks them.
"""

import timeit
from collections.abc import Iterator
from typing import Any, Callable

import anyffi
import numpy as np

anyffi.load_module("./libnop.so")
nop = anyffi.get_global_func("demo.nop")

INDEX = (None, ..., slice(0, 100, 2))
CALLS: dict[str, Callable[[], Any]] = {
    "nop((None, ..., slice(0, 100, 2)))": lambda: nop(INDEX),
    'nop("mystr")': lambda: nop("mystr"),
    "nop((1, 2, 3, 4))": lambda: nop((1, 2, 3, 4)),
    "np.empty((1, 2, 1))": lambda: np.empty((1, 2, 1)),
}


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    for text, call in CALLS.items():
        if text.startswith("nop"):
            yield text, call(), None


def nanoseconds(call: Callable[[], Any], number: int = 20_000, rounds: int = 7) -> float:
    """Return the shortest time of one call, minus that of an empty lambda."""
    both: tuple[Callable[[], Any], ...] = (call, lambda: None)
    best, empty = (min(timeit.repeat(each, number=number, repeat=rounds)) for each in both)
    return max(best - empty, 0.0) / number * 1e9


def timings() -> Iterator[tuple[str, float]]:
    """Return the nanoseconds of each call."""
    for text, call in CALLS.items():
        yield text, nanoseconds(call)


if __name__ == "__main__":
    for text, time in timings():
        print(f"{text:40}{time:8.0f} ns")
