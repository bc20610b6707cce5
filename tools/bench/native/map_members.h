// A value with operators, an object with members of many types, and a hierarchy: bound by anyffi and nanobind.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

struct Vec {
  Vec() = default;
  Vec(double x_, double y_) : x(x_), y(y_) {}
  double x = 0, y = 0;
  Vec operator-() const { return {-x, -y}; }
  Vec operator*(double by) const { return {x * by, y * by}; }
  Vec& operator+=(const Vec& other) {
    x += other.x, y += other.y;
    return *this;
  }
  bool operator==(const Vec& other) const { return x == other.x && y == other.y; }
  bool operator!=(const Vec& other) const { return !(*this == other); }
  double norm() const { return std::sqrt(x * x + y * y); }
  std::string text() const { return "(1, 2)"; }
  int64_t hash() const { return static_cast<int64_t>(x); }
  double get_first() const { return x; }
  void set_first(double value) { x = value; }
};

enum class Suit { kClubs, kHearts, kSpades };

struct CardError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Shape {
  explicit Shape(std::string name_) : name(std::move(name_)) {}
  virtual ~Shape() = default;
  virtual double area() const { return 1; }
  std::string name;
  std::shared_ptr<Shape> next;
  std::vector<std::shared_ptr<Shape>> parts;
};
struct Circle : Shape {
  using Shape::Shape;
  double area() const override { return 3; }
};

struct Deck {
  std::vector<int64_t> cards{1, 2, 3};
  std::map<std::string, double> prices{{"a", 1.0}, {"b", 2.0}};
  std::vector<Vec> places{{1, 2}, {3, 4}};
  std::optional<double> limit;
  std::variant<int64_t, std::string> label = int64_t{3};
  std::pair<double, double> range{1, 2};
  std::function<int64_t(int64_t)> rule;
  Suit suit = Suit::kHearts;
  explicit operator bool() const { return !cards.empty(); }
  int64_t get(int64_t i) const {
    if (i < 0 || static_cast<size_t>(i) >= cards.size()) throw std::out_of_range("no such card");
    return cards[static_cast<size_t>(i)];
  }
  void set(int64_t i, int64_t card) { cards.at(static_cast<size_t>(i)) = card; }
  bool has(int64_t card) const {
    for (int64_t each : cards) {
      if (each == card) return true;
    }
    return false;
  }
  int64_t play(int64_t card) const { return card + 1; }
  void each(const std::function<void(int64_t)>& f) const {
    for (int64_t card : cards) f(card);
  }
  Vec& place(int64_t i) { return places.at(static_cast<size_t>(i)); }
  Vec* find(int64_t i) { return i < 0 ? nullptr : &place(i); }
  std::optional<Vec> maybe(int64_t i) { return i < 0 ? std::nullopt : std::optional<Vec>(place(i)); }
  std::pair<Vec, double> both() const { return {places[0], 2.0}; }
  std::map<std::string, Vec> named() const { return {{"a", places[0]}, {"b", places[1]}}; }
  std::unique_ptr<Vec> made() const { return std::make_unique<Vec>(1, 2); }
  Deck& cut(int64_t card) {
    cards[0] = card;
    return *this;
  }
  double total(const Vec& a, const Vec& b, double by = 1) const { return (a.x + b.x) * by; }
  static Deck of(const std::vector<int64_t>& cards) {
    Deck deck;
    deck.cards = cards;
    return deck;
  }
};

inline std::shared_ptr<Shape> make_shape(bool is_circle) {
  return is_circle ? std::make_shared<Circle>("circle") : std::make_shared<Shape>("shape");
}
inline double area_of(const Shape& shape) { return shape.area(); }
inline void throw_card() { throw CardError("no such card"); }
inline double take_pointer(const Vec* vec) { return vec ? vec->x : 0; }
inline double take_optional(std::optional<Vec> vec) { return vec ? vec->x : 0; }
inline double take_copies(Vec a, Vec b) { return a.x + b.x; }
inline int64_t take_either(const std::variant<double, Vec>& x) { return static_cast<int64_t>(x.index()); }
inline double take_named(const std::map<std::string, Vec>& vecs) { return vecs.begin()->second.x; }
inline double take_marked(const std::pair<Vec, double>& pair) { return pair.second; }
inline Suit same_suit(Suit suit) { return suit; }
inline int64_t take_suits(const std::vector<Suit>& suits) { return static_cast<int64_t>(suits.size()); }
inline std::vector<Suit> all_suits() { return {Suit::kClubs, Suit::kHearts, Suit::kSpades}; }
inline double apply_to_vec(const std::function<double(const Vec&)>& f) { return f(Vec(1, 2)); }
inline Vec apply_to_number(const std::function<Vec(double)>& f) { return f(2); }
