"""What the runtime asks of Python, through hooks that it is given once."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from c_api cimport ANYFFI_HOST_DONE, AnyffiHost, AnyffiValue, anyffi_host_install
from callback cimport leave_raised
from pack cimport pack_owned
from python cimport PyErr_CheckSignals, PyEval_RestoreThread, PyEval_SaveThread, PyObject, PyThreadState
from python cimport Py_DECREF, anyffi_py_lock, anyffi_py_unlock
from unpack cimport unpack_copy
from wrapper cimport state


cdef inline int32_t lock() noexcept nogil:
    return anyffi_py_lock()


cdef inline void unlock(int32_t former) noexcept nogil:
    anyffi_py_unlock(former)


cdef inline void* suspend() noexcept nogil:
    return PyEval_SaveThread()


cdef inline void resume(void* suspended) noexcept nogil:
    PyEval_RestoreThread(<PyThreadState*>suspended)


cdef inline void handle_release(void* handle) noexcept:
    Py_DECREF(<PyObject*>handle)


cdef inline int handle_hash(void* handle, int64_t* out) noexcept with gil:
    try:
        out[0] = hash(<object>handle)
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline int handle_equal(void* handle, const AnyffiValue* other, int32_t* out) noexcept with gil:
    try:
        out[0] = bool(<object>handle == unpack_copy(other))
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline int checked_hash(void* handle, int64_t* out) noexcept with gil:
    """What stands in the place of `handle_hash` in check mode."""
    try:
        out[0] = (<object>state.hash_of)(<object>handle)
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline int checked_equal(void* handle, const AnyffiValue* other, int32_t* out) noexcept with gil:
    """What stands in the place of `handle_equal` in check mode."""
    try:
        out[0] = (<object>state.equals)(<object>handle, unpack_copy(other))
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline int handle_repr(void* handle, AnyffiValue* out) noexcept with gil:
    try:
        text = repr(<object>handle)
        pack_owned(<PyObject*>text, out, NULL)
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline int handle_type_name(void* handle, AnyffiValue* out) noexcept with gil:
    try:
        name = type(<object>handle).__name__
        pack_owned(<PyObject*>name, out, NULL)
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline int error_fill(void* handle, AnyffiValue* kind, AnyffiValue* message,
                           AnyffiValue* traceback) noexcept with gil:
    try:
        texts = (<object>state.fill_error)(<object>handle)
        pack_owned(<PyObject*>texts[0], kind, NULL)
        pack_owned(<PyObject*>texts[1], message, NULL)
        pack_owned(<PyObject*>texts[2], traceback, NULL)
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef inline int check_signals() noexcept with gil:
    try:
        PyErr_CheckSignals()
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_raised(exception)


cdef extern from *:
    """
    /* The interpreter's own functions under the types of the hooks. */
    static void* anyffi_capsule_new(void* pointer, const char* name, void (*destructor)(void*)) {
      return PyCapsule_New(pointer, name, (PyCapsule_Destructor)destructor);
    }
    static int anyffi_capsule_is_valid(void* capsule, const char* name) {
      return PyCapsule_IsValid((PyObject*)capsule, name);
    }
    static void* anyffi_capsule_get_pointer(void* capsule, const char* name) {
      return PyCapsule_GetPointer((PyObject*)capsule, name);
    }
    static int anyffi_capsule_set_name(void* capsule, const char* name) {
      return PyCapsule_SetName((PyObject*)capsule, name);
    }
    """
    void* capsule_new "anyffi_capsule_new"(void*, const char*, void (*)(void*) noexcept) noexcept
    int capsule_is_valid "anyffi_capsule_is_valid"(void*, const char*) noexcept
    void* capsule_get_pointer "anyffi_capsule_get_pointer"(void*, const char*) noexcept
    int capsule_set_name "anyffi_capsule_set_name"(void*, const char*) noexcept


cdef inline void install_host(uint32_t flags) noexcept:
    cdef AnyffiHost hooks
    hooks.struct_size = sizeof(AnyffiHost)
    hooks.flags = flags
    hooks.lock = lock
    hooks.unlock = unlock
    hooks.suspend = suspend
    hooks.resume = resume
    hooks.handle_release = handle_release
    hooks.handle_hash = handle_hash if state.hash_of == NULL else checked_hash
    hooks.handle_equal = handle_equal if state.equals == NULL else checked_equal
    hooks.handle_repr = handle_repr
    hooks.handle_type_name = handle_type_name
    hooks.error_fill = error_fill
    hooks.check_signals = check_signals
    hooks.capsule_new = capsule_new
    hooks.capsule_is_valid = capsule_is_valid
    hooks.capsule_get_pointer = capsule_get_pointer
    hooks.capsule_set_name = capsule_set_name
    anyffi_host_install(&hooks)
