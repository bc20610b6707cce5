"""Wrappers of the public classes that come from free lists behave as any object."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest
from support import FREE_THREADED, cpython_only

CLASSES = ("Array", "Dict", "FrozenSet", "List", "Map", "Set")


def made(ffi: Any, name: str) -> Any:
    return getattr(ffi, name)({1: 2} if name in ("Dict", "Map") else [1])


@cpython_only("other interpreters destroy objects later")
@pytest.mark.parametrize("name", CLASSES)
def test_more_than_a_free_list_holds(ffi: Any, name: str) -> None:
    live = ffi.get_global_func("testing.live_blocks")
    before = live()
    for _ in range(3):
        held = [made(ffi, name) for _ in range(600)]
        assert len({id(x) for x in held}) == 600
        assert all(len(x) == 1 for x in held)
        del held
    assert live() == before


@cpython_only("other interpreters destroy objects later")
@pytest.mark.parametrize("name", CLASSES)
def test_weak_references_die_with_it(ffi: Any, name: str) -> None:
    died = []
    x = made(ffi, name)
    ref = weakref.ref(x, lambda dead: died.append(dead))
    del x
    assert ref() is None
    assert died == [ref]
    # The next wrapper reuses the memory, and has no weak reference but the one by which wrappers are found without
    # the GIL.
    own = 1 if FREE_THREADED and ffi.ffi_mode == "ctypes" else 0
    assert weakref.getweakrefcount(made(ffi, name)) == own


@cpython_only("other interpreters destroy objects later")
def test_a_finalizer_that_a_class_gets_later(ffi: Any) -> None:
    log: list[Any] = []
    echo = ffi.get_global_func("testing.echo")
    ffi.List.__del__ = lambda self: log.append(list(self))
    try:
        for i in range(3):
            echo([i])
            assert log[-1] == [i]
        # One that lives on is finalized once.
        kept: list[Any] = []
        ffi.List.__del__ = lambda self: kept.append(self)
        echo([3])
        assert kept == [[3]]
        kept.clear()
        assert kept == []
    finally:
        del ffi.List.__del__
    assert ffi.List([5]) == [5]


@cpython_only("other interpreters destroy objects later")
def test_subclasses_have_attributes_and_finalizers(ffi: Any) -> None:
    log = []

    class Derived(ffi.List):
        def __del__(self) -> None:
            log.append((list(self), self.label))

    x = Derived([1])
    x.label = "a"
    x.itself = x
    del x
    gc.collect()
    assert log == [([1], "a")]
    assert ffi.List([2]) == [2]


def test_a_changed_class(ffi: Any) -> None:
    class Derived(ffi.List):
        __slots__ = ()

    for _ in range(3):
        x, y = ffi.List([1]), Derived([2])
        x.__class__, y.__class__ = Derived, ffi.List
        assert (type(x), type(y)) == (Derived, ffi.List)
        assert (x, y) == ([1], [2])
        del x, y
    assert type(ffi.List([3])) is ffi.List


@cpython_only("other interpreters destroy objects later")
def test_an_exception_survives_what_a_release_runs(ffi: Any) -> None:
    class Noisy:
        def __del__(self) -> None:
            try:
                raise KeyError("inner")
            except KeyError:
                pass

    def fail() -> None:
        held = ffi.List([Noisy()])
        raise ValueError(len(held))

    with pytest.raises(ValueError, match="1"):
        fail()


@cpython_only("other interpreters destroy objects later")
def test_a_function_is_collected_with_its_cycle(ffi: Any) -> None:
    def callback() -> None: ...

    callback.itself = ffi.convert(callback)  # type: ignore[attr-defined]
    ref = weakref.ref(callback)
    del callback
    gc.collect()
    assert ref() is None


@cpython_only("other interpreters destroy objects later")
def test_a_callable_ends_with_the_call_that_it_was_passed_to(ffi: Any) -> None:
    class Callback:
        def __call__(self, *args: Any) -> None: ...

    for make in (lambda: Callback(), lambda: Callback().__call__, lambda: lambda *args: None):
        for name in ("testing.nop", "testing.apply"):
            f = make()
            ref = weakref.ref(getattr(f, "__self__", f))
            ffi.get_global_func(name)(f, 1)
            assert ref() is not None
            del f
            assert ref() is None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="object has no __getstate__ before 3.11")
def test_the_state_of_an_object_has_no_memory(ffi: Any) -> None:
    """A copy of the memory of a wrapper would release a reference that it does not own."""

    class Attributes(ffi.List):  # type: ignore[misc, name-defined]
        pass

    class Slots(ffi.List):  # type: ignore[misc, name-defined]
        __slots__ = ("own",)

    for x in (ffi.List([1]), ffi.Dict(), ffi.Function(len), ffi.Object.__new__(ffi.Object)):
        assert object.__getstate__(x) is None
    attributes, slots = Attributes([1]), Slots([1])
    assert object.__getstate__(attributes) is None
    attributes.name = slots.own = 5
    assert object.__getstate__(attributes) == {"name": 5}
    assert object.__getstate__(slots) == (None, {"own": 5})
