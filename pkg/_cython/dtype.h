/// Data types and devices as Python objects, which the rules share.
///
/// Functions return a new reference or NULL, with an exception set.

#ifndef ANYFFI_DTYPE_H_
#define ANYFFI_DTYPE_H_

#include "state.h"

/// The one-lane data types and the devices for which the rules always return the same object.
#define ANYFFI_SHARED_CODES 18
#define ANYFFI_SHARED_DEVICES 32
#define ANYFFI_SHARED_INDICES 16

/// Objects returned before. Never released, like the rules' own references.
static PyObject* anyffi_py_dtypes[ANYFFI_SHARED_CODES][256];
static PyObject* anyffi_py_devices[ANYFFI_SHARED_DEVICES][ANYFFI_SHARED_INDICES];

/// Returns what the rules make of some ints, a tuple that is stolen, and keeps it in `place` unless that is NULL.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_share_made(PyObject* function, PyObject* ints, PyObject** place) {
  PyObject* made = ints == NULL ? NULL : PyObject_CallObject(function, ints);
  Py_XDECREF(ints);
  if (made != NULL && place != NULL && *place == NULL) {
    // Another thread stores the same object.
    Py_INCREF(made);
    __atomic_store_n(place, made, __ATOMIC_RELEASE);
  }
  return made;
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_new_dtype(AnyffiDataType type) {
  int is_shared = type.lanes == 1 && type.code < ANYFFI_SHARED_CODES;
  PyObject** place = is_shared ? &anyffi_py_dtypes[type.code][type.bits] : NULL;
  if (place == NULL || *place == NULL) {
    return anyffi_py_share_made(anyffi_state.share_dtype, Py_BuildValue("(iii)", type.code, type.bits, type.lanes),
                                place);
  }
  Py_INCREF(*place);
  return *place;
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_new_device(AnyffiDevice device) {
  int is_shared = (uint32_t)device.type < ANYFFI_SHARED_DEVICES && (uint32_t)device.index < ANYFFI_SHARED_INDICES;
  PyObject** place = is_shared ? &anyffi_py_devices[device.type][device.index] : NULL;
  if (place == NULL || *place == NULL) {
    return anyffi_py_share_made(anyffi_state.share_device, Py_BuildValue("(ii)", device.type, device.index), place);
  }
  Py_INCREF(*place);
  return *place;
}

#endif  // ANYFFI_DTYPE_H_
