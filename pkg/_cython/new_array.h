/// NumPy arrays on the memory of tensors.
///
/// This makes the same as `make_array` of the rules, much faster, in frequent cases: memory of the CPU and NumPy's own
/// element types. NumPy's headers are not needed: its table of functions is part of its ABI, where each function keeps
/// its index (https://numpy.org/doc/stable/reference/c-api/array.html).

#ifndef ANYFFI_NEW_ARRAY_H_
#define ANYFFI_NEW_ARRAY_H_

#include "ndarray.h"
#include "tensor.h"

/// The number of axes that every version of NumPy supports.
#define ANYFFI_NUMPY_LEAST_MAX_AXES 32

/// From NumPy's table of functions; all NULL until `anyffi_py_learn_numpy` has read it.
typedef struct {
  PyTypeObject* array_type;
  PyObject* (*descr_from_type)(int number);
  /// Steals `descr`. Without `strides` but with `data`: for row-major memory that the array does not own.
  PyObject* (*new_from_descr)(PyTypeObject* cls, PyObject* descr, int ndim, const Py_ssize_t* shape,
                              const Py_ssize_t* strides, void* data, int flags, PyObject* finalized);
  /// Steals `base`, also on failure.
  int (*set_base_object)(PyObject* array, PyObject* base);
} AnyffiNumPyFunctions;
static AnyffiNumPyFunctions anyffi_numpy;
/// Whether NumPy's table was looked up; it may be of an unknown version.
static int anyffi_numpy_was_asked;

/// Reads NumPy's table of functions. 0 if its version is not one that this code was written for, or its class of arrays
/// is not `cls`.
static int anyffi_py_read_numpy(PyObject* capsule, PyTypeObject* cls) {
  enum { kVersion = 0, kArrayType = 2, kDescrFromType = 45, kNewFromDescr = 94, kSetBaseObject = 282 };
  if (!PyCapsule_IsValid(capsule, NULL)) return 0;
  void** table = (void**)PyCapsule_GetPointer(capsule, NULL);
  unsigned version = ((unsigned (*)(void))table[kVersion])();
  if ((version != 0x01000009 && version != 0x02000000) || table[kArrayType] != cls) return 0;
  memcpy(&anyffi_numpy.descr_from_type, &table[kDescrFromType], sizeof(void*));
  memcpy(&anyffi_numpy.new_from_descr, &table[kNewFromDescr], sizeof(void*));
  memcpy(&anyffi_numpy.set_base_object, &table[kSetBaseObject], sizeof(void*));
  // Stored last: other threads call the functions once it is set.
  __atomic_store_n(&anyffi_numpy.array_type, cls, __ATOMIC_RELEASE);
  return 1;
}

/// NumPy's type number of a data type; -1 if it has none.
static inline int anyffi_py_numpy_number(AnyffiDataType type) {
  for (int number = 0; number < ANYFFI_NUMPY_TYPES; ++number) {
    AnyffiDataType known = anyffi_numpy_types[number];
    if (known.code == type.code && known.bits == type.bits && known.lanes == type.lanes) return number;
  }
  return -1;
}

/// Returns the base of an array, which keeps its memory alive: the wrapper or, if the tensor is not contiguous, a
/// memory view of it, as the rules have it.
static PyObject* anyffi_py_base_of_array(PyObject* wrapper, int is_contiguous) {
  if (!is_contiguous) return PyMemoryView_FromObject(wrapper);
  Py_INCREF(wrapper);
  return wrapper;
}

static PyObject* anyffi_py_call_numpy(const AnyffiTensorData* data, int number, const Py_ssize_t* strides, int flags,
                                      PyObject* wrapper) {
  PyObject* base = anyffi_py_base_of_array(wrapper, strides == NULL);
  PyObject* descr = base == NULL ? NULL : anyffi_numpy.descr_from_type(number);
  PyObject* array =
      descr == NULL ? NULL
                    : anyffi_numpy.new_from_descr(anyffi_numpy.array_type, descr, data->ndim, (Py_ssize_t*)data->shape,
                                                  strides, (char*)data->data + data->byte_offset, flags, NULL);
  if (array == NULL) {
    Py_XDECREF(base);
  } else if (anyffi_numpy.set_base_object(array, base) != 0) {
    Py_CLEAR(array);
  }
  return array;
}

/// Returns a new array on the memory of a tensor, which it keeps alive; NULL, without an exception, if only the rules
/// can make it.
static PyObject* anyffi_py_new_array_fast(PyObject* wrapper) {
  const AnyffiTensor* tensor = anyffi_py_unwrap_tensor(wrapper);
  if (tensor == NULL) return PyErr_Clear(), NULL;
  const AnyffiTensorData* data = &tensor->tensor;
  int number = anyffi_py_numpy_number(data->dtype),
      flags = tensor->flags & ANYFFI_TENSOR_READ_ONLY ? 0 : ANYFFI_NUMPY_WRITABLE;
  if (number < 0 || (tensor->flags & ~(uint64_t)ANYFFI_TENSOR_READ_ONLY) != 0 || data->device.type != ANYFFI_kDLCPU ||
      data->data == NULL || data->ndim > ANYFFI_NUMPY_LEAST_MAX_AXES) {
    return NULL;
  }
  int is_contiguous = anyffi_tensor_is_contiguous(data);
  Py_ssize_t strides[ANYFFI_NUMPY_LEAST_MAX_AXES];
  for (int i = 0; !is_contiguous && i < data->ndim; ++i) strides[i] = data->strides[i] * (data->dtype.bits / 8);
  PyObject* array = anyffi_py_call_numpy(data, number, is_contiguous ? NULL : strides, flags, wrapper);
  // The rules raise the error.
  if (array == NULL) PyErr_Clear();
  return array;
}

static PyObject* anyffi_py_new_array(PyObject* wrapper) {
  PyObject* array = anyffi_numpy.array_type == NULL ? NULL : anyffi_py_new_array_fast(wrapper);
  if (array != NULL) return array;
  array = PyObject_CallOneArg(anyffi_state.make_array, wrapper);
  if (array == NULL || anyffi_numpy_was_asked) return array;
  anyffi_numpy_was_asked = 1;
  if (anyffi_py_learn_numpy() < 0) Py_CLEAR(array);
  return array;
}

#endif  // ANYFFI_NEW_ARRAY_H_
