/// Results and arguments of callbacks that are copies (ANYFFI_NATIVE) to Python's own containers, read from their cells.
///
/// Nobody but the caller refers to such a container, so that nothing changes it meanwhile. Functions return a new
/// reference, or NULL with an exception.

#ifndef ANYFFI_NATIVE_H_
#define ANYFFI_NATIVE_H_

#include "plain.h"

static PyObject* anyffi_py_native_object(AnyffiObject* object, uint32_t flags);

/// Converts an element.
static inline PyObject* anyffi_py_native_value(const AnyffiValue* cell) {
  // The most frequent ones without a call.
  if (cell->type_code == ANYFFI_INT) return anyffi_py_new_int(cell->as_int);
  if (cell->type_code == ANYFFI_FLOAT) return PyFloat_FromDouble(cell->as_float);
  if (anyffi_py_is_latin_character(cell)) {
    Py_INCREF(anyffi_state.characters[cell->aux]);
    return anyffi_state.characters[cell->aux];
  }
  if (cell->type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (cell->type_code <= 0) return anyffi_py_unpack_inline(cell);
  if (cell->aux & ANYFFI_NATIVE) return anyffi_py_native_object(cell->as_object, cell->aux);
  return anyffi_py_unpack_object_copy(cell->as_object);
}

/// Fills a new list or tuple. The collector does not see it until then, since code may run that asks for all objects.
static PyObject* anyffi_py_native_sequence(const AnyffiSequence* sequence, int32_t code) {
  Py_ssize_t size = (Py_ssize_t)sequence->size;
  PyObject* made = code == ANYFFI_LIST ? PyList_New(size) : PyTuple_New(size);
  if (made == NULL || size == 0) return made;
  PyObject** items = code == ANYFFI_LIST ? ((PyListObject*)made)->ob_item : ((PyTupleObject*)made)->ob_item;
  PyObject_GC_UnTrack(made);
  for (Py_ssize_t i = 0; i < size; ++i) {
    items[i] = anyffi_py_native_value(&sequence->data[i]);
    if (items[i] == NULL) {
      Py_DECREF(made);
      return NULL;
    }
  }
  PyObject_GC_Track(made);
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

/// Converts all elements before it hashes one.
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

/// Converts a container of this type whose elements nobody else changes; NULL without an exception for other types.
static PyObject* anyffi_py_native_container(const AnyffiObject* object, int32_t code) {
  PyObject *made, *proxy;
  switch (code) {
    case ANYFFI_LIST:
    case ANYFFI_ARRAY:
      return anyffi_py_native_sequence((const AnyffiSequence*)object, code);
    case ANYFFI_DICT:
      return anyffi_py_native_dict((const AnyffiMapping*)object);
    case ANYFFI_MAP:
      made = anyffi_py_native_dict((const AnyffiMapping*)object);
      proxy = made == NULL ? NULL : PyDictProxy_New(made);
      Py_XDECREF(made);
      return proxy;
    default:
      return anyffi_py_native_set((const AnyffiMapping*)object, code);
  }
}

/// Converts a container to which others refer too: a copy of it.
static PyObject* anyffi_py_native_shared(AnyffiObject* object, int32_t code) {
  AnyffiValue value = anyffi_make_object(object), copy;
  if (anyffi_container_copy(&value, code, &copy) != 0) {
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

/// Converts an object of a value with these flags, which the caller keeps alive.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_native_object(AnyffiObject* object, uint32_t flags) {
  int32_t code = object->type_code;
  if (flags & ANYFFI_DEEP) return anyffi_py_plain_borrowed(object);
  if (code < ANYFFI_ARRAY || code > ANYFFI_SET) return anyffi_py_unpack_object_copy(object);
  if (anyffi_depth_enter() != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  PyObject* made = anyffi_is_reusable(object) ? anyffi_py_native_container(object, code)
                                              : anyffi_py_native_shared(object, code);
  anyffi_depth_leave();
  return made;
}

/// Unpacks a borrowed argument of a callback.
static inline PyObject* anyffi_py_unpack_argument(const AnyffiValue* value) {
  AnyffiValue held = anyffi_read_value(value);
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
  if (value->type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (value->type_code <= 0) return anyffi_py_unpack_inline(value);
  return value->aux & ANYFFI_NATIVE ? anyffi_py_unpack_native(value) : anyffi_py_unpack_object(value->as_object);
}

#endif  // ANYFFI_NATIVE_H_
