"""Array, List and Shape behave as tuple and list."""

from __future__ import annotations

import copy
import operator
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import SEQUENCES, assert_alike, outcome
from support import CPYTHON


@pytest.mark.parametrize(("name", "plain"), SEQUENCES)
def test_reading_a_sequence(ffi: Any, name: str, plain: Any) -> None:
    items = plain([1, "two", 3.0, None, b"4", (5,), [6], True, "a string on the heap"])
    ours = getattr(ffi, name)(items)
    assert len(ours) == len(items)
    for index in range(-12, 13):
        assert_alike(ffi, ours, items, lambda x, i=index: x[i])
    for index in (None, "0", 1.0, 2**70, -(2**70)):
        one, other = (outcome(lambda x=x, i=index: x[i], ffi) for x in (ours, items))
        assert one == other or one[0] is other[0] is IndexError, index
    assert ours[True] == "two"
    assert ours[cases.Indexable(2)] == 3.0
    bounds = [None, 0, 1, -1, 3, -3, 9, 10, -10, 100, -100]
    for start in bounds:
        for stop in bounds:
            for step in (None, 1, 2, -1, -2, 100):
                which = slice(start, stop, step)
                piece = ours[which]
                assert type(piece) is type(ours)
                assert piece == items[which]
    assert_alike(ffi, ours, items, lambda x: x[::0])
    assert list(ours) == list(items)
    assert list(reversed(ours)) == list(reversed(items))
    for value in (1, True, "two", 3, None, [6], (5,), "absent", object()):
        assert (value in ours) == (value in items)
        assert ours.count(value) == items.count(value)
        one, other = (outcome(lambda x=x, v=value: x.index(v), ffi) for x in (ours, items))
        assert one == other or one[0] is other[0] is ValueError
    assert ours.index(True, 1) == 7
    assert ours.index("two", -8) == 1
    with pytest.raises(ValueError):  # noqa: PT011
        ours.index("two", 2, 5)
    assert bool(ours)
    assert not getattr(ffi, name)()
    first, *rest = ours
    assert (first, rest[-1]) == (1, "a string on the heap")


@pytest.mark.parametrize(("name", "plain"), SEQUENCES)
def test_operators_of_a_sequence(ffi: Any, name: str, plain: Any) -> None:
    cls = getattr(ffi, name)
    ours, items = cls([1, 2]), plain([1, 2])
    for result in (ours + items, items + ours, ours + ours, ours * 2, 2 * ours):
        assert type(result) is cls
        assert result == plain([1, 2, 1, 2])
    assert type(ours * -1) is cls
    assert ours * -1 == plain()
    for operation in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for other in ([1, 2], [1, 3], [1], [], [0, 5, 6], [1, 2, 3], [1.0, 2]):
            expected = operation(items, plain(other))
            assert operation(ours, plain(other)) is expected
            assert operation(plain(other), ours) is operation(plain(other), items)
            assert operation(ours, cls(other)) is expected
    wrong = list if plain is tuple else tuple
    assert ours != wrong([1, 2])
    assert (ours == 5) is False
    for operation in (operator.add, operator.lt):
        for other in (wrong([1]), 5, None, "s"):
            with pytest.raises(TypeError):
                operation(ours, other)
    for times in (1.5, "2", None):
        with pytest.raises(TypeError):
            ours * times


def test_array_and_list_differ_as_tuple_and_list_do(ffi: Any) -> None:
    assert ffi.Array([1]) != ffi.List([1])
    assert ffi.Array([1]) != [1]
    assert ffi.List([1]) != (1,)
    assert ffi.Array([ffi.List([1])]) == ([1],)
    assert ([1],) == ffi.Array([[1]])


def test_a_shape_is_an_array_of_ints(ffi: Any) -> None:
    items = (2, 0, -3, 2**63 - 1, -(2**63))
    shape = ffi.Shape(items)
    assert type(shape) is ffi.Shape
    assert isinstance(shape, ffi.Array)
    assert repr(shape) == f"anyffi.Shape({items!r})"
    assert hash(shape) == hash(items)
    assert len(shape) == 5
    for other in (items, ffi.Array(items), ffi.Shape(items)):
        assert shape == other
        assert other == shape
    assert shape != list(items)
    assert shape < (2, 1)
    assert ffi.to_python(shape) == items
    assert type(ffi.to_python(shape)) is tuple
    for index in range(-6, 6):
        assert_alike(ffi, shape, items, lambda x, i=index: x[i])
    assert [type(x) for x in ffi.Shape([True, cases.Indexable(4)])] == [int, int]
    for result, expected in (
        (shape[1:3], items[1:3]),
        (shape[::-1], items[::-1]),
        (shape + (1,), (*items, 1)),
        (shape + ffi.Array((1,)), (*items, 1)),
        ((1,) + shape, (1, *items)),
        (ffi.Shape(i for i in (1, 2)) * 2, (1, 2, 1, 2)),
        (2 * ffi.Shape(), ()),
        (copy.copy(shape), items),
        (copy.deepcopy(shape), items),
    ):
        assert type(result) is ffi.Shape
        assert result == expected
    assert type(ffi.Array((1,)) + shape) is ffi.Array
    assert type(shape.thaw()) is ffi.List
    with pytest.raises(TypeError):
        shape.__init__([1])
    with pytest.raises(TypeError):
        shape[0] = 1


def test_a_shape_refuses_all_but_ints(ffi: Any) -> None:
    for bad, got in (("x", "str"), (1.0, "float"), (None, "NoneType"), ((1,), "tuple")):
        with pytest.raises(TypeError, match=rf"at \[1\]: expected int, got {got}"):
            ffi.Shape([1, bad])
        # A sum is an Array before it becomes a Shape, so items of a tuple have been converted by then.
        with pytest.raises(TypeError, match=f"expected int, got {got.replace('tuple', 'Array')}"):
            ffi.Shape([1]) + (bad,)
    for big in (2**63, -(2**63) - 1, 10**400):
        with pytest.raises(OverflowError, match="does not fit int64"):
            ffi.Shape([big])
    with pytest.raises(TypeError):
        ffi.Shape(5)


def test_a_shape_as_argument(ffi: Any) -> None:
    echo, seen, shape_of, array_int = map(
        ffi.get_global_func,
        ("testing.echo", "testing.describe", "testing.typed.shape", "testing.typed.array_int"),
    )
    shape = ffi.Shape((2, 3))
    assert echo(shape) is shape
    assert echo([shape])[0] is shape
    assert seen(shape) == "Shape[Int(2), Int(3)]"
    assert shape_of(shape) is shape
    assert array_int(shape) is shape
    for given_ in ((2, 3), [2, 3], ffi.Array((2, 3)), ffi.List([2, 3])):
        made = shape_of(given_)
        assert type(made) is ffi.Shape
        assert made == (2, 3)
    assert ffi.Dict({shape: 1})[2, 3] == 1
    with pytest.raises(TypeError, match="expected Shape, got str"):
        shape_of("23")


def test_hash_of_an_array(ffi: Any) -> None:
    for items in ((), (1,), (1, "two", (3.0, None)), (float("inf"), -1, 2**62, b"x"), (object(), len, ...)):
        assert hash(ffi.Array(items)) == hash(items)
    texts = [
        c * n for c in ("a", "\xe9", "\u20ac", "\U0001f600", "\ud800") for n in (0, 1, 2, 5, 11, 12, 100)
    ]
    texts += [x.encode("utf-8", "surrogatepass") for x in texts]
    for text in texts:
        assert hash(ffi.Array((text,))) == hash((text,))
        assert hash(ffi.FrozenSet([text])) == hash(frozenset([text]))
    assert {(1, (2,)): "x"}[ffi.Array((1, (2,)))] == "x"
    for bad in (ffi.List([1]), ffi.Dict(), ffi.Map(), ffi.Array([[1]])):
        with pytest.raises(TypeError, match="unhashable"):
            hash(bad)


@pytest.mark.parametrize("nan", [float("nan"), complex("nan+1j"), complex(1, float("nan"))], ids=repr)
def test_a_nan_is_found_again(ffi: Any, nan: Any) -> None:
    """Python compares by identity first, but each read from the runtime makes a new float."""
    for x in (ffi.Array((nan,)), ffi.Array((1, (nan, "a"))), ffi.FrozenSet([nan])):
        hashes, kept = set(), []
        for _ in range(5):
            hashes.add(hash(x))
            kept.append(list(x))
        assert len(hashes) == 1
        assert {x: 1}[x] == 1
        assert ffi.Dict([(x, 1)])[x] == 1
    assert ffi.Dict([(nan, 1)])[nan] == 1
    assert nan in ffi.Set([nan])
    assert (nan, 1) in ffi.Set([(nan, 1)])
    if CPYTHON:  # PyPy's dict also treats them as one key
        with pytest.raises(ValueError, match="are equal once they are converted"):
            ffi.convert({(nan, 1): 1, (nan + 0, 1): 2})
    assert not ffi.get_global_func("testing.equal")(nan, nan)


def test_an_array_never_changes(ffi: Any) -> None:
    xs = ffi.Array([1, 2])
    for change in (lambda: operator.setitem(xs, 0, 5), lambda: operator.delitem(xs, 0)):
        with pytest.raises(TypeError):
            change()
    for name in ("append", "insert", "pop", "clear", "extend", "remove", "reverse", "sort"):
        assert not hasattr(xs, name)
    with pytest.raises(TypeError):
        xs.__init__([3])
    assert xs == (1, 2)


_CHANGES: Any = [
    lambda x: x.append(5),
    lambda x: x.append([1]),
    lambda x: x.extend([7, "x"]),
    lambda x: x.extend(x),
    lambda x: x.extend(i for i in range(3)),
    lambda x: x.extend(5),
    lambda x: x.insert(0, "first"),
    lambda x: x.insert(-1, "before last"),
    lambda x: x.insert(100, "last"),
    lambda x: x.insert(-100, "front"),
    lambda x: x.pop(),
    lambda x: x.pop(0),
    lambda x: x.pop(-2),
    lambda x: x.pop(100),
    lambda x: x.pop("0"),
    lambda x: x.remove(2),
    lambda x: x.remove("absent"),
    lambda x: x.clear(),
    lambda x: x.reverse(),
    lambda x: x.copy(),
    lambda x: x.sort(),
    lambda x: x.sort(reverse=True),
    lambda x: x.sort(key=lambda v: -v),
    lambda x: x.sort(key=lambda v: v.nonsense),
    lambda x: operator.setitem(x, 0, "set"),
    lambda x: operator.setitem(x, -1, None),
    lambda x: operator.setitem(x, 100, 1),
    lambda x: operator.setitem(x, "0", 1),
    lambda x: operator.setitem(x, slice(1, 3), [8, 9, 10]),
    lambda x: operator.setitem(x, slice(3, 1), ["between"]),
    lambda x: operator.setitem(x, slice(None), []),
    lambda x: operator.setitem(x, slice(None), x),
    lambda x: operator.setitem(x, slice(None, None, 2), [0, 0, 0]),
    lambda x: operator.setitem(x, slice(None, None, -2), ["a", "b", "c"]),
    lambda x: operator.setitem(x, slice(None, None, 2), [0]),
    lambda x: operator.setitem(x, slice(1, 2), 5),
    lambda x: operator.delitem(x, 0),
    lambda x: operator.delitem(x, -1),
    lambda x: operator.delitem(x, 100),
    lambda x: operator.delitem(x, slice(1, 3)),
    lambda x: operator.delitem(x, slice(None, None, 2)),
    lambda x: operator.delitem(x, slice(None, None, -3)),
    lambda x: operator.delitem(x, slice(3, 1)),
    lambda x: operator.delitem(x, "0"),
    lambda x: operator.iadd(x, [1]) is x,
    lambda x: operator.iadd(x, (1, 2)) is x,
    lambda x: operator.iadd(x, 5),
    lambda x: operator.imul(x, 3) is x,
    lambda x: operator.imul(x, 0) is x,
    lambda x: operator.imul(x, "a"),
]


@pytest.mark.parametrize("change", _CHANGES, ids=range(len(_CHANGES)))
def test_changing_a_list(ffi: Any, change: Any) -> None:
    for items in ([], [1], [3, 1, 2], [5, 2, 4, 1, 3], list(range(20))):
        assert_alike(ffi, ffi.List(items), items, change)


def test_a_value_that_cannot_be_stored_changes_nothing(ffi: Any) -> None:
    xs = ffi.List([1, 2, 3])
    d = ffi.Dict(a=1)
    for change in (
        lambda: xs.append(cases.REFUSED),
        lambda: xs.insert(0, cases.REFUSED),
        lambda: operator.setitem(xs, 0, cases.REFUSED),
        lambda: operator.setitem(xs, slice(0, 2), [1, cases.REFUSED]),
        lambda: operator.setitem(d, "b", cases.REFUSED),
        lambda: operator.setitem(d, cases.REFUSED, 1),
        lambda: d.setdefault("b", cases.REFUSED),
    ):
        with pytest.raises(ZeroDivisionError):
            change()
    assert xs == [1, 2, 3]
    assert d == {"a": 1}


def test_a_list_is_a_reference(ffi: Any) -> None:
    append = ffi.get_global_func("testing.append")
    xs = ffi.List([1])
    assert append(xs, 2) is xs
    assert xs == [1, 2]
    holder = ffi.List([xs])
    holder[0].append(3)
    assert holder[0] is xs
    assert xs == [1, 2, 3]
    plain = [1]
    assert append(plain, 2) == [1, 2]
    assert plain == [1]
    by_slice = xs[:]
    by_slice.append(4)
    assert xs == [1, 2, 3]
    for copied in (xs.copy(), copy.copy(xs)):
        copied.append(4)
        assert xs == [1, 2, 3]


def test_a_list_is_iterated_by_index(ffi: Any) -> None:
    xs = ffi.List([1, 2, 3])
    seen = []
    for x in xs:
        seen.append(x)
        if len(xs) < 6:
            xs.append(x * 10)
    assert seen == [1, 2, 3, 10, 20, 30]
    iterator = iter(xs)
    next(iterator)
    xs.clear()
    assert list(iterator) == []
    xs.append(1)
    assert list(iterator) == []
    assert iter(iterator) is iterator
    with pytest.raises(StopIteration):
        next(iter(ffi.Array()))


def test_drawn_changes_of_a_list(ffi: Any) -> None:
    indices = st.integers(-8, 8)
    small = st.lists(cases.scalars, max_size=4)
    slices = st.builds(slice, st.none() | indices, st.none() | indices, st.sampled_from([None, 1, 2, -1, -3]))
    steps = st.one_of(
        st.tuples(st.just("append"), cases.scalars),
        st.tuples(st.just("insert"), indices, cases.scalars),
        st.tuples(st.just("pop"), indices),
        st.tuples(st.just("__setitem__"), indices, cases.scalars),
        st.tuples(st.just("__setitem__"), slices, small),
        st.tuples(st.just("__delitem__"), indices | slices),
        st.tuples(st.just("extend"), small),
        st.tuples(st.just("reverse")),
    )

    @given(small, st.lists(steps, max_size=12))
    def check(items: Any, changes: Any) -> None:
        ours, pythons = ffi.List(items), list(items)
        for name, *args in changes:
            one, other = (outcome(lambda x=x: getattr(x, name)(*args), ffi) for x in (ours, pythons))
            assert cases.same(one, other)
            assert cases.same(ffi.to_python(ours), pythons)

    check()
