"""Loads the generated libraries: the contenders of the map."""

from __future__ import annotations

import pathlib
from typing import Any

from .. import native
from ..contenders import Find, need
from .sources import among


def load_anyffi(paths: list[pathlib.Path]) -> Find:
    import anyffi

    modules = [anyffi.load_module(str(path)) for path in paths]
    functions = among(modules)

    def find(name: str) -> Any:
        if name == "module":
            return modules[0] if modules else None
        if name == "convert":
            return anyffi.convert
        erased = anyffi.get_global_func(f"map.{name}", allow_missing=True)
        return functions(name) if erased is None else erased

    return find


def load_nanobind(paths: list[pathlib.Path]) -> Find:
    module: Any = native.import_extension(paths[0])
    return lambda name: module if name == "module" else getattr(module, name, None)


def load_tvm_ffi(paths: list[pathlib.Path]) -> Find:
    tvm_ffi = need("tvm_ffi")
    tvm_ffi.load_module(str(paths[0]))
    erased = {name: tvm_ffi.get_global_func(f"map.{name}") for name in ("nop", "echo", "apply")}
    return {**erased, "convert": tvm_ffi.convert}.get


LOADERS = {"anyffi": load_anyffi, "nanobind": load_nanobind, "tvm-ffi": load_tvm_ffi}
#: Contenders that need no compiled functions.
PLAIN = ("python", "numpy")


def load(paths: dict[str, list[str]], wanted: tuple[str, ...]) -> dict[str, Find]:
    """Load the wanted contenders whose libraries were built."""
    found: dict[str, Find] = {name: lambda _: None for name in PLAIN if name in wanted}
    for name, load_one in LOADERS.items():
        if name in wanted and paths.get(name):
            found[name] = load_one([pathlib.Path(path) for path in paths[name]])
    # Shapes without functions need no library.
    if "anyffi" in wanted:
        found.setdefault("anyffi", lambda _: None)
    if "anyffi" in found:
        found["harmless"] = found["anyffi"]
    return found
