"""The views of mappings; a part of _core.pyx."""


@cython.auto_pickle(False)
cdef class ViewCore:
    """A view of a mapping."""

    # AnyffiView in views.h.
    cdef public object _mapping

    def __len__(self):
        return view_size(<PyObject*>self)


@cython.auto_pickle(False)
cdef class KeysCore(ViewCore):
    """A view of keys."""

    def __iter__(self):
        return walk_view(self, KEYS)

    def __contains__(self, key):
        return view_has_key(<PyObject*>self, <PyObject*>key)

    def __richcmp__(self, other, int operation):
        return compare_views(self, other, operation, KEYS)

    def __and__(self, other):
        if type(other) is set or type(other) is frozenset or type(other) is list or type(other) is tuple:
            return {key for key in other if key in self}
        found = common_keys(<PyObject*>self, <PyObject*>other)
        return AbstractSet.__and__(self, other) if found is None else found

    def __rand__(self, other):
        return AbstractSet.__and__(self, other)


@cython.auto_pickle(False)
cdef class ValuesCore(ViewCore):
    """A view of values."""

    def __iter__(self):
        return walk_view(self, VALUES)

    def __contains__(self, value):
        return value in walk_view(self, VALUES)


@cython.auto_pickle(False)
cdef class ItemsCore(ViewCore):
    """A view of pairs."""

    def __iter__(self):
        return walk_view(self, ITEMS)

    def __contains__(self, pair):
        if viewed(<PyObject*>self) == NULL:
            return _container_rules.has_pair(self._mapping, pair)
        return view_has_pair(<PyObject*>self, <PyObject*>pair)

    def __richcmp__(self, other, int operation):
        return compare_views(self, other, operation, ITEMS)


cdef object walk_view(ViewCore self, int what):
    cdef AnyffiMapping* mapping = viewed(<PyObject*>self)
    if mapping == NULL:
        return self._mapping._anyffi_iterate(what, False)
    return walk_entries(self._mapping, mapping.header.type_code, what, False)


cdef tuple comparisons = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")


cdef object compare_views(ViewCore self, other, int operation, int what):
    cdef int is_equal = -1
    if operation == Py_EQ or operation == Py_NE:
        is_equal = views_equal(<PyObject*>self, <PyObject*>other, what)
    if is_equal >= 0:
        return is_equal == (operation == Py_EQ)
    cdef void* compares = <void*>Py_TYPE(<PyObject*>self).tp_richcompare
    # The methods of sets call one another, which a subclass may override.
    if compares == <void*>(<PyTypeObject*>(KeysCore if what == KEYS else ItemsCore)).tp_richcompare:
        if type(other) is type(self) or type(other) is set or type(other) is frozenset:
            return relate_sets(self, other, operation)
    return getattr(AbstractSet, comparisons[operation])(self, other)


cdef object relate_sets(mine, theirs, int operation):
    """Compare two sets as `collections.abc.Set` does: a fifth of the time of its methods."""
    cdef Py_ssize_t size = len(mine)
    cdef Py_ssize_t other_size = len(theirs)
    if operation == Py_LT:
        return size < other_size and has_all(theirs, mine)
    if operation == Py_LE:
        return size <= other_size and has_all(theirs, mine)
    if operation == Py_GT:
        return size > other_size and has_all(mine, theirs)
    if operation == Py_GE:
        return size >= other_size and has_all(mine, theirs)
    return (size == other_size and has_all(theirs, mine)) == (operation == Py_EQ)


cdef bint has_all(container, elements) except -1:
    for element in elements:
        if element not in container:
            return False
    return True


cdef int set_up_views() except -1:
    cdef ViewCore example = KeysCore.__new__(KeysCore)
    if (<ViewLayout*><PyObject*>example).mapping != <PyObject*>example._mapping:
        raise SystemError("ViewCore is not laid out as views.h says")
    state.view_core = <PyTypeObject*>ViewCore
    # Slot wrappers of each class, as its messages name them.
    cdef PyTypeObject* slots
    for core in (KeysCore, ValuesCore, ItemsCore):
        slots = <PyTypeObject*>core
        set_special(slots, &PyList_Type, "__len__", <void*>slots.tp_as_sequence.sq_length)
    slots = <PyTypeObject*>KeysCore
    for name in (b"__and__", b"__rand__"):
        set_special(slots, &PyLong_Type, name, <void*>slots.tp_as_number.nb_and)
    state.views_name = keep(sys.intern("_anyffi_views"))
    return 0
