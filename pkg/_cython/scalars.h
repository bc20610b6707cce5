/// Scalars, text and bytes to owned values, as elements of containers and results. No Python code runs here.

#ifndef ANYFFI_SCALARS_H_
#define ANYFFI_SCALARS_H_

#include <string.h>

#include "pack_inline.h"
#include "unpack.h"

/// Packs an exact str; always 1, or -1 with an exception.
static inline int anyffi_py_own_str(PyObject* x, AnyffiValue* out) {
  if (anyffi_py_ready(x) < 0) return -1;
  if (anyffi_py_pack_short_str(x, out)) return 1;
  Py_ssize_t length = PyUnicode_GET_LENGTH(x);
  if (anyffi_str_allocate(length, anyffi_py_encoding_of(x), out) != 0) return anyffi_py_raise_taken();
  memcpy((void*)((AnyffiStrObject*)out->as_object)->data, PyUnicode_DATA(x),
         (size_t)length * (size_t)PyUnicode_KIND(x));
  return 1;
}

/// Packs exact bytes; always 1, or -1 with an exception.
static inline int anyffi_py_own_bytes(PyObject* x, AnyffiValue* out) {
  if (anyffi_py_pack_short_bytes(x, out)) return 1;
  return anyffi_bytes_create(PyBytes_AS_STRING(x), Py_SIZE(x), out) != 0 ? anyffi_py_raise_taken() : 1;
}

/// Packs an exact int in the range of int64; 0 for others.
static inline int anyffi_py_pack_int(PyObject* x, AnyffiValue* out) {
  int64_t number;
  if (anyffi_py_read_int(x, &number) != 0) return 0;
  *out = anyffi_make_int(number);
  return 1;
}

/// Packs an exact int in the range of int64, str, float, None, bool, bytes or Ellipsis, owned.
///
/// @return 1, 0 for other values, -1 with an exception.
static inline int anyffi_py_pack_scalar(PyObject* x, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  if (cls == &PyUnicode_Type) return anyffi_py_own_str(x, out);
  if (cls == &PyBytes_Type) return anyffi_py_own_bytes(x, out);
  if (cls == &PyLong_Type) return anyffi_py_pack_int(x, out);
  return anyffi_py_pack_immediate(x, cls, out);
}

#endif  // ANYFFI_SCALARS_H_
