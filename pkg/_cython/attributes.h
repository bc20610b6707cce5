/// Attributes of wrappers: fields of objects, functions of modules.

#ifndef ANYFFI_ATTRIBUTES_H_
#define ANYFFI_ATTRIBUTES_H_

#include "native.h"
#include "wrapper.h"

typedef int (*AnyffiGetField)(AnyffiObject* self, AnyffiValue* out);

/// The layout of `FieldGetter`; `_core.pyx` checks it at import.
typedef struct {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* name;      // bytes
  PyObject* slow;      // a function for all other arguments, which raises the errors
  AnyffiGetField get;  // for objects of this type, the one that was read last
  int32_t type_code;   // ANYFFI_NONE: of no object yet
} AnyffiFieldGetter;

/// Sets the getter for a type; 0 if the type has no such field. The last field of a name hides those of ancestors.
ANYFFI_NEVER_INLINE int anyffi_py_find_field(AnyffiFieldGetter* getter, int32_t type_code) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  for (int32_t depth = info == NULL ? -1 : info->depth; depth >= 0; --depth) {
    const AnyffiTypeInfo* owner = depth == info->depth ? info : anyffi_type_get_info(info->ancestors[depth]);
    for (int32_t i = owner->num_fields; i > 0; --i) {
      if (strcmp(owner->fields[i - 1].name, PyBytes_AS_STRING(getter->name)) == 0) {
        getter->get = owner->fields[i - 1].get;
        getter->type_code = type_code;
        return 1;
      }
    }
  }
  return 0;
}

/// The vectorcall function of a FieldGetter, whose argument is the wrapper.
static PyObject* anyffi_py_read_field(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  AnyffiFieldGetter* getter = (AnyffiFieldGetter*)self;
  if (PyVectorcall_NARGS(flags) == 1 && names == NULL && anyffi_py_is_wrapper(args[0])) {
    AnyffiObject* object = ((AnyffiWrapper*)args[0])->object;
    if (object != NULL && (object->type_code == getter->type_code || anyffi_py_find_field(getter, object->type_code))) {
      AnyffiValue value = anyffi_make_none();
      if (getter->get(object, &value) == 0) return anyffi_py_unpack_result(&value);
      anyffi_py_raise_taken();
      return NULL;
    }
  }
  return PyObject_Vectorcall(getter->slow, args, flags, names);
}

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

/// The `tp_getattro` of Module, which does what the interpreter's does for a class with `__getattr__`, but finds the
/// functions, which that method stores in the instance, in a third of the time.
static PyObject* anyffi_py_get_module_attribute(PyObject* self, PyObject* name) {
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

/// Sets the slot of the class of modules.
static void anyffi_py_set_module_slot(PyTypeObject* cls) {
  cls->tp_getattro = anyffi_py_get_module_attribute;
  PyType_Modified(cls);
}
#else
// The interpreter's bytecode finds attributes of instances itself, unless the class has a slot of its own.
static void anyffi_py_set_module_slot(PyTypeObject* cls) { (void)cls; }
#endif

#endif  // ANYFFI_ATTRIBUTES_H_
