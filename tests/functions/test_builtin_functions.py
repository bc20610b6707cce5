"""The functions that the runtime registers, called with numbers at the ends of their ranges."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

#: These change global state or open files; `repeat` takes as much memory as it is asked for.
LEFT_OUT = {
    "anyffi.Module.load",
    "anyffi.Sequence.repeat",
    "anyffi.record.declare",
    "anyffi.registry.remove",
    "anyffi.registry.set",
}
EXTREMES = (0, -1, *(sign * 2**bits + rest for bits in (31, 63) for sign, rest in ((1, -1), (-1, 0))))
#: Exceptions that functions may raise about arguments that they refuse.
ABOUT_ARGUMENTS = (
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    BufferError,
    OverflowError,
    MemoryError,
)


def call_with_extremes(ffi: Any, *first: Any) -> int:
    """Return how many calls returned; where the sanitizers are built in, they end the process at an overflow."""
    names = [
        name for name in ffi.list_global_func_names() if name.startswith("anyffi.") and name not in LEFT_OUT
    ]
    returned = 0
    for name in names:
        function = ffi.get_global_func(name)
        for count in (1, 2):
            for numbers in itertools.product(EXTREMES, repeat=count):
                try:
                    function(*first, *numbers)
                except ABOUT_ARGUMENTS:
                    continue
                returned += 1
    return returned


def test_numbers_at_the_ends_of_their_ranges(ffi: Any) -> None:
    assert call_with_extremes(ffi) > 100


@pytest.mark.parametrize("kind", ["List", "Array", "Dict", "Map", "Set", "Function", "Object"])
def test_methods_with_numbers_at_the_ends_of_their_ranges(ffi: Any, kind: str) -> None:
    items = {"Dict": {1: 2}, "Map": {1: 2}, "Function": len, "Object": 1}.get(kind, [1, 2, 3])
    make = ffi.get_global_func("testing.new_counted") if kind == "Object" else getattr(ffi, kind)
    assert call_with_extremes(ffi, make(items)) > 10


def test_tensors_with_numbers_at_the_ends_of_their_ranges(ffi: Any) -> None:
    numpy = pytest.importorskip("numpy")
    assert call_with_extremes(ffi, ffi.from_dlpack(numpy.zeros((2, 3)))) > 10


@pytest.mark.parametrize("type_code", [-(2**31), 2**31 - 1])
def test_types_that_do_not_exist(ffi: Any, type_code: int) -> None:
    for name in ("anyffi.type.let_host_compare", "anyffi.type.describe", "anyffi.type.convertible_from"):
        with pytest.raises(ValueError, match="unknown type code"):
            ffi.get_global_func(name)(type_code)


@pytest.mark.parametrize("type_code", [-1, 0, 2**31 - 1])
def test_callbacks_are_only_for_records(ffi: Any, type_code: int) -> None:
    for name, *callbacks in (("set_defaults", (), len), ("set_repr", len)):
        with pytest.raises(ValueError, match="neither the type of a record, nor derived from one"):
            ffi.get_global_func(f"anyffi.record.{name}")(type_code, *callbacks)
