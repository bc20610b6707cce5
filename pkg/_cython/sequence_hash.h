/// The hash of an Array: that of the equal tuple, from its cells.

#ifndef ANYFFI_SEQUENCE_HASH_H_
#define ANYFFI_SEQUENCE_HASH_H_

#include "compare.h"
#include "set_hash.h"

#define ANYFFI_TUPLE_PRIME_1 11400714785074694791u
#define ANYFFI_TUPLE_PRIME_2 14029467366897019727u
#define ANYFFI_TUPLE_PRIME_5 2870177450012600261u

static Py_hash_t anyffi_py_hash_cells(const AnyffiSequence* sequence, int depth);

/// Python's hash of an element; for numbers, text and inner Arrays without a wrapper no Python object is created. -1
/// with an exception.
static inline Py_hash_t anyffi_py_hash_cell(const AnyffiValue* cell, int depth) {
  int64_t hash;
  Py_hash_t found;
  if (cell->type_code == ANYFFI_INT || cell->type_code == ANYFFI_BOOL || cell->type_code == ANYFFI_FLOAT) {
    if (cell->type_code == ANYFFI_FLOAT && cell->as_float != cell->as_float) return 0;
    return anyffi_value_hash(cell, &hash) == 0 ? (Py_hash_t)hash : anyffi_py_raise_taken();
  }
  if (cell->type_code == ANYFFI_ARRAY && cell->as_object->wrapper == NULL && depth < ANYFFI_NATIVE_DEPTH) {
    if (anyffi_py_need_stack() < 0 || Py_EnterRecursiveCall(ANYFFI_WHILE_HASHING)) return -1;
    found = anyffi_py_hash_cells((const AnyffiSequence*)cell->as_object, depth + 1);
    Py_LeaveRecursiveCall();
    return found;
  }
  if (anyffi_py_hash_text(cell, &found)) return found;
  PyObject* element = anyffi_py_unpack_copy(cell);
  found = element == NULL ? -1 : anyffi_py_hash_element(element);
  Py_XDECREF(element);
  return found;
}

/// Python's hash of the tuple of the elements, an xxHash; -1 with an exception.
static Py_hash_t anyffi_py_hash_cells(const AnyffiSequence* sequence, int depth) {
  uint64_t sum = ANYFFI_TUPLE_PRIME_5;
  for (int64_t i = 0; i < sequence->size; ++i) {
    Py_hash_t hash = anyffi_py_hash_cell(&sequence->data[i], depth);
    if (hash == -1) return -1;
    sum += (uint64_t)hash * ANYFFI_TUPLE_PRIME_2;
    sum = (sum << 31 | sum >> 33) * ANYFFI_TUPLE_PRIME_1;
  }
  sum += (uint64_t)sequence->size ^ (ANYFFI_TUPLE_PRIME_5 ^ 3527539u);
  return sum == UINT64_MAX ? 1546275796 : (Py_hash_t)sum;
}

/// `hash(self)` of an Array; -1 with an exception.
static Py_hash_t anyffi_py_sequence_hash(PyObject* self, int32_t type_code) {
  const AnyffiSequence* sequence = anyffi_py_unwrap_sequence(self, type_code);
  if (sequence == NULL) return -1;
  if (anyffi_py_need_stack() < 0 || Py_EnterRecursiveCall(ANYFFI_WHILE_HASHING)) return -1;
  // Hashing elements may run code that releases the wrapper.
  Py_INCREF(self);
  Py_hash_t hash = anyffi_py_hash_cells(sequence, 0);
  Py_DECREF(self);
  Py_LeaveRecursiveCall();
  return hash;
}

#endif  // ANYFFI_SEQUENCE_HASH_H_
