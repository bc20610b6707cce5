"""Operators between containers, the classes of their results, views, generic aliases, and overrides of subclasses."""

from __future__ import annotations

import operator
import types
from typing import Any

import pytest
from models import PLAIN
from support import cpython_only


def test_both_ours_or_one_of_each(ffi: Any) -> None:
    """Operators between our containers, and between ours and Python's on either side."""
    operators = [getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "add", "or_")]
    contents = {"Array": [(), (1,), (1, 2), (2,)], "List": [[], [1], [1, 2], [2]], "Map": [{}, {1: 2}, {1: 3, 4: 5}],
                "Dict": [{}, {1: 2}, {1: 3, 4: 5}]}  # fmt: skip
    values = [(name, content) for name, several in contents.items() for content in several]

    def outcome(operation: Any, left: Any, right: Any) -> Any:
        try:
            return repr(ffi.to_python(operation(left, right)))
        except TypeError:
            return TypeError

    for left_name, left in values:
        for right_name, right in values:
            pythons = PLAIN[left_name](left), PLAIN[right_name](right)
            ours = getattr(ffi, left_name)(left), getattr(ffi, right_name)(right)
            for operation in operators:
                expected = outcome(operation, *pythons)
                if operation is operator.or_ and expected is not TypeError:
                    # Python's result for a mappingproxy is a dict; ours has the class of the operand.
                    expected = expected.replace("mappingproxy(", "").replace(")", "")
                for pair in (ours, (ours[0], pythons[1]), (pythons[0], ours[1])):
                    got = outcome(operation, *pair)
                    if operation is operator.or_ and got is not TypeError:
                        got = got.replace("mappingproxy(", "").replace(")", "")
                    assert got == expected, (operation, pair)


def test_the_class_of_results(ffi: Any) -> None:
    assert type(ffi.Map(a=1).copy()) is ffi.Dict  # as the copy of a mappingproxy is a dict
    assert type(ffi.Map(a=1) | {}) is type({} | ffi.Map(a=1)) is type(ffi.Map() | ffi.Dict()) is ffi.Map
    assert type(ffi.Dict() | ffi.Map()) is ffi.Dict
    for cls in (ffi.List, ffi.Array):
        plain = list if cls is ffi.List else tuple

        class Mine(cls):  # type: ignore[misc, valid-type]
            pass

        x = Mine([1, 2])
        for made in (x[:1], x + plain([3]), plain([3]) + x, x * 2, 2 * x):
            assert type(made) is cls
    assert type(ffi.List([1]).copy()) is ffi.List
    assert type(next(iter(ffi.Dict(a=1).items()))) is tuple


def test_views_show_their_mapping(ffi: Any) -> None:
    for cls in (ffi.Map, ffi.Dict):
        x = cls(a=1)
        for view in (x.keys(), x.values(), x.items()):
            assert type(view.mapping) is types.MappingProxyType
            assert view.mapping == {"a": 1}
            with pytest.raises(TypeError):
                view.mapping["a"] = 2
    d = ffi.Dict(a=1)
    keys, values, items = d.keys(), d.values(), d.items()
    d["b"] = 2
    assert (list(keys), list(values), list(items)) == (["a", "b"], [1, 2], [("a", 1), ("b", 2)])
    assert keys.mapping["b"] == 2


def test_missing_and_overrides_of_subclasses(ffi: Any) -> None:
    class Defaulting(ffi.Dict):  # type: ignore[misc, name-defined]
        def __missing__(self, key: Any) -> Any:
            return ("missing", key)

    d = Defaulting(a=1)
    assert d["a"] == 1
    assert d["b"] == ("missing", "b")
    assert d.get("b") is None
    assert "b" not in d
    with pytest.raises(KeyError):
        d.pop("b")

    # As with list and dict, methods do not call overrides of other methods.
    class Lying(ffi.List):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return 100

        def __iter__(self) -> Any:
            raise AssertionError

        __getitem__ = __contains__ = index = append = __iter__

    xs = Lying()
    xs.extend([3, 1, 2])
    xs.insert(1, 4)
    assert xs.pop() == 2
    xs.sort()
    assert xs == [1, 3, 4]
    assert xs + [5] == [1, 3, 4, 5]
    assert xs.count(3) == 1
    assert repr(xs).endswith("([1, 3, 4])")
    assert list(reversed(xs)) == [4, 3, 1]
    assert ffi.List.__getitem__(xs, slice(1, None)) == [3, 4]
    del xs[-1]
    assert ffi.to_python(xs) == [1, 3]

    class Hiding(ffi.Dict):  # type: ignore[misc, name-defined]
        def __getitem__(self, key: Any) -> Any:
            raise AssertionError

        __iter__ = __len__ = __contains__ = keys = items = values = get = __getitem__

    d = Hiding(a=1)
    d.update(b=2)
    assert d == {"a": 1, "b": 2}
    assert d.setdefault("a") == 1
    assert d | {"c": 3} == {"a": 1, "b": 2, "c": 3}
    assert repr(d).endswith("({'a': 1, 'b': 2})")
    assert ffi.to_python(d) == {"a": 1, "b": 2}
    assert d.popitem() == ("b", 2)


def test_generic_aliases(ffi: Any) -> None:
    for alias in (ffi.List[int], ffi.Array[int], ffi.Map[str, int], ffi.Dict[str, int]):
        assert type(alias) is types.GenericAlias
        assert alias() == alias.__origin__()
        with pytest.raises(TypeError):
            isinstance(alias(), alias)
    assert ffi.List[int]([1]) == [1]
    assert ffi.Dict[str, int].__args__ == (str, int)

    class Ints(ffi.List[int]):  # type: ignore[misc, name-defined]
        pass

    assert Ints([1]) == [1]
    assert issubclass(Ints, ffi.List)


@cpython_only("PyPy's own list looks at its size at other times")
def test_what_is_changed_while_an_index_is_converted(ffi: Any) -> None:
    """Conversion may run code that changes the container: the outcome is that of Python, or an error."""
    for shrink in (lambda x: x.clear(), lambda x: x.pop(), lambda x: x.extend(range(100))):
        for use in (
            lambda x, i: x[i],
            lambda x, i: x[i:],
            lambda x, i: operator.setitem(x, i, 5),
            lambda x, i: operator.setitem(x, slice(i, None), [5]),
            lambda x, i: operator.delitem(x, i),
            lambda x, i: operator.delitem(x, slice(None, i)),
            lambda x, i: x.insert(i, 5),
            lambda x, i: x.pop(i),
            lambda x, i: x * i,
        ):
            x, pythons = ffi.List([1, 2, 3]), [1, 2, 3]

            class Changes:
                def __init__(self, container: Any) -> None:
                    self.container = container

                def __index__(self) -> int:
                    shrink(self.container)
                    return 2

            def outcome(container: Any) -> Any:
                try:
                    return ffi.to_python(use(container, Changes(container)))
                except IndexError:
                    return IndexError

            assert outcome(x) == outcome(pythons)
            assert x == pythons


def test_what_is_changed_while_a_value_is_packed(ffi: Any) -> None:
    x = ffi.List([1, 2, 3])

    class Value:
        def __index__(self) -> int:
            x.clear()
            return 7

    with pytest.raises(IndexError, match="^list assignment index out of range$"):
        x[2] = Value()
    x[:] = [1, 2, 3]
    x.append(Value())
    assert x == [7]
    x[:] = [1, 2, 3]
    x[1:2] = [Value()]
    assert x == [7]
