"""Compile time and size of extensions with many functions of different signatures, and with classes."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping

from .. import native
from ..contenders import anyffi_flags, nanobind_flags
from ..installed import stripped_kb
from .laws import COMPILE, SIZE
from .verdict import Verdict, compare

#: Numbers of functions, and of classes with 20 methods.
COUNTS = {"functions": (1, 100, 1000), "classes": (1, 10)}
NUM_METHODS = 20

_HEADERS = ("map", "optional", "string", "vector")

#: Types of parameters, which are combined, and of results.
PARAMETERS = (
    "int64_t",
    "double",
    "bool",
    "const std::string&",
    "int32_t",
    "const std::vector<int64_t>&",
    "const std::vector<double>&",
    "std::optional<int64_t>",
    "const std::map<std::string, double>&",
    "float",
)
RESULTS = ("void", "int64_t", "double", "std::string", "bool", "std::vector<int64_t>", "std::vector<double>")


def signature(i: int) -> tuple[str, tuple[str, str, str]]:
    """Return the result and three parameters of function `i`; the first 1,000 signatures are distinct."""
    count = len(PARAMETERS)
    first, second, third = i % count, i // count % count, i // count**2 % count
    return RESULTS[i % len(RESULTS)], (PARAMETERS[first], PARAMETERS[second], PARAMETERS[third])


def body(i: int) -> str:
    result, (a, b, c) = signature(i)
    return f'[]({a}, {b}, {c}) -> {result} {{ return {result}(); }}, arg("a"), arg("b"), arg("c")'


def methods(number: int) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the result and the parameters of each method of a class."""
    for i in range(NUM_METHODS):
        result, (first, second, _) = signature(13 * number + 7 * i)
        yield f"m{i}", result, f"{first}, {second}"


def structs(count: int) -> str:
    """Return the classes, which use neither library."""
    lines = [f"#include <{name}>" for name in _HEADERS]
    for number in range(count):
        lines += [f"struct C{number} {{", "  int64_t field = 0;"]
        lines += [f"  {result} {name}({of}) {{ return {result}(); }}" for name, result, of in methods(number)]
        lines.append("};")
    return "\n".join(lines) + "\n"


def bound(number: int, definition: str, constructor: str, method: str) -> str:
    """Return the code that binds a class."""
    add = (
        f'\n    .{method}("{name}", &C{number}::{name}, arg("a"), arg("b"))' for name, _, _ in methods(number)
    )
    return f"{definition}\n    .{constructor}{''.join(add)};\n"


def anyffi_source(kind: str, count: int) -> str:
    headers = "".join(f"#include <anyffi/stl/{name}.h>\n" for name in _HEADERS)
    start = f"#include <anyffi/anyffi.h>\n{headers}using anyffi::arg;\n"
    if kind == "functions":
        return start + "".join(f"ANYFFI_EXPORT(f{i}, {body(i)});\n" for i in range(count))
    definition = 'ANYFFI_CLASS(C{0}, "many.C{0}")'
    classes = (bound(i, definition.format(i), "init<>()", "method") for i in range(count))
    return start + structs(count) + "".join(classes)


def nanobind_source(kind: str, count: int) -> str:
    names = ("nanobind", *(f"stl/{name}" for name in _HEADERS))
    headers = "".join(f"#include <nanobind/{name}.h>\n" for name in names)
    start = f"{headers}namespace nb = nanobind;\nusing nb::arg;\n"
    if kind == "functions":
        functions = "".join(f'  m.def("f{i}", {body(i)});\n' for i in range(count))
        return f"{start}NB_MODULE(many, m) {{\n{functions}}}\n"
    definition = '  nb::class_<C{0}>(m, "C{0}")'
    classes = (bound(i, definition.format(i), "def(nb::init<>())", "def") for i in range(count))
    return f"{start}{structs(count)}NB_MODULE(many, m) {{\n{''.join(classes)}}}\n"


def compiled(source: str, options: list[str], folder: pathlib.Path) -> tuple[float, float]:
    """Return the processor time of a compilation, in nanoseconds, and the size in bytes."""
    file, library = folder / "many.cc", folder / "many.so"
    file.write_text(source)
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    command = [*compiler, "-std=c++17", *native.COMMON, "-fPIC", "-shared", str(file), *options]
    process = subprocess.Popen([*command, "-o", str(library)])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise native.Missing(f"{file.name} does not compile")
    return (used.ru_utime + used.ru_stime) * 1e9, stripped_kb(library) * 1024


def measure(counts: Mapping[str, tuple[int, ...]] = COUNTS) -> list[Verdict]:
    """Compile the same code with both, two at a time, the longest first; nothing without nanobind."""
    try:
        nanobind = nanobind_flags()
    except native.Missing:
        return []
    # With nanobind's library apart from the extension, as anyffi's is.
    flags = {"anyffi": anyffi_flags(), "nanobind": [*nanobind, "-DNB_SHARED"]}
    writers = {"anyffi": anyffi_source, "nanobind": nanobind_source}
    what = [(kind, count) for kind in counts for count in counts[kind]]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = {}
        for kind, count in sorted(what, key=lambda each: each[1], reverse=True):
            for who, options in flags.items():
                folder = pathlib.Path(name) / f"{who}-{kind}-{count}"
                folder.mkdir()
                source = writers[who](kind, count)
                futures[kind, count, who] = pool.submit(compiled, source, options, folder)
        found = {key: future.result() for key, future in futures.items()}
    verdicts = []
    for kind, count in what:
        for which, law in enumerate((COMPILE, SIZE)):
            both = {who: found[kind, count, who][which] for who in flags}
            shape = f"{count:,} {kind}"
            if kind == "classes":
                shape = f"{count:,} class{'es' if count > 1 else ''} of {NUM_METHODS} methods"
            verdicts.append(compare(f"{law.name} of {shape}", "compiling", law, both))
    return verdicts
