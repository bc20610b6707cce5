"""The C header by itself, and its layouts and codes as seen by C, C++, cffi, ctypes and Cython."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import shutil
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from c_abi import CODES, HEADER, HEADERS, INCLUDE, TYPES, c, lib, table
from support import ROOT, run

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
#: Every installed compiler: the build's, GCC and Clang.
C_COMPILERS = sorted({os.environ.get("CC", "cc"), *filter(shutil.which, ("gcc", "clang"))})
CXX_COMPILERS = sorted({os.environ.get("CXX", "c++"), *filter(shutil.which, ("g++", "clang++"))})
LANGUAGES = [
    *((compiler, "c", "c11") for compiler in C_COMPILERS),
    *((compiler, "c++", "c++17") for compiler in CXX_COMPILERS),
]

_NAMES = [name for name in c.list_types()[0] if name.startswith("Anyffi")]
STRUCTS: list[str] = sorted(name for name in _NAMES if c.typeof(name).kind == "struct")
ENUMS: list[str] = sorted(name for name in _NAMES if c.typeof(name).kind == "enum")


def compile_source(language: tuple[str, str, str], source: str, *options: object) -> Any:
    compiler, name, standard = language
    return run(
        [compiler, f"-std={standard}", *WARNINGS, "-I", INCLUDE, *options, "-x", name, "-"],
        stdin=source,
        LD_PRELOAD=None,
    )


@pytest.mark.parametrize("language", LANGUAGES, ids=" ".join)
@pytest.mark.parametrize("header", ["c_api", "native_api", "host_api", "inline"])
def test_the_header_compiles_alone(language: tuple[str, str, str], header: str) -> None:
    line = f"#include <anyffi/{header}.h>\n"
    for source in (line, line * 2):
        done = compile_source(language, source, "-fsyntax-only")
        assert done.returncode == 0, done.stderr


def test_the_header_includes_nothing_but_integers() -> None:
    assert re.findall("#include (.*)", HEADER.read_text()) == ["<stddef.h>", "<stdint.h>"]
    for header in HEADERS[1:]:
        assert re.findall("#include (.*)", header.read_text()) == ["<anyffi/c_api.h>"]


# ---- cffi against C and C++ -----------------------------------------------------------------------------


def flat_fields(struct_type: Any) -> Iterator[tuple[str, Any]]:
    """Return name and type of each field, including those of anonymous unions."""
    for name, field in struct_type.fields:
        if name:
            yield name, field.type
        else:
            yield from flat_fields(field.type)


def layout_of_cffi() -> dict[str, int]:
    found: dict[str, int] = {}
    for name in STRUCTS:
        found[f"sizeof {name}"] = c.sizeof(name)
        found[f"alignof {name}"] = c.alignof(name)
        for field, field_type in flat_fields(c.typeof(name)):
            found[f"offsetof {name}.{field}"] = c.offsetof(name, field)
            found[f"sizeof {name}.{field}"] = c.sizeof(field_type)
    for name in ENUMS:
        found.update({f"value {key}": value for key, value in c.typeof(name).relements.items()})
    found.update({f"value ANYFFI_{name}": code for name, code in CODES.items()})
    for name in ("ANYFFI_DATA_TYPE_CODES", "ANYFFI_DEVICE_TYPES"):
        found.update({f"value ANYFFI_{row[0]}": int(row[1]) for row in table(name)})
    found["value ANYFFI_ABI_VERSION"] = lib.anyffi_abi_get_version()
    found["value ANYFFI_FIRST_DYNAMIC_TYPE"] = 128
    return found


def layout_program(questions: dict[str, int]) -> str:
    """Return a C program that prints the layout as its compiler sees it."""
    answers = []
    for question in questions:
        what, name = question.split()
        owner, _, field = name.partition(".")
        if what == "value":
            answer = name
        elif what == "offsetof":
            answer = f"offsetof({owner}, {field})"
        elif what == "alignof":
            answer = f"ALIGNOF({owner})"
        else:
            answer = f"sizeof((({owner}*)0)->{field})" if field else f"sizeof({owner})"
        answers.append(f'  printf("%s %lld\\n", "{question}", (long long)({answer}));')
    return "\n".join(
        (
            "#include <anyffi/host_api.h>",
            "#include <anyffi/native_api.h>",
            "#include <stdio.h>",
            "#ifdef __cplusplus",
            "#define ALIGNOF alignof",
            "#else",
            "#define ALIGNOF _Alignof",
            "#endif",
            "int main(void) {",
            *answers,
            "  return 0;",
            "}\n",
        )
    )


@pytest.mark.parametrize("language", LANGUAGES, ids=" ".join)
def test_cffi_sees_what_the_compiler_sees(language: tuple[str, str, str], tmp_path: pathlib.Path) -> None:
    expected = layout_of_cffi()
    assert len(STRUCTS) > 25
    assert len(expected) > 200
    program = tmp_path / "layout"
    done = compile_source(language, layout_program(expected), "-o", program)
    assert done.returncode == 0, done.stderr
    lines = run([program], LD_PRELOAD=None).stdout.splitlines()
    assert {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines} == expected


def test_the_documented_layout() -> None:
    """The header matches the numbers in docs/protocol.md."""
    assert (c.sizeof("AnyffiValue"), c.alignof("AnyffiValue")) == (16, 8)
    assert [c.offsetof("AnyffiValue", name) for name in ("type_code", "aux", "as_int")] == [0, 4, 8]
    header = ("type_code", "weak_count", "strong_count", "deleter", "wrapper")
    assert [c.offsetof("AnyffiObject", name) for name in header] == [0, 4, 8, 16, 24]
    rows = re.findall(
        r"^\| ([\d, to]+) \| [^|]+ \| (?:offset: field|(\d+: [^|]+)) \|$", protocol(), re.MULTILINE
    )
    stated = {codes: fields for codes, fields in rows if fields}
    structs = {
        "2": "AnyffiBox",
        "3": "AnyffiStrObject",
        "4": "AnyffiBytesObject",
        "5": "AnyffiBigInt",
        "6": "AnyffiComplex",
        "7": "AnyffiSlice",
        "8": "AnyffiError",
        "9": "AnyffiFunction",
        "11": "AnyffiPyObject",
        "12, 13, 19": "AnyffiSequence",
        "14 to 17": "AnyffiMapping",
        "18": "AnyffiTensor",
    }
    assert set(stated) == set(structs)
    for codes, fields in stated.items():
        # Text in brackets may itself contain a number and a colon.
        for offset, name in re.findall(r"(\d+): `(\w+)`", re.sub(r"\([^)]*\)", "", fields)):
            assert c.offsetof(structs[codes], name) == int(offset), (structs[codes], name)


def protocol() -> str:
    return (ROOT / "docs" / "protocol.md").read_text()


# ---- the table of types ---------------------------------------------------------------------------------


@pytest.mark.parametrize("row", TYPES, ids=lambda row: row[0])
def test_the_library_has_the_headers_table(row: list[str]) -> None:
    name, code, kind, parent, storage, type_key, python_name = row
    info = lib.anyffi_type_get_info(int(code))
    assert info.type_code == int(code)
    assert info.struct_size == c.sizeof("AnyffiTypeInfo")
    assert (info.family, info.parent) == (CODES[kind], CODES[parent])
    assert info.storage == ("INLINE", "BORROWED", "OBJECT").index(storage)
    assert c.string(info.type_key).decode() == type_key
    assert c.string(info.python_name).decode() == python_name
    assert lib.anyffi_type_find(type_key.encode()) == info
    assert lib.anyffi_type_get_family(int(code)) == CODES[kind]
    assert (int(code) > 0) == (storage == "OBJECT")
    # Both marshallers use the codes of `anyffi._rules.codes.code`.
    from anyffi._rules import codes

    assert getattr(codes.code, name) == int(code)


# ---- cffi against ctypes --------------------------------------------------------------------------------


def ctypes_structs() -> dict[str, Any]:
    """Return the structs that the ctypes marshaller declares, by the C name at the start of their docstring."""
    from anyffi._ctypes import structs

    classes = [x for x in vars(structs).values() if isinstance(x, type) and issubclass(x, ctypes.Structure)]
    declared = [cls for cls in classes if cls.__module__ == structs.__name__]
    return {str(re.findall(r"\w+", str(cls.__doc__))[0]): cls for cls in declared}


#: Fields that the ctypes marshaller names differently, or declares flattened.
NAMES = {
    ("AnyffiValue", "payload"): "as_int",
    ("AnyffiTensorData", "device_type"): "device.type",
    ("AnyffiTensorData", "device_index"): "device.index",
    ("AnyffiTensorData", "code"): "dtype.code",
    ("AnyffiTensorData", "bits"): "dtype.bits",
    ("AnyffiTensorData", "lanes"): "dtype.lanes",
}
#: Structs of which the ctypes marshaller only declares the first fields.
PARTIAL = {"AnyffiTensor", "AnyffiTypeInfo"}


def offset_and_type(name: str, path: str) -> tuple[int, Any]:
    offset, owner = 0, c.typeof(name)
    for part in path.split("."):
        offset += c.offsetof(owner, part)
        owner = dict(flat_fields(owner))[part]
    return offset, owner


def shape_of_cffi(cffi_type: Any) -> tuple[str, int]:
    """Return the class of machine type (pointer, signed, ...) and its size."""
    size = c.sizeof(cffi_type)
    if cffi_type.kind in ("pointer", "function"):
        return "pointer", c.sizeof("void*")
    if cffi_type.kind == "struct":
        return "struct", size
    if cffi_type.cname in ("double", "float"):
        return "float", size
    # Wrap-around shows whether the type is signed.
    return "signed" if int(c.cast(cffi_type, -1)) < 0 else "unsigned", size


def shape_of_ctypes(ctypes_type: Any) -> tuple[str, int]:
    size = ctypes.sizeof(ctypes_type)
    if issubclass(ctypes_type, ctypes.Structure):
        return "struct", size
    if issubclass(ctypes_type, (ctypes.c_void_p, ctypes.c_char_p, ctypes._Pointer)):
        return "pointer", size
    if issubclass(ctypes_type, ctypes.c_double):
        return "float", size
    return "signed" if ctypes_type(-1).value < 0 else "unsigned", size


@pytest.mark.parametrize("name", sorted(ctypes_structs()))
def test_ctypes_has_the_same_structs(name: str) -> None:
    cls = ctypes_structs()[name]
    assert name in STRUCTS
    if name not in PARTIAL:
        assert ctypes.sizeof(cls) == c.sizeof(name)
    for field, field_type in cls._fields_:
        offset, cffi_type = offset_and_type(name, NAMES.get((name, field), field))
        assert getattr(cls, field).offset == offset, field
        assert shape_of_ctypes(field_type) == shape_of_cffi(cffi_type), field


def test_ctypes_leaves_no_field_out() -> None:
    for name, cls in ctypes_structs().items():
        if name not in PARTIAL | {"AnyffiValue", "AnyffiTensorData"}:
            assert [field for field, _ in cls._fields_] == [field for field, _ in c.typeof(name).fields]


def test_ctypes_declares_the_same_functions() -> None:
    from anyffi._ctypes import abi, prototypes

    assert struct.calcsize(abi.VALUE.format) == c.sizeof("AnyffiValue")
    assert lib.anyffi_abi_get_version() == abi._ABI_VERSION
    for name, (result, *params) in prototypes.PROTOTYPES.items():
        declared = c.typeof(getattr(lib, name))
        if result is None:
            assert declared.result.cname == "void", name
        else:
            assert shape_of_ctypes(result) == shape_of_cffi(declared.result), name
        assert [*map(shape_of_ctypes, params)] == [*map(shape_of_cffi, declared.args)], name


# ---- Cython ---------------------------------------------------------------------------------------------


def same_type(expression: str, declaration: str, name: str, message: str) -> str:
    """Return C code that compiles if an expression has the declared type of `name`."""
    own = f"__typeof__(((struct {{ {declaration}; }}*)0)->{name})"
    return f'_Static_assert(_Generic({expression}, {own}: 1, default: 0), "{message}");'


def pxd_program() -> tuple[str, dict[str, int]]:
    """Return C code that compiles if the Cython marshaller's declarations agree with the header; and their number.

    Cython takes layouts and codes from the header, but types of fields and functions from its own declarations: a
    narrower type would truncate values silently.
    """
    text = (ROOT / "pkg" / "_cython" / "c_api.pxd").read_text()
    text = re.sub(r"#.*", "", text).replace(" noexcept", "")
    text = re.sub(r",\n\s*", ", ", text)
    lines = ["#include <anyffi/host_api.h>", "#include <anyffi/inline.h>"]
    counts = {"codes": 0, "fields": 0, "functions": 0}
    struct_name, is_enum = "", False
    for line in text.splitlines():
        indent, word = len(line) - len(line.lstrip()), line.strip()
        if indent == 8 and is_enum:
            lines.append(f"enum {{ CHECK_{word} = {word} }};")
            counts["codes"] += 1
        elif indent == 8 and struct_name and word != "pass":
            field = re.search(r"\(\*(\w+)\)|(\w+)$", word)
            assert field is not None
            name = field[1] or field[2]
            lines.append(same_type(f"(({struct_name}*)0)->{name}", word, name, f"{struct_name}.{name}"))
            counts["fields"] += 1
        elif indent == 4:
            found = re.fullmatch(r"ctypedef struct (\w+):", word)
            struct_name, is_enum = found[1] if found else "", word == "enum:"
            if word.startswith("ctypedef ") and not found:
                lines.append(word.replace("ctypedef", "typedef") + ";")
            elif "(" in word:
                name = re.findall(r"(\w+)\(", word)[0]
                pointer = word.replace(f"{name}(", f"(*{name})(").replace("()", "(void)")
                lines.append(same_type(f"&{name}", pointer, name, name))
                counts["functions"] += 1
    return "\n".join(lines) + "\n", counts


def test_cython_declares_the_same() -> None:
    program, counts = pxd_program()
    assert counts["codes"] >= 15
    assert counts["fields"] >= 30
    assert counts["functions"] >= 15
    compiler = C_COMPILERS[0]
    command = [compiler, "-std=gnu11", "-Wall", "-Werror", "-I", INCLUDE, "-fsyntax-only", "-x", "c", "-"]
    done = run(command, stdin=program, LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
