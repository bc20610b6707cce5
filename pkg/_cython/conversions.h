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

/// Whether a class is `array.array`: no Python program can make an immutable class with this name.
static int anyffi_py_is_array(PyTypeObject* cls) {
#ifdef Py_TPFLAGS_IMMUTABLETYPE
  if (!PyType_HasFeature(cls, Py_TPFLAGS_IMMUTABLETYPE)) return 0;
#else
  if (PyType_HasFeature(cls, Py_TPFLAGS_HEAPTYPE)) return 0;
#endif
  return strcmp(cls->tp_name, "array.array") == 0;
}

/// The type of an element of `array.array`, of which `format` is the typecode; 0 for characters.
static int anyffi_py_element_type(const char* format, Py_ssize_t size, AnyffiDataType* out) {
  if (strlen(format) != 1) return 0;
  int code = strchr("bhilq", *format) != NULL   ? ANYFFI_kDLInt
             : strchr("BHILQ", *format) != NULL ? ANYFFI_kDLUInt
             : strchr("fd", *format) != NULL    ? ANYFFI_kDLFloat
                                                : -1;
  if (code < 0) return 0;
  *out = (AnyffiDataType){(uint8_t)code, (uint8_t)(8 * size), 1};
  return 1;
}

/// Packs the numbers of an `array.array`, as their type and bytes: 1, 0 if the rules have to do it, -1 with an
/// exception.
static int anyffi_py_convert_array(PyObject* x, AnyffiValue* out) {
  Py_buffer view;
  AnyffiValue parts[2] = {anyffi_make_value((uint32_t)ANYFFI_DATA_TYPE, 0), anyffi_make_none()};
  AnyffiDataType type;
  if (PyObject_GetBuffer(x, &view, PyBUF_FORMAT) < 0) return -1;
  int status = view.format != NULL && anyffi_py_element_type(view.format, view.itemsize, &type);
  if (status == 1) {
    parts[0].as_data_type = type;
    if (anyffi_bytes_create(view.buf, view.len, &parts[1]) != 0 ||
        anyffi_sequence_create_from(ANYFFI_ARRAY, parts, 2, out) != 0) {
      status = anyffi_py_raise_taken();
    }
    anyffi_value_drop(&parts[1]);
  }
  PyBuffer_Release(&view);
  return status;
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
    if (anyffi_py_is_array(cls)) return anyffi_py_convert_array(x, out);
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
