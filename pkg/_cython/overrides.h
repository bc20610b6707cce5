/// Objects of Python classes that override virtual C++ functions: does what `Overrides` in Python does for each of
/// them.

#ifndef ANYFFI_OVERRIDES_H_
#define ANYFFI_OVERRIDES_H_

#include "call.h"

/// What is needed to let C++ find the overrides of an object: attributes of Python's Overrides.
typedef struct {
  PyObject* owner;   // the Overrides; NULL if the class has none
  PyObject* base;    // the class whose own objects have no overrides, or None
  PyObject* bind;    // wrappers of functions
  PyObject* finder;  // the second argument of `bind`
} AnyffiOverrides;

/// The finalizer of the interpreter, which calls `__del__`.
static destructor anyffi_py_call_del;

#define ANYFFI_FINALIZER_TRIES (PY_VERSION_HEX < 0x030B0000 ? 3 : 1)

/// The `tp_finalize` of classes whose `__del__` does nothing but keep objects alive that C++ refers to.
static void anyffi_py_finalize_shared(PyObject* x) {
  AnyffiObject* object = ((AnyffiWrapper*)x)->object;
  // Other threads may be about to call overrides.
  anyffi_py_enable_retain(x);
  // Before CPython 3.11 a call allocates a frame. Without memory for it `__del__` does not run, and is called again.
  for (int i = 0; i < ANYFFI_FINALIZER_TRIES; ++i) {
    if (object == NULL || __atomic_load_n(&object->strong_count, __ATOMIC_ACQUIRE) == 1) return;
    Py_ssize_t references = Py_REFCNT(x);
    anyffi_py_call_del(x);
    if (Py_REFCNT(x) != references) return;
  }
}

/// Prepares a class for objects that stay alive, as Python's `Overrides.prepare` does; -1 with an exception.
ANYFFI_NEVER_INLINE int anyffi_py_prepare_overrides(const AnyffiOverrides* overrides, PyTypeObject* cls) {
  PyObject* does_nothing_else = PyObject_CallMethod(overrides->owner, "prepare", "O", cls);
  if (does_nothing_else == NULL) return -1;
  destructor former = cls->tp_finalize;
  if (does_nothing_else == Py_True && former != NULL && former != anyffi_py_finalize_shared) {
    anyffi_py_call_del = former;
    cls->tp_finalize = anyffi_py_finalize_shared;
  }
  Py_DECREF(does_nothing_else);
  return 0;
}

/// Makes C++ find the overrides of a new object, as Python's `Overrides.bind` does; -1 with an exception.
static inline int anyffi_py_bind_overrides(const AnyffiOverrides* overrides, PyObject* x) {
  PyTypeObject* cls = Py_TYPE(x);
  if (overrides->owner == NULL || (PyObject*)cls == overrides->base) return 0;
  AnyffiFunction* bind = (AnyffiFunction*)((AnyffiWrapper*)overrides->bind)->object;
  AnyffiValue values[] = {anyffi_make_object(((AnyffiWrapper*)x)->object),
                          anyffi_make_object(((AnyffiWrapper*)overrides->finder)->object)};
  AnyffiValue can_have = anyffi_make_none();
  int status = bind->call(bind->self, values, 2, &can_have);
  if (status != 0) {
    anyffi_py_raise_taken();
    return -1;
  }
  if (!can_have.as_int || cls->tp_finalize == anyffi_py_finalize_shared) return 0;
  return anyffi_py_prepare_overrides(overrides, cls);
}

#endif  // ANYFFI_OVERRIDES_H_
