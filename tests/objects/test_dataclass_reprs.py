"""What C++ shows of dataclasses: the `__repr__` that users wrote, else the key and the fields."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.keeps_live("types are never freed")


class Classes:
    def __init__(self, ffi: Any) -> None:
        @ffi.dataclass("test.reprs.Own")
        class Own:
            x: int
            next: Own | None = None

            def __repr__(self) -> str:
                return f"<Own é {self.x} {self.next!r}>"

        @ffi.dataclass("test.reprs.Inherits", repr=False)
        class Inherits(Own):
            y: int = 2

        @ffi.dataclass("test.reprs.Generated")
        class Generated(Own):
            y: int = 2

        @ffi.dataclass("test.reprs.Plain", repr=False)
        class Plain:
            x: int

        class Named(Generated):
            def __repr__(self) -> str:
                return "a name"

        self.Own, self.Inherits, self.Generated, self.Plain, self.Named = (
            Own,
            Inherits,
            Generated,
            Plain,
            Named,
        )


def test_reprs(ffi: Any) -> None:
    classes = Classes(ffi)
    show = ffi.get_global_func("anyffi.value.repr")
    own = classes.Own(1, classes.Own(2))
    for shown in (
        own,
        classes.Inherits(3),
        classes.Named(4),
        [own],
        {"k": (own,)},
        slice(own, None),
    ):
        assert show(shown) == repr(shown)
    assert show(own) == "<Own é 1 <Own é 2 None>>"
    # Also objects of a class with a subclass that defines it.
    assert show([classes.Generated(1)]) == "[test.reprs.Generated(x=1, next=None, y=2)]"
    assert show(classes.Plain(1)) == "test.reprs.Plain(x=1)"


def test_the_last_declaration_counts(ffi: Any) -> None:
    show = ffi.get_global_func("anyffi.value.repr")

    def declare(namespace: dict[str, Any]) -> Any:
        content = {"__annotations__": {"x": int}, "__module__": __name__, **namespace}
        return ffi.dataclass("test.reprs.Again")(type("Again", (), content))

    assert show(declare({"__repr__": lambda self: "mine"})(1)) == "mine"
    assert show(declare({})(1)) == "test.reprs.Again(x=1)"
    assert show(declare({"__repr__": lambda self: "again"})(1)) == "again"


def test_reprs_that_fail(ffi: Any) -> None:
    show = ffi.get_global_func("anyffi.value.repr")
    error = KeyError("mine")

    @ffi.dataclass("test.reprs.Failing")
    class Failing:
        result: Any

        def __repr__(self) -> str:
            if self.result is None:
                raise error
            return self.result  # type: ignore[no-any-return]

    for value in (Failing(None), [Failing(None)]):
        with pytest.raises(KeyError) as caught:
            show(value)
        assert caught.value is error
    # The words are the interpreter's.
    with pytest.raises(TypeError) as refused:
        repr(Failing(3))
    with pytest.raises(TypeError, match=re.escape(str(refused.value))):
        show(Failing(3))
    error.__traceback__ = None


def test_reprs_of_declarations_of_one_type(ffi: Any) -> None:
    show = ffi.get_global_func("anyffi.value.repr")

    def declare() -> Any:
        @ffi.dataclass("test.reprs.Declared")
        class Declared:
            x: int = 1

        return Declared

    class Derived(declare()):  # type: ignore[misc]
        def __repr__(self) -> str:
            return "derived"

    derived = Derived()
    assert show(derived) == "derived"
    assert show(declare()()) == "test.reprs.Declared(x=1)"
    assert show(derived) == "derived"


def test_endless_reprs(ffi: Any) -> None:
    show = ffi.get_global_func("anyffi.value.repr")
    own = Classes(ffi).Own(1)
    own.next = own
    with pytest.raises(RecursionError):
        show(own)
    own.next = None
