/// Methods of Set and FrozenSet.

#ifndef ANYFFI_SET_METHODS_H_
#define ANYFFI_SET_METHODS_H_

#include "dict_methods.h"
#include "set_calls.h"
#include "set_hash.h"

// ---- changes of a Set -----------------------------------------------------------------------------------------------

static PyObject* anyffi_py_set_add(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiValue key, value = anyffi_make_none();
  int32_t existed;
  AnyffiObject* set = anyffi_py_peek(self, ANYFFI_SET);
  if (set == NULL || !anyffi_py_has_arguments(count, 1, names)) {
    return anyffi_py_call_shared(ANYFFI_SET, "add", self, args, count, names);
  }
  if (anyffi_py_pack_owned(args[0], &key) < 0) return anyffi_py_fail_method(ANYFFI_SET, "add", args, count, NULL);
  return anyffi_py_none_or_raise(anyffi_mapping_set(set, &key, &value, &existed));
}

/// Removes an element; returns as `anyffi_py_take_entry`.
static int anyffi_py_remove_element(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiValue none;
  if (anyffi_py_peek(self, ANYFFI_SET) == NULL || !anyffi_py_has_arguments(count, 1, names)) return ANYFFI_IS_SET;
  return anyffi_py_take_entry(self, ANYFFI_SET, args[0], &none);
}

static PyObject* anyffi_py_set_discard(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  int was_there = anyffi_py_remove_element(self, args, count, names);
  if (was_there == ANYFFI_IS_SET) return anyffi_py_call_shared(ANYFFI_SET, "discard", self, args, count, names);
  if (was_there < 0) return anyffi_py_fail_method(ANYFFI_SET, "discard", args, count, NULL);
  Py_RETURN_NONE;
}

static PyObject* anyffi_py_set_remove(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  int was_there = anyffi_py_remove_element(self, args, count, names);
  if (was_there == ANYFFI_IS_SET) return anyffi_py_call_shared(ANYFFI_SET, "remove", self, args, count, names);
  if (was_there == 0) return anyffi_py_raise_key_error(args[0]);
  if (was_there < 0) return anyffi_py_fail_method(ANYFFI_SET, "remove", args, count, NULL);
  Py_RETURN_NONE;
}

static PyObject* anyffi_py_set_pop(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (anyffi_py_has_arguments(count, 0, names)) {
    PyObject* element = anyffi_py_pop_last(self, ANYFFI_SET, 0);
    if (element != NULL || PyErr_Occurred()) return element;
  }
  return anyffi_py_call_shared(ANYFFI_SET, "pop", self, args, count, names);
}

static PyObject* anyffi_py_set_clear(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiObject* set = anyffi_py_peek(self, ANYFFI_SET);
  if (set == NULL || !anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_call_shared(ANYFFI_SET, "clear", self, args, count, names);
  }
  anyffi_mapping_clear(set);
  Py_RETURN_NONE;
}

static PyObject* anyffi_py_set_copy(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return anyffi_py_copy(self, args, count, names, ANYFFI_SET);
}

/// The FrozenSet itself, which never changes; not for a subclass, which may have attributes.
static PyObject* anyffi_py_frozen_set_copy(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (anyffi_py_peek_exact(self, ANYFFI_FROZEN_SET) != NULL && anyffi_py_has_arguments(count, 0, names)) {
    return anyffi_py_return_new(self);
  }
  return anyffi_py_call_shared(ANYFFI_FROZEN_SET, "copy", self, args, count, names);
}

/// The in-place operators of a Set.
static PyObject* anyffi_py_set_in_place(PyObject* self, PyObject* other, int operation) {
  static const char* const names[] = {"__ior__", "__iand__", "__isub__", "__ixor__"};
  int status = anyffi_py_change_set(self, other, 0, operation);
  if (status == 0) return anyffi_py_call_shared_slot(ANYFFI_SET, names[operation], self, other);
  return status < 0 ? NULL : anyffi_py_return_new(self);
}

/// The methods that change a Set using another operand.
#define ANYFFI_PY_SET_CHANGES(X)         \
  X(update, ANYFFI_SET_OR)               \
  X(intersection_update, ANYFFI_SET_AND) \
  X(difference_update, ANYFFI_SET_SUB)   \
  X(symmetric_difference_update, ANYFFI_SET_XOR)

#define ANYFFI_PY_DEFINE_SET_CHANGE(name, operation)                                                                \
  static PyObject* anyffi_py_set_##name(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) { \
    return anyffi_py_call_listed(anyffi_py_change_by, self, args, count, names, #name, operation, ANYFFI_SET);      \
  }
ANYFFI_PY_SET_CHANGES(ANYFFI_PY_DEFINE_SET_CHANGE)
#undef ANYFFI_PY_DEFINE_SET_CHANGE

// ---- the tables -----------------------------------------------------------------------------------------------------

/// The methods that both classes have.
#define ANYFFI_PY_SET_METHODS(X)                                  \
  X(difference, anyffi_py_combine_with, ANYFFI_SET_SUB)           \
  X(intersection, anyffi_py_combine_with, ANYFFI_SET_AND)         \
  X(symmetric_difference, anyffi_py_combine_with, ANYFFI_SET_XOR) \
  X(union, anyffi_py_combine_with, ANYFFI_SET_OR)                 \
  X(isdisjoint, anyffi_py_relate_to, ANYFFI_IS_DISJOINT)          \
  X(issubset, anyffi_py_relate_to, ANYFFI_IS_SUBSET)              \
  X(issuperset, anyffi_py_relate_to, ANYFFI_IS_SUPERSET)

#define ANYFFI_PY_DEFINE_SET_METHOD(name, function, what)                                                           \
  static PyObject* anyffi_py_set_##name(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) { \
    return anyffi_py_call_listed(function, self, args, count, names, #name, what, ANYFFI_SET);                      \
  }                                                                                                                 \
  static PyObject* anyffi_py_frozen_set_##name(PyObject* self, PyObject* const* args, Py_ssize_t count,             \
                                               PyObject* names) {                                                   \
    return anyffi_py_call_listed(function, self, args, count, names, #name, what, ANYFFI_FROZEN_SET);               \
  }
ANYFFI_PY_SET_METHODS(ANYFFI_PY_DEFINE_SET_METHOD)
#undef ANYFFI_PY_DEFINE_SET_METHOD

/// The operators that both classes have.
#define ANYFFI_PY_SET_OPERATORS(X) \
  X(or, ANYFFI_SET_OR)             \
  X(and, ANYFFI_SET_AND)           \
  X(sub, ANYFFI_SET_SUB)           \
  X(xor, ANYFFI_SET_XOR)

#define ANYFFI_PY_DEFINE_SET_OPERATOR(name, what)                                              \
  static PyObject* anyffi_py_set_operator_##name(PyObject* left, PyObject* right) {            \
    if (anyffi_py_is_left(left, ANYFFI_SET)) {                                                 \
      return anyffi_py_set_operator(left, right, "__" #name "__", what, 0, ANYFFI_SET);        \
    }                                                                                          \
    return anyffi_py_set_operator(right, left, "__r" #name "__", what, 1, ANYFFI_SET);         \
  }                                                                                            \
  static PyObject* anyffi_py_frozen_set_operator_##name(PyObject* left, PyObject* right) {     \
    if (anyffi_py_is_left(left, ANYFFI_FROZEN_SET)) {                                          \
      return anyffi_py_set_operator(left, right, "__" #name "__", what, 0, ANYFFI_FROZEN_SET); \
    }                                                                                          \
    return anyffi_py_set_operator(right, left, "__r" #name "__", what, 1, ANYFFI_FROZEN_SET);  \
  }
ANYFFI_PY_SET_OPERATORS(ANYFFI_PY_DEFINE_SET_OPERATOR)
#undef ANYFFI_PY_DEFINE_SET_OPERATOR

#define ANYFFI_PY_SET_METHOD_WITHIN(name, function, what) \
  ANYFFI_PY_METHOD(set_##name) ANYFFI_PY_METHOD(frozen_set_##name)
#define ANYFFI_PY_SET_CHANGE_WITHIN(name, operation) ANYFFI_PY_METHOD(set_##name)
#define ANYFFI_PY_SET_OPERATOR_WITHIN(name, what) \
  ANYFFI_PY_OPERATOR(set_operator_##name)         \
  ANYFFI_PY_OPERATOR(frozen_set_operator_##name)
ANYFFI_PY_SET_METHODS(ANYFFI_PY_SET_METHOD_WITHIN)
ANYFFI_PY_SET_CHANGES(ANYFFI_PY_SET_CHANGE_WITHIN)
ANYFFI_PY_SET_OPERATORS(ANYFFI_PY_SET_OPERATOR_WITHIN)
ANYFFI_PY_METHOD(set_add)
ANYFFI_PY_METHOD(set_clear)
ANYFFI_PY_METHOD(set_copy)
ANYFFI_PY_METHOD(set_discard)
ANYFFI_PY_METHOD(set_pop)
ANYFFI_PY_METHOD(set_remove)
ANYFFI_PY_METHOD(frozen_set_copy)

#define ANYFFI_PY_SET_OPERATOR_ROW(name, what) \
  ANYFFI_PY_OPERATOR_ROW("__" #name "__", "__r" #name "__", set_operator_##name),
#define ANYFFI_PY_FROZEN_SET_OPERATOR_ROW(name, what) \
  ANYFFI_PY_OPERATOR_ROW("__" #name "__", "__r" #name "__", frozen_set_operator_##name),

static const AnyffiOperatorRow anyffi_py_set_operators[] = {
    ANYFFI_PY_SET_OPERATORS(ANYFFI_PY_SET_OPERATOR_ROW){NULL, NULL, NULL},
};

static const AnyffiOperatorRow anyffi_py_frozen_set_operators[] = {
    ANYFFI_PY_SET_OPERATORS(ANYFFI_PY_FROZEN_SET_OPERATOR_ROW){NULL, NULL, NULL},
};

#define ANYFFI_PY_SET_ROW(name, function, what) ANYFFI_PY_ROW(#name, set_##name),
#define ANYFFI_PY_SET_CHANGE_ROW(name, operation) ANYFFI_PY_ROW(#name, set_##name),
#define ANYFFI_PY_FROZEN_SET_ROW(name, function, what) ANYFFI_PY_ROW(#name, frozen_set_##name),

static const AnyffiMethodRow anyffi_py_set_methods[] = {
    ANYFFI_PY_SET_METHODS(ANYFFI_PY_SET_ROW) ANYFFI_PY_SET_CHANGES(ANYFFI_PY_SET_CHANGE_ROW)
        ANYFFI_PY_ROW("add", set_add),
    ANYFFI_PY_ROW("clear", set_clear),
    ANYFFI_PY_ROW("copy", set_copy),
    ANYFFI_PY_ROW("discard", set_discard),
    ANYFFI_PY_ROW("pop", set_pop),
    ANYFFI_PY_ROW("remove", set_remove),
    ANYFFI_PY_ROW("__copy__", set_shallow),
    ANYFFI_PY_ROW("__reduce__", set_reduce),
    {NULL, NULL},
};

static const AnyffiMethodRow anyffi_py_frozen_set_methods[] = {
    ANYFFI_PY_SET_METHODS(ANYFFI_PY_FROZEN_SET_ROW) ANYFFI_PY_ROW("copy", frozen_set_copy),
    ANYFFI_PY_ROW("__copy__", frozen_set_shallow),
    ANYFFI_PY_ROW("__reduce__", frozen_set_reduce),
    {NULL, NULL},
};

#endif  // ANYFFI_SET_METHODS_H_
