"""The wrappers of containers, and their iterators; a part of _core.pyx."""


@cython.auto_pickle(False)
cdef class ArrayCore(ObjectCore):
    """An Array."""

    def __len__(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY).size

    def __getitem__(self, key):
        return get_item(<PyObject*>self, ANYFFI_ARRAY, key)

    def __iter__(self):
        return walk_sequence(self, ANYFFI_ARRAY, False)

    def _iterate(self, bint backwards):
        return walk_sequence(self, ANYFFI_ARRAY, backwards)

    def _items(self):
        return list_items(unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY))

    def _type_mask(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY).type_mask


@cython.auto_pickle(False)
cdef class ListCore(ObjectCore):
    """A List."""

    def __len__(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_LIST).size

    def __getitem__(self, key):
        return get_item(<PyObject*>self, ANYFFI_LIST, key)

    def __setitem__(self, key, item):
        set_item(<PyObject*>self, key, item)

    def __delitem__(self, key):
        delete_item(<PyObject*>self, key)

    def __iter__(self):
        return walk_sequence(self, ANYFFI_LIST, False)

    def _iterate(self, bint backwards):
        return walk_sequence(self, ANYFFI_LIST, backwards)

    def _items(self):
        return list_items(unwrap_sequence(<PyObject*>self, ANYFFI_LIST))

    def _type_mask(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_LIST).type_mask


@cython.auto_pickle(False)
@cython.final
cdef class SequenceIterator:
    """Walks by index, as a list's iterator does, and so sees changes."""

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
            # Once exhausted it stays so.
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
cdef class MapCore(ObjectCore):
    """A Map."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_MAP).size

    def __getitem__(self, key):
        cdef AnyffiValue found
        if not find_item(<PyObject*>self, ANYFFI_MAP, key, &found):
            raise KeyError(key)
        return unpack(&found)

    def __contains__(self, key):
        return has_key(<PyObject*>self, ANYFFI_MAP, key)

    def __iter__(self):
        return walk_entries(self, ANYFFI_MAP, KEYS, False)

    def _get(self, key, default):
        cdef AnyffiValue found
        return unpack(&found) if find_item(<PyObject*>self, ANYFFI_MAP, key, &found) else default

    def _iterate(self, int what, bint backwards):
        return walk_entries(self, ANYFFI_MAP, what, backwards)


@cython.auto_pickle(False)
cdef class DictCore(ObjectCore):
    """A Dict."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_DICT).size

    def __getitem__(self, key):
        cdef AnyffiValue found
        if not find_item(<PyObject*>self, ANYFFI_DICT, key, &found):
            return _container_rules.missing_item(self, key)
        return unpack(&found)

    def __setitem__(self, key, item):
        put_item(<PyObject*>self, ANYFFI_DICT, key, item)

    def __delitem__(self, key):
        self._delete(key)

    def __contains__(self, key):
        return has_key(<PyObject*>self, ANYFFI_DICT, key)

    def __iter__(self):
        return walk_entries(self, ANYFFI_DICT, KEYS, False)

    def _get(self, key, default):
        cdef AnyffiValue found
        return unpack(&found) if find_item(<PyObject*>self, ANYFFI_DICT, key, &found) else default

    def _iterate(self, int what, bint backwards):
        return walk_entries(self, ANYFFI_DICT, what, backwards)


@cython.auto_pickle(False)
cdef class FrozenSetCore(ObjectCore):
    """A FrozenSet."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_FROZEN_SET).size

    def __contains__(self, element):
        return has_element(<PyObject*>self, ANYFFI_FROZEN_SET, element)

    def __iter__(self):
        return walk_entries(self, ANYFFI_FROZEN_SET, ELEMENTS, False)

    def _iterate(self):
        return walk_entries(self, ANYFFI_FROZEN_SET, ELEMENTS, False)


@cython.auto_pickle(False)
cdef class SetCore(ObjectCore):
    """A Set."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_SET).size

    def __contains__(self, element):
        return has_element(<PyObject*>self, ANYFFI_SET, element)

    def __iter__(self):
        return walk_entries(self, ANYFFI_SET, ELEMENTS, False)

    def _iterate(self):
        return walk_entries(self, ANYFFI_SET, ELEMENTS, False)


@cython.auto_pickle(False)
@cython.final
cdef class EntryIterator:
    """Walks the entries in or against their order, and notices what the iterators of dict and set notice."""

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
            # From now on always.
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
