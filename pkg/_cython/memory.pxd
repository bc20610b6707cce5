"""Memory of Python's arrays to tensors."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from c_api cimport ANYFFI_kDLCPU, AnyffiTensorData, AnyffiValue, anyffi_tensor_create_host
from python cimport PyBytes_AS_STRING, PyObject, Py_INCREF
from unpack cimport raise_taken


cdef inline int pack_memory(tuple described, AnyffiValue* out) except -1:
    """Packs memory that the rules describe."""
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
    return make_tensor(&data, flags, <PyObject*>owner, out)


cdef inline int make_tensor(const AnyffiTensorData* data, uint64_t flags, PyObject* owner,
                            AnyffiValue* out) except -1:
    # The runtime takes the count over, also where it fails.
    Py_INCREF(owner)
    if anyffi_tensor_create_host(data, flags, owner, out) != 0:
        raise_taken()
    return 0
