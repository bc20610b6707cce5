"""The examples with classes: `neighbours`, an index of points, and `ir`, expressions of a small compiler."""

from __future__ import annotations

import pickle
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import example_programs
import numpy as np
import pytest
from programs import stubgen
from support import ROOT, run_python

pytestmark = pytest.mark.keeps_live("types are never freed")


@pytest.fixture
def neighbours(ffi: Any) -> Iterator[types.ModuleType]:
    with example_programs.loaded(ffi, "neighbours") as programs:
        yield programs["neighbours"]


@pytest.fixture
def ir(ffi: Any) -> Iterator[types.ModuleType]:
    with example_programs.loaded(ffi, "ir") as programs:
        yield programs["ir"]


# ---- neighbours ------------------------------------------------------------------------------------------


def test_recall_after_changes(neighbours: Any) -> None:
    random = np.random.default_rng(1)
    points = random.standard_normal((1000, 8), dtype="f4")
    index = neighbours.Index(8, capacity=1000)
    index.add(points, np.arange(1000))
    for id in range(0, 1000, 2):
        index.remove(id)
    points[1:500:2] += 1
    # These replace former points, of which so many are removed that the index drops them.
    for _ in range(3):
        index.add(points[1:500:2], np.arange(1, 500, 2))
    assert index.ids() == list(range(1, 1000, 2))
    ids, distances = index.search(points[::10], k=10)
    exact = neighbours.search_all(points[1::2], points[::10], 10) * 2 + 1
    assert neighbours.recall(ids, exact) > 0.95
    assert (np.diff(distances) >= 0).all()
    copy = pickle.loads(pickle.dumps(index))
    assert neighbours.recall(copy.search(points[::10], k=10)[0], exact) > 0.95
    assert [copy.dim, copy.capacity, copy.breadth, len(copy)] == [8, 1000, 50, 500]


def test_few_points(neighbours: Any) -> None:
    index = neighbours.Index(2)
    ids, distances = index.search([[1, 2]], k=3)
    assert ids.tolist() == [[-1, -1, -1]]
    assert np.isinf(distances).all()
    with pytest.raises(ValueError, match="the index is empty"):
        index.nearest([1, 2])
    index.add([[3, 4]], [9])
    assert index.search([[3, 4]], k=2)[0].tolist() == [[9, -1]]
    index.remove(9)
    assert index.search([[3, 4]], k=2)[0].tolist() == [[-1, -1]]


def test_searches_beside_changes(neighbours: Any) -> None:
    points = np.random.default_rng(2).standard_normal((400, 4), dtype="f4")
    index = neighbours.Index(4, capacity=400)
    index.add(points[:100], range(100))

    def search(_: int) -> list[int]:
        return [int(i) for i in index.search(points[:5], k=1)[0][:, 0]]

    with ThreadPoolExecutor(4) as pool:
        added = [pool.submit(index.add, points[i : i + 10], range(i, i + 10)) for i in range(100, 400, 10)]
        found = list(pool.map(search, range(50)))
        assert [each.result() for each in added] == [None] * 30
    assert found == [[0, 1, 2, 3, 4]] * 50
    assert len(index) == 400


def test_bad_input(neighbours: Any) -> None:
    index = neighbours.Index(2, neighbours.Metric.COSINE)
    for given, error, message in [
        (lambda: neighbours.Index(0), ValueError, "dim must be between 1 and 1000000, got 0"),
        (lambda: neighbours.Index(2, links=1), ValueError, "links must be between 2 and 256, got 1"),
        (lambda: index.add([[1, 2]], [1, 2]), ValueError, "1 points, but 2 ids"),
        (lambda: index.add([[1, float("nan")]], [1]), ValueError, "numbers that are not finite"),
        (lambda: index.search([[1, 2]], k=0), ValueError, "k is between 1 and the capacity, got 0"),
        (lambda: setattr(index, "breadth", 0), ValueError, "breadth must be positive, got 0"),
        (lambda: neighbours.Index("/no/such/file"), FileNotFoundError, "cannot read /no/such/file"),
        (
            lambda: index.add([["x", 2]], [1]),
            TypeError,
            r"argument 1 \(points\), at \[0\]\[0\]: expected float, got str",
        ),
    ]:
        with pytest.raises(error, match=message):
            given()
    assert len(index) == 0


def test_hostile_files(neighbours: Any, tmp_path: Any) -> None:
    index = neighbours.Index(2)
    index.add([[1, 2], [3, 4]], [5, 6])
    path = tmp_path / "index"
    index.save(path)
    saved = path.read_bytes()
    for end in range(len(saved)):
        path.write_bytes(saved[:end])
        with pytest.raises(RuntimeError) as caught:
            neighbours.Index(path)
        assert type(caught.value).__name__ == "Corrupt"
    for place in range(0, 56, 8):
        path.write_bytes(saved[:place] + b"\xff" * 8 + saved[place + 8 :])
        with pytest.raises(RuntimeError):
            neighbours.Index(path)


def test_a_stub_declares_classes_of_another_module_name(tmp_path: Any) -> None:
    source = 'import anyffi\n_library = anyffi.load_module("./libneighbours.so")\n'
    names = ("Full", "Index", "Metric")
    (tmp_path / "points.py").write_text(source + "".join(f"{name} = _library.{name}\n" for name in names))
    text = stubgen("points", folder=tmp_path, cwd=example_programs.libraries())
    for line in ("class Full(RuntimeError):", "class Index(anyffi.Object):", "class Metric(IntEnum):"):
        assert f"\n{line}" in text
    assert "_library" not in text


# ---- ir --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["cython", "ctypes"])
def test_the_header_is_that_of_the_classes(mode: str, request: pytest.FixtureRequest) -> None:
    if mode not in request.config.getoption("--modes"):
        pytest.skip(f"without {mode} mode")
    folder = ROOT / "docs" / "examples" / "ir"
    assert stubgen("--cpp", "nodes", folder=folder) == (folder / "nodes.h").read_text()


def test_deep_expressions(ir: Any) -> None:
    expr = x = ir.Var("x")
    for _ in range(5000):
        expr = expr + 1
    with pytest.raises(RecursionError, match="nested more than 1000 times"):
        ir.passes.evaluate(ir.Function((x,), expr), [1])
    folded = ir.passes.fold(expr)
    assert ir.anyffi.structural_equal(folded, expr)
    assert ir.count(expr, ir.Const) == 5000


def test_refused_expressions(ir: Any) -> None:
    x = ir.Var("x")
    for given, error, message in [
        (lambda: ir.Const("1"), TypeError, r"ir\.Const\.value: expected float, got str"),
        (lambda: ir.Call("add", (x, 1)), TypeError, r"ir\.Call\.args, at \[1\]: expected ir\.Expr, got int"),
        (lambda: ir.passes.fold(1), TypeError, r"argument 0 \(expr\): expected ir\.Expr, got int"),
        (lambda: ir.passes.evaluate(ir.Function((x,), x), []), TypeError, "expected 1 numbers, got 0"),
    ]:
        with pytest.raises(error, match=message):
            given()


def test_json_in_a_fresh_process(ir: Any) -> None:
    text = ir.anyffi.to_json(ir.make("xyt"))
    folder = str(ROOT / "docs" / "examples" / "ir")
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); import nodes, anyffi; print(anyffi.from_json({text!r}))"
    )
    assert run_python(code) == "fn(x, y) let t = ((x * 2) + (1 + 2)) in ((t * y) + t)"
