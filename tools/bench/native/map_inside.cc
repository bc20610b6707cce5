// Access to elements, texts and values in C++, anyffi compared with the standard library; prints a table as JSON.
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "table.h"

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::FrozenSet;
using anyffi::Function;
using anyffi::List;
using anyffi::Map;
using anyffi::Set;
using anyffi::String;

namespace {

constexpr int64_t kMany = 1000;

// The kinds of elements, as types of anyffi and of the standard library.

struct Ints {
  static constexpr const char* kName = "int64_t";
  using Ours = int64_t;
  using Theirs = int64_t;
  static int64_t at(int64_t i) { return i * 1000; }
};

struct Floats {
  static constexpr const char* kName = "double";
  using Ours = double;
  using Theirs = double;
  static double at(int64_t i) { return static_cast<double>(i) + 0.5; }
};

struct Texts {
  static constexpr const char* kName = "String";
  using Ours = String;
  using Theirs = std::string;
  static std::string at(int64_t i) { return "key" + std::to_string(i); }
};

struct LongTexts : Texts {
  static constexpr const char* kName = "String, long";
  static std::string at(int64_t i) { return "a text that no value holds inline, " + std::to_string(i); }
};

struct Rows {
  static constexpr const char* kName = "List";
  using Ours = List<int64_t>;
  using Theirs = std::vector<int64_t>;
  static std::vector<int64_t> at(int64_t i) { return {i, 2, 3}; }
};

template <typename T>
struct Convert {
  static const T& to(const T& value) { return value; }
};
template <>
struct Convert<String> {
  static String to(const std::string& value) { return String(value.data(), static_cast<int64_t>(value.size())); }
};
template <>
struct Convert<List<int64_t>> {
  static List<int64_t> to(const std::vector<int64_t>& value) { return {value[0], value[1], value[2]}; }
};

/// Reads an element: returns a number itself, and the size of other elements.
template <typename T>
void use(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    T read = value;
    keep(read);
  } else {
    auto size = value.size();
    keep(size);
  }
}

template <typename Kind>
std::vector<typename Kind::Theirs> elements(int64_t start = 0) {
  std::vector<typename Kind::Theirs> made;
  for (int64_t i = start; i < start + kMany; ++i) made.push_back(Kind::at(i));
  return made;
}

template <typename Kind>
std::vector<typename Kind::Ours> our_elements(int64_t start = 0) {
  std::vector<typename Kind::Ours> made;
  for (const auto& each : elements<Kind>(start)) made.push_back(Convert<typename Kind::Ours>::to(each));
  return made;
}

/// An order of indices that the compiler does not know.
std::vector<int64_t> shuffled() {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < kMany; ++i) order.push_back(i * 7 % kMany);
  return order;
}

template <typename Kind>
class Adder {
 public:
  using Ours = typename Kind::Ours;
  using Theirs = typename Kind::Theirs;

  explicit Adder(Table& table) : table_(table) {
    for (const Ours& each : mine_) list_.push_back(each);
  }

  void add_sequences() {
    add("iterate List", each_of(list_), each_of(theirs_));
    add("iterate Array", each_of(list_.freeze()), each_of(theirs_));
    add("index List", each_at(list_), each_at(theirs_));
    add("index Array", each_at(list_.freeze()), each_at(theirs_));
    add(
        "List.set",
        [list = list_, mine = mine_]() mutable {
          for (int64_t i = 0; i < kMany; ++i) list.set(i, mine[static_cast<size_t>(i)]);
          keep(list);
        },
        [list = theirs_, theirs = theirs_]() mutable {
          for (size_t i = 0; i < theirs.size(); ++i) list[i] = theirs[i];
          keep(list);
        });
    add(
        "List.push_back",
        [mine = mine_] {
          List<Ours> list;
          for (const Ours& each : mine) list.push_back(each);
          keep(list);
        },
        [theirs = theirs_] {
          std::vector<Theirs> list;
          for (const Theirs& each : theirs) list.push_back(each);
          keep(list);
        });
  }

  void add_mappings() {
    Dict<Ours, int64_t> dict;
    std::unordered_map<Theirs, int64_t> map;
    for (const Ours& each : mine_) dict.set(each, 7);
    for (const Theirs& each : theirs_) map[each] = 7;
    std::vector<Ours> mine_absent = our_elements<Kind>(2 * kMany);
    std::vector<Theirs> theirs_absent = elements<Kind>(2 * kMany);
    add("look up in Dict", look_up(dict, mine_), find_in(map, theirs_));
    add("look up in Map", look_up(dict.freeze(), mine_), find_in(map, theirs_));
    add("look up absent keys in Dict", look_up(dict, mine_absent), find_in(map, theirs_absent));
    add("iterate Dict", each_entry(dict), each_entry(map));
    add("iterate Map", each_entry(dict.freeze()), each_entry(map));
    add(
        "Dict.set of present keys",
        [dict, mine = mine_]() mutable {
          for (const Ours& each : mine) dict.set(each, 8);
        },
        [map, theirs = theirs_]() mutable {
          for (const Theirs& each : theirs) map[each] = 8;
          keep(map);
        });
    add(
        "fill Dict",
        [mine = mine_] {
          Dict<Ours, int64_t> made;
          for (const Ours& each : mine) made.set(each, 8);
          keep(made);
        },
        [theirs = theirs_] {
          std::unordered_map<Theirs, int64_t> made;
          for (const Theirs& each : theirs) made[each] = 8;
          keep(made);
        });
  }

  void add_sets() {
    Set<Ours> set;
    std::unordered_set<Theirs> hashed;
    for (const Ours& each : mine_) set.add(each);
    for (const Theirs& each : theirs_) hashed.insert(each);
    add("Set.contains", contains(set, mine_), count_in(hashed, theirs_));
    add("FrozenSet.contains", contains(set.freeze(), mine_), count_in(hashed, theirs_));
    add("iterate Set", each_of(set), each_of(hashed));
    add(
        "fill Set",
        [mine = mine_] {
          Set<Ours> made;
          for (const Ours& each : mine) made.add(each);
          keep(made);
        },
        [theirs = theirs_] {
          std::unordered_set<Theirs> made;
          for (const Theirs& each : theirs) made.insert(each);
          keep(made);
        });
  }

 private:
  template <typename F, typename G>
  void add(const char* what, F ours, G theirs) {
    std::string row = std::string(what) + ": " + Kind::kName;
    table_.add(row, "anyffi", kMany, ours);
    table_.add(row, "std", kMany, theirs);
  }

  template <typename C>
  static auto each_of(const C& container) {
    return [container] {
      for (const auto& each : container) use(each);
    };
  }

  template <typename C>
  static auto each_at(const C& sequence) {
    return [sequence, order = shuffled()] {
      for (int64_t i : order) {
        const auto& each = sequence[static_cast<size_t>(i)];
        use(each);
      }
    };
  }

  template <typename C>
  static auto each_entry(const C& mapping) {
    return [mapping] {
      for (const auto& [key, value] : mapping) {
        use(key);
        use(value);
      }
    };
  }

  template <typename C>
  static auto look_up(const C& dict, const std::vector<Ours>& keys) {
    return [dict, keys] {
      int64_t sum = 0;
      for (const Ours& key : keys) sum += dict.value_or(key, 0);
      keep(sum);
    };
  }

  template <typename C>
  static auto find_in(const C& map, const std::vector<Theirs>& keys) {
    return [map, keys] {
      int64_t sum = 0;
      for (const Theirs& key : keys) {
        auto found = map.find(key);
        sum += found == map.end() ? 0 : found->second;
      }
      keep(sum);
    };
  }

  template <typename C>
  static auto contains(const C& set, const std::vector<Ours>& keys) {
    return [set, keys] {
      int64_t count = 0;
      for (const Ours& key : keys) count += set.contains(key);
      keep(count);
    };
  }

  template <typename C>
  static auto count_in(const C& set, const std::vector<Theirs>& keys) {
    return [set, keys] {
      size_t count = 0;
      for (const Theirs& key : keys) count += set.count(key);
      keep(count);
    };
  }

  Table& table_;
  std::vector<Theirs> theirs_ = elements<Kind>();
  std::vector<Ours> mine_ = our_elements<Kind>();
  List<Ours> list_;
};

/// Adds a row of a task that runs on each of many texts.
template <typename Kind, typename F>
void add_text(Table& table, const char* what, F task) {
  std::string row = std::string(what) + ": " + Kind::kName;
  table.add(row, "anyffi", kMany, [texts = our_elements<Kind>(), task] {
    for (const String& each : texts) task(each, texts[7]);
  });
  table.add(row, "std", kMany, [texts = elements<Kind>(), task] {
    for (const std::string& each : texts) task(each, texts[7]);
  });
}

template <typename Kind>
void add_texts(Table& table) {
  add_text<Kind>(table, "+", [](const auto& a, const auto& b) {
    auto sum = a + b;
    keep(sum);
  });
  add_text<Kind>(table, "==", [](const auto& a, const auto& b) {
    bool equal = a == b;
    keep(equal);
  });
  add_text<Kind>(table, "<", [](const auto& a, const auto& b) {
    bool less = a < b;
    keep(less);
  });
  add_text<Kind>(table, "find", [](const auto& a, const auto& b) {
    auto position = a.find(b);
    keep(position);
  });
  add_text<Kind>(table, "copy", [](const auto& a, const auto&) {
    auto copy = a;
    keep(copy);
  });
}

using Variant = std::variant<std::monostate, bool, int64_t, double, std::string>;

template <typename Kind>
void add_values(Table& table) {
  using Ours = typename Kind::Ours;
  using Theirs = typename Kind::Theirs;
  std::vector<AnyValue> mine;
  std::vector<Variant> theirs;
  for (const Ours& each : our_elements<Kind>()) mine.emplace_back(each);
  for (const Theirs& each : elements<Kind>()) theirs.emplace_back(each);
  std::string name = Kind::kName;
  table.add("AnyValue.cast: " + name, "anyffi", kMany, [mine] {
    for (const AnyValue& each : mine) {
      auto value = each.cast<Ours>();
      keep(value);
    }
  });
  table.add("AnyValue.cast: " + name, "std", kMany, [theirs] {
    for (const Variant& each : theirs) {
      auto value = std::get<Theirs>(each);
      keep(value);
    }
  });
  table.add("copy an AnyValue: " + name, "anyffi", kMany, [mine] {
    for (const AnyValue& each : mine) {
      AnyValue copy = each;
      keep(copy);
    }
  });
  table.add("copy an AnyValue: " + name, "std", kMany, [theirs] {
    for (const Variant& each : theirs) {
      Variant copy = each;
      keep(copy);
    }
  });
}

template <typename Kind>
void add_keys(Table& table) {
  Adder<Kind> adder(table);
  adder.add_mappings();
  adder.add_sets();
}

template <typename... Kinds>
void add_all_sequences(Table& table) {
  (Adder<Kinds>(table).add_sequences(), ...);
}

}  // namespace

int main(int, char** arguments) {
  Table table;
  add_all_sequences<Ints, Floats, Texts, LongTexts, Rows>(table);
  add_keys<Ints>(table);
  add_keys<Texts>(table);
  add_keys<LongTexts>(table);
  add_texts<Texts>(table);
  add_texts<LongTexts>(table);
  add_values<Ints>(table);
  add_values<Floats>(table);
  add_values<Texts>(table);
  table.measure(std::atoi(arguments[1]), std::atof(arguments[2]));
  table.print();
}
