"""Types of C++'s standard library as parameters and results."""

from __future__ import annotations

import errno
import types
from typing import Any

import cases
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

INT64 = st.integers(-(2**63), 2**63 - 1)
FLOAT = st.floats(allow_nan=False)
#: Without surrogates, two of which UTF-16 would join.
TEXT_OF_PAIRS = st.characters(exclude_categories=["Cs"])
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def stl(ffi: Any, name: str) -> Any:
    return ffi.get_global_func("testing.stl." + name)


ROUND_TRIPS = {
    "string": TEXT,
    "string_view": TEXT,
    "vector_int": st.lists(INT64),
    "vector_bool": st.lists(st.booleans()),
    "vector_string": st.lists(TEXT),
    "vector_any": st.lists(INT64 | TEXT | st.none() | st.lists(INT64)),
    "vector_vector_float": st.lists(st.lists(FLOAT)),
    "map": st.dictionaries(TEXT, INT64),
    "map_float": st.dictionaries(FLOAT, st.lists(INT64)),
    "unordered_map": st.dictionaries(INT64, TEXT),
    "set": st.sets(INT64),
    "set_float": st.sets(FLOAT),
    "unordered_set": st.sets(TEXT),
    "optional": st.none() | INT64,
    "optional_vector": st.none() | st.lists(INT64),
    "variant": st.none() | INT64 | FLOAT | TEXT,
    "variant_vector": st.lists(INT64) | st.lists(TEXT, min_size=1),
    "tuple": st.tuples(INT64, TEXT, st.lists(FLOAT)),
    "tuple_empty": st.just(()),
    "pair": st.tuples(TEXT, INT64),
    "complex": st.complex_numbers(allow_nan=False),
    "vector_complex": st.lists(st.complex_numbers(allow_nan=False)),
    "array": st.tuples(FLOAT, FLOAT, FLOAT).map(list),
    "array_string": st.tuples(TEXT, TEXT).map(list),
    "array_empty": st.just([]),
    "deque": st.lists(INT64),
    "list": st.lists(TEXT),
    "vector_list": st.lists(st.lists(st.tuples(INT64, INT64).map(list))),
    "vector_double": st.lists(FLOAT),
    "vector_uint64": st.lists(st.integers(0, 2**64 - 1)),
    "wstring": st.text(),
    "u16string": st.text(TEXT_OF_PAIRS),
    "u32string": st.text(),
    "map_wide": st.dictionaries(TEXT, st.characters(max_codepoint=127)),
    "char": st.characters(max_codepoint=127),
    "char16": st.characters(max_codepoint=0xFFFF),
    "char32": st.characters(),
    "wchar": st.characters(),
    "signed_char": st.integers(-128, 127),
    "byte": st.integers(0, 255),
}


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_round_trip(ffi: Any, name: str) -> None:
    function = stl(ffi, name)

    @given(ROUND_TRIPS[name])
    def check(x: Any) -> None:
        result = function(x)
        if name == "vector_any":
            result = [ffi.to_python(item) for item in result]
        assert cases.same(result, x)

    if "map" in name or "set" in name:

        @given(ROUND_TRIPS[name])
        def check(x: Any) -> None:
            result = function(x)
            assert type(result) is type(x)
            assert result == x
            if name.startswith("map"):
                assert list(result) == sorted(x)

    check()


@pytest.mark.parametrize(
    ("name", "given_", "expected"),
    [
        ("vector_int", (1, True, 3), [1, 1, 3]),
        ("vector_vector_float", ((1,), [2.5]), [[1.0], [2.5]]),
        ("map", types.MappingProxyType({"b": 1, "a": 2}), {"a": 2, "b": 1}),
        ("set", frozenset({2, 1}), {1, 2}),
        ("tuple", [1, "a", (2,)], (1, "a", [2.0])),
        ("pair", ["a", 1], ("a", 1)),
        ("vector_complex", [1, 2.5], [1 + 0j, 2.5 + 0j]),
    ],
)
def test_either_member_of_a_pair_is_taken(ffi: Any, name: str, given_: Any, expected: Any) -> None:
    function = stl(ffi, name)
    for x in (given_, ffi.convert(given_)):
        assert cases.same(function(x), expected)


def test_the_callee_changes_a_copy(ffi: Any) -> None:
    xs = ffi.List(["a"])
    assert stl(ffi, "rvalue")(xs) == ["a", "end"]
    assert stl(ffi, "rvalue")(xs, last="z") == ["a", "z"]
    assert xs == ["a"]
    assert stl(ffi, "const_ref")(range(3) and (1, 2, 3)) == 3


WRONG = [
    ("string", b"a", "expected str, got bytes"),
    ("vector_int", "text", r"expected Sequence\[int\], got str"),
    ("vector_int", {1}, r"expected Sequence\[int\], got set"),
    ("vector_int", [1, "x"], r"argument 0 \(x\), at \[1\]: expected int, got str"),
    ("vector_vector_float", [[1], [2.0, None]], r"at \[1\]\[1\]: expected float, got NoneType"),
    ("vector_vector_float", [[1], 2], r"at \[1\]: expected Sequence\[float\], got int"),
    ("map", {"a": 1, "b": "x"}, r'at \["b"\]: expected int, got str'),
    ("map", {1: 1}, r"at \[key 1\]: expected str, got int"),
    ("map", {1: [1]}, r"at \[key 1\]: expected str, got int"),
    ("map", {(1, 2): 1}, r"at \[key .*\(1, 2\).*\]: expected str, got"),
    ("map", [1], r"expected Mapping\[str, int\], got list"),
    ("map_float", {1.5: [0, "x"]}, r"at \[1.5\]\[1\]: expected int, got str"),
    ("unordered_map", {1: 2}, r"at \[1\]: expected str, got int"),
    ("unordered_map", {"a": 2}, r'at \[key "a"\]: expected int, got str'),
    ("set", {"a"}, r'at \["a"\]: expected int, got str'),
    ("set", [1], r"expected AbstractSet\[int\], got list"),
    ("unordered_set", {5}, r"at \[5\]: expected str, got int"),
    ("optional", "x", r"expected int \| None, got str"),
    ("optional_vector", [1, "x"], r"at \[1\]: expected int, got str"),
    ("variant", [1], r"expected None \| float \| int \| str, got list"),
    ("variant_vector", [1, "x"], r"at \[\d\]: expected"),
    ("tuple", (1, 2, []), r"at \[1\]: expected str, got int"),
    ("tuple", 5, r"expected tuple\[int, str, Sequence\[float\]\], got int"),
    ("tuple", (1, "a", [2, "x"]), r"at \[2\]\[1\]: expected float, got str"),
    ("pair", {"a": 1}, r"expected tuple\[str, int\], got dict"),
    ("complex", "x", "expected complex, got str"),
    ("function", 5, r"expected Callable\[\[str\], int\], got int"),
    ("function", None, r"expected Callable\[\[str\], int\], got NoneType"),
    ("nanoseconds", "x", "expected timedelta | float, got str"),
    ("array", {1}, r"expected Sequence\[float\], got set"),
    ("array", [1, 2, "x"], r"at \[2\]: expected float, got str"),
    ("deque", [None], r"at \[0\]: expected int, got NoneType"),
    ("list", 5, r"expected Sequence\[str\], got int"),
    ("wstring", b"a", "expected str, got bytes"),
    ("char", 65, "expected str, got int"),
    ("signed_char", "a", "expected int, got str"),
    ("byte", "a", "expected int, got str"),
    ("error_code", "ENOENT", "expected int, got str"),
]


@pytest.mark.parametrize(("name", "bad", "match"), WRONG)
def test_wrong_types(ffi: Any, name: str, bad: Any, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        stl(ffi, name)(bad)


def test_wrong_values(ffi: Any) -> None:
    with pytest.raises(OverflowError, match=r"at \[1\]: 300 does not fit int8"):
        stl(ffi, "vector_int8")([1, 300])
    for bad in ((), (1,), (1, "a", [], 4)):
        with pytest.raises(ValueError, match=r"expected 3 elements, got"):
            stl(ffi, "tuple")(bad)
    with pytest.raises(ValueError, match="expected 0 elements, got"):
        stl(ffi, "tuple_empty")([1])
    for name in ("string", "string_view"):
        with pytest.raises(UnicodeEncodeError) as caught:
            stl(ffi, name)("ab\ud800" * 10)
        assert (caught.value.object, caught.value.start) == ("ab\ud800" * 10, 2)
        assert stl(ffi, name)("nul\0inside") == "nul\0inside"
    with pytest.raises(UnicodeDecodeError):
        stl(ffi, "bad_utf8")()


def test_numbers_of_elements(ffi: Any) -> None:
    for bad in ([], [1.0, 2.0], [1.0] * 4):
        with pytest.raises(ValueError, match="expected 3 elements, got"):
            stl(ffi, "array")(bad)
    with pytest.raises(ValueError, match=r"at \[0\]\[1\]: expected 2 elements, got"):
        stl(ffi, "vector_list")([[(1, 2), (3,)]])


def test_characters(ffi: Any) -> None:
    assert stl(ffi, "char")() == "a"
    for name, bad in (
        ("char", "\x80"),
        ("char", ""),
        ("char", "ab"),
        ("char", "nul\0" * 9),
        ("char16", "\U0001f600"),
        ("char32", "ab"),
        ("wchar", ""),
    ):
        with pytest.raises(ValueError, match="expected one (ASCII )?character"):
            stl(ffi, name)(bad)
    for index in range(3):
        with pytest.raises(ValueError, match="a character of C\\+\\+ is not in Unicode|above 0x10ffff"):
            stl(ffi, "bad_characters")(index)
    with pytest.raises(OverflowError, match="256 does not fit uint8"):
        stl(ffi, "byte")(256)


def test_surrogates_of_utf16(ffi: Any) -> None:
    same, size = stl(ffi, "u16string"), stl(ffi, "utf16_size")
    assert (size("a\U0001f600"), size("a\ud83d"), size("")) == (3, 2, 0)
    assert same("\ud83d") == "\ud83d"
    assert same("\ude00" * 9) == "\ude00" * 9
    assert same("\ud83d\ude00" * 9) == "\U0001f600" * 9


def test_error_codes(ffi: Any) -> None:
    function = stl(ffi, "error_code")
    assert function(None) is None
    assert function(0) is None
    with pytest.raises(FileNotFoundError) as caught:
        function(errno.ENOENT)
    assert caught.value.errno == errno.ENOENT


NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "?")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_an_array_of_one_axis_is_a_sequence(ffi: Any, dtype: str) -> None:
    x = np.array([0, 1, 1, 100, 7, 3], dtype)
    same = stl(ffi, "vector_double" if dtype in ("f4", "f8") else "vector_int")
    for given_ in (x, x[::2], x[::-1], x[:0], np.broadcast_to(x[3], (5,))):
        for array in (given_, ffi.convert(given_)):
            assert cases.same(same(array), [type(same([1])[0])(item) for item in given_])
    assert stl(ffi, "vector_any")(x) == x.tolist()
    if dtype != "?":
        assert stl(ffi, "array")(x[:3]) == x[:3].tolist()


EXACT = {"int": "i8", "int8": "i1", "uint64": "u8", "float32": "f4", "double": "f8"}


@pytest.mark.parametrize("name", EXACT)
def test_an_array_of_the_vectors_own_type(ffi: Any, name: str) -> None:
    """The elements are copied from memory, in any direction and at any address."""
    same = stl(ffi, f"vector_{name}")
    x = np.array([0, 1, 100, 7, 3], EXACT[name])
    unaligned = np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1)
    for given_ in (x, x[::-2], x[1:1], x[4:][::-1], np.broadcast_to(x[2], (3,)), unaligned, unaligned[::3]):
        for array in (given_, ffi.convert(given_)):
            assert cases.same(same(array), given_.tolist())
    assert same(ffi.List([*x.tolist(), True])) == [0, 1, 100, 7, 3, 1]


def test_arrays_that_are_no_sequences(ffi: Any) -> None:
    ints, floats = stl(ffi, "vector_int"), stl(ffi, "vector_double")
    assert floats(np.arange(3)) == [0.0, 1.0, 2.0]
    with pytest.raises(TypeError, match=r"at \[0\]: expected int, got float"):
        ints(np.ones(2))
    with pytest.raises(TypeError, match=r"at \[0\]: expected int, got .* of int64"):
        ints(np.ones((2, 2), int))
    with pytest.raises(TypeError, match=r"expected Sequence\[int\], got .* of int64, of shape \(\)"):
        ints(ffi.convert(np.array(1)))
    for dtype, name in (("f2", "float16"), ("c16", "complex128")):
        with pytest.raises(TypeError, match=rf"expected Sequence\[float\], got .* of {name}"):
            floats(np.ones(2, dtype))
    rows = stl(ffi, "vector_vector_float")
    assert rows(np.arange(6).reshape(3, 2)[::-1, ::-1]) == [[5, 4], [3, 2], [1, 0]]
    assert rows(np.ones((2, 0))) == [[], []]
    with pytest.raises(OverflowError, match=r"at \[1\]: .* does not fit int64"):
        ints(np.array([1, 2**64 - 1], "u8"))
    with pytest.raises(OverflowError, match=r"at \[1\]: 300 does not fit int8"):
        stl(ffi, "vector_int8")(np.array([1, 300]))
    assert stl(ffi, "vector_uint64")(np.array([1, 2**64 - 1], "u8")) == [1, 2**64 - 1]


def test_rows_of_an_array_are_tuples_of_numbers(ffi: Any) -> None:
    pairs = stl(ffi, "vector_number_pair")
    x = np.arange(6).reshape(3, 2)
    for given_ in (x, x[::-1, ::-1], x[:0], list(x), tuple(x.tolist())):
        assert cases.same(pairs(given_), [(int(a), float(b)) for a, b in given_])
    assert pairs(ffi.convert(x)) == [(0, 1.0), (2, 3.0), (4, 5.0)]
    with pytest.raises(ValueError, match=r"argument 0 \(x\), at \[0\]: expected 2 elements, got \[0, 0, 0\]"):
        pairs(np.zeros((1, 3), int))
    with pytest.raises(TypeError, match=r"at \[0\]\[0\]: expected int, got float"):
        pairs(np.zeros((1, 2)))
    with pytest.raises(TypeError, match=r"at \[0\]\[0\]: expected int, got .* of int64"):
        pairs(np.zeros((1, 2, 1), int))
    with pytest.raises(TypeError, match=r"at \[0\]: expected tuple\[int, float\], got int"):
        pairs(np.zeros(2, int))
    with pytest.raises(TypeError, match=r"expected tuple\[str, int\], got .* of int64"):
        stl(ffi, "pair")(np.zeros(2, int))


def test_keys_that_become_one_are_refused(ffi: Any) -> None:
    near = 2**53
    assert stl(ffi, "set_float")({near, near + 2}) == {float(near), float(near + 2)}
    with pytest.raises(ValueError, match="two elements are equal in C\\+\\+"):
        stl(ffi, "set_float")({near, near + 1})
    with pytest.raises(ValueError, match="two keys are equal in C\\+\\+"):
        stl(ffi, "map_float")({near: [], near + 1: []})
    with pytest.raises(ValueError, match="two keys of a C\\+\\+ map are equal in Python"):
        stl(ffi, "nan_keys")()


# ---- functions ------------------------------------------------------------------------------------------


class Named:
    def __repr__(self) -> str:
        return "<Named at 0xAB, of one at 0xCD>"

    def __call__(self, *args: Any) -> None: ...


def test_functions(ffi: Any) -> None:
    apply, same = stl(ffi, "apply"), stl(ffi, "function")
    assert apply(lambda a, b: a + len(b), 1, "abc") == 4
    with pytest.raises(TypeError) as caught:
        apply(lambda a, b: b, 1, "abc")
    assert str(caught.value) == (
        "the result of <function test_functions.<locals>.<lambda>>: expected int, got str"
    )
    with pytest.raises(TypeError) as caught:
        apply(Named(), 1, "abc")
    assert str(caught.value) == "the result of <Named, of one>: expected int, got NoneType"
    with pytest.raises(
        OverflowError, match=rf"^the result of <function .*<lambda>>: {2**70} does not fit int64"
    ):
        apply(lambda a, b: 2**70, 1, "abc")
    with pytest.raises(TypeError, match=r"^the result of testing.nop\(\): expected float, got NoneType$"):
        stl(ffi, "compose")(ffi.get_global_func("testing.nop"), len)(1.0)
    with pytest.raises(ZeroDivisionError):
        apply(lambda a, b: a // 0, 1, "abc")
    with pytest.raises(TypeError, match=r"argument 2 \(b\): expected str, got int"):
        apply(lambda a, b: a, 1, 2)

    def python(text: str) -> int:
        return len(text)

    assert same(python) is python
    assert same(ffi.get_global_func("testing.add_one")).__name__ == "testing.add_one"
    assert stl(ffi, "no_function")() is None
    assert stl(ffi, "optional_function")(None) is None


def test_a_function_made_of_functions(ffi: Any) -> None:
    compose = stl(ffi, "compose")
    function = compose(lambda x: x + 1, lambda x: x * 2)
    assert type(function) is ffi.Function
    assert function(3) == 8.0
    assert compose(function, function)(0) == 6.0
    with pytest.raises(TypeError, match="expected float, got str"):
        function("x")
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        function()


# ---- elements that change while they are converted -------------------------------------------------------


class EvilKey:
    """A key whose `__str__` empties its dict."""

    def __init__(self, clear: Any) -> None:
        self.clear = clear

    def __repr__(self) -> str:
        self.clear()
        return "evil"


def test_the_str_of_a_key_may_empty_the_dict(ffi: Any) -> None:
    for name in ("typed.dict_any_int", "stl.map"):
        d = ffi.Dict()
        d[EvilKey(d.clear)] = 10**100
        with pytest.raises((RuntimeError, TypeError), match="changed while it was converted|expected str"):
            ffi.get_global_func("testing." + name)(d)
    s = ffi.Set()
    s.add(EvilKey(s.clear))
    with pytest.raises((RuntimeError, TypeError), match="changed while it was converted|expected int"):
        stl(ffi, "set")(s)
