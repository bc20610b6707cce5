/// Functions in Cython (`core_*.pxi`) that the C headers call.
///
/// They return a new reference or NULL, or 0 and -1, with an exception set.

#ifndef ANYFFI_SHELL_H_
#define ANYFFI_SHELL_H_

#include "state.h"

/// Calls with a tuple and a dict: the `tp_call` of a class that defines `__call__`.
static PyObject* anyffi_py_call_slot(PyObject* function, PyObject* const* args, Py_ssize_t count, PyObject* names);

/// Calls with keywords that only the rules can bind: overloads, duplicates, errors.
static PyObject* anyffi_py_call_bound(PyObject* function, PyObject* const* args, Py_ssize_t count, PyObject* names);

/// Fills in the names of a function's parameters, which it reads from Python-level metadata.
static int anyffi_py_learn_parameters(PyObject* function);

/// Decides how values of the class of `x` are packed, and caches it; an AnyffiDecision, or -1.
static int anyffi_py_learn_decision(PyObject* x);

/// Decides how a class is packed as a value, and caches it; 1 for a function, 0 for others, -1 with an exception.
static int anyffi_py_learn_class(PyObject* cls);

/// Calls `__index__`; an error gets a frame of the rules, as in ctypes mode.
static PyObject* anyffi_py_call_index(PyObject* x);

/// Calls `__anyffi_value__`, again on its result, or `__dlpack__`; errors as from `anyffi_py_call_index`.
static PyObject* anyffi_py_call_value(PyObject* x);
static PyObject* anyffi_py_call_export(PyObject* x);

/// Caches how the rules describe a data type, unless it may be freed.
static int anyffi_py_learn_data_type(PyObject* x, AnyffiDataType found);

/// Packs scalars and memory that `lower` describes by tuples.
static int anyffi_py_pack_described(int32_t code, PyObject* payload, AnyffiValue* out);

/// Reads attributes of an array that `lower` packed, so that later ones of its class take a fast path.
static int anyffi_py_learn_ndarray(PyObject* x);
static int anyffi_py_learn_exporter(PyObject* x);

/// Reads NumPy's table of functions, if its version is known.
static int anyffi_py_learn_numpy(void);

/// Converts a key of an Array or a List that is no slice, using the rules.
static int anyffi_py_convert_index(PyObject* wrapper, PyObject* key, int64_t* index);

/// Finds the object of a container's wrapper, borrowed; NULL for everything else.
static int anyffi_py_container_of(PyObject* x, AnyffiObject** out);

/// Returns a reverse iterator over a List.
static PyObject* anyffi_py_walk_backwards(PyObject* wrapper);

/// Returns the object of another backend's wrapper, borrowed, through its attribute `_anyffi_address`.
static AnyffiObject* anyffi_py_unwrap_other(PyObject* wrapper);

#endif  // ANYFFI_SHELL_H_
