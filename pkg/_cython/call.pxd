"""The way of a call: arguments into an array of values, the function, its result."""

from c_api cimport ANYFFI_FUNCTION, AnyffiFunction, AnyffiObject, AnyffiValue
from c_api cimport anyffi_type_is_a
from python cimport PyObject, PySequence_Fast_ITEMS, Py_SIZE
from wrapper cimport Wrapper, state, unwrap

cdef extern from "call.h":
    enum:
        MAX_SHORT "ANYFFI_MAX_SHORT"

    struct Later "AnyffiLater":
        object (*call_tuple)(PyObject*, PyObject*, PyObject*)
        object (*call_uncommonly)(PyObject*, PyObject**, Py_ssize_t, PyObject*)
        int (*pack_uncommon)(PyObject*, AnyffiValue*) except -1
        int (*fill_alone)(PyObject*, AnyffiValue*) except -1
        object (*unpack)(AnyffiValue*)
        int (*raise_taken)() except -1

    Later later "anyffi_later"
    AnyffiValue* allocate "anyffi_py_allocate"(Py_ssize_t) except NULL
    int pack_special "anyffi_py_pack_special"(PyObject*, AnyffiValue*) except -1
    object call_function "anyffi_py_call"(AnyffiFunction*, PyObject**, Py_ssize_t)
    object vectorcall "anyffi_py_vectorcall"(PyObject*, PyObject**, size_t, PyObject*)


cdef inline AnyffiFunction* unwrap_function(PyObject* wrapper) except NULL:
    cdef AnyffiObject* found = (<Wrapper*>wrapper).object
    if found == NULL or found.type_code != ANYFFI_FUNCTION:
        refuse_function(wrapper)
    return <AnyffiFunction*>found


cdef inline int refuse_function(PyObject* wrapper) except -1:
    """Raises unless a wrapper holds a function of a type of its own."""
    if not anyffi_type_is_a(unwrap(wrapper).type_code, ANYFFI_FUNCTION):
        raise TypeError(f"this {type(<object>wrapper).__name__} is no function")
    return 0


cdef inline object call(PyObject* function, PyObject** args, Py_ssize_t count):
    """Calls the function of a wrapper. The caller keeps wrapper and arguments alive."""
    return call_function(unwrap_function(function), args, count)


cdef inline Py_ssize_t find_places(PyObject* function, PyObject* parameters, PyObject** args,
                                   Py_ssize_t count, PyObject* names, PyObject** places) except -1:
    """Puts every value where its parameter stands, and returns how many places that takes.

    0 where more than a look at the names is needed: one is not interned, or the call is wrong. `bind` serves
    those; without this way a call with keywords costs ten times as much as one without.
    """
    cdef Py_ssize_t total = Py_SIZE(parameters)
    cdef Py_ssize_t filled = count
    cdef Py_ssize_t index, i
    cdef PyObject* name
    if total > MAX_SHORT or count > total:
        return 0
    for i in range(count):
        places[i] = args[i]
    for i in range(count, total):
        places[i] = NULL
    for i in range(Py_SIZE(names)):
        name = PySequence_Fast_ITEMS(names)[i]
        index = count
        while index < total and PySequence_Fast_ITEMS(parameters)[index] != name:
            index += 1
        if index == total:
            return 0
        places[index] = args[count + i]
        filled = max(filled, index + 1)
    for i in range(count, max(filled, unwrap_function(function).info.num_required)):
        if i >= filled or places[i] == NULL:
            if i < unwrap_function(function).info.num_required:
                return 0
            places[i] = state.missing
    return filled


cdef inline object call_with_keywords(PyObject* function, PyObject* parameters, PyObject** args,
                                      Py_ssize_t count, PyObject* names):
    """As `call`; the values of `names` follow the positional arguments.

    `parameters` is the tuple of the names that the function declares.
    """
    cdef PyObject* places[MAX_SHORT]
    cdef Py_ssize_t filled = find_places(function, parameters, args, count, names, places)
    if filled > 0:
        return call(function, places, filled)
    cdef tuple keywords = <tuple>names
    cdef tuple positional = tuple([<object>args[i] for i in range(count)])
    cdef dict named = {keywords[i]: <object>args[count + i] for i in range(len(keywords))}
    cdef object info = (<object>function)._info()
    if (<object>state.is_overloaded)(info):
        return (<object>function)._call_overload(positional, named)
    cdef tuple bound = (<object>state.bind)(info, positional, named)
    return call(function, PySequence_Fast_ITEMS(<PyObject*>bound), Py_SIZE(<PyObject*>bound))
