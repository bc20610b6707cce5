"""Check mode, which compares both marshallers: access to packed values, and hooks; a part of _core.pyx."""

# Functions of check mode; None in other modes.
cdef object check_callback = None
cdef object hash_of = None
cdef object equals = None


def enter_check_mode(new_check_callback, new_hash_of, new_equals, rules, make_error):
    """Install the hooks of check mode.

    Callbacks go to `check_callback(function, args, count, result)`, which returns None or an exception;
    opaque objects are hashed and compared by the next two; `rules` and `make_error` replace those of
    `_rules` and `_errors`. Return the address of the function that the runtime calls for a callable.
    """
    global check_callback, hash_of, equals
    check_callback, hash_of, equals = new_check_callback, new_hash_of, new_equals
    state.callback = checked_callback
    state.is_check_mode = True
    state.lower = keep(rules.lower)
    state.nested_too_deep = keep(rules.nested_too_deep)
    state.contains_itself = keep(rules.contains_itself)
    state.equal_keys = keep(rules.equal_keys)
    state.empty_wrapper = keep(rules.empty_wrapper)
    state.make_error = keep(make_error)
    # Both marshallers must get the same exception from `make_error`.
    state.class_of_kind = NULL
    install_host(_rules.HOST_FLAGS, checked_hash, checked_equal)
    return <size_t>state.callback


cdef int leave_in_slot(object exception) noexcept:
    Py_INCREF(<PyObject*>exception)
    return leave_exception(<PyObject*>exception)


cdef int checked_callback(
    void* handle, AnyffiValue* args, int32_t count, AnyffiValue* result
) noexcept with gil:
    """`anyffi_py_callback` of check mode."""
    cdef uint32_t flags = result.aux
    result[0] = anyffi_make_none()
    # Whether the caller drops the result.
    result.aux = flags
    try:
        problem = check_callback(<object>handle, <size_t>args, count, <size_t>result)
        if problem is None:
            return ANYFFI_HOST_DONE
    except BaseException as exception:
        problem = exception
    # A signal handler may have raised it after the call was complete.
    anyffi_value_drop(result)
    result[0] = anyffi_make_none()
    return leave_in_slot(problem)


cdef int checked_hash(void* handle, int64_t* out) noexcept with gil:
    """`anyffi_py_handle_hash` of check mode."""
    try:
        out[0] = hash_of(<object>handle)
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_in_slot(exception)


cdef int checked_equal(void* handle, const AnyffiValue* other, int32_t* out) noexcept with gil:
    """`anyffi_py_handle_equal` of check mode."""
    try:
        out[0] = equals(<object>handle, unpack_copy(other))
        return ANYFFI_HOST_DONE
    except BaseException as exception:
        return leave_in_slot(exception)


# ---- packed values -----------------------------------------------------------------------------------------


@cython.auto_pickle(False)
@cython.final
cdef class Rendering:
    """A packed value, with the reference that it may own: an exception at any instant leaks nothing."""

    cdef AnyffiValue value
    cdef bint owned

    def __dealloc__(self):
        if self.owned:
            anyffi_value_drop(&self.value)

    @property
    def cell(self):
        return PyBytes_FromStringAndSize(<const char*>&self.value, sizeof(AnyffiValue))

    def read(self):
        """Return the Python value."""
        return unpack_argument(&self.value)

    def wrap(self):
        """Return the wrapper of the object, also of one that unpacks to something else."""
        anyffi_value_retain(&self.value)
        return wrap(self.value.as_object)

    def move(self, size_t place):
        """Move the value to a place in memory."""
        (<AnyffiValue*>place)[0] = self.value
        self.owned = False


cdef Rendering new_rendering(const AnyffiValue* value):
    """Steals the value's reference."""
    cdef Rendering made = Rendering.__new__(Rendering)
    made.value = value[0]
    made.owned = True
    return made


def render(x):
    """Pack `x` as an argument."""
    cdef Rendering made = Rendering.__new__(Rendering)
    made.owned = pack(<PyObject*>x, &made.value)
    return made


def render_owned(x):
    """Pack `x` as an owned value."""
    cdef Rendering made = Rendering.__new__(Rendering)
    pack_owned(<PyObject*>x, &made.value)
    made.owned = True
    return made


cdef inline AnyffiValue* values_in(cells) except NULL:
    """The memory of values in ctypes mode: bytes or a class derived from it."""
    return <AnyffiValue*>PyBytes_AsString(<PyObject*>cells)


def hold(cell):
    """Copy a value."""
    cdef Rendering made = new_rendering(values_in(cell))
    anyffi_value_retain(&made.value)
    return made


def take(size_t place):
    """Move a value out of a place in memory, and leave None there."""
    cdef Rendering made = new_rendering(<AnyffiValue*>place)
    (<AnyffiValue*>place)[0] = anyffi_make_none()
    return made


def hold_raised():
    """Return the error in the thread's slot, and keep it there."""
    cdef AnyffiValue error
    anyffi_error_take_raised(&error)
    if error.type_code == ANYFFI_ERROR:
        anyffi_error_set_raised(error.as_object)
    return new_rendering(&error)


def read_values(size_t place, int32_t count):
    """Return the Python values of borrowed values."""
    cdef int32_t i
    cdef list values = []
    for i in range(count):
        values.append(unpack_argument(&(<AnyffiValue*>place)[i]))
    return values


def call_rendered(function, list args not None, tuple given not None, result):
    """Call a function with packed values of what was given; return its status, leave the result packed."""
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
        name_enumerations(target, values, count, PySequence_Fast_ITEMS(<PyObject*>given), NULL)
        status = target.call(target.self, values, count, values_in(result))
        for i in range(count):
            # An object that the function stole is None now.
            (<Rendering>args[i]).value = values[i]
        return status
    finally:
        if values != on_stack:
            anyffi_free(values)


def find_places_of(function, tuple args not None, dict named not None):
    """Return the arguments as a call places them by its keywords; None where `bind` would be called."""
    cdef PyObject* wrapper = <PyObject*><FunctionCore?>function
    cdef tuple values = args + tuple(named.values())
    cdef const AnyffiFunctionInfo* info = unwrap_function(wrapper).info
    if (<FunctionWrapper*>wrapper).parameters == NULL:
        learn_parameters(wrapper)
    if info == NULL:
        return None
    places = places_in(<tuple>(<FunctionWrapper*>wrapper).parameters, info, len(args), tuple(named))
    if places is None:
        return None
    cdef list placed = []
    for place in places:
        placed.append(<object>state.missing if place < 0 else values[place])
    return tuple(placed)


def find_overload_places(function, Py_ssize_t num_args, dict named not None):
    """Return for each overload the places of its arguments; None for one that the keywords do not fit."""
    cdef PyObject* wrapper = <PyObject*><FunctionCore?>function
    cdef const AnyffiOverload* overload = unwrap_function(wrapper).info.overloads
    if (<FunctionWrapper*>wrapper).parameters == NULL:
        learn_parameters(wrapper)
    found = []
    for names in <tuple>(<FunctionWrapper*>wrapper).parameters:
        info = (<AnyffiFunction*>overload.function).info
        found.append(places_in(names, info, num_args, tuple(named)))
        overload = overload.next
    return found


cdef list places_in(tuple parameters, const AnyffiFunctionInfo* info, Py_ssize_t num_args, tuple named):
    cdef int32_t* places = <int32_t*>allocate(len(parameters) + 1)
    cdef Py_ssize_t i, filled
    try:
        filled = place_named(<PyObject*>parameters, info, num_args, <PyObject*>named, places)
        if filled < 0:
            return None
        found = []
        for i in range(filled):
            found.append(places[i])
        return found
    finally:
        anyffi_free(places)
