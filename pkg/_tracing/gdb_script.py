"""Commands and printers for gdb, whose Python runs this file: `source` it.

It shows values of the C ABI, and `anyffi-border` what Python passed to the C++ function in which gdb stopped.
"""

from __future__ import annotations

import struct
from typing import Any

import gdb  # type: ignore  # only in gdb

#: The type table of c_api.h.
NAMES = {
    0: "None", -1: "Bool", -2: "Int", -3: "Float", -4: "Str", -5: "Bytes", -6: "StrView", -7: "BytesView",
    -8: "Ellipsis", -9: "Pointer", -10: "DataType", -11: "Device", -12: "TensorView", -13: "Missing",
    -14: "Unset", 1: "Object", 2: "Box", 3: "StrObject", 4: "BytesObject", 5: "BigInt", 6: "Complex",
    7: "Slice", 8: "Error", 9: "Function", 10: "Module", 11: "PyObject", 12: "Array", 13: "List", 14: "Map",
    15: "Dict", 16: "FrozenSet", 17: "Set", 18: "Tensor", 19: "Shape",
}  # fmt: skip
_WIDTHS = (1, 1, 2, 4)
_MOST = 200


def _read(address: int, size: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, size))


def _text(data: bytes, width: int) -> str:
    points = struct.unpack(f"<{len(data) // width}{'BHxI'[width - 1]}", data)
    return ascii("".join(chr(point) for point in points if point < 0x110000))


def show(cell: bytes) -> str:
    """Show the 16 bytes of a value: `Int(3)`, `Str('abc')`, `List at 0x..., 2 references`."""
    type_code, aux, payload = struct.unpack("<iIQ", cell)
    name = NAMES.get(type_code, f"type {type_code}")
    if type_code == -1:
        return f"{name}({payload != 0})"
    if type_code == -2:
        return f"{name}({struct.unpack_from('<q', cell, 8)[0]})"
    if type_code == -3:
        return f"{name}({struct.unpack_from('<d', cell, 8)[0]})"
    if type_code in (-4, -5):
        encoding, spare = divmod(cell[15], 16)
        width = _WIDTHS[encoding % 4]
        data = cell[4 : 4 + max(0, 11 - spare) * width]
        return f"{name}({data!r})" if type_code == -5 else f"{name}({_text(data, width)})"
    if type_code in (-6, -7):
        length, encoding = divmod(aux, 4)
        width = _WIDTHS[encoding]
        data = _read(payload, min(length, _MOST) * width)
        shown = repr(data) if type_code == -7 else _text(data, width)
        return f"{name}({shown}{'...' if length > _MOST else ''})"
    if type_code == -14 and aux != 0:
        # Made by `anyffi_make_items`: a container that the host passes without packing it.
        return f"{NAMES[aux >> 1]} of the host at {payload:#x}, read in place"
    if type_code in (0, -8, -13, -14):
        return name
    if type_code < 0:
        return f"{name}({payload:#x})"
    count = struct.unpack("<Q", _read(payload + 8, 8))[0]
    return f"{name} at {payload:#x}, {count} reference{'s' if count != 1 else ''}"


class ValuePrinter:
    """Shows an AnyffiValue, AnyView or AnyValue, or a reference to an object."""

    def __init__(self, value: Any, is_object: bool) -> None:
        self._value = value
        self._is_object = is_object

    def to_string(self) -> str:
        """Return the text."""
        try:
            if not self._is_object:
                return show(_read(int(self._value.address), 16))
            address = int(self._value["object_"])
            return "empty" if address == 0 else show(_read(address, 4) + struct.pack("<IQ", 0, address))
        except (gdb.MemoryError, TypeError, struct.error):
            return "<not readable>"


def _is_reference(kind: Any) -> bool:
    """Return whether a class is ObjectRef, or derives from it, as `List` and `Function` do."""
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return False
    bases = (field.type.strip_typedefs() for field in kind.fields() if field.is_base_class)
    return kind.name == "anyffi::ObjectRef" or any(map(_is_reference, bases))


def _printer(value: Any) -> ValuePrinter | None:
    kind = value.type.strip_typedefs()
    names = ("AnyffiValue", "anyffi::AnyValue", "anyffi::AnyView")
    is_object = _is_reference(kind)
    found = is_object or (kind.name in names and value.address is not None)
    return ValuePrinter(value, is_object) if found else None


def _parameters(frame: Any) -> list[tuple[str, Any]]:
    """Return the names and values of the parameters of a function, without the closure of a lambda."""
    block = frame.block()
    while block.function is None:
        block = block.superblock
    named = [symbol for symbol in block if symbol.is_argument and symbol.name != "__closure"]
    return [(symbol.name, symbol.value(frame)) for symbol in named]


def _show_none(parameter: tuple[str, Any] | None) -> str:
    """Show an argument that is None by now: the parameter's value, if that took the argument."""
    if parameter is None:
        return "None, or taken by the parameter"
    name, value = parameter
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    printer = _printer(value)
    if printer is None:
        return f"None, or taken by the parameter {name}"
    shown = printer.to_string()
    return shown if shown == "None" else f"{shown}, taken by the parameter {name}"


class Border(gdb.Command):  # type: ignore[misc]
    """Show the arguments that Python passed to the C++ function in which gdb stopped, and Python's stack.

    The arguments are those of the nearest frame that has them packed; functions compiled with -g -O0 do. A
    parameter may have taken an object that was created for the call alone.
    Python's stack is written by the process itself, to its stderr, if it is CPython.
    """

    def __init__(self) -> None:
        super().__init__("anyffi-border", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Run the command."""
        found = self._find_arguments(gdb.selected_frame())
        if found is None:
            print("no frame with packed arguments; compile with -g -O0")
        else:
            address, count, parameters = found
            for index in range(count):
                shown = show(_read(address + 16 * index, 16))
                if shown == "None":
                    shown = _show_none(parameters[index] if len(parameters) == count else None)
                print(f"argument {index}: {shown}")
        try:
            # What `faulthandler` calls: without the lock, and without memory.
            state = "((void*(*)(void))PyGILState_GetThisThreadState)()"
            gdb.execute(f"call ((void(*)(int,void*))_Py_DumpTraceback)(2, {state})")
        except gdb.error as error:
            # CPython hides the function from 3.13 on, so that only an interpreter with symbols has it.
            is_stripped = "No symbol" in str(error)
            advice = "; its symbols were stripped: `python -X faulthandler` writes the stack at a crash"
            print(f"no stack of Python: {error}{advice if is_stripped else ''}")

    @staticmethod
    def _find_arguments(frame: Any) -> tuple[int, int, list[tuple[str, Any]]] | None:
        """Return the place and the number of the arguments, and the parameters that they became."""
        parameters: list[tuple[str, Any]] = []
        while frame is not None and frame.is_valid():
            try:
                args, count = frame.read_var("args"), frame.read_var("num_args")
                target = args.type.strip_typedefs().target().unqualified().strip_typedefs()
                if target.name == "AnyffiValue":
                    return int(args), int(count), parameters
            except (ValueError, RuntimeError, gdb.error):
                pass
            if not (frame.name() or "std::").startswith(("anyffi::", "std::")):
                parameters = _parameters(frame)
            frame = frame.older()
        return None


gdb.pretty_printers.append(_printer)
Border()
