/// The iterators over the entries of a mapping or set.

#ifndef ANYFFI_ENTRY_ITERATOR_H_
#define ANYFFI_ENTRY_ITERATOR_H_

#include "containers.h"

/// The layout of `EntryIterator`; core_iterators.pxi checks it at import.
typedef struct {
  PyObject_HEAD PyObject* container; /* None at the end */
  int64_t position, size, left;
  int part, step;
} AnyffiEntryIterator;

/// The empty sequence methods of the iterators. Types written in Python always have such a table, without which Python
/// refuses `del iterator[x]` with another message.
static PySequenceMethods anyffi_py_no_sequence;

/// Ends an iteration.
static void anyffi_py_end_iteration(AnyffiEntryIterator* iterator) {
  Py_INCREF(Py_None);
  Py_SETREF(iterator->container, Py_None);
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_refuse_size(AnyffiEntryIterator* iterator) {
  if (anyffi_py_unwrap(iterator->container) == NULL) return NULL;
  // The error is raised again at every further step.
  iterator->size = -1;
  anyffi_py_raise(PyObject_CallFunction(anyffi_state.changed_size, "i", iterator->part));
  return NULL;
}

/// `next(iterator)`: a new reference, or NULL; without an exception at the end.
static PyObject* anyffi_py_next_item(PyObject* self) {
  AnyffiEntryIterator* iterator = (AnyffiEntryIterator*)self;
  if (iterator->container == Py_None) return NULL;
  AnyffiMapping* entries = (AnyffiMapping*)((AnyffiWrapper*)iterator->container)->object;
  if (entries == NULL || entries->size != iterator->size) return anyffi_py_refuse_size(iterator);
  int64_t number = anyffi_py_next_entry(entries, iterator->position, iterator->step);
  if (number < 0) {
    anyffi_py_end_iteration(iterator);
    return NULL;
  }
  if (iterator->left == 0 && iterator->step > 0 && iterator->part != ANYFFI_ELEMENTS) {
    anyffi_py_end_iteration(iterator);
    anyffi_py_raise(PyObject_CallNoArgs(anyffi_state.changed_keys));
    return NULL;
  }
  iterator->position = number + iterator->step;
  iterator->left -= 1;
  return anyffi_py_unpack_entry(&entries->entries[number], iterator->part);
}

#endif  // ANYFFI_ENTRY_ITERATOR_H_
