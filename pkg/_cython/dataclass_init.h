/// Calls of dataclasses (`anyffi.dataclass`) whose fields are set by an `__init__`: a user's, one with InitVars, or
/// that of a Python class derived from a dataclass.

#ifndef ANYFFI_DATACLASS_INIT_H_
#define ANYFFI_DATACLASS_INIT_H_

#include "bound.h"

/// The `__new__` in Python, and the wrapper of the function that creates a draft; NULL at first.
static PyObject *anyffi_record_make, *anyffi_record_create_draft;
/// The `__init__` of `object`.
static PyObject* anyffi_record_no_init;
/// `__new__`, `_anyffi_record`, `__init__`, `_anyffi_generated`, `_anyffi_set_nowhere` and `_anyffi_defaults`.
static PyObject* anyffi_record_names[6];

/// 1 if the attributes are those that the package has set; 0 if a user's class has others of these names.
static int anyffi_py_are_own_attributes(PyObject* record, PyObject* defaults) {
  if (record == NULL || !PyTuple_CheckExact(record) || PyTuple_GET_SIZE(record) < 2) return 0;
  if (!PyLong_CheckExact(PyTuple_GET_ITEM(record, 1))) return 0;
  if (defaults == NULL || !PyTuple_CheckExact(defaults)) return 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(defaults); ++i) {
    PyObject* pair = PyTuple_GET_ITEM(defaults, i);
    if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return 0;
    if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(pair, 0))) return 0;
  }
  return 1;
}

/// Sets the fields of a new object to defaults, pairs of name and value; -1 with an exception.
static int anyffi_py_set_defaults(PyObject* x, PyObject* defaults) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(defaults); ++i) {
    PyObject* pair = PyTuple_GET_ITEM(defaults, i);
    if (PyObject_GenericSetAttr(x, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1)) < 0) return -1;
  }
  return 0;
}

/// Does what `RecordMethods.__new__` does, for a class whose `__init__` is a Python function.
static PyObject* anyffi_py_new_record(PyTypeObject* cls, PyObject* record, PyObject* defaults) {
  AnyffiFunction* create = (AnyffiFunction*)((AnyffiWrapper*)anyffi_record_create_draft)->object;
  AnyffiValue draft = anyffi_make_int(PyLong_AsLong(PyTuple_GET_ITEM(record, 1))), made = anyffi_make_none();
  if (create->call(create->self, &draft, 1, &made) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  PyObject* x = anyffi_py_wrap_as(cls, &made);
  if (x != NULL && anyffi_py_set_defaults(x, defaults) < 0) Py_CLEAR(x);
  return x;
}

/// Finds the attributes that creating an object needs; 0 if only the `__new__` in Python can create it.
static int anyffi_py_find_record(PyTypeObject* cls, PyObject* init, PyObject** record, PyObject** defaults) {
  int is_generated = init == anyffi_py_look_up(cls, anyffi_record_names[3]);
  *record = anyffi_py_look_up(cls, anyffi_record_names[1]);
  *defaults = anyffi_py_look_up(cls, anyffi_record_names[is_generated ? 4 : 5]);
  // With an observer the calls in Python are made, which it sees.
  return anyffi_py_are_own_attributes(*record, *defaults) && !PyType_HasFeature(cls, Py_TPFLAGS_IS_ABSTRACT) &&
         anyffi_state.observer == NULL;
}

/// Creates an object for `RecordMethods.__new__`, for example for a copy; None if that has to do it.
static PyObject* anyffi_py_create_record(PyObject* cls) {
  PyTypeObject* type = (PyTypeObject*)cls;
  PyObject *record, *defaults;
  if (anyffi_record_make == NULL || !PyType_Check(cls) || !PyType_IsSubtype(type, anyffi_state.object_core)) {
    Py_RETURN_NONE;
  }
  PyObject* init = anyffi_py_look_up(type, anyffi_record_names[2]);
  if (!anyffi_py_find_record(type, init, &record, &defaults)) Py_RETURN_NONE;
  // Setting the fields may change the class.
  Py_INCREF(defaults);
  PyObject* x = anyffi_py_new_record(type, record, defaults);
  Py_DECREF(defaults);
  return x;
}

/// Sets an attribute as `object.__setattr__` does. Names are interned first, which those of a pickle are not, because
/// only then is the look-up fast.
static int anyffi_py_set_attribute(PyObject* x, PyObject* name, PyObject* value) {
  Py_INCREF(name);
  if (PyUnicode_CheckExact(name)) PyUnicode_InternInPlace(&name);
  int status = PyObject_GenericSetAttr(x, name, value);
  Py_DECREF(name);
  return status;
}

/// Calls an `__init__` that is a Python function; -1 with an exception.
static int anyffi_py_run_init(PyObject* init, PyObject* x, PyObject* const* args, size_t flags, PyObject* names) {
  if (anyffi_py_need_stack() < 0) return -1;
  Py_ssize_t count = PyVectorcall_NARGS(flags), num_all = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
  PyObject* few[8];
  PyObject** all = num_all < 8 ? few : PyMem_Malloc((size_t)(num_all + 1) * sizeof(PyObject*));
  if (all == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  all[0] = x;
  if (num_all > 0) memcpy(all + 1, args, (size_t)num_all * sizeof(PyObject*));
  PyObject* result = PyObject_Vectorcall(init, all, (size_t)count + 1, names);
  if (all != few) PyMem_Free(all);
  if (result != NULL && result != Py_None) {
    PyErr_Format(PyExc_TypeError, "__init__() should return None, not '%.200s'", Py_TYPE(result)->tp_name);
    Py_CLEAR(result);
  }
  Py_XDECREF(result);
  return result == NULL ? -1 : 0;
}

/// The `tp_vectorcall` of other dataclasses, and of classes that derive from one: does what `type.__call__` does,
/// without calling `__new__` in Python.
static PyObject* anyffi_py_call_record(PyObject* cls, PyObject* const* args, size_t flags, PyObject* names) {
  PyTypeObject* type = (PyTypeObject*)cls;
  PyObject* make = anyffi_py_look_up(type, anyffi_record_names[0]);
  PyObject* init = anyffi_py_look_up(type, anyffi_record_names[2]);
  PyObject *record, *defaults;
  int is_function = init != NULL && PyFunction_Check(init);
  // Without an `__init__`, `__new__` refuses arguments.
  int is_absent = init == anyffi_record_no_init && PyVectorcall_NARGS(flags) == 0 && names == NULL;
  if (make != anyffi_record_make || !(is_function || is_absent) ||
      !anyffi_py_find_record(type, init, &record, &defaults)) {
    return anyffi_py_call_slot(cls, args, PyVectorcall_NARGS(flags), names);
  }
  // The code that runs may change the class.
  Py_INCREF(init);
  Py_INCREF(defaults);
  PyObject* x = anyffi_py_new_record(type, record, defaults);
  if (x != NULL && is_function && anyffi_py_run_init(init, x, args, flags, names) < 0) Py_CLEAR(x);
  Py_DECREF(defaults);
  Py_DECREF(init);
  return x;
}

#endif  // ANYFFI_DATACLASS_INIT_H_
