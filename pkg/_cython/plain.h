/// Converts containers of the runtime to Python's own, at all levels.
///
/// Creating a Python object may run code (of wrappers' classes, hashes, finalizers) that changes containers, so that a
/// mutable one is copied first, unless it holds only scalars. Only an object with several references, which can occur
/// twice, is added to the memo. Functions return a new reference, or NULL with an exception.

#ifndef ANYFFI_PLAIN_H_
#define ANYFFI_PLAIN_H_

#include "containers.h"
#include "memo.h"
#include "new_array.h"

/// Converts an object that the caller keeps alive. One with more references than `expected` may occur twice.
static PyObject* anyffi_py_plain_object(AnyffiObject* object, int32_t expected, AnyffiMemo* memo);

// ---- values ---------------------------------------------------------------------------------------------------------

/// Types (as `anyffi_type_bit`) of values that are unpacked without running Python code, and the flag ANYFFI_CHECKED.
#define ANYFFI_QUIET_TYPES                                                                                      \
  (ANYFFI_CHECKED | 1ULL << -ANYFFI_NONE | 1ULL << -ANYFFI_BOOL | 1ULL << -ANYFFI_INT | 1ULL << -ANYFFI_FLOAT | \
   1ULL << -ANYFFI_STR | 1ULL << -ANYFFI_BYTES | 1ULL << -ANYFFI_ELLIPSIS | 1ULL << (15 + ANYFFI_STR_OBJECT) |  \
   1ULL << (15 + ANYFFI_BYTES_OBJECT) | 1ULL << (15 + ANYFFI_COMPLEX))

/// Converts a value that the caller keeps alive.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_plain_value(const AnyffiValue* value, int32_t expected, AnyffiMemo* memo) {
  // The most frequent types without a function call, which would take twice as long.
  if (value->type_code == ANYFFI_INT) return anyffi_py_new_int(value->as_int);
  if (value->type_code == ANYFFI_FLOAT) return PyFloat_FromDouble(value->as_float);
  if (anyffi_py_is_latin_character(value)) {
    Py_INCREF(anyffi_state.characters[value->aux]);
    return anyffi_state.characters[value->aux];
  }
  if (value->type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (value->type_code == ANYFFI_BOOL) return anyffi_py_return_new(value->as_int != 0 ? Py_True : Py_False);
  if (value->type_code <= 0) return anyffi_py_unpack_inline(value);
  return anyffi_py_plain_object(value->as_object, expected, memo);
}

// ---- containers that do not change meanwhile ------------------------------------------------------------------------

/// The immutable type as which a mutable container that holds more than scalars is copied; 0 for others.
static inline int32_t anyffi_py_copied_as(const AnyffiObject* object, int32_t code) {
  const AnyffiMapping* mapping = (const AnyffiMapping*)object;
  if (code == ANYFFI_LIST) {
    return ((const AnyffiSequence*)object)->type_mask & ~ANYFFI_QUIET_TYPES ? ANYFFI_ARRAY : 0;
  }
  if (code != ANYFFI_DICT && code != ANYFFI_SET) return 0;
  if (((mapping->key_type_mask | mapping->value_type_mask) & ~ANYFFI_QUIET_TYPES) == 0) return 0;
  return code == ANYFFI_DICT ? ANYFFI_MAP : ANYFFI_FROZEN_SET;
}

static PyObject* anyffi_py_plain_container(AnyffiObject* object, int32_t code, AnyffiMemo* memo);

/// Whether a container that was not copied holds more than scalars since `made` was created, because creating it may
/// have run the garbage collector; then releases `made`.
static inline int anyffi_py_is_outdated(const AnyffiObject* object, int32_t code, int32_t expected, PyObject* made) {
  if (expected > 1 || anyffi_py_copied_as(object, code) == 0) return 0;
  Py_DECREF(made);
  return 1;
}

/// Fills a new list in place, because no code runs that could find it incomplete.
static PyObject* anyffi_py_plain_scalars(const AnyffiValue* data, PyObject* items) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); ++i) {
    PyObject* item = anyffi_py_plain_value(&data[i], 1, NULL);
    if (item == NULL) {
      Py_DECREF(items);
      return NULL;
    }
    PyList_SET_ITEM(items, i, item);
  }
  return items;
}

static PyObject* anyffi_py_plain_list(AnyffiSequence* sequence, int32_t expected, AnyffiMemo* memo) {
  if (expected == 1) {
    PyObject* items = PyList_New((Py_ssize_t)sequence->size);
    if (items == NULL) return NULL;
    if (anyffi_py_is_outdated(&sequence->header, ANYFFI_LIST, expected, items)) {
      return anyffi_py_plain_container(&sequence->header, ANYFFI_LIST, memo);
    }
    if (sequence->size == PyList_GET_SIZE(items)) return anyffi_py_plain_scalars(sequence->data, items);
    Py_DECREF(items);
    return anyffi_py_plain_list(sequence, expected, memo);
  }
  PyObject* items = anyffi_py_reserve_list((Py_ssize_t)sequence->size);
  for (int64_t i = 0; items != NULL && i < sequence->size; ++i) {
    if (anyffi_py_append_new(items, anyffi_py_plain_value(&sequence->data[i], expected, memo)) < 0) Py_CLEAR(items);
  }
  return items;
}

/// Until it is complete, the tuple is untracked, so that code cannot find it through the garbage collector.
static PyObject* anyffi_py_plain_tuple(const AnyffiSequence* sequence, int32_t expected, AnyffiMemo* memo) {
  PyObject* items = PyTuple_New((Py_ssize_t)sequence->size);
  if (items == NULL || sequence->size == 0) return items;
  PyObject_GC_UnTrack(items);
  for (int64_t i = 0; i < sequence->size; ++i) {
    PyObject* item = anyffi_py_plain_value(&sequence->data[i], expected, memo);
    if (item == NULL) {
      Py_DECREF(items);
      return NULL;
    }
    PyTuple_SET_ITEM(items, i, item);
  }
  PyObject_GC_Track(items);
  return items;
}

static PyObject* anyffi_py_plain_dict(AnyffiMapping* mapping, int32_t code, int32_t expected, AnyffiMemo* memo) {
  PyObject* made = PyDict_New();
  if (made != NULL && anyffi_py_is_outdated(&mapping->header, code, expected, made)) {
    return anyffi_py_plain_container(&mapping->header, code, memo);
  }
  for (int64_t number = 0; made != NULL && number < mapping->used; ++number) {
    const AnyffiEntry* entry = &mapping->entries[number];
    if (entry->key.type_code == ANYFFI_UNSET) continue;
    PyObject* key = anyffi_py_plain_value(&entry->key, expected, memo);
    PyObject* item = key == NULL ? NULL : anyffi_py_plain_value(&entry->value, expected, memo);
    if (item == NULL || PyDict_SetItem(made, key, item) < 0) Py_CLEAR(made);
    Py_XDECREF(key);
    Py_XDECREF(item);
  }
  return made;
}

/// Converts all elements of a set before it hashes the first one.
static PyObject* anyffi_py_plain_set(AnyffiMapping* elements, int32_t code, int32_t expected, AnyffiMemo* memo) {
  PyObject* items = anyffi_py_reserve_list((Py_ssize_t)elements->size);
  if (items != NULL && anyffi_py_is_outdated(&elements->header, code, expected, items)) {
    return anyffi_py_plain_container(&elements->header, code, memo);
  }
  for (int64_t number = 0; items != NULL && number < elements->used; ++number) {
    const AnyffiValue* cell = &elements->entries[number].key;
    if (cell->type_code == ANYFFI_UNSET) continue;
    if (anyffi_py_append_new(items, anyffi_py_plain_value(cell, expected, memo)) < 0) Py_CLEAR(items);
  }
  if (items == NULL) return NULL;
  PyObject* made = code == ANYFFI_SET ? PySet_New(items) : PyFrozenSet_New(items);
  Py_DECREF(items);
  return made;
}

static PyObject* anyffi_py_plain_slice(const AnyffiSlice* slice, int32_t expected, AnyffiMemo* memo) {
  const AnyffiValue* cells = &slice->start;
  PyObject *parts[3] = {NULL, NULL, NULL}, *made = NULL;
  int count = 0;
  while (count < 3 && (parts[count] = anyffi_py_plain_value(&cells[count], expected, memo)) != NULL) ++count;
  if (count == 3) made = PySlice_New(parts[0], parts[1], parts[2]);
  for (int i = 0; i < count; ++i) Py_DECREF(parts[i]);
  return made;
}

/// Converts a container to the type that stands for `code`.
static PyObject* anyffi_py_plain_fixed(AnyffiObject* object, int32_t code, int32_t expected, AnyffiMemo* memo) {
  PyObject *made, *proxy;
  switch (code) {
    case ANYFFI_ARRAY:
      return anyffi_py_plain_tuple((const AnyffiSequence*)object, expected, memo);
    case ANYFFI_LIST:
      return anyffi_py_plain_list((AnyffiSequence*)object, expected, memo);
    case ANYFFI_MAP:
      made = anyffi_py_plain_dict((AnyffiMapping*)object, code, expected, memo);
      proxy = made == NULL ? NULL : PyDictProxy_New(made);
      Py_XDECREF(made);
      return proxy;
    case ANYFFI_DICT:
      return anyffi_py_plain_dict((AnyffiMapping*)object, code, expected, memo);
    case ANYFFI_FROZEN_SET:
    case ANYFFI_SET:
      return anyffi_py_plain_set((AnyffiMapping*)object, code, expected, memo);
    default:
      return anyffi_py_plain_slice((const AnyffiSlice*)object, expected, memo);
  }
}

// ---- all containers -------------------------------------------------------------------------------------------------

static PyObject* anyffi_py_plain_container(AnyffiObject* object, int32_t code, AnyffiMemo* memo) {
  int32_t copied_as = anyffi_py_copied_as(object, code);
  if (copied_as == 0) return anyffi_py_plain_fixed(object, code, 1, memo);
  AnyffiValue value = anyffi_make_object(object), copy;
  if (anyffi_container_copy(&value, copied_as, &copy) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  // Each element has a reference from the original and one from the copy.
  PyObject* made = anyffi_py_plain_fixed(copy.as_object, code, 2, memo);
  if (made == NULL) {
    anyffi_py_discard(&copy);
  } else {
    anyffi_value_drop(&copy);
  }
  return made;
}

/// Converts a container that may occur twice.
static PyObject* anyffi_py_plain_shared(AnyffiObject* object, int32_t code, AnyffiMemo* memo) {
  int is_new = anyffi_py_memo_add(memo, object);
  if (is_new < 0) return NULL;
  PyObject* made;
  if (is_new == 0) {
    made = (PyObject*)anyffi_py_memo_find(memo, object)->made;
    if (made == NULL) anyffi_py_raise_made(anyffi_state.plain_contains_itself, NULL);
  } else {
    anyffi_retain(object);
    made = anyffi_py_plain_container(object, code, memo);
    anyffi_py_memo_find(memo, object)->made = made;
  }
  Py_XINCREF(made);
  return made;
}

/// The type code of the container, or slice, that an object of this type is or derives from; 0 for others.
static inline int32_t anyffi_py_container_code(int32_t code) {
  if ((code >= ANYFFI_ARRAY && code <= ANYFFI_SET) || code == ANYFFI_SLICE) return code;
  if (code == ANYFFI_SHAPE) return ANYFFI_ARRAY;
  for (int32_t base = ANYFFI_ARRAY; code >= ANYFFI_FIRST_DYNAMIC_TYPE && base <= ANYFFI_SET; ++base) {
    if (anyffi_type_is_a(code, base)) return base;
  }
  return 0;
}

static PyObject* anyffi_py_plain_object(AnyffiObject* object, int32_t expected, AnyffiMemo* memo) {
  int32_t code = anyffi_py_container_code(object->type_code);
  if (code == 0) {
    PyObject* unpacked = anyffi_py_unpack_object_copy(object);
    if (object->type_code != ANYFFI_TENSOR || memo->convert_tensor == NULL || unpacked == NULL) return unpacked;
    PyObject* converted = memo->convert_tensor(unpacked);
    Py_DECREF(unpacked);
    return converted;
  }
  if (anyffi_depth_enter() != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  int is_shared = __atomic_load_n(&object->strong_count, __ATOMIC_RELAXED) > (uint64_t)expected;
  PyObject* made =
      is_shared ? anyffi_py_plain_shared(object, code, memo) : anyffi_py_plain_container(object, code, memo);
  anyffi_depth_leave();
  return made;
}

// ---- values of Python -----------------------------------------------------------------------------------------------

/// Converts wrappers of containers and the parts of slices; returns everything else unchanged.
static PyObject* anyffi_py_plain_part(PyObject* x, AnyffiMemo* memo) {
  PyObject *parts[3], *made[3] = {NULL, NULL, NULL}, *slice = NULL;
  AnyffiObject* object = NULL;
  if (!PySlice_Check(x)) {
    if (anyffi_py_container_of(x, &object) < 0) return NULL;
    if (object != NULL) return anyffi_py_plain_object(object, 1, memo);
    Py_INCREF(x);
    return x;
  }
  if (anyffi_py_read_slice(x, parts) < 0) return NULL;
  if (anyffi_depth_enter() != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  int count = 0;
  while (count < 3 && (made[count] = anyffi_py_plain_part(parts[count], memo)) != NULL) ++count;
  anyffi_depth_leave();
  if (count == 3) slice = PySlice_New(made[0], made[1], made[2]);
  for (int i = 0; i < count; ++i) Py_DECREF(made[i]);
  return slice;
}

static void anyffi_py_release_plain(AnyffiMet* met) {
  Py_XDECREF((PyObject*)met->made);
  anyffi_release((AnyffiObject*)met->met);
}

/// Clears the memo of the conversion to `made`; returns `made`.
static PyObject* anyffi_py_forget_plain(AnyffiMemo* memo, PyObject* made) {
  if (memo->used == 0) return made;
  AnyffiSaved saved;
  // Releasing may run code that must not see the exception.
  if (made == NULL) saved = anyffi_py_save_exception();
  anyffi_py_memo_clear(memo, anyffi_py_release_plain);
  if (made == NULL) anyffi_py_restore_exception(saved);
  return made;
}

/// Converts a Python value.
static PyObject* anyffi_py_plain(PyObject* x) {
  AnyffiMemo memo;
  memo.used = 0;
  memo.convert_tensor = NULL;
  ANYFFI_BEGIN_SECTION
  PyObject* made = anyffi_py_forget_plain(&memo, anyffi_py_plain_part(x, &memo));
  ANYFFI_END_SECTION
  return made;
}

/// Converts an object of the runtime that the caller keeps alive; tensors become NumPy arrays.
static PyObject* anyffi_py_plain_borrowed(AnyffiObject* object) {
  AnyffiMemo memo;
  memo.used = 0;
  memo.convert_tensor = anyffi_py_new_array;
  ANYFFI_BEGIN_SECTION
  PyObject* made = anyffi_py_forget_plain(&memo, anyffi_py_plain_object(object, 1, &memo));
  ANYFFI_END_SECTION
  return made;
}

#endif  // ANYFFI_PLAIN_H_
