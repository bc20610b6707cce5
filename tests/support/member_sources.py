"""C++ classes whose members take and return values of many types."""

from __future__ import annotations

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
