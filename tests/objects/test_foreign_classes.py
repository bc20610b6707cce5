"""Features of existing libraries: an `operator new`, enumerations in variants, nested exceptions, listeners."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from support import Build, collect, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/variant.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <variant>
#include <vector>

namespace pool {
struct Pooled {
  static void* operator new(size_t size) { return std::malloc(size); }
  static void operator delete(void* place) { std::free(place); }
  int64_t size = 1;
};
// As classes of aligned vectors have: a reference to one of several functions is ambiguous.
struct Overloaded {
  static void* operator new(size_t size) { return ++count, std::malloc(size); }
  static void* operator new(size_t, void* place) { return place; }
  static void operator delete(void* place) { --count, std::free(place); }
  static void operator delete(void*, void*) {}
  static inline int64_t count = 0;
  int64_t size = 1;
};
// Its operator& returns something else.
struct Nowhere {
  Nowhere* operator&() { return nullptr; }
  const Nowhere* operator&() const { return nullptr; }
  int64_t size = 1;
};
struct Place {
  Nowhere& self() { return nowhere; }
  Nowhere nowhere;
  std::vector<Nowhere> all{2};
};
enum class Color { kRed, kBlue };
enum class Plain : uint8_t { kOne = 1 };
}  // namespace pool

ANYFFI_CLASS(pool::Pooled, "pool.Pooled").init<>().field("size", &pool::Pooled::size);
ANYFFI_CLASS(pool::Overloaded, "pool.Overloaded").init<>().field("size", &pool::Overloaded::size);
ANYFFI_EXPORT(take, [](std::unique_ptr<pool::Overloaded> given) { return given->size; });
ANYFFI_EXPORT(make, [] { return std::make_unique<pool::Overloaded>(); });
ANYFFI_EXPORT(count, [] { return pool::Overloaded::count; });
ANYFFI_CLASS(pool::Nowhere, "pool.Nowhere").init<>().field("size", &pool::Nowhere::size);
ANYFFI_CLASS(pool::Place, "pool.Place")
    .init<>()
    .field("nowhere", &pool::Place::nowhere)
    .method("self", &pool::Place::self)
    .returns(anyffi::Returns::kReferenceInternal)
    .method("copied", &pool::Place::self)
    .iterate_references([](pool::Place& place) { return place.all.begin(); }, [](pool::Place& place) { return place.all.end(); });
ANYFFI_EXPORT(size_in, [](const std::function<void(pool::Nowhere&)>& f) {
  pool::Nowhere nowhere;
  f(nowhere);
  return nowhere.size;
});
ANYFFI_ENUM(pool::Color, "pool.Color").value("RED", pool::Color::kRed).value("BLUE", pool::Color::kBlue);

ANYFFI_EXPORT(copy_of, [](pool::Pooled pooled) { return pooled; });
ANYFFI_EXPORT(maybe, [](std::optional<pool::Pooled> pooled) { return pooled ? pooled->size : 0; });
ANYFFI_EXPORT(color_or_text, [](std::variant<pool::Color, std::string> x) { return x; });
ANYFFI_EXPORT(plain_or_text, [](std::variant<std::string, pool::Plain> x) { return x.index(); });

struct Listener {
  virtual ~Listener() = default;
  virtual void heard(int64_t x) = 0;
};
struct PyListener : anyffi::Overridable<Listener> {
  void heard(int64_t x) override { return override_pure<void>("heard", x); }
};
ANYFFI_CLASS(Listener, "pool.Listener").overridable<PyListener>().init<>().method("heard", &Listener::heard);
ANYFFI_EXPORT(tell, [](Listener& listener, int64_t x) { listener.heard(x); });
ANYFFI_EXPORT(value_of, [](const std::function<int64_t()>& f) { return f(); });
ANYFFI_EXPORT(nest_plainly, [](const std::function<void()>& f) { f(); });

ANYFFI_EXPORT(nest, [](const std::function<void()>& f) {
  try {
    f();
  } catch (...) {
    try {
      std::throw_with_nested(std::out_of_range("inner"));
    } catch (...) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  }
});
"""


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("foreign_classes.cc", SOURCE))


def test_a_class_with_its_own_operator_new(lib: Any) -> None:
    pooled = lib.Pooled()
    pooled.size = 3
    made = lib.copy_of(pooled)
    pooled.size = 4
    assert (made.size, lib.maybe(pooled), lib.maybe(None)) == (3, 4, 0)


def test_a_class_with_several_operators_new(lib: Any) -> None:
    made = lib.Overloaded()
    # Its memory is the runtime's, which C++ cannot delete.
    with pytest.raises(ValueError, match=r"cannot be moved to C\+\+"):
        lib.take(made)
    del made
    collect()
    assert lib.count() == 0
    if sys.implementation.name == "cpython":
        assert lib.take(lib.make()) == 1
        assert lib.count() == 0


def test_a_class_with_an_operator_that_hides_its_address(lib: Any) -> None:
    place = lib.Place()
    place.nowhere.size = 2
    assert place.self() is place.nowhere
    assert (place.self().size, place.copied().size, place.copied() is place.nowhere) == (2, 2, False)
    assert [each.size for each in place] == [1, 1]
    assert lib.size_in(lambda nowhere: nowhere.size) == 1


def test_enumerations_in_variants(lib: Any) -> None:
    assert lib.color_or_text(lib.Color.BLUE) is lib.Color.BLUE
    assert lib.color_or_text(1) is lib.Color.BLUE
    assert lib.color_or_text("blue") == "blue"
    with pytest.raises(ValueError, match=r"expected a member of pool\.Color, got 7$"):
        lib.color_or_text(7)
    assert (lib.plain_or_text("a"), lib.plain_or_text(1)) == (0, 1)


def test_a_nested_exception_is_the_cause(lib: Any) -> None:
    given = KeyError("k")

    def fail() -> None:
        raise given

    with pytest.raises(RuntimeError, match=r"^outer$") as caught:
        lib.nest(fail)
    inner = caught.value.__cause__
    assert (type(inner), str(inner)) == (IndexError, "inner")
    assert inner.__cause__ is given
    lib.nest(lambda: None)


def test_results_that_nobody_takes_are_not_converted(lib: Any) -> None:
    """A callback that returns nothing in C++ may return anything in Python."""
    converted: list[int] = []

    class Refuses:
        def __anyffi_value__(self) -> int:
            converted.append(1)
            raise ValueError("not converted")

    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for result in (
        np.array(["a"]),
        Refuses(),
        cyclic,
        lib.Pooled.__new__(lib.Pooled),
        "\ud800",
        2**70,
        [1, 2],
    ):
        lib.nest(lambda result=result: result)
        listener = type("Listener", (lib.Listener,), {"heard": lambda self, x, result=result: result})()
        assert lib.tell(listener, 3) is None
    assert converted == []
    with pytest.raises(ValueError, match="not converted"):
        lib.value_of(Refuses)
    with pytest.raises(ZeroDivisionError):
        lib.nest_plainly(lambda: 1 // 0)
