"""Identity of wrappers, attributes, refcounts, and wrappers that a subclass makes."""

from __future__ import annotations

import sys
import types
import weakref
from typing import Any

import pytest
from support import collect, cpython_only


def wrappers(ffi: Any) -> Any:
    return [
        ffi.convert([1]),
        ffi.convert((1,)),
        ffi.convert({}),
        ffi.convert(types.MappingProxyType({})),
        ffi.Shape((1, 2)),
        ffi.convert({1}),
        ffi.convert(frozenset({1})),
        ffi.get_global_func("testing.make_counter")(1),
        ffi.get_global_func("testing.nop"),
        ffi.get_global_func("testing.new_counted")(1),
    ]


@pytest.mark.unrecorded("about a function as an object")
def test_an_object_has_one_wrapper_while_one_lives(ffi: Any) -> None:
    echo, hold, held = map(ffi.get_global_func, ("testing.echo", "testing.hold", "testing.held"))
    for wrapper in wrappers(ffi):
        assert echo(wrapper) is wrapper
        hold(wrapper)
        assert held() is wrapper
        assert echo([wrapper])[0] is wrapper
        assert echo((wrapper, wrapper))[1] is wrapper
        assert echo({"k": wrapper})["k"] is wrapper
        assert echo(slice(wrapper)).stop is wrapper
        assert ffi.get_global_func("testing.apply")(lambda x: x, wrapper) is wrapper
        kind = type(wrapper)
        del wrapper
        collect()
        assert type(held()) is kind
        assert held() is held()
        hold(None)


def test_elements_keep_their_wrapper(ffi: Any) -> None:
    outer = ffi.convert([[1], {"k": (2,)}])
    assert outer[0] is outer[0]
    assert outer[1]["k"] is outer[1]["k"]
    inner = outer[0]
    del outer
    collect()
    assert inner == [1]


def test_attributes_of_a_subclass_stay_with_the_wrapper(ffi: Any) -> None:
    class MyDict(ffi.Dict):
        pass

    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
    d = MyDict(a=1)
    d.own = "attribute"
    hold(d)
    assert held() is d
    assert held().own == "attribute"
    hold(None)


def test_weak_references(ffi: Any) -> None:
    for wrapper in wrappers(ffi):
        reference = weakref.ref(wrapper)
        assert reference() is wrapper
        finalized = []
        weakref.finalize(wrapper, finalized.append, 1)
    del wrapper
    collect()
    assert reference() is None
    assert finalized == [1]


def test_a_wrapper_resurrected_by_its_finalizer(ffi: Any) -> None:
    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
    kept = []

    class Phoenix(ffi.List):
        def __del__(self) -> None:
            kept.append(self)

    xs = Phoenix([1])
    hold(xs)
    del xs
    collect()
    assert len(kept) == 1
    assert kept[0] == [1]
    assert held() == [1]
    kept[0].append(2)
    assert held() == [1, 2]
    hold(None)
    kept.clear()
    collect()


def test_destructor_of_cpp_runs_exactly_once(ffi: Any) -> None:
    new, alive, number, echo = map(
        ffi.get_global_func,
        ("testing.new_counted", "testing.counted_alive", "testing.counted_number", "testing.echo"),
    )
    before = alive()
    x = new(7)
    assert alive() == before + 1
    assert number(x) == 7
    assert echo([x])[0] is x
    holder = ffi.convert([x])
    del x
    collect()
    assert alive() == before + 1
    assert number(holder[0]) == 7
    del holder
    collect()
    assert alive() == before


def test_object_types_of_cpp(ffi: Any) -> None:
    number = ffi.get_global_func("testing.counted_number")
    child = ffi.get_global_func("testing.new_counted_child")(8)
    assert number(child) == 8
    for bad, name in ((5, "int"), ([1], "list"), (None, "NoneType"), (object(), "object")):
        with pytest.raises(TypeError, match=f"expected .*Counted.*, got {name}"):
            number(bad)
    assert (type(child).__module__, type(child).__qualname__) == ("testing", "CountedChild")


def test_a_registered_class_for_a_type_of_cpp(ffi: Any) -> None:
    class Counted(ffi.Object):
        @property
        def number(self) -> int:
            return ffi.get_global_func("testing.counted_number")(self)

    try:
        ffi.register_object("testing.Counted")(Counted)
        x = ffi.get_global_func("testing.new_counted")(5)
        assert type(x) is Counted
        assert x.number == 5
        assert ffi.get_global_func("testing.new_counted_child")(6).number == 6
    finally:
        ffi.register_object("testing.Counted")(ffi.Object)
    assert not hasattr(ffi.Object, "doubled")
    with pytest.raises(ValueError, match=r"testing\.Counted"):
        ffi.register_object("testing.Countd")(Counted)
    with pytest.raises(TypeError):
        ffi.register_object("testing.Counted")(int)


@cpython_only("counts are CPython's")
def test_refcounts_seen_from_cpp(ffi: Any) -> None:
    use_count = ffi.get_global_func("testing.use_count")
    xs = ffi.convert([1])
    assert use_count(xs) == 1
    holder = ffi.convert([xs, xs])
    assert use_count(xs) == 3
    del holder
    assert use_count(xs) == 1
    assert use_count([1]) == 1


@pytest.mark.unrecorded("about a function as an object")
def test_only_objects_of_the_marshaller_are_movable(ffi: Any) -> None:
    is_movable = ffi.get_global_func("testing.is_movable")
    for x in ([1], (1,), {}, types.MappingProxyType({}), {1}, frozenset(), slice(1), 2**70, 1j):
        assert is_movable(x) is True
    for x in wrappers(ffi):
        assert is_movable(x) is False
    for x in (None, 5, "s", "a string that is borrowed", b"b" * 50):
        assert is_movable(x) is False


@cpython_only("counts are CPython's")
def test_a_callable_read_back_keeps_its_refcount(ffi: Any) -> None:
    def function() -> None:
        """An object to count."""

    echo, hold, held = map(ffi.get_global_func, ("testing.echo", "testing.hold", "testing.held"))
    before = sys.getrefcount(function)
    for _ in range(10):
        assert echo(function) is function
        assert echo([function])[0] is function
    hold(function)
    for _ in range(10):
        assert held() is function
    assert sys.getrefcount(function) == before + 1
    hold(None)
    assert sys.getrefcount(function) == before


@pytest.mark.parametrize("name", ["Object", "Module", "Tensor"])
def test_classes_without_arguments(ffi: Any, name: str) -> None:
    cls = getattr(ffi, name)
    for args, kwargs in (((3,), {}), ((), {"x": 1})):
        with pytest.raises(TypeError, match=rf"^{name}\(\) takes no arguments$"):
            cls(*args, **kwargs)

    class Own(cls):  # type: ignore[misc, valid-type]
        def __init__(self, x: Any) -> None:
            super().__init__()
            self.x = x

    class Other(cls):  # type: ignore[misc, valid-type]
        def __new__(cls, x: Any) -> Any:
            made = super().__new__(cls)
            made.x = x
            return made

    assert (Own(5).x, Other(6).x) == (5, 6)


def test_only_public_names_are_shown(ffi: Any) -> None:
    for x in (ffi.convert(len), ffi.List([1]), ffi.convert({}), ffi.Shape((1,))):
        assert [name for name in dir(x) if name.startswith("_") and not name.startswith("__")] == []
        assert "__len__" in dir(x) or callable(x)


def test_a_wrapper_made_by_new_alone(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    for name in (
        "Object",
        "Function",
        "Module",
        "Array",
        "Shape",
        "List",
        "Map",
        "Dict",
        "FrozenSet",
        "Set",
        "Tensor",
    ):
        cls = getattr(ffi, name)
        empty = cls.__new__(cls)
        uses = [
            len, repr, str, hash, list, iter, bool, dir, echo, ffi.convert, ffi.to_python,
            lambda x: x[0], lambda x: x[0:1], lambda x: x["k"], lambda x: x(), lambda x: x(1, k=2), lambda x: 1 in x,
            lambda x: x == x, lambda x: x == [], lambda x: [x], lambda x: echo([x]), lambda x: x + x, lambda x: x * 2,
            lambda x: x.append(1), lambda x: x.pop(), lambda x: x.items(), lambda x: list(x.items()), lambda x: x.clear(),
            lambda x: x.get_function("f"), lambda x: x.f, lambda x: x.__name__, lambda x: x.__signature__, lambda x: x.shape,
            lambda x: x.same_as(x), lambda x: x.__doc__, lambda x: x.__file__, lambda x: x.update(a=1), lambda x: x | x,
            lambda x: x.add(1), lambda x: x.update([1]), lambda x: x & {1}, lambda x: x <= {1}, lambda x: x.freeze(),
            lambda x: x.thaw(), lambda x: x.sort(), lambda x: x.copy(), lambda x: reversed(x), lambda x: x._anyffi_info(), lambda x: x._entry(0),
        ]  # fmt: skip
        for use in uses:
            try:
                use(empty)
            except (TypeError, ValueError, AttributeError, KeyError, IndexError, RuntimeError):
                pass
        del empty
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        echo(ffi.List.__new__(ffi.List))
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        len(ffi.List.__new__(ffi.List))
