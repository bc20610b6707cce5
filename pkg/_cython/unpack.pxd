"""16 bytes to Python values."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from c_api cimport (
    ANYFFI_ARRAY, ANYFFI_ASCII, ANYFFI_BIG_INT, ANYFFI_BOOL, ANYFFI_BOX, ANYFFI_BYTES,
    ANYFFI_BYTES_OBJECT, ANYFFI_BYTES_VIEW, ANYFFI_COMPLEX, ANYFFI_DATA_TYPE, ANYFFI_DEVICE,
    ANYFFI_ELLIPSIS, ANYFFI_ERROR, ANYFFI_FLOAT, ANYFFI_FUNCTION, ANYFFI_INLINE_BYTES, ANYFFI_INT,
    ANYFFI_LATIN1, ANYFFI_NONE, ANYFFI_POINTER, ANYFFI_PY_OBJECT, ANYFFI_SLICE, ANYFFI_STR,
    ANYFFI_STR_OBJECT, ANYFFI_STR_VIEW, ANYFFI_TENSOR_VIEW, AnyffiBigInt, AnyffiBox, AnyffiComplex,
    AnyffiError, AnyffiFunction, AnyffiObject, AnyffiPyObject, AnyffiSlice, AnyffiTextView, AnyffiValue,
    anyffi_error_take_raised, anyffi_encoding_shift, anyffi_release, anyffi_view_text,
    anyffi_value_own, anyffi_value_retain,
)
from plain cimport new_int
from python cimport (
    PyBytes_FromStringAndSize, PyDict_GetItemWithError, PyErr_Restore, PyErr_SetObject,
    PyExceptionInstance_Check, PyException_GetTraceback, PyFloat_FromDouble,
    PyObject, PyObject_CallOneArg, PySlice_New, PyTypeObject, PyUnicode_DATA, PyUnicode_FromKindAndData,
    PyUnicode_New, Py_INCREF, Py_TPFLAGS_HEAPTYPE, Py_TYPE,
)
from wrapper cimport state, wrap


cdef inline object unpack(AnyffiValue* value):
    """The Python value of an owned value, which is given back, also on failure."""
    cdef int32_t code = value.type_code
    if code == ANYFFI_NONE:
        return None
    if code == ANYFFI_INT:
        return new_int(value.as_int)
    if code > 0:
        return unpack_object(value)
    return unpack_inline(value)


cdef inline object unpack_copy(const AnyffiValue* value):
    """The Python value of a borrowed value."""
    # Making a Python object may run code that changes the container in which the value lies.
    cdef AnyffiValue held = value[0]
    anyffi_value_retain(&held)
    return unpack(&held)


cdef inline object unpack_inline(AnyffiValue* value):
    cdef int32_t code = value.type_code
    if code == ANYFFI_FLOAT:
        return PyFloat_FromDouble(value.as_float)
    if code == ANYFFI_BOOL:
        return value.as_int != 0
    if code == ANYFFI_STR or code == ANYFFI_STR_VIEW:
        return unpack_str(value)
    if code == ANYFFI_BYTES or code == ANYFFI_BYTES_VIEW:
        return unpack_bytes(value)
    if code == ANYFFI_ELLIPSIS:
        return ...
    if code == ANYFFI_TENSOR_VIEW:
        return unpack_tensor_view(value)
    return lift(code, value)


cdef inline object lift(int32_t code, AnyffiValue* value):
    cdef object payload = None
    if code == ANYFFI_POINTER:
        payload = <size_t>value.as_pointer
    elif code == ANYFFI_DATA_TYPE:
        payload = (value.as_data_type.code, value.as_data_type.bits, value.as_data_type.lanes)
    elif code == ANYFFI_DEVICE:
        payload = (value.as_device.type, value.as_device.index)
    return (<object>state.lift)(code, payload)


cdef inline bint is_latin_character(const AnyffiValue* value) noexcept:
    """Whether a value is a string of one code point below 256, in place, which is then its `aux`.

    The interpreter has one object for each of these; `state` has them at hand.
    """
    cdef uint64_t kind_and_length = <uint64_t>value.as_int >> 56
    return (value.type_code == ANYFFI_STR and value.aux < 256
            and kind_and_length & ~(<uint64_t>ANYFFI_LATIN1 << 4) == ANYFFI_INLINE_BYTES - 1)


cdef inline object unpack_str(const AnyffiValue* value):
    cdef AnyffiTextView text
    cdef object made
    anyffi_view_text(value, &text)
    if text.encoding == ANYFFI_ASCII and text.length > 1:
        made = PyUnicode_New(text.length, 127)
        memcpy(PyUnicode_DATA(<PyObject*>made), text.data, text.length)
        return made
    # Narrows what C code made too wide, and knows the interpreter's own strings of one character.
    return PyUnicode_FromKindAndData(1 << anyffi_encoding_shift(text.encoding), text.data, text.length)


cdef inline object unpack_bytes(const AnyffiValue* value):
    cdef AnyffiTextView text
    anyffi_view_text(value, &text)
    return PyBytes_FromStringAndSize(<const char*>text.data, text.length)


cdef inline object unpack_tensor_view(AnyffiValue* value):
    cdef AnyffiValue owned
    if anyffi_value_own(value, &owned) != 0:
        raise_taken()
    return unpack_object(&owned)


cdef inline object unpack_object(AnyffiValue* value):
    """Takes over the value's reference, also on failure."""
    cdef AnyffiObject* target = value.as_object
    cdef int32_t code = target.type_code
    if code >= ANYFFI_ARRAY:
        return wrap(target)
    if code == ANYFFI_FUNCTION and (<AnyffiFunction*>target).handle == NULL:
        return wrap(target)
    try:
        if code == ANYFFI_STR_OBJECT:
            return unpack_str(value)
        if code == ANYFFI_BYTES_OBJECT:
            return unpack_bytes(value)
        if code == ANYFFI_PY_OBJECT:
            return <object>(<AnyffiPyObject*>target).handle
        if code == ANYFFI_FUNCTION:
            return <object>(<AnyffiFunction*>target).handle
        if code == ANYFFI_BIG_INT:
            return unpack_big_int(<AnyffiBigInt*>target)
        if code == ANYFFI_COMPLEX:
            return unpack_complex(<AnyffiComplex*>target)
        if code == ANYFFI_SLICE:
            return unpack_slice(<AnyffiSlice*>target)
        if code == ANYFFI_ERROR:
            return unpack_error(<AnyffiError*>target)
        if code == ANYFFI_BOX:
            return unpack_copy(&(<AnyffiBox*>target).value)
        # Others have a wrapper, which keeps a reference of its own.
        anyffi_value_retain(value)
        return wrap(target)
    finally:
        anyffi_release(target)


cdef inline object unpack_big_int(AnyffiBigInt* number):
    cdef object magnitude = PyBytes_FromStringAndSize(<const char*>number.words, 8 * number.size)
    return (<object>state.lift)(ANYFFI_BIG_INT, (magnitude, number.negative))


cdef inline object unpack_complex(AnyffiComplex* number):
    return (<object>state.lift)(ANYFFI_COMPLEX, (number.real, number.imag))


cdef inline object unpack_slice(AnyffiSlice* parts):
    cdef object start = unpack_copy(&parts.start)
    cdef object stop = unpack_copy(&parts.stop)
    cdef object step = unpack_copy(&parts.step)
    return PySlice_New(<PyObject*>start, <PyObject*>stop, <PyObject*>step)


cdef inline object unpack_error(AnyffiError* error):
    """The exception itself where it came from Python, else one that stands for the error."""
    if error.handle != NULL:
        return <object>error.handle
    cdef object kind = unpack_copy(&error.kind)
    cdef object message = unpack_copy(&error.message)
    cdef object made
    if error.args.type_code == ANYFFI_NONE and error.cause.type_code == ANYFFI_NONE:
        made = make_builtin(kind, message)
        if made is not None:
            return made
    args = unpack_copy(&error.args)
    args = None if args is None else tuple(args)
    return (<object>state.make_error)(kind, message, args, unpack_copy(&error.cause))


cdef inline object make_builtin(object kind, object message):
    """An exception of a class that the interpreter itself has; None for other kinds, or if the class refuses.

    What `make_error` would make, without the fifth of the time of an error that C++ returns which Python
    code takes. No code of users runs here.
    """
    cdef PyObject* cls
    cdef object made
    if state.class_of_kind == NULL:
        return None
    cls = PyDict_GetItemWithError(state.class_of_kind, <PyObject*>kind)
    if cls == NULL or (<PyTypeObject*>cls).tp_flags & Py_TPFLAGS_HEAPTYPE:
        return None
    try:
        made = PyObject_CallOneArg(cls, <PyObject*>message)
    except Exception:
        return None
    return made if PyExceptionInstance_Check(<PyObject*>made) else None


cdef inline int raise_taken() except -1:
    """Raises the error that a function of the C ABI left."""
    cdef AnyffiValue error
    anyffi_error_take_raised(&error)
    cdef bint from_python = error.type_code == ANYFFI_ERROR and (<AnyffiError*>error.as_object).handle != NULL
    cdef object exception = unpack(&error)
    if not isinstance(exception, BaseException):
        exception = (<object>state.unexplained)()
    cdef PyObject* cls = <PyObject*>Py_TYPE(<PyObject*>exception)
    if from_python:
        # It has been raised before: its traceback and context are to stay as they are.
        Py_INCREF(cls)
        Py_INCREF(<PyObject*>exception)
        PyErr_Restore(cls, <PyObject*>exception, PyException_GetTraceback(<PyObject*>exception))
    else:
        # `raise` would add a frame of this function to the traceback, for a tenth of the time of it all.
        PyErr_SetObject(cls, <PyObject*>exception)
    return -1
