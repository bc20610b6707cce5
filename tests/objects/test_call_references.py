"""Objects that cannot be copied, passed by reference to functions of Python: they end after the call."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, collect, compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/memory.h>

namespace {

struct Event {
  explicit Event(int64_t id) : id(id) {}
  Event(const Event&) = delete;
  ~Event() { id = -1; }
  int64_t id;
};
struct Listener {
  virtual ~Listener() = default;
  virtual void notify(const Event& event) = 0;
};
struct PyListener : anyffi::Overridable<Listener> {
  void notify(const Event& event) override { override_pure<void>("notify", event); }
};

}  // namespace

using anyffi::arg;

ANYFFI_CLASS(Event, "passing.Event").init<int64_t>(arg("id")).field("id", &Event::id);
ANYFFI_CLASS(Listener, "passing.Listener")
    .overridable<PyListener>()
    .init<>()
    .method("notify", &Listener::notify, arg("event"));

ANYFFI_EXPORT(emit, [](Listener& listener, int64_t id) {
  Event event(id);
  listener.notify(event);
  listener.notify(event);
}, arg("listener"), arg("id"));
ANYFFI_EXPORT(emit_to, [](const std::function<void(Event&)>& f, int64_t id) {
  Event event(id);
  f(event);
  return event.id;
}, arg("f"), arg("id"));
ANYFFI_EXPORT(send, [](const std::function<void(Event&)>& f, Event& event) { f(event); }, arg("f"), arg("event"));
ANYFFI_EXPORT(id_of, [](const Event& event) { return event.id; }, arg("event"));
"""

pytestmark = compiles_classes


@pytest.fixture
def passing(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("passing.cc", SOURCE))


def test_what_python_keeps_is_empty_after_the_call(passing: Any) -> None:
    kept, seen = [], []

    class Keeps(passing.Listener):  # type: ignore[misc, name-defined]
        def notify(self, event: Any) -> None:
            seen.append((event.id, passing.id_of(event)))
            kept.append(event)

    passing.emit(Keeps(), 5)
    passing.emit_to(kept.append, 6)
    assert seen == [(5, 5)] * 2
    for event in kept:
        for use in (lambda x: x.id, passing.id_of, lambda x: setattr(x, "id", 1)):
            with pytest.raises(ValueError, match="this Event is empty"):
                use(event)


def test_python_changes_the_object_itself(passing: Any) -> None:
    def change(event: Any) -> None:
        event.id += 1

    assert passing.emit_to(change, 5) == 6
    with pytest.raises(ZeroDivisionError):
        passing.emit_to(lambda event: 1 // 0, 5)


def test_an_object_that_python_knew_stays(passing: Any) -> None:
    kept: list[Any] = []
    event = passing.Event(7)
    passing.send(kept.append, event)
    assert kept[0] is event
    assert event.id == 7
    kept.clear()
    # Nobody else holds it.
    passing.send(kept.append, passing.Event(8))
    collect()
    assert kept[0].id == 8
