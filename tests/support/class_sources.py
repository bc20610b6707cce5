"""C++ classes that do not use anyffi, and the code that binds them."""

from __future__ import annotations

CLASSES = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace geo {

struct Vec {
  double x, y;
  Vec operator+(const Vec& other) const { return {x + other.x, y + other.y}; }
  Vec operator-() const { return {-x, -y}; }
  Vec& operator+=(const Vec& other) { x += other.x; y += other.y; return *this; }
  bool operator==(const Vec& other) const { return x == other.x && y == other.y; }
  bool operator<(const Vec& other) const { return x < other.x; }
  Vec& itself() { return *this; }
  const double& first() const { return x; }
};

class Named {
 public:
  virtual ~Named() = default;
  std::string name = "none";
  std::string get_name() const { return name; }
};

class Counted {
 public:
  Counted() { ++live; }
  Counted(const Counted&) = delete;
  virtual ~Counted() { --live; }
  virtual int64_t kind() const { return 1; }
  int64_t tag = 7;
  static inline int64_t live = 0;
};

/// The object class Counted is its second base, at an offset.
class Index : public Named, public Counted {
 public:
  Index(int64_t dim, std::string space) : dim(dim), space(std::move(space)) {
    if (dim < 0) throw std::invalid_argument("dim is negative");
  }
  int64_t kind() const override { return 2; }
  int64_t add(int64_t x) { items.push_back(x); return static_cast<int64_t>(items.size()); }
  int64_t add(const std::string& x) { return add(static_cast<int64_t>(x.size())); }
  size_t size() const { return items.size(); }
  int64_t& at(int64_t i) { return items.at(static_cast<size_t>(i)); }
  std::vector<int64_t>::const_iterator begin() const { return items.begin(); }
  std::vector<int64_t>::const_iterator end() const { return items.end(); }
  void each(const anyffi::Function& f) { for (int64_t item : std::vector<int64_t>(items)) f(item); }
  static int64_t twice(int64_t x) { return 2 * x; }
  int64_t dim;
  std::string space;
  int64_t ef = 10;
  Vec where{1, 2};
  const int64_t fixed = 3;
  std::vector<int64_t> items;
};

struct Leaf : Index {
  Leaf() : Index(1, "leaf") {}
  int64_t depth = 1;
};

struct Abstract {
  virtual ~Abstract() = default;
  virtual double area() const = 0;
};
struct Square : Abstract {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};

struct alignas(64) Wide {
  explicit Wide(int64_t x) : x(x) {}
  int64_t x;
  bool is_aligned() const { return reinterpret_cast<uintptr_t>(this) % 64 == 0; }
};

struct Asked {
  int64_t answer;
};
struct Moved {
  std::unique_ptr<int64_t> value;
};

struct Node {
  std::string name;
  anyffi::List<> children;
};

struct Guard {
  int64_t depth = 0;
};

struct Odd {
  int64_t x = 1;
};

}  // namespace geo

using anyffi::arg;

ANYFFI_CLASS(geo::Vec, "geo.Vec")
    .doc("A point.")
    .init<double, double>(arg("x"), arg("y") = 0.0)
    .constant("SIZE", 2, "How many coordinates there are.")
    .constant("NAMES", "xy")
    .constant("ZERO", geo::Vec{0, 0})
    .constant("AXES", std::vector<geo::Vec>{{1, 0}, {0, 1}})
    .field("x", &geo::Vec::x, "To the right.")
    .field("y", &geo::Vec::y)
    .op(anyffi::ops::add)
    .op(anyffi::ops::neg)
    .op(anyffi::ops::iadd)
    .op(anyffi::ops::eq)
    .op(anyffi::ops::lt)
    .op(anyffi::ops::mul, [](const geo::Vec& a, double by) { return geo::Vec{a.x * by, a.y * by}; }, arg("by"))
    .op(anyffi::ops::mul, [](const geo::Vec& a, const geo::Vec& b) { return a.x * b.x + a.y * b.y; }, arg("other"))
    .op(anyffi::ops::rmul, [](const geo::Vec& a, double by) { return geo::Vec{a.x * by, a.y * by}; }, arg("by"))
    .op(anyffi::ops::getitem, [](const geo::Vec& a, int64_t i) {
      if (i < 0 || i > 1) throw std::out_of_range("no such coordinate");
      return i == 0 ? a.x : a.y;
    }, arg("i"))
    .method("itself", &geo::Vec::itself)
    .method("first", &geo::Vec::first)
    .pickle([](const geo::Vec& v) { return std::vector<double>{v.x, v.y}; },
            [](const std::vector<double>& state) { return geo::Vec{state.at(0), state.at(1)}; })
    .copyable();

ANYFFI_CLASS(geo::Counted, "geo.Counted")
    .property("kind", &geo::Counted::kind)
    .doc("Which class it is.")
    .field("tag", &geo::Counted::tag, "A tag.");

ANYFFI_CLASS(geo::Index, "geo.Index", geo::Counted)
    .doc("An index.")
    .init<int64_t, std::string>(arg("dim"), arg("space") = "l2")
    .doc("Make one.")
    .init([](const std::string& space) { return anyffi::make_object<geo::Index>(1, space); }, arg("space"))
    .method("add", anyffi::overload_cast<int64_t>(&geo::Index::add), arg("x"))
    .doc("Add a number.")
    .method("add", anyffi::overload_cast<const std::string&>(&geo::Index::add), arg("text"))
    .method("get_name", &geo::Index::get_name)
    .method("add_slowly", [](geo::Index& self, int64_t x) { return self.add(x); }, arg("x")).release_gil()
    .method("each", &geo::Index::each, arg("f"))
    .method("like", [](const geo::Index& self, anyffi::Ref<geo::Index> other) { return self.dim == other->dim; },
            arg("other"))
    .static_method("twice", &geo::Index::twice, arg("x"))
    .field("dim", &geo::Index::dim)
    .field("space", &geo::Index::space)
    .field("ef", &geo::Index::ef, "Breadth of a search.")
    .field("where", &geo::Index::where)
    .field("fixed", &geo::Index::fixed)
    .field("name", &geo::Index::name)
    .property("size", &geo::Index::size)
    .property("breadth", [](const geo::Index& self) { return self.ef; },
              [](geo::Index& self, int64_t value) {
                if (value <= 0) throw std::invalid_argument("a breadth is positive");
                self.ef = value;
              })
    .doc("The breadth.")
    .op(anyffi::ops::len)
    .op(anyffi::ops::getitem, &geo::Index::at, arg("i"))
    .op(anyffi::ops::setitem, [](geo::Index& self, int64_t i, int64_t x) { self.at(i) = x; }, arg("i"), arg("x"))
    .op(anyffi::ops::contains, [](const geo::Index& self, int64_t x) {
      for (int64_t item : self.items) {
        if (item == x) return true;
      }
      return false;
    }, arg("x"))
    .op(anyffi::ops::call, [](const geo::Index& self, int64_t x) { return self.dim * x; }, arg("x"))
    .iterate(&geo::Index::begin, &geo::Index::end);

ANYFFI_CLASS(geo::Leaf, "geo.Leaf", geo::Index).init<>().field("depth", &geo::Leaf::depth);
ANYFFI_CLASS(geo::Abstract, "geo.Abstract").method("area", &geo::Abstract::area);
ANYFFI_CLASS(geo::Square, "geo.Square", geo::Abstract).init<double>(arg("side")).field("side", &geo::Square::side);
ANYFFI_CLASS(geo::Wide, "geo.Wide").init<int64_t>(arg("x")).field("x", &geo::Wide::x).method("is_aligned",
    &geo::Wide::is_aligned);
ANYFFI_CLASS(geo::Moved, "geo.Moved")
    .init([](int64_t x) { return geo::Moved{std::make_unique<int64_t>(x)}; }, arg("x"))
    .property("value", [](const geo::Moved& self) { return *self.value; });
ANYFFI_CLASS(geo::Asked, "geo.Asked")
    .init([](const std::string& name) { return geo::Asked{anyffi::Function::get_global(name.c_str())().cast<int64_t>()}; },
          arg("name"))
    .field("answer", &geo::Asked::answer);
ANYFFI_CLASS(geo::Node, "geo.Node")
    .init<std::string>(arg("name"))
    .field("name", &geo::Node::name)
    .field("children", &geo::Node::children);
ANYFFI_CLASS(geo::Guard, "geo.Guard")
    .init<>()
    .field("depth", &geo::Guard::depth)
    .op(anyffi::ops::enter, [](anyffi::Ref<geo::Guard> self) { return ++self->depth, self; })
    .op(anyffi::ops::exit, [](geo::Guard& self, anyffi::AnyView, anyffi::AnyView, anyffi::AnyView) { --self.depth; })
    .op(anyffi::ops::hash, [](const geo::Guard&) { return 5; })
    .op(anyffi::ops::str, [](const geo::Guard& self) { return std::to_string(self.depth); })
    .op(anyffi::ops::bool_, [](const geo::Guard& self) { return self.depth > 0; });
ANYFFI_CLASS(geo::Odd, "OddGeometry")
    .init<>()
    .method("_anyffi_address", [](const geo::Odd&) { return 1; })
    .method("_anyffi_move_from", [](const geo::Odd&, int64_t) { return 2; }, arg("other"))
    .method("class", [](const geo::Odd&) { return 3; })
    .field("x", &geo::Odd::x);

ANYFFI_EXPORT(live, [] { return geo::Counted::live; });
ANYFFI_EXPORT(tag_of, [](const geo::Counted& counted) { return 10 * counted.kind() + counted.tag; }, arg("counted"));
ANYFFI_EXPORT(tag_of_ref, [](const anyffi::Ref<geo::Counted>& counted) { return counted->tag; }, arg("counted"));
ANYFFI_EXPORT(new_index, [](int64_t dim) { return anyffi::make_object<geo::Index>(dim, "made"); }, arg("dim"));
ANYFFI_EXPORT(new_leaf, [] { return anyffi::Ref<geo::Index>(anyffi::make_object<geo::Leaf>()); });
ANYFFI_EXPORT(sum, [](const std::vector<geo::Vec>& all) {
  geo::Vec total{0, 0};
  for (const geo::Vec& one : all) total += one;
  return total;
}, arg("all"));
ANYFFI_EXPORT(moved, [](geo::Vec v) { v.x = 100; return v; }, arg("v"));
ANYFFI_EXPORT(area, [](const geo::Abstract& shape) { return shape.area(); }, arg("shape"));
"""
