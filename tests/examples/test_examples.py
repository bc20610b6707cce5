"""The programs of docs/examples compute the same as plain Python, in both modes."""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any

import example_programs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CPYTHON, collect, cpython_only, slow_except

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters())


@pytest.fixture(scope="session")
def programs(ffi: Any) -> Iterator[dict[str, types.ModuleType]]:
    with example_programs.loaded(ffi, *example_programs.NAMES) as programs:
        # A type is registered at its first use, and never freed.
        for name in ("cached_op", "ir", "neighbours", "text"):
            list(programs[name].examples())
        yield programs


@pytest.fixture(scope="session")
def counted_split(ffi: Any) -> Any:
    return ffi.load_module(example_programs.libraries() / "libunicode_split_counted.so")


DESTROYS_AT_ONCE = (cpython_only("the program shows that an object is destroyed with its last reference"),)
#: The long texts of unicode_split have a separate test.
SHORT = [
    pytest.param(name, marks=DESTROYS_AT_ONCE if name == "cached_op" else ())
    for name in example_programs.NAMES
    if name != "unicode_split"
]


@pytest.mark.parametrize("name", SHORT)
def test_results_are_those_of_plain_python(ffi: Any, programs: Any, name: str) -> None:
    for call, result, plain in programs[name].examples():
        result = ffi.to_python(result)
        assert type(result) is type(plain), call
        if isinstance(plain, np.ndarray):
            np.testing.assert_array_equal(result, plain, err_msg=call, strict=True)
        else:
            assert result == plain, call


def test_programs_use_the_backend_under_test(ffi: Any, programs: Any, counted_split: Any) -> None:
    for module in (programs["unicode_split"].module, counted_split):
        assert type(module) is ffi.Module
        assert type(module.split_erased) is ffi.Function
        assert type(module.split_erased("a")) is ffi.List
    assert type(programs["map_vsum"].map_vsum) is ffi.Function
    assert type(programs["nop"].nop) is ffi.Function


def test_at_a_glance(ffi: Any, programs: Any) -> None:
    module = programs["at_a_glance"].mod
    assert module.add_one(41) == module.add_one(x=41) == 42
    assert list(inspect.signature(module.add_one).parameters) == ["x"]
    scale = ffi.get_global_func("demo.scale")
    result = scale([1.0, 2.0], by=3.0)
    assert type(result) is ffi.List
    assert result == [3.0, 6.0]
    assert scale.__doc__ == "Scale a list in place and return it."
    assert ffi.get_global_func("demo.vsum")({"a": 2, "b": 3}) == 5
    assert ffi.get_global_func("demo.count")(1, "x", None) == 3
    with pytest.raises(ValueError, match=r"^no such thing$"):
        ffi.get_global_func("demo.fail")()
    assert programs["at_a_glance"].callback("ab") == ffi.get_global_func("demo.callback")("ab") == "abab"


def test_at_a_glance_refuses(ffi: Any, programs: Any) -> None:
    add_one = programs["at_a_glance"].mod.add_one
    with pytest.raises(TypeError, match=r"argument 0 \(x\): expected int, got str"):
        add_one("1")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        add_one()
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        add_one(y=1)
    with pytest.raises(AttributeError, match=r"'add_won'.*'add_one'"):
        programs["at_a_glance"].mod.add_won
    with pytest.raises(TypeError, match=r"at \[1\]: expected float, got str"):
        ffi.get_global_func("demo.scale")([1.0, "2"])
    with pytest.raises(TypeError, match="expected List"):
        ffi.get_global_func("demo.scale")((1.0,))


def test_nop_is_timed(programs: Any) -> None:
    program = programs["nop"]
    assert all(program.nanoseconds(call, number=1, rounds=1) >= 0 for call in program.CALLS.values())


# ---- map_vsum --------------------------------------------------------------------------------------------


@given(values=st.dictionaries(TEXT, INT64))
def test_map_vsum(programs: Any, values: dict[str, int]) -> None:
    map_vsum = programs["map_vsum"].map_vsum
    before = dict(values)
    # Sums like C++: sequentially, with an error beyond 64 bits.
    total = 0
    for value in values.values():
        total += value
        if not -(2**63) <= total < 2**63:
            with pytest.raises(OverflowError):
                map_vsum(values)
            return
    assert map_vsum(values) == map_vsum(map=types.MappingProxyType(values)) == total
    assert values == before


def test_map_vsum_names_the_bad_value(ffi: Any, programs: Any) -> None:
    map_vsum = programs["map_vsum"].map_vsum
    with pytest.raises(TypeError, match=r'argument 0 \(map\), at \["b"\]: expected int, got float'):
        map_vsum({"a": 1, "b": 1.5})
    with pytest.raises(TypeError, match="expected str, got int"):
        map_vsum({1: 1})
    with pytest.raises(TypeError, match=r"expected Map\[str, int\], got list"):
        map_vsum([1])


# ---- cached_op -------------------------------------------------------------------------------------------


@given(num=INT64, flags=st.dictionaries(TEXT, TEXT), is_np=st.booleans())
def test_cached_op_keeps_its_arguments(
    ffi: Any, programs: Any, num: int, flags: dict[str, str], is_np: bool
) -> None:
    module = programs["cached_op"].module
    handle = ffi.convert([num])
    op = module.cached_op(handle, num, flags, is_np)
    assert isinstance(op, ffi.Object)
    assert module.fields(op)[0] is handle
    assert ffi.to_python(module.fields(op)) == ([num], num, types.MappingProxyType(flags), is_np)


def test_cached_op_is_destroyed_once(ffi: Any, programs: Any) -> None:
    module = programs["cached_op"].module
    use_count = ffi.get_global_func("testing.use_count")
    handle = ffi.convert((1, 2))
    collect()
    before, count = module.destroyed(), use_count(handle)
    op = module.cached_op(handle, num=1, flags={"a": "b"}, is_np=True)
    assert use_count(handle) == count + 1
    holder = ffi.convert([op, op])
    fields = module.fields(op)
    del op
    collect()
    assert module.destroyed() == before
    assert holder[0] is holder[1]
    del holder
    collect()
    assert module.destroyed() == before + 1
    assert fields[0] is handle
    del fields
    collect()
    assert (module.destroyed(), use_count(handle)) == (before + 1, count)


def test_cached_op_refuses(ffi: Any, programs: Any) -> None:
    module = programs["cached_op"].module
    before = module.destroyed()
    handle = ffi.convert([1])
    with pytest.raises(TypeError, match=r"argument 0 \(handle\): expected Object, got NoneType"):
        module.cached_op(None, 1, {}, True)
    with pytest.raises(TypeError, match=r"argument 1 \(num\): expected int, got float"):
        module.cached_op(handle, 1.5, {}, True)
    with pytest.raises(TypeError, match=r'argument 2 \(flags\), at \["a"\]: expected str, got int'):
        module.cached_op(handle, 1, {"a": 1}, True)
    with pytest.raises(ValueError, match="0 or 1"):
        module.cached_op(handle, 1, {}, 2)
    with pytest.raises(TypeError, match=r"expected demo\.CachedOp, got List"):
        module.fields(handle)
    assert module.destroyed() == before


# ---- unicode_split ---------------------------------------------------------------------------------------


@given(text=TEXT)
def test_split(ffi: Any, programs: Any, text: str) -> None:
    module = programs["unicode_split"].module
    for split in (module.split_erased, module.split_typed):
        assert ffi.to_python(split(text)) == list(text)
    assert [module.char_at(text, i) for i in range(len(text))] == list(text)
    with pytest.raises(IndexError):
        module.char_at(text, len(text))


@pytest.mark.parametrize(
    "script", slow_except(["Latin-1"], ["ASCII", "Latin-1", "CJK", "astral"], "large values")
)
@pytest.mark.parametrize("name", ["split_erased", "split_typed"])
def test_splitting_a_long_text(ffi: Any, programs: Any, name: str, script: str) -> None:
    program = programs["unicode_split"]
    text = program.texts()[script]
    total_blocks = ffi.get_global_func("testing.total_blocks")
    split = getattr(program.module, name)

    def blocks(text: str) -> int:
        before = total_blocks()
        split(text)
        return total_blocks() - before

    assert len(text) > 300_000
    if not CPYTHON:  # a call through ctypes for each character takes minutes
        text = text[:30_000]
    assert blocks(text) == blocks(text[:1000])
    assert "".join(split(text)) == text


@pytest.mark.parametrize("name", ["split_erased", "split_typed"])
def test_splitting_retains_nothing_per_character(programs: Any, counted_split: Any, name: str) -> None:
    split = getattr(counted_split, name)

    def changes(text: str) -> int:
        before = counted_split.count_changes()
        split(text)
        return counted_split.count_changes() - before

    for text in programs["unicode_split"].texts().values():
        # Refcounts of a list, and perhaps the text, change, whatever the length.
        assert changes(text) == changes(text[:100]) <= 4


def test_erased_split_takes_any_sequence(ffi: Any, programs: Any) -> None:
    split = programs["unicode_split"].module.split_erased
    assert split([1, "two", None]) == [1, "two", None]
    assert split((1, 2)) == [1, 2]
    with pytest.raises(TypeError):
        split(5)


# ---- int_func, tuple_getitem -----------------------------------------------------------------------------


@given(values=st.dictionaries(TEXT, INT64, min_size=1))
def test_int_func(programs: Any, values: dict[str, int]) -> None:
    module = programs["int_func"].module
    for key, value in values.items():
        assert module.int_func(value) == module.int_func_of_item(values, key) == ~value


def test_int_func_unboxes_only_ints(programs: Any) -> None:
    int_func_of_item = programs["int_func"].module.int_func_of_item
    for other in ("1", 1.5, [1], {"a": 1}, object(), (1,)):
        with pytest.raises(TypeError, match="expected int"):
            int_func_of_item({"x": other}, "x")
    with pytest.raises(KeyError) as caught:
        int_func_of_item({"x": 1}, "y")
    assert caught.value.args == ("y",)
    with pytest.raises(TypeError, match="expected Object, got NoneType"):
        int_func_of_item({"x": None}, "x")


@given(items=st.lists(INT64 | TEXT | st.floats(allow_nan=False) | st.booleans() | st.tuples(INT64)))
def test_tuple_getitem(ffi: Any, programs: Any, items: list[Any]) -> None:
    tuple_getitem = programs["tuple_getitem"].tuple_getitem
    array = ffi.convert(tuple(items))
    for index in range(-len(items), len(items)):
        got, expected = tuple_getitem(array, index), operator.getitem(items, index)
        assert got == expected
        assert type(got) is type(array[index])
    for index in (len(items), -len(items) - 1):
        with pytest.raises(IndexError):
            tuple_getitem(array, index)


def test_tuple_getitem_has_no_object_for_none(ffi: Any, programs: Any) -> None:
    with pytest.raises(TypeError, match=r"at \[1\]: expected Object, got NoneType"):
        programs["tuple_getitem"].tuple_getitem(ffi.convert((1, None)), 0)
