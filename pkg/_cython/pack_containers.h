/// Lists, tuples, dicts, sets and slices to owned values, if Python code may run meanwhile, such as users' hooks, which
/// could change the container being read.
///
/// Functions return 1, or -1 with an exception; on failure nothing is left in `out`.

#ifndef ANYFFI_PACK_CONTAINERS_H_
#define ANYFFI_PACK_CONTAINERS_H_

#include "nesting.h"
#include "scalars.h"
#include "snapshots.h"

/// Packs a non-scalar as an element of the container `outer`; defined in pack.h.
static int anyffi_py_pack_nested(PyObject* x, AnyffiValue* out, const AnyffiNest* outer);

/// Packs an element of a container; 0, or -1 with an exception.
static inline int anyffi_py_pack_element(PyObject* x, AnyffiValue* out, const AnyffiNest* nest) {
  int packed = anyffi_py_pack_scalar(x, out);
  if (packed == 0) packed = anyffi_py_pack_nested(x, out, nest);
  return packed < 0 ? -1 : 0;
}

// ---- slices ---------------------------------------------------------------------------------------------------------

/// Packs any slice.
static int anyffi_py_pack_slice(PyObject* x, AnyffiValue* out, const AnyffiNest* nest) {
  PyObject* parts[3];
  int is_entered = 0;
  if (anyffi_py_check_depth(nest) < 0 || anyffi_py_read_slice(x, parts) < 0) return -1;
  if (anyffi_slice_create(NULL, NULL, NULL, out) != 0) return anyffi_py_raise_taken();
  AnyffiValue* cells = &((AnyffiSlice*)out->as_object)->start;
  for (int i = 0; i < 3; ++i) {
    int packed = anyffi_py_pack_scalar(parts[i], &cells[i]);
    if (packed == 0) {
      AnyffiValue part;
      // Slices of scalars are immutable: a new object for each occurrence is faster than using the memo.
      if (!is_entered && anyffi_py_enter(nest) < 0) return anyffi_py_discard(out);
      is_entered = 1;
      // Stored once it is complete, because after a failure `part` holds a released object.
      packed = anyffi_py_pack_nested(parts[i], &part, nest);
      if (packed >= 0) cells[i] = part;
    }
    if (packed < 0) return anyffi_py_discard(out);
  }
  return is_entered ? anyffi_py_leave(nest, out) : 1;
}

// ---- lists and tuples -----------------------------------------------------------------------------------------------

/// Returns a list or tuple as a tuple.
static inline PyObject* anyffi_py_snapshot(PyObject* items) {
  if (PyList_CheckExact(items)) return PyList_AsTuple(items);
  Py_INCREF(items);
  return items;
}

/// Packs the elements that the new sequence in `out` does not have yet. Releases it if one fails.
static int anyffi_py_fill_sequence(PyObject* items, AnyffiValue* out, const AnyffiNest* nest) {
  AnyffiSequence* sequence = (AnyffiSequence*)out->as_object;
  Py_ssize_t size = Py_SIZE(items);
  PyObject* snapshot = NULL;
  int packed = 1;
  while (sequence->size < size) {
    AnyffiValue* cell = &sequence->data[sequence->size];
    packed = anyffi_py_pack_scalar(PySequence_Fast_ITEMS(items)[sequence->size], cell);
    if (packed == 0) {
      // Only now may Python code run, which could change the list that is being read.
      if (snapshot == NULL) {
        snapshot = anyffi_py_snapshot(items);
        packed = snapshot == NULL ? -1 : 0;
        if (packed < 0) break;
        items = snapshot;
      }
      packed = anyffi_py_pack_nested(PySequence_Fast_ITEMS(items)[sequence->size], cell, nest);
    }
    if (packed < 0) break;
    sequence->size += 1;
    sequence->type_mask |= anyffi_type_bit(cell->type_code);
    // Usually that element was the only one that is not inline.
    if (sequence->size < size) anyffi_py_fill_inline(PySequence_Fast_ITEMS(items), size, sequence);
  }
  if (packed < 0) anyffi_py_discard(out);
  Py_XDECREF(snapshot);
  return packed < 0 ? -1 : 1;
}

/// Packs a list or tuple.
static int anyffi_py_pack_sequence(PyObject* items, int32_t type_code, AnyffiValue* out, const AnyffiNest* nest) {
  items = anyffi_py_hold_items(items);
  if (items == NULL) return -1;
  int packed = anyffi_py_pack_inline_items(PySequence_Fast_ITEMS(items), Py_SIZE(items), type_code, out);
  if (packed < 0) anyffi_py_raise_taken();
  if (packed == 0) packed = anyffi_py_fill_sequence(items, out, nest);
  anyffi_py_drop_held(items);
  return packed;
}

// ---- dicts and sets -------------------------------------------------------------------------------------------------

/// Packs one more entry of a new mapping; 0, or -1 with an exception.
static inline int anyffi_py_pack_entry(PyObject* key, PyObject* item, AnyffiMapping* mapping, const AnyffiNest* nest) {
  AnyffiEntry* entry = &mapping->entries[mapping->used];
  if (anyffi_py_pack_element(key, &entry->key, nest) < 0) return -1;
  if (anyffi_py_pack_element(item, &entry->value, nest) < 0) return anyffi_py_discard(&entry->key);
  mapping->key_type_mask |= anyffi_type_bit(entry->key.type_code);
  mapping->value_type_mask |= anyffi_type_bit(entry->value.type_code);
  // When the mapping is destroyed, only the first `used` entries are, so that each must be complete.
  mapping->used += 1;
  return 0;
}

/// Raises the exception for two keys that are equal after packing; always -1.
static int anyffi_py_refuse_equal_keys(int32_t type_code, PyObject* pairs, int64_t first, int64_t second) {
  PyObject* former = PySequence_Fast_ITEMS(PyList_GET_ITEM(pairs, first))[0];
  PyObject* later = PySequence_Fast_ITEMS(PyList_GET_ITEM(pairs, second))[0];
  return anyffi_py_raise(PyObject_CallFunction(anyffi_state.equal_keys, "iOO", (int)type_code, former, later));
}

/// Packs a mapping, or a set, from a list of its entries that has no other references.
static int anyffi_py_pack_pairs(PyObject* pairs, int32_t type_code, AnyffiValue* out, const AnyffiNest* nest) {
  int64_t first = -1, second = -1;
  if (anyffi_mapping_create(type_code, PyList_GET_SIZE(pairs), out) != 0) return anyffi_py_raise_taken();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pairs); ++i) {
    PyObject** pair = PySequence_Fast_ITEMS(PyList_GET_ITEM(pairs, i));
    if (anyffi_py_pack_entry(pair[0], pair[1], (AnyffiMapping*)out->as_object, nest) < 0) {
      return anyffi_py_discard(out);
    }
  }
  if (anyffi_mapping_finish(out->as_object, &first, &second) != 0) {
    anyffi_py_raise_taken();
    return anyffi_py_discard(out);
  }
  if (first < 0) return 1;
  anyffi_py_refuse_equal_keys(type_code, pairs, first, second);
  return anyffi_py_discard(out);
}

/// Packs a dict.
static int anyffi_py_pack_dict(PyObject* x, AnyffiValue* out, const AnyffiNest* nest) {
  PyObject* pairs = PyDict_Items(x);
  if (pairs == NULL) return -1;
  int packed = anyffi_py_pack_pairs(pairs, ANYFFI_DICT, out, nest);
  Py_DECREF(pairs);
  return packed;
}

#endif  // ANYFFI_PACK_CONTAINERS_H_
