// Times tasks in C++ in interleaved rounds, and prints the best time of each as JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// Makes the compiler believe that a value is used and changed.
template <typename T>
void keep(T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

struct Case {
  std::string row;
  const char* contender;
  int64_t per;
  std::function<void()> run;
  double best = 1e300;
  int64_t times = 1;
};

inline double nanoseconds(Case& one) {
  auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < one.times; ++i) one.run();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

class Table {
 public:
  template <typename F>
  void add(const std::string& row, const char* contender, int64_t per, F run) {
    cases_.push_back({row, contender, per, run});
  }

  void measure(int rounds, double slice) {
    for (Case& one : cases_) {
      while (nanoseconds(one) < slice) one.times *= 2;
    }
    for (int round = 0; round < rounds; ++round) {
      for (Case& one : cases_) {
        double each = nanoseconds(one) / static_cast<double>(one.times * one.per);
        if (each < one.best) one.best = each;
      }
    }
  }

  void print() const {
    std::printf("{");
    for (size_t i = 0; i < cases_.size(); ++i) {
      const Case& one = cases_[i];
      bool first = i == 0 || cases_[i - 1].row != one.row;
      bool last = i + 1 == cases_.size() || cases_[i + 1].row != one.row;
      if (first) std::printf("%s\"%s\": {", i == 0 ? "" : ", ", one.row.c_str());
      std::printf("%s\"%s\": %.4f%s", first ? "" : ", ", one.contender, one.best, last ? "}" : "");
    }
    std::printf("}\n");
  }

 private:
  std::vector<Case> cases_;
};
