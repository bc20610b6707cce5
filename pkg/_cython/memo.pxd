"""Which containers one argument has met, so that shared ones are shared and cyclic ones are found.

A table with open addressing; it comes into being when a container is met inside of another one.
"""

from libc.stdint cimport uintptr_t
from libc.string cimport memset

from c_api cimport AnyffiObject, anyffi_alloc, anyffi_free
from python cimport Py_DECREF, Py_INCREF, PyObject

# A struct of C, because fields of Cython's own structs cannot be named from another file by `ctypedef` alone.
ctypedef struct Met:
    PyObject* container     # NULL: a free slot. Counted, so that no other object gets its address.
    AnyffiObject* made      # NULL while the container is being converted; the value that holds it keeps it alive

ctypedef struct Memo:
    Met* slots
    size_t capacity         # a power of two, or 0
    size_t used


cdef inline Met* memo_slot(const Memo* memo, PyObject* container) noexcept:
    """Where the container is, or would be; the table must not be full."""
    # Addresses are multiples of 16; the multiplication spreads neighbours.
    cdef size_t at = (<uintptr_t>container >> 4) * <size_t>0x9E3779B97F4A7C15
    at = (at >> 20) & (memo.capacity - 1)
    while memo.slots[at].container != NULL and memo.slots[at].container != container:
        at = (at + 1) & (memo.capacity - 1)
    return &memo.slots[at]


cdef inline Met* memo_find(const Memo* memo, PyObject* container) noexcept:
    """The container's record, or NULL."""
    if memo.used == 0:
        return NULL
    cdef Met* found = memo_slot(memo, container)
    return found if found.container != NULL else NULL


cdef inline int memo_add(Memo* memo, PyObject* container) except -1:
    cdef Met* slot
    if 2 * memo.used >= memo.capacity:
        memo_grow(memo)
    slot = memo_slot(memo, container)
    if slot.container == NULL:
        Py_INCREF(container)
        slot.container = container
        memo.used += 1
    return 0


cdef inline int memo_grow(Memo* memo) except -1:
    cdef Memo grown
    cdef size_t at
    grown.capacity = memo.capacity * 4 if memo.capacity else 16
    grown.used = memo.used
    grown.slots = <Met*>anyffi_alloc(grown.capacity * sizeof(Met))
    if grown.slots == NULL:
        raise MemoryError
    memset(grown.slots, 0, grown.capacity * sizeof(Met))
    for at in range(memo.capacity):
        if memo.slots[at].container != NULL:
            memo_slot(&grown, memo.slots[at].container)[0] = memo.slots[at]
    if memo.slots != NULL:
        anyffi_free(memo.slots)
    memo[0] = grown
    return 0


cdef inline void memo_clear(Memo* memo) noexcept:
    cdef size_t at
    for at in range(memo.capacity):
        if memo.slots[at].container != NULL:
            Py_DECREF(memo.slots[at].container)
    anyffi_free(memo.slots)
