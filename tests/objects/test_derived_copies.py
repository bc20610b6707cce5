"""Results that refer to a base: copies have the object's class, and Python knows one of several bases."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from support import CPYTHON, Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>

#include <memory>
#include <string>

namespace scene {
struct Node {
  virtual ~Node() = default;
  virtual std::string text() const { return "node"; }
  int64_t id = 1;
};
struct Leaf : Node {
  std::string text() const override { return "leaf " + std::to_string(size); }
  int64_t size = 2;
};
struct Single : Node {};
struct Hidden : Node {
  std::string text() const override { return "hidden"; }
};
struct Filler {
  virtual ~Filler() = default;
  int64_t filler = 8;
};
/// Python knows only its base, which lies behind another one.
struct HiddenLeaf : Filler, Leaf {
  std::string text() const override { return "hidden " + Leaf::text(); }
};
struct HiddenSingle : Single {};
/// Python does not know that it is a node.
struct Apart : Node {};
struct HiddenApart : Apart {};
struct Abstract {
  virtual ~Abstract() = default;
  virtual int64_t area() const = 0;
};
struct Square : Abstract {
  int64_t area() const override { return side * side; }
  int64_t side = 3;
};
struct HiddenSquare : Square {};
struct Circle : Abstract {
  int64_t area() const override { return 1; }
};
/// Has two nodes.
struct HiddenTwice : Leaf, Single {
  HiddenTwice() { Leaf::id = 10, Single::id = 20; }
};
/// Its base in Python is Node.
struct Both : Node, Square {
  int64_t own = 5;
};

Leaf leaf;
Single single;
Hidden hidden;
HiddenLeaf hidden_leaf;
HiddenSingle hidden_single;
HiddenTwice hidden_twice;
HiddenApart hidden_apart, other_apart;
Square square;
HiddenSquare hidden_square;
Circle circle;
Both both;
const Node& node_of(const std::string& name) {
  static Node node;
  if (name == "leaf") return leaf;
  if (name == "single") return single;
  if (name == "hidden") return hidden;
  if (name == "hidden leaf") return hidden_leaf;
  if (name == "hidden single") return hidden_single;
  return name == "both" ? both : node;
}
const Abstract& abstract_of(const std::string& name) {
  if (name == "square") return square;
  if (name == "hidden square") return hidden_square;
  if (name == "both") return both;
  return circle;
}
}  // namespace scene

ANYFFI_CLASS(scene::Node, "scene.Node").init<>().field("id", &scene::Node::id).method("text", &scene::Node::text);
ANYFFI_CLASS(scene::Leaf, "scene.Leaf", scene::Node).init<>().copyable().field("size", &scene::Leaf::size);
ANYFFI_CLASS(scene::Single, "scene.Single", scene::Node).init<>();
ANYFFI_CLASS(scene::Apart, "scene.Apart").init<>();
ANYFFI_CLASS(scene::Abstract, "scene.Abstract").method("area", &scene::Abstract::area);
ANYFFI_CLASS(scene::Square, "scene.Square", scene::Abstract).init<>().copyable().field("side", &scene::Square::side);
ANYFFI_CLASS(scene::Circle, "scene.Circle", scene::Abstract);
ANYFFI_CLASS(scene::Both, "scene.Both", scene::Node).copyable().field("own", &scene::Both::own);

ANYFFI_EXPORT(node_of, scene::node_of);
ANYFFI_EXPORT(abstract_of, scene::abstract_of);
ANYFFI_EXPORT(call, [](const anyffi::Function& f, const std::string& name) { return f(scene::node_of(name)); });
ANYFFI_EXPORT(find_node, [](const std::string& name) -> const scene::Node* {
  return &scene::node_of(name);
}).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(share_node, []() -> std::shared_ptr<scene::Node> { return std::make_shared<scene::HiddenLeaf>(); });
ANYFFI_EXPORT(give_node, []() -> std::unique_ptr<scene::Node> { return std::make_unique<scene::HiddenLeaf>(); });
ANYFFI_EXPORT(take_node, [](std::unique_ptr<scene::Node> node) { return node->text(); });
ANYFFI_EXPORT(take_leaf, [](std::unique_ptr<scene::Leaf> leaf) { return leaf->text(); });
ANYFFI_EXPORT(text_of, [](const scene::Node& node) { return node.text(); });
ANYFFI_EXPORT(node_in_both, []() -> scene::Node* { return &scene::both; }).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(square_in_both, []() -> scene::Square* { return &scene::both; }).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(node_in_leaf, []() -> scene::Node* {
  return static_cast<scene::Leaf*>(&scene::hidden_twice);
}).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(node_in_single, []() -> scene::Node* {
  return static_cast<scene::Single*>(&scene::hidden_twice);
}).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(node_in_apart, []() -> scene::Node* {
  return &scene::hidden_apart;
}).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(apart_alone, []() -> scene::Apart* { return &scene::other_apart; }).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(side_of, [](const scene::Square& square) { return square.side; });
"""


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("derived_copies.cc", SOURCE))


def test_a_copy_has_the_class_of_the_object(lib: Any) -> None:
    leaf = lib.node_of("leaf")
    assert (type(leaf), leaf.text(), leaf.size, leaf.id) == (lib.Leaf, "leaf 2", 2, 1)
    leaf.size = 7
    assert lib.node_of("leaf").size == 2
    assert type(lib.node_of("node")) is lib.Node
    assert lib.call(lambda node: (type(node) is lib.Leaf, node.size), "leaf") == (True, 2)


def test_a_class_that_is_not_bound_is_copied_as_its_base(lib: Any) -> None:
    assert (type(lib.node_of("hidden")), lib.node_of("hidden").text()) == (lib.Node, "node")


def test_of_a_class_that_is_not_bound_the_nearest_base_is_known(lib: Any) -> None:
    assert type(lib.find_node("hidden")) is lib.Node
    for leaf in (lib.find_node("hidden leaf"), lib.share_node(), lib.give_node()):
        assert (type(leaf), leaf.size, leaf.id, leaf.text()) == (lib.Leaf, 2, 1, "hidden leaf 2")
        assert lib.text_of(leaf) == "hidden leaf 2"
    assert lib.find_node("hidden leaf") is lib.find_node("hidden leaf")
    assert type(lib.find_node("hidden single")) is lib.Single
    # A copy is of the class that Python knows.
    copied = lib.node_of("hidden leaf")
    assert (type(copied), copied.size, copied.text()) == (lib.Leaf, 2, "leaf 2")
    assert type(lib.abstract_of("hidden square")) is lib.Square
    with pytest.raises(TypeError, match=r"this scene\.Single as a scene\.Node"):
        lib.node_of("hidden single")


def test_of_a_class_with_two_bases_the_one_that_is_meant_is_known(lib: Any) -> None:
    leaf, single = lib.node_in_leaf(), lib.node_in_single()
    assert (type(leaf), leaf.id) == (lib.Leaf, 10)
    assert (type(single), single.id) == (lib.Single, 20)


def test_what_was_found_for_one_base_is_not_for_another(lib: Any) -> None:
    for _ in range(2):
        assert type(lib.node_in_apart()) is lib.Node
        assert type(lib.apart_alone()) is lib.Apart


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_what_is_of_the_nearest_base_can_be_taken(lib: Any) -> None:
    assert lib.take_node(lib.give_node()) == "hidden leaf 2"
    assert lib.take_leaf(lib.give_node()) == "hidden leaf 2"


def test_an_abstract_class_is_copied_as_what_derives_from_it(lib: Any) -> None:
    square = lib.abstract_of("square")
    assert (type(square), square.area()) == (lib.Square, 9)
    square.side = 4
    assert lib.abstract_of("square").area() == 9


def test_nothing_is_sliced_silently(lib: Any) -> None:
    text = (
        r"C\+\+ refers to this scene\.Single as a scene\.Node: add \.copyable\(\) to the declaration of scene\.Single, "
        r"so that it can be copied, or pass a pointer, or add \.returns\(anyffi::Returns::\.\.\.\) to that of the function"
    )
    with pytest.raises(TypeError, match=text):
        lib.node_of("single")
    with pytest.raises(TypeError, match=text):
        lib.call(print, "single")
    with pytest.raises(TypeError, match=r"this scene\.Circle as a scene\.Abstract"):
        lib.abstract_of("circle")


def test_of_several_bases_one_is_known(lib: Any) -> None:
    """A result that C++ refers to by a base unknown to Python is an object of that base, with its members."""
    both = lib.node_in_both()
    assert (type(both), both.own) == (lib.Both, 5)
    assert lib.node_in_both() is both
    square = lib.square_in_both()
    assert (type(square), square.area(), lib.side_of(square)) == (lib.Square, 9, 3)
    assert lib.square_in_both() is square
    copied = lib.node_of("both")
    assert (type(copied), copied.own) == (lib.Both, 5)
    # An abstract class is not copied as a class that does not derive from it in Python.
    with pytest.raises(TypeError, match="cannot be copied, and nothing says who owns it"):
        lib.abstract_of("both")


CLONES = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
using anyffi::arg;

namespace clones {
struct Shape {
  virtual ~Shape() = default;
  virtual std::unique_ptr<Shape> clone() const = 0;
  anyffi::List<int64_t> marks;
};
struct Disc : Shape {
  std::unique_ptr<Shape> clone() const override { return std::make_unique<Disc>(*this); }
  anyffi::List<int64_t> holes;
};
struct Torus : Disc {};  // clones itself as a Disc
struct Axis {
  std::string made = "new";
};
}  // namespace clones
using clones::Axis;
using clones::Disc;
using clones::Shape;

ANYFFI_CLASS(Shape, "clones.Shape")
    .field("marks", &Shape::marks)
    .method("__copy__", anyffi::never_null(&Shape::clone));
ANYFFI_CLASS(Disc, "clones.Disc", Shape).init<>().field("holes", &Disc::holes);
ANYFFI_CLASS(clones::Torus, "clones.Torus", Disc).init<>();
ANYFFI_CLASS(Axis, "clones.Axis")
    .init<>()
    .field("made", &Axis::made)
    .method("__copy__", [](const Axis&) { return Axis{"copy"}; })
    .method("__deepcopy__", [](const Axis&, const anyffi::AnyValue&) { return Axis{"deep copy"}; }, arg("memo"));
"""


@pytest.fixture
def clones(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("clones.cc", CLONES))


def test_a_virtual_clone_copies_derived_classes(ffi: Any, clones: Any) -> None:
    class Own(clones.Disc):  # type: ignore[misc, name-defined]
        pass

    for cls in (clones.Disc, Own):
        disc = cls()
        disc.marks = ffi.List([1])
        disc.holes = ffi.List([2])
        if cls is Own:
            disc.name = ["own"]
        shallow, deep = copy.copy(disc), copy.deepcopy(disc)
        assert type(shallow) is type(deep) is cls
        disc.marks.append(3)
        disc.holes.append(4)
        assert (shallow.marks, shallow.holes) == ([1, 3], [2, 4])
        assert (deep.marks, deep.holes) == ([1], [2])
        if cls is Own:
            assert shallow.name is disc.name == deep.name is not disc.name
    with pytest.raises(TypeError, match=r"of its base clones\.Shape, and would make one of these"):
        copy.copy(clones.Torus())


def test_cpp_makes_deep_copies(clones: Any) -> None:
    assert copy.copy(clones.Axis()).made == "copy"
    assert copy.deepcopy(clones.Axis()).made == "deep copy"
    assert copy.deepcopy([clones.Axis()])[0].made == "deep copy"
