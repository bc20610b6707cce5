"""Keys that are added and removed again and again: later rounds cost no more than the first ones."""

from __future__ import annotations

import pathlib
from typing import Any

import callgrind
import pytest

PROGRAM = """
import gc, os
import anyffi
{setup}
gc.disable()
{step}
for _ in range({rounds}):
    os.getloadavg()
    for _ in range(500):
        {step}
os.getloadavg()
"""

DICT = "x = anyffi.Dict({i: i for i in range(1000)}); k = -1"
TEXTS = "x = anyffi.Dict({str(i): i for i in range(1000)}); k = 'absent'"
FLOATS = "x = anyffi.Set(i + 0.5 for i in range(1000)); k = 999.5"


@pytest.mark.slow("callgrind")
@pytest.mark.parametrize(
    ("setup", "step"),
    [
        (DICT, "x[k] = 7; del x[k]"),
        (DICT, "k, v = x.popitem(); x[k] = v"),
        (TEXTS, "x[k] = 7; del x[k]"),
        (FLOATS, "x.discard(k); x.add(k)"),
    ],
)
def test_rounds_cost_the_same(ffi: Any, tmp_path: pathlib.Path, setup: str, step: str) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("the index is the runtime's: one mode is enough")
    program = PROGRAM.format(setup=setup, step=step, rounds=4)
    first, *_, last = map(callgrind.instructions, callgrind.run_parts(tmp_path, program, ffi_mode="cython"))
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
