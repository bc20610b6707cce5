// Included by the generated functions of anyffi.
#pragma once

#include <anyffi/anyffi.h>
#include <anyffi/reflection.h>
#include <anyffi/stl/array.h>
#include <anyffi/stl/chrono.h>
#include <anyffi/stl/complex.h>
#include <anyffi/stl/filesystem.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/unordered_map.h>
#include <anyffi/stl/unordered_set.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

#include "map_make.h"

using anyffi::arg;
using anyffi::kw_only;
using Callable = anyffi::Function;

template <typename R, typename... Args>
R call(const Callable& f, const Args&... args) {
  return f.template call<R>(args...);
}

template <>
struct Make<anyffi::String> {
  static anyffi::String at(int64_t i) { return anyffi::String(Make<std::string>::at(i).c_str()); }
  static anyffi::String of(int64_t n) { return anyffi::String(Make<std::string>::of(n).c_str()); }
};

template <>
struct Make<anyffi::Bytes> {
  static anyffi::Bytes of(int64_t n) { return anyffi::Bytes(Make<std::string>::of(n).data(), n); }
};

template <typename T>
struct Make<anyffi::List<T>> {
  static anyffi::List<T> of(int64_t n) {
    anyffi::List<T> made;
    for (int64_t i = 0; i < n; ++i) made.push_back(Make<T>::at(1000 + i));
    return made;
  }
};

template <typename T>
struct Make<anyffi::Array<T>> {
  static anyffi::Array<T> of(int64_t n) { return Make<anyffi::List<T>>::of(n).freeze(); }
};

template <typename K, typename V>
struct Make<anyffi::Dict<K, V>> {
  static anyffi::Dict<K, V> of(int64_t n) {
    anyffi::Dict<K, V> made;
    for (int64_t i = 0; i < n; ++i) made.set(Make<K>::at(1000 + i), Make<V>::at(1000 + i));
    return made;
  }
};

struct Point {
  static constexpr anyffi::FixedText kTypeKey{"map.Point"};
  double x = 0, y = 0;
  int64_t number = 0;
  std::string name = "mystr";
  std::vector<int64_t> items{1, 2, 3};
  static constexpr auto fields() {
    return anyffi::fields(anyffi::field<&Point::x>("x"), anyffi::field<&Point::number>("number"),
                          anyffi::field<&Point::name>("name"), anyffi::field<&Point::items>("items"));
  }
};
