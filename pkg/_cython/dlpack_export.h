/// Exports our own class of tensors to compiled code of other libraries: DLPack's table of functions (DLPack 1.3).

#ifndef ANYFFI_DLPACK_EXPORT_H_
#define ANYFFI_DLPACK_EXPORT_H_

#include "errors.h"
#include "wrapper.h"

static AnyffiObject* anyffi_py_export_unwrap(void* wrapper) {
  return anyffi_py_is_wrapper((PyObject*)wrapper) ? ((AnyffiWrapper*)wrapper)->object : NULL;
}

static int anyffi_py_export_wrap(AnyffiObject* tensor, void** out) {
  int former = anyffi_py_lock();
  anyffi_retain(tensor);
  PyObject* made = anyffi_py_wrap(tensor);
  int status = made == NULL ? anyffi_py_leave_raised() : ANYFFI_HOST_DONE;
  if (made != NULL) *out = made;
  anyffi_py_unlock(former);
  return status;
}

static void anyffi_py_export_raise(void* exception_class, const char* message) {
  PyErr_SetString((PyObject*)exception_class, message);
}

/// Returns a capsule with the table, or None if it cannot be created.
static PyObject* anyffi_py_create_exchange(void) {
  const AnyffiExchangeApiHooks hooks = {anyffi_py_export_unwrap, anyffi_py_export_wrap, anyffi_py_export_raise,
                                        PyExc_BufferError};
  const void* table = anyffi_tensor_create_exchange_api(&hooks);
  if (table == NULL) Py_RETURN_NONE;
  return PyCapsule_New((void*)table, "dlpack_exchange_api", NULL);
}

#endif  // ANYFFI_DLPACK_EXPORT_H_
