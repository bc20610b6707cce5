"""Contenders: the ways to call C++ that are measured. `native/with_nanobind.cc` lists the functions."""

from __future__ import annotations

import ctypes
import importlib
import importlib.metadata
import pathlib
import subprocess
import sys
from typing import Any, Callable, Optional

from . import native
from .native import Missing, compile_library

Find = Callable[[str], Optional[Callable[..., Any]]]


def type_erased(find: Find) -> Find:
    """Find a contender's only, untyped function if it has none for the type."""

    def find_untyped(name: str) -> Callable[..., Any] | None:
        return find(name) or find(name.partition("_")[0])

    return find_untyped


def attributes(module: object) -> Find:
    return lambda name: getattr(module, name, None)


def need(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Missing(f"{module} is not installed ({error})") from None


def anyffi_flags() -> list[str]:
    """Return options for compiling and linking with the installed anyffi."""
    from anyffi._library import find_include_dir, find_library

    folder = pathlib.Path(find_library("anyffi")).parent
    return [f"-I{find_include_dir()}", f"-L{folder}", "-lanyffi", f"-Wl,-rpath,{folder}"]


def load_anyffi() -> Find:
    import anyffi

    path = compile_library("bench_anyffi", [native.SOURCES / "with_anyffi.cc"], *anyffi_flags())
    module = anyffi.load_module(str(path))

    def find(name: str) -> Callable[..., Any] | None:
        if name in ("refuse", "forward"):
            function: Callable[..., Any] = getattr(module, name)
            return function
        return anyffi.get_global_func(f"bench.{name}", allow_missing=True)

    return type_erased(find)


def load_raw() -> Find:
    path = compile_library("bench_raw", [native.SOURCES / "raw.c"], native.PYTHON)
    return type_erased(attributes(native.import_extension(path)))


def load_floor() -> Find:
    path = compile_library("bench_floor", [native.SOURCES / "floor.c"], native.PYTHON)
    return type_erased(attributes(native.import_extension(path)))


def load_cython() -> Find:
    need("Cython")
    source = native.build_directory() / "bench_cython.c"
    command = [sys.executable, "-m", "cython", "-3", str(native.SOURCES / "with_cython.pyx")]
    command += ["--module-name", "bench_cython", "-o", str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return attributes(native.import_extension(compile_library("bench_cython", [source], native.PYTHON)))


def nanobind_flags() -> list[str]:
    """Return options for compiling with nanobind."""
    home = pathlib.Path(need("nanobind").include_dir()).parent
    includes = (home / "include", home / "ext" / "robin_map" / "include")
    return [native.PYTHON, *(f"-I{folder}" for folder in includes), "-fno-strict-aliasing"]


def build_nanobind(name: str, source: pathlib.Path, *options: str) -> pathlib.Path:
    """Compile an extension together with nanobind's own code."""
    flags = nanobind_flags()
    own = pathlib.Path(need("nanobind").source_dir()) / "nb_combined.cpp"
    return compile_library(name, [own, source], *flags, *options)


def load_nanobind() -> Find:
    path = build_nanobind("bench_nanobind", native.SOURCES / "with_nanobind.cc")
    return attributes(native.import_extension(path))


def load_pybind11() -> Find:
    options = [native.PYTHON, f"-I{need('pybind11').get_include()}"]
    path = compile_library("bench_pybind11", [native.SOURCES / "with_pybind11.cc"], *options)
    return attributes(native.import_extension(path))


def build_tvm_ffi(name: str, source: pathlib.Path) -> pathlib.Path:
    libinfo = need("tvm_ffi").libinfo
    library = pathlib.Path(libinfo.find_libtvm_ffi())
    includes = {libinfo.find_include_path(), libinfo.find_dlpack_include_path()}
    options = [*(f"-I{include}" for include in sorted(includes)), f"-L{library.parent}", "-ltvm_ffi"]
    return compile_library(name, [source], *options, f"-Wl,-rpath,{library.parent}")


def load_tvm_ffi() -> Find:
    tvm_ffi = need("tvm_ffi")
    tvm_ffi.load_module(str(build_tvm_ffi("bench_tvm_ffi", native.SOURCES / "with_tvm_ffi.cc")))
    return type_erased(lambda name: tvm_ffi.get_global_func(f"bench.{name}", allow_missing=True))


PLAIN = """
void nop(void); void nop_int(int64_t); void nop_ints(int64_t, int64_t, int64_t); void nop_float(double);
void nop_bool(bool); void nop_bytes(const char*); int64_t add_one(int64_t);
"""


def load_cffi() -> Find:
    cffi = need("cffi")
    builder = cffi.FFI()
    builder.cdef(PLAIN)
    builder.set_source("bench_cffi", f"#include <stdbool.h>\n#include <stdint.h>\n{PLAIN}")
    source = native.build_directory() / "bench_cffi.c"
    builder.emit_c_code(str(source))
    path = compile_library("bench_cffi", [source, native.SOURCES / "plain.c"], native.PYTHON)
    return attributes(native.import_extension(path).lib)  # type: ignore[attr-defined]


def load_ctypes() -> Find:
    library = ctypes.CDLL(str(compile_library("bench_plain", [native.SOURCES / "plain.c"])))
    int64 = ctypes.c_int64
    types: dict[str, tuple[Any, list[Any]]] = {
        "nop": (None, []),
        "nop_int": (None, [int64]),
        "nop_ints": (None, [int64, int64, int64]),
        "nop_float": (None, [ctypes.c_double]),
        "nop_bool": (None, [ctypes.c_bool]),
        "nop_bytes": (None, [ctypes.c_char_p]),
        "add_one": (int64, [int64]),
        "apply": (int64, [ctypes.CFUNCTYPE(int64, int64), int64]),
    }
    functions = {}
    for name, (result, parameters) in types.items():
        functions[name] = function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return functions.get


#: The function that loads each contender, and the distribution whose version is recorded.
LOADERS: dict[str, tuple[Callable[[], Find], str | None]] = {
    "anyffi": (load_anyffi, "anyffi"),
    "raw": (load_raw, None),
    "floor": (load_floor, None),
    "cython": (load_cython, "cython"),
    "nanobind": (load_nanobind, "nanobind"),
    "pybind11": (load_pybind11, "pybind11"),
    "cffi": (load_cffi, "cffi"),
    "ctypes": (load_ctypes, None),
    "tvm-ffi": (load_tvm_ffi, "apache-tvm-ffi"),
}


class Contenders:
    """Loads each contender on first use; `missing` says why one could not be loaded."""

    def __init__(self) -> None:
        self.missing: dict[str, str] = {}
        self._loaded: dict[str, Find] = {}

    def find(self, contender: str, name: str) -> Callable[..., Any] | None:
        """Return a function of a contender; None if it, or the contender, is missing."""
        if contender not in self._loaded:
            try:
                self._loaded[contender] = LOADERS[contender][0]()
            except Missing as error:
                self.missing[contender] = str(error)
                self._loaded[contender] = lambda name: None
        return self._loaded[contender](name)


def versions() -> dict[str, str]:
    """Return the version of every installed distribution that takes part."""
    found = {}
    for name in ("numpy", "torch", *(distribution for _, distribution in LOADERS.values() if distribution)):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
