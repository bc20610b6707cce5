"""Objects that C++ lends to a callback or an override: what Python keeps of them expires with the call."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from c_abi import balanced
from support import Build, collect, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

namespace loans {
struct Inner {
  int64_t depth = 2;
};
struct Leaf {
  int64_t id = 0;
  Inner inner;
};
struct Node {
  int64_t id;
  Leaf leaf;
  std::unique_ptr<Node> next;
  explicit Node(int64_t i) : id(i) { leaf.id = 10 * i; }
  Node(const Node&) = delete;
  virtual ~Node() { id = leaf.id = leaf.inner.depth = -1; }
};
struct Special : Node {
  using Node::Node;
};
struct Visitor {
  virtual ~Visitor() = default;
  virtual int64_t visit(const Node& node) = 0;
};
struct PyVisitor : anyffi::Overridable<Visitor> {
  int64_t visit(const Node& node) override { return override_pure<int64_t>("visit", node); }
};
struct Pair {
  Leaf first, second;
};
std::unique_ptr<Node> kept;
Node static_node(7);
std::function<anyffi::AnyValue()> nest_inner;
using Callback = std::function<anyffi::AnyValue(const Node&)>;
}  // namespace loans
using namespace loans;
using anyffi::Returns;
using anyffi::arg;

ANYFFI_CLASS(Inner, "loans.Inner").field("depth", &Inner::depth);
ANYFFI_CLASS(Leaf, "loans.Leaf").field("id", &Leaf::id).field("inner", &Leaf::inner);
ANYFFI_CLASS(Node, "loans.Node").init<int64_t>(arg("id")).field("id", &Node::id).field("leaf", &Node::leaf)
    .field("next", &Node::next)
    .method("get_id", [](const Node& node) { return node.id; });
ANYFFI_CLASS(Special, "loans.Special", Node);
ANYFFI_CLASS(Pair, "loans.Pair").init<>().field("first", &Pair::first).field("second", &Pair::second);
ANYFFI_EXPORT(call_pair, [](const std::function<void(Pair&)>& f) {
  Pair pair;
  f(pair);
});
ANYFFI_CLASS(Visitor, "loans.Visitor").overridable<PyVisitor>().init<>();
ANYFFI_EXPORT(visit_new, [](Visitor& visitor, bool is_special) {
  if (is_special) return visitor.visit(Special(1));
  return visitor.visit(Node(1));
});
ANYFFI_EXPORT(call_new, [](const Callback& f) { return f(Node(1)); });
ANYFFI_EXPORT(call_changed, [](const std::function<void(Node&)>& f) {
  Node node(1);
  f(node);
  return node.id;
});
ANYFFI_EXPORT(call_with, [](const Node& node, const Callback& f) { return f(node); });
ANYFFI_EXPORT(call_with_two, [](const std::function<anyffi::AnyValue(const Node&, const Node&)>& f) {
  Node node(1);
  return f(node, node);
});
ANYFFI_EXPORT(get_id, [](const Node& node) { return node.id; });
ANYFFI_EXPORT(share, [](std::shared_ptr<Node> node) { return node->id; });
ANYFFI_EXPORT(get_ids, [](const anyffi::List<anyffi::Ref<Node>>& nodes) {
  std::vector<int64_t> ids;
  for (anyffi::Ref<Node> node : nodes) ids.push_back(node->id);
  return ids;
});
// The object is C++'s, and is handed out during the loan in a way that outlives the call.
ANYFFI_EXPORT(call_static, [](const Callback& f) {
  return f(static_node);
});
ANYFFI_EXPORT(static_leaf, [] { return &static_node.leaf; }).returns(Returns::kReference);
ANYFFI_EXPORT(nest, [](const Callback& outer, const Callback& inner) {
  Node node(1);
  node.next = std::make_unique<Node>(2);
  nest_inner = [&] { return inner(node); };
  return outer(*node.next);
});
ANYFFI_EXPORT(call_inner, [] { return nest_inner(); });
ANYFFI_EXPORT(share_leaf, [](std::shared_ptr<Leaf> leaf) { return leaf->id; });
ANYFFI_EXPORT(call_kept, [](const Callback& f) {
  kept = std::make_unique<Node>(8);
  return f(*kept);
});
ANYFFI_EXPORT(get_kept, [] { return kept.get(); }).returns(Returns::kReference);
ANYFFI_EXPORT(take_kept, [] { return std::move(kept); });
ANYFFI_EXPORT(call_threads, [](const Callback& f, int64_t times) {
  for (int64_t i = 0; i < times; ++i) f(static_node);
}).release_gil();
"""

EMPTY = r"this {} is empty: .* or C\+\+ took the object"


@pytest.fixture
def loans(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("loans.cc", SOURCE))


def is_empty(obj: Any, attribute: str = "id") -> bool:
    with pytest.raises(ValueError, match=EMPTY.format(type(obj).__name__)):
        getattr(obj, attribute)
    return True


def test_kept_by_a_callback(loans: Any) -> None:
    kept: list[Any] = []

    def keep(node: Any) -> Any:
        kept.append(node)
        return node.id

    assert loans.call_new(keep) == 1
    assert is_empty(kept[0])
    with pytest.raises(ValueError, match=EMPTY.format("Node")):
        kept[0].get_id()
    with pytest.raises(ValueError, match=EMPTY.format("Node")):
        loans.get_id(kept[0])
    with pytest.raises(ValueError, match=EMPTY.format("Node")):
        kept[0].id = 5


@pytest.mark.parametrize("is_special", [False, True])
def test_kept_by_an_override(loans: Any, is_special: bool) -> None:
    class Keeping(loans.Visitor):
        def visit(self, node: Any) -> int:
            self.node = node
            return node.id

    visitor = Keeping()
    assert loans.visit_new(visitor, is_special) == 1
    assert type(visitor.node) is (loans.Special if is_special else loans.Node)
    assert is_empty(visitor.node)


def test_a_callback_that_raises(loans: Any) -> None:
    kept: list[Any] = []

    def fail(node: Any) -> Any:
        kept.append((node, node.leaf))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        loans.call_new(fail)
    assert is_empty(kept[0][0])
    assert is_empty(kept[0][1])


def test_returned_by_the_callback(loans: Any) -> None:
    assert not hasattr(loans.call_new(lambda node: node), "id")
    assert loans.call_new(lambda node: [node.id, node.leaf.id]) == [1, 10]


def test_changes_reach_cpp(loans: Any) -> None:
    def change(node: Any) -> None:
        node.id = 5

    assert loans.call_changed(change) == 5


def test_copies_may_be_kept(loans: Any) -> None:
    kept: list[Any] = []
    loans.call_pair(lambda pair: kept.extend([pair, pair.second]))
    pair, second = kept
    pair.first.id = 3
    assert pair.first.id == 3
    assert pair.second is second


def test_parts_expire_with_the_whole(loans: Any) -> None:
    kept: list[Any] = []

    def keep(node: Any) -> None:
        kept.extend([node.leaf, node.leaf.inner])

    loans.call_new(keep)
    assert is_empty(kept[0])
    assert is_empty(kept[1], "depth")


def test_a_part_of_a_part(loans: Any) -> None:
    kept: list[Any] = []
    loans.call_new(lambda node: kept.append(node.leaf.inner))
    assert is_empty(kept[0], "depth")


def test_in_containers(loans: Any, ffi: Any) -> None:
    kept = ffi.List()
    loans.call_new(lambda node: kept.append(node))
    assert type(kept[0]) is ffi.Object
    assert not hasattr(kept[0], "id")
    with pytest.raises(TypeError, match=r"expected loans\.Node, got loans\.Node that C\+\+ had lent"):
        loans.get_ids(kept)
    with pytest.raises(TypeError, match=r"expected loans\.Node, got"):
        loans.get_id(kept[0])


def test_sharing_during_the_call(loans: Any) -> None:
    assert loans.share(loans.Node(3)) == 3
    with pytest.raises(ValueError, match=r"C\+\+ lends this object for a call, so that no std::shared_ptr"):
        loans.call_new(loans.share)
    with pytest.raises(ValueError, match=r"C\+\+ lends this object for a call"):
        loans.call_new(lambda node: loans.share_leaf(node.leaf))
    with pytest.raises(ValueError, match="is empty"):
        kept: list[Any] = []
        loans.call_new(kept.append)
        loans.share(kept[0])


def test_python_objects_are_not_lent(loans: Any) -> None:
    node = loans.Node(4)
    kept: list[Any] = []
    loans.call_with(node, kept.append)
    assert kept[0] is node
    assert node.id == 4


def test_lent_again_during_the_call(loans: Any) -> None:
    def outer(node: Any) -> Any:
        inner = []
        loans.call_with(node, inner.append)
        assert inner[0] is node
        return node.id

    assert loans.call_new(outer) == 1
    kept: list[Any] = []

    def both(a: Any, b: Any) -> Any:
        kept.append(a)
        return a is b and a.id

    assert loans.call_with_two(both) == 1
    assert is_empty(kept[0])


def test_lent_again_after_the_call(loans: Any) -> None:
    kept: list[Any] = []
    for _ in range(2):
        loans.call_static(kept.append)
    assert is_empty(kept[0])
    assert is_empty(kept[1])
    assert kept[0] is not kept[1]
    assert loans.call_static(lambda node: node.id) == 7


def test_references_from_before_the_call_stay(loans: Any) -> None:
    leaf = loans.static_leaf()
    assert loans.call_static(lambda node: node.leaf is leaf) == 1
    assert leaf.id == 70
    kept: list[Any] = []
    loans.call_static(lambda node: kept.append(node.leaf))
    assert kept[0] is leaf
    assert leaf.id == 70


def test_a_loan_of_the_whole_during_a_loan_of_its_part(loans: Any) -> None:
    kept: list[Any] = []

    def inner(whole: Any) -> Any:
        kept.append(whole.next)
        return whole.next.id

    def outer(part: Any) -> Any:
        assert loans.call_inner() == 2
        assert kept[0] is part
        return part.id

    assert loans.nest(outer, inner) == 2
    assert is_empty(kept[0])


def test_handed_out_during_the_call(loans: Any) -> None:
    kept: list[Any] = []

    def by_pointer(node: Any) -> None:
        kept.append(node)
        assert loans.get_kept() is node

    loans.call_kept(by_pointer)
    assert kept[0].id == 8
    kept.clear()

    def to_python(node: Any) -> None:
        kept.append(node)
        assert loans.take_kept() is node

    loans.call_kept(to_python)
    assert kept[0].id == 8


def test_lent_by_several_threads(loans: Any) -> None:
    failed = []

    def read(node: Any) -> None:
        if node.id != 7:
            failed.append(node.id)

    threads = [threading.Thread(target=loans.call_threads, args=(read, 200)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_nothing_is_left(loans: Any) -> None:
    kept: list[Any] = []

    def lend() -> None:
        loans.call_new(lambda node: kept.extend([node, node.leaf.inner]))
        kept.clear()
        collect()

    lend()
    with balanced():
        lend()
