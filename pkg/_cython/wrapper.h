/// Wrappers: the Python object for an object of the runtime, which has at most one at a time.

#ifndef ANYFFI_WRAPPER_H_
#define ANYFFI_WRAPPER_H_

#include <string.h>

#include "found_classes.h"
#include "wrapper_names.h"

/// The layout of `ObjectCore`, with which every wrapper begins.
typedef struct {
  PyObject_HEAD AnyffiObject* object;
} AnyffiWrapper;

/// The layout of `FunctionCore`; `_core.pyx` checks it at import.
typedef struct {
  AnyffiWrapper base;
  PyObject* weak_references;
  vectorcallfunc vectorcall;
  PyObject* parameters;  // names, once a call with keywords has asked for them
} AnyffiFunctionWrapper;

/// 1 for the classes of most wrappers, whose base is derived from ObjectCore directly; 0 for others, some of which are
/// wrappers.
static inline int anyffi_py_is_wrapper_class(PyTypeObject* cls) {
  return cls->tp_base != NULL && cls->tp_base->tp_base == anyffi_state.object_core;
}

static inline int anyffi_py_is_wrapper(PyObject* x) {
  return anyffi_py_is_wrapper_class(Py_TYPE(x)) || PyObject_TypeCheck(x, anyffi_state.object_core);
}

/// Returns the object of a wrapper, borrowed; NULL with an exception for an empty wrapper.
static inline AnyffiObject* anyffi_py_unwrap(PyObject* wrapper) {
  AnyffiObject* found = ((AnyffiWrapper*)wrapper)->object;
  if (__builtin_expect(found == NULL, 0)) anyffi_py_raise_made(anyffi_state.empty_wrapper, wrapper);
  return found;
}

/// Returns the object of a wrapper, borrowed, which must be of a type; NULL with an exception.
ANYFFI_NEVER_INLINE AnyffiObject* anyffi_py_unwrap_checked(PyObject* wrapper, int32_t type_code) {
  AnyffiObject* found = anyffi_py_unwrap(wrapper);
  if (found == NULL || anyffi_type_is_a(found->type_code, type_code)) return found;
  // `x.__class__ = ...` can put a wrapper into any class of the same size.
  if (type_code != ANYFFI_FUNCTION) {
    anyffi_py_raise_made(anyffi_state.wrong_object, wrapper);
    return NULL;
  }
  PyObject* name = PyObject_GetAttrString((PyObject*)Py_TYPE(wrapper), "__name__");
  if (name != NULL) PyErr_Format(PyExc_TypeError, "this %U is no function", name);
  Py_XDECREF(name);
  return NULL;
}

/// 1 if an object has the methods of a type: a Shape has those of an Array, too.
static inline int anyffi_py_is_like(const AnyffiObject* object, int32_t type_code) {
  return object->type_code == type_code || (type_code == ANYFFI_ARRAY && object->type_code == ANYFFI_SHAPE);
}

/// As `anyffi_py_unwrap_checked`, but without calling it if the type is the expected one.
static inline AnyffiObject* anyffi_py_unwrap_as(PyObject* wrapper, int32_t type_code) {
  AnyffiObject* found = ((AnyffiWrapper*)wrapper)->object;
  if (__builtin_expect(found != NULL && found->type_code == type_code, 1)) return found;
  return anyffi_py_unwrap_checked(wrapper, type_code);
}

static inline AnyffiFunction* anyffi_py_unwrap_function(PyObject* wrapper) {
  return (AnyffiFunction*)anyffi_py_unwrap_as(wrapper, ANYFFI_FUNCTION);
}

/// The function in a wrapper that is known to hold one.
ANYFFI_ALWAYS_INLINE AnyffiFunction* anyffi_py_function_in(PyObject* wrapper) {
  return (AnyffiFunction*)((AnyffiWrapper*)wrapper)->object;
}

// ---- constructors of public classes ---------------------------------------------------------------------------------

/// The original `__new__` and `__init__` of a public class; both are NULL for other types.
typedef struct {
  PyObject *make, *init;
  unsigned int version;  // of the class, when both were last compared
} AnyffiConstructor;

static AnyffiConstructor anyffi_constructors[ANYFFI_FIRST_DYNAMIC_TYPE];

static PyObject* anyffi_py_look_up_name(PyTypeObject* cls, const char* name) {
  PyObject* text = PyUnicode_InternFromString(name);
  PyObject* found = text == NULL ? NULL : anyffi_py_look_up(cls, text);
  if (text == NULL) PyErr_Clear();
  Py_XDECREF(text);
  return found;
}

/// The version of a class, which the interpreter assigns if there is none. Call this before comparing attributes: if
/// another thread changes the class meanwhile, its version changes.
static inline unsigned int anyffi_py_version_now(PyTypeObject* cls) {
  if (anyffi_py_version(cls) == 0) anyffi_py_look_up_name(cls, "__new__");
  return anyffi_py_version(cls);
}

/// Stores `__new__` and `__init__` of a public class, which is never destroyed.
static void anyffi_py_remember_constructor(PyTypeObject* cls, int32_t type_code) {
  AnyffiConstructor* constructor = &anyffi_constructors[type_code];
  constructor->make = anyffi_py_look_up_name(cls, "__new__");
  constructor->init = anyffi_py_look_up_name(cls, "__init__");
  Py_XINCREF(constructor->make);
  Py_XINCREF(constructor->init);
  constructor->version = 0;
}

/// Compares both again, after the class was changed.
ANYFFI_NEVER_INLINE int anyffi_py_has_constructor(PyTypeObject* cls, AnyffiConstructor* constructor) {
  unsigned int version = anyffi_py_version_now(cls);
  if (constructor->init == NULL || anyffi_py_look_up_name(cls, "__new__") != constructor->make ||
      anyffi_py_look_up_name(cls, "__init__") != constructor->init) {
    return 0;
  }
  constructor->version = version;
  return 1;
}

/// 1 if nobody has replaced `__new__` or `__init__` of the class that is set for a static type.
static inline int anyffi_py_is_unchanged(int32_t type_code) {
  AnyffiConstructor* constructor = &anyffi_constructors[type_code];
  PyTypeObject* cls = (PyTypeObject*)anyffi_state.classes[type_code];
  unsigned int version = anyffi_py_version(cls);
  return (version != 0 && constructor->version == version) || anyffi_py_has_constructor(cls, constructor);
}

// ---- garbage collection ---------------------------------------------------------------------------------------------

/// Whether an object certainly is an AnyffiInstance.
static inline int anyffi_py_is_enrolled(const AnyffiObject* target) {
  return (__atomic_load_n(&target->weak_count, __ATOMIC_RELAXED) & ANYFFI_IS_ENROLLED) != 0;
}

/// The object that contains an object, borrowed, or NULL.
static inline const AnyffiObject* anyffi_py_owner_of(const AnyffiObject* target) {
  return anyffi_py_is_enrolled(target) ? ((const AnyffiInstance*)target)->owner : NULL;
}

/// 1 for a C++ object that is known to refer to nothing itself.
static inline int anyffi_py_refers_to_nothing(const AnyffiObject* target) {
  if (target->type_code < ANYFFI_FIRST_DYNAMIC_TYPE || target->deleter == anyffi_state.nurse_deleter) return 0;
  AnyffiFoundClass found = anyffi_py_find_found(target->type_code);
  return found.cls != NULL && !found.refers;
}

/// Caches the class of a type of which objects were only constructed so far, never returned, if that is possible.
ANYFFI_NEVER_INLINE void anyffi_py_learn_type(int32_t type_code) {
  AnyffiSaved saved = anyffi_py_save_exception();
  anyffi_py_remember_class(type_code);
  anyffi_py_restore_exception(saved);
}

/// As `anyffi_object_may_refer`, but without calling it for most objects.
static inline int anyffi_py_may_refer(const AnyffiObject* target) {
  int32_t code = target->type_code;
  if (target->deleter == anyffi_state.nurse_deleter) return 1;
  _Static_assert(ANYFFI_LIST == (ANYFFI_ARRAY | 1), "the two codes differ in the lowest bit");
  if ((code | 1) == ANYFFI_LIST) {
    return (((const AnyffiSequence*)target)->type_mask & ANYFFI_REFERRING) != 0;
  }
  if (code == ANYFFI_TENSOR && ((const AnyffiTensor*)target)->owner == NULL) return 0;
  if (code < ANYFFI_FIRST_DYNAMIC_TYPE) return anyffi_object_may_refer(target);
  if (__builtin_expect(anyffi_py_find_found(code).cls == NULL, 0)) anyffi_py_learn_type(code);
  if (!anyffi_py_refers_to_nothing(target)) return 1;
  const AnyffiObject* owner = anyffi_py_owner_of(target);
  if (owner == NULL) return 0;
  // Most owners are not part of another object.
  if (anyffi_py_refers_to_nothing(owner) && anyffi_py_owner_of(owner) == NULL) return 0;
  return anyffi_object_may_refer(target);
}

#ifdef Py_GIL_DISABLED
/// 0 if the result of `anyffi_py_may_refer` for an object never changes.
static inline int anyffi_py_may_begin_to_refer(const AnyffiObject* target) {
  int32_t code = target->type_code;
  return code != ANYFFI_ARRAY && code != ANYFFI_SHAPE && code != ANYFFI_MAP && code != ANYFFI_FROZEN_SET &&
         code != ANYFFI_TENSOR;
}
#endif

/// Lets the garbage collector track a wrapper if its object may refer to Python objects.
///
/// Wrappers of the public classes are untracked at first: tracking would slow down most calls with containers, and
/// every collection.
static inline void anyffi_py_track(PyObject* wrapper, const AnyffiObject* target) {
#ifdef Py_GIL_DISABLED
  // Not later, when another thread may destroy the wrapper that the object refers to.
  if (anyffi_py_may_begin_to_refer(target) && !PyObject_GC_IsTracked(wrapper)) PyObject_GC_Track(wrapper);
#endif
  if (__builtin_expect(anyffi_py_may_refer(target), 0) && !PyObject_GC_IsTracked(wrapper)) PyObject_GC_Track(wrapper);
}

/// Moves the object of a wrapper, which must not be empty, into an empty wrapper.
static void anyffi_py_move_object(PyObject* from, PyObject* to) {
  AnyffiObject* target = ((AnyffiWrapper*)from)->object;
  ((AnyffiWrapper*)to)->object = target;
  ((AnyffiWrapper*)from)->object = NULL;
  anyffi_py_rename_wrapper(target, from, to);
  anyffi_py_track(to, target);
}

// ---- wrapping -------------------------------------------------------------------------------------------------------

/// Returns an empty wrapper of the class for a type code, without calling `__new__` and `__init__`, which are for
/// users.
static PyObject* anyffi_py_new_wrapper(int32_t type_code) {
  PyObject* cls = anyffi_py_class_of(type_code);
  if (cls == NULL) return NULL;
  if (__builtin_expect(!PyType_HasFeature((PyTypeObject*)cls, Py_TPFLAGS_IS_ABSTRACT), 1)) {
    return ((PyTypeObject*)cls)->tp_alloc((PyTypeObject*)cls, 0);
  }
  return PyBaseObject_Type.tp_new((PyTypeObject*)cls, anyffi_state.no_arguments, NULL);
}

/// Releases an object after a failure.
static PyObject* anyffi_py_wrap_failed(AnyffiObject* target) {
  AnyffiValue held = anyffi_make_object(target);
  anyffi_py_discard(&held);
  return NULL;
}

#ifdef Py_GIL_DISABLED

/// Makes the wrapper of an object that has none, unless another thread does so first. Steals the object.
static PyObject* anyffi_py_wrap_new(AnyffiObject* target) {
  if ((__atomic_load_n(&target->weak_count, __ATOMIC_RELAXED) & ANYFFI_HAS_OVERRIDES) != 0) {
    PyObject* revived = anyffi_py_await_wrapper(target);
    if (revived != NULL) {
      anyffi_release(target);
      return revived;
    }
  }
  PyObject* made = anyffi_py_new_wrapper(target->type_code);
  if (made == NULL) return anyffi_py_wrap_failed(target);
  // Set before other threads can find the wrapper.
  ((AnyffiWrapper*)made)->object = target;
  anyffi_py_track(made, target);
  PyObject* found = anyffi_py_name_wrapper(target, made);
  if (found == NULL) return made;
  Py_DECREF(made);
  return found;
}

/// Returns the wrapper of an object, a new reference. Steals one strong reference, even on failure.
static PyObject* anyffi_py_wrap(AnyffiObject* target) {
  PyObject* found = anyffi_py_get_wrapper(target);
  if (found == NULL) return anyffi_py_wrap_new(target);
  anyffi_release(target);
  return found;
}

#else

/// Returns the wrapper of an object, a new reference. Steals one strong reference, even on failure.
static PyObject* anyffi_py_wrap(AnyffiObject* target) {
  PyObject* found = anyffi_py_current_wrapper(target);
  PyObject* made = NULL;
  if (found == NULL) {
    made = anyffi_py_new_wrapper(target->type_code);
    if (made == NULL) return anyffi_py_wrap_failed(target);
    // Allocating may have run the garbage collector, and so code that wrapped the object.
    found = anyffi_py_current_wrapper(target);
    if (found == NULL) {
      ((AnyffiWrapper*)made)->object = target;
      target->wrapper = made;
      anyffi_py_track(made, target);
      return made;
    }
  }
  Py_INCREF(found);
  Py_XDECREF(made);
  anyffi_release(target);
  return found;
}

#endif

/// As `anyffi_py_wrap`, but never the wrapper of another backend, beside which a second one is made.
static PyObject* anyffi_py_wrap_here(AnyffiObject* target) {
  PyObject* found = anyffi_py_get_wrapper(target);
  if (found == NULL) return anyffi_py_wrap(target);
  if (anyffi_py_is_wrapper(found)) {
    anyffi_release(target);
    return found;
  }
  Py_DECREF(found);
  PyObject* made = anyffi_py_new_wrapper(target->type_code);
  if (made == NULL) return anyffi_py_wrap_failed(target);
  ((AnyffiWrapper*)made)->object = target;
  anyffi_py_track(made, target);
  return made;
}

#endif  // ANYFFI_WRAPPER_H_
