"""Features of bindings combined: operators of containers, references after pointers, failing attributes."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, collect, compiles_classes

pytestmark = compiles_classes

SCENE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
#include <stdexcept>

namespace ops = anyffi::ops;

struct Point {};
struct Node {
  int x = 7;
  Node* next = nullptr;
  Node() {}
  Node(const Node&) = delete;
  // Volatile, so that the compiler keeps the write: a later read of freed memory sees it.
  virtual ~Node() { *const_cast<volatile int*>(&x) = -99; }
};
struct NodeIterator {
  Node* node;
  Node& operator*() const { return *node; }
  NodeIterator& operator++() { return node = node->next, *this; }
  bool operator!=(const NodeIterator& other) const { return node != other.node; }
  bool operator==(const NodeIterator& other) const { return node == other.node; }
};
struct Scene {
  Node first, second;
  Scene() { first.next = &second, second.x = 8; }
  void visit(const std::function<void(Node*)>& visitor) { visitor(&first), visitor(&second); }
};
enum class Code { kOne = 1, kOther };
struct Failure {
  Code code;
};

ANYFFI_CLASS(Point, "stage.Point")
    .init<>()
    .op(ops::mul, [](const Point&, std::vector<double> v) { return v.at(0); })
    .op(ops::eq, [](const Point&, std::map<std::string, int> v) { return v.size() == 1; })
    .op(ops::radd, [](const Point&, std::optional<std::vector<int>> v) { return v ? v->size() : 0; })
    .method("scaled", [](const Point&, std::vector<double> v) { return v.size(); });
ANYFFI_CLASS(Node, "stage.Node").field("x", &Node::x);
ANYFFI_CLASS(Scene, "stage.Scene")
    .init<>()
    .field("first", &Scene::first)
    .method("visit", &Scene::visit)
    .iterate_references([](Scene& s) { return NodeIterator{&s.first}; }, [](Scene&) { return NodeIterator{nullptr}; });
ANYFFI_ENUM(Code, "stage.Code").value("ONE", Code::kOne);
ANYFFI_EXCEPTION(Failure, "stage.Failure", "ValueError")
    .text([](const Failure&) { return "no such node"; })
    .attribute("code", &Failure::code)
    .attribute("worse", [](const Failure&) -> int { throw std::runtime_error("reading fails"); })
    .attribute("good", [](const Failure&) { return 5; });
ANYFFI_EXPORT(fail, []() -> void { throw Failure{Code::kOther}; });
"""


@pytest.fixture
def scene(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("stage.cc", SCENE))


def test_operators_of_containers(scene: Any) -> None:
    point = scene.Point()
    assert (point * [1, 2], point * (2.5,), point.__mul__([3]), scene.Point.__mul__(point, [4])) == (
        1,
        2.5,
        3,
        4,
    )
    assert (point == {"a": 1}, point == {"a": 1, "b": 2}, point != {"a": 1}, point == [1]) == (
        True,
        False,
        False,
        False,
    )
    assert ([1, 2] + point, None + point, point.scaled([1, 2])) == (2, 0, 2)
    for other in ([1.0, "x"], 5, {1: 2}):
        with pytest.raises(TypeError, match="unsupported operand|can't multiply sequence"):
            point * other
    with pytest.raises(IndexError):
        point * []


def test_references_to_an_object_seen_by_pointer_before(scene: Any) -> None:
    """A field keeps its owner alive, even if a callback got the object before, when nothing kept it alive."""
    whole, seen = scene.Scene(), []
    whole.visit(seen.append)
    first = whole.first
    assert first is seen[0]
    del whole, seen
    collect()
    assert first.x == 7
    nodes = list(scene.Scene())
    collect()
    assert [node.x for node in nodes] == [7, 8]


def test_attributes_that_cannot_be_read(scene: Any) -> None:
    with pytest.raises(scene.Failure, match="no such node") as raised:
        scene.fail()
    assert (raised.value.code, raised.value.worse, raised.value.good) == (None, None, 5)
