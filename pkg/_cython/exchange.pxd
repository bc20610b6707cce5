"""Arrays of libraries that offer DLPack's table of functions to compiled code (DLPack 1.2 and later).

For memory that lies on the CPU it gives what `__dlpack__` gives, several times as fast; everything else,
errors among it, is left to `__dlpack__`, which also orders what devices have been told to do.
"""

from c_api cimport (
    ANYFFI_kDLCPU, ANYFFI_kDLComplex, AnyffiManagedTensor, AnyffiValue, anyffi_tensor_from_dlpack_host,
)
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
      /* What tensors of PyTorch are to be asked, by the functions behind the attributes, which takes half the
         time of the attributes; all NULL for other classes. */
      PyGetSetDef* requires_grad;
      PyCFunction is_conj, is_neg;
    } AnyffiExchange;
    static AnyffiExchange anyffi_exchanges[8];

    /* Whether an answer is anything but False. It is given back; errors are cleared. */
    static inline int anyffi_py_is_other_than_false(PyObject* answer) {
      if (answer == NULL) PyErr_Clear();
      else Py_DECREF(answer);
      return answer != Py_False;
    }

    static int anyffi_requires_grad(const AnyffiExchange* known, PyObject* x) {
      if (known->requires_grad == NULL) return 0;
      return anyffi_py_is_other_than_false(known->requires_grad->get(x, known->requires_grad->closure));
    }

    /* Asked of the element type too: only complex numbers have conjugates. */
    static int anyffi_is_hidden(const AnyffiExchange* known, PyObject* x, int is_complex) {
      if (known->requires_grad == NULL) return 0;
      if (is_complex && anyffi_py_is_other_than_false(known->is_conj(x, NULL))) return 1;
      return anyffi_py_is_other_than_false(known->is_neg(x, NULL));
    }

    static int anyffi_learn_hidden(AnyffiExchange* known, PyObject* requires_grad, PyObject* is_conj,
                                   PyObject* is_neg) {
      if (Py_TYPE(requires_grad) != &PyGetSetDescr_Type || Py_TYPE(is_conj) != &PyMethodDescr_Type ||
          Py_TYPE(is_neg) != &PyMethodDescr_Type) {
        return 0;
      }
      if (!PyType_IsSubtype(known->cls, PyDescr_TYPE(requires_grad)) ||
          !PyType_IsSubtype(known->cls, PyDescr_TYPE(is_conj)) ||
          !PyType_IsSubtype(known->cls, PyDescr_TYPE(is_neg))) {
        return 0; /* of another class, whose functions would take an instance for one of theirs */
      }
      PyMethodDef* conj = ((PyMethodDescrObject*)is_conj)->d_method;
      PyMethodDef* neg = ((PyMethodDescrObject*)is_neg)->d_method;
      if (conj->ml_flags != METH_NOARGS || neg->ml_flags != METH_NOARGS) return 0;
      known->requires_grad = ((PyGetSetDescrObject*)requires_grad)->d_getset;
      known->is_conj = conj->ml_meth;
      known->is_neg = neg->ml_meth;
      return known->requires_grad->get != NULL;
    }
    """
    ctypedef struct Table "AnyffiExchangeTable":
        unsigned int major
        Table* former
        int (*export_object)(void*, AnyffiManagedTensor**) noexcept
    ctypedef struct Exchange "AnyffiExchange":
        PyTypeObject* cls
        unsigned int version
        Table* table
        void* requires_grad
    Exchange[8] exchanges "anyffi_exchanges"
    bint requires_grad "anyffi_requires_grad"(const Exchange*, PyObject*) noexcept
    bint is_hidden "anyffi_is_hidden"(const Exchange*, PyObject*, bint) noexcept
    bint learn_hidden "anyffi_learn_hidden"(Exchange*, PyObject*, PyObject*, PyObject*) noexcept


cdef inline Exchange* place_of(PyTypeObject* cls) noexcept:
    return &exchanges[(<size_t>cls >> 6) % 8]


cdef inline int pack_exchanged(PyObject* x, AnyffiValue* out) except -1:
    """Packs an array whose class was learned; 0 if that is left to the rules."""
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef Exchange* place = place_of(cls)
    if place.cls != cls or place.version != anyffi_py_version(cls):
        return 0
    return export(place[0], x, out)


cdef inline int export(Exchange known, PyObject* x, AnyffiValue* out) except -1:
    # `known` is a copy: PyTorch lets other threads run, which may learn another class in its place.
    cdef AnyffiManagedTensor* managed = NULL
    if requires_grad(&known, x):
        return 0
    if known.table.export_object(x, &managed) != 0 or managed == NULL:
        PyErr_Clear()
        return 0
    if (managed.tensor.device.type != ANYFFI_kDLCPU
            or is_hidden(&known, x, managed.tensor.dtype.code == ANYFFI_kDLComplex)):
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
    cdef Exchange learned
    cdef unsigned int version
    # In check mode both marshallers are to be told the same. The lookup gives the class a version.
    if state.hash_of != NULL or _PyType_Lookup(cls, state.exchange_name) == NULL:
        return 0
    version = anyffi_py_version(cls)
    capsule, hidden = (<object>state.find_exchange)(<object>cls)
    if version == 0 or not PyCapsule_IsValid(<PyObject*>capsule, "dlpack_exchange_api"):
        return 0
    table = <Table*>PyCapsule_GetPointer(<PyObject*>capsule, "dlpack_exchange_api")
    while table != NULL and table.major != 1:
        table = table.former
    if table == NULL or table.export_object == NULL:
        return 0
    learned.cls = cls
    learned.version = version
    learned.table = table
    learned.requires_grad = NULL
    if hidden is not None and not learn_hidden(&learned, <PyObject*>hidden[0], <PyObject*>hidden[1],
                                               <PyObject*>hidden[2]):
        return 0
    known[0] = learned
    return 0
