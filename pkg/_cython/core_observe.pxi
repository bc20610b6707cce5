"""Observers, which are called before and after calls and callbacks; a part of _core.pyx."""

# `FunctionCore.__call__`, while calls are observed; else None.
cdef object plain_call = None


def set_observer(observer):
    """Call the functions of an observer before and after each call and callback; None: of none.

    It is one object for the process, which is never released. While there is one, the slots through which
    Python calls functions are exchanged, so that those of an unobserved call are the fast paths.
    """
    global plain_call
    cdef bint is_observed = observer is not None
    if is_observed:
        state.begin_call = keep(observer.begin_call)
        state.begin_callback = keep(observer.begin_callback)
        state.end_call = keep(observer.end)
        state.lost_calls = keep(observer.lost_calls)
        state.lost_ends = keep(observer.lost_ends)
        state.fail_call = keep(observer.fail)
        if plain_call is None:
            plain_call = (<dict>(<PyTypeObject*>FunctionCore).tp_dict)["__call__"]
            set_special(<PyTypeObject*>FunctionCore, &PyFunction_Type, "__call__", <void*>call_observed)
    elif plain_call is not None:
        (<dict>(<PyTypeObject*>FunctionCore).tp_dict)["__call__"] = plain_call
        PyType_Modified(<PyTypeObject*>FunctionCore)
        plain_call = None
    # The functions stay: another thread may be about to call them.
    state.observer = keep(observer) if is_observed else NULL
    exchange_calls(FunctionCore, is_observed)


cdef int exchange_calls(cls, bint is_observed) except -1:
    """Sets the slot of a class and its subclasses, but for those with a `__call__` of their own."""
    cdef PyTypeObject* slots = <PyTypeObject*>cls
    if slots.tp_call == (call_tuple if is_observed else call_observed):
        slots.tp_call = call_observed if is_observed else call_tuple
        PyType_Modified(slots)
    for derived in type.__subclasses__(cls):
        exchange_calls(derived, is_observed)
    return 0
