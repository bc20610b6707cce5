"""Calls with keywords: any order, omitted defaults, many parameters, overloads, and names that were computed."""

from __future__ import annotations

import random
from typing import Any

import pytest

NAMES = [f"x{i}" for i in range(20)]


def computed(named: dict[str, Any]) -> dict[str, Any]:
    """Return the same keywords by other str objects, which are not interned."""
    return {f"<{name}"[1:]: value for name, value in named.items()}


class Odd(str):
    """A name that equals no other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        return id(self)


@pytest.mark.parametrize("name", ["testing.typed.many", "testing.typed.many_overloads"])
def test_any_arguments_by_any_keywords(ffi: Any, name: str) -> None:
    many = ffi.get_global_func(name)
    choose = random.Random(7)
    for _ in range(100):
        num_args = choose.choice([0, 1, 3, 12])
        named = choose.sample(NAMES[max(num_args, 1) :], choose.randint(1, 20 - max(num_args, 1)))
        if num_args == 0:
            named.insert(choose.randrange(len(named)), "x0")
        kwargs = {key: f"value of {key}" for key in named}
        expected = [*range(-num_args, 0), *range(num_args, 20)]
        for key, value in kwargs.items():
            expected[NAMES.index(key)] = value
        for given in (kwargs, computed(kwargs)):
            assert many(*range(-num_args, 0), **given) == tuple(expected)


def test_a_call_site_with_other_keywords_each_time(ffi: Any) -> None:
    many = ffi.get_global_func("testing.typed.many")
    for first in NAMES[1:]:
        for second in NAMES[1:]:
            if first != second:
                result = many(0, **{first: "a", second: "b"})
                assert (result[NAMES.index(first)], result[NAMES.index(second)]) == ("a", "b")


def test_keywords_beside_overloads(ffi: Any) -> None:
    overloaded = ffi.get_global_func("testing.typed.many_overloads")
    assert (
        overloaded(1, text="a")
        == overloaded(text="a", x0=1)
        == overloaded(**computed({"text": "a", "x0": 1}))
    )
    assert overloaded(x0=1, text="a long text, borrowed") == "a long text, borrowed"
    # A list is no str, so that only the other overload is left, which has no such parameter.
    refused = r"(?s)no overload takes \(x0=int, text=list\)\n.*expected str, got list$"
    with pytest.raises(TypeError, match=refused):
        overloaded(x0=1, text=["a"])
    with pytest.raises(TypeError, match=r"(?s)no overload takes \(x0=int, y=int\)\n.*'y'.*\n.*'y'"):
        overloaded(x0=1, y=2)
    with pytest.raises(TypeError, match=r"(?s)unexpected keyword argument 'x1'.*missing 1 required .*: 'x0'"):
        overloaded(x1=1)
    assert overloaded(0, x19="last")[19] == "last"


@pytest.mark.unrecorded("the recorder of calls compares the names")
def test_names_of_a_subclass_of_str(ffi: Any) -> None:
    for name in ("testing.typed.many", "testing.typed.many_overloads"):
        many = ffi.get_global_func(name)
        for _ in range(2):
            assert many(**{Odd("x0"): 5, Odd("x3"): "c"})[:4] == (5, 1, 2, "c")
            with pytest.raises(TypeError, match="nonsense"):
                many(0, **{Odd("nonsense"): 1})


def test_names_that_contain_what_separates_names(ffi: Any) -> None:
    many = ffi.get_global_func("testing.typed.many")
    assert many(x0=0, x1=1)[:2] == (0, 1)
    for wrong in ({"x0\0x1": 1}, {"x0\0x1": 1, "": 2}, {"x0": 0, "x1\0": 1}, {"x0": 0, "\0x1": 1}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            many(**wrong)


def test_nothing_is_converted_for_a_call_that_does_not_bind(ffi: Any) -> None:
    class Loud:
        def __index__(self) -> int:
            converted.append(self)
            return 1

    converted: list[Any] = []
    for name in ("testing.typed.many", "testing.typed.many_overloads"):
        with pytest.raises(TypeError):
            ffi.get_global_func(name)(Loud(), nonsense=1)
        assert not converted
        assert ffi.get_global_func(name)(x1=Loud(), x0=0)[1] == 1
        assert len(converted) == 1
        converted.clear()


@pytest.mark.unrecorded("about a function as an object")
def test_the_function_may_be_emptied_while_arguments_are_converted(ffi: Any) -> None:
    class Mover:
        def __index__(self) -> int:
            if not taken:
                taken.append(ffi.Function.__new__(ffi.Function))
                taken[0]._anyffi_move_from(wrapper)
            return 1

    taken: list[Any] = []
    wrapper = ffi.get_global_func("testing.typed.many_overloads")
    assert wrapper(x0=Mover(), text="a") == "a"
    assert taken[0](x0=1, text="b") == "b"


def test_the_attribute_call(ffi: Any) -> None:
    many = ffi.get_global_func("testing.typed.many")
    assert many.__call__(1, x2=3)[:4] == (1, 1, 3, 3)
    assert type(many).__call__(many, x0=1, x2=3)[:4] == (1, 1, 3, 3)

    class Counted(ffi.Function):  # type: ignore[misc]
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return "counted", super().__call__(*args, **kwargs)

    counted = Counted(lambda *xs: len(xs))
    assert counted(1, 2) == ("counted", 2)


def test_a_keyword_beside_too_many_arguments(ffi: Any) -> None:
    add_one = ffi.get_global_func("testing.add_one")
    for count in range(2, 40):
        with pytest.raises(
            TypeError, match=r"unexpected keyword argument 'unknown'|takes 1 positional argument"
        ):
            add_one(*range(count), unknown=1)
        with pytest.raises(TypeError, match=r"multiple values for argument 'x'|takes 1 positional argument"):
            add_one(*range(count), x=1)
