"""Types of users and of the standard library inside one another: every combination compiles and runs."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

HEADERS = (
    "array", "chrono", "complex", "deque", "filesystem", "function", "list", "map", "optional", "set", "string",
    "system_error", "tuple", "unordered_map", "unordered_set", "variant", "vector", "wide_string",
)  # fmt: skip


SOURCE = """
using anyffi::arg;
struct Point {
  double x = 0, y = 0;
  bool operator<(const Point& other) const { return x < other.x; }
};
template <>
struct anyffi::Traits<Point> : anyffi::TraitsVia<Point, anyffi::Tuple<double, double>> {
  static Point from(const Carrier& pair) { return {pair.get<0>(), pair.get<1>()}; }
  static Carrier to(const Point& point) { return {point.x, point.y}; }
};

/// Without a default constructor.
struct Word {
  explicit Word(std::string text) : text(std::move(text)) {}
  std::string text;
};
template <>
struct anyffi::Traits<Word> : anyffi::TraitsVia<Word, std::string> {
  static Word from(const Carrier& text) { return Word(text); }
  static Carrier to(const Word& word) { return word.text; }
};

template <class T> T same(T x) { return x; }
template <class T> int64_t count(const T& x) { return static_cast<int64_t>(x.size()); }

struct Counter {
  int64_t n = 0;
  void add(int64_t by) { n += by; }
  int64_t value() const noexcept { return n; }
};
struct Clicker : Counter {
  static constexpr anyffi::FixedText kTypeKey{"compiling.Clicker"};
};
ANYFFI_EXPORT(clicker, [] { return anyffi::make_object<Clicker>(); });
ANYFFI_EXPORT(add, anyffi::method<Clicker>(&Clicker::add), arg("self"), arg("by") = 1);
ANYFFI_EXPORT(value, anyffi::method<Clicker>(&Clicker::value), arg("self"));
ANYFFI_EXPORT(clickers, &same<std::vector<anyffi::Ref<Clicker>>>, arg("x"));
"""

#: Types, and values that they take and return.
TYPES: dict[str, Any] = {
    "std::vector<Point>": [(1, 2), (3, 4)],
    "std::deque<Point>": [(1, 2)],
    "std::list<Point>": [(1, 2)],
    "std::array<Point, 2>": [(1, 2), (3, 4)],
    "std::map<std::string, Point>": {"a": (1, 2)},
    "std::map<std::string, std::vector<Point>>": {"a": [(1, 2)]},
    "std::unordered_map<int, Point>": {1: (1, 2)},
    "std::set<Point>": {(1, 2)},
    "std::optional<Point>": (1, 2),
    "std::pair<Point, int>": ((1, 2), 3),
    "std::tuple<Point, Word>": ((1, 2), "w"),
    "std::variant<int, Point>": (1, 2),
    "std::variant<Word, std::vector<Point>>": [(1, 2)],
    "std::vector<std::optional<Point>>": [(1, 2), None],
    "std::vector<Word>": ["a", "b"],
    "std::map<std::string, Word>": {"a": "b"},
    "std::optional<Word>": "a",
    "std::vector<bool>": [True, False],
    "std::vector<std::vector<bool>>": [[True], []],
    "std::map<bool, std::vector<std::byte>>": {True: [1, 2]},
    "std::vector<std::pair<std::string, std::filesystem::path>>": [("a", pathlib.Path("b"))],
    "std::optional<std::filesystem::path>": pathlib.Path("b"),
    "std::vector<std::error_code>": [None, None],
    "std::set<std::wstring>": {"a"},
    "std::vector<std::complex<double>>": [1j],
    "std::vector<long double>": [0.5],
    "anyffi::Array<Point>": ((1, 2),),
    "anyffi::Iterable<Word>": ("a",),
    "std::wstring_view": "aé",
    "std::u16string_view": "a😀",
    "std::u32string_view": "a😀",
}


@pytest.fixture(scope="module")
def library() -> str:
    source = "#include <anyffi/anyffi.h>\n"
    source += "".join(f"#include <anyffi/stl/{header}.h>\n" for header in HEADERS) + SOURCE
    for i, name in enumerate(TYPES):
        # The argument of a macro must not contain a comma.
        source += f'using T{i} = {name};\nANYFFI_EXPORT(same{i}, &same<T{i}>, arg("x"));\n'
    callback = "[](const std::function<std::vector<Point>(Point, const std::vector<Word>&)>& f)"
    source += f'ANYFFI_EXPORT(call, {callback} {{ return f(Point{{1, 2}}, {{Word("w")}}); }}, arg("f"));\n'
    return source


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_types_inside_one_another(ffi: Any, library: str, build: Build) -> None:
    module = ffi.load_module(build("types.cc", library))
    for i, (name, value) in enumerate(TYPES.items()):
        assert ffi.to_python(getattr(module, f"same{i}")(value)) == value, name
    assert ffi.to_python(module.call(lambda point, words: [point, (len(words[0]), 0)])) == [(1, 2), (1, 0)]
    with pytest.raises(TypeError, match=r"at \[1\]\[0\]: expected float, got str"):
        module.same0([(1, 2), ("x", 2)])
    clicker = module.clicker()
    module.add(clicker, 2), module.add(clicker)
    assert module.value(clicker) == 3
    assert module.clickers([clicker])[0] is clicker
    with pytest.raises(TypeError, match=r"argument 0 \(self\): expected compiling.Clicker, got int"):
        module.value(5)
