/// Methods and constructors of C++ classes: calls whose first argument is a wrapper, and calls of classes.

#ifndef ANYFFI_BOUND_H_
#define ANYFFI_BOUND_H_

#include "class_plan.h"
#include "overrides.h"
#include "vectorcall.h"

/// The vectorcall function of methods, whose first argument is a wrapper, and whose others are probably immediate.
static PyObject* anyffi_py_vectorcall_method(PyObject* method, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (__builtin_expect(names == NULL && count > 0 && count <= ANYFFI_MAX_SHORT, 1) &&
      anyffi_py_is_short(method, count) && anyffi_py_is_wrapper(args[0])) {
    AnyffiFunction* target = anyffi_py_function_in(method);
    AnyffiObject* self = ((AnyffiWrapper*)args[0])->object;
    AnyffiValue values[ANYFFI_MAX_SHORT];
    Py_ssize_t packed = 1;
    if (self != NULL) {
      values[0] = anyffi_make_object(self);
      while (packed < count && (anyffi_py_pack_operand(args[packed], &values[packed]) ||
                                anyffi_py_pack_short_text(args[packed], &values[packed]))) {
        ++packed;
      }
      if (packed == count) {
        AnyffiValue result = anyffi_py_make_result();
        int status = target->call(target->self, values, (int32_t)count, &result);
        // Operands may be callable objects, for which the rules say in the message what to pass instead.
        if (__builtin_expect(status != 0, 0)) return anyffi_py_fail_call(status, args, NULL, count);
        return anyffi_py_take_result(0, &result);
      }
    }
  }
  return anyffi_py_vectorcall(method, args, flags, names);
}

/// The `tp_descr_get` of methods, which does what `MethodMethods.__get__` does without calling Python code.
static PyObject* anyffi_py_bind_method(PyObject* method, PyObject* instance, PyObject* owner) {
  (void)owner;
  if (instance != NULL && instance != Py_None) return PyMethod_New(method, instance);
  Py_INCREF(method);
  return method;
}

/// Makes the interpreter call `x.f(1)` as `f(x, 1)`, without a bound method, and remember where it found `f`, which it
/// does only if the class of `f` is immutable (CPython 3.11's Python/specialize.c, `analyze_descriptor`).
static void anyffi_py_set_method_flags(PyTypeObject* cls) {
  cls->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
#ifdef Py_TPFLAGS_IMMUTABLETYPE
  cls->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
#endif
  cls->tp_descr_get = anyffi_py_bind_method;
  PyType_Modified(cls);
}

/// The plan of a class whose constructor is a function of the runtime. Owns its references.
typedef struct {
  PyObject ob_base;
  PyObject* init;      // the `__init__` of the class
  PyObject* function;  // the wrapper
  AnyffiOverrides overrides;
  unsigned int version;  // of the class
} AnyffiBoundClass;

static int anyffi_py_visit_bound_class(PyObject* x, visitproc visit, void* arg) {
  AnyffiBoundClass* plan = (AnyffiBoundClass*)x;
  Py_VISIT(Py_TYPE(x));
  Py_VISIT(plan->init);
  Py_VISIT(plan->function);
  Py_VISIT(plan->overrides.owner);
  Py_VISIT(plan->overrides.base);
  Py_VISIT(plan->overrides.bind);
  Py_VISIT(plan->overrides.finder);
  return 0;
}

static void anyffi_py_free_bound_class(PyObject* x) {
  AnyffiBoundClass* plan = (AnyffiBoundClass*)x;
  PyObject_GC_UnTrack(x);
  Py_XDECREF(plan->init);
  Py_XDECREF(plan->function);
  Py_XDECREF(plan->overrides.owner);
  Py_XDECREF(plan->overrides.base);
  Py_XDECREF(plan->overrides.bind);
  Py_XDECREF(plan->overrides.finder);
  anyffi_py_free_plan(x);
}

static PyType_Slot anyffi_bound_class_slots[] = {
    {Py_tp_traverse, anyffi_py_visit_bound_class}, {Py_tp_dealloc, anyffi_py_free_bound_class}, {0, NULL}};
static PyType_Spec anyffi_bound_class_spec = {"anyffi.BoundClass", sizeof(AnyffiBoundClass), 0,
                                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, anyffi_bound_class_slots};

static inline AnyffiBoundClass* anyffi_py_bound_class(PyTypeObject* cls) {
  return (AnyffiBoundClass*)anyffi_py_plan_of(cls, anyffi_state.bound_class);
}

/// Compares `__init__` and `__new__` again after the class was changed.
ANYFFI_NEVER_INLINE int anyffi_py_is_bound_anew(PyTypeObject* cls, AnyffiBoundClass* found) {
  if (cls->tp_new != PyBaseObject_Type.tp_new || PyType_HasFeature(cls, Py_TPFLAGS_IS_ABSTRACT)) return 0;
  // If a call fails, `type.__call__` would finalize the wrapper.
  if (cls->tp_finalize != NULL && cls->tp_finalize != anyffi_py_finalize_shared) return 0;
  unsigned int version = anyffi_py_version_now(cls);
  if (anyffi_py_look_up_name(cls, "__init__") != found->init) return 0;
  found->version = version;
  return 1;
}

// ---- calls of classes -----------------------------------------------------------------------------------------------

/// Puts a new object, which has no wrapper, into an empty wrapper. Steals the object.
static inline void anyffi_py_fill_wrapper(PyObject* wrapper, AnyffiObject* made) {
  ((AnyffiWrapper*)wrapper)->object = made;
  anyffi_py_enable_retain(wrapper);
  made->wrapper = wrapper;
  anyffi_py_track(wrapper, made);
}

/// Puts a new object into a new wrapper of a class. Steals the object.
static inline PyObject* anyffi_py_wrap_as(PyTypeObject* cls, AnyffiValue* made) {
  PyObject* wrapper = cls->tp_alloc(cls, 0);
  if (wrapper == NULL) {
    anyffi_py_discard(made);
    return NULL;
  }
  anyffi_py_fill_wrapper(wrapper, made->as_object);
  return wrapper;
}

/// Lets C++ find the overrides of a new instance, which is stolen, and may be NULL.
static inline PyObject* anyffi_py_bound_instance(const AnyffiBoundClass* plan, PyObject* instance) {
  if (instance == NULL || anyffi_py_bind_overrides(&plan->overrides, instance) == 0) return instance;
  Py_DECREF(instance);
  return NULL;
}

/// Returns the object that a constructor has made as an instance of a class. Steals its wrapper, which may be NULL.
static PyObject* anyffi_py_as_instance(PyTypeObject* cls, const AnyffiBoundClass* plan, PyObject* made) {
  if (made == NULL) return NULL;
  if (Py_TYPE(made) == cls && Py_REFCNT(made) == 1) return anyffi_py_bound_instance(plan, made);
  // A factory may return an object that has a wrapper already, or one of another class.
  PyObject* instance = cls->tp_alloc(cls, 0);
  if (instance != NULL && anyffi_py_unwrap(made) != NULL) {
    anyffi_py_move_object(made, instance);
  } else {
    Py_CLEAR(instance);
  }
  Py_DECREF(made);
  return anyffi_py_bound_instance(plan, instance);
}

static PyObject* anyffi_py_call_constructor(PyObject* function, PyObject* const* args, size_t flags, PyObject* names) {
  AnyffiFunction* target = anyffi_py_function_in(function);
  return anyffi_py_choose_vectorcall(function, target)(function, args, flags, names);
}

/// Calls a constructor with at most ANYFFI_MAX_SHORT arguments; the first `packed` ones are immediate.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_construct_rest(PyTypeObject* cls, const AnyffiBoundClass* plan,
                                                       PyObject* const* args, Py_ssize_t count, Py_ssize_t packed,
                                                       AnyffiValue* values) {
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)plan->function)->object;
  AnyffiValue made = anyffi_make_none();
  while (packed < count && anyffi_py_pack_plain_argument(target, packed, args[packed], &values[packed])) ++packed;
  if (packed < count) {
    anyffi_py_finish((PyObject*)cls, values, packed);
    return anyffi_py_as_instance(cls, plan, anyffi_py_call_constructor(plan->function, args, (size_t)count, NULL));
  }
  int status = target->call(target->self, values, (int32_t)count, &made);
  PyObject* wrapper = status != 0 ? anyffi_py_fail_call(status, args, NULL, count) : anyffi_py_wrap_as(cls, &made);
  return anyffi_py_bound_instance(plan, anyffi_py_finish(wrapper, values, count));
}

/// Calls a class without making an empty wrapper for `__init__` and a second one for the result.
static PyObject* anyffi_py_construct_bound(PyObject* cls, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  AnyffiBoundClass* found = anyffi_py_bound_class((PyTypeObject*)cls);
  // While calls are observed, `type.__call__` calls `__init__`, so that the observer sees that.
  int is_bound = found != NULL && anyffi_state.observer == NULL;
  unsigned int version = anyffi_py_version((PyTypeObject*)cls);
  if (!is_bound ||
      ((version == 0 || found->version != version) && !anyffi_py_is_bound_anew((PyTypeObject*)cls, found))) {
    return anyffi_py_call_slot(cls, args, count, names);
  }
  if (names != NULL || count > ANYFFI_MAX_SHORT) {
    PyObject* instance = anyffi_py_call_constructor(found->function, args, flags, names);
    return anyffi_py_as_instance((PyTypeObject*)cls, found, instance);
  }
  AnyffiValue values[ANYFFI_MAX_SHORT], made = anyffi_make_none();
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (anyffi_py_pack_immediate(args[i], Py_TYPE(args[i]), &values[i])) continue;
    return anyffi_py_construct_rest((PyTypeObject*)cls, found, args, count, i, values);
  }
  // Nothing has to be released.
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)found->function)->object;
  int status = target->call(target->self, values, (int32_t)count, &made);
  if (__builtin_expect(status != 0, 0)) return anyffi_py_fail_call(status, args, NULL, count);
  return anyffi_py_bound_instance(found, anyffi_py_wrap_as((PyTypeObject*)cls, &made));
}

/// Replaces a reference of a plan by one to an attribute; -1 with an exception.
static int anyffi_py_replace_by_attribute(PyObject** place, PyObject* x, const char* name) {
  PyObject* found = PyObject_GetAttrString(x, name);
  if (found == NULL) return -1;
  anyffi_py_replace(place, found);
  return 0;
}

/// Makes calls of a class create objects by the function of a constructor, if that is its `__init__`; -1 with an
/// exception.
static int anyffi_py_plan_class(PyTypeObject* cls, PyObject* constructor) {
  if (!ANYFFI_KNOWN_LAYOUT || anyffi_state.is_check_mode) return 0;
  AnyffiBoundClass* plan = anyffi_py_bound_class(cls);
  int is_new = plan == NULL;
  if (is_new) {
    plan = (AnyffiBoundClass*)anyffi_py_new_plan(&anyffi_state.bound_class, &anyffi_bound_class_spec, 0);
    if (plan == NULL) return 0;
  }
  AnyffiOverrides* overrides = &plan->overrides;
  PyObject* owner = PyObject_GetAttrString(constructor, "_overrides");
  int status = owner == NULL ? -1 : anyffi_py_replace_by_attribute(&plan->function, constructor, "_function");
  if (status == 0 && owner != Py_None) {
    status = anyffi_py_replace_by_attribute(&overrides->base, owner, "base");
    if (status == 0) status = anyffi_py_replace_by_attribute(&overrides->bind, owner, "_bind");
    if (status == 0) status = anyffi_py_replace_by_attribute(&overrides->finder, owner, "_finder");
  }
  if (status == 0) {
    Py_INCREF(constructor);
    anyffi_py_replace(&plan->init, constructor);
    anyffi_py_replace(&overrides->owner, owner == Py_None ? NULL : anyffi_py_return_new(owner));
    plan->version = 0;
    if (is_new) anyffi_py_set_plan(cls, anyffi_py_return_new((PyObject*)plan), anyffi_py_construct_bound);
  }
  if (is_new) Py_DECREF(plan);
  Py_XDECREF(owner);
  return status;
}

// ---- `__init__`, called by classes of Python that derive from one of C++ --------------------------------------------

/// The class of constructors, and its former slots.
static PyTypeObject* anyffi_constructor_class;
static ternaryfunc anyffi_constructor_call;
static descrgetfunc anyffi_constructor_get;

/// The plan of the class that a constructor belongs to, if an instance is of it or of a Python class derived from it;
/// else NULL.
static AnyffiBoundClass* anyffi_py_constructed_class(PyObject* init, PyObject* x) {
  static PyObject* key = NULL;
  if (key == NULL && (key = PyUnicode_InternFromString("_anyffi_type_key")) == NULL) PyErr_Clear();
  if (anyffi_state.observer != NULL) return NULL;
  for (PyTypeObject* cls = Py_TYPE(x); key != NULL && cls != NULL; cls = cls->tp_base) {
    AnyffiBoundClass* found = anyffi_py_bound_class(cls);
    if (found == NULL || found->init != init) continue;
    PyObject* own = anyffi_py_look_up(cls, key);
    return own != NULL && own == anyffi_py_look_up(Py_TYPE(x), key) ? found : NULL;
  }
  return NULL;
}

/// Initializes a wrapper: 1, 0 if the Python function has to do it, -1 with an exception.
static int anyffi_py_initialize(PyObject* init, PyObject* x, PyObject* const* args, Py_ssize_t count) {
  AnyffiBoundClass* found = count > ANYFFI_MAX_SHORT ? NULL : anyffi_py_constructed_class(init, x);
  if (found == NULL || ((AnyffiWrapper*)x)->object != NULL) return 0;
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)found->function)->object;
  AnyffiValue values[ANYFFI_MAX_SHORT], made = anyffi_make_none();
  Py_ssize_t packed = 0;
  while (packed < count && anyffi_py_pack_plain_argument(target, packed, args[packed], &values[packed])) ++packed;
  if (packed < count) {
    anyffi_py_finish(x, values, packed);
    return 0;
  }
  int status = target->call(target->self, values, (int32_t)count, &made);
  if (status != 0) {
    anyffi_py_fail_call(status, args, NULL, count);
  } else if (((AnyffiWrapper*)x)->object != NULL) {
    // Code that the constructor called has initialized it meanwhile.
    status = anyffi_py_discard(&made);
    PyErr_Format(PyExc_TypeError, "%s is already initialized", Py_TYPE(x)->tp_name);
  } else {
    anyffi_py_fill_wrapper(x, made.as_object);
    status = anyffi_py_bind_overrides(&found->overrides, x);
  }
  return anyffi_py_finish(status == 0 ? x : NULL, values, count) == NULL ? -1 : 1;
}

/// The `tp_call` of that class: `super().__init__(...)` with positional arguments, without calling Python code.
static PyObject* anyffi_py_call_init(PyObject* init, PyObject* args, PyObject* kwargs) {
  Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count > 0 && (kwargs == NULL || PyDict_GET_SIZE(kwargs) == 0) && Py_TYPE(init) == anyffi_constructor_class) {
    PyObject* const* given = PySequence_Fast_ITEMS(args);
    int status = anyffi_py_initialize(init, given[0], given + 1, count - 1);
    if (status < 0) return NULL;
    if (status > 0) Py_RETURN_NONE;
  }
  return anyffi_constructor_call(init, args, kwargs);
}

/// Its `tp_descr_get`, which does what the one written in Python does.
static PyObject* anyffi_py_bind_init(PyObject* init, PyObject* x, PyObject* cls) {
  int is_own = x != NULL && x != Py_None && Py_TYPE(init) == anyffi_constructor_class;
  return is_own ? PyMethod_New(init, x) : anyffi_constructor_get(init, x, cls);
}

/// Sets the slots of the class of constructors.
static void anyffi_py_set_constructor_slots(PyTypeObject* cls) {
  if (!ANYFFI_KNOWN_LAYOUT || anyffi_state.is_check_mode || anyffi_constructor_class != NULL) return;
  Py_INCREF(cls);
  anyffi_constructor_class = cls;
  anyffi_constructor_call = cls->tp_call;
  anyffi_constructor_get = cls->tp_descr_get;
  cls->tp_call = anyffi_py_call_init;
  cls->tp_descr_get = anyffi_py_bind_init;
  PyType_Modified(cls);
}

#endif  // ANYFFI_BOUND_H_
