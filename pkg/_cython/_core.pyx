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
    anyffi_error_set_raised, anyffi_error_take_raised, anyffi_free, anyffi_function_get_unique_handle,
    anyffi_host_install,
    anyffi_make_none, anyffi_object_compare_exchange_wrapper, anyffi_registry_remove_host_functions, anyffi_registry_find,
    anyffi_release, anyffi_type_get_info, anyffi_type_list, anyffi_value_drop,
    anyffi_value_retain, int32_t, int64_t,
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

from anyffi._rules import codes as _types
from anyffi._rules import containers as _container_rules
from anyffi._rules import errors as _errors
from anyffi._rules import internal as _values
from anyffi._rules import keywords as _binding
from anyffi._rules import values as _rules

NAME = "cython"

cdef int KEYS = _container_rules.KEYS
cdef int ELEMENTS = _container_rules.ELEMENTS

include "core_objects.pxi"
include "core_containers.pxi"
include "core_check.pxi"


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
            anyffi_value_drop(&packed)
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
    anyffi_registry_remove_host_functions()
    anyffi_host_install(NULL)


cdef Py_ssize_t offsetof_vectorcall() except -1:
    cdef FunctionCore example = FunctionCore.__new__(FunctionCore)
    cdef FunctionWrapper* wrapper = <FunctionWrapper*><PyObject*>example
    # Cython's own way of making one sets the tuple to None.
    if (&wrapper.base.object != &example.target or &wrapper.vectorcall != &example.vectorcall
            or wrapper.parameters != Py_None):
        raise SystemError("FunctionCore is not laid out as wrapper.h says")
    return <char*>&wrapper.vectorcall - <char*>wrapper


set_up()
