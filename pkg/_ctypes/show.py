"""Values of the C ABI as text, for debuggers and tracebacks.

Nothing that a value points to is read, because it may already be released.
"""

from __future__ import annotations

import struct
from ctypes import Structure

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._typing import Any
from . import abi, structs
from .owned import OwnedValue

__all__ = ["Argument", "Arguments", "Cell", "Created", "show_value"]

_MOVABLE, _RECIPE = 1, 2  # AnyffiValueFlag
_WEAK_MARKS = 0x7C000000  # ANYFFI_WEAK_MARKS
_VALUE = abi.VALUE
_FLOAT = struct.Struct("=d")
_DATA_TYPE, _DEVICE = struct.Struct("=BBH"), struct.Struct("=ii")
_INLINE_BYTES = 11  # ANYFFI_INLINE_BYTES
_ENCODINGS = ("ascii", "latin-1", "UCS-2", "UCS-4")
_WIDTHS = (1, 1, 2, 4)
_PLAIN = (code.NONE, code.ELLIPSIS, code.MISSING, code.UNSET)
_VIEWS = (code.STR_VIEW, code.BYTES_VIEW)
#: Types that a recipe creates from the values before the step.
_MADE_OF_VALUES = (code.ARRAY, code.LIST, code.MAP, code.DICT, code.SET, code.FROZEN_SET, code.SLICE)


def _name_of(type_code: int) -> str:
    info = abi.library.type_get_info(type_code)
    return info.contents.type_key.decode() if info else f"code {type_code}"


def show_value(value: bytes) -> str:
    """Show an AnyffiValue: `Int(3)`, `Str('abc')`, `List at 0x7f..., movable`."""
    type_code, aux, payload = _VALUE.unpack(value)
    name = _name_of(type_code)
    if type_code in _PLAIN:
        return name
    if type_code == code.INT:
        return f"{name}({payload})"
    if type_code == code.BOOL:
        return f"{name}({payload != 0})"
    if type_code == code.FLOAT:
        return f"{name}({_FLOAT.unpack(value[8:])[0]!r})"
    if type_code in (code.STR, code.BYTES):
        return f"{name}({_inline_text(type_code, value)})"
    if type_code in _VIEWS:
        length, encoding = divmod(aux, 4)
        kind = f" {_ENCODINGS[encoding]}" if type_code == code.STR_VIEW else ""
        return f"{name} of {length}{kind} at {payload % 2**64:#x}"
    if type_code == code.DATA_TYPE:
        return "{}(code {}, {} bits, {} lanes)".format(name, *_DATA_TYPE.unpack_from(value, 8))
    if type_code == code.DEVICE:
        return "{}(type {}, index {})".format(name, *_DEVICE.unpack_from(value, 8))
    if type_code <= 0:
        return f"{name}({payload % 2**64:#x})"
    if aux & _RECIPE:
        return _show_recipe(type_code, name, payload)
    return f"{name} at {payload % 2**64:#x}{', movable' if aux & _MOVABLE else ''}"


def _show_recipe(type_code: int, name: str, payload: int) -> str:
    if type_code == code.OBJECT:
        return "an object created for the call"
    if type_code not in _MADE_OF_VALUES:
        return f"{name} to create"
    return f"{name} to create of the {payload} values before"


def _inline_text(type_code: int, value: bytes) -> str:
    encoding, spare = divmod(value[15], 16)
    length = max(0, _INLINE_BYTES - spare)
    data = value[4 : 4 + length * _WIDTHS[encoding % 4]]
    if type_code == code.BYTES:
        return repr(data)
    width = _WIDTHS[encoding % 4]
    points = [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]
    return ascii("".join(chr(point) for point in points if point < 0x110000))


class Cell(bytes):
    """A packed value, or the values of a recipe; its repr shows the content."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self or len(self) % _VALUE.size:
            return f"{len(self)} bytes"
        cells = [self[i : i + _VALUE.size] for i in range(0, len(self), _VALUE.size)]
        shown = ", ".join(map(show_value, cells[-_MOST_SHOWN:]))
        return shown if len(cells) <= _MOST_SHOWN else f"..., {shown}"


class Created(bytes):
    """A packed argument that was created for the call, with the value that it had before the call."""

    was: bytes

    def __repr__(self) -> str:
        return f"{show_value(self.was)}, created for the call"


#: Display limits: values of a recipe, characters of a Python value.
_MOST_SHOWN, _MOST_CHARACTERS = 12, 200


class Argument:
    """An argument of a failed call: its index, the Python value, and the packed value."""

    __slots__ = ("index", "name", "packed", "value")

    def __init__(self, index: int, name: Any, value: Any, packed: Any) -> None:
        self.index, self.name, self.value, self.packed = index, name, value, packed

    def __repr__(self) -> str:
        name = f" ({self.name})" if self.name else ""
        packed = "not packed" if self.packed is None else repr(self.packed)
        return f"<argument {self.index}{name}: {_shorten(_repr_of(self.value))} -> {packed}>"


class Arguments:
    """The arguments of a failed call: a sequence of `Argument`, which are only created when accessed."""

    #: The function, its arguments, and the values packed before the failure.
    __slots__ = ("_call",)

    _call: tuple[Any, tuple[Any, ...], list[Any]]

    def _describe(self) -> list[Argument]:
        function, args, packed = self._call
        info = function._anyffi_info()
        names = [param[0] for param in info[2]] if info else []
        names += [None] * (len(args) - len(names))
        cells: list[Any] = [Cell(x) if type(x) is bytes else x for x in packed]
        cells += [None] * (len(args) - len(cells))
        return [Argument(i, *parts) for i, parts in enumerate(zip(names, args, cells))]

    def __len__(self) -> int:
        return len(self._call[1])

    def __getitem__(self, index: int) -> Argument:
        return self._describe()[index]

    def __repr__(self) -> str:
        return repr(self._describe())


def _repr_of(x: Any) -> str:
    try:
        return repr(x)
    except Exception as error:
        return f"<{type(x).__name__} whose repr raises {type(error).__name__}>"


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


# ---- reprs of structs and memory -------------------------------------------------------------------------


def _show_field(x: Any) -> str:
    return repr(x) if type(x) is not int or -(2**16) < x < 2**16 else f"{x % 2**64:#x}"


def _show_struct(self: Any) -> str:
    shown = [f"{name}={_show_field(getattr(self, name))}" for name, *_ in type(self)._fields_]
    return f"{type(self).__name__}({', '.join(shown)})"


def _show_header(self: Any) -> str:
    counts = f"{self.strong_count} strong, {self.weak_count & ~_WEAK_MARKS} weak"
    wrapper = f", wrapper at {self.wrapper:#x}" if self.wrapper else ""
    return f"<header of {_name_of(self.type_code)}: {counts}{wrapper}>"


def _show_cell(self: Any) -> str:
    return show_value(_VALUE.pack(self.type_code, self.aux, self.payload))


def _show_owned(self: Any) -> str:
    return f"<owned {show_value(bytes(self[: _VALUE.size]))}>"


for _struct in list(vars(structs).values()):
    if isinstance(_struct, type) and issubclass(_struct, Structure) and _struct is not Structure:
        setattr(_struct, "__repr__", _show_struct)  # noqa: B010
for _class, _show in ((structs.Value, _show_cell), (structs.Header, _show_header), (OwnedValue, _show_owned)):
    setattr(_class, "__repr__", _show)  # noqa: B010
