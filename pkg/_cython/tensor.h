/// Tensors for Python: attributes read from the struct, the buffer protocol, and `__dlpack__`.
///
/// Functions return a new reference or NULL, or 0 and -1, with an exception set.

#ifndef ANYFFI_TENSOR_CORE_H_
#define ANYFFI_TENSOR_CORE_H_

#include <stddef.h>
#include <string.h>

#include "dtype.h"
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

/// Multiplies Python ints, which cannot overflow.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_multiply(const int64_t* numbers, int32_t count) {
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

/// Returns the number of bytes of some elements; NULL, without an exception, if it is too large.
static PyObject* anyffi_py_bytes_of(const AnyffiTensor* tensor, int64_t count) {
  int64_t bits = (int64_t)tensor->tensor.dtype.bits * tensor->tensor.dtype.lanes;
  if (tensor->flags & ANYFFI_TENSOR_PADDED) bits = (bits + 7) / 8 * 8;
  if (__builtin_mul_overflow(count, bits, &bits) || bits > INT64_MAX - 7) return NULL;
  return anyffi_py_new_int((bits + 7) / 8);
}

static PyObject* anyffi_py_tensor_nbytes(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  if (tensor == NULL) return NULL;
  int64_t count = 1;
  int is_large = 0;
  for (int32_t i = 0; i < tensor->tensor.ndim; ++i) {
    is_large |= __builtin_mul_overflow(count, tensor->tensor.shape[i], &count);
  }
  PyObject* made = is_large ? NULL : anyffi_py_bytes_of(tensor, count);
  return made != NULL || PyErr_Occurred() ? made : PyObject_CallMethod(self, "_anyffi_count_bytes", NULL);
}

/// The number of bytes from the first to the last element.
static PyObject* anyffi_py_tensor_extent(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  if (tensor == NULL) return NULL;
  int64_t count = 1, step;
  int is_large = 0, is_empty = 0;
  for (int32_t i = 0; i < tensor->tensor.ndim; ++i) {
    int64_t extent = tensor->tensor.shape[i], stride = tensor->tensor.strides[i];
    is_empty |= extent == 0;
    is_large |= stride == INT64_MIN || __builtin_mul_overflow(extent - 1, stride < 0 ? -stride : stride, &step) ||
                __builtin_add_overflow(count, step, &count);
  }
  PyObject* made = is_large ? NULL : anyffi_py_bytes_of(tensor, is_empty ? 0 : count);
  return made != NULL || PyErr_Occurred() ? made : PyObject_CallMethod(self, "_anyffi_count_extent", NULL);
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

static PyObject* anyffi_py_tensor_dtype(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  return tensor == NULL ? NULL : anyffi_py_new_dtype(tensor->tensor.dtype);
}

static PyObject* anyffi_py_tensor_device(PyObject* self, PyObject* unused) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(self);
  return tensor == NULL ? NULL : anyffi_py_new_device(tensor->tensor.device);
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

/// Compares a keyword, which may not be interned, with one of the names below.
static inline int anyffi_py_is_keyword(PyObject* keyword, const char* name, size_t length) {
  return (size_t)PyUnicode_GET_LENGTH(keyword) == length && PyUnicode_IS_COMPACT_ASCII(keyword) &&
         memcmp(PyUnicode_DATA(keyword), name, length) == 0;
}
#define ANYFFI_IS_KEYWORD(keyword, name) anyffi_py_is_keyword(keyword, name, sizeof(name) - 1)

/// Reads an exact tuple of two ints of at most 60 bits; 0 for anything else.
static int anyffi_py_read_pair(PyObject* pair, int64_t numbers[2]) {
  if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return 0;
  for (int i = 0; i < 2; ++i) {
    PyObject* number = PyTuple_GET_ITEM(pair, i);
    if (!PyLong_CheckExact(number) || !anyffi_py_read_short_int(number, &numbers[i])) return 0;
  }
  return 1;
}

/// The options that the keywords of `__dlpack__` set.
typedef struct {
  int legacy, copy;
} AnyffiExport;

/// Reads a keyword of `__dlpack__`; 0 if the rules have to read or refuse it.
ANYFFI_NEVER_INLINE int anyffi_py_read_keyword(const AnyffiTensor* tensor, PyObject* name, PyObject* value,
                                               AnyffiExport* asked) {
  int64_t pair[2];
  if (anyffi_py_ready(name) < 0) {
    PyErr_Clear();
    return 0;
  }
  if (ANYFFI_IS_KEYWORD(name, "copy")) {
    asked->copy = value == Py_True;
    return value == Py_None || PyBool_Check(value);
  }
  if (ANYFFI_IS_KEYWORD(name, "max_version")) {
    if (value == Py_None) return 1;
    if (!anyffi_py_read_pair(value, pair)) return 0;
    asked->legacy = pair[0] < 1;
    return 1;
  }
  if (ANYFFI_IS_KEYWORD(name, "dl_device")) {
    if (value == Py_None) return 1;
    const AnyffiDevice* device = &tensor->tensor.device;
    return anyffi_py_read_pair(value, pair) && pair[0] == device->type && pair[1] == device->index;
  }
  return ANYFFI_IS_KEYWORD(name, "stream") && value == Py_None;
}

/// Calls `export_tensor` of the rules with the arguments of a method.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_export_by_rules(PyObject* self, PyObject* const* args, Py_ssize_t count,
                                                        PyObject* names) {
  Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
  PyObject** all = (PyObject**)PyMem_Malloc((size_t)(total + 1) * sizeof(PyObject*));
  if (all == NULL) return PyErr_NoMemory();
  all[0] = self;
  for (Py_ssize_t i = 0; i < total; ++i) all[i + 1] = args[i];
  PyObject* made = PyObject_Vectorcall(anyffi_state.export_tensor, all, (size_t)count + 1, names);
  PyMem_Free(all);
  return made;
}

/// Returns a capsule of a tensor or of a copy of it.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_new_capsule(AnyffiTensor* tensor, AnyffiExport asked) {
  AnyffiValue copy = anyffi_make_none();
  void* capsule = NULL;
  int status = asked.copy ? anyffi_tensor_copy(&tensor->tensor, tensor->flags, &copy) : 0;
  if (status == 0) {
    AnyffiObject* exported = asked.copy ? copy.as_object : &tensor->header;
    status = anyffi_tensor_to_capsule(exported, asked.legacy, &capsule);
  }
  anyffi_value_drop(&copy);
  if (status != 0) anyffi_py_raise_taken();
  return (PyObject*)capsule;
}

/// `__dlpack__`, in an eighth of the time of a Python function.
static PyObject* anyffi_py_tensor_dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  AnyffiObject* object = ((AnyffiWrapper*)self)->object;
  AnyffiExport asked = {1, 0};
  int is_plain = count == 0 && object != NULL && object->type_code == ANYFFI_TENSOR;
  for (Py_ssize_t i = 0; is_plain && names != NULL && i < PyTuple_GET_SIZE(names); ++i) {
    is_plain = anyffi_py_read_keyword((AnyffiTensor*)object, PyTuple_GET_ITEM(names, i), args[i], &asked);
  }
  if (!is_plain) return anyffi_py_export_by_rules(self, args, count, names);
  return anyffi_py_new_capsule((AnyffiTensor*)object, asked);
}

// ---- the class ------------------------------------------------------------------------------------------------------

static PyMethodDef anyffi_py_tensor_methods[] = {
    {"_anyffi_shape", anyffi_py_tensor_shape, METH_NOARGS, NULL},
    {"_anyffi_strides", anyffi_py_tensor_strides, METH_NOARGS, NULL},
    {"_anyffi_ndim", anyffi_py_tensor_ndim, METH_NOARGS, NULL},
    {"_anyffi_numel", anyffi_py_tensor_numel, METH_NOARGS, NULL},
    {"_anyffi_nbytes", anyffi_py_tensor_nbytes, METH_NOARGS, NULL},
    {"_anyffi_extent", anyffi_py_tensor_extent, METH_NOARGS, NULL},
    {"_anyffi_dtype", anyffi_py_tensor_dtype, METH_NOARGS, NULL},
    {"_anyffi_device", anyffi_py_tensor_device, METH_NOARGS, NULL},
    {"_anyffi_data_ptr", anyffi_py_tensor_data_ptr, METH_NOARGS, NULL},
    {"_anyffi_flags", anyffi_py_tensor_flags, METH_NOARGS, NULL},
    {"_anyffi_is_contiguous", anyffi_py_tensor_is_contiguous, METH_NOARGS, NULL},
    {"__dlpack__", (PyCFunction)(void (*)(void))anyffi_py_tensor_dlpack, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

/// Adds the methods to a class; the caller keeps the docstring of `__dlpack__` alive.
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
