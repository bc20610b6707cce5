"""The wrappers of objects and functions; a part of _core.pyx."""


@cython.auto_pickle(False)
cdef class ObjectCore:
    """Owns one strong reference to an object of the runtime."""

    # Must be the first: AnyffiWrapper in wrapper.h.
    cdef AnyffiObject* target
    cdef object __weakref__

    def __dealloc__(self):
        # Weak references were cleared: releasing may run Python code, which must not find this wrapper.
        if self.target != NULL:
            unname_wrapper(self.target, <PyObject*>self)
            anyffi_release(self.target)

    def __hash__(self):
        # By identity of the object: its wrapper may be made again.
        return <Py_hash_t>((<size_t><PyObject*>self if self.target == NULL else <size_t>self.target) >> 4)

    @property
    def _anyffi_address(self):
        return <size_t>self.target

    @property
    def _anyffi_type_code(self):
        return ANYFFI_NONE if self.target == NULL else self.target.type_code

    def _anyffi_move_from(self, ObjectCore other not None):
        """Move the reference of `other`, a fresh wrapper, into this empty one."""
        unwrap(<PyObject*>other)
        if self.target != NULL:
            raise TypeError(f"{type(self).__name__} is already initialized")
        move_object(<PyObject*>other, <PyObject*>self)

    def _anyffi_release(self):
        """Release the object, and leave the wrapper empty."""
        cdef AnyffiObject* target = self.target
        if target == NULL:
            return
        self.target = NULL
        anyffi_object_compare_exchange_wrapper(target, <void*>self, NULL)
        anyffi_release(target)


@cython.auto_pickle(False)
@cython.no_gc_clear
cdef class FunctionCore(ObjectCore):
    """A function of the runtime."""

    # AnyffiFunctionWrapper in wrapper.h. Both are NULL at first, as `object.__new__` makes them.
    # Python calls through this pointer, without making a tuple, if the class has the vectorcall flag.
    cdef vectorcallfunc vectorcall
    # The names of the parameters, of an overloaded function one tuple for each overload, once a call with
    # keywords has asked for them.
    cdef tuple parameters

    def __call__(self, *args, **kwargs):
        cdef tuple names = tuple(kwargs)
        cdef tuple values = args + tuple(kwargs.values()) if kwargs else args
        cdef PyObject** items = PySequence_Fast_ITEMS(<PyObject*>values)
        return call_named(<PyObject*>self, items, len(args), <PyObject*>names)

    def __get__(self, instance, owner):
        return self

    def _anyffi_move_from(self, ObjectCore other not None):
        ObjectCore._anyffi_move_from(self, other)
        if isinstance(other, FunctionCore):
            (<FunctionCore>other).vectorcall = NULL
            Py_CLEAR((<FunctionWrapper*><PyObject*>other).parameters)

    def _anyffi_info(self):
        """Return a description of the function, as `keywords.Info` has it, or None."""
        cdef const AnyffiFunctionInfo* info = unwrap_function(<PyObject*>self).info
        if info == NULL:
            return None
        # Not a comprehension: if memory is exhausted, Cython's code releases an item twice.
        params = []
        for i in range(info.num_params):
            params.append(describe_parameter(&info.params[i]))
        return (
            text_or_none(info.name), text_or_none(info.doc), tuple(params), info.num_required, info.flags,
            text_or_none(info.result_type), info.num_keyword_only if info.flags & ANYFFI_KEYWORD_ONLY else 0,
        )


cdef object function_name(object self, PyObject* unused):
    cdef const AnyffiFunctionInfo* info = unwrap_function(<PyObject*>self).info
    return text_or_none(info.name) if info != NULL and info.name != NULL and info.name[0] else "function"


cdef object function_doc(object self, PyObject* unused):
    cdef const AnyffiFunctionInfo* info = unwrap_function(<PyObject*>self).info
    if info == NULL:
        return None
    return ... if info.flags & ANYFFI_OVERLOADED else text_or_none(info.doc)


cdef int set_up_functions() except -1:
    # A method without keywords reads a name in a tenth less time. The method for the name has no
    # docstring, which the property would have.
    cdef PyTypeObject* cls = <PyTypeObject*>FunctionCore
    add_method(cls, "_anyffi_name", <PyCFunction>function_name, METH_NOARGS, NULL)
    add_method(
        cls, "_anyffi_doc", <PyCFunction>function_doc, METH_NOARGS,
        "Return the documentation or None; Ellipsis if it is made of that of the overloads.",
    )
    return 0


cdef object describe_parameter(const AnyffiParamInfo* param):
    has_default = param.default_value != NULL
    default = unpack_copy(param.default_value) if has_default else None
    return text_or_none(param.name), has_default, default, text_or_none(param.type_name)


cdef object text_or_none(const char* utf8):
    # Docstrings come from C++ authors; one in another encoding must not make the function unusable.
    return None if utf8 == NULL else utf8[:].decode("utf-8", "backslashreplace")


@cython.auto_pickle(False)
@cython.final
cdef class FieldGetter:
    """Reads or writes a field of an object: the getter or setter of a property."""

    # AnyffiFieldGetter in attributes.h.
    cdef vectorcallfunc vectorcall
    cdef bytes name
    cdef object slow
    cdef const AnyffiFieldInfo* field
    cdef int32_t type_code
    cdef int32_t is_in_place

    def __call__(self, *args, **kwargs):
        return self.slow(*args, **kwargs)


# ---- slow paths of calls, which shell.h declares -----------------------------------------------------------


cdef object call_slot "anyffi_py_call_slot"(
    PyObject* function, PyObject* const* args, Py_ssize_t count, PyObject* names
):
    positional, named = split_arguments(args, count, names)
    return Py_TYPE(function).tp_call(function, <PyObject*>positional, <PyObject*>named)


cdef object call_bound "anyffi_py_call_bound"(
    PyObject* function, PyObject* const* args, Py_ssize_t count, PyObject* names
):
    cdef tuple bound
    positional, named = split_arguments(args, count, names)
    info = (<object>function)._anyffi_info()
    if _binding.is_overloaded(info):
        # Called here and not by Python: an observer has seen the call.
        selected = (<object>function)._anyffi_select(positional, named)
        bound = (*positional, *named.values())
    else:
        selected = <object>function
        bound = _binding.bind(info, positional, named)
    return call(unwrap_function(<PyObject*>selected), PySequence_Fast_ITEMS(<PyObject*>bound), len(bound))


cdef tuple split_arguments(PyObject* const* args, Py_ssize_t count, PyObject* names):
    """The arguments of a vectorcall as a tuple and a dict."""
    cdef tuple keywords = () if names == NULL else <tuple>names
    cdef tuple positional = tuple([<object>args[i] for i in range(count)])
    cdef dict named = {keywords[i]: <object>args[count + i] for i in range(len(keywords))}
    return positional, named


cdef int learn_parameters "anyffi_py_learn_parameters"(PyObject* function) except -1:
    cdef FunctionWrapper* wrapper = <FunctionWrapper*>function
    cdef const AnyffiFunctionInfo* info = unwrap_function(function).info
    cdef const AnyffiOverload* overload
    cdef object found = names_of(info)
    if info != NULL and info.flags & ANYFFI_OVERLOADED:
        overloads = []
        overload = info.overloads
        while overload != NULL:
            names = names_of((<AnyffiFunction*>overload.function).info)
            # Overloads with equal names share the tuple, so that calls compare it once.
            overloads.append(overloads[-1] if overloads and overloads[-1] == names else names)
            overload = overload.next
        found = tuple(overloads)
    # Another thread may have set it meanwhile.
    if wrapper.parameters == NULL:
        wrapper.parameters = keep(found)
    return 0


cdef tuple names_of(const AnyffiFunctionInfo* info):
    """The names of parameters, interned; None for one that has none."""
    cdef int32_t i
    if info == NULL:
        return ()
    cdef list names = []
    for i in range(info.num_params):
        name = text_or_none(info.params[i].name)
        names.append(name and sys.intern(name))
    return tuple(names)


# ---- slots that Cython cannot set --------------------------------------------------------------------------


cdef int enable_vectorcall(cls) except -1:
    """Lets a class be called without a tuple, unless it defines `__call__` itself.

    Cython packs a tuple for `__call__`, and before Python 3.12 subclasses do not inherit the flag.
    """
    cdef PyTypeObject* slots = <PyTypeObject*>cls
    for base in cls.__mro__:
        if "__call__" in base.__dict__:
            break
    if base is FunctionCore:
        slots.tp_vectorcall_offset = (<PyTypeObject*>FunctionCore).tp_vectorcall_offset
        slots.tp_call = call_tuple if state.observer == NULL else call_observed
        slots.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
        PyType_Modified(slots)
    return 0


def init_subclass(cls, **kwargs):
    super(FunctionCore, cls).__init_subclass__(**kwargs)
    enable_vectorcall(cls)


cdef Py_ssize_t offsetof_vectorcall() except -1:
    """The offset for `tp_vectorcall_offset`; checks that wrapper.h has the layout of the classes."""
    cdef FunctionCore example = FunctionCore.__new__(FunctionCore)
    cdef FunctionWrapper* wrapper = <FunctionWrapper*><PyObject*>example
    # Cython's `__new__`, which is replaced below, sets the tuple to None.
    if (&wrapper.base.object != &example.target or &wrapper.vectorcall != &example.vectorcall
            or wrapper.parameters != Py_None):
        raise SystemError("FunctionCore is not laid out as wrapper.h says")
    return <char*>&wrapper.vectorcall - <char*>wrapper


cdef Py_ssize_t offsetof_getter_vectorcall() except -1:
    cdef FieldGetter example = FieldGetter.__new__(FieldGetter)
    cdef FieldGetterLayout* layout = <FieldGetterLayout*><PyObject*>example
    if (&layout.vectorcall != &example.vectorcall or &layout.field != &example.field
            or &layout.type_code != &example.type_code or &layout.is_in_place != &example.is_in_place
            or layout.name != Py_None or layout.slow != Py_None):
        raise SystemError("FieldGetter is not laid out as attributes.h says")
    return <char*>&layout.vectorcall - <char*>layout


cdef int set_slots() except -1:
    cdef PyTypeObject* function = <PyTypeObject*>FunctionCore
    cdef PyTypeObject* getter = <PyTypeObject*>FieldGetter
    cdef type core
    function.tp_vectorcall_offset = offsetof_vectorcall()
    # Cython's accept any arguments; classes of Python, as ctypes mode has them, inherit that of `object`.
    for core in (ObjectCore, FunctionCore, ArrayCore, ListCore, MapCore, DictCore, FrozenSetCore, SetCore,
                 TensorCore):
        (<PyTypeObject*>core).tp_new = PyBaseObject_Type.tp_new
        # Already removed if an earlier import got this far and then ran out of memory.
        (<dict>(<PyTypeObject*>core).tp_dict).pop("__new__", None)
        PyType_Modified(<PyTypeObject*>core)
    # Cython refuses this method in the body of a class.
    (<dict>function.tp_dict)["__init_subclass__"] = classmethod(init_subclass)
    enable_vectorcall(FunctionCore)
    getter.tp_vectorcall_offset = offsetof_getter_vectorcall()
    getter.tp_call = call_vector
    getter.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
    PyType_Modified(getter)
    # Names in the messages of operators and descriptors; Cython takes those of module and class.
    (<PyTypeObject*>ObjectCore).tp_name = "anyffi.Object"
    (<PyTypeObject*>ArrayCore).tp_name = "anyffi.Array"
    (<PyTypeObject*>ListCore).tp_name = "anyffi.List"
    (<PyTypeObject*>MapCore).tp_name = "anyffi.Map"
    (<PyTypeObject*>DictCore).tp_name = "anyffi.Dict"
    (<PyTypeObject*>FrozenSetCore).tp_name = "anyffi.FrozenSet"
    (<PyTypeObject*>SetCore).tp_name = "anyffi.Set"
    (<PyTypeObject*>FunctionCore).tp_name = "anyffi.Function"
    (<PyTypeObject*>KeysCore).tp_name = "anyffi.dict_keys"
    (<PyTypeObject*>ValuesCore).tp_name = "anyffi.dict_values"
    (<PyTypeObject*>ItemsCore).tp_name = "anyffi.dict_items"
    (<PyTypeObject*>SequenceIterator).tp_name = "anyffi.SequenceIterator"
    (<PyTypeObject*>EntryIterator).tp_name = "anyffi.EntryIterator"
    (<PyTypeObject*>ElementIterator).tp_name = "anyffi.ElementIterator"
    return 0
