# cython: binding=False
# Methods are then descriptors of C, which check the type of `self`: `Dict._entry([], 0)` is a TypeError.
"""The compiled marshaller: the names of `anyffi._backend.CORE`.

The way of a call goes from `FunctionCore` through call.pxd, pack.pxd and unpack.pxd: files of inline
functions, so that the C compiler sees all of it at once.
"""

cimport cython

from c_api cimport (
    ANYFFI_ABI_VERSION, ANYFFI_ARRAY, ANYFFI_DICT, ANYFFI_FIRST_DYNAMIC_TYPE, ANYFFI_FROZEN_SET,
    ANYFFI_FUNCTION, ANYFFI_LIST, ANYFFI_MAP, ANYFFI_NONE, ANYFFI_SET, ANYFFI_SHAPE, ANYFFI_UNSET,
    AnyffiEntry, AnyffiMapping, AnyffiObject, AnyffiSequence, AnyffiValue, anyffi_abi_get_version,
    anyffi_host_install, anyffi_mapping_find, anyffi_object_exchange_wrapper, anyffi_registry_drop_host,
    anyffi_registry_find, anyffi_release_inline, anyffi_type_get_info, anyffi_type_list,
    anyffi_value_drop_inline, anyffi_value_retain_inline, int32_t, int64_t,
)
from call cimport call, call_with_keywords, unwrap_function
from callback cimport callback
from describe cimport describe
from host cimport install_host
from pack cimport pack, pack_owned
from python cimport (
    PyLong_Type, PyObject, PyObject_ClearWeakRefs, PySequence_Fast_ITEMS, PyTypeObject, PyType_Modified,
    PyVectorcall_Call, PyVectorcall_NARGS, Py_INCREF, Py_SET_REFCNT, Py_SIZE, Py_TPFLAGS_HAVE_VECTORCALL,
    Py_TYPE, Py_XDECREF, anyffi_py_read_int, vectorcallfunc,
)
from unpack cimport raise_taken, unpack, unpack_copy
from wrapper cimport offsetof_object, state, unwrap, wrap, wrap_here

import sys

from anyffi import _binding, _errors, _rules, _types, _values

NAME = "cython"


@cython.auto_pickle(False)
cdef class ObjectCore:
    """Holds one strong reference to an object of the runtime."""

    # Must be the first: wrapper.pxd knows where it lies.
    cdef AnyffiObject* target
    cdef object __weakref__

    def __dealloc__(self):
        cdef AnyffiObject* target = self.target
        if target == NULL:
            return
        anyffi_object_exchange_wrapper(target, <void*>self, NULL)
        # Giving the object back may run Python code, which must not find this wrapper through a weak
        # reference. Cython raised the count for this method; CPython clears only what has none.
        Py_SET_REFCNT(<PyObject*>self, 0)
        PyObject_ClearWeakRefs(<PyObject*>self)
        Py_SET_REFCNT(<PyObject*>self, 1)
        self.target = NULL
        anyffi_release_inline(target)

    @property
    def _address(self):
        return <size_t>self.target

    @property
    def _type_code(self):
        return ANYFFI_NONE if self.target == NULL else self.target.type_code

    def _take(self, ObjectCore other not None):
        """Move the reference of `other`, a fresh wrapper, into this empty one."""
        cdef AnyffiObject* target = unwrap(<PyObject*>other)
        if self.target != NULL:
            raise TypeError(f"{type(self).__name__} was made already")
        self.target = target
        other.target = NULL
        anyffi_object_exchange_wrapper(target, <void*>other, <void*>self)


@cython.auto_pickle(False)
cdef class FunctionCore(ObjectCore):
    """A function of the runtime."""

    # Python calls through this pointer, where the class has said so, without making a tuple.
    cdef vectorcallfunc vectorcall
    # The names of the parameters, a tuple, once a call with keywords has asked for them. No Python attribute:
    # that would make every function an object for the garbage collector to visit.
    cdef PyObject* parameters

    def __cinit__(self):
        self.vectorcall = <vectorcallfunc>call_vector

    def __dealloc__(self):
        Py_XDECREF(self.parameters)

    def __call__(self, *args, **kwargs):
        cdef tuple bound = args
        if kwargs:
            bound = _binding.bind(self._info(), args, kwargs)
        return call(<PyObject*>self, PySequence_Fast_ITEMS(<PyObject*>bound), Py_SIZE(<PyObject*>bound))

    def _take(self, ObjectCore other not None):
        ObjectCore._take(self, other)
        if isinstance(other, FunctionCore):
            Py_XDECREF((<FunctionCore>other).parameters)
            (<FunctionCore>other).parameters = NULL

    def _info(self):
        return describe(unwrap_function(<PyObject*>self).info)


cdef object call_vector(PyObject* function, PyObject** args, size_t flags, PyObject* names):
    cdef Py_ssize_t count = PyVectorcall_NARGS(flags)
    # Before Python 3.12 a class to which `__call__` was assigned later still comes here.
    if Py_TYPE(function).tp_call != PyVectorcall_Call:
        return call_slot(function, args, count, names)
    if names != NULL and Py_SIZE(names) > 0:
        return call_with_keywords(function, parameters_of(<FunctionCore>function), args, count, names)
    return call(function, args, count)


cdef inline PyObject* parameters_of(FunctionCore function) except NULL:
    """The names of a function's parameters, None where there is none; borrowed."""
    if function.parameters == NULL:
        info = function._info()
        names = tuple([name and sys.intern(name) for name, *_ in info[2]]) if info else ()
        Py_INCREF(<PyObject*>names)
        function.parameters = <PyObject*>names
    return function.parameters


cdef object call_slot(PyObject* function, PyObject** args, Py_ssize_t count, PyObject* names):
    cdef tuple keywords = () if names == NULL else <tuple>names
    cdef tuple positional = tuple([<object>args[i] for i in range(count)])
    cdef dict named = {keywords[i]: <object>args[count + i] for i in range(len(keywords))}
    return Py_TYPE(function).tp_call(function, <PyObject*>positional, <PyObject*>named)


cdef int enable_vectorcall(type cls) except -1:
    """Lets a class be called without a tuple, unless it defines `__call__` itself.

    Before Python 3.12 the flag is not inherited.
    """
    cdef PyTypeObject* slots = <PyTypeObject*>cls
    for base in cls.__mro__:
        if "__call__" in base.__dict__:
            break
    if base is FunctionCore:
        slots.tp_vectorcall_offset = (<PyTypeObject*>FunctionCore).tp_vectorcall_offset
        slots.tp_call = PyVectorcall_Call
        slots.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
        PyType_Modified(slots)
    return 0


def init_subclass(cls, **kwargs):
    super(FunctionCore, cls).__init_subclass__(**kwargs)
    enable_vectorcall(cls)


cdef inline AnyffiSequence* unwrap_sequence(SequenceCore self) except NULL:
    cdef AnyffiObject* target = unwrap(<PyObject*>self)
    # `x.__class__ = ...` can put a wrapper into any class of the same size.
    cdef int32_t code = target.type_code
    if code != ANYFFI_LIST and code != ANYFFI_ARRAY and code != ANYFFI_SHAPE:
        raise TypeError(f"this {type(self).__name__} is no sequence")
    return <AnyffiSequence*>target


@cython.auto_pickle(False)
cdef class SequenceCore(ObjectCore):
    """An Array, List or Shape."""

    def __len__(self):
        return unwrap_sequence(self).size

    def __getitem__(self, key):
        cdef int64_t index
        cdef AnyffiSequence* sequence
        if Py_TYPE(<PyObject*>key) == &PyLong_Type and anyffi_py_read_int(<PyObject*>key, &index) == 0:
            pass
        elif isinstance(key, slice):
            return self._slice(key)
        else:
            index = _rules.as_index(self, key)
        sequence = unwrap_sequence(self)
        if index < 0:
            index += sequence.size
        if not 0 <= index < sequence.size:
            raise _rules.index_out_of_range(self)
        return unpack_copy(&sequence.data[index])

    def __iter__(self):
        unwrap_sequence(self)
        cdef SequenceIterator made = SequenceIterator.__new__(SequenceIterator)
        made.sequence = self
        return made


@cython.auto_pickle(False)
@cython.final
cdef class SequenceIterator:
    cdef SequenceCore sequence
    cdef int64_t index

    def __iter__(self):
        return self

    def __next__(self):
        cdef AnyffiSequence* sequence
        if self.sequence is None:
            raise StopIteration
        sequence = unwrap_sequence(self.sequence)
        if self.index >= sequence.size:
            # Once exhausted it stays so, as list's does.
            self.sequence = None
            raise StopIteration
        self.index += 1
        return unpack_copy(&sequence.data[self.index - 1])


cdef inline AnyffiMapping* unwrap_mapping(MappingCore self) except NULL:
    cdef AnyffiObject* target = unwrap(<PyObject*>self)
    if target.type_code != ANYFFI_DICT and target.type_code != ANYFFI_MAP:
        raise TypeError(f"this {type(self).__name__} is no mapping")
    return <AnyffiMapping*>target


cdef inline int64_t find_entry(AnyffiMapping* mapping, const AnyffiValue* key) except -2:
    """The number of a key's entry, or -1."""
    cdef int64_t entry = -1
    if anyffi_mapping_find(<AnyffiObject*>mapping, key, &entry) != 0:
        raise_taken()
    return entry


cdef inline AnyffiEntry* next_entry(AnyffiMapping* mapping, int64_t* position) noexcept:
    """The first live entry from a position on, which is moved behind it; NULL if there is none."""
    cdef AnyffiEntry* entry
    while 0 <= position[0] < mapping.used:
        entry = &mapping.entries[position[0]]
        position[0] += 1
        if entry.key.type_code != ANYFFI_UNSET:
            return entry
    return NULL


cdef int find_item(MappingCore self, object key, AnyffiValue* out) except -1:
    """Whether the key is there; `out` then holds its value, owned."""
    cdef AnyffiMapping* mapping = unwrap_mapping(self)
    cdef AnyffiValue packed
    cdef int64_t entry
    cdef bint made = pack(<PyObject*>key, &packed)
    try:
        entry = find_entry(mapping, &packed)
        if entry < 0:
            return 0
        # Held before the key goes, which may run code that changes the mapping.
        out[0] = mapping.entries[entry].value
        anyffi_value_retain_inline(out)
        return 1
    finally:
        if made:
            anyffi_value_drop_inline(&packed)


@cython.auto_pickle(False)
cdef class MappingCore(ObjectCore):
    """A Map or Dict."""

    def __len__(self):
        return unwrap_mapping(self).size

    def __getitem__(self, key):
        cdef AnyffiValue found
        if not find_item(self, key, &found):
            raise KeyError(key)
        return unpack(&found)

    def __contains__(self, key):
        cdef AnyffiValue found
        if not find_item(self, key, &found):
            return False
        anyffi_value_drop_inline(&found)
        return True

    def _entry(self, int64_t position):
        """The first live entry from `position` on, as `(next position, key, value)`, or None."""
        cdef AnyffiEntry* found = next_entry(unwrap_mapping(self), &position)
        cdef AnyffiEntry entry
        if found == NULL:
            return None
        # Both are held before either is unpacked, which may run code that changes the mapping.
        entry = found[0]
        anyffi_value_retain_inline(&entry.key)
        anyffi_value_retain_inline(&entry.value)
        return (position,) + unpack_entry(&entry)


cdef tuple unpack_entry(AnyffiEntry* entry):
    """Takes both values over, also on failure."""
    cdef object key
    try:
        key = unpack(&entry.key)
    except BaseException:
        anyffi_value_drop_inline(&entry.value)
        raise
    return key, unpack(&entry.value)


cdef inline AnyffiMapping* unwrap_set(SetCore self) except NULL:
    cdef AnyffiObject* target = unwrap(<PyObject*>self)
    if target.type_code != ANYFFI_SET and target.type_code != ANYFFI_FROZEN_SET:
        raise TypeError(f"this {type(self).__name__} is no set")
    return <AnyffiMapping*>target


@cython.auto_pickle(False)
cdef class SetCore(ObjectCore):
    """A FrozenSet or Set."""

    def __len__(self):
        return unwrap_set(self).size

    def __contains__(self, element):
        cdef AnyffiMapping* entries = unwrap_set(self)
        cdef AnyffiValue packed
        cdef bint made = pack(<PyObject*>element, &packed)
        try:
            if packed.type_code == ANYFFI_SET:
                return self._contains_set(element)
            return find_entry(entries, &packed) >= 0
        finally:
            if made:
                anyffi_value_drop_inline(&packed)

    def _entry(self, int64_t position):
        """The first element from `position` on, as `(next position, element)`, or None."""
        cdef AnyffiEntry* found = next_entry(unwrap_set(self), &position)
        return None if found == NULL else (position, unpack_copy(&found.key))


def set_class(int32_t type_code, type cls not None):
    """Make `cls` the class of wrappers for a type, and for subtypes that have none of their own."""
    if not issubclass(cls, ObjectCore):
        raise TypeError(f"{cls.__name__} is no subclass of {ObjectCore.__name__}")
    if 0 < type_code < ANYFFI_FIRST_DYNAMIC_TYPE:
        # Never given back, so that a class that is being read cannot vanish.
        Py_INCREF(<PyObject*>cls)
        state.classes[type_code] = <PyObject*>cls
    else:
        (<dict>state.dynamic_classes)[type_code] = cls


def get_function(name):
    """The registry's function as a wrapper, never as the Python callable inside; None if there is none."""
    cdef AnyffiValue packed, found
    cdef bint made = pack(<PyObject*>name, &packed)
    try:
        if anyffi_registry_find(&packed, &found) != 0:
            raise_taken()
    finally:
        if made:
            anyffi_value_drop_inline(&packed)
    return None if found.type_code == ANYFFI_NONE else wrap_here(found.as_object)


def to_object(x):
    """The runtime's own object for `x`; what has no wrapper comes back as by `echo`."""
    cdef AnyffiValue packed
    pack_owned(<PyObject*>x, &packed, NULL)
    return wrap(packed.as_object) if packed.type_code == ANYFFI_FUNCTION else unpack(&packed)


cdef int list_types() except -1:
    """Tells the rules the runtime's type table."""
    cdef int32_t codes[256]
    cdef int32_t count = min(anyffi_type_list(codes, 256), 256)
    _types.fill([(codes[i], anyffi_type_get_info(codes[i]).type_key.decode()) for i in range(count)])
    return 0


cdef PyObject* keep(object x) noexcept:
    """For ever: these are read without counting until the process ends."""
    Py_INCREF(<PyObject*>x)
    return <PyObject*>x


cdef int set_up() except -1:
    cdef PyTypeObject* function = <PyTypeObject*>FunctionCore
    if anyffi_abi_get_version() != ANYFFI_ABI_VERSION:
        raise ImportError(f"{__name__} was built for another version of libanyffi; reinstall anyffi")
    state.object_core = <PyTypeObject*>ObjectCore
    state.callback = callback
    state.max_depth = _rules.MAX_DEPTH
    state.lower = keep(_rules.lower)
    state.lift = keep(_rules.lift)
    state.nested_too_deep = keep(_rules.nested_too_deep)
    state.contains_itself = keep(_rules.contains_itself)
    state.equal_keys = keep(_rules.equal_keys)
    state.empty_wrapper = keep(_rules.empty_wrapper)
    state.bind = keep(_binding.bind)
    state.missing = keep(_values.MISSING)
    state.make_error = keep(_errors.make)
    state.fill_error = keep(_errors.fill)
    state.unexplained = keep(_errors.unexplained)
    state.no_arguments = keep(())
    state.dynamic_classes = keep({})
    function.tp_vectorcall_offset = offsetof_vectorcall()
    # Cython refuses this method in the body of a class.
    (<dict>function.tp_dict)["__init_subclass__"] = classmethod(init_subclass)
    enable_vectorcall(FunctionCore)
    list_types()
    _rules.register_core(ObjectCore)
    install_host()
    return 0


def shut_down():
    """Gives back what the registry holds of Python; from then on the runtime calls no hook."""
    anyffi_registry_drop_host()
    anyffi_host_install(NULL)


cdef Py_ssize_t offsetof_vectorcall() except -1:
    cdef FunctionCore example = FunctionCore.__new__(FunctionCore)
    cdef char* start = <char*><PyObject*>example
    if <char*>&example.target - start != offsetof_object():
        raise SystemError("ObjectCore is not laid out as wrapper.pxd says")
    return <char*>&example.vectorcall - start


set_up()
