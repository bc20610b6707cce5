"""What the wrappers of containers do, straight from and to the runtime's memory.

The interpreter's lock is held, so that nothing changes but where Python code runs: in packing, unpacking and
comparing keys.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from c_api cimport (
    ANYFFI_INT, ANYFFI_LIST, ANYFFI_SET, ANYFFI_UNSET, AnyffiEntry, AnyffiMapping, AnyffiObject,
    AnyffiSequence, AnyffiValue, anyffi_mapping_find, anyffi_mapping_get, anyffi_mapping_set,
    anyffi_sequence_erase, anyffi_sequence_set, anyffi_type_is_a, anyffi_value_drop,
    anyffi_value_retain,
)
from pack cimport pack, pack_owned
from plain cimport anyffi_py_read_int, anyffi_py_read_short_int, new_int
from python cimport (
    PyLong_Type, PyObject, PySlice_Check, Py_TYPE, anyffi_py_append,
    anyffi_py_reserve_list,
)
from unpack cimport is_latin_character, raise_taken, unpack, unpack_copy
from wrapper cimport Wrapper, state, unwrap


cdef inline AnyffiObject* unwrap_as(PyObject* wrapper, int32_t type_code) except NULL:
    """The object of a wrapper, borrowed, which must be of a type."""
    cdef AnyffiObject* found = (<Wrapper*>wrapper).object
    if found == NULL or found.type_code != type_code:
        check_type(wrapper, type_code)
    return found


cdef inline int check_type(PyObject* wrapper, int32_t type_code) except -1:
    # `x.__class__ = ...` can put a wrapper into any class of the same size.
    if not anyffi_type_is_a(unwrap(wrapper).type_code, type_code):
        raise (<object>state.container_rules).wrong_object(<object>wrapper)
    return 0


# ---- sequences ----------------------------------------------------------------------------------------


cdef inline AnyffiSequence* unwrap_sequence(PyObject* wrapper, int32_t type_code) except NULL:
    return <AnyffiSequence*>unwrap_as(wrapper, type_code)


cdef inline bint read_index(PyObject* key, int64_t* out) noexcept:
    """Whether a key is an int that fits, as most are."""
    return Py_TYPE(key) == &PyLong_Type and anyffi_py_read_int(key, out) == 0


cdef inline object get_item(PyObject* wrapper, int32_t type_code, object key):
    cdef AnyffiObject* found = (<Wrapper*>wrapper).object
    cdef AnyffiSequence* sequence = <AnyffiSequence*>found
    cdef int64_t index
    # What nearly every look-up is, without a call: half the instructions.
    if (found != NULL and found.type_code == type_code
            and Py_TYPE(<PyObject*>key) == &PyLong_Type and anyffi_py_read_short_int(<PyObject*>key, &index)
            and <uint64_t>index < <uint64_t>sequence.size):
        if sequence.data[index].type_code == ANYFFI_INT:
            return new_int(sequence.data[index].as_int)
        return unpack_copy(&sequence.data[index])
    return get_uncommon_item(wrapper, type_code, key)


cdef inline object get_uncommon_item(PyObject* wrapper, int32_t type_code, object key):
    cdef int64_t index
    cdef AnyffiSequence* sequence
    if not read_index(<PyObject*>key, &index):
        if PySlice_Check(<PyObject*>key):
            return (<object>wrapper)._slice(key)
        index = (<object>state.container_rules).as_index(<object>wrapper, key)
    sequence = unwrap_sequence(wrapper, type_code)
    if index < 0:
        index += sequence.size
    if not 0 <= index < sequence.size:
        raise (<object>state.container_rules).index_out_of_range(<object>wrapper)
    return unpack_copy(&sequence.data[index])


cdef inline int64_t find_position(PyObject* wrapper, object key) except -1:
    """The position in a List that a key means, which is not a slice."""
    cdef int64_t index
    if not read_index(<PyObject*>key, &index):
        index = (<object>state.container_rules).as_index(<object>wrapper, key)
    if index < 0:
        index += unwrap_sequence(wrapper, ANYFFI_LIST).size
    check_position(wrapper, index)
    return index


cdef inline int check_position(PyObject* wrapper, int64_t index) except -1:
    if not 0 <= index < unwrap_sequence(wrapper, ANYFFI_LIST).size:
        raise (<object>state.container_rules).assignment_out_of_range(<object>wrapper)
    return 0


cdef inline int set_item(PyObject* wrapper, object key, object item) except -1:
    cdef AnyffiValue packed
    if PySlice_Check(<PyObject*>key):
        (<object>wrapper)._set_slice(key, item)
        return 0
    cdef int64_t index = find_position(wrapper, key)
    cdef bint made = pack(<PyObject*>item, &packed)
    try:
        # Packing may have run code that changed the list.
        check_position(wrapper, index)
        if anyffi_sequence_set(unwrap(wrapper), index, &packed) != 0:
            raise_taken()
    finally:
        if made:
            anyffi_value_drop(&packed)
    return 0


cdef inline int delete_item(PyObject* wrapper, object key) except -1:
    if PySlice_Check(<PyObject*>key):
        (<object>wrapper)._delete_slice(key)
    elif anyffi_sequence_erase(unwrap(wrapper), find_position(wrapper, key), 1) != 0:
        raise_taken()
    return 0


cdef inline list list_items(AnyffiSequence* sequence):
    """All elements. Making one may run code that changes the sequence.

    Characters and ints are made here: `unpack_copy`, and a list that grows, would take twice as long.
    """
    cdef list items = anyffi_py_reserve_list(sequence.size)
    cdef const AnyffiValue* cell
    cdef int64_t index = 0
    while index < sequence.size:
        cell = &sequence.data[index]
        if is_latin_character(cell):
            anyffi_py_append(<PyObject*>items, state.characters[cell.aux])
        elif cell.type_code == ANYFFI_INT:
            append_made(items, new_int(cell.as_int))
        else:
            append_made(items, unpack_copy(cell))
        index += 1
    return items


cdef inline int append_made(list items, object item) except -1:
    return anyffi_py_append(<PyObject*>items, <PyObject*>item)


# ---- mappings -----------------------------------------------------------------------------------------


cdef inline AnyffiMapping* unwrap_mapping(PyObject* wrapper, int32_t type_code) except NULL:
    return <AnyffiMapping*>unwrap_as(wrapper, type_code)


cdef inline bint find_item(PyObject* wrapper, int32_t type_code, object key, AnyffiValue* out) except -1:
    """Whether the key is there; `out` then holds its value, owned."""
    cdef AnyffiObject* mapping = unwrap_as(wrapper, type_code)
    cdef AnyffiValue packed
    cdef bint made = pack(<PyObject*>key, &packed)
    cdef int status = anyffi_mapping_get(mapping, &packed, out)
    if made:
        # May run code that changes the mapping.
        anyffi_value_drop(&packed)
    if status != 0:
        raise_taken()
    return out.type_code != ANYFFI_UNSET


cdef inline bint has_key(PyObject* wrapper, int32_t type_code, object key) except -1:
    cdef AnyffiValue found
    if not find_item(wrapper, type_code, key, &found):
        return False
    anyffi_value_drop(&found)
    return True


cdef inline bint has_element(PyObject* wrapper, int32_t type_code, object element) except -1:
    cdef AnyffiObject* elements = unwrap_as(wrapper, type_code)
    cdef AnyffiValue packed
    cdef int64_t entry = -1
    cdef bint made = pack(<PyObject*>element, &packed)
    try:
        if packed.type_code == ANYFFI_SET:
            return (<object>wrapper)._contains_set(element)
        if anyffi_mapping_find(elements, &packed, &entry) != 0:
            raise_taken()
        return entry >= 0
    finally:
        if made:
            anyffi_value_drop(&packed)


cdef inline int put_item(PyObject* wrapper, int32_t type_code, object key, object item) except -1:
    cdef AnyffiValue packed_key, packed_item
    cdef int32_t existed = 0
    pack_owned(<PyObject*>key, &packed_key, NULL)
    try:
        pack_owned(<PyObject*>item, &packed_item, NULL)
    except BaseException:
        anyffi_value_drop(&packed_key)
        raise
    # Takes both over, also where it fails.
    if anyffi_mapping_set(unwrap_as(wrapper, type_code), &packed_key, &packed_item, &existed) != 0:
        raise_taken()
    return 0


cdef inline int64_t next_entry(const AnyffiMapping* mapping, int64_t number, int step) noexcept:
    """The number of the first live entry from one on, in steps of 1 or -1; -1 if there is none."""
    number = min(number, mapping.used - (step < 0))
    while 0 <= number < mapping.used:
        if mapping.entries[number].key.type_code != ANYFFI_UNSET:
            return number
        number += step
    return -1


cdef inline object unpack_entry(const AnyffiEntry* entry, int what):
    """Key, value or both, as the rules number them."""
    cdef AnyffiValue key, item
    cdef object unpacked_key
    if what == 0 or what == 3:
        return unpack_copy(&entry.key)
    if what == 1:
        return unpack_copy(&entry.value)
    # Both are held before either is unpacked, which may run code that changes the mapping.
    key = entry.key
    item = entry.value
    anyffi_value_retain(&key)
    anyffi_value_retain(&item)
    try:
        unpacked_key = unpack(&key)
    except BaseException:
        anyffi_value_drop(&item)
        raise
    return unpacked_key, unpack(&item)
