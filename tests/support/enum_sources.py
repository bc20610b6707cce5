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

namespace hnsw {
enum class Metric : int8_t { kL2, kInner, kCosine = -7 };
enum Access : uint64_t { kRead = 1, kWrite = 2, kTop = uint64_t{1} << 63 };
enum class Plain { kZero };
struct Index {
  Metric metric = Metric::kInner;
  std::vector<Metric> all;
};
}  // namespace hnsw

using anyffi::arg;
using hnsw::Metric;

ANYFFI_ENUM(Metric, "hnsw.Metric")
    .doc("How points are compared.")
    .value("L2", Metric::kL2, "Euclid")
    .value("IP", Metric::kInner)
    .doc("Inner product")
    .value("_cos_", Metric::kCosine)
    .value("mro", Metric::kL2);
ANYFFI_ENUM(hnsw::Access, "hnsw.Access")
    .value("READ", hnsw::kRead)
    .value("WRITE", hnsw::kWrite)
    .value("TOP", hnsw::kTop)
    .flags();

ANYFFI_CLASS(hnsw::Index, "hnsw.Index")
    .init<>()
    .init([](Metric metric) { return hnsw::Index{metric, {}}; }, arg("metric"))
    .field("metric", &hnsw::Index::metric)
    .field("all", &hnsw::Index::all)
    .property("other", [](const hnsw::Index&) { return Metric::kCosine; });

ANYFFI_EXPORT(echo, [](Metric metric) { return metric; }, arg("metric") = Metric::kInner);
ANYFFI_EXPORT(number, [](Metric metric) { return static_cast<int64_t>(metric); }, arg("metric"));
ANYFFI_EXPORT(number_unlocked, [](Metric metric) { return static_cast<int64_t>(metric); }, arg("metric")).release_gil();
ANYFFI_EXPORT(unlocked, [](Metric metric) { return metric; }, arg("metric")).release_gil();
ANYFFI_EXPORT(pair, [](Metric metric, const std::string&) { return metric; }, arg("metric"), arg("text") = "");
ANYFFI_EXPORT(broken, [] { return static_cast<Metric>(9); });
ANYFFI_EXPORT(access, [](hnsw::Access access) { return access; }, arg("access"));
ANYFFI_EXPORT(plain, [](hnsw::Plain plain) { return plain; });
ANYFFI_EXPORT(vector, [](std::vector<Metric> all) { return all; }, arg("all"));
ANYFFI_EXPORT(set, [](std::set<Metric> all) { return all; });
ANYFFI_EXPORT(map, [](std::map<Metric, hnsw::Access> all) { return all; });
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
ANYFFI_EXPORT(back, [](const anyffi::AnyValue& value) { return static_cast<int64_t>(value.cast<hnsw::Access>()); });
ANYFFI_EXPORT(boxed, [](hnsw::Access access) {
  return static_cast<uint64_t>(anyffi::AnyValue(access).cast<hnsw::Access>());
});
ANYFFI_EXPORT(pick, [](Metric) { return "metric"; }, arg("x")).def([](double) { return "double"; }, arg("x"));
"""

#: Another library that knows the same key, and uses it without describing it.
OTHERS = """
#include <anyffi/anyffi.h>
enum class Metric : int8_t { kL2, kInner };
ANYFFI_TYPE_KEY(Metric, "hnsw.Metric");
ANYFFI_EXPORT(other, [](Metric metric) { return metric; });
"""
