"""How values of a class convert is cached for the class: changes of the class must be noticed."""

from __future__ import annotations

import abc
import collections
import enum
import gc
import types
import weakref
from collections.abc import Mapping
from typing import Any

import anyffi
import cases
import numpy as np
import pytest
from support import cpython_only, frees_classes, run_python


def _new_class(name: str = "Changing", bases: tuple[type, ...] = (), **namespace: Any) -> Any:
    return type(name, bases, namespace)


def _settle(ffi: Any, x: Any) -> Any:
    """Pass a value often enough that its class is remembered."""
    echo = ffi.get_global_func("testing.echo")
    for _ in range(3):
        result = echo(x)
    return result


def test_a_class_that_gets_a_protocol(ffi: Any) -> None:
    for name, method, seen in (
        ("__anyffi_value__", lambda self: "value", "value"),
        ("__index__", lambda self: 7, 7),
        ("__dlpack__", lambda self, **options: np.arange(3).__dlpack__(**options), None),
    ):
        cls = _new_class()
        x = cls()
        assert _settle(ffi, x) is x
        setattr(cls, name, method)
        result = _settle(ffi, x)
        assert result == seen if seen is not None else type(result) is ffi.Tensor
        delattr(cls, name)
        assert _settle(ffi, x) is x


def test_a_base_that_gets_a_protocol(ffi: Any) -> None:
    base = _new_class("Base")
    x = _new_class("Derived", (_new_class("Between", (base,)),))()
    assert _settle(ffi, x) is x
    base.__anyffi_value__ = lambda self: "of the base"
    assert _settle(ffi, x) == "of the base"


def test_a_class_that_gets_other_bases(ffi: Any) -> None:
    class Empty:
        pass

    class Valued:
        def __anyffi_value__(self) -> int:
            return 5

    cls = _new_class(bases=(_new_class("Base"),))
    x = cls()
    assert _settle(ffi, x) is x
    cls.__bases__ = (_new_class("Base", (Valued,)),)
    assert _settle(ffi, x) == 5


def test_an_instance_that_gets_another_class(ffi: Any) -> None:
    one, other = _new_class(), _new_class(__anyffi_value__=lambda self: 5)
    x = one()
    assert _settle(ffi, x) is x
    x.__class__ = other
    assert _settle(ffi, x) == 5


def test_a_class_that_becomes_callable(ffi: Any) -> None:
    describe = ffi.get_global_func("testing.describe")
    cls = _new_class()
    x = cls()
    for _ in range(3):
        assert describe(x) == "PyObject"
    cls.__call__ = lambda self: 5
    for _ in range(3):
        assert describe(x) == "Function(host)"
    cls.__call__ = None
    assert describe(x) == "Function(host)", "as `callable` says"


def test_a_class_that_is_registered_as_a_mapping(ffi: Any) -> None:
    cls = _new_class(keys=lambda self: ["k"], __getitem__=lambda self, key: 1)
    x = cls()
    assert _settle(ffi, x) is x
    Mapping.register(cls)
    result = _settle(ffi, x)
    assert type(result) is ffi.Dict
    assert result == {"k": 1}


def test_a_subclass_of_an_abstract_class_stays_opaque(ffi: Any) -> None:
    class Abstract(abc.ABC):  # noqa: B024
        pass

    class Of(Abstract):
        pass

    x = Of()
    assert _settle(ffi, x) is x
    Abstract.register(_new_class())
    assert _settle(ffi, x) is x


def test_a_metaclass_that_forbids_hashing(ffi: Any) -> None:
    class Meta(type):
        __hash__ = None  # type: ignore[assignment]

    x = Meta("OfMeta", (), {})()
    assert _settle(ffi, x) is x
    type(x).__index__ = lambda self: 5
    assert _settle(ffi, x) == 5
    mapping = Meta("OfMeta", (dict,), {})(k=1)
    assert _settle(ffi, mapping) == {"k": 1}


@frees_classes
@cpython_only("PyPy collects later")
def test_no_class_is_kept_alive(ffi: Any) -> None:
    def make() -> Any:
        cls = _new_class()
        _settle(ffi, cls())
        return weakref.ref(cls)

    made = make()
    gc.collect()
    assert made() is None


def test_more_classes_than_are_remembered(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    classes = [
        _new_class(
            f"C{i}", (int,) if i % 3 == 1 else (), **({"__index__": lambda self: 9} if i % 3 == 2 else {})
        )
        for i in range(1500)
    ]
    values = [cls() for cls in classes]
    for _ in range(2):
        for i, x in enumerate(values):
            assert echo(x) == (x if i % 3 == 0 else 0 if i % 3 == 1 else 9)
    del classes, values
    gc.collect()
    for i in range(1500):
        assert echo(_new_class(f"D{i}", (str,))("text")) == "text", "new classes at the addresses of old ones"


# ---- the values that are read without the rules -------------------------------------------------------------


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, 2**90, 2**1920, 2**1921 - 1, 2**5000])
def test_ints_of_many_digits(ffi: Any, number: int) -> None:
    echo, describe = map(ffi.get_global_func, ("testing.echo", "testing.describe"))

    class Own(int):
        pass

    for near in (number - 1, number, number + 1):
        for x in (near, -near):
            assert cases.same(echo(x), x)
            assert cases.same(echo(Own(x)), x)
            assert cases.same(ffi.to_python(echo([x, Own(x)])), [x, x])
            assert describe(x) == cases.describe(x)


def test_numpy_scalars(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    for dtype in "?bhilqBHILQefdFD":
        cls = np.dtype(dtype).type
        numbers: list[Any] = [0, 1, 100]
        if dtype in "bhilqBHILQ":
            numbers += [np.iinfo(dtype).min, np.iinfo(dtype).max]
        elif dtype in "efd":
            numbers += [-0.0, 0.1, np.inf, -np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny]
        elif dtype in "FD":
            numbers += [complex(0.1, -0.0), complex(np.inf, np.nan)]
        for number in numbers:
            x = cls(number)
            for _ in range(2):
                assert cases.same(echo(x), x.item())
            assert cases.same(ffi.to_python(echo([x, (x,), x])), [x.item(), (x.item(),), x.item()])
            assert cases.same(ffi.to_python(echo({x: x})), {x.item(): x.item()})


def test_all_halves(ffi: Any) -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    assert cases.same(ffi.to_python(ffi.get_global_func("testing.echo")(list(halves))), halves.tolist())


def test_subclasses_of_builtins_in_containers(ffi: Any) -> None:
    class Member(enum.IntEnum):
        ONE = 1

    class Text(str):
        pass

    class Items(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            raise AssertionError("never called")

    Pair = collections.namedtuple("Pair", "a b")
    counted = collections.Counter("aab")
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    ordered.move_to_end("b")
    x = [
        Member.ONE,
        Text("t" * 30),
        Items([1, Items([2])]),
        Pair(1, Text("")),
        counted,
        ordered,
        bytearray(b"b" * 20),
    ]
    plain = [1, "t" * 30, [1, [2]], (1, ""), {"a": 2, "b": 1}, {"a": 2, "b": 1}, b"b" * 20]
    for _ in range(2):
        result = ffi.to_python(ffi.get_global_func("testing.echo")(x))
        assert cases.same(result, plain)
        assert list(result[5]) == ["a", "b"]


def test_sets_with_removed_elements(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    x = set(range(100))
    x -= set(range(0, 100, 3))
    result = echo(x)
    assert list(result) == list(x)
    assert list(echo(frozenset(x))) == list(frozenset(x))
    assert ffi.to_python(echo([x, {1: frozenset(x)}])) == [x, {1: frozenset(x)}]
    assert ffi.to_python(echo(set())) == set()


# ---- containers that occur twice ----------------------------------------------------------------------------


def test_code_that_returns_a_part_of_its_argument(ffi: Any) -> None:
    """Containers with one reference are not checked for repetition, but user code can return one again."""
    echo = ffi.get_global_func("testing.echo")

    class Returns:
        def __anyffi_value__(self) -> Any:
            return outer[0]

    outer: list[Any] = [[1], Returns()]
    for _ in range(2):
        result = echo(outer)
        assert result[0] is result[1]


def test_code_that_changes_a_container_around_it(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")

    class Clears:
        def __anyffi_value__(self) -> str:
            inner.clear()
            outer.clear()
            return "cleared"

    for _ in range(2):
        inner: list[Any] = [[1], Clears(), {"k": [2]}, {3}]
        outer: list[Any] = [[0], inner, (4,), {5}]
        assert ffi.to_python(echo(outer)) == [[0], [[1], "cleared", {"k": [2]}, {3}], (4,), {5}]
        assert outer == inner == []


def test_opaque_keys_that_change_a_container(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")

    class Key:
        def __hash__(self) -> int:
            outer.clear()
            return 1

    for _ in range(2):
        outer: list[Any] = []
        key = Key()
        mapping = {key: [1]}
        outer += [[0], mapping, [2]]
        result = echo(outer)
        assert ffi.to_python(result[1]) == mapping
        assert (result[0], result[2]) == ([0], [2])
        outer += [{(key, 1): 2}, [3]]
        assert len(echo(outer)) == 2


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: (x,), lambda x: {1: x}, lambda x: {"k": (x,)}])
def test_cycles_through_containers_with_one_reference(ffi: Any, wrap: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    outermost: list[Any] = []
    outermost.append(wrap(wrap(outermost)))
    with pytest.raises(RecursionError, match="a list that contains itself"):
        nop(outermost)
    with pytest.raises(RecursionError, match="a list that contains itself"):
        nop([wrap(outermost)])
    with pytest.raises(RecursionError, match="contains itself"):
        nop(outermost[0])
    outermost.clear()


# ---- back to Python -----------------------------------------------------------------------------------------


def test_to_python_keeps_what_is_shared(ffi: Any) -> None:
    inner = [1]
    frozen = (2, inner)
    wrapper = ffi.convert([inner, frozen, {"k": inner}, slice(inner, frozen), frozenset({(3,)})])
    for _ in range(2):
        result = ffi.to_python(wrapper)
        assert cases.same(result, [[1], (2, [1]), {"k": [1]}, slice([1], (2, [1])), frozenset({(3,)})])
        assert result[0] is result[1][1] is result[2]["k"] is result[3].start
        assert result[1] is result[3].stop
    both = ffi.to_python(slice(wrapper, wrapper[0]))
    assert both.start[0] is both.stop


def test_to_python_of_an_empty_wrapper(ffi: Any) -> None:
    for cls in (ffi.Array, ffi.List, ffi.Map, ffi.Dict, ffi.FrozenSet, ffi.Set):
        with pytest.raises(ValueError, match="is empty"):
            ffi.to_python(cls.__new__(cls))


def test_to_python_while_a_key_changes_the_container(ffi: Any) -> None:
    """A container converts as if it had been copied first."""

    class Key:
        def __init__(self) -> None:
            self.changed: Any = None

        def __hash__(self) -> int:
            if self.changed is not None:
                self.changed.clear()
            return 1

    keys = [Key(), Key()]
    wrapper = ffi.convert({keys[0]: [1], keys[1]: [2], "k": 3})
    keys[0].changed = wrapper
    result = ffi.to_python(wrapper)
    keys[0].changed = None
    assert list(result.values()) == [[1], [2], 3]
    assert len(wrapper) == 0


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: (x,), lambda x: {1: x}, lambda x: slice(x)])
def test_to_python_of_many_levels(ffi: Any, wrap: Any) -> None:
    x = cases.nested(199, wrap, [1])
    assert ffi.to_python(ffi.convert(x)) == x


def test_proxies(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    proxy = types.MappingProxyType({"k": [1], 2: "v"})
    for _ in range(2):
        assert type(echo(proxy)) is ffi.Map
        assert cases.same(ffi.to_python(echo([proxy, {1: proxy}])), [proxy, {1: proxy}])
        result = echo([proxy, proxy])
        assert result[0] is result[1]

    class Own(dict):  # type: ignore[type-arg]
        def __init__(self, pairs: Any) -> None:
            super().__init__()
            self.pairs = pairs

        def items(self) -> Any:
            return self.pairs

    assert echo(types.MappingProxyType(Own([("k", 1), ["l", 2]]))) == {"k": 1, "l": 2}
    for wrong in ([1, 2], [("k",)], [(1, 2, 3)], 5):
        with pytest.raises((TypeError, ValueError)):
            echo(types.MappingProxyType(Own(wrong)))


def test_classes_as_values(ffi: Any) -> None:
    echo, describe = map(ffi.get_global_func, ("testing.echo", "testing.describe"))
    cls = _new_class()
    for _ in range(3):
        assert echo(cls) is cls
        assert describe([cls, np.float32, int]) == "List[Function(host), DataType(2, 32, 1), Function(host)]"
        assert echo(np.float32) == anyffi.dtype("float32")
        with pytest.raises(TypeError, match="DLPack"):
            echo(np.str_)
    cls.changed = 1
    assert echo(cls) is cls


def test_an_index_that_fails_or_returns_much(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")

    class Index:
        def __init__(self, result: Any) -> None:
            self.result = result

        def __index__(self) -> Any:
            return self.result

    for _ in range(2):
        for number in (5, -(2**63), 2**64, 2**200):
            assert cases.same(echo(Index(number)), number)
            assert cases.same(ffi.to_python(echo([Index(number)])), [number])
        with pytest.raises(TypeError, match=cases.NO_INDEX):
            echo(Index("text"))


def test_an_ndarray_subclass_before_any_array(ffi: Any) -> None:
    class Sub(np.ndarray):  # type: ignore[type-arg]
        pass

    for _ in range(2):
        assert np.asarray(ffi.get_global_func("testing.echo")(np.arange(3).view(Sub))).tolist() == [0, 1, 2]


FIRST = """
import tracemalloc
from types import MappingProxyType
import anyffi.testing
nop = anyffi.get_global_func("testing.nop")
nop(0)
x = {make}
tracemalloc.start()
nop(x)
print(tracemalloc.get_traced_memory()[1])
"""


@cpython_only("PyPy has one marshaller")
@pytest.mark.parametrize("make", ["set({})", "frozenset({})", "MappingProxyType(dict.fromkeys({}))"])
def test_the_first_conversion_of_a_process_takes_no_more_memory(make: str) -> None:
    """Measured by tracemalloc: the general rules would first make a list of the items."""
    program = FIRST.format(make=make.format("range(100_000)"))
    assert int(run_python(program, ffi_mode="cython")) < 2_000_000


def test_runs_of_one_class(ffi: Any) -> None:
    """An element of the same class as the previous one takes a faster path."""

    class Member(enum.IntEnum):
        ONE = 1
        FAR = 2**40
        LOW = -(2**62)
        BIG = 2**70

    class Number(int):
        pass

    class Flag(int):
        def __bool__(self) -> bool:
            raise AssertionError("never called")

    rows = ffi.get_global_func("testing.results.Optional")
    members = [Member.ONE, Member.FAR, Member.LOW, Member.ONE, Member.ONE]
    numbers = [Number(i) for i in (-1, 0, 2**31, 5, 2**63 - 1)]
    for _ in range(2):
        for x in (members, members[:3], [1, *members, True, *numbers], numbers, numbers[:2], [Flag(1)] * 6):
            assert rows([x]) == [x]
            assert {type(each) for each in ffi.to_python(rows([x]))[0]} == {int}
        for x in ([*members, Member.BIG], [Number(2**63)]):
            with pytest.raises(OverflowError):
                rows([x])
        with pytest.raises(TypeError, match="expected int, got float"):
            rows([[*members, 1.5]])
    nan = complex(float("nan"), -0.0)
    complexes = [1j, -0.0 + 0j, nan, nan, complex(1e300, float("-inf"))]
    mixed = [*complexes, 1, 2j, True, False, None, True, 1.5, -0.0, *complexes[::-1]]
    for x in (complexes, mixed, [True, False] * 4, tuple(mixed)):
        assert repr(ffi.to_python(ffi.get_global_func("testing.echo")(x))) == repr(x)
