/// \file
/// Native values: those that compare without code of the host.
#ifndef ANYFFI_SRC_VALUES_NATIVE_H_
#define ANYFFI_SRC_VALUES_NATIVE_H_

#include <anyffi/inline.h>

#include <cstring>

#include "core/value.h"
#include "values/containers.h"
#include "values/equal.h"

namespace anyffi::runtime {

/// Levels of nested sequences that are compared here; the host compares deeper ones.
constexpr int kNativeDepth = 16;

/// Whether a container's wrapper, if there is one, compares as the runtime does, which a user's subclass may not.
bool has_own_wrapper(const AnyffiObject* container) noexcept;

/// Types whose values are native also inside of containers.
constexpr uint64_t kAlwaysNative = (kComparedTypes & ~anyffi_type_bit(ANYFFI_FLOAT)) | anyffi_type_bit(ANYFFI_BIG_INT);

bool is_native_container(const AnyffiValue& element) noexcept;

/// Whether the host compares an element as the runtime does. It does not for a container that has a wrapper of a user's
/// class, or contains a NaN: the runtime considers two NaNs with the same bits equal, the host does not.
inline bool is_native(const AnyffiValue& element) noexcept {
  constexpr uint64_t kNative = kAlwaysNative | anyffi_type_bit(ANYFFI_FLOAT);
  return (anyffi_type_bit(element.type_code) & ~kNative) == 0 || is_native_container(element);
}

/// Whether the types of all elements of a set, or keys of a mapping, are such that comparing them with each other never
/// needs code of the host.
inline bool compares_alone(const Mapping* mapping) noexcept {
  return (mapping->key_type_mask & ~(kAlwaysNative | anyffi_type_bit(ANYFFI_FLOAT))) == 0;
}

/// Whether all elements of a set, or keys of a mapping, are native.
bool has_native_keys(const Mapping* mapping) noexcept;

inline int32_t equal_native(const AnyffiValue& a, const AnyffiValue& b, int depth) noexcept;

/// As `equal_native`, for two objects of which at least one is a sequence.
inline int32_t sequences_equal_native(const AnyffiValue& a, const AnyffiValue& b, int depth) noexcept {
  if (a.as_object == b.as_object) return 1;
  if (!is_sequence(a.type_code) || !is_sequence(b.type_code) || depth == kNativeDepth) return -1;
  if (!has_own_wrapper(a.as_object) || !has_own_wrapper(b.as_object)) return -1;
  if ((a.type_code == ANYFFI_LIST) != (b.type_code == ANYFFI_LIST)) return 0;
  const AnyffiSequence *left = as_sequence(a.as_object), *right = as_sequence(b.as_object);
  if (left->size != right->size) return 0;
  for (int64_t i = 0; i < left->size; ++i) {
    int32_t is_equal = equal_native(left->data[i], right->data[i], depth + 1);
    if (is_equal != 1) return is_equal;
  }
  return 1;
}

/// As `quick_equal`, for two string objects, which usually have the same encoding.
inline bool strings_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  auto* left = reinterpret_cast<const AnyffiStrObject*>(a.as_object);
  auto* right = reinterpret_cast<const AnyffiStrObject*>(b.as_object);
  if (left->encoding != right->encoding) return quick_equal(a, b) == Quick::kEqual;
  size_t size = static_cast<size_t>(left->length) << anyffi_encoding_shift(left->encoding);
  return left->length == right->length && std::memcmp(left->data, right->data, size) == 0;
}

/// 1 if two values are equal, 0 if not, -1 if only the host can compare them.
inline int32_t equal_native(const AnyffiValue& a, const AnyffiValue& b, int depth) noexcept {
  if (a.type_code == b.type_code) {
    if (a.type_code == ANYFFI_INT) return a.as_int == b.as_int;
    if (a.type_code == ANYFFI_FLOAT) return a.as_float == b.as_float;
    if (a.type_code == ANYFFI_STR_OBJECT) return strings_equal(a, b);
  }
  if (((anyffi_type_bit(a.type_code) | anyffi_type_bit(b.type_code)) & ~kComparedTypes) != 0) {
    return is_sequence(a.type_code) && b.type_code > 0 ? sequences_equal_native(a, b, depth) : -1;
  }
  // Text is inline exactly if it is short, and inline text is equal exactly if its words are.
  if (a.type_code == ANYFFI_STR && (b.type_code == ANYFFI_STR || b.type_code == ANYFFI_STR_OBJECT)) {
    return is_identical(a, b);
  }
  return quick_equal(a, b) == Quick::kEqual;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_NATIVE_H_
