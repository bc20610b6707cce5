"""CPython's C API on borrowed pointers, where Cython's own declarations would count references."""

cdef extern from "Python.h":
    ctypedef struct PyObject:
        pass
    ctypedef struct PyGetSetDef:
        pass
    ctypedef int (*visitproc)(PyObject*, void*)
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*)
    ctypedef struct PyMappingMethods:
        PyObject* (*mp_subscript)(PyObject*, PyObject*)
    ctypedef struct PyNumberMethods:
        PyObject* (*nb_and)(PyObject*, PyObject*)
    ctypedef struct PySequenceMethods:
        Py_ssize_t (*sq_length)(PyObject*)
    ctypedef struct PyTypeObject:
        const char* tp_name
        unsigned long tp_flags
        Py_ssize_t tp_vectorcall_offset
        PyObject* tp_dict
        object (*tp_call)(PyObject*, PyObject*, PyObject*)
        object (*tp_new)(PyTypeObject*, PyObject*, PyObject*)
        traverseproc tp_traverse
        PyObject* (*tp_iternext)(PyObject*)
        PyObject* (*tp_richcompare)(PyObject*, PyObject*, int)
        PyMappingMethods* tp_as_mapping
        PyNumberMethods* tp_as_number
        PySequenceMethods* tp_as_sequence
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*)
    ctypedef PyObject* (*binaryfunc)(PyObject*, PyObject*)
    ctypedef PyObject* (*PyCFunction)(PyObject*, PyObject*)

    enum:
        METH_NOARGS
        METH_O
        Py_EQ
        Py_GE
        Py_GT
        Py_LE
        Py_LT
        Py_NE

    PyTypeObject PyBaseObject_Type, PyDictProxy_Type, PyFunction_Type, PyListIter_Type, PyList_Type
    PyTypeObject PyLong_Type
    PyObject* Py_None
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL

    void* PyInterpreterState_Get()
    void* PyInterpreterState_Main()
    PyTypeObject* Py_TYPE(PyObject*)
    Py_ssize_t Py_SIZE(PyObject*)
    void Py_INCREF(PyObject*)
    void Py_CLEAR(PyObject*)
    void PyType_Modified(PyTypeObject*)
    object call_vector "PyVectorcall_Call"(PyObject*, PyObject*, PyObject*)
    char* PyBytes_AS_STRING(PyObject*)
    char* PyBytes_AsString(PyObject*) except NULL
    object PyBytes_FromStringAndSize(const char*, Py_ssize_t)
    PyObject** PySequence_Fast_ITEMS(PyObject*)
