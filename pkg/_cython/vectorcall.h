/// How Python calls a function: by the fastest path for the arguments, each of which ends in a jump.

#ifndef ANYFFI_VECTORCALL_H_
#define ANYFFI_VECTORCALL_H_

#include "call_named.h"

/// What Python calls a method through.
static PyObject* anyffi_py_vectorcall_method(PyObject* method, PyObject* const* args, size_t flags, PyObject* names);

/// `tp_call` of FunctionCore.
static PyObject* anyffi_py_call_tuple(PyObject* function, PyObject* args, PyObject* kwargs);

/// As `anyffi_py_call_named`, or calls something that has a `__call__` or a type of its own.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_slow(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                  PyObject* names) {
  return Py_TYPE(function)->tp_call != anyffi_py_call_tuple ? anyffi_py_call_slot(function, args, count, names)
                                                            : anyffi_py_call_named(function, args, count, names);
}

/// 1 if a call can take the fast path. Before Python 3.12 a class to which `__call__` was assigned later still comes
/// here.
static inline int anyffi_py_is_short(PyObject* function, Py_ssize_t count) {
  return count <= ANYFFI_MAX_SHORT && Py_TYPE(function)->tp_call == anyffi_py_call_tuple;
}

/// The flags of str and bytes, and of all that is neither they nor immediate, with their subclasses.
#define ANYFFI_TEXT_FLAGS (Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS)
#define ANYFFI_OBJECT_FLAGS                                                                                \
  (Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS | Py_TPFLAGS_HEAPTYPE | \
   Py_TPFLAGS_HAVE_VECTORCALL)

/// Makes a short call by the fastest path for its first argument. Each is a jump.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_dispatch(PyObject* function, PyObject* const* args, Py_ssize_t count) {
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)function)->object;
  unsigned long class_flags = count > 0 ? Py_TYPE(args[0])->tp_flags : 0;
  if ((class_flags & (ANYFFI_TEXT_FLAGS | ANYFFI_OBJECT_FLAGS)) == 0) {
    return anyffi_py_call_immediate(target, args, count);
  }
  if (count > 1) {
    return class_flags & Py_TPFLAGS_HAVE_VECTORCALL ? anyffi_py_call_callable(target, args, count)
                                                    : anyffi_py_call_short(target, args, count);
  }
  return class_flags & ANYFFI_TEXT_FLAGS ? anyffi_py_call_text(target, args) : anyffi_py_call_object(target, args);
}

/// Calls with keywords that are in order, else jumps to the slow path.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_vectorcall_named(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                         PyObject* names) {
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  if (anyffi_py_is_short(function, total) && anyffi_py_are_in_order(function, count, names)) {
    return anyffi_py_dispatch(function, args, total);
  }
  return anyffi_py_call_slow(function, args, count, names);
}

/// What Python calls a function through, once `tp_call` has found one in the wrapper.
static PyObject* anyffi_py_vectorcall(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (names != NULL) return anyffi_py_vectorcall_named(function, args, count, names);
  if (anyffi_py_is_short(function, count)) return anyffi_py_dispatch(function, args, count);
  return anyffi_py_call_slow(function, args, count, NULL);
}

/// What Python calls a function by first. From then on it calls through the pointer, so that whatever is called through
/// it holds a function.
static PyObject* anyffi_py_call_tuple(PyObject* function, PyObject* args, PyObject* kwargs) {
  if (anyffi_py_unwrap_function(function) == NULL) return NULL;
  int is_method = PyType_HasFeature(Py_TYPE(function), Py_TPFLAGS_METHOD_DESCRIPTOR);
  ((AnyffiFunctionWrapper*)function)->vectorcall = is_method ? anyffi_py_vectorcall_method : anyffi_py_vectorcall;
  return PyVectorcall_Call(function, args, kwargs);
}

#endif  // ANYFFI_VECTORCALL_H_
