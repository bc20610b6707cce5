"""Array, List, Map and Dict behave as tuple, list, mappingproxy and dict."""

from __future__ import annotations

import collections.abc
import copy
import operator
import types
from typing import Any, Callable

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CPYTHON, STACK_ENDS, words_of

SEQUENCES = [("Array", tuple), ("List", list)]
MAPPINGS = [("Map", types.MappingProxyType), ("Dict", dict)]


def outcome(function: Callable[[], Any], ffi: Any) -> Any:
    try:
        return ffi.to_python(ffi.get_global_func("testing.echo")(function()))
    except TypeError:
        return TypeError  # its words speak of the class
    except Exception as error:
        return type(error), words_of(error)


def assert_alike(ffi: Any, ours: Any, pythons: Any, operation: Callable[[Any], Any]) -> None:
    """The operation has the same result, or the same exception, on both, and leaves them equal."""
    assert outcome(lambda: operation(ours), ffi) == outcome(lambda: operation(pythons), ffi)
    assert ffi.to_python(ours) == pythons


# ---- sequences ----------------------------------------------------------------------------------


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
        # A sum is an Array before it is a Shape, so what a tuple became is the runtime's own by then.
        with pytest.raises(TypeError, match=f"expected int, got {got.replace('tuple', 'Array')}"):
            ffi.Shape([1]) + (bad,)
    for big in (2**63, -(2**63) - 1, 10**400):
        with pytest.raises(OverflowError, match="does not fit int64"):
            ffi.Shape([big])
    with pytest.raises(TypeError):
        ffi.Shape(5)


def test_a_shape_crosses(ffi: Any) -> None:
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
    assert {(1, (2,)): "x"}[ffi.Array((1, (2,)))] == "x"
    for bad in (ffi.List([1]), ffi.Dict(), ffi.Map(), ffi.Array([[1]])):
        with pytest.raises(TypeError, match="unhashable"):
            hash(bad)


@pytest.mark.parametrize("nan", [float("nan"), complex("nan+1j"), complex(1, float("nan"))], ids=repr)
def test_a_nan_is_found_again(ffi: Any, nan: Any) -> None:
    """Python goes by the object, which the runtime does not keep: each read makes a new one."""
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
    if CPYTHON:  # PyPy's own dict holds them as one already
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


def test_iterating_a_list_goes_by_index(ffi: Any) -> None:
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


# ---- mappings -----------------------------------------------------------------------------------

_ENTRIES: Any = {
    "a": 1,
    2: "two",
    (3, "x"): [3],
    None: ...,
    b"b": 1.5,
    4.5: None,
    "a key on the heap": {"k": "v"},
    len: len,
}


@pytest.mark.parametrize(("name", "plain"), MAPPINGS)
def test_reading_a_mapping(ffi: Any, name: str, plain: Any) -> None:
    items = plain(_ENTRIES)
    ours = getattr(ffi, name)(items)
    assert len(ours) == len(items)
    assert list(ours) == list(items)
    assert list(ours.keys()) == list(items.keys())
    assert list(ours.values()) == list(items.values())
    assert list(ours.items()) == list(items.items())
    assert list(reversed(ours)) == list(reversed(list(items)))
    for key in (*_ENTRIES, 2.0, True, 4, "absent", (3, "y"), 4.25, print):
        assert (key in ours) == (key in items)
        assert_alike(ffi, ours, items, lambda x, k=key: x[k])
        assert ours.get(key) == items.get(key)
        assert ours.get(key, "default") == items.get(key, "default")
    with pytest.raises(KeyError) as caught:
        ours["absent"]
    assert caught.value.args == ("absent",)
    key = (3, "absent")
    with pytest.raises(KeyError) as caught:
        ours[key]
    assert caught.value.args == (key,)
    for key in ([1], {}, {"k": [1]}, ([1],)):
        for read in (lambda x, k=key: x[k], lambda x, k=key: k in x, lambda x, k=key: x.get(k)):
            with pytest.raises(TypeError, match="unhashable"):
                read(ours)
    assert bool(ours)
    assert not getattr(ffi, name)()
    assert "a" in ours.keys()  # noqa: SIM118
    assert 1 in ours.values()
    assert ("a", 1) in ours.items()
    assert ours.keys() == items.keys()
    assert ours.keys() & {"a", "z"} == {"a"}


@pytest.mark.parametrize(("name", "plain"), MAPPINGS)
def test_operators_of_a_mapping(ffi: Any, name: str, plain: Any) -> None:
    cls = getattr(ffi, name)
    ours, items = cls(a=1, b=2), plain({"a": 1, "b": 2})
    assert ours == items
    assert items == ours
    assert ours == cls(b=2, a=1)
    assert ours == cls({"a": 1.0, "b": True + 1})
    assert ours != cls(a=1)
    assert ours != {"a": 1, "b": 3}
    assert ours != [("a", 1), ("b", 2)]
    assert (ours == 5) is False
    for result in (ours | {"c": 3}, ours | cls(c=3)):
        assert type(result) is cls
        assert result == {"a": 1, "b": 2, "c": 3}
        assert list(result) == ["a", "b", "c"]
    result = {"c": 3, "a": 0} | ours
    assert type(result) is cls
    assert list(result.items()) == [("c", 3), ("a", 1), ("b", 2)]
    for other in (5, None, [("a", 1)]):
        with pytest.raises(TypeError):
            ours | other
    for operation in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError):
            operation(ours, items)


def test_numbers_that_are_equal_are_one_key(ffi: Any) -> None:
    import decimal
    import fractions

    d = ffi.Dict({1: "one"})
    for key in (1, 1.0, True, decimal.Decimal(1), fractions.Fraction(1)):
        assert d[key] == "one", key
        assert key in d
    d[True] = "true"
    d[1.0] = "float"
    assert dict(d) == {1: "float"}
    assert type(next(iter(d))) is int
    zero = ffi.Dict({0.0: "zero"})
    assert zero[-0.0] == zero[0] == zero[False] == "zero"
    big = ffi.Dict({2**53: "exact"})
    assert 2.0**53 in big
    assert 2**53 + 1 not in big
    assert ffi.Dict({2**53 + 1: 1}).get(2.0**53) is None
    assert ffi.Dict({2**63 - 1: 1}).get(2.0**63) is None
    assert ffi.Dict({2**64: 1})[2.0**64] == 1
    assert ffi.Dict({2**64 + 1: 1}).get(2.0**64) is None
    assert ffi.Dict({1 + 0j: "complex"})[1] == ffi.Dict({True: "complex"})[1 + 0j] == "complex"
    assert ffi.Dict({float("inf"): 1})[float("inf")] == 1


def test_hash_and_equality_are_pythons(ffi: Any) -> None:
    hash_, equal = map(ffi.get_global_func, ("testing.hash", "testing.equal"))

    @given(
        cases.hashable_scalars.filter(
            lambda x: not isinstance(x, (str, bytes)) and x is not ... and x is not None
        )
    )
    def check_numbers(x: Any) -> None:
        assert hash_(x) == hash(x)

    check_numbers()

    @given(cases.keys, cases.keys)
    def check(x: Any, y: Any) -> None:
        assert equal(x, y) == (x == y)
        assert equal([x, y], [x, y]) is True
        assert equal((x, y), (y, x)) == ((x, y) == (y, x))
        assert equal({x: y}, {y: x}) == ({x: y} == {y: x})
        if x == y:
            assert hash_(x) == hash_(y)

    check()

    near = [0, 1, -1, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, 10**400, 0.0, -0.0, 1.0, 2.0**53, 2.0**62, 2.0**63, -(2.0**63),
            0.5, float("inf"), float("-inf"), float("nan"), True, False, 0j, 1 + 0j, 1j, complex(2.0**64), complex("nan+1j")]  # fmt: skip
    for x in near:
        for y in near:
            assert equal(x, y) == (x == y), (x, y)


def test_equality_across_kinds(ffi: Any) -> None:
    equal = ffi.get_global_func("testing.equal")
    assert not equal("a", b"a")
    assert not equal((1,), [1])
    assert not equal(None, 0)
    assert not equal("", None)
    assert equal("x" * 50, "x" * 50)
    assert equal(types.MappingProxyType({1: 2}), {1: 2}) == (types.MappingProxyType({1: 2}) == {1: 2})
    assert equal(slice(1, 2), slice(1, 2))
    assert not equal(slice(1, 2), slice(1, 3))
    x = object()
    assert equal(x, x)
    assert not equal(x, object())
    assert equal(len, len)


def test_a_slice_is_a_key_where_it_is_one_of_a_dict(ffi: Any) -> None:
    # Since Python 3.12.
    for key in (slice(None), slice(1, 2.0, True), slice("a string on the heap", (1, slice(2)), 2**70)):
        for k in (key, (1, key), slice([1])):
            ours, items = ffi.Dict({0: 0}), {0: 0}
            for operation in (
                lambda x, k=k: x.get(k),
                lambda x, k=k: operator.setitem(x, k, k),
                lambda x, k=k: (k in x, x[k], len(x), list(x)),
                lambda x, k=k: x.pop(k, "none"),
            ):
                assert_alike(ffi, ours, items, operation)


def test_hash_and_equality_of_slices(ffi: Any) -> None:
    hash_ = ffi.get_global_func("testing.hash")
    if not isinstance(slice(0), collections.abc.Hashable):
        for x in (slice(0), (1, slice(0))):
            with pytest.raises(TypeError, match="unhashable type: 'slice'"):
                hash_(x)
        return
    for s in (slice(1, 2, 3), slice(None, 2.5, 2**70), slice(-1, (1, 2), slice(3))):
        assert hash_(s) == hash(s)
        assert hash_((1, s)) == hash((1, s))
    d = ffi.Dict({slice(1, 2): "a", (slice(3),): "b"})
    assert d[slice(1.0, 2)] == "a"
    assert d[slice(3),] == "b"
    assert slice(1, 3) not in d
    assert dict(d) == {slice(1, 2): "a", (slice(3),): "b"}
    assert slice(5) in ffi.Set([slice(5.0)])
    assert ffi.get_global_func("testing.echo")({slice(7): 1}) == {slice(7): 1}


def test_opaque_keys_among_removed_ones(ffi: Any) -> None:
    """What was removed is compared with nothing, though the hash is the same."""
    for key in (cases.Plain(), len, (cases.Plain(), 1), frozenset({len})):
        for size in (1, 3, 40):  # with and without an index
            d = ffi.Dict({key: 1, **dict.fromkeys(range(size))})
            s = ffi.Set(d)
            del d[key]
            s.remove(key)
            assert key not in d
            assert key not in s
            with pytest.raises(KeyError):
                d[key]
            d[key] = 2
            s.add(key)
            assert list(d) == list(s) == [*range(size), key]


def test_dict_lookup_runs_pythons_code(ffi: Any) -> None:
    class Key:
        def __init__(self, n: int, fail: Any = None) -> None:
            self.n, self.fail = n, fail

        def __hash__(self) -> int:
            if self.fail == "hash":
                raise ZeroDivisionError("hash")
            return 1

        def __eq__(self, other: object) -> bool:
            if self.fail == "eq" or getattr(other, "fail", None) == "eq":
                raise ZeroDivisionError("eq")
            return isinstance(other, Key) and self.n == other.n

    d = ffi.Dict({Key(1): "one", Key(2): "two"})
    assert d[Key(2)] == "two"
    assert Key(3) not in d
    for fail in ("hash", "eq"):
        for operation in (
            lambda k: d[k],
            lambda k: k in d,
            lambda k: operator.setitem(d, k, 1),
            lambda k: operator.delitem(d, k),
            lambda k: d.get(k),
            lambda k: d.pop(k, None),
        ):
            with pytest.raises(ZeroDivisionError, match=fail):
                operation(Key(5, fail))
    assert len(d) == 2


def test_a_key_that_changes_the_dict_under_way(ffi: Any) -> None:
    """Python code that runs during a lookup may do anything to the dict: no crash, nothing corrupted."""
    d = ffi.Dict()

    class Nasty:
        def __init__(self, act: Any) -> None:
            self.act = act

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            act, self.act = self.act, lambda: None  # once, or the lookup would start again for ever
            act()
            return False

    def refill() -> None:
        d.clear()
        for i in range(200):
            d[i] = str(i)

    for act in (d.clear, refill):
        d.clear()
        for _ in range(3):
            dict_of_nasty = Nasty(lambda: None)
            d[dict_of_nasty] = 1
        for operation in (
            lambda k: d.get(k),
            lambda k: operator.setitem(d, k, 1),
            lambda k: d.pop(k, None),
            lambda k: k in d,
        ):
            try:
                operation(Nasty(act))
            except (RuntimeError, KeyError):
                pass
            assert len(list(d)) == len(d)
    d.clear()


_DICT_CHANGES: Any = [
    lambda x: operator.setitem(x, "new", 1),
    lambda x: operator.setitem(x, "a", 5),
    lambda x: operator.setitem(x, [1], 5),
    lambda x: operator.delitem(x, "a"),
    lambda x: operator.delitem(x, "absent"),
    lambda x: operator.delitem(x, [1]),
    lambda x: x.pop("a"),
    lambda x: x.pop("absent"),
    lambda x: x.pop("absent", 3),
    lambda x: x.pop("a", 3),
    lambda x: x.popitem(),
    lambda x: x.setdefault("a", 9),
    lambda x: x.setdefault("new", 9),
    lambda x: x.setdefault("new"),
    lambda x: x.update({"a": 7, "z": 8}),
    lambda x: x.update([("p", 1), ("q", 2)]),
    lambda x: x.update(k=1),
    lambda x: x.update({"a": 1}, b=2),
    lambda x: x.update(5),
    lambda x: x.update(x),
    lambda x: operator.ior(x, {"i": 1}) is x,
    lambda x: operator.ior(x, [("j", 1)]) is x,
    lambda x: operator.ior(x, 5),
    lambda x: x.clear(),
    lambda x: x.copy(),
    lambda x: (x.pop("a", None), operator.setitem(x, "a", 1)),
]


@pytest.mark.parametrize("change", _DICT_CHANGES, ids=range(len(_DICT_CHANGES)))
def test_changing_a_dict(ffi: Any, change: Any) -> None:
    for items in ({}, {"a": 1}, {"a": 1, "b": [2], 3: None}, {**{i: i for i in range(50)}, "a": 0}):
        ours, pythons = ffi.Dict(items), dict(items)
        one, other = outcome(lambda: change(ours), ffi), outcome(lambda: change(pythons), ffi)
        assert one == other
        assert list(ffi.to_python(ours).items()) == list(pythons.items())


def test_a_map_never_changes(ffi: Any) -> None:
    m = ffi.Map(a=1)
    for change in (lambda: operator.setitem(m, "a", 5), lambda: operator.delitem(m, "a")):
        with pytest.raises(TypeError):
            change()
    for name in ("pop", "popitem", "clear", "update", "setdefault"):
        assert not hasattr(m, name)
    with pytest.raises(TypeError):
        m.__init__(b=2)
    assert m == {"a": 1}


def test_a_dict_is_a_reference(ffi: Any) -> None:
    put = ffi.get_global_func("testing.put")
    d = ffi.Dict()
    assert put(d, "k", [1]) is d
    assert d == {"k": [1]}
    plain = {"k": 1}
    assert put(plain, "l", 2) == {"k": 1, "l": 2}
    assert plain == {"k": 1}


def test_iteration_notices_a_change_of_size(ffi: Any) -> None:
    for walk in (iter, lambda d: iter(d.keys()), lambda d: iter(d.values()), lambda d: iter(d.items())):
        d = ffi.Dict({i: i for i in range(5)})
        with pytest.raises(RuntimeError, match="changed size during iteration"):
            for _ in walk(d):
                d[object()] = 1
        d = ffi.Dict({i: i for i in range(5)})
        with pytest.raises(RuntimeError, match="changed size during iteration"):
            for _ in walk(d):
                del d[4]
    d = ffi.Dict({1: 1, 2: 2})
    for key in d:
        d[key] = "changed"
    assert d == {1: "changed", 2: "changed"}


def test_drawn_changes_of_a_dict(ffi: Any) -> None:
    some_keys = st.one_of(
        st.integers(0, 12), st.sampled_from(["a", "b", 1.0, True, None, (1, 2), "a key on the heap"])
    )
    steps = st.one_of(
        st.tuples(st.just("__setitem__"), some_keys, cases.scalars),
        st.tuples(st.just("__delitem__"), some_keys),
        st.tuples(st.just("pop"), some_keys),
        st.tuples(st.just("pop"), some_keys, st.just("default")),
        st.tuples(st.just("setdefault"), some_keys, cases.scalars),
        st.tuples(st.just("popitem")),
        st.tuples(st.just("update"), st.dictionaries(some_keys, cases.scalars, max_size=12)),
        st.tuples(st.just("clear")),
    )

    @given(st.lists(steps, max_size=40))
    def check(changes: Any) -> None:
        ours, pythons = ffi.Dict(), {}
        for name, *args in changes:
            one, other = (outcome(lambda x=x: getattr(x, name)(*args), ffi) for x in (ours, pythons))
            assert cases.same(one, other)
            assert cases.same(ffi.to_python(ours), pythons)

    check()


# ---- what all have ------------------------------------------------------------------------------


def test_repr(ffi: Any) -> None:
    assert repr(ffi.Array([1, "two", [3]])) == "anyffi.Array((1, 'two', anyffi.List([3])))"
    assert repr(ffi.Array([1])) == "anyffi.Array((1,))"
    assert repr(ffi.List()) == "anyffi.List([])"
    assert repr(ffi.Dict({"a": (1,)})) == "anyffi.Dict({'a': anyffi.Array((1,))})"
    assert repr(ffi.Map({1: None})) == "anyffi.Map({1: None})"
    xs = ffi.List([1])
    assert str(xs) == repr(xs)
    d = ffi.Dict()
    xs.append(d)
    d["xs"] = xs
    assert repr(xs) == "anyffi.List([1, anyffi.Dict({'xs': ...})])"
    xs.clear()


def test_a_container_that_holds_itself(ffi: Any) -> None:
    xs = ffi.List([1])
    xs.append(xs)
    assert xs[1] is xs
    assert xs in xs
    assert "..." in repr(xs)
    with pytest.raises(STACK_ENDS):
        ffi.to_python(xs)
    with pytest.raises(RecursionError):
        ffi.get_global_func("testing.describe")(xs)
    other = ffi.List([1])
    other.append(other)
    with pytest.raises(RecursionError):
        ffi.get_global_func("testing.equal")(xs, other)
    with pytest.raises(STACK_ENDS):
        xs == other
    xs.clear()
    other.clear()


def test_construction(ffi: Any) -> None:
    assert ffi.List(range(3)) == [0, 1, 2]
    assert ffi.Array(i for i in "ab") == ("a", "b")
    assert ffi.List("ab") == ["a", "b"]
    assert ffi.List(ffi.Array([1])) == [1]
    assert ffi.Dict([("a", 1)], b=2) == {"a": 1, "b": 2}
    assert ffi.Map({"a": 1}, b=2) == {"a": 1, "b": 2}
    assert ffi.Dict(ffi.Map(a=1)) == {"a": 1}
    assert ffi.Dict(ffi.Dict(a=1)) == {"a": 1}
    for cls in (ffi.List, ffi.Array, ffi.Dict, ffi.Map):
        with pytest.raises(TypeError):
            cls(5)
        with pytest.raises(TypeError):
            cls([], [])


def test_freeze_and_thaw_give_new_objects(ffi: Any) -> None:
    array = ffi.Array([1, [2]])
    thawed = array.thaw()
    assert type(thawed) is ffi.List
    frozen = thawed.freeze()
    assert type(frozen) is ffi.Array
    thawed.append(3)
    assert array == frozen == (1, [2])
    # Elements are shared, as `copy` does.
    assert array[1] is thawed[1] is frozen[1]

    mapping = ffi.Map({"b": 1, "a": [2]})
    thawed = mapping.thaw()
    assert type(thawed) is ffi.Dict
    frozen = thawed.freeze()
    assert type(frozen) is ffi.Map
    thawed["c"] = 3
    assert list(mapping.items()) == list(frozen.items()) == [("b", 1), ("a", [2])]
    assert mapping["a"] is thawed["a"] is frozen["a"]


def test_abstract_base_classes(ffi: Any) -> None:
    abc = collections.abc
    assert isinstance(ffi.Array(), abc.Sequence)
    assert not isinstance(ffi.Array(), abc.MutableSequence)
    assert isinstance(ffi.List(), abc.MutableSequence)
    assert isinstance(ffi.Map(), abc.Mapping)
    assert not isinstance(ffi.Map(), abc.MutableMapping)
    assert isinstance(ffi.Dict(), abc.MutableMapping)
    assert isinstance(ffi.Array(), abc.Hashable)
    for x in (ffi.List(), ffi.Dict(), ffi.Map()):
        assert not isinstance(x, abc.Hashable)
    for x in (ffi.Array(), ffi.List(), ffi.Dict(), ffi.Map()):
        assert isinstance(x, ffi.Object)
        assert not callable(x)


def test_pattern_matching_names(ffi: Any) -> None:
    """The same methods as Python's own classes have."""
    for name, plain in (*SEQUENCES, ("Shape", tuple), *MAPPINGS):
        public = {method for method in dir(plain) if not method.startswith("_")}
        missing = public - set(dir(getattr(ffi, name)))
        assert missing <= {"fromkeys"}, (name, missing)


def test_subclasses(ffi: Any) -> None:
    class MyList(ffi.List):
        extra = 5

    xs = MyList([1, 2])
    assert type(xs) is MyList
    assert xs == [1, 2]
    assert ffi.get_global_func("testing.echo")(xs) is xs
    xs.attribute = 3
    assert (xs.attribute, xs.extra) == (3, 5)
    xs.append(3)
    assert ffi.get_global_func("testing.sum_ints")(xs) == 6


def test_untyped_work_in_cpp(ffi: Any) -> None:
    size, item, iterate = map(ffi.get_global_func, ("testing.size", "testing.item", "testing.iterate"))
    for x in ("a\u4e2d\U0001f600", b"bytes", (1, "two"), [1, [2]], "x" * 100):
        assert size(x) == len(x)
        assert iterate(x) == list(x)
        for index in range(-len(x), len(x)):
            assert item(x, index) == x[index]
        for index in (len(x), -len(x) - 1, 2**62, -(2**63)):
            with pytest.raises(IndexError):
                item(x, index)
        with pytest.raises(TypeError):
            item(x, "0")
    assert size({"a": 1}) == 1
    assert item({"a": [1]}, "a") == [1]
    with pytest.raises(KeyError) as caught:
        item({"a": 1}, "b")
    assert caught.value.args == ("b",)
    with pytest.raises(TypeError, match="unhashable"):
        item({"a": 1}, [1])
    for x in (None, 5, 1.5, True, len, ValueError(), object()):
        with pytest.raises(TypeError):
            size(x)
        with pytest.raises(TypeError):
            item(x, 0)
