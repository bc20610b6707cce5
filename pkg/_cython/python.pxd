"""CPython's C API on borrowed pointers.

Cython's own declarations take `object`, and count a reference wherever one is stored. On the way of a call
everything is held by the caller, so nothing needs counting.
"""

cdef extern from "Python.h":
    ctypedef struct PyObject:
        pass
    ctypedef int (*visitproc)(PyObject*, void*)
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*)
    ctypedef struct PyTypeObject:
        const char* tp_name
        unsigned long tp_flags
        Py_ssize_t tp_vectorcall_offset
        PyObject* tp_dict
        object (*tp_call)(PyObject*, PyObject*, PyObject*)
        object (*tp_new)(PyTypeObject*, PyObject*, PyObject*)
        traverseproc tp_traverse
    ctypedef struct PySliceObject:
        PyObject* start
        PyObject* stop
        PyObject* step
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*)

    PyTypeObject PyLong_Type, PyUnicode_Type, PyBytes_Type
    PyTypeObject PyFunction_Type, PyMethod_Type, PyCFunction_Type
    PyTypeObject PyBaseObject_Type, PyTuple_Type, PyList_Type, PyDict_Type, PySlice_Type
    PyObject* Py_None
    PyObject* Py_False
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL
    unsigned long Py_TPFLAGS_HEAPTYPE

    PyTypeObject* Py_TYPE(PyObject*)
    Py_ssize_t Py_REFCNT(PyObject*)
    void Py_SET_REFCNT(PyObject*, Py_ssize_t)
    void Py_CLEAR(PyObject*)
    Py_ssize_t Py_SIZE(PyObject*)
    void Py_INCREF(PyObject*)
    void Py_DECREF(PyObject*)
    bint PyObject_TypeCheck(PyObject*, PyTypeObject*)
    void PyType_Modified(PyTypeObject*)
    PyObject* _PyType_Lookup(PyTypeObject*, PyObject*)
    bint PyCapsule_IsValid(PyObject*, const char*)
    void* PyCapsule_GetPointer(PyObject*, const char*)
    void PyObject_ClearWeakRefs(PyObject*)

    Py_ssize_t PyUnicode_GET_LENGTH(PyObject*)
    int PyUnicode_KIND(PyObject*)
    void* PyUnicode_DATA(PyObject*)
    char* PyBytes_AS_STRING(PyObject*)
    char* PyBytes_AsString(PyObject*) except NULL
    PyObject** PySequence_Fast_ITEMS(PyObject*)
    bint PyDict_Next(PyObject*, Py_ssize_t*, PyObject**, PyObject**)

    object PyUnicode_New(Py_ssize_t, Py_UCS4)
    object PyUnicode_FromKindAndData(int, const void*, Py_ssize_t)
    object PyBytes_FromStringAndSize(const char*, Py_ssize_t)
    object PyList_AsTuple(PyObject*)
    object PyDict_Items(PyObject*)
    Py_ssize_t PyDict_Size(PyObject*)
    PyObject* PyDict_GetItemWithError(PyObject*, PyObject*)
    bint PySlice_Check(PyObject*)
    object PySlice_New(PyObject*, PyObject*, PyObject*)
    object PyFloat_FromDouble(double)

    object PyVectorcall_Call(PyObject*, PyObject*, PyObject*)
    object PyObject_Vectorcall(PyObject*, PyObject**, size_t, PyObject*)
    object PyObject_CallOneArg(PyObject*, PyObject*)
    size_t PY_VECTORCALL_ARGUMENTS_OFFSET

    ctypedef struct PyThreadState:
        pass
    PyThreadState* PyEval_SaveThread() nogil
    void PyEval_RestoreThread(PyThreadState*) nogil

    int PyErr_CheckSignals() except -1
    void PyErr_Clear()
    void PyErr_Restore(PyObject*, PyObject*, PyObject*)
    void PyErr_SetObject(PyObject*, PyObject*)
    bint PyExceptionInstance_Check(PyObject*)
    PyObject* PyException_GetTraceback(PyObject*)

cdef extern from *:
    """
    /* Takes the interpreter's lock. Where this thread has it, as in most callbacks, a look suffices, which
       takes half the time of PyGILState_Ensure and PyGILState_Release. */
    #define ANYFFI_PY_HELD 2
    static inline int anyffi_py_lock(void) {
    #if PY_VERSION_HEX >= 0x030D0000
      if (PyThreadState_GetUnchecked() != NULL) return ANYFFI_PY_HELD;
    #elif PY_VERSION_HEX >= 0x030C0000
      if (_PyThreadState_UncheckedGet() != NULL) return ANYFFI_PY_HELD;
    #else
      /* One for all threads: that of the thread which has the lock. */
      PyThreadState* holder = _PyThreadState_UncheckedGet();
      if (holder != NULL && holder == PyGILState_GetThisThreadState()) return ANYFFI_PY_HELD;
    #endif
      return (int)PyGILState_Ensure();
    }

    static inline void anyffi_py_unlock(int former) {
      if (former != ANYFFI_PY_HELD) PyGILState_Release((PyGILState_STATE)former);
    }

    /* Fails with the exception that is being raised. */
    #define anyffi_py_fail() (-1)

    /* An empty list with room for some items. Appending to it is little more than writing to memory; and
       unlike one of that size whose items come later, it may be met by code that runs meanwhile. */
    static inline PyObject* anyffi_py_reserve_list(Py_ssize_t capacity) {
      PyObject* list = PyList_New(capacity);
      if (list != NULL) Py_SET_SIZE((PyVarObject*)list, 0);
      return list;
    }

    static inline int anyffi_py_append(PyObject* list, PyObject* item) {
      Py_ssize_t size = Py_SIZE(list);
      if (size < ((PyListObject*)list)->allocated) {
        Py_INCREF(item);
        ((PyListObject*)list)->ob_item[size] = item;
        Py_SET_SIZE((PyVarObject*)list, size + 1);
        return 0;
      }
      return PyList_Append(list, item);
    }

    /* What a class has alone and only until it changes; 0 if the interpreter has given it none. */
    #if PY_VERSION_HEX < 0x030B0000
    #define anyffi_py_version(cls) \\
        (PyType_HasFeature(cls, Py_TPFLAGS_VALID_VERSION_TAG) ? (cls)->tp_version_tag : 0)
    #else
    #define anyffi_py_version(cls) ((cls)->tp_version_tag)
    #endif
    """
    int anyffi_py_lock() noexcept nogil
    void anyffi_py_unlock(int) noexcept nogil
    int anyffi_py_fail() except -1
    unsigned int anyffi_py_version(PyTypeObject*)
    object anyffi_py_reserve_list(Py_ssize_t)
    int anyffi_py_append(PyObject*, PyObject*) except -1
