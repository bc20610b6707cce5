/// Methods and constructors of C++ classes: calls whose first argument is a wrapper, and calls of classes.

#ifndef ANYFFI_BOUND_H_
#define ANYFFI_BOUND_H_

#include "vectorcall.h"

/// What Python calls a method through: a wrapper, and arguments that are probably immediate.
static PyObject* anyffi_py_vectorcall_method(PyObject* method, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (__builtin_expect(names == NULL && count > 0 && count <= ANYFFI_MAX_SHORT, 1) &&
      anyffi_py_is_short(method, count) && anyffi_py_is_wrapper(args[0])) {
    AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)method)->object;
    AnyffiObject* self = ((AnyffiWrapper*)args[0])->object;
    AnyffiValue values[ANYFFI_MAX_SHORT];
    Py_ssize_t packed = 1;
    if (self != NULL) {
      values[0] = anyffi_make_object(self);
      while (packed < count && anyffi_py_pack_operand(args[packed], &values[packed])) ++packed;
      if (packed == count) return anyffi_py_call_packed(target, values, count);
    }
  }
  return anyffi_py_vectorcall(method, args, flags, names);
}

/// A class whose constructor is a function of the runtime, as it was when it was remembered.
typedef struct {
  PyTypeObject* cls;     // NULL while calls are observed: `type.__call__` then calls `__init__`
  PyTypeObject* owner;   // the class in any case
  PyObject* init;        // its `__init__`, owned
  PyObject* function;    // the wrapper, owned
  unsigned int version;  // of the class
} AnyffiBoundClass;

#define ANYFFI_MAX_BOUND 256
static AnyffiBoundClass anyffi_bound_classes[ANYFFI_MAX_BOUND];

static inline AnyffiBoundClass* anyffi_py_bound_class(PyTypeObject* cls) {
  return &anyffi_bound_classes[((uintptr_t)cls >> 6) % ANYFFI_MAX_BOUND];
}

/// Compares `__init__` and `__new__`, after the class was changed.
ANYFFI_NEVER_INLINE int anyffi_py_is_bound_anew(AnyffiBoundClass* found) {
  if (anyffi_py_look_up_name(found->cls, "__init__") != found->init) return 0;
  if (found->cls->tp_new != PyBaseObject_Type.tp_new) return 0;
  found->version = anyffi_py_version(found->cls);
  return 1;
}

/// Puts a new object into a new wrapper of a class. Steals the object.
static PyObject* anyffi_py_wrap_as(PyTypeObject* cls, AnyffiValue* made) {
  PyObject* wrapper = cls->tp_alloc(cls, 0);
  if (wrapper == NULL) {
    anyffi_py_discard(made);
    return NULL;
  }
  ((AnyffiWrapper*)wrapper)->object = made->as_object;
  made->as_object->wrapper = wrapper;
  anyffi_py_track(wrapper, made->as_object);
  return wrapper;
}

/// Returns an object that a constructor has made as an instance of a class. Steals its wrapper, which may be NULL.
static PyObject* anyffi_py_as_instance(PyTypeObject* cls, PyObject* made) {
  if (made == NULL || (Py_TYPE(made) == cls && Py_REFCNT(made) == 1)) return made;
  // A factory may return an object that has a wrapper already, or one of another class.
  PyObject* instance = cls->tp_alloc(cls, 0);
  PyObject* moved = instance == NULL ? NULL : PyObject_CallMethod(instance, "_move_from", "O", made);
  Py_DECREF(made);
  if (moved == NULL) Py_CLEAR(instance);
  Py_XDECREF(moved);
  return instance;
}

static PyObject* anyffi_py_call_constructor(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  return anyffi_py_has_items((AnyffiFunction*)((AnyffiWrapper*)function)->object)
             ? anyffi_py_vectorcall_items(function, args, flags, names)
             : anyffi_py_vectorcall(function, args, flags, names);
}

/// Calls a class: without an empty wrapper for `__init__`, and a second one for the result.
static PyObject* anyffi_py_construct_bound(PyObject* cls, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  AnyffiBoundClass* found = anyffi_py_bound_class((PyTypeObject*)cls);
  int is_bound = (PyObject*)found->cls == cls;
  unsigned int version = anyffi_py_version((PyTypeObject*)cls);
  if (!is_bound || ((version == 0 || found->version != version) && !anyffi_py_is_bound_anew(found))) {
    return anyffi_py_call_slot(cls, args, count, names);
  }
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)found->function)->object;
  AnyffiValue values[ANYFFI_MAX_SHORT], made = anyffi_make_none();
  Py_ssize_t packed = 0;
  int is_short = names == NULL && count <= ANYFFI_MAX_SHORT;
  while (is_short && packed < count && anyffi_py_pack_plain_argument(target, packed, args[packed], &values[packed])) {
    ++packed;
  }
  if (!is_short || packed < count) {
    anyffi_py_finish(cls, values, packed);
    return anyffi_py_as_instance((PyTypeObject*)cls, anyffi_py_call_constructor(found->function, args, flags, names));
  }
  int status = target->call(target->self, values, (int32_t)count, &made);
  PyObject* wrapper =
      status != 0 ? anyffi_py_fail_call(status, args, NULL, count) : anyffi_py_wrap_as((PyTypeObject*)cls, &made);
  return anyffi_py_finish(wrapper, values, count);
}

/// Remembers the function that creates the objects of a class, which is never destroyed.
static void anyffi_py_set_constructor(PyTypeObject* cls, PyObject* function) {
  if (!ANYFFI_KNOWN_LAYOUT || anyffi_state.is_check_mode) return;
  AnyffiBoundClass* place = anyffi_py_bound_class(cls);
  if (place->owner != NULL && place->owner != cls) return;
  cls->tp_vectorcall = anyffi_py_construct_bound;
  PyType_Modified(cls);
  PyObject* init = anyffi_py_look_up_name(cls, "__init__");
  Py_XINCREF(init);
  Py_XSETREF(place->init, init);
  Py_INCREF(function);
  Py_XSETREF(place->function, function);
  place->version = 0;
  place->owner = cls;
  place->cls = anyffi_state.observer == NULL ? cls : NULL;
}

/// Lets calls of classes take the fast path only if there is no observer.
static void anyffi_py_hide_constructors(int are_hidden) {
  for (int i = 0; i < ANYFFI_MAX_BOUND; ++i) {
    AnyffiBoundClass* place = &anyffi_bound_classes[i];
    place->cls = are_hidden ? NULL : place->owner;
  }
}

#endif  // ANYFFI_BOUND_H_
