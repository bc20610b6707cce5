"""The iterators of containers; a part of _core.pyx."""


@cython.auto_pickle(False)
@cython.final
@cython.freelist(8)
cdef class SequenceIterator:
    """Iterates by index, as the iterator of `list` does, and so sees changes."""

    cdef ObjectCore sequence
    cdef int64_t index
    cdef int step

    def __init__(self, *args, **kwargs):
        # Called by users alone: the package makes its iterators without it.
        _container_rules.refuse_iterator("SequenceIterator")

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
        cdef ObjectCore sequence = sequence_of(self)
        if sequence is None:
            return 0
        size = (<AnyffiSequence*>unwrap(<PyObject*>sequence)).size
        if self.step > 0:
            return max(size - self.index, 0)
        return self.index + 1 if self.index < size else 0

    def __reduce__(self):
        return _container_rules.reduce_iterator(sequence_of(self), self.index, self.step)

    def __setstate__(self, index):
        cdef int64_t size = 0
        cdef ObjectCore sequence = sequence_of(self)
        if sequence is not None:
            size = (<AnyffiSequence*>unwrap(<PyObject*>sequence)).size
        self.index = _container_rules.clip_index(index, size, self.step)


cdef ObjectCore sequence_of(SequenceIterator iterator):
    """The sequence, which another thread may leave meanwhile; None at the end."""
    cdef Section section
    begin_section(&section)
    sequence = iterator.sequence
    end_section(&section)
    return sequence


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
    """Iterates over entries in either direction; detects the changes that those of dict and set detect."""

    cdef ObjectCore container
    cdef int64_t position, size, left
    cdef int what, step

    def __init__(self, *args, **kwargs):
        # Called by users alone: the package makes its iterators without it.
        _container_rules.refuse_iterator("EntryIterator")

    def __iter__(self):
        return self

    def __next__(self):
        # The slot is `anyffi_py_next_item`: Cython's own would end with an exception.
        return next(self)

    def __length_hint__(self):
        cdef EntryIterator rest = copy_entries(self)
        if rest.container is None or (<AnyffiMapping*>unwrap(<PyObject*>rest.container)).size != rest.size:
            return 0
        return max(rest.left, 0)

    def __reduce__(self):
        return iter, (list(copy_entries(self)),)


cdef EntryIterator copy_entries(EntryIterator iterator):
    """An iterator at the same position, which no other thread advances."""
    cdef EntryIterator made = EntryIterator.__new__(EntryIterator)
    cdef Section section
    begin_section(&section)
    made.container = iterator.container
    made.position, made.size, made.left = iterator.position, iterator.size, iterator.left
    made.what, made.step = iterator.what, iterator.step
    end_section(&section)
    return made


cdef EntryIterator walk_entries(ObjectCore wrapper, int32_t type_code, int what, bint backwards):
    cdef EntryIterator made = EntryIterator.__new__(EntryIterator)
    cdef AnyffiMapping* mapping = unwrap_mapping(<PyObject*>wrapper, type_code)
    made.container = wrapper
    made.size = made.left = mapping.size
    made.what = what
    made.step = -1 if backwards else 1
    made.position = mapping.used - 1 if backwards else 0
    return made


cdef int set_up_iterators() except -1:
    cdef EntryIterator example = EntryIterator.__new__(EntryIterator)
    cdef EntryIteratorLayout* layout = <EntryIteratorLayout*><PyObject*>example
    if layout.container != Py_None or &layout.position != &example.position or &layout.step != &example.step:
        raise SystemError("EntryIterator is not laid out as entry_iterator.h says")
    state.changed_size = keep(_container_rules.changed_size)
    state.changed_keys = keep(_container_rules.changed_keys)
    (<PyTypeObject*>EntryIterator).tp_iternext = next_item
    (<PyTypeObject*>EntryIterator).tp_as_sequence = &no_sequence
    (<PyTypeObject*>SequenceIterator).tp_as_sequence = &no_sequence
    set_step(<PyTypeObject*>SequenceIterator)
    set_special(<PyTypeObject*>EntryIterator, &PyListIter_Type, "__next__", <void*>next_item)
    return 0
