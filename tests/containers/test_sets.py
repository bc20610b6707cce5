"""Set and FrozenSet behave as set and frozenset, and keep the order in which elements came."""

from __future__ import annotations

import collections.abc
import copy
import operator
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import SETS, outcome
from programs import run_program

# ---- reading ------------------------------------------------------------------------------------


_ELEMENTS: Any = [
    3,
    "two",
    (1, "x"),
    None,
    b"b",
    1.5,
    "an element on the heap",
    len,
    frozenset({7}),
    2**70,
    1j,
]


@pytest.mark.parametrize(("name", "plain"), SETS)
def test_reading(ffi: Any, name: str, plain: Any) -> None:
    ours, pythons = getattr(ffi, name)(_ELEMENTS), plain(_ELEMENTS)
    assert len(ours) == len(pythons)
    assert list(ours) == _ELEMENTS
    assert ours == pythons
    assert pythons == ours
    for x in (
        *_ELEMENTS,
        3.0,
        True,
        4,
        "absent",
        (1, "y"),
        print,
        {7},
        {8},
        frozenset({8}),
        2.0**70,
        1.5 + 0j,
    ):
        assert (x in ours) == (x in pythons), x
    assert ffi.Set([7]) in ours
    assert ffi.FrozenSet([7]) in ours
    assert ffi.Set([8]) not in ours
    for unhashable in ([1], {}, ([1],), ffi.List(), ffi.Dict()):
        with pytest.raises(TypeError, match="unhashable"):
            unhashable in ours
    assert bool(ours)
    assert not getattr(ffi, name)()
    with pytest.raises(TypeError):
        ours[0]
    with pytest.raises(TypeError):
        reversed(ours)


@pytest.mark.parametrize(("name", "plain"), SETS)
def test_construction(ffi: Any, name: str, plain: Any) -> None:
    cls = getattr(ffi, name)
    assert list(cls("banana")) == ["b", "a", "n"]
    assert list(cls(i % 3 for i in (5, 4, 3, 2))) == [2, 1, 0]
    assert list(cls({"b": 1, "a": 2})) == ["b", "a"]
    assert list(cls(cls([2, 1]))) == [2, 1]
    assert cls({1, 2}) == plain({1, 2})
    assert [type(x) for x in cls([True, 1, 1.0])] == [bool]
    for bad in (5, [[1]], [{}], [{1}]):
        assert outcome(lambda bad=bad: cls(bad), ffi) is outcome(lambda bad=bad: plain(bad), ffi) is TypeError
    with pytest.raises(TypeError):
        cls([], [])
    with pytest.raises(TypeError):
        cls(iterable=[])
    with pytest.raises(ValueError, match="elements nan and nan are equal"):
        cls([float("nan"), -float("nan")])
    with pytest.raises(ZeroDivisionError):
        cls([1, cases.REFUSED])


def test_hash(ffi: Any) -> None:
    @given(st.frozensets(cases.keys))
    def check(x: Any) -> None:
        ours = ffi.FrozenSet(x)
        assert hash(ours) == hash(x)
        assert {ours: 1}[x] == {x: 1}[ours] == ffi.Dict({x: 1})[ours] == 1

    check()
    hash_ = ffi.get_global_func("testing.hash")
    assert hash_(frozenset({1, 2.5, 2**70})) == hash(frozenset({1, 2.5, 2**70}))
    for unhashable in (ffi.Set([1]), {1}):
        with pytest.raises(TypeError, match=r"unhashable type: '[Ss]et'"):
            hash(unhashable)
        with pytest.raises(TypeError, match="unhashable type: 'Set'"):
            hash_(unhashable)
        with pytest.raises(TypeError, match="unhashable"):
            ffi.Set().add(unhashable)


@pytest.mark.parametrize(("name", "plain"), SETS)
def test_iteration(ffi: Any, name: str, plain: Any) -> None:
    ours = getattr(ffi, name)([2, 1])
    iterator = iter(ours)
    assert iter(iterator) is iterator
    assert list(iterator) == [2, 1]
    assert list(iterator) == []
    with pytest.raises(StopIteration):
        next(iter(getattr(ffi, name)()))


def test_iteration_notices_a_change_of_size(ffi: Any) -> None:
    for change in (lambda s: s.add(object()), lambda s: s.discard(4), lambda s: s.clear()):
        s = ffi.Set(range(5))
        with pytest.raises(RuntimeError, match="Set changed size during iteration"):
            for _ in s:
                change(s)
    s = ffi.Set([1, 2])
    for x in s:
        s.add(x)
    assert s == {1, 2}


# ---- changing -----------------------------------------------------------------------------------


def test_key_errors_carry_the_element(ffi: Any) -> None:
    s = ffi.Set()
    for x in ("absent", (1, 2), {1}, None):
        with pytest.raises(KeyError) as caught:
            s.remove(x)
        assert caught.value.args == (x,)
    with pytest.raises(KeyError) as caught:
        s.pop()
    assert caught.value.args == ("pop from an empty set",)


def test_a_set_is_looked_up_as_a_frozenset(ffi: Any) -> None:
    s = ffi.Set([frozenset({1}), frozenset({2}), frozenset({3})])
    assert {1} in s
    assert cases.SetSubclass({1}) in s
    s.remove({1})
    s.discard(ffi.Set([2]))
    s.discard({5})
    assert s == {frozenset({3})}


def test_pop_takes_the_last(ffi: Any) -> None:
    # Quadratic time would be noticed.
    n = 100_000
    s = ffi.Set(range(n))
    s.discard(n - 1)
    assert [s.pop() for _ in range(n - 1)] == list(range(n - 1))[::-1]
    assert len(s) == 0


def test_a_frozenset_never_changes(ffi: Any) -> None:
    x = ffi.FrozenSet([1, 2])
    with pytest.raises(TypeError):
        x.__init__([3])
    assert x.copy() is x
    assert x == {1, 2}


def test_a_set_is_a_reference(ffi: Any) -> None:
    add = ffi.get_global_func("testing.add")
    s = ffi.Set([1])
    assert add(s, 2) is s
    assert s == {1, 2}
    holder = ffi.List([s])
    holder[0].add(3)
    assert s == {1, 2, 3}
    plain = {1}
    assert add(plain, 2) == {1, 2}
    assert plain == {1}
    for copied in (s.copy(), copy.copy(s), copy.deepcopy(s), ffi.Set(s)):
        assert type(copied) is ffi.Set
        copied.add(4)
        assert s == {1, 2, 3}
    s.__init__("ab")
    assert list(s) == ["a", "b"]
    s.__init__()
    assert s == set()


def test_freeze_and_thaw_give_new_objects(ffi: Any) -> None:
    s = ffi.Set([2, 1])
    frozen = s.freeze()
    assert type(frozen) is ffi.FrozenSet
    assert list(frozen) == [2, 1]
    thawed = frozen.thaw()
    assert type(thawed) is ffi.Set
    thawed.add(3)
    s.add(4)
    assert frozen == {1, 2}
    assert thawed == {1, 2, 3}


def test_an_element_that_cannot_be_stored_changes_nothing(ffi: Any) -> None:
    s = ffi.Set([1, 2])
    for change in (
        lambda: s.add(cases.REFUSED),
        lambda: s.update([3, cases.REFUSED]),
        lambda: s.symmetric_difference_update([1, cases.REFUSED]),
        lambda: operator.ior(s, {3, cases.REFUSED}),
        lambda: s.update([3], [[]]),
        lambda: s.__init__([5, cases.REFUSED]),
    ):
        with pytest.raises((ZeroDivisionError, TypeError)):
            change()
        assert list(s) == [1, 2]


# ---- showing, copying, pickling -----------------------------------------------------------------


def test_repr(ffi: Any) -> None:
    assert repr(ffi.Set()) == "anyffi.Set()"
    assert repr(ffi.FrozenSet()) == "anyffi.FrozenSet()"
    assert repr(ffi.Set([2, "x", (1,)])) == "anyffi.Set({2, 'x', anyffi.Array((1,))})"
    assert repr(ffi.FrozenSet([frozenset()])) == "anyffi.FrozenSet({anyffi.FrozenSet()})"

    class Holder:
        def __repr__(self) -> str:
            return f"Holder({self.held!r})"

    for cls in (ffi.Set, ffi.FrozenSet):
        holder = Holder()
        x = holder.held = cls([1, holder])
        assert repr(x) == f"anyffi.{cls.__name__}({{1, Holder(...)}})"
        holder.held = None
    del x


def test_repr_of_an_element_that_changes_the_set(ffi: Any) -> None:
    class Element:
        def __repr__(self) -> str:
            s.add(len(s))
            return "element"

    s: Any = {Element()}
    assert repr(s) == "{element}"
    s = ffi.Set([Element()])
    assert repr(s) == "anyffi.Set({element})"
    assert [*s][1:] == [1]


def test_copies(ffi: Any) -> None:
    class Element:
        """Equal to itself alone, and copied deeply."""

    element = Element()
    for cls in (ffi.Set, ffi.FrozenSet):
        x = cls([3, element, 1])
        shallow, deep = copy.copy(x), copy.deepcopy(x)
        assert type(shallow) is type(deep) is cls
        assert list(shallow) == [3, element, 1]
        assert list(deep)[::2] == [3, 1]
        assert type(list(deep)[1]) is Element
        assert list(deep)[1] is not element


def test_pickles(ffi: Any) -> None:
    program = """
        import pickle, anyffi

        class Tagged(anyffi.Set):
            pass

        for cls in (anyffi.Set, anyffi.FrozenSet, anyffi.Shape, Tagged):
            x = cls([3, 1] if cls is anyffi.Shape else [3, "a", (1, frozenset({2})), 2**70, 1j])
            if cls is Tagged:
                x.tag = "kept"
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                y = pickle.loads(pickle.dumps(x, protocol))
                assert type(y) is cls and y == x and list(y) == list(x) and y is not x
                assert getattr(y, "tag", None) == getattr(x, "tag", None)
        print("same")
    """
    assert run_program(program, ffi.ffi_mode) == "same\n"


def test_abstract_base_classes_and_generics(ffi: Any) -> None:
    abc = collections.abc
    assert isinstance(ffi.Set(), abc.MutableSet)
    assert isinstance(ffi.FrozenSet(), abc.Set)
    assert not isinstance(ffi.FrozenSet(), abc.MutableSet)
    assert isinstance(ffi.FrozenSet(), abc.Hashable)
    assert not isinstance(ffi.Set(), abc.Hashable)
    assert ffi.Set[int].__origin__ is ffi.Set
    assert ffi.FrozenSet[str].__args__ == (str,)


# ---- what Python code may do meanwhile ----------------------------------------------------------


def test_overrides_of_a_subclass_are_not_called(ffi: Any) -> None:
    class Liar(ffi.Set):
        def __iter__(self) -> Any:
            raise AssertionError("an override was called")

        __contains__ = __iter__  # type: ignore[assignment]

    x = Liar([1, 2])
    assert type(x) is Liar
    assert ffi.get_global_func("testing.echo")(x) is x
    for result in (x | {3}, {3} | x):
        assert type(result) is ffi.Set
        assert result == {1, 2, 3}
    assert x == {1, 2}
    assert x.issubset([1, 2, 3])
    assert cases.SetSubclass({1, 2}) == x
    assert x & cases.SetSubclass({1}) == {1}
    assert x.union(cases.FrozenSetSubclass({7})) == {1, 2, 7}
