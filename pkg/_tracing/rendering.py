"""Values as short text, and the types that C++ sees: runs no users' code, equal in every mode."""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType

from .. import _current
from .._builtins import *  # noqa: F403
from .._rules.decisions import SUBCLASSES, decide, is_wrapper_class
from .._rules.device import Device
from .._rules.dtype import dtype, find_dtype
from .._rules.errors import is_from_handler
from .._rules.internal import MISSING
from .._typing import Any, Callable

__all__ = ["MOST", "name_of_class", "render", "render_error", "type_of"]

#: Limits of what is shown: characters of a value, levels of containers, bits of an int.
MOST, _LEVELS, _BITS = 200, 8, 1024

_mro_of = type.__dict__["__mro__"].__get__
_name_of = type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__
_args_of = BaseException.__dict__["args"].__get__
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


def name_of_class(cls: type) -> str:
    """Return the name of a class without a call of its metaclass."""
    name: str = _name_of(cls)
    return name


# ---- types ----------------------------------------------------------------------------------------------

#: What the runtime makes of the builtins and of their subclasses.
_TYPES: dict[type, str] = {
    type(None): "None",
    bool: "Bool",
    float: "Float",
    str: "Str",
    bytes: "Bytes",
    bytearray: "Bytes",
    memoryview: "Bytes",
    tuple: "Array",
    list: "List",
    dict: "Dict",
    OrderedDict: "Dict",
    MappingProxyType: "Map",
    complex: "Complex",
    set: "Set",
    frozenset: "FrozenSet",
    slice: "Slice",
    type(...): "Ellipsis",
    type(MISSING): "Missing",
    dtype: "DataType",
    Device: "Device",
    FunctionType: "Function",
    BuiltinFunctionType: "Function",
    MethodType: "Function",
}
_BY_IDENTITY = {id(cls): name for cls, name in _TYPES.items()}
_BY_BASE = {SUBCLASSES[cls]: name for cls, name in _TYPES.items() if cls in SUBCLASSES}
#: The same of other values, by the name of the function that lowers them.
_BY_READER = {
    "lower_value": "__anyffi_value__",
    "lower_index": "Int",
    "lower_ndarray": "Tensor",
    "_lower_masked": "Tensor",
    "lower_exported": "Tensor",
    "_lower_checked": "Tensor",
    "_lower_numpy_bool": "Bool",
    "_lower_numpy_int": "Int",
    "_lower_numpy_float": "Float",
    "_lower_numpy_complex": "Complex",
    "_lower_mapping": "Dict",
    "lower_dtype": "DataType",
    "lower_foreign_dtype": "DataType",
    "lower_device": "Device",
    "lower_error": "Error",
    "lower_function": "Function",
    "lower_pointer": "Pointer",
}
_OWN = ("Array", "Shape", "List", "Map", "Dict", "FrozenSet", "Set", "Tensor", "Module", "Function")


def type_of(x: Any) -> str:
    """Return the type of the runtime's value for `x`: `Int`, `List`, the key of a class of C++.

    For an object with `__anyffi_value__` that name: only its call says more.
    """
    cls = type(x)
    if cls is int:
        return "Int" if _INT64_MIN <= x <= _INT64_MAX else "BigInt"
    name = _BY_IDENTITY.get(id(cls))
    if name is not None:
        return name
    if is_wrapper_class(cls):
        return _type_of_wrapper(cls)
    read = decide(cls)[0]
    if read is SUBCLASSES[int]:
        return type_of(int.__add__(x, 0))
    if issubclass(cls, type):
        return "Function" if find_dtype(x) is None else "DataType"
    return _BY_BASE.get(read) or _BY_READER.get(read.__name__, "PyObject")


def _type_of_wrapper(cls: type) -> str:
    for base in _mro_of(cls):
        key = type.__dict__["__dict__"].__get__(base).get("_anyffi_type_key")
        if type(key) is str:
            return key
        if _module_of(base) == "anyffi" and _name_of(base) in _OWN:
            name: str = _name_of(base)
            return name
    return "Object"


# ---- text -----------------------------------------------------------------------------------------------


class _Full(Exception):
    """There is no room for more."""


class _Text:
    """Text of a limited length."""

    def __init__(self, most: int) -> None:
        self._parts: list[str] = []
        self._left = most

    def put(self, text: str) -> None:
        """Append text; _Full when the limit is reached."""
        self._parts.append(text[: self._left])
        self._left -= len(text)
        if self._left < 0:
            raise _Full

    def show(self, x: Any, levels: int = _LEVELS) -> None:
        """Append a value."""
        cls = type(x)
        for base in _mro_of(cls):
            write = _WRITERS.get(id(base))
            if write is not None:
                if base is cls or base in _NAMED:
                    return write(self, x, levels)
                self.put(f"{_name_of(cls)}(")
                write(self, x, levels)
                return self.put(")")
        if is_wrapper_class(cls):
            return self._show_wrapper(x)
        if issubclass(cls, type):
            return self.put(f"<class {_qualname(x)}>")
        return self.put(_show_numpy(x, cls) or f"<{_name_of(cls)} object>")

    def _show_wrapper(self, x: Any) -> None:
        if not x._anyffi_address:
            return self.put(f"<empty {_name_of(type(x))}>")
        name = _type_of_wrapper(type(x))
        if name == "Function":
            info = x._anyffi_info()
            return self.put(f"<anyffi.Function {(info and info[0]) or 'function'}>")
        shown = _current.api._runtime.value_show(x, max(self._left, 0))
        return self.put(f"anyffi.{name}({shown})" if name in _OWN[:7] else shown)

    def text(self) -> str:
        """Return what was appended, with dots where there was no room."""
        return "".join(self._parts) + ("..." if self._left < 0 else "")

    def _put_all(self, opened: str, items: Any, closed: str, levels: int) -> None:
        self.put(opened)
        for index, x in enumerate(items):
            if index:
                self.put(", ")
            self.show(x, levels)
        self.put(closed)

    def _pairs(self, x: Any, levels: int) -> None:
        if levels == 0:
            return self.put("{...}")
        self.put("{")
        for index, (key, value) in enumerate(x):
            if index:
                self.put(", ")
            self.show(key, levels - 1)
            self.put(": ")
            self.show(value, levels - 1)
        return self.put("}")

    def _number(self, x: Any, levels: int) -> None:
        bits = int.bit_length(x)
        # Converting long ints to decimal digits takes long, and Python may refuse to do it.
        self.put(int.__repr__(x) if bits <= _BITS else f"<int of {bits} bits>")

    def _string(self, x: str, levels: int) -> None:
        length = str.__len__(x)
        self.put(repr(str.__getitem__(x, slice(0, self._left + 1))) if length else "''")

    def _bytes(self, x: Any, levels: int) -> None:
        self.put(repr(bytes(x[: self._left + 1])))

    def _view(self, x: memoryview, levels: int) -> None:
        self.put(f"<memory of {x.nbytes} bytes>")

    def _tuple(self, x: Any, levels: int) -> None:
        if levels == 0:
            return self.put("(...)")
        return self._put_all("(", tuple.__iter__(x), ",)" if tuple.__len__(x) == 1 else ")", levels - 1)

    def _list(self, x: Any, levels: int) -> None:
        return self.put("[...]") if levels == 0 else self._put_all("[", list.__iter__(x), "]", levels - 1)

    def _dict(self, x: Any, levels: int) -> None:
        self._pairs(iter(dict.items(x)), levels)

    def _proxy(self, x: Any, levels: int) -> None:
        # What it refers to may be a user's mapping.
        self.put("<mappingproxy>")

    def _set(self, x: Any, levels: int) -> None:
        base = set if issubclass(type(x), set) else frozenset
        if levels == 0 or not base.__len__(x):
            return self.put("set(...)" if levels == 0 else f"{base.__name__}()")
        closed = "}" if base is set else "})"
        return self._put_all("{" if base is set else "frozenset({", base.__iter__(x), closed, levels - 1)

    def _slice(self, x: slice, levels: int) -> None:
        if levels == 0:
            return self.put("slice(...)")
        return self._put_all("slice(", (x.start, x.stop, x.step), ")", levels - 1)

    def _error(self, x: BaseException, levels: int) -> None:
        if levels == 0:
            return self.put(f"{_name_of(type(x))}(...)")
        return self._put_all(f"{_name_of(type(x))}(", tuple.__iter__(_args_of(x)), ")", levels - 1)

    def _function(self, x: Any, levels: int) -> None:
        self.put(f"<function {_qualname(x)}>")

    def _method(self, x: MethodType, levels: int) -> None:
        function = x.__func__
        is_plain = type(function) in (FunctionType, BuiltinFunctionType)
        self.put(f"<method {_qualname(function) if is_plain else '?'}>")

    def _module(self, x: Any, levels: int) -> None:
        self.put("<module>")


def _qualname(x: Any) -> str:
    found = type.__dict__["__qualname__"].__get__(x) if issubclass(type(x), type) else x.__qualname__
    return str.__str__(found) if issubclass(type(found), str) else "?"


def _repr_writer(cls: Any) -> Callable[[_Text, Any, int], None]:
    show = cls.__repr__
    return lambda text, x, levels: text.put(show(x))


_WRITERS: dict[int, Callable[[_Text, Any, int], None]] = {
    id(cls): _repr_writer(cls)
    for cls in (
        type(None),
        type(NotImplemented),
        bool,
        float,
        complex,
        type(...),
        type(MISSING),
        dtype,
        Device,
    )
}
_WRITERS.update(
    {
        id(int): _Text._number,
        id(str): _Text._string,
        id(bytes): lambda text, x, levels: text._bytes(bytes.__getitem__(x, slice(0, MOST)), levels),
        id(bytearray): lambda text, x, levels: text._bytes(bytearray.__getitem__(x, slice(0, MOST)), levels),
        id(memoryview): _Text._view,
        id(tuple): _Text._tuple,
        id(list): _Text._list,
        id(dict): _Text._dict,
        id(MappingProxyType): _Text._proxy,
        id(set): _Text._set,
        id(frozenset): _Text._set,
        id(slice): _Text._slice,
        id(BaseException): _Text._error,
        id(FunctionType): _Text._function,
        id(BuiltinFunctionType): _Text._function,
        id(MethodType): _Text._method,
        id(ModuleType): _Text._module,
    }
)
#: Classes whose text has the name of the subclass.
_NAMED = (BaseException, ModuleType)


def _show_numpy(x: Any, cls: type) -> str | None:
    np: Any = sys.modules.get("numpy")
    if np is None or not hasattr(np, "generic"):
        return None
    mro = _mro_of(cls)
    if np.ndarray in mro:
        shape, found = np.ndarray.shape.__get__(x), np.ndarray.dtype.__get__(x)
        return f"{_name_of(cls)}(shape={shape}, dtype={found})"
    # A class of its own cannot be changed, and prints as it does.
    if np.generic in mro and getattr(np, _name_of(cls), None) is cls and not issubclass(cls, np.void):
        show: Any = cls.__str__
        return f"{_name_of(cls)}({show(x)[:MOST]})"
    return None


def render(x: Any) -> str:
    """Return a value as text of at most MOST characters, and dots. Never fails, but for lack of memory."""
    text = _Text(MOST)
    try:
        text.show(x)
    except _Full:
        pass
    except RuntimeError as raised:
        if is_from_handler(raised):
            raise
        # Another thread changes the container.
        text._left = -1
    return text.text()


def render_error(exception: BaseException) -> str:
    """Return the message of an exception, as far as it is known without its `__str__`."""
    args = _args_of(exception)
    if len(args) == 1 and type(args[0]) is str and _has_plain_text(type(exception)):
        return str(args[0][:MOST]) + ("..." if len(args[0]) > MOST else "")
    text = _Text(MOST)
    try:
        text._put_all("", args, "", _LEVELS)
    except _Full:
        pass
    except RuntimeError as raised:
        if is_from_handler(raised):
            raise
        text._left = -1
    return text.text()


def _has_plain_text(cls: type) -> bool:
    shown: Any = cls.__str__
    return shown is BaseException.__str__
