/// Setting many entries of a Dict at once, and `|` of mappings.

#ifndef ANYFFI_DICT_UPDATE_H_
#define ANYFFI_DICT_UPDATE_H_

#include "mapping_compare.h"

/// Sets packed entries, which it moves out of `from`; 0, or -1 with an error of the runtime.
static int anyffi_py_move_entries(AnyffiObject* to, AnyffiMapping* from) {
  int32_t existed;
  // Comparing a key with one of the other types may fail: then the dict has to be restored.
  if ((((AnyffiMapping*)to)->key_type_mask & ~ANYFFI_PY_COMPARED) != 0) return anyffi_mapping_update(to, &from->header);
  if (anyffi_mapping_reserve(to, from->used) != 0) return -1;
  for (int64_t i = 0; i < from->used; ++i) {
    AnyffiValue key = from->entries[i].key, value = from->entries[i].value;
    from->entries[i].key = from->entries[i].value = anyffi_make_none();
    if (anyffi_mapping_set(to, &key, &value, &existed) != 0) return -1;
  }
  return 0;
}

/// 1 for keys that are certainly hashable and are compared without Python code.
static inline int anyffi_py_is_plain_key(const AnyffiValue* key) {
  if (key->type_code == ANYFFI_ARRAY) {
    uint64_t types = ((const AnyffiSequence*)key->as_object)->type_mask;
    if ((types & ~(ANYFFI_PY_COMPARED | anyffi_type_bit(ANYFFI_FLOAT))) != 0) return 0;
  } else if (key->type_code > ANYFFI_BYTES_OBJECT) {
    return 0;
  }
  return anyffi_py_is_compared(key, 0);
}

/// Packs one more entry without hashing its key: 1, 0 if that needs Python code and for keys that may become equal to
/// others, -1 with an exception.
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
#ifdef Py_GIL_DISABLED
  // Other threads could change a list or dict.
  if (!PyTuple_CheckExact(x)) return 0;
#endif
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

/// Sets the entries of the dict that Python makes of the arguments: 1, or -1 with an exception.
static int anyffi_py_update_from_arguments(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  PyObject* content = anyffi_py_dict_of(args, count, names);
  // Making the dict may have run Python code.
  AnyffiObject* dict = content == NULL ? NULL : anyffi_py_unwrap_as(self, ANYFFI_DICT);
  int status = dict == NULL ? -1 : anyffi_py_update_from(dict, content);
  Py_XDECREF(content);
  return status;
}

static PyObject* anyffi_py_dict_update(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiObject* dict = anyffi_py_peek(self, ANYFFI_DICT);
  int status = 0;
  if (dict != NULL && anyffi_py_has_arguments(count, 1, names)) {
    status = anyffi_py_update_from(dict, args[0]);
    if (status == 0) status = anyffi_py_update_from_pairs(dict, args[0]);
  }
  if (dict != NULL && status == 0 && count <= 1) status = anyffi_py_update_from_arguments(self, args, count, names);
  if (status == 0) return anyffi_py_call_shared(ANYFFI_DICT, "update", self, args, count, names);
  if (status < 0) return anyffi_py_fail_method(ANYFFI_DICT, "update", args, count, names);
  Py_RETURN_NONE;
}

/// `self |= other`.
static PyObject* anyffi_py_dict_or_in_place(PyObject* self, PyObject* other) {
  AnyffiObject* dict = anyffi_py_peek(self, ANYFFI_DICT);
  int status = dict != NULL ? anyffi_py_update_from(dict, other) : 0;
  if (dict != NULL && status == 0) status = anyffi_py_update_from_arguments(self, &other, 1, NULL);
  if (status == 0) return anyffi_py_call_shared_slot(ANYFFI_DICT, "__ior__", self, other);
  if (status < 0) return anyffi_py_fail_method(ANYFFI_DICT, "__ior__", &other, 1, NULL);
  return anyffi_py_return_new(self);
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
    return anyffi_py_fail_method(type_code, "__or__", &other, 1, NULL);
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
  if (packed < 0) return anyffi_py_fail_method(type_code, "__ror__", &other, 1, NULL);
  if (packed == 0) return anyffi_py_call_shared_slot(type_code, "__ror__", self, other);
  if (anyffi_mapping_update(made.as_object, mine) == 0) return anyffi_py_wrap(made.as_object);
  anyffi_py_raise_taken();
  anyffi_py_discard(&made);
  return NULL;
}

#endif  // ANYFFI_DICT_UPDATE_H_
