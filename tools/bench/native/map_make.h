// The values that the generated functions of all contenders return and pass to callbacks.
#pragma once

#include <array>
#include <chrono>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

/// `at(i)` makes an element that differs from the others, `of(n)` a value of size n.
template <typename T, typename = void>
struct Make {
  static T at(int64_t i) { return static_cast<T>(i); }
  static T of(int64_t) { return at(1); }
};

template <>
struct Make<std::string> {
  static std::string at(int64_t i) { return "key" + std::to_string(i); }
  static std::string of(int64_t n) { return std::string(static_cast<size_t>(n), 'x'); }
};

template <typename T>
struct Make<std::optional<T>> {
  static std::optional<T> at(int64_t i) { return Make<T>::at(i); }
  static std::optional<T> of(int64_t n) { return Make<T>::of(n); }
};

template <typename T, typename... Ts>
struct Make<std::variant<T, Ts...>> {
  static std::variant<T, Ts...> at(int64_t i) { return Make<T>::at(i); }
  static std::variant<T, Ts...> of(int64_t n) { return at(n); }
};

template <typename A, typename B>
struct Make<std::pair<A, B>> {
  static std::pair<A, B> at(int64_t i) { return {Make<std::remove_const_t<A>>::at(i), Make<B>::at(i)}; }
  static std::pair<A, B> of(int64_t n) { return at(n); }
};

template <typename... Ts>
struct Make<std::tuple<Ts...>> {
  static std::tuple<Ts...> at(int64_t i) { return {Make<Ts>::at(i)...}; }
  static std::tuple<Ts...> of(int64_t n) { return at(n); }
};

template <typename R, typename P>
struct Make<std::chrono::duration<R, P>> {
  static std::chrono::duration<R, P> at(int64_t i) { return std::chrono::duration<R, P>(static_cast<R>(i)); }
  static std::chrono::duration<R, P> of(int64_t) { return at(1); }
};

template <>
struct Make<std::chrono::system_clock::time_point> {
  using Time = std::chrono::system_clock::time_point;
  static Time at(int64_t i) { return Time(std::chrono::hours(400000 + i)); }
  static Time of(int64_t) { return at(1); }
};

template <>
struct Make<std::filesystem::path> {
  static std::filesystem::path at(int64_t i) { return "a/" + Make<std::string>::at(i); }
  static std::filesystem::path of(int64_t n) { return Make<std::string>::of(n); }
};

template <typename T, std::size_t N>
struct Make<std::array<T, N>> {
  static std::array<T, N> at(int64_t i) {
    std::array<T, N> made{};
    made.fill(Make<T>::at(i));
    return made;
  }
  static std::array<T, N> of(int64_t) { return at(1); }
};

/// Standard containers: elements are inserted at the end.
template <typename T>
struct Make<T, std::void_t<typename T::value_type, typename T::allocator_type, typename T::iterator>> {
  static T at(int64_t i) {
    T made;
    for (int64_t j = i; j < i + 3; ++j) made.insert(made.end(), Make<typename T::value_type>::at(j));
    return made;
  }
  static T of(int64_t n) {
    T made;
    for (int64_t j = 0; j < n; ++j) made.insert(made.end(), Make<typename T::value_type>::at(1000 + j));
    return made;
  }
};

/// Returns the same small or large value at each call.
template <typename T>
const T& made(int64_t n) {
  // Never destroyed, because some belong to the interpreter, which ends first.
  static const T *small = new T(Make<T>::of(3)), *large = new T(Make<T>::of(1000));
  return n == 3 ? *small : *large;
}
