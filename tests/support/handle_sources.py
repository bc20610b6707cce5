"""A C++ file whose objects refer into others: handles of nodes, settable pointers, iterators, unions."""

from __future__ import annotations

HANDLES = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/vector.h>

namespace {

// The nodes of a document, which handles point to.
struct Document {
  Document() = default;
  Document(const Document&) = delete;
  ~Document() {
    for (int64_t& node : nodes) node = -1;
  }
  std::vector<int64_t> nodes{1, 2, 3};
};
struct Handle {
  const int64_t* node;
  int64_t value() const { return *node; }
};
std::vector<Handle> handles(const Document& document) {
  std::vector<Handle> all;
  for (const int64_t& node : document.nodes) all.push_back({&node});
  return all;
}
struct HandleIterator {
  const int64_t* at;
  Handle operator*() const { return {at}; }
  HandleIterator& operator++() { ++at; return *this; }
  bool operator!=(const HandleIterator& other) const { return at != other.at; }
};
// Iterators that hold the handle, and return a reference or a pointer to it.
template <bool kIsPointer>
struct HoldingIterator {
  Handle held;
  std::conditional_t<kIsPointer, Handle*, Handle&> operator*() {
    if constexpr (kIsPointer) return &held;
    else return held;
  }
  HoldingIterator& operator++() { ++held.node; return *this; }
  bool operator!=(const HoldingIterator& other) const { return held.node != other.held.node; }
};
// The same with an index.
struct IndexedIterator : HoldingIterator<false> {
  IndexedIterator operator+(std::ptrdiff_t i) const { return {{{held.node + i}}}; }
  std::ptrdiff_t operator-(const IndexedIterator& other) const { return held.node - other.held.node; }
  bool operator<(const IndexedIterator& other) const { return held.node < other.held.node; }
};
template <class I>
struct HoldingDocument : Document {
  I begin() const { return I{{nodes.data()}}; }
  I end() const { return I{{nodes.data() + nodes.size()}}; }
};
using ByReference = HoldingDocument<HoldingIterator<false>>;
using ByPointer = HoldingDocument<HoldingIterator<true>>;
using ByIndex = HoldingDocument<IndexedIterator>;
// What an iterator holds cannot be copied.
struct Whole {
  Whole() = default;
  Whole(const Whole&) = delete;
};
struct WholeIterator {
  int64_t at = 0;
  Whole held;
  Whole& operator*() { return held; }
  WholeIterator& operator++() { ++at; return *this; }
  bool operator!=(const WholeIterator& other) const { return at != other.at; }
  WholeIterator() = default;
  WholeIterator(const WholeIterator& other) : at(other.at) {}
};
struct Wholes {};

struct Wheel {
  int64_t size;
};
struct Car {
  std::vector<Wheel> wheels{{1}, {2}};
  std::vector<Wheel*> all() { return {&wheels[0], &wheels[1]}; }
};

struct Truck : Car {};
struct Train {
  Train() = default;
  Train(const Train&) = delete;
  Wheel a{1}, b{2};
  std::vector<Wheel*> wheels{&a, &b, nullptr};
};

struct Definition {
  Wheel* wheel = nullptr;
};

struct Listener {
  virtual ~Listener() = default;
  virtual int64_t hear(int64_t x) { return x; }
};
struct PyListener : anyffi::Overridable<Listener> {
  using Overridable::Overridable;
  int64_t hear(int64_t x) override { return override_or<int64_t>("hear", [&] { return Listener::hear(x); }, x); }
};
struct Texture {
  int64_t id = 3;
};
struct World {
  std::vector<Listener*> listeners;
  Texture* texture = nullptr;
  void add(Listener* listener) { listeners.push_back(listener); }
  int64_t say(int64_t x) {
    for (Listener* each : listeners) x = each->hear(x);
    return x;
  }
};

// Of another library, whose users write pairs.
struct Point {
  double x, y;
};
struct Body {
  Point position{0, 0};
  Point velocity{1, 1};
  std::vector<Point> path;
};

union Id {
  int32_t whole;
  uint8_t bytes[4];
};

struct Count {
  int64_t left = 3;
  int64_t next() {
    if (left == 0) throw anyffi::Error("StopIteration", "");
    return left--;
  }
};

}  // namespace

using anyffi::arg;

ANYFFI_CLASS(Handle, "handles.Handle").property("value", &Handle::value);
ANYFFI_CLASS(Document, "handles.Document")
    .init<>()
    .method("first", [](const Document& self) { return handles(self)[0]; }).keep_alive<0, 1>()
    .method("all", &handles).keep_alive<0, 1>()
    .method("by_name", [](const Document& self) {
      return std::map<std::string, std::vector<Handle>>{{"a", handles(self)}, {"b", {}}};
    }).keep_alive<0, 1>()
    .method("as_array", [](const Document& self) {
      anyffi::List<Handle> all;
      for (const Handle& each : handles(self)) all.push_back(each);
      return std::move(all).freeze();
    }).keep_alive<0, 1>()
    .iterate_references([](const Document& self) { return HandleIterator{self.nodes.data()}; },
                        [](const Document& self) { return HandleIterator{self.nodes.data() + self.nodes.size()}; });
ANYFFI_CLASS(ByReference, "handles.ByReference").init<>().iterate_references(&ByReference::begin, &ByReference::end);
ANYFFI_CLASS(ByPointer, "handles.ByPointer")
    .init<>()
    .iterate_references(&ByPointer::begin, &ByPointer::end);
ANYFFI_CLASS(ByIndex, "handles.ByIndex").init<>().iterate_references(&ByIndex::begin, &ByIndex::end);
ANYFFI_CLASS(Whole, "handles.Whole");
ANYFFI_CLASS(Wholes, "handles.Wholes")
    .init<>()
    .iterate_references([](Wholes&) { return WholeIterator(); }, [](Wholes&) {
      WholeIterator end;
      return ++end;
    });
ANYFFI_CLASS(Wheel, "handles.Wheel").init<int64_t>(arg("size")).field("size", &Wheel::size);
ANYFFI_CLASS(Car, "handles.Car")
    .init<>()
    .method("sizes", [](const Car& car) { return car.wheels[0].size * 10 + car.wheels[1].size; })
    .method("all", &Car::all).returns(anyffi::Returns::kReferenceInternal)
    .iterate_references([](Car& car) { return car.wheels.begin(); }, [](Car& car) { return car.wheels.end(); });
ANYFFI_CLASS(Truck, "handles.Truck")
    .init<>()
    .iterate_references([](const Truck& truck) { return truck.wheels.begin(); },
                        [](const Truck& truck) { return truck.wheels.end(); });
ANYFFI_CLASS(Train, "handles.Train")
    .init<>()
    .iterate_references([](Train& train) { return train.wheels.begin(); }, [](Train& train) { return train.wheels.end(); });
ANYFFI_CLASS(Definition, "handles.Definition")
    .init<>()
    .property("wheel", [](const Definition& self) { return self.wheel; },
              [](Definition& self, Wheel* wheel) { self.wheel = wheel; }).keep_alive<1, 2>();
ANYFFI_CLASS(Listener, "handles.Listener").overridable<PyListener>().init<>().method("hear", &Listener::hear, arg("x"));
ANYFFI_CLASS(Texture, "handles.Texture").init<>().field("id", &Texture::id);
ANYFFI_CLASS(World, "handles.World")
    .init<>()
    .method("add", &World::add, arg("listener")).keep_alive<1, 2>()
    .method("say", &World::say, arg("x"))
    .method("take", [](World&, std::unique_ptr<Texture> texture) { return texture->id; }, arg("texture"))
    .property("texture", [](const World& self) { return self.texture; },
              [](World& self, Texture* texture) { self.texture = texture; }).keep_alive<1, 2>();
ANYFFI_TYPE_KEY(Point, "handles.Point");
template <>
struct anyffi::FromValue<Point> {
  static Point from_value(const std::pair<double, double>& pair) {
    if (pair.first != pair.first) throw anyffi::Error("ValueError", "no number");
    return {pair.first, pair.second};
  }
};
ANYFFI_BIND(Point).init<double, double>(arg("x"), arg("y")).field("x", &Point::x).field("y", &Point::y);
ANYFFI_CLASS(Body, "handles.Body")
    .init<>()
    .init<Point>(arg("position"))
    .field("position", &Body::position)
    .field("path", &Body::path)
    .property("velocity", [](const Body& body) { return body.velocity; },
              [](Body& body, const Point& value) { body.velocity = value; });
ANYFFI_EXPORT(length, [](const Point& point) { return point.x * point.x + point.y * point.y; }, arg("point"));
ANYFFI_CLASS(Id, "handles.Id")
    .init<>()
    .field("whole", &Id::whole)
    .tensor_field("bytes", &Id::bytes)
    .property("first", [](const Id& id) { return id.bytes[0]; });
ANYFFI_CLASS(Count, "handles.Count")
    .init<>()
    .method("__iter__", [](Count& self) -> Count& { return self; })
    .method("__next__", &Count::next);
"""
