"""Arrays of libraries that offer DLPack's table of functions to compiled code (DLPack 1.2 and later).

For memory that lies on the CPU it gives what `__dlpack__` gives, several times as fast; everything else,
errors among it, is left to `__dlpack__`, which also orders what devices have been told to do.
"""

from c_api cimport ANYFFI_kDLCPU, AnyffiManagedTensor, AnyffiValue, anyffi_tensor_from_dlpack_host
from python cimport (
    PyCapsule_GetPointer, PyCapsule_IsValid, PyErr_Clear, PyObject, PyTypeObject, Py_TYPE, _PyType_Lookup,
    anyffi_py_version,
)
from unpack cimport raise_taken
from wrapper cimport state

cdef extern from *:
    """
    /* DLPackExchangeAPI. */
    typedef struct AnyffiExchangeTable {
      uint32_t major, minor;
      struct AnyffiExchangeTable* former;  /* of an older major version, or NULL */
      void* allocate;
      int (*export_object)(void* object, AnyffiManagedTensor** out); /* or -1, with an exception set */
    } AnyffiExchangeTable;

    /* What was learned of a class. The class is known by its address and by the version that the interpreter
       gives it, anew whenever it changes; none has two versions, so that nothing here keeps it alive. */
    typedef struct {
      PyTypeObject* cls;
      unsigned int version;
      AnyffiExchangeTable* table;
      PyObject* says_more;        /* what is to be asked before the table, or NULL */
    } AnyffiExchange;
    static AnyffiExchange anyffi_exchanges[8];
    """
    ctypedef struct Table "AnyffiExchangeTable":
        unsigned int major
        Table* former
        int (*export_object)(void*, AnyffiManagedTensor**) noexcept
    ctypedef struct Exchange "AnyffiExchange":
        PyTypeObject* cls
        unsigned int version
        Table* table
        PyObject* says_more
    Exchange[8] exchanges "anyffi_exchanges"


cdef inline Exchange* place_of(PyTypeObject* cls) noexcept:
    return &exchanges[(<size_t>cls >> 6) % 8]


cdef inline int pack_exchanged(PyObject* x, AnyffiValue* out) except -1:
    """Packs an array whose class was learned; 0 if that is left to the rules."""
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef Exchange* known = place_of(cls)
    cdef AnyffiManagedTensor* managed = NULL
    if known.cls != cls or known.version != anyffi_py_version(cls):
        return 0
    if known.says_more != NULL and (<object>known.says_more)(<object>x):
        return 0
    if known.table.export_object(x, &managed) != 0 or managed == NULL:
        PyErr_Clear()
        return 0
    if managed.tensor.device.type != ANYFFI_kDLCPU:
        if managed.deleter != NULL:
            managed.deleter(managed)
        return 0
    if anyffi_tensor_from_dlpack_host(managed, out) != 0:
        raise_taken()
    return 1


cdef inline int learn_exchange(PyTypeObject* cls) except -1:
    """Looks for the table of a class whose `__dlpack__` the rules have called."""
    cdef Exchange* known = place_of(cls)
    cdef Table* table
    cdef unsigned int version
    # In check mode both marshallers are to be told the same. The lookup gives the class a version.
    if state.hash_of != NULL or _PyType_Lookup(cls, state.exchange_name) == NULL:
        return 0
    version = anyffi_py_version(cls)
    capsule, says_more = (<object>state.find_exchange)(<object>cls)
    if version == 0 or not PyCapsule_IsValid(<PyObject*>capsule, "dlpack_exchange_api"):
        return 0
    table = <Table*>PyCapsule_GetPointer(<PyObject*>capsule, "dlpack_exchange_api")
    while table != NULL and table.major != 1:
        table = table.former
    if table == NULL or table.export_object == NULL:
        return 0
    known.cls = cls
    known.version = version
    known.table = table
    # A function of the rules, which lives for ever.
    known.says_more = NULL if says_more is None else <PyObject*>says_more
    return 0
