"""Conversion rules for the Python values that backends have no fast path for.

A backend itself packs an exact None, bool, int, float, str, bytes, tuple, list, dict, slice, Ellipsis and
its own wrappers, and calls `lower` for the rest. `lift` is the inverse, for results.

Protocols are looked up on the type, never on the instance, and a subclass of a builtin is read from the
builtin's own storage by methods that it cannot override.
"""

from __future__ import annotations

import operator
import sys
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from itertools import repeat
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType

from .._typing import Any, Callable
from .arrays import lower_array, lower_exporter, lower_memory, refuse_hidden
from .codes import code
from .device import Device, read_device, share_device
from .dtype import dtype, find_dtype, read_dtype, share_dtype
from .internal import MISSING, Elements, Memory

__all__ = [
    "EXCHANGE_NAME",
    "HOST_FLAGS",
    "MAX_DEPTH",
    "contains_itself",
    "empty_wrapper",
    "equal_keys",
    "find_exchange",
    "find_on_type",
    "lift",
    "lower",
    "nested_too_deep",
    "register_core",
]

Lowered = tuple[int, Any]

_HASHES_SLICES = 2  # ANYFFI_HOST_HASHES_SLICES
#: Flags for the runtime about this version of Python.
HOST_FLAGS = _HASHES_SLICES if isinstance(slice(0), Hashable) else 0

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__
#: `OrderedDict` keeps its own order on CPython; elsewhere it is that of the dict below it.
_read_ordered: Callable[[Any], Any] = (
    OrderedDict.items if sys.implementation.name == "cpython" else dict.items
)

#: `ObjectCore` of every backend that was opened.
_cores: tuple[type, ...] = ()


def register_core(core: type) -> None:
    """Register a backend's `ObjectCore`, so that other backends accept its wrappers."""
    global _cores
    if core not in _cores:
        _cores += (core,)


def find_on_type(cls: type, name: str) -> Any:
    """Look up a class attribute as the interpreter looks up special methods: no metaclass, no instance."""
    for base in _mro_of(cls):
        namespace = _dict_of(base)
        if name in namespace:
            return namespace[name]
    return None


def lower(x: Any) -> Lowered:
    """Return the runtime's value for `x`.

    Returns
    -------
    (int, object)
        The type code and an exact builtin, as docs/backends.md lists them.

    Raises
    ------
    TypeError, OverflowError
        The type of the value, or its range, cannot be passed.
    """
    cls = type(x)
    # By identity: hashing or comparing a class may run code of its metaclass.
    read = _exact.get(id(cls))
    if read is not None:
        return read(x)
    if x is MISSING:
        return code.MISSING, None
    if issubclass(cls, _cores):
        return code.OBJECT, x
    if issubclass(cls, dtype):
        return code.DATA_TYPE, read_dtype(x)
    if issubclass(cls, Device):
        return code.DEVICE, read_device(x)
    if cls is Elements:
        return _lower_elements(code.FROZEN_SET if x.frozen else code.SET, x.distinct)
    if cls is Memory:
        return lower_memory(x)
    if find_on_type(cls, "__anyffi_value__") is not None:
        return code.UNSET, _value_of(x)
    for base, read in _SUBCLASSES.items():
        if issubclass(cls, base):
            _remember(cls, read)
            return read(x)
    module = sys.modules.get("numpy")
    if module is not None and hasattr(module, "generic"):
        found = _lower_numpy(module, cls, x)
        if found is not None:
            return found
    module = sys.modules.get("ctypes")
    if module is not None and hasattr(module, "c_void_p") and issubclass(cls, module.c_void_p):
        return code.POINTER, module.c_void_p.value.__get__(x, cls) or 0
    exporter = find_on_type(cls, "__dlpack__")
    if exporter is not None:
        refuse_hidden(x)
        return lower_exporter(x, bind(exporter, x))
    if find_on_type(cls, "__index__") is not None:
        return _lower_int(operator.index(x))
    if _is_mapping(cls):
        return code.DICT, [(key, x[key]) for key in tuple(cls.keys(x))]
    if issubclass(cls, BaseException):
        return code.ERROR, x
    if callable(x):
        return code.FUNCTION, x
    return code.PY_OBJECT, x


#: The class attribute that holds DLPack's table of C functions, in a capsule.
EXCHANGE_NAME = "__dlpack_c_exchange_api__"


#: Attributes of PyTorch's tensors whose memory is not the whole value: it takes part in differentiation, or
#: holds the conjugates or the negatives of the values.
_HIDDEN = ("requires_grad", "is_conj", "is_neg")


def find_exchange(cls: type) -> tuple[Any, Any]:
    """Return a class's table, or None, and the descriptors to read from its instances, or None.

    The table replaces the `__dlpack__` of the class that defines both. A subclass may do more in a
    `__dlpack__` of its own.
    """
    namespace = _dict_of(cls)
    if "__dlpack__" not in namespace:
        return None, None
    hidden = [find_on_type(cls, name) for name in _HIDDEN]
    return namespace.get(EXCHANGE_NAME), None if hidden[0] is None else hidden


def bind(found: Any, x: Any) -> Any:
    """Bind what `find_on_type` found to `x`."""
    bind = find_on_type(type(found), "__get__")
    return found if bind is None else bind(found, x, type(x))


def _is_mapping(cls: type) -> bool:
    try:
        return issubclass(cls, Mapping)
    except (MemoryError, RecursionError):
        raise
    except Exception:
        meta = type(cls)
        if (
            find_on_type(meta, "__hash__") is object.__hash__
            and find_on_type(meta, "__eq__") is object.__eq__
        ):
            # Not raised by its metaclass, but by a signal handler, for example.
            raise
        # Its metaclass forbids hashing: it cannot be registered as a Mapping, but it may derive from Mapping.
        return any(base is Mapping for base in _mro_of(cls))


def _value_of(x: Any) -> Any:
    """Call `__anyffi_value__` until the result has none."""
    for _ in range(MAX_DEPTH):
        hook = find_on_type(type(x), "__anyffi_value__")
        if hook is None or issubclass(type(x), (*_cores, dtype, Device)):
            return x
        x = bind(hook, x)()
    raise RecursionError(f"__anyffi_value__ returned another object with __anyffi_value__ {MAX_DEPTH} times")


def lift(type_code: int, payload: Any) -> Any:
    """Return the Python value for a result: the inverse of `lower` for values without a wrapper."""
    if type_code == code.BIG_INT:
        magnitude, negative = payload
        value = int.from_bytes(magnitude, "little")
        return -value if negative else value
    if type_code == code.COMPLEX:
        return complex(*payload)
    if type_code == code.POINTER:
        import ctypes

        return ctypes.c_void_p(payload)
    if type_code == code.DATA_TYPE:
        return share_dtype(*payload)
    if type_code == code.DEVICE:
        return share_device(*payload)
    if type_code == code.MISSING:
        return MISSING
    raise TypeError(f"a value of type code {type_code} has no Python form")


#: How many levels of containers and slices one argument may have. Objects of the runtime count as scalars.
MAX_DEPTH = 200

# Errors of both backends for values that cannot be packed or read.


def nested_too_deep() -> RecursionError:
    return RecursionError(f"containers are nested more than {MAX_DEPTH} levels deep")


def contains_itself(container: Any) -> RecursionError:
    return RecursionError(f"a {type(container).__name__} that contains itself cannot be passed")


def equal_keys(type_code: int, first: Any, second: Any) -> ValueError:
    """Return the error for two keys of a mapping, or elements of a set, that are equal in the runtime."""
    noun = "elements" if type_code in (code.SET, code.FROZEN_SET) else "keys"
    return ValueError(f"{noun} {first!r} and {second!r} are equal once they are converted")


def empty_wrapper(wrapper: Any) -> ValueError:
    return ValueError(f"this {type(wrapper).__name__} is empty: __init__ was not called")


def _lower_int(x: int) -> Lowered:
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


# The builtins' own methods, called unbound, so that no override runs. They return exact builtins: a slice of
# a subclass's instance is an instance of the builtin. `iter`, since PyPy calls the `__len__` of a view.
_SUBCLASSES: dict[type, Callable[[Any], Lowered]] = {
    int: _lower_int,
    float: lambda x: (code.FLOAT, float.__pos__(x)),
    # PyPy's `str.__str__` calls an overridden `__len__`.
    str: lambda x: (code.STR, str.__add__(x, "")),
    bytes: lambda x: (code.BYTES, bytes.__getitem__(x, slice(None))),
    bytearray: lambda x: (code.BYTES, bytes(bytearray.__getitem__(x, slice(None)))),
    memoryview: lambda x: (code.BYTES, x.tobytes()),
    tuple: lambda x: (code.ARRAY, tuple.__getitem__(x, slice(None))),
    list: lambda x: (code.LIST, tuple(list.__getitem__(x, slice(None)))),
    OrderedDict: lambda x: (code.DICT, [*iter(_read_ordered(x))]),
    dict: lambda x: (code.DICT, [*iter(dict.items(x))]),
    MappingProxyType: lambda x: (code.MAP, list(x.items())),
    complex: _lower_complex,
    set: lambda x: _lower_elements(code.SET, set.__iter__(x)),
    frozenset: lambda x: _lower_elements(code.FROZEN_SET, frozenset.__iter__(x)),
}


#: The same for the builtins themselves, by identity: they are never freed.
_exact = {id(cls): read for cls, read in _SUBCLASSES.items()}
#: Functions need no look-ups of protocols.
_exact.update(
    dict.fromkeys(map(id, (FunctionType, BuiltinFunctionType, MethodType)), lambda x: (code.FUNCTION, x))
)


#: Py_TPFLAGS_HEAPTYPE: a class that is no static struct of C code.
_HEAP_TYPE = 1 << 9
_flags_of = type.__dict__["__flags__"].__get__


def _remember(cls: type, read: Callable[[Any], Lowered]) -> None:
    """Read instances of a class so from now on, if it is one of C code that never changes and never ends."""
    if sys.implementation.name == "cpython" and not _flags_of(cls) & _HEAP_TYPE:
        _exact[id(cls)] = read


def _lower_opaque(x: Any) -> Lowered:
    return code.PY_OBJECT, x


def _find_scalar_reader(np: Any, cls: type) -> Callable[[Any], Lowered] | None:
    """Return the function that lowers instances of a subclass of `np.generic`; None for structured ones."""
    item = np.generic.item
    if issubclass(cls, (np.timedelta64, np.datetime64, np.longdouble, np.clongdouble)):
        return _lower_opaque
    if cls is np.bool_:
        return lambda x: (code.BOOL, item(x))
    if issubclass(cls, np.integer):
        return lambda x: _lower_int(item(x))
    if issubclass(cls, np.floating):
        return lambda x: (code.FLOAT, item(x))
    if issubclass(cls, np.complexfloating):
        return lambda x: _lower_complex(item(x))
    return None


def _lower_numpy(np: Any, cls: type, x: Any) -> Lowered | None:
    if issubclass(cls, np.generic):
        read = _find_scalar_reader(np, cls)
        if read is None:
            return None
        _remember(cls, read)
        return read(x)
    if issubclass(cls, np.ndarray):
        # A subclass that overrides `__dlpack__` is read through it.
        is_own = find_on_type(cls, "__dlpack__") is not np.ndarray.__dict__.get("__dlpack__")
        return None if is_own else lower_array(np, x)
    found = find_dtype(x)
    return None if found is None else (code.DATA_TYPE, found)
