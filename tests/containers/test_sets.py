"""Set and FrozenSet behave as set and frozenset, and keep the order in which elements came."""

from __future__ import annotations

import collections.abc
import copy
import itertools
import operator
import pickle
from typing import Any, Callable

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import run_program
from support import collect, words_of

SETS = [("Set", set), ("FrozenSet", frozenset)]
OPERATORS = [operator.or_, operator.and_, operator.sub, operator.xor]
IN_PLACE = [operator.ior, operator.iand, operator.isub, operator.ixor]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]

elements = st.integers(0, 9) | st.sampled_from(["a", "b", 1.0, True, None, (1, 2), frozenset({1}), 2**70])
small = st.lists(elements, max_size=6)


def outcome(function: Callable[[], Any], ffi: Any) -> Any:
    try:
        return ffi.to_python(function())
    except TypeError:
        return TypeError  # its words speak of the class
    except Exception as error:
        return type(error), words_of(error)


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


# ---- operators and methods ----------------------------------------------------------------------


def _kinds(ffi: Any) -> list[Any]:
    return [ffi.Set, ffi.FrozenSet, set, frozenset]


def test_operators(ffi: Any) -> None:
    """With Python's own sets on either side; the result has the class of the operand that is ours, of the left one."""
    kinds = [
        (one, other)
        for one, other in itertools.product(_kinds(ffi), repeat=2)
        if {one, other} - {set, frozenset}
    ]

    @given(small, small)
    def check(left: Any, right: Any) -> None:
        for one, other in kinds:
            cls = one if issubclass(one, ffi.Object) else other
            for operation in OPERATORS:
                result = operation(one(left), other(right))
                assert type(result) is cls
                assert ffi.to_python(result) == operation(set(left), set(right))
            for operation in COMPARISONS:
                assert operation(one(left), other(right)) is operation(set(left), set(right))

    check()


def test_the_order_of_results(ffi: Any) -> None:
    left, right = [5, "a", 3, 1], [9, 1, 5, "z"]
    for one, other in ((ffi.Set, ffi.FrozenSet), (ffi.FrozenSet, list), (ffi.Set, dict.fromkeys)):
        x = one(left)
        assert list(x.union(other(right), [8])) == [5, "a", 3, 1, 9, "z", 8]
        assert list(x.intersection(other(right))) == [5, 1]
        assert list(x.difference(other(right))) == ["a", 3]
        assert list(x.symmetric_difference(other(right))) == ["a", 3, 9, "z"]
    views = dict.fromkeys(right).keys()
    x = ffi.Set(left)
    for operation, expected in zip(OPERATORS, ([5, "a", 3, 1, 9, "z"], [5, 1], ["a", 3], ["a", 3, 9, "z"])):
        for y in (ffi.FrozenSet(right), views):
            result = operation(x, y)
            assert type(result) is ffi.Set
            assert list(result) == expected
    assert x > dict.fromkeys([3, 5]).keys()
    assert dict.fromkeys(left).keys() == x
    assert x == dict.fromkeys(left).keys()


def test_operators_refuse_what_is_no_set(ffi: Any) -> None:
    for cls in (ffi.Set, ffi.FrozenSet):
        x = cls([1])
        for other in ([1], (1,), {1: 2}, "1", 1, None, ffi.List([1]), ffi.Dict(), object(), iter([1])):
            for operation in (*OPERATORS, *IN_PLACE, *COMPARISONS[2:]):
                with pytest.raises(TypeError):
                    operation(x, other)
                with pytest.raises(TypeError):
                    operation(other, x)
            assert (x == other) is False
            assert (x != other) is True
        assert x == {1}


_METHODS = [
    "union", "intersection", "difference", "symmetric_difference", "isdisjoint", "issubset", "issuperset", "update",
    "intersection_update", "difference_update", "symmetric_difference_update", "copy", "clear",
]  # fmt: skip


def test_methods_are_pythons(ffi: Any) -> None:
    """Every method of whole sets, with none to two arguments of any kind, against Python's own."""
    kinds = [
        list,
        tuple,
        set,
        frozenset,
        iter,
        dict.fromkeys,
        ffi.Set,
        ffi.FrozenSet,
        ffi.List,
        lambda x: 5,
        lambda x: [[1]],
    ]
    arguments = st.lists(st.tuples(st.sampled_from(range(len(kinds))), small), max_size=2)

    @given(small, st.sampled_from(_METHODS), arguments, st.booleans())
    def check(items: Any, name: str, given_: Any, frozen: bool) -> None:
        cls, plain = (ffi.FrozenSet, frozenset) if frozen else (ffi.Set, set)
        if not hasattr(plain, name):
            assert not hasattr(cls, name)
            return
        ours, pythons = cls(items), plain(items)
        one, other = (
            outcome(lambda x=x: getattr(x, name)(*(kinds[kind](y) for kind, y in given_)), ffi)
            for x in (ours, pythons)
        )
        assert one == other
        # Where a later argument is refused, Python has done its work for the earlier ones.
        assert ours == (plain(items) if one is TypeError else pythons)

    check()


def test_the_methods_are_all_there(ffi: Any) -> None:
    for name, plain in SETS:
        ours = getattr(ffi, name)
        public = {
            method for method in dir(plain) if not method.startswith("_") or method.strip("_") in _SPECIAL
        }
        assert public <= set(dir(ours))
        assert not {m for m in dir(ours) if not m.startswith("_")} - public - {"freeze", "thaw", "same_as"}
        for method in public:
            assert (
                getattr(ours, method) is None
                or getattr(ours, method).__doc__ is not None
                or method.startswith("_")
            )


_SPECIAL = {"and", "or", "xor", "sub", "rand", "ror", "rxor", "rsub", "iand", "ior", "ixor", "isub", "lt", "le", "gt", "ge", "eq",
            "ne", "len", "iter", "contains", "hash", "repr", "reduce", "class_getitem"}  # fmt: skip


# ---- changing -----------------------------------------------------------------------------------


def test_drawn_changes(ffi: Any) -> None:
    others = st.lists(small, max_size=2)
    steps = st.one_of(
        st.tuples(st.sampled_from(["add", "discard", "remove"]), elements),
        st.tuples(st.sampled_from(["update", "intersection_update", "difference_update"]), others),
        st.tuples(st.just("symmetric_difference_update"), small),
        st.tuples(st.sampled_from(["clear", "pop"])),
    )

    @given(small, st.lists(steps, max_size=20))
    def check(items: Any, changes: Any) -> None:
        ours, pythons = ffi.Set(items), set(items)
        order = list(dict.fromkeys(items))
        for name, *args in changes:
            if name.endswith("update") and args and name != "symmetric_difference_update":
                args = args[0]
            if name == "pop" and order:
                args, name = [order[-1]], "remove"
                assert cases.same(ffi.to_python(ours.pop()), order[-1])
                ours.add(order[-1])
            one, other = (outcome(lambda x=x: getattr(x, name)(*args), ffi) for x in (ours, pythons))
            assert one == other
            order = [x for x in order if x in pythons]
            order += [ffi.to_python(x) for x in ours if x not in order]
            assert list(ours) == order
            # Which of two equal elements is kept, Python leaves open.
            assert ffi.to_python(ours) == pythons

    check()


def test_in_place_operators(ffi: Any) -> None:
    @given(small, small)
    def check(left: Any, right: Any) -> None:
        for operation in IN_PLACE:
            for kind in (*_kinds(ffi), lambda items: dict.fromkeys(items).keys()):
                other = kind(right)
                ours = ffi.Set(left)
                assert operation(ours, other) is ours
                assert ours == operation(set(left), set(right))
            ours = pythons = ffi.Set(left)
            assert operation(ours, ours) is pythons
            mine = set(left)
            assert pythons == operation(mine, mine)

    check()
    frozen = ffi.FrozenSet([1])
    for operation in IN_PLACE:
        assert operation(frozen, {1, 2}) is not frozen
    assert frozen == {1}


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


def test_pop_takes_the_last_and_is_fast(ffi: Any) -> None:
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


# ---- typed parameters ---------------------------------------------------------------------------


def test_what_a_parameter_makes_of_what_is_given(ffi: Any) -> None:
    frozen, mutable = map(ffi.get_global_func, ("testing.typed.frozen_set", "testing.typed.set"))
    for given_, as_frozen, as_mutable in (
        (frozenset({1, "x"}), "new", None),
        ({1, "x"}, "new", "new"),
        (ffi.FrozenSet([1, "x"]), "itself", None),
        (ffi.Set([1, "x"]), "copy", "itself"),
    ):
        result = frozen(given_)
        assert type(result) is ffi.FrozenSet
        assert result == {1, "x"}
        assert (result is given_) == (as_frozen == "itself")
        if as_mutable is None:
            with pytest.raises(TypeError, match=rf"expected Set\[Any\], got {type(given_).__name__}"):
                mutable(given_)
        else:
            result = mutable(given_)
            assert type(result) is ffi.Set
            assert result == {1, "x"}
            assert (result is given_) == (as_mutable == "itself")
    s = ffi.Set([1])
    snapshot = frozen(s)
    s.add(2)
    assert snapshot == {1}


def test_elements_of_typed_sets(ffi: Any) -> None:
    ints, strs = map(ffi.get_global_func, ("testing.typed.set_int", "testing.typed.frozen_set_str"))
    assert ints({True, 2}) == {1, 2}
    assert strs({"a"}) == strs(frozenset("a")) == strs(ffi.Set("a")) == {"a"}
    start = "testing.typed.set_int(x: Set[int]) -> Set[int]: argument 0 (x)"
    for bad, message in (
        ({"k"}, ', at ["k"]: expected int, got str'),
        ([1], ": expected Set[int], got list"),
    ):
        with pytest.raises(TypeError) as caught:
            ints(bad)
        assert str(caught.value) == start + message
    with pytest.raises(OverflowError, match="does not fit int64"):
        ints({2**64})
    with pytest.raises(TypeError, match=r"at \[1\]: expected str, got int"):
        strs({1})


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


def test_a_subclass_is_read_past_its_overrides(ffi: Any) -> None:
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


def test_lookup_runs_pythons_code(ffi: Any) -> None:
    class Key:
        def __init__(self, fail: str) -> None:
            self.fail = fail

        def __hash__(self) -> int:
            if self.fail == "hash":
                raise ZeroDivisionError("hash")
            return 1

        def __eq__(self, other: object) -> bool:
            raise ZeroDivisionError("eq")

    s = ffi.Set([Key("")])
    for fail in ("hash", "eq"):
        for operation in (
            lambda k: k in s,
            s.add,
            s.discard,
            s.remove,
            lambda k: s.update([k]),
            lambda k: s | {k},
        ):
            with pytest.raises(ZeroDivisionError, match=fail):
                operation(Key(fail))
    assert len(s) == 1


def test_an_element_that_changes_the_set_under_way(ffi: Any) -> None:
    s = ffi.Set()

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
        s.clear()
        s.update(range(200))

    for act in (s.clear, refill):
        for operation in (lambda k: k in s, s.add, s.discard, lambda k: s.update([k, 5])):
            s.clear()
            for _ in range(3):
                s.add(Nasty(lambda: None))
            try:
                operation(Nasty(act))
            except (RuntimeError, KeyError):
                pass
            assert len(list(s)) == len(s)
    s.clear()
    del act, operation, refill
    collect()


def test_a_set_in_many_containers(ffi: Any) -> None:
    """Shared once within an argument, by identity, as lists are."""
    echo = ffi.get_global_func("testing.echo")
    inner = {1}
    result = echo([inner, inner, {1}])
    assert result[0] is result[1]
    assert result[0] is not result[2]
    shared = frozenset({frozenset({5})})
    result = echo([shared, shared])
    assert result[0] is result[1]
    back = ffi.to_python(result)
    assert back[0] is back[1]
    assert cases.same(back, [shared, shared])


def test_a_set_that_changes_while_it_is_converted(ffi: Any) -> None:
    s: Any = set()

    class Meddler(cases.Indexable):
        def __index__(self) -> int:
            s.clear()
            return 7

    s.update([Meddler(0), "a string that is long enough"])
    assert ffi.to_python(ffi.get_global_func("testing.echo")(s)) == {7, "a string that is long enough"}
    assert s == set()


def test_pickle_of_an_element_that_cannot(ffi: Any) -> None:
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        pickle.dumps(ffi.Set([lambda: None]))
