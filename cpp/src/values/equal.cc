/// \file
/// Equality as Python defines it.
#include "values/equal.h"

#include <anyffi/inline.h>

#include <cstring>

#include "core/depth.h"
#include "core/host.h"
#include "core/owned.h"
#include "core/types.h"
#include "core/value.h"
#include "text/text.h"
#include "values/containers.h"
#include "values/host_objects.h"

namespace anyffi::runtime {
namespace {

bool is_number(int32_t code) { return code <= ANYFFI_BOOL && code >= ANYFFI_FLOAT; }

/// Exact comparison, without rounding the integer to a double.
bool int_equals_float(int64_t number, double other) {
  return other >= -0x1p63 && other < 0x1p63 && static_cast<int64_t>(other) == number &&
         static_cast<double>(static_cast<int64_t>(other)) == other;
}

bool numbers_equal(const AnyffiValue& a, const AnyffiValue& b) {
  if (a.type_code == ANYFFI_FLOAT) {
    return b.type_code == ANYFFI_FLOAT ? a.as_float == b.as_float : int_equals_float(b.as_int, a.as_float);
  }
  return b.type_code == ANYFFI_FLOAT ? int_equals_float(a.as_int, b.as_float) : a.as_int == b.as_int;
}

bool texts_equal(const AnyffiValue& a, const AnyffiValue& b) {
  AnyffiTextView left, right;
  anyffi_view_text(&a, &left);
  anyffi_view_text(&b, &right);
  if (left.length != right.length) return false;
  int shift = anyffi_encoding_shift(left.encoding);
  if (shift == anyffi_encoding_shift(right.encoding)) {
    return std::memcmp(left.data, right.data, static_cast<size_t>(left.length) << shift) == 0;
  }
  return compare_text(left, right) == 0;
}

bool is_nan(const AnyffiValue& value) { return value.type_code == ANYFFI_FLOAT && value.as_float != value.as_float; }

/// Whether two complex numbers have the same bits. As keys they are then equal, also with NaN: each conversion makes a
/// new object, so identity would never match.
bool is_same_complex(const AnyffiValue& a, const AnyffiValue& b) {
  if (a.type_code != ANYFFI_COMPLEX || b.type_code != ANYFFI_COMPLEX) return false;
  auto* left = reinterpret_cast<AnyffiComplex*>(a.as_object);
  auto* right = reinterpret_cast<AnyffiComplex*>(b.as_object);
  return std::memcmp(&left->real, &right->real, sizeof(double)) == 0 &&
         std::memcmp(&left->imag, &right->imag, sizeof(double)) == 0;
}

Quick as_quick(bool equal) { return equal ? Quick::kEqual : Quick::kDifferent; }

const AnyffiValue& unbox(const AnyffiValue& value) {
  return value.type_code == ANYFFI_BOX ? reinterpret_cast<AnyffiBox*>(value.as_object)->value : value;
}

int values_equal(const AnyffiValue& a, const AnyffiValue& b, int32_t* out);

/// Either sequence may change during the comparison; the caller owns references to both.
int sequences_equal(const AnyffiSequence* a, const AnyffiSequence* b, int32_t* out) {
  *out = 0;
  if (a->size != b->size) return 0;
  for (int64_t i = 0; i < a->size && i < b->size; ++i) {
    *out = 0;
    Quick quick = is_identical(a->data[i], b->data[i]) ? Quick::kEqual : quick_equal(a->data[i], b->data[i]);
    if (quick == Quick::kEqual) continue;
    if (quick == Quick::kDifferent) return 0;
    Owned left = retained(a->data[i]);
    Owned right = retained(b->data[i]);
    if (elements_equal(*left.get(), *right.get(), out) != 0) return -1;
    if (!*out) return 0;
  }
  *out = a->size == b->size;
  return 0;
}

/// As `sequences_equal`, for mappings and sets, in which order does not matter.
int mappings_equal(const Mapping* a, const Mapping* b, int32_t* out) {
  *out = 0;
  if (a->size != b->size) return 0;
  for (int64_t i = 0; i < a->used; ++i) {
    const AnyffiEntry& entry = a->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    *out = 0;
    Owned key = retained(entry.key);
    Owned left = retained(entry.value);
    int64_t hash, found;
    if (hash_entry(a, entry, &hash) != 0 || find_entry(b, *key.get(), hash, &found) != 0) return -1;
    if (found < 0) return 0;
    Owned right = retained(b->entries[found].value);
    if (elements_equal(*left.get(), *right.get(), out) != 0) return -1;
    if (!*out) return 0;
  }
  *out = a->size == b->size;
  return 0;
}

int slices_equal(const AnyffiSlice* a, const AnyffiSlice* b, int32_t* out) {
  const AnyffiValue AnyffiSlice::* parts[] = {&AnyffiSlice::start, &AnyffiSlice::stop, &AnyffiSlice::step};
  for (auto part : parts) {
    if (elements_equal(a->*part, b->*part, out) != 0) return -1;
    if (!*out) return 0;
  }
  return 0;
}

/// Calls the host if either value is a host object; returns -2 if neither is.
int host_equal(const AnyffiValue& a, const AnyffiValue& b, int32_t* out) {
  void* handle = handle_of(a);
  const AnyffiValue* other = &b;
  if (handle == nullptr) {
    handle = handle_of(b);
    other = &a;
  }
  if (handle == nullptr) return -2;
  const AnyffiHost* hooks = host();
  if (hooks != nullptr && hooks->handle_equal != nullptr) {
    return call_hook(out, [&] { return hooks->handle_equal(handle, other, out); });
  }
  *out = handle == handle_of(*other);
  return 0;
}

/// The slow path, for values about which `quick_equal` returns kUnknown.
int values_equal(const AnyffiValue& a, const AnyffiValue& b, int32_t* out) {
  *out = 0;
  DepthGuard depth;
  if (!depth) return -1;
  int status = host_equal(a, b, out);
  if (status != -2) return status;
  if (is_compared_by_host(a) || is_compared_by_host(b)) {
    status = ask_host(out, &AnyffiHost::object_equal, &a, &b);
    if (status <= 0) return status;
  }
  if (is_sequence(a.type_code) || is_sequence(b.type_code)) {
    if (anyffi_type_get_family(a.type_code) != anyffi_type_get_family(b.type_code)) return 0;
    return sequences_equal(as_sequence(a.as_object), as_sequence(b.as_object), out);
  }
  bool both_mappings = is_mapping(a.type_code) && is_mapping(b.type_code);
  if (both_mappings || (is_set(a.type_code) && is_set(b.type_code))) {
    return mappings_equal(as_mapping(a.as_object), as_mapping(b.as_object), out);
  }
  if (a.type_code == ANYFFI_SLICE && b.type_code == ANYFFI_SLICE) {
    return slices_equal(reinterpret_cast<AnyffiSlice*>(a.as_object), reinterpret_cast<AnyffiSlice*>(b.as_object), out);
  }
  if (auto* hook = a.type_code > 0 ? find_hook(a.type_code, &AnyffiTypeInfo::equal) : nullptr) return hook(&a, &b, out);
  if (auto* hook = b.type_code > 0 ? find_hook(b.type_code, &AnyffiTypeInfo::equal) : nullptr) return hook(&b, &a, out);
  *out = is_identical(a, b);
  return 0;
}

}  // namespace

Quick quick_arrays_equal(const AnyffiSequence* a, const AnyffiSequence* b) noexcept {
  if (((a->type_mask | b->type_mask) & ~(kComparedTypes | ANYFFI_CHECKED)) != 0) return Quick::kUnknown;
  if (a->size != b->size) return Quick::kDifferent;
  for (int64_t i = 0; i < a->size; ++i) {
    if (is_identical(a->data[i], b->data[i])) continue;
    if (quick_equal(a->data[i], b->data[i]) != Quick::kEqual) return Quick::kDifferent;
  }
  return Quick::kEqual;
}

Quick quick_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  if (is_number(a.type_code) && is_number(b.type_code)) return as_quick(numbers_equal(a, b));
  bool left_is_text = anyffi_is_str(a.type_code) || anyffi_is_bytes(a.type_code);
  bool right_is_text = anyffi_is_str(b.type_code) || anyffi_is_bytes(b.type_code);
  if (left_is_text && right_is_text) {
    return as_quick(anyffi_is_str(a.type_code) == anyffi_is_str(b.type_code) && texts_equal(a, b));
  }
  bool left_is_plain = a.type_code <= 0 || left_is_text;
  bool right_is_plain = b.type_code <= 0 || right_is_text;
  if (left_is_plain && right_is_plain) return as_quick(is_identical(a, b));
  if (a.type_code == ANYFFI_ARRAY && b.type_code == ANYFFI_ARRAY) {
    return quick_arrays_equal(as_sequence(a.as_object), as_sequence(b.as_object));
  }
  return Quick::kUnknown;
}

Quick quick_key_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  if (is_nan(a) && is_nan(b)) return Quick::kEqual;
  return quick_equal(a, b);
}

int elements_equal(const AnyffiValue& a, const AnyffiValue& b, int32_t* out) noexcept {
  void* handle = handle_of(a);
  *out = is_identical(a, b) || is_same_complex(a, b) || (handle != nullptr && handle == handle_of(b));
  if (*out) return 0;
  Quick quick = quick_equal(a, b);
  if (quick == Quick::kUnknown) return values_equal(a, b, out);
  *out = quick == Quick::kEqual;
  return 0;
}

}  // namespace anyffi::runtime

int anyffi_value_equal(const AnyffiValue* a, const AnyffiValue* b, int32_t* out) {
  using namespace anyffi::runtime;
  const AnyffiValue& left = unbox(*a);
  const AnyffiValue& right = unbox(*b);
  Quick quick = quick_equal(left, right);
  *out = quick == Quick::kEqual;
  if (quick != Quick::kUnknown) return 0;
  if (values_equal(left, right, out) == 0) return 0;
  *out = 0;
  return -1;
}
