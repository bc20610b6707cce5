"""Wrappers: the Python object that stands for an object of the runtime, one at a time for each."""

from libc.stdint cimport int32_t

from c_api cimport (
    ANYFFI_FIRST_DYNAMIC_TYPE, AnyffiCall, AnyffiObject, AnyffiTypeInfo, anyffi_release,
    anyffi_type_get_info,
)
from python cimport PyObject, PyObject_TypeCheck, PyTypeObject, Py_REFCNT, vectorcallfunc

cdef extern from "wrapper.h":
    ctypedef struct Wrapper "AnyffiWrapper":
        AnyffiObject* object
    ctypedef struct FunctionWrapper "AnyffiFunctionWrapper":
        Wrapper base
        vectorcallfunc vectorcall
        PyObject* parameters

    ctypedef struct State "AnyffiPython":
        PyTypeObject* object_core
        AnyffiCall callback
        PyObject* check_callback
        PyObject* hash_of
        PyObject* equals
        int max_depth
        PyObject* lower
        PyObject* lift
        PyObject* bind
        PyObject* is_overloaded
        PyObject* missing
        PyObject* nested_too_deep
        PyObject* contains_itself
        PyObject* equal_keys
        PyObject* empty_wrapper
        PyObject* make_error
        PyObject* class_of_kind
        PyObject* fill_error
        PyObject* unexplained
        PyObject* container_rules
        PyObject* no_arguments
        PyObject** characters
        PyObject** classes
        PyObject* dynamic_classes
        PyObject* exchange_name
        PyObject* find_exchange
        bint knows_ndarray
        PyTypeObject* ndarray

    State state "anyffi_python"


cdef inline bint is_wrapper(PyObject* x) noexcept:
    return PyObject_TypeCheck(x, state.object_core)


cdef inline AnyffiObject* unwrap(PyObject* wrapper) except NULL:
    """The object of a wrapper, borrowed."""
    cdef AnyffiObject* found = (<Wrapper*>wrapper).object
    if found == NULL:
        raise_empty(wrapper)
    return found


cdef inline int raise_empty(PyObject* wrapper) except -1:
    raise (<object>state.empty_wrapper)(<object>wrapper)


cdef inline object class_of(int32_t type_code):
    """The class set for a code, or for its nearest ancestor that has one."""
    cdef const AnyffiTypeInfo* info
    cdef object found = class_set_for(type_code)
    cdef int32_t depth
    if found is not None:
        return found
    info = anyffi_type_get_info(type_code)
    depth = 0 if info == NULL else info.depth
    while depth > 0 and found is None:
        depth -= 1
        found = class_set_for(info.ancestors[depth])
    return <object>state.object_core if found is None else found


cdef inline object class_set_for(int32_t type_code):
    if 0 < type_code < ANYFFI_FIRST_DYNAMIC_TYPE:
        return <object>state.classes[type_code] if state.classes[type_code] != NULL else None
    return (<dict>state.dynamic_classes).get(type_code)


cdef inline PyObject* current_wrapper(AnyffiObject* target) noexcept:
    """The wrapper that lives, borrowed. One without references is being destroyed; it is not brought back."""
    cdef PyObject* found = <PyObject*>target.wrapper
    return found if found != NULL and Py_REFCNT(found) > 0 else NULL


cdef inline object new_wrapper(int32_t type_code):
    """An empty wrapper of the class that a code has; `__init__` is for users and does not run."""
    cdef object cls = class_of(type_code)
    cdef object made = (<PyTypeObject*>cls).tp_new(<PyTypeObject*>cls, state.no_arguments, NULL)
    if not is_wrapper(<PyObject*>made) or (<Wrapper*>made).object != NULL:
        raise TypeError(f"{cls.__name__}.__new__ must return a new, empty {cls.__name__}")
    return made


cdef inline object wrap(AnyffiObject* target):
    """The wrapper of an object; takes over one strong reference, also on failure."""
    cdef PyObject* found = current_wrapper(target)
    cdef object made
    try:
        if found == NULL:
            made = new_wrapper(target.type_code)
            # Making one may have collected garbage, and so have run code that wrapped the object meanwhile.
            found = current_wrapper(target)
            if found == NULL:
                (<Wrapper*>made).object = target
                target.wrapper = <void*>made
                target = NULL
                return made
        return <object>found
    finally:
        if target != NULL:
            anyffi_release(target)


cdef inline object wrap_here(AnyffiObject* target):
    """As `wrap`, but never the wrapper of another backend: one more is made then."""
    cdef PyObject* found = current_wrapper(target)
    cdef object made
    if found == NULL or is_wrapper(found):
        return wrap(target)
    try:
        made = new_wrapper(target.type_code)
        (<Wrapper*>made).object = target
        target = NULL
        return made
    finally:
        if target != NULL:
            anyffi_release(target)
