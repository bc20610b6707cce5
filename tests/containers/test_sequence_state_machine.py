"""State machines for List, Array and Shape, with list and tuple as models."""

from __future__ import annotations

import operator
from typing import Any

import cases
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from state_machine import Machine, Opaque, indices, lists_of_values, run_machine, slices, values

sortable = st.lists(st.integers(-5, 5), max_size=12)
extents = st.lists(st.integers(-3, 9) | st.sampled_from([2**63 - 1, -(2**63)]), max_size=6)


class _Sequences(Machine):
    """Operations that list and tuple share, which change nothing."""

    @rule(index=indices)
    def item(self, index: int) -> None:
        self.both(lambda x: x[index])

    @rule(which=slices)
    def slice(self, which: slice) -> None:
        self.both(lambda x: x[which])

    @rule(value=values, start=indices, stop=indices)
    def find(self, value: Any, start: int, stop: int) -> None:
        self.both(lambda x: x.index(value, start, stop))
        self.both(lambda x: x.count(value))
        self.both(lambda x: value in x)

    @rule()
    def walk(self) -> None:
        self.both(lambda x: list(x))
        self.both(lambda x: list(reversed(x)))

    @rule(index=st.integers(-12, 12))
    def item_in_cpp(self, index: int) -> None:
        if -len(self.model) <= index < len(self.model):
            self.apart(lambda: self.native("testing.item")(self.ours, index), lambda: self.model[index])

    @rule()
    def walk_in_cpp(self) -> None:
        self.apart(lambda: self.native("testing.iterate")(self.ours), lambda: list(self.model))
        assert self.native("testing.size")(self.ours) == len(self.model)

    @rule(
        other=lists_of_values, operation=st.sampled_from([operator.eq, operator.ne, operator.lt, operator.ge])
    )
    def compare(self, other: Any, operation: Any) -> None:
        other = type(self.model)(other)
        self.both(lambda x: operation(x, other))
        self.both(lambda x: operation(other, x))

    @rule(other=lists_of_values, times=st.integers(-1, 3))
    def operators(self, other: Any, times: int) -> None:
        other = type(self.model)(other)
        self.both(lambda x: x + other)
        self.both(lambda x: other + x)
        self.both(lambda x: x * times)


class ListMachine(_Sequences):
    @initialize(content=lists_of_values)
    def start(self, content: Any) -> None:
        self.ours, self.model = self.ffi.List(content), list(content)

    @rule(value=values)
    def append(self, value: Any) -> None:
        self.both(lambda x: x.append(value))

    @rule(value=values)
    def append_in_cpp(self, value: Any) -> None:
        assert self.native("testing.append")(self.ours, value) is self.ours
        self.model.append(value)

    @rule(values=lists_of_values)
    def extend(self, values: Any) -> None:
        self.both(lambda x: x.extend(values))

    @rule(values=lists_of_values, index=st.integers(0, 12), count=st.integers(0, 12))
    def splice_in_cpp(self, values: Any, index: int, count: int) -> None:
        index = min(index, len(self.model))
        count = min(count, len(self.model) - index)
        self.native("anyffi.List.splice")(self.ours, index, count, values)
        self.model[index : index + count] = values

    @rule(index=indices, value=values)
    def insert(self, index: int, value: Any) -> None:
        self.both(lambda x: x.insert(index, value))

    @rule(index=st.integers(-12, 12), value=values)
    def insert_in_cpp(self, index: int, value: Any) -> None:
        self.native("anyffi.List.insert")(self.ours, index, value)
        self.model.insert(index, value)

    @rule(index=indices)
    def pop(self, index: int) -> None:
        self.both(lambda x: x.pop(index))

    @precondition(lambda self: self.model)
    @rule(index=st.integers(-12, 12))
    def pop_in_cpp(self, index: int) -> None:
        if -len(self.model) <= index < len(self.model):
            self.apart(
                lambda: self.native("anyffi.List.pop")(self.ours, index), lambda: self.model.pop(index)
            )

    @rule(value=values)
    def remove(self, value: Any) -> None:
        self.both(lambda x: x.remove(value))

    @rule(index=indices, value=values)
    def set(self, index: int, value: Any) -> None:
        self.both(lambda x: operator.setitem(x, index, value))

    @precondition(lambda self: self.model)
    @rule(index=st.integers(0, 11), value=values)
    def set_in_cpp(self, index: int, value: Any) -> None:
        index %= len(self.model)
        self.native("anyffi.List.set")(self.ours, index, value)
        self.model[index] = value

    @rule(index=st.one_of(indices, slices))
    def delete(self, index: Any) -> None:
        self.both(lambda x: operator.delitem(x, index))

    @rule(index=st.integers(0, 12), count=st.integers(0, 12))
    def erase_in_cpp(self, index: int, count: int) -> None:
        index = min(index, len(self.model))
        count = min(count, len(self.model) - index)
        self.native("anyffi.List.erase")(self.ours, index, count)
        del self.model[index : index + count]

    @rule(which=slices, values=lists_of_values)
    def set_slice(self, which: slice, values: Any) -> None:
        self.both(lambda x: operator.setitem(x, which, values))

    @rule(which=slices)
    def set_slice_to_fit(self, which: slice) -> None:
        try:
            values = [*self.model[which]][::-1]
        except ValueError:
            return
        self.both(lambda x: operator.setitem(x, which, values))

    @rule(which=slices)
    def set_slice_to_itself(self, which: slice) -> None:
        self.both(lambda x: operator.setitem(x, which, x))

    @rule()
    def reverse(self) -> None:
        self.both(lambda x: x.reverse())

    @rule(key=st.sampled_from([str, repr, lambda v: str(type(v))]), reverse=st.booleans())
    def sort(self, key: Any, reverse: bool) -> None:
        # `repr` and `str` of nested containers differ.
        plain = self.ffi.to_python
        self.ours.sort(key=lambda v: key(plain(v)) if type(v) is not Opaque else "", reverse=reverse)
        self.model.sort(key=lambda v: key(v) if type(v) is not Opaque else "", reverse=reverse)

    @rule(values=sortable, reverse=st.booleans())
    def sort_numbers(self, values: Any, reverse: bool) -> None:
        self.both(lambda x: operator.setitem(x, slice(None), values))
        self.both(lambda x: x.sort(reverse=reverse))

    @rule()
    def sort_what_may_not_compare(self) -> None:
        before = list(self.model)
        try:
            self.model.sort()
        except TypeError:
            self.model = before  # ours is as it was
            with pytest.raises(TypeError):
                self.ours.sort()
        else:
            self.ours.sort()

    @rule(times=st.integers(-1, 2))
    def repeat(self, times: int) -> None:
        if len(self.model) < 30:
            self.both(lambda x: operator.imul(x, times) is x)

    @rule()
    def clear(self) -> None:
        self.both(lambda x: x.clear())

    @rule()
    def copies(self) -> None:
        for made in (self.ours.copy(), self.ours[:], self.ours.freeze().thaw()):
            assert made is not self.ours
            assert made == self.ours
            made.append("not here")
            made.clear()

    @rule(steps=st.integers(0, 12), value=values)
    def change_under_an_iterator(self, steps: int, value: Any) -> None:
        iterators = iter(self.ours), iter(self.model)
        for _ in range(steps):
            got, expected = (next(iterator, "end") for iterator in iterators)
            assert cases.same(self.ffi.to_python(got), expected)
        self.both(lambda x: x.insert(0, value))
        self.both(lambda x: x.pop())
        got, expected = (self.ffi.to_python(list(iterator)) for iterator in iterators)
        assert cases.same([self.ffi.to_python(x) for x in got], expected)


class ArrayMachine(_Sequences):
    """An Array never changes; the result of an operation becomes the next one."""

    @initialize(content=lists_of_values)
    def start(self, content: Any) -> None:
        self.ours, self.model = self.ffi.Array(content), tuple(content)

    @rule(other=lists_of_values, swapped=st.booleans())
    def add(self, other: Any, swapped: bool) -> None:
        other = tuple(other)
        if len(self.model) < 30:
            self.ours = other + self.ours if swapped else self.ours + other
            self.model = other + self.model if swapped else self.model + other

    @rule(which=slices)
    def take_slice(self, which: slice) -> None:
        if which.step != 0:
            self.ours, self.model = self.ours[which], self.model[which]

    @rule(value=values)
    def thaw_and_change(self, value: Any) -> None:
        self.native("testing.hold")(self.ours)
        thawed = self.ours.thaw()
        thawed.append(value)
        thawed.reverse()
        assert self.native("testing.held")() is self.ours
        self.contents_agree()
        self.ours, self.model = thawed.freeze(), (*self.model, value)[::-1]

    @rule()
    def hash_as_a_tuple(self) -> None:
        try:
            expected = hash(self.model)
        except TypeError:
            with pytest.raises(TypeError):
                hash(self.ours)
        else:
            assert hash(self.ours) == expected


class ShapeMachine(_Sequences):
    """A Shape behaves as a tuple of ints; the result of an operation becomes the next one."""

    @initialize(content=extents)
    def start(self, content: Any) -> None:
        self.ours, self.model = self.ffi.Shape(content), tuple(content)

    def described(self) -> str:
        return super().described().replace("Array", "Shape", 1)

    @rule(other=extents, swapped=st.booleans())
    def add(self, other: Any, swapped: bool) -> None:
        other = tuple(other)
        if len(self.model) < 30:
            self.ours = other + self.ours if swapped else self.ours + other
            self.model = other + self.model if swapped else self.model + other
        assert type(self.ours) is self.ffi.Shape

    @rule(which=slices)
    def take_slice(self, which: slice) -> None:
        if which.step != 0:
            self.ours, self.model = self.ours[which], self.model[which]
        assert type(self.ours) is self.ffi.Shape

    @rule(other=extents, times=st.integers(-1, 3))
    def operators(self, other: Any, times: int) -> None:
        super().operators(other, times)

    @rule(value=values)
    def refused(self, value: Any) -> None:
        if type(value) not in (int, bool):
            for operation in (lambda: self.ours + (value,), lambda: (value,) + self.ours):
                with pytest.raises(TypeError):
                    operation()

    @rule(other=extents)
    def made_in_cpp(self, other: Any) -> None:
        assert self.native("testing.typed.shape")(self.ours) is self.ours
        self.ours = self.native("testing.typed.shape")(self.ffi.List(other))
        self.model = tuple(other)

    @rule()
    def hash_as_a_tuple(self) -> None:
        assert hash(self.ours) == hash(self.model) == self.native("testing.hash")(self.ours)


@pytest.mark.parametrize("machine", [ListMachine, ArrayMachine, ShapeMachine])
def test_machine(ffi: Any, machine: Any) -> None:
    run_machine(machine, ffi)
