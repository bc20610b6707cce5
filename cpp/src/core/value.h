/// \file
/// Fast paths for owning and comparing values.
#ifndef ANYFFI_SRC_CORE_VALUE_H_
#define ANYFFI_SRC_CORE_VALUE_H_

#include <anyffi/c_api.h>
#include <anyffi/inline.h>

namespace anyffi::runtime {

inline AnyffiValue float_value(double number) noexcept {
  AnyffiValue value = anyffi_make_none();
  value.type_code = ANYFFI_FLOAT;
  value.as_float = number;
  return value;
}

/// Whether two values are the same 16 bytes, apart from an argument's flags: the closest equivalent of Python's `is`.
inline bool is_identical(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  return a.type_code == b.type_code && a.as_int == b.as_int && (a.type_code > 0 || a.aux == b.aux);
}

/// True for values that are copied byte by byte, without a check: numbers, None, short ASCII.
inline bool is_plain(const AnyffiValue& value) noexcept {
  int32_t code = value.type_code;
  bool number = code <= ANYFFI_NONE && code >= ANYFFI_FLOAT && value.aux == 0;
  return number || (code == ANYFFI_STR && (value.as_int >> 60) == ANYFFI_ASCII);
}

/// True for owned values that certainly have the form in which containers store them.
inline bool is_canonical(const AnyffiValue& value) noexcept {
  return is_plain(value) || (value.type_code > ANYFFI_BOX && value.aux == 0);
}

/// Reads a value whose halves of the first word may have been stored just now: loading the whole word would wait for
/// both.
inline AnyffiValue read_halves(const AnyffiValue& value) {
  int32_t type_code = value.type_code;
  uint32_t aux = value.aux;
  // Keeps the compiler from merging the two loads.
  __asm__("" : "+r"(type_code), "+r"(aux));
  return anyffi_make_value(static_cast<uint32_t>(type_code) | static_cast<uint64_t>(aux) << 32,
                           static_cast<uint64_t>(value.as_int));
}

/// As `anyffi_value_own`, inline for the most frequent values.
inline int own_value(const AnyffiValue* value, AnyffiValue* out) noexcept {
  if (is_plain(*value)) {
    anyffi_copy_value(value, out);
    return 0;
  }
  return anyffi_value_own(value, out);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_VALUE_H_
