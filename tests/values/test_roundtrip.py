"""Round trips: `to_python(echo(x)) == x` with exact types, and the callee sees the right value."""

from __future__ import annotations

import sys
import types
from typing import Any

import cases
import pytest
from cases import BAD, BAD_IDS, EXAMPLE_IDS, EXAMPLES, ROWS, Row
from hypothesis import given
from support import cpython_only


def assert_same(got: Any, expected: Any) -> None:
    assert cases.same(got, expected), f"{got!r} is not exactly {expected!r}"


@pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)
def test_example_comes_back(ffi: Any, x: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    row = cases.row_of(x)
    expected = cases.plain(x)
    result = echo(x)
    if row.echoed is not None:
        assert type(result) is getattr(ffi, row.echoed)
        assert result == expected
    elif row.plain is cases.itself and row.name != "pointer":
        assert result is x
    assert_same(ffi.to_python(result), expected)


@pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)
def test_callee_sees(ffi: Any, x: Any) -> None:
    assert ffi.get_global_func("testing.describe")(x) == cases.describe(x)


@pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)
def test_callee_sees_inside_a_container(ffi: Any, x: Any) -> None:
    seen = ffi.get_global_func("testing.describe")
    assert seen([x]) == f"List[{cases.describe(x, False)}]"
    assert seen(slice(x)) == f"Slice(None, {cases.describe(x, False)}, None)"
    assert seen({"k": x}) == f"Dict{{{cases.describe('k')}: {cases.describe(x, False)}}}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.strategy is not None], ids=lambda row: row.name)
def test_drawn_from_each_row(ffi: Any, row: Row) -> None:
    echo, seen = map(ffi.get_global_func, ("testing.echo", "testing.describe"))
    assert row.strategy is not None

    @given(row.strategy)
    def check(x: Any) -> None:
        assert_same(ffi.to_python(echo(x)), x)
        assert seen(x) == cases.describe(x)

    check()


def test_drawn_nested(ffi: Any) -> None:
    echo, seen = map(ffi.get_global_func, ("testing.echo", "testing.describe"))

    @given(cases.values)
    def check(x: Any) -> None:
        result = echo(x)
        assert_same(ffi.to_python(result), x)
        assert seen(x) == cases.describe(x)
        if isinstance(result, ffi.Object):
            assert echo(result) is result
            assert seen(result) == cases.describe(x, False)

    check()


def test_several_arguments_one_line_each(ffi: Any) -> None:
    arguments = tuple(EXAMPLES)
    seen = ffi.get_global_func("testing.describe")
    assert seen(*arguments) == "\n".join(map(cases.describe, arguments))
    assert seen() == ""


@pytest.mark.parametrize(
    "wrap",
    [lambda x: [x], lambda x: (x,), lambda x: {"k": x}, lambda x: slice(x), lambda x: frozenset({x})],
)
def test_nesting_up_to_the_limit(ffi: Any, wrap: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    result = echo(cases.nested(cases.MAX_NESTING, wrap, "inside"))
    for _ in range(cases.MAX_NESTING):
        result = (
            result.stop
            if type(result) is slice
            else result["k"]
            if type(result) is ffi.Dict
            else next(iter(result))
        )
    assert result == "inside"
    holder = echo((cases.nested(cases.MAX_NESTING - 1, wrap),))
    assert echo(cases.nested(cases.MAX_NESTING, wrap, holder)) is not None, "a runtime object is a leaf"


@pytest.mark.parametrize("bad", BAD, ids=BAD_IDS)
def test_bad_input_is_refused(ffi: Any, bad: cases.Bad) -> None:
    nop = ffi.get_global_func("testing.nop")
    with pytest.raises(bad.raises, match=bad.match):
        nop(bad.make())
    with pytest.raises(bad.raises, match=bad.match):
        nop("a string before, long enough for the heap", [1, {"k": ()}], bad.make())
    with pytest.raises(bad.raises, match=bad.match):
        nop([bad.make()])
    with pytest.raises(bad.raises, match=bad.match):
        ffi.convert(bad.make())


def test_only_the_last_row_is_opaque(ffi: Any) -> None:
    type_code = ffi.get_global_func("testing.type_code")
    opaque = type_code(object())
    for row in ROWS:
        for x in row.examples:
            assert (type_code(x) == opaque) == (row.name == "opaque"), x


def test_slice_parts_come_back_equal(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    result = echo(slice((1, 2), ["x"], {"k": 1}))
    assert type(result) is slice
    assert result == slice((1, 2), ["x"], {"k": 1})
    assert type(result.start) is ffi.Array
    assert type(result.stop) is ffi.List
    assert type(result.step) is ffi.Dict
    assert_same(ffi.to_python(result), slice((1, 2), ["x"], {"k": 1}))


def test_an_int_of_ten_million_bytes(ffi: Any) -> None:
    """Through decimal text, or in quadratic time, this would take hours."""
    echo = ffi.get_global_func("testing.echo")
    for x in ((1 << 80_000_000) - 1, -(1 << 80_000_000)):
        assert echo(x) == x


def test_to_python_returns_other_values_unchanged(ffi: Any) -> None:
    for x in (None, True, 5, 2**100, 0.5, "s", b"b", object(), len, ValueError(), ...):
        assert ffi.to_python(x) is x


@pytest.mark.parametrize(
    "wrap", [lambda x: [x, x], lambda x: (x, x), lambda x: {"a": x, "b": x}, lambda x: [slice(x, x)]]
)
def test_shared_structure_is_converted_once(ffi: Any, wrap: Any) -> None:
    """Forty levels would be 2**40 objects if each occurrence were converted separately."""
    echo, total_blocks = map(ffi.get_global_func, ("testing.echo", "testing.total_blocks"))
    x = cases.nested(40, wrap, [1])
    before = total_blocks()
    result = echo(x)
    assert total_blocks() - before < 40 * 8
    back = ffi.to_python(result)
    for _ in range(40):
        parts = list(back.values()) if isinstance(back, dict) else list(back)
        if isinstance(parts[0], slice):
            parts = [parts[0].start or parts[0].stop, parts[0].stop]
        assert parts[0] is parts[-1]
        back = parts[0]
    assert back == [1]


def test_a_list_met_twice_is_one_object(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    inner = [1]
    result = echo([inner, inner, [1]])
    assert result[0] is result[1]
    assert result[0] is not result[2]
    result[0].append(2)
    assert result == [[1, 2], [1, 2], [1]]
    assert inner == [1]


def test_two_arguments_never_share(ffi: Any) -> None:
    apply, append = map(ffi.get_global_func, ("testing.apply", "testing.append"))
    x = [1]

    def callback(a: Any, b: Any) -> Any:
        append(a, 2)
        return ffi.to_python(a), ffi.to_python(b)

    assert apply(callback, x, x) == ([1, 2], [1])
    assert x == [1]


def test_temporary_items_at_one_address_are_distinct(ffi: Any) -> None:
    """A temporary item may get the address of a freed one; each must be converted separately."""

    class Fresh(cases.OwnMapping):
        def __getitem__(self, key: Any) -> Any:
            return [key]

    echo = ffi.get_global_func("testing.echo")
    assert ffi.to_python(echo(Fresh(dict.fromkeys(range(50))))) == {i: [i] for i in range(50)}


def test_a_container_converts_as_if_copied_first(ffi: Any) -> None:
    """Code that runs during the conversion may change the container: no effect, no crash."""
    x: Any = []

    class Meddler:
        def __index__(self) -> int:
            x.clear()
            return 7

    x.extend([Meddler(), "a string that is long enough", [1, 2], Meddler()])
    echo = ffi.get_global_func("testing.echo")
    assert ffi.to_python(echo(x)) == [7, "a string that is long enough", [1, 2], 7]
    assert x == []

    d: Any = {}

    class DictMeddler:
        def __index__(self) -> int:
            d.clear()
            d.update({str(i): i for i in range(1000)})
            return 8

    d.update(a=DictMeddler(), b=[1], c="another string of some length")
    assert ffi.to_python(echo(d)) == {"a": 8, "b": [1], "c": "another string of some length"}


def test_bytearray_is_copied_and_not_locked(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    buffer = bytearray(b"more than eleven bytes")
    result = echo(buffer)
    buffer.clear()
    assert result == b"more than eleven bytes"


def test_numpy_scalar_classes_as_dtypes_are_no_callables(ffi: Any) -> None:
    import numpy as np

    seen = ffi.get_global_func("testing.describe")
    assert seen(np.float32) == "DataType(2, 32, 1)"
    assert seen(np.dtype("int8")) == "DataType(0, 8, 1)"
    assert seen(np.number) == "Function(host)"


def test_convert_gives_the_object(ffi: Any) -> None:
    assert type(ffi.convert([1])) is ffi.List
    assert type(ffi.convert((1,))) is ffi.Array
    assert type(ffi.convert({})) is ffi.Dict
    assert type(ffi.convert(types.MappingProxyType({}))) is ffi.Map
    assert type(ffi.convert({1})) is ffi.Set
    assert type(ffi.convert(frozenset())) is ffi.FrozenSet
    function = ffi.convert(len)
    assert type(function) is ffi.Function
    assert function([1, 2]) == 2
    wrapper = ffi.convert([1])
    assert ffi.convert(wrapper) is wrapper
    for x in (None, True, 5, 0.5, "s", b"b", ...):
        assert_same(ffi.convert(x), x)


@cpython_only("counts are CPython's")
@pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)
def test_counts_after_a_call_are_those_before(ffi: Any, x: Any) -> None:
    echo, nop = map(ffi.get_global_func, ("testing.echo", "testing.nop"))
    parts = [part for part in (x, *_parts(x)) if not _is_shared(part)]
    echo(x)  # a dtype is cached
    before = [sys.getrefcount(part) for part in parts]
    for _ in range(3):
        nop(x)
        nop([x], x)
        echo(x)
        with pytest.raises(ZeroDivisionError):
            nop(x, cases.REFUSED)
    assert [sys.getrefcount(part) for part in parts] == before


def _is_shared(x: Any) -> bool:
    """Return whether the interpreter caches such objects, and so holds further references."""
    return type(x) in (type(None), bool, int, type(...)) or (type(x) in (str, bytes, tuple) and len(x) < 2)


def _parts(x: Any) -> Any:
    """Yield an object and its items, recursively."""
    inner: Any = ()
    if type(x) in (tuple, list, set, frozenset):
        inner = tuple(x)
    elif type(x) in (dict, types.MappingProxyType):
        inner = (*x.keys(), *x.values())
    elif type(x) is slice:
        inner = (x.start, x.stop, x.step)
    return inner + tuple(part for item in inner for part in _parts(item))
