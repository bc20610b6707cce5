/// Elements of Array and List by index and by slice: keys that are not exact ints, and writing.

#ifndef ANYFFI_ELEMENTS_H_
#define ANYFFI_ELEMENTS_H_

#include "list_methods.h"

// ---- slices ---------------------------------------------------------------------------------------------------------

/// Swaps the elements of a List at a stride with those of a new sequence of the same length.
static void anyffi_py_swap_stride(AnyffiSequence* list, Py_ssize_t start, Py_ssize_t step, AnyffiSequence* made) {
  uint64_t types = made->type_mask;
  for (int64_t i = 0; i < made->size; ++i) {
    AnyffiValue* cell = &list->data[start + i * step];
    AnyffiValue former = *cell;
    *cell = made->data[i];
    made->data[i] = former;
  }
  made->type_mask |= list->type_mask & ~ANYFFI_CHECKED;
  anyffi_add_types(&list->header, &list->type_mask, types);
}

/// Calls the method of `_objects` that replaces or (NULL) removes the elements of a slice; 0, or -1 with an exception.
static int anyffi_py_set_slice_shared(PyObject* self, PyObject* key, PyObject* values) {
  PyObject* args[] = {key, values};
  const char* name = values == NULL ? "_anyffi_delete_slice" : "_anyffi_set_slice";
  PyObject* result = anyffi_py_call_shared(ANYFFI_LIST, name, self, args, values == NULL ? 1 : 2, NULL);
  Py_XDECREF(result);
  if (result != NULL) return 0;
  return values == NULL ? -1 : anyffi_py_fail_set_item(ANYFFI_LIST, key, values);
}

/// `self[start:stop] = values`; 0, or -1 with an exception. `elements` are the values, packed.
static int anyffi_py_set_elements(PyObject* self, PyObject* key, const AnyffiValue* elements, Py_ssize_t start,
                                  Py_ssize_t stop, Py_ssize_t step) {
  AnyffiSequence* list = anyffi_py_unwrap_sequence(self, ANYFFI_LIST);
  AnyffiSequence* from = (AnyffiSequence*)elements->as_object;
  AnyffiValue copy;
  if (list == NULL) return -1;
  Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)list->size, &start, &stop, step);
  if (step == 1) return anyffi_py_splice(self, start, count, elements);
  if (anyffi_container_copy(elements, ANYFFI_LIST, &copy) != 0) return anyffi_py_raise_taken();
  if (from->size == count) {
    anyffi_py_swap_stride(list, start, step, (AnyffiSequence*)copy.as_object);
    anyffi_value_drop(&copy);
    return 0;
  }
  // Raises the error about a different size.
  PyObject* values = anyffi_py_wrap(copy.as_object);
  int status = values == NULL ? -1 : anyffi_py_set_slice_shared(self, key, values);
  Py_XDECREF(values);
  return status;
}

/// Makes a list of the values assigned to a slice, with the errors of a list.
static PyObject* anyffi_py_list_assigned(PyObject* x) {
  PyObject *made = PyList_New(0), *all = PySlice_New(NULL, NULL, NULL);
  if (made == NULL || all == NULL || PyObject_SetItem(made, all, x) < 0) Py_CLEAR(made);
  Py_XDECREF(all);
  return made;
}

/// `self[start:stop] = values` and (NULL) `del self[start:stop]`; 0, or -1 with an exception.
static int anyffi_py_set_slice(PyObject* self, PyObject* key, PyObject* values) {
  Py_ssize_t start, stop, step;
  AnyffiValue elements;
  AnyffiSequence* list = anyffi_py_peek_sequence(self, ANYFFI_LIST);
  if (list == NULL || !anyffi_py_read_plain_slice(key, &start, &stop, &step) || (values == NULL && step != 1)) {
    return anyffi_py_set_slice_shared(self, key, values);
  }
  if (values == NULL) {
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)list->size, &start, &stop, step);
    return anyffi_sequence_erase(&list->header, start, count) == 0 ? 0 : anyffi_py_raise_taken();
  }
  // For a non-iterable, Python's error differs if the slice has a stride.
  int was_made = anyffi_py_read_elements(self, values, step == 1 ? anyffi_py_list_assigned : NULL, &elements);
  if (was_made == 2) return anyffi_py_set_slice_shared(self, key, values);
  if (was_made < 0) return anyffi_py_fail_set_item(ANYFFI_LIST, key, values);
  // Packing may have run code that changed the list.
  int status = anyffi_py_set_elements(self, key, &elements, start, stop, step);
  if (was_made && status == 0) anyffi_value_drop(&elements);
  if (was_made && status < 0) anyffi_py_discard(&elements);
  return status;
}

// ---- indices --------------------------------------------------------------------------------------------------------

/// Reads an index of a class written in C, such as NumPy's ints, or of a subclass of int: 1, 0 if the rules have to
/// convert or refuse it.
static int anyffi_py_read_number(PyObject* key, int64_t* out) {
  PyTypeObject* cls = Py_TYPE(key);
  PyNumberMethods* numbers = cls->tp_as_number;
  if (numbers == NULL || numbers->nb_index == NULL) return 0;
  // An `__index__` written in Python is called by the rules.
  if (PyType_HasFeature(cls, Py_TPFLAGS_HEAPTYPE) && numbers->nb_index != PyLong_Type.tp_as_number->nb_index) return 0;
  *out = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (*out != -1 || !PyErr_Occurred()) return 1;
  PyErr_Clear();
  return 0;
}

/// Reads a key that is no slice; 0, or -1 with an exception.
static int anyffi_py_read_key(PyObject* self, PyObject* key, int64_t* out) {
  if (anyffi_py_read_index(key, out) || anyffi_py_read_number(key, out)) return 0;
  int status = anyffi_py_convert_index(self, key, out);
  if (status < 0) anyffi_py_hide_frames(1);
  return status;
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_get_item_slow(PyObject* wrapper, int32_t type_code, PyObject* key) {
  int64_t index;
  if (PySlice_Check(key)) return anyffi_py_sequence_slice(wrapper, key, type_code);
  if (anyffi_py_read_key(wrapper, key, &index) < 0) return NULL;
  const AnyffiSequence* sequence = anyffi_py_unwrap_sequence(wrapper, type_code);
  if (sequence == NULL) return NULL;
  if (index < 0) index += sequence->size;
  if ((uint64_t)index < (uint64_t)sequence->size) return anyffi_py_unpack_copy(&sequence->data[index]);
  anyffi_py_raise_made(anyffi_state.index_out_of_range, wrapper);
  return NULL;
}

/// Finds the position in a List for a key; -1 with an exception.
static int64_t anyffi_py_find_position(PyObject* self, PyObject* key) {
  int64_t index;
  if (anyffi_py_read_key(self, key, &index) < 0) return -1;
  const AnyffiSequence* list = anyffi_py_unwrap_sequence(self, ANYFFI_LIST);
  if (list == NULL) return -1;
  if (index < 0) index += list->size;
  if ((uint64_t)index < (uint64_t)list->size) return index;
  return anyffi_py_raise_made(anyffi_state.assignment_out_of_range, self);
}

/// Packs an element of a List, owned; 0, or -1 with an exception.
static inline int anyffi_py_pack_new_element(PyObject* x, AnyffiValue* out) {
  if (anyffi_py_pack_inline(x, out)) return 0;
  if (!anyffi_py_is_wrapper_class(Py_TYPE(x))) return anyffi_py_pack_owned(x, out);
  AnyffiObject* found = anyffi_py_unwrap(x);
  return found == NULL ? -1 : anyffi_py_share(found, out);
}

/// `self[key] = item` of a List; 0, or -1 with an exception.
static int anyffi_py_set_item(PyObject* self, PyObject* key, PyObject* item) {
  AnyffiValue packed;
  if (PySlice_Check(key)) return anyffi_py_set_slice(self, key, item);
  int64_t index = anyffi_py_find_position(self, key);
  if (index < 0) return -1;
  if (anyffi_py_pack_new_element(item, &packed) < 0) return anyffi_py_fail_set_item(ANYFFI_LIST, key, item);
  AnyffiSequence* list = (AnyffiSequence*)((AnyffiWrapper*)self)->object;
  // Packing may have run code that shortened the list.
  if (index >= list->size) {
    anyffi_py_raise_made(anyffi_state.assignment_out_of_range, self);
    return anyffi_py_discard(&packed);
  }
  AnyffiValue former = list->data[index];
  list->data[index] = packed;
  anyffi_add_types(&list->header, &list->type_mask, anyffi_type_bit(packed.type_code));
  anyffi_value_drop(&former);
  return 0;
}

/// `del self[key]` of a List; 0, or -1 with an exception.
static int anyffi_py_delete_item(PyObject* self, PyObject* key) {
  if (PySlice_Check(key)) return anyffi_py_set_slice(self, key, NULL);
  int64_t index = anyffi_py_find_position(self, key);
  if (index < 0) return -1;
  return anyffi_sequence_erase(((AnyffiWrapper*)self)->object, index, 1) == 0 ? 0 : anyffi_py_raise_taken();
}

/// `sq_item` of Array and List, which `reversed` and the C API use: Python's default would look up `__getitem__` for
/// each element.
static PyObject* anyffi_py_sequence_item(PyObject* self, Py_ssize_t index) {
  int is_list = anyffi_py_is_left(self, ANYFFI_LIST);
  const AnyffiSequence* sequence = anyffi_py_unwrap_sequence(self, is_list ? ANYFFI_LIST : ANYFFI_ARRAY);
  if (sequence == NULL) return NULL;
  if ((size_t)index < (uint64_t)sequence->size) return anyffi_py_unpack_copy(&sequence->data[index]);
  anyffi_py_raise_made(anyffi_state.index_out_of_range, self);
  return NULL;
}

#ifdef Py_GIL_DISABLED
static PyObject* anyffi_py_within_sequence_item(PyObject* self, Py_ssize_t index) {
  ANYFFI_BEGIN_SECTION
  PyObject* result = anyffi_py_sequence_item(self, index);
  ANYFFI_END_SECTION
  return result;
}
#else
#define anyffi_py_within_sequence_item anyffi_py_sequence_item
#endif

#endif  // ANYFFI_ELEMENTS_H_
