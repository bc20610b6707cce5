/// \file
/// Detects whether mapping functions returned the parts that they were given.
#include "structure/changes.h"

#include <cstring>

#include "core/errors.h"
#include "core/host.h"
#include "core/value.h"
#include "structure/leaves.h"

namespace anyffi::runtime {
namespace {

bool is_text_or_number(int32_t code) noexcept {
  return anyffi_is_str(code) || anyffi_is_bytes(code) || code == ANYFFI_BIG_INT;
}

bool is_its_value(const AnyffiValue& member, const AnyffiValue& result) noexcept {
  Owned holder;
  const AnyffiValue* plain;
  int is_same = find_plain(member, &holder, &plain) == 0 ? 0 : -1;
  if (is_same == 0 && plain != &member) is_same = compare_leaves(*plain, result, 0);
  if (is_same >= 0) return is_same == 1;
  Owned ignored;
  anyffi_error_take_raised(ignored.out());
  return false;
}

/// Whether a function of the host returned its argument. Text, numbers and the host's own objects come back as new
/// objects of the runtime, so identity is not enough.
bool is_unchanged(const AnyffiValue& old, const AnyffiValue& result) noexcept {
  if (is_identical(old, result)) return true;
  // For a member of an enumeration the function may return the member's value.
  if (void* handle = handle_of(old)) return handle == handle_of(result) || is_its_value(old, result);
  if (is_text_or_number(old.type_code)) {
    return is_text_or_number(result.type_code) && compare_leaves(old, result, 0) == 1;
  }
  if (old.type_code != result.type_code) return false;
  if (old.type_code == ANYFFI_COMPLEX) {
    auto* left = reinterpret_cast<AnyffiComplex*>(old.as_object);
    auto* right = reinterpret_cast<AnyffiComplex*>(result.as_object);
    return std::memcmp(&left->real, &right->real, 8) == 0 && std::memcmp(&left->imag, &right->imag, 8) == 0;
  }
  if (old.type_code != ANYFFI_SLICE) return false;
  auto* left = reinterpret_cast<AnyffiSlice*>(old.as_object);
  auto* right = reinterpret_cast<AnyffiSlice*>(result.as_object);
  // Compares the parts of slices by identity: they are rarely anything but numbers or None.
  return is_identical(left->start, right->start) && is_identical(left->stop, right->stop) &&
         is_identical(left->step, right->step);
}

}  // namespace

bool add_result(const AnyffiValue& old, Owned result, Vector<Owned>* parts) {
  bool is_kept = is_unchanged(old, *result.get());
  parts->push_back(is_kept ? retained(old) : std::move(result));
  return !is_kept;
}

}  // namespace anyffi::runtime
