"""Comparison and hashes of objects by their fields, and of those that bind variables."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from calculus_sources import IR
from support import Build, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]


@pytest.fixture
def calculus(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("calculus.cc", IR))


def check(ffi: Any, a: Any, b: Any, same: bool, **options: bool) -> None:
    for left, right in ((a, b), (b, a)):
        assert ffi.structural_equal(left, right, **options) is same
        assert (ffi.first_mismatch(left, right, **options) is None) is same
        assert (ffi.diff(left, right, **options) == []) is same
    if same:
        assert ffi.structural_hash(a, **options) == ffi.structural_hash(b, **options)


def test_fields(ffi: Any, calculus: Any) -> None:
    a, b = (calculus.Pair(1, calculus.Pair([2], {"w": x})) for x in (3, 4))
    check(ffi, a, calculus.Pair(1, calculus.Pair([2], {"w": 3})), True)
    check(ffi, a, b, False)
    assert str(ffi.first_mismatch(a, b)) == '.b.b["w"]'
    assert ffi.first_mismatch(a, b).path.resolve(a) == 3
    assert ffi.structural_hash(a) != ffi.structural_hash(b)
    check(ffi, calculus.Pair(1, 2), [1, 2], False)
    check(ffi, calculus.Pair(1, 2), calculus.Note("", 2), False)


def test_fields_that_are_ignored_or_compared_by_identity(ffi: Any, calculus: Any) -> None:
    here: list[Any] = [ffi.List([1]), ffi.List([1])]
    check(ffi, calculus.Note("a", 1), calculus.Note("b", 1), True)
    check(ffi, calculus.Note("a", 1, here[0]), calculus.Note("a", 1, here[0]), True)
    check(ffi, calculus.Note("a", 1, here[0]), calculus.Note("a", 1, here[1]), False)
    check(ffi, calculus.Note("a", 1, "text"), calculus.Note("a", 1, "text"), True)
    check(ffi, [calculus.Unique(1)], [calculus.Unique(1)], False)
    one = calculus.Unique(1)
    check(ffi, [one], [one], True)


def test_objects_without_fields(ffi: Any, calculus: Any) -> None:
    check(ffi, calculus.Saved(1, 2), calculus.Saved(1, 2), True)
    check(ffi, calculus.Saved(1, 2), calculus.Saved(1, 3), False)
    assert str(ffi.first_mismatch([calculus.Saved(1, 2)], [calculus.Saved(1, 3)])) == "[0].__getstate__()[1]"
    assert (
        ffi.first_mismatch([calculus.Saved(1, 2)], [calculus.Saved(1, 3)]).path.resolve(
            [calculus.Saved(1, 2)]
        )
        == 2
    )
    for cls in (calculus.Plain, calculus.PlainNode):
        plain, other = cls(), cls()
        check(ffi, plain, other, False)
        check(ffi, [plain, plain], [plain, plain], True)
        check(ffi, [plain, plain], [plain, other], False)


def test_bound_variables(ffi: Any, calculus: Any) -> None:
    x, y, z = (calculus.Var(name) for name in "xyz")
    check(ffi, calculus.Lambda([x], x), calculus.Lambda([y], y), True)
    check(
        ffi, calculus.Lambda([x, y], calculus.Pair(x, y)), calculus.Lambda([y, x], calculus.Pair(y, x)), True
    )
    check(
        ffi, calculus.Lambda([x, y], calculus.Pair(x, y)), calculus.Lambda([x, y], calculus.Pair(y, x)), False
    )
    check(ffi, calculus.Lambda([x], y), calculus.Lambda([x], x), False)
    check(ffi, calculus.Lambda([x], y), calculus.Lambda([z], y), True)
    check(ffi, calculus.Lambda([x], y), calculus.Lambda([y], y), False)
    check(ffi, calculus.Lambda([x], x), calculus.Lambda([y], x), False)
    check(
        ffi,
        calculus.Lambda([x], calculus.Lambda([x], x)),
        calculus.Lambda([y], calculus.Lambda([z], z)),
        True,
    )
    check(
        ffi,
        calculus.Lambda([x], calculus.Lambda([y], x)),
        calculus.Lambda([y], calculus.Lambda([y], y)),
        False,
    )
    check(ffi, calculus.Let(x, 1, calculus.Pair(x, 2)), calculus.Let(y, 1, calculus.Pair(y, 2)), True)
    # The value is outside of the scope.
    check(ffi, calculus.Let(x, x, x), calculus.Let(y, x, y), True)
    check(ffi, calculus.Let(x, x, x), calculus.Let(y, y, y), False)
    # A bound variable is free again after its scope.
    check(ffi, calculus.Pair(calculus.Lambda([x], x), x), calculus.Pair(calculus.Lambda([y], y), x), True)
    check(ffi, calculus.Pair(calculus.Lambda([x], x), x), calculus.Pair(calculus.Lambda([y], y), y), False)
    # One object, within and outside of a scope.
    shared = calculus.Pair(x, 1)
    check(ffi, [shared, calculus.Lambda([x], shared)], [shared, calculus.Lambda([y], shared)], False)
    check(
        ffi, [shared, calculus.Lambda([x], shared)], [shared, calculus.Lambda([y], calculus.Pair(y, 1))], True
    )
    check(
        ffi, [calculus.Lambda([x], shared), shared], [calculus.Lambda([y], calculus.Pair(y, 1)), shared], True
    )


def test_objects_of_any_class_can_be_bound(ffi: Any, calculus: Any) -> None:
    a, b = calculus.Pair(0, 1), calculus.Pair(0, 1)
    check(ffi, calculus.Lambda([a, b], [a, b]), calculus.Lambda([a, b], [b, a]), False)
    check(ffi, [a, b], [b, a], True)


def test_declarations_reach_to_the_end_of_the_scope(ffi: Any, calculus: Any) -> None:
    x, y = calculus.Var("x"), calculus.Var("y")
    check(ffi, [calculus.Bind(x, 1), calculus.Pair(x, 2)], [calculus.Bind(y, 1), calculus.Pair(y, 2)], True)
    check(ffi, [calculus.Bind(x, 1), calculus.Pair(x, 2)], [calculus.Bind(y, 1), calculus.Pair(x, 2)], False)
    check(
        ffi,
        [calculus.Lambda([], [calculus.Bind(x, 1)]), x],
        [calculus.Lambda([], [calculus.Bind(y, 1)]), y],
        False,
    )
    check(
        ffi,
        [calculus.Lambda([], [calculus.Bind(x, 1)]), x],
        [calculus.Lambda([], [calculus.Bind(y, 1)]), x],
        True,
    )
    # The same declaration twice declares twice.
    a, b = calculus.Bind(x, 1), calculus.Bind(y, 1)
    check(
        ffi,
        [calculus.Lambda([], [a, x]), calculus.Lambda([], [a, x])],
        [calculus.Lambda([], [b, y]), calculus.Lambda([], [b, y])],
        True,
    )


def test_free_variables(ffi: Any, calculus: Any) -> None:
    x, y, z = (calculus.Var(name) for name in "xyz")
    check(ffi, calculus.Pair(x, 1), calculus.Pair(x, 1), True)
    check(ffi, calculus.Pair(x, 1), calculus.Pair(y, 1), False)
    check(ffi, calculus.Pair(x, 1), calculus.Pair(y, 1), True, map_free_vars=True)
    check(ffi, calculus.Pair(x, x), calculus.Pair(y, y), True, map_free_vars=True)
    check(ffi, calculus.Pair(x, x), calculus.Pair(y, z), False, map_free_vars=True)
    check(ffi, calculus.Pair(x, y), calculus.Pair(z, z), False, map_free_vars=True)
    check(ffi, calculus.Pair(x, y), calculus.Pair(y, x), True, map_free_vars=True)
    check(
        ffi,
        calculus.Pair(calculus.Pair(x, 1), x),
        calculus.Pair(calculus.Pair(x, 1), y),
        False,
        map_free_vars=True,
    )
    check(ffi, {"a": x, "b": y}, {"b": x, "a": y}, True, map_free_vars=True)
    # After the same object occurred on both sides, its variables stand for themselves.
    part = ffi.List([x])
    check(ffi, [part, x], [part, y], False, map_free_vars=True)


def test_variables_as_keys(ffi: Any, calculus: Any) -> None:
    x, y, z = (calculus.Var(name) for name in "xyz")
    check(ffi, calculus.Lambda([x, y], {x: 1, y: 2}), calculus.Lambda([z, x], {x: 2, z: 1}), True)
    check(ffi, calculus.Lambda([x, y], {x: 1, y: 2}), calculus.Lambda([z, x], {x: 1, z: 2}), False)
    check(ffi, {x: 1, y: 2}, {y: 2, x: 1}, True)
    check(ffi, {x: 1, y: 2}, {y: 1, x: 2}, False)
    check(
        ffi,
        {calculus.Pair(0, 1): 1, calculus.Pair(0, 2): 2},
        {calculus.Pair(0, 2): 2, calculus.Pair(0, 1): 1},
        True,
    )
    check(
        ffi,
        {calculus.Pair(0, 1): 1, calculus.Pair(0, 1): 2},
        {calculus.Pair(0, 1): 2, calculus.Pair(0, 1): 1},
        True,
    )


@pytest.mark.parametrize("keeps", [False, True], ids=["terms are shared", "all is shared"])
def test_shared_terms_below_many_binders(ffi: Any, calculus: Any, keeps: bool) -> None:
    def make(names: str) -> Any:
        g, term = calculus.Var("g"), calculus.Var(names)
        for i in range(40):
            variable = calculus.Var(f"{names}{i}")
            parts = [calculus.Pair(term, variable)]
            parts.append(calculus.Pair(parts[0], g))
            kept.extend(parts if keeps else ())
            term = calculus.Let(variable, term, parts[1])
        return calculus.Lambda([g], term)

    kept: list[Any] = []
    a, b = make("a"), make("b")
    check(ffi, a, b, False)
    check(ffi, a, b, True, map_free_vars=True)

    def nested(x: Any) -> Any:
        term = x
        for _ in range(40):
            term = calculus.Pair(calculus.Lambda([x], term), term)
        return calculus.Lambda([x], term)

    check(ffi, nested(calculus.Var("x")), nested(calculus.Var("y")), True)


def test_deep_and_large_values_of_cpp(ffi: Any, calculus: Any) -> None:
    check(ffi, calculus.chain(100_000, 1), calculus.chain(100_000, 1), True)
    assert not ffi.structural_equal(calculus.chain(100_000, 1), calculus.chain(100_000, 2))
    assert len(ffi.first_mismatch(calculus.chain(1000, 1), calculus.chain(1000, 2)).path) == 1000
    check(ffi, calculus.tree(12), calculus.tree(12), True)
    check(ffi, calculus.tree(12), calculus.tree(12, 2), False)
    check(ffi, calculus.lists(100_000), calculus.lists(100_000), True)
    assert calculus.equal(calculus.tree(10), calculus.tree(10))
    assert not calculus.equal([1, 2], [1, 3])
    assert calculus.differ([1, {"k": 2}], [1, {"k": 3}]) == (((1, 1), (2, "k")), 2, 3, True, True)
    assert calculus.differ([1], [1, 3]) == (((1, 1),), None, 3, False, True)
    assert calculus.walk([1, {"k": calculus.Pair(2, [3])}]) == 8


def test_hashes_of_objects_are_those_of_other_processes(ffi: Any, calculus: Any, build: Build) -> None:
    program = f"""
import anyffi
calculus = anyffi.load_module({str(build("calculus.cc", IR))!r})
others = [calculus.Plain(), calculus.Unique(1), len, calculus.Lambda([calculus.Var("x")], 1)]
print(anyffi.structural_hash(calculus.tree(5)), anyffi.structural_hash(others))
"""
    runs = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    same = [calculus.Plain(), calculus.Unique(1), len, calculus.Lambda([calculus.Var("y")], 1)]
    assert runs == {f"{ffi.structural_hash(calculus.tree(5))} {ffi.structural_hash(same)}\n"}


def test_cycles_through_what_binds(ffi: Any, calculus: Any) -> None:
    made = []
    for place in ("body", "params"):
        for _ in range(2):
            x, inside = calculus.Var("x"), ffi.List([1])
            term = calculus.Lambda([x, inside], inside) if place == "params" else calculus.Lambda([x], inside)
            inside.append(term)
            made.append((term, inside))
    for (a, _), (b, _) in (made[:2], made[2:]):
        check(ffi, a, b, True)
        check(ffi, a, b, True, map_free_vars=True)
    for _, inside in made:
        inside.clear()
