"""Errors about arguments that cannot be packed name the function, the argument and the place in it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from support import collect

TEXT = np.array(["a"])
DTYPE = "dtype <U1 has no DLPack code; pass the array's .tolist()"


class Hook:
    """Raises the given error from every hook."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __dlpack__(self, **_: Any) -> Any:
        raise self.error

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Value:
    """Stands for another value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __anyffi_value__(self) -> Any:
        return self.value


class Endless:
    """Stands for a new object of its own class, without end."""

    def __anyffi_value__(self) -> Any:
        return Endless()


def message(function: Any, *args: Any, **named: Any) -> str:
    with pytest.raises((TypeError, BufferError, ValueError, RecursionError)) as caught:
        function(*args, **named)
    assert len(caught.value.args) == 1
    return str(caught.value)


class OwnList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("no code of users may run")


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (TEXT, ""),
        ([1, TEXT], "[1]"),
        ((0, [1, {"a": TEXT}]), '[1][1]["a"]'),
        ({"it's": TEXT}, '["it\'s"]'),
        ({1.5: [None, TEXT]}, "[1.5][1]"),
        ({(1, 2): [TEXT]}, "[...][0]"),
        ({"k" * 60: TEXT}, f'["{"k" * 34}...]'),
        (slice(1, [TEXT]), ".stop[0]"),
        (OwnList([TEXT]), "[0]"),
        (Value([TEXT]), ""),
    ],
)
def test_the_place_in_an_argument(ffi: Any, given: Any, path: str) -> None:
    echo = ffi.get_global_func("testing.echo")
    place = f", at {path}" if path else ""
    assert message(echo, given) == f"testing.echo(): argument 0{place}: {DTYPE}"


def test_the_argument(ffi: Any) -> None:
    apply, add_one = ffi.get_global_func("testing.apply"), ffi.get_global_func("testing.add_one")
    assert message(apply, len, 1, [TEXT]) == f"testing.apply(): argument 2, at [0]: {DTYPE}"
    assert message(apply, len, *range(20), TEXT) == f"testing.apply(): argument 21: {DTYPE}"
    expected = f"testing.add_one(x: int) -> int: argument 0 (x): {DTYPE}"
    assert message(add_one, TEXT) == expected
    assert message(add_one, x=TEXT) == expected


def test_what_is_refused(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    loop: list[Any] = [1]
    loop.append({"k": loop})
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    nan = float("nan")
    for given, text in [
        ([np.ma.array([1, 2], mask=[0, 1])], "argument 0, at [0]: a tensor has no mask, "),
        ([np.zeros(3, "i4,i1")["f0"]], "argument 0, at [0]: strides (5,) are not multiples of the 4 bytes"),
        ([np.dtype("O")], "argument 0, at [0]: dtype object has no DLPack code"),
        (loop, "argument 0: a list that contains itself"),
        ([[{nan: 1, -nan: 2}]], "argument 0, at [0][0]: keys nan and nan are equal"),
        ([Endless()], "argument 0, at [0]: __anyffi_value__ returned another object"),
        (deep, "argument 0: containers are nested more than 200 levels deep"),
    ]:
        assert message(echo, given).startswith(f"testing.echo(): {text}")


@pytest.mark.parametrize("index", [0, -1, True])
def test_the_value_that_insert_refuses(ffi: Any, index: int) -> None:
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    assert message(ffi.List().insert, index, deep).startswith(
        "anyffi.List.insert(): argument 1: containers are"
    )


@pytest.mark.parametrize(
    "error", [KeyError("mine"), ValueError("a", "b"), TypeError(DTYPE + "!"), OSError(2, "no")]
)
def test_exceptions_of_hooks_stay_as_they_are(ffi: Any, error: Exception) -> None:
    args = error.args
    for given in (Hook(error), [Hook(error)]):
        with pytest.raises(type(error)) as caught:
            ffi.get_global_func("testing.echo")(given)
        assert caught.value is error
        assert error.args == args


def test_the_class_of_the_error_stays(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    for error, given in [(TypeError, TEXT), (BufferError, np.zeros(3, "i4,i1")["f0"])]:
        with pytest.raises(error) as caught:
            echo(given)
        assert type(caught.value) is error
        assert caught.value.__cause__ is None


def test_nothing_is_kept(ffi: Any) -> None:
    given = [np.array(["a"])]
    before = sys.getrefcount(given[0]) if hasattr(sys, "getrefcount") else 0
    for _ in range(5):
        message(ffi.get_global_func("testing.echo"), given)
    collect()
    assert before == (sys.getrefcount(given[0]) if hasattr(sys, "getrefcount") else 0)
