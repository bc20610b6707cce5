"""Load the programs of docs/examples, with `anyffi` standing for the backend under test."""

from __future__ import annotations

import contextlib
import gc
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
NAMES = sorted({path.stem for path in EXAMPLES.glob("*/*.py") if path.stem == path.parent.name})


def libraries() -> pathlib.Path:
    """Return the directory of the examples' libraries, in which their programs run."""
    return build_directory() / "docs" / "examples"


def _stand_in(ffi: Any, module: Any) -> types.ModuleType:
    made = types.ModuleType(module.__name__)
    vars(made).update(vars(module))
    vars(made).update({name: getattr(ffi, name) for name in module.__all__ if hasattr(ffi, name)})
    return made


@contextlib.contextmanager
def _seen_as_anyffi(ffi: Any) -> Iterator[None]:
    stand_in: Any = _stand_in(ffi, anyffi)
    stand_in.structure = _stand_in(ffi, anyffi.structure)
    before = dict(sys.modules)
    sys.modules["anyffi"] = stand_in
    try:
        yield
    finally:
        # A module beside a program, such as `_npi`, is bound to the backend with which it was loaded.
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


def _load(name: str, ffi: Any) -> types.ModuleType:
    path = EXAMPLES / name / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_{ffi.ffi_mode}", path)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    with _seen_as_anyffi(ffi), _started_as_program(path.parent):
        spec.loader.exec_module(program)
    return program


@contextlib.contextmanager
def loaded(ffi: Any, *names: str) -> Iterator[dict[str, types.ModuleType]]:
    """Load programs over a backend, and release everything at the end.

    An object has one wrapper per process: a function that one backend still holds would be called through that
    wrapper in tests of the other backend, too.
    """
    programs = {name: _load(name, ffi) for name in names}
    for program in programs.values():
        for value in vars(program).values():
            assert not type(value).__module__.startswith("anyffi") or isinstance(value, ffi.Object), value
    yield programs
    if "at_a_glance" in programs:
        ffi.remove_global_func("demo.callback")
    for program in programs.values():
        vars(program).clear()
    gc.collect()
