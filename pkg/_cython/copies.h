/// Copies and pickles of containers. The methods of `_objects` handle subclasses, and pickles of containers that hold
/// more than scalars.

#ifndef ANYFFI_COPIES_H_
#define ANYFFI_COPIES_H_

#include "methods.h"
#include "plain.h"

/// Returns the object of `self`, borrowed, if its class is the package's own; else NULL without an exception.
static AnyffiObject* anyffi_py_peek_public(PyObject* self, int32_t type_code) {
  AnyffiObject* found = anyffi_py_peek(self, type_code);
  return found != NULL && (PyObject*)Py_TYPE(self) == anyffi_state.public_classes[found->type_code] ? found : NULL;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

/// A method without arguments that returns a copy of another type, or of the same one.
static PyObject* anyffi_py_copy_to(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                   const char* name, int32_t type_code, int32_t made_code) {
  AnyffiValue made;
  AnyffiObject* object = anyffi_py_peek(self, type_code);
  if (object == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(type_code, name, self, args, count, names);
  }
  AnyffiValue container = anyffi_make_object(object);
  return anyffi_py_wrap_made(anyffi_container_copy(&container, made_code, &made), &made);
}

/// `copy()` of a mutable container.
static PyObject* anyffi_py_copy(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                int32_t type_code) {
  return anyffi_py_copy_to(self, args, count, names, "copy", type_code, type_code);
}

/// `__copy__()`.
static PyObject* anyffi_py_copy_shallow(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                        int32_t type_code) {
  if (anyffi_py_peek_public(self, type_code) == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(type_code, "__copy__", self, args, count, names);
  }
  int is_mutable = type_code == ANYFFI_LIST || type_code == ANYFFI_DICT || type_code == ANYFFI_SET;
  return is_mutable ? anyffi_py_copy(self, args, count, names, type_code) : anyffi_py_return_new(self);
}

// ---- pickles --------------------------------------------------------------------------------------------------------

/// Returns a list of the elements of a set, in their order.
static PyObject* anyffi_py_list_set(const AnyffiMapping* set) {
  PyObject* items = anyffi_py_reserve_list((Py_ssize_t)set->size);
  // Creating a list item may run the garbage collector, and so code that changes the set.
  for (int64_t number = 0; items != NULL && (number = anyffi_py_next_entry(set, number, 1)) >= 0; ++number) {
    if (anyffi_py_append_new(items, anyffi_py_unpack_copy(&set->entries[number].key)) < 0) Py_CLEAR(items);
  }
  return items;
}

/// Returns the tuple of `__reduce__`. The container is created empty or from `content`, which is stolen; `items` are
/// added later and stolen: those of a list (at index 3) or a mapping (at index 4).
static PyObject* anyffi_py_reduced(int32_t type_code, PyObject* content, PyObject* items, Py_ssize_t position) {
  PyObject *arguments = NULL, *made = NULL, *walk = NULL;
  PyObject* name = anyffi_state.public_names[type_code];
  if (content != NULL) arguments = PyTuple_Pack(2, name, content);
  if (items != NULL && (walk = PyObject_GetIter(items)) != NULL) arguments = PyTuple_Pack(1, name);
  if (arguments != NULL) made = PyTuple_New(walk == NULL ? 3 : position + 1);
  if (made != NULL) {
    for (Py_ssize_t i = 2; i < PyTuple_GET_SIZE(made); ++i) PyTuple_SET_ITEM(made, i, anyffi_py_return_new(Py_None));
    PyTuple_SET_ITEM(made, 0, anyffi_py_return_new(anyffi_state.unpickle_container));
    PyTuple_SET_ITEM(made, 1, anyffi_py_return_new(arguments));
    if (walk != NULL) PyTuple_SetItem(made, position, anyffi_py_return_new(walk));
  }
  Py_XDECREF(walk);
  Py_XDECREF(arguments);
  Py_XDECREF(items);
  Py_XDECREF(content);
  return made;
}

/// Whether a container holds only scalars.
static int anyffi_py_holds_scalars(const AnyffiObject* object, int32_t type_code) {
  const AnyffiMapping* mapping = (const AnyffiMapping*)object;
  uint64_t types = type_code == ANYFFI_ARRAY || type_code == ANYFFI_LIST
                       ? ((const AnyffiSequence*)object)->type_mask
                       : mapping->key_type_mask | mapping->value_type_mask;
  return (types & ~ANYFFI_QUIET_TYPES) == 0;
}

/// `__reduce__()`.
static PyObject* anyffi_py_reduce(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                  int32_t type_code) {
  AnyffiObject* object = anyffi_py_peek_public(self, type_code);
  if (object == NULL || !anyffi_py_has_arguments(count, 0, names) || !anyffi_py_holds_scalars(object, type_code)) {
    return anyffi_py_call_shared(type_code, "__reduce__", self, args, count, names);
  }
  int is_set = type_code == ANYFFI_SET || type_code == ANYFFI_FROZEN_SET;
  PyObject* content = is_set ? anyffi_py_list_set((AnyffiMapping*)object) : anyffi_py_plain(self);
  if (content != NULL && (type_code == ANYFFI_MAP || type_code == ANYFFI_DICT)) {
    // A mappingproxy is copied to a dict. Of a dict, a list of pairs is taken instead of `items()`, whose iterator ends
    // the process if memory for the first pair is exhausted.
    PyObject* read =
        type_code == ANYFFI_MAP ? PyObject_CallMethodNoArgs(content, anyffi_state.copy_name) : PyDict_Items(content);
    Py_SETREF(content, read);
  }
  if (content == NULL) return NULL;
  if (type_code == ANYFFI_LIST) return anyffi_py_reduced(ANYFFI_LIST, NULL, content, 3);
  if (type_code == ANYFFI_DICT) return anyffi_py_reduced(ANYFFI_DICT, NULL, content, 4);
  return anyffi_py_reduced(object->type_code, content, NULL, 0);
}

// ---- the methods of each type ---------------------------------------------------------------------------------------

#define ANYFFI_PY_COPIED_TYPES(X)  \
  X(ANYFFI_ARRAY, array)           \
  X(ANYFFI_LIST, list)             \
  X(ANYFFI_MAP, map)               \
  X(ANYFFI_DICT, dict)             \
  X(ANYFFI_FROZEN_SET, frozen_set) \
  X(ANYFFI_SET, set)

#define ANYFFI_PY_DEFINE_COPIES(code, name)                                                            \
  static PyObject* anyffi_py_##name##_shallow(PyObject* self, PyObject* const* args, Py_ssize_t count, \
                                              PyObject* names) {                                       \
    return anyffi_py_copy_shallow(self, args, count, names, code);                                     \
  }                                                                                                    \
  static PyObject* anyffi_py_##name##_reduce(PyObject* self, PyObject* const* args, Py_ssize_t count,  \
                                             PyObject* names) {                                        \
    return anyffi_py_reduce(self, args, count, names, code);                                           \
  }                                                                                                    \
  ANYFFI_PY_METHOD(name##_shallow)                                                                     \
  ANYFFI_PY_METHOD(name##_reduce)
ANYFFI_PY_COPIED_TYPES(ANYFFI_PY_DEFINE_COPIES)
#undef ANYFFI_PY_DEFINE_COPIES

#endif  // ANYFFI_COPIES_H_
