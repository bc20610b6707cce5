"""Corner cases of bound classes: cycles through overrides, owners in lists, conversions that refuse, names."""

from __future__ import annotations

import collections
import copy
import gc
import inspect
import operator
import os
import weakref
from typing import Any

import numpy as np
import pytest
from programs import stubgen
from support import CPYTHON, FREE_THREADED, Build, collect, compiles_classes, frees_classes

pytestmark = compiles_classes

CORNER = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>
#include <stdexcept>

using anyffi::arg;

namespace corner {
struct Visitor {
  virtual ~Visitor() = default;
  virtual int visit(int x) { return x; }
};
struct PyVisitor : anyffi::Overridable<Visitor> {
  using Overridable::Overridable;
  int visit(int x) override { return override_or<int>("visit", [&] { return Visitor::visit(x); }, x); }
};
struct Leaf {
  int x;
  explicit Leaf(int x) : x(x) { ++live; }
  Leaf(const Leaf&) = delete;
  ~Leaf() { --live; }
  static inline int live = 0;
};
using Leaves = std::vector<std::unique_ptr<Leaf>>;
struct Tree {
  Leaves leaves;
  explicit Tree(Leaves given) : leaves(std::move(given)) {}
  int sum() const {
    int found = 0;
    for (auto& leaf : leaves) found += leaf ? leaf->x : 100;
    return found;
  }
};
struct Even {
  int64_t x;
};
struct Odd {
  int64_t x;
};
struct Unit {
  double factor;
};
struct Inner {
  anyffi::List<int64_t> xs;
};
struct Bag {
  anyffi::List<int64_t> xs;
  anyffi::AnyValue any;
  Inner inner{anyffi::List<int64_t>{}};
  std::shared_ptr<Inner> shared;
  explicit Bag(anyffi::List<int64_t> given) : xs(std::move(given)) {}
};
struct Walk {
  int at = 0;
};
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
  std::pair<int, int> where{1, 2};
  std::map<std::string, std::vector<int>> names{{"a", {1}}};
  std::set<int> codes{3};
  anyffi::List<int64_t> kept{4};
};
}  // namespace corner
using namespace corner;
template <>
struct anyffi::Traits<Even> : anyffi::TraitsVia<Even, int64_t> {
  static Even from(int64_t x) {
    if (x % 2 != 0) throw anyffi::Error("TypeError", "odd");
    return {x};
  }
  static int64_t to(const Even& even) { return even.x; }
};
template <>
struct anyffi::Traits<Odd> : anyffi::TraitsVia<Odd, int64_t> {
  static Odd from(int64_t x) {
    if (x % 2 == 0) throw anyffi::Error(x == 0 ? "ValueError" : "TypeError", "even");
    return {x};
  }
  static int64_t to(const Odd& odd) { return odd.x; }
};
ANYFFI_TYPE_KEY(Unit, "corner.Unit");
template <>
struct anyffi::FromValue<Unit> {
  static Unit from_value(const std::string& name) {
    if (name != "one") throw anyffi::Error("TypeError", "no unit: {}", name);
    return {1};
  }
};

ANYFFI_BIND(Unit)
    .init([](const std::string& name) { return anyffi::FromValue<Unit>::from_value(name); })
    .op(anyffi::ops::eq, [](const Unit& a, const Unit& b) { return a.factor == b.factor; }, arg("other"));
ANYFFI_CLASS(Visitor, "corner.Visitor").overridable<PyVisitor>().init<>();
ANYFFI_CLASS(Leaf, "corner.Leaf").init<int>(arg("x")).field("x", &Leaf::x);
template <>
inline constexpr bool anyffi::kIsCopyable<Tree> = false;
ANYFFI_CLASS(Tree, "corner.Tree")
    .init<Leaves>(arg("leaves"))
    .method("sum", &Tree::sum)
    .op(anyffi::ops::add, [](const Tree& tree, std::unique_ptr<Leaf> leaf) { return tree.sum() + leaf->x; }, arg("leaf"))
    .op(anyffi::ops::add, [](const Tree& tree, Leaves leaves) { return tree.sum() + Tree(std::move(leaves)).sum(); },
        arg("leaves"));
ANYFFI_CLASS(Inner, "corner.Inner")
    .init([](anyffi::List<int64_t> xs) { return Inner{xs}; }, arg("xs"))
    .field("xs", &Inner::xs)
    .copyable();
ANYFFI_CLASS(Bag, "corner.Bag")
    .init<anyffi::List<int64_t>>(arg("xs"))
    .field("xs", &Bag::xs)
    .field("any", &Bag::any)
    .field("inner", &Bag::inner)
    .field("shared", &Bag::shared)
    .copyable();
ANYFFI_CLASS(Walk, "corner.Walk")
    .init<>()
    .op(anyffi::ops::iter, [](Walk& walk) -> Walk& { return walk; })
    .op(anyffi::ops::next, [](Walk& walk) {
      if (walk.at == 2) throw anyffi::Error("StopIteration", "");
      return walk.at++;
    });
ANYFFI_EXCEPTION(Failure, "corner.Failure", "ValueError")
    .attribute("where", &Failure::where)
    .attribute("names", &Failure::names)
    .attribute("codes", &Failure::codes)
    .attribute("kept", &Failure::kept);
ANYFFI_EXPORT(walk, [](Visitor& visitor) { return visitor.visit(1); }, arg("visitor"));
ANYFFI_EXPORT(live, [] { return Leaf::live; });
ANYFFI_EXPORT(take, [](std::unique_ptr<Leaf> leaf) { return leaf->x; }, arg("leaf"));
ANYFFI_EXPORT(sum_by, [](Leaves leaves, int64_t by) { return Tree(std::move(leaves)).sum() * by; }, arg("leaves"),
              arg("by"));
ANYFFI_EXPORT(gather, [](std::unique_ptr<Leaf> leaf) { return leaf->x; }, arg("leaf"))
    .def([](std::unique_ptr<Leaf> leaf, Leaves leaves) { return leaf->x + Tree(std::move(leaves)).sum(); }, arg("leaf"),
         arg("leaves"))
    .def([](Leaves leaves, int64_t by) { return Tree(std::move(leaves)).sum() + by; }, arg("leaves"), arg("by"));
ANYFFI_EXPORT(with_pointer, [](Leaves leaves, Leaf* leaf) { return Tree(std::move(leaves)).sum() * 10 + leaf->x; },
              arg("leaves"), arg("leaf"));
ANYFFI_EXPORT(with_optional, [](std::optional<Leaves> leaves, const Leaf& leaf) {
  return Tree(*std::move(leaves)).sum() * 10 + leaf.x; }, arg("leaves"), arg("leaf"));
ANYFFI_EXPORT(with_optional_leaf, [](std::optional<std::unique_ptr<Leaf>> given, const Leaf& leaf) {
  int64_t x = given ? (*given)->x : 0; given.reset(); return x * 10 + leaf.x; }, arg("given"), arg("leaf"));
ANYFFI_EXPORT(with_variant_leaf, [](std::variant<int64_t, std::unique_ptr<Leaf>> given, const Leaf& leaf, int64_t by) {
  auto* taken = std::get_if<std::unique_ptr<Leaf>>(&given);
  int64_t x = !taken ? std::get<int64_t>(given) : *taken ? (*taken)->x : 0;
  given = 0;
  return x * 10 + leaf.x * by; }, arg("given"), arg("leaf"), arg("by") = 1);
ANYFFI_EXPORT(with_list_or_leaf, [](std::variant<std::vector<int64_t>, std::unique_ptr<Leaf>> given, const Leaf& leaf,
                                    int64_t by) {
  auto* taken = std::get_if<std::unique_ptr<Leaf>>(&given);
  return (taken ? (*taken)->x : std::get<0>(given)[0]) * 10 + leaf.x * by; }, arg("given"), arg("leaf"), arg("by") = 1);
ANYFFI_EXPORT(point_at, [](const std::vector<std::vector<const Leaf*>>& leaves) {
  int64_t sum = 0; for (auto& each : leaves) for (auto* leaf : each) sum += leaf->x; return sum; }, arg("leaves"));
ANYFFI_EXPORT(after_numbers, [](const std::vector<int64_t>& numbers, const Leaf& leaf) {
  return int64_t(numbers.size()) * 10 + leaf.x; }, arg("numbers"), arg("leaf"));
ANYFFI_EXPORT(view_before_numbers, [](anyffi::AnyView leaf, const std::vector<int64_t>&) { return anyffi::AnyValue(leaf); },
              arg("leaf"), arg("numbers"));
ANYFFI_EXPORT(taken_after_numbers, [](const std::vector<int64_t>& numbers, std::unique_ptr<Leaf> leaf) {
  return int64_t(numbers.size()) * 10 + leaf->x; }, arg("numbers"), arg("leaf"));
ANYFFI_EXPORT(with_leaf_not_null, [](std::variant<std::vector<int64_t>, anyffi::NotNull<std::unique_ptr<Leaf>>> given,
                                     const Leaf& leaf) { return int64_t(given.index()) * 10 + leaf.x; },
              arg("given"), arg("leaf"));
ANYFFI_EXPORT(with_shared, [](Leaves leaves, std::shared_ptr<Leaf> leaf) { leaves.clear(); return leaf->x; },
              arg("leaves"), arg("leaf")).def([](Leaves leaves) { return Tree(std::move(leaves)).sum(); }, arg("leaves"));
ANYFFI_EXPORT(both, [](std::unique_ptr<Leaf> leaf, Leaves leaves) { return leaf->x + Tree(std::move(leaves)).sum(); },
              arg("leaf"), arg("leaves"));
ANYFFI_EXPORT(sum, [](Leaves leaves) { return Tree(std::move(leaves)).sum(); },
              arg("leaves") = anyffi::Array<anyffi::AnyValue>());
ANYFFI_EXPORT(fail, []() -> void { throw Failure("failed"); });
ANYFFI_EXPORT(parity, [](Even) { return "even"; }, arg("x")).def([](Odd) { return "odd"; }, arg("x"));
ANYFFI_EXPORT(either, [](std::variant<Even, Odd> x) { return x.index(); }, arg("x"));
"""


@pytest.fixture
def corner(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("corner.cc", CORNER))


def test_a_class_of_iterators(corner: Any, build: Build) -> None:
    assert [*corner.Walk()] == [0, 1]
    assert "    def __iter__(self) -> Walk: ..." in stubgen(build("corner.cc", CORNER))


@pytest.mark.skipif(not CPYTHON, reason="PyPy's collector does not look into objects of C++")
@frees_classes
@pytest.mark.parametrize("is_called", [False, True])
def test_cycles_through_overrides_that_cpp_has_called(corner: Any, is_called: bool) -> None:
    def make() -> weakref.ref[Any]:
        class Own(corner.Visitor):  # type: ignore[misc, name-defined]
            def visit(self, x: int) -> int:
                return x + (own is self)

        own = Own()
        assert not is_called or corner.walk(own) == 2
        return weakref.ref(own)

    found = make()
    collect(until=lambda: found() is None)
    assert found() is None


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_lists_of_objects_that_cpp_takes(ffi: Any, corner: Any) -> None:
    first, second, third = corner.Leaf(1), corner.Leaf(2), corner.Leaf(3)
    assert corner.Tree([first, None, second]).sum() == 103
    with pytest.raises(ValueError, match="this Leaf is empty: __init__ was not called, or C\\+\\+ took"):
        _ = first.x
    assert corner.Tree((corner.Leaf(4),)).sum() == 4
    shared = r"at \[0\]: other objects refer to this object, which cannot be moved to C\+\+"
    kept = ffi.List([corner.Leaf(5)])
    for leaves, error, text in (
        ([third, third], ValueError, shared),
        ([third, 5], TypeError, r"at \[1\]: expected corner.Leaf \| None, got int"),
        (kept, ValueError, "a container of the runtime keeps its objects.*: pass a list"),
    ):
        with pytest.raises(error, match=text):
            corner.Tree(leaves)
        assert third.x == 3
    with pytest.raises(ValueError, match="other objects refer to this object"):
        corner.both(third, [third])
    with pytest.raises(TypeError, match=r"argument 1 \(by\): expected int, got str"):
        corner.sum_by([third], "two")
    assert third.x == 3
    assert corner.both(third, [corner.Leaf(6)]) == 9
    del first, second, third, kept, leaves
    gc.collect()
    assert corner.live() == 0


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
@pytest.mark.parametrize("container", [list, tuple, collections.deque])
def test_a_taken_object_that_is_a_later_argument(corner: Any, container: Any) -> None:
    leaf, other = corner.Leaf(3), corner.Leaf(4)
    for function in (corner.with_pointer, corner.with_optional, corner.with_shared):
        with pytest.raises(ValueError, match="moved to C\\+\\+ is also another argument"):
            function(container([other, leaf]), leaf)
        assert (leaf.x, other.x) == (3, 4)
    assert corner.with_pointer(container([other]), leaf) == 43
    assert corner.with_optional(container([corner.Leaf(5)]), leaf) == 53


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_an_optional_taken_object_that_is_a_later_argument(corner: Any) -> None:
    leaf = corner.Leaf(3)
    with pytest.raises(ValueError, match="moved to C\\+\\+ is also another argument"):
        corner.with_optional_leaf(leaf, leaf)
    assert corner.with_optional_leaf(corner.Leaf(4), leaf) == 43
    assert corner.with_optional_leaf(None, leaf) == 3


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_a_variant_takes_its_object_at_the_call(corner: Any) -> None:
    leaf, other = corner.Leaf(3), corner.Leaf(4)
    with pytest.raises(TypeError, match=r"argument 2 \(by\): expected int, got str"):
        corner.with_variant_leaf(other, leaf, "two")
    assert other.x == 4
    with pytest.raises(ValueError, match="moved to C\\+\\+ is also another argument"):
        corner.with_variant_leaf(leaf, leaf)
    assert corner.with_variant_leaf(other, leaf) == 43
    with pytest.raises(ValueError, match="this Leaf is empty"):
        _ = other.x
    assert [corner.with_variant_leaf(given, leaf) for given in (None, 5, True)] == [3, 53, 13]
    kept = [corner.Leaf(6)]
    assert corner.with_variant_leaf(kept[0], leaf) == 63
    with pytest.raises(ValueError, match="this Leaf is empty"):
        corner.with_variant_leaf(kept[0], leaf)
    with pytest.raises(
        TypeError, match=r"argument 0 \(given\): expected int \| corner.Leaf \| None, got str"
    ):
        corner.with_variant_leaf("x", leaf)
    del leaf, other, kept
    gc.collect()
    assert corner.live() == 0


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_a_variant_takes_its_object_at_the_call_whatever_its_other_types(corner: Any) -> None:
    leaf, other = corner.Leaf(3), corner.Leaf(4)
    with pytest.raises(TypeError, match=r"argument 2 \(by\): expected int, got str"):
        corner.with_list_or_leaf(other, leaf, "two")
    assert other.x == 4
    for function in (corner.with_list_or_leaf, corner.with_leaf_not_null):
        with pytest.raises(ValueError, match="moved to C\\+\\+ is also another argument"):
            function(leaf, leaf)
    assert (leaf.x, corner.with_list_or_leaf([5], leaf)) == (3, 53)
    assert corner.with_list_or_leaf(other, leaf) == 43
    with pytest.raises(ValueError, match="this Leaf is empty"):
        _ = other.x
    assert corner.with_leaf_not_null(corner.Leaf(5), leaf) == 13
    with pytest.raises(TypeError, match=r"expected Sequence\[int\] \| corner.Leaf, got NoneType"):
        corner.with_leaf_not_null(None, leaf)
    del leaf, other
    gc.collect()
    assert corner.live() == 0


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_a_conversion_cannot_move_a_later_argument(corner: Any) -> None:
    class Taking:
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> int:
            corner.with_variant_leaf(leaf, other)
            others.extend(corner.Leaf(7) for _ in range(20))
            return index

    leaf, other, others = corner.Leaf(3), corner.Leaf(4), []
    for function in (corner.after_numbers, corner.taken_after_numbers):
        with pytest.raises(ValueError, match="other objects refer to this object"):
            function(Taking(), leaf)
        assert (leaf.x, others) == (3, [])
    with pytest.raises(ValueError, match="other objects refer to this object"):
        corner.view_before_numbers(leaf, Taking())
    assert corner.view_before_numbers(leaf, range(2)) is leaf

    class Numbers(corner.Leaf):  # type: ignore[misc, name-defined]
        __len__, __getitem__ = Taking.__len__, Taking.__getitem__

    leaf = Numbers(3)
    with pytest.raises(ValueError, match="other objects refer to this object"):
        corner.after_numbers(leaf, other)
    assert (leaf.x, others) == (3, [])
    assert corner.after_numbers([1, 2], leaf) == 23
    assert corner.taken_after_numbers(range(2), leaf) == 23
    del leaf, other
    gc.collect()
    assert corner.live() == 0


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_pointers_to_items_that_nothing_keeps_are_refused(corner: Any) -> None:
    leaf = corner.Leaf(3)

    class Making:
        def __init__(self, make: Any) -> None:
            self.make = make

        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> Any:
            if index >= 2:
                raise IndexError
            return self.make()

    for made in (Making(lambda: [corner.Leaf(1)]), [Making(lambda: corner.Leaf(1))]):
        with pytest.raises(ValueError, match=r"makes its items anew, .*: pass list\(\) of it, got"):
            corner.point_at(made)
    assert corner.point_at([list(Making(lambda: corner.Leaf(1)))]) == 2
    assert corner.point_at(Making(lambda: [leaf])) == 6
    assert corner.point_at([collections.deque([corner.Leaf(2)]), Making(lambda: leaf)]) == 8


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_overloads_that_take_objects(ffi: Any, corner: Any) -> None:
    leaf = corner.Leaf
    assert corner.gather(leaf(1)) == 1
    assert corner.gather(leaf(1), [leaf(2), None]) == 103
    assert corner.gather((leaf(2), leaf(3)), by=4) == 9
    assert corner.gather(leaves=[leaf(2)], leaf=leaf(1)) == 3
    tree = corner.Tree([leaf(1)])
    assert (tree + leaf(2), tree + [leaf(2), leaf(3)], tree + (leaf(4),)) == (3, 6, 5)
    first, second = leaf(1), leaf(2)
    kept = ffi.List([leaf(3)])
    for leaves, text in (
        ([second, second], r"argument 1 \(leaves\), at \[0\]: other objects refer to this object"),
        ([second, 5], r"argument 1 \(leaves\), at \[1\]: expected corner.Leaf \| None, got int"),
        (kept, r"argument 1 \(leaves\): a container of the runtime keeps its objects.*: pass a list"),
    ):
        with pytest.raises(TypeError, match=text):
            corner.gather(first, leaves)
        assert (first.x, second.x) == (1, 2)
    with pytest.raises(TypeError, match=r"argument 1 \(by\): expected int, got str"):
        corner.gather([second], "two")
    assert second.x == 2


def test_an_empty_container_of_objects_that_cpp_takes(ffi: Any, corner: Any) -> None:
    assert str(inspect.signature(corner.sum)) == "(leaves: 'Sequence[corner.Leaf | None]' = ()) -> 'int'"
    assert corner.sum() == corner.sum([]) == corner.sum(ffi.List()) == corner.sum(ffi.Array(())) == 0


def test_containers_of_exceptions_are_those_of_python(corner: Any) -> None:
    with pytest.raises(corner.Failure) as raised:
        corner.fail()
    error = raised.value
    assert (error.where, error.names, error.codes) == ((1, 2), {"a": [1]}, {3})
    assert [type(x) for x in (error.where, error.names, error.names["a"], error.codes)] == [
        tuple,
        dict,
        list,
        set,
    ]
    assert type(error.kept).__name__ == "List"


def test_deep_copies_share_nothing(corner: Any) -> None:
    class Own(corner.Bag):  # type: ignore[misc, name-defined]
        pass

    for cls in (corner.Bag, Own):
        bag = cls([1])
        bag.inner, bag.shared = corner.Inner([2]), corner.Inner([3])
        bag.any = [bag, bag.xs]
        made, xs = copy.deepcopy([bag, bag.xs])
        assert type(made) is cls
        assert made.any[0] is made
        assert made.xs is xs is made.any[1]
        for one, other in zip(
            (made.xs, made.inner.xs, made.shared.xs), (bag.xs, bag.inner.xs, bag.shared.xs)
        ):
            assert one == other
            one.append(4)
            assert one != other
        shallow = copy.copy(bag)
        assert shallow.xs is bag.xs
        assert shallow.shared is bag.shared
        bag.any = shallow.any = made.any = None


def test_conversions_that_refuse_a_value(corner: Any) -> None:
    assert [corner.parity(x) for x in (2, 3)] == ["even", "odd"]
    assert [corner.parity(x=x) for x in (2, 3)] == ["even", "odd"]
    assert [corner.either(x) for x in (2, 3)] == [0, 1]
    with pytest.raises(TypeError, match=r"no overload takes \(str\)"):
        corner.parity("a")
    unit = corner.Unit("one")
    assert [unit == "one", unit == "two", unit != "two"] == [True, False, True]
    assert ["two", unit].index(unit) == 1
    with pytest.raises(TypeError, match="no unit: two"):
        corner.Unit("two")


@pytest.mark.skipif(not CPYTHON, reason="PyPy refers to each object more than once")
def test_the_hash_of_an_empty_object(corner: Any) -> None:
    leaf = corner.Leaf(1)
    assert corner.take(leaf) == 1
    assert len({leaf, leaf}) == 1


@pytest.mark.parametrize(
    ("other", "described"),
    [
        ('ANYFFI_CLASS(B, "two.Same");', "class (one|two).Same"),
        ("ANYFFI_EXPORT(Same, [] {});", "function Same"),
    ],
)
def test_names_that_are_taken(ffi: Any, build: Build, other: str, described: str) -> None:
    source = (
        f'#include <anyffi/anyffi.h>\nstruct A {{}};\nstruct B {{}};\nANYFFI_CLASS(A, "one.Same");\n{other}\n'
    )
    library = build(f"same_{described[:5]}.cc", source)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"the {described} would be one attribute of the module, Same"):
            ffi.load_module(library)


PROTOCOLS = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/filesystem.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
using anyffi::arg;

namespace protocols {
struct Track {
  std::vector<double> points{1, 2, 3};
};
using Numbers = anyffi::TypedView<const double, 1>;
}  // namespace protocols
using protocols::Track;
using Made = anyffi::TypedTensor<double, 1>;
using Array = anyffi::Native<Made>;

ANYFFI_CLASS(Track, "protocols.Track")
    .init<>()
    .op(anyffi::ops::len, [](const Track& t) { return t.points.size(); })
    .op(anyffi::ops::float_, [](const Track& t) { return t.points[0]; })
    .op(anyffi::ops::index, [](const Track& t) { return t.points.size(); })
    .op(anyffi::ops::call, [](const Track& t, double x) { return t.points[0] * x; }, arg("x"))
    .method("__fspath__", [](const Track&) { return "track.txt"; })
    .method("__array__", [](const anyffi::Ref<Track>& t, anyffi::AnyView, std::optional<bool> copy) -> Array {
      if (copy.value_or(false)) return Made::from(std::vector<double>(t->points), {3});
      return Made::view(t->points.data(), {3}, t);
    }, arg("dtype") = nullptr, arg("copy") = std::nullopt)
    .iterate([](const Track& t) { return t.points.begin(); }, [](const Track& t) { return t.points.end(); });
struct Row {
  int64_t size() const { return 3; }
  double at(int64_t i) const {
    if (i < 0 || i >= 3) throw anyffi::Error("IndexError", "no such number");
    return static_cast<double>(10 + i);
  }
};
ANYFFI_CLASS(Row, "protocols.Row")
    .init<>()
    .op(anyffi::ops::len, &Row::size)
    .op(anyffi::ops::getitem, &Row::at, arg("index"));
ANYFFI_EXPORT(sequence, [](const std::vector<double>& x) { return x.size(); }, arg("x"));
ANYFFI_EXPORT(rows, [](const std::vector<std::vector<double>>& x) { return x; }, arg("x"));
ANYFFI_EXPORT(array, [](const anyffi::Array<double>& x) { return x; }, arg("x"));
ANYFFI_EXPORT(grid, [](const anyffi::TypedView<const double, 2>& x) { return x(1, 2); }, arg("x").convert());
ANYFFI_EXPORT(either, [](const std::vector<double>&) { return "numbers"; }, arg("x"))
    .def([](const Row&) { return "row"; }, arg("x"));
ANYFFI_EXPORT(numbers, [](const protocols::Numbers& x) { return x[0]; }, arg("x").convert());
ANYFFI_EXPORT(floating, [](double x) { return x; }, arg("x"));
ANYFFI_EXPORT(integer, [](int x) { return x; }, arg("x"));
ANYFFI_EXPORT(path, [](const std::filesystem::path& x) { return x.string(); }, arg("x"));
ANYFFI_EXPORT(function, [](const std::function<double(double)>& f) { return f(2); }, arg("x"));
"""


def test_objects_are_not_what_python_can_make_of_them(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("protocols.cc", PROTOCOLS))
    track = module.Track()
    made = np.asarray(track)
    np.array(track)[0] = 9
    made[0] = 4
    assert (float(track), np.array(track, dtype="f4").dtype) == (4.0, np.float32)
    for name, advice, passed, result in (
        ("sequence", r"list\(\) of it", list(track), 3),
        ("floating", r"float\(\) of it", float(track), 4.0),
        ("integer", r"int\(\) of it", operator.index(track), 3),
        ("function", r"its \.__call__", track.__call__, 8.0),
    ):
        with pytest.raises(TypeError, match=f"expected .*, got (protocols.)?Track; pass {advice}$"):
            getattr(module, name)(track)
        assert getattr(module, name)(passed) == result
    assert (module.numbers(track), module.path(track)) == (4.0, os.fspath(track))


def test_objects_with_the_methods_of_a_sequence(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("protocols.cc", PROTOCOLS))

    class Short(module.Row):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> float:
            return float(range(2)[index])

    class Wrong(module.Row):  # type: ignore[misc, name-defined]
        def __getitem__(self, index: int) -> Any:
            raise LookupError("wrong")

    row = module.Row()
    assert module.rows([row, Short(), [5]]) == [[10.0, 11.0, 12.0], [0.0, 1.0], [5.0]]
    assert (module.sequence(row), tuple(module.array(row)), module.either(row)) == (
        3,
        (10.0, 11.0, 12.0),
        "row",
    )
    assert module.grid([row, row]) == module.grid([[1, 2, 3], row]) == 12.0
    for function in (module.sequence, module.array, module.grid):
        with pytest.raises(LookupError, match="wrong"):
            function(Wrong())
    with pytest.raises(
        TypeError, match=r"at \[0\]: expected float, got protocols.Track; pass float\(\) of it"
    ):
        module.sequence([module.Track()])
    with pytest.raises(TypeError, match=r"at \[1\]: expected Sequence\[float\], got protocols.Track"):
        module.rows([row, module.Track()])


@pytest.mark.keeps_live("types are never freed")
@pytest.mark.skipif(FREE_THREADED, reason="builds without the GIL track wrappers from the start")
def test_objects_of_numbers_that_python_creates_cost_the_collector_nothing(ffi: Any, corner: Any) -> None:
    corner.Leaf(1)  # the first call is a slow one

    @ffi.dataclass("corner.Other")
    class Other:
        """A new class, after which those of all types are looked up again."""

        x: int

    assert Other(1).x == 1
    if ffi.ffi_mode == "cython":
        assert not gc.is_tracked(corner.Leaf(1))
