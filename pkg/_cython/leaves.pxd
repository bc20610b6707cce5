"""Python values that hold no others, to 16 bytes. None of this runs Python code."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from c_api cimport (
    ANYFFI_BIG_INT, ANYFFI_COMPLEX, ANYFFI_DATA_TYPE, ANYFFI_DEVICE, ANYFFI_MISSING, ANYFFI_POINTER,
    AnyffiStrObject, AnyffiValue, anyffi_big_int_create, anyffi_bytes_create, anyffi_complex_create,
    anyffi_make_value, anyffi_make_int, anyffi_str_allocate,
)
from plain cimport (
    anyffi_py_read_int, anyffi_py_ready, encoding_of, pack_constant, pack_short_bytes, pack_short_str,
)
from python cimport (
    PyBytes_AS_STRING, PyBytes_Type, PyLong_Type, PyObject, PyTypeObject, PyUnicode_DATA,
    PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_Type, Py_SIZE, Py_TYPE,
)
from unpack cimport raise_taken


cdef inline int pack_leaf(PyObject* x, AnyffiValue* out) except -1:
    """Packs an exact int within 64 bits, str, float, None, bool, bytes or Ellipsis, owned; 0 for others."""
    cdef PyTypeObject* cls = Py_TYPE(x)
    if cls == &PyUnicode_Type:
        own_str(x, out)
        return 1
    if cls == &PyBytes_Type:
        own_bytes(x, out)
        return 1
    if cls == &PyLong_Type:
        return pack_int(x, out)
    return pack_constant(x, cls, out)


cdef inline bint pack_int(PyObject* x, AnyffiValue* out) noexcept:
    """Packs an exact int; false if it is outside of int64."""
    cdef int64_t number
    if anyffi_py_read_int(x, &number) != 0:
        return False
    out[0] = anyffi_make_int(number)
    return True


cdef inline int own_str(PyObject* x, AnyffiValue* out) except -1:
    anyffi_py_ready(x)
    if pack_short_str(x, out):
        return 0
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(x)
    if anyffi_str_allocate(length, encoding_of(x), out) != 0:
        raise_taken()
    memcpy(<void*>(<AnyffiStrObject*>out.as_object).data, PyUnicode_DATA(x), length * PyUnicode_KIND(x))
    return 0


cdef inline int own_bytes(PyObject* x, AnyffiValue* out) except -1:
    if not pack_short_bytes(x, out) and anyffi_bytes_create(PyBytes_AS_STRING(x), Py_SIZE(x), out) != 0:
        raise_taken()
    return 0


cdef inline int pack_uncommon_leaf(int32_t code, object payload, AnyffiValue* out) except -1:
    """Packs what the rules said of an uncommon value that holds no others, owned."""
    if code == ANYFFI_BIG_INT:
        own_big_int(payload[0], payload[1], out)
    elif code == ANYFFI_COMPLEX:
        if anyffi_complex_create(payload[0], payload[1], out) != 0:
            raise_taken()
    elif code == ANYFFI_POINTER:
        out[0] = anyffi_make_value(<uint32_t>code, <size_t>payload)
    elif code == ANYFFI_MISSING:
        out[0] = anyffi_make_value(<uint32_t>code, 0)
    elif code == ANYFFI_DATA_TYPE:
        out[0] = anyffi_make_value(<uint32_t>code, 0)
        out.as_data_type.code, out.as_data_type.bits, out.as_data_type.lanes = payload
    elif code == ANYFFI_DEVICE:
        out[0] = anyffi_make_value(<uint32_t>code, 0)
        out.as_device.type, out.as_device.index = payload
    else:
        pack_leaf(<PyObject*>payload, out)
    return 0


cdef inline int own_big_int(bytes magnitude, bint negative, AnyffiValue* out) except -1:
    cdef const uint64_t* words = <const uint64_t*>PyBytes_AS_STRING(<PyObject*>magnitude)
    if anyffi_big_int_create(words, Py_SIZE(<PyObject*>magnitude) // 8, negative, out) != 0:
        raise_taken()
    return 0
