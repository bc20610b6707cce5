"""What members of C++ classes take and return: the same types of Python as those of functions."""

from __future__ import annotations

import copy
import pickle
import sys
import weakref
from typing import Any

import pytest
from support import Build, collect, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]

np = pytest.importorskip("numpy")

BOXES = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/vector.h>

namespace box {

using Rows = anyffi::TypedView<const float, 2, anyffi::row_major>;

struct Box {
  std::vector<std::vector<int64_t>> rows{{1}, {2, 3}};
  std::map<std::string, std::vector<int64_t>> named{{"a", {1}}};
  std::set<int64_t> keys{4};
  std::pair<int64_t, std::string> pair{5, "five"};
  std::optional<std::vector<int64_t>> maybe{{6}};
  anyffi::List<int64_t> shared{7};
  std::vector<std::vector<int64_t>> get_rows() const { return rows; }
  const std::vector<std::vector<int64_t>>& show_rows() const { return rows; }
  void set_rows(std::vector<std::vector<int64_t>> given) { rows = std::move(given); }
  size_t size() const { return rows.size(); }
};

/// The object may be in cycles through Python.
struct Button {
  std::function<void(anyffi::AnyValue)> on_click;
  std::vector<anyffi::AnyValue> tags;
  Box box;
};
struct Panel {
  explicit Panel(anyffi::Function f) : callback(std::move(f)) {}
  anyffi::Function callback;
  int64_t width = 3;
  void visit_references(const anyffi::Visitor& visit) const { visit(callback); }
};
struct Wide : Button {
  anyffi::AnyValue other;
};
struct Inner {
  static constexpr anyffi::FixedText kTypeKey{"box.Inner"};
  static constexpr auto fields() { return anyffi::fields(anyffi::field<&Inner::held>("held")); }
  anyffi::AnyValue held;
};
struct Outer {
  Inner inner;
};

}  // namespace box

using anyffi::arg;
using box::Box;

ANYFFI_CLASS(Box, "box.Box")
    .init<>()
    .init([](const box::Rows& rows) {
      Box made;
      made.rows.clear();
      for (int64_t i = 0; i < rows.extent(0); ++i) {
        made.rows.emplace_back(rows.data() + i * rows.extent(1), rows.data() + (i + 1) * rows.extent(1));
      }
      return made;
    }, arg("rows").convert())
    .field("rows", &Box::rows)
    .field("named", &Box::named)
    .field("keys", &Box::keys)
    .field("pair", &Box::pair)
    .field("maybe", &Box::maybe)
    .field("shared", &Box::shared)
    .method("get_rows", &Box::get_rows)
    .method("show_rows", &Box::show_rows)
    .method("same_rows", [](const Box& self) -> anyffi::AnyValue { return self.rows; })
    .method("native_shared", [](const Box& self) { return anyffi::Native<anyffi::List<int64_t>>{self.shared}; })
    .static_method("pairs", [] { return std::vector<std::pair<int64_t, std::string>>{{1, "x"}}; })
    .property("all", &Box::get_rows, &Box::set_rows)
    .op(anyffi::ops::getitem, [](const Box& self, size_t i) { return self.rows.at(i); }, arg("i"))
    .op(anyffi::ops::add, [](const Box& a, const Box& b) {
      auto sum = a.rows;
      sum.insert(sum.end(), b.rows.begin(), b.rows.end());
      return sum;
    }, arg("other"))
    .op(anyffi::ops::call, [](const Box& self) { return self.named; })
    .iterate([](const Box& self) { return self.rows.begin(); }, [](const Box& self) { return self.rows.end(); })
    .method("sum", [](const Box&, const box::Rows& rows) {
      float sum = 0;
      for (int64_t i = 0; i < rows.extent(0) * rows.extent(1); ++i) sum += rows.data()[i];
      return sum;
    }, arg("rows"))
    .method("sum_any", [](Box&, const box::Rows& rows, float by) { return rows.data()[0] * by; },
            arg("rows").convert(), arg("by") = 1.0f)
    .release_gil()
    .static_method("first", [](const box::Rows& rows) { return rows.data()[0]; }, arg("rows").convert())
    .method("extend", [](Box& self, const anyffi::Iterable<int64_t>& items) {
      for (int64_t item : items) self.rows.push_back({item});
      return self.rows.size();
    }, arg("items"))
    .method("each", [](const Box& self, const std::function<void(std::vector<int64_t>)>& f) {
      for (const auto& row : self.rows) f(row);
    }, arg("f"))
    .pickle([](const Box& self) { return self.rows; }, [](std::vector<std::vector<int64_t>> rows) {
      Box made;
      made.rows = std::move(rows);
      return made;
    });

ANYFFI_CLASS(box::Button, "box.Button")
    .init<>()
    .field("on_click", &box::Button::on_click)
    .field("callback", &box::Button::on_click)
    .field("tags", &box::Button::tags)
    .field("box", &box::Button::box)
    .method("click", [](const anyffi::Ref<box::Button>& self) { self->on_click(self); });
ANYFFI_CLASS(box::Wide, "box.Wide", box::Button).init<>().field("other", &box::Wide::other);
ANYFFI_CLASS(box::Panel, "box.Panel").init<anyffi::Function>(arg("callback")).field("width", &box::Panel::width);
ANYFFI_BIND(box::Inner).method("get", [](const box::Inner& self) { return self.held; })
    .method("set", [](box::Inner& self, anyffi::AnyValue held) { self.held = std::move(held); }, arg("held"));
ANYFFI_CLASS(box::Outer, "box.Outer").init<>().field("inner", &box::Outer::inner);
"""


@pytest.fixture
def box(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("boxes.cc", BOXES))


def exact(value: Any) -> Any:
    """Return a value with the types of everything inside."""
    if type(value) is dict:
        return dict, [(exact(key), exact(item)) for key, item in value.items()]
    if type(value) in (list, tuple, set):
        return type(value), [exact(item) for item in value]
    return type(value), value


def test_results_are_containers_of_python(box: Any, ffi: Any) -> None:
    one = box.Box()
    rows = [[1], [2, 3]]
    for given, wanted in (
        (one.rows, rows),
        (one.get_rows(), rows),
        (one.show_rows(), rows),
        (one.all, rows),
        (one[1], [2, 3]),
        (one + one, rows + rows),
        (list(one), rows),
        (one(), {"a": [1]}),
        (one.named, {"a": [1]}),
        (one.keys, {4}),
        (one.pair, (5, "five")),
        (one.maybe, [6]),
        (box.Box.pairs(), [(1, "x")]),
        (one.native_shared(), [7]),
        (box.Box.rows.__get__(one), rows),
        (one.__getstate__(), rows),
    ):
        assert exact(given) == exact(wanted)
    assert type(one.shared) is type(one.same_rows()) is ffi.List
    one.shared.append(8)
    assert one.shared == [7, 8]
    assert repr(one).startswith("box.Box(rows=[[1], [2, 3]], named={'a': [1]}, keys={4}, pair=(5, 'five'), maybe=[6]")
    # A copy, each time.
    one.rows.append(5)
    assert one.rows == rows
    seen: list[Any] = []
    one.each(seen.append)
    assert exact(seen) == exact(rows)


def test_containers_can_be_assigned(box: Any) -> None:
    one = box.Box()
    one.rows = ([1], (2,))
    assert one.rows == [[1], [2]]
    one.named = {"b": [2]}
    one.keys = {1: 2}.keys()
    one.pair = [1, "x"]
    one.maybe = None
    one.all = [[9]]
    assert (one.named, one.keys, one.pair, one.maybe, one.rows) == ({"b": [2]}, {1}, (1, "x"), None, [[9]])
    for name, value, message in (
        ("rows", [[1], ["x"]], r"^box.Box.rows, at \[1\]\[0\]: expected int, got str$"),
        ("named", {"k": 1}, r"""^box.Box.named, at \["k"\]: expected """),
        ("keys", 5, "^box.Box.keys: expected AbstractSet.*, got int$"),
        ("pair", (1,), "^box.Box.pair: "),
        ("maybe", b"x", "^box.Box.maybe: expected .*, got bytes$"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            setattr(one, name, value)
    assert (one.named, one.rows) == ({"b": [2]}, [[9]])


def test_typed_tensors(box: Any) -> None:
    one = box.Box()
    rows = np.arange(6, dtype="f4").reshape(2, 3)
    assert one.sum(rows) == one.sum(rows=rows) == box.Box.sum(one, rows) == 15
    assert one.sum_any([[2, 3]], by=2) == one.sum_any(rows[1:].astype("i4")) + 1 == 4
    assert box.Box.first([[5.0]]) == 5
    made = box.Box([[1, 2], [3, 4]])
    assert made.rows == box.Box(rows=np.array([[1, 2], [3, 4]])).rows == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match=r"sum\(self: box.Box, rows: float32.*argument 1 \(rows\): expected .*float64"):
        one.sum(rows.astype("f8"))
    with pytest.raises(TypeError, match=r"argument 1 \(rows\): expected .*, got list; pass numpy.asarray|got list"):
        one.sum([[1.0]])
    with pytest.raises(TypeError, match=r"Box\(\): no overload takes \(str\)"):
        box.Box("x")


def test_iterables(box: Any) -> None:
    one = box.Box()
    assert one.extend([1]) == 3
    assert one.extend(x for x in (1, 2)) == 5
    assert one.extend({5: 6}) == 6
    assert one.extend(items=range(1)) == 7
    with pytest.raises(TypeError, match=r"argument 1 \(items\): expected Iterable\[int\], got int"):
        one.extend(5)

    def fail() -> Any:
        yield 1
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        one.extend(fail())
    assert len(one.rows) == 7


def test_state_is_of_python(box: Any) -> None:
    one = box.Box([[5]])
    for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (type(made).__qualname__, made.rows) == ("Box", [[5]])


class Witness:
    """Shows whether it is alive."""


def assert_is_collected(make: Any) -> None:
    witness = Witness()
    ref = weakref.ref(witness)
    kept = make(witness)
    del witness
    collect()
    assert ref() is not None, "it is in use"
    del kept
    collect()
    assert ref() is None


cycles = pytest.mark.skipif(sys.implementation.name == "pypy", reason="there, cycles through C++ stay")


@cycles
@pytest.mark.parametrize("name", ["Button", "Wide"])
def test_cycles_through_fields(box: Any, name: str) -> None:
    def through_function(witness: Any) -> Any:
        button = getattr(box, name)()
        seen = []

        def on_click(x: Any) -> None:
            seen.append((x, button, witness))

        button.on_click = on_click
        button.click()
        assert seen[0][0] is button
        return button

    def through_tags(witness: Any) -> Any:
        button = getattr(box, name)()
        holder = lambda: (button, witness)  # noqa: E731
        button.tags = [1, holder]
        return button

    def through_an_inner_object(witness: Any) -> Any:
        button = getattr(box, name)()
        inner = button.box
        button.on_click = lambda: (button, witness)
        return inner

    assert_is_collected(through_function)
    assert_is_collected(through_tags)
    assert_is_collected(through_an_inner_object)


@cycles
def test_cycles_through_other_members(box: Any) -> None:
    def through_visitor(witness: Any) -> Any:
        found: list[Any] = [witness]
        panel = box.Panel(lambda: found)
        found.append(panel)
        return panel

    def through_a_derived_class(witness: Any) -> Any:
        wide = box.Wide()
        wide.other = lambda: (wide, witness)
        return wide

    def through_a_subclass(witness: Any) -> Any:
        class Mine(box.Wide):  # type: ignore[misc, name-defined]
            pass

        mine = Mine()
        mine.witness = witness
        mine.on_click = lambda: mine
        return mine

    assert_is_collected(through_visitor)
    assert_is_collected(through_a_derived_class)
    assert_is_collected(through_a_subclass)


def hold_witness(inner: Any) -> Witness:
    found: list[Any] = [Witness(), inner]
    inner.set(lambda: found)
    return found[0]  # type: ignore[no-any-return]


def test_references_inside_of_an_owner_stay(box: Any) -> None:
    outer = box.Outer()
    inner = outer.inner
    ref = weakref.ref(hold_witness(inner))
    # The inner object does not own what its content refers to.
    del inner
    collect()
    assert outer.inner.get()()[0] is ref()
    assert outer.inner.held is outer.inner.get()
