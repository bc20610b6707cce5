"""Messages about refused arguments: they name the function, the argument, the place in it, and the value's class."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import pathlib
import re
from typing import Any

import numpy as np
import pytest


class Mine:
    pass


class MyInt(int):
    pass


Point = collections.namedtuple("Point", "x y")

#: A value of every kind, and the name of its class in messages.
VALUES: dict[str, Any] = {
    "NoneType": None,
    "bool": True,
    "int": 5,
    "float": 1.5,
    "complex": 1j,
    "str": "x" * 20,
    "bytes": b"x" * 20,
    "bytearray": bytearray(b"x" * 20),
    "memoryview": memoryview(b"x" * 20),
    "list": [1.5],
    "tuple": (1.5,),
    "dict": {"a": "b"},
    "set": {1.5},
    "frozenset": frozenset([1.5]),
    "slice": slice(1.5),
    "ellipsis": ...,
    "function": lambda: None,
    type(len).__name__: len,
    "type": int,
    "ValueError": ValueError("mine"),
    "object": object(),
    "range": range(3),
    "collections.deque": collections.deque(["x"]),
    "decimal.Decimal": decimal.Decimal(1),
    "fractions.Fraction": fractions.Fraction(1, 2),
    "datetime.datetime": datetime.datetime(2020, 1, 1),
    "datetime.timedelta": datetime.timedelta(1),
    "numpy.ndarray": np.ones((2, 2), np.float16),
    "numpy.float32": np.float32(1.5),
    "numpy.int8": np.int8(5),
    "numpy.bool": np.bool_(True),
    "numpy.str_": np.str_("x" * 20),
    "numpy.datetime64": np.datetime64(5, "s"),
    f"{__name__}.Mine": Mine(),
    f"{__name__}.MyInt": MyInt(5),
    f"{__name__}.Point": Point("x", "y"),
}
if int(np.__version__.split(".")[0]) < 2:
    VALUES["numpy.bool_"] = VALUES.pop("numpy.bool")

FUNCTIONS = [
    "stl.string",
    "stl.string_view",
    "stl.vector_int",
    "stl.vector_int8",
    "stl.vector_bool",
    "stl.vector_string",
    "stl.map",
    "stl.set",
    "stl.unordered_map",
    "stl.optional",
    "stl.optional_vector",
    "stl.variant",
    "stl.tuple",
    "stl.pair",
    "stl.complex",
    "stl.function",
    "stl.nanoseconds",
    "stl.array",
    "stl.deque",
    "stl.list",
    "stl.wstring",
    "stl.u16string",
    "stl.char",
    "stl.byte",
    "stl.error_code",
    "as.array",
    "as.list",
    "as.frozen_set",
    "as.iterable_int",
    "as.path",
    "as.time",
    "add_one",
]

#: The message names the class, or describes the value if only that is wrong.
_MESSAGE = re.compile(
    r"(?:testing\.)?[\w.]+\(x: .*\) -> .*: argument 0 \(x\)(, at .+?)?: (?P<reason>expected (?P<expected>.*), got (?P<got>.*)"
    r"|an int given as a bool must be 0 or 1, got .*|.* does not fit \w+.*|.* has \d+ elements, got .*|expected .* character.*, got .*|.* is not a number of .*, got .*)",
    re.DOTALL,
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_value_as_every_type(ffi: Any, name: str) -> None:
    function = ffi.get_global_func("testing." + name)
    for cls, value in VALUES.items():
        try:
            function(value)
        except (TypeError, ValueError, OverflowError) as error:
            message = str(error)
            match = _MESSAGE.fullmatch(message)
            assert match, message
            if type(error) is TypeError and match[1] is None:
                got = match["got"]
                assert re.sub(r"( of float16, of shape \(2, 2\))?(; pass .*)?$", "", got) == cls, message
        except OSError:
            assert name == "stl.error_code"


def refusal(function: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(TypeError) as raised:
        function(*args, **kwargs)
    assert raised.value.__context__ is None
    return str(raised.value)


class Series:
    """Like a Series of pandas."""

    def to_numpy(self) -> Any:
        raise AssertionError("never called")


def test_what_to_pass_instead(ffi: Any) -> None:
    floats = ffi.get_global_func("testing.stl.vector_double")
    assert refusal(floats, Series()).endswith(
        f"expected Sequence[float], got {__name__}.Series; pass its .to_numpy()"
    )
    assert refusal(floats, memoryview(b"abc")).endswith("got memoryview; pass numpy.asarray() of it")
    add_one = ffi.get_global_func("testing.add_one")
    assert refusal(add_one, Series()).endswith(f"expected int, got {__name__}.Series")


class Has:
    """Makes classes that have methods, which are never called."""

    def __class_getitem__(cls, names: Any) -> Any:
        def never(*args: Any) -> Any:
            raise AssertionError("never called")

        return type("Has", (), dict.fromkeys(names.split(), never))()


ADVICE = [
    ("stl.vector_double", Has["__len__ to_numpy tolist"], "its .to_numpy()"),
    ("stl.vector_string", Has["__len__ to_numpy tolist"], "its .tolist()"),
    ("stl.vector_string", Has["__len__ to_numpy to_list"], "its .to_list()"),
    ("stl.vector_double", Has["__len__ __getitem__ toarray tocoo"], "its .toarray()"),
    ("stl.vector_int", {1}, "list() of it"),
    ("stl.vector_int", iter([1]), "list() of it"),
    ("stl.vector_double", np.ones(2, np.float16), "its .tolist()"),
    ("stl.vector_int", {1: 2}, ""),
    ("stl.vector_string", "abc", ""),
    ("stl.vector_double", np.float32(1), ""),
    ("stl.set", [1], "set() of it"),
    ("stl.map", Has["to_dict to_numpy"], "its .to_dict()"),
    ("stl.map", Has["to_dict columns"], 'its .to_dict("list")'),
    ("stl.map", Has["to_dict to_dicts"], "its .to_dict(as_series=False)"),
    ("stl.map", Has["to_pydict"], "its .to_pydict()"),
    ("stl.map", Has["model_dump"], "its .model_dump()"),
    ("stl.map", [1], ""),
    ("stl.complex", decimal.Decimal(1), "complex() of it"),
    ("tensor.sum", [1.0], "numpy.asarray() of it"),
    ("tensor.sum", Has["__array__"], "numpy.asarray() of it"),
    ("tensor.sum", Has["toarray"], "its .toarray()"),
    ("add_one", np.array(1), "its .item()"),
    ("add_one", np.ones(3), ""),
    ("add_one", Has["as_py"], "its .as_py()"),
    ("add_one", 1.5, ""),
    ("stl.optional_vector", [decimal.Decimal(1)], ""),
    ("stl.vector_double", [decimal.Decimal(1)], "float() of it"),
    ("stl.vector_double", [np.array(1)], "its .item()"),
    ("stl.string", pathlib.Path("a"), "os.fspath() of it"),
]


@pytest.mark.parametrize(("name", "value", "advice"), ADVICE)
def test_advice(ffi: Any, name: str, value: Any, advice: str) -> None:
    message = refusal(ffi.get_global_func("testing." + name), value)
    assert message.partition("; pass ")[2] == advice


def test_rows_of_arrays(ffi: Any) -> None:
    floats = ffi.get_global_func("testing.stl.vector_double")
    assert refusal(floats, np.ones((2, 2))).endswith("at [0]: expected float, got numpy.ndarray of float64")
    assert refusal(floats, [[1.0]]).endswith("at [0]: expected float, got list")


def test_elements(ffi: Any) -> None:
    rows = ffi.get_global_func("testing.stl.vector_vector_float")
    assert refusal(rows, [(1, 2), [1, bytearray(b"x")]]).endswith("at [1][1]: expected float, got bytearray")
    words = ffi.get_global_func("testing.stl.map")
    assert refusal(words, {"a": 1, "b": np.float32(1.5)}).endswith(
        'at ["b"]: expected int, got numpy.float32'
    )
    # Inside values whose iteration might run users' code, the runtime's name of the type is shown.
    assert refusal(rows, collections.deque([[memoryview(b"x")]])).endswith(
        "at [0][0]: expected float, got bytes"
    )
    assert refusal(rows, [Point(memoryview(b"x"), 1)]).endswith("at [0][0]: expected float, got bytes")


class MyStr(str):
    pass


def test_classes_that_are_named_alike(ffi: Any) -> None:
    """The compiled marshaller looks at the object itself, not at the name that the runtime has for it."""
    ints = ffi.get_global_func("testing.stl.vector_int")
    rows = ffi.get_global_func("testing.stl.vector_vector_float")
    for value, name in (
        ("x" * 20, "str"),
        (b"x", "bytes"),
        (None, "NoneType"),
        (MyStr("x"), f"{__name__}.MyStr"),
    ):
        assert refusal(ints, [1, 2, value]).endswith(f"at [2]: expected int, got {name}")
        assert refusal(rows, x=[[1.0], (2.0, value)]).endswith(f"at [1][1]: expected float, got {name}")
        assert refusal(ints, value).endswith(f": argument 0 (x): expected Sequence[int], got {name}")


def test_keys_that_look_like_messages(ffi: Any) -> None:
    words = ffi.get_global_func("testing.stl.map")
    for key in (": argument 0 (x)", ": expected int, got str", "(): no overload takes (", "][", "\n"):
        message = refusal(words, {"a": 1, key: memoryview(b"x")})
        expected = "bytes" if key == "\n" else "memoryview"
        assert message.endswith(f": expected int, got {expected}"), message


def test_keywords(ffi: Any) -> None:
    function = ffi.get_global_func("testing.stl.apply")
    message = refusal(function, b=bytearray(b"x"), a=5, f=print)
    assert message.endswith("argument 2 (b): expected str, got bytearray")
    message = refusal(function, print, b="x", a=memoryview(b"x"))
    assert message.endswith("argument 1 (a): expected int, got memoryview")


def test_overloads(ffi: Any) -> None:
    function = ffi.get_global_func("testing.as.overloaded")
    message = refusal(function, memoryview(b"x"))
    head, *lines = message.splitlines()
    assert head == "testing.as.overloaded(): no overload takes (memoryview)"
    assert len(lines) == 4
    for line in lines:
        assert re.search(r"argument 0 \(x\): expected .*, got memoryview", line)


def test_overloads_with_several_arguments(ffi: Any) -> None:
    function = ffi.get_global_func("testing.authoring.kind")
    first = "testing.authoring.kind(): no overload takes "
    assert refusal(function, [], 7).splitlines()[0] == first + "(list, int)"
    assert refusal(function, None, b"x").splitlines()[0] == first + "(NoneType, bytes)"
    assert refusal(function, MyStr("x"), memoryview(b"x")).splitlines()[0] == (
        first + f"({__name__}.MyStr, memoryview)"
    )


def test_overloads_say_the_same_again(ffi: Any) -> None:
    function = ffi.get_global_func("testing.authoring.kind")
    # Among these, a class follows another one for which the runtime has the same name.
    for values in ([], 7), (MyStr("x"), 7), ("x", b"x"), ("x", memoryview(b"x")), ((), True):
        names = ", ".join(f"{__name__}.MyStr" if type(x) is MyStr else type(x).__name__ for x in values)
        messages = {refusal(function, *values) for _ in range(3)}
        assert len(messages) == 1
        assert messages.pop().splitlines()[0] == f"testing.authoring.kind(): no overload takes ({names})"


def test_an_inner_call_keeps_its_message(ffi: Any) -> None:
    add_one = ffi.get_global_func("testing.add_one")
    apply = ffi.get_global_func("testing.apply")
    message = refusal(apply, add_one, memoryview(b"x"))
    assert "expected int, got" in message
    assert "add_one(x: int) -> int: argument 0 (x)" in message


def test_tensors_name_the_function(ffi: Any) -> None:
    fill = ffi.get_global_func("testing.tensor.sum")
    message = refusal(fill, np.ones(2, "f4"))
    assert re.fullmatch(
        r"testing\.tensor\.sum\(.*\) -> .*: argument 0 \(\w+\): expected a tensor of float64, got one of float32",
        message,
    )
