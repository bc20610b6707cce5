"""Containers of the runtime are read by the constructors and algorithms of the C++ standard library."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

#include <algorithm>
#include <numeric>

using anyffi::arg;
namespace algorithms {
struct Point {
  int64_t x = 0;
};
template <class C>
std::vector<int64_t> vector_of(const C& xs) {
  return std::vector<int64_t>(xs.begin(), xs.end());
}
}  // namespace algorithms

ANYFFI_CLASS(algorithms::Point, "algorithms.Point").init<int64_t>(arg("x"));
ANYFFI_EXPORT(of_array, &algorithms::vector_of<anyffi::Array<int64_t>>, arg("xs"));
ANYFFI_EXPORT(of_iterable, &algorithms::vector_of<anyffi::Iterable<int64_t>>, arg("xs"));
ANYFFI_EXPORT(of_list, &algorithms::vector_of<anyffi::List<int64_t>>, arg("xs"));
ANYFFI_EXPORT(of_set, &algorithms::vector_of<anyffi::Set<int64_t>>, arg("xs"));
ANYFFI_EXPORT(of_frozen_set, &algorithms::vector_of<anyffi::FrozenSet<int64_t>>, arg("xs"));
ANYFFI_EXPORT(of_shape, &algorithms::vector_of<anyffi::Shape>, arg("xs"));
ANYFFI_EXPORT(of_objects, [](const anyffi::Array<algorithms::Point>& points) {
  std::vector<algorithms::Point> copied(points.begin(), points.end());
  return std::accumulate(copied.begin(), copied.end(), int64_t{0},
                         [](int64_t sum, const algorithms::Point& point) { return sum + point.x; });
}, arg("points"));
ANYFFI_EXPORT(sum, [](const anyffi::List<double>& xs) { return std::accumulate(xs.begin(), xs.end(), 0.0); }, arg("xs"));
ANYFFI_EXPORT(find, [](const anyffi::Array<anyffi::String>& xs, const anyffi::String& x) {
  return std::distance(xs.begin(), std::find(xs.begin(), xs.end(), x));
}, arg("xs"), arg("x"));
ANYFFI_EXPORT(of_map, [](const anyffi::Map<anyffi::String, int64_t>& xs) {
  std::vector<int64_t> values;
  std::transform(xs.begin(), xs.end(), std::back_inserter(values), [](const auto& entry) { return entry.value; });
  return values;
}, arg("xs"));
"""


@pytest.fixture
def algorithms(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("algorithms.cc", SOURCE))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("of_array", (1, 2, 3)),
        ("of_iterable", [1, 2, 3]),
        ("of_list", [1, 2, 3]),
        ("of_set", {1, 2, 3}),
        ("of_frozen_set", frozenset({1, 2, 3})),
        ("of_shape", (1, 2, 3)),
        ("of_map", {"a": 1, "b": 2, "c": 3}),
    ],
)
def test_ranges(algorithms: Any, name: str, given: Any) -> None:
    assert getattr(algorithms, name)(given) == [1, 2, 3]
    assert getattr(algorithms, name)(type(given)()) == []


def test_algorithms(algorithms: Any) -> None:
    assert algorithms.sum([1.5, 2]) == 3.5
    assert algorithms.find(("a", "b"), "b") == 1
    assert algorithms.find((), "b") == 0
    assert algorithms.of_objects([algorithms.Point(2), algorithms.Point(3)]) == 5
