// Functions over C++ callables of every kind, and the exceptions that leave them.
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Error;
using anyffi::Function;

std::string kind_of(const Function& fails) {
  try {
    fails();
  } catch (const Error& error) {
    return error.kind().cast<std::string>() + ": " + error.what();
  }
  return "nothing";
}

template <size_t kSize>
int64_t call_with_state() {
  std::array<char, kSize> state;
  for (size_t i = 0; i < kSize; ++i) state[i] = static_cast<char>(i + 1);
  Function sum = Function::from([state](int64_t from) {
    for (char x : state) from += x;
    return from;
  });
  Function copy = sum;
  sum = Function::from([] {});
  return copy(100).cast<int64_t>();
}

TEST(Native, CallablesOfEverySize) {
  EXPECT_EQ(call_with_state<1>(), 101);
  EXPECT_EQ(call_with_state<7>(), 128);
  EXPECT_EQ(call_with_state<8>(), 136);
  EXPECT_EQ(call_with_state<9>(), 145);
  EXPECT_EQ(call_with_state<127>(), 100 + 127 * 128 / 2);
}

/// A callable that the runtime may copy bytewise, or that is large, so that it is moved.
template <size_t kBytes>
struct Padded {
  std::array<int8_t, kBytes> bytes{};
  int64_t operator()(int64_t x) const { return x + bytes.front() + bytes.back(); }
};

TEST(Native, CallablesThatAreLarge) {
  Padded<255> copied;
  Padded<256> moved;
  Padded<5000> large;
  copied.bytes.back() = moved.bytes.back() = large.bytes.back() = 5;
  EXPECT_EQ(Function::from(copied)(1).cast<int64_t>(), 6);
  EXPECT_EQ(Function::from(moved)(1).cast<int64_t>(), 6);
  EXPECT_EQ(Function::from(large)(1).cast<int64_t>(), 6);
  EXPECT_EQ(Function::from_packed([large](anyffi::Args, AnyValue* result) { *result = large(2); })().cast<int64_t>(),
            7);
}

/// Throws when it is moved for the last time, into the function.
struct Reluctant {
  std::string text = "a string that is on the heap";
  static inline int moves_left = -1;
  Reluctant() = default;
  Reluctant(const Reluctant&) = default;
  Reluctant(Reluctant&& other) : text(std::move(other.text)) {
    if (moves_left > 0 && --moves_left == 0) throw std::out_of_range("not this time");
  }
  void operator()() const {}
};

TEST(Native, AMoveThatThrows) {
  CountingAllocator counting;
  bool has_thrown = false;
  for (int moves = 1; !has_thrown || moves < 4; ++moves) {
    ASSERT_LT(moves, 10);
    try {
      Reluctant::moves_left = moves;
      Function::from(Reluctant());
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "not this time");
      has_thrown = true;
    } catch (const std::out_of_range&) {
    }
  }
  Reluctant::moves_left = -1;
  EXPECT_EQ(counting.live(), 0);
}

struct Marked {
  virtual ~Marked() = default;
};
struct Twice : std::runtime_error, Marked {
  Twice() : std::runtime_error("with a second base") {}
};
struct Other : std::exception {};
struct Ambiguous : std::runtime_error, Other {
  Ambiguous() : std::runtime_error("a std::exception twice") {}
};

TEST(Native, ExceptionsWithSeveralBases) {
  EXPECT_EQ(kind_of(Function::from([] { throw Twice(); })), "RuntimeError: with a second base");
  EXPECT_EQ(kind_of(Function::from([](int64_t = 0) -> std::string { throw Twice(); }, arg("x") = 1)),
            "RuntimeError: with a second base");
  // The C++ runtime chooses one of the two, or neither.
  EXPECT_EQ(kind_of(Function::from([] { throw Ambiguous(); })).substr(0, 14), "RuntimeError: ");
  EXPECT_EQ(kind_of(Function::from([] { throw 5; })), "RuntimeError: C++ exception of type int");
}

/// Calls a function that throws, while the stack is unwound.
struct Interfering {
  ~Interfering() {
    Function other = Function::from([] { throw std::invalid_argument("another one"); });
    AnyValue error;
    AnyffiValue result{};
    auto* function = reinterpret_cast<AnyffiFunction*>(other.get());
    EXPECT_NE(function->call(function->self, nullptr, 0, &result), 0);
    anyffi_error_take_raised(error.out());
  }
};

TEST(Native, ExceptionsThrownWhileTheStackIsUnwound) {
  EXPECT_EQ(kind_of(Function::from([] {
              Interfering interfering;
              throw std::out_of_range("the first one");
            })),
            "IndexError: the first one");
  EXPECT_EQ(kind_of(Function::from([] {
              Interfering interfering;
              throw Error("KeyError", "an Error");
            })),
            "KeyError: an Error");
}

}  // namespace
