"""Use from many threads: no corruption and no leak."""

from __future__ import annotations

import gc
import re
import signal
import threading
from typing import Any

import pytest
from support import CPYTHON, STACK_ENDS, run_in_threads


def test_calls(ffi: Any) -> None:
    echo, apply, describe = map(ffi.get_global_func, ("testing.echo", "testing.apply", "testing.describe"))

    def body() -> None:
        for i in range(300):
            assert echo(i) == i
            assert ffi.to_python(echo([i, str(i) * 10, {"k": (i,)}])) == [i, str(i) * 10, {"k": (i,)}]
            assert apply(lambda x: x + 1, i) == i + 1
            assert describe(i) == f"Int({i})"

    run_in_threads([body] * 6)


def test_errors_stay_in_their_thread(ffi: Any) -> None:
    raise_error, catch, apply = map(
        ffi.get_global_func, ("testing.raise_error", "testing.catch_error", "testing.apply")
    )

    def body(number: int) -> None:
        own = ValueError(number)

        def fail() -> None:
            raise own

        for i in range(30):
            with pytest.raises(KeyError) as caught:
                raise_error("KeyError", f"{number} {i}")
            assert caught.value.args == (f"{number} {i}",)
            with pytest.raises(ValueError) as mine:  # noqa: PT011
                apply(fail)
            assert mine.value is own
            assert catch(fail)[1] == str(number)

    run_in_threads([lambda n=n: body(n) for n in range(5)])


def test_one_list_in_many_threads(ffi: Any) -> None:
    xs = ffi.List()
    append = ffi.get_global_func("testing.append")

    def grow() -> None:
        for i in range(400):
            xs.append(i)
            append(xs, str(i) * 5)

    def shrink() -> None:
        for _ in range(400):
            try:
                xs.pop()
            except IndexError:
                pass

    def read() -> None:
        for _ in range(100):
            list(xs)
            len(xs)
            repr(xs)
            try:
                xs[0], xs[-1]
            except IndexError:
                pass
            xs == [1]

    def replace() -> None:
        for _ in range(200):
            try:
                xs[0] = object()
                xs[len(xs) // 2] = [1, "a string on the heap"]
                xs.reverse()
            except IndexError:
                pass

    run_in_threads([grow, grow, shrink, read, replace])
    assert len(list(xs)) == len(xs)


def test_one_set_in_many_threads(ffi: Any) -> None:
    s = ffi.Set()
    add = ffi.get_global_func("testing.add")

    def write(number: int) -> None:
        for i in range(300):
            s.add((number, i))
            add(s, str(i) * 5)

    def remove() -> None:
        for i in range(300):
            s.discard(str(i) * 5)
            try:
                s.pop()
            except KeyError:
                pass

    def read() -> None:
        for i in range(100):
            assert (str(i) in s) in (True, False)
            try:
                s | {1}, s == {1}, list(s)
            except RuntimeError:
                pass  # its size changed
            s.freeze()

    run_in_threads([lambda: write(1), lambda: write(2), remove, read])
    assert len(list(s)) == len(s)


def test_one_dict_in_many_threads(ffi: Any) -> None:
    d = ffi.Dict()
    put = ffi.get_global_func("testing.put")

    def write(number: int) -> None:
        for i in range(300):
            d[i] = number
            put(d, f"{i} {number} on the heap", [i])

    def remove() -> None:
        for i in range(300):
            d.pop(i, None)

    def read() -> None:
        for i in range(200):
            d.get(i)
            assert (i in d) in (True, False)
            try:
                list(d.items())
                repr(d)
            except RuntimeError as error:
                # PyPy's messages differ.
                assert (
                    re.fullmatch("dictionary (changed size|keys changed) during iteration", str(error))
                    or not CPYTHON
                )

    def clear() -> None:
        for _ in range(20):
            d.clear()

    run_in_threads([lambda: write(1), lambda: write(2), remove, read, clear])
    assert len(list(d)) == len(d)


def test_wrappers_come_and_go(ffi: Any) -> None:
    """All threads create and drop wrappers of the same objects, which have one wrapper at a time."""
    holder = ffi.convert([[i] for i in range(4)])

    def body() -> None:
        for i in range(500):
            item = holder[i % 4]
            assert item == [i % 4]
            assert holder[i % 4] is item
            del item

    run_in_threads([body] * 6)


def test_shared_arguments(ffi: Any) -> None:
    describe = ffi.get_global_func("testing.describe")
    shared = {"a string on the heap": [1, (2.5, b"bytes on the heap")], "k": object()}
    expected = describe(shared)

    def body() -> None:
        for _ in range(200):
            assert describe(shared) == expected

    run_in_threads([body] * 4)


@pytest.mark.slow("many threads")
def test_garbage_collection_during_calls(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")

    def collect() -> None:
        # A fixed number of times: PyPy's collector hardly yields to other threads.
        for _ in range(20):
            gc.collect()

    def body() -> None:
        for i in range(300):

            class Owner:
                pass

            owner = Owner()
            owner.me = owner  # type: ignore[attr-defined]
            owner.list = echo([object(), i])  # type: ignore[attr-defined]

    run_in_threads([collect, body, body])
    gc.collect()


def test_arguments_changed_while_they_are_packed(ffi: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    shared_list: Any = list(range(200))
    shared_dict: Any = {i: [i] for i in range(200)}
    stop = threading.Event()

    def change() -> None:
        i = 0
        while not stop.is_set():
            i += 1
            shared_list.append([str(i)])
            del shared_list[: len(shared_list) // 2]
            shared_list.extend(range(50))
            shared_dict[i] = {i}.__class__ and [i]
            shared_dict.pop(next(iter(shared_dict)), None)

    def pack() -> None:
        try:
            for _ in range(300):
                nop(shared_list, shared_dict)
        finally:
            stop.set()

    run_in_threads([change, pack])


@pytest.mark.unrecorded("how many calls fit on the stack is the backend's own")
def test_the_recursion_limit_keeps_no_lock(ffi: Any) -> None:
    """At the recursion limit, where every call may raise, other threads still run and signals are still handled."""
    echo, apply = map(ffi.get_global_func, ("testing.echo", "testing.apply"))

    def calling_while_unwinding() -> None:
        try:
            calling_while_unwinding()
        finally:
            echo([1])

    def calling_through() -> None:
        apply(calling_through)

    for descend in (calling_while_unwinding, calling_through):
        for _ in range(3):
            with pytest.raises(STACK_ENDS):
                descend()
            run_in_threads([lambda: echo([1])])
            former = signal.signal(signal.SIGINT, _raise_interrupt)
            try:
                with pytest.raises(InterruptedError):
                    signal.raise_signal(signal.SIGINT)
                    echo([1])
            finally:
                signal.signal(signal.SIGINT, former)


def _raise_interrupt(*args: Any) -> None:
    raise InterruptedError
