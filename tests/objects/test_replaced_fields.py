"""Copies of objects of C++ with other values in some fields, by `copy.replace`."""

from __future__ import annotations

import copy
import sys
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>

using anyffi::arg;

namespace spans {
struct Span {
  const int64_t low, high;
  std::string label;
  int64_t half = 0;
  int64_t length() const { return high - low; }
  int64_t doubled() const { return 2 * half; }
  void set_doubled(int64_t value) { half = value / 2; }
};
struct Named {
  virtual ~Named() = default;
  explicit Named(int64_t number) : number(number) {}
  const int64_t number;
  virtual int64_t shown() const { return number; }
};
struct PyNamed : anyffi::Overridable<Named> {
  using Overridable::Overridable;
  int64_t shown() const override { return override_or<int64_t>("shown", [&] { return Named::shown(); }); }
};
struct Fixed {
  const int64_t number = 3;
};
struct Stored {
  const int64_t number;
};
struct Mixed {
  const double wide;
  const float narrow;
  const bool flag;
};
Span make_span(int64_t low, int64_t high, std::string label) {
  if (low > high) throw anyffi::Error("ValueError", "low is above high");
  return {low, high, label};
}
}  // namespace spans

ANYFFI_CLASS(spans::Span, "spans.Span")
    .init(&spans::make_span, arg("low"), arg("high"), arg("label") = std::string())
    .field("low", &spans::Span::low)
    .field("high", &spans::Span::high)
    .field("label", &spans::Span::label)
    .property("length", &spans::Span::length)
    .property("doubled", &spans::Span::doubled, &spans::Span::set_doubled)
    .copyable();
ANYFFI_CLASS(spans::Named, "spans.Named")
    .overridable<spans::PyNamed>()
    .init<int64_t>(arg("number"))
    .field("number", &spans::Named::number)
    .method("shown", &spans::Named::shown)
    .copyable();
ANYFFI_CLASS(spans::Fixed, "spans.Fixed").init<>().field("number", &spans::Fixed::number).copyable();
ANYFFI_CLASS(spans::Mixed, "spans.Mixed")
    .init<double, float, bool>(arg("wide"), arg("narrow"), arg("flag"))
    .field("wide", &spans::Mixed::wide)
    .field("narrow", &spans::Mixed::narrow)
    .field("flag", &spans::Mixed::flag)
    .copyable();
ANYFFI_CLASS(spans::Stored, "spans.Stored")
    .init([] { return spans::Stored{1}; })
    .field("number", &spans::Stored::number)
    .pickle([](const spans::Stored& x) { return x.number; }, [](int64_t number) { return spans::Stored{number}; });
"""


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("spans.cc", SOURCE))


def parts_of(span: Any) -> Any:
    return type(span), span.low, span.high, span.label


def test_read_only_fields(lib: Any) -> None:
    span = lib.Span(1, 5, "a")
    assert parts_of(span.__replace__(low=2)) == (lib.Span, 2, 5, "a")
    assert parts_of(span.__replace__(label="b", low=3)) == (lib.Span, 3, 5, "b")
    assert parts_of(span) == (lib.Span, 1, 5, "a")
    if sys.version_info >= (3, 13):
        assert parts_of(copy.replace(span, high=9)) == (lib.Span, 1, 9, "a")


def test_the_constructor_gets_all_new_values_together(lib: Any) -> None:
    span = lib.Span(1, 5)
    assert parts_of(span.__replace__(low=7, high=8)) == (lib.Span, 7, 8, "")
    with pytest.raises(ValueError, match="^low is above high$"):
        span.__replace__(low=7)
    with pytest.raises(TypeError, match=r"argument 0 \(low\): expected int, got str"):
        span.__replace__(low="x")


def test_numbers_are_converted_as_by_the_constructor(lib: Any) -> None:
    mixed = lib.Mixed(0.5, 0.5, False)
    for changes in (
        {"wide": 1},
        {"wide": True},
        {"wide": 2**64},
        {"narrow": 0.1},
        {"narrow": 7},
        {"flag": 1},
    ):
        made = mixed.__replace__(**changes)
        expected = lib.Mixed(**{"wide": 0.5, "narrow": 0.5, "flag": False, **changes})
        assert [made.wide, made.narrow, made.flag] == [expected.wide, expected.narrow, expected.flag]
    with pytest.raises(ValueError, match=r"argument 2 \(flag\).*must be 0 or 1"):
        mixed.__replace__(flag=2)


def test_former_values(lib: Any) -> None:
    span = lib.Span(1, 5)
    made = span.__replace__(low=1)
    assert made is not span
    assert parts_of(made) == parts_of(span)


def test_properties(lib: Any) -> None:
    span = lib.Span(1, 5).__replace__(low=0, doubled=8)
    assert (span.low, span.doubled) == (0, 8)
    with pytest.raises(AttributeError):
        span.__replace__(low=0, length=8)


def test_classes_of_python(lib: Any) -> None:
    class Tagged(lib.Span):  # type: ignore[misc, name-defined]
        def __init__(self, high: int) -> None:
            super().__init__(0, high)
            self.tags = ["mine"]

    span = Tagged(5)
    made = span.__replace__(low=2)
    assert parts_of(made) == (Tagged, 2, 5, "")
    assert made.tags is span.tags


def test_overrides(lib: Any) -> None:
    class Loud(lib.Named):  # type: ignore[misc, name-defined]
        def shown(self) -> int:
            return 100 + int(super().shown())

    made = Loud(1).__replace__(number=2)
    assert (type(made), made.number, made.shown()) == (Loud, 2, 102)


def test_fields_that_no_constructor_takes(lib: Any) -> None:
    with pytest.raises(AttributeError):
        lib.Stored().__replace__(number=5)
    with pytest.raises(TypeError, match="no constructor takes 'number', which is read-only"):
        lib.Fixed().__replace__(number=5)
