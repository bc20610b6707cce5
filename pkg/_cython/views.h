/// The views that `keys`, `values` and `items` of a Map or Dict return.
///
/// Views of exactly these classes read the entries; those of subclasses call the mapping's own methods.

#ifndef ANYFFI_VIEWS_H_
#define ANYFFI_VIEWS_H_

#include "mapping_compare.h"

/// The layout of `ViewCore`; `core_views.pxi` checks it at import.
typedef struct {
  PyObject_HEAD PyObject* mapping; /* None before `__init__` */
} AnyffiView;

/// Returns the mapping of a view if it is exactly a Map or Dict, borrowed, else NULL without an exception.
static inline AnyffiMapping* anyffi_py_viewed(PyObject* view) {
  return (AnyffiMapping*)anyffi_py_peek_mapping_exact(((AnyffiView*)view)->mapping);
}

/// Returns the class of a mapping's views, borrowed; NULL, without an exception, if a user's class has another
/// attribute there.
static inline PyTypeObject* anyffi_py_view_class(PyObject* self, AnyffiEntryPart part) {
  PyObject* classes = anyffi_py_look_up(Py_TYPE(self), anyffi_state.views_name);
  if (classes == NULL || !PyTuple_CheckExact(classes) || PyTuple_GET_SIZE(classes) <= (Py_ssize_t)part) return NULL;
  PyObject* cls = PyTuple_GET_ITEM(classes, part);
  return PyType_Check(cls) && PyType_IsSubtype((PyTypeObject*)cls, anyffi_state.view_core) ? (PyTypeObject*)cls : NULL;
}

/// Returns a new view of a part (AnyffiEntryPart), NULL with an exception.
static PyObject* anyffi_py_make_view(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                     int32_t type_code, AnyffiEntryPart part, const char* name) {
  PyTypeObject* cls = anyffi_py_view_class(self, part);
  if (cls == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(type_code, name, self, args, count, names);
  }
  // Allocating may run the garbage collector, and so code that changes the attribute.
  Py_INCREF(cls);
  PyObject* made = cls->tp_alloc(cls, 0);
  if (made != NULL) ((AnyffiView*)made)->mapping = anyffi_py_return_new(self);
  Py_DECREF(cls);
  return made;
}

#define ANYFFI_VIEW_METHOD(class_name, type_code, name, part)                                               \
  static PyObject* anyffi_py_##class_name##_##name(PyObject* self, PyObject* const* args, Py_ssize_t count, \
                                                   PyObject* names) {                                       \
    return anyffi_py_make_view(self, args, count, names, type_code, part, #name);                           \
  }
ANYFFI_VIEW_METHOD(map, ANYFFI_MAP, keys, ANYFFI_KEYS)
ANYFFI_VIEW_METHOD(map, ANYFFI_MAP, values, ANYFFI_VALUES)
ANYFFI_VIEW_METHOD(map, ANYFFI_MAP, items, ANYFFI_ITEMS)
ANYFFI_VIEW_METHOD(dict, ANYFFI_DICT, keys, ANYFFI_KEYS)
ANYFFI_VIEW_METHOD(dict, ANYFFI_DICT, values, ANYFFI_VALUES)
ANYFFI_VIEW_METHOD(dict, ANYFFI_DICT, items, ANYFFI_ITEMS)

static Py_ssize_t anyffi_py_view_size(PyObject* view) {
  AnyffiMapping* mapping = anyffi_py_viewed(view);
  return mapping != NULL ? (Py_ssize_t)mapping->size : PyObject_Size(((AnyffiView*)view)->mapping);
}

/// 1 if a view of keys has a key, 0 if not, -1 with an exception.
static int anyffi_py_view_has_key(PyObject* view, PyObject* key) {
  PyObject* wrapper = anyffi_py_return_new(((AnyffiView*)view)->mapping);
  AnyffiMapping* mapping = anyffi_py_viewed(view);
  int is_there =
      mapping != NULL ? anyffi_py_has_key(wrapper, mapping->header.type_code, key) : PySequence_Contains(wrapper, key);
  Py_DECREF(wrapper);
  return is_there;
}

/// The same for a pair and a view of items whose mapping is exactly a Map or Dict.
static int anyffi_py_view_has_pair(PyObject* view, PyObject* pair) {
  AnyffiValue found;
  if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) return 0;
  PyObject* wrapper = anyffi_py_return_new(((AnyffiView*)view)->mapping);
  int32_t type_code = anyffi_py_viewed(view)->header.type_code;
  int is_there = anyffi_py_find_item(wrapper, type_code, PyTuple_GET_ITEM(pair, 0), &found);
  Py_DECREF(wrapper);
  if (is_there <= 0) return is_there;
  PyObject* value = anyffi_py_unpack(&found);
  if (value == NULL) return -1;
  int is_equal = PyObject_RichCompareBool(value, PyTuple_GET_ITEM(pair, 1), Py_EQ);
  Py_DECREF(value);
  return is_equal;
}

/// Whether the keys of two mappings are the same: 1, 0, -1 if comparing them needs Python code, -2 with an exception.
static int anyffi_py_keys_equal(const AnyffiMapping* mine, const AnyffiMapping* theirs) {
  if (mine->size != theirs->size) return 0;
  if (!anyffi_py_are_keys_compared(mine) || !anyffi_py_are_keys_compared(theirs)) return -1;
  for (int64_t i = 0; i < mine->used; ++i) {
    const AnyffiValue* key = &mine->entries[i].key;
    if (key->type_code == ANYFFI_UNSET) continue;
    int64_t found = anyffi_py_find_same(theirs, key, i);
    if (found < 0) return found == -1 ? 0 : -2;
  }
  return 1;
}

/// Whether two views of one class (keys or items) are equal; returns as `anyffi_py_keys_equal`.
static int anyffi_py_views_equal(PyObject* self, PyObject* other, int part) {
  if (!Py_IS_TYPE(other, Py_TYPE(self))) return -1;
  AnyffiMapping *mine = anyffi_py_viewed(self), *theirs = anyffi_py_viewed(other);
  if (mine == NULL || theirs == NULL) return -1;
  return part == ANYFFI_KEYS ? anyffi_py_keys_equal(mine, theirs) : anyffi_py_mappings_equal(mine, theirs);
}

/// Adds the common keys of two mappings to a set: 1, 0 if that needs Python code, -1 with an exception.
static int anyffi_py_add_common(PyObject* set, const AnyffiMapping* mine, AnyffiMapping* theirs) {
  if (!anyffi_py_are_keys_compared(mine) || !anyffi_py_are_keys_compared(theirs)) return 0;
  for (int64_t i = 0; i < theirs->used; ++i) {
    const AnyffiValue* key = &theirs->entries[i].key;
    if (key->type_code == ANYFFI_UNSET) continue;
    int64_t found = anyffi_py_find_same(mine, key, i);
    if (found == -2) return -1;
    if (found < 0) continue;
    PyObject* element = anyffi_py_unpack_copy(key);
    int status = element == NULL ? -1 : PySet_Add(set, element);
    Py_XDECREF(element);
    if (status < 0) return -1;
  }
  return 1;
}

/// `keys & keys`: a new set, None for other operands, NULL with an exception.
static PyObject* anyffi_py_common_keys(PyObject* self, PyObject* other) {
  if (!Py_IS_TYPE(other, Py_TYPE(self))) Py_RETURN_NONE;
  AnyffiMapping *mine = anyffi_py_viewed(self), *theirs = anyffi_py_viewed(other);
  if (mine == NULL || theirs == NULL) Py_RETURN_NONE;
  PyObject* set = PySet_New(NULL);
  int status = set == NULL ? -1 : anyffi_py_add_common(set, mine, theirs);
  if (status > 0) return set;
  Py_XDECREF(set);
  return status < 0 ? NULL : anyffi_py_return_new(Py_None);
}

#endif  // ANYFFI_VIEWS_H_
