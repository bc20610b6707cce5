"""Values that change during their conversion, or misreport their type."""

from __future__ import annotations

import collections
import gc
import sys
import types
import weakref
from typing import Any

import cases
import numpy as np
import pytest
from support import cpython_only, frees_classes

LONG = "a string that is long enough"


# ---- values that change meanwhile -----------------------------------------------------------------------


class _Meddler:
    """Changes a container once, in a method that the conversion calls."""

    def __init__(self, change: Any) -> None:
        self.change = change

    def _meddle(self) -> None:
        change, self.change = self.change, lambda: None
        change()


class MeddlesInIndex(_Meddler):
    def __index__(self) -> int:
        self._meddle()
        return 7


class MeddlesInValue(_Meddler):
    def __anyffi_value__(self) -> Any:
        self._meddle()
        return 7


class MeddlesInExport(_Meddler):
    def __dlpack__(self, **options: Any) -> Any:
        self._meddle()
        return np.arange(3).__dlpack__()

    def __dlpack_device__(self) -> Any:
        return 1, 0


class MeddlesInKeys(_Meddler, cases.OwnMapping):
    def __init__(self, change: Any) -> None:
        cases.OwnMapping.__init__(self, {"a": 1})
        _Meddler.__init__(self, change)

    def keys(self) -> Any:
        self._meddle()
        return ["a"]


class MeddlesInItems(MeddlesInKeys):
    def keys(self) -> Any:
        return ["a"]

    def __getitem__(self, key: Any) -> Any:
        self._meddle()
        return 1


MEDDLERS = [MeddlesInIndex, MeddlesInValue, MeddlesInExport, MeddlesInKeys, MeddlesInItems]


def _shrink(x: Any) -> None:
    x.clear()


def _grow(x: Any) -> None:
    for i in range(1000):
        if isinstance(x, list):
            x.append(i)
        elif isinstance(x, set):
            x.add(i)
        else:
            x[i] = LONG


@pytest.mark.parametrize("change", [_shrink, _grow])
@pytest.mark.parametrize("meddler", MEDDLERS)
def test_a_container_that_its_items_change(ffi: Any, meddler: Any, change: Any) -> None:
    """A container converts as if it had first been copied."""
    seen = ffi.get_global_func("testing.describe")
    inside, text = seen([meddler(lambda: None)])[len("List[") : -1], cases.describe(LONG, False)
    xs: list[Any] = []
    xs.extend([meddler(lambda: change(xs)), LONG, [LONG], LONG])
    assert seen(xs) == f"List[{inside}, {text}, List[{text}], {text}]"
    d: dict[Any, Any] = {}
    d.update(a=meddler(lambda: change(d)), b=LONG)
    assert seen(d) == f"Dict{{{cases.describe('a')}: {inside}, {cases.describe('b')}: {text}}}"
    # A later item is read after its change.
    later = [1]
    assert seen((meddler(later.clear), later)) == f"Array[{inside}, List[]]"


@pytest.mark.parametrize("change", [_shrink, _grow])
@pytest.mark.parametrize("hook", ["__hash__", "__eq__"])
def test_a_container_that_its_keys_change(ffi: Any, hook: str, change: Any) -> None:
    """Opaque keys are hashed and compared while the runtime builds its container."""
    armed: list[Any] = []

    class Key:
        def __hash__(self) -> int:
            if hook == "__hash__" and armed:
                armed.pop()()
            return 5

        def __eq__(self, other: object) -> bool:
            if hook == "__eq__" and armed:
                armed.pop()()
            return self is other

    first, second = Key(), Key()
    echo = ffi.get_global_func("testing.echo")
    d: dict[Any, Any] = {first: LONG, second: [LONG]}
    armed.append(lambda: change(d))
    got = echo(d)
    assert not armed
    assert list(got) == [first, second]
    assert (got[first], got[second]) == (LONG, [LONG])
    s: set[Any] = {first, second}
    armed.append(lambda: change(s))
    assert set(echo(s)) == {first, second}
    assert not armed


def test_keys_that_raise_while_the_runtime_compares_them(ffi: Any) -> None:
    armed = False

    class Key:
        def __hash__(self) -> int:
            return 5

        def __eq__(self, other: object) -> bool:
            if armed:
                raise ZeroDivisionError("eq")
            return self is other

    d = {Key(): LONG, Key(): LONG}
    s = set(d)
    armed = True
    for x in (d, s, {"k": [d]}, types.MappingProxyType(d), (s,)):
        with pytest.raises(ZeroDivisionError, match="^eq$"):
            ffi.get_global_func("testing.nop")(LONG, x)


# ---- subclasses that override everything ----------------------------------------------------------------


def _refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise AssertionError("an override was called")


#: Methods without which no instance can be created.
_KEPT = {
    "__new__",
    "__init__",
    "__init_subclass__",
    "__subclasshook__",
    "__class__",
    "__class_getitem__",
    "__doc__",
}


def _overriding(base: type) -> Any:
    """Return a subclass whose every method raises."""
    lies: dict[str, Any] = {name: _refuse for name in dir(base) if name not in _KEPT}
    if base in (str, bytes, frozenset):  # needed by keys
        lies["__hash__"] = lambda self: 1
    return type(f"{base.__name__}Lying", (base,), lies)


BUILTINS: Any = [
    (int, 5),
    (int, 2**70),
    (float, 2.5),
    (complex, 1.5 - 2j),
    (str, "short"),
    (str, LONG + "\ud83d\ude00"),
    (bytes, b"short"),
    (bytes, b"bytes that are long enough"),
    (bytearray, b"bytes that are long enough"),
    (tuple, (1, LONG, [2])),
    (list, [1, LONG, [2]]),
    (dict, {"a": 1, LONG: [2]}),
    (collections.OrderedDict, {"b": 1, "a": 2}),
    (set, {LONG}),
    (frozenset, frozenset({LONG})),
]


@cpython_only("PyPy's own readers of the builtins call some overrides")
@pytest.mark.parametrize(
    ("base", "value"), BUILTINS, ids=[f"{base.__name__}-{i}" for i, (base, _) in enumerate(BUILTINS)]
)
def test_subclasses_that_override_everything(ffi: Any, base: Any, value: Any) -> None:
    """Values are read from the builtin's storage, past all overrides."""
    cls = _overriding(base)
    if issubclass(base, dict):
        x = base.__new__(cls)
        for key, item in value.items():
            base.__setitem__(x, key, item)
        plain = value
    else:
        x, plain = cls(value), bytes(value) if base is bytearray else value
    seen, echo = map(ffi.get_global_func, ("testing.describe", "testing.echo"))
    assert seen([x]) == seen([plain])
    for got in (echo(x), echo((x,))[0], ffi.get_global_func("testing.apply")(lambda: x)):
        assert cases.same(ffi.to_python(got), plain)
    if base in (str, bytes, frozenset):
        assert ffi.to_python(echo({x: 1})) == {plain: 1}


def test_exceptions_that_override_everything_stay_themselves(ffi: Any) -> None:
    x = _overriding(ValueError)("x")
    echo = ffi.get_global_func("testing.echo")
    assert echo(x) is x
    assert echo([x])[0] is x
    assert ffi.get_global_func("testing.describe")(x) == "Error(ValueErrorLying)"


# ---- arguments ------------------------------------------------------------------------------------------


@cpython_only("counts are CPython's")
@pytest.mark.parametrize("place", range(9))
def test_an_argument_that_cannot_be_converted(ffi: Any, place: int) -> None:
    """The objects made for earlier arguments are released, and later arguments are not touched."""
    asked: list[int] = []

    class Asked:
        def __init__(self, number: int) -> None:
            self.number = number

        def __index__(self) -> int:
            asked.append(self.number)
            return 5

    token = object()
    args: list[Any] = [[token, LONG, Asked(i)] for i in range(9)]
    args[place] = {"k": [token, cases.REFUSED]}
    before = sys.getrefcount(token)
    for name in ("nop", "apply", "describe"):
        asked.clear()
        with pytest.raises(ZeroDivisionError, match="^refused$"):
            ffi.get_global_func("testing." + name)(*args)
        assert asked == list(range(place))
        assert sys.getrefcount(token) == before


@frees_classes
@cpython_only("PyPy finalizes later")
def test_the_class_of_an_argument_is_not_kept_alive(ffi: Any) -> None:
    def use() -> Any:
        made: list[Any] = [type("Made", (base,), {}) for base in (object, int, list, Exception)]
        for name in ("echo", "describe", "nop"):
            function = ffi.get_global_func("testing." + name)
            for cls in made:
                function(cls())
                function(cls)
                function([{cls: cls()}])
        return [weakref.ref(cls) for cls in made]

    references = use()
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


class _Incomparable(type):
    """Its classes cannot be compared."""

    def __eq__(cls, other: object) -> bool:
        raise ValueError("compared")

    __hash__ = type.__hash__


def _raise(*args: Any) -> Any:
    raise ValueError("called")


def test_classes_that_cannot_be_compared(ffi: Any) -> None:
    """Classes are compared by identity."""
    cls: Any = _Incomparable("Sub", (list,), {"__len__": _raise})
    with pytest.raises(TypeError, match=r"at \[0\]: expected int, got str"):
        ffi.get_global_func("testing.typed.array_int")(cls(["a"]))
    odd: Any = _Incomparable("Odd", (), {"__iter__": lambda self: iter([1, 3])})
    assert ffi.Set([1, 2]).issuperset(odd()) is False
    assert ffi.Set(odd()) == {1, 3}
    assert ffi.Dict({1: 2}).keys() | odd() == {1, 3}


def test_the_step_of_a_slice_is_not_compared(ffi: Any) -> None:
    """As for `list`: a step is only asked for its index."""
    step = type("Step", (), {"__eq__": _raise, "__hash__": None, "__index__": lambda self: 2})()
    assert ffi.List([1, 2, 3])[::step] == [1, 3]
    items = ffi.List([1, 2, 3])
    del items[::step]
    assert items == [2]
