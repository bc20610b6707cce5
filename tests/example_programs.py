"""The programs of docs/examples, each loaded as if `anyffi` were the backend under test."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pathlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import anyffi
from support import ROOT, build_directory

EXAMPLES = ROOT / "docs" / "examples"
NAMES = sorted({source.parent.name for source in EXAMPLES.glob("*/*.cc")})


def libraries() -> pathlib.Path:
    """Where the examples' libraries lie, and so from where their programs run."""
    return build_directory() / "docs" / "examples"


@contextlib.contextmanager
def _seen_as_anyffi(ffi: Any) -> Iterator[None]:
    stand_in = types.ModuleType("anyffi")
    vars(stand_in).update(vars(anyffi))
    vars(stand_in).update({name: getattr(ffi, name) for name in anyffi.__all__ if hasattr(ffi, name)})
    before = dict(sys.modules)
    sys.modules["anyffi"] = stand_in
    try:
        yield
    finally:
        # A module beside a program, such as `_npi`, belongs to the backend that it was loaded for.
        for name in set(sys.modules) - set(before):
            if str(EXAMPLES) in (getattr(sys.modules[name], "__file__", None) or ""):
                del sys.modules[name]
        sys.modules["anyffi"] = before["anyffi"]


@contextlib.contextmanager
def _started_as_program(folder: pathlib.Path) -> Iterator[None]:
    directory = pathlib.Path.cwd()
    os.chdir(libraries())
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        os.chdir(directory)


def load(name: str, ffi: Any) -> types.ModuleType:
    """Load an example's program over a backend."""
    if name == "at_a_glance" and "demo.callback" in ffi.list_global_func_names():
        ffi.remove_global_func("demo.callback")  # registered over the other backend
    path = EXAMPLES / name / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_{ffi.ffi_mode}", path)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    with _seen_as_anyffi(ffi), _started_as_program(path.parent):
        spec.loader.exec_module(program)
    return program


def load_all(ffi: Any) -> dict[str, types.ModuleType]:
    return {name: load(name, ffi) for name in NAMES}
