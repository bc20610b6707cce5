"""Overloads that take an enumeration: its members choose them, while numbers choose those that take numbers."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>

#include <optional>
#include <string>

namespace data {
enum class Kind { kNull, kNumber, kText };
enum class Color { kRed, kBlue };
enum class Access : uint64_t { kRead = 1, kWrite = 2, kTop = uint64_t{1} << 63 };

struct Value {
  explicit Value(int64_t number) : made("number " + std::to_string(number)) {}
  explicit Value(Kind kind) : made("kind " + std::to_string(static_cast<int>(kind))) {}
  explicit Value(const std::string& text) : made("text " + text) {}
  std::string set(double x) { return made = "real " + std::to_string(static_cast<int>(x)); }
  std::string set(Kind kind) { return made = "kind " + std::to_string(static_cast<int>(kind)); }
  std::string made;
};
std::string operator+(const Value&, int64_t) { return "int"; }
std::string operator+(const Value&, Color) { return "color"; }
}  // namespace data

ANYFFI_ENUM(data::Kind, "data.Kind")
    .value("NULL", data::Kind::kNull)
    .value("NUMBER", data::Kind::kNumber)
    .value("TEXT", data::Kind::kText);
ANYFFI_ENUM(data::Color, "data.Color").value("RED", data::Color::kRed).value("BLUE", data::Color::kBlue);
ANYFFI_ENUM(data::Access, "data.Access")
    .flags()
    .value("READ", data::Access::kRead)
    .value("WRITE", data::Access::kWrite)
    .value("TOP", data::Access::kTop);

using anyffi::arg;
using anyffi::overload_cast;
using data::Value;
ANYFFI_CLASS(Value, "data.Value")
    .init<int64_t>(arg("number"))
    .init<data::Kind>(arg("kind"))
    .init<std::string>(arg("text"))
    .method("set", overload_cast<double>(&Value::set), arg("x"))
    .method("set", overload_cast<data::Kind>(&Value::set), arg("kind"))
    .op(anyffi::ops::add, [](const Value& a, int64_t b) { return a + b; })
    .op(anyffi::ops::add, [](const Value& a, data::Color b) { return a + b; })
    .field("made", &Value::made);

ANYFFI_EXPORT(f, [](int64_t) { return "int"; }, arg("x"))
    .def([](data::Kind) { return "kind"; }, arg("x"))
    .def([](std::optional<data::Color>) { return "color"; }, arg("x"))
    .def([](data::Access) { return "access"; }, arg("x"))
    .def([](const std::string&) { return "text"; }, arg("x"));

ANYFFI_EXPORT(real_or_kind, [](double) { return "real"; })
    .def([](data::Kind) { return "kind"; });
ANYFFI_EXPORT(real_or_int, [](double) { return "real"; })
    .def([](int64_t) { return "int"; });

ANYFFI_EXPORT(mixed, [](const std::string&, data::Kind, int64_t n) { return "kind " + std::to_string(n); }, arg("s"),
              arg("kind"), arg("n") = 1)
    .def([](const std::string&, int64_t, int64_t n) { return "int " + std::to_string(n); }, arg("s"),
              arg("number"), arg("n") = 1)
    .def([](const anyffi::Function& g, data::Kind kind) { return g(kind); }, arg("g"), arg("kind"))
    .def([](const anyffi::Function& g, int64_t number) { return g(number); }, arg("g"), arg("number"));

ANYFFI_EXPORT(keep, [](const anyffi::AnyValue& x) { return anyffi::List<anyffi::AnyValue>{x}; })
    .def([](const anyffi::AnyValue& x, int64_t) { return x; });

template <class T>
const char* take_many(T, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t) {
  return std::is_enum_v<T> ? "kind" : "int";
}
ANYFFI_EXPORT(many, &take_many<int64_t>)
    .def(&take_many<data::Kind>);
"""


@pytest.fixture
def data(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("enum_overloads.cc", SOURCE))


def test_members_and_numbers(data: Any) -> None:
    kind, color, access = data.Kind, data.Color, data.Access
    for call in (data.f, lambda x: data.f(x=x)):
        assert [call(x) for x in (1, True, 2**62, "a", None)] == ["int", "int", "int", "text", "color"]
        assert [call(x) for x in kind] == ["kind"] * 3
        assert [call(x) for x in color] == ["color"] * 2
        assert [call(x) for x in (access.READ, access.READ | access.WRITE)] == ["access"] * 2


def test_members_are_ints_where_no_overload_takes_their_enumeration(data: Any) -> None:
    class Own(enum.IntEnum):
        ONE = 1

    assert (data.f(Own.ONE), data.real_or_int(Own.ONE), data.real_or_kind(Own.ONE)) == ("int", "int", "real")
    assert data.real_or_int(data.Kind.NUMBER) == "int"
    assert [data.real_or_kind(x) for x in (1.0, 1, data.Kind.NUMBER)] == ["real", "real", "kind"]


def test_classes(data: Any) -> None:
    value, kind = data.Value, data.Kind
    assert [value(x).made for x in (1, kind.NUMBER, "1")] == ["number 1", "kind 1", "text 1"]
    assert (value(kind=kind.TEXT).made, value(number=kind.TEXT).made) == ("kind 2", "number 2")
    made = value(1)
    assert (made.set(1), made.set(kind.NUMBER), made.set(x=kind.NUMBER)) == ("real 1", "kind 1", "real 1")
    assert (made + 1, made + data.Color.BLUE, made + kind.TEXT) == ("int", "color", "int")

    class Derived(value):  # type: ignore[misc, valid-type]
        def __init__(self, x: Any) -> None:
            super().__init__(x)

    assert [Derived(x).made for x in (1, kind.NUMBER)] == ["number 1", "kind 1"]


def test_beside_other_arguments(data: Any) -> None:
    kind = data.Kind
    assert (data.mixed("a", 1), data.mixed("a", kind.NUMBER)) == ("int 1", "kind 1")
    long = "text that is too long to be inline " * 30
    assert (data.mixed(long, 1), data.mixed(long, kind.NUMBER)) == ("int 1", "kind 1")
    assert data.mixed(n=2, s="é", kind=kind.TEXT) == "kind 2"
    assert data.mixed(lambda x: repr(x), kind.TEXT) == repr(kind.TEXT)
    assert data.mixed(lambda x: repr(x), 2) == "2"
    assert data.many(*range(9)) == "int"
    assert data.many(kind.TEXT, *range(8)) == "kind"


def test_what_keeps_a_value_keeps_an_int(data: Any) -> None:
    for kept in (data.keep(data.Kind.TEXT)[0], data.keep(data.Kind.TEXT, data.Color.BLUE)):
        assert type(kept) is int
        assert kept == 2
        assert {2: "found"}[kept] == "found"
    kept = data.keep(data.Kind.TEXT)
    assert (kept == [2], 2 in kept, kept.index(2)) == (True, True, 0)


def test_messages_name_the_enumeration(data: Any) -> None:
    with pytest.raises(TypeError, match=r"^mixed\(\): no overload takes \(int, Kind\)\n"):
        data.mixed(1, data.Kind.TEXT)
