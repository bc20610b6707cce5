"""Programs that misuse the public API: an exception at most, never a crash, leak or wrong value."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import cases
import pytest
from programs import run_program
from support import SANITIZED, STACK_ENDS, collect


def test_init_again_and_new_with_arguments(ffi: Any) -> None:
    for cls in (ffi.List, ffi.Array, ffi.Shape, ffi.Dict, ffi.Map, ffi.Set, ffi.FrozenSet, ffi.Function, ffi.Object, ffi.Module,
                ffi.Tensor):  # fmt: skip
        for args in ((), (5,), ([1],), (len,), ({"a": 1},)):
            for make in (cls, cls.__new__):
                try:
                    x = make(*((cls,) if make is not cls else ()), *args)
                    repr(x)
                    x.__init__(*args)
                    repr(x)
                except (TypeError, ValueError, AttributeError, RuntimeError):
                    pass


def test_the_class_of_an_index_is_not_queried(ffi: Any) -> None:
    asked = []

    class Lying:
        def __getattribute__(self, name: str) -> Any:
            asked.append(name)
            return slice if name == "__class__" else object.__getattribute__(self, name)

    xs = ffi.List([1, 2])
    for use in (lambda: xs[Lying()], lambda: ffi.Array((1,))[Lying()], lambda: xs.__setitem__(Lying(), 5),
                lambda: xs.__delitem__(Lying())):  # fmt: skip
        with pytest.raises(TypeError, match="indices must be integers or slices, not Lying"):
            use()
    assert not asked


def test_assigning_class(ffi: Any) -> None:
    class A(ffi.List):
        pass

    xs = A([1])
    for cls in (ffi.Dict, ffi.Set, ffi.List, ffi.Function, list, A):
        try:
            xs.__class__ = cls
            len(xs)
            repr(xs)
        except TypeError:
            pass


def test_copy_and_pickle_of_unpicklable_objects(ffi: Any) -> None:
    counted = ffi.get_global_func("testing.new_counted")(1)
    for work in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises((TypeError, pickle.PicklingError)):
            work(counted)


def test_the_garbage_collector_sees_no_freed_objects(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    for _ in range(50):
        echo([lambda: 1, {"k": object()}])
        for x in gc.get_objects()[-50:]:
            try:
                gc.get_referents(x)
            except Exception:
                pass


def test_a_list_that_the_callee_changes_while_iterating(ffi: Any) -> None:
    iterate, append = map(ffi.get_global_func, ("testing.iterate", "testing.append"))
    xs = ffi.List([1, 2, 3])
    assert iterate(xs) == [1, 2, 3]
    with pytest.raises((RecursionError, TypeError, ValueError)):
        ffi.to_python(append(xs, xs))
    xs.clear()


def test_callback_that_changes_its_argument(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    def grow(xs: Any) -> Any:
        for i in range(1000):
            xs.append(i)
        xs.clear()
        return xs

    assert apply(grow, [1, 2]) == []
    mine = ffi.List([1])
    assert apply(grow, mine) is mine


def test_huge_arguments(ffi: Any) -> None:
    size, echo = map(ffi.get_global_func, ("testing.size", "testing.echo"))
    text = "\u4e2d" * 10_000_000
    assert size(text) == len(text)
    assert echo(text) == text
    assert size(list(range(1_000_000))) == 1_000_000
    assert len(echo(dict.fromkeys(range(200_000)))) == 200_000


def test_the_recursion_limit_of_python_is_respected(ffi: Any) -> None:
    """A mapping that creates a new one at every level, without end."""

    class Endless(cases.OwnMapping):
        def __getitem__(self, key: Any) -> Any:
            return Endless({"k": None})

    with pytest.raises(RecursionError):
        ffi.get_global_func("testing.nop")(Endless({"k": None}))


def test_threads_that_end_with_a_raised_error(ffi: Any) -> None:
    program = """
        import threading, anyffi, anyffi.testing as t
        threading.excepthook = lambda args: None
        def run():
            t.apply(lambda: t.raise_error("ValueError", "in a thread"))
        for _ in range(20):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        try:
            t.raise_error("KeyError", "in the main thread")
        except KeyError as error:
            print(error)
    """
    assert run_program(program, ffi.ffi_mode) == "'in the main thread'\n"


def test_suspended_generators(ffi: Any) -> None:
    d, xs = ffi.Dict(a=1, b=2), ffi.List([1, 2])
    for iterator in (iter(d), iter(d.items()), iter(xs), reversed(xs)):
        next(iterator)
    del iterator, d, xs
    collect()


def test_self_reference_through_everything(ffi: Any) -> None:
    xs, d = ffi.List(), ffi.Dict()
    xs.append(d)
    d["xs"] = xs
    d["f"] = len
    try_everything_but_holding = [
        repr,
        len,
        list,
        ffi.get_global_func("testing.nop"),
        ffi.get_global_func("testing.echo"),
    ]
    for work in try_everything_but_holding:
        work(xs)
    for work in (ffi.to_python, ffi.get_global_func("testing.describe")):
        with pytest.raises(STACK_ENDS):
            work(xs)
    copied = xs.copy()
    assert copied[0] is d
    xs.clear()
    d.clear()
    copied.clear()


@pytest.mark.parametrize("cls", ["Array", "FrozenSet"])
def test_hashes_of_deep_values(ffi: Any, cls: str) -> None:
    """Values too deep for any stack, also without wrappers, such as values that were read from JSON."""
    # Comparisons recurse as far as Python's limit, which takes most of 512 KiB with the sanitizers' frames.
    stack_kb = 1024 if SANITIZED else 512
    program = f"""
        import sys, threading, anyffi

        def refuse(use):
            try:
                use()
            except RecursionError:
                return
            # CPython 3.13 counts up to 10,000 levels of C, and later versions measure the stack: there may be room.
            assert sys.version_info >= (3, 13), "it had room"

        def check(depth):
            x = anyffi.{cls}([1])
            for _ in range(depth):
                x = anyffi.{cls}([x])
            text = anyffi.to_json(x)
            read = lambda: anyffi.from_json(text)
            for use in (
                lambda: hash(read()),
                lambda: {{read(): 1}},
                lambda: anyffi.Map({{read(): 1}}),
                lambda: anyffi.Set([read()]),
                lambda: anyffi.Set([1]) == anyffi.Set([read()]),
                lambda: read() == read(),
            ):
                refuse(use)

        check(100_000)
        threading.stack_size({stack_kb} * 1024)
        thread = threading.Thread(target=check, args=(6_000,))
        thread.start()
        thread.join()
    """
    run_program(program, ffi.ffi_mode)
