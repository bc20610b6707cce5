"""Declarations of dataclasses make a whole type or none; refused ones leave nothing behind."""

# ruff: noqa: UP006

from __future__ import annotations

import gc
import typing
import weakref
from typing import Any, Callable

import anyffi.testing
import pytest
from anyffi._rules.codes import code
from c_abi import c, lib
from support import CPYTHON, collect

pytestmark = pytest.mark.skipif(not CPYTHON, reason="counts blocks of memory")

LONG = "a docstring that is too long for the memory of a string itself"


class Opaque:
    """A class of fields: the type of such a field keeps a Python function that checks its values."""


def make_class(**annotations: Any) -> type:
    return type("Made", (), {"__annotations__": annotations, "__module__": __name__, "__doc__": LONG})


def find_type(key: str) -> Any:
    return lib.anyffi_type_find(key.encode())


def count_types() -> int:
    return int(lib.anyffi_type_list(c.NULL, 0))


#: Why it is refused, the key, and descriptions of fields.
REFUSED: list[tuple[str, str, list[Any]]] = [
    ("a key of the runtime", "Array", [("int",), ("List", ("self",))]),
    ("a key of a library", "testing.Counted", [("Tensor",), ("literal", LONG, 5)]),
    (
        "no such description",
        "test.refused",
        [("int",), ("tuple", ("int",), ("Dict", ("str",), ("nonsense",)))],
    ),
    ("too few parts", "test.refused", [("List", ("int",)), ("Dict", ("str",))]),
    ("no such type", "test.refused", [("literal", LONG), ("object", 10**6)]),
    ("not a description", "test.refused", [("union", ("int",), ("None",)), 5]),
]


@pytest.mark.parametrize(("key", "described"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused_declarations_leak_nothing(ffi: Any, key: str, described: list[Any]) -> None:
    declare = ffi.get_global_func("anyffi.record.declare")
    rows = [(f"field{i}", LONG, x) for i, x in enumerate(described)]
    before = find_type(key)
    for _ in range(3):
        with pytest.raises((TypeError, ValueError)):
            declare(key, LONG, code.OBJECT, rows)
    assert find_type(key) == before


def test_parents_without_fields_are_refused_without_a_leak(ffi: Any) -> None:
    declare = ffi.get_global_func("anyffi.record.declare")
    for _ in range(3):
        with pytest.raises(ValueError, match="not the type of a record"):
            declare("test.refused", LONG, code.LIST, [("x", LONG, ("int",))])


def test_descriptions_leak_nothing(ffi: Any) -> None:
    describe = ffi.get_global_func("anyffi.record.describe")
    for _ in range(10):
        assert describe("test.Node", ("List", ("tuple", ("self",), ("literal", LONG)))).startswith(
            "List[tuple["
        )
        with pytest.raises(ValueError, match="no type of fields is described by"):
            describe("test.Node", ("List", ("tuple", ("self",), ("nonsense",))))


def test_refused_dataclasses_keep_no_class_alive(ffi: Any) -> None:
    """The type of a field refers to the class that decides which values it accepts."""

    def refuse() -> weakref.ref[type]:
        own = type("Own", (Opaque,), {})
        with pytest.raises(ValueError, match="type key 'Array' is reserved for the runtime"):
            ffi.dataclass("Array")(make_class(own=own, names=typing.List[str]))
        return weakref.ref(own)

    found = refuse()
    collect(until=lambda: found() is None)
    assert found() is None


@pytest.mark.keeps_live("types are never freed")
def test_classes_that_are_declared_anew_are_collected(ffi: Any) -> None:
    def declare() -> weakref.ref[type]:
        cls = ffi.dataclass("test.anew")(make_class(x=int, y=typing.List[int]))
        assert cls(1, y=[2]).y == [2]
        return weakref.ref(cls)

    found = declare()
    collect()
    assert found() is not None  # arriving objects get this class
    declare()
    collect(until=lambda: found() is None)
    assert found() is None


@pytest.mark.keeps_live("types are never freed")
def test_fields_that_change_their_type_leak_nothing(ffi: Any) -> None:
    base = ffi.dataclass("test.kept")(
        make_class(x=typing.List[int], y=typing.Literal["a", "a long choice among others"])
    )

    def refuse() -> None:
        with pytest.raises(TypeError, match="a field keeps its type"):
            ffi.dataclass(type("Changed", (base,), {"__annotations__": {"y": typing.Literal["a", LONG]}}))

    refuse()
    collect()
    before = anyffi.testing.live_blocks()
    for _ in range(5):
        refuse()
    collect(until=lambda: anyffi.testing.live_blocks() == before)
    assert anyffi.testing.live_blocks() == before


def fail_each(ffi: Any, run: Callable[[], Any], settled: Callable[[], None]) -> Any:
    """Let each allocation of the runtime fail in turn; return the result of the run that succeeds."""
    fail = ffi.get_global_func("testing.fail_allocation")
    for count in range(2000):
        fail(count)
        try:
            return run()
        except MemoryError:
            pass
        finally:
            fail(-1)
        settled()
    raise AssertionError("never succeeds")


@pytest.mark.unrecorded("each backend has allocations of its own")
@pytest.mark.keeps_live("types are never freed")
@pytest.mark.parametrize("last", ["str", "Tensor"], ids=["whole at once", "with drafts"])
def test_a_declaration_without_memory_declares_nothing(ffi: Any, last: str) -> None:
    declare = ffi.get_global_func("anyffi.record.declare")
    key = f"test.{ffi.ffi_mode}.{last}"
    described = [("int",), ("List", ("self",)), ("literal", LONG, 5), (last,)]
    rows = ffi.convert([(f"field{i}", LONG, x) for i, x in enumerate(described)])
    failed = []
    num_types = count_types()

    def require_all_or_nothing() -> None:
        failed.append(1)
        found = find_type(key)
        # Python code may fail after the type is declared.
        if found == c.NULL:
            assert count_types() == num_types
            assert find_type(key + " (not initialized)") == c.NULL
        else:
            assert found.num_fields == 4
            assert found.record != c.NULL
            assert (find_type(key + " (not initialized)") != c.NULL) == (last == "Tensor")

    type_code, draft_code = fail_each(
        ffi, lambda: declare(key, LONG, code.OBJECT, rows), require_all_or_nothing
    )
    assert len(failed) > 20
    assert find_type(key).type_code == type_code
    assert (draft_code == type_code) == (last == "str")


@pytest.mark.unrecorded("each backend has allocations of its own")
@pytest.mark.keeps_live("types are never freed")
def test_a_dataclass_can_be_declared_after_memory_ended(ffi: Any) -> None:
    key = f"test.{ffi.ffi_mode}.Late"

    def declare() -> Any:
        return ffi.dataclass(key)(make_class(x=int, names=typing.List[str]))

    def require_all_or_nothing() -> None:
        gc.collect()
        found = find_type(key)
        assert found == c.NULL or found.num_fields == 2

    cls = fail_each(ffi, declare, require_all_or_nothing)
    made = cls(5, ["a"])
    assert (made.x, list(made.names)) == (5, ["a"])
    assert type(ffi.List([made])[0]) is cls
