"""A C++ file with classes from which Python dataclasses derive."""

from __future__ import annotations

DERIVED = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>

#include <utility>

namespace {

int64_t live = 0;

struct Shape {
  Shape(std::string label, int64_t size) : label(std::move(label)), size(size) { ++live; }
  Shape(const Shape& other) : label(other.label), size(other.size) { ++live; }
  virtual ~Shape() { --live; }
  virtual int64_t area() const { return size * size; }
  std::string label;
  int64_t size;
};
struct PyShape : anyffi::Overridable<Shape> {
  using Overridable::Overridable;
  int64_t area() const override {
    return override_or<int64_t>("area", [&] { return Shape::area(); });
  }
};

struct Task {
  virtual ~Task() = default;
  virtual int64_t run() const = 0;
  int64_t x = 3;
};
struct PyTask : anyffi::Overridable<Task> {
  int64_t run() const override { return override_pure<int64_t>("run"); }
};
struct Maker {
  explicit Maker(int64_t x) : x(x) {}
  virtual ~Maker() = default;
  virtual int64_t make() const { return x; }
  int64_t x;
};
struct PyMaker : anyffi::Overridable<Maker> {
  using Overridable::Overridable;
  int64_t make() const override {
    return override_or<int64_t>("make", [&] { return Maker::make(); });
  }
};
struct Chore : Task {
  int64_t run() const override { return -1; }
};

/// The class of Python's wrapper is not at the address of the content.
struct Padding {
  virtual ~Padding() = default;
  int64_t padding[3] = {7, 7, 7};
};
struct Plain {
  int64_t x = 1;
  anyffi::AnyValue held;
  explicit Plain(int64_t x = 1) : x(x) { ++live; }
  Plain(const Plain&) = delete;
  ~Plain() { --live; }
};
struct Wide : Padding, Plain {
  using Plain::Plain;
  int64_t y = 2;
};
struct Closed {
  explicit Closed(int64_t x) : x(x) {}
  Closed(const Closed&) = delete;
  int64_t x;
};
struct Shared {
  int64_t x = 5;
};
std::shared_ptr<Shared> the_shared;
std::shared_ptr<Shape> kept;

}  // namespace

using anyffi::arg;

ANYFFI_CLASS(Shape, "derive.Shape")
    .overridable<PyShape>()
    .init<std::string, int64_t>(arg("label") = "none", arg("size") = 1)
    .method("area", &Shape::area)
    .method("me", [](Shape& self) { return &self; }).returns(anyffi::Returns::kReference)
    .field("label", &Shape::label)
    .field("size", &Shape::size)
    .copyable()
    .pickle([](const Shape& self) { return anyffi::Array<>{anyffi::String(self.label), self.size}; },
            [](const anyffi::Array<>& state) {
              return Shape(state[0].cast<std::string>(), state[1].cast<int64_t>());
            });
ANYFFI_CLASS(Plain, "derive.Plain").init<int64_t>(arg("x") = 1).field("x", &Plain::x).field("held", &Plain::held);
ANYFFI_CLASS(Wide, "derive.Wide", Plain).init<int64_t>(arg("x") = 1).field("y", &Wide::y);
ANYFFI_CLASS(Closed, "derive.Closed").init<int64_t>(arg("x")).property("x", [](const Closed& self) { return self.x; });
ANYFFI_CLASS(Shared, "derive.Shared")
    .init([] {
      if (!the_shared) the_shared = std::make_shared<Shared>();
      return the_shared;
    })
    .field("x", &Shared::x);

ANYFFI_CLASS(Task, "derive.Task").overridable<PyTask>().init<>().method("run", &Task::run).field("x", &Task::x).copyable();
ANYFFI_CLASS(Maker, "derive.Maker")
    .overridable<PyMaker>()
    .init([](int64_t x) { return Maker{x}; }, arg("x"))
    .method("make", &Maker::make);

ANYFFI_EXPORT(run, [](const Task& task) { return task.run(); }, arg("task"));
ANYFFI_EXPORT(chore, []() -> std::unique_ptr<Task> { return std::make_unique<Chore>(); });
ANYFFI_EXPORT(make, [](const Maker& maker) { return maker.make(); }, arg("maker"));
ANYFFI_EXPORT(area_of, [](const Shape& shape) { return shape.area(); }, arg("shape"));
ANYFFI_EXPORT(grow, [](Plain& plain, int64_t by) { return plain.x += by; }, arg("plain"), arg("by"));
ANYFFI_EXPORT(keep, [](std::shared_ptr<Shape> shape) { kept = std::move(shape); }, arg("shape"));
ANYFFI_EXPORT(take, [](std::unique_ptr<Shape>) {}, arg("shape"));
ANYFFI_EXPORT(get_kept, [] { return kept; });
ANYFFI_EXPORT(get_shared, [] { return the_shared; });
ANYFFI_EXPORT(area_of_kept, [] { return kept->area(); });
ANYFFI_EXPORT(read, [](const anyffi::ObjectRef& object, const std::string& name) {
  const AnyffiFieldInfo* field = anyffi_type_find_field(object.get()->type_code, name.c_str());
  AnyffiValue value = anyffi_make_none();
  anyffi::detail::check(field->get(object.get(), field, &value));
  return anyffi::AnyValue(anyffi::detail::Adopt{}, value);
}, arg("object"), arg("name"));
ANYFFI_EXPORT(live, [] { return live; });
ANYFFI_EXPORT(forget, [] { kept.reset(); the_shared.reset(); });
"""
