/// `List.sort` by keys, or by comparisons that run Python code: Python's sort orders the positions.
///
/// Meanwhile the list is empty, as Python's is, and a copy has the elements. The method of `_objects` does the same,
/// but takes five times as long for three elements.

#ifndef ANYFFI_SORT_H_
#define ANYFFI_SORT_H_

#include "containers.h"

/// Returns the key by which the item at a position is compared; `self` is a list of the items, followed by the key
/// function or None. Users' code may find the list through the garbage collector, and change it.
static PyObject* anyffi_py_key_at(PyObject* self, PyObject* position) {
  PyObject* key = PyList_GetItem(self, PyList_GET_SIZE(self) - 1);
  PyObject* item = key == NULL ? NULL : PyList_GetItem(self, PyLong_AsSsize_t(position));
  if (item == NULL) return NULL;
  Py_INCREF(item);
  if (key == Py_None) return item;
  Py_INCREF(key);
  PyObject* found = PyObject_CallOneArg(key, item);
  Py_DECREF(key);
  Py_DECREF(item);
  return found;
}

/// Returns a key function for positions in the sequence, for `anyffi_py_sort_positions`; NULL with an exception.
static PyObject* anyffi_py_make_key(const AnyffiSequence* sequence, PyObject* key) {
  static PyMethodDef method = {"key", anyffi_py_key_at, METH_O, NULL};
  PyObject* self = anyffi_py_list_elements(sequence);
  PyObject* made = self == NULL || anyffi_py_append(self, key) < 0 ? NULL : PyCFunction_New(&method, self);
  Py_XDECREF(self);
  return made;
}

/// Returns the list of the positions below `count`; NULL with an exception.
static PyObject* anyffi_py_list_positions(int64_t count) {
  PyObject* made = PyList_New((Py_ssize_t)count);
  for (Py_ssize_t i = 0; made != NULL && i < (Py_ssize_t)count; ++i) {
    PyObject* position = PyLong_FromSsize_t(i);
    if (position == NULL) Py_CLEAR(made);
    if (position != NULL) PyList_SET_ITEM(made, i, position);
  }
  return made;
}

/// Calls `positions.sort(key=key, reverse=reverse)`: 0, or -1 with an exception.
static int anyffi_py_sort_positions(PyObject* positions, PyObject* key, PyObject* reverse) {
  PyObject* args[] = {positions, key, reverse};
  PyObject* done = PyObject_VectorcallMethod(anyffi_state.sort_name, args, 1, anyffi_state.sort_keywords);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

/// Stores the cells in the order of a list of all their positions; 0, or -1 with an exception.
static int anyffi_py_pick_cells(const AnyffiSequence* from, PyObject* positions, AnyffiValue* out) {
  for (int64_t i = 0; i < from->size; ++i) {
    PyObject* position = PyList_GetItem(positions, (Py_ssize_t)i);
    Py_ssize_t index = position == NULL ? -1 : PyLong_AsSsize_t(position);
    if (index < 0) return -1;
    out[i] = from->data[index];
  }
  return 0;
}

/// Fills a list that was emptied with cells: 1, or 0 with the exception that was set before, or one about a list that
/// was no longer empty.
static int anyffi_py_refill(AnyffiSequence* list, const AnyffiValue* cells, int64_t count) {
  int has_failed = PyErr_Occurred() != NULL, was_empty = list->size == 0;
  AnyffiSaved saved = anyffi_py_save_exception();
  if (anyffi_sequence_splice(&list->header, 0, list->size, cells, count) != 0) {
    anyffi_py_drop_exception(saved);
    anyffi_py_raise_taken();
    return 0;
  }
  anyffi_py_restore_exception(saved);
  if (!has_failed && !was_empty) PyErr_SetString(PyExc_ValueError, "list modified during sort");
  return !has_failed && was_empty;
}

/// Sorts a list whose elements `former` has by the keys that `key` returns for their positions. `cells` has room for as
/// many. 1, or 0 with an exception.
static int anyffi_py_sort_former(AnyffiSequence* list, const AnyffiSequence* former, PyObject* key, PyObject* reverse,
                                 AnyffiValue* cells) {
  PyObject* positions = anyffi_py_list_positions(former->size);
  if (positions == NULL) return 0;
  int is_sorted = 0;
  if (anyffi_sequence_erase(&list->header, 0, list->size) != 0) {
    anyffi_py_raise_taken();
  } else {
    int status = anyffi_py_sort_positions(positions, key, reverse);
    if (status == 0) status = anyffi_py_pick_cells(former, positions, cells);
    is_sorted = anyffi_py_refill(list, status == 0 ? cells : former->data, former->size);
  }
  Py_DECREF(positions);
  return is_sorted;
}

/// Sorts a list as `list.sort(key=key, reverse=reverse)` does: 1, or 0 with an exception.
static int anyffi_py_sort_by(AnyffiSequence* list, PyObject* key, PyObject* reverse) {
  if (anyffi_py_need_stack() < 0) return 0;
  AnyffiValue container = anyffi_make_object(&list->header), former, on_stack[16];
  if (anyffi_container_copy(&container, ANYFFI_ARRAY, &former) != 0) {
    anyffi_py_raise_taken();
    return 0;
  }
  // Users' code may give the list to C++.
  anyffi_retain(&list->header);
  const AnyffiSequence* elements = (const AnyffiSequence*)former.as_object;
  AnyffiValue* cells = elements->size <= 16 ? on_stack : PyMem_New(AnyffiValue, elements->size);
  PyObject* key_at = cells == NULL ? PyErr_NoMemory() : anyffi_py_make_key(elements, key);
  int is_sorted = key_at != NULL && anyffi_py_sort_former(list, elements, key_at, reverse, cells);
  if (cells != on_stack) PyMem_Free(cells);
  // Releasing objects may run code that must not see the exception.
  AnyffiSaved saved = anyffi_py_save_exception();
  Py_XDECREF(key_at);
  anyffi_value_drop(&former);
  anyffi_release(&list->header);
  anyffi_py_restore_exception(saved);
  return is_sorted;
}

#endif  // ANYFFI_SORT_H_
