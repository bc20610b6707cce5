// Concurrent operations of threads: names, errors, shared immutable objects, and containers under the host's lock.
// `tools/dev.py tsan` runs these tests under ThreadSanitizer.
#include <anyffi/anyffi.h>
#include <anyffi/host_api.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::Locked;
using anyffi::Map;
using anyffi::String;

constexpr int kThreads = 4;
constexpr int kRounds = 300;

/// Calls `body` with the number of each round from each thread; all threads start together.
template <class Body>
void run_at_once(Body body) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      for (int round = 0; round < kRounds; ++round) body(thread, round);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// A host of which the tests only use the lock.
class LockingHost {
 public:
  LockingHost() {
    AnyffiHost hooks{};
    hooks.struct_size = sizeof(hooks);
    hooks.lock = [] {
      mutex.lock();
      return 0;
    };
    hooks.unlock = [](int32_t) { mutex.unlock(); };
    anyffi_host_install(&hooks);
  }
  ~LockingHost() { anyffi_host_install(nullptr); }
  LockingHost(const LockingHost&) = delete;
  LockingHost& operator=(const LockingHost&) = delete;

 private:
  static inline std::recursive_mutex mutex;
};

/// An immutable value with parts of many types.
AnyValue make_parts() {
  Dict<String, AnyValue> parts;
  parts.set("numbers", Array<int64_t>{1, 2, 3});
  parts.set("text", String("a text that has its own memory, and \xc3\xa9"));
  parts.set("nested", Array<AnyValue>{1.5, "short", Array<String>{"x", "a second text that has its own memory"}});
  return parts.freeze();
}

}  // namespace

TEST(Threads, RegisterFindAndRemoveFunctions) {
  std::atomic<int> wrong{0};
  run_at_once([&](int thread, int round) {
    // Half of the names are also used by other threads.
    std::string text = "test.threads." + std::to_string(round % 10) + (round % 2 ? "" : "." + std::to_string(thread));
    AnyValue name(text), found, names;
    Function function = Function::from([round](int64_t x) { return x + round; });
    AnyffiValue value = AnyView(function).raw();
    anyffi::detail::check(anyffi_registry_set(&name.raw(), &value, 1));
    anyffi::detail::check(anyffi_registry_find(&name.raw(), found.out()));
    if (!found.is_none()) wrong += found.cast<Function>()(1).cast<int64_t>() % 10 != (round + 1) % 10;
    anyffi::detail::check(anyffi_registry_list(names.out()));
    int32_t existed;
    anyffi::detail::check(anyffi_registry_remove(&name.raw(), &existed));
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, RaiseErrors) {
  std::atomic<int> wrong{0};
  Function fail = Function::from([](int64_t number) { throw Error("ValueError", std::to_string(number)); });
  Function pass = Function::from([&](int64_t number) { fail(number); });
  run_at_once([&](int thread, int round) {
    int64_t number = thread * kRounds + round;
    try {
      pass(number);
      ++wrong;
    } catch (const Error& error) {
      wrong += std::to_string(number) != error.what();
    }
    try {
      pass("no number");
      ++wrong;
    } catch (const Error& error) {
      wrong += std::string(error.what()).find("expected int") == std::string::npos;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, ReadOneError) {
  AnyValue error = Error("ValueError", "a message that has its own memory").value();
  std::atomic<int> wrong{0};
  run_at_once([&](int, int) {
    Error copy(error);
    wrong += copy.what() != std::string("a message that has its own memory");
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, ReadWhatNobodyChanges) {
  AnyValue parts = make_parts(), same = make_parts();
  std::atomic<int> wrong{0};
  run_at_once([&](int, int) {
    wrong += !(parts == same) || !anyffi::structural_equal(parts, same);
    wrong += anyffi::structural_hash(parts) != anyffi::structural_hash(same);
    wrong += !(anyffi::from_json(anyffi::to_json(parts)) == parts);
    auto map = parts.cast<Map<String, AnyValue>>();
    wrong += map["nested"].hash() != same["nested"].hash();
    wrong += map["numbers"].cast<std::vector<int64_t>>()[2] != 3;
    wrong += map["text"].cast<String>().find("memory") != 24;
    for (const auto& [key, value] : map) wrong += key.empty() || value.is_none();
  });
  EXPECT_EQ(wrong, 0);
  // And the reference that is counted.
  EXPECT_EQ(parts.cast<anyffi::ObjectRef>().use_count(), 2);
}

TEST(Threads, CheckTheElementsOfOneArray) {
  std::atomic<int> wrong{0};
  // The results of checks are cached, and the values are new in each round.
  static std::vector<AnyValue> made;
  made.clear();
  for (int i = 0; i < kRounds; ++i) made.emplace_back(Array<AnyValue>{i, i + 1, "text", Array<AnyValue>{i}});
  run_at_once([&](int, int round) {
    try {
      made[round].cast<Array<int64_t>>();
      ++wrong;
    } catch (const Error&) {
    }
    auto numbers = made[round].cast<Array<AnyValue>>()[3].cast<Array<int64_t>>();
    wrong += numbers[0] != round;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, CheckArraysThatDisplaceEachOthersRecords) {
  using Rows = Array<Array<int64_t>>;
  using Texts = Array<Array<String>>;
  // More than there are records, so that each is written again and again.
  constexpr int kArrays = 600, kElements = 64;
  std::vector<AnyValue> arrays;
  for (int i = 0; i < kArrays; ++i) {
    std::vector<AnyValue> elements;
    for (int j = 0; j < kElements; ++j) {
      elements.push_back(i % 2 == 0 ? AnyValue(Array<int64_t>{j}) : AnyValue(Array<String>{"text"}));
    }
    arrays.emplace_back(Array<AnyValue>(elements.begin(), elements.end()));
  }
  std::atomic<int> wrong{0};
  run_at_once([&](int thread, int round) {
    int index = (thread * 31 + round * 7) % kArrays;
    const AnyValue& array = arrays[static_cast<size_t>(index)];
    for (int again = 0; again < 2; ++again) {
      bool is_rows = array.try_cast<Rows>().has_value(), is_texts = array.try_cast<Texts>().has_value();
      wrong += is_rows != (index % 2 == 0) || is_texts == is_rows;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, ChangeContainersUnderTheLock) {
  LockingHost host;
  List<int64_t> list;
  Dict<int64_t, String> dict;
  run_at_once([&](int thread, int round) {
    Locked(list).with([&](List<int64_t>& xs) {
      xs.push_back(round);
      AnyValue(xs).cast<std::vector<int64_t>>();
    });
    Locked(dict).with([&](Dict<int64_t, String>& entries) {
      entries.set(round, String("a text that has its own memory " + std::to_string(thread)));
      if (round > 2) entries.erase(round - 2);
    });
  });
  EXPECT_EQ(list.size(), kThreads * kRounds);
}

TEST(Threads, ReleaseWhatOthersMade) {
  constexpr size_t kPlaces = 16;
  std::mutex mutex;
  AnyValue places[kPlaces];
  run_at_once([&](int thread, int round) {
    List<AnyValue> made{round, "a text that has its own memory", List<int64_t>{thread}};
    for (int i = 0; i < round % 50; ++i) made.push_back(i);
    AnyValue taken(std::move(made));
    std::lock_guard<std::mutex> lock(mutex);
    std::swap(places[static_cast<size_t>(round + thread) % kPlaces], taken);
  });
  for (const AnyValue& place : places) EXPECT_EQ(place.cast<anyffi::ObjectRef>().use_count(), 2);
}

TEST(Threads, AddOverloadsToAFunctionThatOthersCall) {
  AnyValue made;
  anyffi::detail::check(anyffi_function_create_overloaded("overloaded", made.out()));
  auto overloaded = made.cast<Function>();
  auto add = [&](const Function& function) {
    anyffi::detail::check(anyffi_function_add_overload(overloaded.get(), function.get(), nullptr, 0));
  };
  add(Function::from([](int64_t x) { return x; }));
  std::atomic<int> wrong{0};
  run_at_once([&](int thread, int round) {
    if (round % 100 == 50) add(Function::from([thread](String, String) { return thread; }));
    wrong += overloaded(round).cast<int64_t>() != round;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, KeepObjectsAliveByOthers) {
  run_at_once([](int, int round) {
    List<int64_t> nurse{round};
    for (int i = 0; i < 3; ++i) {
      AnyValue patient(List<int64_t>{i});
      anyffi::detail::check(anyffi_object_keep_alive(nurse.get(), &patient.raw()));
    }
  });
}
