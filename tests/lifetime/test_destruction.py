"""Destruction: after failing calls, of long chains, on other threads, in cycles."""

from __future__ import annotations

import sys
import threading
from typing import Any

import cases
import pytest
from support import CPYTHON, STACK_ENDS, collect, cpython_only, slow_except


@cpython_only("counts are CPython's")
def test_failing_calls_release_everything(ffi: Any) -> None:
    token = object()
    text = "a string of more than eleven characters"
    before = sys.getrefcount(token), sys.getrefcount(text)

    def fail(*args: Any) -> Any:
        raise ZeroDivisionError

    attempts = [
        ("testing.nop", (token, text, [token, text], cases.REFUSED)),
        ("testing.nop", ([token, {"k": [text, cases.REFUSED]}],)),
        ("testing.nop", ({token: 1, "k": cases.REFUSED},)),
        ("testing.echo", (token, token)),
        ("testing.apply", (fail, token, text)),
        ("testing.add_one", (token,)),
        ("testing.typed.list_int", ([1, token],)),
        ("testing.typed.dict_str_int", ({"k": token},)),
        ("testing.rethrow", (fail, [token])),
    ]
    for name, args in attempts:
        function = ffi.get_global_func(name)
        for _ in range(3):
            with pytest.raises((TypeError, ZeroDivisionError)):
                function(*args)
    del attempts, args
    collect()
    assert (sys.getrefcount(token), sys.getrefcount(text)) == before


def test_chains_of_any_length_are_destroyed(ffi: Any) -> None:
    make_chain, live_blocks = map(ffi.get_global_func, ("testing.make_chain", "testing.live_blocks"))
    collect()
    before = live_blocks()
    chain = make_chain(200_000)
    assert live_blocks() >= before + 200_000
    del chain
    collect()
    assert live_blocks() == before


def test_chains_of_any_length_are_destroyed_in_a_thread(ffi: Any) -> None:
    make_chain = ffi.get_global_func("testing.make_chain")
    former = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: make_chain(200_000))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(former)


@pytest.mark.parametrize("kind", slow_except(["List"], ["List", "Dict", "mixed"], "long chains"))
def test_chains_made_by_python_are_destroyed(ffi: Any, kind: str) -> None:
    link: Any = None
    for i in range(100_000 if CPYTHON else 20_000):
        if kind == "List" or (kind == "mixed" and i % 2):
            link = ffi.convert([link])
        else:
            link = ffi.convert({"next": link})
    del link
    collect()


def test_a_chain_through_python_callables(ffi: Any) -> None:
    """Each Function holds a closure that holds the next."""

    def wrap(inner: Any) -> Any:
        return lambda: inner

    link = None
    for _ in range(1_000 if CPYTHON else 10):  # without refcounts, each round of collection frees one link
        link = ffi.convert(wrap(link))
    del link
    collect()


def test_work_on_a_chain_that_is_too_deep(ffi: Any) -> None:
    make_chain, describe, equal, hash_ = map(
        ffi.get_global_func, ("testing.make_chain", "testing.describe", "testing.equal", "testing.hash")
    )
    one, other = make_chain(100_000), make_chain(100_000)
    with pytest.raises(RecursionError):
        describe(one)
    with pytest.raises(RecursionError):
        equal(one, other)
    with pytest.raises(STACK_ENDS):
        one == other
    with pytest.raises(STACK_ENDS):
        ffi.to_python(one)
    with pytest.raises(STACK_ENDS):
        repr(one)
    with pytest.raises(TypeError):
        hash_(one)
    assert ffi.get_global_func("testing.echo")([one])[0] is one


def test_deep_python_values_raise_recursion_error(ffi: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    for wrap in (lambda x: [x], lambda x: (x,), lambda x: {1: x}, lambda x: slice(x)):
        x = cases.nested(30_000, wrap)
        with pytest.raises(RecursionError):
            nop(x)
        while x is not None:  # an ordinary deletion recurses, in CPython's slices without bound
            x = x.stop if type(x) is slice else next(iter(x.values())) if type(x) is dict else x[0]


class Owning:
    """An object in a cycle that owns a wrapper and reads it in its finalizer."""

    def __init__(self, wrapper: Any, seen: list[Any]) -> None:
        self.wrapper, self.seen, self.itself = wrapper, seen, self

    def __del__(self) -> None:
        self.seen.append([*self.wrapper, self.wrapper])


def test_a_finalizer_in_a_cycle_can_use_its_wrapper(ffi: Any) -> None:
    seen: list[Any] = []
    Owning(ffi.List([1, "longer than what fits inline"]), seen)
    collect()
    ((number, text, wrapper),) = seen
    wrapper.append(number)
    assert ffi.to_python(wrapper) == [1, text, 1]
