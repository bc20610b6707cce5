/// Layouts of wrappers, and what C and inline functions need of Python.

#ifndef ANYFFI_WRAPPER_H_
#define ANYFFI_WRAPPER_H_

#include <Python.h>
#include <anyffi/host_api.h>

/// How every wrapper begins: the layout of `ObjectCore`, for the files that cannot see the class.
typedef struct {
  PyObject_HEAD AnyffiObject* object;
} AnyffiWrapper;

/// The same of `FunctionCore`.
typedef struct {
  AnyffiWrapper base;
  PyObject* weakly;
  vectorcallfunc vectorcall;
  PyObject* parameters;
} AnyffiFunctionWrapper;

/// Set once, while the module is imported. Classes are added later, under the interpreter's lock, and are never given
/// back, so that reading needs no lock.
typedef struct {
  PyTypeObject* object_core;
  AnyffiCall callback;
  PyObject* check_callback;  // this and the next two are NULL unless the mode is check
  PyObject* hash_of;
  PyObject* equals;
  int max_depth;
  PyObject* lower;
  PyObject* lift;
  PyObject* bind;
  PyObject* is_overloaded;
  PyObject* missing;
  PyObject* nested_too_deep;
  PyObject* contains_itself;
  PyObject* equal_keys;
  PyObject* empty_wrapper;
  PyObject* make_error;
  PyObject* class_of_kind;  // NULL in check mode
  PyObject* fill_error;
  PyObject* unexplained;
  PyObject* container_rules;
  PyObject* no_arguments;
  PyObject* characters[256];  // the strings of one character below U+0100
  PyObject* classes[ANYFFI_FIRST_DYNAMIC_TYPE];
  PyObject* dynamic_classes;
  PyObject* exchange_name;  // of the attribute with DLPack's table
  PyObject* find_exchange;
  int knows_ndarray;      // whether the next was looked for
  PyTypeObject* ndarray;  // NumPy's, if it can be read
} AnyffiPython;
static AnyffiPython anyffi_python;

#endif  // ANYFFI_WRAPPER_H_
