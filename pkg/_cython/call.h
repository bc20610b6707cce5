/// The call path: arguments into an array of values, the function, its result.
///
/// In C, where a call with numbers saves no register and every path ends in a jump. Cython's functions, which keep
/// tracebacks, took a third more instructions for a whole call with one number.

#ifndef ANYFFI_CALL_H_
#define ANYFFI_CALL_H_

#include <string.h>

#include "keywords.h"
#include "pack.h"
#include "shell.h"
#include "unpack.h"
#include "wrapper.h"

/// Up to this many arguments are packed on the stack.
#define ANYFFI_MAX_SHORT 8

/// Releases the object that packing created for an argument, unless the callee stole it.
static inline void anyffi_py_release_made(const AnyffiValue* value) {
  // Flags belong to objects; elsewhere the word holds text.
  if (value->type_code > 0 && value->aux != 0) anyffi_release(value->as_object);
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_unpack_result(AnyffiValue* value) { return anyffi_py_unpack(value); }

/// Returns the Python value of the result of a call, or NULL with the exception that the call raised.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_take_result(int status, AnyffiValue* result) {
  if (__builtin_expect(status != 0, 0)) {
    anyffi_py_raise_taken();
    return NULL;
  }
  // The two most common ones, without a call.
  if (result->type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (result->type_code == ANYFFI_INT) return anyffi_py_new_int(result->as_int);
  return anyffi_py_unpack_result(result);
}

/// Calls with packed arguments and returns the Python value of the result; NULL with an exception.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_packed(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count) {
  AnyffiValue result = anyffi_make_none();
  int status = target->call(target->self, values, (int32_t)count, &result);
  return anyffi_py_take_result(status, &result);
}

/// Releases the arguments of a call, after its result was unpacked, which may borrow from them. Returns the result.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_finish(PyObject* result, const AnyffiValue* values, Py_ssize_t count) {
  AnyffiSaved saved;
  // Releasing an object may run code that must not see the exception.
  if (__builtin_expect(result == NULL, 0)) saved = anyffi_py_save_exception();
  for (Py_ssize_t i = 0; i < count; ++i) anyffi_py_release_made(&values[i]);
  if (__builtin_expect(result == NULL, 0)) anyffi_py_restore_exception(saved);
  return result;
}

/// Calls with any arguments, for which there is an array.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_with(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count,
                                                   AnyffiValue* values) {
  Py_ssize_t packed = 0;
  while (packed < count && (anyffi_py_pack_plain(args[packed], &values[packed]) ||
                            anyffi_py_pack_object(args[packed], &values[packed]) >= 0)) {
    ++packed;
  }
  PyObject* result = packed < count ? NULL : anyffi_py_call_packed(target, values, count);
  return anyffi_py_finish(result, values, packed);
}

/// Returns an array for more than ANYFFI_MAX_SHORT arguments, for `anyffi_free`; NULL with an exception.
static AnyffiValue* anyffi_py_allocate(Py_ssize_t count) {
  if (count > INT32_MAX) {
    PyErr_SetString(PyExc_OverflowError, "too many arguments");
    return NULL;
  }
  AnyffiValue* values = (AnyffiValue*)anyffi_alloc((size_t)count * sizeof(AnyffiValue));
  if (values == NULL) PyErr_NoMemory();
  return values;
}

/// Calls with more than ANYFFI_MAX_SHORT arguments.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_long(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  AnyffiValue* values = anyffi_py_allocate(count);
  if (values == NULL) return NULL;
  PyObject* result = anyffi_py_call_with(target, args, count, values);
  anyffi_free(values);
  return result;
}

/// Calls with at most ANYFFI_MAX_SHORT arguments.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_short(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  return anyffi_py_call_with(target, args, count, values);
}

/// Calls with one argument, which is not plain. Without a loop fewer registers need to be saved, here and below: a
/// tenth of the time of a call with a short tuple.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_object(AnyffiFunction* target, PyObject* const* args) {
  AnyffiValue value;
  if (anyffi_py_pack_object(args[0], &value) < 0) return NULL;
  return anyffi_py_finish(anyffi_py_call_packed(target, &value, 1), &value, 1);
}

/// Calls with one argument, which is probably text.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_text(AnyffiFunction* target, PyObject* const* args) {
  AnyffiValue value;
  if (!anyffi_py_pack_text(args[0], Py_TYPE(args[0]), &value)) return anyffi_py_call_object(target, args);
  return anyffi_py_call_packed(target, &value, 1);
}

/// Calls with at most ANYFFI_MAX_SHORT arguments, which are probably immediate. Those, too, need few registers, and
/// nothing has to be released.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_immediate(AnyffiFunction* target, PyObject* const* args,
                                                       Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!anyffi_py_pack_immediate(args[i], Py_TYPE(args[i]), &values[i])) {
      return count > 1 ? anyffi_py_call_short(target, args, count) : anyffi_py_call_object(target, args);
    }
  }
  return anyffi_py_call_packed(target, values, count);
}

/// Calls with arguments by position, which the caller keeps alive as it does the function.
static inline PyObject* anyffi_py_call(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  return count > ANYFFI_MAX_SHORT ? anyffi_py_call_long(target, args, count)
                                  : anyffi_py_call_short(target, args, count);
}

/// `tp_call` of FunctionCore.
static PyObject* anyffi_py_call_tuple(PyObject* function, PyObject* args, PyObject* kwargs);

// ---- keywords -------------------------------------------------------------------------------------------------------

/// Calls with arguments at the places of parameters; `values` has room for all of them.
static PyObject* anyffi_py_call_placed(AnyffiFunction* target, PyObject* const* args, const int32_t* places,
                                       Py_ssize_t count, AnyffiValue* values) {
  Py_ssize_t packed = 0;
  for (; packed < count; ++packed) {
    if (places[packed] < 0) {
      values[packed] = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
    } else if (anyffi_py_pack(args[places[packed]], &values[packed]) < 0) {
      break;
    }
  }
  PyObject* result = packed < count ? NULL : anyffi_py_call_packed(target, values, count);
  return anyffi_py_finish(result, values, packed);
}

/// Calls a function without overloads with keywords in any order.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_unordered(PyObject* function, AnyffiFunction* target,
                                                       PyObject* const* args, Py_ssize_t count, PyObject* names) {
  int32_t few_places[ANYFFI_FEW_NAMED];
  AnyffiValue few_values[ANYFFI_FEW_NAMED];
  PyObject* parameters = ((AnyffiFunctionWrapper*)function)->parameters;
  Py_ssize_t capacity = PyTuple_GET_SIZE(parameters);
  if (capacity <= ANYFFI_FEW_NAMED) {
    Py_ssize_t filled = anyffi_py_place(parameters, target->info, count, names, few_places);
    if (filled < 0) return anyffi_py_call_bound(function, args, count, names);
    return anyffi_py_call_placed(target, args, few_places, filled, few_values);
  }
  AnyffiValue* values = anyffi_py_allocate(2 * capacity);
  if (values == NULL) return NULL;
  int32_t* places = (int32_t*)(values + capacity);
  Py_ssize_t filled = anyffi_py_place(parameters, target->info, count, names, places);
  PyObject* result = filled < 0 ? anyffi_py_call_bound(function, args, count, names)
                                : anyffi_py_call_placed(target, args, places, filled, values);
  anyffi_free(values);
  return result;
}

/// As `anyffi_py_call_overloaded`, for arguments whose packing may call user code, or for many.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_overloaded_slow(PyObject* function, AnyffiFunction* target,
                                                             AnyffiNamed* named, PyObject* const* args,
                                                             Py_ssize_t count) {
  Py_ssize_t capacity = count, packed = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(named->parameters); ++i) {
    Py_ssize_t size = PyTuple_GET_SIZE(PyTuple_GET_ITEM(named->parameters, i));
    if (size > capacity) capacity = size;
  }
  AnyffiValue* values = anyffi_py_allocate(2 * capacity);
  if (values == NULL) return NULL;
  PyObject* made = NULL;
  if (!anyffi_py_fits_overload(target, named, (int32_t*)(values + capacity))) {
    made = anyffi_py_call_bound(function, args, named->count, named->names);
  } else {
    PyObject* parameters = named->parameters;
    Py_INCREF(parameters);
    while (packed < count && anyffi_py_pack(args[packed], &values[packed]) >= 0) ++packed;
    if (packed == count) {
      AnyffiValue result = anyffi_make_none();
      AnyffiPlaceArgs place = anyffi_py_place_overload;
      int status = anyffi_function_call_placed(target, place, named, values, (int32_t)count, &result);
      made = anyffi_py_take_result(status, &result);
    }
    Py_DECREF(parameters);
  }
  made = anyffi_py_finish(made, values, packed);
  anyffi_free(values);
  return made;
}

/// Calls a function with overloads by keyword.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_overloaded(PyObject* function, AnyffiFunction* target,
                                                        PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiValue values[ANYFFI_FEW_NAMED], result = anyffi_make_none();
  AnyffiNamed named = {((AnyffiFunctionWrapper*)function)->parameters, names, count};
  Py_ssize_t total = count + PyTuple_GET_SIZE(names), packed = 0;
  if (total <= ANYFFI_FEW_NAMED) {
    while (packed < total && anyffi_py_pack_plain(args[packed], &values[packed])) ++packed;
  }
  if (packed < total) return anyffi_py_call_overloaded_slow(function, target, &named, args, total);
  AnyffiPlaceArgs place = anyffi_py_place_overload;
  Py_INCREF(named.parameters);
  int status = anyffi_function_call_placed(target, place, &named, values, (int32_t)total, &result);
  Py_DECREF(named.parameters);
  if (status == ANYFFI_NO_MATCH) return anyffi_py_call_bound(function, args, count, names);
  return anyffi_py_take_result(status, &result);
}

/// Calls with keywords that are not in order, or whose parameters are not known yet, or with many arguments.
static PyObject* anyffi_py_call_named(PyObject* function, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiFunction* target = anyffi_py_unwrap_function(function);
  if (target == NULL) return NULL;
  if (names == NULL || PyTuple_GET_SIZE(names) == 0) return anyffi_py_call(target, args, count);
  if (((AnyffiFunctionWrapper*)function)->parameters == NULL && anyffi_py_learn_parameters(function) < 0) return NULL;
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  if (anyffi_py_are_in_order(function, count, names)) return anyffi_py_call(target, args, total);
  if (target->info == NULL) return anyffi_py_call_bound(function, args, count, names);
  return target->info->flags & ANYFFI_OVERLOADED ? anyffi_py_call_overloaded(function, target, args, count, names)
                                                 : anyffi_py_call_unordered(function, target, args, count, names);
}

/// As `anyffi_py_call_named`, or calls something that has a `__call__` or a type of its own.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_slow(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                  PyObject* names) {
  return Py_TYPE(function)->tp_call != anyffi_py_call_tuple ? anyffi_py_call_slot(function, args, count, names)
                                                            : anyffi_py_call_named(function, args, count, names);
}

// ---- vectorcall -----------------------------------------------------------------------------------------------------

/// 1 if a call can take the fast path. Before Python 3.12 a class to which `__call__` was assigned later still comes
/// here.
static inline int anyffi_py_is_short(PyObject* function, Py_ssize_t count) {
  return count <= ANYFFI_MAX_SHORT && Py_TYPE(function)->tp_call == anyffi_py_call_tuple;
}

/// The flags of str and bytes, and of list and tuple, with their subclasses.
#define ANYFFI_TEXT_FLAGS (Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS)
#define ANYFFI_ITEMS_FLAGS (Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS)

/// Makes a short call by the fastest path for its first argument. Each is a jump.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_dispatch(PyObject* function, PyObject* const* args, Py_ssize_t count) {
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)function)->object;
  unsigned long class_flags = count > 0 ? Py_TYPE(args[0])->tp_flags : 0;
  if ((class_flags & (ANYFFI_TEXT_FLAGS | ANYFFI_ITEMS_FLAGS)) == 0) {
    return anyffi_py_call_immediate(target, args, count);
  }
  if (count > 1) return anyffi_py_call_short(target, args, count);
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
  ((AnyffiFunctionWrapper*)function)->vectorcall = anyffi_py_vectorcall;
  return PyVectorcall_Call(function, args, kwargs);
}

#endif  // ANYFFI_CALL_H_
