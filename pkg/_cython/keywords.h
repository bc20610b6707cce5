/// Keyword arguments: which parameter each one is for.
///
/// A call that does not fit is left to the rules, which raise the errors.

#ifndef ANYFFI_KEYWORDS_H_
#define ANYFFI_KEYWORDS_H_

#include "wrapper.h"

/// Up to this many arguments of a call with keywords are packed on the stack.
#define ANYFFI_FEW_NAMED 16

/// The number of parameters that accept positional arguments.
static inline Py_ssize_t anyffi_py_num_positional(const AnyffiFunctionInfo* info) {
  return info->flags & ANYFFI_KEYWORD_ONLY ? info->num_params - info->num_keyword_only : info->num_params;
}

static inline int anyffi_py_has_keyword_only(const AnyffiFunction* target) {
  return target->info != NULL && (target->info->flags & ANYFFI_KEYWORD_ONLY) != 0;
}

/// 1 if keywords name the parameters in order and none is omitted, judged by the addresses of interned names. Says
/// nothing of keyword-only parameters.
ANYFFI_ALWAYS_INLINE int anyffi_py_are_in_order(PyObject* function, Py_ssize_t count, PyObject* names) {
  PyObject* parameters = ((AnyffiFunctionWrapper*)function)->parameters;
  Py_ssize_t total = count + PyTuple_GET_SIZE(names);
  // A function without information has no parameters. Without arguments `total - 1` wraps around, which returns 0, too.
  if (parameters == NULL || (size_t)total - 1 >= (size_t)PyTuple_GET_SIZE(parameters)) return 0;
  if (total < anyffi_py_function_in(function)->info->num_required) return 0;
  for (Py_ssize_t i = count; i < total; ++i) {
    if (PyTuple_GET_ITEM(parameters, i) != PyTuple_GET_ITEM(names, i - count)) return 0;
  }
  return 1;
}

/// As `anyffi_py_find_parameter`, for a name that is not interned.
ANYFFI_NEVER_INLINE Py_ssize_t anyffi_py_find_computed(PyObject* parameters, PyObject* name) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parameters); ++i) {
    PyObject* parameter = PyTuple_GET_ITEM(parameters, i);
    if (parameter != Py_None && PyUnicode_Compare(parameter, name) == 0) return i;
  }
  PyErr_Clear();
  return -1;
}

/// Returns the index of the parameter with a name, -1 if there is none. Searches from `start` on first.
static inline Py_ssize_t anyffi_py_find_parameter(PyObject* parameters, Py_ssize_t start, PyObject* name) {
  Py_ssize_t size = PyTuple_GET_SIZE(parameters);
  for (Py_ssize_t i = start; i < size; ++i) {
    if (PyTuple_GET_ITEM(parameters, i) == name) return i;
  }
  for (Py_ssize_t i = 0; i < start; ++i) {
    if (PyTuple_GET_ITEM(parameters, i) == name) return i;
  }
  // The names of parameters are interned.
  return PyUnicode_CHECK_INTERNED(name) ? -1 : anyffi_py_find_computed(parameters, name);
}

/// Writes to `places` for each parameter the index of its argument, or -1 if it is omitted. After keyword-only
/// arguments one more -1 follows, for which `places` must have room.
///
/// @return the number of places written; -1 if the call is wrong.
static Py_ssize_t anyffi_py_place(PyObject* parameters, const AnyffiFunctionInfo* info, Py_ssize_t count,
                                  PyObject* names, int32_t* places) {
  Py_ssize_t size = PyTuple_GET_SIZE(parameters), num_names = PyTuple_GET_SIZE(names);
  Py_ssize_t next = count, filled = count, num_positional = anyffi_py_num_positional(info);
  if (count + num_names > size || count + num_names < info->num_required || count > num_positional) return -1;
  for (Py_ssize_t i = 0; i < size; ++i) places[i] = i < count ? (int32_t)i : -1;
  for (Py_ssize_t i = 0; i < num_names; ++i) {
    Py_ssize_t found = anyffi_py_find_parameter(parameters, next, PyTuple_GET_ITEM(names, i));
    if (found < 0 || places[found] >= 0) return -1;
    places[found] = (int32_t)(count + i);
    next = found + 1;
    if (next > filled) filled = next;
  }
  for (Py_ssize_t i = count; i < info->num_required; ++i) {
    if (places[i] < 0 && info->params[i].default_value == NULL) return -1;
  }
  for (Py_ssize_t i = num_positional; i < size; ++i) {
    if (places[i] < 0 && info->params[i].default_value == NULL) return -1;
  }
  if (filled > num_positional) places[filled++] = -1;
  return filled;
}

// ---- overloads ------------------------------------------------------------------------------------------------------

/// The names in a call of a function with overloads.
typedef struct {
  PyObject* parameters;  // the names of parameters, a tuple for each overload
  PyObject* names;
  Py_ssize_t count;   // number of positional arguments
  Py_ssize_t filled;  // number of places of the overload that was found
} AnyffiNamed;

/// An AnyffiPlaceArgs: binds the keywords of an AnyffiNamed.
static int32_t anyffi_py_place_overload(void* context, const AnyffiOverload* overload, int32_t index, int32_t* places) {
  const AnyffiNamed* named = (const AnyffiNamed*)context;
  // This overload was added later: if no other fits, the rules bind all of them.
  if (index >= PyTuple_GET_SIZE(named->parameters)) return -1;
  PyObject* parameters = PyTuple_GET_ITEM(named->parameters, index);
  const AnyffiFunctionInfo* info = ((AnyffiFunction*)overload->function)->info;
  return (int32_t)anyffi_py_place(parameters, info, named->count, named->names, places);
}

/// 1 if the keywords name the parameters of each overload in order, so that the call equals one by position.
static int anyffi_py_are_in_order_of_all(const AnyffiFunction* target, const AnyffiNamed* named) {
  Py_ssize_t num_names = PyTuple_GET_SIZE(named->names), total = named->count + num_names, index = 0;
  const PyObject* compared = NULL;
  for (const AnyffiOverload* overload = target->info->overloads; overload != NULL; overload = overload->next) {
    const AnyffiFunctionInfo* info = ((AnyffiFunction*)overload->function)->info;
    if (index >= PyTuple_GET_SIZE(named->parameters) || total < info->num_required) return 0;
    if (info->flags & ANYFFI_KEYWORD_ONLY) return 0;
    PyObject* parameters = PyTuple_GET_ITEM(named->parameters, index++);
    if (parameters == compared) continue;
    compared = parameters;
    if (total > PyTuple_GET_SIZE(parameters)) return 0;
    for (Py_ssize_t i = 0; i < num_names; ++i) {
      if (PyTuple_GET_ITEM(parameters, named->count + i) != PyTuple_GET_ITEM(named->names, i)) return 0;
    }
  }
  return 1;
}

/// Returns the first overload that the keywords fit, or NULL; writes its places, for which there must be room.
static const AnyffiFunction* anyffi_py_find_overload(const AnyffiFunction* target, AnyffiNamed* named,
                                                     int32_t* places) {
  int32_t index = 0;
  for (const AnyffiOverload* overload = target->info->overloads; overload != NULL; overload = overload->next) {
    if ((named->filled = anyffi_py_place_overload(named, overload, index++, places)) >= 0) {
      return (AnyffiFunction*)overload->function;
    }
  }
  return NULL;
}

/// Returns the overload that the keywords fit, if it is the only one and has a `try_call`; writes its places, at most
/// ANYFFI_FEW_NAMED. NULL for all other calls.
static const AnyffiFunction* anyffi_py_find_only_overload(const AnyffiFunction* target, AnyffiNamed* named,
                                                          int32_t* places) {
  const AnyffiFunction* found = NULL;
  int32_t others[ANYFFI_FEW_NAMED], index = -1;
  Py_ssize_t count = named->count + PyTuple_GET_SIZE(named->names);
  for (const AnyffiOverload* overload = target->info->overloads; overload != NULL; overload = overload->next) {
    const AnyffiFunction* function = (AnyffiFunction*)overload->function;
    const AnyffiFunctionInfo* info = function->info;
    ++index;
    if (count < info->num_required || count > info->num_params) continue;
    if (info->num_params >= ANYFFI_FEW_NAMED || !ANYFFI_HAS(AnyffiFunctionInfo, info, try_call)) return NULL;
    if (info->try_call == NULL) return NULL;
    int32_t filled = anyffi_py_place_overload(named, overload, index, found == NULL ? places : others);
    if (filled < 0) continue;
    if (found != NULL) return NULL;
    found = function;
    named->filled = filled;
  }
  return found;
}

#endif  // ANYFFI_KEYWORDS_H_
