"""The iterators of containers, and of objects of C++ classes; a part of _core.pyx."""


@cython.auto_pickle(False)
@cython.final
@cython.freelist(8)
cdef class SequenceIterator:
    """SequenceIterator(*args, **kwargs)\n--\n\n\
Iterates by index, as the iterator of `list` does, and so sees changes."""

    cdef ObjectCore sequence
    cdef int64_t index
    cdef int step

    def __init__(self, *args, **kwargs):
        # Only users call it: the package makes its iterators without it.
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


# Methods in C, with the errors of Python's iterators about wrong arguments; Cython's own messages differ.
cdef object sequence_hint(object self, PyObject* unused):
    cdef SequenceIterator iterator = <SequenceIterator>self
    cdef int64_t size
    cdef ObjectCore sequence = sequence_of(iterator)
    if sequence is None:
        return 0
    size = (<AnyffiSequence*>unwrap(<PyObject*>sequence)).size
    if iterator.step > 0:
        return max(size - iterator.index, 0)
    return iterator.index + 1 if iterator.index < size else 0


cdef object reduce_sequence(object self, PyObject* unused):
    cdef SequenceIterator iterator = <SequenceIterator>self
    return _container_rules.reduce_iterator(sequence_of(iterator), iterator.index, iterator.step)


cdef object set_sequence_state(object self, object index):
    cdef SequenceIterator iterator = <SequenceIterator>self
    cdef int64_t size = 0
    cdef ObjectCore sequence = sequence_of(iterator)
    if sequence is not None:
        size = (<AnyffiSequence*>unwrap(<PyObject*>sequence)).size
    iterator.index = _container_rules.clip_index(index, size, iterator.step)


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
    """EntryIterator(*args, **kwargs)\n--\n\n\
Iterates over entries in either direction; detects the same changes as Python's iterators."""

    cdef ObjectCore container
    cdef int64_t position, size, left
    cdef int what, step

    def __init__(self, *args, **kwargs):
        # Only users call it: the package makes its iterators without it.
        _container_rules.refuse_iterator("EntryIterator")

    def __iter__(self):
        return self

    def __next__(self):
        # The slot is `anyffi_py_next_item`: Cython's own would raise an exception at the end.
        return next(self)


cdef object entries_hint(object self, PyObject* unused):
    cdef EntryIterator rest = copy_entries(<EntryIterator>self)
    if rest.container is None or (<AnyffiMapping*>unwrap(<PyObject*>rest.container)).size != rest.size:
        return 0
    return max(rest.left, 0)


cdef object reduce_entries(object self, PyObject* unused):
    return iter, (list(copy_entries(<EntryIterator>self)),)


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


def copy_iterator(iterator):
    """Copy an iterator over a container, at its position."""
    cdef SequenceIterator by_index, made
    if isinstance(iterator, EntryIterator):
        return copy_entries(<EntryIterator>iterator)
    by_index = iterator
    made = SequenceIterator.__new__(SequenceIterator)
    made.sequence = sequence_of(by_index)
    made.index, made.step = by_index.index, by_index.step
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


@cython.auto_pickle(False)
@cython.final
@cython.freelist(8)
cdef class ElementIterator:
    """ElementIterator(*args, **kwargs)\n--\n\n\
Iterates over an object of a C++ class, using a function that returns one element per call."""

    cdef object get_next

    def __init__(self, *args, **kwargs):
        # Only users call it: the package makes its iterators without it.
        _container_rules.refuse_iterator("ElementIterator")

    def __iter__(self):
        return self

    def __next__(self):
        # The slot is `anyffi_py_next_element_of`: Cython's own would raise an exception at the end.
        return next(self)


cdef object refuse_pickle(object self, PyObject* unused):
    raise _container_rules.no_pickle("ElementIterator")


def iterate_elements(get_next):
    """Return an iterator over what a function returns, until it returns MISSING."""
    cdef ElementIterator made = ElementIterator.__new__(ElementIterator)
    made.get_next = get_next
    return made


#: Signatures of these methods, in the form in which docstrings in C begin with them.
cdef const char* hint_text = "__length_hint__($self, /)\n--\n\n"
cdef const char* reduce_text = "__reduce__($self, /)\n--\n\n"
cdef const char* set_state_text = "__setstate__($self, index, /)\n--\n\n"


cdef int set_up_iterators() except -1:
    cdef PyTypeObject* cls
    cdef EntryIterator example = EntryIterator.__new__(EntryIterator)
    cdef ElementIterator of_object = ElementIterator.__new__(ElementIterator)
    if (<ElementIteratorLayout*><PyObject*>of_object).get_next != Py_None:
        raise SystemError("ElementIterator is not laid out as element_iterator.h says")
    (<PyTypeObject*>ElementIterator).tp_iternext = next_element_of
    (<PyTypeObject*>ElementIterator).tp_as_sequence = &no_sequence
    set_special(<PyTypeObject*>ElementIterator, &PyListIter_Type, "__next__", <void*>next_element_of)
    cls = <PyTypeObject*>ElementIterator
    add_method(cls, "__reduce__", <PyCFunction>refuse_pickle, METH_NOARGS, reduce_text)
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
    cls = <PyTypeObject*>SequenceIterator
    add_method(cls, "__length_hint__", <PyCFunction>sequence_hint, METH_NOARGS, hint_text)
    add_method(cls, "__reduce__", <PyCFunction>reduce_sequence, METH_NOARGS, reduce_text)
    add_method(cls, "__setstate__", <PyCFunction>set_sequence_state, METH_O, set_state_text)
    cls = <PyTypeObject*>EntryIterator
    add_method(cls, "__length_hint__", <PyCFunction>entries_hint, METH_NOARGS, hint_text)
    add_method(cls, "__reduce__", <PyCFunction>reduce_entries, METH_NOARGS, reduce_text)
    return 0
