"""Timing of statements in interleaved rounds; the fastest round of each counts."""

from __future__ import annotations

import gc
import itertools
import textwrap
import time
from collections.abc import Iterator
from typing import Any, Callable

#: Runs an unrolled statement once per item of an iterator; returns nanoseconds.
Loop = Callable[[Iterator[None]], int]


def compile_loop(statement: str, names: dict[str, Any], unrolled: int) -> Loop:
    """Compile a loop over a statement, unrolled and with its names as local variables.

    This makes the overhead of the loop negligible.
    """
    parameters = ", ".join(f"{name}={name}" for name in names)
    body = textwrap.indent("\n".join([statement] * unrolled), "        ")
    head = f"def loop(times, {parameters}):\n    start = clock()\n    for _ in times:\n"
    scope = {**names, "clock": time.perf_counter_ns}
    exec(f"{head}{body}\n    return clock() - start", scope)
    loop: Loop = scope["loop"]
    return loop


class Stopwatch:
    """A statement and its best time."""

    def __init__(
        self, statement: str, names: dict[str, Any], slice_ns: int, unrolled: int, warm_up: int = 20
    ) -> None:
        self.loop = compile_loop(statement, names, unrolled)
        self.unrolled = unrolled
        self.times = 1
        self.best = float("inf")
        self.calibrate(slice_ns, warm_up)

    def calibrate(self, slice_ns: int, warm_up: int) -> None:
        """Choose how often to run it in a round, after runs in which the interpreter specializes it."""
        self.loop(itertools.repeat(None, warm_up // self.unrolled or 1))
        while (taken := self.loop(itertools.repeat(None, self.times))) < slice_ns // 2:
            self.times = max(self.times * 2, int(self.times * slice_ns / max(taken, 1) * 0.8))

    def measure(self) -> None:
        taken = self.loop(itertools.repeat(None, self.times))
        self.best = min(self.best, taken / self.times / self.unrolled)


def race(stopwatches: list[Stopwatch], rounds: int) -> None:
    """Time in turns, so that a slow phase of the machine affects all of them."""
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
