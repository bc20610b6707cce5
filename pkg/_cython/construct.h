/// Constructors of containers: calls of the public classes write directly into storage. `type.__call__` handles rare
/// cases: wrong arguments, subclasses, a class whose `__init__` was replaced.

#ifndef ANYFFI_CONSTRUCT_H_
#define ANYFFI_CONSTRUCT_H_

#include "elements.h"
#include "set_methods.h"

// Each function makes a new object of a type: 1, 0 if `__init__` has to do it, -1 with an exception.

static int anyffi_py_copy_as(AnyffiObject* from, int32_t type_code, AnyffiValue* out) {
  AnyffiValue container = anyffi_make_object(from);
  ANYFFI_BEGIN_SECTION
  int status = anyffi_container_copy(&container, type_code, out);
  ANYFFI_END_SECTION
  return status == 0 ? 1 : anyffi_py_raise_taken();
}

/// Turns a new Array or List, which it steals, into a Shape of the elements of `items`. If some are no ints, the
/// runtime's function raises the error.
static int anyffi_py_make_shape(PyObject* items, AnyffiValue* made) {
  if (anyffi_py_are_ints((AnyffiSequence*)made->as_object)) {
    made->as_object->type_code = ANYFFI_SHAPE;
    return 1;
  }
  // The error names the classes of wrappers, which the elements may only get here.
  PyObject* plain = PySequence_Tuple(items);
  PyObject* runtime =
      plain == NULL ? NULL : PyObject_GetAttrString(anyffi_state.classes[ANYFFI_SHAPE], "_anyffi_runtime");
  PyObject* create = runtime == NULL ? NULL : PyObject_GetAttrString(runtime, "shape_create");
  AnyffiFunction* function = create == NULL ? NULL : anyffi_py_unwrap_function(create);
  AnyffiValue shape = anyffi_make_none();
  int status = -1;
  if (function != NULL) {
    status = function->call(function->self, made, 1, &shape);
    if (status != 0) anyffi_py_fail_call(status, &plain, NULL, 1);
  }
  Py_XDECREF(plain);
  Py_XDECREF(runtime);
  Py_XDECREF(create);
  // The function may have stolen it.
  if (status != 0) return anyffi_py_discard(made);
  anyffi_value_drop(made);
  *made = shape;
  return 1;
}

static int anyffi_py_make_sequence(PyObject* x, int32_t type_code, AnyffiValue* out) {
  AnyffiObject* found = anyffi_py_peek_exact(x, ANYFFI_LIST);
  if (found == NULL) found = anyffi_py_peek_exact(x, ANYFFI_ARRAY);
  if (found != NULL) {
    if (type_code != ANYFFI_SHAPE) return anyffi_py_copy_as(found, type_code, out);
    if (anyffi_py_copy_as(found, ANYFFI_ARRAY, out) < 0) return -1;
    out->aux = ANYFFI_MOVABLE;
    return anyffi_py_make_shape(x, out);
  }
  // A list or tuple is read in place, whichever sequence is made.
  int is_read = PyList_CheckExact(x) || PyTuple_CheckExact(x);
  if (!is_read && anyffi_py_need_stack() < 0) return -1;
  PyObject* items = is_read                    ? anyffi_py_return_new(x)
                    : type_code == ANYFFI_LIST ? anyffi_py_list_of(x)
                                               : PySequence_Tuple(x);
  if (items == NULL) return -1;
  int status = anyffi_py_pack_object(items, out) < 0 ? -1 : 1;
  if (status > 0 && type_code == ANYFFI_SHAPE) {
    status = anyffi_py_make_shape(items, out);
  } else if (status > 0) {
    out->as_object->type_code = type_code;
  }
  Py_DECREF(items);
  return status;
}

static int anyffi_py_make_mapping(PyObject* const* args, Py_ssize_t count, PyObject* names, int32_t type_code,
                                  AnyffiValue* out) {
  AnyffiObject* found = count == 1 && names == NULL ? anyffi_py_peek_mapping_exact(args[0]) : NULL;
  if (found != NULL) return anyffi_py_copy_as(found, type_code, out);
  PyObject* given = count == 1 && names == NULL ? args[0] : NULL;
  if (given != NULL && Py_IS_TYPE(given, &PyDictProxy_Type)) given = anyffi_py_proxied(given);
  PyObject* content =
      given != NULL && PyDict_CheckExact(given) ? anyffi_py_return_new(given) : anyffi_py_dict_of(args, count, names);
  if (content != NULL && type_code == ANYFFI_MAP) Py_SETREF(content, PyDictProxy_New(content));
  if (content == NULL) return -1;
  int status = anyffi_py_pack_owned(content, out);
  Py_DECREF(content);
  return status < 0 ? -1 : 1;
}

static int anyffi_py_make_set(PyObject* x, int32_t type_code, AnyffiValue* out) {
  AnyffiMapping* found = anyffi_py_peek_set_exact(x);
  if (found != NULL) return anyffi_py_copy_as(&found->header, type_code, out);
  // The elements of a set are distinct, so that looking for equal ones, which takes longer than packing, is not needed.
  int is_packed = PyAnySet_CheckExact(x) ? anyffi_py_pack_operand_whole(x, out) : 0;
  if (is_packed > 0) out->as_object->type_code = type_code;
  if (is_packed != 0) return is_packed;
  AnyffiSetOperand items;
  int status = anyffi_py_open_operand(x, 1, &items);
  if (status <= 0) return status;
  int was_made = anyffi_mapping_create(ANYFFI_SET, items.count, out) == 0;
  status = was_made ? anyffi_set_change_values(out->as_object, items.values, items.count, ANYFFI_SET_OR) : -1;
  anyffi_py_close_operand(&items);
  if (status > 0) {
    out->as_object->type_code = type_code;
  } else if (was_made) {
    anyffi_value_drop(out);
  }
  return status < 0 ? anyffi_py_raise_taken() : status;
}

static int anyffi_py_make_empty(int32_t type_code, AnyffiValue* out) {
  int is_sequence = type_code == ANYFFI_LIST || type_code == ANYFFI_ARRAY || type_code == ANYFFI_SHAPE;
  int status = is_sequence ? anyffi_sequence_create(type_code, 0, out) : anyffi_mapping_create(type_code, 0, out);
  return status == 0 ? 1 : anyffi_py_raise_taken();
}

static int anyffi_py_make_container(PyObject* const* args, Py_ssize_t count, PyObject* names, int32_t type_code,
                                    AnyffiValue* out) {
  if (count == 0 && names == NULL) return anyffi_py_make_empty(type_code, out);
  if (type_code == ANYFFI_MAP || type_code == ANYFFI_DICT) {
    return count > 1 ? 0 : anyffi_py_make_mapping(args, count, names, type_code, out);
  }
  if (!anyffi_py_has_arguments(count, 1, names)) return 0;
  if (type_code == ANYFFI_SET || type_code == ANYFFI_FROZEN_SET) return anyffi_py_make_set(args[0], type_code, out);
  return anyffi_py_make_sequence(args[0], type_code, out);
}

/// Makes a set from an iterable other than a set, list or tuple.
static PyObject* anyffi_py_construct_listed(PyObject* cls, PyObject* iterable, int32_t type_code) {
  PyObject *items = anyffi_py_list_of(iterable), *rest;
  AnyffiValue made;
  if (items == NULL) return anyffi_py_fail_method(type_code, NULL, &iterable, 1, NULL);
  int status = anyffi_py_make_set(items, type_code, &made);
  PyObject* result = NULL;
  if (status < 0) {
    anyffi_py_fail_method(type_code, NULL, &iterable, 1, NULL);
  } else if (status > 0) {
    result = anyffi_py_wrap(made.as_object);
  } else if ((rest = PyObject_GetIter(items)) != NULL) {
    result = anyffi_py_call_slot(cls, &rest, 1, NULL);
    Py_DECREF(rest);
  }
  Py_DECREF(items);
  return result;
}

/// Calls a public class.
static PyObject* anyffi_py_construct(PyObject* cls, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                     int32_t type_code) {
  AnyffiValue made;
  int status = 0;
  if (cls == anyffi_state.classes[type_code] && anyffi_py_is_unchanged(type_code)) {
    int is_mutable = type_code == ANYFFI_LIST || type_code == ANYFFI_DICT || type_code == ANYFFI_SET;
    // As `tuple` does; `__new__` in Python does the same.
    if (!is_mutable && anyffi_py_has_arguments(count, 1, names) && (PyObject*)Py_TYPE(args[0]) == cls) {
      return anyffi_py_return_new(args[0]);
    }
    int is_set = type_code == ANYFFI_SET || type_code == ANYFFI_FROZEN_SET;
    if (is_set && anyffi_py_has_arguments(count, 1, names) && !anyffi_py_is_read(args[0])) {
      return anyffi_py_construct_listed(cls, args[0], type_code);
    }
    status = anyffi_py_make_container(args, count, names, type_code, &made);
  }
  if (status == 0) return anyffi_py_call_slot(cls, args, count, names);
  return status < 0 ? anyffi_py_fail_method(type_code, NULL, args, count, names) : anyffi_py_wrap(made.as_object);
}

#define ANYFFI_PY_CONSTRUCTORS(X)  \
  X(ANYFFI_ARRAY, array)           \
  X(ANYFFI_SHAPE, shape)           \
  X(ANYFFI_LIST, list)             \
  X(ANYFFI_MAP, map)               \
  X(ANYFFI_DICT, dict)             \
  X(ANYFFI_FROZEN_SET, frozen_set) \
  X(ANYFFI_SET, set)

#define ANYFFI_PY_DEFINE_CONSTRUCTOR(code, name)                                                                     \
  static PyObject* anyffi_py_construct_##name(PyObject* cls, PyObject* const* args, size_t flags, PyObject* names) { \
    return anyffi_py_construct(cls, args, PyVectorcall_NARGS(flags), names, code);                                   \
  }
ANYFFI_PY_CONSTRUCTORS(ANYFFI_PY_DEFINE_CONSTRUCTOR)
#undef ANYFFI_PY_DEFINE_CONSTRUCTOR

/// Sets the slots of a public class that only C can set. In check mode the methods in Python are used, which read by
/// both marshallers.
static void anyffi_py_set_class_slots(PyTypeObject* cls, int32_t type_code) {
  if (!ANYFFI_KNOWN_LAYOUT || anyffi_state.is_check_mode) return;
  // Not for a class that replaces the package's own.
  if (anyffi_constructors[type_code].init != NULL) return;
#define ANYFFI_PY_SET_CONSTRUCTOR(code, name) \
  if (type_code == code) cls->tp_vectorcall = anyffi_py_construct_##name;
  ANYFFI_PY_CONSTRUCTORS(ANYFFI_PY_SET_CONSTRUCTOR)
#undef ANYFFI_PY_SET_CONSTRUCTOR
  if (type_code == ANYFFI_ARRAY || type_code == ANYFFI_SHAPE || type_code == ANYFFI_LIST) {
    cls->tp_as_sequence->sq_item = anyffi_py_within_sequence_item;
  }
  anyffi_py_remember_constructor(cls, type_code);
  PyType_Modified(cls);
  anyffi_py_has_constructor(cls, &anyffi_constructors[type_code]);
}

#endif  // ANYFFI_CONSTRUCT_H_
