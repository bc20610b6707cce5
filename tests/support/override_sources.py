"""A C++ file with classes whose virtual functions are overridden in Python."""

from __future__ import annotations

OVERRIDES = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

#include <mutex>
#include <stdexcept>
#include <thread>

namespace {

int64_t live = 0;

struct Shape {
  explicit Shape(std::string label = "none") : label(std::move(label)) { ++live; }
  virtual ~Shape() { --live; }
  virtual double area() const = 0;
  virtual std::string name() const { return "shape " + label; }
  virtual int64_t scale(int64_t by, const std::string& unit) { return by + static_cast<int64_t>(unit.size()); }
  virtual void touch() { ++touched; }
  // Calls the virtual functions.
  std::string describe() const { return name() + ": " + std::to_string(static_cast<int>(area())); }
  virtual double twice() const { return 2 * area(); }
  std::string label;
  int64_t touched = 0;
};
struct PyShape : anyffi::Overridable<Shape> {
  using Overridable::Overridable;
  double area() const override { return override_pure<double>("area"); }
  std::string name() const override {
    return override_or<std::string>("name", [&] { return Shape::name(); });
  }
  int64_t scale(int64_t by, const std::string& unit) override {
    return override_or<int64_t>("scale", [&] { return Shape::scale(by, unit); }, by, unit);
  }
  void touch() override {
    override_or<void>("touch", [&] { Shape::touch(); });
  }
  double twice() const override {
    return override_or<double>("twice", [&] { return Shape::twice(); });
  }
};
struct Square : Shape {
  explicit Square(double side) : Shape("square"), side(side) {}
  double area() const override { return side * side; }
  double side;
};

std::vector<std::shared_ptr<Shape>> kept;

// One that several threads replace and call.
std::shared_ptr<Shape> current;
std::mutex current_mutex;
std::shared_ptr<Shape> exchange_current(std::shared_ptr<Shape> shape) {
  std::lock_guard<std::mutex> guard(current_mutex);
  current.swap(shape);
  return shape;
}
std::shared_ptr<Shape> share_current() {
  std::lock_guard<std::mutex> guard(current_mutex);
  return current;
}

struct Factory {
  virtual ~Factory() = default;
  virtual std::shared_ptr<Shape> make() = 0;
  virtual std::unique_ptr<Shape> give() = 0;
  virtual std::vector<std::string> words(const std::vector<int64_t>& of) { return {std::to_string(of.size())}; }
};
struct PyFactory : anyffi::Overridable<Factory> {
  std::shared_ptr<Shape> make() override { return override_pure<std::shared_ptr<Shape>>("make"); }
  std::unique_ptr<Shape> give() override { return override_pure<std::unique_ptr<Shape>>("give"); }
  std::vector<std::string> words(const std::vector<int64_t>& of) override {
    return override_or<std::vector<std::string>>("words", [&] { return Factory::words(of); }, of);
  }
};

}  // namespace

using anyffi::arg;

ANYFFI_CLASS(Shape, "over.Shape")
    .doc("Something with an area.")
    .overridable<PyShape>()
    .init<std::string>(arg("label") = "none").doc("Make a shape.")
    .method("area", &Shape::area)
    .method("name", &Shape::name)
    .method("scale", &Shape::scale, arg("by"), arg("unit") = "m")
    .method("touch", &Shape::touch)
    .method("describe", &Shape::describe)
    .method("twice", &Shape::twice)
    .field("label", &Shape::label)
    .field("touched", &Shape::touched);
ANYFFI_CLASS(Square, "over.Square", Shape).init<double>(arg("side"));
ANYFFI_CLASS(Factory, "over.Factory")
    .overridable<PyFactory>()
    .init<>()
    .method("make", &Factory::make)
    .method("words", &Factory::words, arg("of"));

ANYFFI_EXPORT(live, [] { return live; });
ANYFFI_EXPORT(area_of, [](const Shape& shape) { return shape.area(); }, arg("shape"));
ANYFFI_EXPORT(sum, [](const Shape& shape, int64_t times) {
  double total = 0;
  for (int64_t i = 0; i < times; ++i) total += shape.area();
  return total;
}, arg("shape"), arg("times"));
ANYFFI_EXPORT(name_of, [](const Shape& shape) { return shape.name(); }, arg("shape"));
ANYFFI_EXPORT(scale_of, [](Shape& shape, int64_t by) { return shape.scale(by, "km"); }, arg("shape"), arg("by"));
ANYFFI_EXPORT(touch, [](Shape& shape) { shape.touch(); }, arg("shape"));
ANYFFI_EXPORT(area_unlocked, [](const Shape& shape) { return shape.area(); }, arg("shape")).release_gil();
ANYFFI_EXPORT(area_elsewhere, [](const Shape& shape) {
  double found = 0;
  std::thread([&] { found = shape.area(); }).join();
  return found;
}, arg("shape")).release_gil();
ANYFFI_EXPORT(guard, [](const Shape& shape) -> std::string {
  try {
    shape.area();
  } catch (const std::exception& error) {
    return std::string("caught ") + error.what();
  }
  return "none";
}, arg("shape"));
ANYFFI_EXPORT(keep, [](std::shared_ptr<Shape> shape) { kept.push_back(std::move(shape)); }, arg("shape"));
ANYFFI_EXPORT(kept_area, [] { return kept.at(0)->area(); });
ANYFFI_EXPORT(kept_at, [](size_t i) { return kept.at(i); }, arg("i"));
ANYFFI_EXPORT(forget, [] { kept.clear(); exchange_current(nullptr); });
ANYFFI_EXPORT(set_current, [](std::shared_ptr<Shape> shape) { exchange_current(std::move(shape)); }, arg("shape"));
ANYFFI_EXPORT(current_area, [] { return share_current()->area(); });
ANYFFI_EXPORT(take, [](std::unique_ptr<Shape> shape) { return shape->area(); }, arg("shape"));
ANYFFI_EXPORT(make_from, [](Factory& factory) { return factory.make(); }, arg("factory"));
ANYFFI_EXPORT(give_from, [](Factory& factory) { return factory.give()->area(); }, arg("factory"));
ANYFFI_EXPORT(words_of, [](Factory& factory) { return factory.words({1, 2, 3}); }, arg("factory"));
"""
