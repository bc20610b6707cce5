"""Writers: pack values without parts, as a borrowed value or as a step of a recipe.

A writer gets a value and `keep`, the list of objects that must outlive the call; for a step of a recipe it
appends to it. None of them runs users' code.
"""

from __future__ import annotations

import struct
import sys
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType

from .._builtins import *  # noqa: F403
from .._rules import values as _rules
from .._rules.codes import code
from .._rules.decisions import (
    EXACT,
    NUMPY_READERS,
    SUBCLASSES,
    lower_class,
    lower_device,
    lower_dtype,
    lower_error,
    lower_foreign_dtype,
    lower_function,
    lower_int,
    lower_ndarray,
    lower_object,
    lower_opaque,
    lower_pointer,
)
from .._rules.internal import MISSING
from .._typing import Any, Callable
from .abi import VALUE, platform, type_code_in
from .ndarray import write_array
from .scalars import RECIPE, Writer, borrow_bytes, borrow_str, pack_scalar, scalar_borrowers
from .wrapper import write_wrapper

__all__ = [
    "add_writer",
    "argument_writers",
    "find_writer",
    "number_writers",
    "pack_lowered",
    "reader_writers",
    "set_callback",
    "write_big_int",
    "writers",
]

_value = VALUE.pack
_value_of_pointer = struct.Struct("=iIQ").pack
_value_of_float = struct.Struct("=iId").pack
_value_of_dtype = struct.Struct("=iIBBHi").pack
_value_of_device = struct.Struct("=iIii").pack
#: AnyffiPyObjectRecipe: handle, function that retains it.
_handle_recipe = struct.Struct("=QQ").pack
#: AnyffiFunctionRecipe: function to call, handle, function that retains it.
_function_recipe = struct.Struct("=QQQ").pack
_complex_recipe = struct.Struct("=dd").pack
#: AnyffiBigIntRecipe: address and number of the words, sign.
_big_int_recipe = struct.Struct("=Qqi").pack

_MISSING = _value(code.MISSING, 0, 0)
_INT, _FLOAT = code.INT, code.FLOAT
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

_HEAP_TYPE = 1 << 9  # of Py_TPFLAGS

#: Writers by the id of the class.
writers: dict[int, Writer] = {**scalar_borrowers, id(type(MISSING)): lambda x, keep: _MISSING}
#: Writers by the rules' function that lowers instances of a class.
reader_writers: dict[Any, Writer] = {lower_object: write_wrapper, lower_ndarray: write_array}


#: The same for arguments, for which pack.py also adds writers of containers.
argument_writers: dict[int, Writer] = {**writers}


def add_writer(cls: type, write: Writer) -> None:
    """Set the writer of a class that never changes and is never destroyed."""
    argument_writers[id(cls)] = writers[id(cls)] = write


def is_static(cls: type) -> bool:
    """Return whether a class never changes and is never destroyed."""
    return not cls.__flags__ & _HEAP_TYPE


def find_writer(cls: type) -> Writer | None:
    """Return the writer for a class; None if it has none, or its decision is not remembered."""
    write = writers.get(id(cls))
    if write is None:
        write = reader_writers.get(EXACT.get(id(cls)) or _rules.known_reader(cls))
        if write is not None and write in _of_static and is_static(cls):
            add_writer(cls, write)
    return write


# ---- what the rules lower ---------------------------------------------------------------------------


def _step(type_code: int, recipe: bytes, keep: list[Any]) -> bytes:
    keep.append(recipe)
    return _value(type_code, RECIPE, platform.lend_bytes(recipe, keep))


def _write_complex(payload: tuple[float, float], keep: list[Any]) -> bytes:
    return _step(code.COMPLEX, _complex_recipe(*payload), keep)


def _write_big_int(payload: tuple[bytes, bool], keep: list[Any]) -> bytes:
    magnitude, is_negative = payload
    keep.append(magnitude)
    words = platform.lend_bytes(magnitude, keep)
    return _step(code.BIG_INT, _big_int_recipe(words, len(magnitude) // 8, is_negative), keep)


def write_big_int(x: int, keep: list[Any]) -> bytes:
    """Return the recipe of an int that does not fit into 64 bits."""
    return _write_big_int(lower_int(x)[1], keep)


def _write_text(x: Any, keep: list[Any]) -> Any:
    """Pack exact text or bytes that were created for this; the value owns them unless it is inline."""
    view = borrow_str(x, keep) if type(x) is str else borrow_bytes(x, keep)
    if type(view) is not bytes or type_code_in(view)[0] not in _VIEWS:
        return view
    keep.append(x)
    return _step(code.STR_OBJECT if type(x) is str else code.BYTES_OBJECT, view, keep)


_VIEWS = (code.STR_VIEW, code.BYTES_VIEW)


#: Functions that pack the results of `lower`, by type code.
_payload_writers: dict[int, Callable[[Any, list[Any]], Any]] = {
    code.INT: lambda payload, keep: _value(code.INT, 0, payload),
    code.FLOAT: lambda payload, keep: _value_of_float(code.FLOAT, 0, payload),
    code.BOOL: lambda payload, keep: _value(code.BOOL, 0, payload),
    code.STR: _write_text,
    code.BYTES: _write_text,
    code.COMPLEX: _write_complex,
    code.BIG_INT: _write_big_int,
    code.MISSING: lambda payload, keep: _MISSING,
    code.POINTER: lambda payload, keep: _value_of_pointer(code.POINTER, 0, payload),
    code.DATA_TYPE: lambda payload, keep: _value_of_dtype(code.DATA_TYPE, 0, *payload, 0),
    code.DEVICE: lambda payload, keep: _value_of_device(code.DEVICE, 0, *payload),
}


def pack_lowered(type_code: int, payload: Any, keep: list[Any]) -> Any:
    """Pack the result of `lower`, unless it has parts; None for those, and for handles on PyPy."""
    write = _payload_writers.get(type_code)
    return None if write is None else write(payload, keep)


def _write_lowered(read: Any, x: Any, keep: list[Any]) -> Any:
    type_code, payload = read(x)
    return pack_lowered(type_code, payload, keep)


def _write_dtype(read: Any, x: Any, keep: list[Any]) -> Any:
    try:
        return _write_lowered(read, x, keep)
    except TypeError:
        # Raised again by the slow path, which names the argument and the place in it.
        return None


for _read_dtype in (lower_class, lower_foreign_dtype):
    reader_writers[_read_dtype] = partial(_write_dtype, _read_dtype)

for _read in (
    lower_device,
    lower_dtype,
    lower_pointer,
    *(SUBCLASSES[cls] for cls in (bytes, bytearray, memoryview, complex)),
):
    reader_writers[_read] = partial(_write_lowered, _read)


def _write_exact(read: Any, exact: Any, x: Any, keep: list[Any]) -> Any:
    """Write the exact number made from `x`, or else the result of the rules."""
    cls = type(exact)
    if cls is int:
        return _value(_INT, 0, exact) if _INT64_MIN <= exact <= _INT64_MAX else write_big_int(exact, keep)
    if cls is float:
        return _value_of_float(_FLOAT, 0, exact)
    if cls is complex:
        return _write_complex((exact.real, exact.imag), keep)
    packed = pack_scalar(exact)
    return _write_lowered(read, x, keep) if packed is None else packed


def _converting(read: Any, convert: Callable[[Any], Any]) -> Writer:
    """Return a function that does the same as `_write_lowered` in less time, with a C function."""
    return lambda x, keep: _write_exact(read, convert(x), x, keep)


#: `item` of NumPy's scalars, which a subclass may override.
_item: Any = None


def _make_numpy_writer(read: Any) -> Writer:
    def write(x: Any, keep: list[Any]) -> Any:
        global _item
        if _item is None:
            _item = sys.modules["numpy"].generic.item
        return _write_exact(read, _item(x), x, keep)

    return write


for _cls, _convert in ((int, int.__pos__), (float, float.__pos__)):
    reader_writers[SUBCLASSES[_cls]] = _converting(SUBCLASSES[_cls], _convert)
#: Writers for subclasses of int and float, such as members of enumerations. They run no users' code.
number_writers = frozenset(reader_writers[SUBCLASSES[cls]] for cls in (int, float))
reader_writers[SUBCLASSES[str]] = lambda x, keep: _write_text(str.__str__(x), keep)
for _read in NUMPY_READERS:
    reader_writers[_read] = _make_numpy_writer(_read)


#: Writers that depend on the class alone.
_of_static = frozenset(reader_writers.values())


# ---- handles ----------------------------------------------------------------------------------------


_RETAIN, _CONTENT = platform.retain, platform.bytes_offset


def _write_handle(type_code: int, x: Any, keep: list[Any]) -> bytes:
    recipe = _handle_recipe(id(x), _RETAIN)
    keep.append(recipe)
    return _value(type_code, RECIPE, id(recipe) + _CONTENT)


def _write_function(callback: int, x: Any, keep: list[Any]) -> bytes:
    """Return the recipe of a function, which takes a quarter of the time of a call that creates one."""
    recipe = _function_recipe(callback, id(x), _RETAIN)
    keep.append(recipe)
    return _value(code.FUNCTION, RECIPE, id(recipe) + _CONTENT)


def set_callback(address: int) -> None:
    """Set the address of the C function that the runtime calls for a Python callable."""
    if not platform.retain:
        return
    write_function = partial(_write_function, address)
    for cls in (FunctionType, MethodType, BuiltinFunctionType):
        add_writer(cls, write_function)
    reader_writers[lower_function] = write_function
    _payload_writers[code.FUNCTION] = write_function
    for lower, type_code in ((lower_opaque, code.PY_OBJECT), (lower_error, code.ERROR)):
        reader_writers[lower] = _payload_writers[type_code] = partial(_write_handle, type_code)
