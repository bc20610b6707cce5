/// Direct access of wrappers to the memory of containers.
///
/// The GIL is held, so that nothing changes except while Python code runs: in packing, unpacking and comparing keys.
/// Slices and keys that are no exact int are handled in elements.h.

#ifndef ANYFFI_CONTAINERS_H_
#define ANYFFI_CONTAINERS_H_

#include "pack.h"
#include "shell.h"
#include "unpack.h"
#include "wrapper.h"

// ---- sequences ------------------------------------------------------------------------------------------------------

static inline AnyffiSequence* anyffi_py_unwrap_sequence(PyObject* wrapper, int32_t type_code) {
  return (AnyffiSequence*)anyffi_py_unwrap_as(wrapper, type_code);
}

/// Reads a key that is an exact int in the range of int64, as most are; 0 for others.
static inline int anyffi_py_read_index(PyObject* key, int64_t* out) {
  return Py_IS_TYPE(key, &PyLong_Type) && anyffi_py_read_int(key, out) == 0;
}

/// As `anyffi_py_get_item`, for a key that is a slice, negative, out of range or not an exact int.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_get_item_slow(PyObject* wrapper, int32_t type_code, PyObject* key);

/// Returns an element by its key. The most frequent look-ups call no other function, which halves the instructions.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_get_item(PyObject* wrapper, int32_t type_code, PyObject* key) {
  AnyffiSequence* sequence = (AnyffiSequence*)((AnyffiWrapper*)wrapper)->object;
  int64_t index;
  if (sequence != NULL && anyffi_py_is_like(&sequence->header, type_code) && Py_IS_TYPE(key, &PyLong_Type) &&
      anyffi_py_read_short_int(key, &index) && (uint64_t)index < (uint64_t)sequence->size) {
    const AnyffiValue* cell = &sequence->data[index];
    return cell->type_code == ANYFFI_INT ? anyffi_py_new_int(cell->as_int) : anyffi_py_unpack_copy(cell);
  }
  return anyffi_py_get_item_slow(wrapper, type_code, key);
}

/// 1 if unpacking a value runs no Python code, not even in the garbage collector.
static inline int anyffi_py_is_code_free(const AnyffiValue* value) {
  int32_t code = value->type_code;
  if (code <= 0) return code >= ANYFFI_BYTES || code == ANYFFI_ELLIPSIS;
  return (code >= ANYFFI_STR_OBJECT && code <= ANYFFI_COMPLEX) || code == ANYFFI_PY_OBJECT;
}

/// 1 if two values are the same object, or inline values of the same bytes. An element's flags do not matter.
static inline int anyffi_py_is_same_value(const AnyffiValue* a, const AnyffiValue* b) {
  return a->type_code == b->type_code && a->as_int == b->as_int && (a->type_code > 0 || a->aux == b->aux);
}

/// Appends a new reference, which it steals; NULL means that an exception is set.
static inline int anyffi_py_append_new(PyObject* list, PyObject* item) {
  int status = item == NULL ? -1 : anyffi_py_append(list, item);
  Py_XDECREF(item);
  return status;
}

/// Returns a list of all elements, NULL with an exception. Unpacking one may run code that changes the sequence.
static PyObject* anyffi_py_list_elements(const AnyffiSequence* sequence) {
  PyObject* items = anyffi_py_reserve_list((Py_ssize_t)sequence->size);
  if (items == NULL) return NULL;
  for (int64_t i = 0; i < sequence->size; ++i) {
    const AnyffiValue* cell = &sequence->data[i];
    int status;
    // Characters and ints are created inline: `unpack_copy`, and a list that grows, would take twice as long.
    if (anyffi_py_is_latin_character(cell)) {
      status = anyffi_py_append(items, anyffi_state.characters[cell->aux]);
    } else if (cell->type_code == ANYFFI_INT) {
      status = anyffi_py_append_new(items, anyffi_py_new_int(cell->as_int));
    } else {
      status = anyffi_py_append_new(items, anyffi_py_unpack_copy(cell));
    }
    if (status < 0) {
      Py_DECREF(items);
      return NULL;
    }
  }
  return items;
}

/// Raises KeyError, which carries the key.
static PyObject* anyffi_py_raise_key_error(PyObject* key) {
  anyffi_py_raise(PyObject_CallOneArg(PyExc_KeyError, key));
  return NULL;
}

// ---- mappings and sets ----------------------------------------------------------------------------------------------

static inline AnyffiMapping* anyffi_py_unwrap_mapping(PyObject* wrapper, int32_t type_code) {
  return (AnyffiMapping*)anyffi_py_unwrap_as(wrapper, type_code);
}

/// Releases a packed argument after a function of the C ABI returned `status`; 0, or -1 with its error raised.
static inline int anyffi_py_end_access(int status, int was_made, const AnyffiValue* packed) {
  if (status == 0) {
    if (was_made) anyffi_value_drop(packed);
    return 0;
  }
  // The error is taken first: releasing may run code that calls the runtime.
  anyffi_py_raise_taken();
  return was_made ? anyffi_py_discard(packed) : -1;
}

/// Finds the value of a key, owned: 1, 0 if the key is not there, -1 with an exception.
static int anyffi_py_find_item(PyObject* wrapper, int32_t type_code, PyObject* key, AnyffiValue* out) {
  AnyffiObject* mapping = anyffi_py_unwrap_as(wrapper, type_code);
  AnyffiValue packed;
  if (mapping == NULL) return -1;
  int was_made = anyffi_py_pack(key, &packed);
  if (was_made < 0) return -1;
  int status = anyffi_mapping_get(mapping, &packed, out);
  if (anyffi_py_end_access(status, was_made, &packed) < 0) return -1;
  return out->type_code != ANYFFI_UNSET;
}

/// `wrapper[key]` of a Map.
static PyObject* anyffi_py_map_item(PyObject* wrapper, PyObject* key) {
  AnyffiValue found;
  int is_there = anyffi_py_find_item(wrapper, ANYFFI_MAP, key, &found);
  if (is_there > 0) return anyffi_py_unpack(&found);
  return is_there < 0 ? anyffi_py_fail_method(ANYFFI_MAP, "__getitem__", &key, 1, NULL)
                      : anyffi_py_raise_key_error(key);
}

/// `wrapper[key]` of a Dict, whose subclass may have `__missing__`.
static PyObject* anyffi_py_dict_item(PyObject* wrapper, PyObject* key) {
  AnyffiValue found;
  int is_there = anyffi_py_find_item(wrapper, ANYFFI_DICT, key, &found);
  if (is_there > 0) return anyffi_py_unpack(&found);
  if (is_there < 0) return anyffi_py_fail_method(ANYFFI_DICT, "__getitem__", &key, 1, NULL);
  if (ANYFFI_KNOWN_LAYOUT && anyffi_py_look_up(Py_TYPE(wrapper), anyffi_state.missing_name) == NULL) {
    return anyffi_py_raise_key_error(key);
  }
  return PyObject_CallFunctionObjArgs(anyffi_state.missing_item, wrapper, key, NULL);
}

static int anyffi_py_has_key(PyObject* wrapper, int32_t type_code, PyObject* key) {
  AnyffiValue found;
  int is_there = anyffi_py_find_item(wrapper, type_code, key, &found);
  if (is_there > 0) anyffi_value_drop(&found);
  return is_there < 0 ? anyffi_py_fail_special(type_code, "__contains__", key) : is_there;
}

/// What `anyffi_py_has_element` returns if the element is a Set or set, which code in Python compares as a FrozenSet.
#define ANYFFI_IS_SET 2

/// 1 if a set has an element, 0 if not, -1 with an exception, ANYFFI_IS_SET.
static int anyffi_py_has_element(PyObject* wrapper, int32_t type_code, PyObject* element) {
  AnyffiObject* elements = anyffi_py_unwrap_as(wrapper, type_code);
  AnyffiValue packed;
  int64_t entry = -1;
  int status = 0;
  if (elements == NULL) return -1;
  int was_made = anyffi_py_pack(element, &packed);
  if (was_made < 0) return anyffi_py_fail_special(type_code, "__contains__", element);
  int is_set = packed.type_code == ANYFFI_SET;
  if (!is_set) status = anyffi_mapping_find(elements, &packed, &entry);
  if (anyffi_py_end_access(status, was_made, &packed) < 0) return -1;
  return is_set ? ANYFFI_IS_SET : entry >= 0;
}

static int anyffi_py_put_item(PyObject* wrapper, int32_t type_code, PyObject* key, PyObject* item) {
  AnyffiValue packed_key, packed_item;
  int32_t existed = 0;
  if (anyffi_py_pack_owned(key, &packed_key) < 0) return anyffi_py_fail_set_item(type_code, key, item);
  if (anyffi_py_pack_owned(item, &packed_item) < 0) {
    anyffi_py_discard(&packed_key);
    return anyffi_py_fail_set_item(type_code, key, item);
  }
  AnyffiObject* mapping = anyffi_py_unwrap_as(wrapper, type_code);
  if (mapping == NULL) {
    anyffi_py_discard(&packed_item);
    return anyffi_py_discard(&packed_key);
  }
  // Steals both, even on failure.
  if (anyffi_mapping_set(mapping, &packed_key, &packed_item, &existed) != 0) return anyffi_py_raise_taken();
  return 0;
}

/// The number of the first live entry from one on, in steps of 1 or -1; -1 if there is none.
static inline int64_t anyffi_py_next_entry(const AnyffiMapping* mapping, int64_t number, int step) {
  if (number > mapping->used - (step < 0)) number = mapping->used - (step < 0);
  for (; 0 <= number && number < mapping->used; number += step) {
    if (mapping->entries[number].key.type_code != ANYFFI_UNSET) return number;
  }
  return -1;
}

/// What iterators over entries return; the rules use the same numbers.
typedef enum AnyffiEntryPart { ANYFFI_KEYS, ANYFFI_VALUES, ANYFFI_ITEMS, ANYFFI_ELEMENTS } AnyffiEntryPart;

/// Returns key, value or both of an entry.
static PyObject* anyffi_py_unpack_entry(const AnyffiEntry* entry, int part) {
  if (part == ANYFFI_KEYS || part == ANYFFI_ELEMENTS) return anyffi_py_unpack_copy(&entry->key);
  if (part == ANYFFI_VALUES) return anyffi_py_unpack_copy(&entry->value);
  // Both are retained before either is unpacked, which may run code that changes the mapping.
  AnyffiValue key = entry->key, item = entry->value;
  anyffi_value_retain(&key);
  anyffi_value_retain(&item);
  PyObject* unpacked_key = anyffi_py_unpack(&key);
  if (unpacked_key == NULL) {
    anyffi_py_discard(&item);
    return NULL;
  }
  PyObject* unpacked_item = anyffi_py_unpack(&item);
  PyObject* made = unpacked_item == NULL ? NULL : PyTuple_New(2);
  if (made == NULL) {
    Py_DECREF(unpacked_key);
    Py_XDECREF(unpacked_item);
    return NULL;
  }
  PyTuple_SET_ITEM(made, 0, unpacked_key);
  PyTuple_SET_ITEM(made, 1, unpacked_item);
  return made;
}

#endif  // ANYFFI_CONTAINERS_H_
