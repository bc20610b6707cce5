/// Operators of Array and List that make new sequences.

#ifndef ANYFFI_SEQUENCE_METHODS_H_
#define ANYFFI_SEQUENCE_METHODS_H_

#include "compare.h"

// ---- new sequences --------------------------------------------------------------------------------------------------

/// Appends owned copies of elements to a new sequence that has room for them.
static void anyffi_py_append_cells(AnyffiSequence* to, const AnyffiSequence* from) {
  AnyffiValue* cells = &to->data[to->size];
  for (int64_t i = 0; i < from->size; ++i) {
    cells[i] = from->data[i];
    anyffi_value_retain(&cells[i]);
  }
  to->size += from->size;
  to->type_mask |= from->type_mask & ~ANYFFI_CHECKED;
}

/// Makes a list of the items of an iterable; NULL with an exception.
typedef PyObject* (*AnyffiListing)(PyObject* x);

/// Packs the items of an iterable, or borrows an Array or List of exactly these classes that is not `self`: 1 if `out`
/// owns a new sequence, 0 if it borrows one, -1 with an exception, 2 for other iterables if `listing` is NULL.
static int anyffi_py_read_elements(PyObject* self, PyObject* x, AnyffiListing listing, AnyffiValue* out) {
  if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return anyffi_py_pack_object(x, out);
  AnyffiObject* found = x == self ? NULL : anyffi_py_peek_exact(x, ANYFFI_LIST);
  if (found == NULL) found = anyffi_py_peek_exact(x, ANYFFI_ARRAY);
  if (found != NULL) {
    *out = anyffi_make_object(found);
    return 0;
  }
  if (listing == NULL) return 2;
  PyObject* items = listing(x);
  if (items == NULL) return -1;
  int status = anyffi_py_pack_object(items, out);
  Py_DECREF(items);
  return status;
}

/// Concatenates two sequences.
static PyObject* anyffi_py_concat(const AnyffiSequence* first, const AnyffiSequence* second, int32_t type_code) {
  AnyffiValue made;
  if (anyffi_sequence_create(type_code, first->size + second->size, &made) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  anyffi_py_append_cells((AnyffiSequence*)made.as_object, first);
  anyffi_py_append_cells((AnyffiSequence*)made.as_object, second);
  return anyffi_py_wrap(made.as_object);
}

/// 1 if all elements are known to be ints, as those of a Shape are.
static inline int anyffi_py_are_ints(const AnyffiSequence* sequence) {
  return (sequence->type_mask & ~(ANYFFI_CHECKED | anyffi_type_bit(ANYFFI_INT))) == 0;
}

/// `self + other`, or `other + self` if `is_reflected`.
static PyObject* anyffi_py_sequence_add(PyObject* self, PyObject* other, int is_reflected, int32_t type_code) {
  AnyffiValue packed;
  const char* name = is_reflected ? "__radd__" : "__add__";
  int is_alike = type_code == ANYFFI_LIST ? PyList_CheckExact(other) : PyTuple_CheckExact(other);
  AnyffiObject* found = is_alike ? NULL : anyffi_py_peek_exact(other, type_code);
  if (anyffi_py_peek(self, type_code) == NULL || (!is_alike && found == NULL)) {
    return anyffi_py_call_shared_slot(type_code, name, self, other);
  }
  if (is_alike && anyffi_py_pack_object(other, &packed) < 0) {
    return anyffi_py_fail_method(type_code, name, &other, 1, NULL);
  }
  const AnyffiSequence* theirs = (AnyffiSequence*)(is_alike ? packed.as_object : found);
  AnyffiSequence* mine = anyffi_py_peek_sequence(self, type_code);
  int32_t made = mine->header.type_code;
  if (made == ANYFFI_SHAPE && !anyffi_py_are_ints(theirs)) {
    // Let the method raise the error about an element that is no int.
    other = is_alike ? anyffi_py_wrap(packed.as_object) : anyffi_py_return_new(other);
    PyObject* result = other == NULL ? NULL : anyffi_py_call_shared_slot(type_code, name, self, other);
    Py_XDECREF(other);
    return result;
  }
  PyObject* result = is_reflected ? anyffi_py_concat(theirs, mine, made) : anyffi_py_concat(mine, theirs, made);
  if (is_alike && result != NULL) anyffi_value_drop(&packed);
  if (is_alike && result == NULL) anyffi_py_discard(&packed);
  return result;
}

/// `self * times`.
static PyObject* anyffi_py_sequence_multiply(PyObject* self, PyObject* times, const char* name, int32_t type_code) {
  AnyffiSequence* from = anyffi_py_peek_sequence(self, type_code);
  int64_t count, size;
  AnyffiValue made;
  if (from == NULL || !anyffi_py_read_index(times, &count) ||
      __builtin_mul_overflow(from->size, count < 0 ? 0 : count, &size)) {
    return anyffi_py_call_shared_slot(type_code, name, self, times);
  }
  int status = anyffi_sequence_create(from->header.type_code, size, &made);
  for (; status == 0 && count > 0; --count) anyffi_py_append_cells((AnyffiSequence*)made.as_object, from);
  return anyffi_py_wrap_made(status, &made);
}

/// Reads a slice of exact ints and None; 0 for others.
static int anyffi_py_read_plain_slice(PyObject* key, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) {
  PyObject* parts[3];
  if (!PySlice_Check(key) || anyffi_py_read_slice(key, parts) < 0) return 0;
  for (int i = 0; i < 3; ++i) {
    if (parts[i] != Py_None && !PyLong_CheckExact(parts[i])) return 0;
  }
  // Fails only for a step of zero, with the same message as the rules.
  if (PySlice_Unpack(key, start, stop, step) == 0) return 1;
  PyErr_Clear();
  return 0;
}

/// `self[start:stop:step]`.
static PyObject* anyffi_py_sequence_slice(PyObject* self, PyObject* key, int32_t type_code) {
  AnyffiSequence* from = anyffi_py_peek_sequence(self, type_code);
  Py_ssize_t start, stop, step;
  AnyffiValue made;
  if (from == NULL || !anyffi_py_read_plain_slice(key, &start, &stop, &step)) {
    return anyffi_py_call_shared_slot(type_code, "_anyffi_slice", self, key);
  }
  Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)from->size, &start, &stop, step);
  // The whole of an immutable sequence is that sequence.
  if (count == from->size && step == 1 && type_code == ANYFFI_ARRAY) return anyffi_py_return_new(self);
  return anyffi_py_wrap_made(anyffi_sequence_slice(&from->header, from->header.type_code, start, step, count, &made),
                             &made);
}

#endif  // ANYFFI_SEQUENCE_METHODS_H_
