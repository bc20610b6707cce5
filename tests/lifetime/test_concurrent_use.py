"""Use of the same objects, functions and classes by several threads, which run at once without the GIL.

Every test also runs where one thread at a time has the GIL.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
import threading
from collections.abc import Iterator
from typing import Any, Callable

import pytest
from support import cpython_only, run_in_threads

_THREADS = 4


def _gather(make: Callable[[], Any], count: int = _THREADS) -> list[Any]:
    """Return the results of several threads, which all begin at once."""
    made: list[Any] = []
    start = threading.Barrier(count)

    def body() -> None:
        start.wait()
        made.append(make())

    run_in_threads([body] * count)
    return made


@contextlib.contextmanager
def _size_may_change() -> Iterator[None]:
    """Allow the error of iterating over a container that another thread changes."""
    try:
        yield
    except RuntimeError as error:
        assert re.search("(changed size|keys changed) during iteration", str(error))


@pytest.fixture(autouse=True)
def _read_once(ffi: Any) -> None:
    if ffi.ffi_mode == "check":
        pytest.skip("check mode reads twice, and another thread may change what it reads in between")


def test_one_wrapper_for_all_threads(ffi: Any) -> None:
    for i in range(100):
        holder = ffi.convert([[i]])
        wrappers = _gather(lambda holder=holder: holder[0])
        assert all(x is wrappers[0] for x in wrappers)
        assert wrappers[0] == [i]


def test_a_wrapper_that_is_dropped_and_found(ffi: Any) -> None:
    """One thread drops the last reference while others look the wrapper up."""
    holder = ffi.convert([[0, "a string on the heap"]])

    def body() -> None:
        for _ in range(1000):
            x = holder[0]
            assert x is holder[0]
            assert x[0] == 0
            del x

    run_in_threads([body] * _THREADS)


@cpython_only("PyPy finalizes objects later")
def test_a_finalizer_that_waits_for_the_thread_that_finds_the_object(ffi: Any) -> None:
    lock, is_finalized = threading.Lock(), threading.Event()

    class Waiting(ffi.List):  # type: ignore[misc, name-defined]
        def __del__(self) -> None:
            is_finalized.set()
            with lock:
                pass

    holder = ffi.List([None])

    def drop() -> None:
        holder[0] = Waiting([1])

    thread = threading.Thread(target=drop)
    with lock:
        thread.start()
        assert is_finalized.wait(60)
        assert holder[0] == [1]
    thread.join()
    assert holder[0] == [1]


def test_the_first_call_of_a_function(ffi: Any) -> None:
    for i in range(50):
        ffi.register_global_func("test.first", lambda x, i=i: x + i, override=True)
        add = ffi.get_global_func("testing.add_one")
        first = ffi.get_global_func("test.first")
        assert (
            _gather(lambda first=first, add=add: (first(1), add(x=1), add(1))) == [(1 + i, 2, 2)] * _THREADS
        )
    ffi.remove_global_func("test.first")


def test_one_list(ffi: Any) -> None:
    xs = ffi.List(range(50))
    texts = [f"{i}, a string on the heap" for i in range(50)]

    def change() -> None:
        nonlocal xs
        for i in range(300):
            xs.append(texts[i % 50])
            xs.insert(i % 7, [i])
            try:
                xs[0] = (i,)
            except IndexError:
                pass
            xs[2:4] = texts[:3]
            xs += texts[:2]
            xs.extend([i, [i], None])
            del xs[10:]
            xs *= 2

    def shrink() -> None:
        for _ in range(300):
            try:
                xs.pop()
                del xs[0]
                xs.remove(texts[0])
            except (IndexError, ValueError):
                pass
            if len(xs) > 100:
                xs.clear()

    def order() -> None:
        for _ in range(100):
            xs.reverse()
            try:
                xs.sort(key=str)
            except ValueError:
                pass  # it was changed meanwhile
            xs.count(texts[1])

    def read() -> None:
        for i in range(100):
            assert len(list(xs)) >= 0
            repr(xs), xs == texts, xs != xs.copy(), [i] in xs, texts[1] in xs
            xs.freeze(), xs + [1], xs * 2, xs[1:5], xs[::-2], ffi.to_python(xs)
            for x in xs:
                assert x is not xs
            try:
                xs.index(texts[2])
            except ValueError:
                pass

    run_in_threads([change, change, shrink, order, read, read])
    assert len(list(xs)) == len(xs)


def test_one_iterator(ffi: Any) -> None:
    """Each element goes to exactly one thread."""
    for container in (ffi.List(range(2000)), ffi.Set(range(2000)), ffi.Dict.fromkeys(range(2000))):
        iterator = iter(container)
        seen = _gather(lambda iterator=iterator: list(iterator))
        assert sorted(x for part in seen for x in part) == list(range(2000))


def test_one_dict_and_its_views(ffi: Any) -> None:
    d = ffi.Dict({i: str(i) for i in range(20)})
    keys, items = d.keys(), d.items()

    def change(first: int) -> None:
        for i in range(first, first + 200):
            d[i] = [i]
            d[f"{i}, a string on the heap"] = i
            d.setdefault(i + 1, {"k": i})
            d.update({i: 0, i + 1: None})
            d.pop(i, None)
            try:
                d.popitem()
                del d[i + 1]
            except KeyError:
                pass

    def read() -> None:
        for i in range(100):
            d.get(i), i in d, i in keys, (i, [i]) in items
            with _size_may_change():
                d == {1: 2}, dict(d.items()), keys & {1, 2}, d | {1: 2}, list(d.values())
                repr(d), ffi.to_python(d), d.copy(), d.freeze()

    run_in_threads([lambda: change(0), lambda: change(100), read, read])
    assert len(list(d)) == len(d)


def test_one_set(ffi: Any) -> None:
    s, frozen = ffi.Set(range(20)), ffi.FrozenSet((i, str(i)) for i in range(50))
    expected = hash(frozenset((i, str(i)) for i in range(50)))

    def change(first: int) -> None:
        for i in range(first, first + 200):
            s.add((i, "a string on the heap"))
            s.discard(i)
            with _size_may_change():
                s.update({i, i + 1}, [str(i)])
                s.symmetric_difference_update({i})
                s.difference_update([i])
            if len(s) > 50:
                s.clear()

    def read() -> None:
        for i in range(100):
            assert hash(frozen) == expected
            with _size_may_change():
                i in s, s & {1, 2}, s | frozen, s - {3}, s == {1}, s <= frozen, s.isdisjoint([1]), s.copy()
                list(s), repr(s), ffi.to_python(s)

    run_in_threads([lambda: change(0), lambda: change(100), read, read])
    assert len(list(s)) == len(s)


def test_defaults_that_several_threads_set(ffi: Any) -> None:
    """All threads get the default that the first one has set."""
    makers: list[Callable[[], Any]] = [object, lambda: ValueError("x"), lambda: lambda: 1, lambda: [1]]
    for make in makers:
        for _ in range(100):
            d = ffi.Dict()
            found = _gather(lambda d=d, make=make: [d.setdefault(i, make()) for i in range(10)])
            assert all(x[i] is d[i] for x in found for i in range(10))


def test_methods_that_read_a_mapping_or_set_as_a_whole(ffi: Any) -> None:
    """They see one consistent state, like Python's own methods: the size does not change meanwhile."""
    d, s, other = ffi.Dict({i: [i] for i in range(30)}), ffi.Set(range(30)), ffi.Set([1, "two"])
    stop = threading.Event()

    def change() -> None:
        for i in range(1_000_000):
            if stop.is_set():
                break
            d[i % 50] = [i]
            d.pop(i * 7 % 50, None)
            s.add(i % 50)
            s.discard(i * 7 % 50)

    def read() -> None:
        try:
            for _ in range(400):
                repr(d), d == {1: 2}, d == ffi.Dict(d.copy()), d.__reduce__(), pickle.dumps(s)
                repr(s), s.union(s, [1]), other.union([1], s), other.difference(s, {3}), copy.deepcopy(s)
        finally:
            stop.set()

    run_in_threads([change, read, read])


def test_python_containers_that_change(ffi: Any) -> None:
    """Arguments, operands and values to store, which other threads change meanwhile."""
    nop = ffi.get_global_func("testing.nop")
    texts = [f"{i}, a string on the heap" for i in range(40)]
    a_list: Any = [1, *texts]
    nested: Any = [[1], texts[0], (a_list,)]
    a_dict: Any = {text: [text] for text in texts}
    a_set = set(texts)
    some_bytes = bytearray(b"some bytes on the heap")
    xs, d, s = ffi.List(), ffi.Dict(), ffi.Set(texts)
    stop = threading.Event()

    def change() -> None:
        # A bounded number of times, since this thread is faster than the others.
        for i in range(100_000):
            if stop.is_set():
                break
            a_list.append(f"{i}, another string on the heap")
            nested[0] = [i, f"{i}, a third string on the heap"]
            a_dict[f"{i}, a key on the heap"] = [str(i) * 20]
            a_set.add(f"{i}, an element on the heap")
            if len(a_list) > 60:
                del a_list[1:], nested[2:]
                a_list.extend(texts)
                nested.append((a_list,))
                a_dict.clear()
                a_set.clear()

    def pack() -> None:
        for _ in range(150):
            nop(a_list), nop(nested, a_dict, a_set), nop((a_dict,), some_bytes)
            ffi.convert(a_list), ffi.List(nested), ffi.Dict(a_dict), ffi.Set(a_set)
            xs[:] = a_list
            xs.extend(a_list)
            xs.append(nested)
            xs == a_list, xs == nested, xs + a_list, a_list in xs
            d.update(a_dict)
            with _size_may_change():
                d == a_dict, d | a_dict
            s.update(a_set)
            with _size_may_change():
                s == a_set, s | a_set, s & set(texts), s <= a_set, s.union(a_list), s.isdisjoint(a_list)
            xs.clear(), d.clear(), s.clear()

    def run() -> None:
        try:
            pack()
        finally:
            stop.set()

    run_in_threads([change, run, pack])


def test_classes_that_were_not_met(ffi: Any) -> None:
    """New classes fill the caches by class, and reuse the addresses of former classes."""
    describe, echo = map(ffi.get_global_func, ("testing.describe", "testing.echo"))

    def body() -> None:
        for i in range(200):
            number = type("Number", (int,), {})
            text = type("Text", (str,), {})
            opaque = type("Opaque", (), {})
            index = type("Index", (), {"__index__": lambda self, i=i: i})
            assert describe(number(i)) == f"Int({i})"
            assert echo(text("abc")) == "abc"
            assert describe(index()) == f"Int({i})"
            x = opaque()
            assert echo(x) is x
            assert echo(opaque) is opaque
            assert echo(type("Items", (list,), {})([i, x])) == [i, x]

    run_in_threads([body] * _THREADS)


def test_a_class_that_changes(ffi: Any) -> None:
    """A value is converted as its class says before or after the change."""
    echo = ffi.get_global_func("testing.echo")

    class Value:
        pass

    def change() -> None:
        for _ in range(1000):
            Value.__index__ = lambda self: 7  # type: ignore[attr-defined]
            del Value.__index__  # type: ignore[attr-defined]

    def convert() -> None:
        for _ in range(1000):
            x = Value()
            try:
                found = echo(x)
            except (AttributeError, TypeError) as error:
                # The class was inspected before the change, and its method called after it.
                assert "Value" in str(error) or "__index__" in str(error)
            else:
                assert found is x or found == 7

    run_in_threads([change, convert, convert])


def test_callbacks(ffi: Any) -> None:
    apply, echo = map(ffi.get_global_func, ("testing.apply", "testing.echo"))
    shared = ffi.List()

    def collect(x: Any, i: int) -> Any:
        shared.append(i)
        return apply(lambda: x[0] + i)

    def body() -> None:
        for i in range(200):
            x = ffi.convert([i])
            assert apply(collect, x, i) == 2 * i
            assert apply(lambda xs: len(xs) >= 0, shared)
            assert echo(collect) is collect

    run_in_threads([body] * _THREADS)
    assert len(shared) == 200 * _THREADS


def test_a_callback_waits_for_another_thread(ffi: Any) -> None:
    """While the callback of a call with a container runs, other threads can use that container."""
    apply = ffi.get_global_func("testing.apply")
    xs = ffi.List([0])
    turns = threading.Barrier(2)

    def wait(ys: Any) -> int:
        turns.wait()
        turns.wait()
        return len(ys)

    def use() -> None:
        turns.wait()
        xs.append(1)
        turns.wait()

    run_in_threads([use, lambda: apply(wait, xs)])
    assert xs == [0, 1]


def test_errors(ffi: Any) -> None:
    raise_error, apply, add_one = map(
        ffi.get_global_func, ("testing.raise_error", "testing.apply", "testing.add_one")
    )

    def body(number: int) -> None:
        for i in range(100):
            with pytest.raises(ValueError, match=f"^{number} {i}$"):
                raise_error("ValueError", f"{number} {i}")
            with pytest.raises(ZeroDivisionError):
                apply(lambda: 1 // 0)
            with pytest.raises(TypeError, match="expected int, got str"):
                add_one("text")
            with pytest.raises(KeyError):
                ffi.Dict()[i]
            with pytest.raises(IndexError):
                ffi.List()[i]

    run_in_threads([lambda n=n: body(n) for n in range(_THREADS)])


def test_text_and_bytes_in_calls(ffi: Any) -> None:
    """Threads see only their own text and bytes, which calls borrow if they are long."""
    apply, describe = map(ffi.get_global_func, ("testing.apply", "testing.describe"))

    def body(number: int) -> None:
        text, data = f"{number}" * 20_000, b"%d" % number * 20_000
        wide = "\u4e00" * 20 + str(number)
        for _ in range(100):
            assert apply(lambda x, y: x == text and y == data, text, data)
            assert apply(lambda x: x, wide) == wide
            assert describe(wide)

    run_in_threads([lambda n=n: body(n) for n in range(_THREADS)])


@pytest.mark.keeps_live("the class may live on")
def test_fields_of_one_object(ffi: Any) -> None:
    @ffi.dataclass
    class Node:
        name: str
        items: list
        number: int = 0

    node = Node("a name on the heap", [1, 2])

    def change(number: int) -> None:
        for i in range(300):
            node.name = f"{number} {i}, a name on the heap"
            node.number = i
            node.items = [i, f"{i}, a string on the heap"]

    def read() -> None:
        for _ in range(300):
            assert node.name.endswith("a name on the heap")
            assert node.number >= 0
            assert len(node.items) == 2
            made = Node("another name on the heap", [3], number=4)
            assert (made.name, made.number) == ("another name on the heap", 4)
            made == node, repr(node)

    run_in_threads([lambda: change(1), lambda: change(2), read, read])


def test_registry(ffi: Any) -> None:
    def body(number: int) -> None:
        for i in range(100):
            name = f"test.concurrent_{number}_{i % 3}"
            ffi.register_global_func(name, lambda x, i=i: x + i, override=True)
            assert ffi.get_global_func(name)(1) == 1 + i
            assert name in ffi.list_global_func_names()
            ffi.remove_global_func(name)
            assert ffi.get_global_func(name, allow_missing=True) is None

    run_in_threads([lambda n=n: body(n) for n in range(_THREADS)])


def test_nested_containers(ffi: Any) -> None:
    """Containers inside of others are reached without their wrappers."""
    inner = ffi.List([1])
    outer = ffi.convert({"k": [inner, (inner,)], "d": {"k": inner}})
    describe = ffi.get_global_func("testing.describe")

    def change() -> None:
        for i in range(400):
            inner.append([f"{i}, a string on the heap"])
            inner.reverse()
            del inner[3:]

    def read() -> None:
        for _ in range(150):
            repr(outer), outer == {"k": 1}, ffi.to_python(outer), describe(outer), ffi.convert(outer)
            hash(ffi.convert((1, "two"))), outer == outer["d"], list(outer["k"][0])

    run_in_threads([change, change, read, read])
