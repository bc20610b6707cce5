/// Long text and bytes that calls in progress borrow from Python's objects: a callback that receives one gets the
/// object itself, because copying a megabyte would take longer than the rest of the call.

#ifndef ANYFFI_BORROWED_H_
#define ANYFFI_BORROWED_H_

#include <anyffi/c_api.h>

#include "layout.h"

/// From this length on, about a microsecond of copying.
#define ANYFFI_MIN_RECORDED 16384

/// An exact str or bytes that the caller of a call in progress keeps alive.
typedef struct AnyffiBorrowed {
  struct AnyffiBorrowed* next;
  const void* data;
  PyObject* object;
} AnyffiBorrowed;

/// Records in use, last first, and free ones. The GIL guards both; without it each thread has its own.
#ifdef Py_GIL_DISABLED
static __thread AnyffiBorrowed* anyffi_py_borrowed ANYFFI_STATIC_TLS;
static __thread AnyffiBorrowed* anyffi_py_free_borrowed ANYFFI_STATIC_TLS;
#else
static AnyffiBorrowed *anyffi_py_borrowed, *anyffi_py_free_borrowed;
#endif

/// 1 for views of text and bytes of at least that length.
ANYFFI_ALWAYS_INLINE int anyffi_py_is_recorded(const AnyffiValue* value) {
  return (value->type_code == ANYFFI_STR_VIEW || value->type_code == ANYFFI_BYTES_VIEW) &&
         value->aux >= (uint32_t)ANYFFI_MIN_RECORDED << 2;
}

/// Records the object whose storage a view shows, until `anyffi_py_forget_borrowed`. Without memory, callbacks get
/// copies.
ANYFFI_NEVER_INLINE void anyffi_py_record_borrowed(const AnyffiValue* view, PyObject* object) {
  AnyffiBorrowed* made = anyffi_py_free_borrowed;
  if (made != NULL) {
    anyffi_py_free_borrowed = made->next;
  } else {
    made = (AnyffiBorrowed*)PyMem_Malloc(sizeof(AnyffiBorrowed));
    if (made == NULL) return;
  }
  *made = (AnyffiBorrowed){anyffi_py_borrowed, view->as_pointer, object};
  anyffi_py_borrowed = made;
}

/// Ends the records of a call's arguments. Another call in progress may have borrowed the same object, so each removes
/// one record.
ANYFFI_NEVER_INLINE void anyffi_py_forget_borrowed(const AnyffiValue* values, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!anyffi_py_is_recorded(&values[i])) continue;
    AnyffiBorrowed** link = &anyffi_py_borrowed;
    while (*link != NULL && (*link)->data != values[i].as_pointer) link = &(*link)->next;
    AnyffiBorrowed* found = *link;
    if (found == NULL) continue;
    *link = found->next;
#ifdef Py_GIL_DISABLED
    // Keeps no free records, so that nothing leaks when the thread ends.
    PyMem_Free(found);
#else
    found->next = anyffi_py_free_borrowed;
    anyffi_py_free_borrowed = found;
#endif
  }
}

/// Returns a new reference to the object whose whole storage a view shows; NULL, without an exception, if none is
/// known.
static PyObject* anyffi_py_find_borrowed(const AnyffiValue* view) {
  if (!anyffi_py_is_recorded(view)) return NULL;
  const AnyffiBorrowed* found = anyffi_py_borrowed;
  while (found != NULL && found->data != view->as_pointer) found = found->next;
  if (found == NULL) return NULL;
  // A view of a part of a text may begin at the same address as the text.
  PyTypeObject* cls = view->type_code == ANYFFI_STR_VIEW ? &PyUnicode_Type : &PyBytes_Type;
  if (!Py_IS_TYPE(found->object, cls)) return NULL;
  Py_ssize_t length = cls == &PyBytes_Type ? Py_SIZE(found->object) : PyUnicode_GET_LENGTH(found->object);
  if (length != (Py_ssize_t)(view->aux >> 2)) return NULL;
  Py_INCREF(found->object);
  return found->object;
}

#endif  // ANYFFI_BORROWED_H_
