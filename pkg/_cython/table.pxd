"""DLPack's table of functions for compiled code, which our own class of tensors offers (DLPack 1.3)."""

from c_api cimport (
    ANYFFI_HOST_DONE, AnyffiExchangeApiHooks, AnyffiObject, anyffi_retain, anyffi_tensor_create_exchange_api,
)
from callback cimport leave_raised
from python cimport PyObject, Py_INCREF
from wrapper cimport Wrapper, is_wrapper, wrap

cdef extern from *:
    """
    static void anyffi_raise(void* exception_class, const char* message) {
      PyErr_SetString((PyObject*)exception_class, message);
    }
    """
    void raise_in_python "anyffi_raise"(void*, const char*) noexcept
    object new_capsule "PyCapsule_New"(void* pointer, const char* name, void* destructor)


cdef inline AnyffiObject* unwrap_tensor(void* wrapper) noexcept:
    return (<Wrapper*>wrapper).object if is_wrapper(<PyObject*>wrapper) else NULL


cdef inline int wrap_tensor(AnyffiObject* tensor, void** out) noexcept with gil:
    try:
        anyffi_retain(tensor)
        made = wrap(tensor)
        Py_INCREF(<PyObject*>made)
        out[0] = <void*><PyObject*>made
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline object new_exchange():
    cdef AnyffiExchangeApiHooks hooks
    hooks.unwrap = unwrap_tensor
    hooks.wrap = wrap_tensor
    hooks.set_error = raise_in_python
    hooks.exception_class = <void*><PyObject*>BufferError
    cdef const void* table = anyffi_tensor_create_exchange_api(&hooks)
    return None if table == NULL else new_capsule(<void*>table, "dlpack_exchange_api", NULL)
