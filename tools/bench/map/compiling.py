"""Time to compile, and size of, extensions of many functions, each of another signature."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import tempfile

from .. import native
from ..contenders import anyffi_flags, nanobind_flags
from ..installed import stripped_kb
from .laws import COMPILE, SIZE
from .verdict import Verdict, compare

COUNTS = (1, 100, 1000)

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
    """Return the result and three parameters of the function of this number; the first 1,000 are distinct."""
    count = len(PARAMETERS)
    first, second, third = i % count, i // count % count, i // count**2 % count
    return RESULTS[i % len(RESULTS)], (PARAMETERS[first], PARAMETERS[second], PARAMETERS[third])


def body(i: int) -> str:
    result, (a, b, c) = signature(i)
    return f'[]({a}, {b}, {c}) -> {result} {{ return {result}(); }}, arg("a"), arg("b"), arg("c")'


def anyffi_source(count: int) -> str:
    functions = "".join(f"ANYFFI_EXPORT(f{i}, {body(i)});\n" for i in range(count))
    headers = "".join(f"#include <anyffi/stl/{name}.h>\n" for name in ("map", "optional", "string", "vector"))
    return f"#include <anyffi/anyffi.h>\n{headers}using anyffi::arg;\n{functions}"


def nanobind_source(count: int) -> str:
    functions = "".join(f'  m.def("f{i}", {body(i)});\n' for i in range(count))
    names = ("nanobind", "stl/map", "stl/optional", "stl/string", "stl/vector")
    headers = "".join(f"#include <nanobind/{name}.h>\n" for name in names)
    return f"{headers}namespace nb = nanobind;\nusing nb::arg;\nNB_MODULE(many, m) {{\n{functions}}}\n"


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


def measure(counts: tuple[int, ...] = COUNTS) -> list[Verdict]:
    """Compile the same functions with both, two at a time, the longest first; nothing without nanobind."""
    try:
        nanobind = nanobind_flags()
    except native.Missing:
        return []
    # With its library apart from the extension, as anyffi's is.
    flags = {"anyffi": anyffi_flags(), "nanobind": [*nanobind, "-DNB_SHARED"]}
    writers = {"anyffi": anyffi_source, "nanobind": nanobind_source}
    tasks = [(count, who) for count in sorted(counts, reverse=True) for who in flags]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = {}
        for count, who in tasks:
            folder = pathlib.Path(name) / f"{who}-{count}"
            folder.mkdir()
            futures[count, who] = pool.submit(compiled, writers[who](count), flags[who], folder)
        found = {key: future.result() for key, future in futures.items()}
    verdicts = []
    for count in sorted(counts):
        for which, law in enumerate((COMPILE, SIZE)):
            both = {who: found[count, who][which] for who in flags}
            verdicts.append(compare(f"{law.name} of {count:,} functions", "compiling", law, both))
    return verdicts
