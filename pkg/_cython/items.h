/// Containers whose items a C++ conversion reads directly, without creating an object of the runtime.
///
/// No Python code runs from the first item to the last one, so that nothing changes meanwhile. A container that would
/// need Python code is packed like any other argument, and so is one that the conversion refuses, for the error.

#ifndef ANYFFI_ITEMS_H_
#define ANYFFI_ITEMS_H_

#include "decisions.h"
#include "scalars.h"
#include "times.h"
#include "wrapper.h"

/// The type code as which an exact container, an instance of a known subclass, or a time is packed; 0 for others.
///
/// In builds without the GIL 0 for mutable containers, which other threads may change while they are read.
static inline int32_t anyffi_py_items_code(PyObject* x, PyTypeObject* cls) {
  if (cls == &PyTuple_Type) return ANYFFI_ARRAY;
#ifdef Py_GIL_DISABLED
  (void)x;
  if (anyffi_py_is_time_class(cls)) return ANYFFI_PY_OBJECT;
  return cls == &PyFrozenSet_Type ? ANYFFI_FROZEN_SET : 0;
#else
  if (cls == &PyList_Type) return ANYFFI_LIST;
  if (cls == &PyDict_Type) return ANYFFI_DICT;
  if (cls == &PySet_Type) return ANYFFI_SET;
  if (cls == &PyFrozenSet_Type) return ANYFFI_FROZEN_SET;
  if (anyffi_py_is_time_class(cls)) return ANYFFI_PY_OBJECT;
  switch (anyffi_py_known_decision(cls)) {
    case ANYFFI_DECISION_TUPLE:
      return ANYFFI_ARRAY;
    case ANYFFI_DECISION_LIST:
      return ANYFFI_LIST;
    case ANYFFI_DECISION_DICT:
      return ANYFFI_DICT;
    case ANYFFI_DECISION_SET:
      return ANYFFI_SET;
    case ANYFFI_DECISION_FROZEN_SET:
      return ANYFFI_FROZEN_SET;
    default:
      return (void)x, 0;
  }
#endif
}

#ifdef Py_GIL_DISABLED
#define anyffi_py_are_containers(cls) ((cls) == &PyTuple_Type)
/// For a list `container` is a copy, a tuple.
#define anyffi_py_items_of_list(x) anyffi_py_tuple_items(x)
#else
#define anyffi_py_are_containers(cls) ((cls) == &PyTuple_Type || (cls) == &PyList_Type)
#define anyffi_py_items_of_list(x) anyffi_py_list_items(x)
#endif

/// Reads a str, or an instance of a subclass. Text that is not ASCII is read as UTF-8, which Python caches.
static int anyffi_py_read_text_item(PyObject* x, AnyffiValue* out) {
  Py_ssize_t size;
  if (!anyffi_py_is_ready(x)) return 0;
  // Short text is a view, too: only a C++ conversion reads it.
  const char* utf8 = PyUnicode_AsUTF8AndSize(x, &size);
  if (utf8 == NULL) PyErr_Clear();
  if (utf8 == NULL || size > ANYFFI_MAX_BORROWED) return 0;
  *out = PyUnicode_IS_ASCII(x) ? anyffi_make_ascii_view(utf8, (uint32_t)size) : anyffi_make_utf8(utf8, (uint32_t)size);
  return 1;
}

/// Reads a scalar of a class other than the frequent builtins, as an owned value; 0 for others.
static int anyffi_py_read_scalar_item(PyObject* x, AnyffiDecision decision, AnyffiValue* out) {
  int is_scalar = (decision >= ANYFFI_DECISION_INT && decision <= ANYFFI_DECISION_BYTEARRAY) ||
                  decision >= ANYFFI_DECISION_NUMPY_BOOL;
  if (!is_scalar) return 0;
  if (decision == ANYFFI_DECISION_FLOAT) {
    *out = anyffi_py_make_float(PyFloat_AS_DOUBLE(x));
    return 1;
  }
  if (decision == ANYFFI_DECISION_STR) return anyffi_py_read_text_item(x, out);
  if (decision == ANYFFI_DECISION_BYTES) return anyffi_py_pack_text(x, &PyBytes_Type, out);
  int packed = anyffi_py_pack_decided_scalar(x, decision, out);
  // Memory is exhausted; packing the container will raise the error.
  if (packed < 0) PyErr_Clear();
  if (packed > 0 && out->type_code > 0) out->aux = ANYFFI_MOVABLE;
  return packed > 0;
}

/// Reads an object of the runtime, if the reader accepts objects; the container keeps its wrapper alive.
static inline int anyffi_py_read_object_item(PyObject* x, const AnyffiItems* items, AnyffiValue* out) {
#ifdef Py_GIL_DISABLED
  // Another thread may give the object to C++.
  (void)x, (void)items, (void)out;
  return 0;
#else
  AnyffiObject* object = ((AnyffiWrapper*)x)->object;
  if ((items->flags & ANYFFI_ITEMS_OBJECTS) == 0 || object == NULL) return 0;
  *out = anyffi_make_object(object);
  return 1;
#endif
}

/// Reads an item that is no exact number; 0 if the container has to be packed.
ANYFFI_NEVER_INLINE int anyffi_py_read_other_item(PyObject* x, AnyffiItems* items, int in_key, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  int64_t number;
  if (cls == &PyUnicode_Type) return anyffi_py_read_text_item(x, out);
  if (PyLong_Check(x) && anyffi_py_known_decision(cls) == ANYFFI_DECISION_INT && anyffi_py_read_short_int(x, &number)) {
    anyffi_state.has_packed_members = 1;
    *out = anyffi_make_int(number);
    return 1;
  }
  if (anyffi_py_is_wrapper_class(cls)) return !in_key && anyffi_py_read_object_item(x, items, out);
  if (cls == &PyComplex_Type && !in_key) {
    *out = anyffi_make_items(&((PyComplexObject*)x)->cval, ANYFFI_COMPLEX, 0);
    return 1;
  }
  int32_t code = anyffi_py_items_code(x, cls);
  if (code != 0) {
    *out = anyffi_make_items(x, code, in_key);
    return 1;
  }
  AnyffiDecision decision = cls == &PyLong_Type    ? ANYFFI_DECISION_INT
                            : cls == &PyBytes_Type ? ANYFFI_DECISION_BYTES
                                                   : anyffi_py_known_decision(cls);
  if (decision == ANYFFI_DECISION_WRAPPER) return !in_key && anyffi_py_read_object_item(x, items, out);
  if (!anyffi_py_pack_immediate(x, cls, out) && !anyffi_py_read_scalar_item(x, decision, out)) return 0;
  if (!in_key) {
    if (out->type_code > 0 && (out->aux & ANYFFI_MOVABLE)) items->flags |= ANYFFI_ITEMS_OWNED;
    return 1;
  }
  // Packing raises the error about two keys that are not equal to themselves, such as NaN.
  if (out->type_code > 0) {
    if (out->aux & ANYFFI_MOVABLE) anyffi_release(out->as_object);
    return 0;
  }
  return out->type_code != ANYFFI_FLOAT || out->as_float == out->as_float;
}

ANYFFI_ALWAYS_INLINE int anyffi_py_read_item(PyObject* x, AnyffiItems* items, int in_key, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  int64_t number;
  if (cls == &PyLong_Type && anyffi_py_read_short_int(x, &number)) {
    *out = anyffi_make_int(number);
  } else if (cls == &PyFloat_Type && !in_key) {
    *out = anyffi_py_make_float(PyFloat_AS_DOUBLE(x));
  } else if (cls == &PyBool_Type) {
    *out = anyffi_make_value((uint32_t)ANYFFI_BOOL, x == Py_True);
  } else if (x == Py_None) {
    *out = anyffi_make_none();
  } else {
    return anyffi_py_read_other_item(x, items, in_key, out);
  }
  return 1;
}

/// Releases the items before one that could not be read; always -1.
ANYFFI_NEVER_INLINE int64_t anyffi_py_drop_items(AnyffiValue* items, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (items[i].type_code > 0 && (items[i].aux & ANYFFI_MOVABLE)) anyffi_release(items[i].as_object);
  }
  return -1;
}

ANYFFI_NEVER_INLINE int64_t anyffi_py_read_sequence_items(AnyffiItems* items, PyObject* const* elements,
                                                          AnyffiValue* out, int64_t capacity) {
  int64_t count = items->size - items->position;
  int in_key = items->flags & ANYFFI_ITEMS_IN_KEY;
  if (count > capacity) count = capacity;
  // An empty list has no array, and C does not define an offset to null.
  if (count <= 0) return count;
  elements += items->position;
  items->position += count;
  if (count <= 4) {
    for (int64_t i = 0; i < count; ++i) {
      if (!anyffi_py_read_item(elements[i], items, in_key, &out[i])) return anyffi_py_drop_items(out, i);
    }
    return count;
  }
  // Most elements are of the same class as the element before.
  for (int64_t i = 0; i < count;) {
    PyTypeObject* cls = Py_TYPE(elements[i]);
    int64_t number, first = i;
    if (cls == &PyLong_Type) {
      for (; i < count && Py_IS_TYPE(elements[i], cls) && anyffi_py_read_short_int(elements[i], &number); ++i) {
        out[i] = anyffi_make_int(number);
      }
    } else if (cls == &PyFloat_Type && !in_key) {
      for (; i < count && Py_IS_TYPE(elements[i], cls); ++i) {
        out[i] = anyffi_py_make_float(PyFloat_AS_DOUBLE(elements[i]));
      }
    } else if (anyffi_py_are_containers(cls)) {
      int32_t code = cls == &PyTuple_Type ? ANYFFI_ARRAY : ANYFFI_LIST;
      for (; i < count && Py_IS_TYPE(elements[i], cls); ++i) out[i] = anyffi_make_items(elements[i], code, in_key);
    } else if (cls == &PyBool_Type) {
      for (; i < count && Py_IS_TYPE(elements[i], cls); ++i) {
        out[i] = anyffi_make_value((uint32_t)ANYFFI_BOOL, elements[i] == Py_True);
      }
    } else if (cls == &PyUnicode_Type) {
      while (i < count && Py_IS_TYPE(elements[i], cls) && anyffi_py_read_text_item(elements[i], &out[i])) ++i;
    } else if (cls == &PyComplex_Type && !in_key) {
      for (; i < count && Py_IS_TYPE(elements[i], cls); ++i) {
        out[i] = anyffi_make_items(&((PyComplexObject*)elements[i])->cval, ANYFFI_COMPLEX, 0);
      }
    } else if (anyffi_py_is_wrapper_class(cls) && !in_key) {
      while (i < count && Py_IS_TYPE(elements[i], cls) && anyffi_py_read_object_item(elements[i], items, &out[i])) ++i;
    } else if (elements[i] == Py_None) {
      for (; i < count && elements[i] == Py_None; ++i) out[i] = anyffi_make_none();
    } else if (!in_key) {
      AnyffiDecision decision = anyffi_py_known_decision(cls);
      if (decision == ANYFFI_DECISION_INT) anyffi_state.has_packed_members = 1;
      while (decision == ANYFFI_DECISION_INT && i < count && Py_IS_TYPE(elements[i], cls) &&
             anyffi_py_read_short_int(elements[i], &number)) {
        out[i++] = anyffi_make_int(number);
      }
      while (i < count && Py_IS_TYPE(elements[i], cls) && anyffi_py_read_scalar_item(elements[i], decision, &out[i])) {
        if (out[i++].type_code > 0) items->flags |= ANYFFI_ITEMS_OWNED;
      }
    }
    if (i > first) continue;
    if (!anyffi_py_read_other_item(elements[i], items, in_key, &out[i])) return anyffi_py_drop_items(out, i);
    ++i;
  }
  return count;
}

ANYFFI_NEVER_INLINE int64_t anyffi_py_read_dict_items(AnyffiItems* items, PyObject* dict, AnyffiValue* out,
                                                      int64_t capacity) {
  PyObject *key, *item;
  Py_ssize_t position = (Py_ssize_t)items->position;
  int64_t count = 0;
  while (count + 2 <= capacity && PyDict_Next(dict, &position, &key, &item)) {
    if (!anyffi_py_read_item(key, items, 1, &out[count])) return anyffi_py_drop_items(out, count);
    if (!anyffi_py_read_item(item, items, items->flags & ANYFFI_ITEMS_IN_KEY, &out[count + 1]))
      return anyffi_py_drop_items(out, count + 1);
    count += 2;
  }
  items->position = position;
  return count;
}

ANYFFI_NEVER_INLINE int64_t anyffi_py_read_set_items(AnyffiItems* items, PyObject* set, AnyffiValue* out,
                                                     int64_t capacity) {
  PyObject* element;
  Py_ssize_t position = (Py_ssize_t)items->position;
  int64_t count = 0;
  if (!ANYFFI_KNOWN_LAYOUT) return -1;
  while (count < capacity && anyffi_py_next_element(set, &position, &element)) {
    if (!anyffi_py_read_item(element, items, 1, &out[count])) return anyffi_py_drop_items(out, count);
    ++count;
  }
  items->position = position;
  return count;
}

/// Reads the parts of a time or duration; for others packing converts them by the rules, which raise the errors.
ANYFFI_NEVER_INLINE int64_t anyffi_py_read_time_parts(AnyffiItems* items, PyObject* x, AnyffiValue* out) {
  int status = anyffi_py_split_time(x, (int32_t)items->position, out);
  if (status < 0) PyErr_Clear();
  items->size = 2;
  return status > 0 ? 2 : -1;
}

/// The hook behind `anyffi_items_read`. Each path is a tail call.
static int64_t anyffi_py_read_items(AnyffiItems* items, AnyffiValue* out, int64_t capacity) {
  PyObject* x = (PyObject*)items->container;
  switch (items->type_code) {
    case ANYFFI_ARRAY:
      items->size = Py_SIZE(x);
      return anyffi_py_read_sequence_items(items, anyffi_py_tuple_items(x), out, capacity);
    case ANYFFI_LIST:
      items->size = Py_SIZE(x);
      return anyffi_py_read_sequence_items(items, anyffi_py_items_of_list(x), out, capacity);
    case ANYFFI_DICT:
      items->size = PyDict_GET_SIZE(x);
      return anyffi_py_read_dict_items(items, x, out, capacity);
    case ANYFFI_PY_OBJECT:
      return anyffi_py_read_time_parts(items, x, out);
    default:
      items->size = PySet_GET_SIZE(x);
      return anyffi_py_read_set_items(items, x, out, capacity);
  }
}

#endif  // ANYFFI_ITEMS_H_
