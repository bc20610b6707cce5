/// Python values to 16 bytes: pack_direct.h first, then the functions below, which may run Python code.
///
/// `anyffi_py_pack` packs arguments, which it borrows where it can; `anyffi_py_pack_owned` packs elements and results.

#ifndef ANYFFI_PACK_H_
#define ANYFFI_PACK_H_

#include "dlpack_import.h"
#include "locate.h"
#include "ndarray.h"
#include "pack_containers.h"
#include "pack_direct.h"
#include "pack_inline.h"
#include "shell.h"
#include "wrapper.h"

static int anyffi_py_pack_container(PyObject* x, AnyffiValue* out, AnyffiNest* nest);

// ---- owned values ---------------------------------------------------------------------------------------------------

/// Packs a non-scalar that is not an element of a container and needs Python code; returns as `pack_outermost`.
static int anyffi_py_pack_carefully(PyObject* x, AnyffiValue* out) {
  AnyffiNest nest;
  AnyffiMemo memo;
  anyffi_py_open_nest(&nest, x, &memo);
  int packed = anyffi_py_pack_container(x, out, &nest);
  anyffi_py_forget_containers(&memo);
  return packed;
}

/// Packs a non-scalar that is not an element of a container; 1 if the object is new, 0 if it is shared.
static int anyffi_py_pack_outermost(PyObject* x, AnyffiValue* out) {
  int packed = anyffi_py_pack_directly(x, out);
  return packed != 0 ? packed : anyffi_py_pack_carefully(x, out);
}

/// Packs a non-scalar element of a container; 1 if the object is new and not reachable elsewhere, 0 if it is shared.
static int anyffi_py_pack_nested(PyObject* x, AnyffiValue* out, const AnyffiNest* outer) {
  AnyffiObject* found;
  int was_met = anyffi_py_find_met(x, outer, &found);
  if (was_met != 0) return was_met < 0 ? -1 : anyffi_py_share(found, out);
  AnyffiNest nest = {outer, x, outer->memo, outer->depth + 1};
  return anyffi_py_pack_container(x, out, &nest);
}

/// Packs a result; nothing is borrowed. 0, or -1 with an exception.
static inline int anyffi_py_pack_owned(PyObject* x, AnyffiValue* out) {
  int packed = anyffi_py_pack_scalar(x, out);
  if (packed != 0) return packed < 0 ? -1 : 0;
  if (anyffi_py_is_wrapper_class(Py_TYPE(x))) {
    AnyffiObject* found = anyffi_py_unwrap(x);
    return found == NULL ? -1 : anyffi_py_share(found, out);
  }
  return anyffi_py_pack_outermost(x, out) < 0 ? -1 : 0;
}

/// Packs the value that `__anyffi_value__` returned for the object of a nest; always 1, or -1 with an exception.
///
/// The value may be destroyed with the object that returned it, so the call owns a reference.
static int anyffi_py_pack_value_of(PyObject* value, AnyffiValue* out, AnyffiNest* nest) {
  AnyffiObject* found = NULL;
  int packed = anyffi_py_pack_scalar(value, out);
  if (packed == 0 && anyffi_py_is_wrapper(value)) {
    found = anyffi_py_unwrap(value);
    if (found == NULL) return -1;
  } else if (packed == 0 && nest->outer != NULL && anyffi_py_find_met(value, nest->outer, &found) < 0) {
    return -1;
  }
  if (packed == 0 && found != NULL) {
    packed = anyffi_py_share(found, out);
  } else if (packed == 0) {
    PyObject* holder = nest->container;
    nest->container = value;
    packed = anyffi_py_pack_container(value, out, nest);
    nest->container = holder;
  }
  if (packed < 0) return -1;
  // `__anyffi_value__` runs once per object: like a container, an object that occurs twice is packed as one.
  if (out->type_code > 0) {
    if (anyffi_py_remember(nest) < 0) return anyffi_py_discard(out);
    anyffi_py_leave(nest, out);
  }
  return 1;
}

/// Packs the capsule that the `__dlpack__` of `x` returned; 1, or -1 with an exception.
static int anyffi_py_pack_capsule(PyObject* x, PyObject* capsule, AnyffiValue* out) {
  int packed = anyffi_py_pack_handle(ANYFFI_TENSOR, capsule, out);
  if (packed < 0) {
    anyffi_py_complete(anyffi_state.blame, NULL, &x, NULL, 1);
  } else if (anyffi_py_learn_exporter(x) < 0) {
    return anyffi_py_discard(out);
  }
  return packed;
}

/// Packs the payload that `lower` of the rules returned for `x`.
static int anyffi_py_pack_payload(PyObject* x, int32_t code, PyObject* payload, AnyffiValue* out, AnyffiNest* nest) {
  AnyffiObject* found;
  int packed;
  switch (code) {
    case ANYFFI_ARRAY:
    case ANYFFI_LIST:
      if (anyffi_py_enter(nest) < 0) return -1;
      packed = anyffi_py_pack_sequence(payload, code, out, nest);
      return packed < 0 ? -1 : anyffi_py_leave(nest, out);
    case ANYFFI_DICT:
    case ANYFFI_MAP:
    case ANYFFI_SET:
    case ANYFFI_FROZEN_SET:
      if (anyffi_py_enter(nest) < 0) return -1;
      packed = anyffi_py_pack_pairs(payload, code, out, nest);
      return packed < 0 ? -1 : anyffi_py_leave(nest, out);
    case ANYFFI_OBJECT:
      found = anyffi_py_unwrap_other(payload);
      return found == NULL ? -1 : anyffi_py_share(found, out);
    case ANYFFI_FUNCTION:
    case ANYFFI_ERROR:
    case ANYFFI_PY_OBJECT:
      return anyffi_py_pack_handle(code, payload, out);
    case ANYFFI_TENSOR:
      return anyffi_py_pack_capsule(x, payload, out);
    case ANYFFI_TENSOR_VIEW:
      packed = anyffi_py_pack_described(code, payload, out) < 0 ? -1 : 1;
      if (packed > 0 && anyffi_state.ndarray == NULL && anyffi_py_learn_ndarray(x) < 0) return anyffi_py_discard(out);
      return packed;
    case ANYFFI_UNSET:
      return anyffi_py_pack_value_of(payload, out, nest);
    case ANYFFI_DATA_TYPE:
      if (anyffi_py_pack_described(code, payload, out) < 0) return -1;
      return anyffi_py_learn_data_type(x, out->as_data_type) < 0 ? -1 : 1;
    default:
      return anyffi_py_pack_described(code, payload, out) < 0 ? -1 : 1;
  }
}

/// Packs a value as the rules describe it; 1 if the object is new.
static int anyffi_py_pack_lowered(PyObject* x, AnyffiValue* out, AnyffiNest* nest) {
  PyObject* lowered = anyffi_py_need_stack() < 0 ? NULL : PyObject_CallOneArg(anyffi_py_reader_of(x), x);
  if (lowered == NULL) return -1;
  // Always a tuple of two: `lower` is our own function.
  int32_t code = (int32_t)PyLong_AsLong(PyTuple_GET_ITEM(lowered, 0));
  int packed = anyffi_py_pack_payload(x, code, PyTuple_GET_ITEM(lowered, 1), out, nest);
  Py_DECREF(lowered);
  return packed;
}

/// Packs an object with `__index__`, which is called; 0 if only the rules can read the int, or in check mode.
static int anyffi_py_pack_index(PyObject* x, AnyffiValue* out) {
  if (anyffi_state.is_check_mode || !ANYFFI_KNOWN_LAYOUT) return 0;
  if (anyffi_py_need_stack() < 0) return -1;
  PyObject* number = anyffi_py_call_index(x);
  if (number == NULL) {
    anyffi_py_hide_frames(0);
    return -1;
  }
  int packed = anyffi_py_pack_any_int(number, out);
  Py_DECREF(number);
  return packed;
}

/// Packs a class as a function, or a scalar class of NumPy as a data type; 0 if the rules have to do it.
static int anyffi_py_pack_class(PyObject* x, AnyffiValue* out) {
  if (!anyffi_py_is_known_function(x)) {
    if (anyffi_py_pack_data_type(x, out)) return 1;
    int is_function = anyffi_py_learn_class(x);
    if (is_function <= 0) return is_function;
  }
  return anyffi_py_pack_handle(ANYFFI_FUNCTION, x, out);
}

/// Packs the value that `__anyffi_value__` of an object returns; 0 in check mode.
static int anyffi_py_pack_converted(PyObject* x, AnyffiValue* out, AnyffiNest* nest) {
  if (anyffi_state.is_check_mode) return 0;
  PyObject* value = anyffi_py_need_stack() < 0 ? NULL : anyffi_py_call_value(x);
  if (value == NULL) return -1;
  int packed = anyffi_py_pack_value_of(value, out, nest);
  Py_DECREF(value);
  return packed;
}

/// Packs the tensor that the `__dlpack__` of an object returns; 0 in check mode.
static int anyffi_py_pack_exported(PyObject* x, AnyffiValue* out) {
  if (anyffi_state.is_check_mode) return 0;
  PyObject* capsule = anyffi_py_need_stack() < 0 ? NULL : anyffi_py_call_export(x);
  if (capsule == NULL) return -1;
  int packed = anyffi_py_pack_capsule(x, capsule, out);
  Py_DECREF(capsule);
  return packed;
}

/// Packs an instance of a class that is no exact builtin; 1 if the object is new, 0 if it is shared.
static int anyffi_py_pack_instance(PyObject* x, AnyffiValue* out, AnyffiNest* nest) {
  AnyffiObject* found;
  int packed = anyffi_py_import_dlpack(x, out);
  if (packed != 0) return packed;
  int decision = anyffi_py_find_decision(x);
  switch (decision) {
    case -1:
      return -1;
    case ANYFFI_DECISION_WRAPPER:
      found = anyffi_py_unwrap(x);
      return found == NULL ? -1 : anyffi_py_share(found, out);
    case ANYFFI_DECISION_NDARRAY:
      packed = anyffi_py_pack_ndarray(x, out);
      break;
    case ANYFFI_DECISION_INDEX:
      packed = anyffi_py_pack_index(x, out);
      break;
    case ANYFFI_DECISION_CLASS:
      packed = anyffi_py_pack_class(x, out);
      break;
    case ANYFFI_DECISION_FUNCTION:
      return anyffi_py_pack_handle(ANYFFI_FUNCTION, x, out);
    case ANYFFI_DECISION_ERROR:
      return anyffi_py_pack_handle(ANYFFI_ERROR, x, out);
    case ANYFFI_DECISION_PY_OBJECT:
      return anyffi_py_pack_handle(ANYFFI_PY_OBJECT, x, out);
    case ANYFFI_DECISION_VALUE:
      packed = anyffi_py_pack_converted(x, out, nest);
      break;
    case ANYFFI_DECISION_EXPORTED:
      packed = anyffi_py_pack_exported(x, out);
      break;
    default:
      packed = anyffi_py_pack_decided_scalar(x, (AnyffiDecision)decision, out);
  }
  if (packed == 0) packed = anyffi_py_pack_lowered(x, out, nest);
  if (packed < 0) anyffi_py_hide_frames(0);
  return packed;
}

/// Packs a value that is no scalar, as the container of `nest`; 1 if the object is new, 0 if it is shared.
static int anyffi_py_pack_container(PyObject* x, AnyffiValue* out, AnyffiNest* nest) {
  PyTypeObject* cls = Py_TYPE(x);
  int packed;
  if (cls == &PyTuple_Type) {
    if (anyffi_py_enter(nest) < 0) return -1;
    packed = anyffi_py_pack_sequence(x, ANYFFI_ARRAY, out, nest);
  } else if (cls == &PyList_Type) {
    if (anyffi_py_enter(nest) < 0) return -1;
    packed = anyffi_py_pack_sequence(x, ANYFFI_LIST, out, nest);
  } else if (cls == &PyDict_Type) {
    if (anyffi_py_enter(nest) < 0) return -1;
    packed = anyffi_py_pack_dict(x, out, nest);
  } else if (cls == &PySlice_Type) {
    return anyffi_py_pack_slice(x, out, nest);
  } else if (anyffi_py_is_callable_type(cls)) {
    return anyffi_py_pack_handle(ANYFFI_FUNCTION, x, out);
  } else {
    packed = cls == anyffi_state.ndarray ? anyffi_py_pack_ndarray(x, out) : 0;
    if (packed == 0 && cls == &PyLong_Type) packed = anyffi_py_pack_big_int(x, out);
    return packed == 0 ? anyffi_py_pack_instance(x, out, nest) : packed;
  }
  return packed < 0 ? -1 : anyffi_py_leave(nest, out);
}

// ---- arguments ------------------------------------------------------------------------------------------------------

/// Packs an argument of a class with a known decision, except for wrappers, as an owned value; 0 for others.
static int anyffi_py_pack_known(PyObject* x, AnyffiDecision decision, AnyffiValue* out) {
  switch (decision) {
    case ANYFFI_DECISION_UNKNOWN:
    case ANYFFI_DECISION_LOWERED:
      return 0;
    case ANYFFI_DECISION_NDARRAY:
      return anyffi_py_pack_ndarray(x, out);
    case ANYFFI_DECISION_INDEX:
      return anyffi_py_pack_index(x, out);
    case ANYFFI_DECISION_CLASS:
      return anyffi_py_pack_class(x, out);
    case ANYFFI_DECISION_FUNCTION:
      return anyffi_py_pack_handle(ANYFFI_FUNCTION, x, out);
    case ANYFFI_DECISION_ERROR:
      return anyffi_py_pack_handle(ANYFFI_ERROR, x, out);
    case ANYFFI_DECISION_PY_OBJECT:
      return anyffi_py_pack_handle(ANYFFI_PY_OBJECT, x, out);
    default:
      break;
  }
  return anyffi_py_pack_decided_scalar(x, decision, out);
}

/// Packs the object of a wrapper, borrowed; 0, or -1 with an exception.
static inline int anyffi_py_pack_wrapper(PyObject* x, AnyffiValue* out) {
  AnyffiObject* found = anyffi_py_unwrap(x);
  if (found == NULL) return -1;
  *out = anyffi_make_object(found);
  return 0;
}

/// The result of `anyffi_py_pack_object` after an owned value was packed: `made` is 1, or -1 with an exception.
static inline int anyffi_py_end_made(int made, AnyffiValue* out) {
  if (made < 0 || out->type_code <= 0) return made < 0 ? -1 : 0;
  out->aux = ANYFFI_MOVABLE;
  return 1;
}

/// Packs a value that the fast paths of `anyffi_py_pack_other` did not pack; returns the same as that.
ANYFFI_NEVER_INLINE int anyffi_py_pack_uncommon(PyObject* x, AnyffiValue* out) {
  // A scalar that gets here is text that cannot be borrowed.
  int made = anyffi_py_pack_scalar(x, out);
  if (made == 0) made = anyffi_py_pack_outermost(x, out);
  if (made != 0) return anyffi_py_end_made(made, out);
  // The object of a wrapper is borrowed, because `x` keeps it alive.
  anyffi_value_drop(out);
  return 0;
}

/// Not inlined, since it would take registers from all values of `anyffi_py_pack_other`.
ANYFFI_NEVER_INLINE AnyffiDecision anyffi_py_look_up_decision(PyTypeObject* cls) {
  return anyffi_py_known_decision(cls);
}

/// As `anyffi_py_pack_object`, for values that are neither plain nor lists or tuples.
ANYFFI_NEVER_INLINE int anyffi_py_pack_other(PyObject* x, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  int made = 0;
  if (cls == anyffi_state.ndarray) {
    made = anyffi_py_read_ndarray(x, out);
  } else if (anyffi_py_is_callable_type(cls)) {
    made = anyffi_py_pack_handle(ANYFFI_FUNCTION, x, out);
  } else if (anyffi_py_is_wrapper_class(cls)) {
    return anyffi_py_pack_wrapper(x, out);
  } else if (cls == &PySlice_Type) {
    made = anyffi_py_pack_inline_slice(x, out);
  } else if (cls == &PyLong_Type) {
    made = anyffi_py_pack_any_int(x, out);
  } else if (cls == &PyComplex_Type) {
    made = anyffi_py_pack_decided_scalar(x, ANYFFI_DECISION_COMPLEX, out);
  } else if (cls != &PyDict_Type) {
    if (x == anyffi_state.missing) {
      *out = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
      return 0;
    }
    AnyffiDecision decision = anyffi_py_look_up_decision(cls);
    if (decision == ANYFFI_DECISION_WRAPPER) return anyffi_py_pack_wrapper(x, out);
    // Classes that `anyffi_py_import_dlpack` knows never have another decision.
    made =
        decision <= ANYFFI_DECISION_LOWERED ? anyffi_py_import_dlpack(x, out) : anyffi_py_pack_known(x, decision, out);
  }
  return made == 0 ? anyffi_py_pack_uncommon(x, out) : anyffi_py_end_made(made, out);
}

static inline int anyffi_py_mark_movable(AnyffiValue* out) {
  out->aux = ANYFFI_MOVABLE;
  return 1;
}

/// Packs an object of a class of callables; returns as `anyffi_py_pack_object`.
static inline int anyffi_py_pack_callable(PyObject* x, AnyffiValue* out) {
  return anyffi_py_pack_handle(ANYFFI_FUNCTION, x, out) < 0 ? -1 : anyffi_py_mark_movable(out);
}

/// Packs the rest of a list or tuple, whose first elements were inline; returns as `anyffi_py_pack_object`.
ANYFFI_NEVER_INLINE int anyffi_py_pack_rest(PyObject* x, AnyffiValue* out) {
  int packed = anyffi_py_finish_directly(x, PySequence_Fast_ITEMS(x), Py_SIZE(x), out);
  if (packed == 0) packed = anyffi_py_pack_carefully(x, out);
  return packed < 0 ? -1 : anyffi_py_mark_movable(out);
}

#ifdef Py_GIL_DISABLED
/// Packs a list; returns as `anyffi_py_pack_object`.
ANYFFI_NEVER_INLINE int anyffi_py_pack_list(PyObject* x, AnyffiValue* out) {
  PyObject* held;
  int packed = anyffi_py_pack_locked_list(x, out, &held);
  if (packed == 0) {
    packed = anyffi_py_finish_directly(x, anyffi_py_tuple_items(held), Py_SIZE(held), out);
    if (packed == 0) packed = anyffi_py_pack_carefully(x, out);
    anyffi_py_drop_held(held);
  }
  return packed < 0 ? -1 : anyffi_py_mark_movable(out);
}
#endif

/// Packs an argument that is not plain, which the caller keeps alive.
///
/// @return 1 if `out` owns a reference, marked movable, 0 if it borrows one, -1 with an exception.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_object(PyObject* x, AnyffiValue* out) {
  int packed;
  if (Py_IS_TYPE(x, &PyTuple_Type)) {
    packed = anyffi_py_pack_inline_items(anyffi_py_tuple_items(x), Py_SIZE(x), ANYFFI_ARRAY, out);
  } else if (Py_IS_TYPE(x, &PyList_Type)) {
#ifdef Py_GIL_DISABLED
    return anyffi_py_pack_list(x, out);
#endif
    packed = anyffi_py_pack_inline_items(anyffi_py_list_items(x), Py_SIZE(x), ANYFFI_LIST, out);
  } else {
    return anyffi_py_pack_other(x, out);
  }
  if (packed < 0) return anyffi_py_raise_taken();
  return packed > 0 ? anyffi_py_mark_movable(out) : anyffi_py_pack_rest(x, out);
}

/// As `anyffi_py_pack_object`, for callers whose values are usually plain.
ANYFFI_NEVER_INLINE int anyffi_py_pack_rare_object(PyObject* x, AnyffiValue* out) {
  return anyffi_py_pack_object(x, out);
}

/// Packs an argument, which the caller keeps alive; returns as `anyffi_py_pack_object`.
static inline int anyffi_py_pack(PyObject* x, AnyffiValue* out) {
  return anyffi_py_pack_plain(x, out) ? 0 : anyffi_py_pack_rare_object(x, out);
}

/// 1 if the caller of a callback ignores the result, for which None is stored.
static inline int anyffi_py_discard_result(AnyffiValue* result) {
  if (__builtin_expect((result->aux & ANYFFI_DISCARDED) == 0, 1)) return 0;
  *result = anyffi_make_none();
  return 1;
}

/// Packs the value that a Python function called by C++ returned, as an owned value; 0, or -1 with an exception.
static int anyffi_py_pack_result(PyObject* function, PyObject* x, AnyffiValue* out) {
  int status = anyffi_py_pack_owned(x, out);
  if (status < 0) anyffi_py_complete_made(anyffi_state.locate_result, function, &x, NULL, 1);
  return status;
}

/// Makes a list of an iterable by calling the class, like the other backend: before Python 3.11 PySequence_List asks
/// for the iterator before the length.
static inline PyObject* anyffi_py_list_of(PyObject* iterable) {
  if (anyffi_py_need_stack() < 0) return NULL;
  return PyObject_CallFunctionObjArgs((PyObject*)&PyList_Type, iterable, NULL);
}

/// Calls `dict`.
static inline PyObject* anyffi_py_dict_of(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (anyffi_py_need_stack() < 0) return NULL;
  return PyObject_Vectorcall((PyObject*)&PyDict_Type, args, (size_t)count, names);
}

#endif  // ANYFFI_PACK_H_
