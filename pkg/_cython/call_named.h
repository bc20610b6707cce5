/// Calls with keywords.

#ifndef ANYFFI_CALL_NAMED_H_
#define ANYFFI_CALL_NAMED_H_

#include "call_items.h"
#include "keywords.h"
#include "shell.h"

/// As `anyffi_py_call_bound`, but without its frames in the traceback.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_bind_slowly(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                    PyObject* names) {
  PyObject* result = anyffi_py_call_bound(function, args, count, names);
  if (result == NULL) anyffi_py_hide_frames(1);
  return result;
}

/// Raises the error of a call whose first wrong keyword is unknown, without reading all metadata; else returns 0. The
/// rules handle functions with unnamed parameters.
static int anyffi_py_refuse_unknown(const AnyffiFunctionInfo* info, PyObject* parameters, Py_ssize_t count,
                                    PyObject* names) {
  Py_ssize_t size = PyTuple_GET_SIZE(parameters);
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (PyTuple_GET_ITEM(parameters, i) == Py_None) return 0;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (!PyUnicode_CheckExact(name)) return 0;
    Py_ssize_t found = anyffi_py_find_parameter(parameters, count < size ? count : size, name);
    if (found >= 0 && found < count) return 0;
    if (found < 0) {
      const char* text = info->name == NULL ? "function" : info->name;
      PyObject* called = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
      if (called == NULL) return -1;
      PyObject* made = PyObject_CallFunctionObjArgs(anyffi_state.unexpected_keyword, called, name, parameters, NULL);
      Py_DECREF(called);
      return anyffi_py_raise(made);
    }
  }
  return 0;
}

/// Raises the error of a call whose keywords cannot be placed.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_fail_place(PyObject* function, const AnyffiFunctionInfo* info,
                                                   PyObject* const* args, Py_ssize_t count, PyObject* names) {
  PyObject* parameters = ((AnyffiFunctionWrapper*)function)->parameters;
  if (PyTuple_GET_SIZE(parameters) > 0 && anyffi_py_refuse_unknown(info, parameters, count, names) < 0) return NULL;
  return anyffi_py_bind_slowly(function, args, count, names);
}

/// Calls with arguments at the places of parameters; `values` has room for all of them.
static PyObject* anyffi_py_call_placed(AnyffiFunction* target, PyObject* const* args, const int32_t* places,
                                       Py_ssize_t count, AnyffiValue* values) {
  if (anyffi_py_has_items(target)) return anyffi_py_call_items(target, args, places, count);
  Py_ssize_t packed = 0;
  for (; packed < count; ++packed) {
    if (places[packed] < 0) {
      values[packed] = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
    } else if (!anyffi_py_pack_plain_argument(target, packed, args[places[packed]], &values[packed]) &&
               anyffi_py_pack_rare_argument(target, packed, args[places[packed]], &values[packed]) < 0) {
      break;
    }
  }
  PyObject* result = packed < count ? anyffi_py_fail_pack(target, args, places, count)
                                    : anyffi_py_call_given(target, values, count, args, places);
  return anyffi_py_finish(result, values, packed);
}

/// Calls a function without overloads with keywords in any order.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_unordered(PyObject* function, AnyffiFunction* target,
                                                       PyObject* const* args, Py_ssize_t count, PyObject* names) {
  int32_t few_places[ANYFFI_FEW_NAMED];
  AnyffiValue few_values[ANYFFI_FEW_NAMED];
  PyObject* parameters = ((AnyffiFunctionWrapper*)function)->parameters;
  Py_ssize_t capacity = PyTuple_GET_SIZE(parameters);
  // Keyword-only parameters are followed by one more place.
  if (capacity < ANYFFI_FEW_NAMED) {
    Py_ssize_t filled = anyffi_py_place(parameters, target->info, count, names, few_places);
    if (filled < 0) return anyffi_py_fail_place(function, target->info, args, count, names);
    return anyffi_py_call_placed(target, args, few_places, filled, few_values);
  }
  AnyffiValue* values = anyffi_py_allocate(2 * ++capacity);
  if (values == NULL) return NULL;
  int32_t* places = (int32_t*)(values + capacity);
  Py_ssize_t filled = anyffi_py_place(parameters, target->info, count, names, places);
  PyObject* result = filled < 0 ? anyffi_py_fail_place(function, target->info, args, count, names)
                                : anyffi_py_call_placed(target, args, places, filled, values);
  anyffi_free(values);
  return result;
}

/// As `anyffi_py_call_some_overload`, if packing may call users' code, for many arguments, or if the runtime has to
/// choose the overload.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_overloaded_slow(PyObject* function, AnyffiFunction* target,
                                                             AnyffiNamed* named, PyObject* const* args) {
  Py_ssize_t count = named->count + PyTuple_GET_SIZE(named->names), capacity = count, packed = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(named->parameters); ++i) {
    Py_ssize_t size = PyTuple_GET_SIZE(PyTuple_GET_ITEM(named->parameters, i));
    if (size >= capacity) capacity = size + 1;
  }
  AnyffiValue* values = anyffi_py_allocate(2 * capacity);
  if (values == NULL) return NULL;
  PyObject* made = NULL;
  if (anyffi_py_find_overload(target, named, (int32_t*)(values + capacity)) == NULL) {
    // Bind the keywords before users' code runs.
    made = anyffi_py_bind_slowly(function, args, named->count, named->names);
  } else {
    PyObject* parameters = named->parameters;
    Py_INCREF(parameters);
    while (packed < count && anyffi_py_pack(args[packed], &values[packed]) >= 0) ++packed;
    if (packed < count || !anyffi_py_renew_objects(args, NULL, count, values)) {
      made = anyffi_py_fail_pack(target, args, NULL, count);
    } else if (anyffi_py_name_enumerations(target, values, count, args, NULL) == 0) {
      AnyffiValue result = anyffi_make_none();
      AnyffiPlaceArgs place = anyffi_py_place_overload;
      ANYFFI_BEGIN_SECTION
      int status = anyffi_function_call_placed(target, place, named, values, (int32_t)count, &result);
      ANYFFI_END_SECTION
      // An operator's function may have the overloads of another function.
      if (status == ANYFFI_NO_MATCH) {
        made = anyffi_py_bind_slowly(function, args, named->count, named->names);
      } else {
        made = status != 0 ? anyffi_py_fail_call(status, args, NULL, count) : anyffi_py_take_result(0, &result);
      }
    }
    Py_DECREF(parameters);
  }
  made = anyffi_py_finish(made, values, packed);
  anyffi_free(values);
  return made;
}

/// Adds the names of keywords to the message of the exception that is set, if no overload takes the arguments.
ANYFFI_NEVER_INLINE void anyffi_py_name_keywords(PyObject* names) {
  AnyffiSaved saved = anyffi_py_save_exception();
  int is_refusal = saved.exception != NULL && saved.exception == anyffi_py_refusal;
  int is_type_error = is_refusal && (PyObject*)Py_TYPE(saved.exception) == PyExc_TypeError;
  anyffi_py_restore_exception(saved);
  if (is_type_error) anyffi_py_complete(anyffi_state.name_keywords, names, NULL, NULL, 0);
}

/// Calls a function with overloads by keyword: directly, if the keywords fit only one overload, or all of them in
/// order.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_some_overload(PyObject* function, AnyffiFunction* target,
                                                           PyObject* const* args, Py_ssize_t count, PyObject* names) {
  int32_t places[ANYFFI_FEW_NAMED];
  AnyffiValue values[ANYFFI_FEW_NAMED], result = anyffi_make_none();
  AnyffiNamed named = {((AnyffiFunctionWrapper*)function)->parameters, names, count, 0};
  if (anyffi_py_are_in_order_of_all(target, &named)) {
    return anyffi_py_call(target, args, count + PyTuple_GET_SIZE(names));
  }
  const AnyffiFunction* only = anyffi_py_find_only_overload(target, &named, places);
  if (only == NULL) return anyffi_py_call_overloaded_slow(function, target, &named, args);
  for (Py_ssize_t i = 0; i < named.filled; ++i) {
    if (places[i] < 0) {
      values[i] = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
    } else if (!anyffi_py_pack_plain(args[places[i]], &values[i])) {
      return anyffi_py_call_overloaded_slow(function, target, &named, args);
    }
  }
  int status = only->info->try_call(only->self, values, (int32_t)named.filled, &result);
  if (status <= 0) return anyffi_py_take_result(status, &result);
  if (status == ANYFFI_NO_MATCH_RAISED) {
    AnyffiValue error;
    anyffi_error_take_raised(&error);
    anyffi_value_drop(&error);
  }
  return anyffi_py_call_overloaded_slow(function, target, &named, args);
}

/// Calls with keywords that are out of order, whose parameters are not known yet, or with many arguments.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_named(PyObject* function, PyObject* const* args, Py_ssize_t count,
                                                    PyObject* names) {
  AnyffiFunction* target = anyffi_py_unwrap_function(function);
  if (target == NULL) return NULL;
  if (names == NULL || PyTuple_GET_SIZE(names) == 0) return anyffi_py_call(target, args, count);
  if (((AnyffiFunctionWrapper*)function)->parameters == NULL && anyffi_py_learn_parameters(function) < 0) return NULL;
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  if (!anyffi_py_has_keyword_only(target) && anyffi_py_are_in_order(function, count, names)) {
    return anyffi_py_call(target, args, total);
  }
  if (target->info == NULL) return anyffi_py_bind_slowly(function, args, count, names);
  if ((target->info->flags & ANYFFI_OVERLOADED) == 0) {
    return anyffi_py_call_unordered(function, target, args, count, names);
  }
  PyObject* result = anyffi_py_call_some_overload(function, target, args, count, names);
  if (__builtin_expect(result == NULL, 0)) anyffi_py_name_keywords(names);
  return result;
}

#endif  // ANYFFI_CALL_NAMED_H_
