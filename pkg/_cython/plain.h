/// Python values that need no object of the runtime to be made: exact builtins, read straight from their storage.
///
/// This file and call.h are in C, which can have its functions inlined where that pays and nowhere else. What is
/// read here calls nothing, so that the loops over arguments and elements keep all they need in registers.

#ifndef ANYFFI_PLAIN_H_
#define ANYFFI_PLAIN_H_

#include <Python.h>
#include <anyffi/c_api.h>

#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#define ANYFFI_ALWAYS_INLINE __attribute__((always_inline)) static inline
#define ANYFFI_NEVER_INLINE __attribute__((noinline)) static

/// Lengths of borrowed text and bytes have 30 bits, beside the two of the encoding.
#define ANYFFI_MAX_BORROWED (((Py_ssize_t)1 << 30) - 1)

/// Strings made by deprecated functions have no final storage before Python 3.12.
#if PY_VERSION_HEX < 0x030C0000
#define anyffi_py_ready PyUnicode_READY
#define anyffi_py_is_ready PyUnicode_IS_READY
#else
#define anyffi_py_ready(x) 0
#define anyffi_py_is_ready(x) 1
#endif

/// Reads an exact int of at most two digits, that is 60 bits, from its storage; 0 for a longer one.
ANYFFI_ALWAYS_INLINE int anyffi_py_read_short_int(PyObject* x, int64_t* out) {
#if PY_VERSION_HEX >= 0x030C0000
  const digit* digits = ((PyLongObject*)x)->long_value.ob_digit;
  uintptr_t tag = ((PyLongObject*)x)->long_value.lv_tag;
  int64_t sign = 1 - (int64_t)(tag & 3);
  size_t count = (size_t)(tag >> 3);
  if (__builtin_expect(count <= 1, 1)) {
    *out = sign * (int64_t)digits[0];
    return 1;
  }
#else
  const digit* digits = ((PyLongObject*)x)->ob_digit;
  Py_ssize_t size = Py_SIZE(x);
  if (__builtin_expect(size >= -1 && size <= 1, 1)) {
    *out = size * (int64_t)digits[0];
    return 1;
  }
  int64_t sign = size < 0 ? -1 : 1;
  Py_ssize_t count = sign * size;
#endif
  if (count != 2) return 0;
  *out = sign * ((int64_t)digits[1] << PyLong_SHIFT | (int64_t)digits[0]);
  return 1;
}

/// Reads an exact int; -1 or 1 where it is outside of int64.
static inline int anyffi_py_read_int(PyObject* x, int64_t* out) {
  int overflow = 0;
  if (!anyffi_py_read_short_int(x, out)) *out = PyLong_AsLongLongAndOverflow(x, &overflow);
  return overflow;
}

/// Makes an int. Python 3.11 makes one of a `long` in two thirds of the time that one of a `long long` takes.
static inline PyObject* anyffi_py_new_int(int64_t number) {
  return sizeof(long) == sizeof(int64_t) ? PyLong_FromLong((long)number) : PyLong_FromLongLong(number);
}

/// The `AnyffiTextEncoding` of a str, which like ours is always of the narrowest width.
static inline int32_t anyffi_py_encoding_of(PyObject* text) {
  int width = (int)PyUnicode_KIND(text);
  if (PyUnicode_IS_ASCII(text)) return ANYFFI_ASCII;
  return width == 1 ? ANYFFI_LATIN1 : width == 2 ? ANYFFI_UCS2 : ANYFFI_UCS4;
}

/// Packs an exact str that has its final storage, if it fits in place.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_short_str(PyObject* x, AnyffiValue* out) {
  Py_ssize_t length = PyUnicode_GET_LENGTH(x);
  Py_ssize_t size = length * (Py_ssize_t)PyUnicode_KIND(x);
  if (size > ANYFFI_INLINE_BYTES) return 0;
  *out = anyffi_make_inline_text(ANYFFI_STR, anyffi_py_encoding_of(x), PyUnicode_DATA(x), (uint32_t)size,
                                   (uint32_t)length);
  return 1;
}

/// Packs exact bytes, if they fit in place.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_short_bytes(PyObject* x, AnyffiValue* out) {
  Py_ssize_t size = Py_SIZE(x);
  if (size > ANYFFI_INLINE_BYTES) return 0;
  *out = anyffi_make_inline_text(ANYFFI_BYTES, ANYFFI_ASCII, PyBytes_AS_STRING(x), (uint32_t)size, (uint32_t)size);
  return 1;
}

/// Packs what always lies in place, ints of 60 bits among it; 0 for everything else.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_constant(PyObject* x, PyTypeObject* cls, AnyffiValue* out) {
  if (cls == &PyLong_Type) {
    int64_t number;
    if (!anyffi_py_read_short_int(x, &number)) return 0;
    *out = anyffi_make_int(number);
  } else if (cls == &PyFloat_Type) {
    out->type_code = ANYFFI_FLOAT;
    out->aux = 0;
    out->as_float = PyFloat_AS_DOUBLE(x);
  } else if (cls == &PyBool_Type) {
    *out = anyffi_make_value((uint32_t)ANYFFI_BOOL, x == Py_True);
  } else if (x == Py_None) {
    *out = anyffi_make_none();
  } else if (x == Py_Ellipsis) {
    *out = anyffi_make_value((uint32_t)ANYFFI_ELLIPSIS, 0);
  } else {
    return 0;
  }
  return 1;
}

/// Packs what lies in place and cannot fail: constants and short str; 0 for everything else.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_inline(PyObject* x, AnyffiValue* out) {
  if (Py_IS_TYPE(x, &PyUnicode_Type)) return anyffi_py_is_ready(x) && anyffi_py_pack_short_str(x, out);
  return anyffi_py_pack_constant(x, Py_TYPE(x), out);
}

/// Packs an exact str or bytes, which the caller keeps alive; 0 for others and for what is too long to borrow.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_text(PyObject* x, PyTypeObject* cls, AnyffiValue* out) {
  Py_ssize_t length;
  int32_t type_code = ANYFFI_BYTES_VIEW, encoding = ANYFFI_ASCII;
  if (cls == &PyUnicode_Type) {
    if (!anyffi_py_is_ready(x)) return 0;
    if (anyffi_py_pack_short_str(x, out)) return 1;
    length = PyUnicode_GET_LENGTH(x);
    type_code = ANYFFI_STR_VIEW;
    encoding = anyffi_py_encoding_of(x);
    out->as_pointer = PyUnicode_DATA(x);
  } else if (cls == &PyBytes_Type) {
    if (anyffi_py_pack_short_bytes(x, out)) return 1;
    length = Py_SIZE(x);
    out->as_pointer = PyBytes_AS_STRING(x);
  } else {
    return 0;
  }
  out->type_code = type_code;
  out->aux = (uint32_t)length << 2 | (uint32_t)encoding;
  return length <= ANYFFI_MAX_BORROWED;
}

/// Packs an argument that needs no object and cannot fail; the caller keeps it alive. 0 for others.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_plain(PyObject* x, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  return anyffi_py_pack_text(x, cls, out) || anyffi_py_pack_constant(x, cls, out);
}

/// Packs elements from `sequence->size` on, up to the first that does not lie in place; returns how many there are now.
/// Whoever destroys the sequence, should a later element fail, goes by its size and type_mask.
ANYFFI_NEVER_INLINE Py_ssize_t anyffi_py_fill_plain(PyObject* const* items, Py_ssize_t size, AnyffiSequence* sequence) {
  AnyffiValue* data = sequence->data;
  uint64_t type_mask = sequence->type_mask;
  Py_ssize_t i = sequence->size;
  for (; i < size && anyffi_py_pack_inline(items[i], &data[i]); ++i) type_mask |= anyffi_type_bit(data[i].type_code);
  sequence->size = i;
  sequence->type_mask = type_mask;
  return i;
}

/// Makes a new sequence of elements up to the first that does not lie in place.
///
/// @return 1 if that is all, 0 if others follow, -1 where no sequence could be made.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_plain_items(PyObject* const* items, Py_ssize_t size, int32_t type_code,
                                                    AnyffiValue* out) {
  Py_ssize_t i = 0;
  int64_t number;
  if (anyffi_sequence_create(type_code, size, out) != 0) return -1;
  AnyffiSequence* sequence = (AnyffiSequence*)out->as_object;
  AnyffiValue* data = sequence->data;
  // `fill_plain` would do, but a loop over ints alone takes a third less instructions.
  for (; i < size && Py_IS_TYPE(items[i], &PyLong_Type) && anyffi_py_read_short_int(items[i], &number); ++i) {
    data[i] = anyffi_make_int(number);
  }
  if (i > 0) {
    sequence->size = i;
    sequence->type_mask = anyffi_type_bit(ANYFFI_INT);
  }
  return i == size || anyffi_py_fill_plain(items, size, sequence) == size;
}

#endif  // ANYFFI_PLAIN_H_
