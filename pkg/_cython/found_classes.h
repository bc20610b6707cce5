/// The classes of wrappers, by type code.

#ifndef ANYFFI_FOUND_CLASSES_H_
#define ANYFFI_FOUND_CLASSES_H_

#include <string.h>

#include "errors.h"
#include "sections.h"

/// Returns the class set for exactly this code, borrowed; NULL if there is none, or with an exception.
static PyObject* anyffi_py_class_set_for(int32_t type_code) {
  if (0 < type_code && type_code < ANYFFI_FIRST_DYNAMIC_TYPE) return anyffi_state.classes[type_code];
  PyObject* key = PyLong_FromLong(type_code);
  if (key == NULL) return NULL;
  PyObject* found = PyDict_GetItemWithError(anyffi_state.dynamic_classes, key);
  Py_DECREF(key);
  return found;
}

/// The same for a dynamic type, for which a class is made if there is none.
static PyObject* anyffi_py_make_class(int32_t type_code) {
  PyObject* found = anyffi_py_class_set_for(type_code);
  if (found != NULL || anyffi_state.make_class == NULL || PyErr_Occurred()) return found;
  PyObject* code = PyLong_FromLong(type_code);
  PyObject* made = code == NULL ? NULL : PyObject_CallOneArg(anyffi_state.make_class, code);
  Py_XDECREF(code);
  if (made == NULL) return NULL;
  Py_DECREF(made);
  return anyffi_py_class_set_for(type_code);
}

/// Returns the class set for a code, or for its nearest ancestor that has one, borrowed; NULL with an exception.
static PyObject* anyffi_py_find_class(int32_t type_code) {
  PyObject* found =
      type_code < ANYFFI_FIRST_DYNAMIC_TYPE ? anyffi_py_class_set_for(type_code) : anyffi_py_make_class(type_code);
  if (found != NULL || PyErr_Occurred()) return found;
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  for (int32_t depth = info == NULL ? 0 : info->depth; depth > 0;) {
    found = anyffi_py_class_set_for(info->ancestors[--depth]);
    if (found != NULL || PyErr_Occurred()) return found;
  }
  return (PyObject*)anyffi_state.object_core;
}

/// Whether the garbage collector visits the wrappers of a dynamic type: if its objects may refer to anything, or its
/// class is a user's, whose attributes may refer to the wrapper.
static int anyffi_py_is_visited(int32_t type_code) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  return (info != NULL && info->record != NULL) || anyffi_type_may_refer(type_code);
}

#ifdef Py_GIL_DISABLED

// Threads read a class here without a reference, while another class may replace it. Without the GIL only the garbage
// collector frees classes, and it stops all threads for that at points where none has just read one.

/// Cached classes of the types with a number below `count`. A larger table replaces this one, which is not freed,
/// because other threads may be reading it.
typedef struct AnyffiFoundClasses {
  size_t count;
  AnyffiFoundClass classes[];
} AnyffiFoundClasses;

/// Guards writing.
static AnyffiSpinLock anyffi_found_lock;
/// How often the cache was cleared.
static unsigned anyffi_times_forgotten;

/// The cached class of a dynamic type; `cls` is NULL if there is none.
static inline AnyffiFoundClass anyffi_py_find_found(int32_t type_code) {
  size_t index = (size_t)(type_code - ANYFFI_FIRST_DYNAMIC_TYPE);
  AnyffiFoundClasses* table = __atomic_load_n(&anyffi_state.found, __ATOMIC_ACQUIRE);
  AnyffiFoundClass found = {NULL, 0};
  if (table == NULL || index >= table->count) return found;
  found.cls = __atomic_load_n(&table->classes[index].cls, __ATOMIC_ACQUIRE);
  found.refers = __atomic_load_n(&table->classes[index].refers, __ATOMIC_RELAXED);
  return found;
}

/// Clears the cache for dynamic types, after a class was set.
static void anyffi_py_forget_classes(void) {
  anyffi_py_take_lock(&anyffi_found_lock);
  AnyffiFoundClasses* table = anyffi_state.found;
  for (size_t i = 0; table != NULL && i < table->count; ++i) {
    __atomic_store_n(&table->classes[i].cls, NULL, __ATOMIC_RELEASE);
  }
  __atomic_fetch_add(&anyffi_times_forgotten, 1, __ATOMIC_RELEASE);
  anyffi_py_drop_lock(&anyffi_found_lock);
}

/// Makes the table large enough for a type; the lock is held. NULL without memory.
static AnyffiFoundClasses* anyffi_py_grow_found(size_t index) {
  AnyffiFoundClasses* table = anyffi_state.found;
  if (table != NULL && index < table->count) return table;
  size_t count = 2 * (index + 1);
  AnyffiFoundClasses* grown =
      (AnyffiFoundClasses*)PyMem_RawCalloc(1, sizeof(AnyffiFoundClasses) + count * sizeof(AnyffiFoundClass));
  if (grown == NULL) return NULL;
  grown->count = count;
  if (table != NULL) memcpy(grown->classes, table->classes, table->count * sizeof(AnyffiFoundClass));
  __atomic_store_n(&anyffi_state.found, grown, __ATOMIC_RELEASE);
  return grown;
}

/// As `anyffi_py_find_class`, for a dynamic type; caches the result.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_remember_class(int32_t type_code) {
  size_t index = (size_t)(type_code - ANYFFI_FIRST_DYNAMIC_TYPE);
  unsigned times = __atomic_load_n(&anyffi_times_forgotten, __ATOMIC_ACQUIRE);
  PyObject* found = anyffi_py_find_class(type_code);
  if (found == NULL) return NULL;
  int refers = anyffi_py_is_visited(type_code);
  anyffi_py_take_lock(&anyffi_found_lock);
  AnyffiFoundClasses* table = times == anyffi_times_forgotten ? anyffi_py_grow_found(index) : NULL;
  if (table != NULL) {
    __atomic_store_n(&table->classes[index].refers, refers, __ATOMIC_RELAXED);
    __atomic_store_n(&table->classes[index].cls, found, __ATOMIC_RELEASE);
  }
  anyffi_py_drop_lock(&anyffi_found_lock);
  return found;
}

#else

static inline AnyffiFoundClass anyffi_py_find_found(int32_t type_code) {
  size_t index = (size_t)(type_code - ANYFFI_FIRST_DYNAMIC_TYPE);
  AnyffiFoundClass none = {NULL, 0};
  return index < anyffi_state.num_found ? anyffi_state.found_classes[index] : none;
}

/// Clears the cache for dynamic types, before a class is set, which may destroy the former one.
static void anyffi_py_forget_classes(void) {
  if (anyffi_state.num_found == 0) return;
  memset(anyffi_state.found_classes, 0, anyffi_state.num_found * sizeof(AnyffiFoundClass));
}

/// As `anyffi_py_find_class`, for a dynamic type; caches the result.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_remember_class(int32_t type_code) {
  size_t index = (size_t)(type_code - ANYFFI_FIRST_DYNAMIC_TYPE);
  PyObject* found = anyffi_py_find_class(type_code);
  if (found == NULL) return NULL;
  if (index >= anyffi_state.num_found) {
    AnyffiFoundClass* grown =
        (AnyffiFoundClass*)PyMem_RawRealloc(anyffi_state.found_classes, 2 * (index + 1) * sizeof(AnyffiFoundClass));
    // Without memory it is not cached.
    if (grown == NULL) return found;
    anyffi_state.found_classes = grown;
    anyffi_state.num_found = 2 * (index + 1);
    anyffi_py_forget_classes();
  }
  anyffi_state.found_classes[index] = (AnyffiFoundClass){found, anyffi_py_is_visited(type_code)};
  return found;
}

#endif

/// The class for wrappers of a type, borrowed; NULL with an exception.
static inline PyObject* anyffi_py_class_of(int32_t type_code) {
  if (type_code < ANYFFI_FIRST_DYNAMIC_TYPE) return anyffi_py_find_class(type_code);
  PyObject* found = anyffi_py_find_found(type_code).cls;
  return found != NULL ? found : anyffi_py_remember_class(type_code);
}

#endif  // ANYFFI_FOUND_CLASSES_H_
