"""Objects and programs that do what they should not: an exception at most, never a crash, a loss or a wrong value."""

from __future__ import annotations

import array
import collections.abc
import copy
import ctypes
import gc
import pickle
import sys
import types
from typing import Any

import cases
import pytest
from programs import run_program
from support import STACK_ENDS, collect


def try_everything(ffi: Any, x: Any) -> None:
    """Bring a value across in every way; exceptions are fine."""
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
    """Not even its class can be hashed."""


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
    """An object whose place in a set is the same each time."""
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
def test_hostile_objects_are_alike_in_both(both: Any, name: str) -> None:
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


def test_what_cannot_be_hashed_crosses(ffi: Any) -> None:
    echo, seen = map(ffi.get_global_func, ("testing.echo", "testing.describe"))
    for x, expected in ((OfUnhashableMeta(), "PyObject"), (OfUnhashableMeta, "Function(host)")):
        assert echo(x) is x
        assert echo([x])[0] is x
        assert seen(x) == expected
        assert seen(slice(x)) == f"Slice(None, {expected}, None)"
        assert ffi.to_python(echo({"k": (x,)}))["k"][0] is x


def test_what_is_raised_while_a_class_is_asked_is_not_lost(ffi: Any) -> None:
    """Whether it is a Mapping, for example. A signal handler may raise there; a hook does so every time."""
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


def test_methods_called_on_strangers(ffi: Any) -> None:
    """The methods of one class on objects of another: TypeError, as Python has it."""
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


def test_init_again_and_new_with_arguments(ffi: Any) -> None:
    for cls in (ffi.List, ffi.Array, ffi.Shape, ffi.Dict, ffi.Map, ffi.Set, ffi.FrozenSet, ffi.Function, ffi.Object, ffi.Module,
                ffi.Tensor):  # fmt: skip
        for args in ((), (5,), ([1],), (len,), ({"a": 1},)):
            for make in (cls, cls.__new__):
                try:
                    x = make(*((cls,) if make is not cls else ()), *args)
                    repr(x)
                    x.__init__(*args)
                    repr(x)
                except (TypeError, ValueError, AttributeError, RuntimeError):
                    pass


def test_an_index_is_not_asked_what_it_is(ffi: Any) -> None:
    asked = []

    class Lying:
        def __getattribute__(self, name: str) -> Any:
            asked.append(name)
            return slice if name == "__class__" else object.__getattribute__(self, name)

    xs = ffi.List([1, 2])
    for use in (lambda: xs[Lying()], lambda: ffi.Array((1,))[Lying()], lambda: xs.__setitem__(Lying(), 5),
                lambda: xs.__delitem__(Lying())):  # fmt: skip
        with pytest.raises(TypeError, match="indices must be integers or slices, not Lying"):
            use()
    assert not asked


def test_assigning_class(ffi: Any) -> None:
    class A(ffi.List):
        pass

    xs = A([1])
    for cls in (ffi.Dict, ffi.Set, ffi.List, ffi.Function, list, A):
        try:
            xs.__class__ = cls
            len(xs)
            repr(xs)
        except TypeError:
            pass


def test_copy_and_pickle_of_what_cannot(ffi: Any) -> None:
    counted = ffi.get_global_func("testing.new_counted")(1)
    for work in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises((TypeError, pickle.PicklingError)):
            work(counted)


def test_collector_sees_no_freed_objects(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    for _ in range(50):
        echo([lambda: 1, {"k": object()}])
        for x in gc.get_objects()[-50:]:
            try:
                gc.get_referents(x)
            except Exception:
                pass


def test_a_list_that_the_callee_changes_under_its_own_iteration(ffi: Any) -> None:
    iterate, append = map(ffi.get_global_func, ("testing.iterate", "testing.append"))
    xs = ffi.List([1, 2, 3])
    assert iterate(xs) == [1, 2, 3]
    with pytest.raises((RecursionError, TypeError, ValueError)):
        ffi.to_python(append(xs, xs))
    xs.clear()


def test_callback_that_changes_its_argument(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    def grow(xs: Any) -> Any:
        for i in range(1000):
            xs.append(i)
        xs.clear()
        return xs

    assert apply(grow, [1, 2]) == []
    mine = ffi.List([1])
    assert apply(grow, mine) is mine


def test_huge_arguments(ffi: Any) -> None:
    size, echo = map(ffi.get_global_func, ("testing.size", "testing.echo"))
    text = "\u4e2d" * 10_000_000
    assert size(text) == len(text)
    assert echo(text) == text
    assert size(list(range(1_000_000))) == 1_000_000
    assert len(echo(dict.fromkeys(range(200_000)))) == 200_000


def test_recursion_limit_of_python_is_respected(ffi: Any) -> None:
    """A mapping that makes a new one at every level never ends by itself."""

    class Endless(cases.OwnMapping):
        def __getitem__(self, key: Any) -> Any:
            return Endless({"k": None})

    with pytest.raises(RecursionError):
        ffi.get_global_func("testing.nop")(Endless({"k": None}))


def test_threads_that_die_with_an_error_in_flight(ffi: Any) -> None:
    program = """
        import threading, anyffi, anyffi.testing as t
        threading.excepthook = lambda args: None
        def run():
            t.apply(lambda: t.raise_error("ValueError", "in a thread"))
        for _ in range(20):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        try:
            t.raise_error("KeyError", "in the main thread")
        except KeyError as error:
            print(error)
    """
    assert run_program(program, ffi.ffi_mode) == "'in the main thread'\n"


def test_generators_left_in_the_middle(ffi: Any) -> None:
    d, xs = ffi.Dict(a=1, b=2), ffi.List([1, 2])
    for iterator in (iter(d), iter(d.items()), iter(xs), reversed(xs)):
        next(iterator)
    del iterator, d, xs
    collect()


def test_self_reference_through_everything(ffi: Any) -> None:
    xs, d = ffi.List(), ffi.Dict()
    xs.append(d)
    d["xs"] = xs
    d["f"] = len
    try_everything_but_holding = [
        repr,
        len,
        list,
        ffi.get_global_func("testing.nop"),
        ffi.get_global_func("testing.echo"),
    ]
    for work in try_everything_but_holding:
        work(xs)
    for work in (ffi.to_python, ffi.get_global_func("testing.describe")):
        with pytest.raises(STACK_ENDS):
            work(xs)
    copied = xs.copy()
    assert copied[0] is d
    xs.clear()
    d.clear()
    copied.clear()
