/// \file
/// Inline helpers over the C ABI, for C11 and C++17. `anyffi_retain` and `anyffi_release` are the inline versions of
/// `anyffi_object_retain` and `anyffi_object_release`.
#ifndef ANYFFI_INLINE_H_
#define ANYFFI_INLINE_H_

#include <anyffi/c_api.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the byte positions of AnyffiValue assume a little-endian machine"
#endif

#ifdef __cplusplus
#define ANYFFI_INLINE constexpr inline
#else
#define ANYFFI_INLINE static inline
#endif

/// The bit of a type code in a type mask: one for each inline code and each fixed object type, one for all others.
ANYFFI_INLINE uint64_t anyffi_type_bit(int32_t type_code) {
  return type_code < -15 || type_code > 46 ? (uint64_t)1 << 63
         : type_code <= 0                  ? (uint64_t)1 << -type_code
                                           : (uint64_t)1 << (15 + type_code);
}

/// 1 for the three codes of a string.
ANYFFI_INLINE int anyffi_is_str(int32_t type_code) {
  return type_code == ANYFFI_STR || type_code == ANYFFI_STR_VIEW || type_code == ANYFFI_STR_OBJECT;
}

/// 1 for the three codes of bytes.
ANYFFI_INLINE int anyffi_is_bytes(int32_t type_code) {
  return type_code == ANYFFI_BYTES || type_code == ANYFFI_BYTES_VIEW || type_code == ANYFFI_BYTES_OBJECT;
}

/// 1 for an Int that has the type code of an enumeration in `aux`: see `member_params`.
ANYFFI_INLINE int anyffi_is_member(const AnyffiValue* value) {
  return value->type_code == ANYFFI_INT && value->aux >= ANYFFI_FIRST_DYNAMIC_TYPE;
}

/// log2 of the width of a code point in bytes.
ANYFFI_INLINE int anyffi_encoding_shift(int32_t encoding) { return encoding <= ANYFFI_LATIN1 ? 0 : encoding - 1; }

#undef ANYFFI_INLINE

/// A bit in the type mask of a container (in a mapping, in that of the values): `anyffi_container_begin_check` has
/// marked the container. No type has this bit.
#define ANYFFI_CHECKED ((uint64_t)1 << 62)

/// Types whose objects may keep handles of the host alive (host_api.h); dynamic types share a bit.
#define ANYFFI_REFERRING                                                                                  \
  (((uint64_t)1 << 63) | anyffi_type_bit(ANYFFI_OBJECT) | anyffi_type_bit(ANYFFI_SLICE) |                 \
   anyffi_type_bit(ANYFFI_ERROR) | anyffi_type_bit(ANYFFI_FUNCTION) | anyffi_type_bit(ANYFFI_PY_OBJECT) | \
   anyffi_type_bit(ANYFFI_ARRAY) | anyffi_type_bit(ANYFFI_LIST) | anyffi_type_bit(ANYFFI_MAP) |           \
   anyffi_type_bit(ANYFFI_DICT) | anyffi_type_bit(ANYFFI_FROZEN_SET) | anyffi_type_bit(ANYFFI_SET) |      \
   anyffi_type_bit(ANYFFI_TENSOR))

/// Adds the bits of values written to a container to its type mask (in a mapping, to that of the values).
static inline void anyffi_add_types(AnyffiObject* container, uint64_t* type_mask, uint64_t bits) {
  uint64_t former = *type_mask;
  /* Skips the write if the bits are set: a later access then need not wait for it. */
  if (__builtin_expect((former & (bits | ANYFFI_CHECKED)) == bits, 1)) return;
  *type_mask = former | bits;
  if (((former & ANYFFI_CHECKED) | (bits & ANYFFI_REFERRING)) != 0) anyffi_container_note_types(container);
}

/// 1 if other code than the call for which this argument was created can reach a mutable container in it, or the value
/// itself.
static inline int anyffi_reaches_containers(const AnyffiValue* value) {
  const uint64_t containers = anyffi_type_bit(ANYFFI_ARRAY) | anyffi_type_bit(ANYFFI_LIST) |
                              anyffi_type_bit(ANYFFI_MAP) | anyffi_type_bit(ANYFFI_DICT) |
                              anyffi_type_bit(ANYFFI_FROZEN_SET) | anyffi_type_bit(ANYFFI_SET) |
                              anyffi_type_bit(ANYFFI_SLICE);
  int32_t code = value->type_code;
  if (code < ANYFFI_ARRAY || code > ANYFFI_SET) return 0;
  int is_mutable = code == ANYFFI_LIST || code == ANYFFI_DICT || code == ANYFFI_SET;
  if (is_mutable && (value->aux & ANYFFI_MOVABLE) == 0) return 1;
  if (code <= ANYFFI_LIST) return (((const AnyffiSequence*)value->as_object)->type_mask & containers) != 0;
  const AnyffiMapping* mapping = (const AnyffiMapping*)value->as_object;
  return ((mapping->key_type_mask | mapping->value_type_mask) & containers) != 0;
}

/// The same for any of several values.
static inline int anyffi_reach_containers(const AnyffiValue* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (anyffi_reaches_containers(&values[i])) return 1;
  }
  return 0;
}

static inline void anyffi_retain(AnyffiObject* object) {
  __atomic_fetch_add(&object->strong_count, 1, __ATOMIC_RELAXED);
}

/// 1 if the caller's reference is the only one. 0 for an object that is enrolled or ever had a weak reference: a weak
/// one could become strong, and be released, between the two reads, but then ANYFFI_WAS_WEAK remains in the weak count.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
/* GCC 12 does not see that values whose payload is a number are not released. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif
static inline int anyffi_has_one_reference(const AnyffiObject* object) {
  return __atomic_load_n(&object->strong_count, __ATOMIC_ACQUIRE) == 1 &&
         __atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE) == 1;
}

/// 1 if there are `num_references`. Does not rule out former weak references or enrolment, so it may decide about
/// visiting or clearing, but not about freeing.
static inline int anyffi_is_held_by(const AnyffiObject* object, uint64_t num_references) {
  return __atomic_load_n(&object->strong_count, __ATOMIC_ACQUIRE) == num_references &&
         (__atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE) & ~(uint32_t)ANYFFI_WEAK_MARKS) == 1;
}
static inline int anyffi_is_held_once(const AnyffiObject* object) { return anyffi_is_held_by(object, 1); }

static inline void anyffi_release(AnyffiObject* object) {
  if (__atomic_load_n(&object->strong_count, __ATOMIC_ACQUIRE) == 1) {
    if (__atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE) == 1) {
      /* No other thread can see the object, so no atomic instruction is needed. */
      object->strong_count = 0;
      anyffi_object_destroy(object);
    } else {
      anyffi_object_release_last(object);
    }
    return;
  }
  if (__atomic_fetch_sub(&object->strong_count, 1, __ATOMIC_ACQ_REL) == 1) anyffi_object_destroy(object);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

static inline void anyffi_value_retain(const AnyffiValue* value) {
  if (value->type_code > 0) anyffi_retain(value->as_object);
}

/// Releases the value's object, if any, and leaves the bytes unchanged.
static inline void anyffi_value_drop(const AnyffiValue* value) {
  if (value->type_code > 0) anyffi_release(value->as_object);
}

/// 1 if the owner of the only reference may change the object in place, since the object has no wrapper either.
static inline int anyffi_is_reusable(const AnyffiObject* object) {
  return anyffi_has_one_reference(object) && __atomic_load_n(&object->wrapper, __ATOMIC_RELAXED) == NULL;
}

/// A value from two words: byte stores followed by a 16-byte load would cost twice as much.
static inline AnyffiValue anyffi_make_value(uint64_t first, uint64_t second) {
  AnyffiValue value;
  value.type_code = (int32_t)first;
  value.aux = (uint32_t)(first >> 32);
  value.as_int = (int64_t)second;
  return value;
}

/// Copies a value as two words: a 16-byte load right after two 8-byte stores would stall.
static inline void anyffi_copy_value(const AnyffiValue* from, AnyffiValue* to) {
  uint64_t first, second;
  memcpy(&first, from, 8);
  memcpy(&second, &from->as_int, 8);
  /* Keeps the compiler from merging the two copies. */
  __asm__("" : "+r"(first), "+r"(second));
  memcpy((void*)to, &first, 8);
  memcpy(&to->as_int, &second, 8);
}

/// Loads a value into two registers, for immediate use.
static inline AnyffiValue anyffi_read_value(const AnyffiValue* from) {
  uint64_t first, second;
  memcpy(&first, from, 8);
  memcpy(&second, &from->as_int, 8);
  __asm__("" : "+r"(first), "+r"(second));
  return anyffi_make_value(first, second);
}

/// An owned copy of a container's element, without ANYFFI_NATIVE.
static inline AnyffiValue anyffi_own_element(const AnyffiValue* element) {
  AnyffiValue value = anyffi_read_value(element);
  if (value.type_code > 0) {
    anyffi_retain(value.as_object);
    value.aux = 0;
  }
  /* As two words: storing halves of a word would stall the next read. */
  return anyffi_read_value(&value);
}

static inline AnyffiValue anyffi_make_none(void) { return anyffi_make_value(0, 0); }

static inline AnyffiValue anyffi_make_int(int64_t number) {
  return anyffi_make_value((uint32_t)ANYFFI_INT, (uint64_t)number);
}

/// A value that steals a reference to the object.
static inline AnyffiValue anyffi_make_object(AnyffiObject* object) {
  return anyffi_make_value((uint32_t)object->type_code, (uint64_t)(uintptr_t)object);
}

/// Inline text or bytes (`type_code` is ANYFFI_STR or ANYFFI_BYTES) of `size` <= 11 bytes: `length` units of
/// `encoding`, which must be the narrowest (ANYFFI_ASCII for bytes). Reads `data` only.
__attribute__((always_inline)) static inline AnyffiValue anyffi_make_inline_text(int32_t type_code, int32_t encoding,
                                                                                 const void* data, uint32_t size,
                                                                                 uint32_t length) {
  const unsigned char* bytes = (const unsigned char*)data;
  uint64_t first = 0; /* bytes 0 to 7 of the text */
  uint64_t last = 0;  /* bytes 8 to 10 */
  uint64_t mark = ((uint32_t)encoding << 4) | (ANYFFI_INLINE_BYTES - length);
  if (size >= 8) {
    memcpy(&first, bytes, 8);
    memcpy(&last, bytes + size - 8, 8);
    last = (last >> 8) >> (8 * (15 - size));
  } else if (size >= 4) {
    uint32_t head, tail;
    memcpy(&head, bytes, 4);
    memcpy(&tail, bytes + size - 4, 4);
    first = head | (uint64_t)tail << (8 * (size - 4));
  } else if (size > 0) {
    first = bytes[0] | (uint64_t)bytes[size / 2] << (8 * (size / 2)) | (uint64_t)bytes[size - 1] << (8 * (size - 1));
  }
  return anyffi_make_value((uint32_t)type_code | first << 32, first >> 32 | last << 32 | mark << 56);
}

/// One code point as an inline string.
static inline AnyffiValue anyffi_make_char(uint32_t code_point) {
  uint64_t encoding = code_point < 0x80      ? ANYFFI_ASCII
                      : code_point < 0x100   ? ANYFFI_LATIN1
                      : code_point < 0x10000 ? ANYFFI_UCS2
                                             : ANYFFI_UCS4;
  return anyffi_make_value((uint32_t)ANYFFI_STR | (uint64_t)code_point << 32,
                           (encoding << 4 | (ANYFFI_INLINE_BYTES - 1)) << 56);
}

/// `anyffi_value_get_text_view` for a value that is known to be text or bytes.
static inline void anyffi_view_text(const AnyffiValue* value, AnyffiTextView* out) {
  out->reserved = 0;
  if (value->type_code == ANYFFI_STR || value->type_code == ANYFFI_BYTES) {
    const unsigned char* bytes = (const unsigned char*)value;
    out->data = bytes + 4;
    out->length = ANYFFI_INLINE_BYTES - (bytes[15] & 15);
    out->encoding = value->type_code == ANYFFI_BYTES ? (int32_t)ANYFFI_LATIN1 : bytes[15] >> 4;
  } else if (value->type_code == ANYFFI_STR_OBJECT) {
    const AnyffiStrObject* object = (const AnyffiStrObject*)value->as_object;
    out->data = object->data;
    out->length = object->length;
    out->encoding = object->encoding;
  } else if (value->type_code == ANYFFI_BYTES_OBJECT) {
    const AnyffiBytesObject* object = (const AnyffiBytesObject*)value->as_object;
    out->data = object->data;
    out->length = object->length;
    out->encoding = ANYFFI_LATIN1;
  } else {
    out->data = value->as_pointer;
    out->length = value->aux >> 2;
    out->encoding = value->type_code == ANYFFI_BYTES_VIEW ? (int32_t)ANYFFI_LATIN1 : (int32_t)(value->aux & 3);
  }
}

/// A view of ASCII text that is followed by a zero byte; `size` must be below 2**30.
static inline AnyffiValue anyffi_make_ascii_view(const char* text, uint32_t size) {
  uint64_t first = (uint32_t)ANYFFI_STR_VIEW | (uint64_t)(size << 2 | ANYFFI_ASCII) << 32;
  return anyffi_make_value(first, (uint64_t)(uintptr_t)text);
}

/// The encoding bits in a view of bytes: zero, or this mark if the bytes are UTF-8 text.
#define ANYFFI_UTF8_MARK 1u

/// A view of text as UTF-8 without surrogates, only for arguments in `utf8_params`; `size` must be below 2**30.
static inline AnyffiValue anyffi_make_utf8(const char* utf8, uint32_t size) {
  uint64_t first = (uint32_t)ANYFFI_BYTES_VIEW | (uint64_t)(size << 2 | ANYFFI_UTF8_MARK) << 32;
  return anyffi_make_value(first, (uint64_t)(uintptr_t)utf8);
}

static inline int anyffi_is_utf8(const AnyffiValue* value) {
  return value->type_code == ANYFFI_BYTES_VIEW && (value->aux & 3) == ANYFFI_UTF8_MARK;
}

/// A container of the host, or a pointer to the two doubles of a Complex, only for `load_items`: an Unset value whose
/// `aux` is twice the type code, plus 1 if it is part of a key. Borrows the handle.
static inline AnyffiValue anyffi_make_items(void* container, int32_t type_code, int32_t in_key) {
  uint64_t aux = (uint64_t)(uint32_t)(type_code << 1 | in_key);
  return anyffi_make_value((uint32_t)ANYFFI_UNSET | aux << 32, (uint64_t)(uintptr_t)container);
}

/// A time or duration of the host, given in microseconds, only for `anyffi_items_write`: an Unset value whose `aux` has
/// the AnyffiConversion above the bits of `anyffi_make_items`.
static inline AnyffiValue anyffi_make_created(int32_t conversion, int64_t microseconds) {
  return anyffi_make_value((uint32_t)ANYFFI_UNSET | (uint64_t)(uint32_t)conversion << 48, (uint64_t)microseconds);
}

static inline AnyffiValue anyffi_make_deferred(const AnyffiDeferred* deferred) {
  uint64_t aux = ANYFFI_IS_DEFERRED;
  return anyffi_make_value((uint32_t)ANYFFI_UNSET | aux << 32, (uint64_t)(uintptr_t)deferred);
}

static inline int anyffi_is_deferred(const AnyffiValue* value) {
  return value->type_code == ANYFFI_UNSET && value->aux == ANYFFI_IS_DEFERRED;
}

static inline int anyffi_is_items(const AnyffiValue* value) {
  return value->type_code == ANYFFI_UNSET && value->aux != 0;
}

/// Begins to read a value of `anyffi_make_items`.
static inline AnyffiItems anyffi_open_items(const AnyffiValue* value) {
  AnyffiItems items;
  items.container = value->as_pointer;
  items.type_code = (int32_t)(value->aux >> 1);
  items.flags = (int32_t)(value->aux & ANYFFI_ITEMS_IN_KEY);
  items.size = 0;
  items.position = 0;
  return items;
}

/// The code point at `index`, which must be below the length.
static inline uint32_t anyffi_get_code_point(const AnyffiTextView* text, int64_t index) {
  if (text->encoding <= ANYFFI_LATIN1) return ((const uint8_t*)text->data)[index];
  if (text->encoding == ANYFFI_UCS2) return ((const uint16_t*)text->data)[index];
  return ((const uint32_t*)text->data)[index];
}

/// Python's `str.isspace` (Unicode 15.1: White_Space and U+001C to U+001F).
static inline int anyffi_is_space(uint32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

#endif  // ANYFFI_INLINE_H_
