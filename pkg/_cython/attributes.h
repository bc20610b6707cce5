/// Attributes of wrappers: fields of objects, functions of modules.

#ifndef ANYFFI_ATTRIBUTES_H_
#define ANYFFI_ATTRIBUTES_H_

#include <structmember.h>

#include "call.h"

/// The layout of `FieldGetter`; `_core.pyx` checks it at import.
typedef struct {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* name;                // bytes
  PyObject* slow;                // a function for all other arguments, which raises the errors
  const AnyffiFieldInfo* field;  // the cached one, of type `type_code`
  int32_t type_code;             // ANYFFI_NONE before the first look-up
  int32_t is_in_place;           // `offset` is valid for objects whose deleter is `anyffi_record_destroy`
} AnyffiFieldGetter;

/// Whether a field is read and written in one step: without the GIL no other thread can see half of a number.
static inline int anyffi_py_is_atomic(const AnyffiFieldInfo* field) {
  return field->storage == ANYFFI_STORED_INT || field->storage == ANYFFI_STORED_FLOAT ||
         field->storage == ANYFFI_STORED_BOOL;
}

/// Calls the `get` or `set` of a field; within a section if another thread could see half of a value.
ANYFFI_ALWAYS_INLINE int anyffi_py_access_field(int (*access)(AnyffiObject*, const AnyffiFieldInfo*, AnyffiValue*),
                                                AnyffiObject* object, const AnyffiFieldInfo* field,
                                                AnyffiValue* value) {
#ifdef Py_GIL_DISABLED
  if (anyffi_py_is_atomic(field)) return access(object, field, value);
#endif
  ANYFFI_BEGIN_SECTION
  int status = access(object, field, value);
  ANYFFI_END_SECTION
  return status;
}

/// Finds the field of a type, and remembers it; NULL if the type has no such field.
ANYFFI_NEVER_INLINE const AnyffiFieldInfo* anyffi_py_find_field(AnyffiFieldGetter* getter, int32_t type_code) {
  const AnyffiFieldInfo* found = anyffi_type_find_field(type_code, PyBytes_AS_STRING(getter->name));
  if (found == NULL) return NULL;
#ifdef Py_GIL_DISABLED
  // Only the first type is cached, because other threads read both members.
  const AnyffiFieldInfo* none = NULL;
  if (__atomic_compare_exchange_n(&getter->field, &none, found, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    int is_in_place = anyffi_py_is_atomic(found) && anyffi_type_get_info(found->type_code)->record != NULL;
    __atomic_store_n(&getter->is_in_place, is_in_place, __ATOMIC_RELAXED);
    __atomic_store_n(&getter->type_code, type_code, __ATOMIC_RELEASE);
  }
#else
  getter->field = found;
  getter->type_code = type_code;
  getter->is_in_place =
      found->storage != ANYFFI_STORED_OTHERWISE && anyffi_type_get_info(found->type_code)->record != NULL;
#endif
  return found;
}

/// Returns the address of a field in an object; NULL if only its `get` and `set` can access it.
static inline char* anyffi_py_find_member(const AnyffiFieldGetter* getter, const AnyffiFieldInfo* field,
                                          AnyffiObject* object) {
#ifdef Py_GIL_DISABLED
  // The cached field is of another type.
  if (field != __atomic_load_n(&getter->field, __ATOMIC_RELAXED)) return NULL;
#endif
  if (__atomic_load_n(&getter->is_in_place, __ATOMIC_RELAXED) && object->deleter == anyffi_record_destroy) {
    return (char*)object + sizeof(AnyffiInstance) + field->offset;
  }
  return NULL;
}

/// Returns the object of a wrapper that has the field, borrowed, and the field; NULL for others.
static inline AnyffiObject* anyffi_py_owner_of_field(AnyffiFieldGetter* getter, PyObject* x,
                                                     const AnyffiFieldInfo** field) {
  if (!anyffi_py_is_wrapper(x)) return NULL;
  AnyffiObject* object = ((AnyffiWrapper*)x)->object;
  if (object == NULL) return NULL;
  if (object->type_code == __atomic_load_n(&getter->type_code, __ATOMIC_ACQUIRE)) {
    *field = getter->field;
    return object;
  }
  *field = anyffi_py_find_field(getter, object->type_code);
  return *field == NULL ? NULL : object;
}

/// Reads a member as the `get` of its field does, but without retaining an object that it holds.
static inline PyObject* anyffi_py_read_member(int32_t storage, const char* member) {
  AnyffiObject* object;
  double number;
  switch (storage) {
    case ANYFFI_STORED_INT:
      return PyLong_FromLongLong(__atomic_load_n((const int64_t*)member, __ATOMIC_RELAXED));
    case ANYFFI_STORED_FLOAT:
      __atomic_load((const double*)member, &number, __ATOMIC_RELAXED);
      return PyFloat_FromDouble(number);
    case ANYFFI_STORED_BOOL:
      return PyBool_FromLong(__atomic_load_n((const _Bool*)member, __ATOMIC_RELAXED));
    case ANYFFI_STORED_VALUE:
      return anyffi_py_unpack_copy((const AnyffiValue*)member);
    default:
      object = *(AnyffiObject* const*)member;
      if (object == NULL) Py_RETURN_NONE;
      return anyffi_py_unpack_object_copy(object);
  }
}

static inline PyObject* anyffi_py_read_field_of(const AnyffiFieldGetter* getter, const AnyffiFieldInfo* field,
                                                AnyffiObject* object) {
  const char* member = anyffi_py_find_member(getter, field, object);
  if (member != NULL) return anyffi_py_read_member(field->storage, member);
  AnyffiValue value = anyffi_make_none();
  if (ANYFFI_WRITES_ITEMS && !anyffi_state.is_check_mode) value.aux = ANYFFI_WRITTEN_FLAGS;
  int status = anyffi_py_access_field(field->get, object, field, &value);
  if (__builtin_expect(status != 0, 0)) {
    anyffi_py_raise_taken();
    return NULL;
  }
  if (value.type_code == ANYFFI_INT) return PyLong_FromLongLong(value.as_int);
  if (value.type_code == ANYFFI_FLOAT) return PyFloat_FromDouble(value.as_float);
  if (value.type_code == ANYFFI_UNSET) return (PyObject*)value.as_pointer;
  return anyffi_py_unpack_result(&value);
}

/// The vectorcall function of a FieldGetter, whose argument is the wrapper.
static PyObject* anyffi_py_read_field(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  AnyffiFieldGetter* getter = (AnyffiFieldGetter*)self;
  if (PyVectorcall_NARGS(flags) == 1 && names == NULL) {
    const AnyffiFieldInfo* field;
    AnyffiObject* object = anyffi_py_owner_of_field(getter, args[0], &field);
    if (object != NULL) return anyffi_py_read_field_of(getter, field, object);
  }
  return PyObject_Vectorcall(getter->slow, args, flags, names);
}

/// Completes the message of the exception that is set, which is about the value passed for a field.
static void anyffi_py_explain_field(PyObject* x) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return;
  AnyffiSaved saved = anyffi_py_save_exception();
  PyObject* done = PyObject_CallFunctionObjArgs(anyffi_state.explain_field, saved.exception, x, NULL);
  if (done == NULL) {
    // Raised by a signal handler, or memory is exhausted.
    anyffi_py_drop_exception(saved);
    return;
  }
  Py_DECREF(done);
  anyffi_py_restore_exception(saved);
}

/// Names a field in the message of the exception that packing its value raised; -1.
ANYFFI_NEVER_INLINE int anyffi_py_fail_field(const AnyffiFieldInfo* field, PyObject* x) {
  AnyffiSaved saved = anyffi_py_save_exception();
  PyObject* name = PyUnicode_FromFormat("%s.%s", anyffi_type_get_info(field->type_code)->type_key, field->name);
  if (name == NULL) {
    anyffi_py_drop_exception(saved);
    return -1;
  }
  anyffi_py_restore_exception(saved);
  anyffi_py_complete_made(anyffi_state.locate_field, name, &x, NULL, 1);
  Py_DECREF(name);
  return -1;
}

/// Sets a field of an object to any value; 0, or -1 with an exception. `owner`: its wrapper, NULL for a new object.
static inline int anyffi_py_put_value(PyObject* owner, AnyffiObject* object, const AnyffiFieldInfo* field,
                                      PyObject* x) {
  AnyffiValue value;
  if (anyffi_py_pack(x, &value) < 0) return anyffi_py_fail_field(field, x);
  if (field->storage == ANYFFI_STORED_MEMBER && anyffi_py_name_enumeration(x, &value) < 0) return -1;
  // Packing may have run code that gave the object to C++.
  if (__builtin_expect(owner != NULL && ((AnyffiWrapper*)owner)->object != object, 0)) {
    object = anyffi_py_unwrap_checked(owner, field->type_code);
    if (object == NULL) {
      anyffi_py_finish(NULL, &value, 1);
      return -1;
    }
  }
  int status = anyffi_py_access_field(field->set, object, field, &value);
  if (status != 0) {
    anyffi_py_raise_taken();
    anyffi_py_explain_field(x);
  }
  anyffi_py_finish(status == 0 ? x : NULL, &value, 1);
  return status;
}

/// Writes a number directly into a member; 0 for other values and members.
ANYFFI_ALWAYS_INLINE int anyffi_py_put_number(int32_t storage, char* member, PyObject* x) {
  int64_t number;
  double real;
  switch (storage) {
    case ANYFFI_STORED_INT:
      if (!PyLong_CheckExact(x) || !anyffi_py_read_short_int(x, &number)) return 0;
      __atomic_store_n((int64_t*)member, number, __ATOMIC_RELAXED);
      return 1;
    case ANYFFI_STORED_FLOAT:
      if (!PyFloat_CheckExact(x)) return 0;
      real = PyFloat_AS_DOUBLE(x);
      __atomic_store((double*)member, &real, __ATOMIC_RELAXED);
      return 1;
    case ANYFFI_STORED_BOOL:
      if (!PyBool_Check(x)) return 0;
      __atomic_store_n((_Bool*)member, x == Py_True, __ATOMIC_RELAXED);
      return 1;
    default:
      return 0;
  }
}

/// Writes a field of the object of a wrapper; 0, or -1 with an exception.
static inline int anyffi_py_write_field_of(const AnyffiFieldGetter* setter, const AnyffiFieldInfo* field,
                                           PyObject* owner, AnyffiObject* object, PyObject* x) {
  char* member = anyffi_py_find_member(setter, field, object);
  if (member != NULL && anyffi_py_put_number(field->storage, member, x)) return 0;
  AnyffiValue value;
  if (!anyffi_py_pack_plain(x, &value)) return anyffi_py_put_value(owner, object, field, x);
  int status = anyffi_py_access_field(field->set, object, field, &value);
  if (__builtin_expect(status == 0, 1)) return 0;
  anyffi_py_raise_taken();
  return -1;
}

/// The same for a setter, whose arguments are the wrapper and the value.
static PyObject* anyffi_py_write_field(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  AnyffiFieldGetter* setter = (AnyffiFieldGetter*)self;
  if (PyVectorcall_NARGS(flags) == 2 && names == NULL) {
    const AnyffiFieldInfo* field;
    AnyffiObject* object = anyffi_py_owner_of_field(setter, args[0], &field);
    if (object != NULL && field->set != NULL) {
      if (anyffi_py_write_field_of(setter, field, args[0], object, args[1]) != 0) return NULL;
      Py_RETURN_NONE;
    }
  }
  return PyObject_Vectorcall(setter->slow, args, flags, names);
}

// ---- properties of fields -------------------------------------------------------------------------------------------

/// The type of FieldGetter, and the offsets of the getter and the setter in a property; 0 if unknown.
static PyTypeObject* anyffi_getter_type;
static Py_ssize_t anyffi_getter_offset, anyffi_setter_offset;

/// The getter or setter of a property, borrowed, if it is one of this backend; else NULL.
static inline AnyffiFieldGetter* anyffi_py_accessor(PyObject* self, Py_ssize_t offset) {
  PyObject* found = *(PyObject**)((char*)self + offset);
  return found != NULL && Py_TYPE(found) == anyffi_getter_type ? (AnyffiFieldGetter*)found : NULL;
}

/// The `tp_descr_get` of the class of fields: as that of `property`, but without calling the getter.
static PyObject* anyffi_py_get_field(PyObject* self, PyObject* x, PyObject* cls) {
  AnyffiFieldGetter* getter = x == NULL ? NULL : anyffi_py_accessor(self, anyffi_getter_offset);
  const AnyffiFieldInfo* field;
  AnyffiObject* object = getter == NULL ? NULL : anyffi_py_owner_of_field(getter, x, &field);
  if (__builtin_expect(object != NULL, 1)) return anyffi_py_read_field_of(getter, field, object);
  return PyProperty_Type.tp_descr_get(self, x, cls);
}

/// Its `tp_descr_set`.
static int anyffi_py_set_field(PyObject* self, PyObject* x, PyObject* value) {
  AnyffiFieldGetter* setter = value == NULL ? NULL : anyffi_py_accessor(self, anyffi_setter_offset);
  const AnyffiFieldInfo* field;
  AnyffiObject* object = setter == NULL ? NULL : anyffi_py_owner_of_field(setter, x, &field);
  if (object == NULL || field->set == NULL) return PyProperty_Type.tp_descr_set(self, x, value);
  return anyffi_py_write_field_of(setter, field, x, object, value);
}

static Py_ssize_t anyffi_py_offset_of_member(PyTypeObject* cls, const char* name) {
  for (PyMemberDef* member = cls->tp_members; member != NULL && member->name != NULL; ++member) {
    if (strcmp(member->name, name) == 0) return member->offset;
  }
  return 0;
}

/// Sets the slots of a class that derives from `property`.
static void anyffi_py_set_field_slots(PyTypeObject* cls, PyTypeObject* getter_type) {
  anyffi_getter_type = getter_type;
  anyffi_getter_offset = anyffi_py_offset_of_member(&PyProperty_Type, "fget");
  anyffi_setter_offset = anyffi_py_offset_of_member(&PyProperty_Type, "fset");
  if (anyffi_getter_offset == 0 || anyffi_setter_offset == 0) return;
  cls->tp_descr_get = anyffi_py_get_field;
  cls->tp_descr_set = anyffi_py_set_field;
  PyType_Modified(cls);
}

// ---- constants of classes -------------------------------------------------------------------------------------------

/// The offset of a Constant's cached value, and the `__get__` that computes it.
static Py_ssize_t anyffi_constant_offset;
static descrgetfunc anyffi_read_constant;

static PyObject* anyffi_py_get_constant(PyObject* self, PyObject* x, PyObject* cls) {
  PyObject* value = *(PyObject**)((char*)self + anyffi_constant_offset);
  return value != NULL ? anyffi_py_return_new(value) : anyffi_read_constant(self, x, cls);
}

/// Sets the slot of the class of constants.
static void anyffi_py_set_constant_slot(PyTypeObject* cls) {
  if (cls->tp_descr_get == anyffi_py_get_constant) return;
  anyffi_constant_offset = anyffi_py_offset_of_member(cls, "_value");
  if (anyffi_constant_offset == 0) return;
  anyffi_read_constant = cls->tp_descr_get;
  cls->tp_descr_get = anyffi_py_get_constant;
  PyType_Modified(cls);
}

// ---- attributes of modules and functions ----------------------------------------------------------------------------

#if ANYFFI_KNOWN_LAYOUT && PY_VERSION_HEX < 0x030C0000
/// An attribute that was found in the dict of an instance, and is no attribute of its class.
typedef struct {
  PyObject* name;         // owned
  PyObject* value;        // owned by the dict
  uint64_t dict_version;  // no two states of dicts have the same
  unsigned int cls_version;
} AnyffiFoundAttribute;

/// As PyObject_GetAttr without `__getattr__`: NULL, perhaps with an AttributeError.
static PyObject* anyffi_py_find_attribute(PyObject* self, PyObject* name) {
  static AnyffiFoundAttribute attributes[64];
  PyObject** place = _PyObject_GetDictPtr(self);
  if (place == NULL || *place == NULL) return PyObject_GenericGetAttr(self, name);
  AnyffiFoundAttribute* known = &attributes[((uintptr_t)name >> 4) % 64];
  uint64_t dict_version = ((PyDictObject*)*place)->ma_version_tag;
  unsigned int cls_version = anyffi_py_version(Py_TYPE(self));
  if (known->name == name && known->dict_version == dict_version && known->cls_version == cls_version) {
    Py_INCREF(known->value);
    return known->value;
  }
  if (anyffi_py_look_up(Py_TYPE(self), name) != NULL) return PyObject_GenericGetAttr(self, name);
  PyObject* found = PyDict_GetItemWithError(*place, name);
  if (found == NULL) return NULL;
  if (cls_version != 0 && PyUnicode_CheckExact(name)) {
    Py_INCREF(name);
    Py_XSETREF(known->name, name);
    known->value = found;
    known->dict_version = dict_version;
    known->cls_version = cls_version;
  }
  Py_INCREF(found);
  return found;
}

/// The `tp_getattro` of modules, submodules and functions, which does what the interpreter's does for a class with
/// `__getattr__`, but finds the functions, which that method of modules stores in the instance, in a third of the time.
static PyObject* anyffi_py_get_late_attribute(PyObject* self, PyObject* name) {
  static PyObject* getattr = NULL;
  PyObject* found = anyffi_py_find_attribute(self, name);
  if (found != NULL) return found;
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
    PyErr_Clear();
  }
  if (getattr == NULL && (getattr = PyUnicode_InternFromString("__getattr__")) == NULL) return NULL;
  return PyObject_CallMethodObjArgs((PyObject*)Py_TYPE(self), getattr, self, name, NULL);
}

/// Sets the slot of a class with `__getattr__`.
static void anyffi_py_set_late_slot(PyTypeObject* cls) {
  cls->tp_getattro = anyffi_py_get_late_attribute;
  PyType_Modified(cls);
}
#else
// The interpreter's bytecode looks up attributes of instances itself, unless the class defines this slot.
static void anyffi_py_set_late_slot(PyTypeObject* cls) { (void)cls; }
#endif

#if ANYFFI_KNOWN_LAYOUT && PY_VERSION_HEX >= 0x030C0000 && !defined(Py_GIL_DISABLED)
/// The `tp_alloc` of Module, which gives each module a dict. If an object stores its attributes inline, the bytecode of
/// CPython 3.14 finds only the first 29 names of the class, and that of 3.12 and 3.14 none once the object's `__dict__`
/// was read. In a dict it finds all.
static PyObject* anyffi_py_allocate_module(PyTypeObject* cls, Py_ssize_t count) {
  PyObject* made = PyType_GenericAlloc(cls, count);
  PyObject* dict = made == NULL ? NULL : PyDict_New();
  if (made != NULL && (dict == NULL || PyObject_GenericSetDict(made, dict, NULL) < 0)) Py_CLEAR(made);
  Py_XDECREF(dict);
  return made;
}

/// Sets the `tp_alloc` of the class of modules, before it has instances.
static void anyffi_py_set_module_alloc(PyTypeObject* cls) {
#ifdef Py_TPFLAGS_INLINE_VALUES
  cls->tp_flags &= ~(unsigned long)Py_TPFLAGS_INLINE_VALUES;
#endif
  cls->tp_alloc = anyffi_py_allocate_module;
}
#else
static void anyffi_py_set_module_alloc(PyTypeObject* cls) { (void)cls; }
#endif

#endif  // ANYFFI_ATTRIBUTES_H_
