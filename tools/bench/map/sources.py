"""Writes the C++ sources of the compared functions from the tables, and builds them."""

from __future__ import annotations

import concurrent.futures
import pathlib
from collections.abc import Iterable
from typing import Any, Callable

from .. import native
from ..contenders import Find, anyffi_flags, attributes, build_nanobind, build_tvm_ffi
from .calls import FUNCTIONS, Function, Overload
from .types import TYPES, Type

#: The number of libraries into which anyffi's functions are split, to compile them in parallel.
PARTS = 4

BODIES = {
    "take": "[](P_{key}) {{}}",
    "echo": "[](P_{key} x) -> T_{key} {{ return x; }}",
    "give": "[](int64_t n) -> const T_{key}& {{ return made<T_{key}>(n); }}",
    "apply": "[](const Callable& f, P_{key} x) {{ return call<T_{key}>(f, x); }}",
}

#: Names of the parameters that are also given by keyword.
NAMES = {"take": ('arg("x")',)}


def functions_of(each: Type) -> list[Function]:
    return [
        Function(f"{task}_{each.key}", (Overload(BODIES[task].format(key=each.key), NAMES.get(task, ())),))
        for task in each.tasks.split()
    ]


def anyffi_function(function: Function) -> str:
    first, *others = (", ".join((each.body, *each.parameters)) for each in function.overloads)
    more = "".join(f"\n    .def({other})" for other in others)
    return f"ANYFFI_EXPORT({function.name}, {first}){more};\n"


def nanobind_function(function: Function) -> str:
    return "".join(
        f'  m.def("{function.name}", {", ".join((each.body, *each.parameters))});\n'
        for each in function.overloads
    )


def aliases(types: dict[str, str]) -> str:
    """Return aliases for each type, as a parameter and as a value."""
    return "".join(
        f"using P_{key} = {name};\nusing T_{key} = std::decay_t<P_{key}>;\n" for key, name in types.items()
    )


def anyffi_sources() -> list[str]:
    """Return the source of each part."""
    names = aliases({each.key: each.ours for each in TYPES})
    functions = [*FUNCTIONS, *(function for each in TYPES for function in functions_of(each))]
    size = -(-len(functions) // PARTS)
    head = f'#include "map_anyffi.h"\n\n{names}\n'
    parts = [functions[start : start + size] for start in range(0, len(functions), size)]
    return [head + "".join(map(anyffi_function, part)) for part in parts]


def nanobind_source() -> str:
    names = aliases({each.key: each.theirs for each in TYPES})
    functions = [*FUNCTIONS, *(function for each in TYPES for function in functions_of(each))]
    body = "".join(map(nanobind_function, functions))
    return f'#include "map_nanobind.h"\n\n{names}\nNB_MODULE(map_nanobind, m) {{\n  bind_more(m);\n{body}}}\n'


def write(name: str, text: str) -> pathlib.Path:
    path = native.build_directory() / name
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


HEADERS = f"-I{native.SOURCES}"


def compile_with_anyffi(name: str, source: pathlib.Path) -> pathlib.Path:
    return native.compile_library(name, [source], HEADERS, *anyffi_flags())


def build_anyffi(part: int) -> pathlib.Path:
    name = f"map_anyffi_{part}"
    return compile_with_anyffi(name, write(f"{name}.cc", anyffi_sources()[part]))


def build_all(wanted: set[str]) -> dict[str, list[pathlib.Path]]:
    """Compile the wanted contenders' libraries, two at a time; missing contenders are skipped."""
    tasks: list[tuple[str, Callable[..., pathlib.Path], tuple[Any, ...]]] = [
        *(("anyffi", build_anyffi, (part,)) for part in range(PARTS)),
        ("anyffi", lambda: compile_with_anyffi("map_anyffi", native.SOURCES / "map_anyffi.cc"), ()),
        (
            "nanobind",
            lambda: build_nanobind("map_nanobind", write("map_nanobind.cc", nanobind_source()), HEADERS),
            (),
        ),
        ("tvm-ffi", lambda: build_tvm_ffi("map_tvm_ffi", native.SOURCES / "map_tvm_ffi.cc"), ()),
    ]
    built: dict[str, list[pathlib.Path]] = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = [
            (contender, pool.submit(build, *arguments))
            for contender, build, arguments in tasks
            if contender in wanted
        ]
        for contender, future in waiting:
            try:
                built.setdefault(contender, []).append(future.result())
            except native.Missing as error:
                if contender == "anyffi":
                    raise
                print(f"Not measured: {contender}: {error}")
    return built


def among(modules: Iterable[object]) -> Find:
    """Find a function in any of several modules."""
    finders = [attributes(module) for module in modules]
    return lambda name: next((found for find in finders if (found := find(name)) is not None), None)
