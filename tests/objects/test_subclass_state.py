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
