"""Public functions in C, as methods of the API; a part of _core.pyx."""


@cython.auto_pickle(False)
@cython.final
cdef class PublicFunction:
    """A function of `_api` whose frequent calls are made in C; its attributes are those of that function."""

    # AnyffiPublicFunction in public.h.
    cdef vectorcallfunc vectorcall
    cdef object shared

    def __call__(self, *args, **kwargs):
        return self.shared(*args, **kwargs)

    def __get__(self, api, owner):
        return self if api is None else MethodType(self, api)

    def __getattr__(self, name):
        return getattr(self.shared, name)

    @property
    def __wrapped__(self):
        return self.shared

    @property
    def __doc__(self):
        return self.shared.__doc__

    @property
    def __module__(self):
        return self.shared.__module__


cdef dict compile_functions(object shared):
    cdef const PublicRow* row = public_functions
    cdef PublicFunction function
    compiled = {}
    while row.name != NULL:
        key = row.name.decode()
        function = PublicFunction.__new__(PublicFunction)
        function.vectorcall = row.call
        function.shared = getattr(shared, key)
        compiled[key] = function
        row += 1
    return compiled


cdef int set_public_slots() except -1:
    cdef PyTypeObject* slots = <PyTypeObject*>PublicFunction
    cdef PublicFunction example = PublicFunction.__new__(PublicFunction)
    cdef PublicFunctionLayout* layout = <PublicFunctionLayout*><PyObject*>example
    if &layout.vectorcall != &example.vectorcall or layout.shared != Py_None:
        raise SystemError("PublicFunction is not laid out as public.h says")
    slots.tp_vectorcall_offset = <char*>&layout.vectorcall - <char*>layout
    slots.tp_call = call_vector
    slots.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
    PyType_Modified(slots)
    return 0
