/// Calls of dataclasses (`anyffi.dataclass`), whose objects are made with all their fields at once. What is not
/// frequent, such as wrong arguments, is left to `type.__call__`, and so to the `__init__` of the standard library.

#ifndef ANYFFI_DATACLASS_H_
#define ANYFFI_DATACLASS_H_

#include "attributes.h"
#include "bound.h"

/// What a field holds as it is, without the checks of `set`: AnyffiRecordField.takes.
#define ANYFFI_TAKES_STR 1
#define ANYFFI_TAKES_NONE 2
#define ANYFFI_TAKES_SCALAR 4  // each

typedef struct {
  PyObject* name;        // interned, owned
  PyObject* descriptor;  // in the class, owned
  PyObject* standard;    // a default, or what makes one; NULL: an argument is required. Owned
  const AnyffiFieldInfo* field;
  int is_factory;
  int parameter;  // its index, or -1
  int takes;
} AnyffiRecordField;

/// How a class is called. Never freed.
typedef struct {
  PyTypeObject* cls;               // never destroyed
  PyObject *make, *init, *setter;  // its `__new__`, `__init__` and `__setattr__`, owned
  unsigned int version;            // of the class, when it last had them and the descriptors
  int32_t type_code;
  int num_fields, num_parameters, num_positional;
  AnyffiRecordField* parameters[ANYFFI_FEW_NAMED];
  AnyffiRecordField fields[];
} AnyffiRecordPlan;

#define ANYFFI_MAX_PLANS 1024
static AnyffiRecordPlan* anyffi_record_plans[ANYFFI_MAX_PLANS];

static inline AnyffiRecordPlan** anyffi_py_plan_of(PyTypeObject* cls) {
  return &anyffi_record_plans[((uintptr_t)cls >> 4) % ANYFFI_MAX_PLANS];
}

/// Compares what a call runs, after the class was changed.
ANYFFI_NEVER_INLINE int anyffi_py_is_planned_anew(AnyffiRecordPlan* plan) {
  PyTypeObject* cls = plan->cls;
  unsigned int version = anyffi_py_version_now(cls);
  if (anyffi_py_look_up_name(cls, "__new__") != plan->make || anyffi_py_look_up_name(cls, "__init__") != plan->init ||
      anyffi_py_look_up_name(cls, "__setattr__") != plan->setter || PyType_HasFeature(cls, Py_TPFLAGS_IS_ABSTRACT)) {
    return 0;
  }
  for (int i = 0; i < plan->num_fields; ++i) {
    if (anyffi_py_look_up(cls, plan->fields[i].name) != plan->fields[i].descriptor) return 0;
  }
  plan->version = version;
  return 1;
}

/// Writes what a field holds as it is into its member; 0 for other values, -1 with an exception.
ANYFFI_ALWAYS_INLINE int anyffi_py_put_directly(const AnyffiRecordField* field, char* member, PyObject* x) {
  int32_t storage = field->field->storage;
  if (anyffi_py_put_number(storage, member, x)) return 1;
  if (storage != ANYFFI_STORED_VALUE) return 0;
  // A new content is None.
  if (x == Py_None) return (field->takes & (ANYFFI_TAKES_NONE | ANYFFI_TAKES_SCALAR)) != 0;
  if (field->takes & ANYFFI_TAKES_SCALAR) return anyffi_py_pack_scalar(x, (AnyffiValue*)member);
  if (field->takes & ANYFFI_TAKES_STR && PyUnicode_CheckExact(x)) return anyffi_py_own_str(x, (AnyffiValue*)member);
  return 0;
}

/// Sets a field of a new object; -1 with an exception.
static int anyffi_py_put_field(AnyffiObject* object, const AnyffiRecordField* field, PyObject* x) {
  char* member = (char*)((AnyffiInstance*)object)->content + field->field->offset;
  int put = anyffi_py_put_directly(field, member, x);
  if (__builtin_expect(put != 0, 1)) return put;
  return anyffi_py_put_value(object, field->field, x);
}

/// Sorts the arguments of a call by parameters: 0 where `__init__` raises an error.
static int anyffi_py_sort_arguments(AnyffiRecordPlan* plan, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                    PyObject** given) {
  if (count > plan->num_positional) return 0;
  for (Py_ssize_t i = 0; i < plan->num_parameters; ++i) given[i] = i < count ? args[i] : NULL;
  Py_ssize_t num_names = names == NULL ? 0 : PyTuple_GET_SIZE(names), next = count;
  for (Py_ssize_t i = 0; i < num_names; ++i, ++next) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    // Most often in order.
    if (next >= plan->num_parameters || plan->parameters[next]->name != name) {
      for (next = 0; next < plan->num_parameters && plan->parameters[next]->name != name; ++next) {
      }
      if (next == plan->num_parameters) return 0;
    }
    if (given[next] != NULL) return 0;
    given[next] = args[count + i];
  }
  for (Py_ssize_t i = count; i < plan->num_parameters; ++i) {
    if (given[i] == NULL && plan->parameters[i]->standard == NULL) return 0;
  }
  return 1;
}

/// The `tp_vectorcall` of a dataclass.
static PyObject* anyffi_py_construct_record(PyObject* cls, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  AnyffiRecordPlan* plan = *anyffi_py_plan_of((PyTypeObject*)cls);
  int is_planned = plan != NULL && (PyObject*)plan->cls == cls;
  unsigned int version = anyffi_py_version((PyTypeObject*)cls);
  PyObject* given[ANYFFI_FEW_NAMED];
  if (!is_planned || ((version == 0 || plan->version != version) && !anyffi_py_is_planned_anew(plan)) ||
      !anyffi_py_sort_arguments(plan, args, count, names, given)) {
    return anyffi_py_call_slot(cls, args, count, names);
  }
  AnyffiValue made;
  if (anyffi_record_create(plan->type_code, &made) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  for (int i = 0; i < plan->num_fields; ++i) {
    const AnyffiRecordField* field = &plan->fields[i];
    PyObject* x = field->parameter < 0 ? NULL : given[field->parameter];
    int is_new = x == NULL && field->is_factory;
    if (x == NULL) x = field->is_factory ? PyObject_CallNoArgs(field->standard) : field->standard;
    int put = x == NULL ? -1 : anyffi_py_put_field(made.as_object, field, x);
    if (is_new) Py_XDECREF(x);
    if (put < 0) {
      anyffi_py_discard(&made);
      return NULL;
    }
  }
  return anyffi_py_wrap_as((PyTypeObject*)cls, &made);
}

/// Sets how a class is called. `rows`: of each field name, descriptor, default or factory, whether it is a factory,
/// whether there is a default, the index of its parameter, and what it takes. -1 with an exception.
static int anyffi_py_plan_record(PyTypeObject* cls, int32_t type_code, PyObject* rows, int num_positional,
                                 int num_parameters) {
  AnyffiRecordPlan** place = anyffi_py_plan_of(cls);
  Py_ssize_t count = PyTuple_GET_SIZE(rows);
  if (!ANYFFI_KNOWN_LAYOUT || anyffi_state.is_check_mode || *place != NULL || num_parameters > ANYFFI_FEW_NAMED)
    return 0;
  AnyffiRecordPlan* plan =
      (AnyffiRecordPlan*)PyMem_RawCalloc(1, sizeof(AnyffiRecordPlan) + (size_t)count * sizeof(AnyffiRecordField));
  if (plan == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    AnyffiRecordField* field = &plan->fields[i];
    int has_default;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "UOOppii", &field->name, &field->descriptor, &field->standard,
                          &field->is_factory, &has_default, &field->parameter, &field->takes)) {
      return -1;  // never: the caller is this package
    }
    if (!has_default) field->standard = NULL;
    Py_INCREF(field->name);
    PyUnicode_InternInPlace(&field->name);
    Py_INCREF(field->descriptor);
    Py_XINCREF(field->standard);
    field->field = anyffi_type_find_field(type_code, PyUnicode_AsUTF8(field->name));
    if (field->parameter >= 0) plan->parameters[field->parameter] = field;
  }
  plan->cls = cls;
  plan->make = anyffi_py_look_up_name(cls, "__new__");
  plan->init = anyffi_py_look_up_name(cls, "__init__");
  plan->setter = anyffi_py_look_up_name(cls, "__setattr__");
  Py_XINCREF(plan->make);
  Py_XINCREF(plan->init);
  Py_XINCREF(plan->setter);
  Py_INCREF(cls);
  plan->type_code = type_code;
  plan->num_fields = (int)count;
  plan->num_parameters = num_parameters;
  plan->num_positional = num_positional;
  // Last: other threads read it from now on.
  __atomic_store_n(place, plan, __ATOMIC_RELEASE);
  cls->tp_vectorcall = anyffi_py_construct_record;
  PyType_Modified(cls);
  return 0;
}

#endif  // ANYFFI_DATACLASS_H_
