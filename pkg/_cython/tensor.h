/// Tensors for Python: attributes read from the struct, the buffer protocol, and `__dlpack__`.
///
/// Functions return a new reference or NULL, or 0 and -1, with an exception set.

#ifndef ANYFFI_TENSOR_CORE_H_
#define ANYFFI_TENSOR_CORE_H_

#include <stddef.h>
#include <string.h>

#include "layout.h"
#include "state.h"
#include "unpack.h"
#include "wrapper.h"

static inline const AnyffiTensor* anyffi_py_unwrap_tensor(PyObject* wrapper) {
  return (const AnyffiTensor*)anyffi_py_unwrap_as(wrapper, ANYFFI_TENSOR);
}

// ---- attributes -----------------------------------------------------------------------------------------------------

static PyObject* anyffi_py_new_ints(const int64_t* numbers, int32_t count) {
  PyObject* made = PyTuple_New(count);
  for (int32_t i = 0; made != NULL && i < count; ++i) {
    PyObject* number = anyffi_py_new_int(numbers[i]);
    if (number == NULL) {
      Py_CLEAR(made);
    } else {
      PyTuple_SET_ITEM(made, i, number);
    }
  }
  return made;
}

static PyObject* anyffi_py_tensor_shape(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  return tensor == NULL ? NULL : anyffi_py_new_ints(tensor->tensor.shape, tensor->tensor.ndim);
}

static PyObject* anyffi_py_tensor_strides(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  return tensor == NULL ? NULL : anyffi_py_new_ints(tensor->tensor.strides, tensor->tensor.ndim);
}

static PyObject* anyffi_py_tensor_ndim(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  return tensor == NULL ? NULL : anyffi_py_new_int(tensor->tensor.ndim);
}

/// Multiplies without a limit.
static PyObject* anyffi_py_multiply(const int64_t* numbers, int32_t count) {
  PyObject* product = PyLong_FromLong(1);
  for (int32_t i = 0; product != NULL && i < count; ++i) {
    PyObject* factor = anyffi_py_new_int(numbers[i]);
    Py_SETREF(product, factor == NULL ? NULL : PyNumber_Multiply(product, factor));
    Py_XDECREF(factor);
  }
  return product;
}

static PyObject* anyffi_py_tensor_numel(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  if (tensor == NULL) return NULL;
  int64_t product = 1;
  for (int32_t i = 0; i < tensor->tensor.ndim; ++i) {
    if (__builtin_mul_overflow(product, tensor->tensor.shape[i], &product)) {
      return anyffi_py_multiply(tensor->tensor.shape, tensor->tensor.ndim);
    }
  }
  return anyffi_py_new_int(product);
}

static PyObject* anyffi_py_tensor_data_ptr(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  if (tensor == NULL) return NULL;
  return PyLong_FromUnsignedLongLong((uintptr_t)tensor->tensor.data + tensor->tensor.byte_offset);
}

static PyObject* anyffi_py_tensor_flags(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  return tensor == NULL ? NULL : PyLong_FromUnsignedLongLong(tensor->flags);
}

static PyObject* anyffi_py_tensor_is_contiguous(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  return tensor == NULL ? NULL : PyBool_FromLong(anyffi_tensor_is_contiguous(&tensor->tensor));
}

/// The dtypes and devices that the rules share, once one was asked for.
#define ANYFFI_SHARED_CODES 18
#define ANYFFI_SHARED_DEVICES 32
#define ANYFFI_SHARED_INDICES 16
static PyObject* anyffi_py_dtypes[ANYFFI_SHARED_CODES][256];
static PyObject* anyffi_py_devices[ANYFFI_SHARED_DEVICES][ANYFFI_SHARED_INDICES];

/// Returns what the rules make of some ints, a tuple that it steals, and keeps it in `place` unless that is NULL.
static PyObject* anyffi_py_share_made(PyObject* function, PyObject* ints, PyObject** place) {
  PyObject* made = ints == NULL ? NULL : PyObject_CallObject(function, ints);
  Py_XDECREF(ints);
  if (made != NULL && place != NULL && *place == NULL) {
    Py_INCREF(made);
    *place = made;
  }
  return made;
}

static PyObject* anyffi_py_tensor_dtype(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  if (tensor == NULL) return NULL;
  AnyffiDataType type = tensor->tensor.dtype;
  int is_shared = type.lanes == 1 && type.code < ANYFFI_SHARED_CODES;
  PyObject** place = is_shared ? &anyffi_py_dtypes[type.code][type.bits] : NULL;
  if (place == NULL || *place == NULL) {
    return anyffi_py_share_made(anyffi_state.share_dtype, Py_BuildValue("(iii)", type.code, type.bits, type.lanes),
                                place);
  }
  Py_INCREF(*place);
  return *place;
}

static PyObject* anyffi_py_tensor_device(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  if (tensor == NULL) return NULL;
  AnyffiDevice device = tensor->tensor.device;
  int is_shared = (uint32_t)device.type < ANYFFI_SHARED_DEVICES && (uint32_t)device.index < ANYFFI_SHARED_INDICES;
  PyObject** place = is_shared ? &anyffi_py_devices[device.type][device.index] : NULL;
  if (place == NULL || *place == NULL) {
    return anyffi_py_share_made(anyffi_state.share_device, Py_BuildValue("(ii)", device.type, device.index), place);
  }
  Py_INCREF(*place);
  return *place;
}

/// `len(tensor)`; -1 with an exception.
static Py_ssize_t anyffi_py_tensor_length(PyObject* self) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  if (tensor != NULL && tensor->tensor.ndim > 0) return (Py_ssize_t)tensor->tensor.shape[0];
  if (tensor != NULL) PyErr_SetString(PyExc_TypeError, "len() of unsized object");
  return -1;
}

// ---- export ---------------------------------------------------------------------------------------------------------

#define ANYFFI_SAME_FIELD(ours, theirs) (offsetof(AnyffiBuffer, ours) == offsetof(Py_buffer, theirs))
typedef char AnyffiSameBuffer[sizeof(AnyffiBuffer) == sizeof(Py_buffer) && ANYFFI_SAME_FIELD(data, buf) &&
                                      ANYFFI_SAME_FIELD(owner, obj) && ANYFFI_SAME_FIELD(size, len) &&
                                      ANYFFI_SAME_FIELD(item_size, itemsize) &&
                                      ANYFFI_SAME_FIELD(read_only, readonly) && ANYFFI_SAME_FIELD(ndim, ndim) &&
                                      ANYFFI_SAME_FIELD(format, format) && ANYFFI_SAME_FIELD(shape, shape) &&
                                      ANYFFI_SAME_FIELD(strides, strides) &&
                                      ANYFFI_SAME_FIELD(suboffsets, suboffsets) && ANYFFI_SAME_FIELD(internal, internal)
                                  ? 1
                                  : -1];

/// Fills a buffer except for its `obj`.
static int anyffi_py_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (anyffi_tensor_get_buffer(((AnyffiWrapper*)self)->object, (AnyffiBuffer*)view, flags) == 0) return 0;
  return anyffi_py_raise_taken();
}

/// Compares a keyword, which need not be interned, with one of the names below.
static inline int anyffi_py_is_keyword(PyObject* keyword, const char* name, size_t length) {
  return (size_t)PyUnicode_GET_LENGTH(keyword) == length && PyUnicode_IS_COMPACT_ASCII(keyword) &&
         memcmp(PyUnicode_DATA(keyword), name, length) == 0;
}
#define ANYFFI_IS_KEYWORD(keyword, name) anyffi_py_is_keyword(keyword, name, sizeof(name) - 1)

/// Reads a `max_version`; 0 for one that the rules must read.
static int anyffi_py_read_version(PyObject* version, int* legacy) {
  int64_t major = 0, minor;
  if (version == Py_None) return 1;
  if (!PyTuple_CheckExact(version) || PyTuple_GET_SIZE(version) != 2) return 0;
  PyObject *first = PyTuple_GET_ITEM(version, 0), *second = PyTuple_GET_ITEM(version, 1);
  if (!PyLong_CheckExact(first) || !PyLong_CheckExact(second)) return 0;
  if (!anyffi_py_read_short_int(first, &major) || !anyffi_py_read_short_int(second, &minor)) return 0;
  *legacy = major < 1;
  return 1;
}

/// Reads the keywords of `__dlpack__`; 0 where the rules must read or refuse them.
static int anyffi_py_read_export(PyObject* const* values, PyObject* names, int* legacy) {
  Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (anyffi_py_ready(name) < 0) return 0;
    int is_plain;
    if (ANYFFI_IS_KEYWORD(name, "max_version")) {
      is_plain = anyffi_py_read_version(values[i], legacy);
    } else if (ANYFFI_IS_KEYWORD(name, "copy")) {
      is_plain = values[i] == Py_None || values[i] == Py_False;
    } else if (ANYFFI_IS_KEYWORD(name, "stream") || ANYFFI_IS_KEYWORD(name, "dl_device")) {
      is_plain = values[i] == Py_None;
    } else {
      is_plain = 0;
    }
    if (!is_plain) return 0;
  }
  return 1;
}

/// Calls `export_tensor` of the rules with the arguments of a method.
static PyObject* anyffi_py_export_by_rules(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
  PyObject** all = (PyObject**)PyMem_Malloc((size_t)(total + 1) * sizeof(PyObject*));
  if (all == NULL) return PyErr_NoMemory();
  all[0] = self;
  for (Py_ssize_t i = 0; i < total; ++i) all[i + 1] = args[i];
  PyObject* made = PyObject_Vectorcall(anyffi_state.export_tensor, all, (size_t)count + 1, names);
  PyMem_Free(all);
  return made;
}

/// `__dlpack__`: an eighth of the time that a function in Python takes.
static PyObject* anyffi_py_tensor_dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiObject* tensor = ((AnyffiWrapper*)self)->object;
  int legacy = 1;
  void* capsule;
  if (count != 0 || tensor == NULL || tensor->type_code != ANYFFI_TENSOR ||
      !anyffi_py_read_export(args, names, &legacy)) {
    return anyffi_py_export_by_rules(self, args, count, names);
  }
  if (anyffi_tensor_to_capsule(tensor, legacy, &capsule) != 0) anyffi_py_raise_taken();
  return (PyObject*)capsule;
}

// ---- the class ------------------------------------------------------------------------------------------------------

static PyMethodDef anyffi_py_tensor_methods[] = {
    {"_shape", anyffi_py_tensor_shape, METH_NOARGS, NULL},
    {"_strides", anyffi_py_tensor_strides, METH_NOARGS, NULL},
    {"_ndim", anyffi_py_tensor_ndim, METH_NOARGS, NULL},
    {"_numel", anyffi_py_tensor_numel, METH_NOARGS, NULL},
    {"_dtype", anyffi_py_tensor_dtype, METH_NOARGS, NULL},
    {"_device", anyffi_py_tensor_device, METH_NOARGS, NULL},
    {"_data_ptr", anyffi_py_tensor_data_ptr, METH_NOARGS, NULL},
    {"_flags", anyffi_py_tensor_flags, METH_NOARGS, NULL},
    {"_is_contiguous", anyffi_py_tensor_is_contiguous, METH_NOARGS, NULL},
    {"__dlpack__", (PyCFunction)(void (*)(void))anyffi_py_tensor_dlpack, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

/// Adds the methods to a class, whose `__dlpack__` has a docstring that the caller keeps.
static int anyffi_py_add_tensor_methods(PyTypeObject* cls, const char* export_doc) {
  for (PyMethodDef* method = anyffi_py_tensor_methods; method->ml_name != NULL; ++method) {
    if (method->ml_flags != METH_NOARGS) method->ml_doc = export_doc;
    PyObject* made = PyDescr_NewMethod(cls, method);
    int status = made == NULL ? -1 : PyDict_SetItemString(cls->tp_dict, method->ml_name, made);
    Py_XDECREF(made);
    if (status < 0) return -1;
  }
  PyType_Modified(cls);
  return 0;
}

#endif  // ANYFFI_TENSOR_CORE_H_
