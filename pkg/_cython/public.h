/// Public functions in C: each handles its frequent arguments, and calls the function of `_api` for all others.

#ifndef ANYFFI_PUBLIC_H_
#define ANYFFI_PUBLIC_H_

#include "plain.h"

/// The layout of `PublicFunction`; `core_public.pxi` checks it at import. As methods they are bound to the API, which
/// is the first argument.
typedef struct {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* shared;  // the function of `_api`
} AnyffiPublicFunction;

static PyObject* anyffi_py_call_public(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  return PyObject_Vectorcall(((AnyffiPublicFunction*)function)->shared, args, flags, names);
}

/// 1 if a call has one argument, by position, besides the API.
static inline int anyffi_py_has_one(size_t flags, PyObject* names) {
  return PyVectorcall_NARGS(flags) == 2 && names == NULL;
}

/// Returns the wrapper of the runtime's object for `x`; for a value without one, the result of `echo`.
static PyObject* anyffi_py_to_object(PyObject* x) {
  AnyffiValue packed;
  if (anyffi_py_pack_owned(x, &packed) < 0) return NULL;
  return packed.type_code == ANYFFI_FUNCTION ? anyffi_py_wrap(packed.as_object) : anyffi_py_unpack(&packed);
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_fail_convert(PyObject* x) {
  anyffi_py_complete_made(anyffi_state.locate_method, anyffi_state.called_convert, &x, NULL, 1);
  return NULL;
}

static PyObject* anyffi_py_public_convert(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  if (!anyffi_py_has_one(flags, names)) return anyffi_py_call_public(function, args, flags, names);
  PyObject* made = anyffi_py_to_object(args[1]);
  return made != NULL ? made : anyffi_py_fail_convert(args[1]);
}

static PyObject* anyffi_py_public_to_python(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  if (!anyffi_py_has_one(flags, names)) return anyffi_py_call_public(function, args, flags, names);
  return anyffi_py_plain(args[1]);
}

/// Returns the wrapper of a registered function, never the callable inside; None if there is none.
static PyObject* anyffi_py_get_function(PyObject* name) {
  AnyffiValue packed, found;
  int was_made = anyffi_py_pack(name, &packed);
  if (was_made < 0) return NULL;
  int status = anyffi_registry_find(&packed, &found);
  if (anyffi_py_end_access(status, was_made, &packed) < 0) return NULL;
  if (found.type_code == ANYFFI_NONE) Py_RETURN_NONE;
  return anyffi_py_wrap_here(found.as_object);
}

/// The argument `allow_missing` of a call with a name before it; NULL if there are other arguments.
static PyObject* anyffi_py_allow_missing(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (names == NULL) return count == 2 ? Py_False : count == 3 ? args[2] : NULL;
  int is_named = count == 2 && PyTuple_GET_SIZE(names) == 1 &&
                 PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "allow_missing") == 0;
  return is_named ? args[2] : NULL;
}

static PyObject* anyffi_py_public_get_function(PyObject* function, PyObject* const* args, size_t flags,
                                               PyObject* names) {
  PyObject* allow_missing = anyffi_py_allow_missing(args, PyVectorcall_NARGS(flags), names);
  if (allow_missing == Py_True || allow_missing == Py_False) {
    PyObject* found = anyffi_py_get_function(args[1]);
    if (found != Py_None || allow_missing == Py_True) return found;
    Py_DECREF(found);
  }
  return anyffi_py_call_public(function, args, flags, names);
}

typedef struct {
  const char* name;
  vectorcallfunc call;
} AnyffiPublicRow;

static const AnyffiPublicRow anyffi_py_public_functions[] = {
    {"convert", anyffi_py_public_convert},
    {"to_python", anyffi_py_public_to_python},
    {"get_global_func", anyffi_py_public_get_function},
    {NULL, NULL},
};

#endif  // ANYFFI_PUBLIC_H_
