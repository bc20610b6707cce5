/// Methods of containers in C: each handles frequent cases, and calls the method of `_objects` for all others, such as
/// wrong arguments and subclasses of builtins.

#ifndef ANYFFI_METHODS_H_
#define ANYFFI_METHODS_H_

#include "containers.h"

typedef PyObject* (*AnyffiMethod)(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);

/// A method, whose text signature and docstring are those of the method of `_objects`.
typedef struct {
  const char* name;
  AnyffiMethod call;
} AnyffiMethodRow;

/// Returns a descriptor, such as `list.append`. Its definition, and `doc`, are never freed.
static PyObject* anyffi_py_new_method(PyTypeObject* cls, const AnyffiMethodRow* row, const char* doc) {
  PyMethodDef* method = PyMem_New(PyMethodDef, 1);
  if (method == NULL) return PyErr_NoMemory();
  method->ml_name = row->name;
  method->ml_meth = (PyCFunction)(void (*)(void))row->call;
  method->ml_flags = METH_FASTCALL | METH_KEYWORDS;
  method->ml_doc = doc;
  return PyDescr_NewMethod(cls, method);
}

/// Gives a class a method in C without keywords: METH_NOARGS or METH_O. Its definition is never freed.
static int anyffi_py_add_method(PyTypeObject* cls, const char* name, PyCFunction function, int flags, const char* doc) {
  PyMethodDef* method = PyMem_New(PyMethodDef, 1);
  if (method == NULL) return PyErr_NoMemory(), -1;
  method->ml_name = name;
  method->ml_meth = function;
  method->ml_flags = flags;
  method->ml_doc = doc;
  PyObject* made = PyDescr_NewMethod(cls, method);
  int status = made == NULL ? -1 : PyDict_SetItemString(cls->tp_dict, name, made);
  Py_XDECREF(made);
  PyType_Modified(cls);
  return status;
}

/// A row of a table of methods, and what has to precede the table: in builds without the GIL a function that calls the
/// method within a section.
#ifdef Py_GIL_DISABLED
#define ANYFFI_PY_ROW(name, function) {name, anyffi_py_within_##function}
#define ANYFFI_PY_METHOD(function)                                                                      \
  static PyObject* anyffi_py_within_##function(PyObject* self, PyObject* const* args, Py_ssize_t count, \
                                               PyObject* names) {                                       \
    ANYFFI_BEGIN_SECTION                                                                                \
    PyObject* result = anyffi_py_##function(self, args, count, names);                                  \
    ANYFFI_END_SECTION                                                                                  \
    return result;                                                                                      \
  }
#else
#define ANYFFI_PY_ROW(name, function) {name, anyffi_py_##function}
#define ANYFFI_PY_METHOD(function)
#endif

/// The same for a table of operators.
#ifdef Py_GIL_DISABLED
#define ANYFFI_PY_OPERATOR_ROW(name, reflected_name, function) {name, reflected_name, anyffi_py_within_##function}
#define ANYFFI_PY_OPERATOR(function)                                              \
  static PyObject* anyffi_py_within_##function(PyObject* left, PyObject* right) { \
    ANYFFI_BEGIN_SECTION                                                          \
    PyObject* result = anyffi_py_##function(left, right);                         \
    ANYFFI_END_SECTION                                                            \
    return result;                                                                \
  }
#else
#define ANYFFI_PY_OPERATOR_ROW(name, reflected_name, function) {name, reflected_name, anyffi_py_##function}
#define ANYFFI_PY_OPERATOR(function)
#endif

/// A binary operator.
typedef struct {
  const char* name;
  const char* reflected_name;
  binaryfunc call;
} AnyffiOperatorRow;

/// Returns a slot wrapper, such as `list.__add__`, for a function with the signature of the slot; `model_class` has a
/// slot wrapper of the same name. If it is in the dict of a class, the class has the function in its slot.
static PyObject* anyffi_py_new_slot(PyTypeObject* cls, PyTypeObject* model_class, const char* name, void* function) {
  PyObject* made = NULL;
  PyObject* model = PyObject_GetAttrString((PyObject*)model_class, name);
  if (model != NULL && Py_IS_TYPE(model, &PyWrapperDescr_Type)) {
    made = PyDescr_NewWrapper(cls, ((PyWrapperDescrObject*)model)->d_base, function);
  } else if (model != NULL) {
    PyErr_Format(PyExc_SystemError, "%s.%s is no slot wrapper", model_class->tp_name, name);
  }
  Py_XDECREF(model);
  return made;
}

/// The same for a binary operator, whose function gets both operands in their order.
static PyObject* anyffi_py_new_operator(PyTypeObject* cls, const char* name, binaryfunc function) {
  return anyffi_py_new_slot(cls, &PyLong_Type, name, (void*)function);
}

/// Replaces the special method of a Cython class by a function, which becomes its slot.
static int anyffi_py_set_special(PyTypeObject* cls, PyTypeObject* model, const char* name, void* function) {
  PyObject* made = anyffi_py_new_slot(cls, model, name, function);
  int status = made == NULL ? -1 : PyDict_SetItemString(cls->tp_dict, name, made);
  Py_XDECREF(made);
  PyType_Modified(cls);
  return status;
}

/// Whether the left operand of an operator is the one whose class defines the slot.
static inline int anyffi_py_is_left(PyObject* left, int32_t type_code) {
  return PyObject_TypeCheck(left, (PyTypeObject*)anyffi_state.cores[type_code]);
}

/// Calls the method of `_objects` for the same arguments.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_shared(int32_t type_code, const char* name, PyObject* self,
                                                    PyObject* const* args, Py_ssize_t count, PyObject* names) {
  PyObject* on_stack[4];
  if (anyffi_py_need_stack() < 0) return NULL;
  Py_ssize_t size = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
  PyObject** all = size < 4 ? on_stack : PyMem_New(PyObject*, size + 1);
  if (all == NULL) return PyErr_NoMemory();
  all[0] = self;
  for (Py_ssize_t i = 0; i < size; ++i) all[i + 1] = args[i];
#ifdef Py_GIL_DISABLED
  PyCriticalSection* left = anyffi_py_leave_section();
#endif
  PyObject* method = PyObject_GetAttrString(anyffi_state.methods[type_code], name);
  PyObject* result = method == NULL ? NULL : PyObject_Vectorcall(method, all, (size_t)count + 1, names);
  Py_XDECREF(method);
#ifdef Py_GIL_DISABLED
  anyffi_py_return_to_section(left);
#endif
  if (all != on_stack) PyMem_Free(all);
  if (result == NULL) anyffi_py_hide_frames(1);
  return result;
}

/// As `anyffi_py_call_shared`, for a slot with another operand.
static PyObject* anyffi_py_call_shared_slot(int32_t type_code, const char* name, PyObject* self, PyObject* other) {
  return anyffi_py_call_shared(type_code, name, self, &other, 1, NULL);
}

static const char* const anyffi_py_operators[] = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"};

/// A comparison by the method of `_objects`, which accepts containers of any backend. `is_builtin`: the other operand
/// is one of Python's containers that it accepts, too.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_compare_shared(PyObject* self, PyObject* other, int operation, int is_builtin,
                                                       int32_t type_code) {
  PyTypeObject* methods = (PyTypeObject*)anyffi_state.methods[type_code];
  if (!is_builtin && !PyType_IsSubtype(Py_TYPE(other), methods->tp_base)) Py_RETURN_NOTIMPLEMENTED;
  return anyffi_py_call_shared_slot(type_code, anyffi_py_operators[operation], self, other);
}

/// Returns the object of a wrapper if it is exactly of a type (an Array or a Shape), borrowed, else NULL without an
/// exception.
static inline AnyffiObject* anyffi_py_peek(PyObject* wrapper, int32_t type_code) {
  AnyffiObject* found = ((AnyffiWrapper*)wrapper)->object;
  return found != NULL && anyffi_py_is_like(found, type_code) ? found : NULL;
}

static inline AnyffiSequence* anyffi_py_peek_sequence(PyObject* wrapper, int32_t type_code) {
  return (AnyffiSequence*)anyffi_py_peek(wrapper, type_code);
}

/// Returns the object of `x` if `x` is exactly of the public class of a type (Array or Shape), borrowed, else NULL
/// without an exception.
static inline AnyffiObject* anyffi_py_peek_exact(PyObject* x, int32_t type_code) {
  PyObject* cls = (PyObject*)Py_TYPE(x);
  if (cls == anyffi_state.classes[type_code]) return anyffi_py_peek(x, type_code);
  return type_code == ANYFFI_ARRAY && cls == anyffi_state.classes[ANYFFI_SHAPE] ? anyffi_py_peek(x, type_code) : NULL;
}

/// 1 if there are exactly `wanted` positional arguments and no keywords.
static inline int anyffi_py_has_arguments(Py_ssize_t count, Py_ssize_t wanted, PyObject* names) {
  return count == wanted && names == NULL;
}

/// Returns the wrapper of a new object, or raises the error if `status`, which the function creating it returned, is
/// not 0.
static inline PyObject* anyffi_py_wrap_made(int status, const AnyffiValue* made) {
  if (status == 0) return anyffi_py_wrap(made->as_object);
  anyffi_py_raise_taken();
  return NULL;
}

/// Returns None, or NULL with an exception if `status` is not 0.
static inline PyObject* anyffi_py_none_or_raise(int status) {
  if (status == 0) Py_RETURN_NONE;
  anyffi_py_raise_taken();
  return NULL;
}

// ---- methods of every object ----------------------------------------------------------------------------------------

static PyObject* anyffi_py_same_as(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (anyffi_py_has_arguments(count, 1, names) && anyffi_py_is_wrapper(args[0])) {
    return PyBool_FromLong(((AnyffiWrapper*)self)->object == ((AnyffiWrapper*)args[0])->object);
  }
  return anyffi_py_call_shared(ANYFFI_OBJECT, "same_as", self, args, count, names);
}

static const AnyffiMethodRow anyffi_py_object_methods[] = {
    {"same_as", anyffi_py_same_as},
    {NULL, NULL},
};

static const AnyffiOperatorRow anyffi_py_object_operators[] = {
    {NULL, NULL, NULL},
};

#endif  // ANYFFI_METHODS_H_
