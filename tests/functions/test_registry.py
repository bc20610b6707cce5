"""The registry of global functions, also from many threads."""

from __future__ import annotations

import functools
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from support import collect, run_in_threads


@pytest.fixture
def clean(ffi: Any) -> Iterator[None]:
    """Remove the functions that a test registered under `t.`."""
    yield
    for name in ffi.list_global_func_names():
        if name.startswith("t."):
            ffi.remove_global_func(name)


pytestmark = pytest.mark.usefixtures("clean")


@pytest.mark.unrecorded("about a function as an object")
def test_register_and_get(ffi: Any) -> None:
    def f(x: Any) -> Any:
        return [x]

    assert ffi.register_global_func("t.f", f) is f
    got = ffi.get_global_func("t.f")
    assert type(got) is ffi.Function
    assert got(1) == [1]
    assert type(got(1)) is ffi.List
    assert "t.f" in ffi.list_global_func_names()
    ffi.remove_global_func("t.f")
    assert "t.f" not in ffi.list_global_func_names()
    assert got(2) == [2]


def test_as_a_decorator(ffi: Any) -> None:
    @ffi.register_global_func("t.twice")
    def twice(x: int) -> int:
        return 2 * x

    assert twice(2) == 4
    assert ffi.get_global_func("t.twice")(21) == 42


def test_the_name_of_a_callable_is_the_default(ffi: Any) -> None:
    try:

        @ffi.register_global_func
        def named_by_itself() -> int:
            return 3

        assert ffi.get_global_func("named_by_itself")() == 3
    finally:
        ffi.remove_global_func("named_by_itself")


def test_a_taken_name(ffi: Any) -> None:
    ffi.register_global_func("t.f", lambda: 1)
    with pytest.raises(ValueError, match=r"t\.f"):
        ffi.register_global_func("t.f", lambda: 2)
    assert ffi.get_global_func("t.f")() == 1
    ffi.register_global_func("t.f", lambda: 3, override=True)
    assert ffi.get_global_func("t.f")() == 3
    with pytest.raises(ValueError, match=r"testing\.nop"):
        ffi.register_global_func("testing.nop", lambda: 2)

    @ffi.register_global_func("t.f", override=True)
    def _() -> int:
        return 4

    assert ffi.get_global_func("t.f")() == 4


def test_unknown_names(ffi: Any) -> None:
    ffi.register_global_func("t.very_special", len)
    for unknown in ("t.very_speciall", "t.vry_special"):
        with pytest.raises(ValueError, match=r"t\.very_special'") as caught:
            ffi.get_global_func(unknown)
        assert unknown in str(caught.value)
        assert ffi.get_global_func(unknown, allow_missing=True) is None
        assert ffi.get_global_func(unknown, True) is None
        with pytest.raises(ValueError, match=r"t\.very_special'"):
            ffi.remove_global_func(unknown)
    with pytest.raises(ValueError, match="zzzz"):
        ffi.get_global_func("zzzz")


@pytest.mark.parametrize(
    "name", ["", "a b", "\u4e2d\u6587", "t.\U0001f600", "x" * 1000, "nul\0inside", "\ud800"]
)
def test_any_text_is_a_name(ffi: Any, name: str) -> None:
    name = "t." + name
    ffi.register_global_func(name, lambda: name)
    assert ffi.get_global_func(name)() == name
    assert name in ffi.list_global_func_names()
    ffi.remove_global_func(name)


def test_wrong_arguments(ffi: Any) -> None:
    for bad in (5, None, b"bytes", ["t.f"]):
        with pytest.raises(TypeError):
            ffi.get_global_func(bad)
        with pytest.raises(TypeError):
            ffi.remove_global_func(bad)
    for bad in (5, "string", [], object()):
        with pytest.raises(TypeError):
            ffi.register_global_func("t.bad", bad)
    with pytest.raises(TypeError):
        ffi.register_global_func(5, len)
    assert ffi.get_global_func("t.bad", allow_missing=True) is None


def test_names_are_sorted_strings(ffi: Any) -> None:
    names = ffi.list_global_func_names()
    assert type(names) is list
    assert all(type(name) is str for name in names)
    assert names == sorted(names)
    assert "testing.echo" in names


def test_the_registry_owns_its_functions(ffi: Any) -> None:
    def f() -> int:
        return 1

    gone = weakref.ref(f)
    ffi.register_global_func("t.kept", f)
    del f
    collect()
    assert ffi.get_global_func("t.kept")() == 1
    ffi.register_global_func("t.kept", lambda: 2, override=True)
    collect()
    assert gone() is None


def test_a_function_may_replace_itself(ffi: Any) -> None:
    def f() -> Any:
        ffi.register_global_func("t.self", lambda: "new", override=True)
        collect()
        return "old"

    ffi.register_global_func("t.self", f)
    del f
    assert ffi.get_global_func("t.self")() == "old"
    assert ffi.get_global_func("t.self")() == "new"


@pytest.mark.unrecorded("about a function as an object")
def test_a_native_function_under_another_name(ffi: Any) -> None:
    counter = ffi.get_global_func("testing.make_counter")(5)
    ffi.register_global_func("t.counter", counter)
    assert ffi.get_global_func("t.counter") is counter
    assert ffi.get_global_func("t.counter")(2) == 7


def test_init_ffi_api(ffi: Any) -> None:
    module = types.ModuleType("module_for_init_ffi_api")
    sys.modules[module.__name__] = module
    try:
        ffi.register_global_func("t.one", lambda: 1)
        ffi.register_global_func("t.two", lambda: 2)
        ffi.register_global_func("t.sub.three", lambda: 3)
        ffi.register_global_func("t.", lambda: 4)
        ffi.init_ffi_api("t", module.__name__)
        assert module.one() == 1  # type: ignore[attr-defined]
        assert module.two() == 2  # type: ignore[attr-defined]
        assert not hasattr(module, "three")
        assert not hasattr(module, "sub.three")
        ffi.init_ffi_api("nothing.has.this.prefix", module.__name__)
        with pytest.raises(ImportError):
            ffi.init_ffi_api("t", "no.such.module")
        ffi.init_ffi_api("testing", module.__name__)
        assert module.add_one(1) == 2  # type: ignore[attr-defined]
    finally:
        del sys.modules[module.__name__]


def test_many_threads(ffi: Any) -> None:
    errors = []
    start = threading.Barrier(8)

    def run(number: int) -> None:
        try:
            start.wait()
            for i in range(150):
                name = f"t.{number}.{i % 10}"
                ffi.register_global_func(name, lambda n=number: n, override=True)
                assert ffi.get_global_func(name)() == number
                ffi.register_global_func("t.contended", lambda n=number: n, override=True)
                assert 0 <= ffi.get_global_func("t.contended")() < 8
                ffi.list_global_func_names()
                if i % 3 == 0:
                    ffi.remove_global_func(name)
                    assert ffi.get_global_func(name, allow_missing=True) is None
        except BaseException as error:
            errors.append(error)

    run_in_threads([functools.partial(run, n) for n in range(8)])
    assert errors == []


@pytest.mark.unrecorded("any thread may win")
def test_one_of_many_wins_a_name(ffi: Any) -> None:
    for _ in range(20):
        won, lost = [], []

        def run(number: int, won: Any = won, lost: Any = lost) -> None:
            try:
                ffi.register_global_func("t.once", lambda: number)
                won.append(number)
            except ValueError:
                lost.append(number)

        run_in_threads([functools.partial(run, n) for n in range(4)])
        assert (len(won), len(lost)) == (1, 3)
        assert ffi.get_global_func("t.once")() == won[0]
        ffi.remove_global_func("t.once")


def test_init_ffi_api_needs_an_imported_module(ffi: Any) -> None:
    for name in ("no.such.module", 5):
        with pytest.raises(ImportError, match=f"no module named {name!r} was imported"):
            ffi.init_ffi_api("testing", name)


def test_whether_a_function_may_be_missing(ffi: Any) -> None:
    """By position and by name; the argument may be any object, of which the truth counts."""
    known, get = "testing.nop", ffi.get_global_func
    for calls in (
        lambda x: get(known, x),
        lambda x: get(known, allow_missing=x),
        lambda x: get(name=known, allow_missing=x),
    ):
        assert all(calls(x)(1) is None for x in (True, False, 1, 0, "", [0], None))
    for unknown in ("testing.unknown", "testing.\ud800", "testing." + "x" * 100):
        for calls in (lambda x: get(unknown, x), lambda x: get(unknown, allow_missing=x)):
            assert all(calls(x) is None for x in (True, 1, [0]))
            for x in (False, 0, "", None):
                with pytest.raises(ValueError, match="^no function 'testing.* is registered"):
                    calls(x)
    for arguments, named in ((("x", True, 1), {}), (("x",), {"allow": True}), ((), {"allow_missing": True})):
        with pytest.raises(TypeError, match=r"get_global_func\(\)"):
            get(*arguments, **named)
    with pytest.raises(TypeError, match="the name of a function must be a str, not int"):
        get(1, True)
