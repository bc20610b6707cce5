"""Python values that hold no others, to 16 bytes. None of this runs Python code."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from c_api cimport (
    ANYFFI_ASCII, ANYFFI_BIG_INT, ANYFFI_BOOL, ANYFFI_BYTES, ANYFFI_BYTES_VIEW, ANYFFI_COMPLEX,
    ANYFFI_DATA_TYPE, ANYFFI_DEVICE, ANYFFI_ELLIPSIS, ANYFFI_FLOAT, ANYFFI_IN_PLACE_BYTES, ANYFFI_LATIN1,
    ANYFFI_MISSING, ANYFFI_POINTER, ANYFFI_STR, ANYFFI_STR_VIEW, ANYFFI_UCS2, ANYFFI_UCS4,
    AnyffiStrObject, AnyffiValue, anyffi_big_int_create, anyffi_bytes_create, anyffi_complex_create,
    anyffi_from_words_inline, anyffi_in_place_inline, anyffi_int_inline, anyffi_none_inline,
    anyffi_str_allocate,
)
from python cimport (
    PyBool_Type, PyBytes_AS_STRING, PyBytes_Type, PyFloat_AS_DOUBLE, PyFloat_Type, PyLong_Type, PyObject,
    PyTypeObject, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_IS_ASCII, PyUnicode_KIND, PyUnicode_Type,
    Py_Ellipsis, Py_None, Py_SIZE, Py_TYPE, Py_True, anyffi_py_is_ready, anyffi_py_read_int,
    anyffi_py_read_short_int, anyffi_py_ready,
)
from unpack cimport raise_taken

cdef extern from *:
    """
    /* AnyffiTextKind of a str, which like ours is always of the narrowest width. */
    static inline int32_t anyffi_py_kind_of(PyObject* text) {
      int width = (int)PyUnicode_KIND(text);
      if (PyUnicode_IS_ASCII(text)) return ANYFFI_ASCII;
      return width == 1 ? ANYFFI_LATIN1 : width == 2 ? ANYFFI_UCS2 : ANYFFI_UCS4;
    }

    /* Packs an exact str that has its final storage, if it fits in place. In C, which can have it inlined
       everywhere: the loop that packs arguments needs no register saved while nothing is called in it. */
    __attribute__((always_inline)) static inline int anyffi_py_pack_short_str(PyObject* x, AnyffiValue* out) {
      Py_ssize_t length = PyUnicode_GET_LENGTH(x);
      Py_ssize_t size = length * (Py_ssize_t)PyUnicode_KIND(x);
      if (size > ANYFFI_IN_PLACE_BYTES) return 0;
      *out = anyffi_in_place_inline(ANYFFI_STR, anyffi_py_kind_of(x), PyUnicode_DATA(x), (uint32_t)size,
                                    (uint32_t)length);
      return 1;
    }
    """
    int32_t kind_of "anyffi_py_kind_of"(PyObject*) noexcept
    bint pack_short_str "anyffi_py_pack_short_str"(PyObject*, AnyffiValue*) noexcept

# Lengths of borrowed text and bytes have 30 bits, beside the two of the kind.
cdef enum:
    MAX_BORROWED = (1 << 30) - 1


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
    out[0] = anyffi_int_inline(number)
    return True


cdef inline bint pack_in_place(PyObject* x, AnyffiValue* out) noexcept:
    """Packs what lies in place and cannot fail: constants and short str; false for everything else."""
    cdef PyTypeObject* cls = Py_TYPE(x)
    if cls != &PyUnicode_Type:
        return pack_constant(x, cls, out)
    return anyffi_py_is_ready(x) and pack_short_str(x, out)


cdef inline bint pack_constant(PyObject* x, PyTypeObject* cls, AnyffiValue* out) noexcept:
    """The leaves that always lie in place, ints of 60 bits among them; false for everything else."""
    cdef int64_t number
    if cls == &PyLong_Type:
        if not anyffi_py_read_short_int(x, &number):
            return False
        out[0] = anyffi_int_inline(number)
    elif cls == &PyFloat_Type:
        out.type_code = ANYFFI_FLOAT
        out.aux = 0
        out.as_float = PyFloat_AS_DOUBLE(x)
    elif x == Py_None:
        out[0] = anyffi_none_inline()
    elif cls == &PyBool_Type:
        out[0] = anyffi_from_words_inline(<unsigned int>ANYFFI_BOOL, x == Py_True)
    elif x == Py_Ellipsis:
        out[0] = anyffi_from_words_inline(<unsigned int>ANYFFI_ELLIPSIS, 0)
    else:
        return False
    return True


cdef inline bint borrow_str(PyObject* x, AnyffiValue* out) noexcept:
    """Packs an exact str; false if it is too long to borrow, or has not got its final storage yet."""
    if not anyffi_py_is_ready(x):
        return False
    if pack_short_str(x, out):
        return True
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(x)
    if length > MAX_BORROWED:
        return False
    out.type_code = ANYFFI_STR_VIEW
    out.aux = length << 2 | kind_of(x)
    out.as_pointer = PyUnicode_DATA(x)
    return True


cdef inline int own_str(PyObject* x, AnyffiValue* out) except -1:
    anyffi_py_ready(x)
    if pack_short_str(x, out):
        return 0
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(x)
    if anyffi_str_allocate(length, kind_of(x), out) != 0:
        raise_taken()
    memcpy(<void*>(<AnyffiStrObject*>out.as_object).data, PyUnicode_DATA(x), length * PyUnicode_KIND(x))
    return 0


cdef inline bint borrow_bytes(PyObject* x, AnyffiValue* out) noexcept:
    """Packs exact bytes; false if they are too long to borrow."""
    cdef Py_ssize_t size = Py_SIZE(x)
    if size <= ANYFFI_IN_PLACE_BYTES:
        out[0] = anyffi_in_place_inline(ANYFFI_BYTES, ANYFFI_ASCII, PyBytes_AS_STRING(x), size, size)
    elif size <= MAX_BORROWED:
        out.type_code = ANYFFI_BYTES_VIEW
        out.aux = size << 2
        out.as_pointer = PyBytes_AS_STRING(x)
    else:
        return False
    return True


cdef inline int own_bytes(PyObject* x, AnyffiValue* out) except -1:
    cdef Py_ssize_t size = Py_SIZE(x)
    if size <= ANYFFI_IN_PLACE_BYTES:
        out[0] = anyffi_in_place_inline(ANYFFI_BYTES, ANYFFI_ASCII, PyBytes_AS_STRING(x), size, size)
    elif anyffi_bytes_create(PyBytes_AS_STRING(x), size, out) != 0:
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
        out[0] = anyffi_from_words_inline(<uint32_t>code, <size_t>payload)
    elif code == ANYFFI_MISSING:
        out[0] = anyffi_from_words_inline(<uint32_t>code, 0)
    elif code == ANYFFI_DATA_TYPE:
        out[0] = anyffi_from_words_inline(<uint32_t>code, 0)
        out.as_data_type.code, out.as_data_type.bits, out.as_data_type.lanes = payload
    elif code == ANYFFI_DEVICE:
        out[0] = anyffi_from_words_inline(<uint32_t>code, 0)
        out.as_device.type, out.as_device.index = payload
    else:
        pack_leaf(<PyObject*>payload, out)
    return 0


cdef inline int own_big_int(bytes magnitude, bint negative, AnyffiValue* out) except -1:
    cdef const uint64_t* words = <const uint64_t*>PyBytes_AS_STRING(<PyObject*>magnitude)
    if anyffi_big_int_create(words, Py_SIZE(<PyObject*>magnitude) // 8, negative, out) != 0:
        raise_taken()
    return 0
