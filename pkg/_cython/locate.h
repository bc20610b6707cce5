/// Errors about values that cannot be packed, whose messages the rules complete; see pkg/_rules/culprits.py.

#ifndef ANYFFI_LOCATE_H_
#define ANYFFI_LOCATE_H_

#include "errors.h"

/// Completes the message of the exception that is set, which is about the arguments, by the function `rule`. `function`
/// is its last argument unless it is NULL.
static void anyffi_py_complete(PyObject* rule, PyObject* function, PyObject* const* args, const int32_t* places,
                               Py_ssize_t count) {
  AnyffiSaved saved = anyffi_py_save_exception();
  PyObject* given = PyTuple_New(count);
  PyObject* done = NULL;
  if (given != NULL) {
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* x = places == NULL ? args[i] : places[i] < 0 ? anyffi_state.missing : args[places[i]];
      Py_INCREF(x);
      PyTuple_SET_ITEM(given, i, x);
    }
    done = PyObject_CallFunctionObjArgs(rule, saved.exception, given, function, NULL);
    Py_DECREF(given);
  }
  if (done == NULL) {
    // Raised by a signal handler, or because memory is exhausted, this exception replaces the former one. Otherwise the
    // message stays unchanged.
    int is_exit = !PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError);
    AnyffiSaved other = anyffi_py_save_exception();
    anyffi_py_restore_exception(is_exit ? other : saved);
    saved = is_exit ? saved : other;
    anyffi_py_drop_exception(saved);
    return;
  }
  Py_DECREF(done);
  anyffi_py_restore_exception(saved);
}

/// The same for an exception that users' code may have raised.
static void anyffi_py_complete_made(PyObject* rule, PyObject* function, PyObject* const* args, const int32_t* places,
                                    Py_ssize_t count) {
  // The rules raise instances. Before Python 3.12 users' C code may leave a class and a text.
  AnyffiSaved saved = anyffi_py_save_exception();
  int is_made = saved.exception != NULL && PyExceptionInstance_Check(saved.exception);
  anyffi_py_restore_exception(saved);
  if (is_made) anyffi_py_complete(rule, function, args, places, count);
}

/// Adds to the message of the exception that is set that `method` of the class of a type was called, or the class
/// itself if that is NULL; returns NULL. The last arguments are keywords with these names, unless `names` is NULL.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_fail_method(int32_t type_code, const char* method, PyObject* const* args,
                                                    Py_ssize_t count, PyObject* names) {
  static const char* const classes[] = {"Array", "List", "Map", "Dict", "FrozenSet", "Set", "Tensor", "Shape"};
  AnyffiSaved saved = anyffi_py_save_exception();
  const char* cls = classes[(type_code == ANYFFI_SHAPE && method != NULL ? ANYFFI_ARRAY : type_code) - ANYFFI_ARRAY];
  PyObject* name =
      method == NULL ? PyUnicode_FromFormat("anyffi.%s", cls) : PyUnicode_FromFormat("anyffi.%s.%s", cls, method);
  PyObject* called = name == NULL ? NULL : PyTuple_Pack(2, name, names == NULL ? Py_None : names);
  Py_XDECREF(name);
  if (called == NULL) {
    anyffi_py_drop_exception(saved);
    return NULL;
  }
  anyffi_py_restore_exception(saved);
  anyffi_py_complete_made(anyffi_state.locate_method, called, args, NULL,
                          count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
  Py_DECREF(called);
  return NULL;
}

/// The same for a special method with one argument; -1.
static int anyffi_py_fail_special(int32_t type_code, const char* method, PyObject* argument) {
  anyffi_py_fail_method(type_code, method, &argument, 1, NULL);
  return -1;
}

/// The same for `__setitem__`; -1.
static int anyffi_py_fail_set_item(int32_t type_code, PyObject* key, PyObject* item) {
  PyObject* const args[] = {key, item};
  anyffi_py_fail_method(type_code, "__setitem__", args, 2, NULL);
  return -1;
}

#endif  // ANYFFI_LOCATE_H_
