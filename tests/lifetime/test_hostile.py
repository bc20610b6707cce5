"""Objects that misreport their class, raise or imitate others: an exception at most, never a crash, leak or wrong value."""

from __future__ import annotations

import array
import collections.abc
import ctypes
import sys
import types
from typing import Any

import cases
import pytest


def try_everything(ffi: Any, x: Any) -> None:
    """Pass a value to every function and constructor; exceptions are fine."""
    names = ("echo", "nop", "describe", "hash", "size", "iterate", "typed.int64", "typed.str", "typed.array", "typed.dict",
             "typed.object", "typed.function", "hold", "apply", "catch_error")  # fmt: skip
    for name in names:
        function = ffi.get_global_func("testing." + name)
        for args in ((x,), ([x],), ({"k": x},), (x, x)):
            try:
                function(*args)
            except Exception:
                pass
    for work in (ffi.convert, ffi.to_python, ffi.List, ffi.Array, ffi.Dict, ffi.Set, ffi.FrozenSet, ffi.Function,
                 ffi.load_module, lambda x: ffi.Set([1]) == x, lambda x: ffi.Set([1]) | x, lambda x: ffi.Set([x])):  # fmt: skip
        try:
            work(x)
        except Exception:
            pass
    try:
        d = ffi.Dict()
        d[x] = 1
        assert x in d
    except Exception:
        pass
    ffi.get_global_func("testing.hold")(None)


class RaisingGetattribute:
    def __getattribute__(self, name: str) -> Any:
        raise ZeroDivisionError(name)


class LyingClass:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return int

    def __index__(self) -> Any:
        return self


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        if name in ("__mro__", "__name__", "__dict__", "__module__", "__qualname__"):
            raise ZeroDivisionError(name)
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, x: Any) -> bool:
        raise ZeroDivisionError("isinstance")

    def __subclasscheck__(cls, x: Any) -> bool:
        raise ZeroDivisionError("issubclass")

    def __eq__(cls, other: Any) -> bool:
        raise ZeroDivisionError("eq")

    __hash__ = type.__hash__


class OfMeta(metaclass=Meta):
    pass


class UnhashableMeta(type):
    def __eq__(cls, other: Any) -> bool:
        raise ZeroDivisionError("eq")


class OfUnhashableMeta(metaclass=UnhashableMeta):
    """Its class cannot be hashed."""


class HostileMapping(cases.OwnMapping):
    def __iter__(self) -> Any:
        while True:
            yield from range(3)
            raise ZeroDivisionError("keys")


class LyingKeys(cases.OwnMapping):
    def keys(self) -> Any:
        return 5


class HostileHash:
    def __hash__(self) -> Any:
        raise ZeroDivisionError("hash")


class StrangeHash:
    def __hash__(self) -> Any:
        return "no int"  # type: ignore[return-value]


class StrangeEq:
    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        class NoBool:
            def __bool__(self) -> bool:
                raise ZeroDivisionError("bool")

        return NoBool()


class HostileRepr:
    def __repr__(self) -> str:
        raise ZeroDivisionError("repr")


class HostileStr(str):
    def __hash__(self) -> int:
        raise ZeroDivisionError("hash")

    def __eq__(self, other: Any) -> Any:
        raise ZeroDivisionError("eq")


class HostileError(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise ZeroDivisionError(name)


class CallableThatLies:
    def __call__(self, *args: Any) -> Any:
        return LyingClass()

    def __eq__(self, other: Any) -> bool:
        raise ZeroDivisionError("eq")

    __hash__ = None  # type: ignore[assignment]


class IndexOfSubclass:
    def __index__(self) -> Any:
        return cases.IntSubclass(5)


class DlpackOnInstance:
    def __init__(self) -> None:
        self.__dlpack__ = lambda: None


class ValueOfItself:
    def __anyffi_value__(self) -> Any:
        return self


class ValueWithBadDescriptor:
    class _Descriptor:
        def __get__(self, *args: Any) -> Any:
            raise ZeroDivisionError("get")

    __anyffi_value__ = _Descriptor()


class FloatPretender:
    def __float__(self) -> float:
        return 1.0


class SlotsAndWeird(list):  # type: ignore[type-arg]
    __slots__ = ("x",)

    def __del__(self) -> None:
        self.append(self)
        self.clear()


HOSTILE: Any = {
    "raising __getattribute__": RaisingGetattribute,
    "lying __class__": LyingClass,
    "metaclass": OfMeta,
    "metaclass without hash": OfUnhashableMeta,
    "class of a metaclass without hash": lambda: OfUnhashableMeta,
    "class of the metaclass": lambda: OfMeta,
    "endless mapping": lambda: HostileMapping({}),
    "keys() gives an int": lambda: LyingKeys({1: 2}),
    "raising hash": HostileHash,
    "dict key with a str as hash": StrangeHash,
    "eq without bool": StrangeEq,
    "raising repr": HostileRepr,
    "str with raising hash": lambda: HostileStr("abc"),
    "dict with such keys": lambda: dict.fromkeys([StrangeEq(), StrangeEq()]),
    "raising exception": HostileError,
    "callable that lies": CallableThatLies,
    "__index__ gives a subclass": IndexOfSubclass,
    "__dlpack__ on the instance": DlpackOnInstance,
    "__float__ alone": FloatPretender,
    "list with a destructor": lambda: SlotsAndWeird([1, 2]),
    "generator": lambda: (i for i in range(3)),
    "coroutine function": lambda: types.coroutine(lambda: (yield)),
    "frame": lambda: sys._getframe(),
    "module": lambda: sys,
    "code": lambda: test_hostile_objects.__code__,
    "memoryview of nothing": lambda: memoryview(b""),
    "memoryview of many dimensions": lambda: memoryview(bytes(24)).cast("B", (2, 3, 4)),
    "memoryview of other formats": lambda: memoryview(array.array("d", [1.0])),
    "ctypes structure": lambda: ctypes.c_int(5),
    "ctypes array": lambda: (ctypes.c_char * 3)(),
    "subclass of c_void_p": lambda: type("P", (ctypes.c_void_p,), {})(5),
    "huge int": lambda: 1 << 100_000,
    "huge negative int": lambda: -(1 << 100_000),
    "complex": lambda: 1j,
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({1}),
    "set of hostile keys": lambda: {_hashed(StrangeEq, 1), _hashed(HostileRepr, 2)},
    "set subclass": lambda: cases.SetSubclass({1}),
    "mappingproxy of a mapping": lambda: types.MappingProxyType(HostileMapping({1: 2})),
    "mappingproxy of itself": lambda: types.MappingProxyType(vars(type("C", (), {}))),
    "value of itself": ValueOfItself,
    "value by a bad descriptor": ValueWithBadDescriptor,
    "value of something hostile": lambda: cases.OwnValue(RaisingGetattribute()),
    "weird namespace": lambda: types.SimpleNamespace(__index__=5, __call__=6),
    "type": lambda: type,
    "object class": lambda: object,
    "not implemented": lambda: NotImplemented,
    "exception class": lambda: ValueError,
    "base exception": lambda: BaseException("x"),
    "traceback cycle": lambda: _exception_with_cycle(),
}


def _hashed(cls: type, number: int) -> Any:
    """Return an object with a fixed hash, and so a fixed position in a set."""
    return type(cls.__name__, (cls,), {"__hash__": lambda self: number})()


def _exception_with_cycle() -> BaseException:
    try:
        raise ValueError("x")
    except ValueError as error:
        kept = error
        error.__cause__ = error
    return kept


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_objects(ffi: Any, name: str) -> None:
    try_everything(ffi, HOSTILE[name]())
    assert ffi.get_global_func("testing.add_one")(1) == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_objects_have_the_same_outcome_in_both_modes(both: Any, name: str) -> None:
    x = HOSTILE[name]()
    if name == "list with a destructor":
        return
    for function in ("echo", "describe", "hash", "typed.int64", "typed.object"):
        results = []
        for ffi in both:
            try:
                results.append(cases.normal(ffi.get_global_func("testing." + function)(x), ffi))
            except Exception as error:
                results.append((type(error), str(error)))
        assert results[0] == results[1], function


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_results_of_callbacks(ffi: Any, name: str) -> None:
    for through in ("apply", "catch_error", "rethrow"):
        try:
            ffi.get_global_func("testing." + through)(HOSTILE[name])
        except Exception:
            pass


def test_unhashable_objects_as_arguments(ffi: Any) -> None:
    echo, seen = map(ffi.get_global_func, ("testing.echo", "testing.describe"))
    for x, expected in ((OfUnhashableMeta(), "PyObject"), (OfUnhashableMeta, "Function(host)")):
        assert echo(x) is x
        assert echo([x])[0] is x
        assert seen(x) == expected
        assert seen(slice(x)) == f"Slice(None, {expected}, None)"
        assert ffi.to_python(echo({"k": (x,)}))["k"][0] is x


def test_an_exception_of_an_abc_check_is_not_lost(ffi: Any) -> None:
    """The check for Mapping runs `__subclasshook__`, which raises here; a signal handler may raise there too."""
    echo = ffi.get_global_func("testing.echo")
    armed = True

    class Watching(collections.abc.Mapping):  # type: ignore[type-arg]
        @classmethod
        def __subclasshook__(cls, other: type) -> Any:
            if armed:
                raise ZeroDivisionError(other.__name__)
            return NotImplemented

    class Asked:
        pass

    x = Asked()
    with pytest.raises(ZeroDivisionError, match="Asked"):
        echo([x])
    armed = False
    assert echo([x])[0] is x


def test_a_str_subclass_is_read_from_its_storage(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    assert cases.same(echo(HostileStr("abc")), "abc")
    assert ffi.to_python(echo({HostileStr.__new__(HostileStr, "k") and "k": 1})) == {"k": 1}


def test_methods_called_on_other_types(ffi: Any) -> None:
    """Methods of one class that are called on objects of another never crash."""
    samples = [
        ffi.List([1]),
        ffi.Array((1,)),
        ffi.Dict(a=1),
        ffi.Map(a=1),
        ffi.Shape([1]),
        ffi.Set([1]),
        ffi.FrozenSet([1]),
        ffi.convert(len),
        [1],
        {"a": 1},
        5,
        object(),
    ]
    for cls in (
        ffi.List,
        ffi.Array,
        ffi.Shape,
        ffi.Dict,
        ffi.Map,
        ffi.Set,
        ffi.FrozenSet,
        ffi.Function,
        ffi.Module,
    ):
        for name in dir(cls):
            method = getattr(cls, name, None)
            if not callable(method) or name in (
                "__class__",
                "__init_subclass__",
                "__subclasshook__",
                "__class_getitem__",
            ):
                continue
            for x in samples:
                if isinstance(x, cls) or name in dir(ffi.Object):
                    continue
                for args in ((), (0,), ("a",), (0, 1)):
                    try:
                        method(x, *args)
                    except Exception:
                        pass
    assert ffi.get_global_func("testing.describe")(samples) is not None
