/// \file
/// Functions whose parameters take more than one type of Python.

#include <anyffi/anyffi.h>
#include <anyffi/stl/array.h>
#include <anyffi/stl/chrono.h>
#include <anyffi/stl/deque.h>
#include <anyffi/stl/filesystem.h>
#include <anyffi/stl/list.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/unordered_set.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

namespace {

using anyffi::AnyView;
using anyffi::arg;
using std::string;
using std::vector;

template <class T>
T same(T value) {
  return value;
}

using Seconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;
using Nanoseconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.as.array").def(&same<anyffi::Array<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.array_any").def(&same<anyffi::Array<>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.array_array").def(&same<anyffi::Array<anyffi::Array<double>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.list").def(&same<anyffi::List<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.frozen_set").def(&same<anyffi::FrozenSet<>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.iterable").def(&same<anyffi::Iterable<>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.iterable_int").def(&same<anyffi::Iterable<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.bytes").def(&same<vector<uint8_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.map_set").def(&same<std::map<string, std::set<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.optional_path").def(&same<std::optional<std::filesystem::path>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.path").def(&same<std::filesystem::path>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.path_bytes")
    .def(
        [](const std::filesystem::path& x) {
          return anyffi::Bytes(x.native().data(), static_cast<int64_t>(x.native().size()));
        },
        arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.paths").def(&same<vector<std::filesystem::path>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.time").def(&same<std::chrono::system_clock::time_point>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.time_seconds").def(&same<Seconds>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.time_count")
    .def([](Nanoseconds x) { return static_cast<int64_t>(x.time_since_epoch().count()); }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.time_at")
    .def([](int64_t x) { return Nanoseconds(std::chrono::nanoseconds(x)); }, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.as.overloaded")
    .def([](const vector<double>&) { return "sequence"; }, arg("x"))
    .def([](const std::set<int64_t>&) { return "set"; }, arg("x"))
    .def([](const anyffi::TensorView&) { return "tensor"; }, arg("x"))
    .def([](const string&) { return "text"; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.sequence_or_any")
    .def([](const vector<int64_t>&) { return "sequence"; }, arg("x"))
    .def([](AnyView) { return "anything"; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.as.variant")
    .def([](const std::variant<vector<double>, string>& x) { return static_cast<int64_t>(x.index()); }, arg("x"));
