/// Comparisons and hashes of data types and devices, from their storage.
///
/// Each replaces a slot of a class written in Python and calls the former slot, and so that class's method, in all
/// other cases. Python gives derived classes the former slot.

#ifndef ANYFFI_VALUE_COMPARE_H_
#define ANYFFI_VALUE_COMPARE_H_

#include "value_objects.h"

static richcmpfunc anyffi_py_compare_data_type_slowly;
static richcmpfunc anyffi_py_compare_device_slowly;
static hashfunc anyffi_py_hash_device_slowly;

static PyObject* anyffi_py_compare_data_type(PyObject* x, PyObject* other, int op) {
  // A data type is a str, and equal data types are spelt the same.
  if ((op == Py_EQ || op == Py_NE) && PyUnicode_Check(other)) return PyUnicode_Type.tp_richcompare(x, other, op);
  return anyffi_py_compare_data_type_slowly(x, other, op);
}

static PyObject* anyffi_py_compare_device(PyObject* x, PyObject* other, int op) {
  PyObject* pair = ((AnyffiDeviceObject*)x)->pair;
  if ((op == Py_EQ || op == Py_NE) && pair != NULL && Py_IS_TYPE(other, Py_TYPE(x))) {
    PyObject* other_pair = ((AnyffiDeviceObject*)other)->pair;
    if (other_pair == pair) return PyBool_FromLong(op == Py_EQ);
    if (other_pair != NULL) return PyTuple_Type.tp_richcompare(pair, other_pair, op);
  }
  return anyffi_py_compare_device_slowly(x, other, op);
}

static Py_hash_t anyffi_py_hash_device(PyObject* x) {
  PyObject* pair = ((AnyffiDeviceObject*)x)->pair;
  return pair != NULL ? PyTuple_Type.tp_hash(pair) : anyffi_py_hash_device_slowly(x);
}

static void anyffi_py_set_value_slots(PyTypeObject* data_type, PyTypeObject* device) {
  if (data_type->tp_richcompare == anyffi_py_compare_data_type) return;
  anyffi_py_compare_data_type_slowly = data_type->tp_richcompare;
  anyffi_py_compare_device_slowly = device->tp_richcompare;
  anyffi_py_hash_device_slowly = device->tp_hash;
  data_type->tp_richcompare = anyffi_py_compare_data_type;
  device->tp_richcompare = anyffi_py_compare_device;
  device->tp_hash = anyffi_py_hash_device;
  PyType_Modified(data_type);
  PyType_Modified(device);
}

#endif  // ANYFFI_VALUE_COMPARE_H_
