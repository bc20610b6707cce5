/// Calls of dataclasses (`anyffi.dataclass`) whose objects are made with all fields at once. `type.__call__`, and so
/// the `__init__` of the standard library, handles rare cases such as wrong arguments.

#ifndef ANYFFI_DATACLASS_H_
#define ANYFFI_DATACLASS_H_

#include "attributes.h"
#include "bound.h"
#include "class_plan.h"
#include "dataclass_init.h"

/// Values that a field stores unchanged, without the checks of `set`: AnyffiRecordField.takes.
#define ANYFFI_TAKES_STR 1
#define ANYFFI_TAKES_NONE 2
#define ANYFFI_TAKES_SCALAR 4  // any of them

typedef struct {
  PyObject* name;        // interned, owned
  PyObject* descriptor;  // of the class, owned
  PyObject* standard;    // owned, a default or its factory; NULL if an argument is required
  const AnyffiFieldInfo* field;
  int is_factory;
  int parameter;  // its index, or -1
  int takes;
} AnyffiRecordField;

/// The plan of a dataclass.
typedef struct {
  PyVarObject ob_base;  // the size is the number of fields
  // Owned attributes of the class: `_anyffi_record`, `__new__`, `__init__` and `__setattr__`.
  PyObject *record, *make, *init, *setter;
  unsigned int version;  // of the class, when these and the descriptors were last compared
  int32_t type_code;
  int num_parameters, num_positional;
  int has_post_init;
  AnyffiRecordField* parameters[ANYFFI_FEW_NAMED];
  AnyffiRecordField fields[];
} AnyffiRecordPlan;

static int anyffi_py_visit_record_plan(PyObject* x, visitproc visit, void* arg) {
  AnyffiRecordPlan* plan = (AnyffiRecordPlan*)x;
  Py_VISIT(Py_TYPE(x));
  Py_VISIT(plan->record);
  Py_VISIT(plan->make);
  Py_VISIT(plan->init);
  Py_VISIT(plan->setter);
  for (Py_ssize_t i = 0; i < Py_SIZE(x); ++i) {
    Py_VISIT(plan->fields[i].descriptor);
    Py_VISIT(plan->fields[i].standard);
  }
  return 0;
}

static void anyffi_py_free_record_plan(PyObject* x) {
  AnyffiRecordPlan* plan = (AnyffiRecordPlan*)x;
  PyObject_GC_UnTrack(x);
  Py_XDECREF(plan->record);
  Py_XDECREF(plan->make);
  Py_XDECREF(plan->init);
  Py_XDECREF(plan->setter);
  for (Py_ssize_t i = 0; i < Py_SIZE(x); ++i) {
    Py_XDECREF(plan->fields[i].name);
    Py_XDECREF(plan->fields[i].descriptor);
    Py_XDECREF(plan->fields[i].standard);
  }
  anyffi_py_free_plan(x);
}

static PyType_Slot anyffi_record_plan_slots[] = {
    {Py_tp_traverse, anyffi_py_visit_record_plan}, {Py_tp_dealloc, anyffi_py_free_record_plan}, {0, NULL}};
static PyType_Spec anyffi_record_plan_spec = {"anyffi.RecordPlan", sizeof(AnyffiRecordPlan), sizeof(AnyffiRecordField),
                                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, anyffi_record_plan_slots};

/// Compares the attributes that a call would use again, after the class was changed.
ANYFFI_NEVER_INLINE int anyffi_py_is_planned_anew(PyTypeObject* cls, AnyffiRecordPlan* plan) {
  // An object of a failed call would be finalized.
  if (cls->tp_finalize != NULL) return 0;
  unsigned int version = anyffi_py_version_now(cls);
  if (anyffi_py_look_up_name(cls, "__new__") != plan->make || anyffi_py_look_up_name(cls, "__init__") != plan->init ||
      anyffi_py_look_up_name(cls, "__setattr__") != plan->setter ||
      anyffi_py_look_up_name(cls, "_anyffi_record") != plan->record || PyType_HasFeature(cls, Py_TPFLAGS_IS_ABSTRACT)) {
    return 0;
  }
  for (Py_ssize_t i = 0; i < Py_SIZE(plan); ++i) {
    if (anyffi_py_look_up(cls, plan->fields[i].name) != plan->fields[i].descriptor) return 0;
  }
  plan->version = version;
  return 1;
}

/// Writes a value that a field stores unchanged into its member; 0 for other values, -1 with an exception.
ANYFFI_ALWAYS_INLINE int anyffi_py_put_directly(const AnyffiRecordField* field, char* member, PyObject* x) {
  int32_t storage = field->field->storage;
  if (anyffi_py_put_number(storage, member, x)) return 1;
  if (storage != ANYFFI_STORED_VALUE) return 0;
  // The member of a new object is None already.
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
  return anyffi_py_put_value(NULL, object, field->field, x);
}

/// Assigns the arguments of a call to parameters: 0 if `__init__` has to raise an error.
static int anyffi_py_sort_arguments(AnyffiRecordPlan* plan, PyObject* const* args, Py_ssize_t count, PyObject* names,
                                    PyObject** given) {
  if (count > plan->num_positional) return 0;
  for (Py_ssize_t i = 0; i < plan->num_parameters; ++i) given[i] = i < count ? args[i] : NULL;
  Py_ssize_t num_names = names == NULL ? 0 : PyTuple_GET_SIZE(names), next = count;
  for (Py_ssize_t i = 0; i < num_names; ++i, ++next) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    // Keywords are most often in order.
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
  AnyffiRecordPlan* plan = (AnyffiRecordPlan*)anyffi_py_plan_of((PyTypeObject*)cls, anyffi_state.record_plan);
  unsigned int version = anyffi_py_version((PyTypeObject*)cls);
  PyObject* given[ANYFFI_FEW_NAMED];
  if (plan == NULL ||
      ((version == 0 || plan->version != version) && !anyffi_py_is_planned_anew((PyTypeObject*)cls, plan)) ||
      !anyffi_py_sort_arguments(plan, args, count, names, given)) {
    return anyffi_py_call_record(cls, args, flags, names);
  }
  AnyffiValue made;
  if (anyffi_record_create(plan->type_code, &made) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  // Defaults and conversions may run code that gives the class another plan.
  Py_INCREF(plan);
  for (Py_ssize_t i = 0; i < Py_SIZE(plan); ++i) {
    const AnyffiRecordField* field = &plan->fields[i];
    PyObject* x = field->parameter < 0 ? NULL : given[field->parameter];
    int is_new = x == NULL && field->is_factory;
    if (is_new) x = anyffi_py_need_stack() < 0 ? NULL : PyObject_CallNoArgs(field->standard);
    if (x == NULL && !is_new) x = field->standard;
    int put = x == NULL ? -1 : anyffi_py_put_field(made.as_object, field, x);
    if (is_new) Py_XDECREF(x);
    if (put < 0) {
      anyffi_py_discard(&made);
      Py_DECREF(plan);
      return NULL;
    }
  }
  int has_post_init = plan->has_post_init;
  Py_DECREF(plan);
  PyObject* wrapper = anyffi_py_wrap_as((PyTypeObject*)cls, &made);
  if (wrapper == NULL || !has_post_init) return wrapper;
  PyObject* ignored = anyffi_py_need_stack() < 0 ? NULL : PyObject_CallMethod(wrapper, "__post_init__", NULL);
  if (ignored == NULL) Py_CLEAR(wrapper);
  Py_XDECREF(ignored);
  return wrapper;
}

/// Sets the plan of a class. `rows` has for each field: name, descriptor, default or factory, whether it is a factory,
/// whether there is a default, the index of its parameter, and the values of `takes`.
static void anyffi_py_plan_record(PyTypeObject* cls, int32_t type_code, PyObject* rows, int num_positional,
                                  int num_parameters, int has_post_init) {
  Py_ssize_t count = PyTuple_GET_SIZE(rows);
  if (!ANYFFI_KNOWN_LAYOUT || anyffi_state.is_check_mode || num_parameters > ANYFFI_FEW_NAMED) return;
  AnyffiRecordPlan* plan =
      (AnyffiRecordPlan*)anyffi_py_new_plan(&anyffi_state.record_plan, &anyffi_record_plan_spec, count);
  if (plan == NULL) return;
  for (Py_ssize_t i = 0; i < count; ++i) {
    AnyffiRecordField* field = &plan->fields[i];
    PyObject* row = PyTuple_GET_ITEM(rows, i);
    field->name = PyTuple_GET_ITEM(row, 0);
    field->descriptor = PyTuple_GET_ITEM(row, 1);
    field->standard = PyTuple_GET_ITEM(row, 4) == Py_True ? PyTuple_GET_ITEM(row, 2) : NULL;
    field->is_factory = PyTuple_GET_ITEM(row, 3) == Py_True;
    field->parameter = (int)PyLong_AsLong(PyTuple_GET_ITEM(row, 5));
    field->takes = (int)PyLong_AsLong(PyTuple_GET_ITEM(row, 6));
    Py_INCREF(field->name);
    PyUnicode_InternInPlace(&field->name);
    Py_INCREF(field->descriptor);
    Py_XINCREF(field->standard);
    field->field = anyffi_type_find_field(type_code, PyUnicode_AsUTF8(field->name));
    if (field->parameter >= 0) plan->parameters[field->parameter] = field;
  }
  plan->record = anyffi_py_look_up_name(cls, "_anyffi_record");
  plan->make = anyffi_py_look_up_name(cls, "__new__");
  plan->init = anyffi_py_look_up_name(cls, "__init__");
  plan->setter = anyffi_py_look_up_name(cls, "__setattr__");
  Py_XINCREF(plan->record);
  Py_XINCREF(plan->make);
  Py_XINCREF(plan->init);
  Py_XINCREF(plan->setter);
  plan->type_code = type_code;
  plan->num_parameters = num_parameters;
  plan->num_positional = num_positional;
  plan->has_post_init = has_post_init;
  anyffi_py_set_plan(cls, (PyObject*)plan, anyffi_py_construct_record);
}

/// Makes calls of a class of Python create its objects as those of its base, a dataclass, unless the class adds
/// anything to that.
static void anyffi_py_inherit_record_plan(PyTypeObject* cls) {
  AnyffiRecordPlan* own = (AnyffiRecordPlan*)anyffi_py_plan_of(cls, anyffi_state.record_plan);
  // The plan may be inherited from the base, while the class itself is a dataclass now.
  if (own != NULL && !anyffi_py_is_planned_anew(cls, own)) anyffi_py_set_plan(cls, NULL, anyffi_py_call_record);
  if (own != NULL) return;
  PyTypeObject* base = cls->tp_base;
  AnyffiRecordPlan* found = base == NULL ? NULL : (AnyffiRecordPlan*)anyffi_py_plan_of(base, anyffi_state.record_plan);
  if (found == NULL || !anyffi_py_is_planned_anew(cls, found)) return;
  Py_ssize_t count = Py_SIZE(found);
  AnyffiRecordPlan* plan =
      (AnyffiRecordPlan*)anyffi_py_new_plan(&anyffi_state.record_plan, &anyffi_record_plan_spec, count);
  if (plan == NULL) return;
  size_t begin = offsetof(AnyffiRecordPlan, record);
  memcpy((char*)plan + begin, (char*)found + begin, offsetof(AnyffiRecordPlan, fields) - begin);
  memcpy(plan->fields, found->fields, (size_t)count * sizeof(*plan->fields));
  for (int i = 0; i < plan->num_parameters; ++i) {
    plan->parameters[i] = plan->fields + (found->parameters[i] - found->fields);
  }
  Py_XINCREF(plan->record);
  Py_XINCREF(plan->make);
  Py_XINCREF(plan->init);
  Py_XINCREF(plan->setter);
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_INCREF(plan->fields[i].name);
    Py_INCREF(plan->fields[i].descriptor);
    Py_XINCREF(plan->fields[i].standard);
  }
  found->version = plan->version = 0;
  anyffi_py_set_plan(cls, (PyObject*)plan, anyffi_py_construct_record);
}

/// Makes objects of a dataclass, or of a class that derives from one, without calling `__new__` in Python, if that is
/// `make`. `create`: the function that creates a draft. -1 with an exception.
static int anyffi_py_set_record_class(PyTypeObject* cls, PyObject* make, PyObject* create) {
  if (!ANYFFI_KNOWN_LAYOUT || anyffi_state.is_check_mode) return 0;
  static const char* const kNames[] = {"__new__",           "_anyffi_record",      "__init__",
                                       "_anyffi_generated", "_anyffi_set_nowhere", "_anyffi_defaults"};
  for (int i = 0; i < 6; ++i) {
    PyObject** name = &anyffi_record_names[i];
    if (*name == NULL && (*name = PyUnicode_InternFromString(kNames[i])) == NULL) return -1;
  }
  if (anyffi_record_make == NULL) {
    anyffi_record_create_draft = anyffi_py_return_new(create);
    anyffi_record_no_init = anyffi_py_look_up_name(&PyBaseObject_Type, "__init__");
    anyffi_record_make = anyffi_py_return_new(make);
  }
  if (cls->tp_vectorcall == NULL) cls->tp_vectorcall = anyffi_py_call_record;
  anyffi_py_inherit_record_plan(cls);
  PyType_Modified(cls);
  return 0;
}

#endif  // ANYFFI_DATACLASS_H_
