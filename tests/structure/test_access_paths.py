"""Paths to parts of values."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from anyffi._rules import paths
from anyffi.structure import AccessPath, AccessStep


def test_they_are_made_step_by_step() -> None:
    path = AccessPath.root().attr("body").array_item(3).map_item("w").set_item(5)
    assert str(path) == '.body[3]["w"]{5}'
    assert path.steps == (("field", "body"), ("index", 3), ("key", "w"), ("element", 5))
    assert path == AccessPath(path.steps)
    assert path.parent == AccessPath.root().attr("body").array_item(3).map_item("w")
    assert AccessPath.root().parent is None
    assert AccessPath.root() == AccessPath()
    assert pickle.loads(pickle.dumps(path)) == path


def test_they_never_change() -> None:
    path = AccessPath.root().attr("body")
    for change in (lambda: setattr(path, "steps", ()), lambda: delattr(path, "steps")):
        with pytest.raises(AttributeError):
            change()
    assert str(path) == ".body"


def test_they_may_be_long(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = paths._read_step
    monkeypatch.setattr(paths, "_read_step", lambda step: reads.append(step) or read(step))
    path = AccessPath.root()
    for _ in range(10_000):
        path = path.array_item(0)
    assert len(path) == len(reads) == 10_000
    assert (parent := path.parent) is not None
    assert parent.array_item(0) == path


def test_indexes_are_ints_and_names_are_text() -> None:
    class Number:
        def __index__(self) -> int:
            return 2

    path = AccessPath.root().array_item(Number()).array_item(True)
    assert [type(step.key) for step in path.steps] == [int, int]
    assert path.resolve([0, 1, [3, 4]]) == 4
    root = AccessPath.root()
    for wrong in ("x", 1.0, None):
        message = f"^index: expected int, got {type(wrong).__name__}$"
        with pytest.raises(TypeError, match=message):
            root.array_item(wrong)
        with pytest.raises(TypeError, match=message):
            AccessPath([("index", wrong)])
    with pytest.raises(TypeError, match=r"^name: expected str, got int$"):
        root.attr(3)
    with pytest.raises(TypeError, match=r"^name: expected str, got int$"):
        AccessPath([("field", 3)])


def test_steps_have_names() -> None:
    path = AccessPath([("field", "body"), AccessStep("index", 3)]).set_item("x")
    assert [(step.kind, step.key) for step in path.steps] == [
        ("field", "body"),
        ("index", 3),
        ("element", "x"),
    ]
    assert {type(step) for step in path.steps} == {AccessStep}
    assert pickle.loads(pickle.dumps(path)).steps[1].kind == "index"
    assert pickle.loads(pickle.dumps(path.steps[1])) == AccessStep("index", 3) == ("index", 3)


def test_steps_of_what_differs(ffi: Any) -> None:
    found = ffi.first_mismatch([1, {"w": 2}], [1, {"w": 3}])
    assert [(step.kind, step.key) for step in found.path.steps] == [("index", 1), ("key", "w")]
    assert repr(found.path.parent.steps[0]) == "AccessStep(kind='index', key=1)"
    assert repr(found.path) == '<anyffi.structure.AccessPath [1]["w"]>'
    assert repr(AccessPath.root()) == "<anyffi.structure.AccessPath the root>"


def test_prefixes() -> None:
    root = AccessPath.root()
    path = root.attr("a").array_item(2)
    assert root.is_prefix_of(root)
    assert root.is_prefix_of(path)
    assert path.is_prefix_of(path)
    assert root.attr("a").is_prefix_of(path)
    assert not path.is_prefix_of(root.attr("a"))
    assert not root.attr("b").is_prefix_of(path)


@pytest.mark.parametrize("key", [1, 1.0, True, "1", slice(1), None])
def test_equal_paths_have_one_hash(key: object) -> None:
    path = AccessPath.root().map_item(key)
    for other in (1, 1.0, True, "1", slice(1), None):
        if path == AccessPath.root().map_item(other):
            assert hash(path) == hash(AccessPath.root().map_item(other))
    assert len({path, AccessPath(path.steps)}) == 1
