"""Typed parameters convert without loss or refuse, and say what was wrong where."""

from __future__ import annotations

import ctypes
import math
import struct
import types
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CPYTHON

HUGE = float(2**53)


def typed(ffi: Any, name: str) -> Any:
    return ffi.get_global_func("testing.typed." + name)


def message(name: str, signature: str, index: int, param: str, wrong: str, path: str = "") -> str:
    place = f", at {path}" if path else ""
    return f"testing.typed.{name}{signature}: argument {index} ({param}){place}: {wrong}"


# ---- numbers ------------------------------------------------------------------------------------

_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}


@pytest.mark.parametrize("name", _RANGES)
def test_integers_take_their_range(ffi: Any, name: str) -> None:
    function = typed(ffi, name)
    low, high = _RANGES[name]

    @given(cases.ints)
    def check(x: int) -> None:
        if low <= x <= high:
            assert cases.same(function(x), x)
        else:
            with pytest.raises(OverflowError, match=name):
                function(x)

    check()
    for x in (low, high, 0, 1):
        assert function(x) == x
    for x in (low - 1, high + 1, 2**64, -(2**64), 10**400, -(1 << 100_000)):
        with pytest.raises(OverflowError, match=name):
            function(x)
    assert cases.same(function(True), 1)
    assert cases.same(function(False), 0)
    assert function(cases.Indexable(5)) == 5


@pytest.mark.parametrize("name", [*_RANGES, "box_int"])
@pytest.mark.parametrize(
    ("bad", "got"),
    [(1.0, "float"), (1.5, "float"), ("1", "str"), (b"1", "bytes"), (None, "NoneType"), ([1], "list"), ((1,), "tuple"),
     ({}, "dict"), (..., "ellipsis"), (object(), "object"), (len, type(len).__name__), (slice(1), "slice"),
     (ctypes.c_void_p(1), "c_void_p")],
)  # fmt: skip
def test_integers_refuse_all_else(ffi: Any, name: str, bad: Any, got: str) -> None:
    with pytest.raises(TypeError) as caught:
        typed(ffi, name)(bad)
    text = str(caught.value)
    assert text.startswith(f"testing.typed.{name}(x: int) -> int: argument 0 (x): expected int, got {got}")


def test_an_integer_of_any_size(ffi: Any) -> None:
    function = typed(ffi, "big_int")

    @given(cases.ints | st.booleans())
    def check(x: Any) -> None:
        assert cases.same(function(x), int(x))

    check()
    for bad, got in ((1.0, "float"), ("1", "str"), (None, "NoneType"), ([2**70], "list")):
        with pytest.raises(TypeError, match=f"expected int, got {got}"):
            function(bad)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_floats(ffi: Any, name: str) -> None:
    function = typed(ffi, name)
    narrow = name == "float32"

    def expected(x: Any) -> float | None:
        try:
            return struct.unpack("<f", struct.pack("<f", float(x)))[0] if narrow else float(x)
        except OverflowError:
            return None

    @given(cases.floats | cases.ints | st.booleans())
    def check(x: Any) -> None:
        wanted = expected(x)
        if wanted is None:
            with pytest.raises(OverflowError, match="float32|int too large to convert to float"):
                function(x)
        elif math.isnan(wanted):
            assert math.isnan(function(x))
        else:
            assert cases.same(function(x), wanted)

    check()
    for x in (0.0, -0.0, math.inf, -math.inf, 1.5, 3, -7, True):
        assert cases.same(function(x), float(x))
    if not narrow:
        assert function(2**53 + 1) == HUGE
        assert function(2**63 - 1) == 2.0**63
        assert function(2**64 + 2**11) == 2.0**64
        assert function(2**64 + 2**11 + 1) == 2.0**64 + 2**12
    else:
        with pytest.raises(OverflowError, match="float32"):
            function(1e39)
    for bad in ("1.5", None, b"1", [1.0], object(), ...):
        with pytest.raises(TypeError, match="expected float, got"):
            function(bad)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers(ffi: Any, name: str) -> None:
    function = typed(ffi, name)

    def expected(x: Any) -> complex | None:
        try:
            number = complex(x)
            parts = number.real, number.imag
            return complex(
                *(struct.unpack("<f", struct.pack("<f", part))[0] for part in parts)
                if name == "complex64"
                else parts
            )
        except OverflowError:
            return None

    @given(cases.complexes | cases.floats | cases.ints | st.booleans())
    def check(x: Any) -> None:
        wanted = expected(x)
        if wanted is None:
            with pytest.raises(OverflowError, match="complex64|int too large to convert to float"):
                function(x)
        else:
            # What a NaN carries may be lost where it is narrowed.
            assert str(function(x)) == str(wanted)

    check()
    assert cases.same(function(2), 2 + 0j)
    assert cases.same(function(complex(-0.0, -0.0)), complex(-0.0, -0.0))
    for bad in ("1j", None, b"1", [1j], object(), ...):
        with pytest.raises(TypeError, match="expected complex, got"):
            function(bad)
    for real in ("float64", "int64", "bool"):
        with pytest.raises(TypeError, match="got complex"):
            typed(ffi, real)(1 + 0j)


def test_bool(ffi: Any) -> None:
    function = typed(ffi, "bool")
    for x in (True, False):
        assert function(x) is x
    assert function(1) is True
    assert function(0) is False
    assert function(cases.Indexable(1)) is True
    for bad in (2, -1, 2**40, 2**64, 10**400):
        with pytest.raises(ValueError, match="0 or 1"):
            function(bad)
    for bad in (1.0, "true", None, [], b""):
        with pytest.raises(TypeError, match="expected bool, got"):
            function(bad)


# ---- text and the rest --------------------------------------------------------------------------


def test_text_types_take_text_only(ffi: Any) -> None:
    for text in ("", "short", "x" * 100, "\u4e2d\u6587" * 20, "\ud800"):
        assert typed(ffi, "str")(text) == text
    for data in (b"", b"short", b"x" * 100, bytearray(b"ab"), memoryview(b"abc")):
        assert typed(ffi, "bytes")(data) == bytes(data)
    assert typed(ffi, "c_str")("a\u4e2d") == 4
    for name, bad in (
        ("str", b"b"),
        ("str", 5),
        ("str", None),
        ("bytes", "s"),
        ("bytes", 5),
        ("c_str", b"b"),
        ("c_str", None),
    ):
        with pytest.raises(TypeError, match=f"expected {name.replace('c_', '')}, got"):
            typed(ffi, name)(bad)


def test_c_strings_refuse_an_inner_nul(ffi: Any) -> None:
    for bad in ("\0", "a\0b", "x" * 50 + "\0", "\u4e2d\0", "nul at the end of it\0"):
        with pytest.raises(ValueError, match="embedded null character"):
            typed(ffi, "c_str")(bad)


def test_the_others(ffi: Any) -> None:
    assert typed(ffi, "none")(None) is None
    assert typed(ffi, "ellipsis")(...) is ...
    assert typed(ffi, "slice")(slice(1, 2)) == slice(1, 2)
    assert typed(ffi, "function")(len) is len
    assert typed(ffi, "pointer")(ctypes.c_void_p(16)).value == 16
    assert typed(ffi, "pointer")(None).value is None
    x = object()
    assert typed(ffi, "object")(x) is x
    assert typed(ffi, "any")(x) is x
    assert typed(ffi, "view")(x) is x
    for name, expected in (("none", "None"), ("ellipsis", "ellipsis"), ("slice", "slice"), ("function", "Function"),
                           ("pointer", "c_void_p")):  # fmt: skip
        with pytest.raises(TypeError, match=f"expected {expected}, got str"):
            typed(ffi, name)("nonsense")


def test_an_object_ref_takes_none_only_if_optional(ffi: Any) -> None:
    function, optional = typed(ffi, "object"), typed(ffi, "optional_object")
    with pytest.raises(TypeError, match="expected Object, got NoneType"):
        function(None)
    assert optional(None) is None
    for x in (
        5,
        True,
        1.5,
        "short",
        b"short",
        "x" * 50,
        ...,
        [1],
        (1,),
        {"k": 1},
        object(),
        len,
        ctypes.c_void_p(3),
    ):
        for f in (function, optional):
            got = f(x)
            assert cases.same(ffi.to_python(got), cases.plain(x)) or got.value == x.value
    assert typed(ffi, "optional_int")(None) is None
    assert typed(ffi, "optional_int")(5) == 5
    with pytest.raises(TypeError, match=r"expected int \| None, got str"):
        typed(ffi, "optional_int")("x")


def test_opaque_objects_never_turn_into_values(ffi: Any) -> None:
    class Pretender:
        def __float__(self) -> float:
            return 1.0

        def __str__(self) -> str:
            return "text"

        def __bool__(self) -> bool:
            return True

        def __bytes__(self) -> bytes:
            return b""

        def __iter__(self) -> Any:
            return iter(())

        def __len__(self) -> int:
            return 0

    for name in ("bool", "int64", "float64", "str", "bytes", "array", "list", "map", "dict", "none"):
        with pytest.raises(TypeError, match="got Pretender"):
            typed(ffi, name)(Pretender())


# ---- containers ---------------------------------------------------------------------------------


def test_what_a_parameter_makes_of_what_is_given(ffi: Any) -> None:
    """The table of the contract, row by row."""
    array, list_ = typed(ffi, "array"), typed(ffi, "list")
    for given_, as_array, as_list in (
        ((1, "x"), "new", None),
        ([1, "x"], "new", "new"),
        (ffi.Array((1, "x")), "itself", None),
        (ffi.List([1, "x"]), "copy", "itself"),
    ):
        result = array(given_)
        assert type(result) is ffi.Array
        assert result == (1, "x")
        assert (result is given_) == (as_array == "itself")
        if as_list is None:
            with pytest.raises(TypeError, match="expected List"):
                list_(given_)
        else:
            result = list_(given_)
            assert type(result) is ffi.List
            assert result == [1, "x"]
            assert (result is given_) == (as_list == "itself")


def test_what_a_mapping_parameter_makes_of_what_is_given(ffi: Any) -> None:
    map_, dict_ = typed(ffi, "map"), typed(ffi, "dict")
    for given_, as_map, as_dict in (
        (types.MappingProxyType({"k": 1}), "new", None),
        ({"k": 1}, "new", "new"),
        (ffi.Map({"k": 1}), "itself", None),
        (ffi.Dict({"k": 1}), "copy", "itself"),
    ):
        result = map_(given_)
        assert type(result) is ffi.Map
        assert result == {"k": 1}
        assert (result is given_) == (as_map == "itself")
        if as_dict is None:
            with pytest.raises(TypeError, match="expected Dict"):
                dict_(given_)
        else:
            result = dict_(given_)
            assert type(result) is ffi.Dict
            assert (result is given_) == (as_dict == "itself")


def test_a_snapshot_does_not_change(ffi: Any) -> None:
    xs, d = ffi.List([1]), ffi.Dict(k=1)
    frozen, frozen_map = typed(ffi, "array")(xs), typed(ffi, "map")(d)
    xs.append(2)
    d["l"] = 2
    assert frozen == (1,)
    assert frozen_map == {"k": 1}
    assert typed(ffi, "array")(xs) == (1, 2)


def test_a_list_made_for_the_call_is_taken(ffi: Any) -> None:
    """Freezing it in place costs no block more than the list itself."""
    total, array, echo = (
        ffi.get_global_func("testing.total_blocks"),
        typed(ffi, "array"),
        ffi.get_global_func("testing.echo"),
    )
    items = list(range(50))

    def cost(function: Any) -> int:
        before = total()
        function(items)
        return int(total() - before)

    assert cost(array) == cost(echo)
    assert items == list(range(50))


@pytest.mark.parametrize(
    ("name", "signature", "bad", "path", "wrong"),
    [
        ("array_int", "(x: Array[int]) -> Array[int]", [1, "x"], "[1]", "expected int, got str"),
        ("array_int", "(x: Array[int]) -> Array[int]", (1, 2, None), "[2]", "expected int, got NoneType"),
        ("list_int", "(x: List[int]) -> List[int]", [1.5], "[0]", "expected int, got float"),
        ("list_float", "(x: List[float]) -> List[float]", [1.0, "x"], "[1]", "expected float, got str"),
        ("map_str_int", "(x: Map[str, int]) -> Map[str, int]", {"a": 1, "b": "x"}, '["b"]', "expected int, got str"),
        ("dict_str_int", "(x: Dict[str, int]) -> Dict[str, int]", {"a": []}, '["a"]', "expected int, got list"),
        ("dict_str_int", "(x: Dict[str, int]) -> Dict[str, int]", {5: 1}, "[5]", "expected str, got int"),
        ("array_array_str", "(x: Array[Array[str]]) -> Array[Array[str]]", [["a"], ["b", 5]], "[1][1]", "expected str, got int"),
        ("array_array_str", "(x: Array[Array[str]]) -> Array[Array[str]]", [["a"], "b"], "[1]", "expected Array[str], got str"),
        ("array_int", "(x: Array[int]) -> Array[int]", "text", "", "expected Array[int], got str"),
        ("list_int", "(x: List[int]) -> List[int]", (1,), "", "expected List[int], got tuple"),
        ("map_str_int", "(x: Map[str, int]) -> Map[str, int]", [1], "", "expected Map[str, int], got list"),
    ],
)  # fmt: skip
def test_the_path_to_the_element(
    ffi: Any, name: str, signature: str, bad: Any, path: str, wrong: str
) -> None:
    with pytest.raises(TypeError) as caught:
        typed(ffi, name)(bad)
    assert str(caught.value) == message(name, signature, 0, "x", wrong, path)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ((1,), "tuple"),
        ([1], "list"),
        ({1: 2}, "dict"),
        (types.MappingProxyType({1: 2}), "mappingproxy"),
        ({1}, "set"),
        (frozenset({1}), "frozenset"),
        ("x", "str"),
    ],
)
def test_what_was_given_has_pythons_name(ffi: Any, given_: Any, shown: str) -> None:
    add_one, ints = ffi.get_global_func("testing.add_one"), typed(ffi, "array_int")
    with pytest.raises(TypeError, match=rf"argument 0 \(x\): expected int, got {shown}$"):
        add_one(given_)
    with pytest.raises(TypeError, match=rf"at \[1\]: expected int, got {shown}$"):
        ints([0, given_])
    with pytest.raises(TypeError, match=rf"at \[0\]: expected int, got {shown}$"):
        ints((given_, given_))


@pytest.mark.parametrize("name", ["Array", "List", "FrozenSet", "Set", "Map", "Dict"])
def test_a_container_of_the_runtime_has_its_own_name(ffi: Any, name: str) -> None:
    given_ = getattr(ffi, name)()
    with pytest.raises(TypeError, match=f"expected int, got {name}$"):
        ffi.get_global_func("testing.add_one")(given_)
    if CPYTHON:
        # PyPy's wrappers are known to Python alone, and those inside of what is converted look converted too.
        with pytest.raises(TypeError, match=rf"at \[0\]: expected int, got {name}$"):
            typed(ffi, "array_int")([given_])


def test_which_argument_was_wrong(ffi: Any) -> None:
    defaults = typed(ffi, "defaults")
    start = "testing.typed.defaults(a: int, b: str = 'b', c: float = 0.5) -> Array[Any]: "
    for args, kwargs, rest in (
        (("x",), {}, "argument 0 (a): expected int, got str"),
        ((1, 2), {}, "argument 1 (b): expected str, got int"),
        ((1, "b", "c"), {}, "argument 2 (c): expected float, got str"),
        ((1,), {"c": None}, "argument 2 (c): expected float, got NoneType"),
        ((), {"a": "x", "b": 5}, "argument 0 (a): expected int, got str"),
    ):
        with pytest.raises(TypeError) as caught:
            defaults(*args, **kwargs)
        assert str(caught.value) == start + rest
    with pytest.raises(TypeError, match=r"unnamed\(.*\) -> int: argument 1.*: expected int, got str"):
        typed(ffi, "unnamed")(1, "x")


def test_out_of_range_inside_of_a_container(ffi: Any) -> None:
    append = typed(ffi, "array_int")
    assert append([2**62]) == (2**62,)
    with pytest.raises(OverflowError, match=r"at \[1\]: 18446744073709551616 does not fit int64"):
        append([1, 2**64])


def test_elements_convert_as_they_are_read(ffi: Any) -> None:
    """A typed view leaves the elements as they are."""
    assert cases.same(ffi.to_python(typed(ffi, "list_float")([1, True, 2.5])), [1, True, 2.5])
    assert typed(ffi, "array_int")([True, 2]) == (1, 2)
    got = typed(ffi, "array_object")([1, "x", [2]])
    assert cases.same(ffi.to_python(got), (1, "x", [2]))
    with pytest.raises(TypeError, match=r"at \[1\]: expected Object, got NoneType"):
        typed(ffi, "array_object")([1, None])


def test_a_typed_view_of_a_list_that_changes_is_sound(ffi: Any) -> None:
    read = ffi.get_global_func("testing.read_as_int_while")
    xs = ffi.List([1, 2, 3])
    assert read(xs, lambda: None) == 6
    assert read(xs, lambda: xs.append(4)) == 10
    with pytest.raises(TypeError, match="expected int, got str"):
        read(xs, lambda: xs.append("text"))
    assert xs == [1, 2, 3, 4, "text"]
    xs.pop()
    assert read(xs, xs.clear) == 0
    ran = []
    with pytest.raises(TypeError, match=r"at \[1\]"):
        read(ffi.List([1, "x"]), lambda: ran.append(1))
    assert ran == []


def test_the_summary_of_kinds_never_lets_a_wrong_element_through(ffi: Any) -> None:
    """Whoever wrote an element: the marshallers, Python's methods, C++."""
    array_int, append = typed(ffi, "array_int"), ffi.get_global_func("testing.append")
    writers = [
        lambda xs, x: xs.append(x),
        lambda xs, x: xs.insert(0, x),
        lambda xs, x: xs.__setitem__(0, x),
        lambda xs, x: xs.__setitem__(slice(0, 1), [x]),
        lambda xs, x: xs.extend([x]),
        lambda xs, x: append(xs, x),
    ]
    for x in ("s", "a string on the heap", None, 1.5, b"b", [1], (1,), {}, object(), len, ..., slice(1), ValueError(),
              ctypes.c_void_p(1)):  # fmt: skip
        for write in writers:
            xs = ffi.List([1, 2])
            assert array_int(xs) == (1, 2)
            write(xs, x)
            with pytest.raises(TypeError, match="expected int"):
                array_int(xs)
            del xs[:]
            assert array_int(xs) == ()
        with pytest.raises(TypeError, match="expected int"):
            array_int([1, x])
        d = ffi.Dict(k=1)
        d["l"] = x
        with pytest.raises(TypeError, match="expected int"):
            typed(ffi, "map_str_int")(d)
        with pytest.raises(TypeError, match="expected int"):
            typed(ffi, "map_str_int")({"l": x})
    with pytest.raises(TypeError, match="expected str"):
        typed(ffi, "map_str_int")({1: 1})


def test_drawn_lists_against_array_of_int(ffi: Any) -> None:
    array_int, sum_ints = typed(ffi, "array_int"), ffi.get_global_func("testing.sum_ints")

    @given(st.lists(cases.scalars, max_size=6))
    def check(items: Any) -> None:
        fits = [type(item) in (int, bool) and -(2**63) <= item < 2**63 for item in items]
        wrong = [i for i, fit in enumerate(fits) if not fit]
        if wrong and type(items[wrong[0]]) is int:
            with pytest.raises(OverflowError, match=rf"at \[{wrong[0]}\]: .* does not fit int64"):
                array_int(items)
        elif wrong:
            with pytest.raises(TypeError, match=rf"at \[{wrong[0]}\]: expected int, got"):
                array_int(items)
        else:
            assert cases.same(ffi.to_python(array_int(items)), tuple(items))

    check()
    assert sum_ints(range(5) and [1, 2, True]) == 4


def test_boxes_are_opened(ffi: Any) -> None:
    """Nobody behind a value meets a box: what C++ returns as an object is the plain value again."""
    for x in (5, True, 2.5, "in place", b"bytes", ...):
        assert cases.same(typed(ffi, "object")(x), x)
        hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
        hold(typed(ffi, "object")(x))
        assert cases.same(held(), x)
        hold(None)
    assert typed(ffi, "box_int")(5) == 5


def test_results_of_callbacks_are_checked_too(ffi: Any) -> None:
    ffi.register_global_func("t.typed", lambda: "text", override=True)
    assert ffi.get_global_func("t.typed")() == "text"
    ffi.remove_global_func("t.typed")
    with pytest.raises(TypeError):
        ffi.get_global_func("testing.catch_repeatedly")(5, 1)
