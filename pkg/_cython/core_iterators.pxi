"""The iterators of containers; a part of _core.pyx."""


@cython.auto_pickle(False)
@cython.final
@cython.freelist(8)
cdef class SequenceIterator:
    """Iterates by index, as a list's iterator does, and so sees changes."""

    cdef ObjectCore sequence
    cdef int64_t index
    cdef int step

    def __iter__(self):
        return self

    def __next__(self):
        cdef AnyffiSequence* sequence
        cdef int64_t index = self.index
        if self.sequence is None:
            raise StopIteration
        sequence = <AnyffiSequence*>unwrap(<PyObject*>self.sequence)
        if not 0 <= index < sequence.size:
            # An exhausted iterator stays exhausted.
            self.sequence = None
            raise StopIteration
        self.index = index + self.step
        return unpack_copy(&sequence.data[index])

    def __length_hint__(self):
        cdef int64_t size
        if self.sequence is None:
            return 0
        size = (<AnyffiSequence*>unwrap(<PyObject*>self.sequence)).size
        if self.step > 0:
            return max(size - self.index, 0)
        return self.index + 1 if self.index < size else 0

    def __reduce__(self):
        return _container_rules.reduce_iterator(self.sequence, self.index, self.step)

    def __setstate__(self, index):
        cdef int64_t size = 0
        if self.sequence is not None:
            size = (<AnyffiSequence*>unwrap(<PyObject*>self.sequence)).size
        self.index = _container_rules.clip_index(index, size, self.step)


cdef SequenceIterator walk_sequence(ObjectCore wrapper, int32_t type_code, bint backwards):
    cdef SequenceIterator made = SequenceIterator.__new__(SequenceIterator)
    cdef AnyffiSequence* sequence = unwrap_sequence(<PyObject*>wrapper, type_code)
    made.sequence = wrapper
    made.step = -1 if backwards else 1
    made.index = sequence.size - 1 if backwards else 0
    return made


@cython.auto_pickle(False)
@cython.final
@cython.freelist(8)
cdef class EntryIterator:
    """Iterates over entries, forwards or backwards, and raises where the iterators of dict and set do."""

    cdef ObjectCore container
    cdef int64_t position, size, left
    cdef int what, step

    def __iter__(self):
        return self

    def __next__(self):
        cdef AnyffiMapping* entries
        cdef int64_t number
        if self.container is None:
            raise StopIteration
        entries = <AnyffiMapping*>unwrap(<PyObject*>self.container)
        if entries.size != self.size:
            # Raised again at every further step.
            self.size = -1
            raise _container_rules.changed_size(self.what)
        number = next_entry(entries, self.position, self.step)
        if number < 0:
            self.container = None
            raise StopIteration
        if self.left == 0 and self.step > 0 and self.what != ELEMENTS:
            self.container = None
            raise _container_rules.changed_keys()
        self.position = number + self.step
        self.left -= 1
        return unpack_entry(&entries.entries[number], self.what)

    def __length_hint__(self):
        if self.container is None or (<AnyffiMapping*>unwrap(<PyObject*>self.container)).size != self.size:
            return 0
        return max(self.left, 0)

    def __reduce__(self):
        cdef EntryIterator rest = EntryIterator.__new__(EntryIterator)
        rest.container = self.container
        rest.position, rest.size, rest.left = self.position, self.size, self.left
        rest.what, rest.step = self.what, self.step
        return iter, (list(rest),)


cdef EntryIterator walk_entries(ObjectCore wrapper, int32_t type_code, int what, bint backwards):
    cdef EntryIterator made = EntryIterator.__new__(EntryIterator)
    cdef AnyffiMapping* mapping = unwrap_mapping(<PyObject*>wrapper, type_code)
    made.container = wrapper
    made.size = made.left = mapping.size
    made.what = what
    made.step = -1 if backwards else 1
    made.position = mapping.used - 1 if backwards else 0
    return made
