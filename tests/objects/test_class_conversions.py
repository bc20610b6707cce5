"""int, float, hash and truth of objects by C++ conversions and `std::hash`, without functions that call them."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <stdexcept>

namespace conversions {
struct Ratio {
  int64_t above = 0, below = 1;
  explicit operator double() const { return static_cast<double>(above) / static_cast<double>(below); }
  explicit operator int64_t() const {
    if (below == 0) throw std::domain_error("no integer");
    return above / below;
  }
  explicit operator bool() const { return above != 0; }
  bool operator==(const Ratio& other) const { return above == other.above && below == other.below; }
};
struct Degrees {
  double value = 0;
  operator double() const { return value; }
};
struct Byte {
  uint8_t value = 0;
  operator uint8_t() const { return value; }
};
}  // namespace conversions

template <>
struct std::hash<conversions::Ratio> {
  size_t operator()(const conversions::Ratio& x) const {
    return x.above < 0 ? ~size_t(0) - static_cast<size_t>(x.below) : static_cast<size_t>(x.above);
  }
};

using conversions::Byte;
using conversions::Degrees;
using conversions::Ratio;
namespace ops = anyffi::ops;
ANYFFI_CLASS(Ratio, "conversions.Ratio")
    .init([](int64_t above, int64_t below) { return Ratio{above, below}; })
    .op(ops::int_).op(ops::float_).op(ops::bool_).op(ops::hash).op(ops::eq);
ANYFFI_CLASS(Degrees, "conversions.Degrees")
    .init([](double value) { return Degrees{value}; })
    .op(ops::float_)
    .op(ops::int_, [](const Degrees& x) { return static_cast<int64_t>(x.value) % 360; });
ANYFFI_CLASS(Byte, "conversions.Byte").init([](uint8_t value) { return Byte{value}; }).op(ops::int_).op(ops::float_);
"""


@pytest.fixture
def conversions(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("conversions.cc", SOURCE))


def test_explicit_conversions_to_numbers(conversions: Any) -> None:
    ratio = conversions.Ratio(7, 2)
    assert (int(ratio), float(ratio), bool(ratio), bool(conversions.Ratio(0, 1))) == (3, 3.5, True, False)
    assert str(inspect.signature(conversions.Ratio.__int__)) == "(self) -> 'int'"
    assert str(inspect.signature(conversions.Ratio.__float__)) == "(self) -> 'float'"
    with pytest.raises(ValueError, match="no integer"):
        int(conversions.Ratio(1, 0))


def test_implicit_conversions_to_numbers(conversions: Any) -> None:
    assert float(conversions.Degrees(370.5)) == 370.5
    assert int(conversions.Degrees(370.5)) == 10, "the function that was given"
    assert (int(conversions.Byte(200)), float(conversions.Byte(200))) == (200, 200.0)


def test_hash(conversions: Any) -> None:
    ratio = conversions.Ratio
    assert hash(ratio(5, 1)) == 5
    # std::hash uses all 64 bits, more than a hash of Python.
    large = hash(ratio(-1, 2))
    assert large == hash(2**64 - 3)
    assert -sys.maxsize - 1 <= large <= sys.maxsize
    assert hash(ratio(-1, 2**40)) == hash(ratio(-9, 2**40))
    assert {ratio(1, 2), ratio(1, 2), ratio(-1, 2)} == {ratio(-1, 2), ratio(1, 2)}
    assert {ratio(-1, 2): "a"}[ratio(-1, 2)] == "a"
