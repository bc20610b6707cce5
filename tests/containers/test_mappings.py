"""Map and Dict behave as mappingproxy and dict."""

from __future__ import annotations

import collections.abc
import operator
import types
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import MAPPINGS, assert_alike, outcome

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


def test_equality_across_classes(ffi: Any) -> None:
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


def test_a_slice_is_a_key_since_python_3_12(ffi: Any) -> None:
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
    """Removed keys are not found again, even by the very same object."""
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


def test_a_key_that_changes_the_dict_during_lookup(ffi: Any) -> None:
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
