"""The wrappers of objects and functions; a part of _core.pyx."""


@cython.auto_pickle(False)
cdef class ObjectCore:
    """Holds one strong reference to an object of the runtime."""

    # Must be the first: wrapper.h knows where it lies.
    cdef AnyffiObject* target
    cdef object __weakref__

    def __dealloc__(self):
        cdef AnyffiObject* target = self.target
        if target == NULL:
            return
        anyffi_object_compare_exchange_wrapper(target, <void*>self, NULL)
        # Giving the object back may run Python code, which must not find this wrapper through a weak
        # reference. Cython raised the count for this method; CPython clears only what has none.
        Py_SET_REFCNT(<PyObject*>self, 0)
        PyObject_ClearWeakRefs(<PyObject*>self)
        Py_SET_REFCNT(<PyObject*>self, 1)
        self.target = NULL
        anyffi_release(target)

    @property
    def _address(self):
        return <size_t>self.target

    @property
    def _type_code(self):
        return ANYFFI_NONE if self.target == NULL else self.target.type_code

    def _move_from(self, ObjectCore other not None):
        """Move the reference of `other`, a fresh wrapper, into this empty one."""
        cdef AnyffiObject* target = unwrap(<PyObject*>other)
        if self.target != NULL:
            raise TypeError(f"{type(self).__name__} was made already")
        self.target = target
        other.target = NULL
        anyffi_object_compare_exchange_wrapper(target, <void*>other, <void*>self)


@cython.auto_pickle(False)
@cython.no_gc_clear
cdef class FunctionCore(ObjectCore):
    """A function of the runtime."""

    # wrapper.h knows where these lie, too. Both are NULL at first, as `object.__new__` makes them.
    # Python calls through this pointer, where the class has said so, without making a tuple.
    cdef vectorcallfunc vectorcall
    # The names of the parameters, once a call with keywords has asked for them.
    cdef tuple parameters

    def __call__(self, *args, **kwargs):
        cdef tuple bound = args
        if kwargs:
            info = self._info()
            if _binding.is_overloaded(info):
                return self._call_overload(args, kwargs)
            bound = _binding.bind(info, args, kwargs)
        return call(<PyObject*>self, PySequence_Fast_ITEMS(<PyObject*>bound), Py_SIZE(<PyObject*>bound))

    def _move_from(self, ObjectCore other not None):
        ObjectCore._move_from(self, other)
        if isinstance(other, FunctionCore):
            (<FunctionCore>other).vectorcall = NULL
            Py_CLEAR((<FunctionWrapper*><PyObject*>other).parameters)

    def _info(self):
        return describe(unwrap_function(<PyObject*>self).info)


cdef object call_uncommonly(PyObject* function, PyObject** args, Py_ssize_t count, PyObject* names):
    """A call with keywords or many arguments, or of something that has a `__call__` or a type of its own."""
    cdef tuple parameters
    if Py_TYPE(function).tp_call != later.call_tuple:
        return call_slot(function, args, count, names)
    if names == NULL or Py_SIZE(names) == 0:
        return call(function, args, count)
    parameters = parameters_of(<FunctionCore>function)
    return call_with_keywords(function, <PyObject*>parameters, args, count, names)


cdef object call_tuple(PyObject* function, PyObject* args, PyObject* kwargs):
    """`tp_call`, which Python comes by first: from then on it calls through the pointer.

    So that what comes by the pointer holds a function.
    """
    unwrap_function(function)
    (<FunctionWrapper*>function).vectorcall = <vectorcallfunc>vectorcall
    return PyVectorcall_Call(function, args, kwargs)


cdef inline tuple parameters_of(FunctionCore function):
    """The names of a function's parameters, None where there is none."""
    cdef FunctionWrapper* wrapper = <FunctionWrapper*><PyObject*>function
    cdef tuple found
    if wrapper.parameters == NULL:
        info = function._info()
        found = tuple([name and sys.intern(name) for name, *_ in info[2]]) if info else ()
        # Another thread may have come first.
        if wrapper.parameters == NULL:
            wrapper.parameters = keep(found)
    return <tuple>wrapper.parameters


cdef int traverse_function(PyObject* function, visitproc visit, void* arg) noexcept:
    """Lets garbage collection see the callable that a function is over, while nobody else holds the function.

    So a callable that refers to its function is collected. Nothing needs to be cleared: a cycle goes through
    something that was changed to refer to the function.
    """
    cdef AnyffiObject* target = (<FunctionCore>function).target
    cdef void* handle
    if target != NULL and target.type_code == ANYFFI_FUNCTION:
        handle = anyffi_function_get_unique_handle(<AnyffiFunction*>target)
        if handle != NULL:
            return visit(<PyObject*>handle, arg)
    return 0


cdef object call_slot(PyObject* function, PyObject** args, Py_ssize_t count, PyObject* names):
    cdef tuple keywords = () if names == NULL else <tuple>names
    cdef tuple positional = tuple([<object>args[i] for i in range(count)])
    cdef dict named = {keywords[i]: <object>args[count + i] for i in range(len(keywords))}
    return Py_TYPE(function).tp_call(function, <PyObject*>positional, <PyObject*>named)


cdef int enable_vectorcall(type cls) except -1:
    """Lets a class be called without a tuple, unless it defines `__call__` itself.

    Before Python 3.12 the flag is not inherited.
    """
    cdef PyTypeObject* slots = <PyTypeObject*>cls
    for base in cls.__mro__:
        if "__call__" in base.__dict__:
            break
    if base is FunctionCore:
        slots.tp_vectorcall_offset = (<PyTypeObject*>FunctionCore).tp_vectorcall_offset
        slots.tp_call = call_tuple
        slots.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
        PyType_Modified(slots)
    return 0


def init_subclass(cls, **kwargs):
    super(FunctionCore, cls).__init_subclass__(**kwargs)
    enable_vectorcall(cls)
