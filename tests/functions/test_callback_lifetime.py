"""Lifetime of callbacks and their arguments, destructors that call back, and cycles through callables."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import pytest
from support import collect, cpython_only

# ---- references --------------------------------------------------------------------------------


class Token:
    """An object with weak references, which show when it is destroyed."""


def test_arguments_die_with_the_call(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    token = Token()
    gone = weakref.ref(token)
    apply(lambda *args: None, token, [token], {"k": (token,)})
    del token
    collect()
    assert gone() is None


def test_a_callback_dies_when_both_sides_release_it(ffi: Any) -> None:
    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))

    def callback() -> int:
        return 5

    gone = weakref.ref(callback)
    hold(callback)
    del callback
    collect()
    assert gone() is not None
    assert held()() == 5
    assert held() is gone()
    hold(None)
    collect()
    assert gone() is None


def test_a_callback_may_drop_itself(ffi: Any) -> None:
    hold, apply, held = map(ffi.get_global_func, ("testing.hold", "testing.apply", "testing.held"))

    def make() -> Any:
        token = Token()

        def callback() -> Any:
            hold(None)
            collect()
            return token

        return callback, weakref.ref(token)

    callback, gone = make()
    hold(callback)
    function = ffi.convert(callback)
    del callback
    assert type(apply(held)) is not None
    assert type(function()) is Token
    del function
    collect()
    assert gone() is None


def test_a_result_dropped_in_cpp_runs_its_destructor(ffi: Any) -> None:
    catch_repeatedly = ffi.get_global_func("testing.catch_repeatedly")
    gone = []

    class Result:
        def __del__(self) -> None:
            gone.append(1)

    catch_repeatedly(lambda i: Result(), 10)
    collect()
    assert len(gone) == 10


def test_destructors_may_call_back(ffi: Any) -> None:
    """A finalizer that runs while C++ clears a container may call C++ again, on that container too."""
    echo = ffi.get_global_func("testing.echo")
    d = ffi.convert({})
    seen = []

    class Nosy:
        def __del__(self) -> None:
            seen.append(len(d))
            d["more"] = 1
            echo([1])

    for i in range(5):
        d[i] = Nosy()
    d.clear()
    collect()
    assert len(seen) == 5
    xs = ffi.convert([])

    class NosyItem:
        def __del__(self) -> None:
            xs.append(1)

    xs.append(NosyItem())
    xs[0] = 5
    xs.append(NosyItem())
    xs.clear()
    collect()
    assert set(xs) <= {1, 5}


@pytest.mark.parametrize("fails", [True, False], ids=["in packing", "in the call"])
def test_destructors_run_beside_a_passing_exception(ffi: Any, fails: bool) -> None:
    """Packed arguments are released while an exception propagates, and their finalizers do not see it."""
    echo, number = map(ffi.get_global_func, ("testing.echo", "testing.counted_number"))
    seen = []

    class Item:
        def __del__(self) -> None:
            seen.append(echo([1, "a text of some length"])[1])

    class Made:
        def __anyffi_value__(self) -> Any:
            return [Item()]

    class Failing:
        def __anyffi_value__(self) -> Any:
            raise KeyError("in packing")

    for args in ((Made(),), (Made(), 1), (1, Made(), "text", Made()), (*range(8), Made())):
        made = sum(isinstance(arg, Made) for arg in args)
        with pytest.raises(KeyError if fails else TypeError):
            number(*args, *([Failing()] if fails else []))
        collect()
        assert seen == ["a text of some length"] * made
        seen.clear()


class Owner:
    """An object that refers to a callback."""

    callback: Any


def test_a_callable_that_refers_to_itself_is_collected(ffi: Any) -> None:
    owner = Owner()
    gone = weakref.ref(owner)
    owner.callback = lambda owner=owner: owner
    assert ffi.get_global_func("testing.apply")(owner.callback) is owner
    del owner
    collect()
    assert gone() is None


@cpython_only("PyPy's collector does not see what the runtime holds")
@pytest.mark.parametrize("subclass", [False, True])
def test_a_callable_that_refers_to_its_function_is_collected(ffi: Any, subclass: bool) -> None:
    class Remembering(ffi.Function):  # type: ignore[misc]
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    owner.callback = (Remembering if subclass else ffi.convert)(lambda owner=owner: owner)
    assert owner.callback() is owner
    collect()
    assert gone() is owner
    holder = ffi.List([owner.callback])
    del owner
    collect()
    assert holder[0]() is gone()
    del holder
    collect()
    assert gone() is None


@cpython_only("PyPy's collector does not see what the runtime holds")
def test_a_finalizer_can_use_the_function_of_its_cycle(ffi: Any) -> None:
    results = []

    class Last(Owner):
        def __del__(self) -> None:
            results.append(self.callback(2))

    last = Last()
    last.callback = ffi.Function(lambda x, last=last: (x, type(last).__name__))
    del last
    collect()
    assert results == [(2, "Last")]


# ---- threads ------------------------------------------------------------------------------------


@cpython_only("counts are CPython's")
def test_counts_of_callback_arguments(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    token = Token()
    before = sys.getrefcount(token)
    counts = []

    def callback(x: Any) -> Any:
        counts.append(sys.getrefcount(x))
        return x

    for _ in range(3):
        assert apply(callback, token) is token
    assert len(set(counts)) == 1
    assert sys.getrefcount(token) == before
    counts.clear()
    callback_before = sys.getrefcount(callback)
    apply(callback, token)
    assert sys.getrefcount(callback) == callback_before
