/// \file
/// Helpers that make the Arrays in which the structure functions return paths, parts and differences.
#ifndef ANYFFI_SRC_STRUCTURE_ARRAYS_H_
#define ANYFFI_SRC_STRUCTURE_ARRAYS_H_

#include <anyffi/inline.h>

#include <initializer_list>

#include "core/owned.h"
#include "values/containers.h"

namespace anyffi::runtime {

/// The kinds of steps in paths: `.name`, `[index]`, `[key]` to a mapping's value, and elements of sets, which have no
/// position. A key of a mapping is also one of its elements: that step leads to the key itself.
enum class StepType { kField = 0, kIndex = 1, kKey = 2, kElement = 3 };

/// Moves an owned value into a sequence that is not shared yet and has the capacity.
inline void append_owned(AnyffiObject* sequence, AnyffiValue value) noexcept {
  AnyffiSequence* array = as_sequence(sequence);
  anyffi_add_types(sequence, &array->type_mask, anyffi_type_bit(value.type_code));
  array->data[array->size++] = value;
}

/// A new Array of copies of values.
inline int make_array(std::initializer_list<AnyffiValue> values, AnyffiValue* out) noexcept {
  return anyffi_sequence_create_from(ANYFFI_ARRAY, values.begin(), static_cast<int64_t>(values.size()), out);
}

/// Appends such an Array to a sequence with sufficient capacity.
inline int add_row(AnyffiObject* sequence, std::initializer_list<AnyffiValue> values) noexcept {
  AnyffiValue row;
  if (make_array(values, &row) != 0) return -1;
  append_owned(sequence, row);
  return 0;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_ARRAYS_H_
