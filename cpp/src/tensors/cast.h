/// \file
/// Converts elements of one type to another, in runs along an axis.
#ifndef ANYFFI_SRC_TENSORS_CAST_H_
#define ANYFFI_SRC_TENSORS_CAST_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// The number type for a run of elements: the narrowest of these four that holds all values of the element type.
enum class RunType { kInt, kUnsigned, kFloat, kComplex };

constexpr int64_t kRunSize = 128;

/// Up to `kRunSize` numbers of one RunType.
union Run {
  int64_t ints[kRunSize];
  uint64_t words[kRunSize];
  double floats[kRunSize];
  double parts[2 * kRunSize]; /* real and imaginary parts in turn */
};

/// How elements of a type are read.
struct RunReader {
  RunType type;
  /// Reads elements that lie `step` bytes apart and need not be aligned. NULL if the type is unknown.
  void (*read)(const char* from, int64_t step, int64_t count, Run& to) noexcept;
};
RunReader find_reader(const AnyffiDataType& type) noexcept;

/// Writes elements, and returns how many: fewer than `count` if the next one does not fit.
using WriteRun = int64_t (*)(const Run& from, int64_t count, char* to, int64_t step) noexcept;
/// NULL if no number of the RunType is written as this type: a float as an integer, for instance.
WriteRun find_writer(const AnyffiDataType& type, RunType from) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TENSORS_CAST_H_
