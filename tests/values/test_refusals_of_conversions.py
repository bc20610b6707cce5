"""TypeErrors that conversions of users raise to refuse a value: the message says where the value is."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
using anyffi::arg;

namespace refusing {
struct Even {
  int64_t x;
};
struct Colour {
  std::string name;
};
struct Key {
  double x;
  bool operator<(const Key& other) const { return x < other.x; }
};
struct Owner {
  Even even{0};
  std::vector<Even> all;
};
}  // namespace refusing
using namespace refusing;

template <>
struct anyffi::Traits<Even> : anyffi::TraitsVia<Even, int64_t> {
  static Even from(int64_t x) {
    if (x < 0) throw anyffi::Error("ValueError", "negative");
    if (x % 2 != 0) throw anyffi::Error("TypeError", "{} is odd", x);
    return {x};
  }
  static int64_t to(const Even& even) { return even.x; }
};
template <>
struct anyffi::Traits<Key> : anyffi::TraitsVia<Key, double> {
  static Key from(double x) { return {x}; }
  static double to(const Key& key) { return key.x; }
};
struct Quoted {
  std::string text;
};
template <>
struct anyffi::Traits<Quoted> : anyffi::Traits<std::string> {
  static AnyffiValue store(const Quoted& quoted) { return Traits<std::string>::store("'" + quoted.text + "'"); }
};
ANYFFI_EXPORT(quoted, [](int64_t size) { return Quoted{std::string(static_cast<size_t>(size), 'x')}; }, arg("size"));
ANYFFI_TYPE_KEY(Colour, "refusing.Colour");
template <>
struct anyffi::FromValue<Colour> {
  static Colour from_value(const std::string& name) {
    if (name != "red") throw anyffi::Error("TypeError", "no colour: {}", name);
    return {name};
  }
};
ANYFFI_BIND(Colour).init<>();
ANYFFI_CLASS(Owner, "refusing.Owner").init<>().field("even", &Owner::even).field("all", &Owner::all);
ANYFFI_EXPORT(even, [](const Even& x) { return x; }, arg("x"));
ANYFFI_EXPORT(colour, [](int64_t, const Colour& c) { return c.name; }, arg("x"), arg("colour"));
ANYFFI_EXPORT(many, [](const std::map<std::string, std::vector<Even>>& xs) { return xs.size(); }, arg("xs"));
ANYFFI_EXPORT(keyed, [](const std::map<Key, Even>& xs) { return xs.size(); }, arg("xs"));
ANYFFI_EXPORT(call, [](const std::function<Even()>& f) { return f(); }, arg("f"));
ANYFFI_EXPORT(either, [](const Even&) { return "even"; }, arg("x")).def([](const std::string&) { return "text"; }, arg("x"));
"""


@pytest.fixture
def refusing(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("refusing.cc", SOURCE))


def test_arguments(refusing: Any) -> None:
    with pytest.raises(TypeError, match=r"^even\(x: int\) -> int: argument 0 \(x\): 3 is odd$"):
        refusing.even(3)
    with pytest.raises(TypeError, match=r"^colour\(.*\) -> str: argument 1 \(colour\): no colour: blue$"):
        refusing.colour(1, "blue")
    for place, xs in (('\\["b"\\]\\[1\\]', {"a": [2], "b": [2, 5]}), ('\\["a"\\]\\[0\\]', {"a": (5,)})):
        with pytest.raises(TypeError, match=rf"^many\(.*\) -> int: argument 0 \(xs\), at {place}: 5 is odd$"):
            refusing.many(xs)
    with pytest.raises(TypeError, match=r"^keyed\(.*\) -> int: argument 0 \(xs\), at \[\.\.\.\]: 5 is odd$"):
        refusing.keyed({1.5: 5})


def test_traits_that_derive_from_those_of_text(refusing: Any) -> None:
    for size in (1, 50, 5000):
        assert refusing.quoted(size) == f"'{'x' * size}'"


def test_other_errors_stay_as_they_are(refusing: Any) -> None:
    with pytest.raises(ValueError, match="^negative$"):
        refusing.even(-2)

    class Index:
        def __index__(self) -> int:
            raise TypeError("of a user")

    with pytest.raises(TypeError, match="^of a user$"):
        refusing.even(Index())
    assert [refusing.either(x) for x in (2, "a")] == ["even", "text"]


def test_fields_and_results(refusing: Any) -> None:
    owner = refusing.Owner()
    with pytest.raises(TypeError, match=r"^3 is odd$"):
        owner.even = 3
    with pytest.raises(TypeError, match=r"^3 is odd$"):
        owner.all = [2, 3]
    with pytest.raises(TypeError, match=r"^the result of <function .*<lambda>>: 3 is odd$"):
        refusing.call(lambda: 3)
    with pytest.raises(ValueError, match="^negative$"):
        refusing.call(lambda: -2)
