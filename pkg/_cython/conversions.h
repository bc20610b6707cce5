/// Conversions of values of frequent classes; all others are converted by `_rules/conversions.py`, which defines the
/// same conversions.

#ifndef ANYFFI_CONVERSIONS_H_
#define ANYFFI_CONVERSIONS_H_

#include "pack.h"
#include "times.h"

/// Reads start, stop or step of a range, by their number, as an int64: 1, 0 if it does not fit, -1 with an exception.
static int anyffi_py_read_bound(PyObject* range, Py_ssize_t number, int64_t* out) {
  int overflow = 0;
  PyObject* bound = PyObject_GetAttr(range, PyTuple_GET_ITEM(anyffi_state.range_names, number));
  if (bound == NULL) return -1;
  *out = PyLong_AsLongLongAndOverflow(bound, &overflow);
  Py_DECREF(bound);
  return overflow == 0;
}

/// Packs the ints of a range: 1, 0 if the rules have to do it, -1 with an exception.
static int anyffi_py_convert_range(PyObject* range, AnyffiValue* out) {
  int64_t start, stop, step;
  int status = anyffi_py_read_bound(range, 0, &start);
  if (status > 0) status = anyffi_py_read_bound(range, 1, &stop);
  if (status > 0) status = anyffi_py_read_bound(range, 2, &step);
  Py_ssize_t size = status > 0 ? PyObject_Size(range) : 0;
  if (status <= 0) return status;
  if (size < 0) {
    // The range has more items than a Py_ssize_t can count.
    PyErr_Clear();
    return 0;
  }
  if (anyffi_sequence_create(ANYFFI_LIST, size, out) != 0) return anyffi_py_raise_taken();
  AnyffiSequence* list = (AnyffiSequence*)out->as_object;
  // Unsigned: the number after the last one may not fit.
  for (uint64_t i = 0, next = (uint64_t)start; i < (uint64_t)size; ++i, next += (uint64_t)step) {
    list->data[i] = anyffi_make_int((int64_t)next);
  }
  list->size = size;
  anyffi_add_types(&list->header, &list->type_mask, size > 0 ? anyffi_type_bit(ANYFFI_INT) : 0);
  return 1;
}

/// Whether a class is one of those whose items are the same as those of a list of them, without running users' code.
static int anyffi_py_is_listed(PyTypeObject* cls) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(anyffi_state.listed); ++i) {
    if (PyTuple_GET_ITEM(anyffi_state.listed, i) == (PyObject*)cls) return 1;
  }
  return 0;
}

/// Packs `x` converted to another type (AnyffiConversion): 1, 0 if the rules have to do it, -1 with an exception.
static int anyffi_py_convert_directly(PyObject* x, int32_t conversion, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  PyObject* made = NULL;
  // In check mode the rules record what users' code returns.
  if (anyffi_state.is_check_mode) return 0;
  if (conversion == ANYFFI_AS_DURATION || conversion == ANYFFI_AS_DATE_TIME)
    return anyffi_py_read_time(x, conversion, out);
  if (conversion == ANYFFI_AS_PATH && ANYFFI_KNOWN_LAYOUT) {
    PyObject* method = anyffi_py_look_up(cls, anyffi_state.fspath_name);
    if (method == NULL || method == Py_None) return 0;
    made = PyOS_FSPath(x);
  } else if (conversion == ANYFFI_AS_SEQUENCE || conversion == ANYFFI_AS_ITERABLE) {
    if (cls == &PyRange_Type) return anyffi_py_convert_range(x, out);
    if (!anyffi_py_is_listed(cls)) return 0;
    made = PySequence_List(x);
  } else {
    return 0;
  }
  int status = made == NULL ? -1 : anyffi_py_pack_owned(made, out);
  Py_XDECREF(made);
  return status < 0 ? -1 : 1;
}

/// Returns the Python object for a value that was converted like this; NULL with an exception, or without one if the
/// rules have to make it.
static PyObject* anyffi_py_create_directly(int32_t conversion, const AnyffiValue* from) {
  int is_time = conversion == ANYFFI_AS_DURATION || conversion == ANYFFI_AS_DATE_TIME;
  if (!is_time || from->type_code != ANYFFI_INT || anyffi_py_datetime_api() == NULL) return NULL;
  return anyffi_py_make_time(conversion, from->as_int);
}

#endif  // ANYFFI_CONVERSIONS_H_
