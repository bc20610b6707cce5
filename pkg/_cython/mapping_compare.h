/// Comparing mappings.

#ifndef ANYFFI_MAPPING_COMPARE_H_
#define ANYFFI_MAPPING_COMPARE_H_

#include "sequence_methods.h"

/// Types of keys and values that equal others without code of Python.
#define ANYFFI_PY_COMPARED                                                                            \
  (anyffi_type_bit(ANYFFI_NONE) | anyffi_type_bit(ANYFFI_BOOL) | anyffi_type_bit(ANYFFI_INT) |        \
   anyffi_type_bit(ANYFFI_STR) | anyffi_type_bit(ANYFFI_BYTES) | anyffi_type_bit(ANYFFI_STR_OBJECT) | \
   anyffi_type_bit(ANYFFI_BYTES_OBJECT) | anyffi_type_bit(ANYFFI_ELLIPSIS))

static inline AnyffiMapping* anyffi_py_peek_mapping(PyObject* wrapper, int32_t type_code) {
  return (AnyffiMapping*)anyffi_py_peek(wrapper, type_code);
}

/// Returns the object of `x` if it is exactly a Map or a Dict, borrowed, else NULL without an exception.
static inline AnyffiObject* anyffi_py_peek_mapping_exact(PyObject* x) {
  AnyffiObject* found = anyffi_py_peek_exact(x, ANYFFI_DICT);
  return found != NULL ? found : anyffi_py_peek_exact(x, ANYFFI_MAP);
}

/// Whether the value of an entry equals that of the same key in `theirs` or (NULL) in `dict`, where that takes no code
/// of Python; -1 where it does, -2 with an exception.
static int anyffi_py_entry_equals(const AnyffiEntry* entry, const AnyffiMapping* theirs, PyObject* dict) {
  if (theirs != NULL) {
    int64_t found = -1;
    if (anyffi_mapping_find(&theirs->header, &entry->key, &found) != 0) {
      anyffi_py_raise_taken();
      return -2;
    }
    return found < 0 ? 0 : anyffi_value_equal_native(&entry->value, &theirs->entries[found].value);
  }
  AnyffiValue value = entry->value;
  if (value.type_code > ANYFFI_BYTES_OBJECT) return -1;
  anyffi_value_retain(&value);
  PyObject* key = anyffi_py_unpack_copy(&entry->key);
  PyObject* item = key == NULL ? NULL : PyDict_GetItemWithError(dict, key);
  int is_equal = item != NULL ? anyffi_py_cell_equals(&value, item) : PyErr_Occurred() ? -2 : 0;
  Py_XDECREF(key);
  if (is_equal == -2) anyffi_py_discard(&value);
  if (is_equal != -2) anyffi_value_drop(&value);
  return is_equal;
}

/// Compares as far as that takes no code of Python: 1, 0, -1 where it does, -2 with an exception.
static int anyffi_py_entries_equal(const AnyffiMapping* mine, const AnyffiMapping* theirs, PyObject* dict) {
  if (mine->size != (theirs != NULL ? theirs->size : PyDict_Size(dict))) return 0;
  uint64_t types = mine->key_type_mask | (theirs != NULL ? theirs->key_type_mask : 0);
  // A float may be NaN, which equals a key of the runtime, but no key of a dict.
  if ((types & ~ANYFFI_PY_COMPARED) != 0) return -1;
  for (int64_t i = 0; i < mine->used; ++i) {
    if (mine->entries[i].key.type_code == ANYFFI_UNSET) continue;
    int is_equal = anyffi_py_entry_equals(&mine->entries[i], theirs, dict);
    if (is_equal != 1) return is_equal;
  }
  return 1;
}

/// `==` and `!=` of a Map or Dict.
static PyObject* anyffi_py_mapping_compare(PyObject* self, PyObject* other, int operation, int32_t type_code) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  AnyffiMapping* mine = anyffi_py_peek_mapping(self, type_code);
  AnyffiMapping* theirs = (AnyffiMapping*)anyffi_py_peek_mapping_exact(other);
  int is_equal = self == other ? 1 : -1;
  if (self != other && mine != NULL && (theirs != NULL || PyDict_CheckExact(other))) {
    Py_INCREF(self);
    Py_INCREF(other);
    is_equal = anyffi_py_entries_equal(mine, theirs, theirs == NULL ? other : NULL);
    Py_DECREF(other);
    Py_DECREF(self);
  }
  if (is_equal == -2) return NULL;
  if (is_equal == -1) {
    int is_builtin = PyDict_Check(other) || PyObject_TypeCheck(other, &PyDictProxy_Type);
    return anyffi_py_compare_shared(self, other, operation, is_builtin, type_code);
  }
  return PyBool_FromLong(is_equal == (operation == Py_EQ));
}

#endif  // ANYFFI_MAPPING_COMPARE_H_
