/// Scalars, text and bytes to owned values, as elements of containers and results. No Python code runs here.

#ifndef ANYFFI_SCALARS_H_
#define ANYFFI_SCALARS_H_

#include <string.h>

#include "decisions.h"
#include "pack_inline.h"
#include "unpack.h"
#include "value_objects.h"

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
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_scalar(PyObject* x, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  if (cls == &PyUnicode_Type) return anyffi_py_own_str(x, out);
  if (cls == &PyBytes_Type) return anyffi_py_own_bytes(x, out);
  if (cls == &PyLong_Type) return anyffi_py_pack_int(x, out);
  return anyffi_py_pack_immediate(x, cls, out);
}

// ---- subclasses, big ints and NumPy scalars -------------------------------------------------------------------------

/// Ints of up to so many digits (1,920 bits) are collected on the stack.
#define ANYFFI_SHORT_DIGITS 64

/// Packs an int of any class and size; always 1, or -1 with an exception. 0 if its layout is not known.
ANYFFI_NEVER_INLINE int anyffi_py_pack_big_int(PyObject* x, AnyffiValue* out) {
#if !ANYFFI_KNOWN_LAYOUT
  (void)x, (void)out;
  return 0;
#else
  uint64_t on_stack[ANYFFI_SHORT_DIGITS / 2];
  uint64_t* words = on_stack;
  const digit* digits;
  int is_negative;
  Py_ssize_t count = anyffi_py_read_digits(x, &digits, &is_negative);
  on_stack[0] = 0;
  if (count > ANYFFI_SHORT_DIGITS) {
    words = (uint64_t*)anyffi_alloc(((size_t)count / 2 + 1) * sizeof(uint64_t));
    if (words == NULL) {
      PyErr_NoMemory();
      return -1;
    }
  }
  int64_t size = anyffi_py_words_of(digits, count, words);
  int status = anyffi_big_int_create(words, size, is_negative, out);
  if (words != on_stack) anyffi_free(words);
  return status != 0 ? anyffi_py_raise_taken() : 1;
#endif
}

/// Packs an int of any class; always 1, or -1 with an exception. 0 if only the rules can read it.
static inline int anyffi_py_pack_any_int(PyObject* x, AnyffiValue* out) {
  int64_t number;
  if (!anyffi_py_read_short_int(x, &number)) return ANYFFI_KNOWN_LAYOUT ? anyffi_py_pack_big_int(x, out) : 0;
  *out = anyffi_make_int(number);
  return 1;
}

/// NumPy's scalars hold their value after the object header.
typedef struct {
  PyObject_HEAD union {
    uint8_t u8;
    int8_t i8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    float c64[2];
  } value;
} AnyffiNumPyScalar;

static inline AnyffiValue anyffi_py_make_float(double number) {
  AnyffiValue value;
  value.type_code = ANYFFI_FLOAT;
  value.aux = 0;
  value.as_float = number;
  return value;
}

/// Widens an IEEE half, exactly.
static inline double anyffi_py_widen_half(uint16_t half) {
  uint64_t sign = (uint64_t)(half >> 15) << 63, fraction = half & 0x3FF, bits;
  int exponent = half >> 10 & 31;
  double number;
  if (exponent == 0) {
    number = (double)fraction * 0x1p-24;
    return sign ? -number : number;
  }
  bits = sign | (exponent == 31 ? (uint64_t)0x7FF : (uint64_t)(exponent + 1008)) << 52 | fraction << 42;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

static int anyffi_py_pack_unsigned(uint64_t number, AnyffiValue* out) {
  if (number <= INT64_MAX) {
    *out = anyffi_make_int((int64_t)number);
    return 1;
  }
  return anyffi_big_int_create(&number, 1, 0, out) != 0 ? anyffi_py_raise_taken() : 1;
}

static int anyffi_py_pack_complex(double real, double imag, AnyffiValue* out) {
  return anyffi_complex_create(real, imag, out) != 0 ? anyffi_py_raise_taken() : 1;
}

static int anyffi_py_pack_numpy_scalar(PyObject* x, AnyffiDecision decision, AnyffiValue* out) {
  const AnyffiNumPyScalar* scalar = (const AnyffiNumPyScalar*)x;
  switch (decision) {
    case ANYFFI_DECISION_NUMPY_BOOL:
      *out = anyffi_make_value((uint32_t)ANYFFI_BOOL, scalar->value.u8 != 0);
      return 1;
    case ANYFFI_DECISION_NUMPY_INT8:
      *out = anyffi_make_int(scalar->value.i8);
      return 1;
    case ANYFFI_DECISION_NUMPY_INT16:
      *out = anyffi_make_int(scalar->value.i16);
      return 1;
    case ANYFFI_DECISION_NUMPY_INT32:
      *out = anyffi_make_int(scalar->value.i32);
      return 1;
    case ANYFFI_DECISION_NUMPY_INT64:
      *out = anyffi_make_int(scalar->value.i64);
      return 1;
    case ANYFFI_DECISION_NUMPY_UINT8:
      *out = anyffi_make_int(scalar->value.u8);
      return 1;
    case ANYFFI_DECISION_NUMPY_UINT16:
      *out = anyffi_make_int(scalar->value.u16);
      return 1;
    case ANYFFI_DECISION_NUMPY_UINT32:
      *out = anyffi_make_int(scalar->value.u32);
      return 1;
    case ANYFFI_DECISION_NUMPY_UINT64:
      return anyffi_py_pack_unsigned(scalar->value.u64, out);
    case ANYFFI_DECISION_NUMPY_FLOAT16:
      *out = anyffi_py_make_float(anyffi_py_widen_half(scalar->value.u16));
      return 1;
    case ANYFFI_DECISION_NUMPY_FLOAT32:
      *out = anyffi_py_make_float(scalar->value.f32);
      return 1;
    default:
      return anyffi_py_pack_complex(scalar->value.c64[0], scalar->value.c64[1], out);
  }
}

static int anyffi_py_pack_bytearray(PyObject* x, AnyffiValue* out) {
  int status;
#ifdef Py_GIL_DISABLED
  Py_BEGIN_CRITICAL_SECTION(x);
#endif
  status = anyffi_bytes_create(PyByteArray_AS_STRING(x), PyByteArray_GET_SIZE(x), out);
#ifdef Py_GIL_DISABLED
  Py_END_CRITICAL_SECTION();
#endif
  return status == 0 ? 1 : anyffi_py_raise_taken();
}

/// Packs a scalar of a known class, owned: 1, 0 for others and those that only the rules can read, -1 with an
/// exception.
static int anyffi_py_pack_decided_scalar(PyObject* x, AnyffiDecision decision, AnyffiValue* out) {
  switch (decision) {
    case ANYFFI_DECISION_INT:
      anyffi_state.has_packed_members = 1;
      return anyffi_py_pack_any_int(x, out);
    case ANYFFI_DECISION_FLOAT:
      *out = anyffi_py_make_float(PyFloat_AS_DOUBLE(x));
      return 1;
    case ANYFFI_DECISION_COMPLEX:
      return anyffi_py_pack_complex(((PyComplexObject*)x)->cval.real, ((PyComplexObject*)x)->cval.imag, out);
    case ANYFFI_DECISION_STR:
      return anyffi_py_own_str(x, out);
    case ANYFFI_DECISION_BYTES:
      return anyffi_py_own_bytes(x, out);
    case ANYFFI_DECISION_BYTEARRAY:
      return anyffi_py_pack_bytearray(x, out);
    case ANYFFI_DECISION_DATA_TYPE:
      return anyffi_py_pack_data_type(x, out);
    case ANYFFI_DECISION_DEVICE:
      return anyffi_py_pack_device(x, out);
    case ANYFFI_DECISION_POINTER:
      return anyffi_py_pack_pointer(x, out);
    case ANYFFI_DECISION_MEMORY_VIEW:
      return anyffi_py_pack_memory_view(x, out);
    default:
      return decision >= ANYFFI_DECISION_NUMPY_BOOL ? anyffi_py_pack_numpy_scalar(x, decision, out) : 0;
  }
}

#endif  // ANYFFI_SCALARS_H_
