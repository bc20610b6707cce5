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
#include <anyffi/stl/tuple.h>
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
// The elements before x, and whether the position of x is the first one or the end.
template <class C>
std::tuple<std::vector<int64_t>, int64_t, bool, bool> find_in(const C& xs, int64_t x) {
  auto found = std::find(xs.begin(), xs.end(), x);
  return {std::vector<int64_t>(xs.begin(), found), std::distance(xs.begin(), found), found == xs.begin(),
          xs.end() == found};
}
ANYFFI_EXPORT(find_in_array, &find_in<anyffi::Array<int64_t>>, arg("xs"), arg("x"));
ANYFFI_EXPORT(find_in_list, &find_in<anyffi::List<int64_t>>, arg("xs"), arg("x"));
ANYFFI_EXPORT(find_in_set, &find_in<anyffi::Set<int64_t>>, arg("xs"), arg("x"));
ANYFFI_EXPORT(find_key, [](const anyffi::Dict<anyffi::String, int64_t>& xs, const anyffi::String& key) {
  auto found = std::find_if(xs.begin(), xs.end(), [&](const auto& entry) { return entry.key == key; });
  auto next = found;
  auto former = found == xs.end() ? next : next++;
  return std::tuple(std::distance(xs.begin(), found), former == found, next == found, xs.end() != found);
}, arg("xs"), arg("key"));
ANYFFI_EXPORT(growing, [](anyffi::List<int64_t> xs) {
  int64_t seen = 0;
  for (int64_t x : xs) {
    if (x > 0) xs.push_back(x - 1);
    ++seen;
  }
  return seen;
}, arg("xs"));
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
    assert algorithms.of_objects([algorithms.Point(2), algorithms.Point(3)]) == 5


@pytest.mark.parametrize("kind", ["array", "list", "set"])
def test_positions(ffi: Any, algorithms: Any, kind: str) -> None:
    find = getattr(algorithms, f"find_in_{kind}")
    xs = {"array": ffi.Array, "list": ffi.List, "set": ffi.Set}[kind]([10, 20, 30])
    assert find(xs, 10) == ([], 0, True, False)
    assert find(xs, 20) == ([10], 1, False, False)
    assert find(xs, 40) == ([10, 20, 30], 3, False, True)
    assert find(type(xs)(), 40) == ([], 0, True, True)


def test_positions_of_keys(algorithms: Any) -> None:
    xs = {"a": 1, "b": 2, "c": 3}
    assert algorithms.find_key(xs, "a") == (0, True, False, True)
    assert algorithms.find_key(xs, "c") == (2, True, False, True)
    assert algorithms.find_key(xs, "d") == (3, True, True, False)


def test_a_list_that_grows(ffi: Any, algorithms: Any) -> None:
    assert algorithms.growing(ffi.List([3, 1])) == 6
