"""Copies that fail after a part of a cycle was made leave nothing behind."""

from __future__ import annotations

import gc
from typing import Any, Callable

import pytest
from support import Build, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]

SOURCE = """
#include <anyffi/anyffi.h>

namespace failing_copies {
struct Refusing {
  Refusing() = default;
  Refusing(const Refusing&) { throw anyffi::Error("ValueError", "not copied"); }
};
struct Copied {
  anyffi::AnyValue next, other;
};
struct Made {
  anyffi::AnyValue next, other;
};
}  // namespace failing_copies

ANYFFI_CLASS(failing_copies::Refusing, "failing_copies.Refusing").init<>().copyable();
ANYFFI_CLASS(failing_copies::Copied, "failing_copies.Copied")
    .init<>()
    .field("next", &failing_copies::Copied::next)
    .field("other", &failing_copies::Copied::other)
    .copyable();
ANYFFI_CLASS(failing_copies::Made, "failing_copies.Made")
    .init<>()
    .field("next", &failing_copies::Made::next)
    .field("other", &failing_copies::Made::other);
"""


def own_cycle(make: Callable[[], Any]) -> list[Any]:
    """Make an object that refers to a cycle; its next field is for an object that cannot be copied."""
    first, second, third = make(), make(), make()
    second.next, third.next, first.next = third, second, second
    return [first, second, third]


def cycle_with_root(make: Callable[[], Any]) -> list[Any]:
    first, second = make(), make()
    first.next, second.next, second.other = second, first, second
    return [first, second]


@pytest.mark.parametrize("shape", [own_cycle, cycle_with_root])
@pytest.mark.parametrize("kind", ["copied", "made", "dataclass"])
def test_cycles_of_objects(ffi: Any, build: Build, kind: str, shape: Callable[..., list[Any]]) -> None:
    import anyffi.testing

    module = ffi.load_module(build("failing_copies.cc", SOURCE))

    @ffi.dataclass("failing_copies.Link")
    class Link:
        next: object = None
        other: object = None

    make = {"copied": module.Copied, "made": module.Made, "dataclass": Link}[kind]
    for number in range(3):
        objects = shape(make)
        objects[0].other = module.Refusing()
        gc.collect()
        before = anyffi.testing.live_blocks()
        with pytest.raises(ValueError, match="not copied"):
            ffi.copy(objects[0])
        gc.collect()
        # The first copy also allocates some tables.
        assert number == 0 or anyffi.testing.live_blocks() == before
        # The originals are as they were.
        assert objects[0].next.same_as(objects[1])
        for each in objects:
            each.next = each.other = None
