"""Both backends in one process: the same outcomes, side effects and refcounts."""

from __future__ import annotations

import types
from typing import Any, Callable

import cases
import numpy as np
import pytest
from cases import BAD, BAD_IDS, EXAMPLE_IDS, EXAMPLES, FEW
from hypothesis import given, settings
from hypothesis import strategies as st
from support import FREE_THREADED, slow_except


def outcome(ffi: Any, name: str, args: Any) -> Any:
    """Return everything that a caller can observe of a call."""
    try:
        result = ffi.get_global_func(name)(*args)
    except BaseException as error:  # KeyboardInterrupt is an outcome as well
        return type(error), str(error), error.args
    if name == "testing.catch_error" and isinstance(result, ffi.Array):
        result = result[:2]  # not the traceback, which has different frames in each backend
    return cases.normal(result, ffi)


def assert_alike(both: tuple[Any, Any], name: str, *args: Any) -> None:
    one, other = (outcome(ffi, name, args) for ffi in both)
    assert one == other


@pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)
def test_examples(both: tuple[Any, Any], x: Any) -> None:
    assert_alike(both, "testing.echo", x)
    assert_alike(both, "testing.describe", x)
    assert_alike(both, "testing.type_code", x)
    assert_alike(both, "testing.is_movable", x)
    if not isinstance(x, np.ndarray):  # a tensor's hash is its address
        assert_alike(both, "testing.hash", x)
    assert_alike(both, "testing.size", x)


@pytest.mark.parametrize("bad", BAD, ids=BAD_IDS)
def test_bad_inputs(both: tuple[Any, Any], bad: cases.Bad) -> None:
    x = bad.make()
    one, other = (outcome(ffi, "testing.nop", (x,)) for ffi in both)
    assert one[0] is other[0] is bad.raises
    assert one[1] == other[1]


def test_drawn_values(both: tuple[Any, Any]) -> None:
    @given(cases.values)
    def check(x: Any) -> None:
        assert_alike(both, "testing.echo", x)
        assert_alike(both, "testing.describe", x)

    check()


def test_drawn_arguments(both: tuple[Any, Any]) -> None:
    @given(st.lists(cases.scalars, max_size=12))
    def check(args: Any) -> None:
        assert_alike(both, "testing.describe", *args)

    check()


TYPED = [
    "testing.typed." + name
    for name in [
        "bool",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "big_int",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "none",
        "str",
        "bytes",
        "c_str",
        "pointer",
        "ellipsis",
        "slice",
        "function",
        "object",
        "optional_object",
        "optional_int",
        "box_int",
        "any",
        "view",
        "array",
        "array_int",
        "array_object",
        "array_array_str",
        "list",
        "list_int",
        "list_float",
        "map",
        "map_str_int",
        "dict",
        "dict_str_int",
        "dtype",
        "device",
        "tensor",
        "optional_tensor",
        "array_tensor",
        "tensor_view",
        "set",
        "set_int",
        "shape",
        "tuple_int_str",
        "variant_int_str",
        "variant_list_float",
        "pad",
        "frozen_set",
        "frozen_set_str",
    ]
]
QUICK = [
    "testing.typed." + name
    for name in ("bool", "int64", "float64", "str", "object", "array_int", "dict_str_int", "tensor")
]


@pytest.mark.parametrize("name", slow_except(QUICK, TYPED, "all typed functions"))
def test_typed_functions(both: tuple[Any, Any], name: str) -> None:
    for x in FEW:
        assert_alike(both, name, x)
    for bad in BAD:
        assert_alike(both, name, bad.make())
    assert_alike(both, name)
    assert_alike(both, name, 1, 2)

    @settings(max_examples=max(5, settings().max_examples // 10))
    @given(cases.values)
    def check(x: Any) -> None:
        assert_alike(both, name, x)

    check()


def test_results_of_native_functions(both: tuple[Any, Any]) -> None:
    for name in ("testing.make_counter", "testing.new_counted"):
        one, other = (ffi.get_global_func(name)(3) for ffi in both)
        assert type(one).__qualname__ == type(other).__qualname__
    one, other = (ffi.get_global_func("testing.make_counter")(3) for ffi in both)
    assert one(4) == other(4) == 7


def _wrappers(ffi: Any) -> Any:
    yield ffi.convert([1, "two", [3]])
    yield ffi.convert((1, (2,)))
    yield ffi.convert({"a": {1: 2}})
    yield ffi.convert(types.MappingProxyType({"a": 1}))
    yield ffi.Shape((2, 3))
    yield ffi.convert({"a", 1, (2,)})
    yield ffi.convert(frozenset({"a", 1}))
    yield ffi.get_global_func("testing.make_counter")(1)
    yield ffi.get_global_func("testing.nop")
    yield ffi.get_global_func("testing.new_counted")(1)


@pytest.mark.skipif(FREE_THREADED, reason="without the GIL each backend only finds its own wrappers")
@pytest.mark.parametrize("owner", [0, 1], ids=["from-cython", "from-ctypes"])
def test_each_accepts_the_objects_of_the_other(both: tuple[Any, Any], owner: int) -> None:
    mine, other = both[owner], both[1 - owner]
    echo, seen = map(other.get_global_func, ("testing.echo", "testing.describe"))
    for wrapper in _wrappers(mine):
        assert echo(wrapper) is wrapper, "an object's wrapper is one for the whole process"
        assert seen(wrapper) == mine.get_global_func("testing.describe")(wrapper)
        assert echo([wrapper])[0] is wrapper
        assert echo({"k": wrapper})["k"] is wrapper
        assert other.get_global_func("testing.apply")(lambda x, w=wrapper: x is w, wrapper) is True
        assert other.convert(wrapper) is wrapper
        assert cases.same(_content(other, wrapper), _content(mine, wrapper))


def _content(ffi: Any, wrapper: Any) -> Any:
    return ffi.to_python(wrapper)


@pytest.mark.parametrize("owner", [0, 1], ids=["from-cython", "from-ctypes"])
def test_changes_are_seen_through_the_other(both: tuple[Any, Any], owner: int) -> None:
    mine, other = both[owner], both[1 - owner]
    shared = mine.convert([1])
    other.get_global_func("testing.append")(shared, 2)
    assert shared == [1, 2]
    holder = other.convert([shared])
    holder[0].append(3)
    assert shared == [1, 2, 3]


def test_python_objects_have_the_same_payload_in_both(both: tuple[Any, Any]) -> None:
    for x in (object(), lambda: 1, ValueError("x"), Unusual()):
        for one, other in (both, both[::-1]):
            one.get_global_func("testing.hold")([x])
            held = other.get_global_func("testing.held")()
            assert held[0] is x
            one.get_global_func("testing.hold")(None)


class Unusual:
    """An opaque, hashable object that equals others of its class."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unusual)

    def __hash__(self) -> int:
        return 5


def test_opaque_keys_are_found_by_the_other_backend(both: tuple[Any, Any]) -> None:
    for one, other in (both, both[::-1]):
        d = one.convert({Unusual(): 1, len: 2})
        item = other.get_global_func("testing.item")
        assert item(d, Unusual()) == 1
        assert item(d, len) == 2
        with pytest.raises(KeyError):
            item(d, print)


def _raising(error: BaseException) -> Callable[..., Any]:
    def callback(*args: Any) -> Any:
        raise error

    return callback


@pytest.mark.parametrize("name", ["apply", "catch_error", "rethrow"])
def test_callbacks(both: tuple[Any, Any], name: str) -> None:
    name = "testing." + name
    for x in FEW:
        assert_alike(both, name, lambda *args: args[0], x)
        assert_alike(both, name, lambda *args: [args], x, x)
    for bad in BAD:
        assert_alike(both, name, lambda bad=bad: bad.make())
    for error in (ValueError("v"), KeyError(1), StopIteration(3), Exception(1, 2)):
        first, second = (outcome(ffi, name, (_raising(error),)) for ffi in both)
        assert first == second
    assert_alike(both, name)
    assert_alike(both, name, 5)
    assert_alike(both, name, None)


def test_keyword_errors(both: tuple[Any, Any]) -> None:
    calls = [
        ("testing.typed.defaults", (), {}),
        ("testing.typed.defaults", (), {"b": "x"}),
        ("testing.typed.defaults", (1,), {"a": 2}),
        ("testing.typed.defaults", (1,), {"nonsense": 2}),
        ("testing.typed.defaults", (1, "b", 2.0, 3), {}),
        ("testing.typed.defaults", (1, "b", 2.0, 3), {"c": 1}),
        ("testing.typed.defaults", ("x",), {}),
        ("testing.typed.defaults", (), {"a": "x"}),
        ("testing.typed.defaults", (1,), {"c": 2.5}),
        ("testing.typed.unnamed", (1,), {"b": 2}),
        ("testing.echo", (), {"x": 1}),
        ("testing.add_one", (), {"x": 1}),
    ]
    for name, args, kwargs in calls:
        results = []
        for ffi in both:
            try:
                results.append(cases.normal(ffi.get_global_func(name)(*args, **kwargs), ffi))
            except TypeError as error:
                results.append(("TypeError", str(error)))
        assert results[0] == results[1]


def test_public_names_are_alike(both: tuple[Any, Any]) -> None:
    one, other = both
    names = {name for name in dir(one) if not name.startswith("_")}
    assert names == {name for name in dir(other) if not name.startswith("_")}
    for name in names:
        first, second = getattr(one, name), getattr(other, name)
        if isinstance(first, type):
            assert first.__qualname__ == second.__qualname__
            assert first.__module__ == second.__module__
            assert first.__doc__ == second.__doc__
            if issubclass(first, one.Object):
                assert _public(first) == _public(second), name


def _public(cls: type) -> Any:
    return sorted(name for name in dir(cls) if not name.startswith("_") or name in SPECIAL)


SPECIAL = {"__call__", "__len__", "__getitem__", "__iter__", "__contains__", "__eq__", "__hash__", "__repr__", "__setitem__",
           "__delitem__", "__add__", "__iadd__", "__mul__", "__imul__", "__or__", "__ior__", "__reversed__", "__lt__",
           "__and__", "__sub__", "__xor__", "__iand__", "__rsub__"}  # fmt: skip


def test_refused_indices_and_keys(both: tuple[Any, Any]) -> None:
    """Both modes raise the same error messages."""
    indices = (3, -4, 2**62, 2**63 - 1, 2**63, -(2**63) - 1, 2**70, -(2**70), 1.0, "0", None)
    for name in ("List", "Array"):
        sequences = [getattr(ffi, name)([1, 2, 3]) for ffi in both]
        for index in indices:
            with pytest.raises((IndexError, TypeError)) as one:
                sequences[0][index]
            with pytest.raises(one.type) as other:
                sequences[1][index]
            assert str(one.value) == str(other.value), index
    for name in ("Dict", "Map"):
        mappings = [getattr(ffi, name)({1: 2}) for ffi in both]
        for key in (3, 2**70, [1], {}, {1: []}, "k" * 20, ([],)):
            with pytest.raises((KeyError, TypeError)) as one:
                mappings[0][key]
            with pytest.raises(one.type) as other:
                mappings[1][key]
            assert str(one.value) == str(other.value), key
