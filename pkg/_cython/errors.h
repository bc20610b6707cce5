/// Exceptions in C: saved while code runs that must not see them, created by the rules, handed to the runtime.

#ifndef ANYFFI_ERRORS_H_
#define ANYFFI_ERRORS_H_

#include <string.h>

#include "state.h"

/// Holds the exception that is set.
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

/// Whether the frame of a traceback's entry is of a private module of this package.
static int anyffi_py_is_own_frame(PyTracebackObject* entry) {
  static const char prefix[] = "anyffi._";
  PyObject* globals = PyObject_GetAttrString((PyObject*)entry->tb_frame, "f_globals");
  PyObject* name = globals != NULL && PyDict_Check(globals) ? PyDict_GetItemString(globals, "__name__") : NULL;
  const char* text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
  int is_own = text != NULL && strncmp(text, prefix, sizeof(prefix) - 1) == 0;
  Py_XDECREF(globals);
  PyErr_Clear();
  return is_own;
}

/// Removes the frames of this package from the traceback of the exception that is set. If it has no other frames, it is
/// left unchanged unless `even_all`: C++ that catches the exception of a callback reads it.
ANYFFI_NEVER_INLINE void anyffi_py_hide_frames(int even_all) {
  AnyffiSaved saved = anyffi_py_save_exception();
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* traceback = PyException_GetTraceback(saved.exception);
#else
  PyObject* traceback = saved.traceback;
  Py_XINCREF(traceback);
#endif
  PyTracebackObject *first = NULL, *last = NULL, *entry = (PyTracebackObject*)traceback;
  for (; entry != NULL; entry = entry->tb_next) {
    if (anyffi_py_is_own_frame(entry)) continue;
    if (last == NULL) {
      first = entry;
    } else if (last->tb_next != entry) {
      Py_INCREF(entry);
      Py_XSETREF(last->tb_next, entry);
    }
    last = entry;
  }
  if (last != NULL) Py_CLEAR(last->tb_next);
  if (first == NULL && !even_all) first = (PyTracebackObject*)traceback;
#if PY_VERSION_HEX >= 0x030C0000
  if ((PyObject*)first != traceback) PyException_SetTraceback(saved.exception, first ? (PyObject*)first : Py_None);
#else
  Py_XINCREF(first);
  Py_XSETREF(saved.traceback, (PyObject*)first);
#endif
  Py_XDECREF(traceback);
  anyffi_py_restore_exception(saved);
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

/// Raises RecursionError if the rest of the thread's stack is too short for another level of a walk through nested
/// values, or for users' code that may call this again: Python only counts calls, however small the stack is; 0, or -1
/// with an exception.
ANYFFI_NEVER_INLINE int anyffi_py_need_stack(void) {
  if (anyffi_stack_get_remaining() >= ANYFFI_STACK_RESERVE) return 0;
  PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
  return -1;
}

/// Puts an exception, with its traceback, into the thread's error slot of the runtime; always -1. Steals the reference.
static int anyffi_py_leave_exception(PyObject* exception) {
  AnyffiValue error;
  // If even this fails, a MemoryError is in the slot.
  if (anyffi_error_create_host(exception, &error) == 0) {
    anyffi_error_set_raised(error.as_object);
    anyffi_value_drop(&error);
  }
  return -1;
}

/// Moves the exception that is set into the thread's error slot of the runtime; always -1.
ANYFFI_NEVER_INLINE int anyffi_py_leave_raised(void) {
  // CPython 3.11 sets none if there is no memory for the frame of a function (_PyEval_Vector in Python/ceval.c).
  if (PyErr_Occurred() == NULL) PyErr_NoMemory();
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
