"""Our containers have all methods of Python's: one that a new Python version adds fails here."""

from __future__ import annotations

import inspect
import types
from typing import Any

import pytest
from support import cpython_only

_PAIRS: dict[str, Any] = {
    "Array": tuple,
    "List": list,
    "Map": types.MappingProxyType,
    "Dict": dict,
    "FrozenSet": frozenset,
    "Set": set,
    "Shape": tuple,
}

#: Missing on purpose.
_LEFT_OUT = {
    "__getnewargs__",  # pickled by `__reduce__`
    "__hash__",  # of a mappingproxy since Python 3.12, where its dict has one
}
#: Only ours have these: conversions, and identity.
_OURS = {"freeze", "thaw", "same_as", "to_python"}


def _documented(x: Any) -> set[str]:
    return {name for name in dir(x) if name.startswith("__") or not name.startswith("_")}


def _usable(cls: type) -> set[str]:
    return {name for name in dir(cls) if getattr(cls, name) is not None}


@pytest.mark.parametrize(("name", "plain"), _PAIRS.items(), ids=_PAIRS)
def test_every_name(ffi: Any, name: str, plain: type) -> None:
    cls = getattr(ffi, name)
    assert _usable(plain) - _usable(cls) <= _LEFT_OUT
    public = {own for own in dir(cls) if not own.startswith("_")}
    assert public - set(dir(plain)) <= _OURS
    assert ("thaw" in public) is (name in ("Array", "Shape", "Map", "FrozenSet"))
    assert ("freeze" in public) is (name in ("List", "Dict", "Set"))
    # Methods that they must not have: otherwise a subclass of Array with `append` would pass.
    for special in (
        "__hash__",
        "__reversed__",
        "__setitem__",
        "__delitem__",
        "__iadd__",
        "__imul__",
        "__ior__",
        "__iand__",
    ):
        is_missing = getattr(plain, special, None) is None or (name == "Map" and special == "__hash__")
        assert (getattr(cls, special, None) is None) is is_missing, special


@pytest.mark.parametrize(("name", "plain"), _PAIRS.items(), ids=_PAIRS)
def test_iterators_have_every_name(ffi: Any, name: str, plain: Any) -> None:
    ours, pythons = getattr(ffi, name)(), plain({} if name == "Map" else ())
    starts = [iter]
    if name in ("Map", "Dict"):
        starts += [reversed, lambda x: iter(x.values()), lambda x: iter(x.items())]  # type: ignore[list-item]
        for view in ("keys", "values", "items"):
            assert _documented(getattr(pythons, view)()) <= _documented(getattr(ours, view)())
    elif name == "List":
        starts += [reversed]  # type: ignore[list-item]
    for start in starts:
        assert _documented(start(pythons)) <= _documented(start(ours))


def _shape_of(method: Any) -> Any:
    try:
        parameters = inspect.signature(method).parameters.values()
    except ValueError:
        return None
    # The first parameter is `self`, which is positional.
    return [
        (p.kind, p.name if p.kind is p.KEYWORD_ONLY else None, p.default is p.empty)
        for p in list(parameters)[1:]
    ]


@cpython_only("PyPy's own methods take keywords for parameters that CPython's take by position")
@pytest.mark.parametrize(("name", "plain"), _PAIRS.items(), ids=_PAIRS)
def test_parameters(ffi: Any, name: str, plain: type) -> None:
    """Kinds of parameters, names of the keyword-only ones, and which have defaults.

    Only if `inspect` knows the parameters: for sets and mappingproxy since 3.13.
    """
    compared = 0
    for method in dir(plain):
        expected = None if method.startswith("_") else _shape_of(getattr(plain, method))
        if expected is not None:
            compared += 1
            assert _shape_of(getattr(getattr(ffi, name), method)) == expected, method
    assert compared or name in ("Map", "FrozenSet", "Set")
