"""Comparison and hashes of objects by their fields, and of those that bind variables."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from ir_sources import IR
from support import Build, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]


@pytest.fixture
def ir(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("ir.cc", IR))


def check(ffi: Any, a: Any, b: Any, same: bool, **options: bool) -> None:
    for left, right in ((a, b), (b, a)):
        assert ffi.structural_equal(left, right, **options) is same
        assert (ffi.first_mismatch(left, right, **options) is None) is same
        assert (ffi.diff(left, right, **options) == []) is same
    if same:
        assert ffi.structural_hash(a, **options) == ffi.structural_hash(b, **options)


def test_fields(ffi: Any, ir: Any) -> None:
    a, b = (ir.Pair(1, ir.Pair([2], {"w": x})) for x in (3, 4))
    check(ffi, a, ir.Pair(1, ir.Pair([2], {"w": 3})), True)
    check(ffi, a, b, False)
    assert str(ffi.first_mismatch(a, b)) == '.b.b["w"]'
    assert ffi.first_mismatch(a, b).path.resolve(a) == 3
    assert ffi.structural_hash(a) != ffi.structural_hash(b)
    check(ffi, ir.Pair(1, 2), [1, 2], False)
    check(ffi, ir.Pair(1, 2), ir.Note("", 2), False)


def test_fields_that_are_ignored_or_compared_by_identity(ffi: Any, ir: Any) -> None:
    here: list[Any] = [ffi.List([1]), ffi.List([1])]
    check(ffi, ir.Note("a", 1), ir.Note("b", 1), True)
    check(ffi, ir.Note("a", 1, here[0]), ir.Note("a", 1, here[0]), True)
    check(ffi, ir.Note("a", 1, here[0]), ir.Note("a", 1, here[1]), False)
    check(ffi, ir.Note("a", 1, "text"), ir.Note("a", 1, "text"), True)
    check(ffi, [ir.Unique(1)], [ir.Unique(1)], False)
    one = ir.Unique(1)
    check(ffi, [one], [one], True)


def test_objects_without_fields(ffi: Any, ir: Any) -> None:
    check(ffi, ir.Saved(1, 2), ir.Saved(1, 2), True)
    check(ffi, ir.Saved(1, 2), ir.Saved(1, 3), False)
    assert str(ffi.first_mismatch([ir.Saved(1, 2)], [ir.Saved(1, 3)])) == "[0].__getstate__()[1]"
    assert ffi.first_mismatch([ir.Saved(1, 2)], [ir.Saved(1, 3)]).path.resolve([ir.Saved(1, 2)]) == 2
    check(ffi, ir.Plain(), ir.Plain(), False)
    plain = ir.Plain()
    check(ffi, [plain], [plain], True)


def test_bound_variables(ffi: Any, ir: Any) -> None:
    x, y, z = (ir.Var(name) for name in "xyz")
    check(ffi, ir.Lambda([x], x), ir.Lambda([y], y), True)
    check(ffi, ir.Lambda([x, y], ir.Pair(x, y)), ir.Lambda([y, x], ir.Pair(y, x)), True)
    check(ffi, ir.Lambda([x, y], ir.Pair(x, y)), ir.Lambda([x, y], ir.Pair(y, x)), False)
    check(ffi, ir.Lambda([x], y), ir.Lambda([x], x), False)
    check(ffi, ir.Lambda([x], y), ir.Lambda([z], y), True)
    check(ffi, ir.Lambda([x], y), ir.Lambda([y], y), False)
    check(ffi, ir.Lambda([x], x), ir.Lambda([y], x), False)
    check(ffi, ir.Lambda([x], ir.Lambda([x], x)), ir.Lambda([y], ir.Lambda([z], z)), True)
    check(ffi, ir.Lambda([x], ir.Lambda([y], x)), ir.Lambda([y], ir.Lambda([y], y)), False)
    check(ffi, ir.Let(x, 1, ir.Pair(x, 2)), ir.Let(y, 1, ir.Pair(y, 2)), True)
    # The value is outside of the scope.
    check(ffi, ir.Let(x, x, x), ir.Let(y, x, y), True)
    check(ffi, ir.Let(x, x, x), ir.Let(y, y, y), False)
    # What was bound is free again after it.
    check(ffi, ir.Pair(ir.Lambda([x], x), x), ir.Pair(ir.Lambda([y], y), x), True)
    check(ffi, ir.Pair(ir.Lambda([x], x), x), ir.Pair(ir.Lambda([y], y), y), False)
    # One object, within and outside of a scope.
    shared = ir.Pair(x, 1)
    check(ffi, [shared, ir.Lambda([x], shared)], [shared, ir.Lambda([y], shared)], False)
    check(ffi, [shared, ir.Lambda([x], shared)], [shared, ir.Lambda([y], ir.Pair(y, 1))], True)
    check(ffi, [ir.Lambda([x], shared), shared], [ir.Lambda([y], ir.Pair(y, 1)), shared], True)


def test_objects_of_any_class_can_be_bound(ffi: Any, ir: Any) -> None:
    a, b = ir.Pair(0, 1), ir.Pair(0, 1)
    check(ffi, ir.Lambda([a, b], [a, b]), ir.Lambda([a, b], [b, a]), False)
    check(ffi, [a, b], [b, a], True)


def test_declarations_reach_to_the_end_of_the_scope(ffi: Any, ir: Any) -> None:
    x, y = ir.Var("x"), ir.Var("y")
    check(ffi, [ir.Bind(x, 1), ir.Pair(x, 2)], [ir.Bind(y, 1), ir.Pair(y, 2)], True)
    check(ffi, [ir.Bind(x, 1), ir.Pair(x, 2)], [ir.Bind(y, 1), ir.Pair(x, 2)], False)
    check(ffi, [ir.Lambda([], [ir.Bind(x, 1)]), x], [ir.Lambda([], [ir.Bind(y, 1)]), y], False)
    check(ffi, [ir.Lambda([], [ir.Bind(x, 1)]), x], [ir.Lambda([], [ir.Bind(y, 1)]), x], True)
    # The same declaration twice declares twice.
    a, b = ir.Bind(x, 1), ir.Bind(y, 1)
    check(
        ffi,
        [ir.Lambda([], [a, x]), ir.Lambda([], [a, x])],
        [ir.Lambda([], [b, y]), ir.Lambda([], [b, y])],
        True,
    )


def test_free_variables(ffi: Any, ir: Any) -> None:
    x, y, z = (ir.Var(name) for name in "xyz")
    check(ffi, ir.Pair(x, 1), ir.Pair(x, 1), True)
    check(ffi, ir.Pair(x, 1), ir.Pair(y, 1), False)
    check(ffi, ir.Pair(x, 1), ir.Pair(y, 1), True, map_free_vars=True)
    check(ffi, ir.Pair(x, x), ir.Pair(y, y), True, map_free_vars=True)
    check(ffi, ir.Pair(x, x), ir.Pair(y, z), False, map_free_vars=True)
    check(ffi, ir.Pair(x, y), ir.Pair(z, z), False, map_free_vars=True)
    check(ffi, ir.Pair(x, y), ir.Pair(y, x), True, map_free_vars=True)
    check(ffi, ir.Pair(ir.Pair(x, 1), x), ir.Pair(ir.Pair(x, 1), y), False, map_free_vars=True)
    check(ffi, {"a": x, "b": y}, {"b": x, "a": y}, True, map_free_vars=True)


def test_variables_as_keys(ffi: Any, ir: Any) -> None:
    x, y, z = (ir.Var(name) for name in "xyz")
    check(ffi, ir.Lambda([x, y], {x: 1, y: 2}), ir.Lambda([z, x], {x: 2, z: 1}), True)
    check(ffi, ir.Lambda([x, y], {x: 1, y: 2}), ir.Lambda([z, x], {x: 1, z: 2}), False)
    check(ffi, {x: 1, y: 2}, {y: 2, x: 1}, True)
    check(ffi, {x: 1, y: 2}, {y: 1, x: 2}, False)
    check(ffi, {ir.Pair(0, 1): 1, ir.Pair(0, 2): 2}, {ir.Pair(0, 2): 2, ir.Pair(0, 1): 1}, True)
    check(ffi, {ir.Pair(0, 1): 1, ir.Pair(0, 1): 2}, {ir.Pair(0, 1): 2, ir.Pair(0, 1): 1}, True)


@pytest.mark.parametrize("keeps", [False, True], ids=["terms are shared", "all is shared"])
def test_shared_terms_below_many_binders(ffi: Any, ir: Any, keeps: bool) -> None:
    def make(names: str) -> Any:
        g, term = ir.Var("g"), ir.Var(names)
        for i in range(40):
            variable = ir.Var(f"{names}{i}")
            parts = [ir.Pair(term, variable)]
            parts.append(ir.Pair(parts[0], g))
            kept.extend(parts if keeps else ())
            term = ir.Let(variable, term, parts[1])
        return ir.Lambda([g], term)

    kept: list[Any] = []
    a, b = make("a"), make("b")
    check(ffi, a, b, False)
    check(ffi, a, b, True, map_free_vars=True)

    def nested(x: Any) -> Any:
        term = x
        for _ in range(40):
            term = ir.Pair(ir.Lambda([x], term), term)
        return ir.Lambda([x], term)

    check(ffi, nested(ir.Var("x")), nested(ir.Var("y")), True)


def test_deep_and_large_values_of_cpp(ffi: Any, ir: Any) -> None:
    check(ffi, ir.chain(100_000, 1), ir.chain(100_000, 1), True)
    assert not ffi.structural_equal(ir.chain(100_000, 1), ir.chain(100_000, 2))
    assert len(ffi.first_mismatch(ir.chain(1000, 1), ir.chain(1000, 2)).path) == 1000
    check(ffi, ir.tree(12), ir.tree(12), True)
    check(ffi, ir.tree(12), ir.tree(12, 2), False)
    check(ffi, ir.lists(100_000), ir.lists(100_000), True)
    assert ir.equal(ir.tree(10), ir.tree(10))
    assert not ir.equal([1, 2], [1, 3])
    assert ir.differ([1, {"k": 2}], [1, {"k": 3}]) == (((1, 1), (2, "k")), 2, 3, True, True)
    assert ir.differ([1], [1, 3]) == (((1, 1),), None, 3, False, True)
    assert ir.walk([1, {"k": ir.Pair(2, [3])}]) == 8


def test_hashes_of_objects_are_those_of_other_processes(ffi: Any, ir: Any, build: Build) -> None:
    program = f"""
import anyffi
ir = anyffi.load_module({str(build("ir.cc", IR))!r})
others = [ir.Plain(), ir.Unique(1), len, ir.Lambda([ir.Var("x")], 1)]
print(anyffi.structural_hash(ir.tree(5)), anyffi.structural_hash(others))
"""
    runs = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    same = [ir.Plain(), ir.Unique(1), len, ir.Lambda([ir.Var("y")], 1)]
    assert runs == {f"{ffi.structural_hash(ir.tree(5))} {ffi.structural_hash(same)}\n"}


def test_cycles_through_what_binds(ffi: Any, ir: Any) -> None:
    made = []
    for place in ("body", "params"):
        for _ in range(2):
            x, inside = ir.Var("x"), ffi.List([1])
            term = ir.Lambda([x, inside], inside) if place == "params" else ir.Lambda([x], inside)
            inside.append(term)
            made.append((term, inside))
    for (a, _), (b, _) in (made[:2], made[2:]):
        check(ffi, a, b, True)
        check(ffi, a, b, True, map_free_vars=True)
    for _, inside in made:
        inside.clear()
