"""State machines for Set and FrozenSet, with set and frozenset as models.

Python's sets have no order, so a dict's keys model it. They do not define which of two equal elements a result
contains, so no two elements are equal here.
"""

from __future__ import annotations

import operator
from typing import Any

import cases
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from state_machine import Machine, keys, run_machine
from support import CPYTHON

elements = keys | st.frozensets(st.integers(0, 2), max_size=2)
lists_of_elements = st.lists(elements, max_size=6)
operations = st.sampled_from([operator.or_, operator.and_, operator.sub, operator.xor])
unhashable = st.sampled_from([[1], {}, [[]], ([1],)])
#: PyPy's sets may discard unhashable objects.
to_discard = elements | unhashable if CPYTHON else elements


class _Sets(Machine):
    """Operations of both classes, which change nothing."""

    #: The elements in the expected order.
    order: list[Any]

    def follow(self, added: Any = ()) -> None:
        """Update the order after the model has changed; `added` elements come last."""
        self.order = [x for x in dict.fromkeys([*self.order, *added]) if x in self.model]

    def described(self) -> str:
        inner = cases.describe(self.order).removeprefix("List[").removesuffix("]")
        return f"{type(self.ours).__name__}{{{inner}}}"

    @rule(element=elements | unhashable)
    def has(self, element: Any) -> None:
        self.both(lambda x: element in x)

    @rule()
    def walk(self) -> None:
        assert cases.same([self.ffi.to_python(x) for x in self.ours], self.order)
        assert cases.same(self.ffi.to_python(self.native("testing.iterate")(self.ours)), self.order)
        assert self.native("testing.size")(self.ours) == len(self.model)

    @rule(other=lists_of_elements, operation=operations)
    def combine(self, other: Any, operation: Any) -> None:
        for kind in (set, frozenset):
            mine = kind(self.order)
            for made, expected in (
                (operation(self.ours, kind(other)), operation(mine, kind(other))),
                (operation(kind(other), self.ours), operation(kind(other), mine)),
            ):
                assert type(made) is type(self.ours)
                assert self.ffi.to_python(made) == expected

    @rule(other=lists_of_elements)
    def compare(self, other: Any) -> None:
        for operation in (operator.eq, operator.ne, operator.le, operator.gt):
            self.both(lambda x, op=operation: op(x, set(other)))
            self.both(lambda x, op=operation: op(frozenset(other), x))
        self.both(lambda x: x.isdisjoint(other))
        self.both(lambda x: x.issubset(other))
        self.both(lambda x: x.issuperset(iter(other)))


class SetMachine(_Sets):
    @initialize(content=lists_of_elements)
    def start(self, content: Any) -> None:
        self.ours, self.model, self.order = self.ffi.Set(content), set(content), list(dict.fromkeys(content))

    @rule(element=elements | unhashable)
    def add(self, element: Any) -> None:
        self.both(lambda x: x.add(element))
        self.follow([element] if len(self.model) > len(self.order) else [])

    @rule(element=elements)
    def add_in_cpp(self, element: Any) -> None:
        was_new = element not in self.model
        assert self.native("anyffi.Set.add")(self.ours, element) is was_new
        assert self.native("testing.add")(self.ours, element) is self.ours
        self.model.add(element)
        self.follow([element])

    @rule(element=to_discard)
    def discard(self, element: Any) -> None:
        self.both(lambda x: x.discard(element))
        self.follow()

    @rule(element=elements)
    def discard_in_cpp(self, element: Any) -> None:
        assert self.native("anyffi.Set.discard")(self.ours, element) is (element in self.model)
        self.model.discard(element)
        self.follow()

    @rule(element=elements)
    def remove(self, element: Any) -> None:
        self.both(lambda x: x.remove(element))
        self.follow()

    @rule(in_cpp=st.booleans())
    def pop(self, in_cpp: bool) -> None:
        pop = self.native("anyffi.Set.pop") if in_cpp else self.ffi.Set.pop
        if self.order:
            self.apart(lambda: pop(self.ours), self.order.pop)
            self.model = set(self.order)
        else:
            with pytest.raises(KeyError, match="pop from an empty set"):
                pop(self.ours)

    @rule(others=st.lists(lists_of_elements, max_size=2))
    def update(self, others: Any) -> None:
        self.both(lambda x: x.update(*others))
        self.follow(x for other in others for x in other)

    @rule(other=lists_of_elements)
    def update_in_cpp(self, other: Any) -> None:
        self.native("anyffi.Set.update")(self.ours, self.ffi.FrozenSet(other))
        self.model.update(other)
        self.follow(other)

    @rule(
        name=st.sampled_from(["intersection_update", "difference_update"]),
        others=st.lists(lists_of_elements, max_size=2),
    )
    def remove_many(self, name: str, others: Any) -> None:
        self.both(lambda x: getattr(x, name)(*others))
        self.follow()

    @rule(other=lists_of_elements)
    def symmetric_difference_update(self, other: Any) -> None:
        self.both(lambda x: x.symmetric_difference_update(other))
        self.follow(other)

    @rule(
        operation=st.sampled_from([operator.ior, operator.iand, operator.isub, operator.ixor]),
        other=lists_of_elements,
    )
    def in_place(self, operation: Any, other: Any) -> None:
        theirs = set(other)
        self.both(lambda x: operation(x, theirs) is x)
        self.follow(theirs)

    @rule(operation=st.sampled_from([operator.ior, operator.iand, operator.isub, operator.ixor]))
    def with_itself(self, operation: Any) -> None:
        self.both(lambda x: operation(x, x) is x)
        self.follow()

    @rule(in_cpp=st.booleans())
    def clear(self, in_cpp: bool) -> None:
        (self.native("anyffi.Set.clear") if in_cpp else self.ffi.Set.clear)(self.ours)
        self.model.clear()
        self.follow()

    @rule()
    def grow_and_shrink(self) -> None:
        """Grow past the size at which the index is built, and leave holes."""
        for x in (self.ours, self.model):
            x.update(("grown", i) for i in range(40))
            for i in [*range(0, 40, 2), *range(1, 40, 2)]:
                x.remove(("grown", i))

    @rule()
    def copies(self) -> None:
        for made in (self.ours.copy(), self.ours.freeze().thaw(), self.ours | set()):
            assert made is not self.ours
            assert made == self.ours
            made.add("not here")
            made.clear()

    @rule(steps=st.integers(0, 8), element=elements)
    def change_under_an_iterator(self, steps: int, element: Any) -> None:
        iterator, size = iter(self.ours), len(self.model)
        for _ in range(steps):
            next(iterator, None)
        self.add(element)
        if len(self.model) == size or steps > size:
            assert len(list(iterator)) == max(0, size - steps)
        else:
            with pytest.raises(RuntimeError, match="^Set changed size during iteration$"):
                next(iterator)


class FrozenSetMachine(_Sets):
    """A FrozenSet never changes; the result of an operation becomes the next one."""

    @initialize(content=lists_of_elements)
    def start(self, content: Any) -> None:
        self.order = list(dict.fromkeys(content))
        self.ours, self.model = self.ffi.FrozenSet(content), frozenset(content)

    @rule(other=lists_of_elements, operation=operations)
    def take_combined(self, other: Any, operation: Any) -> None:
        self.ours, self.model = (
            operation(self.ours, frozenset(other)),
            operation(self.model, frozenset(other)),
        )
        # Elements that Python's own set adds have the order of that set.
        self.order = [self.ffi.to_python(x) for x in self.ours]

    @rule(element=elements)
    def thaw_and_change(self, element: Any) -> None:
        self.native("testing.hold")(self.ours)
        thawed = self.ours.thaw()
        thawed.add(element)
        assert self.native("testing.held")() is self.ours
        self.contents_agree()
        self.ours, self.model = thawed.freeze(), self.model | {element}
        self.follow([element])

    @rule()
    def hash_as_a_frozenset(self) -> None:
        assert hash(self.ours) == hash(self.model)


@pytest.mark.parametrize("machine", [SetMachine, FrozenSetMachine])
def test_machine(ffi: Any, machine: Any) -> None:
    run_machine(machine, ffi)
