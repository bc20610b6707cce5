// The cost of anyffi in C++, compared with the standard library: a program that prints a table as JSON.
#include <anyffi/anyffi.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "table.h"

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::Function;
using anyffi::List;
using anyffi::ObjectRef;
using anyffi::String;

namespace {

constexpr int64_t kMany = 1000;
using Variant = std::variant<std::monostate, bool, int64_t, double, std::string>;

void add_calls(Table& table) {
  auto body = [](int64_t x) { return x + 1; };
  auto ours = Function::from(body);
  std::function<int64_t(int64_t)> theirs = body;
  table.add("call int -> int", "anyffi", kMany, [ours] {
    int64_t x = 0;
    for (int64_t i = 0; i < kMany; ++i) x = ours(x).cast<int64_t>();
    keep(x);
  });
  table.add("call int -> int", "std", kMany, [theirs]() mutable {
    keep(theirs);
    int64_t x = 0;
    for (int64_t i = 0; i < kMany; ++i) x = theirs(x);
    keep(x);
  });
}

void add_lists(Table& table) {
  table.add("push_back", "anyffi", kMany, [] {
    List<AnyValue> list;
    for (int64_t i = 0; i < kMany; ++i) list.push_back(i);
    keep(list);
  });
  table.add("push_back", "std", kMany, [] {
    std::vector<Variant> list;
    for (int64_t i = 0; i < kMany; ++i) list.push_back(i);
    keep(list);
  });
  List<AnyValue> ours;
  std::vector<Variant> theirs;
  for (int64_t i = 0; i < kMany; ++i) {
    ours.push_back(i);
    theirs.push_back(i);
  }
  // In an order that the compiler does not know, because it would vectorize one of the two loops.
  std::vector<int64_t> order;
  for (int64_t i = 0; i < kMany; ++i) order.push_back(i * 7 % kMany);
  table.add("index", "anyffi", kMany, [ours, order] {
    int64_t sum = 0;
    for (int64_t i : order) sum += ours[i].cast<int64_t>();
    keep(sum);
  });
  table.add("index", "std", kMany, [theirs, order] {
    int64_t sum = 0;
    for (int64_t i : order) sum += std::get<int64_t>(theirs[static_cast<size_t>(i)]);
    keep(sum);
  });
}

void add_lookups(Table& table) {
  Dict<String, int64_t> ours;
  std::unordered_map<std::string, int64_t> theirs;
  std::vector<String> our_keys;
  std::vector<std::string> their_keys;
  for (int64_t i = 0; i < kMany; ++i) {
    their_keys.push_back("key" + std::to_string(i));
    our_keys.emplace_back(their_keys.back().c_str());
    theirs[their_keys.back()] = i;
    ours.set(our_keys.back(), i);
  }
  table.add("look up a short string", "anyffi", kMany, [ours, our_keys] {
    int64_t sum = 0;
    for (const String& key : our_keys) sum += ours.value_or(key, 0);
    keep(sum);
  });
  table.add("look up a short string", "std", kMany, [theirs, their_keys] {
    int64_t sum = 0;
    for (const std::string& key : their_keys) sum += theirs.find(key)->second;
    keep(sum);
  });
}

template <typename Element, typename Text>
List<Element> split(const Text& word) {
  List<Element> list;
  list.reserve(word.size());
  for (int64_t i = 0; i < word.size(); ++i) list.push_back(word[i]);
  return list;
}

void add_texts(Table& table) {
  struct Alphabet {
    const char* name;
    char32_t first;
  };
  for (auto [name, first] : {Alphabet{"ASCII", 'a'}, {"Latin-1", 0xe0}, {"CJK", 0x4e00}, {"astral", 0x20000}}) {
    std::u32string points;
    for (char32_t i = 0; i < 1024; ++i) points.push_back(first + i % 26);
    String word(points.data(), 1024, ANYFFI_UCS4);
    table.add(std::string("split ") + name + ", typed", "anyffi", 1024, [word] {
      auto list = split<String>(word);
      keep(list);
    });
    table.add(std::string("split ") + name + ", erased", "anyffi", 1024, [word] {
      auto list = split<AnyValue>(AnyView(word));
      keep(list);
    });
  }
}

template <typename T>
void add_views(Table& table, const std::string& name, const T& first) {
  for (int64_t size : {10, 10000}) {
    List<AnyValue> items;
    for (int64_t i = 0; i < size; ++i) items.push_back(first);
    AnyValue array = items.freeze();
    table.add("view " + std::to_string(size) + " " + name, "anyffi", 1, [array] {
      auto view = array.cast<Array<T>>();
      keep(view);
    });
  }
}

}  // namespace

int main(int, char** arguments) {
  Table table;
  add_calls(table);
  add_lists(table);
  add_lookups(table);
  add_texts(table);
  add_views<int64_t>(table, "ints", 1);
  add_views<String>(table, "strings", String("short"));
  add_views<ObjectRef>(table, "objects", List<AnyValue>());
  add_views<AnyValue>(table, "values", 1);
  table.measure(std::atoi(arguments[1]), std::atof(arguments[2]));
  table.print();
}
