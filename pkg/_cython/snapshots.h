/// The items of Python's mutable containers. In builds without the GIL, where other threads may change them, they are
/// copied while the container is locked; in other builds they are read in place.

#ifndef ANYFFI_SNAPSHOTS_H_
#define ANYFFI_SNAPSHOTS_H_

#include "sections.h"

#ifdef Py_GIL_DISABLED

/// Returns the elements of a set, or of an instance of a subclass, whose own methods are not called.
static PyObject* anyffi_py_copy_elements(PyObject* set) {
  PyObject *element, *items = anyffi_py_reserve_list(PySet_GET_SIZE(set));
  Py_ssize_t position = 0;
  int status = items == NULL ? -1 : 0;
  Py_BEGIN_CRITICAL_SECTION(set);
  while (status == 0 && anyffi_py_next_element(set, &position, &element)) status = anyffi_py_append(items, element);
  Py_END_CRITICAL_SECTION();
  if (status < 0) Py_CLEAR(items);
  return items;
}

/// Returns keys and values of a dict, alternating; no methods of a subclass are called.
static PyObject* anyffi_py_copy_entries(PyObject* dict) {
  PyObject *key, *item, *items = anyffi_py_reserve_list(2 * PyDict_Size(dict));
  Py_ssize_t position = 0;
  int status = items == NULL ? -1 : 0;
  Py_BEGIN_CRITICAL_SECTION(dict);
  while (status == 0 && PyDict_Next(dict, &position, &key, &item)) {
    status = anyffi_py_append(items, key);
    if (status == 0) status = anyffi_py_append(items, item);
  }
  Py_END_CRITICAL_SECTION();
  if (status < 0) Py_CLEAR(items);
  return items;
}

/// Returns the items of a list, tuple, set or frozenset as a list or tuple that nobody else changes.
static PyObject* anyffi_py_hold_items(PyObject* x) {
  if (PyList_Check(x)) return PyList_AsTuple(x);
  if (PyAnySet_Check(x)) return anyffi_py_copy_elements(x);
  Py_INCREF(x);
  return x;
}

static inline void anyffi_py_drop_held(PyObject* held) { Py_XDECREF(held); }

#else

static inline PyObject* anyffi_py_hold_items(PyObject* x) { return x; }
static inline void anyffi_py_drop_held(PyObject* held) { (void)held; }

#endif

#endif  // ANYFFI_SNAPSHOTS_H_
