/// The way of a call: arguments into an array of values, the function, its result.
///
/// In C, where a call with numbers needs no register saved and every way out is a jump. Cython's functions, which see
/// to tracebacks, took a third more of instructions for a whole call with one number.

#ifndef ANYFFI_CALL_H_
#define ANYFFI_CALL_H_

#include <Python.h>
#include <anyffi/c_api.h>

#include "plain.h"
#include "wrapper.h"

/// The arguments of so many are packed on the stack.
#define ANYFFI_MAX_SHORT 8

/// Functions of Cython's, which come later in the same file as this one; set once.
static struct AnyffiLater {
  ternaryfunc call_tuple;
  PyObject* (*call_uncommonly)(PyObject* function, PyObject** args, Py_ssize_t count, PyObject* names);
  int (*pack_uncommon)(PyObject* x, AnyffiValue* out);
  int (*fill_alone)(PyObject* items, AnyffiValue* out);
  PyObject* (*unpack)(AnyffiValue* value);
  int (*raise_taken)(void);
} anyffi_later;

/// Packs an argument that is not plain, which the caller keeps alive.
///
/// @return 1 if `out` owns a reference, marked movable, 0 if it borrows one, -1 with an exception.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_special(PyObject* x, AnyffiValue* out) {
  int packed;
  if (Py_IS_TYPE(x, &PyTuple_Type)) {
    packed = anyffi_py_pack_plain_items(((PyTupleObject*)x)->ob_item, Py_SIZE(x), ANYFFI_ARRAY, out);
  } else if (Py_IS_TYPE(x, &PyList_Type)) {
    packed = anyffi_py_pack_plain_items(((PyListObject*)x)->ob_item, Py_SIZE(x), ANYFFI_LIST, out);
  } else {
    return anyffi_later.pack_uncommon(x, out);
  }
  if (packed < 0) return anyffi_later.raise_taken();
  if (packed == 0 && anyffi_later.fill_alone(x, out) < 0) return -1;
  out->aux = ANYFFI_MOVABLE;
  return 1;
}

/// Gives back what packing made of an argument, unless the callee took it.
static inline void anyffi_py_release_made(const AnyffiValue* value) {
  // Flags belong to objects; elsewhere the word holds text.
  if (value->type_code > 0 && value->aux != 0) anyffi_release(value->as_object);
}

/// Calls with arguments that are packed, and returns the Python value of the result; NULL with an exception.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_packed(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count) {
  AnyffiValue result = anyffi_make_none();
  if (__builtin_expect(target->call(target->self, values, (int32_t)count, &result) != 0, 0)) {
    anyffi_later.raise_taken();
    return NULL;
  }
  // The two most common ones, of which `unpack` would have to be called to tell.
  if (result.type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (result.type_code == ANYFFI_INT) return anyffi_py_new_int(result.as_int);
  return anyffi_later.unpack(&result);
}

/// Gives back the arguments of a call, after its result was read, which may borrow from them. Returns the result.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_finish(PyObject* result, const AnyffiValue* values, Py_ssize_t count) {
  PyObject *cls, *exception, *traceback;
  // Giving an object back may run code that must not meet the exception.
  if (__builtin_expect(result == NULL, 0)) PyErr_Fetch(&cls, &exception, &traceback);
  for (Py_ssize_t i = 0; i < count; ++i) anyffi_py_release_made(&values[i]);
  if (__builtin_expect(result == NULL, 0)) PyErr_Restore(cls, exception, traceback);
  return result;
}

/// A call with arguments of every kind, for which there is an array.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_with(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count,
                                                   AnyffiValue* values) {
  Py_ssize_t packed = 0;
  while (packed < count && (anyffi_py_pack_plain(args[packed], &values[packed]) ||
                            anyffi_py_pack_special(args[packed], &values[packed]) >= 0)) {
    ++packed;
  }
  PyObject* result = packed < count ? NULL : anyffi_py_call_packed(target, values, count);
  return anyffi_py_finish(result, values, packed);
}

/// An array for more than ANYFFI_MAX_SHORT arguments, to be given to `anyffi_free`; NULL with an exception.
static AnyffiValue* anyffi_py_allocate(Py_ssize_t count) {
  if (count > INT32_MAX) {
    PyErr_SetString(PyExc_OverflowError, "too many arguments");
    return NULL;
  }
  AnyffiValue* values = (AnyffiValue*)anyffi_alloc(count * sizeof(AnyffiValue));
  if (values == NULL) PyErr_NoMemory();
  return values;
}

/// A call with so many.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_long(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  AnyffiValue* values = anyffi_py_allocate(count);
  if (values == NULL) return NULL;
  PyObject* result = anyffi_py_call_with(target, args, count, values);
  anyffi_free(values);
  return result;
}

/// A call with fewer.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_short(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  return anyffi_py_call_with(target, args, count, values);
}

/// A call with one argument, which is not plain. Without a loop fewer registers need to be saved, here and below: a
/// tenth of the time of a call with a short tuple.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_special(AnyffiFunction* target, PyObject* const* args) {
  AnyffiValue value;
  if (anyffi_py_pack_special(args[0], &value) < 0) return NULL;
  return anyffi_py_finish(anyffi_py_call_packed(target, &value, 1), &value, 1);
}

/// A call with one argument, which is probably text.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_text(AnyffiFunction* target, PyObject* const* args) {
  AnyffiValue value;
  if (!anyffi_py_pack_text(args[0], Py_TYPE(args[0]), &value)) return anyffi_py_call_special(target, args);
  return anyffi_py_call_packed(target, &value, 1);
}

/// A call with at most ANYFFI_MAX_SHORT arguments, which are probably constants. Those, too, need few registers, and
/// nothing has to be given back.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_constants(AnyffiFunction* target, PyObject* const* args,
                                                       Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!anyffi_py_pack_constant(args[i], Py_TYPE(args[i]), &values[i])) {
      return count > 1 ? anyffi_py_call_short(target, args, count) : anyffi_py_call_special(target, args);
    }
  }
  return anyffi_py_call_packed(target, values, count);
}

/// Calls with arguments by position, which the caller keeps alive as it does the function.
static inline PyObject* anyffi_py_call(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  return count > ANYFFI_MAX_SHORT ? anyffi_py_call_long(target, args, count)
                                  : anyffi_py_call_short(target, args, count);
}

/// Whether a call goes the short way. Before Python 3.12 a class to which `__call__` was assigned later still comes
/// here.
static inline int anyffi_py_is_short(PyObject* function, Py_ssize_t count) {
  return count <= ANYFFI_MAX_SHORT && Py_TYPE(function)->tp_call == anyffi_later.call_tuple;
}

/// Whether the names of a call are those of the parameters that follow the first `count`: then the values lie where
/// the function looks for them, as they do in most calls with names.
static inline int anyffi_py_names_in_order(PyObject* function, Py_ssize_t count, PyObject* names) {
  const AnyffiFunctionInfo* info = ((AnyffiFunction*)((AnyffiWrapper*)function)->object)->info;
  PyObject* parameters = ((AnyffiFunctionWrapper*)function)->parameters;
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  // The parameters are unknown until a call with names has asked for them.
  if (parameters == NULL || total > PyTuple_GET_SIZE(parameters) || total < info->num_required) return 0;
  for (Py_ssize_t i = count; i < total; ++i) {
    // Both are interned; where one is not, the uncommon way compares them.
    if (PyTuple_GET_ITEM(parameters, i) != PyTuple_GET_ITEM(names, i - count)) return 0;
  }
  return 1;
}

/// What str and bytes are told by, and list and tuple.
#define ANYFFI_TEXT_FLAGS (Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS)
#define ANYFFI_ITEMS_FLAGS (Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS)

/// Makes a short call the way that serves its first argument best. Each way is a jump.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_choose(PyObject* function, PyObject* const* args, Py_ssize_t count) {
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)function)->object;
  unsigned long class_flags = count > 0 ? Py_TYPE(args[0])->tp_flags : 0;
  if ((class_flags & (ANYFFI_TEXT_FLAGS | ANYFFI_ITEMS_FLAGS)) == 0) {
    return anyffi_py_call_constants(target, args, count);
  }
  if (count > 1) return anyffi_py_call_short(target, args, count);
  return class_flags & ANYFFI_TEXT_FLAGS ? anyffi_py_call_text(target, args) : anyffi_py_call_special(target, args);
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_vectorcall_named(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                         PyObject* names) {
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  if (anyffi_py_is_short(function, total) && anyffi_py_names_in_order(function, count, names)) {
    return anyffi_py_choose(function, args, total);
  }
  return anyffi_later.call_uncommonly(function, (PyObject**)args, count, names);
}

/// What Python calls a function through, once `tp_call` has found one in the wrapper.
static PyObject* anyffi_py_vectorcall(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (names != NULL) return anyffi_py_vectorcall_named(function, args, count, names);
  if (anyffi_py_is_short(function, count)) return anyffi_py_choose(function, args, count);
  return anyffi_later.call_uncommonly(function, (PyObject**)args, count, NULL);
}

#endif  // ANYFFI_CALL_H_
