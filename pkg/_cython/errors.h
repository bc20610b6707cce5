/// Exceptions in C: set aside while code runs that must not see them, made by the rules, handed to the runtime.

#ifndef ANYFFI_ERRORS_H_
#define ANYFFI_ERRORS_H_

#include "state.h"

/// Saves the exception that is set.
typedef struct {
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* exception;
#else
  PyObject *cls, *exception, *traceback;
#endif
} AnyffiSaved;

static inline AnyffiSaved anyffi_py_save_exception(void) {
  AnyffiSaved saved;
#if PY_VERSION_HEX >= 0x030C0000
  saved.exception = PyErr_GetRaisedException();
#else
  PyErr_Fetch(&saved.cls, &saved.exception, &saved.traceback);
#endif
  return saved;
}

static inline void anyffi_py_restore_exception(AnyffiSaved saved) {
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(saved.exception);
#else
  PyErr_Restore(saved.cls, saved.exception, saved.traceback);
#endif
}

static inline void anyffi_py_drop_exception(AnyffiSaved saved) {
#if PY_VERSION_HEX < 0x030C0000
  Py_XDECREF(saved.cls);
  Py_XDECREF(saved.traceback);
#endif
  Py_XDECREF(saved.exception);
}

/// Releases a value after a failure; always -1. Releasing may run code that must not see the exception.
ANYFFI_NEVER_INLINE int anyffi_py_discard(const AnyffiValue* value) {
  AnyffiSaved saved = anyffi_py_save_exception();
  anyffi_value_drop(value);
  anyffi_py_restore_exception(saved);
  return -1;
}

/// Raises an exception as `raise` does; always -1. Steals the reference; NULL means that another one is set.
static int anyffi_py_raise(PyObject* exception) {
  if (exception != NULL) {
    PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  }
  return -1;
}

/// Raises the exception that a function of the rules returns, with one argument or (NULL) none; always -1.
ANYFFI_NEVER_INLINE int anyffi_py_raise_made(PyObject* make, PyObject* argument) {
  return anyffi_py_raise(argument == NULL ? PyObject_CallNoArgs(make) : PyObject_CallOneArg(make, argument));
}

/// Puts an exception, with its traceback, into the thread's error slot of the runtime; always -1. Steals the reference.
static int anyffi_py_leave_exception(PyObject* exception) {
  AnyffiValue error;
  // Where even this fails, a MemoryError is in the slot.
  if (anyffi_error_create_host(exception, &error) == 0) {
    anyffi_error_set_raised(error.as_object);
    anyffi_value_drop(&error);
  }
  return -1;
}

/// Moves the exception that is set into the thread's error slot of the runtime; always -1.
ANYFFI_NEVER_INLINE int anyffi_py_leave_raised(void) {
  AnyffiSaved saved = anyffi_py_save_exception();
#if PY_VERSION_HEX < 0x030C0000
  PyErr_NormalizeException(&saved.cls, &saved.exception, &saved.traceback);
  if (saved.traceback != NULL) PyException_SetTraceback(saved.exception, saved.traceback);
  Py_XDECREF(saved.cls);
  Py_XDECREF(saved.traceback);
#endif
  return anyffi_py_leave_exception(saved.exception);
}

#endif  // ANYFFI_ERRORS_H_
