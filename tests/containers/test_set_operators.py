"""Operators and methods of Set and FrozenSet, and changes of a Set, compared with Python's."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import SETS, elements, few_elements, outcome

OPERATORS = [operator.or_, operator.and_, operator.sub, operator.xor]
IN_PLACE = [operator.ior, operator.iand, operator.isub, operator.ixor]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


# ---- operators and methods ----------------------------------------------------------------------


def _classes(ffi: Any) -> list[Any]:
    return [ffi.Set, ffi.FrozenSet, set, frozenset]


def test_operators(ffi: Any) -> None:
    """With Python's sets on either side; the result has the class of our operand, or of the left one of two."""
    kinds = [
        (one, other)
        for one, other in itertools.product(_classes(ffi), repeat=2)
        if {one, other} - {set, frozenset}
    ]

    @given(few_elements, few_elements)
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


def test_operators_refuse_other_types(ffi: Any) -> None:
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
    """Methods that take sets, with zero to two arguments of any type, against Python's."""
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
    arguments = st.lists(st.tuples(st.sampled_from(range(len(kinds))), few_elements), max_size=2)

    @given(few_elements, st.sampled_from(_METHODS), arguments, st.booleans())
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
        # If a later argument is refused, Python has already processed the earlier ones.
        assert ours == (plain(items) if one is TypeError else pythons)

    check()


def test_all_methods_exist(ffi: Any) -> None:
    for name, plain in SETS:
        ours = getattr(ffi, name)
        public = {
            method for method in dir(plain) if not method.startswith("_") or method.strip("_") in _SPECIAL
        }
        assert public <= set(dir(ours))
        assert (
            not {m for m in dir(ours) if not m.startswith("_")}
            - public
            - {"freeze", "thaw", "same_as", "to_python"}
        )
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
    others = st.lists(few_elements, max_size=2)
    steps = st.one_of(
        st.tuples(st.sampled_from(["add", "discard", "remove"]), elements),
        st.tuples(st.sampled_from(["update", "intersection_update", "difference_update"]), others),
        st.tuples(st.just("symmetric_difference_update"), few_elements),
        st.tuples(st.sampled_from(["clear", "pop"])),
    )

    @given(few_elements, st.lists(steps, max_size=20))
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
            # Python does not define which of two equal elements is kept.
            assert ffi.to_python(ours) == pythons

    check()


def test_in_place_operators(ffi: Any) -> None:
    @given(few_elements, few_elements)
    def check(left: Any, right: Any) -> None:
        for operation in IN_PLACE:
            for kind in (*_classes(ffi), lambda items: dict.fromkeys(items).keys()):
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
