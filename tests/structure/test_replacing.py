"""`structure.replace` for objects: by their constructors, or by what `pickle()` stores."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support import Build, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/vector.h>

using anyffi::AnyValue;
using anyffi::arg;

namespace replacing {
struct Two {
  AnyValue a, b;
};
struct Part {
  std::vector<int64_t> counts;
  int64_t unsaved = 0;
};
struct Fixed {
  const int64_t number;
  int64_t other;
};
struct Row {
  std::vector<int64_t> cells;
};
struct Kept {
  int64_t a, b;
};
}  // namespace replacing
using namespace replacing;

ANYFFI_CLASS(Two, "replacing.Two")
    .init([](AnyValue first, AnyValue second) { return Two{first, second}; }, arg("first"), arg("second"))
    .field("a", &Two::a)
    .field("b", &Two::b)
    .pickle([](const Two& two) { return anyffi::Array<>{two.a, two.b}; },
            [](const anyffi::Array<>& state) { return Two{state[0], state[1]}; });
ANYFFI_CLASS(Part, "replacing.Part")
    .init([](std::vector<int64_t> all) { return Part{all, 5}; }, arg("all"))
    .field("counts", &Part::counts)
    .field("unsaved", &Part::unsaved)
    .pickle([](const Part& part) { return part.counts; },
            [](std::vector<int64_t> counts) { return Part{counts}; });
ANYFFI_CLASS(Fixed, "replacing.Fixed")
    .init([](int64_t n) { return Fixed{n, 0}; }, arg("n"))
    .field("number", &Fixed::number)
    .field("other", &Fixed::other)
    .pickle([](const Fixed& fixed) { return fixed.number; }, [](int64_t n) { return Fixed{n, 0}; });
ANYFFI_CLASS(Row, "replacing.Row").init<std::vector<int64_t>>(arg("cells")).field("cells", &Row::cells);
ANYFFI_CLASS(Kept, "replacing.Kept").init<int64_t, int64_t>(arg("a"), arg("b"))
    .pickle([](const Kept& kept) { return anyffi::Array<int64_t>{kept.a, kept.b}; },
            [](const anyffi::Array<int64_t>& state) { return Kept{state[0], state[1]}; });
"""


@pytest.fixture
def replacing(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("replacing.cc", SOURCE))


def path(*steps: tuple[str, Any]) -> Any:
    import anyffi.structure

    return anyffi.structure.AccessPath(steps)


def test_a_path_to_a_difference_leads_to_what_replaces_it(ffi: Any, replacing: Any) -> None:
    """Even if the constructor does not take the fields, or containers are those of the standard library."""
    for make, a, b, shown in (
        (lambda x: replacing.Two(x, 5), 1, [1, 2], ".a"),
        (lambda x: replacing.Two(5, x), 1, 2, ".b"),
        (lambda x: replacing.Two(replacing.Two(1, x), 5), 1, 2, ".a.b"),
        (lambda x: ffi.List([{"k": replacing.Two([1, x], 5)}]), 1, 2, '[0]["k"].a[1]'),
        (lambda x: replacing.Part([1, x]), 1, 2, ".counts[1]"),
        (lambda x: replacing.Row([1, x]), 1, 2, ".cells[1]"),
        (lambda x: replacing.Kept(1, x), 1, 2, ".__getstate__()[1]"),
    ):
        left, right, again = make(a), make(b), make(a)
        found = ffi.first_mismatch(left, right)
        assert str(found) == shown
        made = ffi.replace(left, found.path, found.right)
        assert type(made) is type(left)
        assert ffi.structural_equal(made, right)
        assert ffi.structural_equal(left, again)


def test_fields_that_are_not_stored_keep_their_values(ffi: Any, replacing: Any) -> None:
    part = replacing.Part([1])
    made = ffi.replace(part, path(("field", "counts")), [2, 3])
    assert (made.counts, made.unsaved, part.counts) == ([2, 3], 5, [1])
    made = ffi.replace(part, path(("field", "unsaved")), 7)
    assert (made.counts, made.unsaved, part.unsaved) == ([1], 7, 5)


def test_what_is_stored_can_be_replaced_as_a_whole(ffi: Any, replacing: Any) -> None:
    state = path(("field", "__getstate__()"))
    made = ffi.replace(replacing.Two(1, 2), state, ffi.Array([3, 4]))
    assert (made.a, made.b) == (3, 4)
    ((step, part),) = ffi.children(made)
    assert ffi.to_python(ffi.replace(made, path(step), part).a) == 3
    assert ffi.replace(replacing.Kept(1, 2), state, ffi.Array([5, 6])).__getstate__() == (5, 6)


def test_what_cannot_be_replaced_says_why(ffi: Any, replacing: Any) -> None:
    fixed = replacing.Fixed(1)
    assert ffi.replace(fixed, path(("field", "other")), 3).other == 3
    with pytest.raises(
        TypeError,
        match=r"objects of 'replacing\.Fixed' cannot be made of their fields: 'number' is read-only; describe",
    ):
        ffi.replace(fixed, path(("field", "number")), 2)
    with pytest.raises(TypeError, match=r"replacing\.Part\.unsaved: expected int, got str"):
        ffi.replace(replacing.Part([1]), path(("field", "unsaved")), "x")
    with pytest.raises(AttributeError, match="nothing"):
        ffi.replace(fixed, path(("field", "nothing")), 2)


def test_what_can_be_read_but_is_no_part(ffi: Any) -> None:
    import anyffi

    for value, name, message in (
        (slice(1, 2), "indices", "a slice has no part 'indices'"),
        (5, "real", "'Int' has no field real"),
        (anyffi.dtype("int8"), "bits", "'DataType' has no field bits"),
    ):
        with pytest.raises(AttributeError, match=message):
            ffi.replace(value, path(("field", name)), 1)


def test_keys_that_equal_nothing_in_python(ffi: Any) -> None:
    """Containers find a NaN, and so does the path to what differs."""
    for key in (math.nan, (math.nan, 1), complex(math.nan, 1)):
        one, other = {0: 0, key: [1]}, {0: 0, key: [2]}
        found = ffi.first_mismatch(one, other).path
        assert ffi.structural_equal(ffi.replace(one, found, 2), other)
        assert ffi.structural_equal(ffi.replace({0, key}, path(("element", key)), 2), {0, 2})
    with pytest.raises(KeyError):
        ffi.replace({0, 1}, path(("element", math.nan)), 2)
