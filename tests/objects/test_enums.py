"""Enumerations of C++ as classes of Python's `enum`."""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
import typing
from typing import Any

import pytest
from enum_sources import METRICS, OTHERS
from programs import stubgen
from support import Build, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def space(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("metrics.cc", METRICS))


def test_class(space: Any) -> None:
    metric = space.Metric
    assert issubclass(metric, enum.IntEnum)
    assert (metric.__module__, metric.__qualname__) == ("space", "Metric")
    assert {name: int(member) for name, member in metric.__members__.items()} == {
        "L2": 0,
        "IP": 1,
        "_cos__": -7,
        "mro_": 0,
    }
    assert metric.mro_ is metric.L2
    assert inspect.getdoc(metric) == "How points are compared.\n\nL2\n    Euclid\nIP\n    Inner product"
    assert issubclass(space.Access, enum.IntFlag)
    assert int(space.Access.TOP) == 1 << 63
    assert "Metric" in dir(space)


def test_the_repr_is_that_of_enum(space: Any) -> None:
    for cls, base, more in ((space.Metric, enum.IntEnum, ()), (space.Access, enum.IntFlag, (0, 3, 1 << 62))):
        same: Any = base(cls.__name__, [(name, int(x)) for name, x in cls.__members__.items()])
        for value in [*map(int, cls), *more]:
            # The second `repr` is a cached one.
            assert [repr(cls(value)), repr(cls(value)), str(cls(value))] == [repr(same(value))] * 2 + [
                str(same(value))
            ]
        assert "_anyffi_type_key" in vars(cls)
        assert not vars(cls(1)).keys() - vars(same(1)).keys()


def test_results_are_members(space: Any) -> None:
    metric = space.Metric
    for each in metric:
        for f in (space.echo, space.pair, space.unlocked):
            assert f(each) is each
            assert f(int(each)) is each
    assert space.echo() is metric.IP
    assert space.maybe() is metric._cos__
    assert space.maybe(None) is None
    assert type(space.plain(0)) is int
    with pytest.raises(ValueError, match=r"^9 is not a member of space\.Metric$"):
        space.broken()


def test_arguments(space: Any) -> None:
    for f in (space.number, space.number_unlocked):
        assert [f(x) for x in (space.Metric.IP, 1, True, space.Metric._cos__)] == [1, 1, 1, -7]
        for wrong in (5, 300, 2**70, -(2**63)):
            with pytest.raises(
                ValueError, match=rf"argument 0 \(metric\): expected a member of space.Metric, got {wrong}$"
            ):
                f(wrong)
        for other in ("L2", 1.0, None, [0]):
            with pytest.raises(TypeError, match=r"argument 0 \(metric\): expected space.Metric, got "):
                f(other)
    with pytest.raises(
        ValueError, match=r"argument 0 \(all\), at \[1\]: expected a member of space.Metric, got 4"
    ):
        space.vector([0, 4])
    assert [space.pick(x) for x in (1, 1.5, space.Metric.IP, 5)] == ["metric", "double", "metric", "double"]


def test_flags(space: Any) -> None:
    access = space.Access
    both = space.access(access.READ | access.WRITE)
    assert type(both) is access
    assert both == 3
    assert space.access(access.TOP) is access.TOP
    assert space.access(1 << 20 | 1) == 1 << 20 | 1
    assert type(space.access(0)) is access
    with pytest.raises(OverflowError, match="-1 does not fit uint64"):
        space.access(-1)
    with pytest.raises(OverflowError, match="does not fit uint64"):
        space.access(1 << 64)
    assert space.boxed(access.TOP | 5) == 1 << 63 | 5
    assert space.boxed(2**40) == 2**40
    assert space.back(access.WRITE) == 2


def test_inside_of_other_types(space: Any) -> None:
    metric, access = space.Metric, space.Access
    found = space.vector([metric.IP, 0])
    assert found == [metric.IP, metric.L2]
    assert [type(x) for x in found] == [metric, metric]
    found = space.set({0, metric.IP})
    assert found == {metric.L2, metric.IP}
    assert {type(x) for x in found} == {metric}
    ((key, value),) = space.map({1: 3}).items()
    assert key is metric.IP
    assert value is access(3)
    assert space.by_name({"a": 1})["a"] is metric.IP
    assert space.vector(()) == []
    listed = space.list([1, -7])
    assert [listed[0], listed[1]] == [metric.L2, metric._cos__]
    assert listed[1] is metric._cos__
    assert list(space.list(listed)) == list(listed)
    assert space.dict({metric.IP: 0}) is metric.L2


def test_fields(space: Any) -> None:
    index = space.Index()
    assert index.metric is space.Metric.IP
    index.metric = 0
    assert index.metric is space.Metric.L2
    assert index.other is space.Metric._cos__
    index.all = [space.Metric.IP]
    assert index.all[0] is space.Metric.IP
    assert space.Index(space.Metric.IP).metric is space.Metric.IP
    with pytest.raises(ValueError, match="space.Index.metric: expected a member of space.Metric, got 8"):
        index.metric = 8
    assert "IP" in repr(space.Index())


def test_callbacks(space: Any) -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(x)
        return space.Metric.L2

    assert space.call(f, space.Metric.IP) is space.Metric.L2
    assert space.call(lambda x: x, 1) is space.Metric.IP
    assert seen == [space.Metric.IP]
    assert type(seen[0]) is space.Metric
    with pytest.raises(ValueError, match="expected a member of space.Metric, got 5"):
        space.call(lambda x: 5, 0)


def test_signatures(space: Any) -> None:
    parameter = inspect.signature(space.echo).parameters["metric"]
    assert parameter.annotation == "space.Metric"
    assert parameter.default is space.Metric.IP
    assert inspect.signature(space.maybe).parameters["metric"].default is space.Metric._cos__
    assert inspect.signature(space.echo).return_annotation == "space.Metric"
    with pytest.raises(
        TypeError, match=r"echo\(metric: space.Metric = Metric.IP\) -> space.Metric: argument 0"
    ):
        space.echo("a")


def test_copies_and_pickles(space: Any) -> None:
    for member in (*space.Metric, space.Access.READ | space.Access.TOP):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(member, protocol)) is member
        assert copy.copy(member) is copy.deepcopy(member) is member


def test_structure(ffi: Any, space: Any) -> None:
    """Members equal their values, so that what is read back from JSON equals the original."""
    metric = space.Metric
    index = space.Index(metric.IP)
    assert ffi.from_json(ffi.to_json(index)).metric is metric.IP
    assert not ffi.structural_equal(index, space.Index(metric.L2))
    assert ffi.structural_hash(index) != ffi.structural_hash(space.Index(metric.L2))
    assert ffi.map(index, lambda x: x) is index
    members, numbers = space.vector([metric.IP, metric.L2]), ffi.List([1, 0])
    assert type(members[0]) is metric
    assert ffi.structural_equal(members, numbers)
    assert ffi.structural_equal(numbers, members)
    assert ffi.structural_hash(members) == ffi.structural_hash(numbers)
    assert ffi.structural_equal(ffi.from_json(ffi.to_json(members)), numbers)


def test_fields_of_dataclasses(ffi: Any, space: Any) -> None:
    cls = type("One", (), {"__annotations__": {"x": space.Metric}, "__module__": __name__})
    cls = ffi.dataclass("test.metric")(cls)
    assert cls(1).x is cls(space.Metric.IP).x is space.Metric.IP
    assert space.echo(cls(1).x) is space.Metric.IP
    with pytest.raises(ValueError, match=r"^test\.metric\.x: expected a member of space\.Metric, got 3$"):
        cls(3)


def test_libraries_share_the_class(ffi: Any, space: Any, build: Build) -> None:
    other = ffi.load_module(build("others.cc", OTHERS))
    assert other.other(1) is space.Metric.IP
    with pytest.raises(ValueError, match="expected a member of space.Metric, got 3"):
        other.other(3)


def test_a_key_that_was_used_before_the_description(ffi: Any, build: Build) -> None:
    # The key is one of the process, where each mode has to meet it undescribed.
    key = f"shades_{ffi.ffi_mode}.Shade"
    declared = f"""
#include <anyffi/anyffi.h>
enum class Shade {{ kDark = 1, kLight = 2 }};
ANYFFI_TYPE_KEY(Shade, "{key}");
"""
    use = """ANYFFI_EXPORT(lighter, [](Shade) { return Shade::kLight; }, anyffi::arg("shade") = Shade::kDark);"""
    bind = """ANYFFI_BIND(Shade).value("DARK", Shade::kDark).value("LIGHT", Shade::kLight);"""
    user = ffi.load_module(build("uses.cc", declared + use))
    assert inspect.signature(user.lighter).parameters["shade"].default == 1
    assert typing.get_type_hints(user.lighter)["shade"] is not int
    shades = ffi.load_module(build("shades.cc", declared + bind))
    assert issubclass(shades.Shade, enum.IntEnum)
    assert user.lighter(shades.Shade.DARK) is shades.Shade.LIGHT
    assert inspect.signature(user.lighter).parameters["shade"].default is shades.Shade.DARK
    assert typing.get_type_hints(user.lighter)["shade"] is shades.Shade


KEYWORDS = """
#include <anyffi/anyffi.h>
enum class Mode { kNone, kFrom, kOther, kMore };
ANYFFI_ENUM(Mode, "words.Mode").value("None", Mode::kNone).value("from", Mode::kFrom, "Where.")
    .value("from_", Mode::kOther).value("match", Mode::kMore);
enum class Only { kNone };
ANYFFI_ENUM(Only, "words.Only").value("None", Only::kNone);
ANYFFI_EXPORT(echo, [](Mode mode) { return mode; }, anyffi::arg("mode") = Mode::kNone);
"""


def test_names_that_are_keywords(ffi: Any, build: Build) -> None:
    path = build("words.cc", KEYWORDS)
    words = ffi.load_module(path)
    mode = words.Mode
    assert list(mode.__members__) == ["None_", "from__", "from_", "match"]
    assert [mode.None_, mode.from__, mode.from_] == [0, 1, 2]
    assert words.echo() is mode.None_
    assert mode.__doc__ == "from__\n    Where."
    assert pickle.loads(pickle.dumps(mode.from__)) is mode.from__


def test_stubs_of_names_that_are_keywords(build: Build) -> None:
    stub = stubgen(build("words.cc", KEYWORDS))
    assert "class Only(IntEnum):\n    None_ = 0\n" in stub
    assert "    from__ = 1\n    from_ = 2\n    match = 3\n" in stub
    assert "def echo(mode: Mode | int = Mode.None_) -> Mode: ..." in stub
