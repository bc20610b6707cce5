"""Functions as Python objects: names, defaults, keywords, signatures, documentation, and Python's error messages."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import pydoc
import weakref
from typing import Any

import numpy as np
import pytest


def python_add_one(x):  # type: ignore[no-untyped-def]
    return x + 1


def python_defaults(a, b="b", c=0.5):  # type: ignore[no-untyped-def]
    return a, b, c


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((1,), {}),
        ((1, "x"), {}),
        ((1, "x", 2.5), {}),
        ((), {"a": 1}),
        ((), {"c": 1.5, "a": 1}),
        ((), {"a": 1, "b": "x", "c": 2.0}),
        ((1,), {"c": 3.0}),
        ((1,), {"b": "y"}),
        ((1, "x"), {"c": 4.0}),
        ((), {}),
        ((), {"b": "x"}),
        ((), {"b": "x", "c": 1.0}),
        ((1, "x", 2.5, 4), {}),
        ((1, "x", 2.5, 4, 5), {}),
        ((1,), {"a": 1}),
        ((1, "x"), {"b": "x"}),
        ((1,), {"nonsense": 1}),
        ((), {"nonsense": 1}),
        ((), {"A": 1}),
        ((), {"aa": 1, "a": 2}),
        ((1,), {"it's": 1}),
    ],
)
def test_arguments_bind_as_in_python(ffi: Any, args: Any, kwargs: Any) -> None:
    function = ffi.get_global_func("testing.typed.defaults")
    try:
        expected = python_defaults(*args, **kwargs)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            function(*args, **kwargs)
        assert str(caught.value) == str(error).replace("python_defaults", "testing.typed.defaults")
    else:
        assert function(*args, **kwargs) == expected


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1,), {"x": 2}), ((), {"y": 2})]
)
def test_one_parameter(ffi: Any, args: Any, kwargs: Any) -> None:
    with pytest.raises(TypeError) as expected:
        python_add_one(*args, **kwargs)
    with pytest.raises(TypeError) as caught:
        ffi.get_global_func("testing.add_one")(*args, **kwargs)
    assert str(caught.value) == str(expected.value).replace("python_add_one", "testing.add_one")


class OddKeyword(str):
    __slots__ = ()

    def __hash__(self) -> int:
        return 5


def test_keywords_of_a_subclass_of_str(ffi: Any) -> None:
    function = ffi.get_global_func("testing.typed.defaults")
    assert function(**{OddKeyword("a"): 1, OddKeyword("c"): 2.5}) == (1, "b", 2.5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        function(**{OddKeyword("nonsense"): 1})


def test_keywords_reach_their_parameter(ffi: Any) -> None:
    add_one = ffi.get_global_func("testing.add_one")
    assert add_one(x=41) == add_one(41) == 42
    with pytest.raises(OverflowError):
        add_one(2**63 - 1)
    put = ffi.get_global_func("testing.put")
    assert put({}, value=1, key="k") == {"k": 1}
    assert put(value=1, key="k", d={}) == {"k": 1}


def test_parameters_without_names(ffi: Any) -> None:
    unnamed = ffi.get_global_func("testing.typed.unnamed")
    assert unnamed(5, 3) == 2
    with pytest.raises(TypeError, match=r"takes no keyword arguments"):
        unnamed(5, b=3)
    with pytest.raises(TypeError, match=r"unnamed\(\) missing 1 required positional argument"):
        unnamed(5)
    with pytest.raises(TypeError, match=r"takes 2 positional arguments but 3 were given"):
        unnamed(5, 3, 1)


def test_keywords_in_any_order_and_of_any_origin(ffi: Any) -> None:
    find = ffi.get_global_func("testing.text.find")
    assert find("abcabc", needle="c") == 2
    assert find("abcabc", start=3, needle="c") == 5
    assert find(stop=2, needle="c", s="abcabc") == -1
    # Equal names, but other str objects than the function's.
    made = {"a needle"[2:]: "c", "a stop"[2:]: 2}
    assert find("abcabc", **made) == -1
    for missing in ({}, {"start": 1}, {"s": "abc", "stop": 3}):
        with pytest.raises(TypeError, match=r"find\(\) missing \d required positional argument"):
            find(**missing)


@pytest.mark.unrecorded("about a function as an object")
def test_a_function_taken_from_a_wrapper_leaves_no_names_there(ffi: Any) -> None:
    wrapper = ffi.get_global_func("testing.text.find")
    assert wrapper("abc", needle="c") == 2
    keeper = ffi.Function.__new__(ffi.Function)
    keeper._anyffi_move_from(wrapper)
    wrapper._anyffi_move_from(ffi.Function(lambda x: x))
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        wrapper("abc", needle="c")
    assert keeper("abc", needle="c") == 2


def test_packed_functions_take_no_keywords(ffi: Any) -> None:
    for name in ("testing.nop", "testing.echo", "testing.apply"):
        with pytest.raises(TypeError, match="takes no keyword arguments"):
            ffi.get_global_func(name)(1, x=1)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        ffi.convert(len)(obj=[])


def test_keyword_names_of_every_sort(ffi: Any) -> None:
    add_one = ffi.get_global_func("testing.add_one")
    for name in ("", "\u4e2d", "\ud800", "x\0", "x" * 100):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            add_one(**{name: 1})


def test_signature(ffi: Any) -> None:
    signature = inspect.signature(ffi.get_global_func("testing.typed.defaults"))
    assert list(signature.parameters) == ["a", "b", "c"]
    assert [p.default for p in signature.parameters.values()] == [inspect.Parameter.empty, "b", 0.5]
    assert [p.annotation for p in signature.parameters.values()] == ["int", "str", "float"]
    assert signature.bind(1, c=2.0).arguments == {"a": 1, "c": 2.0}
    assert str(inspect.signature(ffi.get_global_func("testing.nop"))) == "(*args)"
    unnamed = inspect.signature(ffi.get_global_func("testing.typed.unnamed"))
    assert all(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in unnamed.parameters.values())
    assert len(unnamed.parameters) == 2
    counter = ffi.get_global_func("testing.make_counter")(5)
    assert inspect.signature(counter).parameters["step"].default == 1
    assert counter() == 6
    assert counter(step=3) == 8
    assert inspect.signature(ffi.get_global_func("testing.append")).return_annotation == "List[Any]"


@pytest.mark.unrecorded("about a function as an object")
def test_name_and_doc(ffi: Any) -> None:
    add_one = ffi.get_global_func("testing.add_one")
    assert add_one.__name__ == "testing.add_one"
    assert add_one.__doc__ == "Return x + 1."
    assert inspect.getdoc(add_one) == "Return x + 1."
    assert "testing.add_one" in repr(add_one)
    assert ffi.get_global_func("testing.typed.bool").__doc__ is None
    assert isinstance(ffi.Function.__doc__, str)
    shown = pydoc.render_doc(add_one, renderer=pydoc.plaintext)
    assert "Return x + 1." in shown
    assert "add_one" in shown
    assert type(repr(ffi.convert(len))) is str


@pytest.mark.unrecorded("about a function as an object")
def test_functools_wraps(ffi: Any) -> None:
    add_one = ffi.get_global_func("testing.add_one")
    assert add_one.__qualname__ == add_one.__name__
    assert add_one.__module__ == "anyffi"

    @functools.wraps(add_one)
    def wrapper(x: int) -> Any:
        return add_one(x)

    assert (wrapper.__name__, wrapper.__qualname__) == ("testing.add_one", "testing.add_one")
    assert (wrapper.__module__, wrapper.__doc__) == ("anyffi", "Return x + 1.")
    assert inspect.signature(wrapper) == inspect.signature(add_one)
    with pytest.raises(AttributeError, match="^'Function' object has no attribute 'nothing'$"):
        add_one.nothing
    assert not hasattr(add_one, "__wrapped__")


@pytest.mark.unrecorded("about a function as an object")
def test_what_a_function_is(ffi: Any) -> None:
    for function in (
        ffi.get_global_func("testing.nop"),
        ffi.convert(len),
        ffi.get_global_func("testing.make_counter")(1),
    ):
        assert callable(function)
        assert hasattr(function, "__call__")
        assert isinstance(function, collections.abc.Callable)
        assert isinstance(function, ffi.Function)
        assert isinstance(function, ffi.Object)
        assert weakref.ref(function)() is function
        assert "__call__" in dir(function)
        assert function.__call__ is not None
    assert ffi.get_global_func("testing.nop").__call__(1) is None
    assert type(ffi.get_global_func("testing.nop")).__call__(ffi.get_global_func("testing.nop"), 1) is None
    assert ffi.Function.__module__ == "anyffi"
    assert ffi.Function.__qualname__ == "Function"


@pytest.mark.unrecorded("about a function as an object")
def test_equality_and_hash(ffi: Any) -> None:
    nop, echo = map(ffi.get_global_func, ("testing.nop", "testing.echo"))
    assert nop == ffi.get_global_func("testing.nop")
    assert hash(nop) == hash(ffi.get_global_func("testing.nop"))
    assert nop != echo
    assert nop != 5
    assert len({nop, ffi.get_global_func("testing.nop"), echo}) == 2


def test_a_function_from_a_callable(ffi: Any) -> None:
    function = ffi.Function(lambda *args: args)
    assert type(function) is ffi.Function
    assert function(1, [2]) == (1, [2])
    assert type(function(1)) is ffi.Array
    for bad in (5, None, "s"):
        with pytest.raises(TypeError):
            ffi.Function(bad)
    with pytest.raises(TypeError):
        ffi.Function()


def test_a_function_from_a_callable_that_is_also_a_value(ffi: Any) -> None:
    """The callable is called; the value that it would convert to is not changed."""

    class Held:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __anyffi_value__(self) -> Any:
            return self.value

        def __call__(self) -> int:
            return 5

    class Items(list):  # type: ignore[type-arg]
        def __call__(self) -> int:
            return len(self)

    items, echo = ffi.List([1, 2]), ffi.get_global_func("testing.echo")
    for held in (items, echo, 3):
        assert ffi.Function(Held(held))() == 5
    assert items == [1, 2]
    assert echo(4) == ffi.Function(echo)(4) == 4
    assert ffi.Function(Items([1, 2]))() == 2
    assert ffi.Function(np.float32)(2) == 2.0
    assert ffi.Function(int)("3") == 3


def test_subclasses_call_too(ffi: Any) -> None:
    class Mine(ffi.Function):
        extra = 1

    mine = Mine(lambda x: x + 1)
    assert type(mine) is Mine
    assert mine(1) == 2
    mine.note = "kept"
    assert mine.note == "kept"
    assert callable(mine)
    assert isinstance(mine, collections.abc.Callable)
    assert ffi.get_global_func("testing.apply")(mine, 5) == 6

    class Overriding(ffi.Function):
        def __call__(self, *args: Any) -> Any:
            return "python", super().__call__(*args)

    assert Overriding(lambda x: x)(3) == ("python", 3)


def test_many_arguments(ffi: Any) -> None:
    describe, apply = map(ffi.get_global_func, ("testing.describe", "testing.apply"))
    for count in (0, 1, 7, 8, 9, 16, 17, 100, 1000, 5000):
        args = tuple(range(count))
        assert describe(*args) == "\n".join(f"Int({i})" for i in args)
        assert apply(lambda *got: len(got), *args) == count
        mixed = [str(i) * 8 for i in args]
        assert apply(lambda *got: list(got), *mixed) == mixed


def test_unpacking_calls(ffi: Any) -> None:
    defaults = ffi.get_global_func("testing.typed.defaults")
    assert defaults(*[1], c=2.0) == (1, "b", 2.0)
    assert defaults(*(1, "x"), c=2.0) == (1, "x", 2.0)
    assert list(map(ffi.get_global_func("testing.add_one"), [1, 2])) == [2, 3]


@pytest.mark.unrecorded("about a function as an object")
def test_attributes(ffi: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    with pytest.raises(AttributeError):
        nop.nonsense
    with pytest.raises(AttributeError):
        nop.nonsense = 1
    with pytest.raises(AttributeError):
        nop.__name__ = "other"


def test_reading_info_of_a_host_function(ffi: Any) -> None:
    function = ffi.convert(python_defaults)
    assert callable(function)
    inspect.signature(function)
    pydoc.render_doc(function)
    assert function(1) == (1, "b", 0.5)
