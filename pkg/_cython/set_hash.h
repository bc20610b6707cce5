/// The hash of a FrozenSet: that of the equal frozenset.

#ifndef ANYFFI_SET_HASH_H_
#define ANYFFI_SET_HASH_H_

#include "containers.h"

/// Appended to the message of a RecursionError, as the interpreter does when it calls hash methods.
#define ANYFFI_WHILE_HASHING " while calling a Python object"

/// Python's hash of text or bytes with one byte per unit, without creating a Python object; 0 for others.
static inline int anyffi_py_hash_text(const AnyffiValue* cell, Py_hash_t* out) {
  AnyffiTextView text;
  if (!anyffi_is_str(cell->type_code) && !anyffi_is_bytes(cell->type_code)) return 0;
  anyffi_view_text(cell, &text);
  if (text.encoding > ANYFFI_LATIN1 || Py_HASH_CUTOFF > 0) return 0;
  *out = text.length == 0 ? 0 : PyHash_GetFuncDef()->hash(text.data, (Py_ssize_t)text.length);
  if (*out == -1) *out = -2;
  return 1;
}

/// Python's hash of an element. For a NaN it is constant, because each read creates a new object with another hash.
static Py_hash_t anyffi_py_hash_element(PyObject* element) {
  if (PyFloat_CheckExact(element) && PyFloat_AS_DOUBLE(element) != PyFloat_AS_DOUBLE(element)) return 0;
  if (PyComplex_CheckExact(element)) {
    Py_complex number = PyComplex_AsCComplex(element);
    if (number.real != number.real || number.imag != number.imag) return 0;
  }
  return PyObject_Hash(element);
}

/// Adds the hash of an element to a sum that does not depend on the order.
static inline uint64_t anyffi_py_add_hash(uint64_t sum, Py_hash_t hash) {
  uint64_t bits = (uint64_t)hash;
  return sum ^ ((bits ^ 89869747u) ^ (bits << 16)) * 3644798167u;
}

static inline Py_hash_t anyffi_py_end_hash(uint64_t sum, int64_t size) {
  sum ^= ((uint64_t)size + 1) * 1927868237u;
  sum ^= (sum >> 11) ^ (sum >> 25);
  sum = sum * 69069u + 907133923u;
  return sum == UINT64_MAX ? 590923713 : (Py_hash_t)sum;
}

/// The hash of a FrozenSet, computed once per object; -1 with an exception.
static Py_hash_t anyffi_py_set_hash(PyObject* self) {
  AnyffiMapping* set = anyffi_py_unwrap_mapping(self, ANYFFI_FROZEN_SET);
  if (set == NULL) return -1;
  if (set->host_hash != 0) return (Py_hash_t)set->host_hash;
  if (anyffi_py_need_stack() < 0 || Py_EnterRecursiveCall(ANYFFI_WHILE_HASHING)) return -1;
  uint64_t sum = 0;
  Py_hash_t hash = 0;
  for (int64_t i = 0; i < set->used && hash != -1; ++i) {
    if (set->entries[i].key.type_code == ANYFFI_UNSET) continue;
    if (!anyffi_py_hash_text(&set->entries[i].key, &hash)) {
      PyObject* element = anyffi_py_unpack_copy(&set->entries[i].key);
      hash = element == NULL ? -1 : anyffi_py_hash_element(element);
      Py_XDECREF(element);
    }
    sum = anyffi_py_add_hash(sum, hash);
  }
  Py_LeaveRecursiveCall();
  if (hash == -1) return -1;
  set->host_hash = anyffi_py_end_hash(sum, set->size);
  return (Py_hash_t)set->host_hash;
}

#endif  // ANYFFI_SET_HASH_H_
