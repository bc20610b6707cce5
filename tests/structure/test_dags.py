"""Comparison and hashes of objects for which sharing matters."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.keeps_live("types are never freed")


@pytest.fixture
def node(ffi: Any) -> Any:
    class Node:
        name: str
        inputs: tuple[Any, ...] = ()

    return ffi.dataclass("dags.Node", structural="dag")(Node)


def check(ffi: Any, a: Any, b: Any, same: bool) -> None:
    for left, right in ((a, b), (b, a)):
        assert ffi.structural_equal(left, right) is same
        assert (ffi.first_mismatch(left, right) is None) is same
        assert (ffi.diff(left, right) == []) is same
    if same:
        assert ffi.structural_hash(a) == ffi.structural_hash(b)


def test_a_shared_node_is_not_two_equal_nodes(ffi: Any, node: Any) -> None:
    x, y, z = node("x"), node("x"), node("x")
    check(ffi, x, y, True)
    check(ffi, [x, x], [y, y], True)
    check(ffi, [x, y], [y, z], True)
    check(ffi, [x, x], [y, z], False)
    check(ffi, [x, node("y")], [y, y], False)
    assert ffi.structural_hash([x, x]) != ffi.structural_hash([y, z])
    assert ffi.structural_hash([x]) != ffi.structural_hash([node("y")])
    assert str(ffi.first_mismatch([x, x], [y, z])) == "[1]"


def test_a_node_without_fields_is_one_of_its_class(ffi: Any) -> None:
    class Bare:
        pass

    bare = ffi.dataclass("dags.Bare", structural="dag", eq=False)(Bare)
    x, y = bare(), bare()
    check(ffi, x, y, True)
    check(ffi, [x, x], [y, y], True)
    check(ffi, [x, x], [x, y], False)


def test_the_same_part_on_both_sides(ffi: Any, node: Any) -> None:
    shared = node("s")
    part = node("p", (shared, [shared]))
    check(ffi, [part, shared], [part, shared], True)
    check(ffi, [part, shared], [part, node("s")], False)
    inner: list[Any] = ffi.List([shared])
    check(ffi, [inner, shared], [inner, node("s")], False)


def test_nodes_of_nodes(ffi: Any, node: Any) -> None:
    def diamond(*, shares: bool) -> Any:
        ends = [node("end"), node("end")]
        return node("top", (node("l", (ends[0],)), node("r", (ends[0 if shares else 1],))))

    check(ffi, diamond(shares=True), diamond(shares=True), True)
    check(ffi, diamond(shares=False), diamond(shares=False), True)
    check(ffi, diamond(shares=True), diamond(shares=False), False)


def test_sharing_inside_of_containers_without_order(ffi: Any, node: Any) -> None:
    def make(count: int) -> Any:
        nodes = [node("n") for _ in range(count)]
        return {"a": nodes[0], "b": {"c": nodes[-1]}, "d": [nodes[0], nodes[-1]]}

    check(ffi, make(1), make(1), True)
    check(ffi, make(2), make(2), True)
    check(ffi, make(1), make(2), False)
    check(ffi, dict(reversed(list(make(2).items()))), make(2), True)


def test_shared_many_times_over(ffi: Any, node: Any) -> None:
    def tower(kind: Any) -> Any:
        top = node("0")
        for i in range(60):
            top = node(str(i), kind(top))
        return top

    for kind in (lambda x: (x, x), lambda x: ({"a": x, "b": x},)):
        check(ffi, tower(kind), tower(kind), True)


def test_a_node_that_contains_itself(ffi: Any, node: Any) -> None:
    def loop(name: str) -> Any:
        inner = ffi.List()
        top = node(name, (inner,))
        inner.append(top)
        return top

    check(ffi, loop("a"), loop("a"), True)
    check(ffi, loop("a"), loop("b"), False)


def test_a_copy_has_the_same_sharing(ffi: Any, node: Any) -> None:
    x = node("x")
    value = ffi.convert([x, x, {"k": x}])
    for other in (ffi.copy(value), ffi.from_json(ffi.to_json(value))):
        assert other[0].same_as(other[1])
        check(ffi, value, other, True)


def test_time_grows_with_the_number_of_nodes(ffi: Any, node: Any) -> None:
    """Shared Lists are not compared or hashed once for each path to them: that would never end here."""

    def tower() -> Any:
        top: Any = 0
        for i in range(3000):
            top = ffi.List([top, node(str(i)), top])
        return top

    a, b = tower(), tower()
    check(ffi, a, b, True)
    check(ffi, a, a, True)
    b[1] = node("other")
    check(ffi, a, b, False)
