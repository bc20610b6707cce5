"""Figures besides the times of rows: memory and threads, in a process of one mode."""

from __future__ import annotations

import gc
import itertools
import json
import resource
import sys
import threading
import time
from typing import Any, Callable

from .contenders import Contenders
from .rows import Row
from .rows_calls import CALLBACKS, CALLS, CONTAINERS, KEYWORDS, TENSORS
from .timing import compile_loop
from .worker import names_of

THREADS = 4


def work_of_threads(work: Callable[[int], object], rounds: int) -> float:
    """Return the speed-up of four threads over one, for calls of 1 ms that release the lock."""
    steps, calls = steps_of_1_ms(work), 25

    def one() -> None:
        for _ in range(calls):
            work(steps)

    def several() -> None:
        threads = [threading.Thread(target=one) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    times = [(seconds(one), seconds(several)) for _ in range(rounds)]
    return min(alone for alone, _ in times) * THREADS / min(together for _, together in times)


def steps_of_1_ms(work: Callable[[int], object]) -> int:
    steps = 100_000
    taken = min(seconds(lambda: work(steps)) for _ in range(20))
    return int(steps * 0.001 / taken)


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def bytes_of_list(nop: Callable[..., object]) -> tuple[float, float]:
    """Return the bytes that the runtime allocates per element of a long list, and the blocks it leaks."""
    from anyffi import testing

    ints = list(range(1_000_000))
    nop(ints)
    live, total = testing.live_blocks(), testing.total_bytes()
    nop(ints)
    return (testing.total_bytes() - total) / len(ints), testing.live_blocks() - live


def resident_kb() -> float:
    """Return the resident memory of this process; without /proc, its maximum so far."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1024
    except FileNotFoundError:
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def growth_kb(row: Row, contenders: Contenders, times: int) -> float:
    """Return by how much resident memory grows during a number of calls, after a warm-up."""
    snippet = row.snippets["anyffi"]
    names = names_of(snippet, "anyffi", contenders)
    if names is None:
        return 0.0
    loop = compile_loop(snippet.statement, names, row.unrolled)
    loop(itertools.repeat(None, 1000 // row.unrolled))
    gc.collect()
    before = resident_kb()
    loop(itertools.repeat(None, times // row.unrolled))
    gc.collect()
    return resident_kb() - before


def main() -> None:
    options: dict[str, Any] = json.loads(sys.argv[1])
    contenders = Contenders()
    work, nop = (contenders.find("anyffi", name) for name in ("work", "nop"))
    assert work is not None
    assert nop is not None
    each, leaked = bytes_of_list(nop)
    rows = [*CALLS, *CONTAINERS, *TENSORS, *CALLBACKS, *KEYWORDS]
    figures = {
        "work of 4 threads": work_of_threads(work, options["rounds"]),
        "list of 1,000,000 ints": each,
        "leaked by a list of 1,000,000 ints": leaked,
        "memory growth in a million calls of every shape": max(
            growth_kb(row, contenders, options["calls"]) for row in rows
        ),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
