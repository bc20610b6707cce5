"""Views of mappings, and comparisons of mappings, whose frequent cases are compiled."""

from __future__ import annotations

import collections
import gc
import itertools
import operator
import types
import weakref
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import Any

import anyffi
import pytest
from support import CPYTHON

_NAN = float("nan")


class _Own(int):
    """Equals nothing."""

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return int.__hash__(self)


_PLAIN: list[dict[Any, Any]] = [
    {},
    {"a": 1},
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    {"a": 1, "b": 3},
    {"a text that is no value": "another text that is no value"},
    {1: 1.0, 2.5: None, True + 1: b"bytes"},
    {1.0: 1, 2.5: None, 2: b"bytes"},
    {(1, 2): 7, (1, (2, "x")): 8},
    {(1, (2, "x")): 8, (1, 2): 7},
    {(1, 2): [7, (8, [9])], "x": {}},
    {(1, 2): [7, (8, [9.5])], "x": {}},
    {"x": {"y": [1]}, "z": {1, 2}},
    {"x": {"y": [1]}, "z": {1, 3}},
    {"x": _NAN},
    {"x": (1, _NAN)},
    {_NAN: 1},
    {(_NAN,): 1},
    {"big": 2**70, 2**70: "big"},
    {"own": _Own(1)},
    {"x": 1j, 1j: ()},
    {len: "opaque", "x": object},
    dict.fromkeys(range(40)),
    dict.fromkeys(reversed(range(40))),
]


def _filled(ffi: Any, cls: str, plain: Any) -> Any:
    return getattr(ffi, cls)(plain)


@pytest.mark.parametrize("cls", ["Map", "Dict"])
def test_comparisons_are_python_s(ffi: Any, cls: str) -> None:
    # To PyPy two NaNs are the same object.
    plain = [x for x in _PLAIN if CPYTHON or not _has_nan(x)]
    for left, right in itertools.product(plain, repeat=2):
        x, y = _filled(ffi, cls, left), _filled(ffi, cls, right)
        # Each read makes a new object, which for a NaN is an unequal one; an `_Own` becomes an int.
        mine, theirs = (dict(zip(*_fresh(z))) for z in (left, right))
        expected = mine == theirs
        assert (x == y) is expected, (left, right)
        assert (x != y) is not expected, (left, right)
        keys = mine.keys() == theirs.keys()
        if not _has_nan(left) and not _has_nan(right):
            assert (x.keys() == y.keys()) is keys, (left, right)
            assert (x.items() == y.items()) is expected, (left, right)
            assert x.keys() & y.keys() == mine.keys() & theirs.keys()
        with_plain = mine == right
        for other in (right, types.MappingProxyType(right)):
            assert (x == other) is with_plain, (left, right)
            assert (other == x) is with_plain, (left, right)


def _has_nan(plain: dict[Any, Any]) -> bool:
    return "nan" in repr(plain)


def _fresh(plain: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    return [_copy(key) for key in plain], [_copy(value) for value in plain.values()]


def _copy(x: Any) -> Any:
    if type(x) is float:
        return float(repr(x))
    if type(x) in (tuple, list):
        return type(x)(map(_copy, x))
    return int(x) if type(x) is _Own else x


def test_views_of_every_kind(ffi: Any) -> None:
    for cls in ("Map", "Dict"):
        x = _filled(ffi, cls, {"a": 1, (1, 2): [3]})
        keys, values, items = x.keys(), x.values(), x.items()
        assert isinstance(keys, KeysView)
        assert isinstance(values, ValuesView)
        assert isinstance(items, ItemsView)
        assert [type(view).__name__ for view in (keys, values, items)] == [
            "dict_keys",
            "dict_values",
            "dict_items",
        ]
        assert [len(view) for view in (keys, values, items)] == [2, 2, 2]
        assert "a" in keys
        assert (1, 2) in keys
        assert "b" not in keys
        assert 1 in values
        assert [3] in values
        assert 2 not in values
        assert ("a", 1) in items
        assert ((1, 2), [3]) in items
        assert all(wrong not in items for wrong in (("a", 2), ("b", 1), ("a",), "a1", ["a", 1], None))
        assert list(reversed(keys)) == [(1, 2), "a"]
        assert keys & ["a", "b"] == keys & {"a", "b"} == {"a", "b"} & keys == {"a"}
        assert keys | {"b"} == {"a", (1, 2), "b"}
        assert keys - {"a"} == {(1, 2)}
        assert {"a"} < keys
        assert keys.isdisjoint(["b"])
        assert keys == {"a", (1, 2)}
        assert keys != {"a"}
        assert {"a", (1, 2)} == keys
        assert items != keys
        assert keys != ["a", (1, 2)]
        for view in (keys, items):
            assert type(view).__hash__ is None
            with pytest.raises(TypeError, match="unsupported operand"):
                view & 1
            with pytest.raises(TypeError, match="unsupported operand"):
                1 & view
            with pytest.raises(TypeError, match="not supported between"):
                view < 1
        assert hash(values)


def test_views_of_subclasses_and_others(ffi: Any) -> None:
    class Counting(ffi.Dict):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return 40

        def __contains__(self, key: object) -> bool:
            return key == "any"

    x = Counting(a=1)
    assert len(x.keys()) == 40
    assert "any" in x.keys()  # noqa: SIM118
    assert "a" not in x.keys()  # noqa: SIM118
    assert list(x.items()) == [("a", 1)]

    class Foreign(ffi.Dict):  # type: ignore[misc, name-defined]
        _anyffi_views = (list, tuple, int)

    assert Foreign(a=1).keys() == ["a"]
    empty = type(ffi.Dict().keys()).__new__(type(ffi.Dict().keys()))
    for use in (len, list, lambda view: "a" in view, repr):
        with pytest.raises((TypeError, AttributeError)):
            use(empty)


def test_set_operators_with_sets_of_python(ffi: Any) -> None:
    """Results with sets and views are Python's; methods that a subclass of a view overrides are called."""
    plain = {"a": 1, "b": 2, 3: 4, (5, "x"): None}
    sets = [
        set(),
        {"a"},
        frozenset({"a", "z", 3}),
        {*plain},
        {*plain.items()},
        {("a", 1), ("a", 2)},
        ["a", "q"],
    ]
    names = ("sub", "or_", "xor", "and_", "lt", "le", "gt", "ge", "eq", "ne")
    for part, name in itertools.product(("keys", "items"), names):
        of = operator.methodcaller(part)
        act = getattr(operator, name)
        views = [cls({**plain, "c": 9}) for cls in (dict, ffi.Dict)]
        others = [(x, x) for x in sets] + [tuple(map(of, views))]
        for theirs, ours in others:
            for flip in (False, True):
                shown = []
                for cls, other in ((dict, theirs), (ffi.Dict, ours)):
                    operands = (of(cls(plain)), other)
                    try:
                        shown.append(act(*operands[::-1] if flip else operands))
                    except TypeError:
                        shown.append(TypeError)
                assert shown[0] == shown[1], (part, name, theirs, flip)
                assert type(shown[0]) is type(shown[1]), (part, name, theirs, flip)

    class Keys(type(ffi.Dict().keys())):  # type: ignore[misc]
        __slots__ = ()

        def __le__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    assert Keys(ffi.Dict(a=1)) == {"b"}
    # Entries that both operands have need not be hashable.
    unhashable = ffi.Dict(a=[1]).items()
    assert unhashable ^ ffi.Dict(a=[1]).items() == set()
    assert unhashable ^ ffi.Dict(a=[1], b=2).items() == {("b", 2)}
    with pytest.raises(TypeError, match="unhashable type"):
        unhashable ^ ffi.Dict(a=[2]).items()


def test_operators_of_views_take_lists(ffi: Any) -> None:
    keys = ffi.Dict(a=1, b=2).keys()
    assert (keys - ["a", "z"], keys - ("b",), keys & ["z", "b", "b"], keys & ("a",)) == (
        {"b"},
        {"a"},
        {"b"},
        {"a"},
    )
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        keys - [["a"]]


def test_views_keep_their_mapping_and_are_collected(ffi: Any) -> None:
    class Own(ffi.Dict):  # type: ignore[misc, name-defined]
        pass

    assert list(ffi.Dict(a=1).keys()) == ["a"]
    x = Own(a=1)
    reference = weakref.ref(x)
    x.view = x.keys()
    del x
    gc.collect()
    assert reference() is None


def test_code_that_changes_a_mapping_while_it_is_searched(ffi: Any) -> None:
    class Key:
        def __init__(self) -> None:
            self.x: Any = None

        def __hash__(self) -> int:
            if self.x is not None:
                self.x.clear()
            return 1

        def __eq__(self, other: object) -> bool:
            return self is other

    for use in (
        lambda x, key: key in x.keys(),  # noqa: SIM118
        lambda x, key: (key, 1) in x.items(),
        lambda x, key: x.keys() & {1: 1, key: 2}.keys(),
        lambda x, key: x == {1: 1, "b": 2, key: 3},
        lambda x, key: x | {key: 3},
        lambda x, key: {key: 3} | x,
        lambda x, key: x.update([(1, 1), (key, 3)]),
    ):
        key = Key()
        x = ffi.Dict({1: 1, "b": 2, "c": 3})
        key.x = x
        use(x, key)
        # Break the cycle: PyPy does not collect one through a container of the runtime.
        x.clear()
        key.x = None


def test_keywords_of_any_name(ffi: Any) -> None:
    """Including names of the methods' own parameters, and a name that equals all others."""

    class Name(str):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = str.__hash__

    names = dict.fromkeys(("self", "shared", "args", "named", "function", "rest", "cls"), 1)
    table = ffi.Dict()
    table.update(**names)
    assert table == ffi.Dict(**names) == names
    table.update(**{Name("x"): 2})
    assert table["x"] == 2


def test_updates(ffi: Any) -> None:
    for plain in _PLAIN:
        start = {"a": 0, "z": 1, (1, 2): 3}
        for given in (plain, types.MappingProxyType(plain), list(plain.items()), tuple(plain.items())):
            x = ffi.Dict(start)
            x.update(given)
            assert repr(ffi.to_python(x)) == repr(_shown({**start, **plain})), plain
        for cls in ("Map", "Dict"):
            y = _filled(ffi, cls, start)
            assert repr(dict(ffi.to_python(y | plain))) == repr(_shown({**start, **plain}))
            assert repr(dict(ffi.to_python(plain | y))) == repr(_shown({**plain, **start}))
            assert type(plain | y) is type(y | plain) is type(y)
    x = ffi.Dict()
    x.update([("a", 1), ("a", 2), (1, "x"), (True, "y"), ((1, 2), 3)])
    assert x == {"a": 2, 1: "y", (1, 2): 3}
    for wrong in ([("a", 1), ("b",)], [("b", 1), 7], [("b", 1), "xyz"], (("b", 1), ([], 2)), [["b"]]):
        with pytest.raises((TypeError, ValueError)):
            x.update(wrong)
        assert x == {"a": 2, 1: "y", (1, 2): 3}
    shared = [1]
    x.update([("first", shared), ("second", shared)])
    assert x["first"] is x["second"]
    x.update({"third": shared, "fourth": shared})
    assert x["third"] is x["fourth"]


def _shown(plain: dict[Any, Any]) -> dict[Any, Any]:
    return {key: int(value) if type(value) is _Own else value for key, value in plain.items()}


def test_absent_keys(ffi: Any) -> None:
    class Defaulting(ffi.Dict):  # type: ignore[misc, name-defined]
        def __missing__(self, key: Any) -> Any:
            return key, "missing"

    for key in ("a", 1, (1, 2), (), None, 2**70):
        for cls in ("Map", "Dict"):
            with pytest.raises(KeyError) as raised:
                _filled(ffi, cls, {"b": 1})[key]
            assert raised.value.args == (key,)
        assert Defaulting(b=1)[key] == (key, "missing")
    assert isinstance(ffi.Dict(), Mapping)
    d = collections.ChainMap(ffi.Dict(a=1), ffi.Dict(b=2))
    assert (d["a"], d["b"]) == (1, 2)
    assert anyffi.Dict.__getitem__(anyffi.Dict(a=1), "a") == 1


def test_other_operands_say_whether_they_are_unequal(ffi: Any) -> None:
    class Says:
        def __eq__(self, other: object) -> Any:
            return "equal"

        def __ne__(self, other: object) -> Any:
            return "unequal"

    for mapping in (ffi.Dict(a=1), ffi.Map(a=1)):
        for view in (mapping.keys(), mapping.items()):
            assert (view == Says(), view != Says()) == ("equal", "unequal")
            assert view.__ne__(5) is NotImplemented
            assert (view != {"b"}, view != 5, view != set(view)) == (True, True, False)


def test_the_items_of_a_mapping_are_compared_with_themselves(ffi: Any) -> None:
    """As sets of pairs: keys are hashed, and a NaN that is read twice is not equal."""
    hashed = []

    class Key:
        def __hash__(self) -> int:
            hashed.append(self)
            return 1

    key = Key()
    for cls in (ffi.Dict, ffi.Map):
        entries = cls({key: 1})
        hashed.clear()
        assert entries.items() == entries.items()
        assert hashed == [key]
        entries = cls({1: float("nan")})
        # Each read creates a float; on PyPy floats of the same bits are identical.
        assert (entries.items() == entries.items()) == (not CPYTHON)
