/// Methods of List and Array.

#ifndef ANYFFI_LIST_METHODS_H_
#define ANYFFI_LIST_METHODS_H_

#include <string.h>

#include "copies.h"
#include "sequence_methods.h"
#include "sort.h"

// ---- changes of a List ----------------------------------------------------------------------------------------------

/// Replaces a part of a List, completely or not at all; 0, or -1 with an exception.
static int anyffi_py_splice(PyObject* self, int64_t start, int64_t count, const AnyffiValue* values) {
  const AnyffiSequence* from = (const AnyffiSequence*)values->as_object;
  AnyffiObject* list = anyffi_py_unwrap_as(self, ANYFFI_LIST);
  if (list == NULL) return -1;
  return anyffi_sequence_splice(list, start, count, from->data, from->size) == 0 ? 0 : anyffi_py_raise_taken();
}

/// Packs ints, short text and the like to the end of a List: 1, 0 if the elements are of other kinds or memory is
/// exhausted.
static int anyffi_py_extend_inline(AnyffiSequence* list, PyObject* const* items, Py_ssize_t size) {
  int64_t needed = list->size + size;
  if (needed > list->capacity) {
    int64_t grown = list->size + list->size / 2 + 4;
    AnyffiValue error;
    if (anyffi_sequence_reserve(&list->header, needed > grown ? needed : grown) != 0) {
      anyffi_error_take_raised(&error);
      anyffi_value_drop(&error);
      return 0;
    }
  }
  AnyffiValue* cells = &list->data[list->size];
  uint64_t types = 0;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (!anyffi_py_pack_inline(items[i], &cells[i])) return 0;
    types |= anyffi_type_bit(cells[i].type_code);
  }
  list->size = needed;
  anyffi_add_types(&list->header, &list->type_mask, types);
  return 1;
}

/// Appends all of `values`: 1, 0 if the method of `_objects` has to do it, -1 with an exception.
static int anyffi_py_extend(PyObject* self, PyObject* values) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  AnyffiValue elements;
  if (list == NULL) return 0;
  if (PyList_CheckExact(values) || PyTuple_CheckExact(values)) {
    PyObject* held = anyffi_py_hold_items(values);
    if (held == NULL) return -1;
    int is_extended = anyffi_py_extend_inline(list, PySequence_Fast_ITEMS(held), Py_SIZE(held));
    anyffi_py_drop_held(held);
    if (is_extended) return 1;
  }
  int was_made = anyffi_py_read_elements(self, values, anyffi_py_list_of, &elements);
  if (was_made < 0) return -1;
  list = anyffi_py_unwrap_sequence(self, ANYFFI_LIST);
  int status = list == NULL ? -1 : anyffi_py_splice(self, list->size, 0, &elements);
  if (was_made && status == 0) anyffi_value_drop(&elements);
  if (was_made && status < 0) anyffi_py_discard(&elements);
  return status < 0 ? -1 : 1;
}

static PyObject* anyffi_py_list_extend(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  int status = anyffi_py_has_arguments(count, 1, names) ? anyffi_py_extend(self, args[0]) : 0;
  if (status == 0) return anyffi_py_call_shared(ANYFFI_LIST, "extend", self, args, count, names);
  if (status < 0) return anyffi_py_fail_method(ANYFFI_LIST, "extend", args, count, names);
  Py_RETURN_NONE;
}

/// `self += other`.
static PyObject* anyffi_py_list_add_in_place(PyObject* self, PyObject* other) {
  int status = anyffi_py_extend(self, other);
  if (status == 0) return anyffi_py_call_shared_slot(ANYFFI_LIST, "__iadd__", self, other);
  if (status < 0) return anyffi_py_fail_method(ANYFFI_LIST, "__iadd__", &other, 1, NULL);
  return anyffi_py_return_new(self);
}

/// `self *= times`.
static PyObject* anyffi_py_list_multiply_in_place(PyObject* self, PyObject* times) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  int64_t count, size;
  if (list == NULL || !anyffi_py_read_index(times, &count) || count < 1 ||
      __builtin_mul_overflow(list->size, count, &size)) {
    return anyffi_py_call_shared_slot(ANYFFI_LIST, "__imul__", self, times);
  }
  int64_t once = list->size;
  if (anyffi_sequence_reserve(&list->header, size) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  for (int64_t i = once; i < size; ++i) {
    list->data[i] = list->data[i - once];
    anyffi_value_retain(&list->data[i]);
  }
  list->size = size;
  return anyffi_py_return_new(self);
}

/// The position at which `append` inserts.
#define ANYFFI_AT_END INT64_MAX

/// Adds `append` or `insert` to the message of the exception that packing the value raised; NULL.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_fail_insert(int64_t position, PyObject* value) {
  // The index is not to blame: any int stands for it.
  PyObject* const args[] = {Py_False, value};
  if (position == ANYFFI_AT_END) return anyffi_py_fail_method(ANYFFI_LIST, "append", &value, 1, NULL);
  return anyffi_py_fail_method(ANYFFI_LIST, "insert", args, 2, NULL);
}

/// Inserts a value at a position, which is clamped; None, or NULL with an exception.
static PyObject* anyffi_py_insert(PyObject* self, int64_t position, PyObject* value) {
  AnyffiValue packed;
  int was_made = anyffi_py_pack(value, &packed);
  if (was_made < 0) return anyffi_py_fail_insert(position, value);
  AnyffiSequence* list = anyffi_py_unwrap_sequence(self, ANYFFI_LIST);
  int status = -1;
  if (list != NULL) {
    if (position < 0) position = position + list->size < 0 ? 0 : position + list->size;
    status = anyffi_sequence_insert(&list->header, position < list->size ? position : list->size, &packed);
    status = anyffi_py_end_access(status, was_made, &packed);
  } else if (was_made) {
    anyffi_py_discard(&packed);
  }
  return status < 0 ? NULL : anyffi_py_return_new(Py_None);
}

static PyObject* anyffi_py_list_append(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  if (list == NULL || !anyffi_py_has_arguments(count, 1, names)) {
    return anyffi_py_call_shared(ANYFFI_LIST, "append", self, args, count, names);
  }
  return anyffi_py_insert(self, ANYFFI_AT_END, args[0]);
}

static PyObject* anyffi_py_list_insert(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  int64_t position;
  if (anyffi_py_peek(self, ANYFFI_LIST) == NULL || !anyffi_py_has_arguments(count, 2, names) ||
      !anyffi_py_read_index(args[0], &position)) {
    return anyffi_py_call_shared(ANYFFI_LIST, "insert", self, args, count, names);
  }
  return anyffi_py_insert(self, position == ANYFFI_AT_END ? position - 1 : position, args[1]);
}

/// Removes an element without releasing it.
static inline void anyffi_py_remove_cell(AnyffiSequence* list, int64_t position) {
  AnyffiValue* cell = &list->data[position];
  list->size -= 1;
  if (position < list->size) memmove(cell, cell + 1, (size_t)(list->size - position) * sizeof(AnyffiValue));
}

/// Converts an index, which counts from the end if negative, to a position; 0 if it is out of range.
static inline int anyffi_py_find_popped(const AnyffiSequence* list, int64_t index, int64_t* position) {
  *position = index < 0 ? index + list->size : index;
  return (uint64_t)*position < (uint64_t)list->size;
}

/// `pop` of any element.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_pop_at(PyObject* self, PyObject* const* args, Py_ssize_t count, int64_t index) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  int64_t position;
  if (list != NULL && anyffi_py_find_popped(list, index, &position)) {
    AnyffiValue popped = anyffi_read_value(&list->data[position]);
    int runs_code = !anyffi_py_is_code_free(&popped), is_there = 1;
    if (runs_code) anyffi_value_retain(&popped);
    // Created first: without memory for it, the list is unchanged.
    PyObject* element = anyffi_py_unpack_copy(&popped);
    if (element == NULL) {
      if (runs_code) anyffi_py_discard(&popped);
      return NULL;
    }
    if (runs_code) {
      list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
      is_there = list != NULL && anyffi_py_find_popped(list, index, &position) &&
                 anyffi_py_is_same_value(&list->data[position], &popped);
      anyffi_value_drop(&popped);
    }
    if (is_there) {
      anyffi_py_remove_cell(list, position);
      anyffi_value_drop(&popped);
      return element;
    }
    // Unpacking ran code that changed the list.
    Py_DECREF(element);
  }
  return anyffi_py_call_shared(ANYFFI_LIST, "pop", self, args, count, NULL);
}

static PyObject* anyffi_py_list_pop(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  int64_t index = -1;
  if (list != NULL && anyffi_py_has_arguments(count, 0, names) && list->size > 0) {
    const AnyffiValue* last = &list->data[list->size - 1];
    if (last->type_code == ANYFFI_INT) {
      PyObject* element = anyffi_py_new_int(last->as_int);
      if (element != NULL) list->size -= 1;
      return element;
    }
  }
  if (list == NULL || names != NULL || count > 1 || (count == 1 && !anyffi_py_read_index(args[0], &index))) {
    return anyffi_py_call_shared(ANYFFI_LIST, "pop", self, args, count, names);
  }
  return anyffi_py_pop_at(self, args, count, index);
}

static PyObject* anyffi_py_list_remove(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  if (list == NULL || !anyffi_py_has_arguments(count, 1, names)) {
    return anyffi_py_call_shared(ANYFFI_LIST, "remove", self, args, count, names);
  }
  int64_t found = anyffi_py_search(self, list, args[0], 0, INT64_MAX);
  if (found == -1) PyErr_SetString(PyExc_ValueError, "list.remove(x): x not in list");
  if (found < 0) return NULL;
  // Comparing may have run code that shortened the list.
  return anyffi_py_none_or_raise(found < list->size ? anyffi_sequence_erase(&list->header, found, 1) : 0);
}

static PyObject* anyffi_py_list_clear(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  if (list == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(ANYFFI_LIST, "clear", self, args, count, names);
  }
  return anyffi_py_none_or_raise(anyffi_sequence_erase(&list->header, 0, list->size));
}

static PyObject* anyffi_py_list_reverse(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  if (list == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(ANYFFI_LIST, "reverse", self, args, count, names);
  }
  for (int64_t i = 0, j = list->size - 1; i < j; ++i, --j) {
    AnyffiValue former = list->data[i];
    list->data[i] = list->data[j];
    list->data[j] = former;
  }
  Py_RETURN_NONE;
}

/// Reads the arguments of `sort`, borrowed: 1, 0 if there are others than its two keywords.
static int anyffi_py_read_sort(PyObject* const* args, Py_ssize_t count, PyObject* names, PyObject** key,
                               PyObject** reverse) {
  *key = Py_None;
  *reverse = Py_False;
  if (count != 0) return 0;
  for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "key") == 0) {
      *key = args[i];
    } else if (PyUnicode_CompareWithASCIIString(name, "reverse") == 0) {
      *reverse = args[i];
    } else {
      return 0;
    }
  }
  return 1;
}

static PyObject* anyffi_py_list_sort(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  PyObject *key, *reverse;
  int32_t is_sorted = 0;
  if (list == NULL || !anyffi_py_read_sort(args, count, names, &key, &reverse)) {
    return anyffi_py_call_shared(ANYFFI_LIST, "sort", self, args, count, names);
  }
  if (key == Py_None && PyBool_Check(reverse)) {
    if (anyffi_sequence_sort(&list->header, reverse == Py_True, &is_sorted) != 0) return anyffi_py_none_or_raise(-1);
  }
  if (!is_sorted && !anyffi_py_sort_by(list, key, reverse)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* anyffi_py_list_index(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_sequence_index(self, args, count, names, ANYFFI_LIST);
}

static PyObject* anyffi_py_list_count(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_sequence_count(self, args, count, names, ANYFFI_LIST);
}

static PyObject* anyffi_py_array_index(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_sequence_index(self, args, count, names, ANYFFI_ARRAY);
}

static PyObject* anyffi_py_array_count(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_sequence_count(self, args, count, names, ANYFFI_ARRAY);
}

static PyObject* anyffi_py_list_freeze(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_copy_to(self, args, count, names, "freeze", ANYFFI_LIST, ANYFFI_ARRAY);
}

static PyObject* anyffi_py_array_thaw(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_copy_to(self, args, count, names, "thaw", ANYFFI_ARRAY, ANYFFI_LIST);
}

static PyObject* anyffi_py_list_copy(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_copy(self, args, count, names, ANYFFI_LIST);
}

static PyObject* anyffi_py_list_reversed(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (anyffi_py_peek(self, ANYFFI_LIST) == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(ANYFFI_LIST, "__reversed__", self, args, count, names);
  }
  return anyffi_py_walk_backwards(self);
}

static PyObject* anyffi_py_list_add(PyObject* left, PyObject* right) {
  if (anyffi_py_is_left(left, ANYFFI_LIST)) return anyffi_py_sequence_add(left, right, 0, ANYFFI_LIST);
  return anyffi_py_sequence_add(right, left, 1, ANYFFI_LIST);
}

static PyObject* anyffi_py_list_multiply(PyObject* left, PyObject* right) {
  if (anyffi_py_is_left(left, ANYFFI_LIST)) return anyffi_py_sequence_multiply(left, right, "__mul__", ANYFFI_LIST);
  return anyffi_py_sequence_multiply(right, left, "__rmul__", ANYFFI_LIST);
}

static PyObject* anyffi_py_array_add(PyObject* left, PyObject* right) {
  if (anyffi_py_is_left(left, ANYFFI_ARRAY)) return anyffi_py_sequence_add(left, right, 0, ANYFFI_ARRAY);
  return anyffi_py_sequence_add(right, left, 1, ANYFFI_ARRAY);
}

static PyObject* anyffi_py_array_multiply(PyObject* left, PyObject* right) {
  if (anyffi_py_is_left(left, ANYFFI_ARRAY)) return anyffi_py_sequence_multiply(left, right, "__mul__", ANYFFI_ARRAY);
  return anyffi_py_sequence_multiply(right, left, "__rmul__", ANYFFI_ARRAY);
}

ANYFFI_PY_OPERATOR(list_add)
ANYFFI_PY_OPERATOR(list_multiply)
ANYFFI_PY_OPERATOR(array_add)
ANYFFI_PY_OPERATOR(array_multiply)
ANYFFI_PY_METHOD(list_append)
ANYFFI_PY_METHOD(list_clear)
ANYFFI_PY_METHOD(list_copy)
ANYFFI_PY_METHOD(list_count)
ANYFFI_PY_METHOD(list_extend)
ANYFFI_PY_METHOD(list_freeze)
ANYFFI_PY_METHOD(list_index)
ANYFFI_PY_METHOD(list_insert)
ANYFFI_PY_METHOD(list_pop)
ANYFFI_PY_METHOD(list_remove)
ANYFFI_PY_METHOD(list_reverse)
ANYFFI_PY_METHOD(list_sort)
ANYFFI_PY_METHOD(list_reversed)
ANYFFI_PY_METHOD(array_count)
ANYFFI_PY_METHOD(array_index)
ANYFFI_PY_METHOD(array_thaw)

static const AnyffiOperatorRow anyffi_py_list_operators[] = {
    ANYFFI_PY_OPERATOR_ROW("__add__", "__radd__", list_add),
    ANYFFI_PY_OPERATOR_ROW("__mul__", "__rmul__", list_multiply),
    {NULL, NULL, NULL},
};

static const AnyffiOperatorRow anyffi_py_array_operators[] = {
    ANYFFI_PY_OPERATOR_ROW("__add__", "__radd__", array_add),
    ANYFFI_PY_OPERATOR_ROW("__mul__", "__rmul__", array_multiply),
    {NULL, NULL, NULL},
};

static const AnyffiMethodRow anyffi_py_list_methods[] = {
    ANYFFI_PY_ROW("append", list_append),
    ANYFFI_PY_ROW("clear", list_clear),
    ANYFFI_PY_ROW("copy", list_copy),
    ANYFFI_PY_ROW("count", list_count),
    ANYFFI_PY_ROW("extend", list_extend),
    ANYFFI_PY_ROW("freeze", list_freeze),
    ANYFFI_PY_ROW("index", list_index),
    ANYFFI_PY_ROW("insert", list_insert),
    ANYFFI_PY_ROW("pop", list_pop),
    ANYFFI_PY_ROW("remove", list_remove),
    ANYFFI_PY_ROW("reverse", list_reverse),
    ANYFFI_PY_ROW("sort", list_sort),
    ANYFFI_PY_ROW("__reversed__", list_reversed),
    ANYFFI_PY_ROW("__copy__", list_shallow),
    ANYFFI_PY_ROW("__reduce__", list_reduce),
    {NULL, NULL},
};

static const AnyffiMethodRow anyffi_py_array_methods[] = {
    ANYFFI_PY_ROW("count", array_count),       ANYFFI_PY_ROW("index", array_index),
    ANYFFI_PY_ROW("thaw", array_thaw),         ANYFFI_PY_ROW("__copy__", array_shallow),
    ANYFFI_PY_ROW("__reduce__", array_reduce), {NULL, NULL},
};

#endif  // ANYFFI_LIST_METHODS_H_
