/// Comparing mappings.

#ifndef ANYFFI_MAPPING_COMPARE_H_
#define ANYFFI_MAPPING_COMPARE_H_

#include "sequence_methods.h"

/// Types of keys and values whose comparison with others runs no Python code.
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

/// Levels of containers that are compared without Python code.
#define ANYFFI_PY_COMPARED_DEPTH 8

/// 1 if hashing a value, and comparing it with others for which this is 1, runs no Python code and does not depend on
/// an object's identity, as it would for two NaNs.
static int anyffi_py_is_compared(const AnyffiValue* value, int depth) {
  int32_t code = value->type_code;
  if (code == ANYFFI_FLOAT) return value->as_float == value->as_float;
  if (code == ANYFFI_ARRAY || code == ANYFFI_LIST) {
    const AnyffiSequence* sequence = (const AnyffiSequence*)value->as_object;
    if ((sequence->type_mask & ~ANYFFI_PY_COMPARED) == 0) return 1;
    int is_compared = depth < ANYFFI_PY_COMPARED_DEPTH;
    for (int64_t i = 0; is_compared && i < sequence->size; ++i) {
      is_compared = anyffi_py_is_compared(&sequence->data[i], depth + 1);
    }
    return is_compared;
  }
  if (code >= ANYFFI_MAP && code <= ANYFFI_SET) {
    const AnyffiMapping* mapping = (const AnyffiMapping*)value->as_object;
    return ((mapping->key_type_mask | mapping->value_type_mask) & ~ANYFFI_PY_COMPARED) == 0;
  }
  return (anyffi_type_bit(code) & ~ANYFFI_PY_COMPARED) == 0;
}

/// The same for all keys of a mapping.
static int anyffi_py_are_keys_compared(const AnyffiMapping* mapping) {
  int are_compared = 1;
  if ((mapping->key_type_mask & ~ANYFFI_PY_COMPARED) == 0) return 1;
  for (int64_t i = 0; are_compared && i < mapping->used; ++i) {
    const AnyffiValue* key = &mapping->entries[i].key;
    are_compared = key->type_code == ANYFFI_UNSET || anyffi_py_is_compared(key, 0);
  }
  return are_compared;
}

/// Whether two values are equal: 1, 0, -1 if that needs Python code, -2 with an exception.
static int anyffi_py_values_equal(const AnyffiValue* mine, const AnyffiValue* theirs) {
  int32_t is_equal = anyffi_value_equal_native(mine, theirs);
  if (is_equal >= 0) return is_equal;
  if (!anyffi_py_is_compared(mine, 0) || !anyffi_py_is_compared(theirs, 0)) return -1;
  return anyffi_value_equal(mine, theirs, &is_equal) == 0 ? is_equal : anyffi_py_raise_taken() - 1;
}

/// Finds the entry with the key of another mapping's entry `number`, which most often has the same number: its number,
/// -1 if it is absent, -2 with an exception. All keys of both must be comparable without Python code.
static int64_t anyffi_py_find_same(const AnyffiMapping* mapping, const AnyffiValue* key, int64_t number) {
  int64_t found = -1;
  if (number < mapping->used && mapping->entries[number].key.type_code == key->type_code) {
    int is_equal = anyffi_py_values_equal(key, &mapping->entries[number].key);
    if (is_equal == 1) return number;
    if (is_equal == -2) return -2;
  }
  return anyffi_mapping_find(&mapping->header, key, &found) == 0 ? found : anyffi_py_raise_taken() - 1;
}

/// Compares with another mapping: 1, 0, -1 if that needs Python code, -2 with an exception.
static int anyffi_py_mappings_equal(const AnyffiMapping* mine, const AnyffiMapping* theirs) {
  if (mine->size != theirs->size) return 0;
  if (!anyffi_py_are_keys_compared(mine) || !anyffi_py_are_keys_compared(theirs)) return -1;
  for (int64_t i = 0; i < mine->used; ++i) {
    const AnyffiEntry* entry = &mine->entries[i];
    if (entry->key.type_code == ANYFFI_UNSET) continue;
    int64_t found = anyffi_py_find_same(theirs, &entry->key, i);
    if (found < 0) return found == -1 ? 0 : -2;
    int is_equal = anyffi_py_values_equal(&entry->value, &theirs->entries[found].value);
    if (is_equal != 1) return is_equal;
  }
  return 1;
}

/// 1 for Python's scalars, and for tuples of them; not for subclasses, which may compare and hash differently.
static int anyffi_py_is_exact(PyObject* x, int depth) {
  PyTypeObject* cls = Py_TYPE(x);
  if (cls != &PyTuple_Type) {
    return cls == &PyLong_Type || cls == &PyUnicode_Type || cls == &PyFloat_Type || cls == &PyBytes_Type ||
           cls == &PyBool_Type || x == Py_None || x == Py_Ellipsis;
  }
  int is_exact = depth < ANYFFI_PY_COMPARED_DEPTH;
  for (Py_ssize_t i = 0; is_exact && i < PyTuple_GET_SIZE(x); ++i) {
    is_exact = anyffi_py_is_exact(PyTuple_GET_ITEM(x, i), depth + 1);
  }
  return is_exact;
}

/// Finds the entry of a Python key, most often the one at `number`: stores its number, or -1, and returns 1; 0 if that
/// needs Python code, -1 with an exception. All keys of the mapping must be comparable without such code.
static int anyffi_py_find_plain(const AnyffiMapping* mapping, PyObject* key, int64_t number, int64_t* out) {
  AnyffiValue packed;
  *out = number;
  if (number < mapping->used && anyffi_py_cell_equals(&mapping->entries[number].key, key) == 1) return 1;
  *out = -1;
  int is_made = !anyffi_py_pack_plain(key, &packed);
  if (is_made) {
    int made = anyffi_py_is_exact(key, 0) ? anyffi_py_pack_directly(key, &packed) : 0;
    if (made <= 0) return made;
  }
  int is_compared = anyffi_py_is_compared(&packed, 0);
  // A NaN that is a key of a dict equals no other key.
  int status = is_compared ? anyffi_mapping_find(&mapping->header, &packed, out) : 0;
  if (status != 0) anyffi_py_raise_taken();
  int is_nan = packed.type_code == ANYFFI_FLOAT && !is_compared;
  if (is_made) anyffi_value_drop(&packed);
  return status != 0 ? -1 : is_compared || is_nan;
}

#ifdef Py_GIL_DISABLED
static int anyffi_py_equals_copy(const AnyffiMapping* mine, PyObject* dict, int depth);
#endif

/// As `anyffi_py_mappings_equal`, with a dict, in the dict's order: packing its items is faster than unpacking ours.
static int anyffi_py_equals_dict(const AnyffiMapping* mine, PyObject* dict, int depth) {
#ifdef Py_GIL_DISABLED
  // Compare with a copy, which no other thread changes.
  PyObject* held = PyDict_Copy(dict);
  if (held == NULL) return -2;
  int result = anyffi_py_equals_copy(mine, held, depth);
  Py_DECREF(held);
  return result;
}

static int anyffi_py_equals_copy(const AnyffiMapping* mine, PyObject* dict, int depth) {
#endif
  PyObject *key, *item;
  Py_ssize_t position = 0;
  int64_t found = -1;
  if (mine->size != PyDict_Size(dict)) return 0;
  if (!anyffi_py_are_keys_compared(mine)) return -1;
  while (PyDict_Next(dict, &position, &key, &item)) {
    int is_found = anyffi_py_find_plain(mine, key, found + 1, &found);
    if (is_found <= 0) return is_found - 1;
    if (found < 0) return 0;
    int is_equal = anyffi_py_cell_equals_at(&mine->entries[found].value, item, depth);
    if (is_equal != 1) return is_equal;
  }
  return 1;
}

/// Returns `x` if it is exactly a dict, or the dict of a mappingproxy of one, borrowed, else NULL.
static inline PyObject* anyffi_py_plain_entries(PyObject* x) {
  if (Py_IS_TYPE(x, &PyDictProxy_Type)) x = anyffi_py_proxied(x);
  return x != NULL && PyDict_CheckExact(x) ? x : NULL;
}

/// Compares a nested mapping with a Python object: 1, 0, -1 if that needs Python code.
static int anyffi_py_entries_equal(const AnyffiMapping* mine, PyObject* item, int depth) {
  PyObject* dict = anyffi_py_plain_entries(item);
  int is_equal = dict == NULL ? -1 : anyffi_py_equals_dict(mine, dict, depth);
  if (is_equal != -2) return is_equal;
  // The code of Python will raise the same error again.
  PyErr_Clear();
  return -1;
}

/// `==` and `!=` of a Map or Dict.
static PyObject* anyffi_py_mapping_compare(PyObject* self, PyObject* other, int operation, int32_t type_code) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  AnyffiMapping* mine = anyffi_py_peek_mapping(self, type_code);
  int is_equal = self == other ? 1 : -1;
  if (self != other && mine != NULL) {
    AnyffiMapping* theirs = (AnyffiMapping*)anyffi_py_peek_mapping_exact(other);
    PyObject* dict = theirs == NULL ? anyffi_py_plain_entries(other) : NULL;
    if (theirs != NULL) is_equal = anyffi_py_mappings_equal(mine, theirs);
    if (dict != NULL) is_equal = anyffi_py_equals_dict(mine, dict, 0);
  }
  if (is_equal == -2) return NULL;
  if (is_equal == -1) {
    int is_builtin = PyDict_Check(other) || PyObject_TypeCheck(other, &PyDictProxy_Type);
    return anyffi_py_compare_shared(self, other, operation, is_builtin, type_code);
  }
  return PyBool_FromLong(is_equal == (operation == Py_EQ));
}

#endif  // ANYFFI_MAPPING_COMPARE_H_
