"""Cycles through objects of the runtime: what CPython's garbage collector frees, and what it must not."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from support import FREE_THREADED, cpython_only, frees_classes

pytestmark = cpython_only("other interpreters do not look into objects of C++")

MANY = 100


class Mark:
    """Dies with the cycle that holds it."""


class Holder:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def method(self) -> None: ...


class Key(Holder):
    __hash__ = object.__hash__


Program = Callable[[Any, Any, Mark], object]


def closure(*held: Any) -> Callable[[], Any]:
    return lambda: held


def registered(ffi: Any, name: str, *args: Any) -> Any:
    return ffi.get_global_func(f"testing.{name}")(*args)


def list_append(ffi: Any, mark: Mark) -> Any:
    xs = ffi.List()
    xs.append(closure(xs, mark))
    return xs


def list_changes(ffi: Any, mark: Mark) -> Any:
    """Make cycles by each method that writes elements, from a List of numbers."""
    for change in (
        lambda xs, x: xs.__setitem__(0, x),
        lambda xs, x: xs.__setitem__(slice(None), [x]),
        lambda xs, x: xs.__setitem__(slice(0, 3, 2), [x, 1]),
        lambda xs, x: xs.extend([x]),
        lambda xs, x: xs.extend(iter([x])),
        lambda xs, x: xs.insert(0, x),
        lambda xs, x: xs.__iadd__([x]),
    ):
        xs = ffi.List([1, 2, 3])
        change(xs, closure(xs, mark))


def dict_changes(ffi: Any, mark: Mark) -> Any:
    for change in (
        lambda d, x: d.__setitem__("f", x),
        lambda d, x: d.update(f=x),
        lambda d, x: d.update({"f": x}),
        lambda d, x: d.setdefault("f", x),
        lambda d, x: d.__ior__({"f": x}),
    ):
        d = ffi.Dict({1: 2})
        change(d, closure(d, mark))


def opaque_keys(ffi: Any, mark: Mark) -> Any:
    d = ffi.Dict({1: 1})
    d[Key(d=d, mark=mark)] = 1
    s = ffi.Set([1])
    s.add(Key(s=s, mark=mark))
    t = ffi.Set()
    t |= {Key(t=t, mark=mark)}


def instance(ffi: Any, mark: Mark) -> Any:
    holder = Holder(mark=mark)
    holder.xs = ffi.List([holder])


def method_of_holder(ffi: Any, mark: Mark) -> Any:
    holder = Holder(mark=mark)
    holder.function = ffi.convert(holder.method)


def own_method(ffi: Any, mark: Mark) -> Any:
    """Nothing but the List itself can be cleared here."""
    xs = ffi.List()
    xs.append(xs.append)
    xs.append(mark)


def nested(ffi: Any, mark: Mark) -> Any:
    d = ffi.Dict({"a": {"b": [1]}})
    d["a"]["b"].append(closure(d, mark))


def inner_list(ffi: Any, mark: Mark) -> Any:
    inner = ffi.List()
    outer = ffi.List([inner])
    inner.append(closure(outer, mark))


def immutable(ffi: Any, mark: Mark) -> Any:
    cell: list[Any] = [mark]
    cell.append(ffi.Array([1, closure(cell)]))
    cell.append(ffi.Map({1: closure(cell)}))
    cell.append(ffi.FrozenSet([closure(cell)]))
    cell.append(ffi.convert((ffi.Slice if hasattr(ffi, "Slice") else slice)(1)))


def subclass(ffi: Any, mark: Mark) -> Any:
    class Derived(ffi.List):  # type: ignore[misc, name-defined]
        pass

    xs = Derived()
    xs.me, xs.mark = xs, mark
    xs.append(closure(xs))


def error(ffi: Any, mark: Mark) -> Any:
    xs = ffi.List()
    problem = ValueError(mark)
    problem.xs = xs  # type: ignore[attr-defined]
    xs.append(problem)


def array_subclass(ffi: Any, mark: Mark) -> Any:
    numpy = pytest.importorskip("numpy")

    class Marked(numpy.ndarray):  # type: ignore[misc, name-defined]
        pass

    array = numpy.zeros(3).view(Marked)
    array.mark, array.tensor = mark, ffi.convert(array)
    other = numpy.zeros(3).view(Marked)
    other.mark, other.tensors = mark, ffi.List([other])


def written_by_cpp(ffi: Any, mark: Mark) -> Any:
    xs = ffi.List([1])
    registered(ffi, "store_in_list", xs, closure(xs, mark))
    d = ffi.Dict()
    registered(ffi, "store_in_dict", d, "f", closure(d, mark))
    e = ffi.Dict()
    registered(ffi, "store_in_dict", e, Key(e=e, mark=mark), 1)


def fields(ffi: Any, mark: Mark) -> Any:
    for where in ("any", "list", "converted", "many", "named", "maybe", "optional"):
        watcher = registered(ffi, "watcher")
        registered(ffi, "watch", watcher, where, closure(watcher, mark))


def hidden_members(ffi: Any, mark: Mark) -> Any:
    discreet = registered(ffi, "discreet")
    registered(ffi, "hide", discreet, {"f": [closure(discreet, mark)]})
    registered(ffi, "watch", discreet, "many", closure(discreet, mark))


def object_inside(ffi: Any, mark: Mark) -> Any:
    xs = ffi.List([1])
    watcher = registered(ffi, "watcher")
    xs.append(watcher)
    registered(ffi, "watch", watcher, "any", closure(xs, mark))


PROGRAMS: dict[str, Program] = {
    program.__name__: program
    for program in (
        list_append,
        list_changes,
        dict_changes,
        opaque_keys,
        instance,
        method_of_holder,
        own_method,
        nested,
        inner_list,
        immutable,
        subclass,
        error,
        array_subclass,
        written_by_cpp,
        fields,
        hidden_members,
        object_inside,
    )
}


def count_alive(ffi: Any, program: Program) -> int:
    """Run a program many times without collection, collect once, and count the marks that survive."""
    marks = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(MANY):
            mark = Mark()
            marks.append(weakref.ref(mark))
            program(ffi, mark)
            del mark
        assert all(ref() is not None for ref in marks)
    finally:
        gc.enable()
    gc.collect()
    return sum(ref() is not None for ref in marks)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_cycles_are_collected(ffi: Any, program: Program) -> None:
    assert count_alive(ffi, program) == 0


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_collection_at_every_allocation(ffi: Any, program: Program) -> None:
    former = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for _ in range(3):
            program(ffi, Mark())
    finally:
        gc.set_threshold(*former)
    gc.collect()


def test_what_is_in_use_stays(ffi: Any) -> None:
    mark = Mark()
    xs = ffi.List()
    xs.append(closure(xs, mark))
    d = ffi.Dict({"a": [Key(mark=mark)]})
    d["a"][0].d = d
    inner = ffi.List([closure(xs, d, mark)])
    outer = ffi.List([inner])
    ref = weakref.ref(mark)
    del mark
    for _ in range(3):
        gc.collect()
    assert ref() is not None
    assert xs[0]()[1] is d["a"][0].mark is inner[0]()[2] is outer[0][0]()[2] is ref()


def test_shared_containers_stay_while_one_wrapper_lives(ffi: Any) -> None:
    """The inner List has a wrapper that nothing uses and a place in a List that is in use."""
    mark = Mark()
    inner = ffi.List([closure(mark)])
    outer = ffi.List([inner])
    cycle: list[Any] = [inner]
    cycle.append(cycle)
    del mark, inner, cycle
    gc.collect()
    assert isinstance(outer[0][0]()[0], Mark)


def test_what_cpp_holds_stays(ffi: Any) -> None:
    xs = ffi.List()
    xs.append(closure(xs))
    keep = ffi.get_global_func("testing.keep_for_ever")
    keep(xs)
    function = weakref.ref(xs[0])
    del xs
    gc.collect()
    assert function() is not None
    keep(None)
    gc.collect()
    assert function() is None


def test_finalizers_see_the_whole_cycle(ffi: Any) -> None:
    seen = []

    class Finalized(Holder):
        def __del__(self) -> None:
            seen.append((list(self.xs[1:]), len(self.d), self.xs[0]()[0] is self))

    holder = Finalized()
    holder.xs = ffi.List([closure(holder), 1, 2])
    holder.d = ffi.Dict({"h": holder})
    del holder
    gc.collect()
    assert seen == [([1, 2], 1, True)]


def test_a_finalizer_may_resurrect_the_cycle(ffi: Any) -> None:
    saved = []

    class Phoenix(Holder):
        def __del__(self) -> None:
            saved.append(self)

    phoenix = Phoenix()
    phoenix.xs = ffi.List([phoenix, 5])
    del phoenix
    gc.collect()
    [phoenix] = saved
    assert phoenix.xs[0] is phoenix
    assert phoenix.xs[1] == 5
    ref = weakref.ref(phoenix.xs)
    saved.clear()
    del phoenix
    gc.collect()
    assert ref() is None


def test_weak_references_are_cleared_first(ffi: Any) -> None:
    events: list[Any] = []
    xs = ffi.List()
    xs.append(closure(xs))
    refs = [
        weakref.ref(xs, lambda ref: events.append(ref())),
        weakref.ref(xs[0], lambda ref: events.append(ref())),
    ]
    del xs
    gc.collect()
    assert events == [None, None]
    assert [ref() for ref in refs] == [None, None]


def test_referents(ffi: Any) -> None:
    function = closure()
    xs = ffi.List([function, 1, [function]])
    assert gc.get_referents(xs).count(function) == 2
    assert xs in [x for x in gc.get_referrers(function) if type(x) is ffi.List]
    assert gc.get_referents(ffi.List([1])).count(ffi.List) == 1


@pytest.mark.unfreezes
def test_frozen_cycles(ffi: Any) -> None:
    mark = Mark()
    ref = weakref.ref(mark)
    xs = ffi.List()
    xs.append(closure(xs, mark))
    gc.freeze()
    try:
        del xs, mark
        gc.collect()
        assert ref() is not None
    finally:
        gc.unfreeze()
    gc.collect()
    assert ref() is None


@frees_classes
@pytest.mark.unrecorded("the collector clears the functions in any order")
def test_a_destructor_that_calls_python(ffi: Any) -> None:
    """The function may have been cleared before: calling it would end the process."""
    called: list[int] = []
    before = registered(ffi, "failed_goodbyes")

    def make(as_method: bool) -> None:
        scope: dict[str, Any] = {"called": called}
        exec("def goodbye(*args): called.append(len([args]))", scope)
        holder = type("Class", (), {"goodbye": scope["goodbye"]})() if as_method else None
        scope["object"] = registered(ffi, "goodbye", holder.goodbye if as_method else scope["goodbye"])  # type: ignore[attr-defined]
        scope["holder"] = holder

    gc.collect()
    for i in range(MANY):
        make(i % 2 == 1)
    gc.collect()
    assert len(called) + registered(ffi, "failed_goodbyes") - before == MANY


@pytest.mark.parametrize("name", ["List", "Dict", "values", "items", "reversed"])
def test_a_destructor_that_continues_an_iteration(ffi: Any, name: str) -> None:
    """The collector may have cleared the wrapper of the container, which is being destroyed."""

    def make() -> weakref.ref[Any]:
        xs = ffi.List() if name in ("List", "reversed") else ffi.Dict()
        of_dict = {"values": lambda: iter(xs.values()), "items": lambda: iter(xs.items())}
        iterator = reversed(xs) if name == "reversed" else of_dict.get(name, lambda: iter(xs))()
        goodbye = registered(ffi, "goodbye", iterator.__next__)
        if name in ("List", "reversed"):
            xs.append(goodbye)
            xs.extend(range(5))
            # The iterator of the empty List was exhausted: give it a position again.
            iterator.__setstate__(0)
        else:
            xs["goodbye"] = goodbye

        return weakref.ref(xs)

    made = [make() for _ in range(MANY)]
    gc.collect()
    assert not any(ref() for ref in made)


def test_borrowed_arguments_without_the_lock(ffi: Any) -> None:
    """Without the lock, C++ copies arguments that only the callers' wrappers keep alive, while the collector runs."""
    copy = ffi.get_global_func("testing.copy_without_lock")
    copies: list[Any] = []

    def run() -> None:
        xs = ffi.Array([[closure(Mark())]])
        copies.append(copy(xs, 0.01))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        gc.collect()
    for thread in threads:
        thread.join()
    assert all(isinstance(xs[0][0]()[0], Mark) for xs in copies)


def test_containers_of_numbers_cost_the_collector_nothing(ffi: Any) -> None:
    numbers = ffi.List(range(100)), ffi.Dict({"a": 1.5}), ffi.get_global_func("testing.echo")([1, "text"])
    if ffi.ffi_mode == "cython" and not FREE_THREADED:
        assert [gc.is_tracked(x) for x in numbers] == [False, False, False]
    for x in numbers:
        assert gc.get_referents(x)[-1:] == [type(x)]
    xs = ffi.List([1])
    xs.append([])
    assert gc.is_tracked(xs)


def test_chains_of_any_depth(ffi: Any) -> None:
    chain = registered(ffi, "make_chain", 10_000)
    gc.collect()
    assert len(gc.get_referents(chain)) >= 1
    del chain
    gc.collect()
