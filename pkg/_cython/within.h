/// The functions in the slots of containers, which in builds without the GIL run within a section.

#ifndef ANYFFI_WITHIN_H_
#define ANYFFI_WITHIN_H_

#include "elements.h"
#include "entry_iterator.h"
#include "sequence_hash.h"
// After elements.h, which declares what all containers share.
#include "set_methods.h"

/// Without a section for an Array, whose elements never change.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_within_get_item(PyObject* wrapper, int32_t code, PyObject* key) {
  if (code == ANYFFI_ARRAY) return anyffi_py_get_item(wrapper, code, key);
  ANYFFI_BEGIN_SECTION
  PyObject* result = anyffi_py_get_item(wrapper, code, key);
  ANYFFI_END_SECTION
  return result;
}
ANYFFI_PY_DEFINE_WITHIN(PyObject*, list_elements, (const AnyffiSequence* sequence), (sequence))
ANYFFI_PY_DEFINE_WITHIN(int, find_item, (PyObject * wrapper, int32_t code, PyObject* key, AnyffiValue* out),
                        (wrapper, code, key, out))
ANYFFI_PY_DEFINE_WITHIN(int, has_key, (PyObject * wrapper, int32_t code, PyObject* key), (wrapper, code, key))
ANYFFI_PY_DEFINE_WITHIN(int, has_element, (PyObject * wrapper, int32_t code, PyObject* x), (wrapper, code, x))
ANYFFI_PY_DEFINE_WITHIN(int, put_item, (PyObject * wrapper, int32_t code, PyObject* key, PyObject* item),
                        (wrapper, code, key, item))
ANYFFI_PY_DEFINE_WITHIN(Py_hash_t, sequence_hash, (PyObject * self, int32_t code), (self, code))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, sequence_compare, (PyObject * self, PyObject* other, int operation, int32_t code),
                        (self, other, operation, code))
ANYFFI_PY_DEFINE_WITHIN(int, sequence_has, (PyObject * self, PyObject* value, int32_t code), (self, value, code))
ANYFFI_PY_DEFINE_WITHIN(int64_t, search,
                        (PyObject * self, AnyffiSequence* sequence, PyObject* value, int64_t start, int64_t stop),
                        (self, sequence, value, start, stop))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, list_add_in_place, (PyObject * self, PyObject* other), (self, other))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, list_multiply_in_place, (PyObject * self, PyObject* times), (self, times))
ANYFFI_PY_DEFINE_WITHIN(int, set_item, (PyObject * self, PyObject* key, PyObject* item), (self, key, item))
ANYFFI_PY_DEFINE_WITHIN(int, delete_item, (PyObject * self, PyObject* key), (self, key))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, mapping_compare, (PyObject * self, PyObject* other, int operation, int32_t code),
                        (self, other, operation, code))
ANYFFI_PY_DEFINE_WITHIN(int, view_has_key, (PyObject * view, PyObject* key), (view, key))
ANYFFI_PY_DEFINE_WITHIN(int, view_has_pair, (PyObject * view, PyObject* pair), (view, pair))
ANYFFI_PY_DEFINE_WITHIN(int, views_equal, (PyObject * self, PyObject* other, int part), (self, other, part))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, common_keys, (PyObject * self, PyObject* other), (self, other))
ANYFFI_PY_DEFINE_WITHIN(int, dict_delete, (PyObject * self, PyObject* key), (self, key))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, dict_or_in_place, (PyObject * self, PyObject* other), (self, other))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, set_compare, (PyObject * self, PyObject* other, int operation, int32_t code),
                        (self, other, operation, code))
ANYFFI_PY_DEFINE_WITHIN(Py_hash_t, set_hash, (PyObject * self), (self))
ANYFFI_PY_DEFINE_WITHIN(PyObject*, set_in_place, (PyObject * self, PyObject* other, int operation),
                        (self, other, operation))

/// The entries of a Map do not change either.
#define anyffi_py_within_map_item anyffi_py_map_item

#ifdef Py_GIL_DISABLED
ANYFFI_PY_OPERATOR(dict_item)

static PyObject* anyffi_py_within_next_item(PyObject* self) {
  ANYFFI_BEGIN_SECTION
  PyObject* result = anyffi_py_next_item(self);
  ANYFFI_END_SECTION
  return result;
}

/// The `tp_iternext` of iterators over sequences that Cython generated.
static iternextfunc anyffi_next_element;

static PyObject* anyffi_py_within_next_element(PyObject* self) {
  ANYFFI_BEGIN_SECTION
  PyObject* result = anyffi_next_element(self);
  ANYFFI_END_SECTION
  return result;
}

/// Makes the steps of iterators over sequences run within sections; -1 with an exception.
static int anyffi_py_set_step(PyTypeObject* cls) {
  if (cls->tp_iternext == anyffi_py_within_next_element) return 0;
  anyffi_next_element = cls->tp_iternext;
  cls->tp_iternext = anyffi_py_within_next_element;
  return anyffi_py_set_special(cls, &PyListIter_Type, "__next__", (void*)cls->tp_iternext);
}
#else
#define anyffi_py_within_dict_item anyffi_py_dict_item
#define anyffi_py_within_next_item anyffi_py_next_item
static int anyffi_py_set_step(PyTypeObject* cls) {
  return anyffi_py_set_special(cls, &PyListIter_Type, "__next__", (void*)cls->tp_iternext);
}
#endif

#endif  // ANYFFI_WITHIN_H_
