/// Calls of set methods with operands that are other iterables.

#ifndef ANYFFI_SET_CALLS_H_
#define ANYFFI_SET_CALLS_H_

#include "set_operators.h"

/// A method with one operand, which is a set, list or tuple; `what` is its operation or relation. NULL without an
/// exception if the method of `_objects` has to handle it.
typedef PyObject* (*AnyffiSetMethod)(PyObject* self, PyObject* other, int what, int32_t type_code);

/// `union`, `intersection`, `difference` and `symmetric_difference`.
static PyObject* anyffi_py_combine_with(PyObject* self, PyObject* other, int operation, int32_t type_code) {
  return anyffi_py_combine(self, other, 1, operation, 0, type_code);
}

/// The methods that change a Set.
static PyObject* anyffi_py_change_by(PyObject* self, PyObject* other, int operation, int32_t type_code) {
  (void)type_code;
  // Equal items of a list would cancel each other out.
  int status = anyffi_py_change_set(self, other, operation != ANYFFI_SET_XOR, operation);
  return status > 0 ? anyffi_py_return_new(Py_None) : NULL;
}

/// `issubset`, `issuperset` and `isdisjoint`.
static PyObject* anyffi_py_relate_to(PyObject* self, PyObject* other, int relation, int32_t type_code) {
  int result = anyffi_py_relate(self, other, 1, (AnyffiRelation)relation, type_code);
  return result < 0 ? NULL : PyBool_FromLong(result);
}

/// Calls a method with a list of the items of an iterable.
static PyObject* anyffi_py_call_with_list(AnyffiSetMethod method, PyObject* self, PyObject* iterable, const char* name,
                                          int what, int32_t type_code) {
  PyObject* items = anyffi_py_list_of(iterable);
  if (items == NULL) return NULL;
  PyObject* result = method(self, items, what, type_code);
  if (result == NULL && !PyErr_Occurred()) {
    // An iterator instead of the list: errors would mention places in the list, which the caller does not know.
    PyObject* rest = PyObject_GetIter(items);
    result = rest == NULL ? NULL : anyffi_py_call_shared(type_code, name, self, &rest, 1, NULL);
    Py_XDECREF(rest);
  }
  Py_DECREF(items);
  return result;
}

/// Whether an operand can be read twice, and reading it runs no Python code.
static int anyffi_py_is_plain_operand(PyObject* x) {
  return PyAnySet_CheckExact(x) || PyList_CheckExact(x) || PyTuple_CheckExact(x) || PyUnicode_CheckExact(x) ||
         PyDict_CheckExact(x) || PyDictKeys_Check(x) || PyRange_Check(x) || anyffi_py_peek_set_exact(x) != NULL;
}

/// Appends the elements of a set of the runtime to a list: 0, or -1 with an exception. Without the GIL `list.extend`
/// would lock the list, so that each step of the iterator would enter the section again.
static int anyffi_py_append_elements(PyObject* list, PyObject* set) {
  PyObject* steps = PyObject_GetIter(set);
  PyObject* element;
  int status = steps == NULL ? -1 : 0;
  while (status == 0 && (element = PyIter_Next(steps)) != NULL) {
    status = anyffi_py_append(list, element);
    Py_DECREF(element);
  }
  Py_XDECREF(steps);
  return PyErr_Occurred() ? -1 : status;
}

/// The items of all operands in one list; NULL with an exception, or without one if `_objects` has to handle them.
static PyObject* anyffi_py_chain_operands(PyObject* const* args, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!anyffi_py_is_plain_operand(args[i])) return NULL;
  }
  PyObject* items = PyList_New(0);
  for (Py_ssize_t i = 0; items != NULL && i < count; ++i) {
    if (anyffi_py_peek_set_exact(args[i]) != NULL) {
      if (anyffi_py_append_elements(items, args[i]) < 0) Py_CLEAR(items);
      continue;
    }
    PyObject* extended = PySequence_InPlaceConcat(items, args[i]);
    Py_DECREF(items);
    items = extended;
  }
  return items;
}

/// Calls a method. Several operands are combined into one, because their union is added or removed.
static PyObject* anyffi_py_call_listed(AnyffiSetMethod method, PyObject* self, PyObject* const* args, Py_ssize_t count,
                                       PyObject* names, const char* name, int what, int32_t type_code) {
  PyObject* result = NULL;
  if (names == NULL && anyffi_py_peek(self, type_code) != NULL) {
    if (count == 1 && !anyffi_py_is_read(args[0])) {
      return anyffi_py_call_with_list(method, self, args[0], name, what, type_code);
    }
    if (count == 1) {
      result = method(self, args[0], what, type_code);
    } else if (count > 1 && method != anyffi_py_relate_to && (what == ANYFFI_SET_OR || what == ANYFFI_SET_SUB)) {
      PyObject* items = anyffi_py_chain_operands(args, count);
      if (items != NULL) result = method(self, items, what, type_code);
      Py_XDECREF(items);
    }
    if (result != NULL || PyErr_Occurred()) return result;
  }
  return anyffi_py_call_shared(type_code, name, self, args, count, names);
}

#endif  // ANYFFI_SET_CALLS_H_
