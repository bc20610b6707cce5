"""Structs of C++ for dataclasses: a header that `anyffi.dataclass` and the compiler agree on."""

from __future__ import annotations

import importlib
import keyword
import re
from collections.abc import Iterator, Sequence
from inspect import cleandoc
from typing import Any

from .._backend import active
from .generate import StubError

__all__ = ["generate_structs"]

#: The C++ type, size and alignment of fields, by the runtime's name of their type.
_PLAIN = {
    "int": ("int64_t", 8, 8),
    "float": ("double", 8, 8),
    "bool": ("bool", 1, 1),
    "str": ("anyffi::String", 16, 8),
    "bytes": ("anyffi::Bytes", 16, 8),
    "Any": ("anyffi::AnyValue", 16, 8),
    "Object": ("anyffi::ObjectRef", 8, 8),
    "Function": ("anyffi::Function", 8, 8),
    "Module": ("anyffi::Module", 8, 8),
    "Tensor": ("anyffi::Tensor", 8, 8),
    "Shape": ("anyffi::Shape", 8, 8),
}
#: Types that containers hold unchanged as elements; a field of such a type is an AnyValue.
_ELEMENTS = {
    "None": "std::nullptr_t",
    "slice": "anyffi::Slice",
    "dtype": "anyffi::DataType",
    "Device": "anyffi::Device",
    "c_void_p": "void*",
}
_CONTAINERS = ("List", "Array", "Set", "FrozenSet", "Dict", "Map")
_TOKEN = re.compile(r"\s*(?:(\[)|(\])|(,)|(\|)|('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\[\],|\s]+))")
#: Words of C++ that Python has as names.
_WORDS = frozenset(
    """
    alignas alignof auto bool break case catch char class const constexpr continue default delete do double
    else enum explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept nullptr operator private protected public register requires return short signed sizeof static
    struct switch template this throw true try typedef typeid typename union unsigned using virtual void
    volatile while
    """.split()  # noqa: SIM905
)


class _Unknown(Exception):
    """There is no type of C++ for a type of fields."""


def generate_structs(modules: Sequence[str]) -> str:
    """Return the text of a header with the structs of the dataclasses in modules.

    Parameters
    ----------
    modules : sequence of str
        Names of modules of Python, which are imported.

    Raises
    ------
    StubError
        A module cannot be imported, or has no dataclass, or one has a key that is no name in C++.
    """
    found: dict[str, Any] = {}
    for name in modules:
        try:
            module = importlib.import_module(name)
        except (Exception, SystemExit) as error:
            raise StubError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
        for value in vars(module).values():
            if isinstance(value, type) and "_anyffi_record" in value.__dict__:
                for base in reversed(value.__mro__):
                    # There is no struct for what derives from a class of C++.
                    if "_anyffi_record" in base.__dict__ and not hasattr(base, "_anyffi_of_cpp"):
                        found[base.__dict__["_anyffi_type_key"]] = base
    if not found:
        raise StubError(f"there is no class with anyffi.dataclass in {', '.join(modules)}")
    guard = "_".join(re.sub(r"\W", "_", name).upper() for name in modules)
    lines = [
        "// Written by python -m anyffi stubgen --cpp: the structs of dataclasses of Python.",
        "// clang-format off",
        f"#ifndef {guard}_STRUCTS_H_",
        f"#define {guard}_STRUCTS_H_",
        "",
        "#include <anyffi/anyffi.h>",
        "",
    ]
    for key in found:
        lines.append(f"{_open(key)}struct {_place(key)[-1]};{_close(key)}")
    lines.append("")
    for key, cls in found.items():
        base_key = _base_of(cls)
        parent = f", {_name(base_key)}" if base_key else ""
        lines.append(f'ANYFFI_TYPE_KEY({_name(key)}, "{key}"{parent});')
    for key, cls in found.items():
        lines += ["", *_define(key, cls, found)]
    lines += ["", f"#endif  // {guard}_STRUCTS_H_", ""]
    return "\n".join(lines)


def _place(key: str) -> list[str]:
    parts = key.split(".")
    for part in parts:
        if not part.isidentifier() or not part.isascii():
            raise StubError(f"the key {key!r} of a dataclass is no name in C++: give it another one")
    return [_word(part) for part in parts]


def _word(name: str) -> str:
    return name + "_" if name in _WORDS or keyword.iskeyword(name) else name


def _name(key: str) -> str:
    return "::".join(_place(key))


def _open(key: str) -> str:
    scope = "::".join(_place(key)[:-1])
    return f"namespace {scope} {{ " if scope else ""


def _close(key: str) -> str:
    return " }" if "." in key else ""


def _base_of(cls: Any) -> str | None:
    bases = (
        base.__dict__["_anyffi_type_key"] for base in cls.__mro__[1:] if "_anyffi_record" in base.__dict__
    )
    return next(bases, None)


def _define(key: str, cls: Any, found: dict[str, Any]) -> Iterator[str]:
    """Return the lines of a struct, and of what the library checks when it is loaded."""
    # In the order in which they lie.
    fields = [
        (row[0], cls.__dict__[row[0]]) for row in active._runtime.type_describe(cls._anyffi_record[0])[3]
    ]
    base = _base_of(cls)
    scope = "::".join(_place(key)[:-1])
    if scope:
        yield f"namespace {scope} {{"
    if cls.__dict__.get("__doc__"):
        yield from (f"/// {line}".rstrip() for line in cleandoc(str(cls.__doc__)).splitlines())
    yield f"struct {_place(key)[-1]}{f' : ::{_name(base)}' if base else ''} {{"
    end, alignment = 0, 1
    for name, field in fields:
        text, size, aligned = _member_type(field.type_name, found)
        end = (end + aligned - 1) // aligned * aligned + size
        alignment = max(alignment, aligned)
        yield f"  {text} {_word(name)};{_comment(field.__doc__)}"
    padding = -end % alignment
    if padding and any(_base_of(other) == key for other in found.values()):
        yield f"  char padding_[{padding}];  // no member of a derived struct lies here"
    yield "};"
    if scope:
        yield f"}}  // namespace {scope}"
    rows = [f'    .field("{name}", &{_name(key)}::{_word(name)})' for name, _ in fields]
    *rows, last = [f"ANYFFI_RECORD_FIELDS({_name(key)})", *rows]
    yield from rows
    yield f"{last};"


def _comment(doc: str | None) -> str:
    return f"  ///< {' '.join(doc.split())}" if doc else ""


def _member_type(type_name: str, found: dict[str, Any]) -> tuple[str, int, int]:
    """Return the C++ type of a field, its size and its alignment."""
    if type_name in _PLAIN:
        return _PLAIN[type_name]
    if type_name in _ELEMENTS:
        return _PLAIN["Any"]
    tree = _parse(type_name)
    if tree[0] == "|":
        parts = [part for part in tree[1] if part[0] != "None"]
        try:
            if len(parts) == 1 and len(tree[1]) == 2:
                return f"anyffi::Optional<{_element_type(parts[0], found)}>", 16, 8
        except _Unknown:
            pass
        return _PLAIN["Any"]
    is_object = tree[0] in _CONTAINERS or tree[0] == "tuple" or active._runtime.type_find(tree[0]) is not None
    if not is_object:
        return _PLAIN["Any"]
    try:
        return _element_type(tree, found), 8, 8
    except _Unknown:
        return _PLAIN["Object"]


def _element_type(tree: Any, found: dict[str, Any]) -> str:
    """Return the C++ type of the elements of containers."""
    name, parts = tree
    if name == "|" and len(parts) == 2 and parts[1][0] == "None":
        return f"anyffi::Optional<{_element_type(parts[0], found)}>"
    if name == "|":
        return f"anyffi::Variant<{', '.join(_element_type(part, found) for part in parts)}>"
    if name in _CONTAINERS or name == "tuple":
        inner = ", ".join(_element_type(part, found) for part in parts)
        return f"anyffi::{'Tuple' if name == 'tuple' else name}<{inner}>"
    if name in _PLAIN:
        return _PLAIN[name][0]
    if name in _ELEMENTS:
        return _ELEMENTS[name]
    if name in found:
        return f"anyffi::Ref<::{_name(name)}>"
    raise _Unknown


def _parse(text: str) -> Any:
    """Return the tree of a type's name: a name, or `|`, and its parts."""
    tokens = [match.group().strip() for match in _TOKEN.finditer(text)]
    place = 0

    def union() -> Any:
        nonlocal place
        parts = [single()]
        while place < len(tokens) and tokens[place] == "|":
            place += 1
            parts.append(single())
        return parts[0] if len(parts) == 1 else ("|", parts)

    def single() -> Any:
        nonlocal place
        name, parts = tokens[place], []
        place += 1
        if place < len(tokens) and tokens[place] == "[":
            while tokens[place] != "]":
                place += 1
                parts.append(union())
            place += 1
        return name, parts

    return union()
