/// The call path: arguments into an array of values, the function, its result.
///
/// In C, where a call with numbers saves no register and every path ends in a jump. Cython's functions, which keep
/// tracebacks, took a third more instructions for a whole call with one number.

#ifndef ANYFFI_CALL_H_
#define ANYFFI_CALL_H_

#include <string.h>

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

/// Calls with packed arguments and returns the Python value of the result; NULL with an exception.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_packed(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count) {
  AnyffiValue result = anyffi_make_none();
  if (__builtin_expect(target->call(target->self, values, (int32_t)count, &result) != 0, 0)) {
    anyffi_py_raise_taken();
    return NULL;
  }
  // The two most common ones, without a call.
  if (result.type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (result.type_code == ANYFFI_INT) return anyffi_py_new_int(result.as_int);
  return anyffi_py_unpack_result(&result);
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

/// Puts the values of a call with keywords into the order of the parameters.
///
/// Most calls name them in that order: `*args` stays. Otherwise it becomes `places`, of ANYFFI_MAX_SHORT, filled with
/// borrowed references, where an omitted argument is `missing`. Without `places` that fails.
///
/// @return the number of arguments; -1 where comparing the addresses of names is not enough: the parameters are not
/// known yet, a name is not interned, or the call is wrong.
ANYFFI_ALWAYS_INLINE Py_ssize_t anyffi_py_place_keywords(PyObject* function, PyObject* const** args, Py_ssize_t count,
                                                         PyObject* names, PyObject** places) {
  PyObject* parameters = ((AnyffiFunctionWrapper*)function)->parameters;
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  // A function without information has no parameters.
  if (parameters == NULL || total == 0 || total > PyTuple_GET_SIZE(parameters)) return -1;
  Py_ssize_t num_required = ((AnyffiFunction*)((AnyffiWrapper*)function)->object)->info->num_required;
  if (total < num_required) return -1;
  Py_ssize_t start = count;
  while (start < total && PyTuple_GET_ITEM(parameters, start) == PyTuple_GET_ITEM(names, start - count)) ++start;
  if (start == total) return total;
  Py_ssize_t num_parameters = PyTuple_GET_SIZE(parameters), filled = start;
  if (places == NULL || num_parameters > ANYFFI_MAX_SHORT) return -1;
  for (Py_ssize_t i = 0; i < num_parameters; ++i) places[i] = i < start ? (*args)[i] : NULL;
  for (Py_ssize_t i = start; i < total; ++i) {
    Py_ssize_t index = start;
    while (index < num_parameters && PyTuple_GET_ITEM(parameters, index) != PyTuple_GET_ITEM(names, i - count)) {
      ++index;
    }
    if (index == num_parameters || places[index] != NULL) return -1;
    places[index] = (*args)[i];
    if (index >= filled) filled = index + 1;
  }
  for (Py_ssize_t i = start; i < filled; ++i) {
    if (places[i] != NULL) continue;
    if (i < num_required) return -1;
    places[i] = anyffi_state.missing;
  }
  *args = places;
  return filled;
}

/// Calls with keywords that are not in order, or whose parameters are not known yet, or with many arguments; or calls
/// something that has a `__call__` or a type of its own.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_slow(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                  PyObject* names) {
  if (Py_TYPE(function)->tp_call != anyffi_py_call_tuple) return anyffi_py_call_slot(function, args, count, names);
  AnyffiFunction* target = anyffi_py_unwrap_function(function);
  if (target == NULL) return NULL;
  if (names == NULL || PyTuple_GET_SIZE(names) == 0) return anyffi_py_call(target, args, count);
  if (((AnyffiFunctionWrapper*)function)->parameters == NULL && anyffi_py_learn_parameters(function) < 0) return NULL;
  PyObject* places[ANYFFI_MAX_SHORT];
  PyObject* const* placed = args;
  Py_ssize_t total = anyffi_py_place_keywords(function, &placed, count, names, places);
  if (total < 0) return anyffi_py_call_bound(function, args, count, names);
  return anyffi_py_call(target, placed, total);
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
  if (anyffi_py_is_short(function, total) && anyffi_py_place_keywords(function, &args, count, names, NULL) == total) {
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
