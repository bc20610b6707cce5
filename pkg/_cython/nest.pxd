"""Containers inside of containers: shared ones stay shared, cyclic and too deep ones are refused."""

from c_api cimport AnyffiObject, AnyffiValue, anyffi_make_object, anyffi_retain
from memo cimport Memo, Met, memo_add, memo_find
from python cimport PyObject
from wrapper cimport state

# One level of containers around what is being packed; it lives on the stack.
ctypedef struct Nest:
    Nest* outer
    PyObject* container
    Memo* memo
    int depth


cdef inline void open_nest(Nest* nest, PyObject* container, Memo* memo) noexcept:
    """Begins with the outermost container."""
    memo.used = 0
    nest.outer = NULL
    nest.container = container
    nest.memo = memo
    nest.depth = 1


cdef inline int share(AnyffiObject* found, AnyffiValue* out) noexcept:
    out[0] = anyffi_make_object(found)
    anyffi_retain(found)
    return 0


cdef inline AnyffiObject* find_met(PyObject* x, Nest* outer) except? NULL:
    """What `x` became earlier within this argument, borrowed; NULL if it was not met."""
    cdef Met* met
    # The outermost container enters the memo only when the first one inside of it does.
    if outer.memo.used == 0:
        if x != outer.container:
            return NULL
    else:
        met = memo_find(outer.memo, x)
        if met == NULL:
            return NULL
        if met.made != NULL:
            return met.made
    raise (<object>state.contains_itself)(<object>x)


cdef inline int check_depth(Nest* nest) except -1:
    if nest.depth > state.max_depth:
        raise (<object>state.nested_too_deep)()
    return 0


cdef inline int enter(Nest* nest) except -1:
    """To be called before the items of a container are packed."""
    check_depth(nest)
    return remember(nest)


cdef inline int remember(Nest* nest) except -1:
    if nest.outer != NULL:
        if nest.memo.used == 0:
            memo_add(nest.memo, nest.outer.container)
        memo_add(nest.memo, nest.container)
    return 0


cdef inline int leave(Nest* nest, AnyffiValue* made) noexcept:
    """To be called when they are; always 1, for what was made here."""
    if nest.outer != NULL:
        memo_find(nest.memo, nest.container).made = made.as_object
    return 1
