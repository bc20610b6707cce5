/// Comparing and searching elements of sequences, as list and tuple do: element by element, up to the first that
/// decides. Comparing two elements may run code that changes either sequence, so each step reads both again.

#ifndef ANYFFI_COMPARE_H_
#define ANYFFI_COMPARE_H_

#include "methods.h"
#include "snapshots.h"

/// The elements of a Python list or tuple, or of a sequence of the runtime.
typedef struct {
  PyObject* items;           // the list or tuple, or NULL
  PyObject* held;            // owned, a tuple of the items until Python code runs; without the GIL only
  AnyffiSequence* sequence;  // the sequence, if `items` is NULL
} AnyffiOperand;

static inline Py_ssize_t anyffi_py_operand_size(const AnyffiOperand* operand) {
  return operand->items != NULL ? Py_SIZE(operand->items) : (Py_ssize_t)operand->sequence->size;
}

static inline PyObject* anyffi_py_operand_item(const AnyffiOperand* operand, Py_ssize_t i) {
  if (operand->items == NULL) return anyffi_py_unpack_copy(&operand->sequence->data[i]);
#ifdef Py_GIL_DISABLED
  // NULL with an IndexError if another thread has shortened the list.
  if (PyList_Check(operand->items)) return PyList_GetItemRef(operand->items, i);
#endif
  return anyffi_py_return_new(PySequence_Fast_ITEMS(operand->items)[i]);
}

/// Finds the other operand of an operator, borrowed; 0 if it is neither a builtin container or a subclass, nor ours.
static int anyffi_py_read_operand(int32_t type_code, PyObject* x, AnyffiOperand* out) {
  int is_alike = type_code == ANYFFI_LIST ? PyList_Check(x) : PyTuple_Check(x);
  out->items = is_alike ? x : NULL;
  out->held = NULL;
  out->sequence = is_alike ? NULL : (AnyffiSequence*)anyffi_py_peek_exact(x, type_code);
  return is_alike || out->sequence != NULL;
}

/// Levels of nested containers that are compared without wrappers.
#define ANYFFI_NATIVE_DEPTH 16

static int anyffi_py_nested_equals(const AnyffiValue* cell, PyObject* item, int depth);

/// As `anyffi_py_cell_equals`, at a level of nested containers.
static inline int anyffi_py_cell_equals_at(const AnyffiValue* cell, PyObject* item, int depth) {
  AnyffiValue packed;
  if (cell->type_code == ANYFFI_INT && Py_IS_TYPE(item, &PyLong_Type)) {
    int64_t number;
    return anyffi_py_read_int(item, &number) == 0 && number == cell->as_int;
  }
  if (cell->type_code == ANYFFI_FLOAT && Py_IS_TYPE(item, &PyFloat_Type)) {
    return cell->as_float == PyFloat_AS_DOUBLE(item);
  }
  if (cell->type_code == ANYFFI_STR_OBJECT && Py_IS_TYPE(item, &PyUnicode_Type) && anyffi_py_is_ready(item)) {
    const AnyffiStrObject* text = (const AnyffiStrObject*)cell->as_object;
    if (text->encoding == anyffi_py_encoding_of(item)) {
      size_t size = (size_t)text->length << anyffi_encoding_shift(text->encoding);
      return text->length == PyUnicode_GET_LENGTH(item) && memcmp(text->data, PyUnicode_DATA(item), size) == 0;
    }
  }
  if (cell->type_code >= ANYFFI_ARRAY) return anyffi_py_nested_equals(cell, item, depth);
  if (cell->type_code > ANYFFI_BYTES_OBJECT || !anyffi_py_pack_plain(item, &packed)) return -1;
  if (cell->type_code == ANYFFI_STR && packed.type_code == ANYFFI_STR) {
    return cell->as_int == packed.as_int && cell->aux == packed.aux;
  }
  return anyffi_value_equal_native(cell, &packed);
}

/// Whether a sequence equals a list or tuple, as `anyffi_py_cell_equals`.
static int anyffi_py_items_equal(const AnyffiSequence* sequence, PyObject* items, int depth) {
  if (sequence->size != Py_SIZE(items)) return 0;
  for (int64_t i = 0; i < sequence->size; ++i) {
    int is_equal = anyffi_py_cell_equals_at(&sequence->data[i], PySequence_Fast_ITEMS(items)[i], depth);
    if (is_equal != 1) return is_equal;
  }
  return 1;
}

static int anyffi_py_entries_equal(const AnyffiMapping* mine, PyObject* item, int depth);

/// Whether a container equals an exact one of Python, or one of ours, as `anyffi_py_cell_equals`. If the wrapper is of
/// a user's class, that class compares it.
static int anyffi_py_nested_equals(const AnyffiValue* cell, PyObject* item, int depth) {
  AnyffiObject* object = cell->as_object;
  int32_t code = cell->type_code;
  if (code > ANYFFI_SET || depth == ANYFFI_NATIVE_DEPTH) return -1;
#ifdef Py_GIL_DISABLED
  // Other threads may change mutable containers, or destroy the wrapper.
  if ((code != ANYFFI_ARRAY && code != ANYFFI_SHAPE) || object->wrapper != NULL) return -1;
#else
  if (object->wrapper != NULL && (PyObject*)anyffi_py_class_of_wrapper(object) != anyffi_state.classes[code]) return -1;
#endif
  AnyffiObject* other = anyffi_py_peek_exact(item, code);
  if (other != NULL) {
    AnyffiValue theirs = anyffi_make_object(other);
    return anyffi_value_equal_native(cell, &theirs);
  }
  if (code == ANYFFI_DICT || code == ANYFFI_MAP) {
    return anyffi_py_entries_equal((const AnyffiMapping*)object, item, depth + 1);
  }
  int is_alike = code == ANYFFI_LIST ? PyList_CheckExact(item)
                                     : (code == ANYFFI_ARRAY || code == ANYFFI_SHAPE) && PyTuple_CheckExact(item);
  return is_alike ? anyffi_py_items_equal((const AnyffiSequence*)object, item, depth + 1) : -1;
}

/// Whether a cell equals an object; -1 if comparing them would run Python code.
static inline int anyffi_py_cell_equals(const AnyffiValue* cell, PyObject* item) {
  return anyffi_py_cell_equals_at(cell, item, 0);
}

/// Finds the first position from `i` on at which two sequences may differ: -1 if there is none.
static Py_ssize_t anyffi_py_skip_equal(const AnyffiSequence* mine, const AnyffiOperand* other, Py_ssize_t i) {
  if (other->items == NULL) {
    int32_t is_equal;
    return (Py_ssize_t)anyffi_sequence_mismatch(&mine->header, &other->sequence->header, i, &is_equal);
  }
#ifdef Py_GIL_DISABLED
  if (other->held == NULL) return i < mine->size && i < Py_SIZE(other->items) ? i : -1;
  PyObject* const* items = anyffi_py_tuple_items(other->held);
  Py_ssize_t size = Py_SIZE(other->held);
#else
  PyObject* const* items = PySequence_Fast_ITEMS(other->items);
  Py_ssize_t size = Py_SIZE(other->items);
#endif
  if (size > mine->size) size = (Py_ssize_t)mine->size;
  for (; i < size; ++i) {
    if (anyffi_py_cell_equals(&mine->data[i], items[i]) != 1) return i;
  }
  return -1;
}

/// Compares a sequence with another operand.
static PyObject* anyffi_py_compare_sequences(AnyffiSequence* mine, AnyffiOperand* other, int operation) {
  int is_equality = operation == Py_EQ || operation == Py_NE;
#ifdef Py_GIL_DISABLED
  if (other->items != NULL && (other->held = anyffi_py_hold_items(other->items)) == NULL) return NULL;
#endif
  if (is_equality && mine->size != anyffi_py_operand_size(other)) return PyBool_FromLong(operation == Py_NE);
  for (Py_ssize_t i = 0; (i = anyffi_py_skip_equal(mine, other, i)) >= 0; ++i) {
    PyObject* left = anyffi_py_need_stack() < 0 ? NULL : anyffi_py_unpack_copy(&mine->data[i]);
    // Unpacking may have run code that changed the other one.
    if (left != NULL && i >= anyffi_py_operand_size(other)) {
      Py_DECREF(left);
      break;
    }
    PyObject* right = left == NULL ? NULL : anyffi_py_operand_item(other, i);
#ifdef Py_GIL_DISABLED
    Py_CLEAR(other->held);
    if (right == NULL && left != NULL && PyErr_ExceptionMatches(PyExc_IndexError)) {
      PyErr_Clear();
      Py_DECREF(left);
      break;
    }
#endif
    int is_equal = right == NULL ? -1 : PyObject_RichCompareBool(left, right, Py_EQ);
    PyObject* result = NULL;
    // The comparison may have run code that shortened either.
    int is_past = i >= mine->size || i >= anyffi_py_operand_size(other);
    if (is_equal == 0 && !is_past) {
      result = is_equality ? PyBool_FromLong(operation == Py_NE) : PyObject_RichCompare(left, right, operation);
    }
    Py_XDECREF(left);
    Py_XDECREF(right);
    if (is_equal == 0 && is_past) break;
    if (is_equal <= 0) return result;
  }
  Py_RETURN_RICHCOMPARE(mine->size, anyffi_py_operand_size(other), operation);
}

/// The comparisons of an Array or List.
static PyObject* anyffi_py_sequence_compare(PyObject* self, PyObject* other, int operation, int32_t type_code) {
  AnyffiOperand operand;
  if (self == other && (operation == Py_EQ || operation == Py_NE)) return PyBool_FromLong(operation == Py_EQ);
  int is_known = anyffi_py_read_operand(type_code, other, &operand);
  AnyffiSequence* mine = anyffi_py_peek_sequence(self, type_code);
  if (mine == NULL || !is_known) return anyffi_py_compare_shared(self, other, operation, is_known, type_code);
  // Comparing elements may release either operand.
  Py_INCREF(self);
  Py_INCREF(other);
  PyObject* result = anyffi_py_compare_sequences(mine, &operand, operation);
  Py_XDECREF(operand.held);
  Py_DECREF(self);
  Py_DECREF(other);
  return result;
}

/// Finds a value among the elements from `start` to below `stop`: its position, -1 if it is absent, -2 with an
/// exception.
static int64_t anyffi_py_find_value(AnyffiSequence* sequence, PyObject* value, int64_t start, int64_t stop) {
  AnyffiValue packed;
  int is_plain = anyffi_py_pack_plain(value, &packed);
  for (int64_t i = start;; ++i) {
    int32_t is_equal = 0;
    if (is_plain) {
      i = anyffi_sequence_find(&sequence->header, &packed, i, stop, &is_equal);
      if (i < 0 || is_equal == 1) return i;
    } else if (i >= stop || i >= sequence->size) {
      return -1;
    }
    PyObject* item = anyffi_py_need_stack() < 0 ? NULL : anyffi_py_unpack_copy(&sequence->data[i]);
    is_equal = item == NULL ? -1 : PyObject_RichCompareBool(item, value, Py_EQ);
    Py_XDECREF(item);
    if (is_equal != 0) return is_equal < 0 ? -2 : i;
  }
}

/// As `anyffi_py_find_value`, for the sequence of a wrapper, which it keeps alive.
static int64_t anyffi_py_search(PyObject* self, AnyffiSequence* sequence, PyObject* value, int64_t start,
                                int64_t stop) {
  Py_INCREF(self);
  Py_INCREF(value);
  int64_t found = anyffi_py_find_value(sequence, value, start, stop);
  Py_DECREF(value);
  Py_DECREF(self);
  return found;
}

/// 1 if a sequence has an element, 0 if not, -1 with an exception.
static int anyffi_py_sequence_has(PyObject* self, PyObject* value, int32_t type_code) {
  AnyffiSequence* sequence = anyffi_py_unwrap_sequence(self, type_code);
  if (sequence == NULL) return -1;
  int64_t found = anyffi_py_search(self, sequence, value, 0, INT64_MAX);
  return found == -2 ? -1 : found >= 0;
}

static PyObject* anyffi_py_sequence_index(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                          int32_t type_code) {
  AnyffiSequence* sequence = anyffi_py_peek_sequence(self, type_code);
  int64_t bounds[2] = {0, INT64_MAX};
  int is_frequent = sequence != NULL && names == NULL && 1 <= count && count <= 3;
  for (Py_ssize_t i = 1; is_frequent && i < count; ++i) {
    is_frequent = anyffi_py_read_index(args[i], &bounds[i - 1]);
    if (bounds[i - 1] < 0) bounds[i - 1] += sequence->size;
    if (bounds[i - 1] < 0) bounds[i - 1] = 0;
  }
  if (!is_frequent) return anyffi_py_call_shared(type_code, "index", self, args, count, names);
  int64_t found = anyffi_py_search(self, sequence, args[0], bounds[0], bounds[1]);
  if (found >= 0) return PyLong_FromLongLong(found);
  if (found == -2) return NULL;
  // Let the interpreter raise the error, with its own message.
  PyObject* empty = type_code == ANYFFI_LIST ? PyList_New(0) : PyTuple_New(0);
  PyObject* result = empty == NULL ? NULL : PyObject_CallMethod(empty, "index", "(O)", args[0]);
  Py_XDECREF(empty);
  return result;
}

static PyObject* anyffi_py_sequence_count(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                          int32_t type_code) {
  AnyffiSequence* sequence = anyffi_py_peek_sequence(self, type_code);
  if (sequence == NULL || !anyffi_py_has_arguments(count, 1, names)) {
    return anyffi_py_call_shared(type_code, "count", self, args, count, names);
  }
  Py_ssize_t total = 0;
  int64_t found = -1;
  while ((found = anyffi_py_search(self, sequence, args[0], found + 1, INT64_MAX)) >= 0) ++total;
  return found == -2 ? NULL : PyLong_FromSsize_t(total);
}

#endif  // ANYFFI_COMPARE_H_
