"""Times statements: interleaved rounds, of which each statement's fastest counts."""

from __future__ import annotations

import gc
import itertools
import textwrap
import time
from collections.abc import Iterator
from typing import Any, Callable

#: Runs a statement as often as it is given items, times how often it is written out; returns the nanoseconds.
Loop = Callable[[Iterator[None]], int]


def compile_loop(statement: str, names: dict[str, Any], unrolled: int) -> Loop:
    """A loop over a statement, whose names are local variables, and which is written out several times.

    So nearly nothing is measured but the statement.
    """
    parameters = ", ".join(f"{name}={name}" for name in names)
    body = textwrap.indent("\n".join([statement] * unrolled), "        ")
    head = f"def loop(times, {parameters}):\n    start = clock()\n    for _ in times:\n"
    scope = {**names, "clock": time.perf_counter_ns}
    exec(f"{head}{body}\n    return clock() - start", scope)
    loop: Loop = scope["loop"]
    return loop


class Stopwatch:
    """One statement, and how fast it was at best."""

    def __init__(self, statement: str, names: dict[str, Any], slice_ns: int, unrolled: int) -> None:
        self.loop = compile_loop(statement, names, unrolled)
        self.unrolled = unrolled
        self.times = 1
        self.best = float("inf")
        self.calibrate(slice_ns)

    def calibrate(self, slice_ns: int) -> None:
        """Choose how often to run it in a round; a call site is specialized in the first runs."""
        self.loop(itertools.repeat(None, 20 // self.unrolled or 1))
        while (taken := self.loop(itertools.repeat(None, self.times))) < slice_ns // 2:
            self.times = max(self.times * 2, int(self.times * slice_ns / max(taken, 1) * 0.8))

    def measure(self) -> None:
        taken = self.loop(itertools.repeat(None, self.times))
        self.best = min(self.best, taken / self.times / self.unrolled)


def race(stopwatches: list[Stopwatch], rounds: int) -> None:
    """Take turns, so that whatever slows the machine down for a while slows all of them."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for stopwatch in stopwatches if turn % 2 else reversed(stopwatches):
                stopwatch.measure()
    finally:
        if was_enabled:
            gc.enable()
