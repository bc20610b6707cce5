"""Copies and pickles of objects of Python's subclasses of C++ classes: what the subclasses add to them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>

namespace state {
struct Both {
  int64_t v = 1;
};
struct Copied {
  int64_t v = 1;
};
}  // namespace state

ANYFFI_CLASS(state::Both, "state.Both").init<>().field("v", &state::Both::v).copyable()
    .pickle([](const state::Both& x) { return x.v; }, [](int64_t v) { return state::Both{v}; });
ANYFFI_CLASS(state::Copied, "state.Copied").init<>().field("v", &state::Copied::v).copyable();
"""


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("state.cc", SOURCE))


def found_by_pickle(cls: type) -> Any:
    cls.__qualname__ = cls.__name__
    globals()[cls.__name__] = cls
    return cls


def copies_of(x: Any) -> list[Any]:
    """Return a plain copy, a deep one, and one by each protocol of pickle."""
    pickled = [pickle.dumps(x, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [copy.copy(x), copy.deepcopy(x), *map(pickle.loads, pickled)]


def test_slots(lib: Any) -> None:
    class Slotted(lib.Both):  # type: ignore[misc, name-defined]
        __slots__ = ("__private", "items", "unset")

        def set_private(self, value: int) -> None:
            self.__private = value

        def get_private(self) -> int:
            return self.__private

    x = found_by_pickle(Slotted)()
    x.v, x.items = 5, ["mine"]
    x.set_private(7)
    for i, made in enumerate(copies_of(x)):
        assert (type(made), made.v, made.items, made.get_private()) == (Slotted, 5, ["mine"], 7)
        assert not hasattr(made, "unset")
        assert (made.items is x.items) == (i == 0)


def test_slots_beside_attributes(lib: Any) -> None:
    class Base(lib.Both):  # type: ignore[misc, name-defined]
        __slots__ = "name"

    class Mixed(Base):
        pass

    x = found_by_pickle(Mixed)()
    x.name, x.extra, x.itself = "a", "b", x
    for made in copies_of(x)[1:]:
        assert (made.name, made.extra, made.itself is made) == ("a", "b", True)


def test_slots_of_classes_that_are_copied_only(lib: Any) -> None:
    class Slotted(lib.Copied):  # type: ignore[misc, name-defined]
        __slots__ = ("items",)

    x = Slotted()
    x.items = [3]
    assert copy.copy(x).items is x.items
    assert copy.deepcopy(x).items == [3]


def test_a_pair_for_the_attributes(lib: Any) -> None:
    """As for other Python classes: the pair describes the attributes, without the content in C++."""

    class Locked(lib.Both):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            # Stands for a lock: it cannot be pickled, and is not part of the state.
            self.lock = (x for x in ())
            self.name = "a"

        def __getstate__(self) -> dict[str, Any]:
            return {"name": self.name}

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)
            self.lock = self.v

    class Half(lib.Both):  # type: ignore[misc, name-defined]
        def __getstate__(self) -> dict[str, Any]:
            return {"name": self.name}

    x = found_by_pickle(Locked)()
    x.v = 6
    for made in copies_of(x):
        assert (type(made), made.v, made.name, made.lock) == (Locked, 6, "a", 6)
    x = found_by_pickle(Half)()
    x.v, x.name, x.other = 7, "b", "c"
    for made in copies_of(x):
        assert (made.v, made.name, hasattr(made, "other")) == (7, "b", False)


def test_a_pair_that_calls_that_of_the_base(lib: Any) -> None:
    """As users of pybind11 and nanobind write it: such a pair may change the state that C++ gets."""

    class Adding(lib.Both):  # type: ignore[misc, name-defined]
        def __getstate__(self) -> tuple[int, Any]:
            return super().__getstate__() + 1, self.name

        def __setstate__(self, state: tuple[int, Any]) -> None:
            super().__setstate__(state[0])
            self.name = state[1]

    class Below(Adding):
        pass

    for cls in map(found_by_pickle, (Adding, Below)):
        x = cls()
        x.v, x.name = 6, ["a"]
        for i, made in enumerate(copies_of(x)):
            assert (type(made), made.v, made.name, x.v) == (cls, 7, ["a"], 6)
            assert (made.name is x.name) == (i == 0)


def test_a_pair_where_cpp_copies(lib: Any) -> None:
    class Paired(lib.Copied):  # type: ignore[misc, name-defined]
        def __getstate__(self) -> str:
            return "state"

        def __setstate__(self, state: str) -> None:
            self.given = state

    x = Paired()
    x.v = 8
    for made in (copy.copy(x), copy.deepcopy(x)):
        assert (made.v, made.given) == (8, "state")


def test_state_that_nothing_restores(lib: Any) -> None:
    class Lost(lib.Both):  # type: ignore[misc, name-defined]
        def __getstate__(self) -> list[int]:
            return [1]

    message = r"Lost\.__getstate__ returned list: without a __setstate__ in Python it returns the attributes, a dict"
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=message):
            make(Lost())


def test_without_a_pair_there_is_no_setter(lib: Any) -> None:
    """Else pickle would call it for the attributes."""
    with pytest.raises(AttributeError, match="'Both' object has no attribute '__setstate__'"):
        lib.Both().__setstate__(5)


def test_overrides_of_a_restored_object(ffi: Any, build: Build) -> None:
    from derived_sources import DERIVED

    lib = ffi.load_module(build("derived.cc", DERIVED))

    class Restored(lib.Shape):  # type: ignore[misc, name-defined]
        def area(self) -> int:
            return 2 * int(super().area())

        def __getstate__(self) -> Any:
            return super().__getstate__()

        def __setstate__(self, state: Any) -> None:
            super().__setstate__(state)

    x = found_by_pickle(Restored)("a", 3)
    for made in copies_of(x):
        assert (lib.area_of(made), made.size) == (18, 3)
    lib.forget()


def test_objects_that_are_not_initialized(lib: Any) -> None:
    class Empty(lib.Both):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

    class Uncopied(lib.Copied):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

    for make, x in (
        (copy.copy, Empty()),
        (copy.deepcopy, Empty()),
        (pickle.dumps, found_by_pickle(Empty)()),
        (copy.copy, Uncopied()),
        (copy.deepcopy, Uncopied()),
    ):
        with pytest.raises(ValueError, match=f"this {type(x).__name__} is empty: __init__ was not called"):
            make(x)
