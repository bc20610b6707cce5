"""A library's own smart pointers, like boost's, which convert through std::shared_ptr."""

from __future__ import annotations

import gc
import inspect
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/vector.h>
using anyffi::arg;

namespace own {
int64_t alive = 0;
struct Part {
  explicit Part(int64_t x = 0) : x(x) { ++alive; }
  Part(const Part&) = delete;
  virtual ~Part() { --alive; }
  virtual int64_t get() const { return x; }
  int64_t x;
};
// Shared, with a count of its own.
template <class T>
class Ptr {
 public:
  Ptr() = default;
  template <class D>
  Ptr(T* pointer, D deleter) : shared_(pointer, deleter) {}
  explicit Ptr(std::shared_ptr<T> shared) : shared_(std::move(shared)) {}
  explicit operator bool() const { return shared_ != nullptr; }
  T* get() const { return shared_.get(); }
  T& operator*() const { return *shared_; }
  T* operator->() const { return shared_.get(); }
  long use_count() const { return shared_.use_count(); }

 private:
  std::shared_ptr<T> shared_;
};
struct Holder {
  Holder() = default;
  explicit Holder(const Ptr<Part>& part) : part(part) {}
  int64_t read() const { return part->get(); }
  void set(Ptr<Part> given) { part = std::move(given); }
  Ptr<Part> part;
};
struct PyPart : anyffi::Overridable<Part> {
  using Overridable::Overridable;
  int64_t get() const override { return override_or<int64_t>("get", [&] { return Part::get(); }); }
};
}  // namespace own

template <class T>
struct anyffi::Traits<own::Ptr<T>> : anyffi::TraitsVia<own::Ptr<T>, std::shared_ptr<T>> {
  struct Keep {
    std::shared_ptr<T> kept;
    void operator()(T*) { kept.reset(); }
  };
  struct KeepOwn {
    own::Ptr<T> kept;
    void operator()(T*) { kept = {}; }
  };
  static own::Ptr<T> from(const std::shared_ptr<T>& given) {
    if (!given) return {};
    if (auto* own = std::get_deleter<KeepOwn>(given)) return own->kept;
    return {given.get(), Keep{given}};
  }
  static std::shared_ptr<T> to(const own::Ptr<T>& given) {
    return given ? std::shared_ptr<T>(given.get(), KeepOwn{given}) : nullptr;
  }
};

ANYFFI_CLASS(own::Part, "own.Part")
    .overridable<own::PyPart>()
    .init<int64_t>(arg("x") = 0)
    .field("x", &own::Part::x)
    .method("get", &own::Part::get);
ANYFFI_CLASS(own::Holder, "own.Holder")
    .init<>()
    .init<const own::Ptr<own::Part>&>(arg("part").not_none())
    .field("part", &own::Holder::part)
    .method("read", &own::Holder::read)
    .method("set", &own::Holder::set, arg("part").not_none())
    .method("set_any", &own::Holder::set, arg("part"))
    .method("get", anyffi::never_null([](const own::Holder& h) { return h.part; }))
    .property("strict", [](const own::Holder& h) { return h.part; },
              [](own::Holder& h, anyffi::NotNull<own::Ptr<own::Part>> part) { h.part = part; });
ANYFFI_EXPORT(make, [](int64_t x) { return own::Ptr<own::Part>(std::make_shared<own::Part>(x)); }, arg("x"));
ANYFFI_EXPORT(count, [](const own::Ptr<own::Part>& p) { return int64_t{p.use_count()}; }, arg("p").not_none());
ANYFFI_EXPORT(all, [](const std::vector<own::Ptr<own::Part>>& parts) { return parts; }, arg("parts"));
ANYFFI_EXPORT(alive, [] { return own::alive; });
"""


@pytest.fixture
def own(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("own.cc", SOURCE))


def test_objects_keep_their_identity(own: Any) -> None:
    part, holder = own.Part(3), own.Holder()
    assert holder.part is None
    holder.set(part)
    assert (holder.read(), holder.part is part, holder.get() is part) == (3, True, True)
    made = own.make(4)
    holder.strict = made
    assert (holder.strict is made, holder.read(), own.Holder(made).read()) == (True, 4, 4)
    assert own.all([part, None, made]) == [part, None, made]
    holder.set_any(None)
    assert holder.part is None


def test_cpp_keeps_objects_alive(own: Any) -> None:
    gc.collect()  # what other tests left
    before = own.alive()
    holder = own.Holder(own.Part(3))
    gc.collect()
    assert (holder.read(), own.alive() - before) == (3, 1)
    made = own.make(5)
    # The library's own pointer comes back, not a new one around another pointer.
    assert own.count(made) == 2
    holder.set(made)
    del made
    assert (holder.read(), own.alive() - before) == (5, 1)
    del holder
    assert own.alive() == before


def test_overrides_live_on(own: Any) -> None:
    class Doubled(own.Part):  # type: ignore[misc, name-defined]
        def get(self) -> Any:
            return 2 * super().get()

    holder = own.Holder(Doubled(4))
    gc.collect()
    assert (holder.read(), type(holder.part)) == (8, Doubled)


def test_none_is_refused_where_it_is_declared(own: Any) -> None:
    holder = own.Holder()
    expected = r"expected own.Part, got NoneType$"
    with pytest.raises(TypeError, match=rf"set\(self: own.Holder, part: own.Part\) -> None: .*{expected}"):
        holder.set(None)
    with pytest.raises(TypeError, match=expected):
        holder.strict = None
    with pytest.raises(TypeError, match=expected):
        own.count(None)
    with pytest.raises(TypeError, match=r"\(part\): expected own.Part, got NoneType"):
        own.Holder(None)
    with pytest.raises(TypeError, match=r"expected own.Part, got own.Holder$"):
        own.count(holder)
    with pytest.raises(ValueError, match="a pointer is null that is declared as one that never is"):
        holder.get()


def test_signatures(own: Any) -> None:
    assert inspect.signature(own.count).parameters["p"].annotation == "own.Part"
    assert inspect.signature(own.Holder.get).return_annotation == "own.Part"
    assert inspect.signature(own.Holder.set_any).parameters["part"].annotation == "own.Part | None"
    assert inspect.signature(own.make).return_annotation == "own.Part | None"
