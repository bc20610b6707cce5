"""The way of a call: arguments into an array of values, the function, its result."""

from libc.stdint cimport int32_t

from c_api cimport ANYFFI_FUNCTION, ANYFFI_INT, ANYFFI_NONE, AnyffiFunction, AnyffiObject, AnyffiValue
from c_api cimport anyffi_alloc, anyffi_free, anyffi_none_inline, anyffi_release_inline, anyffi_type_is_a
from pack cimport pack_plain, pack_special
from python cimport PyLong_FromLongLong, PyObject, PySequence_Fast_ITEMS, Py_SIZE
from unpack cimport raise_taken, unpack
from wrapper cimport Wrapper, state, unwrap

cdef extern from *:
    """
    /* The arguments of so many are packed on the stack. */
    #define ANYFFI_MAX_SHORT 8
    """
    enum:
        MAX_SHORT "ANYFFI_MAX_SHORT"


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
    cdef AnyffiFunction* target = unwrap_function(function)
    if count > MAX_SHORT:
        return call_long(target, args, count)
    return call_short(target, args, count)


cdef inline object call_short(AnyffiFunction* target, PyObject** args, Py_ssize_t count):
    """A call with at most MAX_SHORT arguments."""
    cdef AnyffiValue values[MAX_SHORT]
    cdef AnyffiValue result
    # Most arguments are made into no object and cannot fail. Without anything to give back, and so without a
    # `try`, such a call takes a third less of instructions.
    cdef Py_ssize_t packed = pack_plain_ones(args, count, values, 0)
    if packed < count:
        return call_made(target, args, count, values, packed)
    result = anyffi_none_inline()
    if target.call(target.self, values, <int32_t>count, &result) != 0:
        raise_taken()
    return unpack_result(&result)


cdef inline Py_ssize_t pack_plain_ones(PyObject** args, Py_ssize_t count, AnyffiValue* values,
                                       Py_ssize_t packed) noexcept:
    """Packs arguments up to the first that is not plain; how many are packed now."""
    while packed < count and pack_plain(args[packed], &values[packed]):
        packed += 1
    return packed


cdef inline object unpack_result(AnyffiValue* result):
    # The two most common ones, of which `unpack` would have to be called to tell.
    if result.type_code == ANYFFI_NONE:
        return None
    if result.type_code == ANYFFI_INT:
        return PyLong_FromLongLong(result.as_int)
    return unpack(result)


cdef inline object call_made(AnyffiFunction* target, PyObject** args, Py_ssize_t count, AnyffiValue* values,
                             Py_ssize_t plain):
    """The rest of a call of which the first arguments are packed and plain, and the next is not."""
    cdef AnyffiValue result = anyffi_none_inline()
    cdef Py_ssize_t packed = plain
    try:
        while packed < count:
            pack_special(args[packed], &values[packed])
            packed = pack_plain_ones(args, count, values, packed + 1)
        if target.call(target.self, values, <int32_t>count, &result) != 0:
            raise_taken()
        # Before the arguments go, which the result may borrow from.
        return unpack_result(&result)
    finally:
        release_made(values + plain, packed - plain)


cdef inline object call_long(AnyffiFunction* target, PyObject** args, Py_ssize_t count):
    cdef AnyffiValue* values = allocate(count)
    try:
        return call_made(target, args, count, values, pack_plain_ones(args, count, values, 0))
    finally:
        anyffi_free(values)


cdef inline AnyffiValue* allocate(Py_ssize_t count) except NULL:
    if count > 0x7FFFFFFF:
        raise OverflowError("too many arguments")
    cdef AnyffiValue* values = <AnyffiValue*>anyffi_alloc(count * sizeof(AnyffiValue))
    if values == NULL:
        raise MemoryError
    return values


cdef inline void release_made(AnyffiValue* values, Py_ssize_t count) noexcept:
    """Gives back what packing made, other than what the callee took."""
    cdef Py_ssize_t i
    for i in range(count):
        # Flags belong to objects; elsewhere the word holds text.
        if values[i].type_code > 0 and values[i].aux != 0:
            anyffi_release_inline(values[i].as_object)


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
