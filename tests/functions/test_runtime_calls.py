"""How often a call enters the runtime: once for a container and once for its end, however much it holds."""

from __future__ import annotations

from typing import Any

import callgrind
import pytest

TIMES = 20

PROGRAM = f"""
import gc, os
import anyffi.testing
nop = anyffi.get_global_func("testing.nop")
numbers = list(range(1000))
def run(x):
    for _ in range({TIMES}):
        nop(x)
gc.disable()
for part in range(2):
    for x in (numbers, tuple(numbers), dict.fromkeys(map(str, numbers), 1), set(numbers), [numbers, "text"]):
        run(x)
        os.getloadavg()
"""


@pytest.fixture(scope="module")
def entered(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, float]]:
    """For each argument how often one call enters each function of the runtime."""
    parts = callgrind.run_parts(tmp_path_factory.mktemp("callgrind"), PROGRAM, ffi_mode="cython")
    return [
        {name: count / TIMES for name, count in callgrind.entries(part, "/libanyffi.so").items()}
        for part in parts[-5:]
    ]


@pytest.fixture(autouse=True)
def _compiled_alone(ffi: Any) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("the ctypes mode makes no promise of its cost")


def test_a_list_of_ints_enters_once(ffi: Any, entered: list[dict[str, float]]) -> None:
    for counts in entered[:2]:
        assert counts == {"anyffi_sequence_create": 1, "anyffi_object_destroy": 1}


def test_a_dict_and_a_set_enter_twice(ffi: Any, entered: list[dict[str, float]]) -> None:
    for counts in entered[2:4]:
        assert counts == {
            "anyffi_mapping_create": 1,
            "anyffi_mapping_finish": 1,
            "anyffi_object_destroy": 1,
        }


def test_each_container_inside_of_another_enters_once(ffi: Any, entered: list[dict[str, float]]) -> None:
    # A nested one is told by its own creation: the runtime destroys it along with the outer one.
    assert entered[4] == {"anyffi_sequence_create": 2, "anyffi_object_destroy": 1}
