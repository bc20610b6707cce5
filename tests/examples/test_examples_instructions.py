"""Costs that the examples promise, as instructions counted by callgrind, which are the same in every run."""

from __future__ import annotations

from typing import Any

import callgrind
import example_programs
import pytest

pytestmark = pytest.mark.slow("callgrind")

PROGRAM = """
import gc, os, sys
import anyffi
os.chdir(sys.argv[1])
getitem = anyffi.load_module("./libtuple_getitem.so").tuple_getitem
char_at = anyffi.load_module("./libunicode_split.so").char_at
# CPython 3.15 keeps all ints up to 1,024.
short, long = (anyffi.convert(tuple(range(2000, 2000 + size))) for size in (10, 10_000))
few, many = ("\\u4e00" * size for size in (100, 10_000))
rounds = [(getitem, short, 7), (getitem, long, 7), (getitem, long, 9_000)]
def run(f, x, index):
    for _ in range(times):
        f(x, index)
# Cheap calls are repeated more often, so that the code around them does not matter.
times = 200
if anyffi.ffi_mode == "cython":
    rounds += [(char_at, few, 3), (char_at, many, 3), (char_at, many, 9_000)]
    times = 5_000
gc.disable()
# Twice, because Python up to 3.10 makes a function faster once it was called 1,024 times.
for each in rounds + rounds:
    run(*each)
os.getloadavg()
for each in rounds:
    run(*each)
    os.getloadavg()
"""
ROUNDS = (
    "10 elements",
    "10,000 elements",
    "10,000 elements, far",
    "100 characters",
    "10,000 characters",
    "10,000 characters, far",
)


@pytest.fixture(scope="module")
def instructions(ffi: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    folder = tmp_path_factory.mktemp("callgrind")
    parts = callgrind.run_parts(folder, PROGRAM, example_programs.libraries(), ffi_mode=ffi.ffi_mode)
    return dict(zip(ROUNDS, map(callgrind.instructions, parts)))


def test_a_view_of_objects_costs_the_same_for_any_length(instructions: dict[str, int]) -> None:
    few = instructions["10 elements"]
    assert few > 200 * 100
    assert instructions["10,000 elements"] == pytest.approx(few, rel=0.01)
    assert instructions["10,000 elements, far"] == pytest.approx(few, rel=0.01)


def test_a_character_costs_the_same_anywhere(ffi: Any, instructions: dict[str, int]) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("ctypes copies a text argument, which costs more than to look a character up")
    few = instructions["100 characters"]
    assert instructions["10,000 characters"] == pytest.approx(few, rel=0.01)
    assert instructions["10,000 characters, far"] == pytest.approx(few, rel=0.01)
