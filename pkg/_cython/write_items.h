/// Creates Python's own containers from the values that C++ writes for a result (detail/items_writer.h).
///
/// No Python code runs before the whole result is complete: the collector is disabled, and all hashes are those of
/// builtins. So no code finds incomplete containers, and none changes the C++ container.

#ifndef ANYFFI_WRITE_ITEMS_H_
#define ANYFFI_WRITE_ITEMS_H_

#include "times.h"
#include "unpack.h"

/// From Python 3.12 on the collector never runs within an allocation.
#define ANYFFI_STOPS_COLLECTOR (ANYFFI_WRITES_ITEMS && PY_VERSION_HEX < 0x030C0000)

/// The maximum nesting of containers.
#define ANYFFI_MAX_OPEN 16

/// A container that is being filled.
typedef struct {
  PyObject* made;     // owned
  PyObject* key;      // owned, of a dict, whose value comes next
  int64_t size;       // the number of values; of a dict, twice the number of entries
  int64_t position;   // the number of values added
  int32_t type_code;  // ANYFFI_LIST, ANYFFI_ARRAY, ANYFFI_DICT, ANYFFI_SET or ANYFFI_FROZEN_SET
  int32_t in_key;     // whether it is part of a key, or of an element of a set
} AnyffiOpen;

/// All containers that are being filled, each inside the previous one.
typedef struct {
  AnyffiOpen open[ANYFFI_MAX_OPEN];
  int depth;
} AnyffiUnfinished;

static void anyffi_py_drop_unfinished(AnyffiUnfinished* unfinished) {
  while (unfinished->depth > 0) {
    AnyffiOpen* open = &unfinished->open[--unfinished->depth];
    Py_XDECREF(open->key);
    Py_DECREF(open->made);
  }
}

/// Makes a complex of two numbers; NULL for a NaN in a key, as `anyffi_py_write_scalar`.
static PyObject* anyffi_py_write_complex(const AnyffiValue* value, int in_key) {
  Py_complex number;
  if (value->aux & ANYFFI_ITEMS_IN_KEY) {
    const float* parts = (const float*)value->as_pointer;
    number.real = parts[0], number.imag = parts[1];
  } else {
    const double* parts = (const double*)value->as_pointer;
    number.real = parts[0], number.imag = parts[1];
  }
  int is_nan = number.real != number.real || number.imag != number.imag;
  return in_key && is_nan ? NULL : PyComplex_FromCComplex(number);
}

/// 1 for a value of `anyffi_make_created`.
static inline int anyffi_py_is_created(const AnyffiValue* value) { return value->aux >> 16 != 0; }

/// Makes a time or duration; NULL with or without an exception. NULL also if that would import a module, which runs
/// Python code.
static PyObject* anyffi_py_write_time(const AnyffiValue* value) {
  return PyDateTimeAPI == NULL ? NULL : anyffi_py_make_time((int32_t)(value->aux >> 16), value->as_int);
}

/// Returns the wrapper of an object; NULL with or without an exception, also if creating one might run users' code.
static PyObject* anyffi_py_write_object(AnyffiObject* object) {
  PyObject* found = anyffi_py_get_wrapper(object);
  if (found != NULL || anyffi_py_find_found(object->type_code).cls == NULL) return found;
  anyffi_retain(object);
  return anyffi_py_unpack_object(object);
}

/// Makes a scalar; NULL with or without an exception. NULL for a NaN in a key: the runtime decides whether two keys
/// that are not equal to themselves are an error.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_write_scalar(const AnyffiValue* value, int in_key) {
  if (value->type_code == ANYFFI_INT) {
    return __builtin_expect(value->aux == 0, 1) ? anyffi_py_new_int(value->as_int)
                                                : PyLong_FromUnsignedLongLong((unsigned long long)value->as_int);
  }
  if (value->type_code == ANYFFI_FLOAT) {
    return in_key && value->as_float != value->as_float ? NULL : PyFloat_FromDouble(value->as_float);
  }
  if (value->type_code == ANYFFI_BYTES_VIEW) {
    return PyUnicode_DecodeUTF8((const char*)value->as_pointer, (Py_ssize_t)(value->aux >> 2), NULL);
  }
  if (value->type_code == ANYFFI_BOOL) return PyBool_FromLong(value->as_int != 0);
  if (value->type_code == ANYFFI_UNSET) {
    return anyffi_py_is_created(value) ? anyffi_py_write_time(value) : anyffi_py_write_complex(value, in_key);
  }
  if (value->type_code > 0) return in_key ? NULL : anyffi_py_write_object(value->as_object);
  Py_RETURN_NONE;
}

/// 1 for a value that begins a container.
static inline int anyffi_py_begins_container(const AnyffiValue* value) {
  return value->type_code == ANYFFI_UNSET && value->aux >> 1 != ANYFFI_COMPLEX && !anyffi_py_is_created(value);
}

/// Whether the next value of a container is part of a key.
static inline int anyffi_py_expects_key(const AnyffiOpen* open) {
  if (open->in_key || open->type_code == ANYFFI_SET || open->type_code == ANYFFI_FROZEN_SET) return 1;
  return open->type_code == ANYFFI_DICT && open->key == NULL;
}

/// Begins a container inside the others; in a key it is the hashable type.
static int anyffi_py_begin_container(AnyffiUnfinished* unfinished, const AnyffiValue* value, int in_key) {
  if (unfinished->depth == ANYFFI_MAX_OPEN) return -1;
  int32_t code = (int32_t)(value->aux >> 1);
  int64_t size = value->as_int;
  if (in_key && code == ANYFFI_DICT) return -1;
  if (in_key) code = code == ANYFFI_LIST ? ANYFFI_ARRAY : code == ANYFFI_SET ? ANYFFI_FROZEN_SET : code;
  PyObject* made = code == ANYFFI_LIST    ? PyList_New((Py_ssize_t)size)
                   : code == ANYFFI_ARRAY ? PyTuple_New((Py_ssize_t)size)
                   : code == ANYFFI_DICT  ? PyDict_New()
                   : code == ANYFFI_SET   ? PySet_New(NULL)
                                          : PyFrozenSet_New(NULL);
  if (made == NULL) return -1;
  AnyffiOpen* open = &unfinished->open[unfinished->depth++];
  open->made = made;
  open->key = NULL;
  open->size = code == ANYFFI_DICT ? 2 * size : size;
  open->position = 0;
  open->type_code = code;
  open->in_key = in_key;
  return 0;
}

/// Adds a value, which it steals.
static int anyffi_py_add_value(AnyffiOpen* open, PyObject* value) {
  int status = 0;
  if (open->type_code == ANYFFI_LIST) {
    PyList_SET_ITEM(open->made, open->position, value);
  } else if (open->type_code == ANYFFI_ARRAY) {
    PyTuple_SET_ITEM(open->made, open->position, value);
  } else if (open->type_code != ANYFFI_DICT) {
    status = PySet_Add(open->made, value);
    Py_DECREF(value);
  } else if (open->key == NULL) {
    open->key = value;
  } else {
    status = PyDict_SetItem(open->made, open->key, value);
    Py_DECREF(value);
    Py_CLEAR(open->key);
  }
  ++open->position;
  return status;
}

/// Whether all keys of a complete container are distinct; equal keys are an error.
static inline int anyffi_py_has_all(const AnyffiOpen* open) {
  if (open->type_code == ANYFFI_LIST || open->type_code == ANYFFI_ARRAY) return 1;
  return open->size == (open->type_code == ANYFFI_DICT ? 2 * PyDict_GET_SIZE(open->made) : PySet_GET_SIZE(open->made));
}

/// Fills a list or tuple with the next scalars; returns how many, -1 on failure.
static int64_t anyffi_py_write_scalars(AnyffiOpen* open, const AnyffiValue* values, int64_t count) {
  PyObject** items = PySequence_Fast_ITEMS(open->made) + open->position;
  if (count > open->size - open->position) count = open->size - open->position;
  int64_t i = 0;
  // A few values, such as those of a tuple, are often of different types.
  if (count <= 4) {
    for (; i < count && !anyffi_py_begins_container(&values[i]); ++i) {
      items[i] = anyffi_py_write_scalar(&values[i], open->in_key);
      if (__builtin_expect(items[i] == NULL, 0)) return -1;
    }
    open->position += i;
    return i;
  }
  while (i < count && !anyffi_py_begins_container(&values[i])) {
    // Most values are of the same type as the value before.
    if (values[i].type_code == ANYFFI_INT && values[i].aux == 0) {
      for (; i < count && values[i].type_code == ANYFFI_INT && values[i].aux == 0; ++i) {
        if ((items[i] = anyffi_py_new_int(values[i].as_int)) == NULL) return -1;
      }
    } else if (values[i].type_code == ANYFFI_BOOL) {
      for (; i < count && values[i].type_code == ANYFFI_BOOL; ++i) {
        items[i] = values[i].as_int != 0 ? Py_True : Py_False;
        Py_INCREF(items[i]);
      }
    } else if (values[i].type_code == ANYFFI_FLOAT && !open->in_key) {
      for (; i < count && values[i].type_code == ANYFFI_FLOAT; ++i) {
        if ((items[i] = PyFloat_FromDouble(values[i].as_float)) == NULL) return -1;
      }
    } else {
      items[i] = anyffi_py_write_scalar(&values[i], open->in_key);
      if (__builtin_expect(items[i++] == NULL, 0)) return -1;
    }
  }
  open->position += i;
  return i;
}

/// Adds values to the innermost containers. Returns the outermost one once it is complete, else NULL; `*status` is -1
/// on failure.
static PyObject* anyffi_py_write_values(AnyffiUnfinished* unfinished, const AnyffiValue* values, int64_t count,
                                        int* status) {
  *status = -1;
  for (int64_t i = 0; i < count;) {
    AnyffiOpen* open = unfinished->depth == 0 ? NULL : &unfinished->open[unfinished->depth - 1];
    PyObject* made = NULL;
    if (anyffi_py_begins_container(&values[i])) {
      int in_key = open != NULL && anyffi_py_expects_key(open);
      if (anyffi_py_begin_container(unfinished, &values[i], in_key) < 0) return NULL;
      open = &unfinished->open[unfinished->depth - 1];
      ++i;
    } else if (open != NULL && (open->type_code == ANYFFI_LIST || open->type_code == ANYFFI_ARRAY)) {
      int64_t filled = anyffi_py_write_scalars(open, &values[i], count - i);
      if (filled < 0) return NULL;
      i += filled;
    } else {
      made = anyffi_py_write_scalar(&values[i++], open != NULL && anyffi_py_expects_key(open));
      if (made == NULL) return NULL;
      if (open == NULL) return made;
      if (anyffi_py_add_value(open, made) < 0) return NULL;
    }
    // A complete container becomes part of the previous one.
    while (open->position == open->size) {
      if (!anyffi_py_has_all(open)) return NULL;
      made = open->made;
      if (--unfinished->depth == 0) return made;
      if (anyffi_py_add_value(--open, made) < 0) return NULL;
    }
  }
  *status = 0;
  return NULL;
}

/// Returns whether the collector was enabled.
static inline int anyffi_py_stop_collector(void) {
#if ANYFFI_STOPS_COLLECTOR
  return PyGC_Disable();
#else
  return 0;
#endif
}

static inline void anyffi_py_restart_collector(int was_enabled) {
#if ANYFFI_STOPS_COLLECTOR
  if (was_enabled) PyGC_Enable();
#else
  (void)was_enabled;
#endif
}

/// Makes a list or tuple of scalars if all values are there; NULL for other values.
static inline PyObject* anyffi_py_write_flat(const AnyffiValue* values, int64_t count) {
  int32_t code = (int32_t)(values->aux >> 1);
  if (code != ANYFFI_LIST && code != ANYFFI_ARRAY) return NULL;
  if (values->as_int != count - 1 || (count > 1 && anyffi_py_begins_container(&values[1]))) return NULL;
  int was_enabled = anyffi_py_stop_collector();
  PyObject* made = code == ANYFFI_LIST ? PyList_New((Py_ssize_t)(count - 1)) : PyTuple_New((Py_ssize_t)(count - 1));
  int64_t filled = 0;
  if (made != NULL && count > 1) {
    AnyffiOpen open = {made, NULL, count - 1, 0, code, 0};
    filled = anyffi_py_write_scalars(&open, values + 1, count - 1);
  }
  anyffi_py_restart_collector(was_enabled);
  if (made == NULL || filled == count - 1) return made;
  Py_DECREF(made);
  return NULL;
}

/// As the hook; the unfinished containers are on the stack unless more values follow.
ANYFFI_NEVER_INLINE int anyffi_py_write_more(void** state, const AnyffiValue* values, int64_t count) {
  AnyffiUnfinished on_stack, *unfinished = (AnyffiUnfinished*)*state;
  PyObject* whole = NULL;
  int status = -1, is_new = unfinished == NULL;
  if (is_new) {
    unfinished = &on_stack;
    unfinished->depth = 0;
  }
  if (values != NULL) {
    int was_enabled = anyffi_py_stop_collector();
    whole = anyffi_py_write_values(unfinished, values, count, &status);
    anyffi_py_restart_collector(was_enabled);
  }
  if (status == 0 && is_new) {
    *state = PyMem_Malloc(sizeof(AnyffiUnfinished));
    if (*state != NULL) memcpy(*state, unfinished, sizeof(AnyffiUnfinished));
    if (*state == NULL) status = -1;
  }
  if (status == 0) return 0;
  // The result is complete, or was declined: then the runtime's own path raises the error again.
  if (whole == NULL) anyffi_py_drop_unfinished(unfinished);
  if (whole == NULL) PyErr_Clear();
  if (!is_new) PyMem_Free(unfinished);
  *state = whole;
  return whole != NULL ? 1 : -1;
}

/// The hook behind `anyffi_items_write`.
static int anyffi_py_write_items(void** state, const AnyffiValue* values, int64_t count) {
  if (*state == NULL && values != NULL) {
    int is_container = anyffi_py_begins_container(values);
    *state = is_container ? anyffi_py_write_flat(values, count) : anyffi_py_write_scalar(values, 0);
    if (*state != NULL) return 1;
    if (PyErr_Occurred()) PyErr_Clear();
  }
  return anyffi_py_write_more(state, values, count);
}

#endif  // ANYFFI_WRITE_ITEMS_H_
