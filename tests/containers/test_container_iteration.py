"""Iterators over containers react to changes as Python's iterators do."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import sys
from typing import Any, Callable

import cases
import pytest
from support import cpython_only

_hint = operator.length_hint


def trace(x: Any, ffi: Any, start: Callable[[Any], Any], changes: list[Callable[[Any], Any]]) -> list[Any]:
    """Return items and length hints of an iterator, with a change after each step."""
    iterator = start(x)
    trace: list[Any] = []
    for change in changes:
        change(x)
        trace.append(_hint(iterator, -1))
        try:
            trace.append(repr(ffi.to_python(next(iterator))))
        except StopIteration:
            trace.append("end")
        except RuntimeError as error:
            trace.append(str(error))
    return trace


def nothing(x: Any) -> None:
    pass


def add(x: Any) -> None:
    x[f"new{len(x)}"] = 1


def last(x: Any) -> None:
    if len(x):
        x.popitem()


def change_value(x: Any) -> None:
    for key in list(x):
        x[key] = "changed"


def exchange(x: Any) -> None:
    """Replace an entry; the size stays."""
    if len(x):
        x.popitem()
    x["exchanged"] = 1


_LIST_STARTS = [iter, reversed]
_LIST_CHANGES: Any = {
    "nothing": [nothing] * 6,
    "shrinks before the first": [lambda x: x.clear()] + [nothing] * 3,
    "shrinks": [nothing, lambda x: x.pop(), lambda x: x.pop(), nothing],
    "grows": [nothing, nothing, nothing, lambda x: x.extend("ab"), nothing, nothing, nothing],
    "grows after the end": [nothing] * 5 + [lambda x: x.append(1)] * 2,
    "at the front": [lambda x: x.insert(0, "front")] * 5,
    "halved": [nothing, lambda x: x.__delitem__(slice(None, None, 2)), nothing, nothing],
    "cleared and filled": [nothing, lambda x: x.clear(), lambda x: x.extend("abcdef"), nothing],
}
_DICT_STARTS: Any = {
    "iter": iter,
    "keys": lambda x: iter(x.keys()),
    "values": lambda x: iter(x.values()),
    "items": lambda x: iter(x.items()),
    "reversed": reversed,
    "reversed keys": lambda x: reversed(x.keys()),
    "reversed values": lambda x: reversed(x.values()),
    "reversed items": lambda x: reversed(x.items()),
}
_DICT_CHANGES: Any = {
    "nothing": [nothing] * 6,
    "grows before the first": [add] + [nothing] * 3,
    "shrinks before the first": [last] + [nothing] * 3,
    "cleared before the first": [lambda x: x.clear()] + [nothing] * 3,
    "grows": [nothing, add, nothing, nothing],
    "shrinks": [nothing, last, nothing, nothing],
    "grows and shrinks back": [nothing, lambda x: (add(x), last(x)), nothing, nothing, nothing],
    "after an error it stays one": [nothing, add, last, last, nothing],
    "other values": [change_value] * 5,
    "after the end": [nothing] * 5 + [add, nothing],
    "exchanged": [nothing, exchange, nothing, nothing, nothing],
    "removes the current one": [nothing, lambda x: x.pop(next(iter(x))), nothing, nothing],
}


@pytest.mark.parametrize("changes", _LIST_CHANGES.values(), ids=_LIST_CHANGES)
@pytest.mark.parametrize("start", _LIST_STARTS)
def test_of_a_list(ffi: Any, start: Any, changes: Any) -> None:
    for content in ([], [1], [1, 2, 3], list("abcd")):
        try:
            expected = trace(list(content), ffi, start, changes)
        except IndexError:  # nothing to pop
            continue
        assert trace(ffi.List(content), ffi, start, changes) == expected


@cpython_only("PyPy's own dicts, to which ours are compared, give other length hints or crash")
@pytest.mark.parametrize("changes", _DICT_CHANGES.values(), ids=_DICT_CHANGES)
@pytest.mark.parametrize("start", _DICT_STARTS.values(), ids=_DICT_STARTS)
def test_of_a_dict(ffi: Any, start: Any, changes: Any) -> None:
    for content in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, {i: str(i) for i in range(4)}):
        assert trace(ffi.Dict(content), ffi, start, changes) == trace(dict(content), ffi, start, changes)


def test_of_immutable_containers(ffi: Any) -> None:
    for content in ((), (1, "two", [3])):
        assert list(iter(ffi.Array(content))) == list(content)
        assert list(reversed(ffi.Array(content))) == list(reversed(content))
        assert _hint(iter(ffi.Array(content))) == len(content)
    m = ffi.Map(a=1, b=2)
    for start in _DICT_STARTS.values():
        assert list(start(m)) == list(start({"a": 1, "b": 2}))
        assert _hint(start(m)) == 2
    iterator = iter(m)
    assert iter(iterator) is iterator
    next(iterator)
    assert _hint(iterator) == 1


@pytest.mark.parametrize("view", ["keys", "values", "items"])
def test_keys_that_change_during_iteration(ffi: Any, view: str) -> None:
    """The surplus entry, whose key and value are on the heap, is not leaked."""
    d = ffi.Dict()
    d[1] = d[2] = 0
    iterator = iter(getattr(d, view)())
    next(iterator)
    d.pop(1)
    d["a key that is not stored inline"] = [3]
    assert next(iterator) == {"keys": 2, "values": 0, "items": (2, 0)}[view]
    with pytest.raises(RuntimeError, match="^dictionary keys changed during iteration$"):
        next(iterator)
    assert list(iterator) == []


def test_of_a_dict_that_is_rebuilt(ffi: Any) -> None:
    """Compaction moves entries: no crash, and a change of size is detected."""
    d = ffi.Dict({i: i for i in range(100)})
    for start in _DICT_STARTS.values():
        iterator = start(d)
        next(iterator)
        for i in range(90):
            d.pop(i, None)
        for i in range(1000):
            d[i] = i
        with pytest.raises(RuntimeError, match="changed size"):
            next(iterator)
        d.clear()
        d.update({i: i for i in range(100)})
    # The size stays but the entries move: the iteration may end or fail, but not crash.
    iterator = iter(d)
    for i in range(1000):
        d.pop(next(iter(d)))
        d[f"other {i}"] = i
    try:
        assert len(list(iterator)) <= 200
    except RuntimeError:
        pass


def test_iterators_are_copied_and_pickled(ffi: Any) -> None:
    content = [1, "two", 3.0]
    for x, starts in (
        (ffi.List(content), [iter, reversed]),
        (ffi.Array(content), [iter]),
        (ffi.Dict.fromkeys(content), [iter, reversed, lambda x: iter(x.items())]),
        (ffi.Map(dict.fromkeys(content)), [iter, reversed]),
    ):
        for start in starts:
            for steps in range(5):
                iterator = start(x)
                for _ in range(steps):
                    next(iterator, None)
                other = copy.copy(iterator)
                pickled = pickle.loads(pickle.dumps(iterator))
                rest = list(iterator)
                assert list(other) == rest
                assert list(pickled) == rest
    xs = ffi.List(content)
    iterator = iter(xs)
    for index, expected in ((1, ["two", 3.0]), (-5, content), (100, [])):
        iterator.__setstate__(index)
        assert list(copy.copy(iterator)) == expected
    backwards = reversed(xs)
    for index, expected in ((0, [1]), (-5, []), (100, content[::-1])):
        backwards.__setstate__(index)
        assert list(copy.copy(backwards)) == expected
    refusals = [
        (TypeError, "an integer is required", ("1", 1.0, None, cases.Indexable(1))),
        (OverflowError, "Python int too large to convert to C ssize_t", (2**63, -(2**63) - 1)),
    ]
    iterator.__setstate__(cases.IntSubclass(1))
    for left in (content[1:], []):
        for error, words, indices in refusals:
            for index in indices:
                with pytest.raises(error, match=f"^{words}$"):
                    iterator.__setstate__(index)
        assert list(iterator) == left


@pytest.mark.parametrize("start", [iter, reversed])
def test_an_iteration_that_another_thread_ends(ffi: Any, start: Callable[[Any], Any]) -> None:
    """The iterator has the only reference to the list. A tracer stands for the other thread."""
    if ffi.ffi_mode == "check":
        pytest.skip("check mode reads twice, and the other thread may end the iteration in between")
    uses: list[Callable[[Any], Any]] = [
        lambda iterator: iterator.__length_hint__(),
        lambda iterator: iterator.__reduce__(),
        lambda iterator: iterator.__setstate__(0),
        lambda iterator: next(iterator, None),
    ]
    for use in uses:
        for at in range(1, 60):
            iterator = start(ffi.List([1, "a string on the heap"]))
            events = 0

            def end(*event: Any) -> Any:
                nonlocal events
                events += 1
                if events == at:
                    list(iterator)
                return end

            former = sys.gettrace()
            sys.settrace(end)
            try:
                use(iterator)
            finally:
                sys.settrace(former)
            if events >= at:
                assert operator.length_hint(iterator) == 0
                assert list(iterator) == []


@cpython_only("reference counts show what is kept")
def test_an_iterator_keeps_its_container(ffi: Any) -> None:
    live_blocks = ffi.get_global_func("testing.live_blocks")
    iterators = [
        iter(ffi.List([1, "a string on the heap"])),
        iter(ffi.Dict(a=[1]).items()),
        iter(ffi.Map(a=(1, 2)).values()),
    ]
    assert [list(iterator) for iterator in iterators] == [[1, "a string on the heap"], [("a", [1])], [(1, 2)]]
    # Exhausted iterators have released their container.
    before = live_blocks()
    iterator = iter(ffi.List(["a string on the heap"]))
    assert live_blocks() > before
    next(iterator)
    assert next(iterator, None) is None
    assert live_blocks() == before


def test_iterators_of_both_modes_look_alike(both: Any) -> None:
    def shown(ffi: Any) -> Any:
        iterators = [
            iter(ffi.List()),
            iter(ffi.Array()),
            iter(ffi.Dict()),
            iter(ffi.Dict().items()),
            iter(ffi.Set()),
        ]
        return [
            (
                (type(x).__name__, type(x).__qualname__, type(x).__module__),
                [name for name in dir(type(iter([]))) if hasattr(x, name)],
                [name for name in dir(x) if not name.startswith("_")],
            )
            for x in iterators
        ]

    cython, ctypes = both
    assert shown(cython) == shown(ctypes)


def test_to_python_of_long_sequences(ffi: Any) -> None:
    for items in (
        [chr(i) for i in (*range(300), 0xD800, 0xFFFF, 0x10000, 0x10FFFF)],
        ["", "ab", "\xe9\x00", "\x00\xe9", "\u0101", "\u0100\x00"],
        [*range(-300, 300), 2**30, -(2**30), 2**63 - 1, -(2**63), 2**63],
        [None, True, 1.5, b"a", b"\xff", "a", 97],
    ):
        assert cases.same(ffi.to_python(ffi.List(items * 100)), items * 100)
        assert cases.same(ffi.to_python(ffi.Array(items * 100)), tuple(items * 100))


@cpython_only("CPython collects garbage after a number of new objects")
def test_to_python_of_a_list_that_grows_meanwhile(ffi: Any) -> None:
    xs = ffi.List([[i] for i in range(1000)])

    class Grows:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            xs.extend("abc" * 1000)

    thresholds = gc.get_threshold()
    try:
        gc.set_threshold(100)
        Grows()
        result = ffi.to_python(xs)
    finally:
        gc.set_threshold(*thresholds)
    assert result[:1000] == [[i] for i in range(1000)]
    assert result[1000:] == list("abc" * 1000)[: len(result) - 1000]


def test_classes_of_iterators_are_not_called(ffi: Any) -> None:
    """Like Python's own, they make no iterators for users: they read memory that only the package knows."""
    for made in (
        ffi.List([1]),
        ffi.Array([1]),
        ffi.Dict({1: 2}),
        ffi.Map({1: 2}),
        ffi.Set([1]),
        ffi.FrozenSet([1]),
    ):
        cls = type(iter(made))
        for arguments in ((), (None,), (None, 8, True), (made, 8, 0, False)):
            with pytest.raises(TypeError, match=rf"^cannot create 'anyffi\.{cls.__name__}' instances$"):
                cls(*arguments)
