/// \file
/// Sorts Lists, as far as that needs no code of the host.
#include <anyffi/inline.h>

#include <algorithm>
#include <memory>

#include "core/errors.h"
#include "text/text.h"
#include "values/containers.h"
#include "values/native.h"

namespace anyffi::runtime {
namespace {

// Comparisons return 1, 0, or -1 if only the host can compare.

/// Ints of at most 53 bits are exact as doubles.
constexpr int64_t kExactInt = int64_t{1} << 53;

bool is_real(int32_t code) { return code == ANYFFI_INT || code == ANYFFI_FLOAT || code == ANYFFI_BOOL; }

int is_real_less(const AnyffiValue& a, const AnyffiValue& b) {
  double numbers[2];
  const AnyffiValue* values[] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    const AnyffiValue& value = *values[i];
    bool is_float = value.type_code == ANYFFI_FLOAT;
    if (!is_float && (value.as_int < -kExactInt || value.as_int > kExactInt)) return -1;
    numbers[i] = is_float ? value.as_float : static_cast<double>(value.as_int);
    // With NaNs, the result would depend on the sorting algorithm.
    if (numbers[i] != numbers[i]) return -1;
  }
  return numbers[0] < numbers[1];
}

int is_less(const AnyffiValue& a, const AnyffiValue& b, int depth);

/// Compares by the first elements that differ.
int is_sequence_less(const AnyffiValue& a, const AnyffiValue& b, int depth) {
  if (a.as_object == b.as_object) return 0;
  if ((a.type_code == ANYFFI_LIST) != (b.type_code == ANYFFI_LIST) || depth == kNativeDepth) return -1;
  if (!has_own_wrapper(a.as_object) || !has_own_wrapper(b.as_object)) return -1;
  const AnyffiSequence *left = as_sequence(a.as_object), *right = as_sequence(b.as_object);
  int64_t common = std::min(left->size, right->size);
  for (int64_t i = 0; i < common; ++i) {
    int32_t is_equal = equal_native(left->data[i], right->data[i], depth + 1);
    if (is_equal < 0) return -1;
    if (!is_equal) return is_less(left->data[i], right->data[i], depth + 1);
  }
  return left->size < right->size;
}

int is_less(const AnyffiValue& a, const AnyffiValue& b, int depth) {
  if (a.type_code == ANYFFI_INT && b.type_code == ANYFFI_INT) return a.as_int < b.as_int;
  if (is_real(a.type_code) && is_real(b.type_code)) return is_real_less(a, b);
  bool are_texts = (anyffi_is_str(a.type_code) && anyffi_is_str(b.type_code)) ||
                   (anyffi_is_bytes(a.type_code) && anyffi_is_bytes(b.type_code));
  if (are_texts) {
    AnyffiTextView left, right;
    anyffi_view_text(&a, &left);
    anyffi_view_text(&b, &right);
    return compare_text(left, right) < 0;
  }
  return is_sequence(a.type_code) && is_sequence(b.type_code) ? is_sequence_less(a, b, depth) : -1;
}

/// Thrown to stop a sort.
struct NeedsHost {};

/// Sorts cells. Returns false, and changes nothing, if only the host can compare two of them.
template <typename Less>
bool sort_cells(AnyffiValue* cells, int64_t size, Less less) {
  int found = 0;
  int64_t sorted = 1, reversed = 1;
  while (sorted < size && (found = less(cells[sorted], cells[sorted - 1])) == 0) ++sorted;
  if (sorted >= size || found < 0) return found >= 0;
  while (reversed < size && (found = less(cells[reversed], cells[reversed - 1])) == 1) ++reversed;
  if (found < 0) return false;
  if (reversed == size) {
    std::reverse(cells, cells + size);
    return true;
  }
  std::unique_ptr<AnyffiValue[]> copy(new AnyffiValue[static_cast<size_t>(size)]);
  std::copy(cells, cells + size, copy.get());
  try {
    std::stable_sort(copy.get(), copy.get() + size, [&](const AnyffiValue& a, const AnyffiValue& b) {
      int is_less = less(a, b);
      if (is_less < 0) throw NeedsHost();
      return is_less != 0;
    });
  } catch (const NeedsHost&) {
    return false;
  }
  std::copy(copy.get(), copy.get() + size, cells);
  return true;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_sequence_sort(AnyffiObject* object, int32_t is_reverse, int32_t* out_sorted) {
  AnyffiSequence* sequence = as_sequence(object);
  *out_sorted = 0;
  return guard([&] {
    bool is_sorted = is_reverse
                         ? sort_cells(sequence->data, sequence->size,
                                      [](const AnyffiValue& a, const AnyffiValue& b) { return is_less(b, a, 0); })
                         : sort_cells(sequence->data, sequence->size,
                                      [](const AnyffiValue& a, const AnyffiValue& b) { return is_less(a, b, 0); });
    *out_sorted = is_sorted;
    return 0;
  });
}
