"""How many runtime calls an argument costs: one or two to create a container, and one to release it."""

from __future__ import annotations

from typing import Any

import callgrind
import pytest

pytestmark = pytest.mark.slow("callgrind")

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
    """Count, for each argument, the calls of each runtime function."""
    parts = callgrind.run_parts(tmp_path_factory.mktemp("callgrind"), PROGRAM, ffi_mode="cython")
    return [
        {name: count / TIMES for name, count in callgrind.entries(part, "/libanyffi.so").items()}
        for part in parts[-5:]
    ]


@pytest.fixture(autouse=True)
def _compiled_alone(ffi: Any) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("the ctypes mode makes no promise of its cost")


def test_a_list_of_ints_costs_one_runtime_call(ffi: Any, entered: list[dict[str, float]]) -> None:
    for counts in entered[:2]:
        assert counts == {"anyffi_sequence_create": 1, "anyffi_object_destroy": 1}


def test_a_dict_and_a_set_cost_two_runtime_calls(ffi: Any, entered: list[dict[str, float]]) -> None:
    for counts in entered[2:4]:
        assert counts == {
            "anyffi_mapping_create": 1,
            "anyffi_mapping_finish": 1,
            "anyffi_object_destroy": 1,
        }


def test_each_nested_container_costs_one_runtime_call(ffi: Any, entered: list[dict[str, float]]) -> None:
    # The runtime destroys nested ones with the outer one, so only their creation is a call.
    assert entered[4] == {"anyffi_sequence_create": 2, "anyffi_object_destroy": 1}
