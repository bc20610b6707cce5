"""The map of shapes is complete, and its generator works; what it measures is not checked."""

from __future__ import annotations

import collections
import json
import pathlib
import sys
from typing import Any

import anyffi
import pytest
from support import CXX, ROOT, SANITIZED, Build, cpython_only, needs_compilers, run

pytest.importorskip("numpy")

pytestmark = cpython_only("the benchmark needs CPython")


@pytest.mark.parametrize("name", ["Array", "Shape", "List", "Map", "Dict", "FrozenSet", "Set"])
def test_every_method_of_a_container_has_a_shape(name: str) -> None:
    from bench.map.methods import TABLES, methods_of, without_shape

    cls, table = getattr(anyffi, name), TABLES[name][1]
    assert without_shape(cls, table) == []
    derived = type("Derived", (cls,), {"shiny": lambda self: None})
    assert without_shape(derived, table) == ["shiny"]
    assert {"__len__", "__iter__", "__eq__"} <= set(methods_of(cls))


def test_every_attribute_of_a_tensor_has_a_shape() -> None:
    from bench.map.methods import without_shape
    from bench.map.tensors import TENSOR_TABLE

    assert without_shape(anyffi.Tensor, TENSOR_TABLE) == []


def test_every_container_class_is_in_the_map() -> None:
    from bench.map.methods import TABLES

    classes = {name for name in vars(anyffi) if isinstance(getattr(anyffi, name), type)}
    containers = {
        name
        for name in classes
        if issubclass(getattr(anyffi, name), collections.abc.Collection)
        and issubclass(getattr(anyffi, name), anyffi.Object)
    }
    assert containers == set(TABLES)


def test_statements_are_python() -> None:
    from bench.map.table import SHAPES

    for shape in SHAPES:
        for snippet in shape.snippets.values():
            compile(snippet.statement, shape.name, "exec")


def test_shapes_have_distinct_names_and_a_contender_for_their_law() -> None:
    from bench.map.table import SHAPES

    names = collections.Counter(shape.name for shape in SHAPES)
    assert [name for name, times in names.items() if times > 1] == []
    assert [shape.name for shape in SHAPES if not {"anyffi", shape.law.of} <= set(shape.snippets)] == []
    assert len(SHAPES) > 3000


def test_sources_define_every_function_that_a_shape_calls() -> None:
    from bench.map import sources
    from bench.map.table import SHAPES

    handwritten = [sources.native.SOURCES / name for name in ("map_anyffi.cc", "map_nanobind.h")]
    ours, theirs = "".join(sources.anyffi_sources()), sources.nanobind_source()
    ours, theirs = ours + handwritten[0].read_text(), theirs + handwritten[1].read_text()
    for shape in SHAPES:
        function = shape.snippets["anyffi"].function
        if function is not None:
            assert (
                f"ANYFFI_EXPORT({function}," in ours or f'"map.{function}"' in ours or function == "convert"
            )
        function = shape.snippets["nanobind"].function if "nanobind" in shape.snippets else None
        if function is not None:
            assert f'"{function}"' in theirs, shape.name


@needs_compilers
@pytest.mark.parametrize("name", ["inside", "map_anyffi", "map_inside", "with_anyffi"])
def test_handwritten_sources_compile(name: str) -> None:
    sources = ROOT / "tools" / "bench" / "native"
    options = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", f"-I{ROOT / 'cpp' / 'include'}"]
    done = run([CXX, *options, sources / f"{name}.cc"], LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.parametrize("name", ["map_anyffi", "with_anyffi"])
def test_handwritten_libraries_load(name: str, build: Build) -> None:
    sources = ROOT / "tools" / "bench" / "native"
    library = build(f"{name}_loaded.cc", f'#include "{sources / name}.cc"\n')
    script = f"import anyffi; print(len(dir(anyffi.load_module({str(library)!r}))) > 5)"
    assert run([sys.executable, "-c", script]).stdout == "True\n"


def test_what_exceeds_its_law_is_reported_worst_first() -> None:
    from bench.map.laws import CALL, Shape
    from bench.map.verdict import judge, lines, summary
    from bench.rows import Snippet

    def shape(name: str) -> Shape:
        return Shape(name, "calls", {"anyffi": Snippet("f()"), "nanobind": Snippet("f()")}, law=CALL)

    times = {
        "good": {"anyffi": 12.0, "nanobind": 10.0},
        "bad": {"anyffi": 26.0, "nanobind": 10.0},
        "worse": {"anyffi": 260.0, "nanobind": 10.0},
        "broken": {"nanobind": 10.0},
        "alone": {"anyffi": 10.0},
    }
    refused = {name: {} for name in times} | {"broken": {"anyffi": "TypeError: no"}}
    verdicts = judge([shape(name) for name in times], times, refused)
    report = lines(verdicts)[1:]
    assert [line.split("call, nanobind")[1].split()[0] for line in report] == ["broken", "worse", "bad"]
    assert "refused: TypeError: no" in report[0]
    assert summary(verdicts) == ["call, nanobind: 1 of 4 shapes hold, 1 more without a comparison"]


def test_a_method_that_grows_where_pythons_does_not_is_reported() -> None:
    from bench.map.laws import METHOD, Shape
    from bench.map.verdict import judge_growth
    from bench.rows import Snippet

    snippets = {"anyffi": Snippet("f()"), "python": Snippet("f()")}
    shapes = [Shape(f"m, n={n}", "List", snippets, law=METHOD, series="m", size=n) for n in (3, 1000)]
    times = {"m, n=3": {"anyffi": 10.0, "python": 10.0}, "m, n=1000": {"anyffi": 1000.0, "python": 10.0}}
    (verdict,) = judge_growth(shapes, times)
    assert not verdict.holds
    times["m, n=1000"]["python"] = 500.0
    (verdict,) = judge_growth(shapes, times)
    assert verdict.holds


def test_two_runs_are_compared_by_their_ratios(tmp_path: pathlib.Path) -> None:
    from bench.map import changes
    from bench.map.laws import CALL
    from bench.map.verdict import as_rows, compare

    def run_of(**times: float) -> list[Any]:
        return [compare(name, "calls", CALL, {"anyffi": t, "nanobind": 10.0}) for name, t in times.items()]

    path = tmp_path / "map.json"
    path.write_text(json.dumps({"shapes": as_rows(run_of(slower=10.0, faster=20.0, same=10.0))}))
    first, *found = changes.lines(changes.read(path), run_of(slower=20.0, faster=10.0, same=11.0, new=5.0))
    assert first == "1 shapes are slower, 1 faster, than before"
    assert [line.rpartition(" ")[2] for line in found] == ["slower", "faster"]
    assert "2.00 times" in found[0]
    assert "exceeds its limit" in found[0]


def test_a_worker_that_ends_is_an_error_that_names_the_request() -> None:
    from bench.processes import Worker

    ended = pytest.raises(RuntimeError, match=r"a worker ended with status 1 at \{'shape': 'x'\}")
    with Worker("map.measure", "no mode", {}) as worker, ended:
        worker.ask({"shape": "x"})


@pytest.mark.slow("benchmark")
@needs_compilers
@pytest.mark.skipif(SANITIZED, reason="builds libraries without the sanitizers")
def test_the_map_is_measured_in_both_modes(tmp_path: pathlib.Path) -> None:
    command = [
        sys.executable,
        "-m",
        "bench",
        "--map",
        "--quick",
        "--only",
        "^List of ints",
        "--output",
        tmp_path,
    ]
    done = run(command, PYTHONPATH=str(ROOT / "tools"))
    assert done.returncode == 0, done.stderr
    assert "method, python:" in done.stdout
    shapes = {
        (row["shape"], row["law"]): row for row in json.loads((tmp_path / "map.json").read_text())["shapes"]
    }
    assert shapes["List of ints: len(x), n=3", "method, python"]["ratio"] > 0
    assert shapes["List of ints: len(x), n=3", "modes, cython"]["ratio"] > 1
    assert [row["shape"] for row in shapes.values() if "refused" in row["note"]] == []
