/// The parts of a call: arguments into an array of values, the function, its result.

#ifndef ANYFFI_CALL_H_
#define ANYFFI_CALL_H_

#include <string.h>

#include "locate.h"
#include "native.h"
#include "pack.h"
#include "refused.h"
#include "wrapper.h"

/// Up to this many arguments are packed on the stack.
#define ANYFFI_MAX_SHORT 8

/// Releases an object that packing created, with the word in which it may refer to a Python object. If the callee did
/// not keep it, the Python object is released here, because the runtime would take the GIL again.
static inline void anyffi_py_release_holder(AnyffiObject* holder, void** place) {
  PyObject* handle = (PyObject*)*place;
  if (handle == NULL || !anyffi_has_one_reference(holder)) {
    anyffi_release(holder);
    return;
  }
  *place = NULL;
  if (holder->type_code == ANYFFI_ERROR) {
    anyffi_release(holder);
  } else {
    // Nothing else is in such an object.
    holder->strong_count = 0;
    holder->deleter(holder, ANYFFI_DELETE_MEMORY);
  }
  Py_DECREF(handle);
}

/// Releases the object that packing created for an argument, unless the callee stole it.
static inline void anyffi_py_release_made(const AnyffiValue* value) {
  // Only objects have flags; for other types the word holds text.
  if (value->type_code <= 0 || value->aux == 0) return;
  AnyffiObject* object = value->as_object;
  switch (value->type_code) {
    case ANYFFI_FUNCTION:
      anyffi_py_release_holder(object, &((AnyffiFunction*)object)->handle);
      break;
    case ANYFFI_PY_OBJECT:
      anyffi_py_release_holder(object, &((AnyffiPyObject*)object)->handle);
      break;
    case ANYFFI_ERROR:
      anyffi_py_release_holder(object, &((AnyffiError*)object)->handle);
      break;
    default:
      anyffi_release(object);
  }
}

/// The last exception of a call that refused its arguments; not owned, only compared.
static __thread const PyObject* anyffi_py_refusal ANYFFI_STATIC_TLS;

/// Raises the error of a call.
ANYFFI_NEVER_INLINE void anyffi_py_raise_failed(int status) {
  anyffi_py_raise_taken();
  // An error of a callback that was refused is not a refusal of this call.
  anyffi_py_refusal = NULL;
  if (status != ANYFFI_REFUSED) return;
  AnyffiSaved saved = anyffi_py_save_exception();
  anyffi_py_refusal = saved.exception;
  anyffi_py_restore_exception(saved);
}

/// Returns the Python value of the result of a call, or NULL with the exception that the call raised.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_take_result(int status, AnyffiValue* result) {
  if (__builtin_expect(status != 0, 0)) {
    anyffi_py_raise_failed(status);
    return NULL;
  }
  // The two most common types, without a function call.
  if (result->type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (result->type_code == ANYFFI_INT) return anyffi_py_new_int(result->as_int);
  return anyffi_py_unpack_result(result);
}

#ifdef Py_GIL_DISABLED
/// Runs a function within a section.
ANYFFI_NEVER_INLINE int anyffi_py_enter_within(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                               AnyffiValue* result) {
  ANYFFI_BEGIN_SECTION
  int status = target->call(target->self, values, (int32_t)count, result);
  ANYFFI_END_SECTION
  return status;
}
#endif

/// Runs a function, within a section if an argument may be a container that other threads can reach.
ANYFFI_ALWAYS_INLINE int anyffi_py_enter_function(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                                  AnyffiValue* result) {
#ifdef Py_GIL_DISABLED
  if (anyffi_reach_containers(values, count)) return anyffi_py_enter_within(target, values, count, result);
#endif
  return target->call(target->self, values, (int32_t)count, result);
}

/// Raises the error of a call; NULL.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_fail_call(int status, PyObject* const* args, const int32_t* places,
                                                  Py_ssize_t count) {
  anyffi_py_raise_failed(status);
  if (status != ANYFFI_REFUSED) return NULL;
  AnyffiSaved saved = anyffi_py_save_exception();
  int is_complete = saved.exception == NULL || anyffi_py_is_complete(saved.exception, args, places, count);
  anyffi_py_restore_exception(saved);
  if (!is_complete) anyffi_py_complete(anyffi_state.explain, NULL, args, places, count);
  return NULL;
}

/// Adds the place of the argument that could not be packed to the message of the exception that is set; NULL.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_fail_pack(AnyffiFunction* target, PyObject* const* args, const int32_t* places,
                                                  Py_ssize_t count) {
  PyObject* function = anyffi_py_get_wrapper(&target->header);
  if (function != NULL) anyffi_py_complete_made(anyffi_state.locate, function, args, places, count);
  Py_XDECREF(function);
  return NULL;
}

/// The initial value of a result, whose flag permits a borrowed object, which saves two atomic instructions: the caller
/// of a Python function keeps its arguments alive, and the GIL keeps the wrappers of other objects alive.
ANYFFI_ALWAYS_INLINE AnyffiValue anyffi_py_make_result(void) {
#ifdef Py_GIL_DISABLED
  return anyffi_make_none();
#else
  return anyffi_make_value((uint64_t)ANYFFI_BORROWED << 32, 0);
#endif
}

/// Calls with packed arguments and returns the Python value of the result; NULL with an exception. Only for arguments
/// whose types Python and the runtime name alike: keeping `args` for the messages would cost instructions.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_packed(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count) {
  AnyffiValue result = anyffi_py_make_result();
  int status = target->call(target->self, values, (int32_t)count, &result);
  return anyffi_py_take_result(status, &result);
}

/// Stores in a value the enumeration of which an int is a member; 0, or -1 with an exception.
ANYFFI_NEVER_INLINE int anyffi_py_name_enumeration(PyObject* x, AnyffiValue* value) {
  if (value->type_code != ANYFFI_INT || !PyLong_Check(x) || PyLong_CheckExact(x)) return 0;
  AnyffiKnownClass copy;
  const AnyffiKnownClass* known = anyffi_py_known_class(Py_TYPE(x), &copy);
  int is_remembered = known != NULL && known->enumeration != 0;
  int64_t code = is_remembered ? known->enumeration : anyffi_py_look_up_enumeration(Py_TYPE(x));
  if (code > 0) value->aux = (uint32_t)code;
  return code < 0 ? -1 : 0;
}

static inline int anyffi_py_is_overloaded(const AnyffiFunction* target) {
  return target->info != NULL && (target->info->flags & ANYFFI_OVERLOADED) != 0;
}

/// A bit for each parameter that distinguishes members of an enumeration from numbers; for a function with overloads
/// all bits.
static inline uint64_t anyffi_py_member_params(const AnyffiFunction* target) {
  const AnyffiFunctionInfo* info = target->info;
  if (anyffi_py_is_overloaded(target)) return ~(uint64_t)0;
  if (info == NULL) return 0;
  return ANYFFI_HAS(AnyffiFunctionInfo, info, member_params) ? info->member_params : 0;
}

/// The same for each argument of such a parameter; `args` are those passed, at `places` unless that is NULL.
ANYFFI_NEVER_INLINE int anyffi_py_name_enumerations(const AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                                    PyObject* const* args, const int32_t* places) {
  uint64_t params = anyffi_py_member_params(target);
  int is_overloaded = anyffi_py_is_overloaded(target);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (places != NULL && places[i] < 0) continue;
    if (!is_overloaded && (i >= 64 || (params >> i & 1) == 0)) continue;
    if (anyffi_py_name_enumeration(args[places == NULL ? i : places[i]], &values[i]) < 0) return -1;
  }
  return 0;
}

/// The same, if members were packed at all. Only this check is inlined into the calls.
ANYFFI_ALWAYS_INLINE int anyffi_py_name_members(const AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                                PyObject* const* args, const int32_t* places) {
  if (__builtin_expect(!anyffi_state.has_packed_members, 1) || anyffi_py_member_params(target) == 0) return 0;
  return anyffi_py_name_enumerations(target, values, count, args, places);
}

/// As `anyffi_py_call_packed`, for any arguments; `args` are those passed, at `places` unless that is NULL.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_named_members(AnyffiFunction* target, AnyffiValue* values,
                                                            Py_ssize_t count, PyObject* const* args,
                                                            const int32_t* places) {
  AnyffiValue result = anyffi_py_make_result();
  int status = anyffi_py_enter_function(target, values, count, &result);
  if (__builtin_expect(status != 0, 0)) return anyffi_py_fail_call(status, args, places, count);
  return anyffi_py_take_result(0, &result);
}

/// The same if members of enumerations are not marked yet.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_given(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                                    PyObject* const* args, const int32_t* places) {
  if (anyffi_py_name_members(target, values, count, args, places) < 0) return NULL;
  return anyffi_py_call_named_members(target, values, count, args, places);
}

/// Releases the arguments of a call, and ends the records of borrowed ones. Returns the result, which must be unpacked
/// already, because it may borrow from them.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_finish(PyObject* result, const AnyffiValue* values, Py_ssize_t count) {
  AnyffiSaved saved;
  // Releasing an object may run code that must not see the exception.
  if (__builtin_expect(result == NULL, 0)) saved = anyffi_py_save_exception();
  if (__builtin_expect(anyffi_py_borrowed != NULL, 0)) anyffi_py_forget_borrowed(values, count);
  for (Py_ssize_t i = 0; i < count; ++i) anyffi_py_release_made(&values[i]);
  if (__builtin_expect(result == NULL, 0)) anyffi_py_restore_exception(saved);
  return result;
}

/// Packs text again, as UTF-8, if the parameter wants that: Python caches it in the str, so that only the first call
/// encodes. For a lone surrogate the callee raises the error, when it reaches this argument.
ANYFFI_NEVER_INLINE void anyffi_py_offer_utf8(const AnyffiFunctionInfo* info, Py_ssize_t index, PyObject* text,
                                              AnyffiValue* out) {
  if (info == NULL || !ANYFFI_HAS(AnyffiFunctionInfo, info, utf8_params) || index >= 64) return;
  if ((info->utf8_params >> index & 1) == 0 || anyffi_state.is_check_mode) return;
  Py_ssize_t size;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8 == NULL) {
    PyErr_Clear();
  } else if (size <= ANYFFI_MAX_BORROWED) {
    *out = anyffi_make_utf8(utf8, (uint32_t)size);
  }
}

/// 1 for a view of text that is not ASCII, and for such text that is inline.
ANYFFI_ALWAYS_INLINE int anyffi_py_is_wide_text(const AnyffiValue* value) {
  if (value->type_code == ANYFFI_STR) return (uint64_t)value->as_int >> 60 != ANYFFI_ASCII;
  return value->type_code == ANYFFI_STR_VIEW && (value->aux & 3) != ANYFFI_ASCII;
}

/// Handles text that is not short ASCII: offers UTF-8, and records what callbacks may receive.
ANYFFI_NEVER_INLINE void anyffi_py_mind_view(const AnyffiFunctionInfo* info, Py_ssize_t index, PyObject* x,
                                             AnyffiValue* out) {
  if (anyffi_py_is_wide_text(out)) anyffi_py_offer_utf8(info, index, x, out);
  if (anyffi_py_is_recorded(out)) anyffi_py_record_borrowed(out, x);
}

/// As `anyffi_py_pack_plain`, for argument `index` of a function whose arguments `anyffi_py_finish` releases.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_plain_argument(AnyffiFunction* target, Py_ssize_t index, PyObject* x,
                                                       AnyffiValue* out) {
  if (!anyffi_py_pack_plain(x, out)) return 0;
  if (__builtin_expect(anyffi_py_is_wide_text(out) || anyffi_py_is_recorded(out), 0)) {
    anyffi_py_mind_view(target->info, index, x, out);
  }
  return 1;
}

/// Reads the objects of wrappers again, after conversions of other arguments ran users' code, which may have given an
/// object to C++. `args` are the arguments, at `places` unless that is NULL. 1, or 0 with an exception.
ANYFFI_NEVER_INLINE int anyffi_py_renew_objects(PyObject* const* args, const int32_t* places, Py_ssize_t count,
                                                AnyffiValue* values) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (values[i].type_code <= 0 || (values[i].aux & ANYFFI_MOVABLE)) continue;
    PyObject* x = args[places == NULL ? i : places[i]];
    if (!anyffi_py_is_wrapper(x) || ((AnyffiWrapper*)x)->object == values[i].as_object) continue;
    AnyffiObject* object = anyffi_py_unwrap(x);
    if (object == NULL) return 0;
    values[i] = anyffi_make_object(object);
  }
  return 1;
}

/// 0 for an argument that was packed without running users' code: a wrapper, a function, or an array of numbers.
static inline int anyffi_py_may_run_code(PyObject* x, const AnyffiValue* packed) {
  PyTypeObject* cls = Py_TYPE(x);
  if (cls == anyffi_state.ndarray) return packed->type_code != ANYFFI_TENSOR;
  if (anyffi_py_is_callable_type(cls)) return 0;
  // This includes classes that derive from one of C++.
  return !anyffi_py_is_wrapper_class(cls) && !(cls->tp_base != NULL && anyffi_py_is_wrapper_class(cls->tp_base));
}

/// Packs an int above INT64_MAX without a BigInt, if the parameter accepts that; nothing has to be released. 0 for
/// everything else.
ANYFFI_NEVER_INLINE int anyffi_py_pack_unsigned_argument(const AnyffiFunction* target, Py_ssize_t index, PyObject* x,
                                                         AnyffiValue* out) {
#if ANYFFI_KNOWN_LAYOUT
  const AnyffiFunctionInfo* info = target->info;
  if (info == NULL || !ANYFFI_HAS(AnyffiFunctionInfo, info, unsigned_params) || index >= 64) return 0;
  if ((info->unsigned_params >> index & 1) == 0 || anyffi_state.is_check_mode) return 0;
  const digit* digits;
  int is_negative;
  uint64_t words[2];
  Py_ssize_t count = anyffi_py_read_digits(x, &digits, &is_negative);
  if (is_negative || count > 64 / PyLong_SHIFT + 1 || anyffi_py_words_of(digits, count, words) != 1) return 0;
  *out = anyffi_make_int((int64_t)words[0]);
  out->aux = ANYFFI_UNSIGNED;
  return 1;
#else
  (void)target, (void)index, (void)x, (void)out;
  return 0;
#endif
}

/// As `anyffi_py_pack_rare_object`, for argument `index` of a function.
ANYFFI_NEVER_INLINE int anyffi_py_pack_rare_argument(const AnyffiFunction* target, Py_ssize_t index, PyObject* x,
                                                     AnyffiValue* out) {
  if (PyLong_CheckExact(x) && anyffi_py_pack_unsigned_argument(target, index, x, out)) return 0;
  return anyffi_py_pack_object(x, out);
}

/// Packs a small int of a known class, which is not int itself, with its enumeration if the parameter distinguishes
/// members from numbers. Runs no users' code, and nothing has to be released. 0 for everything else.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_member(const AnyffiFunction* target, Py_ssize_t index, PyObject* x,
                                               AnyffiValue* out) {
  AnyffiKnownClass copy;
  int64_t number;
  if (!PyLong_Check(x)) return 0;
  const AnyffiKnownClass* known = anyffi_py_known_class(Py_TYPE(x), &copy);
  if (known == NULL || known->decision != ANYFFI_DECISION_INT || known->depends) return 0;
  if (!anyffi_py_read_short_int(x, &number)) return 0;
  *out = anyffi_make_int(number);
  uint64_t params = anyffi_py_member_params(target);
  if (params == 0 || (!anyffi_py_is_overloaded(target) && (index >= 64 || (params >> index & 1) == 0))) return 1;
  // C++ may have described the class since it was cached.
  if (known->enumeration == 0) return 0;
  out->aux = known->enumeration;
  return 1;
}

/// Packs arguments, with their enumerations; returns how many have to be released, which are fewer if one cannot be
/// packed. `is_packed`: 0 with an exception.
ANYFFI_ALWAYS_INLINE Py_ssize_t anyffi_py_pack_arguments(AnyffiFunction* target, PyObject* const* args,
                                                         Py_ssize_t count, AnyffiValue* values, int* is_packed) {
  // Also 1 for an int of a subclass whose enumeration is not marked yet.
  int has_run_code = 0;
  Py_ssize_t packed = 0;
  for (; packed < count; ++packed) {
    if (anyffi_py_pack_plain_argument(target, packed, args[packed], &values[packed])) continue;
    if (PyLong_CheckExact(args[packed])) {
      if (anyffi_py_pack_unsigned_argument(target, packed, args[packed], &values[packed])) continue;
    } else if (anyffi_py_pack_member(target, packed, args[packed], &values[packed])) {
      continue;
    }
    if (anyffi_py_pack_object(args[packed], &values[packed]) < 0) break;
    if (anyffi_py_may_run_code(args[packed], &values[packed])) has_run_code = 1;
  }
  *is_packed = packed == count && (!has_run_code || (anyffi_py_renew_objects(args, NULL, count, values) &&
                                                     anyffi_py_name_members(target, values, count, args, NULL) == 0));
  return packed;
}

/// Packs exact ASCII text or bytes that need no record: nothing to release. 0 for everything else.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_short_text(PyObject* x, AnyffiValue* out) {
  return anyffi_py_pack_text(x, Py_TYPE(x), out) && !anyffi_py_is_wide_text(out) && !anyffi_py_is_recorded(out);
}

/// Packs an argument that is immediate, or an object whose class was registered at run time: nothing to release.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_operand(PyObject* x, AnyffiValue* out) {
  if (anyffi_py_pack_immediate(x, Py_TYPE(x), out)) return 1;
  if (!anyffi_py_is_wrapper(x)) return 0;
  AnyffiObject* object = ((AnyffiWrapper*)x)->object;
  if (object == NULL || object->type_code < ANYFFI_FIRST_DYNAMIC_TYPE) return 0;
  *out = anyffi_make_object(object);
  return 1;
}

#endif  // ANYFFI_CALL_H_
