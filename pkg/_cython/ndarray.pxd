"""NumPy's own arrays to tensors, read where NumPy keeps what they are.

This says the same as `_rules.arrays.lower_array`, much faster. NumPy's headers are not needed: what is known
here of its structs is put to the proof by the first array that comes through the rules.
"""

from libc.stdint cimport int64_t, uint64_t

from c_api cimport ANYFFI_kDLCPU, ANYFFI_TENSOR_READ_ONLY, AnyffiDataType, AnyffiTensorData, AnyffiValue
from memory cimport make_tensor
from python cimport PyObject, PyTypeObject, Py_INCREF, Py_TYPE
from wrapper cimport state

cdef extern from *:
    """
    /* How NumPy's objects begin, in all versions since 1.7. */
    typedef struct {
      PyObject_HEAD
      PyTypeObject* scalar_type;
      char kind, character, byte_order, former_flags;
      int number;
    } AnyffiNumPyDtype;

    typedef struct {
      PyObject_HEAD
      char* data;
      int ndim;
      Py_ssize_t* shape;
      Py_ssize_t* strides; /* in bytes */
      PyObject* base;
      AnyffiNumPyDtype* dtype;
      int flags;
    } AnyffiNumPyArray;

    /* NPY_ARRAY_WRITEABLE, and NPY_ARRAY_WARN_ON_WRITE, with which NumPy shows an array as read-only. */
    #define ANYFFI_NUMPY_ACCESS ((int)(0x0400u | 1u << 31))
    #define ANYFFI_NUMPY_WRITABLE 0x0400

    /* Data types by NumPy's numbers for its own; no bits for those that DLPack has not. */
    #define ANYFFI_NUMPY_INTS(type) \\
        {ANYFFI_kDLInt, 8 * sizeof(type), 1}, {ANYFFI_kDLUInt, 8 * sizeof(type), 1}
    static const AnyffiDataType anyffi_numpy_types[] = {
      {ANYFFI_kDLBool, 8, 1}, ANYFFI_NUMPY_INTS(char), ANYFFI_NUMPY_INTS(short), ANYFFI_NUMPY_INTS(int),
      ANYFFI_NUMPY_INTS(long), ANYFFI_NUMPY_INTS(long long), {ANYFFI_kDLFloat, 32, 1},
      {ANYFFI_kDLFloat, 64, 1}, {0, 0, 0}, {ANYFFI_kDLComplex, 64, 1}, {ANYFFI_kDLComplex, 128, 1},
      {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {ANYFFI_kDLFloat, 16, 1}
    };
    #define ANYFFI_NUMPY_TYPES ((int)(sizeof(anyffi_numpy_types) / sizeof(anyffi_numpy_types[0])))
    """
    ctypedef struct NumPyDtype "AnyffiNumPyDtype":
        char byte_order
        int number
    ctypedef struct NumPyArray "AnyffiNumPyArray":
        char* data
        int ndim
        Py_ssize_t* shape
        Py_ssize_t* strides
        NumPyDtype* dtype
        int flags
    int ACCESS "ANYFFI_NUMPY_ACCESS"
    int WRITABLE "ANYFFI_NUMPY_WRITABLE"
    int NUM_TYPES "ANYFFI_NUMPY_TYPES"
    const AnyffiDataType types "anyffi_numpy_types"[]
    int trailing_zeros "__builtin_ctz"(unsigned int) noexcept

cdef enum:
    MAX_AXES = 64  # of NumPy


cdef inline int pack_ndarray(PyObject* x, AnyffiValue* out) except -1:
    """Packs an array of exactly NumPy's class; 0 if only the rules know what it is."""
    cdef NumPyArray* array = <NumPyArray*>x
    cdef int64_t strides[MAX_AXES]
    cdef AnyffiTensorData data
    cdef int number = array.dtype.number
    cdef int shift, i
    if not 0 <= number < NUM_TYPES or types[number].bits == 0 or array.ndim > MAX_AXES:
        return 0
    # Of bytes of the machine's own order, or of one byte.
    if array.dtype.byte_order != c'=' and array.dtype.byte_order != c'|':
        return 0
    shift = trailing_zeros(types[number].bits >> 3)
    for i in range(array.ndim):
        if array.strides[i] & ((1 << shift) - 1):
            return 0
        strides[i] = array.strides[i] >> shift
    data.data = array.data
    data.device.type = ANYFFI_kDLCPU
    data.device.index = 0
    data.ndim = array.ndim
    data.dtype = types[number]
    data.shape = <int64_t*>array.shape
    data.strides = strides
    data.byte_offset = 0
    make_tensor(&data, 0 if array.flags & ACCESS == WRITABLE else ANYFFI_TENSOR_READ_ONLY, x, out)
    return 1


cdef inline int learn_ndarray(object x) except -1:
    """Compares an array of NumPy's class with what NumPy itself says of it."""
    cdef object cls = type(x)
    cdef NumPyArray* array = <NumPyArray*><PyObject*>x
    cdef object dtype
    cdef int i
    import sys

    if cls is not getattr(sys.modules.get("numpy"), "ndarray", None) or x.ndim == 0 or x.ndim > MAX_AXES:
        return 0
    dtype = x.dtype
    state.knows_ndarray = True
    if (
        sizeof(Py_ssize_t) == sizeof(int64_t)
        and cls.__basicsize__ >= <Py_ssize_t>sizeof(NumPyArray)
        and type(dtype).__basicsize__ >= <Py_ssize_t>sizeof(NumPyDtype)
        and <size_t>array.data == x.__array_interface__["data"][0]
        and array.ndim == x.ndim
        and <PyObject*>array.dtype == <PyObject*>dtype
        and array.dtype.number == dtype.num
        and array.dtype.byte_order == ord(dtype.byteorder)
        and array.flags == x.flags.num
        and tuple([array.shape[i] for i in range(array.ndim)]) == x.shape
        and tuple([array.strides[i] for i in range(array.ndim)]) == x.strides
    ):
        # Never given back, as the classes of wrappers are not.
        Py_INCREF(<PyObject*>cls)
        state.ndarray = <PyTypeObject*><PyObject*>cls
    return 0
