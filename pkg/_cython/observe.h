/// Calls and callbacks while an observer is set, such as `anyffi.trace`, which is called before and after each.
///
/// No Python frame is open while the function runs, so that it sees the same callers as without an observer.

#ifndef ANYFFI_OBSERVE_H_
#define ANYFFI_OBSERVE_H_

#include "errors.h"
#include "native.h"
#include "pack.h"

/// Counts a call or callback for which an observer could not be called; no exception may be set.
static void anyffi_py_count_lost(PyObject* lost) {
  PyObject* number = Py_TYPE(lost)->tp_iternext(lost);
  if (number == NULL) PyErr_Clear();
  Py_XDECREF(number);
}

/// Drops an observer's RecursionError or MemoryError and counts it: a new reference to None; NULL for any other
/// exception, such as that of a signal handler.
static PyObject* anyffi_py_drop_exhausted(PyObject* lost) {
  if (!PyErr_ExceptionMatches(PyExc_RecursionError) && !PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
  PyErr_Clear();
  anyffi_py_count_lost(lost);
  Py_RETURN_NONE;
}

/// Calls the observer at the end of a call; `record`, which is stolen, is what it returned at the beginning, None if it
/// ignores this call. Steals the result, NULL with an exception, and returns it. An exception of a signal handler
/// replaces it.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_end_observed(PyObject* record, PyObject* result) {
  if (record == Py_None) {
    Py_DECREF(record);
    return result;
  }
  if (result != NULL) {
    PyObject* done = PyObject_CallFunctionObjArgs(anyffi_state.end_call, record, result, NULL);
    if (done == NULL) done = anyffi_py_drop_exhausted(anyffi_state.lost_ends);
    if (done == NULL) Py_CLEAR(result);
    Py_XDECREF(done);
    Py_DECREF(record);
    return result;
  }
  AnyffiSaved saved = anyffi_py_save_exception();
#if PY_VERSION_HEX < 0x030C0000
  PyErr_NormalizeException(&saved.cls, &saved.exception, &saved.traceback);
#endif
  if (saved.exception == NULL) {
    // CPython has no memory for the exception itself; the callers raise an error for that.
    Py_DECREF(record);
    anyffi_py_count_lost(anyffi_state.lost_ends);
    return NULL;
  }
  PyObject* done = PyObject_CallFunctionObjArgs(anyffi_state.fail_call, record, saved.exception, NULL);
  Py_DECREF(record);
  if (done == NULL) done = anyffi_py_drop_exhausted(anyffi_state.lost_ends);
  if (done != NULL) {
    Py_DECREF(done);
    anyffi_py_restore_exception(saved);
  } else {
    anyffi_py_drop_exception(saved);
  }
  return NULL;
}

/// Calls a callable of Python for the runtime; `args` is a tuple.
static PyObject* anyffi_py_invoke_observed(PyObject* function, PyObject* args) {
  PyObject* record = PyObject_CallFunctionObjArgs(anyffi_state.begin_callback, function, args, NULL);
  if (record == NULL && (record = anyffi_py_drop_exhausted(anyffi_state.lost_calls)) == NULL) return NULL;
  PyObject* result = anyffi_py_invoke(function, PySequence_Fast_ITEMS(args), (size_t)PyTuple_GET_SIZE(args));
  return anyffi_py_end_observed(record, result);
}

/// As `anyffi_py_run`, with an observer.
ANYFFI_NEVER_INLINE int anyffi_py_run_observed(PyObject* function, const AnyffiValue* args, int32_t count,
                                               AnyffiValue* result) {
  int status = -1;
  int32_t unpacked = 0;
  PyObject* given = PyTuple_New(count);
  for (; given != NULL && unpacked < count; ++unpacked) {
    PyObject* value = anyffi_py_unpack_argument(&args[unpacked]);
    if (value == NULL) break;
    PyTuple_SET_ITEM(given, unpacked, value);
  }
  if (given != NULL && unpacked == count) {
    PyObject* value = anyffi_py_invoke_observed(function, given);
    if (value != NULL) status = anyffi_py_discard_result(result) ? 0 : anyffi_py_pack_result(function, value, result);
    Py_XDECREF(value);
  }
  // Finalizers of arguments must not see the exception.
  AnyffiSaved saved;
  if (status < 0) saved = anyffi_py_save_exception();
  Py_XDECREF(given);
  if (status < 0) anyffi_py_restore_exception(saved);
  return status;
}

#endif  // ANYFFI_OBSERVE_H_
