# cython: binding=False
# Methods are then descriptors of C, which check the type of `self`: `Dict._entry([], 0)` is a TypeError.
"""The compiled marshaller: the names of `anyffi._backend.CORE`.

The way of a call goes from `FunctionCore` through call.h and plain.h, and for what needs an object through
pack.pxd and unpack.pxd: files of inline functions, so that the C compiler sees all of it at once.
"""

cimport cython

from c_api cimport (
    ANYFFI_ABI_VERSION, ANYFFI_ARRAY, ANYFFI_DICT, ANYFFI_ERROR, ANYFFI_FIRST_DYNAMIC_TYPE,
    ANYFFI_FROZEN_SET, ANYFFI_FUNCTION, ANYFFI_LIST, ANYFFI_MAP, ANYFFI_NONE, ANYFFI_SET, AnyffiFunction,
    AnyffiMapping, AnyffiObject, AnyffiSequence, AnyffiValue, anyffi_abi_get_version,
    anyffi_error_set_raised, anyffi_error_take_raised, anyffi_free, anyffi_function_get_sole_handle,
    anyffi_host_install,
    anyffi_none_inline, anyffi_object_exchange_wrapper, anyffi_registry_drop_host, anyffi_registry_find,
    anyffi_release_inline, anyffi_type_get_info, anyffi_type_list, anyffi_value_drop_inline,
    anyffi_value_retain_inline, int32_t, int64_t,
)
from call cimport (
    MAX_SHORT, allocate, call, call_with_keywords, find_places, later, unwrap_function, vectorcall,
)
from callback cimport callback, checked_callback
from containers cimport (
    delete_item, find_item, get_item, has_element, has_key, list_items, next_entry, put_item, set_item,
    unpack_entry, unwrap_mapping, unwrap_sequence,
)
from describe cimport describe
from host cimport install_host
from pack cimport fill_alone, pack, pack_owned, pack_uncommon
from python cimport (
    PyBytes_AsString, PyBytes_FromStringAndSize, PyObject, PyObject_ClearWeakRefs, PySequence_Fast_ITEMS,
    PyTypeObject, PyType_Modified, PyVectorcall_Call, Py_INCREF, Py_SET_REFCNT, Py_SIZE,
    PyBaseObject_Type, Py_CLEAR, Py_None, Py_TPFLAGS_HAVE_VECTORCALL, Py_TYPE, vectorcallfunc, visitproc,
)
from table cimport new_exchange
from unpack cimport raise_taken, unpack, unpack_copy
from wrapper cimport FunctionWrapper, state, unwrap, wrap, wrap_here

import sys

from anyffi import _binding, _container_rules, _errors, _rules, _types, _values

NAME = "cython"

cdef int KEYS = _container_rules.KEYS
cdef int ELEMENTS = _container_rules.ELEMENTS


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
@cython.no_gc_clear
cdef class FunctionCore(ObjectCore):
    """A function of the runtime."""

    # wrapper.pxd knows where these lie, too. Both are NULL at first, as `object.__new__` makes them.
    # Python calls through this pointer, where the class has said so, without making a tuple.
    cdef vectorcallfunc vectorcall
    # The names of the parameters, once a call with keywords has asked for them.
    cdef tuple parameters

    def __call__(self, *args, **kwargs):
        cdef tuple bound = args
        if kwargs:
            info = self._info()
            if _binding.is_overloaded(info):
                return self._call_overload(args, kwargs)
            bound = _binding.bind(info, args, kwargs)
        return call(<PyObject*>self, PySequence_Fast_ITEMS(<PyObject*>bound), Py_SIZE(<PyObject*>bound))

    def _take(self, ObjectCore other not None):
        ObjectCore._take(self, other)
        if isinstance(other, FunctionCore):
            (<FunctionCore>other).vectorcall = NULL
            Py_CLEAR((<FunctionWrapper*><PyObject*>other).parameters)

    def _info(self):
        return describe(unwrap_function(<PyObject*>self).info)


cdef object call_uncommonly(PyObject* function, PyObject** args, Py_ssize_t count, PyObject* names):
    """A call with keywords or many arguments, or of something that has a `__call__` or a type of its own."""
    cdef tuple parameters
    if Py_TYPE(function).tp_call != later.call_tuple:
        return call_slot(function, args, count, names)
    if names == NULL or Py_SIZE(names) == 0:
        return call(function, args, count)
    parameters = parameters_of(<FunctionCore>function)
    return call_with_keywords(function, <PyObject*>parameters, args, count, names)


cdef object call_tuple(PyObject* function, PyObject* args, PyObject* kwargs):
    """`tp_call`, which Python comes by first: from then on it calls through the pointer.

    So that what comes by the pointer holds a function.
    """
    unwrap_function(function)
    (<FunctionWrapper*>function).vectorcall = <vectorcallfunc>vectorcall
    return PyVectorcall_Call(function, args, kwargs)


cdef inline tuple parameters_of(FunctionCore function):
    """The names of a function's parameters, None where there is none."""
    cdef FunctionWrapper* wrapper = <FunctionWrapper*><PyObject*>function
    cdef tuple found
    if wrapper.parameters == NULL:
        info = function._info()
        found = tuple([name and sys.intern(name) for name, *_ in info[2]]) if info else ()
        # Another thread may have come first.
        if wrapper.parameters == NULL:
            wrapper.parameters = keep(found)
    return <tuple>wrapper.parameters


cdef int traverse_function(PyObject* function, visitproc visit, void* arg) noexcept:
    """Lets garbage collection see the callable that a function is over, while nobody else holds the function.

    So a callable that refers to its function is collected. Nothing needs to be cleared: a cycle goes through
    something that was changed to refer to the function.
    """
    cdef AnyffiObject* target = (<FunctionCore>function).target
    cdef void* handle
    if target != NULL and target.type_code == ANYFFI_FUNCTION:
        handle = anyffi_function_get_sole_handle(<AnyffiFunction*>target)
        if handle != NULL:
            return visit(<PyObject*>handle, arg)
    return 0


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
        slots.tp_call = call_tuple
        slots.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
        PyType_Modified(slots)
    return 0


def init_subclass(cls, **kwargs):
    super(FunctionCore, cls).__init_subclass__(**kwargs)
    enable_vectorcall(cls)


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

    def _kinds(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_ARRAY).kinds


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

    def _kinds(self):
        return unwrap_sequence(<PyObject*>self, ANYFFI_LIST).kinds


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


cdef int read_rules() except -1:
    state.max_depth = _rules.MAX_DEPTH
    state.lower = keep(_rules.lower)
    state.find_exchange = keep(_rules.find_exchange)
    state.exchange_name = keep(sys.intern(_rules.EXCHANGE_NAME))
    state.lift = keep(_rules.lift)
    state.nested_too_deep = keep(_rules.nested_too_deep)
    state.contains_itself = keep(_rules.contains_itself)
    state.equal_keys = keep(_rules.equal_keys)
    state.empty_wrapper = keep(_rules.empty_wrapper)
    state.bind = keep(_binding.bind)
    state.is_overloaded = keep(_binding.is_overloaded)
    state.missing = keep(_values.MISSING)
    state.make_error = keep(_errors.make)
    state.class_of_kind = keep(_errors.class_of_kind)
    state.fill_error = keep(_errors.fill)
    state.unexplained = keep(_errors.unexplained)
    state.container_rules = keep(_container_rules)
    return 0


cdef int set_up() except -1:
    cdef PyTypeObject* function = <PyTypeObject*>FunctionCore
    cdef type core
    cdef int code_point
    if anyffi_abi_get_version() != ANYFFI_ABI_VERSION:
        raise ImportError(f"{__name__} was built for another version of libanyffi; reinstall anyffi")
    state.object_core = <PyTypeObject*>ObjectCore
    state.callback = callback
    later.call_tuple = call_tuple
    later.call_uncommonly = call_uncommonly
    later.pack_uncommon = pack_uncommon
    later.fill_alone = fill_alone
    later.unpack = unpack
    later.raise_taken = raise_taken
    state.no_arguments = keep(())
    for code_point in range(256):
        state.characters[code_point] = keep(chr(code_point))
    state.dynamic_classes = keep({})
    read_rules()
    function.tp_vectorcall_offset = offsetof_vectorcall()
    # As in classes of Python: what `__new__` takes, and that `object.__new__` makes one.
    for core in (ObjectCore, FunctionCore, ArrayCore, ListCore, MapCore, DictCore, FrozenSetCore, SetCore):
        (<PyTypeObject*>core).tp_new = PyBaseObject_Type.tp_new
    # The tuple that Cython would have it visit refers to text alone.
    function.tp_traverse = traverse_function
    # Cython refuses this method in the body of a class.
    (<dict>function.tp_dict)["__init_subclass__"] = classmethod(init_subclass)
    enable_vectorcall(FunctionCore)
    # So they are called where an operator is applied to an object of another class.
    (<PyTypeObject*>ArrayCore).tp_name = "anyffi.Array"
    (<PyTypeObject*>ListCore).tp_name = "anyffi.List"
    (<PyTypeObject*>MapCore).tp_name = "anyffi.Map"
    (<PyTypeObject*>DictCore).tp_name = "anyffi.Dict"
    (<PyTypeObject*>FrozenSetCore).tp_name = "anyffi.FrozenSet"
    (<PyTypeObject*>SetCore).tp_name = "anyffi.Set"
    (<PyTypeObject*>SequenceIterator).tp_name = "anyffi.SequenceIterator"
    (<PyTypeObject*>EntryIterator).tp_name = "anyffi.EntryIterator"
    list_types()
    _rules.register_core(ObjectCore)
    install_host(_rules.HOST_FLAGS)
    return 0


def create_exchange():
    """A capsule with DLPack's table of functions for wrappers of tensors; None where there can be none."""
    return new_exchange()


def shut_down():
    """Gives back what the registry holds of Python; from then on the runtime calls no hook."""
    anyffi_registry_drop_host()
    anyffi_host_install(NULL)


cdef Py_ssize_t offsetof_vectorcall() except -1:
    cdef FunctionCore example = FunctionCore.__new__(FunctionCore)
    cdef FunctionWrapper* wrapper = <FunctionWrapper*><PyObject*>example
    # Cython's own way of making one sets the tuple to None.
    if (&wrapper.base.object != &example.target or &wrapper.vectorcall != &example.vectorcall
            or wrapper.parameters != Py_None):
        raise SystemError("FunctionCore is not laid out as wrapper.pxd says")
    return <char*>&wrapper.vectorcall - <char*>wrapper


# ---- for check mode, which compares with what the other marshaller does

def enter_check_mode(check_callback, hash_of, equals):
    """From now on callbacks go to `check_callback(function, args, count, result)`, which returns None or an
    exception; opaque objects are hashed and compared by the other two functions; and the rules are those that
    `_rules` and `_errors` hold now. Returns the address of what the runtime calls for a callable."""
    state.check_callback = keep(check_callback)
    state.hash_of = keep(hash_of)
    state.equals = keep(equals)
    state.callback = checked_callback
    read_rules()
    # Both are to get one exception from `make_error`.
    state.class_of_kind = NULL
    install_host(_rules.HOST_FLAGS)
    return <size_t>state.callback


@cython.auto_pickle(False)
@cython.final
cdef class Rendering:
    """A value, and the reference that it may own: no exception at any instant makes it leak."""

    cdef AnyffiValue value
    cdef bint owned

    def __dealloc__(self):
        if self.owned:
            anyffi_value_drop_inline(&self.value)

    @property
    def cell(self):
        return PyBytes_FromStringAndSize(<const char*>&self.value, sizeof(AnyffiValue))

    def read(self):
        """The Python value."""
        return unpack_copy(&self.value)

    def wrap(self):
        """The wrapper of the object, whatever it could be turned back into."""
        anyffi_value_retain_inline(&self.value)
        return wrap(self.value.as_object)

    def move(self, size_t place):
        """Moves the value to a place in memory."""
        (<AnyffiValue*>place)[0] = self.value
        self.owned = False


cdef Rendering new_rendering(const AnyffiValue* value):
    """Takes over the value."""
    cdef Rendering made = Rendering.__new__(Rendering)
    made.value = value[0]
    made.owned = True
    return made


def render(x):
    """`x` packed as an argument."""
    cdef Rendering made = Rendering.__new__(Rendering)
    made.owned = pack(<PyObject*>x, &made.value)
    return made


def render_owned(x):
    """`x` packed as a value that stands alone."""
    cdef Rendering made = Rendering.__new__(Rendering)
    pack_owned(<PyObject*>x, &made.value, NULL)
    made.owned = True
    return made


cdef inline AnyffiValue* values_in(cells) except NULL:
    """Memory of the other marshaller is of a class derived from bytes."""
    return <AnyffiValue*>PyBytes_AsString(<PyObject*>cells)


def hold(cell):
    """A copy of a value."""
    cdef Rendering made = new_rendering(values_in(cell))
    anyffi_value_retain_inline(&made.value)
    return made


def take(size_t place):
    """The value at a place in memory, where None is left."""
    cdef Rendering made = new_rendering(<AnyffiValue*>place)
    (<AnyffiValue*>place)[0] = anyffi_none_inline()
    return made


def hold_raised():
    """The error that a function of the C ABI left, and leaves."""
    cdef AnyffiValue error
    anyffi_error_take_raised(&error)
    if error.type_code == ANYFFI_ERROR:
        anyffi_error_set_raised(error.as_object)
    return new_rendering(&error)


def read_values(size_t place, int32_t count):
    """The Python values of borrowed values."""
    cdef int32_t i
    return [unpack_copy(&(<AnyffiValue*>place)[i]) for i in range(count)]


def call_rendered(function, list args not None, result):
    """Calls a function as `call` does, without a look at the result: its status."""
    cdef AnyffiFunction* target = unwrap_function(<PyObject*>function)
    cdef int32_t count = <int32_t>len(args)
    cdef AnyffiValue on_stack[MAX_SHORT]
    cdef AnyffiValue* values = on_stack
    cdef int32_t i
    if count > MAX_SHORT:
        values = allocate(count)
    try:
        for i in range(count):
            values[i] = (<Rendering?>args[i]).value
        status = target.call(target.self, values, count, values_in(result))
        for i in range(count):
            # What the function took is None now.
            (<Rendering>args[i]).value = values[i]
        return status
    finally:
        if values != on_stack:
            anyffi_free(values)


def find_places_of(function, tuple args not None, dict named not None):
    """The arguments as `call_with_keywords` places them; None where it asks `bind`."""
    cdef PyObject* places[MAX_SHORT]
    cdef tuple names = tuple(named)
    cdef tuple values = args + tuple(named.values())
    cdef tuple parameters = parameters_of(<FunctionCore?>function)
    cdef PyObject** items = PySequence_Fast_ITEMS(<PyObject*>values)
    cdef Py_ssize_t filled = find_places(<PyObject*>function, <PyObject*>parameters, items, len(args),
                                         <PyObject*>names, places)
    return tuple([<object>places[i] for i in range(filled)]) if filled > 0 else None


set_up()
