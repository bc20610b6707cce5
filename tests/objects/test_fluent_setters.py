"""Setters of properties whose result is the object, or another one: an assignment drops it, whoever owns it."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>

#include <memory>
#include <string>

namespace fluent {
struct Unbound {};
class App {
 public:
  App() = default;
  App(const App&) = delete;
  int64_t width() const { return width_; }
  App* width(int64_t width) { width_ = width; return this; }
  const std::string& name() const { return name_; }
  App& name(std::string name) { name_ = std::move(name); return *this; }
  Unbound* unbound(int64_t width) { width_ = width; return nullptr; }
  App& other(int64_t width) { width_ = width; static App other; return other; }

 private:
  int64_t width_ = 0;
  std::string name_;
};
struct Status {
  bool is_good;
};
}  // namespace fluent

template <>
struct anyffi::Traits<fluent::Status> : anyffi::TraitsVia<fluent::Status, bool> {
  static fluent::Status from(bool is_good) { return {is_good}; }
  static bool to(const fluent::Status& status) {
    if (!status.is_good) throw anyffi::Error("ValueError", "a bad status");
    return true;
  }
};

using fluent::App;
ANYFFI_CLASS(App, "fluent.App")
    .init<>()
    .property("width", anyffi::overload_cast<>(&App::width, anyffi::const_),
              anyffi::overload_cast<int64_t>(&App::width))
    .property("name", anyffi::overload_cast<>(&App::name, anyffi::const_),
              anyffi::overload_cast<std::string>(&App::name))
    .property("unbound", [](const App* app) { return app->width(); }, &App::unbound)
    .property("other", [](const App& app) { return app.width(); }, &App::other)
    .property("by_pointer", [](const App& app) { return app.width(); },
              [](App* app, int64_t width) { return app->width(width); })
    .property("by_shared", [](const App& app) { return app.width(); },
              [](std::shared_ptr<App> app, int64_t width) -> App& { return *app->width(width); })
    .property("status", [](const App& app) { return app.width(); }, [](App& app, int64_t width) {
      app.width(width);
      return fluent::Status{width >= 0};
    });
"""


@pytest.fixture
def fluent(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("fluent.cc", SOURCE))


@pytest.mark.parametrize("name", ["width", "unbound", "other", "by_pointer", "by_shared", "status"])
def test_an_assignment_drops_the_result(fluent: Any, name: str) -> None:
    app = fluent.App()
    setattr(app, name, 7)
    assert (getattr(app, name), app.width) == (7, 7)
    with pytest.raises(TypeError, match=rf"^fluent\.App\.{name}: expected int, got str$"):
        setattr(app, name, "wide")


def test_text(fluent: Any) -> None:
    app = fluent.App()
    app.name = "a"
    assert app.name == "a"


def test_a_status_is_raised(fluent: Any) -> None:
    app = fluent.App()
    with pytest.raises(ValueError, match="^a bad status$"):
        app.status = -1
