"""The type stub of the public classes agrees with the classes.

`tools/dev.py lint` checks the programs tests/tooling/typing_of_*.py; here they run, and the stub is compared with the classes.
"""

from __future__ import annotations

import ast
import collections.abc
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from support import ROOT, run

STUB = ast.parse((ROOT / "pkg" / "_public.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
#: Names of the stub that stand for several classes.
SHARED = {"_Sequence", "_Set"}


@pytest.mark.parametrize("name", ["typing_of_users.py", "typing_of_dataclasses.py"])
def test_the_accepted_programs_run(name: str, ffi: Any) -> None:
    done = run([sys.executable, "-W", "error", ROOT / "tests" / "tooling" / name], FFI_MODE=ffi.ffi_mode)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_public_class_is_declared() -> None:
    import anyffi

    public = {name for name in anyffi.__all__ if name in vars(anyffi._public)}
    assert set(anyffi._public.__all__) == public == set(CLASSES) - SHARED


def ancestry(name: str) -> Iterator[Any]:
    """Return the declarations of a class and its bases, Python's classes included."""
    node = CLASSES[name]
    yield node
    for base in node.bases:
        root = base.value if isinstance(base, ast.Subscript) else base
        assert isinstance(root, ast.Name)
        if root.id in CLASSES:
            yield from ancestry(root.id)
        elif root.id == "AbstractSet":
            yield collections.abc.Set
        elif hasattr(collections.abc, root.id):
            yield getattr(collections.abc, root.id)
        elif root.id != "Generic":
            import anyffi

            objects = anyffi._objects
            modules = (objects.function, objects.module, objects.object, objects.tensor)
            yield next(getattr(module, root.id) for module in modules if hasattr(module, root.id))


def declared(name: str) -> dict[str, list[ast.FunctionDef]]:
    """Return the functions that the stub declares for a class, by name, with all overloads."""
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in ancestry(name):
        if isinstance(node, ast.ClassDef):
            for function in node.body:
                if isinstance(function, ast.FunctionDef) and function not in functions.get(function.name, []):
                    functions.setdefault(function.name, []).append(function)
    return functions


@pytest.mark.parametrize("name", sorted(set(CLASSES) - SHARED))
def test_the_stub_has_what_the_class_has(ffi: Any, name: str) -> None:
    cls = getattr(ffi, name)
    known = {*declared(name)}
    for node in ancestry(name):
        if isinstance(node, type):
            known.update(attribute for attribute in dir(node) if not attribute.startswith("_"))
    assert {attribute for attribute in dir(cls) if not attribute.startswith("_")} <= known
    # Before Python 3.12 only type checkers see this one.
    known.discard("__buffer__")
    assert [attribute for attribute in known if not hasattr(cls, attribute)] == []


@pytest.mark.parametrize("name", sorted(set(CLASSES) - SHARED))
def test_every_declared_call_binds(ffi: Any, name: str) -> None:
    for method, overloads in declared(name).items():
        if method.startswith("__") and method != "__init__":
            continue
        if isinstance(inspect.getattr_static(getattr(ffi, name), method), property):
            continue
        own = inspect.signature(getattr(getattr(ffi, name), method))
        for overload in overloads:
            given = overload.args
            fixed = len(given.posonlyargs) + len(given.args)
            is_class_method = any(
                getattr(mark, "id", "") == "classmethod" for mark in overload.decorator_list
            )
            most = fixed - is_class_method
            keywords = {argument.arg: None for argument in given.kwonlyargs}
            own.bind(*range(most - len(given.defaults)))
            own.bind(*range(most), **keywords)
            own.bind(*range(most + 5 if given.vararg else most), **{"other": None} if given.kwarg else {})
        named = {
            argument.arg
            for overload in overloads
            for argument in [*overload.args.args, *overload.args.kwonlyargs]
        }
        assert {
            parameter.name
            for parameter in own.parameters.values()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        } <= {*named, "self"}, method
