/// The iterators over objects of C++ classes.

#ifndef ANYFFI_ELEMENT_ITERATOR_H_
#define ANYFFI_ELEMENT_ITERATOR_H_

#include "call.h"

/// The layout of `ElementIterator`; core_iterators.pxi checks it at import.
typedef struct {
  PyObject_HEAD PyObject* get_next; /* None at the end */
} AnyffiElementIterator;

/// Ends an iteration; NULL.
static PyObject* anyffi_py_end_elements(AnyffiElementIterator* iterator) {
  Py_INCREF(Py_None);
  ANYFFI_BEGIN_SECTION
  PyObject* former = iterator->get_next;
  iterator->get_next = Py_None;
  ANYFFI_END_SECTION
  Py_DECREF(former);
  return NULL;
}

/// `next(iterator)`: a new reference, or NULL; without an exception at the end.
static PyObject* anyffi_py_next_element_of(PyObject* self) {
  AnyffiElementIterator* iterator = (AnyffiElementIterator*)self;
  ANYFFI_BEGIN_SECTION
  PyObject* get_next = iterator->get_next;
  // The called code may end this iteration.
  Py_INCREF(get_next);
  ANYFFI_END_SECTION
  PyObject* found = NULL;
  int is_end = get_next == Py_None;
  if (!is_end && anyffi_state.observer != NULL) {
    found = PyObject_CallNoArgs(get_next);
    is_end = found == anyffi_state.missing;
  } else if (!is_end) {
    AnyffiFunction* target = anyffi_py_unwrap_function(get_next);
    if (target != NULL) {
      AnyffiValue result = anyffi_py_make_result();
      int status = target->call(target->self, NULL, 0, &result);
      // The end is detected before unpacking, which takes longer than an element.
      is_end = status == 0 && result.type_code == ANYFFI_MISSING;
      if (!is_end) found = anyffi_py_take_result(status, &result);
    }
  }
  Py_DECREF(get_next);
  if (!is_end) return found;
  Py_XDECREF(found);
  return anyffi_py_end_elements(iterator);
}

#endif  // ANYFFI_ELEMENT_ITERATOR_H_
