/// The pointer from an object's header to its wrapper.

#ifndef ANYFFI_WRAPPER_NAMES_H_
#define ANYFFI_WRAPPER_NAMES_H_

#include <unistd.h>

#include "sections.h"

#ifdef Py_GIL_DISABLED

/// Locks for these pointers, selected by the address of the object. A wrapper is not freed between reading the pointer
/// and taking a reference, because the pointer is cleared first.
#define ANYFFI_NAME_LOCKS 64
static struct {
  _Alignas(64) AnyffiSpinLock lock;
} anyffi_name_locks[ANYFFI_NAME_LOCKS];

static inline AnyffiSpinLock* anyffi_py_name_lock(const AnyffiObject* target) {
  uint64_t spread = ((uint64_t)(uintptr_t)target >> 4) * (uint64_t)0x9E3779B97F4A7C15;
  return &anyffi_name_locks[(spread >> 40) % ANYFFI_NAME_LOCKS].lock;
}

/// Lets threads other than its creator add references to an object by `anyffi_py_try_retain`: the interpreter then
/// decides with one atomic instruction whether the last reference is gone (PyUnstable_EnableTryIncRef of Python 3.14).
static inline void anyffi_py_enable_retain(PyObject* x) {
  Py_ssize_t flags = 0;
  __atomic_compare_exchange_n(&x->ob_ref_shared, &flags, (Py_ssize_t)_Py_REF_MAYBE_WEAKREF, 0, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

/// Adds a reference to an object that may be in its `tp_dealloc`; 0 if it is.
static int anyffi_py_try_retain(PyObject* x) {
  if (_Py_IsOwnedByCurrentThread(x)) {
    if (__atomic_load_n(&x->ob_ref_local, __ATOMIC_RELAXED) == 0) return 0;
    Py_INCREF(x);
    return 1;
  }
  Py_ssize_t shared = __atomic_load_n(&x->ob_ref_shared, __ATOMIC_RELAXED);
  do {
    if (shared == 0 || shared == _Py_REF_MERGED) return 0;
  } while (!__atomic_compare_exchange_n(&x->ob_ref_shared, &shared, shared + (1 << _Py_REF_SHARED_SHIFT), 1,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return 1;
}

/// Returns an object's wrapper, a new reference; NULL if it has none or one that is being destroyed.
static PyObject* anyffi_py_get_wrapper(AnyffiObject* target) {
  if (__atomic_load_n(&target->wrapper, __ATOMIC_RELAXED) == NULL) return NULL;
  AnyffiSpinLock* lock = anyffi_py_name_lock(target);
  anyffi_py_take_lock(lock);
  PyObject* found = (PyObject*)__atomic_load_n(&target->wrapper, __ATOMIC_RELAXED);
  if (found != NULL && !anyffi_py_try_retain(found)) found = NULL;
  anyffi_py_drop_lock(lock);
  return found;
}

/// Sets the wrapper of an object and returns NULL, or returns a new reference to another wrapper that is alive.
static PyObject* anyffi_py_name_wrapper(AnyffiObject* target, PyObject* wrapper) {
  anyffi_py_enable_retain(wrapper);
  AnyffiSpinLock* lock = anyffi_py_name_lock(target);
  anyffi_py_take_lock(lock);
  PyObject* found = (PyObject*)__atomic_load_n(&target->wrapper, __ATOMIC_RELAXED);
  if (found != NULL && !anyffi_py_try_retain(found)) found = NULL;
  if (found == NULL) __atomic_store_n(&target->wrapper, wrapper, __ATOMIC_RELEASE);
  anyffi_py_drop_lock(lock);
  return found;
}

/// 1 while another thread destroys the wrapper of an object.
static int anyffi_py_is_dying_elsewhere(AnyffiObject* target) {
  AnyffiSpinLock* lock = anyffi_py_name_lock(target);
  anyffi_py_take_lock(lock);
  PyObject* found = (PyObject*)__atomic_load_n(&target->wrapper, __ATOMIC_RELAXED);
  int is_dying = found != NULL && !_Py_IsOwnedByCurrentThread(found);
  anyffi_py_drop_lock(lock);
  return is_dying;
}

/// As `anyffi_py_get_wrapper`, for an object that may have overrides. If C++ shares the object, the finalizer of its
/// wrapper keeps the wrapper alive, for which this waits. Not forever: the other thread may be waiting for this one.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_await_wrapper(AnyffiObject* target) {
  PyObject* found = NULL;
  for (int tries = 0; found == NULL && tries < 5000 && anyffi_py_is_dying_elsewhere(target); ++tries) {
    PyThreadState* state = PyEval_SaveThread();
    if (tries < 100) {
      sched_yield();
    } else {
      usleep(100);
    }
    PyEval_RestoreThread(state);
    found = anyffi_py_get_wrapper(target);
  }
  return found;
}

/// Clears the pointer of an object to this wrapper before the wrapper's memory is freed.
static void anyffi_py_unname_wrapper(AnyffiObject* target, PyObject* wrapper) {
  AnyffiSpinLock* lock = anyffi_py_name_lock(target);
  anyffi_py_take_lock(lock);
  if (__atomic_load_n(&target->wrapper, __ATOMIC_RELAXED) == (void*)wrapper) {
    __atomic_store_n(&target->wrapper, NULL, __ATOMIC_RELAXED);
  }
  anyffi_py_drop_lock(lock);
}

/// The class of an object's wrapper, borrowed; NULL if it has none.
static PyTypeObject* anyffi_py_class_of_wrapper(const AnyffiObject* target) {
  AnyffiSpinLock* lock = anyffi_py_name_lock(target);
  anyffi_py_take_lock(lock);
  PyObject* found = (PyObject*)__atomic_load_n(&target->wrapper, __ATOMIC_RELAXED);
  PyTypeObject* cls = found == NULL ? NULL : Py_TYPE(found);
  anyffi_py_drop_lock(lock);
  return cls;
}

#else

/// Returns an object's wrapper, borrowed; NULL if it has none or one that is being destroyed.
static inline PyObject* anyffi_py_current_wrapper(AnyffiObject* target) {
  PyObject* found = (PyObject*)target->wrapper;
  return found != NULL && anyffi_py_is_alive(found) ? found : NULL;
}

/// The same, a new reference.
static inline PyObject* anyffi_py_get_wrapper(AnyffiObject* target) {
  PyObject* found = anyffi_py_current_wrapper(target);
  Py_XINCREF(found);
  return found;
}

static inline void anyffi_py_enable_retain(PyObject* x) { (void)x; }

/// Clears the pointer of an object to this wrapper. Not atomic, because every writer has the GIL.
static inline void anyffi_py_unname_wrapper(AnyffiObject* target, PyObject* wrapper) {
  if (target->wrapper == (void*)wrapper) target->wrapper = NULL;
}

static inline PyTypeObject* anyffi_py_class_of_wrapper(const AnyffiObject* target) {
  return Py_TYPE((PyObject*)target->wrapper);
}

#endif

/// Replaces the wrapper of an object, which was emptied, by another one.
static inline void anyffi_py_rename_wrapper(AnyffiObject* target, PyObject* former, PyObject* wrapper) {
  anyffi_py_enable_retain(wrapper);
  anyffi_object_compare_exchange_wrapper(target, former, wrapper);
}

#endif  // ANYFFI_WRAPPER_NAMES_H_
