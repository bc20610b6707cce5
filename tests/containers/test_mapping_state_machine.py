"""State machines for Dict and Map, with dict and mappingproxy as models."""

from __future__ import annotations

import operator
import types
from typing import Any

import cases
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from state_machine import Machine, keys, run_machine, values
from support import CPYTHON

#: Keys of types that compare equal: 1, 1.0 and True are one key.
mixed_keys = keys | st.sampled_from([1.0, True, 2.0, 2 + 0j])
some_dicts = st.dictionaries(mixed_keys, values, max_size=6)


class _Mappings(Machine):
    """Operations that dict and mappingproxy share."""

    @rule(key=mixed_keys)
    def look_up(self, key: Any) -> None:
        self.both(lambda x: x[key])
        self.both(lambda x: x.get(key, "default"))
        self.both(lambda x: key in x)

    @rule(key=mixed_keys)
    def look_up_in_cpp(self, key: Any) -> None:
        if key in self.model:
            self.apart(lambda: self.native("testing.item")(self.ours, key), lambda: self.model[key])
        else:
            with pytest.raises(KeyError):
                self.native("testing.item")(self.ours, key)

    @rule()
    def walk(self) -> None:
        to_python = self.ffi.to_python
        for read in (
            list,
            lambda x: list(x.values()),
            lambda x: list(x.items()),
            lambda x: list(reversed(x.keys())),
        ):
            got = [to_python(tuple(map(to_python, v)) if type(v) is tuple else v) for v in read(self.ours)]
            assert cases.same(got, read(self.model))

    @rule(other=some_dicts)
    def compare(self, other: Any) -> None:
        self.both(lambda x: x == other)
        self.both(lambda x: other == x)

    @rule(others=st.lists(mixed_keys, max_size=4))
    def views_are_sets(self, others: Any) -> None:
        for operation in (operator.and_, operator.or_, operator.sub, operator.xor):
            self.both(lambda x, op=operation: op(x.keys(), set(others)))
            self.both(lambda x, op=operation: op(set(others), x.keys()))
        self.both(lambda x: x.keys() <= set(others))
        self.both(lambda x: x.keys().isdisjoint(others))

    @rule(other=some_dicts)
    def unite(self, other: Any) -> None:
        def united(left: Any, right: Any) -> Any:
            return list(self.ffi.to_python(left | right).items())

        assert cases.same(united(self.ours, other), list({**self.model, **other}.items()))
        assert cases.same(united(other, self.ours), list({**other, **self.model}.items()))


class DictMachine(_Mappings):
    @initialize(content=some_dicts)
    def start(self, content: Any) -> None:
        self.ours, self.model = self.ffi.Dict(content), dict(content)

    @rule(key=mixed_keys, value=values)
    def set(self, key: Any, value: Any) -> None:
        self.both(lambda x: operator.setitem(x, key, value))

    @rule(key=mixed_keys, value=values)
    def set_in_cpp(self, key: Any, value: Any) -> None:
        self.apart(lambda: self.native("anyffi.Dict.set")(self.ours, key, value), lambda: key in self.model)
        self.model[key] = value

    @rule(key=st.sampled_from(["a", "b", "c", "a key on the heap"]), value=values)
    def put_in_cpp(self, key: Any, value: Any) -> None:
        assert self.native("testing.put")(self.ours, key, value) is self.ours
        self.model[key] = value

    @rule(key=mixed_keys)
    def delete(self, key: Any) -> None:
        self.both(lambda x: operator.delitem(x, key))

    @rule(key=mixed_keys)
    def erase_in_cpp(self, key: Any) -> None:
        self.apart(lambda: self.native("anyffi.Dict.erase")(self.ours, key), lambda: key in self.model)
        self.model.pop(key, None)

    @rule(key=mixed_keys)
    def pop(self, key: Any) -> None:
        self.both(lambda x: x.pop(key))

    @rule(key=mixed_keys)
    def pop_with_default(self, key: Any) -> None:
        self.both(lambda x: x.pop(key, "default"))

    @precondition(lambda self: self.model)
    @rule(key=mixed_keys)
    def pop_in_cpp(self, key: Any) -> None:
        if key in self.model:
            self.apart(lambda: self.native("anyffi.Dict.pop")(self.ours, key), lambda: self.model.pop(key))

    @precondition(lambda self: self.model)
    @rule()
    def popitem_in_cpp(self) -> None:
        popped = self.ffi.to_python(self.native("anyffi.Dict.popitem")(self.ours))
        assert cases.same(popped, self.model.popitem())

    @rule()
    def popitem(self) -> None:
        self.both(lambda x: tuple(map(self.ffi.to_python, x.popitem())))

    @rule(key=mixed_keys, value=values)
    def setdefault(self, key: Any, value: Any) -> None:
        self.both(lambda x: x.setdefault(key, value))

    @rule(other=some_dicts)
    def update(self, other: Any) -> None:
        self.both(lambda x: x.update(other))

    @rule(other=some_dicts)
    def update_in_cpp(self, other: Any) -> None:
        self.native("anyffi.Dict.update")(self.ours, self.ffi.Map(other))
        self.model.update(other)

    @rule(other=st.lists(st.tuples(mixed_keys, values), max_size=4))
    def unite_in_place(self, other: Any) -> None:
        self.both(lambda x: operator.ior(x, other) is x)

    @rule()
    def clear(self) -> None:
        self.both(lambda x: x.clear())

    @rule()
    def grow_and_shrink(self) -> None:
        """Grow past the size at which the index is built, and leave holes."""
        for x in (self.ours, self.model):
            for i in range(40):
                x["grown", i] = i
            for i in range(0, 40, 2):
                del x["grown", i]
            for i in range(1, 40, 2):
                x.pop(("grown", i))

    @rule()
    def copies(self) -> None:
        for made in (self.ours.copy(), self.ours.freeze().thaw(), self.ours | {}):
            assert made is not self.ours
            assert made == self.ours
            made["not here"] = 1
            made.clear()

    # Such changes may crash PyPy's own dicts.
    @precondition(lambda self: CPYTHON)
    @rule(steps=st.integers(0, 8), key=mixed_keys)
    def change_under_an_iterator(self, steps: int, key: Any) -> None:
        iterators = iter(self.ours), iter(self.model)
        for _ in range(steps):
            got, expected = (next(iterator, "end") for iterator in iterators)
            assert cases.same(self.ffi.to_python(got), expected)
        size = len(self.model)
        self.both(lambda x: operator.setitem(x, key, "changed under an iterator"))
        outcomes = []
        for iterator in iterators:
            try:
                outcomes.append([self.ffi.to_python(x) for x in iterator])
            except RuntimeError as error:
                outcomes.append(str(error))
        assert cases.same(*outcomes)
        assert len(self.model) == size or steps > size or isinstance(outcomes[0], str)


class MapMachine(_Mappings):
    """A Map never changes; the result of an operation becomes the next one."""

    @initialize(content=some_dicts)
    def start(self, content: Any) -> None:
        self.ours, self.model = self.ffi.Map(content), types.MappingProxyType(dict(content))

    @rule(other=some_dicts, swapped=st.booleans())
    def add(self, other: Any, swapped: bool) -> None:
        self.ours = other | self.ours if swapped else self.ours | other
        mine = dict(self.model)
        self.model = types.MappingProxyType({**other, **mine} if swapped else {**mine, **other})

    @rule(key=mixed_keys, value=values)
    def thaw_and_change(self, key: Any, value: Any) -> None:
        self.native("testing.hold")(self.ours)
        thawed, changed = self.ours.thaw(), dict(self.model)
        for x in (thawed, changed):
            x[key] = value
            x.pop("a", None)
        assert self.native("testing.held")() is self.ours
        self.contents_agree()
        self.ours, self.model = thawed.freeze(), types.MappingProxyType(changed)


@pytest.mark.parametrize("machine", [DictMachine, MapMachine])
def test_machine(ffi: Any, machine: Any) -> None:
    run_machine(machine, ffi)
