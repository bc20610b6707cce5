/// Packs Python values that need no object of the runtime: exact builtins, read directly from their storage.
///
/// Nothing here calls a function that could clobber a register, so that the loops over arguments and elements keep all
/// they need in registers.

#ifndef ANYFFI_PACK_INLINE_H_
#define ANYFFI_PACK_INLINE_H_

#include "layout.h"
#include "state.h"

/// Lengths of borrowed text and bytes have 30 bits; the other two bits are the encoding.
#define ANYFFI_MAX_BORROWED (((Py_ssize_t)1 << 30) - 1)

/// The `AnyffiTextEncoding` of a str; both Python and the runtime store text in the narrowest width.
static inline int32_t anyffi_py_encoding_of(PyObject* text) {
  int width = (int)PyUnicode_KIND(text);
  if (PyUnicode_IS_ASCII(text)) return ANYFFI_ASCII;
  return width == 1 ? ANYFFI_LATIN1 : width == 2 ? ANYFFI_UCS2 : ANYFFI_UCS4;
}

/// Packs an exact str that has its final storage, if it can be stored inline.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_short_str(PyObject* x, AnyffiValue* out) {
  Py_ssize_t length = PyUnicode_GET_LENGTH(x);
  Py_ssize_t size = length * (Py_ssize_t)PyUnicode_KIND(x);
  if (size > ANYFFI_INLINE_BYTES) return 0;
  *out = anyffi_make_inline_text(ANYFFI_STR, anyffi_py_encoding_of(x), PyUnicode_DATA(x), (uint32_t)size,
                                 (uint32_t)length);
  return 1;
}

/// Packs exact bytes, if they can be stored inline.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_short_bytes(PyObject* x, AnyffiValue* out) {
  Py_ssize_t size = Py_SIZE(x);
  if (size > ANYFFI_INLINE_BYTES) return 0;
  *out = anyffi_make_inline_text(ANYFFI_BYTES, ANYFFI_ASCII, PyBytes_AS_STRING(x), (uint32_t)size, (uint32_t)size);
  return 1;
}

/// Packs an int of at most 60 bits, a float, a bool, None or Ellipsis; 0 for everything else.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_immediate(PyObject* x, PyTypeObject* cls, AnyffiValue* out) {
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

/// Packs a value that is stored inline and is not bytes; 0 for everything else.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_inline(PyObject* x, AnyffiValue* out) {
  if (Py_IS_TYPE(x, &PyUnicode_Type)) return anyffi_py_is_ready(x) && anyffi_py_pack_short_str(x, out);
  return anyffi_py_pack_immediate(x, Py_TYPE(x), out);
}

/// Packs an exact str or bytes, inline or borrowed; 0 for others and for text too long to borrow.
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

/// Packs an argument that needs no object; the caller keeps it alive. 0 for others.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_plain(PyObject* x, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  return anyffi_py_pack_text(x, cls, out) || anyffi_py_pack_immediate(x, cls, out);
}

/// Packs elements from `sequence->size` on, up to the first that is not inline; returns the new size. Size and type
/// mask are always those of the packed elements, because the sequence may be destroyed if a later element fails.
ANYFFI_NEVER_INLINE Py_ssize_t anyffi_py_fill_inline(PyObject* const* items, Py_ssize_t size,
                                                     AnyffiSequence* sequence) {
  AnyffiValue* data = sequence->data;
  uint64_t type_mask = sequence->type_mask;
  Py_ssize_t i = sequence->size;
  for (; i < size && anyffi_py_pack_inline(items[i], &data[i]); ++i) type_mask |= anyffi_type_bit(data[i].type_code);
  sequence->size = i;
  sequence->type_mask = type_mask;
  return i;
}

/// Creates a sequence of the elements up to the first that is not inline.
///
/// @return 1 if these are all elements, 0 if others follow, -1 if no sequence could be created
/// (`anyffi_py_raise_taken`).
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_inline_items(PyObject* const* items, Py_ssize_t size, int32_t type_code,
                                                     AnyffiValue* out) {
  Py_ssize_t i = 0;
  int64_t number;
  if (anyffi_sequence_create(type_code, size, out) != 0) return -1;
  AnyffiSequence* sequence = (AnyffiSequence*)out->as_object;
  AnyffiValue* data = sequence->data;
  // `fill_inline` would do, but a loop for ints only takes a third fewer instructions.
  for (; i < size && Py_IS_TYPE(items[i], &PyLong_Type) && anyffi_py_read_short_int(items[i], &number); ++i) {
    data[i] = anyffi_make_int(number);
  }
  if (i > 0) {
    sequence->size = i;
    sequence->type_mask = anyffi_type_bit(ANYFFI_INT);
  }
  return i == size || anyffi_py_fill_inline(items, size, sequence) == size;
}

#endif  // ANYFFI_PACK_INLINE_H_
