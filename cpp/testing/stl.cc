/// \file
/// A function for each standard library type that has a conversion.

#include <anyffi/anyffi.h>
#include <anyffi/stl/array.h>
#include <anyffi/stl/chrono.h>
#include <anyffi/stl/complex.h>
#include <anyffi/stl/deque.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/list.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/system_error.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/unordered_map.h>
#include <anyffi/stl/unordered_set.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>
#include <anyffi/stl/wide_string.h>

namespace {

using anyffi::arg;
using std::string;
using std::vector;

template <class T>
T same(T value) {
  return value;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.stl.string").def(&same<string>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.string_view").def(&same<std::string_view>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_int").def(&same<vector<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_int8").def(&same<vector<int8_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_bool").def(&same<vector<bool>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_string").def(&same<vector<string>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_any").def(&same<vector<anyffi::AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_vector_float").def(&same<vector<vector<double>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.map").def(&same<std::map<string, int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.map_float").def(&same<std::map<double, vector<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.unordered_map").def(&same<std::unordered_map<int64_t, string>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.set").def(&same<std::set<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.set_float").def(&same<std::set<double>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.unordered_set").def(&same<std::unordered_set<string>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.optional").def(&same<std::optional<int64_t>>, arg("x") = nullptr);
ANYFFI_REGISTER_GLOBAL("testing.stl.optional_vector").def(&same<std::optional<vector<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.variant")
    .def(&same<std::variant<std::monostate, double, int64_t, string>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.variant_vector")
    .def(&same<std::variant<vector<int64_t>, vector<string>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.tuple").def(&same<std::tuple<int64_t, string, vector<double>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.tuple_empty").def(&same<std::tuple<>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.pair").def(&same<std::pair<string, int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.complex").def(&same<std::complex<double>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_complex").def(&same<vector<std::complex<double>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.function").def(&same<std::function<int64_t(const string&)>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.optional_function").def(&same<std::optional<std::function<void()>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.nanoseconds").def(&same<std::chrono::nanoseconds>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.milliseconds").def(&same<std::chrono::milliseconds>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.minutes").def(&same<std::chrono::minutes>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.seconds_float").def(&same<std::chrono::duration<double>>, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.stl.array").def(&same<std::array<double, 3>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.array_string").def(&same<std::array<string, 2>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.array_empty").def(&same<std::array<int64_t, 0>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.deque").def(&same<std::deque<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.list").def(&same<std::list<string>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_list").def(&same<vector<std::list<std::array<int64_t, 2>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_double").def(&same<vector<double>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.vector_uint64").def(&same<vector<uint64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.wstring").def(&same<std::wstring>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.u16string").def(&same<std::u16string>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.u32string").def(&same<std::u32string>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.utf16_size")
    .def([](const std::u16string& x) { return static_cast<int64_t>(x.size()); }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.map_wide").def(&same<std::map<std::u32string, char>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.char").def(&same<char>, arg("x") = 'a');
ANYFFI_REGISTER_GLOBAL("testing.stl.char16").def(&same<char16_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.char32").def(&same<char32_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.wchar").def(&same<wchar_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.signed_char").def(&same<signed char>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.byte").def(&same<std::byte>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.stl.bad_characters").def([](int64_t index) -> anyffi::AnyValue {
  if (index == 0) return static_cast<char>(-1);
  if (index == 1) return static_cast<char32_t>(0x110000);
  return std::u32string(1, static_cast<char32_t>(0x110000));
});
ANYFFI_REGISTER_GLOBAL("testing.stl.error_code").def(&same<std::error_code>, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.stl.const_ref")
    .def([](const vector<int64_t>& x) { return static_cast<int64_t>(x.size()); }, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.stl.rvalue")
    .def(
        [](vector<string>&& x, string&& last) {
          x.push_back(std::move(last));
          return std::move(x);
        },
        arg("x"), arg("last") = "end");

ANYFFI_REGISTER_GLOBAL("testing.stl.apply")
    .def([](const std::function<int64_t(int64_t, const string&)>& f, int64_t a, const string& b) { return f(a, b); },
         arg("f"), arg("a"), arg("b"))
    .doc("Call a function with an int and a text; its result must be an int.");

ANYFFI_REGISTER_GLOBAL("testing.stl.compose")
    .def(
        [](std::function<double(double)> f, std::function<double(double)> g) -> std::function<double(double)> {
          return [f = std::move(f), g = std::move(g)](double x) { return g(f(x)); };
        },
        arg("f"), arg("g"));

ANYFFI_REGISTER_GLOBAL("testing.stl.no_function").def([] { return std::function<void()>(); });

ANYFFI_REGISTER_GLOBAL("testing.stl.bad_utf8").def([] { return string("ab\xff"); });

ANYFFI_REGISTER_GLOBAL("testing.stl.nan_keys").def([] {
  std::unordered_map<double, int64_t> map;
  map.emplace(__builtin_nan(""), 1);
  map.emplace(__builtin_nan(""), 2);
  return map;
});
