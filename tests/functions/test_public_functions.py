"""Public functions of `anyffi`: what a program sees of them does not depend on the mode."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import types
from typing import Any

import pytest


@pytest.fixture(name="api")
def fixture_api(ffi: Any) -> Any:
    """The public functions themselves, without the recorder of outcomes around them."""
    return getattr(ffi, "_api", ffi)


NAMES = ("convert", "to_python", "get_global_func", "from_dlpack")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_method_with_a_signature(api: Any, name: str) -> None:
    function = getattr(api, name)
    assert type(function) is types.MethodType
    assert (function.__name__, function.__qualname__, function.__module__) == (name, name, "anyffi")
    assert function.__doc__ == getattr(type(api), name).__doc__
    assert str(inspect.signature(function)) == str(inspect.signature(getattr(type(api), name).__get__(api)))
    assert inspect.isroutine(function)
    assert inspect.getdoc(function)
    assert name in pydoc.plain(pydoc.render_doc(function)).splitlines()[0]
    assert function == getattr(api, name)


@pytest.mark.parametrize("name", NAMES)
def test_it_pickles_by_name(api: Any, name: str) -> None:
    assert pickle.loads(pickle.dumps(getattr(api, name))).__name__ == name


def test_keywords(api: Any) -> None:
    assert api.convert(value=[1]) == [1]
    assert api.to_python(value=api.List([1])) == [1]
    assert api.get_global_func(name="testing.nop") == api.get_global_func("testing.nop", False)


@pytest.mark.parametrize("name", ["convert", "to_python"])
def test_wrong_arguments(api: Any, name: str) -> None:
    function = getattr(api, name)
    for args, kwargs, words in (
        ((), {}, rf"{name}\(\) missing 1 required positional argument: 'value'"),
        ((1, 2), {}, rf"{name}\(\) takes 2 positional arguments but 3 were given"),
        ((1,), {"value": 2}, rf"{name}\(\) got multiple values for argument 'value'"),
        ((), {"other": 2}, rf"{name}\(\) got an unexpected keyword argument 'other'"),
    ):
        with pytest.raises(TypeError, match=words):
            function(*args, **kwargs)


def test_an_unknown_name(api: Any) -> None:
    with pytest.raises(ValueError, match="no function 'testing.no_such' is registered"):
        api.get_global_func("testing.no_such")
    assert api.get_global_func("testing.no_such", allow_missing=True) is None
