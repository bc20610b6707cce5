"""Libraries with enumerations, in C++."""

from __future__ import annotations

__all__ = ["METRICS", "OTHERS"]

METRICS = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

namespace space {
enum class Metric : int8_t { kL2, kInner, kCosine = -7 };
enum Access : uint64_t { kRead = 1, kWrite = 2, kTop = uint64_t{1} << 63 };
enum class Plain { kZero };
struct Index {
  Metric metric = Metric::kInner;
  std::vector<Metric> all;
};
}  // namespace space

using anyffi::arg;
using space::Metric;

ANYFFI_ENUM(Metric, "space.Metric")
    .doc("How points are compared.")
    .value("L2", Metric::kL2, "Euclid")
    .value("IP", Metric::kInner)
    .doc("Inner product")
    .value("_cos_", Metric::kCosine)
    .value("mro", Metric::kL2);
ANYFFI_ENUM(space::Access, "space.Access")
    .value("READ", space::kRead)
    .value("WRITE", space::kWrite)
    .value("TOP", space::kTop)
    .flags();

ANYFFI_CLASS(space::Index, "space.Index")
    .init<>()
    .init([](Metric metric) { return space::Index{metric, {}}; }, arg("metric"))
    .field("metric", &space::Index::metric)
    .field("all", &space::Index::all)
    .property("other", [](const space::Index&) { return Metric::kCosine; });

ANYFFI_EXPORT(echo, [](Metric metric) { return metric; }, arg("metric") = Metric::kInner);
ANYFFI_EXPORT(number, [](Metric metric) { return static_cast<int64_t>(metric); }, arg("metric"));
ANYFFI_EXPORT(number_unlocked, [](Metric metric) { return static_cast<int64_t>(metric); }, arg("metric")).release_gil();
ANYFFI_EXPORT(unlocked, [](Metric metric) { return metric; }, arg("metric")).release_gil();
ANYFFI_EXPORT(pair, [](Metric metric, const std::string&) { return metric; }, arg("metric"), arg("text") = "");
ANYFFI_EXPORT(broken, [] { return static_cast<Metric>(9); });
ANYFFI_EXPORT(access, [](space::Access access) { return access; }, arg("access"));
ANYFFI_EXPORT(plain, [](space::Plain plain) { return plain; });
ANYFFI_EXPORT(vector, [](std::vector<Metric> all) { return all; }, arg("all"));
ANYFFI_EXPORT(set, [](std::set<Metric> all) { return all; });
ANYFFI_EXPORT(map, [](std::map<Metric, space::Access> all) { return all; });
ANYFFI_EXPORT(by_name, [](std::map<std::string, Metric> all) { return all; });
ANYFFI_EXPORT(maybe, [](std::optional<Metric> metric) { return metric; }, arg("metric") = Metric::kCosine);
ANYFFI_EXPORT(list, [](const anyffi::List<Metric>& all) {
  all.size();
  anyffi::List<Metric> made;
  for (Metric each : all) made.push_back(each);
  made.set(0, Metric::kL2);
  return made;
});
ANYFFI_EXPORT(dict, [](const anyffi::Dict<Metric, Metric>& all) { return all[Metric::kInner]; });
ANYFFI_EXPORT(call, [](const anyffi::Function& f, Metric metric) { return f(metric).cast<Metric>(); });
ANYFFI_EXPORT(back, [](const anyffi::AnyValue& value) { return static_cast<int64_t>(value.cast<space::Access>()); });
ANYFFI_EXPORT(boxed, [](space::Access access) {
  return static_cast<uint64_t>(anyffi::AnyValue(access).cast<space::Access>());
});
ANYFFI_EXPORT(pick, [](Metric) { return "metric"; }, arg("x")).def([](double) { return "double"; }, arg("x"));
"""

#: A library that uses an enumeration of the same key without describing it.
OTHERS = """
#include <anyffi/anyffi.h>
enum class Metric : int8_t { kL2, kInner };
ANYFFI_TYPE_KEY(Metric, "space.Metric");
ANYFFI_EXPORT(other, [](Metric metric) { return metric; });
"""
