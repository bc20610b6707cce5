"""The components of the C++ runtime include and call only those below them."""

from __future__ import annotations

import pathlib
import re

import pytest
from support import ROOT

SOURCES = ROOT / "cpp" / "src"
HEADERS = ROOT / "cpp" / "include"

# The components of cpp/src, lowest first, each with the reason for its place.
LAYERS = {
    "core": "memory, objects, types, errors and the host: all others allocate, raise and call the host through it",
    "text": "strings and bytes: need only memory and errors",
    "tensors": "tensors: need only memory, errors, the host, and text for their names",
    "values": "operations on any value: repr shows tensors, hashes and comparisons read text",
    "functions": "calls and their errors: arguments are values of any type, recipes make containers and tensors",
    "records": "types of a front end: their fields are checked as arguments of functions are",
    "structure": "values and their parts: calls methods of objects, compares leaves as values do",
    "registry": "functions by name: holds functions, and names are compared as text",
    "modules": "shared libraries: undo what their initialisers put into the registry",
    "builtins": "registered functions for front ends: written with the public C++ headers, over everything else",
}

# Upward calls, by caller and function of the C ABI: the header that declares the function, and the reason. The host is
# not a component: all components call it through core/host.h, by the function pointers of AnyffiHost.
UPWARD = {
    ("core", "anyffi_str_create"): ("anyffi/c_api.h", "an owned copy of a borrowed string is a string"),
    ("core", "anyffi_bytes_create"): ("anyffi/c_api.h", "an owned copy of borrowed bytes is bytes"),
    ("core", "anyffi_value_create_host"): (
        "anyffi/c_api.h",
        "the host keeps its part of an object that is kept alive",
    ),
    ("core", "anyffi_str_from_utf8"): ("anyffi/c_api.h", "kind and message of an error are strings"),
    ("core", "anyffi_str_to_utf8"): ("anyffi/c_api.h", "C++ reads the message of an error as UTF-8"),
    ("core", "anyffi_sequence_create"): ("anyffi/c_api.h", "errors of the system have an Array of args"),
    ("core", "anyffi_sequence_insert"): ("anyffi/c_api.h", "as anyffi_sequence_create"),
    ("text", "anyffi_sequence_create"): (
        "anyffi/c_api.h",
        "split returns a List; codec errors have an Array of args",
    ),
    ("text", "anyffi_sequence_insert"): ("anyffi/c_api.h", "as anyffi_sequence_create"),
    ("values", "anyffi_function_call"): ("anyffi/c_api.h", "the class of a record may define its `repr`"),
    ("registry", "anyffi_registry_defer_error_of"): (
        "anyffi/c_api.h",
        "errors of declarations are raised by the load of the library",
    ),
}

RANK = {name: rank for rank, name in enumerate(LAYERS)}


def read(path: pathlib.Path) -> str:
    """Return a file without its comments and attributes, and without the contents of its strings."""
    text = re.sub(
        r"//[^\n]*|/\*.*?\*/|__attribute__\(\(.*?\)\) *(?=\w|;)", "", path.read_text(), flags=re.DOTALL
    )
    return re.sub(r'(?<!#include )"(?:\\.|[^"\\\n])*"', '""', text)


FILES = {
    path.relative_to(SOURCES).as_posix(): read(path)
    for path in sorted(SOURCES.rglob("*"))
    if path.suffix in (".cc", ".h")
}


def component(file: str) -> str:
    return file.split("/")[0]


def includes(file: str) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', FILES[file], flags=re.MULTILINE)


def definitions(text: str) -> set[str]:
    """Return the names of the functions that a text defines, methods as `Class::name`."""
    found = re.finditer(
        r"^[A-Za-z_][^;{}=#()]*?([\w:~]+)\((?:[^;{}]|\{\})*\)[^;{}()]*\{", text, flags=re.MULTILINE
    )
    return {match[1] for match in found}


DEFINED_IN: dict[str, set[str]] = {}
for _file, _text in FILES.items():
    for _name in definitions(_text):
        DEFINED_IN.setdefault(_name, set()).add(_file)


def test_every_folder_is_a_layer() -> None:
    assert {component(file) for file in FILES} == set(LAYERS)


@pytest.mark.parametrize("file", FILES)
def test_includes_point_down(file: str) -> None:
    for header in includes(file):
        assert header in FILES, f"{file}: {header} does not name a component"
        assert RANK[component(header)] <= RANK[component(file)], f"{file} includes {header}"


def test_headers_form_no_cycle() -> None:
    waiting = {file: set(includes(file)) for file in FILES if file.endswith(".h")}
    while waiting:
        done = {file for file, headers in waiting.items() if not headers & set(waiting)}
        assert done, f"a cycle among {sorted(waiting)}"
        waiting = {file: headers for file, headers in waiting.items() if file not in done}


@pytest.mark.parametrize("header", [file for file in FILES if file.endswith(".h")])
def test_functions_are_defined_in_the_component_that_declares_them(header: str) -> None:
    declarations = re.findall(
        r"^(?!extern)[A-Za-z_][^;{}=#()]*?(\w+)\([^;{}]*\)[^;{}]*;", FILES[header], flags=re.MULTILINE
    )
    classes = re.findall(r"^(?:class|struct) (\w+)", FILES[header], flags=re.MULTILINE)
    methods = [name for name in DEFINED_IN if name.split("::")[0] in classes and "::" in name]
    for name in (*declarations, *methods):
        files = {file for file in DEFINED_IN.get(name, ()) if file == header or file.endswith(".cc")}
        assert component(header) in {component(file) for file in files}, (
            f"{header}: {name} is defined in {files}"
        )


def test_calls_point_down() -> None:
    upward = set()
    for file, text in FILES.items():
        for name in re.findall(r"\banyffi_\w+\b", text):
            for owner in DEFINED_IN.get(name, ()):
                if RANK[component(owner)] > RANK[component(file)]:
                    upward.add((component(file), name))
    assert upward == set(UPWARD)


def test_every_function_of_the_c_abi_has_one_component() -> None:
    declared = "".join(read(path) for path in (HEADERS / "anyffi").glob("*_api.h"))
    for name in set(re.findall(r"\b(anyffi_\w+)\(", declared)):
        assert len(DEFINED_IN.get(name, ())) == 1, f"{name} is defined in {DEFINED_IN.get(name)}"


def test_upward_calls_go_through_the_stated_header() -> None:
    for (_, name), (header, reason) in UPWARD.items():
        assert f"{name}(" in read(HEADERS / header)
        assert reason
