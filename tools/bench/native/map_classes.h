// Classes that anyffi and nanobind bind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct Part {
  explicit Part(int64_t number_) : number(number_) {}
  int64_t number;
};

struct Body {
  Body(int64_t a, int64_t b) : x(a), y(b) {}
  int64_t x, y;
  double weight = 1.5;
  bool is_open = true;
  std::string name = "mystr";
  std::vector<int64_t> items{1, 2, 3};
  Part part{7};
  Part* pointer = &part;
  std::shared_ptr<Part> shared = std::make_shared<Part>(8);
  int64_t nothing() const { return x; }
  int64_t add(int64_t k) const { return x + k; }
  double scale(double by, const std::string& label) const { return weight * by + static_cast<double>(label.size()); }
  int64_t pick(int64_t k) const { return k; }
  int64_t pick(const std::string& k) const { return static_cast<int64_t>(k.size()); }
  static int64_t count() { return 3; }
  int64_t sum() const { return x + y; }
  int64_t at(int64_t i) const { return items[static_cast<size_t>(i)]; }
  size_t size() const { return items.size(); }
  bool operator==(const Body& other) const { return x == other.x && y == other.y; }
  Body operator+(const Body& other) const { return Body(x + other.x, y + other.y); }
  bool operator<(const Body& other) const { return x < other.x; }
  Body& itself() { return *this; }
  Part& inner() { return part; }
  Part* get_pointer() { return pointer; }
  Body copy() const { return *this; }
};

struct Moving : Body {
  Moving(int64_t a, int64_t b) : Body(a, b) {}
  int64_t speed = 5;
};

struct Runner {
  virtual ~Runner() = default;
  virtual int64_t run(int64_t k) { return k; }
};

inline Part& global_part() {
  static Part part(9);
  return part;
}
inline Part& other_global_part() {
  static Part part(11);
  return part;
}
inline std::shared_ptr<Part> other_shared_part() {
  static auto part = std::make_shared<Part>(12);
  return part;
}
inline std::shared_ptr<Part> shared_part() {
  static auto part = std::make_shared<Part>(10);
  return part;
}
inline int64_t sum_of(const std::vector<Part*>& parts) {
  int64_t sum = 0;
  for (const Part* part : parts) sum += part->number;
  return sum;
}
inline int64_t sum_of_copies(const std::vector<Part>& parts) {
  int64_t sum = 0;
  for (const Part& part : parts) sum += part.number;
  return sum;
}
inline std::vector<Part> make_parts(int64_t count) { return std::vector<Part>(static_cast<size_t>(count), Part(1)); }
inline std::vector<std::shared_ptr<Part>> shared_parts(int64_t count) {
  static std::vector<std::shared_ptr<Part>> parts;
  while (parts.size() < static_cast<size_t>(count)) parts.push_back(std::make_shared<Part>(11));
  return {parts.begin(), parts.begin() + count};
}
inline int64_t sum_of_shared(const std::vector<std::shared_ptr<Part>>& parts) {
  int64_t sum = 0;
  for (const auto& part : parts) sum += part->number;
  return sum;
}
