"""Sets and operands of every kind: equal results whether or not Python code compares the elements."""

from __future__ import annotations

import itertools
import operator
from typing import Any, Callable

import pytest
from support import collect

LONG = "a text that is too long to be stored in place"
NAN = float("nan")


class Odd:
    """Equals only itself, which Python code decides."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 5


ODD = Odd()
CONTENTS: dict[str, list[list[Any]]] = {
    "scalars": [[], [1, 2, 3], [3, 4.0, True], [None, ..., b"bytes", 1], list(range(50)), [0.5, 2, 2**70]],
    "texts": [["a", LONG, "é"], [LONG, "b", "€" * 20], ["€" * 20, "a", LONG + "é"]],
    "tuples": [[(1, 2), (2, LONG)], [(1.0, 2), (), (3,)], [((1,), 2), (2, LONG)], [(True, 2), ((1,), 2)]],
    "frozensets": [
        [frozenset({1}), (frozenset({2}),)],
        [frozenset({1.0}), frozenset()],
        [(1, frozenset({2}))],
    ],
    "odd": [[ODD, 1, (ODD, 1)], [(ODD, 1), 2], [1, ODD], [(ODD,), (1, (ODD, 2))]],
}
OPERANDS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "Set": lambda ffi, items: ffi.Set(items),
    "FrozenSet": lambda ffi, items: ffi.FrozenSet(items),
    "set": lambda ffi, items: set(items),
    "frozenset": lambda ffi, items: frozenset(items),
    "list": lambda ffi, items: [*items, *items],
    "tuple": lambda ffi, items: (*items, *items),
}
OPERATORS = (operator.or_, operator.and_, operator.sub, operator.xor)
IN_PLACE = (operator.ior, operator.iand, operator.isub, operator.ixor)
COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt)
METHODS = (
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "isdisjoint",
    "issubset",
    "issuperset",
)
CHANGES = ("update", "intersection_update", "difference_update", "symmetric_difference_update")


def pairs_of_contents() -> list[tuple[list[Any], list[Any]]]:
    return [pair for contents in CONTENTS.values() for pair in itertools.product(contents, repeat=2)]


@pytest.mark.parametrize("kind", ["Set", "FrozenSet", "set", "frozenset"])
def test_operators(ffi: Any, kind: str) -> None:
    for mine, theirs in pairs_of_contents():
        other, expected = OPERANDS[kind](ffi, theirs), set(theirs)
        for make in (ffi.Set, ffi.FrozenSet):
            x = make(mine)
            for operation in OPERATORS:
                result = operation(x, other)
                assert type(result) is make
                assert ffi.to_python(result) == operation(set(mine), expected), (operation, mine, theirs)
                assert ffi.to_python(operation(other, x)) == operation(expected, set(mine)), (
                    operation,
                    mine,
                    theirs,
                )
            for compare in COMPARISONS:
                assert compare(x, other) is compare(set(mine), expected), (compare, mine, theirs)
                assert compare(other, x) is compare(expected, set(mine)), (compare, mine, theirs)


@pytest.mark.parametrize("kind", ["Set", "FrozenSet", "set", "frozenset"])
def test_operators_in_place(ffi: Any, kind: str) -> None:
    for mine, theirs in pairs_of_contents():
        for operation in IN_PLACE:
            x, expected = ffi.Set(mine), set(mine)
            same = x
            same = operation(same, OPERANDS[kind](ffi, theirs))
            assert same is x
            assert ffi.to_python(x) == operation(expected, set(theirs)), (operation, mine, theirs)
            assert len(x) == len(expected)


@pytest.mark.parametrize("kind", OPERANDS)
def test_methods(ffi: Any, kind: str) -> None:
    for mine, theirs in pairs_of_contents():
        other = OPERANDS[kind](ffi, theirs)
        for name in METHODS:
            for make in (ffi.Set, ffi.FrozenSet):
                result = ffi.to_python(getattr(make(mine), name)(other))
                assert result == getattr(set(mine), name)(theirs), (name, mine, theirs)
        for name in CHANGES:
            x, expected = ffi.Set(mine), set(mine)
            assert getattr(x, name)(other) is None
            getattr(expected, name)(theirs)
            assert ffi.to_python(x) == expected, (name, mine, theirs)


def test_order_of_elements(ffi: Any) -> None:
    x = ffi.Set([5, 1, 3, (1, 2)])
    assert list(x.union([7, 1, 7, (3,)])) == [5, 1, 3, (1, 2), 7, (3,)]
    assert list(x ^ ffi.Set([3, 9, 5, 8])) == [1, (1, 2), 9, 8]
    assert list({3} | x) == [3, 5, 1, (1, 2)]
    x ^= ffi.Set([3, 9, 5, 8])
    assert list(x) == [1, (1, 2), 9, 8]
    x |= {1, 4}
    assert list(x) == [1, (1, 2), 9, 8, 4]


def test_a_set_and_itself(ffi: Any) -> None:
    for items in ([1, 2], [(1, 2), LONG], [ODD]):
        for operation, expected in zip(IN_PLACE, (items, items, [], [])):
            x = ffi.Set(items)
            assert list(operation(x, x)) == expected


def test_nan_inside_of_an_element(ffi: Any) -> None:
    """Reading an array twice makes two NaN objects, which are not equal."""
    x, y = ffi.Set([(NAN, 1)]), ffi.Set([(NAN, 1)])
    assert x != y
    assert not x <= y
    assert x - y == x
    assert x == x


def test_an_element_with_a_wrapper_of_a_users_class(ffi: Any) -> None:
    calls = []

    class Pair(ffi.Array):  # type: ignore[misc]
        def __hash__(self) -> int:
            return super().__hash__()

        def __eq__(self, other: object) -> Any:
            calls.append(other)
            return super().__eq__(other)

    pair, plain = Pair((1, 2)), ffi.Array((1, 2))
    x, y = ffi.Set([pair]), ffi.Set([plain])
    for compare in (lambda: x == y, lambda: y == x, lambda: ffi.List([pair]) == ffi.List([plain])):
        calls.clear()
        assert compare()
        assert calls
    kept = list(y)
    assert type(kept[0]) is ffi.Array
    calls.clear()
    assert y == ffi.Set([(1, 2)])
    assert not calls


def test_unhashable_elements(ffi: Any) -> None:
    x = ffi.Set([1])
    for name in (*METHODS, *CHANGES):
        # The unhashable element comes before one that decides.
        for bad in ([[2], 1], [([2],), 1], [(1, {})]):
            with pytest.raises(TypeError, match="unhashable type"):
                getattr(x, name)(bad)
    assert x == {1}


def test_proper_subsets_have_other_sizes(ffi: Any) -> None:
    x, y = ffi.Set([1, (2, 3)]), ffi.FrozenSet([1, (2, 4)])
    for other in (y, {1, 4}, frozenset({1, (2, 3)})):
        assert not x < other
        assert not x > other
    assert x < {1, (2, 3), 4}
    assert x > {1}


def test_a_cached_hash_is_that_of_the_current_elements(ffi: Any) -> None:
    count = 0

    class Counted:
        def __hash__(self) -> int:
            nonlocal count
            count += 1
            return 3

    x = ffi.FrozenSet([Counted(), 1, NAN, (1, LONG)])
    first = hash(x)
    count = 0
    assert hash(x) == first
    assert count == 0
    assert hash(ffi.FrozenSet([1, 2.5, LONG])) == hash(frozenset([1, 2.5, LONG]))
    assert hash(ffi.FrozenSet()) == hash(frozenset())
    # A set that was thawed and changed has the hash of its new elements.
    thaw_and_freeze = ffi.FrozenSet([1]).thaw()
    hash(ffi.FrozenSet([1]))
    thaw_and_freeze.add(2)
    assert hash(thaw_and_freeze.freeze()) == hash(frozenset([1, 2]))
    del x
    collect()


def test_a_hash_that_fails_is_not_kept(ffi: Any) -> None:
    class Failing:
        fails = False

        def __hash__(self) -> int:
            if self.fails:
                raise ZeroDivisionError
            return 3

    x = ffi.FrozenSet([Failing(), 1])
    Failing.fails = True
    with pytest.raises(ZeroDivisionError):
        hash(x)
    Failing.fails = False
    assert hash(x) == hash(frozenset(x))


def test_a_callback_that_changes_the_set(ffi: Any) -> None:
    """Elements of users are compared by the slow path, which copies both operands first."""

    class Meddler(Odd):
        def __eq__(self, other: object) -> bool:
            x.clear()
            return False

        def __hash__(self) -> int:
            return 5

    x = ffi.Set()
    for operation in (*IN_PLACE, *OPERATORS, *COMPARISONS):
        x.clear()
        for element in ((Meddler(), 1), ODD, Meddler()):
            x.add(element)
        operation(x, ffi.Set([ODD, (Meddler(), 1)]))
        operation(x, {ODD, (Meddler(), 1)})
        assert len(x) == len(list(x))
    x.clear()
    collect()


class Failing:
    """A hash that raises while `fails` is set."""

    fails = False

    def __hash__(self) -> int:
        if Failing.fails:
            raise ZeroDivisionError
        return 1


SIDES: dict[str, Callable[[Any, Any], Any]] = {
    "Set": lambda api, keys: api.Set(keys),
    "FrozenSet": lambda api, keys: api.FrozenSet(keys),
    "keys": lambda api, keys: api.Dict.fromkeys(keys).keys(),
    "set": lambda api, keys: set(keys),
    "frozenset": lambda api, keys: frozenset(keys),
    "list": lambda api, keys: keys,
}


@pytest.mark.parametrize("right", SIDES)
@pytest.mark.parametrize("left", ["Set", "FrozenSet", "keys"])
def test_both_hash_the_same(both: tuple[Any, Any], monkeypatch: Any, left: str, right: str) -> None:
    """Both modes hash elements in the same cases: not if the sizes already decide."""
    a, b = Failing(), Failing()
    names = ["isdisjoint"] if left == "keys" else ["issubset", "issuperset", "isdisjoint"]
    operators = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
    relations = [*[lambda x, y, name=name: getattr(x, name)(y) for name in names], *operators]
    for mine, theirs in itertools.product(([], [a], [a, b]), repeat=2):
        seen = []
        for api in both:
            monkeypatch.setattr(Failing, "fails", False)
            sides = SIDES[left](api, mine), SIDES[right](api, theirs)
            monkeypatch.setattr(Failing, "fails", True)
            seen.append([outcome(relate, *each) for relate in relations for each in (sides, sides[:1] * 2)])
        assert seen[0] == seen[1]
        if left != "keys" and right in ("set", "frozenset") and len(mine) > len(theirs):
            assert seen[0][0] is False
    monkeypatch.setattr(Failing, "fails", False)


def outcome(relate: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    try:
        return relate(x, y)
    except (TypeError, ZeroDivisionError) as error:
        return type(error)


@pytest.mark.parametrize("element", [int, str, lambda i: (i, str(i))])
@pytest.mark.parametrize("left", ["Set", "FrozenSet"])
def test_common_elements_of_a_much_smaller_operand(
    ffi: Any, left: str, element: Callable[[int], Any]
) -> None:
    """The result has the class and the order of the left operand, which is the larger one."""
    large = getattr(ffi, left)(map(element, range(1000)))
    for numbers in ([], [7], [900, 3, 3, -1], [1000], list(range(500, 480, -1))):
        some = [*map(element, numbers)]
        expected = [element(i) for i in sorted({*numbers} & {*range(1000)})]
        found = [
            large & other
            for other in (set(some), ffi.Set(some), ffi.FrozenSet(some), dict.fromkeys(some).keys())
        ]
        found += [
            large.intersection(other) for other in (some, tuple(some), ffi.List(some), iter(some), set(some))
        ]
        assert [[*each] for each in found] == [expected] * 9
        assert [type(each).__name__ for each in found] == [left] * 9
        assert {*large & {*some, ODD}} == {*expected}


@pytest.mark.parametrize("left", ["Set", "FrozenSet"])
def test_iterables_are_read_once(ffi: Any, left: str) -> None:
    """Even if comparing an element needs Python code, or the iterable changes the set."""
    read = []

    def numbers(*elements: Any) -> Any:
        for each in elements:
            read.append(each)
            yield each

    mine = getattr(ffi, left)([1, 2, 3])
    for elements in ([2, 9], [2, ODD]):
        results = [
            getattr(mine, name)(numbers(*elements))
            for name in (
                "union",
                "intersection",
                "difference",
                "symmetric_difference",
                "issubset",
                "issuperset",
            )
        ]
        assert read == elements * 6
        read.clear()
        plain = {1, 2, 3}
        assert results[:4] == [plain | {*elements}, {2}, {1, 3}, plain ^ {*elements}]
        assert results[4:] == [False, False]
    assert mine.isdisjoint(numbers(7))
    assert not mine.isdisjoint(numbers(7, 1, 8))
    with pytest.raises(TypeError, match=r"unhashable type: 'list'"):
        mine.issuperset(numbers(1, []))
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        mine.isdisjoint(5)
    growing = ffi.Set([1])

    def add() -> Any:
        growing.add(4)
        yield 5

    assert [*growing.union(add())] == [1, 4, 5]
    growing.symmetric_difference_update([5, 5, 1])
    assert [*growing] == [4, 5]


@pytest.mark.parametrize("name", ["Set", "FrozenSet"])
@pytest.mark.parametrize("before", [0, 1, 15, 16, 17, 100])
def test_elements_after_the_one_that_decides(ffi: Any, name: str, before: int) -> None:
    """Elements after the one that decides are ignored, even if they are unhashable; earlier ones are not."""
    mine = getattr(ffi, name)(range(200))
    for other in (list, tuple):
        assert mine.issuperset(other([*range(before), 300, *range(50)])) is False
        assert mine.issuperset(other(range(before)))
        assert mine.isdisjoint(other([*range(300, 300 + before), 5, *range(300, 350)])) is False
        assert mine.isdisjoint(other(range(300, 300 + before)))
    # Elements that are not hashable, or are compared by Python code.
    assert mine.issuperset([300, *range(before), []]) is False
    assert mine.issuperset([300, *range(before), ODD]) is False
    assert mine.isdisjoint([5, *range(300, 300 + before), []]) is False
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        mine.issuperset([*range(before), [], 300])
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        mine.isdisjoint([*range(300, 300 + before), [], 5])
    with pytest.raises(TypeError, match="unhashable type: 'set'"):
        mine.issuperset([*range(before), {1}])


def _stop(*args: Any) -> Any:
    raise StopIteration


@pytest.mark.parametrize(
    "name", ["union", "difference", "intersection", "update", "difference_update", "intersection_update"]
)
def test_an_operand_that_raises_stop_iteration(ffi: Any, name: str) -> None:
    """The error is the caller's; it does not end the iteration over the operands."""
    operand = type("Operand", (), {"__iter__": _stop})()
    for operands in [(operand,), ([1], operand), (operand, [1])]:
        mine = ffi.Set([1, 2])
        with pytest.raises(StopIteration):
            getattr(mine, name)(*operands)
        assert mine == {1, 2}


def test_elements_that_raise_stop_iteration(ffi: Any) -> None:
    """Hashes, reprs and comparisons raise it, too, as those of Python's containers do."""
    shown = type("Shown", (), {"__repr__": _stop})()
    for container in (
        ffi.List([shown]),
        ffi.Set([shown]),
        ffi.FrozenSet([shown]),
        ffi.Dict({1: shown}),
        ffi.Map({shown: 1}),
    ):
        with pytest.raises(StopIteration):
            repr(container)
    hashed = type("Hashed", (), {"__hash__": lambda self: 1})()
    mine, frozen, entries = ffi.Set([1, hashed]), ffi.FrozenSet([hashed]), ffi.Dict({hashed: 1})
    type(hashed).__hash__ = _stop  # type: ignore[assignment, method-assign]
    operations: list[Callable[[], Any]] = [
        lambda: hash(frozen),
        lambda: mine.isdisjoint([hashed]),
        lambda: mine.issuperset([hashed]),
        lambda: entries.keys() & [hashed],
    ]
    for operation in operations:
        with pytest.raises(StopIteration):
            operation()
