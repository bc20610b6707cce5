/// Combining, changing and comparing sets. If all elements are numbers, text, and arrays of these, no Python code runs.
/// The methods of `_objects` handle all others.

#ifndef ANYFFI_SET_OPERATORS_H_
#define ANYFFI_SET_OPERATORS_H_

#include "set_operand.h"

// ---- combinations ---------------------------------------------------------------------------------------------------

/// Combines a set with another operand: a new reference, NULL with an exception, or without one if the method of
/// `_objects` has to handle it.
static PyObject* anyffi_py_combine(PyObject* self, PyObject* other, int is_iterable, int operation, int is_reflected,
                                   int32_t type_code) {
  AnyffiObject* mine = anyffi_py_peek(self, type_code);
  AnyffiSetOperand theirs;
  AnyffiValue made;
  int status;
  if (mine == NULL || anyffi_py_open_operand(other, is_iterable, &theirs) <= 0) return NULL;
  if (theirs.set == NULL) {
    status = anyffi_set_combine_values(mine, theirs.values, theirs.count, operation, is_reflected, type_code, &made);
  } else if (is_reflected) {
    status = anyffi_set_combine(theirs.set, mine, operation, type_code, &made);
  } else {
    status = anyffi_set_combine(mine, theirs.set, operation, type_code, &made);
  }
  if (status != 0) anyffi_py_raise_taken();
  anyffi_py_close_operand(&theirs);
  return status != 0 || made.type_code == ANYFFI_UNSET ? NULL : anyffi_py_wrap(made.as_object);
}

/// The operators `|`, `&`, `-` and `^`.
static PyObject* anyffi_py_set_operator(PyObject* self, PyObject* other, const char* name, int operation,
                                        int is_reflected, int32_t type_code) {
  PyObject* result;
  if (PyDictKeys_Check(other) || PyDictItems_Check(other)) {
    PyObject* items = PySequence_List(other);
    if (items == NULL) return NULL;
    result = anyffi_py_combine(self, items, 1, operation, is_reflected, type_code);
    Py_DECREF(items);
  } else {
    result = anyffi_py_combine(self, other, 0, operation, is_reflected, type_code);
  }
  if (result != NULL || PyErr_Occurred()) return result;
  return anyffi_py_call_shared_slot(type_code, name, self, other);
}

/// Changes a Set using another operand: 1, 0 if the method of `_objects` has to handle it, -1 with an exception.
static int anyffi_py_change_set(PyObject* self, PyObject* other, int is_iterable, int operation) {
  AnyffiObject* mine = anyffi_py_peek(self, ANYFFI_SET);
  AnyffiSetOperand theirs;
  if (mine == NULL) return 0;
  int status = anyffi_py_open_operand(other, is_iterable, &theirs);
  if (status <= 0) return status;
  status = theirs.set != NULL ? anyffi_set_change(mine, theirs.set, operation)
                              : anyffi_set_change_values(mine, theirs.values, theirs.count, operation);
  if (status < 0) anyffi_py_raise_taken();
  anyffi_py_close_operand(&theirs);
  return status;
}

// ---- relations ------------------------------------------------------------------------------------------------------

typedef enum { ANYFFI_IS_SUBSET, ANYFFI_IS_SUPERSET, ANYFFI_IS_EQUAL, ANYFFI_IS_DISJOINT } AnyffiRelation;

/// Compares a set with the values of an operand. `found` counts the values so far that the set has: 1 if more may
/// follow, 0 if the relation does not hold, -1 if the methods of `_objects` have to handle it, -2 with an exception.
static int anyffi_py_relate_to_values(const AnyffiMapping* mine, const AnyffiSetOperand* theirs,
                                      AnyffiRelation relation, int64_t* found) {
  int64_t now = 0;
  int status = anyffi_set_count_values(&mine->header, theirs->values, theirs->count, &now);
  if (status <= 0) return status < 0 ? (anyffi_py_raise_taken(), -2) : -1;
  *found += now;
  if (relation == ANYFFI_IS_DISJOINT) return now == 0;
  return relation == ANYFFI_IS_SUBSET || now == theirs->count;
}

/// Compares a set with a Python set, or with a list or tuple for relations in which equal elements do no harm, until
/// the result is known; returns as `anyffi_py_relate`.
static int anyffi_py_relate_to_plain(const AnyffiMapping* mine, PyObject* other, Py_ssize_t size,
                                     AnyffiRelation relation) {
  Py_ssize_t position = 0, step = size < 16 ? size : 16;
  int64_t found = 0;
  int result = 1;
  for (Py_ssize_t left = size; result == 1 && left > 0; left -= step, step = left) {
    AnyffiSetOperand theirs;
    if (anyffi_py_reserve_operand(&theirs, step) < 0) return -2;
    int packed = anyffi_py_pack_operand_elements(other, &position, step, &theirs);
    result = packed <= 0 ? packed - 1 : anyffi_py_relate_to_values(mine, &theirs, relation, &found);
    anyffi_py_close_operand(&theirs);
  }
  if (result != 1) return result;
  return relation == ANYFFI_IS_DISJOINT || relation == ANYFFI_IS_SUPERSET || found == mine->size;
}

static int anyffi_py_relate_sets(const AnyffiMapping* mine, const AnyffiMapping* theirs, AnyffiRelation relation) {
  if (relation == ANYFFI_IS_SUPERSET || (relation == ANYFFI_IS_DISJOINT && mine->size > theirs->size)) {
    return anyffi_set_relate(&theirs->header, &mine->header, relation != ANYFFI_IS_DISJOINT);
  }
  return anyffi_set_relate(&mine->header, &theirs->header, relation != ANYFFI_IS_DISJOINT);
}

/// Whether all elements are in a list or tuple; returns as `anyffi_py_relate`.
static int anyffi_py_is_subset_of_items(const AnyffiMapping* mine, PyObject* items) {
  AnyffiSetOperand theirs;
  AnyffiValue made;
  int result = anyffi_py_open_operand(items, 1, &theirs);
  if (result <= 0) return result - 1;
  if (anyffi_mapping_create(ANYFFI_SET, 0, &made) != 0) {
    result = -1;
  } else {
    result = anyffi_set_change_values(made.as_object, theirs.values, theirs.count, ANYFFI_SET_OR);
  }
  if (result < 0) anyffi_py_raise_taken();
  anyffi_py_close_operand(&theirs);
  result = result > 0 ? anyffi_set_relate(&mine->header, made.as_object, 1) : result - 1;
  anyffi_value_drop(&made);
  return result;
}

/// Compares a set with another operand: 1 or 0, -1 if the method of `_objects` has to handle it, -2 with an exception.
static int anyffi_py_relate(PyObject* self, PyObject* other, int is_iterable, AnyffiRelation relation,
                            int32_t type_code) {
  AnyffiMapping* mine = anyffi_py_peek_mapping(self, type_code);
  AnyffiMapping* theirs = anyffi_py_peek_set_exact(other);
  if (mine == NULL) return -1;
  int is_set = theirs != NULL || PyAnySet_CheckExact(other);
  Py_ssize_t size = theirs != NULL ? theirs->size : is_set ? PySet_GET_SIZE(other) : 0;
  if (is_set && relation == ANYFFI_IS_SUBSET && mine->size > size) return 0;
  if (is_set && relation == ANYFFI_IS_SUPERSET && mine->size < size) return 0;
  if (is_set && relation == ANYFFI_IS_EQUAL && mine->size != size) return 0;
  if (theirs != NULL) return anyffi_py_relate_sets(mine, theirs, relation);
  size = anyffi_py_operand_length(other, is_iterable);
  if (size < 0) return -1;
  if (!is_set && relation == ANYFFI_IS_SUBSET) return anyffi_py_is_subset_of_items(mine, other);
#ifdef Py_GIL_DISABLED
  PyObject* held = anyffi_py_hold_items(other);
  if (held == NULL) return -2;
  int result = anyffi_py_relate_to_plain(mine, held, Py_SIZE(held), relation);
  Py_DECREF(held);
  return result;
#else
  return anyffi_py_relate_to_plain(mine, other, size, relation);
#endif
}

/// Whether a set has the same size as another operand that is a set.
static int anyffi_py_has_same_size(PyObject* self, PyObject* other, int32_t type_code) {
  AnyffiMapping *mine = anyffi_py_peek_mapping(self, type_code), *theirs = anyffi_py_peek_set_exact(other);
  if (mine == NULL || (theirs == NULL && !PyAnySet_CheckExact(other))) return 0;
  return mine->size == (theirs != NULL ? theirs->size : PySet_GET_SIZE(other));
}

/// The comparisons of a Set or FrozenSet.
static PyObject* anyffi_py_set_compare(PyObject* self, PyObject* other, int operation, int32_t type_code) {
  int is_equality = operation == Py_EQ || operation == Py_NE;
  if (self == other && is_equality) return PyBool_FromLong(operation == Py_EQ);
  // A proper subset is smaller than the set.
  int is_proper = operation == Py_LT || operation == Py_GT;
  if (is_proper && anyffi_py_has_same_size(self, other, type_code)) Py_RETURN_FALSE;
  AnyffiRelation relation = is_equality                                ? ANYFFI_IS_EQUAL
                            : operation == Py_LT || operation == Py_LE ? ANYFFI_IS_SUBSET
                                                                       : ANYFFI_IS_SUPERSET;
  int result = anyffi_py_relate(self, other, 0, relation, type_code);
  if (result == -2) return NULL;
  if (result == -1) {
    int is_builtin = PyAnySet_Check(other) || PyDictViewSet_Check(other);
    return anyffi_py_compare_shared(self, other, operation, is_builtin, type_code);
  }
  return PyBool_FromLong(operation == Py_NE ? !result : result);
}

#endif  // ANYFFI_SET_OPERATORS_H_
