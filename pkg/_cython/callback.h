/// Calls from C++ into Python functions.

#ifndef ANYFFI_CALLBACK_H_
#define ANYFFI_CALLBACK_H_

#include "errors.h"
#include "items.h"
#include "native.h"
#include "observe.h"
#include "pack.h"

/// Up to this many arguments are unpacked on the stack.
#define ANYFFI_CALLBACK_ON_STACK 8

/// Lets C++ load a result from the Python object itself, if it asked for that: 1, or 0 if it has to be packed.
static inline int anyffi_py_load_result(PyObject* x, AnyffiValue* result) {
  AnyffiItems whole = {x, 0, 0, 0, 0};
  AnyffiValue value;
  if (__builtin_expect((result->aux & ANYFFI_LOADED) == 0, 1)) return 0;
  if (!anyffi_py_read_other_item(x, &whole, 0, &value)) return 0;
  int is_loaded = anyffi_result_load((const AnyffiResultSlot*)result->as_pointer, &value);
  if (whole.flags & ANYFFI_ITEMS_OWNED) anyffi_value_drop(&value);
  if (!is_loaded) return 0;
  *result = anyffi_make_none();
  result->aux = ANYFFI_LOADED;
  return 1;
}

/// Unpacks borrowed values into `places`, calls with them and packs the result as an owned value.
///
/// `places` has one slot before the first argument, which the callee may use, so that methods need no copy.
ANYFFI_ALWAYS_INLINE int anyffi_py_run_with(PyObject* function, const AnyffiValue* args, int32_t count,
                                            AnyffiValue* result, PyObject** places) {
  int status = -1;
  int32_t unpacked = 0;
  while (unpacked < count) {
    PyObject* value = anyffi_py_unpack_argument(&args[unpacked]);
    if (value == NULL) break;
    places[++unpacked] = value;
  }
  if (unpacked == count) {
    PyObject* value = anyffi_py_invoke(function, places + 1, (size_t)count | PY_VECTORCALL_ARGUMENTS_OFFSET);
    if (value != NULL) {
      // Most results are packed without a function call.
      int is_packed = anyffi_py_discard_result(result) || anyffi_py_pack_immediate(value, Py_TYPE(value), result) ||
                      anyffi_py_load_result(value, result);
      status = is_packed ? 0 : anyffi_py_pack_result(function, value, result);
      Py_DECREF(value);
    }
  }
  for (; unpacked > 0; --unpacked) Py_DECREF(places[unpacked]);
  return status;
}

/// Calls with many arguments.
ANYFFI_NEVER_INLINE int anyffi_py_run_long(PyObject* function, const AnyffiValue* args, int32_t count,
                                           AnyffiValue* result) {
  PyObject** places = (PyObject**)anyffi_alloc(((size_t)count + 1) * sizeof(PyObject*));
  if (places == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  int status = anyffi_py_run_with(function, args, count, result, places);
  anyffi_free(places);
  return status;
}

/// Calls a Python function and packs its result: 0, or -1 with an exception.
static inline int anyffi_py_run(PyObject* function, const AnyffiValue* args, int32_t count, AnyffiValue* result) {
  PyObject* places[ANYFFI_CALLBACK_ON_STACK + 1];
  if (__builtin_expect(anyffi_state.observer != NULL, 0)) {
    return anyffi_py_run_observed(function, args, count, result);
  }
  if (count > ANYFFI_CALLBACK_ON_STACK) return anyffi_py_run_long(function, args, count, result);
  return anyffi_py_run_with(function, args, count, result, places);
}

/// 1 for a Python function that the garbage collector has cleared, which the destructor of a C++ object collected with
/// it may call. CPython would read its globals through NULL.
static inline int anyffi_py_is_cleared(PyObject* function) {
  if (PyFunction_Check(function)) return PyFunction_GET_GLOBALS(function) == NULL;
  if (!PyMethod_Check(function)) return 0;
  function = PyMethod_GET_FUNCTION(function);
  return PyFunction_Check(function) && PyFunction_GET_GLOBALS(function) == NULL;
}

/// The `call` of functions over Python callables, which the runtime calls from any thread.
static int anyffi_py_callback(void* handle, AnyffiValue* args, int32_t count, AnyffiValue* result) {
  int former = anyffi_py_lock();
  int status = ANYFFI_HOST_DONE;
#ifdef Py_GIL_DISABLED
  PyCriticalSection* left = anyffi_py_leave_section();
#endif
  // The runtime marked the result unset, to detect whether the callback got this far.
  if (__builtin_expect(anyffi_py_is_cleared((PyObject*)handle), 0)) {
    *result = anyffi_make_none();
    anyffi_py_raise_made(anyffi_state.cleared_function, (PyObject*)handle);
    status = anyffi_py_leave_raised();
  } else if (anyffi_py_run((PyObject*)handle, args, count, result) < 0) {
    // A failed packing may leave a released object.
    *result = anyffi_make_none();
    status = anyffi_py_leave_raised();
  }
#ifdef Py_GIL_DISABLED
  anyffi_py_return_to_section(left);
#endif
  anyffi_py_unlock(former);
  return status;
}

#endif  // ANYFFI_CALLBACK_H_
