"""Passing by reference: objects in callbacks and overrides, views of converted values, and fixed arrays."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, collect, compiles_classes, needs_compilers

pytestmark = compiles_classes

SOURCE = """
#include <cstddef>
#include <string>

// As in a library's header: before that of anyffi.
namespace { struct Vec { double x = 0; }; }
inline bool operator==(const Vec& a, const Vec& b) { return a.x == b.x; }
inline bool operator!=(const Vec& a, const Vec& b) { return a.x != b.x; }

#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/unordered_map.h>
#include <anyffi/stl/vector.h>

ANYFFI_CLASS(Vec, "refs.Vec").init<>().field("x", &Vec::x).op(anyffi::ops::eq);
ANYFFI_EXPORT(vec, [](Vec given) { return given; });

struct Event {
  bool handled = false;
};
struct Text { std::unique_ptr<std::string> body = std::make_unique<std::string>("body"); };
struct Bus {
  std::function<void(Event&)> on;
  bool fire(Event& event) { on(event); return event.handled; }
};
struct Listener {
  virtual ~Listener() = default;
  virtual void hear(Event& event) = 0;
  virtual void peek(const Event&) {}
};
struct PyListener : anyffi::Overridable<Listener> {
  void hear(Event& event) override { override_pure<void>("hear", event); }
  void peek(const Event& event) override { override_or<void>("peek", [] {}, event); }
};
ANYFFI_CLASS(Event, "refs.Event").init<>().field("handled", &Event::handled);
ANYFFI_CLASS(Text, "refs.Text").init<>().property("size", [](const Text& text) { return text.body->size(); });
ANYFFI_CLASS(Bus, "refs.Bus").init<>().field("on", &Bus::on).method("fire", &Bus::fire);
ANYFFI_CLASS(Listener, "refs.Listener").overridable<PyListener>().init<>().method("hear", &Listener::hear);
ANYFFI_EXPORT(tell, [](Listener& listener, Event& event) {
  listener.hear(event);
  listener.peek(event);
  return event.handled;
});
// Python knows no object at this address.
ANYFFI_EXPORT(tell_new, [](Listener& listener) {
  Event event;
  listener.hear(event);
  return event.handled;
});
template <class Map>
Map make_texts() {
  Map texts;
  texts["a"];
  return texts;
}
ANYFFI_EXPORT(texts, &make_texts<std::map<std::string, Text>>);
ANYFFI_EXPORT(unordered_texts, &make_texts<std::unordered_map<std::string, Text>>);
ANYFFI_EXPORT(with_text, [](const Text& text, const std::function<void(const Text&)>& f) { f(text); });

struct Piece { const char* data; size_t size; };
template <>
struct anyffi::Traits<Piece> : anyffi::TraitsVia<Piece, anyffi::Bytes> {
  static Piece from(const Carrier& bytes) { return {reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(bytes.size())}; }
  static Carrier to(const Piece& piece) { return Carrier(std::string_view(piece.data, piece.size)); }
};
struct Numbers { const int64_t* data; size_t size; };
template <>
struct anyffi::Traits<Numbers> : anyffi::TraitsVia<Numbers, std::vector<int64_t>> {
  static Numbers from(const Carrier& numbers) { return {numbers.data(), numbers.size()}; }
  static Carrier to(const Numbers& numbers) { return {numbers.data, numbers.data + numbers.size}; }
};
ANYFFI_EXPORT(joined, [](Piece a, Piece b) { return anyffi::Bytes(std::string(a.data, a.size) + std::string(b.data, b.size)); });
ANYFFI_EXPORT(total, [](Numbers a, Numbers b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size; ++i) sum += a.data[i];
  for (size_t i = 0; i < b.size; ++i) sum -= b.data[i];
  return sum;
});

struct Tag {
  char id[4] = {'R', 'I', 'F', 'F'};
  char rest[8] = "rest";
};
ANYFFI_CLASS(Tag, "refs.Tag").init<>().field("id", &Tag::id).field("rest", &Tag::rest);
"""


@pytest.fixture
def refs(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("references.cc", SOURCE))


def test_callbacks_get_the_object_itself(refs: Any) -> None:
    class Mine(refs.Event):
        pass

    bus = refs.Bus()
    for cls in (refs.Event, Mine):
        seen = []

        def handle(event: Any) -> None:
            event.handled = True
            seen.append(event)

        bus.on = handle
        event = cls()
        assert bus.fire(event) is True
        assert seen[0] is event
        seen.clear()
    bus.on = None
    del handle
    collect()


def test_overrides_get_the_object_itself(refs: Any) -> None:
    seen = []

    class Mine(refs.Listener):
        def hear(self, event: Any) -> None:
            seen.append(event)
            event.handled = True

        def peek(self, event: Any) -> None:
            seen.append(event)

    event = refs.Event()
    assert refs.tell(Mine(), event) is True
    assert seen[0] is seen[1] is event
    seen.clear()
    # Of an object that only C++ has, Python gets a copy, which it may keep.
    assert refs.tell_new(Mine()) is False
    assert seen[0].handled is True
    seen.clear()


def test_objects_without_a_copy(refs: Any) -> None:
    text = refs.Text()
    sizes = []
    refs.with_text(text, lambda given: sizes.append((given is text, given.size)))
    assert sizes == [(True, 4)]


@pytest.mark.parametrize("name", ["texts", "unordered_texts"])
def test_a_map_of_objects_without_a_copy(refs: Any, name: str) -> None:
    assert {key: text.size for key, text in getattr(refs, name)().items()} == {"a": 4}


def test_views_of_what_a_conversion_made(refs: Any) -> None:
    assert refs.joined(b"a" * 40, b"b" * 40) == b"a" * 40 + b"b" * 40
    assert refs.joined(bytearray(b"a" * 40), b"b") == b"a" * 40 + b"b"
    assert refs.joined(b"ab", b"") == b"ab"
    assert refs.total(range(100), [1] * 100) == 4850
    assert refs.total([], [7]) == -7
    with pytest.raises(TypeError, match=r"argument 1 \(arg1\), at \[1\]: expected int, got str"):
        refs.total([1], [1, "2"])


def test_text_in_an_array_without_an_end(refs: Any) -> None:
    tag = refs.Tag()
    assert (tag.id, tag.rest) == ("RIFF", "rest")


def test_operators_before_the_header(refs: Any) -> None:
    a, b = refs.Vec(), refs.Vec()
    assert a == b
    b.x = 1
    assert a != b
    assert refs.vec(b) == b


VIEWS = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/string.h>
struct Shape {{ virtual ~Shape() = default; virtual std::string_view name() const = 0; }};
struct PyShape : anyffi::Overridable<Shape> {{
  std::string_view name() const override {{ {body}; }}
}};
ANYFFI_CLASS(Shape, "views.Shape").overridable<PyShape>().init<>();
ANYFFI_EXPORT(f, []({parameter} f) {{ f(); }});
"""


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.parametrize(
    ("body", "parameter", "message"),
    [
        ('return override_pure<std::string_view>("name")', "anyffi::Function", "what an override returns is"),
        ('return "name"', "const std::function<std::string_view()>&", "what a callback returns is released"),
        ('return "name"', "std::function<const char*()>", "what a callback returns is released"),
        ('return "name"', "std::function<Shape*()>", "the object that a callback returns is released"),
    ],
)
def test_views_of_results_do_not_compile(build: Build, body: str, parameter: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        build("views_of_results.cc", VIEWS.format(body=body, parameter=parameter))
