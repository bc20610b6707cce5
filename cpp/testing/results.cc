/// \file
/// Results and arguments of callbacks that Python gets as its own containers, and what C++ makes of them.
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/unordered_map.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Dict;
using anyffi::Function;
using anyffi::List;
using anyffi::Native;
using anyffi::Tensor;
using std::string;
using std::vector;

template <class T>
T same(T value) {
  return value;
}

struct Row {
  string name;
  vector<double> cells;
  List<int64_t> shared;
};

/// With a field that is a copy, and one that is a reference.
struct Table {
  static constexpr anyffi::FixedText kTypeKey{"testing.results.Table"};
  vector<vector<int64_t>> rows;
  List<int64_t> shared;
  static constexpr auto fields() {
    return anyffi::fields(anyffi::field<&Table::rows>("rows"), anyffi::field<&Table::shared>("shared"));
  }
};

/// Never freed, and there before a test counts objects.
const auto* const kept_list = new List<int64_t>{1, 2};
const List<int64_t>& kept() { return *kept_list; }

/// Iterated in order, its first element throws or cannot be converted.
struct Bad {};

}  // namespace

template <>
struct anyffi::Traits<Row> : anyffi::TraitsVia<Row, anyffi::Tuple<string, vector<double>, List<int64_t>>> {
  static Row from(const Carrier& row) { return {row.get<0>(), row.get<1>(), row.get<2>()}; }
  static Carrier to(const Row& row) { return {row.name, row.cells, row.shared}; }
};

template <>
struct anyffi::Traits<Bad> : anyffi::TraitsVia<Bad, string> {
  static Bad from(const string&) { return {}; }
  static string to(const Bad&) { throw anyffi::Error("ValueError", "no conversion"); }
};

ANYFFI_REGISTER_OBJECT(Table);

// ---- what is a copy ----

ANYFFI_REGISTER_GLOBAL("testing.results.nested").def(&same<vector<vector<string>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.pairs")
    .def(&same<std::map<string, vector<std::pair<int64_t, double>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.unordered")
    .def(&same<std::unordered_map<string, std::tuple<int64_t, string, std::optional<double>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.rows").def(&same<vector<Row>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.set_of_vectors").def(&same<std::set<vector<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.set_of_sets").def(&same<std::set<std::set<string>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.map_of_keys")
    .def(&same<std::map<vector<std::pair<int64_t, vector<string>>>, vector<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.set_of_maps").def(&same<std::set<std::map<string, int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.optional")
    .def(&same<std::set<std::optional<vector<int64_t>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.union")
    .def(&same<vector<std::variant<vector<int64_t>, string, List<string>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.Optional").def(&same<anyffi::Optional<vector<vector<int64_t>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.Variant")
    .def(&same<anyffi::Variant<vector<vector<int64_t>>, string, Dict<string, int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.any").def(&same<vector<AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.map_of_any").def(&same<std::unordered_map<string, AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.overloaded")
    .def([](int64_t n) { return vector<int64_t>(static_cast<size_t>(n), n); }, arg("n"))
    .def([](const string& s) { return std::pair<string, int64_t>(s, 1); }, arg("s"));
ANYFFI_REGISTER_GLOBAL("testing.results.unlocked")
    .def([](int64_t n) { return vector<vector<double>>(static_cast<size_t>(n), {1.5}); }, arg("n"))
    .release_gil();
ANYFFI_REGISTER_GLOBAL("testing.results.fail").def([](int64_t n) {
  return vector<std::variant<vector<string>, Bad>>{vector<string>(static_cast<size_t>(n), "a text that is long"),
                                                   Bad()};
});
ANYFFI_REGISTER_GLOBAL("testing.results.count").def([](int64_t n) {
  vector<int64_t> counted(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) counted[static_cast<size_t>(i)] = i;
  return counted;
});
ANYFFI_REGISTER_GLOBAL("testing.results.table").def([] {
  return anyffi::make_object<Table>(Table{{{1}, {2, 3}}, kept()});
});

// ---- what is shared ----

ANYFFI_REGISTER_GLOBAL("testing.results.kept").def([] { return kept(); });
ANYFFI_REGISTER_GLOBAL("testing.results.vector_of_kept").def([] { return vector<List<int64_t>>{kept(), kept()}; });
ANYFFI_REGISTER_GLOBAL("testing.results.shared_vector").def([](const vector<double>& x) {
  return List<double>(x.begin(), x.end());
});
ANYFFI_REGISTER_GLOBAL("testing.results.tuple").def([] {
  return anyffi::Tuple<int64_t, vector<int64_t>>(1, vector<int64_t>{2});
});
ANYFFI_REGISTER_GLOBAL("testing.results.value").def([]() -> AnyValue {
  return vector<vector<int64_t>>{{1}, {2}};
});
ANYFFI_REGISTER_GLOBAL("testing.results.list_of_vectors").def([] { return List<vector<int64_t>>{{1}, {2}}; });

// ---- what C++ gets of a copy, and passes on ----

ANYFFI_REGISTER_GLOBAL("testing.results.forward").def([](const Function& f, const AnyValue& x) { return f(x); });
ANYFFI_REGISTER_GLOBAL("testing.results.forward_packed").def_packed([](anyffi::Args args, AnyValue* result) {
  *result = args[0].cast<Function>()(args[1]);
});
ANYFFI_REGISTER_GLOBAL("testing.results.first").def([](const Function& f, const AnyValue& x) -> AnyValue {
  AnyValue made = f(x);
  return made[0];
});
ANYFFI_REGISTER_GLOBAL("testing.results.in_any").def([](const Function& f, const AnyValue& x) {
  AnyValue made = f(x);
  vector<AnyValue> values;
  for (AnyValue item : made) values.push_back(item);
  return values;
});
ANYFFI_REGISTER_GLOBAL("testing.results.in_list").def([](const Function& f, const AnyValue& x) {
  return List<>{f(x), f(x)[0]};
});
ANYFFI_REGISTER_GLOBAL("testing.results.is_equal").def([](const Function& f, const AnyValue& x, const AnyValue& y) {
  return f(x) == y && y == f(x) && f(x) == f(x) && f(x)[0] == f(y)[0];
});

// ---- chosen by the author ----

ANYFFI_REGISTER_GLOBAL("testing.results.native").def(&same<Native<AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_list").def(&same<Native<List<List<int64_t>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_array").def(&same<Native<anyffi::Array<string>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_dict").def(&same<Native<Dict<string, AnyValue>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_map").def(&same<Native<anyffi::Map<string, int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_set").def(&same<Native<anyffi::Set<string>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_frozen_set")
    .def(&same<Native<anyffi::FrozenSet<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_tuple")
    .def(&same<Native<anyffi::Tuple<int64_t, List<int64_t>>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_kept").def([] { return Native<List<int64_t>>(kept()); });
ANYFFI_REGISTER_GLOBAL("testing.results.native_tensor").def(&same<Native<Tensor>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.results.native_tensors")
    .def([](const Tensor& x) {
      return std::tuple<Native<Tensor>, std::optional<Native<Tensor>>, vector<Native<Tensor>>, Tensor>{x, x, {x}, x};
    });

// ---- arguments of callbacks ----

ANYFFI_REGISTER_GLOBAL("testing.results.call").def([](const Function& f, const vector<vector<string>>& x) {
  return f(x, vector<int64_t>{1}, std::map<string, int64_t>{{"a", 1}}, std::pair<int64_t, double>{1, 2.0},
           std::set<int64_t>{3});
});
ANYFFI_REGISTER_GLOBAL("testing.results.call_typed")
    .def([](const std::function<vector<int64_t>(vector<int64_t>, const std::map<string, List<int64_t>>&)>& f) {
      return f({1, 2}, {{"kept", kept()}});
    });
ANYFFI_REGISTER_GLOBAL("testing.results.call_native").def([](const Function& f, Tensor x) {
  return f(Native<Tensor>(x), x, Native<List<int64_t>>(kept()), kept(), anyffi::Optional<vector<int64_t>>({1}));
});
