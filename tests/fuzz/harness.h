/// \file
/// What all fuzz targets share: their registration, checks of the C ABI's rules, and an allocator that fails.
#ifndef ANYFFI_TESTS_FUZZ_HARNESS_H_
#define ANYFFI_TESTS_FUZZ_HARNESS_H_

#include <anyffi/c_api.h>
#include <fuzzer/FuzzedDataProvider.h>

namespace anyffi::fuzz {

/// The bytes of one run, taken apart.
using Input = FuzzedDataProvider;

/// A target, registered by a static variable; `tests/fuzz/corpus/NAME` has its first inputs.
struct Target {
  Target(const char* name, void (*run)(Input& input));
  const char* name;
  void (*run)(Input& input);
};

/// Ends the process unless a rule holds: libFuzzer then keeps the input.
void require(bool holds, const char* rule);
/// The rules for what a function that returns `int` leaves in `out` (NULL: it has none) and in the slot for errors.
/// Releases the error. Returns whether the function succeeded.
bool finished(int status, const AnyffiValue* out = nullptr);
/// The same of a function with several ways to succeed, which failed.
void failed(const AnyffiValue* out = nullptr);
/// The rules for what an owned value is, and all that it holds.
void check_value(const AnyffiValue& value);

/// Empties all containers that can be reached from a value and changed: no cycle remains.
void break_cycles(const AnyffiValue& root);
/// Prints a value, before a rule about it that does not hold.
void show(const AnyffiValue& value);

/// The allocation that fails, counted from now on; 0: none. Those of more than 16 MB, or of all of a run beyond 256 MB,
/// fail in any case.
void fail_allocation(uint32_t number);

/// A value that is released at the end.
struct Owned : AnyffiValue {
  Owned() : AnyffiValue{} {}
  ~Owned() { anyffi_value_release(this); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};

}  // namespace anyffi::fuzz

#endif  // ANYFFI_TESTS_FUZZ_HARNESS_H_
