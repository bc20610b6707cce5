"""Which containers one argument has met, so that shared ones are shared and cyclic ones are found.

A table with open addressing. It is empty until a container is met inside of another one, and has room for
a few without asking for memory.
"""

from libc.stdint cimport uintptr_t
from libc.string cimport memset

from c_api cimport AnyffiObject, anyffi_alloc, anyffi_free
from python cimport PyObject, Py_DECREF, Py_INCREF

cdef enum:
    FIRST_CAPACITY = 16

ctypedef struct Met:
    PyObject* container     # NULL: a free slot. Counted, so that no other object gets its address.
    AnyffiObject* made      # NULL while the container is being packed; the value around it keeps it alive

ctypedef struct Memo:
    size_t used             # while this is 0, nothing else is set
    size_t capacity         # a power of two
    Met* slots
    Met first[FIRST_CAPACITY]


cdef inline Met* memo_slot(const Memo* memo, PyObject* container) noexcept:
    """Where the container is, or would be; the table must not be full."""
    # Addresses are multiples of 16; the multiplication spreads neighbours.
    cdef size_t at = (<uintptr_t>container >> 4) * <size_t>0x9E3779B97F4A7C15
    at = (at >> 20) & (memo.capacity - 1)
    while memo.slots[at].container != NULL and memo.slots[at].container != container:
        at = (at + 1) & (memo.capacity - 1)
    return &memo.slots[at]


cdef inline Met* memo_find(const Memo* memo, PyObject* container) noexcept:
    """The record of a container, or NULL; the memo must not be empty."""
    cdef Met* found = memo_slot(memo, container)
    return found if found.container != NULL else NULL


cdef inline int memo_add(Memo* memo, PyObject* container) except -1:
    cdef Met* slot
    if memo.used == 0:
        memo.capacity = FIRST_CAPACITY
        memo.slots = memo.first
        memset(memo.slots, 0, sizeof(memo.first))
    elif 2 * memo.used >= memo.capacity:
        memo_grow(memo)
    slot = memo_slot(memo, container)
    if slot.container == NULL:
        Py_INCREF(container)
        slot.container = container
        memo.used += 1
    return 0


cdef inline int memo_grow(Memo* memo) except -1:
    cdef size_t capacity = memo.capacity
    cdef Met* slots = memo.slots
    cdef Met* grown = <Met*>anyffi_alloc(4 * capacity * sizeof(Met))
    cdef size_t at
    if grown == NULL:
        raise MemoryError
    memset(grown, 0, 4 * capacity * sizeof(Met))
    memo.capacity = 4 * capacity
    memo.slots = grown
    for at in range(capacity):
        if slots[at].container != NULL:
            memo_slot(memo, slots[at].container)[0] = slots[at]
    if slots != memo.first:
        anyffi_free(slots)
    return 0


cdef inline void memo_clear(Memo* memo) noexcept:
    cdef size_t at
    for at in range(memo.capacity):
        if memo.slots[at].container != NULL:
            Py_DECREF(memo.slots[at].container)
    if memo.slots != memo.first:
        anyffi_free(memo.slots)
