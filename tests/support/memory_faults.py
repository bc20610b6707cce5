"""A separate program: lets each allocation of an operation fail in turn, wherever it is made.

    LD_PRELOAD=FAILING_MEMORY PYTHONMALLOC=malloc python memory_faults.py MODE OPERATION...

The last line of the output is the number of failed allocations; lines before it report wrong results. If the process
is killed, the last line on stderr tells where.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import anyffi.testing  # loads the functions of the operations
from anyffi._backend import open_backend
from failing_memory import is_lost, open_cells
from memory_calls import CALLS, alike, settle


def _is_right(ffi: Any, outcome: Any, expected: Any) -> bool:
    """Return whether a call succeeded, or raised the right error, whose message may be shorter."""
    if alike(ffi, outcome, expected):
        return True
    # Class and message of an exception that the operation caught.
    kind, *texts = outcome if isinstance(outcome, (tuple, ffi.Array)) and outcome else (None,)
    if kind in (SystemError, "SystemError"):
        return is_lost(texts[0])
    # The kind of an exception whose texts could not be created.
    if kind in ("MemoryError", "Exception"):
        return True
    return isinstance(expected, (tuple, ffi.Array)) and kind is not None and kind == expected[0]


def fail_each(ffi: Any, name: str) -> int:
    cells, blocks = open_cells(), anyffi.testing.live_blocks
    trim = ffi.get_global_func("testing.fail_allocation")
    for _ in range(3):
        CALLS[name](ffi)()
        expected = ffi.to_python(CALLS[name](ffi)())
    settle(ffi, name)
    gc.collect()
    before = blocks()
    point = 0
    while True:
        # An operation that fails may have changed its object or not, so that each attempt gets a new object.
        run = CALLS[name](ffi)
        run()
        # Free lists of the runtime would hide allocations.
        trim(-1)
        print(name, point, file=sys.stderr, flush=True)
        outcome = failed = None
        try:
            cells[1] = 0
            cells[0] = point
            outcome = run()
        except MemoryError:
            failed = True
        except SystemError as error:
            cells[0] = -1
            outcome = type(error), str(error)
        finally:
            cells[0] = -1
        if not cells[1]:
            break
        if not failed and not _is_right(ffi, ffi.to_python(outcome), expected):
            print(f"{name}, allocation {point}: {outcome!r} instead of {expected!r}")
        point += 1
    if not alike(ffi, ffi.to_python(run()), expected):
        print(f"{name}: the last call has another result")
    del run, outcome
    settle(ffi, name)
    gc.collect()
    if blocks() != before:
        print(f"{name}: {blocks() - before} blocks of runtime memory were lost")
    return point


if __name__ == "__main__":
    _mode, *_names = sys.argv[1:]
    _ffi = open_backend(_mode)
    gc.freeze()
    print(sum(fail_each(_ffi, name) for name in _names))
    if sys.version_info < (3, 11):
        # CPython frees the cache of attributes that could not be allocated again with its function.
        sys.stdout.flush()
        os._exit(0)
