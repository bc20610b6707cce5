/// The other operand of an operation on sets: a set of the runtime, or elements of a Python container, borrowed if
/// possible.

#ifndef ANYFFI_SET_OPERAND_H_
#define ANYFFI_SET_OPERAND_H_

#include "mapping_compare.h"
#include "snapshots.h"

/// Returns the object of `x` if it is exactly a Set or FrozenSet, borrowed, else NULL without an exception.
static inline AnyffiMapping* anyffi_py_peek_set_exact(PyObject* x) {
  AnyffiObject* found = anyffi_py_peek_exact(x, ANYFFI_SET);
  return (AnyffiMapping*)(found != NULL ? found : anyffi_py_peek_exact(x, ANYFFI_FROZEN_SET));
}

/// Memory for arrays that are freed with an operand: a list of blocks.
typedef struct AnyffiArena {
  struct AnyffiArena* next;
  size_t left;  // number of unused bytes at the end
  char* free;
} AnyffiArena;

#define ANYFFI_ARENA_BYTES 16000

/// The other operand of an operation.
typedef struct {
  AnyffiObject* set;    // a set of the runtime, borrowed, or NULL
  AnyffiValue* values;  // otherwise elements of a Python set, list or tuple
  Py_ssize_t count;
  AnyffiArena* arena;
#ifdef Py_GIL_DISABLED
  PyObject* held;  // owned, the container that the values borrow from, or NULL
#endif
  AnyffiValue on_stack[16];
} AnyffiSetOperand;

static void anyffi_py_close_operand(AnyffiSetOperand* operand) {
  for (Py_ssize_t i = 0; i < operand->count; ++i) {
    const AnyffiValue* value = &operand->values[i];
    if (value->type_code > 0 && value->as_object->strong_count > 0) anyffi_value_drop(value);
  }
  if (operand->values != operand->on_stack) PyMem_Free(operand->values);
#ifdef Py_GIL_DISABLED
  AnyffiSaved saved = anyffi_py_save_exception();
  Py_XDECREF(operand->held);
  anyffi_py_restore_exception(saved);
#endif
  while (operand->arena != NULL) {
    AnyffiArena* block = operand->arena;
    operand->arena = block->next;
    PyMem_Free(block);
  }
}

/// Returns memory for an array of up to some elements, or NULL.
static AnyffiSequence* anyffi_py_reserve_array(AnyffiSetOperand* operand, Py_ssize_t size) {
  size_t bytes = sizeof(AnyffiSequence) + (size_t)size * sizeof(AnyffiValue);
  AnyffiArena* arena = operand->arena;
  if (arena == NULL || arena->left < bytes) {
    arena = (AnyffiArena*)PyMem_Malloc(sizeof(AnyffiArena) + ANYFFI_ARENA_BYTES);
    if (arena == NULL) return NULL;
    arena->next = operand->arena;
    arena->left = ANYFFI_ARENA_BYTES;
    arena->free = (char*)(arena + 1);
    operand->arena = arena;
  }
  AnyffiSequence* made = (AnyffiSequence*)arena->free;
  arena->free += bytes;
  arena->left -= bytes;
  return made;
}

/// Packs a short tuple of inline values as an array without a refcount: half the time of an object. 0 for others.
static int anyffi_py_pack_uncounted(PyObject* item, AnyffiSetOperand* operand, AnyffiValue* out) {
  Py_ssize_t size = PyTuple_GET_SIZE(item);
  AnyffiSequence* made = size > 16 ? NULL : anyffi_py_reserve_array(operand, size);
  if (made == NULL) return 0;
  memset(made, 0, sizeof(AnyffiSequence));
  made->header.type_code = ANYFFI_ARRAY;
  made->data = (AnyffiValue*)(made + 1);
  made->capacity = size;
  if (anyffi_py_fill_inline(anyffi_py_tuple_items(item), size, made) != size) return 0;
  *out = anyffi_make_object(&made->header);
  return 1;
}

/// 1 for a NaN: in the runtime's sets all NaNs are one element, but not in Python's.
static inline int anyffi_py_is_nan(PyObject* x) {
  return PyFloat_CheckExact(x) && PyFloat_AS_DOUBLE(x) != PyFloat_AS_DOUBLE(x);
}

/// Packs a tuple or set if that needs no Python code: 1, 0 for others, -1 if memory is exhausted.
ANYFFI_NEVER_INLINE int anyffi_py_pack_operand_whole(PyObject* item, AnyffiValue* out) {
  int packed = anyffi_py_pack_directly(item, out);
  if (packed >= 0 || PyErr_ExceptionMatches(PyExc_MemoryError)) return packed;
  // An operand that cannot be converted may still be comparable.
  PyErr_Clear();
  return 0;
}

/// Packs a scalar, borrowed, or a tuple; returns as `anyffi_py_pack_operand_whole`.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_operand_element(PyObject* item, AnyffiSetOperand* operand, AnyffiValue* out) {
  if (PyTuple_CheckExact(item)) {
    return anyffi_py_pack_uncounted(item, operand, out) ? 1 : anyffi_py_pack_operand_whole(item, out);
  }
  return !anyffi_py_is_nan(item) && anyffi_py_pack_plain(item, out);
}

/// Packs up to `most` elements of a list, tuple, set or frozenset from a position on. No Python code runs, so that
/// borrowed values stay valid. Returns as `anyffi_py_pack_operand_whole`.
static int anyffi_py_pack_operand_elements(PyObject* x, Py_ssize_t* position, Py_ssize_t most, AnyffiSetOperand* out) {
  int packed = 1;
  PyObject* item;
  out->count = 0;
  if (PyAnySet_CheckExact(x)) {
    while (packed > 0 && out->count < most && anyffi_py_next_element(x, position, &item)) {
      packed = anyffi_py_pack_operand_element(item, out, &out->values[out->count]);
      out->count += packed > 0;
    }
  } else {
    for (; packed > 0 && out->count < most && *position < Py_SIZE(x); ++*position) {
      packed = anyffi_py_pack_operand_element(PySequence_Fast_ITEMS(x)[*position], out, &out->values[out->count]);
      out->count += packed > 0;
    }
  }
  return packed;
}

/// Makes room for values: 0, or -1 with an exception.
static int anyffi_py_reserve_operand(AnyffiSetOperand* operand, Py_ssize_t size) {
  operand->set = NULL;
  operand->arena = NULL;
#ifdef Py_GIL_DISABLED
  operand->held = NULL;
#endif
  operand->count = 0;
  operand->values = size <= 16 ? operand->on_stack : PyMem_New(AnyffiValue, size);
  if (operand->values != NULL) return 0;
  PyErr_NoMemory();
  return -1;
}

/// The size of a set or frozenset, or (if `is_iterable`) of a list or tuple; -1 if the methods of `_objects` have to
/// handle it.
static inline Py_ssize_t anyffi_py_operand_length(PyObject* x, int is_iterable) {
  if (ANYFFI_KNOWN_LAYOUT && PyAnySet_CheckExact(x)) return PySet_GET_SIZE(x);
  return is_iterable && (PyList_CheckExact(x) || PyTuple_CheckExact(x)) ? Py_SIZE(x) : -1;
}

/// Whether an operand is read directly: a set, list or tuple. Other iterables are converted to a list first.
static int anyffi_py_is_read(PyObject* x) {
  if (PyAnySet_Check(x) || PyList_Check(x) || PyTuple_Check(x)) return 1;
  if (!anyffi_py_is_wrapper(x)) return 0;
  const AnyffiObject* object = ((AnyffiWrapper*)x)->object;
  return object == NULL || object->type_code == ANYFFI_SET || object->type_code == ANYFFI_FROZEN_SET;
}

/// Reads an operand, which has to be closed: 1, 0 if the method of `_objects` has to handle it, -1 with an exception.
static int anyffi_py_open_operand(PyObject* x, int is_iterable, AnyffiSetOperand* operand) {
  AnyffiMapping* found = anyffi_py_peek_set_exact(x);
  Py_ssize_t position = 0, size = found != NULL ? 0 : anyffi_py_operand_length(x, is_iterable);
  if (size < 0) return 0;
#ifdef Py_GIL_DISABLED
  PyObject* held = found != NULL ? NULL : anyffi_py_hold_items(x);
  if (found == NULL && held == NULL) return -1;
  if (held != NULL) {
    x = held;
    size = Py_SIZE(held);
  }
  if (anyffi_py_reserve_operand(operand, size) < 0) {
    Py_XDECREF(held);
    return -1;
  }
  operand->held = held;
#else
  if (anyffi_py_reserve_operand(operand, size) < 0) return -1;
#endif
  operand->set = found != NULL ? &found->header : NULL;
  int packed = found != NULL ? 1 : anyffi_py_pack_operand_elements(x, &position, size, operand);
  if (packed <= 0) anyffi_py_close_operand(operand);
  return packed;
}

#endif  // ANYFFI_SET_OPERAND_H_
