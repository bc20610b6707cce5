/// Ints beyond int64, between the digits of the interpreter and the words of a BigInt.

#ifndef ANYFFI_BIG_INTS_H_
#define ANYFFI_BIG_INTS_H_

#include "layout.h"

#if ANYFFI_KNOWN_LAYOUT
/// Writes the magnitude of an int to words, lowest first, and returns how many there are; the highest is not 0. `words`
/// must have room for `count / 2 + 1` words, and for at least two.
static inline int64_t anyffi_py_words_of(const digit* digits, Py_ssize_t count, uint64_t* words) {
  if (count <= 4 && PyLong_SHIFT == 30) {
    uint64_t d1 = count > 1 ? digits[1] : 0, d2 = count > 2 ? digits[2] : 0, d3 = count > 3 ? digits[3] : 0;
    words[0] = (uint64_t)digits[0] | d1 << 30 | d2 << 60;
    words[1] = d2 >> 4 | d3 << 26;
    return words[1] != 0 ? 2 : words[0] != 0;
  }
  unsigned __int128 rest = 0;
  int64_t size = 0;
  int filled = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    rest |= (unsigned __int128)digits[i] << filled;
    filled += PyLong_SHIFT;
    if (filled < 64) continue;
    words[size++] = (uint64_t)rest;
    rest >>= 64;
    filled -= 64;
  }
  if (rest != 0) words[size++] = (uint64_t)rest;
  return size;
}

/// Writes the digits of a magnitude.
static inline void anyffi_py_digits_of(const uint64_t* words, int64_t size, digit* digits, Py_ssize_t count) {
  if (size <= 2 && PyLong_SHIFT == 30) {
    uint64_t low = words[0], high = size > 1 ? words[1] : 0;
    uint64_t rest[] = {low, low >> 30, low >> 60 | high << 4, high >> 26, high >> 56};
    for (Py_ssize_t i = 0; i < count; ++i) digits[i] = (digit)(rest[i] & PyLong_MASK);
    return;
  }
  unsigned __int128 rest = 0;
  int64_t taken = 0;
  int filled = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (filled < PyLong_SHIFT && taken < size) {
      rest |= (unsigned __int128)words[taken++] << filled;
      filled += 64;
    }
    digits[i] = (digit)((uint64_t)rest & PyLong_MASK);
    rest >>= PyLong_SHIFT;
    filled -= PyLong_SHIFT;
  }
}
#endif

/// As `anyffi_py_new_big_int`, but using functions of the interpreter.
static PyObject* anyffi_py_convert_magnitude(const uint64_t* words, int64_t size, int is_negative) {
  PyObject* made;
#if PY_VERSION_HEX >= 0x030D0000
  made = PyLong_FromUnsignedNativeBytes(words, 8 * (size_t)size, Py_ASNATIVEBYTES_LITTLE_ENDIAN);
#elif ANYFFI_KNOWN_LAYOUT
  made = _PyLong_FromByteArray((const unsigned char*)words, 8 * (size_t)size, 1, 0);
#else
  made = PyObject_CallMethod((PyObject*)&PyLong_Type, "from_bytes", "y#s", (const char*)words, 8 * (Py_ssize_t)size,
                             "little");
#endif
  if (made != NULL && is_negative) Py_SETREF(made, PyNumber_Negative(made));
  return made;
}

/// Returns a new int of a magnitude: `size` words, lowest first. Filling the digits takes a third of the time of the
/// interpreter's conversion from bytes.
static PyObject* anyffi_py_new_big_int(const uint64_t* words, int64_t size, int is_negative) {
#if ANYFFI_KNOWN_LAYOUT
  // C code may have written leading zeros; small ints are the interpreter's cached objects.
  if (size > 0 && words[size - 1] != 0 && (size > 1 || words[0] >> 32 != 0)) {
    Py_ssize_t count =
        (Py_ssize_t)((64 * (uint64_t)size - (uint64_t)__builtin_clzll(words[size - 1]) + PyLong_SHIFT - 1) /
                     PyLong_SHIFT);
#if PY_VERSION_HEX >= 0x030E0000
    void* digits;
    PyLongWriter* writer = PyLongWriter_Create(is_negative != 0, count, &digits);
    if (writer == NULL) return NULL;
    anyffi_py_digits_of(words, size, (digit*)digits, count);
    return PyLongWriter_Finish(writer);
#else
    PyLongObject* made = _PyLong_New(count);
    if (made == NULL) return NULL;
#if PY_VERSION_HEX >= 0x030C0000
    made->long_value.lv_tag = (uintptr_t)count << 3 | (is_negative ? 2 : 0);
    anyffi_py_digits_of(words, size, made->long_value.ob_digit, count);
#else
    Py_SET_SIZE((PyVarObject*)made, is_negative ? -count : count);
    anyffi_py_digits_of(words, size, made->ob_digit, count);
#endif
    return (PyObject*)made;
#endif
  }
#endif
  return anyffi_py_convert_magnitude(words, size, is_negative);
}

#endif  // ANYFFI_BIG_INTS_H_
