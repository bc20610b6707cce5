/// Calls with arguments by position; each path is for some kinds of arguments.
///
/// Written in C so that a call with numbers saves no register and every path ends in a tail call. Cython's functions,
/// which keep tracebacks, took a third more instructions for a whole call with one number.

#ifndef ANYFFI_CALL_POSITIONAL_H_
#define ANYFFI_CALL_POSITIONAL_H_

#include "overloads.h"

/// Calls with any arguments, for which the caller has an array.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_with(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count,
                                                   AnyffiValue* values) {
  int is_packed;
  Py_ssize_t packed = anyffi_py_pack_arguments(target, args, count, values, &is_packed);
  PyObject* result = is_packed ? anyffi_py_call_named_members(target, values, count, args, NULL)
                               : anyffi_py_fail_pack(target, args, NULL, count);
  return anyffi_py_finish(result, values, packed);
}

/// Returns an array for more than ANYFFI_MAX_SHORT arguments, to be freed by `anyffi_free`; NULL with an exception.
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

/// Calls with one argument, which is not plain. Without a loop fewer registers need to be saved here and in the
/// functions below, which is a tenth of the time of a call with a short tuple.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_object(AnyffiFunction* target, PyObject* const* args) {
  AnyffiValue value;
  if (anyffi_py_pack_object(args[0], &value) < 0) return anyffi_py_fail_pack(target, args, NULL, 1);
  return anyffi_py_finish(anyffi_py_call_given(target, &value, 1, args, NULL), &value, 1);
}

/// Calls an overloaded function with at most ANYFFI_MAX_SHORT arguments, of which one is probably a container.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_overloads(AnyffiFunction* target, PyObject* const* args,
                                                       Py_ssize_t count) {
  PyObject* made;
  if (anyffi_py_call_choosing(target, args, count, &made)) return made;
  return count == 1 ? anyffi_py_call_object(target, args) : anyffi_py_call_short(target, args, count);
}

/// Calls with two to ANYFFI_MAX_SHORT arguments, of which one is probably a container or another object.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_objects(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  return anyffi_py_is_overloaded(target) ? anyffi_py_call_overloads(target, args, count)
                                         : anyffi_py_call_short(target, args, count);
}

/// Calls with one argument, which is probably text.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_text(AnyffiFunction* target, PyObject* const* args) {
  AnyffiValue value;
  if (!anyffi_py_pack_text(args[0], Py_TYPE(args[0]), &value)) return anyffi_py_call_object(target, args);
  if (__builtin_expect(anyffi_py_is_wide_text(&value), 0)) anyffi_py_offer_utf8(target->info, 0, args[0], &value);
  return anyffi_py_call_packed(target, &value, 1);
}

/// Calls with at most ANYFFI_MAX_SHORT arguments, which are probably immediate or short text.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_plain(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (anyffi_py_pack_immediate(args[i], Py_TYPE(args[i]), &values[i])) continue;
    if (!anyffi_py_pack_short_text(args[i], &values[i])) return anyffi_py_call_short(target, args, count);
  }
  return anyffi_py_call_packed(target, values, count);
}

/// Type flags of str and bytes, and of objects that are neither text nor immediate, with their subclasses.
#define ANYFFI_TEXT_FLAGS (Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS)
#define ANYFFI_OBJECT_FLAGS (ANYFFI_CONTAINER_FLAGS | Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_HAVE_VECTORCALL)

/// Calls with at most ANYFFI_MAX_SHORT arguments, which are probably immediate. These need few registers as well, and
/// nothing has to be released.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_immediate(AnyffiFunction* target, PyObject* const* args,
                                                       Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!anyffi_py_pack_immediate(args[i], Py_TYPE(args[i]), &values[i])) {
      if (count == 1) {
        if (!PyLong_CheckExact(args[0]) || !anyffi_py_pack_unsigned_argument(target, 0, args[0], values)) {
          return anyffi_py_call_object(target, args);
        }
        return anyffi_py_call_packed(target, values, 1);
      }
      return Py_TYPE(args[i])->tp_flags & ANYFFI_TEXT_FLAGS ? anyffi_py_call_plain(target, args, count)
                                                            : anyffi_py_call_objects(target, args, count);
    }
  }
  return anyffi_py_call_packed(target, values, count);
}

/// Calls with one to ANYFFI_MAX_SHORT arguments, of which the first is probably a callable.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_callable(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  if (!anyffi_py_is_callable_type(Py_TYPE(args[0]))) {
    return count == 1 ? anyffi_py_call_object(target, args) : anyffi_py_call_short(target, args, count);
  }
  if (anyffi_py_pack_callable(args[0], &values[0]) < 0) return NULL;
  Py_ssize_t packed = 1;
  int has_run_code = 0;
  for (; packed < count; ++packed) {
    if (anyffi_py_pack_plain(args[packed], &values[packed])) {
      // No users' code ran.
    } else if (anyffi_py_pack_rare_argument(target, packed, args[packed], &values[packed]) < 0) {
      break;
    } else {
      has_run_code |= anyffi_py_may_run_code(args[packed], &values[packed]);
    }
    if (__builtin_expect(anyffi_py_is_recorded(&values[packed]), 0)) {
      anyffi_py_record_borrowed(&values[packed], args[packed]);
    }
  }
  int is_packed = packed == count && (!has_run_code || anyffi_py_renew_objects(args, NULL, count, values));
  PyObject* result = is_packed ? anyffi_py_call_given(target, values, count, args, NULL)
                               : anyffi_py_fail_pack(target, args, NULL, count);
  return anyffi_py_finish(result, values, packed);
}

/// Makes a short call by the fastest path for its first argument, as a tail call.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_dispatch(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  unsigned long class_flags = count > 0 ? Py_TYPE(args[0])->tp_flags : 0;
  if ((class_flags & (ANYFFI_TEXT_FLAGS | ANYFFI_OBJECT_FLAGS)) == 0) {
    return anyffi_py_call_immediate(target, args, count);
  }
  if (class_flags & Py_TPFLAGS_HAVE_VECTORCALL) return anyffi_py_call_callable(target, args, count);
  if (count > 1) {
    return class_flags & ANYFFI_TEXT_FLAGS ? anyffi_py_call_plain(target, args, count)
                                           : anyffi_py_call_objects(target, args, count);
  }
  if ((class_flags & ANYFFI_CONTAINER_FLAGS) && anyffi_py_is_overloaded(target)) {
    return anyffi_py_call_overloads(target, args, 1);
  }
  return class_flags & ANYFFI_TEXT_FLAGS ? anyffi_py_call_text(target, args) : anyffi_py_call_object(target, args);
}

/// Calls with arguments by position; the caller keeps them and the function alive.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  return count > ANYFFI_MAX_SHORT ? anyffi_py_call_long(target, args, count) : anyffi_py_dispatch(target, args, count);
}

#endif  // ANYFFI_CALL_POSITIONAL_H_
