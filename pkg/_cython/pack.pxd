"""Python values to 16 bytes: exact builtins here, `rules.lower` for the rest.

`pack` serves arguments and borrows what it can; `pack_owned` serves elements and results. Containers hold
containers, so that these functions call each other in circles and have to share a file.
"""

from libc.stdint cimport int32_t, int64_t

from c_api cimport (
    ANYFFI_ARRAY, ANYFFI_DICT, ANYFFI_ERROR, ANYFFI_FROZEN_SET, ANYFFI_FUNCTION, ANYFFI_LIST, ANYFFI_MAP,
    ANYFFI_MOVABLE, ANYFFI_OBJECT, ANYFFI_PY_OBJECT, ANYFFI_SET, ANYFFI_TENSOR, ANYFFI_TENSOR_VIEW,
    ANYFFI_UNSET, AnyffiEntry, AnyffiMapping, AnyffiObject, AnyffiSequence, AnyffiSlice, AnyffiValue,
    anyffi_error_create_host, anyffi_function_create_host, anyffi_type_bit, anyffi_mapping_create,
    anyffi_mapping_finish, anyffi_make_object, anyffi_py_object_create, anyffi_slice_create,
    anyffi_tensor_from_capsule, anyffi_value_drop,
)
from call cimport pack_special
from exchange cimport learn_exchange, pack_exchanged
from leaves cimport pack_leaf, pack_uncommon_leaf
from memo cimport Memo, memo_clear
from memory cimport pack_memory
from ndarray cimport learn_ndarray, pack_ndarray
from nest cimport Nest, check_depth, enter, find_met, leave, open_nest, remember, share
from plain cimport fill_plain, pack_inline, pack_plain, pack_plain_items
from python cimport (
    PyCFunction_Type, PyDict_Items, PyDict_Next, PyDict_Size, PyDict_Type, PyFunction_Type, PyList_AsTuple,
    PyList_Type, PyMethod_Type, PyObject, PySequence_Fast_ITEMS, PySliceObject, PySlice_Type, PyTuple_Type,
    PyTypeObject, Py_INCREF, Py_SIZE, Py_TYPE,
)
from unpack cimport raise_taken
from wrapper cimport is_wrapper, raise_empty, state, unwrap


cdef inline int pack(PyObject* x, AnyffiValue* out) except -1:
    """Packs an argument, which the caller keeps alive; 1 if `out` owns a reference, marked movable."""
    return 0 if pack_plain(x, out) else pack_special(x, out)


cdef inline int pack_uncommon(PyObject* x, AnyffiValue* out) except -1:
    """As `pack`, of what is neither plain nor a list or tuple."""
    cdef PyTypeObject* cls = Py_TYPE(x)
    cdef bint made
    # Told first: asking for a wrapper looks through all bases of a class.
    if cls == state.ndarray:
        made = pack_ndarray(x, out)
    elif cls == &PySlice_Type:
        made = pack_leaf_slice(x, out)
    elif is_callable_type(cls):
        made = pack_handle(ANYFFI_FUNCTION, x, out)
    else:
        made = pack_exchanged(x, out)
    if not made:
        if is_wrapper(x):
            out[0] = anyffi_make_object(unwrap(x))
            return 0
        # A leaf here is text that cannot be borrowed, or an int of three digits.
        made = pack_leaf(x, out) or pack_outermost(x, out)
        if out.type_code <= 0:
            return 0
        if not made:
            # An object of another backend's wrapper, which `x` keeps alive: borrowed like those of our own.
            anyffi_value_drop(out)
            return 0
    out.aux = ANYFFI_MOVABLE
    return 1


cdef inline bint is_callable_type(PyTypeObject* cls) noexcept:
    """Whether the rules would say that objects of a class are functions; this is forty times faster."""
    return cls == &PyFunction_Type or cls == &PyMethod_Type or cls == &PyCFunction_Type


cdef inline int pack_owned(PyObject* x, AnyffiValue* out, Nest* outer) except -1:
    """Packs an element of the container `outer`, or (NULL) a value that stands alone; nothing is borrowed."""
    if not pack_leaf(x, out):
        pack_nested(x, out, outer)
    return 0


cdef inline int pack_nested(PyObject* x, AnyffiValue* out, Nest* outer) except -1:
    """Packs what is no leaf as an owned value; 1 if it was made here and nobody else can reach it."""
    cdef Nest nest
    cdef AnyffiObject* met
    if Py_TYPE(x) != &PySlice_Type and is_wrapper(x):
        return share(unwrap(x), out)
    if outer == NULL:
        return pack_outermost(x, out)
    met = find_met(x, outer)
    if met != NULL:
        return share(met, out)
    nest.outer = outer
    nest.container = x
    nest.memo = outer.memo
    nest.depth = outer.depth + 1
    return pack_container(x, out, &nest)


cdef inline int pack_outermost(PyObject* x, AnyffiValue* out) except -1:
    cdef Nest nest
    cdef Memo memo
    open_nest(&nest, x, &memo)
    try:
        return pack_container(x, out, &nest)
    finally:
        if memo.used != 0:
            memo_clear(&memo)


cdef inline int pack_container(PyObject* x, AnyffiValue* out, Nest* nest) except -1:
    cdef PyTypeObject* cls = Py_TYPE(x)
    if cls == &PyTuple_Type:
        enter(nest)
        pack_items(x, ANYFFI_ARRAY, out, nest)
    elif cls == &PyList_Type:
        enter(nest)
        pack_items(x, ANYFFI_LIST, out, nest)
    elif cls == &PyDict_Type:
        enter(nest)
        pack_dict(x, out, nest)
    elif cls == &PySlice_Type:
        return pack_slice(x, out, nest)
    elif is_callable_type(cls):
        return pack_handle(ANYFFI_FUNCTION, x, out)
    elif cls == state.ndarray and pack_ndarray(x, out):
        return 1
    elif pack_exchanged(x, out):
        return 1
    else:
        return pack_lowered(x, out, nest)
    return leave(nest, out)


cdef inline int pack_items(PyObject* items, int32_t type_code, AnyffiValue* out, Nest* nest) except -1:
    """Packs a list or tuple; where `nest` is NULL, one that stands alone."""
    cdef int packed = pack_plain_items(PySequence_Fast_ITEMS(items), Py_SIZE(items), type_code, out)
    if packed < 0:
        raise_taken()
    if packed == 0:
        fill_rest(items, Py_SIZE(items), out, nest)
    return 1


cdef inline int fill_alone(PyObject* items, AnyffiValue* out) except -1:
    """Packs what `pack_plain_items` left of a list or tuple that stands alone."""
    return fill_rest(items, Py_SIZE(items), out, NULL)


cdef inline int fill_rest(PyObject* items, Py_ssize_t size, AnyffiValue* out, Nest* nest) except -1:
    """Packs the elements from the first on that does not lie in place; drops `out` if one fails."""
    cdef AnyffiSequence* sequence = <AnyffiSequence*>out.as_object
    cdef bint complete = False
    try:
        # While elements are leaves no Python code runs, and nobody can change the list that is being read.
        while sequence.size < size and fill_leaf(items, sequence, nest == NULL):
            # Most often the last element was the one that is not plain.
            if sequence.size < size:
                fill_plain(PySequence_Fast_ITEMS(items), size, sequence)
        if sequence.size < size:
            fill_others(items, size, sequence, nest)
        complete = True
        return 0
    finally:
        if not complete:
            anyffi_value_drop(out)


cdef inline int fill_leaf(PyObject* items, AnyffiSequence* sequence, bint alone) except -1:
    """Packs one more element, if it is a leaf; whether it is.

    A slice of leaves counts among them in a container that stands alone: there it is not too deep.
    """
    cdef PyObject* item = PySequence_Fast_ITEMS(items)[sequence.size]
    cdef AnyffiValue* cell = &sequence.data[sequence.size]
    if alone and Py_TYPE(item) == &PySlice_Type:
        if not pack_leaf_slice(item, cell):
            return 0
    elif not pack_leaf(item, cell):
        return 0
    sequence.size += 1
    sequence.type_mask |= anyffi_type_bit(cell.type_code)
    return 1


cdef inline int fill_others(PyObject* items, Py_ssize_t size, AnyffiSequence* sequence, Nest* nest) except -1:
    """Packs the elements from the first that is no leaf on."""
    cdef Nest alone
    cdef Memo memo
    cdef AnyffiValue* cell
    memo.used = 0
    if nest == NULL:
        nest = &alone
        open_nest(nest, items, &memo)
    snapshot = PyList_AsTuple(items) if Py_TYPE(items) == &PyList_Type else <object>items
    items = <PyObject*>snapshot
    try:
        while sequence.size < size:
            if not fill_leaf(items, sequence, False):
                cell = &sequence.data[sequence.size]
                pack_nested(PySequence_Fast_ITEMS(items)[sequence.size], cell, nest)
                sequence.size += 1
                sequence.type_mask |= anyffi_type_bit(cell.type_code)
            fill_plain(PySequence_Fast_ITEMS(items), size, sequence)
    finally:
        if memo.used != 0:
            memo_clear(&memo)
    return 0


cdef inline int pack_dict(PyObject* x, AnyffiValue* out, Nest* nest) except -1:
    if not pack_leaf_entries(x, out):
        pack_pairs(PyDict_Items(x), ANYFFI_DICT, out, nest)
    return 0


cdef inline int pack_leaf_entries(PyObject* x, AnyffiValue* out) except -1:
    """Packs a dict of leaves; 0, with nothing in `out`, if it holds others or keys that become equal."""
    cdef PyObject* key
    cdef PyObject* item
    cdef Py_ssize_t position = 0
    cdef int64_t first = -1
    cdef int64_t second = -1
    cdef bint complete = False
    if anyffi_mapping_create(ANYFFI_DICT, PyDict_Size(x), out) != 0:
        raise_taken()
    try:
        while PyDict_Next(x, &position, &key, &item):
            if not pack_entry(key, item, <AnyffiMapping*>out.as_object, NULL):
                return 0
        if anyffi_mapping_finish(out.as_object, &first, &second) != 0:
            raise_taken()
        complete = first < 0
        return complete
    finally:
        if not complete:
            anyffi_value_drop(out)


cdef inline int pack_entry(PyObject* key, PyObject* item, AnyffiMapping* mapping, Nest* nest) except -1:
    """Packs one more entry of a new mapping; where `nest` is NULL only leaves, and 0 if it holds others."""
    cdef AnyffiEntry* entry = &mapping.entries[mapping.used]
    cdef bint complete = False
    if not pack_leaf(key, &entry.key):
        if nest == NULL:
            return 0
        pack_nested(key, &entry.key, nest)
    try:
        if not pack_leaf(item, &entry.value):
            if nest == NULL:
                return 0
            pack_nested(item, &entry.value, nest)
        mapping.key_type_mask |= anyffi_type_bit(entry.key.type_code)
        mapping.value_type_mask |= anyffi_type_bit(entry.value.type_code)
        # Whoever destroys the mapping, should a later entry fail, goes by this.
        mapping.used += 1
        complete = True
        return 1
    finally:
        if not complete:
            anyffi_value_drop(&entry.key)


cdef inline int pack_pairs(list pairs, int32_t type_code, AnyffiValue* out, Nest* nest) except -1:
    """Packs a mapping, or a set, from a list of its entries, which nobody else knows."""
    cdef PyObject** pair
    cdef int64_t first = -1
    cdef int64_t second = -1
    cdef bint complete = False
    cdef Py_ssize_t i
    if anyffi_mapping_create(type_code, len(pairs), out) != 0:
        raise_taken()
    try:
        for i in range(len(pairs)):
            pair = PySequence_Fast_ITEMS(<PyObject*>pairs[i])
            pack_entry(pair[0], pair[1], <AnyffiMapping*>out.as_object, nest)
        if anyffi_mapping_finish(out.as_object, &first, &second) != 0:
            raise_taken()
        if first >= 0:
            raise (<object>state.equal_keys)(type_code, pairs[first][0], pairs[second][0])
        complete = True
        return 0
    finally:
        if not complete:
            anyffi_value_drop(out)


cdef inline int pack_leaf_slice(PyObject* x, AnyffiValue* out) except -1:
    """Packs a slice of what lies in place, as nearly all are; 0 if it holds others."""
    cdef AnyffiSlice* made
    if anyffi_slice_create(NULL, NULL, NULL, out) != 0:
        raise_taken()
    made = <AnyffiSlice*>out.as_object
    if (pack_inline((<PySliceObject*>x).start, &made.start)
            and pack_inline((<PySliceObject*>x).stop, &made.stop)
            and pack_inline((<PySliceObject*>x).step, &made.step)):
        return 1
    anyffi_value_drop(out)
    return 0


cdef inline int pack_slice(PyObject* x, AnyffiValue* out, Nest* nest) except -1:
    cdef PyObject** part = [(<PySliceObject*>x).start, (<PySliceObject*>x).stop, (<PySliceObject*>x).step]
    cdef AnyffiValue* cell
    cdef AnyffiValue packed
    cdef bint entered = False
    cdef bint complete = False
    cdef int i
    check_depth(nest)
    if anyffi_slice_create(NULL, NULL, NULL, out) != 0:
        raise_taken()
    # The three lie side by side.
    cell = &(<AnyffiSlice*>out.as_object).start
    try:
        for i in range(3):
            if pack_leaf(part[i], &cell[i]):
                continue
            # A slice of leaves is made anew each time that it is met: nobody can tell, and it is faster.
            if not entered:
                enter(nest)
                entered = True
            # Put there once it is whole: where this fails, it leaves behind what was given back already.
            pack_nested(part[i], &packed, nest)
            cell[i] = packed
        complete = True
    finally:
        if not complete:
            anyffi_value_drop(out)
    if entered:
        leave(nest, out)
    return 1


cdef inline int pack_lowered(PyObject* x, AnyffiValue* out, Nest* nest) except -1:
    """Packs an uncommon value, as the rules say; 1 if it was made here."""
    cdef tuple lowered = (<object>state.lower)(<object>x)
    cdef int32_t code = lowered[0]
    cdef object payload = lowered[1]
    cdef AnyffiObject* found
    if code == ANYFFI_ARRAY or code == ANYFFI_LIST:
        enter(nest)
        pack_items(<PyObject*>payload, code, out, nest)
        return leave(nest, out)
    if code == ANYFFI_DICT or code == ANYFFI_MAP or code == ANYFFI_SET or code == ANYFFI_FROZEN_SET:
        enter(nest)
        pack_pairs(payload, code, out, nest)
        return leave(nest, out)
    if code == ANYFFI_OBJECT:
        found = <AnyffiObject*><size_t>payload._address
        if found == NULL:
            raise_empty(<PyObject*>payload)
        return share(found, out)
    if (code == ANYFFI_FUNCTION or code == ANYFFI_ERROR or code == ANYFFI_PY_OBJECT
            or code == ANYFFI_TENSOR):
        pack_handle(code, <PyObject*>payload, out)
        if code == ANYFFI_TENSOR:
            learn_exchange(Py_TYPE(x))
        return 1
    if code == ANYFFI_TENSOR_VIEW:
        pack_memory(payload, out)
        if not state.knows_ndarray:
            learn_ndarray(<object>x)
        return 1
    if code == ANYFFI_UNSET:
        return pack_value_of(<PyObject*>payload, out, nest)
    pack_uncommon_leaf(code, payload, out)
    return 1


cdef inline int pack_value_of(PyObject* value, AnyffiValue* out, Nest* nest) except -1:
    """Packs what the object of a nest stands for; always 1.

    That may die with the object that gave it, so that the call has a reference of its own.
    """
    cdef PyObject* holder = nest.container
    cdef AnyffiObject* met = NULL
    cdef bint complete = False
    if not pack_leaf(value, out):
        if is_wrapper(value):
            met = unwrap(value)
        elif nest.outer != NULL:
            met = find_met(value, nest.outer)
        if met != NULL:
            share(met, out)
        else:
            nest.container = value
            pack_container(value, out, nest)
            nest.container = holder
    try:
        # Asked once: an object that is met twice is one object, as containers are.
        if out.type_code > 0:
            remember(nest)
            leave(nest, out)
        complete = True
        return 1
    finally:
        if not complete:
            anyffi_value_drop(out)


cdef inline int pack_handle(int32_t code, PyObject* handle, AnyffiValue* out) except -1:
    """Packs an object that holds a Python object; always 1."""
    cdef int status
    # The runtime takes the count over, also where it fails.
    Py_INCREF(handle)
    if code == ANYFFI_FUNCTION:
        status = anyffi_function_create_host(state.callback, handle, out)
    elif code == ANYFFI_ERROR:
        status = anyffi_error_create_host(handle, out)
    elif code == ANYFFI_TENSOR:
        status = anyffi_tensor_from_capsule(handle, out)
    else:
        status = anyffi_py_object_create(handle, out)
    if status != 0:
        raise_taken()
    return 1
