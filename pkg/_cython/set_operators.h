/// Combining and relating sets. Where all elements are numbers, text and the like, no code of Python runs. The methods
/// of
/// `_objects` handle all others.

#ifndef ANYFFI_SET_OPERATORS_H_
#define ANYFFI_SET_OPERATORS_H_

#include "mapping_compare.h"

/// Returns the object of `x` if it is exactly a Set or FrozenSet, borrowed, else NULL without an exception.
static inline AnyffiMapping* anyffi_py_peek_set_exact(PyObject* x) {
  AnyffiObject* found = anyffi_py_peek_exact(x, ANYFFI_SET);
  return (AnyffiMapping*)(found != NULL ? found : anyffi_py_peek_exact(x, ANYFFI_FROZEN_SET));
}

// ---- operands -------------------------------------------------------------------------------------------------------

/// 1 for a NaN: two are one element of the runtime's sets, but not of Python's.
static inline int anyffi_py_is_nan(PyObject* x) {
  return PyFloat_CheckExact(x) && PyFloat_AS_DOUBLE(x) != PyFloat_AS_DOUBLE(x);
}

/// Adds a scalar to a new set: 1, 0 for others, -1 with an exception.
static inline int anyffi_py_add_scalar(AnyffiObject* set, PyObject* item) {
  AnyffiValue key, value = anyffi_make_none();
  int32_t existed;
  int packed = anyffi_py_is_nan(item) ? 0 : anyffi_py_pack_scalar(item, &key);
  if (packed <= 0) return packed;
  return anyffi_mapping_set(set, &key, &value, &existed) == 0 ? 1 : anyffi_py_raise_taken();
}

/// Reads the other operand as a set of scalars: 1 if `out` owns a new set, 0 if it borrows one, -1 with an exception, 2
/// for what the method of `_objects` handles. `is_iterable`: accepts list and tuple, too.
static int anyffi_py_read_set(PyObject* x, int is_iterable, AnyffiValue* out) {
  AnyffiMapping* found = anyffi_py_peek_set_exact(x);
  PyObject* item;
  Py_ssize_t position = 0, size;
  int packed = 1;
  if (found != NULL) {
    *out = anyffi_make_object(&found->header);
    return 0;
  }
  int is_sequence = is_iterable && (PyList_CheckExact(x) || PyTuple_CheckExact(x));
  if (!is_sequence && (!ANYFFI_KNOWN_LAYOUT || !PyAnySet_CheckExact(x))) return 2;
  size = is_sequence ? Py_SIZE(x) : PySet_GET_SIZE(x);
  if (anyffi_mapping_create(ANYFFI_SET, size, out) != 0) return anyffi_py_raise_taken();
  if (is_sequence) {
    for (; packed > 0 && position < size; ++position) {
      packed = anyffi_py_add_scalar(out->as_object, PySequence_Fast_ITEMS(x)[position]);
    }
  } else {
    while (packed > 0 && anyffi_py_next_element(x, &position, &item)) {
      packed = anyffi_py_add_scalar(out->as_object, item);
    }
  }
  if (packed > 0) return 1;
  anyffi_py_discard(out);
  return packed < 0 ? -1 : 2;
}

/// Combines a set with another operand: a new reference, NULL with an exception, or without one for what the method of
/// `_objects` handles.
static PyObject* anyffi_py_combine(PyObject* self, PyObject* other, int is_iterable, int operation, int is_reflected,
                                   int32_t type_code) {
  AnyffiObject* mine = anyffi_py_peek(self, type_code);
  AnyffiValue theirs, made;
  if (mine == NULL) return NULL;
  int was_made = anyffi_py_read_set(other, is_iterable, &theirs);
  if (was_made < 0 || was_made == 2) return NULL;
  int status = is_reflected ? anyffi_set_combine(theirs.as_object, mine, operation, type_code, &made)
                            : anyffi_set_combine(mine, theirs.as_object, operation, type_code, &made);
  if (anyffi_py_end_access(status, was_made, &theirs) < 0 || made.type_code == ANYFFI_UNSET) return NULL;
  return anyffi_py_wrap(made.as_object);
}

/// The operators `|`, `&`, `-` and `^`.
static PyObject* anyffi_py_set_operator(PyObject* self, PyObject* other, const char* name, int operation,
                                        int is_reflected, int32_t type_code) {
  PyObject* result = anyffi_py_combine(self, other, 0, operation, is_reflected, type_code);
  if (result != NULL || PyErr_Occurred()) return result;
  return anyffi_py_call_shared_slot(type_code, name, self, other);
}

/// The methods `union`, `intersection`, `difference` and `symmetric_difference`.
static PyObject* anyffi_py_set_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                      const char* name, int operation, int32_t type_code) {
  PyObject* result = NULL;
  if (anyffi_py_has_arguments(count, 1, names)) {
    result = anyffi_py_combine(self, args[0], 1, operation, 0, type_code);
    if (result != NULL || PyErr_Occurred()) return result;
  }
  return anyffi_py_call_shared(type_code, name, self, args, count, names);
}

// ---- relations ------------------------------------------------------------------------------------------------------

typedef enum { ANYFFI_IS_SUBSET, ANYFFI_IS_SUPERSET, ANYFFI_IS_EQUAL, ANYFFI_IS_DISJOINT } AnyffiRelation;

/// Relates a set to one of Python's, element by element of that one: 1 or 0, -1 for others than scalars.
static int anyffi_py_relate_to_plain(const AnyffiMapping* mine, PyObject* other, AnyffiRelation relation) {
  PyObject* item;
  Py_ssize_t position = 0;
  int64_t common = 0;
  if (!ANYFFI_KNOWN_LAYOUT || (mine->key_type_mask & ~(ANYFFI_PY_COMPARED | anyffi_type_bit(ANYFFI_FLOAT))) != 0) {
    return -1;
  }
  while (anyffi_py_next_element(other, &position, &item)) {
    AnyffiValue packed;
    int64_t entry = -1;
    if (anyffi_py_is_nan(item) || !anyffi_py_pack_plain(item, &packed)) return -1;
    // Cannot fail: both are scalars.
    anyffi_mapping_find(&mine->header, &packed, &entry);
    if (relation == ANYFFI_IS_DISJOINT ? entry >= 0 : entry < 0 && relation != ANYFFI_IS_SUBSET) return 0;
    common += entry >= 0;
  }
  return relation == ANYFFI_IS_DISJOINT || relation == ANYFFI_IS_SUPERSET || common == mine->size;
}

/// Relates a set to another operand: 1 or 0, -1 for what the method of `_objects` handles, -2 with an exception.
static int anyffi_py_relate(PyObject* self, PyObject* other, int is_iterable, AnyffiRelation relation,
                            int32_t type_code) {
  AnyffiMapping* mine = anyffi_py_peek_mapping(self, type_code);
  AnyffiMapping* theirs = anyffi_py_peek_set_exact(other);
  if (mine == NULL) return -1;
  if (theirs != NULL || PyAnySet_CheckExact(other)) {
    int64_t size = theirs != NULL ? theirs->size : PySet_GET_SIZE(other);
    if (relation == ANYFFI_IS_SUBSET ? mine->size > size : relation == ANYFFI_IS_SUPERSET ? mine->size < size : 0) {
      return 0;
    }
    if (relation == ANYFFI_IS_EQUAL && mine->size != size) return 0;
    if (theirs == NULL) return anyffi_py_relate_to_plain(mine, other, relation);
    if (relation == ANYFFI_IS_SUPERSET) return anyffi_set_relate(&theirs->header, &mine->header, 1);
    return anyffi_set_relate(&mine->header, &theirs->header, relation != ANYFFI_IS_DISJOINT);
  }
  if (!is_iterable || !(PyList_CheckExact(other) || PyTuple_CheckExact(other))) return -1;
  AnyffiValue packed;
  int was_made = anyffi_py_read_set(other, 1, &packed);
  if (was_made < 0 || was_made == 2) return was_made < 0 ? -2 : -1;
  int result = relation == ANYFFI_IS_SUPERSET
                   ? anyffi_set_relate(packed.as_object, &mine->header, 1)
                   : anyffi_set_relate(&mine->header, packed.as_object, relation != ANYFFI_IS_DISJOINT);
  anyffi_value_drop(&packed);
  return result;
}

/// The comparisons of a Set or FrozenSet.
static PyObject* anyffi_py_set_compare(PyObject* self, PyObject* other, int operation, int32_t type_code) {
  int is_equality = operation == Py_EQ || operation == Py_NE;
  if (self == other && is_equality) return PyBool_FromLong(operation == Py_EQ);
  AnyffiRelation relation = is_equality                                ? ANYFFI_IS_EQUAL
                            : operation == Py_LT || operation == Py_LE ? ANYFFI_IS_SUBSET
                                                                       : ANYFFI_IS_SUPERSET;
  int result = anyffi_py_relate(self, other, 0, relation, type_code);
  if (result == -2) return NULL;
  if (result == -1) {
    int is_builtin = PyAnySet_Check(other) || PyDictViewSet_Check(other);
    return anyffi_py_compare_shared(self, other, operation, is_builtin, type_code);
  }
  if (result == 1 && (operation == Py_LT || operation == Py_GT)) {
    AnyffiMapping* theirs = anyffi_py_peek_set_exact(other);
    result = anyffi_py_peek_mapping(self, type_code)->size != (theirs != NULL ? theirs->size : PySet_GET_SIZE(other));
  }
  return PyBool_FromLong(operation == Py_NE ? !result : result);
}

/// The methods `issubset`, `issuperset` and `isdisjoint`.
static PyObject* anyffi_py_relation_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                           const char* name, AnyffiRelation relation, int32_t type_code) {
  int result = -1;
  if (anyffi_py_has_arguments(count, 1, names)) result = anyffi_py_relate(self, args[0], 1, relation, type_code);
  if (result == -2) return NULL;
  return result == -1 ? anyffi_py_call_shared(type_code, name, self, args, count, names) : PyBool_FromLong(result);
}

#endif  // ANYFFI_SET_OPERATORS_H_
