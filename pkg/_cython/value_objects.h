/// Packs data types, devices, pointers and memory views, read from their storage.
///
/// Functions return 1, 0 if only the rules can read the object, which also raise the errors, -1 with an exception.

#ifndef ANYFFI_VALUE_OBJECTS_H_
#define ANYFFI_VALUE_OBJECTS_H_

#include "sections.h"
#include "unpack.h"

/// A cache, by address, of data types of anyffi and of NumPy, and NumPy's scalar classes, which are never freed.
typedef struct {
  PyObject* object;
  AnyffiDataType type;
} AnyffiKnownDataType;

#define ANYFFI_KNOWN_DATA_TYPES 256
static AnyffiKnownDataType anyffi_known_data_types[ANYFFI_KNOWN_DATA_TYPES];

static inline AnyffiKnownDataType* anyffi_py_place_of_data_type(PyObject* x) {
  uint64_t spread = ((uint64_t)(uintptr_t)x >> 4) * (uint64_t)0x9E3779B97F4A7C15;
  return &anyffi_known_data_types[(spread >> 40) % ANYFFI_KNOWN_DATA_TYPES];
}

/// Caches a data type, replacing another one in the same slot.
static void anyffi_py_remember_data_type(PyObject* x, AnyffiDataType type) {
#ifdef Py_GIL_DISABLED
  // A used slot is not replaced, because other threads may be reading it.
  static AnyffiSpinLock lock;
  AnyffiKnownDataType* place = anyffi_py_place_of_data_type(x);
  anyffi_py_take_lock(&lock);
  if (place->object == NULL) {
    place->type = type;
    __atomic_store_n(&place->object, x, __ATOMIC_RELEASE);
  }
  anyffi_py_drop_lock(&lock);
#else
  *anyffi_py_place_of_data_type(x) = (AnyffiKnownDataType){x, type};
#endif
}

static inline int anyffi_py_pack_data_type(PyObject* x, AnyffiValue* out) {
  const AnyffiKnownDataType* known = anyffi_py_place_of_data_type(x);
  if (__atomic_load_n(&known->object, __ATOMIC_ACQUIRE) != x) return 0;
  *out = anyffi_make_value((uint32_t)ANYFFI_DATA_TYPE, 0);
  out->as_data_type = known->type;
  return 1;
}

/// The layout of `Device`, whose only slot is `_pair`; `_core.pyx` checks it at import.
typedef struct {
  PyObject_HEAD PyObject* pair; /* NULL before `__init__`; type and index are ints in range */
} AnyffiDeviceObject;

static int anyffi_py_pack_device(PyObject* x, AnyffiValue* out) {
  PyObject* pair = ((AnyffiDeviceObject*)x)->pair;
  if (pair == NULL || !PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return 0;
  *out = anyffi_make_value((uint32_t)ANYFFI_DEVICE, 0);
  out->as_device.type = (int32_t)PyLong_AsLong(PyTuple_GET_ITEM(pair, 0));
  out->as_device.index = (int32_t)PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
  return 1;
}

/// Packs a `ctypes.c_void_p`.
static int anyffi_py_pack_pointer(PyObject* x, AnyffiValue* out) {
  PyObject* address = anyffi_state.pointer_value->get(x, anyffi_state.pointer_value->closure);
  if (address == NULL) return -1;
  void* read = address == Py_None ? NULL : PyLong_AsVoidPtr(address);
  Py_DECREF(address);
  *out = anyffi_make_value((uint32_t)ANYFFI_POINTER, (uint64_t)(uintptr_t)read);
  return 1;
}

/// Packs the bytes of a contiguous memory view.
static int anyffi_py_pack_memory_view(PyObject* x, AnyffiValue* out) {
  Py_buffer view;
  if (PyObject_GetBuffer(x, &view, PyBUF_CONTIG_RO) < 0) {
    PyErr_Clear();
    return 0;
  }
  int status = anyffi_bytes_create(view.buf, view.len, out);
  PyBuffer_Release(&view);
  return status != 0 ? anyffi_py_raise_taken() : 1;
}

#endif  // ANYFFI_VALUE_OBJECTS_H_
