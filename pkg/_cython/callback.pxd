"""Calls from C++ into Python functions."""

from libc.stdint cimport int32_t

from c_api cimport (
    ANYFFI_HOST_DONE, AnyffiValue, anyffi_alloc, anyffi_error_create_host, anyffi_error_set_raised,
    anyffi_free,
)
from c_api cimport anyffi_make_none, anyffi_value_drop
from pack cimport pack_owned
from python cimport PY_VECTORCALL_ARGUMENTS_OFFSET, PyObject, PyObject_Vectorcall, Py_DECREF, Py_INCREF
from python cimport anyffi_py_fail
from unpack cimport unpack_copy
from wrapper cimport state

cdef enum:
    ON_STACK = 8

cdef extern from *:
    """
    /* What `with gil` does, which always takes the lock. */
    static inline int anyffi_call_locked(AnyffiCall call, void* handle, AnyffiValue* args, int32_t count,
                                         AnyffiValue* result) {
      int former = anyffi_py_lock();
      int status = call(handle, args, count, result);
      anyffi_py_unlock(former);
      return status;
    }
    """
    ctypedef int (*Locked)(void*, AnyffiValue*, int32_t, AnyffiValue*) noexcept
    int call_locked "anyffi_call_locked"(Locked, void*, AnyffiValue*, int32_t, AnyffiValue*) noexcept nogil

# `run`, as its caller sees it, which looks at exceptions itself.
ctypedef int (*Run)(PyObject*, AnyffiValue*, int32_t, AnyffiValue*) noexcept


cdef inline int run(PyObject* function, AnyffiValue* args, int32_t count, AnyffiValue* result) except -1:
    """Calls a Python function with borrowed values and packs what it returns as an owned value."""
    # The place before the first argument is the callee's to use; with it, methods need no copy.
    cdef PyObject* on_stack[ON_STACK + 1]
    cdef PyObject** values = on_stack
    cdef int32_t unpacked = 0
    cdef object value
    if count > ON_STACK:
        values = allocate_places(<Py_ssize_t>count + 1)
    try:
        while unpacked < count:
            value = unpack_copy(&args[unpacked])
            Py_INCREF(<PyObject*>value)
            unpacked += 1
            values[unpacked] = <PyObject*>value
        value = PyObject_Vectorcall(function, values + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
        return pack_owned(<PyObject*>value, result, NULL)
    finally:
        while unpacked > 0:
            Py_DECREF(values[unpacked])
            unpacked -= 1
        if values != on_stack:
            anyffi_free(values)


cdef inline PyObject** allocate_places(Py_ssize_t count) except NULL:
    cdef PyObject** values = <PyObject**>anyffi_alloc(count * sizeof(PyObject*))
    if values == NULL:
        raise MemoryError
    return values


cdef inline int leave_raised(object exception) noexcept:
    """Puts an exception, which carries its traceback, into the thread's error slot; always -1."""
    cdef AnyffiValue error
    Py_INCREF(<PyObject*>exception)
    # Takes the count over; where even that fails, its own MemoryError is in the slot.
    if anyffi_error_create_host(<void*>exception, &error) == 0:
        anyffi_error_set_raised(error.as_object)
        anyffi_value_drop(&error)
    return -1


cdef inline int leave_current() noexcept:
    """As `leave_raised`, with the exception that is being raised."""
    try:
        anyffi_py_fail()
    except BaseException as exception:
        return leave_raised(exception)
    return -1


cdef inline int run_or_leave(void* handle, AnyffiValue* args, int32_t count, AnyffiValue* result) noexcept:
    # The runtime marked it unset, to find out whether the callback got as far as here.
    result[0] = anyffi_make_none()
    # A `try` around the call would save and restore what is being handled, for every call.
    if (<Run>run)(<PyObject*>handle, args, count, result) == 0:
        return ANYFFI_HOST_DONE
    # Where packing failed half-way, the place holds what was given back already.
    result[0] = anyffi_make_none()
    return leave_current()


cdef inline int callback(void* handle, AnyffiValue* args, int32_t count,
                         AnyffiValue* result) noexcept nogil:
    """What the runtime calls, from any thread, for a function over a Python callable."""
    return call_locked(run_or_leave, handle, args, count, result)


cdef inline int checked_callback(void* handle, AnyffiValue* args, int32_t count,
                                 AnyffiValue* result) noexcept with gil:
    """What stands in the place of `callback` in check mode."""
    result[0] = anyffi_make_none()
    try:
        problem = (<object>state.check_callback)(<object>handle, <size_t>args, count, <size_t>result)
        if problem is None:
            return ANYFFI_HOST_DONE
    except BaseException as exception:
        problem = exception
    # A signal handler may have raised it when all was done.
    anyffi_value_drop(result)
    result[0] = anyffi_make_none()
    return leave_raised(problem)
