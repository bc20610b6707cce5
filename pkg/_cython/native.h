/// Results and arguments of callbacks that are copies (ANYFFI_NATIVE), converted to Python's own containers.
///
/// Only the caller refers to such a container, so that nothing changes it meanwhile. Functions return a new reference,
/// or NULL with an exception.

#ifndef ANYFFI_NATIVE_H_
#define ANYFFI_NATIVE_H_

#include "plain.h"

static PyObject* anyffi_py_native_object(AnyffiObject* object, uint32_t flags);

/// Makes a str of an inline string.
static inline PyObject* anyffi_py_native_str(const AnyffiValue* cell) {
  uint64_t tag = (uint64_t)cell->as_int >> 56;
  uint64_t length = ANYFFI_INLINE_BYTES - tag;
  // Short ASCII of several characters; the upper half of the tag has the encoding.
  if (tag >= ANYFFI_INLINE_BYTES - 1) return anyffi_py_unpack_inline(cell);
  PyObject* made = PyUnicode_New((Py_ssize_t)length, 127);
  if (made != NULL) memcpy(PyUnicode_DATA(made), (const char*)cell + 4, (size_t)length);
  return made;
}

/// Converts an element; the most frequent ones without a call.
static inline PyObject* anyffi_py_native_value(const AnyffiValue* cell) {
  if (cell->type_code == ANYFFI_INT) return anyffi_py_new_int(cell->as_int);
  if (cell->type_code == ANYFFI_FLOAT) return PyFloat_FromDouble(cell->as_float);
  if (anyffi_py_is_latin_character(cell)) {
    Py_INCREF(anyffi_state.characters[cell->aux]);
    return anyffi_state.characters[cell->aux];
  }
  if (cell->type_code == ANYFFI_STR) return anyffi_py_native_str(cell);
  if (cell->type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (cell->type_code == ANYFFI_BOOL) {
    PyObject* made = cell->as_int != 0 ? Py_True : Py_False;
    Py_INCREF(made);
    return made;
  }
  if (cell->type_code <= 0) return anyffi_py_unpack_inline(cell);
  if (cell->aux & ANYFFI_NATIVE) return anyffi_py_native_object(cell->as_object, cell->aux);
  return anyffi_py_unpack_object_copy(cell->as_object);
}

/// Fills a new list or tuple. Unless `is_quiet`, the collector does not track it until it is complete, so that no code
/// finds it.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_native_sequence(const AnyffiSequence* sequence, int32_t code, int is_quiet) {
  Py_ssize_t size = (Py_ssize_t)sequence->size;
  PyObject* made = code == ANYFFI_LIST ? PyList_New(size) : PyTuple_New(size);
  if (made == NULL || size == 0) return made;
  PyObject** items = PySequence_Fast_ITEMS(made);
  if (!is_quiet) PyObject_GC_UnTrack(made);
  for (Py_ssize_t i = 0; i < size; ++i) {
    items[i] = anyffi_py_native_value(&sequence->data[i]);
    if (__builtin_expect(items[i] == NULL, 0)) {
      Py_DECREF(made);
      return NULL;
    }
  }
  if (!is_quiet) PyObject_GC_Track(made);
  return made;
}

static PyObject* anyffi_py_native_dict(const AnyffiMapping* mapping) {
  PyObject* made = PyDict_New();
  for (int64_t number = 0; made != NULL && number < mapping->used; ++number) {
    const AnyffiEntry* entry = &mapping->entries[number];
    if (entry->key.type_code == ANYFFI_UNSET) continue;
    PyObject* key = anyffi_py_native_value(&entry->key);
    PyObject* item = key == NULL ? NULL : anyffi_py_native_value(&entry->value);
    if (item == NULL || PyDict_SetItem(made, key, item) < 0) Py_CLEAR(made);
    Py_XDECREF(key);
    Py_XDECREF(item);
  }
  return made;
}

/// Adds elements whose hashes run no Python code.
static PyObject* anyffi_py_native_scalar_set(const AnyffiMapping* elements, int32_t code) {
  PyObject* made = code == ANYFFI_SET ? PySet_New(NULL) : PyFrozenSet_New(NULL);
  for (int64_t number = 0; made != NULL && number < elements->used; ++number) {
    const AnyffiValue* cell = &elements->entries[number].key;
    if (cell->type_code == ANYFFI_UNSET) continue;
    PyObject* item = anyffi_py_native_value(cell);
    if (item == NULL || PySet_Add(made, item) < 0) Py_CLEAR(made);
    Py_XDECREF(item);
  }
  return made;
}

/// Converts all elements before it hashes the first one.
static PyObject* anyffi_py_native_set(const AnyffiMapping* elements, int32_t code) {
  PyObject* items = PyTuple_New((Py_ssize_t)elements->size);
  Py_ssize_t count = 0;
  if (items == NULL) return NULL;
  if (elements->size > 0) PyObject_GC_UnTrack(items);
  for (int64_t number = 0; number < elements->used; ++number) {
    const AnyffiValue* cell = &elements->entries[number].key;
    if (cell->type_code == ANYFFI_UNSET) continue;
    PyObject* item = anyffi_py_native_value(cell);
    if (item == NULL) {
      Py_DECREF(items);
      return NULL;
    }
    PyTuple_SET_ITEM(items, count++, item);
  }
  PyObject* made = code == ANYFFI_SET ? PySet_New(items) : PyFrozenSet_New(items);
  Py_DECREF(items);
  return made;
}

/// Converts a mapping or set whose elements nobody else changes.
static PyObject* anyffi_py_native_mapping(const AnyffiMapping* mapping, int32_t code, int is_quiet) {
  if (code == ANYFFI_DICT) return anyffi_py_native_dict(mapping);
  if (code != ANYFFI_MAP) {
    return is_quiet ? anyffi_py_native_scalar_set(mapping, code) : anyffi_py_native_set(mapping, code);
  }
  PyObject* made = anyffi_py_native_dict(mapping);
  PyObject* proxy = made == NULL ? NULL : PyDictProxy_New(made);
  Py_XDECREF(made);
  return proxy;
}

/// Converts a container whose elements nobody else changes.
static inline PyObject* anyffi_py_native_container(const AnyffiObject* object, int32_t code) {
  const AnyffiSequence* sequence = (const AnyffiSequence*)object;
  const AnyffiMapping* mapping = (const AnyffiMapping*)object;
  int is_sequence = code == ANYFFI_LIST || code == ANYFFI_ARRAY;
  uint64_t types = is_sequence ? sequence->type_mask : mapping->key_type_mask | mapping->value_type_mask;
  if ((types & ~ANYFFI_QUIET_TYPES) == 0) {
    return is_sequence ? anyffi_py_native_sequence(sequence, code, 1) : anyffi_py_native_mapping(mapping, code, 1);
  }
  if (anyffi_depth_enter() != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  PyObject* made =
      is_sequence ? anyffi_py_native_sequence(sequence, code, 0) : anyffi_py_native_mapping(mapping, code, 0);
  anyffi_depth_leave();
  return made;
}

/// Converts a copy of a container that has other references; other objects are wrapped.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_native_shared(AnyffiObject* object, uint32_t flags) {
  int32_t code = object->type_code;
  if (flags & ANYFFI_DEEP) return anyffi_py_plain_borrowed(object);
  if (code < ANYFFI_ARRAY || code > ANYFFI_SET) return anyffi_py_unpack_object_copy(object);
  AnyffiValue value = anyffi_make_object(object), copy;
  ANYFFI_BEGIN_SECTION
  int status = anyffi_container_copy(&value, code, &copy);
  ANYFFI_END_SECTION
  if (status != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  PyObject* made = anyffi_py_native_container(copy.as_object, code);
  if (made == NULL) {
    anyffi_py_discard(&copy);
  } else {
    anyffi_value_drop(&copy);
  }
  return made;
}

/// Converts an object of a value with these flags; the caller keeps it alive.
static PyObject* anyffi_py_native_object(AnyffiObject* object, uint32_t flags) {
  int32_t code = object->type_code;
  int is_copy = (flags & ANYFFI_DEEP) == 0 && code >= ANYFFI_ARRAY && code <= ANYFFI_SET && anyffi_is_reusable(object);
  return is_copy ? anyffi_py_native_container(object, code) : anyffi_py_native_shared(object, flags);
}

static PyObject* anyffi_py_unpack_deferred(const AnyffiDeferred* deferred);

/// Unpacks a borrowed argument of a callback.
static inline PyObject* anyffi_py_unpack_argument(const AnyffiValue* value) {
  AnyffiValue held = anyffi_read_value(value);
  if (__builtin_expect(anyffi_is_deferred(&held), 0)) {
    return anyffi_py_unpack_deferred((const AnyffiDeferred*)held.as_pointer);
  }
  if (held.type_code <= 0) return anyffi_py_unpack(&held);
  return held.aux & ANYFFI_NATIVE ? anyffi_py_native_object(held.as_object, held.aux)
                                  : anyffi_py_unpack_object_copy(held.as_object);
}

/// Unpacks a result that is a copy. Releases it, also on failure.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_unpack_native(AnyffiValue* value) {
  PyObject* made = anyffi_py_native_object(value->as_object, value->aux);
  if (made == NULL) {
    anyffi_py_discard(value);
  } else {
    anyffi_value_drop(value);
  }
  return made;
}

/// Unpacks a result. Releases it, also on failure.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_unpack_result(AnyffiValue* value) {
  if (value->type_code <= 0) return anyffi_py_unpack(value);
  if (value->aux & ANYFFI_BORROWED) return anyffi_py_unpack_object_copy(value->as_object);
  return value->aux & ANYFFI_NATIVE ? anyffi_py_unpack_native(value) : anyffi_py_unpack_object(value->as_object);
}

/// Makes a deferred argument of a callback.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_unpack_deferred(const AnyffiDeferred* deferred) {
  AnyffiValue made = anyffi_make_none();
  if (ANYFFI_WRITES_ITEMS) made.aux = ANYFFI_WRITTEN_FLAGS;
  if (anyffi_deferred_make(deferred, &made) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  return made.type_code == ANYFFI_UNSET ? (PyObject*)made.as_pointer : anyffi_py_unpack_result(&made);
}

#endif  // ANYFFI_NATIVE_H_
