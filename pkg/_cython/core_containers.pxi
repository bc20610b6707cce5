"""The wrappers of containers; a part of _core.pyx."""

from c_api cimport ANYFFI_OBJECT, ANYFFI_SHAPE
from marshaller cimport (
    delete_item, list_multiply_in_place, object_methods, object_operators, set_class_slots, set_item,
)


@cython.auto_pickle(False)
cdef class ArrayCore(ObjectCore):
    """An Array."""

    def __len__(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY).size

    def __getitem__(self, key):
        return get_item(<PyObject*>self, ANYFFI_ARRAY, <PyObject*>key)

    def __iter__(self):
        return walk_sequence(self, ANYFFI_ARRAY, False)

    def _anyffi_iterate(self, bint backwards):
        return walk_sequence(self, ANYFFI_ARRAY, backwards)

    def _anyffi_items(self):
        return list_elements(unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY))

    def _anyffi_type_mask(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY).type_mask

    def _anyffi_find(self, value, int64_t start, int64_t stop):
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
        set_item(<PyObject*>self, <PyObject*>key, <PyObject*>item)

    def __delitem__(self, key):
        delete_item(<PyObject*>self, <PyObject*>key)

    def __iter__(self):
        return walk_sequence(self, ANYFFI_LIST, False)

    def _anyffi_iterate(self, bint backwards):
        return walk_sequence(self, ANYFFI_LIST, backwards)

    def _anyffi_items(self):
        return list_elements(unwrap_sequence(<PyObject*>self, ANYFFI_LIST))

    def _anyffi_type_mask(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_LIST).type_mask

    def _anyffi_find(self, value, int64_t start, int64_t stop):
        cdef AnyffiSequence* xs = unwrap_sequence(<PyObject*>self, ANYFFI_LIST)
        return find_value(<PyObject*>self, xs, <PyObject*>value, start, stop)

    def __richcmp__(self, other, int operation):
        return sequence_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_LIST)

    def __contains__(self, value):
        return sequence_has(<PyObject*>self, <PyObject*>value, ANYFFI_LIST)

    def __iadd__(self, other):
        return list_add_in_place(<PyObject*>self, <PyObject*>other)

    def __imul__(self, times):
        return list_multiply_in_place(<PyObject*>self, <PyObject*>times)


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

    def _anyffi_get(self, key, default):
        cdef AnyffiValue found
        return unpack(&found) if find_item(<PyObject*>self, ANYFFI_MAP, <PyObject*>key, &found) else default

    def _anyffi_iterate(self, int what, bint backwards):
        return walk_entries(self, ANYFFI_MAP, what, backwards)

    def _anyffi_pairs(self):
        return list_entries(self, ANYFFI_MAP, ITEMS)

    def _anyffi_type_mask(self):
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

    def _anyffi_get(self, key, default):
        cdef AnyffiValue found
        return unpack(&found) if find_item(<PyObject*>self, ANYFFI_DICT, <PyObject*>key, &found) else default

    def _anyffi_iterate(self, int what, bint backwards):
        return walk_entries(self, ANYFFI_DICT, what, backwards)

    def _anyffi_pairs(self):
        return list_entries(self, ANYFFI_DICT, ITEMS)

    def _anyffi_type_mask(self):
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

    def _anyffi_iterate(self):
        return walk_entries(self, ANYFFI_FROZEN_SET, ELEMENTS, False)

    def _anyffi_elements(self):
        return list_entries(self, ANYFFI_FROZEN_SET, ELEMENTS)

    def _anyffi_type_mask(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_FROZEN_SET).key_type_mask

    def __richcmp__(self, other, int operation):
        return set_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_FROZEN_SET)

    def __hash__(self):
        return set_hash(<PyObject*>self)

    def _anyffi_hash(self, int64_t computed=0):
        """Return the hash that was computed before, or 0; remember another one."""
        cdef AnyffiMapping* mapping = unwrap_mapping(<PyObject*>self, ANYFFI_FROZEN_SET)
        if computed != 0:
            mapping.host_hash = computed
        return mapping.host_hash


@cython.auto_pickle(False)
cdef class SetCore(ObjectCore):
    """A Set."""

    def __len__(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_SET).size

    def __contains__(self, element):
        return contains(self, ANYFFI_SET, element)

    def __iter__(self):
        return walk_entries(self, ANYFFI_SET, ELEMENTS, False)

    def _anyffi_iterate(self):
        return walk_entries(self, ANYFFI_SET, ELEMENTS, False)

    def _anyffi_elements(self):
        return list_entries(self, ANYFFI_SET, ELEMENTS)

    def _anyffi_type_mask(self):
        return unwrap_mapping(<PyObject*>self, ANYFFI_SET).key_type_mask

    def __richcmp__(self, other, int operation):
        return set_compare(<PyObject*>self, <PyObject*>other, operation, ANYFFI_SET)

    def __ior__(self, other):
        return set_in_place(<PyObject*>self, <PyObject*>other, ANYFFI_SET_OR)

    def __iand__(self, other):
        return set_in_place(<PyObject*>self, <PyObject*>other, ANYFFI_SET_AND)

    def __isub__(self, other):
        return set_in_place(<PyObject*>self, <PyObject*>other, ANYFFI_SET_SUB)

    def __ixor__(self, other):
        return set_in_place(<PyObject*>self, <PyObject*>other, ANYFFI_SET_XOR)


cdef int set_up_mappings() except -1:
    # Without frames of Cython, which would take longer than the KeyError itself.
    state.missing_name = keep(sys.intern("__missing__"))
    state.copy_name = keep(sys.intern("copy"))
    state.missing_item = keep(_container_rules.missing_item)
    (<PyTypeObject*>MapCore).tp_as_mapping.mp_subscript = c_map_item
    (<PyTypeObject*>DictCore).tp_as_mapping.mp_subscript = c_dict_item
    set_special(<PyTypeObject*>MapCore, &PyDictProxy_Type, "__getitem__", <void*>c_map_item)
    set_special(<PyTypeObject*>DictCore, &PyDictProxy_Type, "__getitem__", <void*>c_dict_item)
    return 0


cdef int set_up_names() except -1:
    state.range_names = keep((sys.intern("start"), sys.intern("stop"), sys.intern("step")))
    state.sort_name = keep(sys.intern("sort"))
    state.sort_keywords = keep((sys.intern("key"), sys.intern("reverse")))
    return 0


cdef list list_entries(ObjectCore wrapper, int32_t type_code, int what):
    cdef Section section
    begin_section(&section)
    try:
        # No call of `list`: without the GIL it locks the new list, so that each step begins another section.
        return [entry for entry in walk_entries(wrapper, type_code, what, False)]
    finally:
        end_section(&section)


# ---- operations that need Python methods and errors --------------------------------------------------------


cdef int convert_index "anyffi_py_convert_index"(PyObject* wrapper, PyObject* key, int64_t* index) except -1:
    index[0] = _container_rules.as_index(<object>wrapper, <object>key)
    return 0


cdef object walk_backwards "anyffi_py_walk_backwards"(PyObject* wrapper):
    return walk_sequence(<ObjectCore>wrapper, ANYFFI_LIST, True)


cdef inline bint contains(ObjectCore self, int32_t type_code, element) except -1:
    cdef int found = has_element(<PyObject*>self, type_code, <PyObject*>element)
    return self._anyffi_contains_set(element) if found == IS_SET else found


cdef int container_of "anyffi_py_container_of"(PyObject* x, AnyffiObject** out) except -1:
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef int32_t code
    out[0] = NULL
    for code in range(ANYFFI_ARRAY, ANYFFI_SET + 1):
        if cls == <PyTypeObject*>state.classes[code]:
            out[0] = unwrap_as(x, code)
            return 0
    if cls == <PyTypeObject*>state.classes[ANYFFI_SHAPE]:
        out[0] = unwrap_as(x, ANYFFI_ARRAY)
        return 0
    code = _container_rules.container_code(<object>cls)
    if code != 0:
        # A subclass, or a class of another backend.
        out[0] = unwrap_as(x, code) if isinstance(<object>x, ObjectCore) else unwrap_other(x)
    return 0
