/// Calls from Python: each takes the fastest path for its arguments, and each path ends in a tail call.

#ifndef ANYFFI_VECTORCALL_H_
#define ANYFFI_VECTORCALL_H_

#include "call_named.h"
#include "observe.h"

/// The vectorcall function of methods.
static PyObject* anyffi_py_vectorcall_method(PyObject* method, PyObject* const* args, size_t flags, PyObject* names);

/// `tp_call` of FunctionCore.
static PyObject* anyffi_py_call_tuple(PyObject* function, PyObject* args, PyObject* kwargs);

/// As `anyffi_py_call_named`, or calls an object whose class defines `__call__` or `tp_call` itself.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_slow(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                  PyObject* names) {
  return Py_TYPE(function)->tp_call != anyffi_py_call_tuple ? anyffi_py_call_slot(function, args, count, names)
                                                            : anyffi_py_call_named(function, args, count, names);
}

/// 1 if a call can take the fast path. Before Python 3.12 vectorcall is also used for a class to which `__call__` was
/// assigned later.
static inline int anyffi_py_is_short(PyObject* function, Py_ssize_t count) {
  return count <= ANYFFI_MAX_SHORT && Py_TYPE(function)->tp_call == anyffi_py_call_tuple;
}

/// Calls with keywords that are in order; else takes the slow path.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_vectorcall_named(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                         PyObject* names) {
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  if (anyffi_py_is_short(function, total) && anyffi_py_are_in_order(function, count, names)) {
    return anyffi_py_dispatch(anyffi_py_function_in(function), args, total);
  }
  return anyffi_py_call_slow(function, args, count, names);
}

/// The vectorcall function of functions, set once `anyffi_py_call_tuple` has found a function in the wrapper.
static PyObject* anyffi_py_vectorcall(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (names != NULL) return anyffi_py_vectorcall_named(function, args, count, names);
  if (anyffi_py_is_short(function, count)) return anyffi_py_dispatch(anyffi_py_function_in(function), args, count);
  return anyffi_py_call_slow(function, args, count, NULL);
}

/// The same for a function or method that `anyffi_py_has_items`.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_vectorcall_named_items(PyObject* function, PyObject* const* args,
                                                               Py_ssize_t count, PyObject* names) {
  AnyffiFunction* target = anyffi_py_function_in(function);
  int is_in_order =
      Py_TYPE(function)->tp_call == anyffi_py_call_tuple && anyffi_py_are_in_order(function, count, names);
  return is_in_order ? anyffi_py_call_items(target, args, NULL, count + PyTuple_GET_SIZE(names))
                     : anyffi_py_call_slow(function, args, count, names);
}
static PyObject* anyffi_py_vectorcall_items(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (names != NULL) return anyffi_py_vectorcall_named_items(function, args, count, names);
  if (Py_TYPE(function)->tp_call != anyffi_py_call_tuple) return anyffi_py_call_slow(function, args, count, NULL);
  return anyffi_py_call_items(anyffi_py_function_in(function), args, NULL, count);
}

/// Calls a function that has keyword-only parameters: here with keywords in order and arguments that are immediate or
/// short text.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_keyword_only(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                          PyObject* names) {
  AnyffiFunction* target = anyffi_py_function_in(function);
  AnyffiValue values[ANYFFI_MAX_SHORT + 1];
  Py_ssize_t total = count + PyTuple_GET_SIZE(names), num_positional = anyffi_py_num_positional(target->info);
  int is_simple = count <= num_positional && num_positional < total;
  if (!is_simple || !anyffi_py_is_short(function, total) || !anyffi_py_are_in_order(function, count, names)) {
    return anyffi_py_call_slow(function, args, count, names);
  }
  for (Py_ssize_t i = total; i < target->info->num_params; ++i) {
    if (target->info->params[i].default_value == NULL) return anyffi_py_call_slow(function, args, count, names);
  }
  for (Py_ssize_t i = 0; i < total; ++i) {
    if (anyffi_py_pack_immediate(args[i], Py_TYPE(args[i]), &values[i])) continue;
    if (!anyffi_py_pack_short_text(args[i], &values[i])) return anyffi_py_call_slow(function, args, count, names);
  }
  // Says that the last arguments were passed by keyword.
  values[total] = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
  return anyffi_py_call_packed(target, values, total + 1);
}

/// The same for a function with keyword-only parameters.
static PyObject* anyffi_py_vectorcall_keyword_only(PyObject* function, PyObject* const* args, size_t flags,
                                                   PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (names == NULL && anyffi_py_is_short(function, count)) {
    return anyffi_py_dispatch(anyffi_py_function_in(function), args, count);
  }
  return names == NULL ? anyffi_py_call_slow(function, args, count, names)
                       : anyffi_py_call_keyword_only(function, args, count, names);
}

/// Returns the vectorcall function for a function.
static vectorcallfunc anyffi_py_choose_vectorcall(PyObject* function, const AnyffiFunction* target) {
  int is_method = PyType_HasFeature(Py_TYPE(function), Py_TPFLAGS_METHOD_DESCRIPTOR);
  if (anyffi_py_has_keyword_only(target)) return anyffi_py_vectorcall_keyword_only;
  if (anyffi_py_has_items(target)) return anyffi_py_vectorcall_items;
  return is_method ? anyffi_py_vectorcall_method : anyffi_py_vectorcall;
}

/// The `tp_call` of FunctionCore, which the first call of a function uses. It sets the vectorcall pointer, so that a
/// wrapper called through the pointer is never empty.
static PyObject* anyffi_py_call_tuple(PyObject* function, PyObject* args, PyObject* kwargs) {
  AnyffiFunction* target = anyffi_py_unwrap_function(function);
  if (target == NULL) return NULL;
  // Other threads may read the pointer meanwhile, and make their first calls.
  vectorcallfunc chosen = anyffi_py_choose_vectorcall(function, target);
  __atomic_store_n(&((AnyffiFunctionWrapper*)function)->vectorcall, chosen, __ATOMIC_RELAXED);
  return PyVectorcall_Call(function, args, kwargs);
}

/// Calls with a tuple and a dict, which may be NULL, without an observer.
__attribute__((cold)) static PyObject* anyffi_py_call_unobserved(PyObject* function, PyObject* args, PyObject* kwargs) {
  Py_ssize_t count = PyTuple_GET_SIZE(args), position = 0, total = count;
  if (kwargs == NULL || PyDict_GET_SIZE(kwargs) == 0) {
    return anyffi_py_call_named(function, PySequence_Fast_ITEMS(args), count, NULL);
  }
  PyObject *name, *value, *result = NULL, *names = PyTuple_New(PyDict_GET_SIZE(kwargs));
  PyObject* all = names == NULL ? NULL : PyTuple_New(count + PyDict_GET_SIZE(kwargs));
  if (all != NULL) {
    for (Py_ssize_t i = 0; i < count; ++i) {
      Py_INCREF(PyTuple_GET_ITEM(args, i));
      PyTuple_SET_ITEM(all, i, PyTuple_GET_ITEM(args, i));
    }
    while (PyDict_Next(kwargs, &position, &name, &value)) {
      Py_INCREF(name);
      Py_INCREF(value);
      PyTuple_SET_ITEM(names, total - count, name);
      PyTuple_SET_ITEM(all, total++, value);
    }
    result = anyffi_py_call_named(function, PySequence_Fast_ITEMS(all), count, names);
  }
  AnyffiSaved saved;
  if (result == NULL) saved = anyffi_py_save_exception();
  Py_XDECREF(all);
  Py_XDECREF(names);
  if (result == NULL) anyffi_py_restore_exception(saved);
  return result;
}

/// The `tp_call` of FunctionCore and its subclasses while an observer is set. Since it is not `anyffi_py_call_tuple`,
/// no call takes a fast path.
__attribute__((cold)) static PyObject* anyffi_py_call_observed(PyObject* function, PyObject* args, PyObject* kwargs) {
  if (anyffi_state.observer == NULL) return anyffi_py_call_unobserved(function, args, kwargs);
  PyObject* given = kwargs == NULL ? Py_None : kwargs;
  PyObject* record = PyObject_CallFunctionObjArgs(anyffi_state.begin_call, function, args, given, NULL);
  if (record == NULL && (record = anyffi_py_drop_exhausted(anyffi_state.lost_calls)) == NULL) return NULL;
  return anyffi_py_end_observed(record, anyffi_py_call_unobserved(function, args, kwargs));
}

#endif  // ANYFFI_VECTORCALL_H_
