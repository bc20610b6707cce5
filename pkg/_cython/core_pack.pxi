"""Packing of values that the rules describe by tuples, and caches of array classes; a part of _core.pyx.

In Cython, which unpacks tuples and reads attributes of Python objects. shell.h declares these functions to C.
"""

cimport kinds

# NumPy's number of the first dtype that it does not define itself.
cdef int FIRST_OF_USERS = _dtype.FIRST_OF_USERS
# Whether NumPy's structs were compared, with whatever result.
cdef bint knows_ndarray = False


cdef int pack_described "anyffi_py_pack_described"(
    int32_t code, PyObject* payload, AnyffiValue* out
) except -1:
    cdef object found = <object>payload
    if code == ANYFFI_TENSOR_VIEW:
        pack_memory(found, out)
    elif code == ANYFFI_BIG_INT:
        pack_big_int(found[0], found[1], out)
    elif code == ANYFFI_COMPLEX:
        if anyffi_complex_create(found[0], found[1], out) != 0:
            raise_taken()
    elif code == ANYFFI_POINTER:
        out[0] = anyffi_make_value(<uint32_t>code, <size_t>found)
    elif code == ANYFFI_MISSING:
        out[0] = anyffi_make_value(<uint32_t>code, 0)
    elif code == ANYFFI_DATA_TYPE:
        out[0] = anyffi_make_value(<uint32_t>code, 0)
        out.as_data_type.code, out.as_data_type.bits, out.as_data_type.lanes = found
    elif code == ANYFFI_DEVICE:
        out[0] = anyffi_make_value(<uint32_t>code, 0)
        out.as_device.type, out.as_device.index = found
    else:
        pack_scalar(payload, out)
    return 0


# ---- classes -----------------------------------------------------------------------------------------------


cdef dict kind_by_reader = {
    _decisions.SUBCLASSES[int]: kinds.INT,
    _decisions.SUBCLASSES[float]: kinds.FLOAT,
    _decisions.SUBCLASSES[complex]: kinds.COMPLEX,
    _decisions.SUBCLASSES[str]: kinds.STR,
    _decisions.SUBCLASSES[bytes]: kinds.BYTES,
    _decisions.SUBCLASSES[bytearray]: kinds.BYTEARRAY,
    _decisions.SUBCLASSES[tuple]: kinds.TUPLE,
    _decisions.SUBCLASSES[list]: kinds.LIST,
    _decisions.SUBCLASSES[dict]: kinds.DICT,
    _decisions.SUBCLASSES[set]: kinds.SET,
    _decisions.SUBCLASSES[frozenset]: kinds.FROZEN_SET,
    _decisions.lower_ndarray: kinds.NDARRAY,
    _decisions.lower_function: kinds.FUNCTION,
    _decisions.lower_error: kinds.ERROR,
    _decisions.lower_opaque: kinds.PY_OBJECT,
}

# By kind and size of NumPy's dtype. Its float64 and complex128 are subclasses of builtins.
cdef dict numpy_kinds = {
    "b1": kinds.NUMPY_BOOL,
    "i1": kinds.NUMPY_INT8,
    "i2": kinds.NUMPY_INT16,
    "i4": kinds.NUMPY_INT32,
    "i8": kinds.NUMPY_INT64,
    "u1": kinds.NUMPY_UINT8,
    "u2": kinds.NUMPY_UINT16,
    "u4": kinds.NUMPY_UINT32,
    "u8": kinds.NUMPY_UINT64,
    "f2": kinds.NUMPY_FLOAT16,
    "f4": kinds.NUMPY_FLOAT32,
    "c8": kinds.NUMPY_COMPLEX64,
}


cdef int learn_kind "anyffi_py_learn_kind"(PyObject* x) except -1:
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef unsigned int version
    cdef uint64_t token
    cdef int kind
    # The look-up makes the interpreter assign a version.
    look_up(cls, <PyObject*>exchange_name)
    version = version_of(cls)
    # Where deciding calls a metaclass, `lower` does so, once for each value.
    if version == 0 or not _decisions.is_hashed_plainly(<object>cls):
        return kinds.LOWERED
    token = kinds.registration_token()
    read, depends = _decisions.decide(<object>cls)
    kind = kind_of(read, <object>cls)
    if kind == kinds.NDARRAY and state.ndarray == NULL:
        # Not yet: the first array of NumPy's own class makes it known.
        return kinds.LOWERED
    # Deciding may run code of abstract classes, which may change this one.
    if version_of(cls) == version and (token != 0 or depends == _decisions.ON_CLASS):
        kinds.remember_kind(cls, version, kind, depends == _decisions.ON_REGISTRATION, token)
    return kind


cdef int kind_of(object read, object cls) except -1:
    """The kind for a decision of the rules."""
    if read not in _decisions.NUMPY_READERS:
        return kind_by_reader.get(read, kinds.LOWERED)
    dtype = sys.modules["numpy"].dtype(cls)
    # A subclass may lay out its instances differently.
    if dtype.type is not cls:
        return kinds.LOWERED
    return numpy_kinds.get(f"{dtype.kind}{dtype.itemsize}", kinds.LOWERED)


# ---- values that the rules describe ------------------------------------------------------------------------


cdef int pack_big_int(bytes magnitude, bint negative, AnyffiValue* out) except -1:
    cdef const uint64_t* words = <const uint64_t*>PyBytes_AS_STRING(<PyObject*>magnitude)
    if anyffi_big_int_create(words, len(magnitude) // 8, negative, out) != 0:
        raise_taken()
    return 0


cdef int pack_memory(tuple described, AnyffiValue* out) except -1:
    """Packs memory on the CPU that an object holds."""
    cdef AnyffiTensorData data
    cdef uint64_t flags
    cdef bytes extents
    address, dtype, ndim, extents, flags, owner = described
    memset(&data, 0, sizeof(data))
    data.data = <void*><size_t>address
    data.device.type = ANYFFI_kDLCPU
    data.ndim = ndim
    data.dtype.code, data.dtype.bits, data.dtype.lanes = dtype
    data.shape = <int64_t*>PyBytes_AS_STRING(<PyObject*>extents)
    data.strides = data.shape + data.ndim
    create_tensor(&data, flags, <PyObject*>owner, out)
    if Py_TYPE(<PyObject*>owner) == state.ndarray and state.ndarray != NULL:
        learn_foreign_dtype(owner, data.dtype, flags)
    return 0


cdef int learn_foreign_dtype(object array, AnyffiDataType element, uint64_t flags) except -1:
    """Remembers a dtype of another library, whose elements have a power of two as their size."""
    cdef object dtype = array.dtype
    cdef int64_t size = dtype.itemsize
    if dtype.num >= FIRST_OF_USERS and size > 0 and not size & (size - 1):
        learn_dtype(<PyObject*>dtype, element, flags & ANYFFI_TENSOR_PADDED, size)
    return 0


cdef int learn_ndarray "anyffi_py_learn_ndarray"(PyObject* x) except -1:
    """Compares an array of NumPy's class with its Python-level attributes."""
    global knows_ndarray
    cdef object array = <object>x
    cdef object cls = type(array)
    cdef NumPyArray* read = <NumPyArray*>x
    cdef object dtype
    cdef int i
    if knows_ndarray or cls is not getattr(sys.modules.get("numpy"), "ndarray", None):
        return 0
    if array.ndim == 0 or array.ndim > MAX_AXES:
        return 0
    dtype = array.dtype
    knows_ndarray = True
    if (
        sizeof(Py_ssize_t) == sizeof(int64_t)
        and cls.__basicsize__ >= <Py_ssize_t>sizeof(NumPyArray)
        and type(dtype).__basicsize__ >= <Py_ssize_t>sizeof(NumPyDtype)
        and <size_t>read.data == array.__array_interface__["data"][0]
        and read.ndim == array.ndim
        and <PyObject*>read.dtype == <PyObject*>dtype
        and read.dtype.number == dtype.num
        and read.dtype.byte_order == ord(dtype.byteorder)
        and read.flags == array.flags.num
        and tuple([read.shape[i] for i in range(read.ndim)]) == array.shape
        and tuple([read.strides[i] for i in range(read.ndim)]) == array.strides
    ):
        state.ndarray = <PyTypeObject*>keep(cls)
    return 0


cdef int learn_exporter "anyffi_py_learn_exporter"(PyObject* x) except -1:
    """Looks for the table of functions of a class whose `__dlpack__` the rules have called."""
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef Exporter learned
    # In check mode both marshallers call `__dlpack__`. The look-up makes the interpreter assign a version.
    if check_callback is not None or look_up(cls, <PyObject*>exchange_name) == NULL:
        return 0
    learned.cls = cls
    learned.version = version_of(cls)
    learned.requires_grad = NULL
    capsule, hidden = _rules.find_exchange(<object>cls)
    if learned.version == 0 or not learn_table(&learned, <PyObject*>capsule):
        return 0
    if hidden is not None and not learn_hidden(&learned, <PyObject*>hidden[0], <PyObject*>hidden[1],
                                               <PyObject*>hidden[2]):
        return 0
    exporter_of(cls)[0] = learned
    return 0


cdef AnyffiObject* unwrap_other "anyffi_py_unwrap_other"(PyObject* wrapper) except NULL:
    cdef AnyffiObject* found = <AnyffiObject*><size_t>(<object>wrapper)._address
    if found == NULL:
        raise (<object>state.empty_wrapper)(<object>wrapper)
    return found
