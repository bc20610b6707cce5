/// Methods of Map and Dict.

#ifndef ANYFFI_DICT_METHODS_H_
#define ANYFFI_DICT_METHODS_H_

#include "copies.h"
#include "dict_update.h"
#include "views.h"

// ---- single keys ----------------------------------------------------------------------------------------------------

static PyObject* anyffi_py_mapping_get(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                       int32_t type_code) {
  AnyffiValue found;
  if (anyffi_py_peek(self, type_code) == NULL || names != NULL || count < 1 || count > 2) {
    return anyffi_py_call_shared(type_code, "get", self, args, count, names);
  }
  int is_there = anyffi_py_find_item(self, type_code, args[0], &found);
  if (is_there > 0) return anyffi_py_unpack(&found);
  if (is_there < 0) return anyffi_py_fail_method(type_code, "get", args, count, NULL);
  return anyffi_py_return_new(count == 2 ? args[1] : Py_None);
}

static PyObject* anyffi_py_map_get(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_mapping_get(self, args, count, names, ANYFFI_MAP);
}

static PyObject* anyffi_py_dict_get(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_mapping_get(self, args, count, names, ANYFFI_DICT);
}

/// Removes a key and moves its value to `out`: 1, 0 if it is absent, -1 with an exception, ANYFFI_IS_SET for a Set.
static int anyffi_py_take_entry(PyObject* self, int32_t type_code, PyObject* key, AnyffiValue* out) {
  AnyffiValue packed;
  int64_t entry = -1;
  int was_made = anyffi_py_pack(key, &packed);
  if (was_made < 0) return -1;
  AnyffiMapping* mapping = anyffi_py_unwrap_mapping(self, type_code);
  if (mapping == NULL) return was_made ? anyffi_py_discard(&packed) : -1;
  int is_set = packed.type_code == ANYFFI_SET && type_code == ANYFFI_SET;
  int status = is_set ? 0 : anyffi_mapping_find(&mapping->header, &packed, &entry);
  if (status == 0 && entry >= 0) {
    *out = mapping->entries[entry].value;
    anyffi_value_retain(out);
    // Cannot fail, because the entry exists. Releasing its key may run code, but none that sees the entry.
    anyffi_mapping_erase(&mapping->header, entry);
  }
  if (anyffi_py_end_access(status, was_made, &packed) < 0) return -1;
  return is_set ? ANYFFI_IS_SET : entry >= 0;
}

/// `del self[key]`; 0, or -1 with an exception.
static int anyffi_py_dict_delete(PyObject* self, PyObject* key) {
  AnyffiValue removed;
  int was_there = anyffi_py_take_entry(self, ANYFFI_DICT, key, &removed);
  if (was_there > 0) anyffi_value_drop(&removed);
  if (was_there == 0) anyffi_py_raise_key_error(key);
  if (was_there < 0) anyffi_py_fail_special(ANYFFI_DICT, "__delitem__", key);
  return was_there > 0 ? 0 : -1;
}

/// Removes an entry, unless the mapping was changed since it was read: 1, else 0. Releases the key and value in
/// `entry`.
static int anyffi_py_erase_read(PyObject* self, int32_t type_code, int64_t number, const AnyffiEntry* entry) {
  AnyffiMapping* mapping = anyffi_py_peek_mapping(self, type_code);
  int is_there = mapping != NULL && number < mapping->used &&
                 anyffi_py_is_same_value(&mapping->entries[number].key, &entry->key) &&
                 anyffi_py_is_same_value(&mapping->entries[number].value, &entry->value);
  if (is_there) anyffi_mapping_erase(&mapping->header, number);
  anyffi_value_drop(&entry->key);
  anyffi_value_drop(&entry->value);
  return is_there;
}

/// Releases the key and value in `entry` after a failure; NULL.
static PyObject* anyffi_py_discard_read(const AnyffiEntry* entry) {
  anyffi_py_discard(&entry->key);
  anyffi_py_discard(&entry->value);
  return NULL;
}

/// Finds the entry of a key, and sets key and value in `out`, owned: 1, 0 if there is none, -1 with an exception.
static int anyffi_py_read_entry(PyObject* self, PyObject* key, int64_t* number, AnyffiEntry* out) {
  AnyffiValue packed;
  *number = -1;
  int was_made = anyffi_py_pack(key, &packed);
  if (was_made < 0) return -1;
  AnyffiMapping* dict = anyffi_py_unwrap_mapping(self, ANYFFI_DICT);
  if (dict == NULL) return was_made ? anyffi_py_discard(&packed) : -1;
  int status = anyffi_mapping_find(&dict->header, &packed, number);
  if (status == 0 && *number >= 0) {
    out->key = anyffi_own_element(&dict->entries[*number].key);
    out->value = anyffi_own_element(&dict->entries[*number].value);
  }
  if (anyffi_py_end_access(status, was_made, &packed) < 0) return -1;
  return *number >= 0;
}

static PyObject* anyffi_py_dict_pop(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiEntry entry;
  int64_t number;
  int was_there;
  if (anyffi_py_peek(self, ANYFFI_DICT) == NULL || names != NULL || count < 1 || count > 2) {
    return anyffi_py_call_shared(ANYFFI_DICT, "pop", self, args, count, names);
  }
  if ((was_there = anyffi_py_read_entry(self, args[0], &number, &entry)) > 0) {
    // Unpacked first: without memory for that, nothing has changed.
    PyObject* value = anyffi_py_unpack_copy(&entry.value);
    if (value == NULL) return anyffi_py_discard_read(&entry);
    if (anyffi_py_erase_read(self, ANYFFI_DICT, number, &entry)) return value;
    // Unpacking ran code that changed the dict.
    Py_DECREF(value);
    return anyffi_py_call_shared(ANYFFI_DICT, "pop", self, args, count, names);
  }
  if (was_there < 0) return anyffi_py_fail_method(ANYFFI_DICT, "pop", args, count, NULL);
  return count == 2 ? anyffi_py_return_new(args[1]) : anyffi_py_raise_key_error(args[0]);
}

/// Removes the last entry, and returns its key, or key and value if `has_values`; NULL, without an exception if there
/// is no entry, or if it was changed by code that unpacking ran.
static PyObject* anyffi_py_pop_last(PyObject* self, int32_t type_code, int has_values) {
  AnyffiMapping* mapping;
  AnyffiEntry last;
  int64_t number;
  if ((mapping = anyffi_py_peek_mapping(self, type_code)) != NULL &&
      (number = anyffi_mapping_next(&mapping->header, INT64_MAX, -1, &last.key, &last.value)) >= 0) {
    // Unpacked first: without memory for that, nothing has changed.
    PyObject* popped = anyffi_py_unpack_copy(&last.key);
    if (popped != NULL && has_values) {
      PyObject* value = anyffi_py_unpack_copy(&last.value);
      Py_SETREF(popped, value == NULL ? NULL : PyTuple_Pack(2, popped, value));
      Py_XDECREF(value);
    }
    if (popped == NULL) return anyffi_py_discard_read(&last);
    if (anyffi_py_erase_read(self, type_code, number, &last)) return popped;
    Py_DECREF(popped);
  }
  return NULL;
}

static PyObject* anyffi_py_dict_popitem(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (anyffi_py_has_arguments(count, 0, names)) {
    PyObject* pair = anyffi_py_pop_last(self, ANYFFI_DICT, 1);
    if (pair != NULL || PyErr_Occurred()) return pair;
  }
  return anyffi_py_call_shared(ANYFFI_DICT, "popitem", self, args, count, names);
}

static PyObject* anyffi_py_dict_setdefault(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiValue key, value;
  int32_t existed;
  if (anyffi_py_peek(self, ANYFFI_DICT) == NULL || names != NULL || count < 1 || count > 2) {
    return anyffi_py_call_shared(ANYFFI_DICT, "setdefault", self, args, count, names);
  }
  int is_there = anyffi_py_find_item(self, ANYFFI_DICT, args[0], &value);
  if (is_there > 0) return anyffi_py_unpack(&value);
  if (is_there < 0 || anyffi_py_pack_owned(count == 2 ? args[1] : Py_None, &value) < 0) {
    return anyffi_py_fail_method(ANYFFI_DICT, "setdefault", args, count, NULL);
  }
  if (anyffi_py_pack_owned(args[0], &key) < 0) {
    anyffi_py_discard(&value);
    return anyffi_py_fail_method(ANYFFI_DICT, "setdefault", args, count, NULL);
  }
  // Unpacked first: without memory for that, nothing has changed.
  PyObject* unpacked = anyffi_py_unpack_copy(&value);
  AnyffiValue former = anyffi_make_value((uint32_t)ANYFFI_UNSET, 0);
  int status = unpacked == NULL ? -1 : 0;
  if (status == 0 && (key.type_code > 0 || value.type_code > 0)) {
    // Converting objects may have run code that set the key, or another thread did.
    status = anyffi_mapping_get(((AnyffiWrapper*)self)->object, &key, &former);
    if (status != 0) anyffi_py_raise_taken();
  }
  if (status != 0 || former.type_code != ANYFFI_UNSET) {
    anyffi_py_discard(&key);
    anyffi_py_discard(&value);
    Py_XDECREF(unpacked);
    return status != 0 ? NULL : anyffi_py_unpack(&former);
  }
  // Steals both, even on failure.
  if (anyffi_mapping_set(((AnyffiWrapper*)self)->object, &key, &value, &existed) != 0) {
    anyffi_py_raise_taken();
    Py_CLEAR(unpacked);
  }
  return unpacked;
}

// ---- all entries ----------------------------------------------------------------------------------------------------

static PyObject* anyffi_py_dict_clear(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiObject* dict = anyffi_py_peek(self, ANYFFI_DICT);
  if (dict == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(ANYFFI_DICT, "clear", self, args, count, names);
  }
  anyffi_mapping_clear(dict);
  Py_RETURN_NONE;
}

static PyObject* anyffi_py_dict_copy(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_copy(self, args, count, names, ANYFFI_DICT);
}

// ---- the tables ---------------------------------------------------------------------------------------------------

static PyObject* anyffi_py_map_or(PyObject* left, PyObject* right) {
  if (anyffi_py_is_left(left, ANYFFI_MAP)) return anyffi_py_mapping_or(left, right, ANYFFI_MAP);
  return anyffi_py_mapping_reflected_or(right, left, ANYFFI_MAP);
}

static PyObject* anyffi_py_dict_or(PyObject* left, PyObject* right) {
  if (anyffi_py_is_left(left, ANYFFI_DICT)) return anyffi_py_mapping_or(left, right, ANYFFI_DICT);
  return anyffi_py_mapping_reflected_or(right, left, ANYFFI_DICT);
}

ANYFFI_PY_OPERATOR(map_or)
ANYFFI_PY_OPERATOR(dict_or)
ANYFFI_PY_METHOD(map_get)
ANYFFI_PY_METHOD(dict_clear)
ANYFFI_PY_METHOD(dict_copy)
ANYFFI_PY_METHOD(dict_get)
ANYFFI_PY_METHOD(dict_pop)
ANYFFI_PY_METHOD(dict_popitem)
ANYFFI_PY_METHOD(dict_setdefault)
ANYFFI_PY_METHOD(dict_update)

static const AnyffiOperatorRow anyffi_py_map_operators[] = {
    ANYFFI_PY_OPERATOR_ROW("__or__", "__ror__", map_or),
    {NULL, NULL, NULL},
};

static const AnyffiOperatorRow anyffi_py_dict_operators[] = {
    ANYFFI_PY_OPERATOR_ROW("__or__", "__ror__", dict_or),
    {NULL, NULL, NULL},
};

static const AnyffiMethodRow anyffi_py_map_methods[] = {
    ANYFFI_PY_ROW("get", map_get),
    {"items", anyffi_py_map_items},
    {"keys", anyffi_py_map_keys},
    {"values", anyffi_py_map_values},
    ANYFFI_PY_ROW("__copy__", map_shallow),
    ANYFFI_PY_ROW("__reduce__", map_reduce),
    {NULL, NULL},
};

static const AnyffiMethodRow anyffi_py_dict_methods[] = {
    ANYFFI_PY_ROW("clear", dict_clear),
    ANYFFI_PY_ROW("copy", dict_copy),
    ANYFFI_PY_ROW("get", dict_get),
    {"items", anyffi_py_dict_items},
    {"keys", anyffi_py_dict_keys},
    {"values", anyffi_py_dict_values},
    ANYFFI_PY_ROW("pop", dict_pop),
    ANYFFI_PY_ROW("popitem", dict_popitem),
    ANYFFI_PY_ROW("setdefault", dict_setdefault),
    ANYFFI_PY_ROW("update", dict_update),
    ANYFFI_PY_ROW("__copy__", dict_shallow),
    ANYFFI_PY_ROW("__reduce__", dict_reduce),
    {NULL, NULL},
};

#endif  // ANYFFI_DICT_METHODS_H_
