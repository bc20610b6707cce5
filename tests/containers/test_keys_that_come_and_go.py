"""Keys that are added and removed again and again: later rounds cost no more than the first ones."""

from __future__ import annotations

import pathlib
from typing import Any

import callgrind
import pytest

PROGRAM = """
import gc, os
import anyffi

def set_and_delete(x, k):
    x[k] = 7
    del x[k]

def pop_and_set(x, k):
    k, v = x.popitem()
    x[k] = v

def discard_and_add(x, k):
    x.discard(k)
    x.add(k)

numbers = range(1000)
cases = [
    (set_and_delete, anyffi.Dict({i: i for i in numbers}), -1),
    (pop_and_set, anyffi.Dict({i: i for i in numbers}), None),
    (set_and_delete, anyffi.Dict({str(i): i for i in numbers}), "absent"),
    (discard_and_add, anyffi.Set(i + 0.5 for i in numbers), 999.5),
]
gc.disable()
for step, x, k in cases:
    step(x, k)
    for _ in range(4):
        os.getloadavg()
        for _ in range(500):
            step(x, k)
os.getloadavg()
"""


@pytest.mark.slow("callgrind")
def test_rounds_cost_the_same(ffi: Any, tmp_path: pathlib.Path) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("the index is the runtime's: one mode is enough")
    parts = callgrind.run_parts(tmp_path, PROGRAM, ffi_mode="cython")
    counts = [callgrind.instructions(part) for part in parts]
    assert len(counts) == 16
    for first, last in zip(counts[0::4], counts[3::4]):
        assert last < 1.5 * first


def test_removed_keys_stay_removed(ffi: Any) -> None:
    x, model = ffi.Dict({i: i for i in range(40)}), {i: i for i in range(40)}
    for i in range(5000):
        key = i * 7919 % 61
        if key in model:
            del x[key], model[key]
        else:
            x[key] = model[key] = i
        assert (key in x) == (key in model)
        if i % 500 == 0:
            assert list(x.items()) == list(model.items())
    assert all((key in x) == (key in model) for key in range(100))
