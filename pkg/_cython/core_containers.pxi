"""The wrappers of containers; a part of _core.pyx."""


@cython.auto_pickle(False)
cdef class ArrayCore(ObjectCore):
    """An Array."""

    def __len__(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY).size

    def __getitem__(self, key):
        return get_item(<PyObject*>self, ANYFFI_ARRAY, <PyObject*>key)

    def __iter__(self):
        return walk_sequence(self, ANYFFI_ARRAY, False)

    def _iterate(self, bint backwards):
        return walk_sequence(self, ANYFFI_ARRAY, backwards)

    def _items(self):
        return list_elements(unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY))

    def _type_mask(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY).type_mask

    def _find(self, value, int64_t start, int64_t stop):
        cdef AnyffiSequence* array = unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY)
        return find_value(<PyObject*>self, array, <PyObject*>value, start, stop)

    def __richcmp__(self, other, int operation):
        return sequence_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_ARRAY)

    def __contains__(self, value):
        return sequence_has(<PyObject*>self, <PyObject*>value, ANYFFI_ARRAY)

    def __hash__(self):
        return sequence_hash(<PyObject*>self, ANYFFI_ARRAY)


@cython.auto_pickle(False)
cdef class ListCore(ObjectCore):
    """A List."""

    def __len__(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_LIST).size

    def __getitem__(self, key):
        return get_item(<PyObject*>self, ANYFFI_LIST, <PyObject*>key)

    def __setitem__(self, key, item):
        set_item(self, key, item)

    def __delitem__(self, key):
        delete_item(self, key)

    def __iter__(self):
        return walk_sequence(self, ANYFFI_LIST, False)

    def _iterate(self, bint backwards):
        return walk_sequence(self, ANYFFI_LIST, backwards)

    def _items(self):
        return list_elements(unwrap_sequence(<PyObject*>self, ANYFFI_LIST))

    def _type_mask(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_LIST).type_mask

    def _find(self, value, int64_t start, int64_t stop):
        cdef AnyffiSequence* xs = unwrap_sequence(<PyObject*>self, ANYFFI_LIST)
        return find_value(<PyObject*>self, xs, <PyObject*>value, start, stop)

    def __richcmp__(self, other, int operation):
        return sequence_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_LIST)

    def __contains__(self, value):
        return sequence_has(<PyObject*>self, <PyObject*>value, ANYFFI_LIST)

    def __iadd__(self, other):
        return list_add_in_place(<PyObject*>self, <PyObject*>other)


@cython.auto_pickle(False)
cdef class MapCore(ObjectCore):
    """A Map."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_MAP).size

    def __getitem__(self, key):
        return map_item(<PyObject*>self, <PyObject*>key)

    def __contains__(self, key):
        return has_key(<PyObject*>self, ANYFFI_MAP, <PyObject*>key)

    def __iter__(self):
        return walk_entries(self, ANYFFI_MAP, KEYS, False)

    def _get(self, key, default):
        cdef AnyffiValue found
        return unpack(&found) if find_item(<PyObject*>self, ANYFFI_MAP, <PyObject*>key, &found) else default

    def _iterate(self, int what, bint backwards):
        return walk_entries(self, ANYFFI_MAP, what, backwards)

    def _pairs(self):
        return list(walk_entries(self, ANYFFI_MAP, ITEMS, False))

    def _type_mask(self):
        cdef AnyffiMapping* mapping = unwrap_mapping(<PyObject*>self, ANYFFI_MAP)
        return mapping.key_type_mask | mapping.value_type_mask

    def __richcmp__(self, other, int operation):
        return mapping_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_MAP)


@cython.auto_pickle(False)
cdef class DictCore(ObjectCore):
    """A Dict."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_DICT).size

    def __getitem__(self, key):
        return dict_item(<PyObject*>self, <PyObject*>key)

    def __setitem__(self, key, item):
        put_item(<PyObject*>self, ANYFFI_DICT, <PyObject*>key, <PyObject*>item)

    def __delitem__(self, key):
        dict_delete(<PyObject*>self, <PyObject*>key)

    def __contains__(self, key):
        return has_key(<PyObject*>self, ANYFFI_DICT, <PyObject*>key)

    def __iter__(self):
        return walk_entries(self, ANYFFI_DICT, KEYS, False)

    def _get(self, key, default):
        cdef AnyffiValue found
        return unpack(&found) if find_item(<PyObject*>self, ANYFFI_DICT, <PyObject*>key, &found) else default

    def _iterate(self, int what, bint backwards):
        return walk_entries(self, ANYFFI_DICT, what, backwards)

    def _pairs(self):
        return list(walk_entries(self, ANYFFI_DICT, ITEMS, False))

    def _type_mask(self):
        cdef AnyffiMapping* mapping = unwrap_mapping(<PyObject*>self, ANYFFI_DICT)
        return mapping.key_type_mask | mapping.value_type_mask

    def __richcmp__(self, other, int operation):
        return mapping_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_DICT)

    def __ior__(self, other):
        return dict_or_in_place(<PyObject*>self, <PyObject*>other)


@cython.auto_pickle(False)
cdef class FrozenSetCore(ObjectCore):
    """A FrozenSet."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_FROZEN_SET).size

    def __contains__(self, element):
        return contains(self, ANYFFI_FROZEN_SET, element)

    def __iter__(self):
        return walk_entries(self, ANYFFI_FROZEN_SET, ELEMENTS, False)

    def _iterate(self):
        return walk_entries(self, ANYFFI_FROZEN_SET, ELEMENTS, False)

    def _elements(self):
        return list(walk_entries(self, ANYFFI_FROZEN_SET, ELEMENTS, False))

    def __richcmp__(self, other, int operation):
        return set_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_FROZEN_SET)

    def __hash__(self):
        # Not `hash` of the result, which would be another number.
        return <Py_hash_t>(<object>state.methods[ANYFFI_FROZEN_SET]).__hash__(self)


@cython.auto_pickle(False)
cdef class SetCore(ObjectCore):
    """A Set."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_SET).size

    def __contains__(self, element):
        return contains(self, ANYFFI_SET, element)

    def __iter__(self):
        return walk_entries(self, ANYFFI_SET, ELEMENTS, False)

    def _iterate(self):
        return walk_entries(self, ANYFFI_SET, ELEMENTS, False)

    def _elements(self):
        return list(walk_entries(self, ANYFFI_SET, ELEMENTS, False))

    def __richcmp__(self, other, int operation):
        return set_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_SET)

    def __ior__(self, other):
        return set_or_in_place(<PyObject*>self, <PyObject*>other)


cdef int set_up_mappings() except -1:
    # Without frames of Cython, which take longer than a KeyError.
    state.missing_name = keep(sys.intern("__missing__"))
    state.missing_item = keep(_container_rules.missing_item)
    (<PyTypeObject*>MapCore).tp_as_mapping.mp_subscript = c_map_item
    (<PyTypeObject*>DictCore).tp_as_mapping.mp_subscript = c_dict_item
    set_special(<PyTypeObject*>MapCore, &PyDictProxy_Type, "__getitem__", <void*>c_map_item)
    set_special(<PyTypeObject*>DictCore, &PyDictProxy_Type, "__getitem__", <void*>c_dict_item)
    return 0


# ---- what needs Python-level methods and errors ------------------------------------------------------------


cdef object get_item_slow "anyffi_py_get_item_slow"(PyObject* wrapper, int32_t type_code, PyObject* key):
    cdef int64_t index
    cdef AnyffiSequence* sequence
    if not read_index(key, &index):
        if isinstance(<object>key, slice):
            return sequence_slice(wrapper, key, type_code)
        index = _container_rules.as_index(<object>wrapper, <object>key)
    sequence = unwrap_sequence(wrapper, type_code)
    if index < 0:
        index += sequence.size
    if not 0 <= index < sequence.size:
        raise _container_rules.index_out_of_range(<object>wrapper)
    return unpack_copy(&sequence.data[index])


cdef int64_t find_position(ListCore self, key) except -1:
    """The position in a List that a key means, which is not a slice."""
    cdef int64_t index
    if not read_index(<PyObject*>key, &index):
        index = _container_rules.as_index(self, key)
    if index < 0:
        index += unwrap_sequence(<PyObject*>self, ANYFFI_LIST).size
    check_position(self, index)
    return index


cdef inline int check_position(ListCore self, int64_t index) except -1:
    if not 0 <= index < unwrap_sequence(<PyObject*>self, ANYFFI_LIST).size:
        raise _container_rules.assignment_out_of_range(self)
    return 0


cdef inline int set_item(ListCore self, key, item) except -1:
    cdef AnyffiValue packed
    cdef int64_t index
    cdef bint made
    if isinstance(key, slice):
        if not set_slice(<PyObject*>self, <PyObject*>key, <PyObject*>item):
            self._set_slice(key, item)
        return 0
    index = find_position(self, key)
    made = pack(<PyObject*>item, &packed)
    try:
        # Packing may have run code that changed the list.
        check_position(self, index)
        if anyffi_sequence_set(unwrap(<PyObject*>self), index, &packed) != 0:
            raise_taken()
    finally:
        if made:
            anyffi_value_drop(&packed)
    return 0


cdef inline int delete_item(ListCore self, key) except -1:
    if isinstance(key, slice):
        if not set_slice(<PyObject*>self, <PyObject*>key, NULL):
            self._delete_slice(key)
    elif anyffi_sequence_erase(unwrap(<PyObject*>self), find_position(self, key), 1) != 0:
        raise_taken()
    return 0


cdef object walk_backwards "anyffi_py_walk_backwards"(PyObject* wrapper):
    return walk_sequence(<ObjectCore>wrapper, ANYFFI_LIST, True)


cdef inline bint contains(ObjectCore self, int32_t type_code, element) except -1:
    cdef int found = has_element(<PyObject*>self, type_code, <PyObject*>element)
    return self._contains_set(element) if found == IS_SET else found


cdef int container_of "anyffi_py_container_of"(PyObject* x, AnyffiObject** out) except -1:
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef int32_t code
    out[0] = NULL
    for code in range(ANYFFI_ARRAY, ANYFFI_SET + 1):
        if cls == <PyTypeObject*>state.classes[code]:
            out[0] = unwrap_as(x, code)
            return 0
    code = _container_rules.container_code(<object>cls)
    if code != 0:
        # A subclass, or a class of another backend.
        out[0] = unwrap_as(x, code) if isinstance(<object>x, ObjectCore) else unwrap_other(x)
    return 0
