"""Enumerations of C++ as classes of Python's `enum`."""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
from typing import Any

import pytest
from enum_sources import METRICS, OTHERS
from support import Build, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def hnsw(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("metrics.cc", METRICS))


def test_class(hnsw: Any) -> None:
    metric = hnsw.Metric
    assert issubclass(metric, enum.IntEnum)
    assert (metric.__module__, metric.__qualname__) == ("hnsw", "Metric")
    assert {name: int(member) for name, member in metric.__members__.items()} == {
        "L2": 0,
        "IP": 1,
        "_cos__": -7,
        "mro_": 0,
    }
    assert metric.mro_ is metric.L2
    assert inspect.getdoc(metric) == "How points are compared.\n\nL2\n    Euclid\nIP\n    Inner product"
    assert issubclass(hnsw.Access, enum.IntFlag)
    assert int(hnsw.Access.TOP) == 1 << 63
    assert "Metric" in dir(hnsw)


def test_results_are_members(hnsw: Any) -> None:
    metric = hnsw.Metric
    for each in metric:
        for f in (hnsw.echo, hnsw.pair, hnsw.unlocked):
            assert f(each) is each
            assert f(int(each)) is each
    assert hnsw.echo() is metric.IP
    assert hnsw.maybe() is metric._cos__
    assert hnsw.maybe(None) is None
    assert type(hnsw.plain(0)) is int
    with pytest.raises(ValueError, match=r"^9 is not a member of hnsw\.Metric$"):
        hnsw.broken()


def test_arguments(hnsw: Any) -> None:
    for f in (hnsw.number, hnsw.number_unlocked):
        assert [f(x) for x in (hnsw.Metric.IP, 1, True, hnsw.Metric._cos__)] == [1, 1, 1, -7]
        for wrong in (5, 300, 2**70, -(2**63)):
            with pytest.raises(
                ValueError, match=rf"argument 0 \(metric\): expected a member of hnsw.Metric, got {wrong}$"
            ):
                f(wrong)
        for other in ("L2", 1.0, None, [0]):
            with pytest.raises(TypeError, match=r"argument 0 \(metric\): expected hnsw.Metric, got "):
                f(other)
    with pytest.raises(
        ValueError, match=r"argument 0 \(all\), at \[1\]: expected a member of hnsw.Metric, got 4"
    ):
        hnsw.vector([0, 4])
    assert [hnsw.pick(x) for x in (1, 1.5, hnsw.Metric.IP, 5)] == ["metric", "double", "metric", "double"]


def test_flags(hnsw: Any) -> None:
    access = hnsw.Access
    both = hnsw.access(access.READ | access.WRITE)
    assert type(both) is access
    assert both == 3
    assert hnsw.access(access.TOP) is access.TOP
    assert hnsw.access(1 << 20 | 1) == 1 << 20 | 1
    assert type(hnsw.access(0)) is access
    with pytest.raises(OverflowError, match="-1 does not fit uint64"):
        hnsw.access(-1)
    with pytest.raises(OverflowError, match="does not fit uint64"):
        hnsw.access(1 << 64)
    assert hnsw.boxed(access.TOP | 5) == 1 << 63 | 5
    assert hnsw.boxed(2**40) == 2**40
    assert hnsw.back(access.WRITE) == 2


def test_inside_of_other_types(hnsw: Any) -> None:
    metric, access = hnsw.Metric, hnsw.Access
    found = hnsw.vector([metric.IP, 0])
    assert found == [metric.IP, metric.L2]
    assert [type(x) for x in found] == [metric, metric]
    found = hnsw.set({0, metric.IP})
    assert found == {metric.L2, metric.IP}
    assert {type(x) for x in found} == {metric}
    ((key, value),) = hnsw.map({1: 3}).items()
    assert key is metric.IP
    assert value is access(3)
    assert hnsw.by_name({"a": 1})["a"] is metric.IP
    assert hnsw.vector(()) == []
    listed = hnsw.list([1, -7])
    assert [listed[0], listed[1]] == [metric.L2, metric._cos__]
    assert listed[1] is metric._cos__
    assert list(hnsw.list(listed)) == list(listed)
    assert hnsw.dict({metric.IP: 0}) is metric.L2


def test_fields(hnsw: Any) -> None:
    index = hnsw.Index()
    assert index.metric is hnsw.Metric.IP
    index.metric = 0
    assert index.metric is hnsw.Metric.L2
    assert index.other is hnsw.Metric._cos__
    index.all = [hnsw.Metric.IP]
    assert index.all[0] is hnsw.Metric.IP
    assert hnsw.Index(hnsw.Metric.IP).metric is hnsw.Metric.IP
    with pytest.raises(ValueError, match="hnsw.Index.metric: expected a member of hnsw.Metric, got 8"):
        index.metric = 8
    assert "IP" in repr(hnsw.Index())


def test_callbacks(hnsw: Any) -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(x)
        return hnsw.Metric.L2

    assert hnsw.call(f, hnsw.Metric.IP) is hnsw.Metric.L2
    assert hnsw.call(lambda x: x, 1) is hnsw.Metric.IP
    assert seen == [hnsw.Metric.IP]
    assert type(seen[0]) is hnsw.Metric
    with pytest.raises(ValueError, match="expected a member of hnsw.Metric, got 5"):
        hnsw.call(lambda x: 5, 0)


def test_signatures(hnsw: Any) -> None:
    parameter = inspect.signature(hnsw.echo).parameters["metric"]
    assert parameter.annotation == "hnsw.Metric"
    assert parameter.default is hnsw.Metric.IP
    assert inspect.signature(hnsw.maybe).parameters["metric"].default is hnsw.Metric._cos__
    assert inspect.signature(hnsw.echo).return_annotation == "hnsw.Metric"


def test_copies_and_pickles(hnsw: Any) -> None:
    for member in (*hnsw.Metric, hnsw.Access.READ | hnsw.Access.TOP):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(member, protocol)) is member
        assert copy.copy(member) is copy.deepcopy(member) is member


def test_libraries_share_the_class(ffi: Any, hnsw: Any, build: Build) -> None:
    other = ffi.load_module(build("others.cc", OTHERS))
    assert other.other(1) is hnsw.Metric.IP
    with pytest.raises(ValueError, match="expected a member of hnsw.Metric, got 3"):
        other.other(3)
