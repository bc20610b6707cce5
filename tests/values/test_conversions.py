"""Sequences and sets of C++ as parameters that accept several Python types."""

from __future__ import annotations

import array
import ctypes
import enum
import mmap
import sys
from collections import UserList, UserString, abc, deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import STACK_ENDS, get_testing_function

INT64 = st.integers(-(2**63), 2**63 - 1)


class Pages(abc.Sequence[int]):
    """A sequence by inheritance."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]


class Rows:
    """A sequence only by its methods."""

    def __init__(self, *items: Any, count: int | None = None) -> None:
        self.items = items
        self.count = len(items) if count is None else count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.items[index]


class Endless(Rows):
    def __getitem__(self, index: int) -> Any:
        return index


class Mappish(Rows):
    def keys(self) -> Any:
        return range(len(self))


class Series(Rows):
    """Has the method `to_numpy`, like a Series of pandas or polars."""

    def to_numpy(self) -> Any:
        raise AssertionError("never called")


class Sparse(Rows):
    """Has the method `toarray`, like a sparse array of SciPy."""

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous")

    def toarray(self) -> Any:
        raise AssertionError("never called")

    tocoo = toarray


SEQUENCES: dict[str, Any] = {
    "range": range(3),
    "deque": deque([0, 1, 2]),
    "array": array.array("h", [0, 1, 2]),
    "ctypes": (ctypes.c_uint16 * 3)(0, 1, 2),
    "keys": {0: "a", 1: "b", 2: "c"}.keys(),
    "values": {"a": 0, "b": 1, "c": 2}.values(),
    "UserList": UserList([0, 1, 2]),
    "Sequence": Pages(0, 1, 2),
    "methods": Rows(0, 1, 2),
    "ndarray": np.array([0, 1, 2], "i2"),
}


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize(
    "function", ["vector_int", "deque", "vector_double", "vector_any", "optional_vector"]
)
def test_sequences(ffi: Any, function: str, name: str) -> None:
    result = get_testing_function(ffi, "stl." + function)(SEQUENCES[name])
    assert result == [0, 1, 2]
    assert {type(x) for x in result} == {float if function == "vector_double" else int}


@pytest.mark.parametrize("name", SEQUENCES)
def test_arrays_of_the_runtime(ffi: Any, name: str) -> None:
    for function in ("array", "array_any", "iterable", "iterable_int"):
        result = get_testing_function(ffi, "as." + function)(SEQUENCES[name])
        assert type(result) is ffi.Array
        assert result == (0, 1, 2)
    with pytest.raises(TypeError, match=r"argument 0 \(x\): expected List\[int\], got "):
        get_testing_function(ffi, "as.list")(SEQUENCES[name])
    assert get_testing_function(ffi, "stl.array")(SEQUENCES[name]) == [0, 1, 2]


def test_nested_sequences(ffi: Any) -> None:
    rows = get_testing_function(ffi, "stl.vector_vector_float")
    assert rows([range(2), deque([2.5]), (), array.array("f", [0.5])]) == [[0, 1], [2.5], [], [0.5]]
    assert rows(deque([range(2)] * 2)) == [[0, 1], [0, 1]]
    assert rows(((ctypes.c_double * 2) * 2)((1, 2), (3, 4))) == [[1, 2], [3, 4]]
    assert get_testing_function(ffi, "as.array_array")([range(2), (1.5,)]) == ((0, 1), (1.5,))
    assert get_testing_function(ffi, "stl.map_float")({1: range(2)}) == {1: [0, 1]}
    assert get_testing_function(ffi, "as.map_set")({"a": {1: 2}.keys()}) == {"a": {1}}
    assert get_testing_function(ffi, "stl.vector_list")([[range(2)]]) == [[[0, 1]]]


@pytest.mark.parametrize(
    "bad",
    [
        "abc", b"abc", bytearray(b"abc"), memoryview(b"abc"), {1, 2}, {1: 2}, 5, None, object(), Mappish(1), Series(1), Sparse(1),
        iter([1]), (x for x in [1]), UserList, array.array, enum.Enum("Color", "RED"), slice(3),
        type("Instance", (), {})(), len, 1.5, ValueError(),
    ],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_what_is_no_sequence(ffi: Any, bad: Any) -> None:
    if hasattr(bad, "__dict__") and type(bad).__name__ == "Instance":
        # Methods of the instance do not count: protocols are looked up on the class.
        bad.__len__ = bad.__getitem__ = lambda *args: 0
    for function in ("stl.vector_string", "stl.vector_int", "as.array", "stl.array"):
        with pytest.raises(TypeError, match=r"argument 0 \(x\): expected (Sequence|Array)\["):
            get_testing_function(ffi, function)(bad)


@given(start=INT64, size=st.integers(0, 20), step=st.integers(1, 2**62), sign=st.sampled_from([1, -1]))
def test_ranges(ffi: Any, start: int, size: int, step: int, sign: int) -> None:
    value = range(start, start + sign * step * size, sign * step)
    if all(-(2**63) <= x < 2**63 for x in value):
        assert get_testing_function(ffi, "stl.vector_int")(value) == list(value)
    else:
        with pytest.raises(OverflowError, match="does not fit int64"):
            get_testing_function(ffi, "stl.vector_int")(value)
    assert get_testing_function(ffi, "stl.vector_any")(value) == list(value)


def test_long_ranges(ffi: Any) -> None:
    assert get_testing_function(ffi, "stl.vector_int")(range(10**6)) == list(range(10**6))
    with pytest.raises((OverflowError, MemoryError)):
        get_testing_function(ffi, "stl.vector_int")(range(10**30))
    with pytest.raises(MemoryError):
        get_testing_function(ffi, "stl.vector_int")(range(2**62))
    assert get_testing_function(ffi, "stl.vector_int")(range(2**63 - 1, 2**63 - 2, -(2**70))) == [2**63 - 1]


@pytest.mark.parametrize("typecode", "bBhHiIlLqQfd")
def test_buffers(ffi: Any, typecode: str) -> None:
    info = array.array(typecode)
    most = 2.0**60 if typecode in "fd" else 2 ** (8 * info.itemsize - typecode.islower()) - 1
    value = array.array(typecode, [0, 1, most])
    assert get_testing_function(ffi, "stl.vector_double")(value) == [0, 1, float(most)]
    assert get_testing_function(ffi, "stl.vector_any")(value) == value.tolist()
    value.append(1)  # not locked any more
    if most >= 2**63 and typecode not in "fd":
        with pytest.raises(OverflowError, match=r"at \[2\]: \d+ does not fit int64"):
            get_testing_function(ffi, "stl.vector_int")(value)


def test_odd_buffers(ffi: Any) -> None:
    floats = get_testing_function(ffi, "stl.vector_double")
    assert floats((ctypes.c_int32.__ctype_be__ * 2)(1, 2)) == [1, 2]
    assert get_testing_function(ffi, "stl.vector_bool")((ctypes.c_bool * 2)(True, False)) == [True, False]
    assert get_testing_function(ffi, "stl.vector_any")((ctypes.c_char * 2)(b"a", b"b")) == [b"a", b"b"]
    # Python 3.13 added "w" for the same, and 3.14 warns of "u".
    characters = "u" if sys.version_info < (3, 13) else "w"
    assert get_testing_function(ffi, "stl.vector_string")(array.array(characters, "ab")) == ["a", "b"]
    with mmap.mmap(-1, 4) as memory:
        memory[:] = b"\0\1\2\xff"
        assert get_testing_function(ffi, "as.bytes")(memory) == [0, 1, 2, 255]
    with pytest.raises(ValueError, match="closed"):
        floats(memory)


def test_bytes_are_sequences_of_bytes_alone(ffi: Any) -> None:
    for value in (b"", b"\0\xff", bytes(range(256)), bytearray(b"ab"), memoryview(b"abc")[::-1]):
        assert get_testing_function(ffi, "as.bytes")(value) == list(value)
    with pytest.raises(TypeError, match=r"expected Sequence\[int\], got str"):
        get_testing_function(ffi, "as.bytes")("ab")


def test_sets(ffi: Any) -> None:
    for function in ("stl.set", "stl.unordered_set", "as.frozen_set"):
        keys = ["a", "b"] if function == "stl.unordered_set" else [2, 1]
        for value in (dict.fromkeys(keys).keys(), frozenset(keys), _Keys(keys)):
            assert get_testing_function(ffi, function)(value) == set(keys)
        for bad in (keys, tuple(keys), dict.fromkeys(keys), {1: 2}.values(), deque(keys), range(2)):
            with pytest.raises(TypeError, match=r"expected (AbstractSet|FrozenSet)\["):
                get_testing_function(ffi, function)(bad)
    assert get_testing_function(ffi, "as.frozen_set")({1: 2}.items()) == {(1, 2)}
    with pytest.raises(TypeError, match=r"at \['a'\]|at \[\"a\"\]: expected int, got str"):
        get_testing_function(ffi, "stl.set")({"a": 1}.keys())


class _Keys(abc.Set[Any]):
    def __init__(self, keys: Any) -> None:
        self.keys = list(keys)

    def __contains__(self, x: object) -> bool:
        return x in self.keys

    def __iter__(self) -> Any:
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.keys)


def test_iterables(ffi: Any) -> None:
    function = get_testing_function(ffi, "as.iterable_int")
    for value in (
        [1, 2],
        (1, 2),
        iter([1, 2]),
        (x for x in [1, 2]),
        {1: 0, 2: 0},
        {1, 2},
        map(int, "12"),
        Rows(1, 2),
    ):
        assert function(value) == (1, 2)
    for bad in ("12", b"12", 5, None, object()):
        with pytest.raises(TypeError, match=r"argument 0 \(x\): expected Iterable\[int\], got"):
            function(bad)
    with pytest.raises(TypeError, match=r"at \[1\]: expected int, got str"):
        function(iter([1, "x" * 50]))

    def fail() -> Any:
        yield 1
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        function(fail())


def test_errors_name_the_element(ffi: Any) -> None:
    ints = get_testing_function(ffi, "stl.vector_int")
    for value in (deque([1, "x" * 100]), Rows(1, "x"), {1: 0, "x" * 100: 0}.keys()):
        with pytest.raises(TypeError, match=r"argument 0 \(x\), at \[1\]: expected int, got str"):
            ints(value)
    with pytest.raises(OverflowError, match=r"at \[0\]: 1000000000000000000000 does not fit int64"):
        ints(deque([10**21]))
    with pytest.raises(OverflowError, match=r"at \[0\]: 1000.*\.\.\. does not fit int64"):
        ints(deque([10**210]))
    with pytest.raises(TypeError, match=r"at \[1\]\[0\]: expected float, got str"):
        get_testing_function(ffi, "stl.vector_vector_float")([range(2), deque(["x"])])
    with pytest.raises(ValueError, match=r"expected 3 elements, got"):
        get_testing_function(ffi, "stl.array")(range(2))


def test_text_is_no_sequence(ffi: Any) -> None:
    with pytest.raises(TypeError, match=r"at \[0\]: expected str, got UserString"):
        get_testing_function(ffi, "stl.vector_string")(UserString("ab"))


def test_sequences_that_lie(ffi: Any) -> None:
    ints = get_testing_function(ffi, "stl.vector_int")
    with pytest.raises(ValueError, match="a Endless of 3 items has more"):
        ints(Endless(count=3))
    with pytest.raises(ValueError, match="a Rows of 3 items has fewer"):
        ints(Rows(1, count=3))
    with pytest.raises(ValueError, match="should return >= 0"):
        ints(Rows(count=-1))
    with pytest.raises(ValueError, match="has fewer"):
        ints(Rows(count=sys.maxsize))

    class Failing(Rows):
        def __getitem__(self, index: int) -> Any:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        ints(Failing(1))

    # The outer list is cleared while its elements are converted.
    outer = ffi.List()

    class Clearing(Rows):
        def __getitem__(self, index: int) -> Any:
            outer.clear()
            return super().__getitem__(index)

    outer.extend([Clearing(1.5), [1.0] * 100])
    assert get_testing_function(ffi, "stl.vector_vector_float")(outer) == [[1.5]]


@pytest.mark.unrecorded("how deep it gets is not compared")
def test_recursion_is_counted(ffi: Any) -> None:
    ints = get_testing_function(ffi, "stl.vector_int")

    class Nested(Rows):
        def __getitem__(self, index: int) -> Any:
            return ints(self)

    with pytest.raises(STACK_ENDS):
        ints(Nested(1))


def test_opaque_elements_stay_opaque(ffi: Any) -> None:
    value = range(2), deque([1])
    for function in ("stl.vector_any", "as.array_any", "as.iterable"):
        assert all(x is y for x, y in zip(get_testing_function(ffi, function)(value), value))


def test_overloads_prefer_what_needs_no_conversion(ffi: Any) -> None:
    overloaded = get_testing_function(ffi, "as.overloaded")
    for value, expected in (
        ([1.0], "sequence"), (range(2), "sequence"), (deque([1]), "sequence"), ({1}, "set"), ({1: 2}.values(), "sequence"),
        (np.ones(2), "tensor"), ("x", "text"),
    ):  # fmt: skip
        assert overloaded(value) == expected
    either = get_testing_function(ffi, "as.sequence_or_any")
    assert either([1]) == "sequence"
    assert either(range(2)) == either("x") == "anything"
    assert get_testing_function(ffi, "as.variant")(range(2)) == 0
    assert get_testing_function(ffi, "as.variant")("x") == 1
    with pytest.raises(TypeError, match="no overload takes"):
        overloaded(object())
