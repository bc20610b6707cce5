"""Standard containers that have a key are classes, which refer to the container of C++, beside those that convert."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/deque.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/list.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/unordered_map.h>
#include <anyffi/stl/unordered_set.h>
#include <anyffi/stl/vector.h>

using anyffi::arg;
namespace ops = anyffi::ops;

namespace held {
struct Point {
  int64_t x = 0;
};
using Points = std::vector<Point>;
using Names = std::map<std::string, int64_t>;
struct Cloud {
  Points points;
  Names names;
  std::vector<Points> groups;
  std::optional<Points> maybe;
  std::shared_ptr<Points> shared = std::make_shared<Points>();
  std::vector<int64_t> numbers;
};
}  // namespace held

ANYFFI_CLASS(held::Point, "held.Point").init<int64_t>(arg("x") = 0).field("x", &held::Point::x);
ANYFFI_TYPE_KEY(held::Points, "held.Points");
template <>
struct anyffi::FromValue<held::Points> {
  static held::Points from_value(const anyffi::Iterable<held::Point>& points) {
    held::Points made;
    for (const held::Point& point : points) made.push_back(point);
    return made;
  }
};
ANYFFI_BIND(held::Points)
    .init<>()
    .method("append", [](held::Points& points, const held::Point& point) { points.push_back(point); }, arg("point"))
    .op(ops::len)
    .op(ops::getitem, [](held::Points& points, size_t i) -> held::Point& { return points.at(i); }, arg("i"))
    .returns(anyffi::Returns::kReferenceInternal)
    .iterate_references([](held::Points& points) { return points.begin(); },
                        [](held::Points& points) { return points.end(); })
    .copyable();
ANYFFI_CLASS(held::Names, "held.Names")
    .init<>()
    .op(ops::len)
    .op(ops::setitem, [](held::Names& names, const std::string& k, int64_t v) { names[k] = v; }, arg("k"), arg("v"));
ANYFFI_CLASS(held::Cloud, "held.Cloud")
    .init<>()
    .field("points", &held::Cloud::points)
    .field("names", &held::Cloud::names)
    .field("groups", &held::Cloud::groups)
    .field("maybe", &held::Cloud::maybe)
    .field("shared", &held::Cloud::shared)
    .field("numbers", &held::Cloud::numbers);
ANYFFI_EXPORT(count, [](const held::Points& points) { return points.size(); }, arg("points"));
ANYFFI_EXPORT(grown, [](held::Points points) { return points.emplace_back(), points; }, arg("points"));
ANYFFI_EXPORT(pick, [](held::Points) { return "points"; }, arg("x"))
    .def([](const std::vector<int64_t>&) { return "numbers"; }, arg("x"))
    .def([](const std::map<int64_t, held::Points>&) { return "map"; }, arg("x"));
ANYFFI_EXPORT(call, [](const std::function<void(held::Points*)>& f) {
  held::Points points;
  f(&points);
  return points.size();
}, arg("f"));

template <class C>
bool describe(const char*) {
  anyffi::Class<C>().template init<>().op(ops::len);
  return true;
}
using D = std::deque<int64_t>;
using L = std::list<int64_t>;
using S = std::set<int64_t>;
using U = std::unordered_set<int64_t>;
using M = std::unordered_map<int64_t, int64_t>;
ANYFFI_TYPE_KEY(D, "held.D");
ANYFFI_TYPE_KEY(L, "held.L");
ANYFFI_TYPE_KEY(S, "held.S");
ANYFFI_TYPE_KEY(U, "held.U");
ANYFFI_TYPE_KEY(M, "held.M");
static const bool described = describe<D>("D") && describe<L>("L") && describe<S>("S") && describe<U>("U") &&
                              describe<M>("M");
"""


@pytest.fixture
def held(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("held.cc", SOURCE))


def test_a_field_refers_to_the_container(held: Any) -> None:
    cloud = held.Cloud()
    cloud.points.append(held.Point(3))
    cloud.points[0].x += 1
    cloud.names["a"] = 1
    cloud.shared.append(held.Point(1))
    assert [point.x for point in cloud.points] == [4]
    assert (len(cloud.names), len(cloud.shared), held.count(cloud.points)) == (1, 1, 1)
    cloud.groups = [cloud.points, [held.Point()] * 2]
    cloud.maybe = cloud.points
    cloud.numbers = range(2)
    cloud.points = [held.Point(i) for i in range(5)]
    assert ([len(group) for group in cloud.groups], len(cloud.maybe), cloud.numbers) == ([1, 2], 1, [0, 1])
    assert len(cloud.points) == 5


def test_copies(held: Any) -> None:
    points = held.Points()
    assert (len(held.grown(points)), len(copy.deepcopy(points)), len(points)) == (1, 0, 0)
    assert held.call(lambda points: points.append(held.Point())) == 1


def test_errors(held: Any) -> None:
    message = r"^count\(points: held\.Points\) -> int: argument 0 \(points\), at \[1\]: expected held\.Point, got int$"
    with pytest.raises(TypeError, match=message):
        held.count([held.Point(), 1])
    with pytest.raises(TypeError, match=r"^held\.Cloud\.names: expected held\.Names, got dict$"):
        held.Cloud().names = {"a": 1}


def test_overloads(held: Any) -> None:
    points = held.Points()
    assert [held.pick(points), held.pick([1]), held.pick([held.Point()]), held.pick({1: points})] == [
        "points",
        "numbers",
        "points",
        "map",
    ]


@pytest.mark.parametrize("name", ["D", "L", "S", "U", "M"])
def test_each_container(held: Any, name: str) -> None:
    assert len(getattr(held, name)()) == 0
