"""Objects that are replaced, or given to C++, by code that runs while other values are converted or called."""

from __future__ import annotations

from typing import Any

import pytest
from support import CPYTHON, Build, collect, compiles_classes, cpython_only

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/vector.h>

namespace changing {
int64_t live = 0;
struct Box {
  int64_t x = 0;
  std::vector<int64_t> xs = {1, 2, 3};
  explicit Box(int64_t x = 0) : x(x) { ++live; }
  Box(const Box& other) : x(other.x), xs(other.xs) { ++live; }
  ~Box() { --live; x = -1; }
  int64_t add(const std::vector<int64_t>& more) {
    xs.insert(xs.end(), more.begin(), more.end());
    return x;
  }
  int64_t visit(const std::function<void()>& f) {
    f();
    xs.push_back(4);
    return x;
  }
};
struct Other {};
}  // namespace changing

ANYFFI_CLASS(changing::Box, "changing.Box")
    .init<int64_t>(anyffi::arg("x") = 0)
    .field("x", &changing::Box::x)
    .method("add", &changing::Box::add, anyffi::arg("more"))
    .method("visit", &changing::Box::visit, anyffi::arg("f"))
    .pickle([](const changing::Box& b) { return b.x; }, [](int64_t x) { return changing::Box(x); });
ANYFFI_CLASS(changing::Other, "changing.Other").init<>();
ANYFFI_EXPORT(take, [](std::unique_ptr<changing::Box> box) { return box->x; }, anyffi::arg("box"));
ANYFFI_EXPORT(use, [](const changing::Box& box, int64_t x, const std::vector<int64_t>& xs) {
  return box.x + x + static_cast<int64_t>(xs.size());
}, anyffi::arg("box"), anyffi::arg("x") = 0, anyffi::arg("xs") = std::vector<int64_t>());
ANYFFI_EXPORT(use_last, [](int64_t x, const changing::Box& box) { return box.x + x; });
ANYFFI_EXPORT(use_all, [](anyffi::List<> boxes, int64_t x) { return boxes.size() + x; });
ANYFFI_EXPORT(make, [](int64_t x) { return changing::Box(x); });
ANYFFI_EXPORT(live, [] { return changing::live; });
"""


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("changing.cc", SOURCE))


class Index:
    """A number that runs a function when it is converted."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.calls = 0

    def __index__(self) -> int:
        self.calls += 1
        self.run()
        return 7


CALLS = {
    "field": lambda lib, box, h: setattr(box, "x", h),
    "argument": lambda lib, box, h: lib.use(box, h),
    "keyword": lambda lib, box, h: lib.use(x=h, box=box),
    "element": lambda lib, box, h: lib.use(box, 1, [1, h]),
    "keyword and element": lambda lib, box, h: lib.use(xs=(h,), box=box),
    "method": lambda lib, box, h: box.add([h]),
    "last": lambda lib, box, h: lib.use_last(h, box),
}


@cpython_only("PyPy refers to an object more than once, so that none can be moved to C++")
@pytest.mark.parametrize("call", CALLS)
def test_objects_that_are_given_away_meanwhile(lib: Any, call: str) -> None:
    box = lib.Box(5)
    index = Index(lambda: lib.take(box))
    with pytest.raises(ValueError, match="this Box is empty") as caught:
        CALLS[call](lib, box, index)
    assert index.calls == 1
    # The message is compared between the modes.
    assert str(caught.value)
    assert lib.live() == 0


def test_objects_that_are_replaced_meanwhile(lib: Any) -> None:
    for call, expected in (("field", None), ("argument", 16), ("element", 12), ("method", 9), ("last", 16)):
        box = lib.Box(5)
        index = Index(lambda box=box: lib.Box.__setstate__(box, 9))
        assert CALLS[call](lib, box, index) == expected
        assert (box.x, index.calls) == (7 if call == "field" else 9, 1)
        del box, index


def test_addresses_of_former_objects(lib: Any) -> None:
    """A new object at such an address is not taken for one whose wrapper was emptied or got another object."""
    boxes = [lib.Box(i) for i in range(50)]
    replaced = [lib.make(i) for i in range(50)]
    for each in replaced:
        lib.Box.__setstate__(each, 9)
    if CPYTHON:
        for box in boxes:
            lib.take(box)
    collect()
    others = [lib.make(i) for i in range(200)]
    assert [other.x for other in others] == [*range(200)]
    assert len({id(each) for each in boxes + replaced + others}) == 300
    assert {each.x for each in replaced} == {9}


@cpython_only("PyPy refers to an object more than once, so that none can be moved to C++")
def test_a_class_with_names_of_ours_is_emptied(lib: Any) -> None:
    class Mine(lib.Box):  # type: ignore[misc, name-defined]
        def _release(self) -> None:
            raise AssertionError

    mine = Mine(5)
    assert lib.take(mine) == 5
    with pytest.raises(ValueError, match="this Mine is empty"):
        mine.x


def test_objects_in_earlier_arguments(lib: Any) -> None:
    """The list of an earlier argument refers to them, so that C++ cannot take them meanwhile."""
    for _ in range(3):
        box = lib.Box(5)
        for boxes in ([box], [box, box]):
            with pytest.raises(ValueError, match="other objects refer to this object"):
                lib.use_all(boxes, Index(lambda box=box: lib.take(box)))
            assert box.x == 5


def test_an_object_that_is_replaced_while_a_method_runs(lib: Any) -> None:
    box = lib.Box(5)
    assert box.visit(lambda: lib.Box.__setstate__(box, 9)) == 5
    assert box.x == 9


def test_state_of_other_objects(ffi: Any, lib: Any) -> None:
    class Mine(lib.Box):  # type: ignore[misc, name-defined]
        pass

    mine = Mine(1)
    lib.Box.__setstate__(mine, 3)
    assert (mine.x, type(mine)) == (3, Mine)
    for other in (ffi.List([1]), lib.Other(), lib.use, 5):
        with pytest.raises(
            TypeError, match="descriptor '__setstate__' requires a 'changing.Box' object but received"
        ):
            lib.Box.__setstate__(other, 3)


def test_repr_of_an_object_that_is_replaced_meanwhile(lib: Any) -> None:
    class Mine(lib.Box):  # type: ignore[misc, name-defined]
        @property
        def x(self) -> int:
            lib.Box.__setstate__(self, 3)
            return 1

    mine = Mine(0)
    assert repr(mine).endswith("Mine(x=1)")
    assert [repr(lib.Box(i)) for i in range(4)] == [f"changing.Box(x={i})" for i in range(4)]
