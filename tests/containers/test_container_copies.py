"""Copies and references: who sees which change.

docs/containers.md states the rules that are tested here.
"""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest
from models import Element, Kept
from support import cpython_only

# ---- copies ---------------------------------------------------------------------------------------------


def test_shallow_copies(ffi: Any) -> None:
    inner = ffi.List([1])
    for x in (ffi.List([inner, 2]), ffi.Dict(a=inner)):
        for made in (copy.copy(x), x.copy()):
            assert type(made) is type(x)
            assert made is not x
            assert made == x
            assert next(iter(made.values() if hasattr(made, "values") else made)) is inner
    xs = ffi.List([inner])
    other = copy.copy(xs)
    other.append(5)
    inner.append(2)
    assert xs == [[1, 2]]
    assert other == [[1, 2], 5]
    for x in (ffi.Array([inner]), ffi.Map(a=inner), ffi.Shape([1, 2]), ffi.FrozenSet([1, len])):
        assert copy.copy(x) is x  # immutable, so the copy is the same object
    elements = ffi.Set([3, (1, 2)])
    for made in (copy.copy(elements), elements.copy()):
        assert type(made) is ffi.Set
        made.add("not there")
        assert list(elements) == [3, (1, 2)]


def test_deep_copies(ffi: Any) -> None:
    inner = ffi.List([1])
    for x in (
        ffi.List([inner, inner]),
        ffi.Array([inner, inner]),
        ffi.Dict(a=inner, b=inner),
        ffi.Map(a=inner, b=inner),
    ):
        made = copy.deepcopy(x)
        assert type(made) is type(x)
        assert made == x
        first, second = list(made.values()) if hasattr(made, "values") else made
        assert first is second  # shared as before
        assert first is not inner
        first.append(2)
        assert inner == [1]
    kept = Kept([1])
    xs = ffi.List([kept, ("deep", kept)])
    made = copy.deepcopy(xs)
    assert made == [kept, ("deep", kept)]
    assert made[0] is made[1][1]
    assert made[0] is not kept
    # The deep copy of a deeply immutable container is that container.
    for x in (
        ffi.Array([1, "two", (3, b"4")]),
        ffi.Map({"a": (1, 2), (3,): None}),
        ffi.Shape([1]),
        ffi.FrozenSet([1, ("two", b"3")]),
    ):
        assert copy.deepcopy(x) is x
    for cls in (ffi.Set, ffi.FrozenSet):
        element = Element()
        element.holds = cls([element, 3])
        made = copy.deepcopy(element.holds)
        assert type(made) is cls
        copied, three = made
        assert three == 3
        assert type(copied) is Element
        assert copied is not element
        assert copied.holds is made
        del copied.holds, element.holds


def test_deep_copies_of_what_holds_itself(ffi: Any) -> None:
    xs = ffi.List([1])
    xs.append(xs)
    made = copy.deepcopy(xs)
    assert made is not xs
    assert made[1] is made
    d = ffi.Dict()
    d["array"] = ffi.Array([d, 1])
    d["map"] = ffi.Map(d=d)
    made_dict = copy.deepcopy(d)
    assert made_dict["array"][0] is made_dict
    assert made_dict["map"]["d"] is made_dict
    array = d["array"]
    made_array = copy.deepcopy(array)
    assert made_array[0]["array"] is made_array
    assert made_array is not array
    for container in (xs, made, d, made_dict, made_array[0]):
        container.clear()


def test_deep_copies_visit_shared_values_once(ffi: Any) -> None:
    for wrap in (
        lambda x: ffi.Array((x, x)),
        lambda x: ffi.Map(a=x, b=x),
        lambda x: ffi.FrozenSet((x, (x,))),
    ):
        value: Any = ffi.Array([1, len])
        for _ in range(12):
            value = wrap(value)
        memo: dict[int, Any] = {}
        assert copy.deepcopy(value, memo) is value
        assert len(memo) < 40


def test_the_memo_is_used(ffi: Any) -> None:
    xs = ffi.List([1])
    memo: dict[int, Any] = {}
    both = copy.deepcopy([xs, xs, {"k": xs}], memo)
    assert both[0] is both[1] is both[2]["k"]
    assert memo[id(xs)] is both[0]


# ---- sharing --------------------------------------------------------------------------------------------


def test_a_holder_of_an_array_sees_no_change(ffi: Any) -> None:
    """An Array never changes, whatever happens to Lists made from it or to those it was made from."""
    hold, held, seen = map(ffi.get_global_func, ("testing.hold", "testing.held", "testing.describe"))
    source = ffi.List([1, "a string on the heap", [2]])
    array = source.freeze()
    hold(array)
    before = seen(array)
    lists = [array.thaw(), ffi.List(array), ffi.List([*array]), source]
    for xs in lists:
        xs[0] = "changed"
        xs.append(5)
        xs.reverse()
        del xs[1:]
        xs.clear()
        assert held() is array
        assert seen(held()) == before
    mapping = ffi.Map(a=1, b=[2])
    hold(mapping)
    before = seen(mapping)
    for d in (mapping.thaw(), ffi.Dict(mapping), mapping.copy()):
        d["a"] = "changed"
        d.pop("b")
        d.update(c=3)
        assert seen(held()) == before
    elements = ffi.FrozenSet([1, "a string on the heap"])
    hold(elements)
    before = seen(elements)
    for s in (elements.thaw(), ffi.Set(elements)):
        s.add("changed")
        s.clear()
        assert seen(held()) == before
    hold(None)


def test_a_holder_of_a_list_sees_every_change(ffi: Any) -> None:
    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
    xs = ffi.List([1])
    hold(xs)
    assert held() is xs
    xs.append(2)
    assert list(held()) == [1, 2]
    held().append(3)
    assert xs == [1, 2, 3]
    # Python's own containers are copied: neither side sees changes of the other.
    plain = [1]
    hold(plain)
    plain.append(2)
    assert held() == [1]
    held().append(3)
    assert plain == [1, 2]
    hold(None)


def test_what_a_parameter_gets(ffi: Any) -> None:
    """Array parameters take a snapshot of a List; List parameters take the List itself and refuse tuples."""
    describe, as_array = map(ffi.get_global_func, ("testing.describe", "testing.typed.array"))
    xs = ffi.List([1, 2])
    snapshot = as_array(xs)
    xs.append(3)
    assert snapshot == (1, 2)
    array = ffi.Array([1, 2])
    assert as_array(array) is array
    assert describe(xs) == "List[Int(1), Int(2), Int(3)]"
    append = ffi.get_global_func("anyffi.List.append")
    append(xs, 4)
    assert xs == [1, 2, 3, 4]
    for refused, got in (((1, 2), "tuple"), (array, "Array")):
        with pytest.raises(TypeError, match=rf"expected List\[Any\], got {got}"):
            append(refused, 5)
    assert array == (1, 2)


@cpython_only("reference counts show what is shared")
def test_elements_are_shared_between_copies(ffi: Any) -> None:
    use_count = ffi.get_global_func("testing.use_count")
    inner = ffi.List([1])
    alone = use_count(inner)
    xs = ffi.List([inner])
    assert use_count(inner) == alone + 1
    made = [xs.copy(), xs.freeze(), xs[:], xs + [], xs * 1, ffi.Dict(k=inner), ffi.Array(xs)]
    assert use_count(inner) == alone + 1 + len(made)
    made[0][0].append(2)
    assert inner == [1, 2]
    assert all(next(iter(x.values() if hasattr(x, "values") else x)) is inner for x in made)
    made.clear()
    assert use_count(inner) == alone + 1
    # The full slice of an Array is that Array.
    array = xs.freeze()
    assert array[:] is array
    assert array[0:100] is array
    assert array[::2] is not array


def test_one_value_for_all_keys(ffi: Any) -> None:
    d = ffi.Dict.fromkeys("abc", [1])
    assert d["a"] is d["b"] is d["c"]
    d["a"].append(2)
    assert d == {"a": [1, 2], "b": [1, 2], "c": [1, 2]}

    class Mine(ffi.Dict):  # type: ignore[misc, name-defined]
        def __setitem__(self, key: Any, value: Any) -> None:
            super().__setitem__(key.upper(), value)

    assert type(Mine.fromkeys("ab")) is Mine
    assert list(Mine.fromkeys("ab")) == ["A", "B"]


@cpython_only("reference counts show what is kept")
def test_counts_after_every_kind_of_copy(ffi: Any) -> None:
    kept = Kept()
    before = sys.getrefcount(kept)
    for x in (ffi.List([kept, 1]), ffi.Array([kept]), ffi.Dict(a=kept), ffi.Map(a=kept)):
        copy.copy(x)
        copy.deepcopy(x)
        pickle.loads(pickle.dumps(x))
        list(reversed(x))
        x == copy.copy(x)
        repr(x)
    del x
    assert sys.getrefcount(kept) == before
