"""Fields of objects as properties of registered classes."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.unrecorded("about classes of wrappers")


@pytest.fixture
def imm(ffi: Any) -> Any:
    class Imm(ffi.Object):  # type: ignore[misc]
        __slots__ = ()

    ffi.register_object("testing.IntImm")(Imm)
    yield Imm
    ffi.register_object("testing.IntImm")(ffi.Object)


def test_reading(ffi: Any, imm: Any) -> None:
    make = ffi.get_global_func("testing.authoring.int_imm")
    for x in (make(5), make(2**40)):
        assert type(x) is imm
    assert [make(i).value for i in range(3)] == [0, 1, 2]
    assert make(7).value == imm.value.fget(make(7)) == imm.value.__get__(make(7)) == 7
    assert imm.value.__doc__ == "The number."
    assert callable(imm.value.fget)
    with pytest.raises(AttributeError):
        make(5).value = 6


def test_what_has_no_such_field(ffi: Any, imm: Any) -> None:
    read = imm.value.fget
    with pytest.raises(AttributeError, match="'Account' object has no attribute 'value'"):
        read(ffi.get_global_func("testing.authoring.account")(1))
    for x in (5, "text", None, [1], object()):
        with pytest.raises((TypeError, AttributeError)):
            read(x)
    with pytest.raises(ValueError, match="is empty"):
        read(imm())
    for args in ((), (1, 2)):
        with pytest.raises(TypeError):
            read(*args)
    with pytest.raises(TypeError):
        read(self=1, x=2)
    assert read(ffi.get_global_func("testing.authoring.int_imm")(8)) == 8


def test_a_class_that_is_replaced(ffi: Any) -> None:
    make = ffi.get_global_func("testing.authoring.int_imm")
    try:
        for _ in range(3):

            class Imm(ffi.Object):  # type: ignore[misc]
                __slots__ = ()

            ffi.register_object("testing.IntImm")(Imm)
            assert type(make(1)) is Imm
            assert make(1).value == 1
            ffi.register_object("testing.IntImm")(ffi.Object)
            assert type(make(1)) is ffi.Object
    finally:
        ffi.register_object("testing.IntImm")(ffi.Object)


def test_objects_of_several_types_in_turn(ffi: Any, imm: Any) -> None:
    make, make_child = map(
        ffi.get_global_func, ("testing.authoring.int_imm", "testing.authoring.new_named_imm")
    )
    for i in range(4):
        x = (make if i % 2 else make_child)(i)
        assert isinstance(x, imm)
        assert x.value == imm.value.fget(x) == i


def test_a_class_for_an_ancestor_serves_its_subtypes(ffi: Any, imm: Any) -> None:
    child = ffi.get_global_func("testing.new_counted_child")
    assert type(child(1)).__name__ == "CountedChild"

    class Counted(ffi.Object):  # type: ignore[misc]
        __slots__ = ()

    try:
        ffi.register_object("testing.Counted")(Counted)
        assert isinstance(child(1), Counted)
        assert (type(child(1)).__name__, child(1).name) == ("CountedChild", "child")
    finally:
        ffi.register_object("testing.Counted")(ffi.Object)
    assert not isinstance(child(1), Counted)
