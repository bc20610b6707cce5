/// \file
/// What is too short to call: inline helpers over the C ABI, for C11, C++17 and the Cython backend.
#ifndef ANYFFI_INLINE_H_
#define ANYFFI_INLINE_H_

#include <anyffi/c_api.h>

#ifdef __cplusplus
#define ANYFFI_INLINE constexpr inline
#else
#define ANYFFI_INLINE static inline
#endif

/// The bit of a code in a container's summary of kinds: in-place codes, the static objects, all others.
ANYFFI_INLINE uint64_t anyffi_kind_bit(int32_t type_code) {
  return type_code <= 0   ? (uint64_t)1 << -type_code
         : type_code < 47 ? (uint64_t)1 << (16 + type_code)
                          : (uint64_t)1 << 63;
}

/// 1 for the three codes of a string.
ANYFFI_INLINE int anyffi_is_str(int32_t type_code) {
  return type_code == ANYFFI_STR || type_code == ANYFFI_STR_VIEW || type_code == ANYFFI_STR_OBJECT;
}

/// 1 for the three codes of bytes.
ANYFFI_INLINE int anyffi_is_bytes(int32_t type_code) {
  return type_code == ANYFFI_BYTES || type_code == ANYFFI_BYTES_VIEW || type_code == ANYFFI_BYTES_OBJECT;
}

/// log2 of the width of a code point of a text kind.
ANYFFI_INLINE int anyffi_kind_shift(int32_t kind) { return kind <= ANYFFI_LATIN1 ? 0 : kind - 1; }

#undef ANYFFI_INLINE

static inline void anyffi_retain_inline(AnyffiObject* object) {
  __atomic_fetch_add(&object->strong_count, 1, __ATOMIC_RELAXED);
}

static inline void anyffi_release_inline(AnyffiObject* object) {
  if (__atomic_fetch_sub(&object->strong_count, 1, __ATOMIC_ACQ_REL) == 1) anyffi_object_destroy(object);
}

/// Two words make a value: byte stores followed by a 16-byte load would cost twice as much.
static inline AnyffiValue anyffi_from_words_inline(uint64_t first, uint64_t second) {
  AnyffiValue value;
  value.type_code = (int32_t)first;
  value.aux = (uint32_t)(first >> 32);
  value.as_int = (int64_t)second;
  return value;
}

/// One code point as an in-place string of its narrowest kind.
static inline AnyffiValue anyffi_char_inline(uint32_t code_point) {
  uint64_t kind = code_point < 0x80 ? ANYFFI_ASCII : code_point < 0x100 ? ANYFFI_LATIN1 : code_point < 0x10000 ? ANYFFI_UCS2 : ANYFFI_UCS4;
  return anyffi_from_words_inline((uint32_t)ANYFFI_STR | (uint64_t)code_point << 32, (kind << 4 | (ANYFFI_IN_PLACE_BYTES - 1)) << 56);
}

/// Unfolds a string or bytes value, of which `value->type_code` must be one of the six codes.
static inline void anyffi_text_inline(const AnyffiValue* value, AnyffiText* out) {
  out->reserved = 0;
  if (value->type_code == ANYFFI_STR || value->type_code == ANYFFI_BYTES) {
    const unsigned char* bytes = (const unsigned char*)value;
    out->data = bytes + 4;
    out->length = ANYFFI_IN_PLACE_BYTES - (bytes[15] & 15);
    out->kind = value->type_code == ANYFFI_BYTES ? (int32_t)ANYFFI_LATIN1 : bytes[15] >> 4;
  } else if (value->type_code == ANYFFI_STR_OBJECT) {
    const AnyffiStrObject* object = (const AnyffiStrObject*)value->as_object;
    out->data = object->data;
    out->length = object->length;
    out->kind = object->kind;
  } else if (value->type_code == ANYFFI_BYTES_OBJECT) {
    const AnyffiBytesObject* object = (const AnyffiBytesObject*)value->as_object;
    out->data = object->data;
    out->length = object->length;
    out->kind = ANYFFI_LATIN1;
  } else {
    out->data = value->as_pointer;
    out->length = value->aux >> 2;
    out->kind = value->type_code == ANYFFI_BYTES_VIEW ? (int32_t)ANYFFI_LATIN1 : (int32_t)(value->aux & 3);
  }
}

/// The code point at `index`, which must be below the length.
static inline uint32_t anyffi_code_point_inline(const AnyffiText* text, int64_t index) {
  if (text->kind <= ANYFFI_LATIN1) return ((const uint8_t*)text->data)[index];
  if (text->kind == ANYFFI_UCS2) return ((const uint16_t*)text->data)[index];
  return ((const uint32_t*)text->data)[index];
}

#endif  // ANYFFI_INLINE_H_
