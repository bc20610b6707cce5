"""For check mode, which compares with what the other marshaller does; a part of _core.pyx."""


def enter_check_mode(check_callback, hash_of, equals, rules, make_error):
    """From now on callbacks go to `check_callback(function, args, count, result)`, which returns None or an
    exception; opaque objects are hashed and compared by `hash_of` and `equals`; `rules` and `make_error` replace
    those of `_rules` and `_errors`. Returns the address of what the runtime calls for a callable."""
    state.check_callback = keep(check_callback)
    state.hash_of = keep(hash_of)
    state.equals = keep(equals)
    state.callback = checked_callback
    state.lower = keep(rules.lower)
    state.nested_too_deep = keep(rules.nested_too_deep)
    state.contains_itself = keep(rules.contains_itself)
    state.equal_keys = keep(rules.equal_keys)
    state.empty_wrapper = keep(rules.empty_wrapper)
    state.make_error = keep(make_error)
    # Both are to get one exception from `make_error`.
    state.class_of_kind = NULL
    install_host(_rules.HOST_FLAGS)
    return <size_t>state.callback


@cython.auto_pickle(False)
@cython.final
cdef class Rendering:
    """A value, and the reference that it may own: no exception at any instant makes it leak."""

    cdef AnyffiValue value
    cdef bint owned

    def __dealloc__(self):
        if self.owned:
            anyffi_value_drop(&self.value)

    @property
    def cell(self):
        return PyBytes_FromStringAndSize(<const char*>&self.value, sizeof(AnyffiValue))

    def read(self):
        """The Python value."""
        return unpack_copy(&self.value)

    def wrap(self):
        """The wrapper of the object, whatever it could be turned back into."""
        anyffi_value_retain(&self.value)
        return wrap(self.value.as_object)

    def move(self, size_t place):
        """Moves the value to a place in memory."""
        (<AnyffiValue*>place)[0] = self.value
        self.owned = False


cdef Rendering new_rendering(const AnyffiValue* value):
    """Takes over the value."""
    cdef Rendering made = Rendering.__new__(Rendering)
    made.value = value[0]
    made.owned = True
    return made


def render(x):
    """`x` packed as an argument."""
    cdef Rendering made = Rendering.__new__(Rendering)
    made.owned = pack(<PyObject*>x, &made.value)
    return made


def render_owned(x):
    """`x` packed as a value that stands alone."""
    cdef Rendering made = Rendering.__new__(Rendering)
    pack_owned(<PyObject*>x, &made.value, NULL)
    made.owned = True
    return made


cdef inline AnyffiValue* values_in(cells) except NULL:
    """Memory of the other marshaller is of a class derived from bytes."""
    return <AnyffiValue*>PyBytes_AsString(<PyObject*>cells)


def hold(cell):
    """A copy of a value."""
    cdef Rendering made = new_rendering(values_in(cell))
    anyffi_value_retain(&made.value)
    return made


def take(size_t place):
    """The value at a place in memory, where None is left."""
    cdef Rendering made = new_rendering(<AnyffiValue*>place)
    (<AnyffiValue*>place)[0] = anyffi_make_none()
    return made


def hold_raised():
    """The error that a function of the C ABI left, and leaves."""
    cdef AnyffiValue error
    anyffi_error_take_raised(&error)
    if error.type_code == ANYFFI_ERROR:
        anyffi_error_set_raised(error.as_object)
    return new_rendering(&error)


def read_values(size_t place, int32_t count):
    """The Python values of borrowed values."""
    cdef int32_t i
    return [unpack_copy(&(<AnyffiValue*>place)[i]) for i in range(count)]


def call_rendered(function, list args not None, result):
    """Calls a function as `call` does, without a look at the result: its status."""
    cdef AnyffiFunction* target = unwrap_function(<PyObject*>function)
    cdef int32_t count = <int32_t>len(args)
    cdef AnyffiValue on_stack[MAX_SHORT]
    cdef AnyffiValue* values = on_stack
    cdef int32_t i
    if count > MAX_SHORT:
        values = allocate(count)
    try:
        for i in range(count):
            values[i] = (<Rendering?>args[i]).value
        status = target.call(target.self, values, count, values_in(result))
        for i in range(count):
            # What the function took is None now.
            (<Rendering>args[i]).value = values[i]
        return status
    finally:
        if values != on_stack:
            anyffi_free(values)


def find_places_of(function, tuple args not None, dict named not None):
    """The arguments as `call_with_keywords` places them; None where it asks `bind`."""
    cdef PyObject* places[MAX_SHORT]
    cdef tuple names = tuple(named)
    cdef tuple values = args + tuple(named.values())
    cdef tuple parameters = parameters_of(<FunctionCore?>function)
    cdef PyObject** items = PySequence_Fast_ITEMS(<PyObject*>values)
    cdef Py_ssize_t filled = find_places(<PyObject*>function, <PyObject*>parameters, items, len(args),
                                         <PyObject*>names, places)
    return tuple([<object>places[i] for i in range(filled)]) if filled > 0 else None
