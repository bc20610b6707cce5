"""`anyffi.fields` and `anyffi.asdict` of classes of C++."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>

using anyffi::arg;

namespace listed {
struct Base {
  int64_t id;
  std::string name;
};
struct Layer : Base {
  double rate;
  bool is_open = false;
  int64_t calls = 0;
};
struct Several {
  int64_t x, y;
};
struct Plain : Several {};
enum class Color { kRed, kBlue };
struct Kept {
  anyffi::List<int64_t> items;
  Color color;
};
}  // namespace listed

ANYFFI_CLASS(listed::Base, "listed.Base")
    .init<int64_t, std::string>(arg("id"), arg("name") = std::string("none"))
    .field("id", &listed::Base::id)
    .field("name", &listed::Base::name);
ANYFFI_CLASS(listed::Layer, "listed.Layer", listed::Base)
    .init([](int64_t id, double rate, bool is_open) { return listed::Layer{{id, "layer"}, rate, is_open}; },
          arg("id"), arg("rate") = 0.5, anyffi::kw_only(), arg("is_open") = false)
    .field("rate", &listed::Layer::rate)
    .field("is_open", &listed::Layer::is_open)
    .field("calls", &listed::Layer::calls);
ANYFFI_CLASS(listed::Several, "listed.Several")
    .init([](int64_t x) { return listed::Several{x, 0}; }, arg("x"))
    .init([](int64_t x, int64_t y) { return listed::Several{x, y}; }, arg("x"), arg("y"))
    .field("x", &listed::Several::x)
    .field("y", &listed::Several::y);
ANYFFI_CLASS(listed::Plain, "listed.Plain", listed::Several);
ANYFFI_ENUM(listed::Color, "listed.Color").value("RED", listed::Color::kRed).value("BLUE", listed::Color::kBlue);
ANYFFI_CLASS(listed::Kept, "listed.Kept")
    .init<anyffi::List<int64_t>, listed::Color>(arg("items") = anyffi::List<int64_t>{1, 2},
                                                arg("color") = listed::Color::kBlue)
    .field("items", &listed::Kept::items)
    .field("color", &listed::Kept::color);
"""


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("listed.cc", SOURCE))


def described(fields: Any) -> list[Any]:
    has_keywords = sys.version_info >= (3, 10)
    return [
        (field.name, field.type, field.init, field.default, field.kw_only if has_keywords else None)
        for field in fields
    ]


def test_parameters_of_the_constructor(ffi: Any, lib: Any) -> None:
    none, yes, no = dataclasses.MISSING, *((True, False) if sys.version_info >= (3, 10) else (None, None))
    assert described(ffi.fields(lib.Base)) == [
        ("id", "int", True, none, no),
        ("name", "str", True, "none", no),
    ]
    assert described(ffi.fields(lib.Layer)) == [
        ("id", "int", True, none, no),
        ("name", "str", False, none, no),
        ("rate", "float", True, 0.5, no),
        ("is_open", "bool", True, False, yes),
        ("calls", "int", False, none, no),
    ]
    assert [field.init for field in ffi.fields(lib.Several)] == [True, True]
    assert [(field.name, field.init) for field in ffi.fields(lib.Plain)] == [("x", False), ("y", False)]


def test_fields_are_the_same_objects(ffi: Any, lib: Any) -> None:
    class Derived(lib.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(7)

    for cls, value in ((lib.Layer, lib.Layer(1)), (Derived, Derived())):
        assert ffi.fields(cls) == ffi.fields(cls) == ffi.fields(value)
    assert described(ffi.fields(Derived)) == described(ffi.fields(lib.Layer))


def test_defaults_that_can_change_are_copies(ffi: Any, lib: Any) -> None:
    items, color = ffi.fields(lib.Kept)
    assert items.default is dataclasses.MISSING
    first = items.default_factory()
    assert first == [1, 2]
    first.append(3)
    assert items.default_factory() == [1, 2]
    assert list(lib.Kept().items) == [1, 2]
    assert color.default is lib.Color.BLUE


def test_values_by_name(ffi: Any, lib: Any) -> None:
    layers = ffi.asdict(lib.Layer(1, is_open=True))
    assert layers == {"id": 1, "name": "layer", "rate": 0.5, "is_open": True, "calls": 0}
    assert ffi.astuple(lib.Several(1, 2)) == (1, 2)
