# cython: binding=False, freethreading_compatible=True
# Methods are then descriptors of C, which check the type of `self`: `Dict._entry([], 0)` is a TypeError.
"""The compiled marshaller: the names of `anyffi._backend.CORE`.

The C headers in this directory marshal values: a call goes from `FunctionCore` through call.h, pack.h and
unpack.h. Cython implements the classes of wrappers and iterators, the setup at import, and code that works
with tuples, dicts and Python-level methods.
"""

cimport cython
from c_types cimport int32_t, int64_t, uint32_t, uint64_t, memset

from c_api cimport (
    ANYFFI_ABI_VERSION, ANYFFI_ARRAY, ANYFFI_BIG_INT, ANYFFI_COMPLEX, ANYFFI_DATA_TYPE, ANYFFI_DEVICE,
    ANYFFI_DICT, ANYFFI_ERROR, ANYFFI_FIRST_DYNAMIC_TYPE, ANYFFI_FROZEN_SET, ANYFFI_FUNCTION,
    ANYFFI_HOST_DONE, ANYFFI_KEYWORD_ONLY, ANYFFI_LIST, ANYFFI_MAP, ANYFFI_MISSING, ANYFFI_MODULE,
    ANYFFI_NONE, ANYFFI_OVERLOADED, ANYFFI_POINTER, ANYFFI_SET, ANYFFI_SET_AND, ANYFFI_SET_OR, ANYFFI_SET_SUB,
    ANYFFI_SET_XOR, ANYFFI_TENSOR_PADDED, ANYFFI_TENSOR_VIEW,
    ANYFFI_kDLCPU, AnyffiDataType, AnyffiFieldInfo, AnyffiFunction, AnyffiFunctionInfo, AnyffiMapping,
    AnyffiObject, AnyffiOverload, AnyffiParamInfo, AnyffiSequence, AnyffiTensorData, AnyffiValue,
    anyffi_abi_get_version, anyffi_big_int_create, anyffi_complex_create, anyffi_error_record_frames,
    anyffi_error_set_raised, anyffi_error_take_raised, anyffi_free, anyffi_host_has_ended,
    anyffi_host_install, anyffi_make_none, anyffi_make_value, anyffi_object_compare_exchange_wrapper,
    anyffi_object_nurse_deleter, anyffi_registry_remove_host_functions,
    anyffi_release, anyffi_type_get_info, anyffi_type_list,
    anyffi_value_drop, anyffi_value_retain,
)
from marshaller cimport (
    IS_SET, MAX_AXES, MAX_SHORT, DeviceLayout, ElementIteratorLayout,
    EntryIteratorLayout, Exporter, FieldGetterLayout,
    Section, begin_section, defer_references, drop_found, enable_retain, end_section, find_attribute_of,
    move_object, set_step, unname_wrapper,
    FunctionWrapper, MethodRow, NumPyArray, NumPyDtype, OperatorRow, PublicFunctionLayout,
    PublicRow, ViewLayout, add_method, add_tensor_methods, allocate, array_methods, array_operators,
    c_dict_item, c_map_item, call, call_named, call_observed, call_tuple, callback, check_layout, check_stack,
    common_keys,
    create_exchange_capsule, create_tensor, dict_delete, dict_item, dict_methods, dict_operators,
    dict_or_in_place, find_item, find_value, forget_classes, frozen_set_methods,
    frozen_set_operators, get_buffer, get_item, get_registered, getter_of, handle_equal, handle_hash,
    has_element, has_key, install_host, learn_dtype,
    learn_hidden, learn_table,
    leave_exception, list_add_in_place, list_elements, list_methods, list_operators, look_up, map_item,
    map_methods, map_operators, mapping_compare, name_enumerations, new_method,
    new_operator, next_element_of, next_item, no_sequence,
    create_record_of, pack, pack_owned, pack_scalar, place_named, plain, plan_record_call, public_functions,
    put_item, raise_taken, read_field, read_numpy, remember_data_type,
    remember_exporter, sequence_compare, sequence_has, sequence_hash,
    plan_class, set_attribute, set_compare, set_constant_slot,
    set_constructor_slots, set_field_slots, set_hash, set_in_place,
    set_late_slot, set_method_flags, set_methods, set_module_alloc, set_operators, set_record_slots,
    set_special, set_value_slots, set_wrapper_slots, state,
    tensor_length, unpack, unpack_argument, unpack_copy, unwrap, unwrap_as, unwrap_function,
    unwrap_mapping, unwrap_sequence, version_of, view_has_key, view_has_pair, view_size, viewed,
    views_equal, wrap, wrapper_for, write_field,
)
from python cimport (
    METH_NOARGS, METH_O, PyBaseObject_Type, PyBytes_AS_STRING, PyBytes_AsString, PyBytes_FromStringAndSize,
    PyCFunction, PyDictProxy_Type, PyFunction_Type, PyInterpreterState_Get, PyInterpreterState_Main,
    PyListIter_Type, PyList_Type, PyLong_Type, PyObject, PySequence_Fast_ITEMS, PyTypeObject, PyType_Modified,
    Py_CLEAR, Py_EQ, Py_GE, Py_GT, Py_INCREF, Py_LE, Py_LT, Py_NE, Py_None, Py_TPFLAGS_HAVE_VECTORCALL,
    Py_TYPE, call_vector, vectorcallfunc,
)

import abc
import sys
from collections.abc import Set as AbstractSet
from types import MethodType

from anyffi import _mode
from anyffi._rules import arrays as _arrays
from anyffi._rules import codes as _types
from anyffi._rules import containers as _container_rules
from anyffi._rules import conversions as _conversions
from anyffi._rules import decisions as _decisions
from anyffi._rules import device as _device
from anyffi._rules import dtype as _dtype
from anyffi._rules import errors as _errors
from anyffi._rules import export as _export
from anyffi._rules import internal as _values
from anyffi._rules import keywords as _binding
from anyffi._rules import locks as _locks
from anyffi._rules import culprits as _culprits
from anyffi._rules import refusals as _refusals
from anyffi._rules import values as _rules

NAME = "cython"

cdef int KEYS = _container_rules.KEYS
cdef int VALUES = _container_rules.VALUES
cdef int ITEMS = _container_rules.ITEMS
cdef int ELEMENTS = _container_rules.ELEMENTS

cdef object exchange_name = sys.intern(_rules.EXCHANGE_NAME)
cdef object value_name = sys.intern("__anyffi_value__")
cdef object dlpack_name = sys.intern("__dlpack__")

include "core_objects.pxi"
include "core_containers.pxi"
include "core_iterators.pxi"
include "core_methods.pxi"
include "core_views.pxi"
include "core_public.pxi"
include "core_tensor.pxi"
include "core_pack.pxi"
include "core_observe.pxi"
include "core_check.pxi"


def set_class(int32_t type_code, cls):
    """Make `cls` the class of wrappers for a type, and for subtypes that have none of their own."""
    if not issubclass(cls, ObjectCore):
        raise TypeError(f"{cls.__name__} is no subclass of ObjectCore")
    forget_classes()
    if 0 < type_code < ANYFFI_FIRST_DYNAMIC_TYPE:
        # Never released, so that a class cannot vanish while it is read.
        state.classes[type_code] = keep(cls)
        if state.public_classes[type_code] == NULL:
            state.public_names[type_code] = keep(sys.intern(cls.__name__))
            state.public_classes[type_code] = state.classes[type_code]
        set_class_slots(<PyTypeObject*>cls, type_code)
        set_wrapper_slots(<PyTypeObject*>cls)
        if type_code in (ANYFFI_MODULE, ANYFFI_FUNCTION) and hasattr(cls, "__getattr__"):
            set_late_slot(<PyTypeObject*>cls)
        if type_code == ANYFFI_MODULE:
            set_module_class(cls)
    else:
        (<dict>state.dynamic_classes)[type_code] = cls
        if "_anyffi_type_key" in cls.__dict__:
            set_wrapper_slots(<PyTypeObject*>cls)
            set_constructor(cls, cls.__dict__.get("__init__"))
            for member in [*cls.__dict__.values()]:
                defer_references(<PyObject*>member)
    # Again, because another thread may have found the former class meanwhile.
    forget_classes()


def drop_class(int32_t type_code):
    """Remove the class of a dynamic type, so that a new one is made for the next object that arrives."""
    dropped = (<dict>state.dynamic_classes).pop(type_code, None)
    # Before the class is destroyed.
    forget_classes()
    del dropped


def set_record_class(cls, make, create):
    """Create objects of a dataclass without calling its `__new__` in Python, if that is `make`."""
    set_wrapper_slots(<PyTypeObject*>cls)
    set_record_slots(<PyTypeObject*>cls, make, create)


def create_record(cls):
    """Return a new object of a dataclass as its `__new__` in Python does; None where only that can."""
    return create_record_of(<PyObject*>cls)


def get_attributes(x, tuple names):
    """Return a dict of the given attributes that an object has."""
    cdef dict found = {}
    for name in names:
        value = getattr(x, name, found)
        if value is not found:
            found[name] = value
    return found


def set_attributes(x, dict attributes, dict fields):
    """Set attributes as `object.__setattr__` does, but use the `set` of those in `fields`."""
    for name, value in attributes.items():
        if fields and name in fields:
            fields[name].set(x, value)
        else:
            set_attribute(x, name, value)


def plan_record(
    cls, int32_t type_code, tuple rows, int num_positional, int num_parameters, bint has_post_init
):
    """Let calls of a dataclass create its objects directly; see dataclass.h for the rows."""
    plan_record_call(<PyTypeObject*>cls, type_code, rows, num_positional, num_parameters, has_post_init)


def set_class_maker(make):
    """Use `make(type_code)` to set the class of a type registered at run time that has none."""
    state.make_class = keep(make)


def get_function(name):
    """Return the wrapper of a registered function, never the callable inside; None if there is none."""
    return get_registered(<PyObject*>name)


def to_object(x):
    """Return the wrapper of the runtime's object for `x`, or the result of `echo` if it has no wrapper."""
    return wrapper_for(<PyObject*>x)


def field_getter(name, slow):
    """Return a function that reads a field of a wrapper's object; `slow` handles other arguments."""
    cdef FieldGetter made = FieldGetter.__new__(FieldGetter)
    made.name = name.encode()
    made.slow = slow
    made.vectorcall = read_field
    return made


def field_setter(name, slow):
    """Return a function that sets a field of a wrapper's object; `slow` handles other arguments."""
    cdef FieldGetter made = FieldGetter.__new__(FieldGetter)
    made.name = name.encode()
    made.slow = slow
    made.vectorcall = write_field
    return made


def set_field_class(type cls not None):
    """Let properties of a class that derives from `property` read and write fields without a Python call."""
    set_field_slots(<PyTypeObject*>cls, <PyTypeObject*>FieldGetter)


def set_constant_class(type cls not None):
    """Let constants of classes be read without a Python call, once they have a `_value`."""
    set_constant_slot(<PyTypeObject*>cls)


def set_module_class(type cls not None):
    """Make attributes of modules or submodules fast to find. The class must have no instances yet."""
    if issubclass(cls, ObjectCore):
        set_module_alloc(<PyTypeObject*>cls)
    else:
        set_late_slot(<PyTypeObject*>cls)


def set_constructor(cls, constructor):
    """Let calls of a class create an object directly, if its `__init__` is this C++ constructor."""
    function = getattr(constructor, "_function", None)
    if isinstance(function, FunctionCore):
        unwrap_function(<PyObject*>function)
        plan_class(<PyTypeObject*>cls, constructor)


def set_constructor_class(type cls not None):
    """Let `super().__init__` of C++ classes run without a Python call."""
    set_constructor_slots(<PyTypeObject*>cls)


def set_method_class(type cls not None):
    """Let calls of C++ methods do without a bound method; makes the class immutable."""
    set_method_flags(<PyTypeObject*>cls)


def renew_wrapper(wrapper):
    """Do nothing: wrappers do not cache their objects' types, and stay current until they are freed."""


def revive_wrapper(wrapper):
    """Let other threads find a wrapper that is being finalized."""
    enable_retain(<PyObject*>wrapper)


def need_stack():
    """Raise RecursionError if the thread's stack is too short for another level of a recursive walk."""
    check_stack()


def to_plain(x):
    """Return Python's own container for one of the runtime's, at all levels; other values unchanged."""
    return plain(<PyObject*>x)


def create_exchange():
    """Return a capsule with DLPack's table of functions for our tensors; None if that is not possible."""
    return create_exchange_capsule()


def install_hooks():
    """Install the hooks of the host, replacing those of another backend."""
    install_host(_rules.HOST_FLAGS, handle_hash, handle_equal)


def shut_down():
    """Release the Python functions in the registry and uninstall the hooks.

    The module stays in memory, and another interpreter's import finds it; its `NAME` is then None.
    """
    global NAME
    NAME = None
    anyffi_registry_remove_host_functions()
    anyffi_host_install(NULL)


# ---- the set-up at import ----------------------------------------------------------------------------------


cdef PyObject* keep(object x) noexcept:
    """Leak a reference: `state` is read without refcounting until the process ends."""
    Py_INCREF(<PyObject*>x)
    return <PyObject*>x


def set_section(x):
    """Make container operations lock an object, in builds without the GIL."""
    # Never released, since threads may be within a section on the former object.
    state.section_object = keep(x)


cdef int list_types() except -1:
    """Fill in the rules' copy of the runtime's type table."""
    cdef int32_t codes[256]
    cdef int32_t count = min(anyffi_type_list(codes, 256), 256)
    keys = []
    for i in range(count):
        keys.append((codes[i], anyffi_type_get_info(codes[i]).type_key.decode()))
    _types.fill(keys)
    return 0


cdef int read_rules() except -1:
    state.max_depth = _rules.MAX_DEPTH
    state.nurse_deleter = anyffi_object_nurse_deleter()
    state.missing = keep(_values.MISSING)
    state.lower = keep(_rules.lower)
    state.lift = keep(_rules.lift)
    if type(abc.get_cache_token) is type(len):
        state.get_cache_token = keep(abc.get_cache_token)
    state.make_error = keep(_errors.make)
    state.fill_error = keep(_errors.fill)
    state.explain = keep(_refusals.explain)
    state.locate = keep(_culprits.locate)
    state.locate_method = keep(_culprits.locate_method)
    state.called_convert = keep(("anyffi.convert", None))
    state.locate_result = keep(_culprits.locate_result)
    state.locate_field = keep(_culprits.locate_field)
    state.blame = keep(_culprits.blame_made)
    state.name_keywords = keep(_refusals.name_keywords)
    state.explain_field = keep(_refusals.explain_field)
    state.convert = keep(_conversions.convert)
    state.listed = keep(_conversions.LISTED)
    state.fspath_name = keep(sys.intern("__fspath__"))
    state.timestamp_name = keep(sys.intern("timestamp"))
    state.type_error_name = keep(sys.intern("TypeError"))
    state.type_key_name = keep(sys.intern("_anyffi_type_key"))
    state.record_name = keep(sys.intern("_anyffi_record"))
    state.create = keep(_conversions.create)
    state.enumeration_codes = keep(_conversions.enumeration_codes)
    state.class_of_kind = keep(_errors.class_of_kind)
    state.nested_too_deep = keep(_rules.nested_too_deep)
    state.contains_itself = keep(_rules.contains_itself)
    state.equal_keys = keep(_rules.equal_keys)
    state.empty_wrapper = keep(_rules.empty_wrapper)
    state.cleared_function = keep(_rules.cleared_function)
    state.plain_contains_itself = keep(_rules.plain_contains_itself)
    state.wrong_object = keep(_container_rules.wrong_object)
    state.index_out_of_range = keep(_container_rules.index_out_of_range)
    state.assignment_out_of_range = keep(_container_rules.assignment_out_of_range)
    state.unexplained = keep(_errors.unexplained)
    state.unexpected_keyword = keep(_binding.unexpected)
    return 0


cdef int set_up() except -1:
    cdef int code_point
    cdef object builtin
    if anyffi_abi_get_version() != ANYFFI_ABI_VERSION:
        raise ImportError(f"{__name__} was built for another version of libanyffi; reinstall anyffi")
    _errors.require_first_interpreter(not anyffi_host_has_ended())
    _errors.require_main_interpreter(PyInterpreterState_Get() == PyInterpreterState_Main())
    check_layout()
    state.object_core = <PyTypeObject*>ObjectCore
    state.function_core = <PyTypeObject*>FunctionCore
    state.callback = callback
    state.no_arguments = keep(())
    _locks.share_section(set_section)
    state.dynamic_classes = keep({})
    for code_point in range(256):
        state.characters[code_point] = keep(chr(code_point))
    read_rules()
    set_slots()
    set_public_slots()
    set_up_functions()
    set_up_tensors()
    set_up_views()
    set_up_iterators()
    set_up_mappings()
    set_up_names()
    list_types()
    _rules.register_core(ObjectCore)
    install_hooks()
    # Otherwise the first set of a process would be packed by the rules, which takes twice the memory.
    for builtin in (set(), frozenset(), MappingProxyType({})):
        learn_decision(<PyObject*>builtin)
    if _mode.ffi_traceback:
        show_frames()
    return 0


cdef int show_frames() except -1:
    """Add C++ frames to the tracebacks of all errors from now on."""
    from anyffi._rules.frames import add_frames
    state.add_frames = keep(add_frames)
    anyffi_error_record_frames(1)
    return 0


set_up()
