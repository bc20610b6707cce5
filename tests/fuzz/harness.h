/// \file
/// Shared by all fuzz targets: registration, checks of the C ABI's rules, and a failing allocator.
#ifndef ANYFFI_TESTS_FUZZ_HARNESS_H_
#define ANYFFI_TESTS_FUZZ_HARNESS_H_

#include <anyffi/c_api.h>
#include <fuzzer/FuzzedDataProvider.h>

namespace anyffi::fuzz {

/// The bytes of one run, split into values.
using Input = FuzzedDataProvider;

/// A target, registered by a static variable; `tests/fuzz/corpus/NAME` has its initial inputs.
struct Target {
  Target(const char* name, void (*run)(Input& input));
  const char* name;
  void (*run)(Input& input);
};

/// Ends the process unless a rule holds, so that libFuzzer keeps the input.
void require(bool holds, const char* rule);
/// Checks what a function that returns `int` leaves in `out` (NULL: it has none) and in the error slot. Releases the
/// error. Returns whether the function succeeded.
bool finished(int status, const AnyffiValue* out = nullptr);
/// The same for a function with several success codes, which failed.
void failed(const AnyffiValue* out = nullptr);
/// Checks the rules for an owned value, and for all values that it holds.
void check_value(const AnyffiValue& value);

/// Empties all mutable containers that can be reached from a value, so that no cycle remains.
void break_cycles(const AnyffiValue& root);
/// Prints a value, before a failing rule about it is reported.
void show(const AnyffiValue& value);

/// Sets which allocation fails, counted from now on; 0: none. Allocations of more than 16 MB, or beyond 256 MB per run,
/// always fail.
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
