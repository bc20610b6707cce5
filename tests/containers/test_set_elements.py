"""Sets as typed parameters, and elements whose Python code runs during operations."""

from __future__ import annotations

import pickle
from typing import Any

import cases
import pytest
from support import collect

# ---- typed parameters ---------------------------------------------------------------------------


def test_conversion_to_typed_sets(ffi: Any) -> None:
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
        ([1], ": expected Set[int], got list; pass set() of it"),
    ):
        with pytest.raises(TypeError) as caught:
            ints(bad)
        assert str(caught.value) == start + message
    with pytest.raises(OverflowError, match="does not fit int64"):
        ints({2**64})
    with pytest.raises(TypeError, match=r"at \[1\]: expected str, got int"):
        strs({1})


# ---- what Python code may do meanwhile ----------------------------------------------------------


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


def test_an_element_that_changes_the_set_during_lookup(ffi: Any) -> None:
    s = ffi.Set()

    class Nasty:
        def __init__(self, act: Any) -> None:
            self.act = act

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            act, self.act = self.act, lambda: None  # once, since otherwise the look-up would restart for ever
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
    """A set that occurs twice in an argument stays one object, as a list does."""
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
