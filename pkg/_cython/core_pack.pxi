"""Packing of values that the rules describe by tuples, and caches of array classes; a part of _core.pyx.

In Cython, which unpacks tuples and reads attributes of Python objects. shell.h declares these functions to C.
"""

cimport decisions

from types import FunctionType, MappingProxyType

cdef extern from "Python.h":
    object PyNumber_Index(object)

# NumPy's number of the first dtype that it does not define itself.
cdef int FIRST_OF_USERS = _dtype.FIRST_OF_USERS
# Whether NumPy's structs were compared, whatever the result was.
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


cdef dict decision_by_reader = {
    _decisions.SUBCLASSES[int]: decisions.INT,
    _decisions.SUBCLASSES[float]: decisions.FLOAT,
    _decisions.SUBCLASSES[complex]: decisions.COMPLEX,
    _decisions.SUBCLASSES[str]: decisions.STR,
    _decisions.SUBCLASSES[bytes]: decisions.BYTES,
    _decisions.SUBCLASSES[bytearray]: decisions.BYTEARRAY,
    _decisions.SUBCLASSES[tuple]: decisions.TUPLE,
    _decisions.SUBCLASSES[list]: decisions.LIST,
    _decisions.SUBCLASSES[dict]: decisions.DICT,
    _decisions.SUBCLASSES[MappingProxyType]: decisions.PROXY,
    _decisions.SUBCLASSES[set]: decisions.SET,
    _decisions.SUBCLASSES[frozenset]: decisions.FROZEN_SET,
    _decisions.lower_ndarray: decisions.NDARRAY,
    _decisions.lower_index: decisions.INDEX,
    _decisions.lower_class: decisions.CLASS,
    _decisions.lower_function: decisions.FUNCTION,
    _decisions.lower_error: decisions.ERROR,
    _decisions.lower_opaque: decisions.PY_OBJECT,
    _decisions.lower_value: decisions.VALUE,
    _decisions.lower_exported: decisions.EXPORTED,
    _decisions.lower_dtype: decisions.DATA_TYPE,
    _decisions.lower_foreign_dtype: decisions.DATA_TYPE,
    _decisions.lower_device: decisions.DEVICE,
    _decisions.lower_pointer: decisions.POINTER,
    _decisions.SUBCLASSES[memoryview]: decisions.MEMORY_VIEW,
}

# The functions of the rules that are cached with the decisions of classes.
cdef set readers = set()

# By kind and size of NumPy's dtype. Its float64 and complex128 are subclasses of builtins.
cdef dict numpy_decisions = {
    "b1": decisions.NUMPY_BOOL,
    "i1": decisions.NUMPY_INT8,
    "i2": decisions.NUMPY_INT16,
    "i4": decisions.NUMPY_INT32,
    "i8": decisions.NUMPY_INT64,
    "u1": decisions.NUMPY_UINT8,
    "u2": decisions.NUMPY_UINT16,
    "u4": decisions.NUMPY_UINT32,
    "u8": decisions.NUMPY_UINT64,
    "f2": decisions.NUMPY_FLOAT16,
    "f4": decisions.NUMPY_FLOAT32,
    "c8": decisions.NUMPY_COMPLEX64,
}


cdef int learn_decision "anyffi_py_learn_decision"(PyObject* x) except -1:
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef unsigned int version
    cdef uint64_t token
    cdef int decision
    # The look-up makes the interpreter assign a version.
    look_up(cls, <PyObject*>exchange_name)
    version = version_of(cls)
    # If deciding calls a metaclass, nothing is cached: `lower` decides for each value.
    if version == 0 or not _decisions.is_hashed_plainly(<object>cls):
        return decisions.LOWERED
    token = decisions.registration_token()
    read, depends = _decisions.decide(<object>cls)
    decision = decision_of(read, <object>cls)
    if decision == decisions.NDARRAY and state.ndarray == NULL:
        made = sys.modules["numpy"].zeros(1)
        learn_ndarray(<PyObject*>made)
        if state.ndarray == NULL:
            decision = decisions.LOWERED
    if decision == decisions.POINTER:
        state.pointer_value = getter_of(<PyObject*>sys.modules["ctypes"].c_void_p.value)
        if state.pointer_value == NULL:
            decision = decisions.LOWERED
    # Deciding may run code of abstract classes, which may change this one.
    if version_of(cls) == version and (token != 0 or depends == _decisions.ON_CLASS):
        readers.add(read)
        decisions.remember_decision(
            cls, version, decision, depends == _decisions.ON_REGISTRATION, token, <PyObject*>read
        )
    return decision


cdef int learn_class "anyffi_py_learn_class"(PyObject* cls) except -1:
    cdef PyTypeObject* key = decisions.key_of_class(cls)
    cdef unsigned int version
    if _dtype.find_dtype(<object>cls) is not None:
        return 0
    look_up(<PyTypeObject*>cls, <PyObject*>exchange_name)
    version = version_of(<PyTypeObject*>cls)
    if version != 0:
        decisions.remember_decision(key, version, decisions.FUNCTION, False, 0, NULL)
    return 1


cdef object call_index "anyffi_py_call_index"(PyObject* x):
    cdef object raised
    try:
        return PyNumber_Index(<object>x)
    except BaseException as error:
        # Raised after the handler: in it, Cython releases NULL if there is no memory for a traceback.
        raised = error
    _decisions.raise_again(raised)


cdef object call_value "anyffi_py_call_value"(PyObject* x):
    cdef object cls = <object>Py_TYPE(x)
    cdef PyObject* found = find_attribute_of(Py_TYPE(x), <PyObject*>value_name)
    cdef object hook, made, raised = None
    if found == NULL:
        return _decisions.value_of(<object>x, _rules.MAX_DEPTH, <object>x)
    hook = <object>found
    drop_found(found)
    try:
        made = hook(<object>x) if type(hook) is FunctionType else _decisions.bind(hook, <object>x)()
    except BaseException as error:
        raised = error
    if raised is not None:
        _decisions.raise_again(raised)
    if look_up(Py_TYPE(<PyObject*>made), <PyObject*>value_name) == NULL:
        return made
    return _decisions.value_of(made, _rules.MAX_DEPTH - 1, <object>x)


cdef object call_export "anyffi_py_call_export"(PyObject* x):
    cdef PyObject* found = find_attribute_of(Py_TYPE(x), <PyObject*>dlpack_name)
    cdef object raised
    if found == NULL:
        return _decisions.lower_exported(<object>x)[1]
    hook = <object>found
    drop_found(found)
    try:
        if type(hook) is FunctionType:
            return hook(<object>x, max_version=_arrays.DLPACK_VERSION)
        return _arrays.lower_exporter(<object>x, _decisions.bind(hook, <object>x))[1]
    except BaseException as error:
        raised = error
    if type(hook) is not FunctionType or not isinstance(raised, TypeError):
        _decisions.raise_again(raised)
    try:
        # Older than DLPack's versions.
        return hook(<object>x)
    except BaseException as error:
        raised = error
    _decisions.raise_again(raised)


cdef int learn_data_type "anyffi_py_learn_data_type"(PyObject* x, AnyffiDataType found) except -1:
    if _dtype.is_kept(<object>x):
        remember_data_type(x, found)
    return 0


cdef int decision_of(object read, object cls) except -1:
    """The number of a decision of the rules."""
    if read not in _decisions.NUMPY_READERS:
        return decision_by_reader.get(read, decisions.LOWERED)
    dtype = sys.modules["numpy"].dtype(cls)
    # A subclass may lay out its instances differently.
    if dtype.type is not cls:
        return decisions.LOWERED
    return numpy_decisions.get(f"{dtype.kind}{dtype.itemsize}", decisions.LOWERED)


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


cdef bint are_sizes(const Py_ssize_t* sizes, tuple expected) except -1:
    cdef Py_ssize_t i
    for i in range(len(expected)):
        if sizes[i] != expected[i]:
            return False
    return True


cdef int learn_ndarray "anyffi_py_learn_ndarray"(PyObject* x) except -1:
    """Compares an array of NumPy's class with its Python-level attributes."""
    global knows_ndarray
    cdef object array = <object>x
    cdef object cls = type(array)
    cdef NumPyArray* read = <NumPyArray*>x
    cdef object dtype
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
        and are_sizes(read.shape, array.shape)
        and are_sizes(read.strides, array.strides)
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
    remember_exporter(&learned)
    return 0


cdef AnyffiObject* unwrap_other "anyffi_py_unwrap_other"(PyObject* wrapper) except NULL:
    cdef AnyffiObject* found = <AnyffiObject*><size_t>(<object>wrapper)._anyffi_address
    if found == NULL:
        raise (<object>state.empty_wrapper)(<object>wrapper)
    return found
