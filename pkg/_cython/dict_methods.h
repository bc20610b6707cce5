/// Methods of Map and Dict.

#ifndef ANYFFI_DICT_METHODS_H_
#define ANYFFI_DICT_METHODS_H_

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
  return is_there < 0 ? NULL : anyffi_py_return_new(count == 2 ? args[1] : Py_None);
}

static PyObject* anyffi_py_map_get(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_mapping_get(self, args, count, names, ANYFFI_MAP);
}

static PyObject* anyffi_py_dict_get(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_mapping_get(self, args, count, names, ANYFFI_DICT);
}

/// Removes a key, whose value `out` owns then: 1, 0 if it is absent, -1 with an exception, ANYFFI_IS_SET for a Set.
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
    // Cannot fail: the entry is there. Releasing its key may run code, but none that sees the entry.
    anyffi_mapping_erase(&mapping->header, entry);
  }
  if (anyffi_py_end_access(status, was_made, &packed) < 0) return -1;
  return is_set ? ANYFFI_IS_SET : entry >= 0;
}

static PyObject* anyffi_py_dict_pop(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiValue popped;
  if (anyffi_py_peek(self, ANYFFI_DICT) == NULL || names != NULL || count < 1 || count > 2) {
    return anyffi_py_call_shared(ANYFFI_DICT, "pop", self, args, count, names);
  }
  int was_there = anyffi_py_take_entry(self, ANYFFI_DICT, args[0], &popped);
  if (was_there > 0) return anyffi_py_unpack(&popped);
  if (was_there < 0) return NULL;
  return count == 2 ? anyffi_py_return_new(args[1]) : anyffi_py_raise_key_error(args[0]);
}

static PyObject* anyffi_py_dict_popitem(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiMapping* dict = anyffi_py_peek_mapping(self, ANYFFI_DICT);
  AnyffiEntry last;
  int64_t number = -1;
  if (dict != NULL && anyffi_py_has_arguments(count, 0, names)) {
    number = anyffi_mapping_next(&dict->header, INT64_MAX, -1, &last.key, &last.value);
  }
  if (number < 0) return anyffi_py_call_shared(ANYFFI_DICT, "popitem", self, args, count, names);
  anyffi_mapping_erase(&dict->header, number);
  PyObject* key = anyffi_py_unpack(&last.key);
  if (key == NULL) {
    anyffi_py_discard(&last.value);
    return NULL;
  }
  PyObject* value = anyffi_py_unpack(&last.value);
  PyObject* pair = value == NULL ? NULL : PyTuple_Pack(2, key, value);
  Py_DECREF(key);
  Py_XDECREF(value);
  return pair;
}

static PyObject* anyffi_py_dict_setdefault(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiValue key, value;
  int32_t existed;
  if (anyffi_py_peek(self, ANYFFI_DICT) == NULL || names != NULL || count < 1 || count > 2) {
    return anyffi_py_call_shared(ANYFFI_DICT, "setdefault", self, args, count, names);
  }
  int is_there = anyffi_py_find_item(self, ANYFFI_DICT, args[0], &value);
  if (is_there > 0) return anyffi_py_unpack(&value);
  if (is_there < 0 || anyffi_py_pack_owned(count == 2 ? args[1] : Py_None, &value) < 0) return NULL;
  if (anyffi_py_pack_owned(args[0], &key) < 0) {
    anyffi_py_discard(&value);
    return NULL;
  }
  AnyffiValue stored = value;
  anyffi_value_retain(&stored);
  // Steals both, also where it fails.
  if (anyffi_mapping_set(((AnyffiWrapper*)self)->object, &key, &value, &existed) != 0) {
    anyffi_py_raise_taken();
    anyffi_py_discard(&stored);
    return NULL;
  }
  return anyffi_py_unpack(&stored);
}

// ---- all entries ----------------------------------------------------------------------------------------------------

/// Sets packed entries, which it moves out of `from`; 0, or -1 with an error of the runtime.
static int anyffi_py_move_entries(AnyffiObject* to, AnyffiMapping* from) {
  int32_t existed;
  if (anyffi_mapping_reserve(to, from->used) != 0) return -1;
  for (int64_t i = 0; i < from->used; ++i) {
    AnyffiValue key = from->entries[i].key, value = from->entries[i].value;
    from->entries[i].key = from->entries[i].value = anyffi_make_none();
    if (anyffi_mapping_set(to, &key, &value, &existed) != 0) return -1;
  }
  return 0;
}

/// 1 for keys that are surely hashable and compared without code of Python.
static inline int anyffi_py_is_plain_key(const AnyffiValue* key) {
  if (key->type_code == ANYFFI_ARRAY) {
    uint64_t types = ((const AnyffiSequence*)key->as_object)->type_mask;
    if ((types & ~(ANYFFI_PY_COMPARED | anyffi_type_bit(ANYFFI_FLOAT))) != 0) return 0;
  } else if (key->type_code > ANYFFI_BYTES_OBJECT) {
    return 0;
  }
  return anyffi_py_is_compared(key, 0);
}

/// Packs one more entry without hashing its key: 1, 0 where that takes code of Python and for keys that may become
/// equal to others, -1 with an exception.
static inline int anyffi_py_pack_unhashed_entry(PyObject* key, PyObject* item, AnyffiMapping* made,
                                                AnyffiDirect* direct) {
  int packed = anyffi_py_direct_entry(key, item, 1, made, direct, 1);
  return packed > 0 ? anyffi_py_is_plain_key(&made->entries[made->used - 1].key) : packed;
}

/// Packs the entries of a dict, or a list or tuple of pairs, without hashing the keys; returns as
/// `anyffi_py_pack_unhashed_entry`. The keys of pairs may be equal.
static int anyffi_py_pack_unhashed(PyObject* x, AnyffiValue* out) {
  PyObject *key, *item;
  Py_ssize_t position = 0;
  int packed = 1, is_dict = PyDict_CheckExact(x);
  AnyffiDirect direct;
  if (anyffi_mapping_create(ANYFFI_DICT, is_dict ? PyDict_Size(x) : Py_SIZE(x), out) != 0) {
    return anyffi_py_raise_taken();
  }
  AnyffiMapping* made = (AnyffiMapping*)out->as_object;
  anyffi_py_direct_open(&direct, x);
  while (packed > 0 && is_dict && PyDict_Next(x, &position, &key, &item)) {
    packed = anyffi_py_pack_unhashed_entry(key, item, made, &direct);
  }
  for (; packed > 0 && !is_dict && position < Py_SIZE(x); ++position) {
    PyObject* pair = PySequence_Fast_ITEMS(x)[position];
    packed = PyTuple_CheckExact(pair) && PyTuple_GET_SIZE(pair) == 2;
    if (packed) {
      packed = anyffi_py_pack_unhashed_entry(PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1), made, &direct);
    }
  }
  anyffi_py_forget_containers(&direct.memo);
  if (packed <= 0) anyffi_py_discard(out);
  return packed;
}

/// Sets the entries of an exact dict, mappingproxy of one, Map or Dict: 1, 0 for other values, -1 with an exception.
static int anyffi_py_update_from(AnyffiObject* to, PyObject* other) {
  AnyffiValue packed;
  AnyffiObject* found = anyffi_py_peek_mapping_exact(other);
  PyObject* dict = found != NULL ? NULL : anyffi_py_plain_entries(other);
  int status, was_made = 0;
  if (found != NULL) {
    status = anyffi_mapping_update(to, found);
  } else if (dict != NULL) {
    was_made = anyffi_py_pack_unhashed(dict, &packed);
    if (was_made < 0) return -1;
    if (was_made) {
      status = anyffi_py_move_entries(to, (AnyffiMapping*)packed.as_object);
    } else {
      was_made = anyffi_py_pack_object(dict, &packed);
      if (was_made < 0) return -1;
      status = anyffi_mapping_update(to, packed.as_object);
    }
  } else {
    return 0;
  }
  return anyffi_py_end_access(status, was_made, &packed) < 0 ? -1 : 1;
}

/// Sets the entries of a list or tuple of pairs; returns as `anyffi_py_update_from`.
static int anyffi_py_update_from_pairs(AnyffiObject* to, PyObject* other) {
  AnyffiValue packed;
  if (!PyList_CheckExact(other) && !PyTuple_CheckExact(other)) return 0;
  int was_made = anyffi_py_pack_unhashed(other, &packed);
  if (was_made <= 0) return was_made;
  int status = anyffi_py_move_entries(to, (AnyffiMapping*)packed.as_object);
  return anyffi_py_end_access(status, was_made, &packed) < 0 ? -1 : 1;
}

static PyObject* anyffi_py_dict_update(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiObject* dict = anyffi_py_peek(self, ANYFFI_DICT);
  int status = 0;
  if (dict != NULL && anyffi_py_has_arguments(count, 1, names)) {
    status = anyffi_py_update_from(dict, args[0]);
    if (status == 0) status = anyffi_py_update_from_pairs(dict, args[0]);
  }
  if (status == 0) return anyffi_py_call_shared(ANYFFI_DICT, "update", self, args, count, names);
  return status < 0 ? NULL : anyffi_py_return_new(Py_None);
}

/// `self |= other`.
static PyObject* anyffi_py_dict_or_in_place(PyObject* self, PyObject* other) {
  AnyffiObject* dict = anyffi_py_peek(self, ANYFFI_DICT);
  int status = dict != NULL ? anyffi_py_update_from(dict, other) : 0;
  if (status == 0) return anyffi_py_call_shared_slot(ANYFFI_DICT, "__ior__", self, other);
  return status < 0 ? NULL : anyffi_py_return_new(self);
}

/// `self | other`.
static PyObject* anyffi_py_mapping_or(PyObject* self, PyObject* other, int32_t type_code) {
  AnyffiObject* mine = anyffi_py_peek(self, type_code);
  AnyffiValue made;
  if (mine == NULL || (anyffi_py_plain_entries(other) == NULL && anyffi_py_peek_mapping_exact(other) == NULL)) {
    return anyffi_py_call_shared_slot(type_code, "__or__", self, other);
  }
  AnyffiValue container = anyffi_make_object(mine);
  if (anyffi_container_copy(&container, type_code, &made) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  if (anyffi_py_update_from(made.as_object, other) < 0) {
    anyffi_py_discard(&made);
    return NULL;
  }
  return anyffi_py_wrap(made.as_object);
}

/// `other | self`.
static PyObject* anyffi_py_mapping_reflected_or(PyObject* self, PyObject* other, int32_t type_code) {
  AnyffiObject* mine = anyffi_py_peek(self, type_code);
  PyObject* dict = anyffi_py_plain_entries(other);
  AnyffiValue made;
  int packed = 0;
  if (mine != NULL && dict != NULL) {
    AnyffiDirect direct;
    anyffi_py_direct_open(&direct, dict);
    packed = anyffi_py_direct_dict(dict, dict, type_code, &made, &direct, 1);
    anyffi_py_forget_containers(&direct.memo);
  }
  if (packed < 0) return NULL;
  if (packed == 0) return anyffi_py_call_shared_slot(type_code, "__ror__", self, other);
  if (anyffi_mapping_update(made.as_object, mine) == 0) return anyffi_py_wrap(made.as_object);
  anyffi_py_raise_taken();
  anyffi_py_discard(&made);
  return NULL;
}

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

static const AnyffiOperatorRow anyffi_py_map_operators[] = {
    {"__or__", "__ror__", anyffi_py_map_or},
    {NULL, NULL, NULL},
};

static const AnyffiOperatorRow anyffi_py_dict_operators[] = {
    {"__or__", "__ror__", anyffi_py_dict_or},
    {NULL, NULL, NULL},
};

static const AnyffiMethodRow anyffi_py_map_methods[] = {
    {"get", anyffi_py_map_get},
    {"items", anyffi_py_map_items},
    {"keys", anyffi_py_map_keys},
    {"values", anyffi_py_map_values},
    {NULL, NULL},
};

static const AnyffiMethodRow anyffi_py_dict_methods[] = {
    {"clear", anyffi_py_dict_clear},
    {"copy", anyffi_py_dict_copy},
    {"get", anyffi_py_dict_get},
    {"items", anyffi_py_dict_items},
    {"keys", anyffi_py_dict_keys},
    {"values", anyffi_py_dict_values},
    {"pop", anyffi_py_dict_pop},
    {"popitem", anyffi_py_dict_popitem},
    {"setdefault", anyffi_py_dict_setdefault},
    {"update", anyffi_py_dict_update},
    {NULL, NULL},
};

#endif  // ANYFFI_DICT_METHODS_H_
