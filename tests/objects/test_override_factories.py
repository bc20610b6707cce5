"""Functions that make objects of overridable classes, for classes of Python that derive from them."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, collect, compiles_classes, count_live, cpython_only, needs_compilers

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>

namespace making {
int64_t alive = 0;
// Can be neither copied nor moved.
template <int kIndex>
struct Printer {
  explicit Printer(int64_t by) : by(by) { ++alive; }
  Printer(const Printer&) = delete;
  virtual ~Printer() { --alive; }
  virtual int64_t visit(int64_t x) const { return x * by; }
  int64_t by;
};
template <int kIndex>
struct PyPrinter : anyffi::Overridable<Printer<kIndex>> {
  using anyffi::Overridable<Printer<kIndex>>::Overridable;
  int64_t visit(int64_t x) const override {
    return this->template override_or<int64_t>("visit", [&] { return Printer<kIndex>::visit(x); }, x);
  }
};
using ByPointer = Printer<0>;
using PyByPointer = PyPrinter<0>;
using ByUnique = Printer<1>;
using PyByUnique = PyPrinter<1>;
using ByBase = Printer<2>;
using PyByBase = PyPrinter<2>;
using Shared = Printer<3>;
using PyShared = PyPrinter<3>;
using Plain = Printer<4>;
using PyPlain = PyPrinter<4>;
struct Bound : Plain {
  using Printer::Printer;
};
template <class T>
int64_t run(const T& printer) {
  return printer.visit(2);
}
template <class T>
int64_t take(std::unique_ptr<T> printer) {
  return printer->visit(2);
}
}  // namespace making

using namespace making;
using anyffi::arg;

ANYFFI_CLASS(ByPointer, "making.ByPointer")
    .overridable<PyByPointer>()
    .init([](int64_t by) { return by == 0 ? nullptr : new PyByPointer(by); }, arg("by"))
    .method("visit", &ByPointer::visit)
    .method("run", &run<ByPointer>);
ANYFFI_CLASS(ByUnique, "making.ByUnique")
    .overridable<PyByUnique>()
    .init([](int64_t by) { return std::make_unique<PyByUnique>(by); }, arg("by"))
    .method("visit", &ByUnique::visit)
    .method("run", &run<ByUnique>);
ANYFFI_CLASS(ByBase, "making.ByBase")
    .overridable<PyByBase>()
    .init([](int64_t by) -> std::unique_ptr<ByBase> { return std::make_unique<PyByBase>(by); }, arg("by"))
    .method("visit", &ByBase::visit)
    .method("run", &run<ByBase>);
ANYFFI_CLASS(Shared, "making.Shared")
    .overridable<PyShared>()
    .init([](int64_t by) { return std::shared_ptr<Shared>(std::make_shared<PyShared>(by)); }, arg("by"))
    .init([](const ByPointer&, int64_t by) { return std::shared_ptr<Shared>(std::make_shared<PyShared>(by)); },
          arg("kept"), arg("by"))
    .keep_alive<1, 2>()
    .method("visit", &Shared::visit)
    .method("run", &run<Shared>);
ANYFFI_CLASS(Plain, "making.Plain")
    .overridable<PyPlain>()
    .init([](int64_t by) { return std::make_unique<Plain>(by); }, arg("by"))
    .method("visit", &Plain::visit)
    .method("run", &run<Plain>);
ANYFFI_CLASS(Bound, "making.Bound", Plain).init<int64_t>(arg("by"));
ANYFFI_EXPORT(take_pointer, &take<ByPointer>);
ANYFFI_EXPORT(take_unique, &take<ByUnique>);
static std::shared_ptr<ByUnique> store;
ANYFFI_EXPORT(keep, [](std::shared_ptr<ByUnique> printer) { store = std::move(printer); });
ANYFFI_EXPORT(kept, [] { return store->visit(2); });
ANYFFI_EXPORT(live, [] { return alive; });
"""


@pytest.fixture
def making(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("override_factories.cc", SOURCE))
    before = count_live(module)
    yield module
    assert count_live(module) == before


@pytest.mark.parametrize("name", ["ByPointer", "ByUnique", "ByBase"])
def test_a_function_returns_a_pointer_to_the_class_with_overrides(making: Any, name: str) -> None:
    base = getattr(making, name)

    class Mine(base):  # type: ignore[misc]
        def visit(self, x: int) -> int:
            return 100 + int(super().visit(x))

    assert (Mine(3).run(), base(3).run()) == (106, 6)
    if name == "ByPointer":
        with pytest.raises(ValueError, match="a constructor returned a null pointer"):
            Mine(0)


@pytest.mark.parametrize(("name", "take"), [("ByPointer", "take_pointer"), ("ByUnique", "take_unique")])
@cpython_only("PyPy refers to an object more than once, so that none can be moved to C++")
def test_objects_with_overrides_are_not_given_away(making: Any, name: str, take: str) -> None:
    class Mine(getattr(making, name)):  # type: ignore[misc]
        def visit(self, x: int) -> int:
            return 7

    mine = Mine(3)
    with pytest.raises(ValueError, match="does not own its content alone"):
        getattr(making, take)(mine)
    assert mine.run() == 7


@cpython_only("on PyPy an object lives on without its Python part")
def test_objects_with_overrides_live_on_in_cpp(making: Any) -> None:
    class Mine(making.ByUnique):  # type: ignore[misc, name-defined]
        def visit(self, x: int) -> int:
            return 8

    making.keep(Mine(3))
    collect()
    assert making.kept() == 8
    making.keep(None)


@pytest.mark.parametrize("name", ["Shared", "Plain"])
def test_a_class_of_python_needs_an_object_with_overrides(making: Any, name: str) -> None:
    base = getattr(making, name)
    assert base(3).run() == 6

    class Mine(base):  # type: ignore[misc]
        pass

    class Initialized(base):  # type: ignore[misc]
        def __init__(self, by: int) -> None:
            super().__init__(by)

    words = rf"a constructor made a making\.{name} whose functions Python cannot override"
    for cls in (Mine, Initialized):
        with pytest.raises(TypeError, match=words):
            cls(3)
    if name == "Shared":
        # Also a constructor that keeps another object alive.
        with pytest.raises(TypeError, match=words):
            Mine(making.ByPointer(1), 3)


def test_a_bound_class_without_overrides_has_none(making: Any) -> None:
    class Mine(making.Bound):  # type: ignore[misc, name-defined]
        pass

    assert Mine(3).run() == 6


@needs_compilers
@pytest.mark.slow("compiling")
def test_a_shared_pointer_to_the_class_with_overrides_does_not_compile(build: Build) -> None:
    factory = "return std::make_unique<PyByUnique>(by);"
    assert factory in SOURCE
    with pytest.raises(Exception, match="a constructor returns a T"):
        build("shared_factory.cc", SOURCE.replace(factory, factory.replace("unique<", "shared<")))
