/// The memory of wrappers of the public classes, which calls often create just for their results.
///
/// The metaclass of a Python class prepares it for any fields and finalizers, and the garbage collector visits each of
/// its instances. Most wrappers of exactly the public classes refer only to their class and need neither; without
/// these, and with free lists, creating one takes a third of the instructions.

#ifndef ANYFFI_WRAPPER_MEMORY_H_
#define ANYFFI_WRAPPER_MEMORY_H_

#include "wrapper.h"

/// The layout of `ObjectCore`, with its weak references.
typedef struct {
  AnyffiWrapper base;
  PyObject* weak_references;
} AnyffiObjectWrapper;

#ifdef Py_GIL_DISABLED
#define ANYFFI_MAX_FREE_WRAPPERS 0
#else
#define ANYFFI_MAX_FREE_WRAPPERS 256
#endif

/// Free wrappers of a size, linked through their first field.
typedef struct {
  PyObject* first;
  int count;
} AnyffiFreeWrappers;

static AnyffiFreeWrappers anyffi_py_free_objects, anyffi_py_free_functions;

static inline int anyffi_py_is_function_sized(PyTypeObject* cls) {
  return cls->tp_basicsize == (Py_ssize_t)sizeof(AnyffiFunctionWrapper);
}

static inline AnyffiFreeWrappers* anyffi_py_free_wrappers(PyTypeObject* cls) {
  return anyffi_py_is_function_sized(cls) ? &anyffi_py_free_functions : &anyffi_py_free_objects;
}

/// The `tp_alloc` of a public class.
static PyObject* anyffi_py_allocate_wrapper(PyTypeObject* cls, Py_ssize_t count) {
  (void)count;
  AnyffiFreeWrappers* list = anyffi_py_free_wrappers(cls);
  PyObject* made = list->first;
  if (made != NULL) {
    list->first = (PyObject*)((AnyffiWrapper*)made)->object;
    list->count -= 1;
    PyObject_Init(made, cls);
  } else {
    made = (PyObject*)PyObject_GC_New(AnyffiWrapper, cls);
    if (made == NULL) return NULL;
  }
  ((AnyffiObjectWrapper*)made)->base.object = NULL;
  ((AnyffiObjectWrapper*)made)->weak_references = NULL;
  if (anyffi_py_is_function_sized(cls)) {
    ((AnyffiFunctionWrapper*)made)->vectorcall = NULL;
    ((AnyffiFunctionWrapper*)made)->parameters = NULL;
    PyObject_GC_Track(made);
  }
  return made;
}

/// Releases the object of a wrapper that is being destroyed or cleared.
static void anyffi_py_release_wrapped(PyObject* self) {
  AnyffiObject* target = ((AnyffiWrapper*)self)->object;
  if (target == NULL) return;
  ((AnyffiWrapper*)self)->object = NULL;
  anyffi_py_unname_wrapper(target, self);
  if (PyErr_Occurred() == NULL) {
    anyffi_release(target);
    return;
  }
  // Releasing may run code that must not see the exception.
  AnyffiSaved saved = anyffi_py_save_exception();
  anyffi_release(target);
  anyffi_py_restore_exception(saved);
}

/// The `tp_dealloc` of a public class, also for its subclasses.
static void anyffi_py_destroy_wrapper(PyObject* self) {
  PyTypeObject* cls = Py_TYPE(self);
  if (cls->tp_finalize != NULL) {
    if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
    // A subclass's finalizer ran already, and runs only once.
    if (PyObject_CallFinalizerFromDealloc(self) < 0) {
      anyffi_py_enable_retain(self);
      return;
    }
  }
  anyffi_py_untrack(self);
  if (((AnyffiObjectWrapper*)self)->weak_references != NULL) PyObject_ClearWeakRefs(self);
  anyffi_py_release_wrapped(self);
  AnyffiFreeWrappers* list = anyffi_py_free_wrappers(cls);
  if (cls->tp_alloc != anyffi_py_allocate_wrapper) {
    if (PyType_IsSubtype(cls, anyffi_state.function_core)) Py_CLEAR(((AnyffiFunctionWrapper*)self)->parameters);
    cls->tp_free(self);
  } else {
    if (list == &anyffi_py_free_functions) Py_CLEAR(((AnyffiFunctionWrapper*)self)->parameters);
    // A finalized wrapper would keep its mark.
    if (list->count < ANYFFI_MAX_FREE_WRAPPERS && !anyffi_py_is_finalized(self)) {
      ((AnyffiWrapper*)self)->object = (AnyffiObject*)list->first;
      list->first = self;
      list->count += 1;
    } else {
      cls->tp_free(self);
    }
  }
  Py_DECREF(cls);
}

/// The `tp_traverse` of a public class. Subclasses rely on it to visit the class.
static int anyffi_py_traverse_wrapper(PyObject* self, visitproc visit, void* arg) {
  AnyffiObject* target = ((AnyffiWrapper*)self)->object;
  Py_VISIT(Py_TYPE(self));
  return target == NULL ? 0 : anyffi_object_traverse(target, (int (*)(void*, void*))visit, arg);
}

/// The `tp_clear` of a public class: releases what the collector visited. If the object has other references, nothing
/// was visited. Not for a Tensor, whose memory may still be exported.
static int anyffi_py_clear_wrapper(PyObject* self) {
  AnyffiObject* target = ((AnyffiWrapper*)self)->object;
  if (target != NULL && target->type_code != ANYFFI_TENSOR && anyffi_is_held_once(target) &&
      anyffi_object_may_refer(target)) {
    anyffi_py_release_wrapped(self);
  }
  return 0;
}

/// Sets the slots of a public class before it has instances; not of a class whose instances have more fields.
static void anyffi_py_set_wrapper_slots(PyTypeObject* cls) {
  size_t size =
      PyType_IsSubtype(cls, anyffi_state.function_core) ? sizeof(AnyffiFunctionWrapper) : sizeof(AnyffiObjectWrapper);
  if ((size_t)cls->tp_basicsize != size || cls->tp_dictoffset != 0) return;
  if (!PyType_HasFeature(cls, Py_TPFLAGS_HEAPTYPE) || !PyType_HasFeature(cls, Py_TPFLAGS_HAVE_GC)) return;
  cls->tp_alloc = anyffi_py_allocate_wrapper;
  cls->tp_dealloc = anyffi_py_destroy_wrapper;
  cls->tp_traverse = anyffi_py_traverse_wrapper;
  cls->tp_clear = anyffi_py_clear_wrapper;
}

#endif  // ANYFFI_WRAPPER_MEMORY_H_
