"""Decides from the class of a value how the value is converted.

`decide` returns the function that lowers instances of a class. Protocols are looked up on the class, never on
the instance, and instances of a builtin's subclass are read from the builtin's own storage, with methods that
the subclass cannot override.
"""

from __future__ import annotations

import operator
import sys
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from gc import get_referents
from itertools import repeat
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, NoReturn
from .arrays import lower_array, lower_exporter, lower_memory, may_be_hidden, refuse_hidden
from .codes import code
from .culprits import blame
from .device import Device, read_device
from .dtype import dtype, find_dtype, find_torch_class, read_dtype
from .internal import FREE_THREADED, MISSING, Elements, Memory, Opaque

__all__ = [
    "EXACT",
    "MAX_DEPTH",
    "NUMPY_READERS",
    "ON_CLASS",
    "ON_METACLASS",
    "ON_REGISTRATION",
    "OPENERS",
    "SUBCLASSES",
    "Lowered",
    "Reader",
    "bind",
    "converters",
    "decide",
    "dict_of",
    "find_on_type",
    "is_a",
    "is_changeable",
    "is_hashed_plainly",
    "is_wrapper_class",
    "lower_class",
    "lower_device",
    "lower_dtype",
    "lower_error",
    "lower_exported",
    "lower_foreign_dtype",
    "lower_function",
    "lower_index",
    "lower_int",
    "lower_ndarray",
    "lower_object",
    "lower_opaque",
    "lower_pointer",
    "lower_value",
    "raise_again",
    "register_core",
    "value_of",
]

Lowered = tuple[int, Any]
Reader = Callable[[Any], Lowered]

#: The maximum nesting of containers and slices in an argument. Objects of the runtime count as scalars.
MAX_DEPTH = 200

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

_mro_of = type.__dict__["__mro__"].__get__
dict_of = type.__dict__["__dict__"].__get__
_ON_CPYTHON = sys.implementation.name == "cpython"
#: On CPython `OrderedDict` keeps its own order; elsewhere that of the underlying dict.
_ORDERED: Any = OrderedDict if _ON_CPYTHON else dict
#: The classes of dicts whose items CPython's own views show, by the id of the view's class.
_VIEWED: dict[int, Any] = {id(type(cls().items())): cls for cls in (OrderedDict, dict) if _ON_CPYTHON}

#: `ObjectCore` of each backend that was opened.
_cores: tuple[type, ...] = ()


def register_core(core: type) -> None:
    """Register a backend's `ObjectCore`, so that other backends accept its wrappers."""
    global _cores
    if core not in _cores:
        _cores += (core,)


def is_wrapper_class(cls: type) -> bool:
    """Return whether instances of a class are wrappers of some backend."""
    return issubclass(cls, _cores)


_IMMUTABLE_TYPE, _HEAP_TYPE = 1 << 8, 1 << 9  # of Py_TPFLAGS


def is_changeable(cls: type) -> bool:
    """Return whether attributes of a class can be set, as for classes defined in Python."""
    return cls.__flags__ & (_IMMUTABLE_TYPE | _HEAP_TYPE) == _HEAP_TYPE


def find_on_type(cls: type, name: str) -> Any:
    """Look up a class attribute like a special method: without metaclass and instance."""
    for base in _mro_of(cls):
        # In one step, since another thread may remove it.
        found = dict_of(base).get(name, _ABSENT)
        if found is not _ABSENT:
            return found
    return None


_ABSENT = object()


#: What a decision depends on besides the class: nothing, registrations with abstract classes, or methods of a
#: metaclass that are called each time.
ON_CLASS, ON_REGISTRATION, ON_METACLASS = range(3)


def decide(cls: type) -> tuple[Reader, int]:
    """Return the function that lowers instances of a class, and what the decision depends on."""
    if is_wrapper_class(cls):
        return lower_object, ON_CLASS
    for own, read in _OWN:
        if issubclass(cls, own):
            return read, ON_CLASS
    if find_on_type(cls, "__anyffi_value__") is not None:
        return lower_value, ON_CLASS
    for base in SUBCLASSES:
        if issubclass(cls, base):
            return SUBCLASSES[base], ON_CLASS
    found = _decide_numpy(cls) or _decide_torch(cls) or _decide_protocol(cls)
    return (found, ON_CLASS) if found is not None else _decide_registered(cls)


def _decide_numpy(cls: type) -> Reader | None:
    np: Any = sys.modules.get("numpy")
    if np is None or not hasattr(np, "generic"):
        return None
    if issubclass(cls, np.generic):
        return _find_scalar_reader(np, cls)
    if issubclass(cls, np.ndarray):
        # A subclass that overrides `__dlpack__` is read through that.
        is_own = find_on_type(cls, "__dlpack__") is not np.ndarray.__dict__.get("__dlpack__")
        if is_own:
            return None
        ma: Any = sys.modules.get("numpy.ma")
        return _lower_masked if ma is not None and issubclass(cls, ma.MaskedArray) else lower_ndarray
    return lower_foreign_dtype if issubclass(cls, np.dtype) else None


def _decide_torch(cls: type) -> Reader | None:
    return lower_foreign_dtype if cls is find_torch_class("dtype") else None


def _decide_protocol(cls: type) -> Reader | None:
    module: Any = sys.modules.get("ctypes")
    if module is not None and hasattr(module, "c_void_p") and issubclass(cls, module.c_void_p):
        return lower_pointer
    if find_on_type(cls, "__dlpack__") is not None:
        return _lower_checked if may_be_hidden(cls) else lower_exported
    return lower_index if find_on_type(cls, "__index__") is not None else None


def is_hashed_plainly(cls: type) -> bool:
    """Return whether hashing and comparing the class, as abstract classes do, calls no metaclass method."""
    meta = type(cls)
    if meta is type:
        return True
    return find_on_type(meta, "__hash__") is object.__hash__ and find_on_type(meta, "__eq__") is object.__eq__


def _decide_registered(cls: type) -> tuple[Reader, int]:
    depends = ON_REGISTRATION if is_hashed_plainly(cls) else ON_METACLASS
    if is_a(cls, Mapping):
        return _lower_mapping, depends
    if issubclass(cls, BaseException):
        return lower_error, depends
    if issubclass(cls, type):
        return lower_class, depends
    # As `callable` does for an instance: even an attribute that is None counts.
    is_callable = any("__call__" in dict_of(base) for base in _mro_of(cls))
    return (lower_function if is_callable else lower_opaque), depends


def lower_object(x: Any) -> Lowered:
    return code.OBJECT, x


def lower_error(x: BaseException) -> Lowered:
    return code.ERROR, x


def lower_function(x: Any) -> Lowered:
    return code.FUNCTION, x


def lower_opaque(x: Any) -> Lowered:
    return code.PY_OBJECT, x


def lower_ndarray(x: Any) -> Lowered:
    return lower_array(sys.modules["numpy"], x)


def _lower_masked(x: Any) -> Lowered:
    if sys.modules["numpy.ma"].is_masked(x):
        text = (
            f"a tensor has no mask, and elements of the {type(x).__name__} are masked; "
            "pass its .filled(value) or its .compressed()"
        )
        raise blame(TypeError(text), x)
    return lower_ndarray(x)


def _lower_missing(x: Any) -> Lowered:
    return code.MISSING, None


def _lower_own_elements(x: Elements) -> Lowered:
    return _lower_elements(code.FROZEN_SET if x.frozen else code.SET, x.distinct)


def _lower_own_opaque(x: Opaque) -> Lowered:
    return code.PY_OBJECT, x.value


def lower_dtype(x: dtype) -> Lowered:
    return code.DATA_TYPE, read_dtype(x)


def lower_device(x: Device) -> Lowered:
    return code.DEVICE, read_device(x)


#: Classes of this package that users never see, or see as values.
_OWN: tuple[tuple[type, Reader], ...] = (
    (type(MISSING), _lower_missing),
    (dtype, lower_dtype),
    (Device, lower_device),
    (Elements, _lower_own_elements),
    (Memory, lower_memory),
    (Opaque, _lower_own_opaque),
)


def lower_value(x: Any) -> Lowered:
    return code.UNSET, value_of(x, MAX_DEPTH, x)


def lower_foreign_dtype(x: Any) -> Lowered:
    return code.DATA_TYPE, find_dtype(x)


def lower_class(x: Any) -> Lowered:
    found = find_dtype(x)
    return (code.FUNCTION, x) if found is None else (code.DATA_TYPE, found)


def lower_pointer(x: Any) -> Lowered:
    return code.POINTER, sys.modules["ctypes"].c_void_p.value.__get__(x, type(x)) or 0


def _lower_checked(x: Any) -> Lowered:
    refuse_hidden(x)
    return lower_exported(x)


def lower_exported(x: Any) -> Lowered:
    return lower_exporter(x, bind(find_on_type(type(x), "__dlpack__"), x))


def raise_again(error: BaseException) -> NoReturn:
    """Raise an error caught by compiled code again, which otherwise has no Python frame."""
    try:
        raise error
    finally:
        # This frame is part of the error's traceback.
        del error


def lower_index(x: Any) -> Lowered:
    return lower_int(operator.index(x))


def _lower_mapping(x: Any) -> Lowered:
    return code.DICT, [(key, x[key]) for key in tuple(type(x).keys(x))]


def bind(found: Any, x: Any) -> Any:
    """Bind the result of `find_on_type` to `x`."""
    bind = find_on_type(type(found), "__get__")
    return found if bind is None else bind(found, x, type(x))


def is_a(cls: type, abstract: type) -> bool:
    """Return whether a class derives from an abstract one of `collections.abc`, or is registered with it."""
    try:
        return issubclass(cls, abstract)
    except (MemoryError, RecursionError):
        raise
    except Exception:
        if is_hashed_plainly(cls):
            # Not raised by its metaclass, but by a signal handler, for example.
            raise
        # Its metaclass forbids hashing: it cannot be registered, but may derive from the abstract class.
        return any(base is abstract for base in _mro_of(cls))


def value_of(x: Any, limit: int, first: Any) -> Any:
    """Call `__anyffi_value__`, at most `limit` times, until the result has none; `first` was the argument."""
    for _ in range(limit):
        hook = find_on_type(type(x), "__anyffi_value__")
        if hook is None or issubclass(type(x), (*_cores, dtype, Device)):
            return x
        x = bind(hook, x)()
    text = f"__anyffi_value__ returned another object with __anyffi_value__ {MAX_DEPTH} times"
    raise blame(RecursionError(text), first)


def lower_int(x: int) -> Lowered:
    value = int.__add__(x, 0)
    if _INT64_MIN <= value <= _INT64_MAX:
        return code.INT, value
    size = (value.bit_length() + 63) // 64
    return code.BIG_INT, (abs(value).to_bytes(8 * size, "little"), value < 0)


def _lower_complex(x: complex) -> Lowered:
    value = complex.__pos__(x)
    return code.COMPLEX, (value.real, value.imag)


def _lower_elements(type_code: int, elements: Iterable[Any]) -> Lowered:
    """Lower a set to the pairs of a mapping whose values are None."""
    return type_code, list(zip(elements, repeat(None)))


def _read_pairs(x: Any, cls: Any) -> list[tuple[Any, Any]]:
    """Read the pairs of a dict with the methods of a class of dicts.

    If CPython has no memory for the first pair, an iterator over `items` ends the process. `iter`, because
    PyPy calls the `__len__` of a view.
    """
    if FREE_THREADED:
        # Another thread could change the dict between the reads of a key and its value.
        return [*iter(cls.items(x))]
    return [*zip(iter(cls.keys(x)), iter(cls.values(x)))]


def _lower_proxy(x: Any) -> Lowered:
    # The underlying mapping may be a user's, whose items may be anything.
    items = x.items()
    cls = _VIEWED.get(id(type(items)))
    if cls is not None:
        return code.MAP, _read_pairs(get_referents(items)[0], cls)
    return code.MAP, [(key, item) for key, item in items]


# The builtins' own methods, called unbound, so that no override runs. They return exact builtins: slicing an
# instance of a subclass gives the builtin.
SUBCLASSES: dict[type, Callable[[Any], Lowered]] = {
    int: lower_int,
    float: lambda x: (code.FLOAT, float.__pos__(x)),
    # PyPy's `str.__str__` calls an overridden `__len__`.
    str: lambda x: (code.STR, str.__add__(x, "")),
    bytes: lambda x: (code.BYTES, bytes.__getitem__(x, slice(None))),
    bytearray: lambda x: (code.BYTES, bytes(bytearray.__getitem__(x, slice(None)))),
    memoryview: lambda x: (code.BYTES, x.tobytes()),
    tuple: lambda x: (code.ARRAY, tuple.__getitem__(x, slice(None))),
    list: lambda x: (code.LIST, tuple(list.__getitem__(x, slice(None)))),
    OrderedDict: lambda x: (code.DICT, _read_pairs(x, _ORDERED)),
    dict: lambda x: (code.DICT, _read_pairs(x, dict)),
    MappingProxyType: _lower_proxy,
    complex: _lower_complex,
    # A list copies a set in one step, since other threads may change it; for a subclass it would call its
    # methods.
    set: lambda x: _lower_elements(code.SET, list(x) if type(x) is set else set.__iter__(x)),
    frozenset: lambda x: _lower_elements(code.FROZEN_SET, frozenset.__iter__(x)),
}


#: Those of them that read a container without running other code.
OPENERS = frozenset(SUBCLASSES[base] for base in (tuple, list, dict, set, frozenset))
#: The same for the builtins themselves, by id: they are never freed.
EXACT = {id(cls): read for cls, read in SUBCLASSES.items()}
#: Functions need no lookup of protocols.
EXACT.update(dict.fromkeys(map(id, (FunctionType, BuiltinFunctionType, MethodType)), lower_function))


def _find_scalar_reader(np: Any, cls: type) -> Reader | None:
    """Return the function that lowers instances of a subclass of `np.generic`; None for structured ones."""
    if issubclass(cls, (np.timedelta64, np.datetime64, np.longdouble, np.clongdouble)):
        return lower_opaque
    if cls is np.bool_:
        return _lower_numpy_bool
    if issubclass(cls, np.integer):
        return _lower_numpy_int
    if issubclass(cls, np.floating):
        return _lower_numpy_float
    return _lower_numpy_complex if issubclass(cls, np.complexfloating) else None


def _read_scalar(x: Any) -> Any:
    # A subclass may override `item`.
    return sys.modules["numpy"].generic.item(x)


def _lower_numpy_bool(x: Any) -> Lowered:
    return code.BOOL, _read_scalar(x)


def _lower_numpy_int(x: Any) -> Lowered:
    return lower_int(_read_scalar(x))


def _lower_numpy_float(x: Any) -> Lowered:
    return code.FLOAT, _read_scalar(x)


def _lower_numpy_complex(x: Any) -> Lowered:
    return _lower_complex(_read_scalar(x))


#: The functions for NumPy's scalars.
NUMPY_READERS = (_lower_numpy_bool, _lower_numpy_int, _lower_numpy_float, _lower_numpy_complex)


def converters() -> dict[Reader, Callable[[Any], Any]]:
    """Return C functions that convert to the same exact scalars, by the functions that lower them."""
    np: Any = sys.modules.get("numpy")
    found: dict[Reader, Callable[[Any], Any]] = {
        SUBCLASSES[int]: int.__pos__,
        SUBCLASSES[float]: float.__pos__,
        SUBCLASSES[str]: str.__str__,
    }
    if np is not None and hasattr(np, "generic"):
        # Complex numbers are left out, since they are not scalars here.
        found.update(dict.fromkeys(NUMPY_READERS[:3], np.generic.item))
    return found
