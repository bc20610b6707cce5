"""int, float, hash and truth of objects by C++ conversions and `std::hash`; other methods that builtins of Python call."""

from __future__ import annotations

import inspect
import math
import os
import sys
from typing import Any

import numpy as np
import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
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
struct Record {
  std::map<std::string, double> values{{"x", 1.5}};
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
ANYFFI_CLASS(conversions::Record, "conversions.Record")
    .init<>()
    .op(ops::getattr, [](const conversions::Record& r, const std::string& name) {
      auto found = r.values.find(name);
      if (found == r.values.end()) throw anyffi::Error("AttributeError", "no {}", name);
      return found->second;
    })
    .op(ops::setattr, [](conversions::Record& r, const std::string& name, double x) { r.values[name] = x; })
    .op(ops::delattr, [](conversions::Record& r, const std::string& name) { r.values.erase(name); })
    .op(ops::dir, [](const conversions::Record& r) {
      std::vector<std::string> names;
      for (const auto& entry : r.values) names.push_back(entry.first);
      return names;
    })
    .op(ops::bytes, [](const conversions::Record& r) { return anyffi::Bytes(r.values.begin()->first); })
    .op(ops::fspath, [](const conversions::Record& r) { return r.values.begin()->first; })
    .op(ops::floor, [](const conversions::Record& r) { return static_cast<int64_t>(r.values.at("x")); })
    .op(ops::ceil, [](const conversions::Record& r) { return static_cast<int64_t>(r.values.at("x")) + 1; })
    .op(ops::trunc, [](const conversions::Record&) { return 0; })
    .op(ops::array, [](const conversions::Record& r, anyffi::AnyView, anyffi::AnyView) -> anyffi::Native<anyffi::Tensor> {
      return anyffi::TypedTensor<double, 1>::from(std::vector<double>{r.values.at("x")}, {1});
    }, anyffi::arg("dtype") = nullptr, anyffi::arg("copy") = nullptr);
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


def test_methods_that_builtins_call(conversions: Any) -> None:
    record = conversions.Record()
    record.y = 3
    assert (record.x, record.y, dir(record)) == (1.5, 3.0, ["x", "y"])
    del record.y
    with pytest.raises(AttributeError, match="no y"):
        _ = record.y
    assert (bytes(record), os.fspath(record)) == (b"x", "x")
    assert (math.floor(record), math.ceil(record), math.trunc(record)) == (1, 2, 0)
    assert np.asarray(record).tolist() == [1.5]
