"""Constants that a library exports: attributes of its module that are values."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from programs import run_program
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.keeps_live("the library keeps its constants")]

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
namespace { struct Point { double x, y; }; int computed = 0; }
ANYFFI_CLASS(Point, "constants.Point").init<double, double>(anyffi::arg("x"), anyffi::arg("y")).field("x", &Point::x);
ANYFFI_EXPORT_CONSTANT(version, "1.2").doc("Of the library.");
ANYFFI_EXPORT_CONSTANT(limits, std::map<std::string, std::vector<int64_t>>{{"a", {1, 2}}, {"b", {}}});
ANYFFI_EXPORT_CONSTANT(origin, Point{1, 2});
ANYFFI_EXPORT_CONSTANT(shared, anyffi::List<int64_t>{1, 2});
ANYFFI_EXPORT_CONSTANT(nothing, nullptr);
ANYFFI_EXPORT_CONSTANT(counted, int64_t{++computed});
ANYFFI_EXPORT_CONSTANT(broken, [] () -> int64_t { throw anyffi::Error("AttributeError", "no device"); }());
ANYFFI_EXPORT(count, [] { return computed; }).doc("How often a constant was computed.");
ANYFFI_REGISTER_GLOBAL("constants.pi").def([] { return 3.125; }).constant();
ANYFFI_REGISTER_GLOBAL("constants.twice").def([](double x) { return 2 * x; }, anyffi::arg("x"));
"""


@pytest.fixture(name="path")
def built(build: Build) -> Path:
    return build("constants.cc", SOURCE)


def test_values(ffi: Any, path: Path) -> None:
    module = ffi.load_module(str(path))
    assert (module.version, module.limits, module.nothing) == ("1.2", {"a": [1, 2], "b": []}, None)
    assert type(module.limits) is dict
    assert type(module.origin) is module.Point
    assert module.origin is module.origin
    assert module.origin.x == 1
    # The container belongs to the library: each of its modules has the same one.
    assert module.shared is module.shared
    assert module.shared == ffi.load_module(str(path)).shared
    module.shared.append(3)
    assert ffi.load_module(str(path)).shared == module.shared
    module.shared.pop()
    assert {"version", "origin", "broken"} <= set(dir(module))


def test_computed_when_first_read(ffi: Any, path: Path) -> None:
    program = f"""
        import anyffi
        module = anyffi.load_module({str(path)!r})
        assert module.count() == 0
        assert module.counted == module.counted == 1
        assert anyffi.load_module({str(path)!r}).counted == 1 and module.count() == 1
    """
    run_program(program, ffi.ffi_mode)


def test_errors_of_the_computation(ffi: Any, path: Path) -> None:
    module = ffi.load_module(str(path))
    for _ in range(2):
        with pytest.raises(AttributeError, match="^no device$"):
            module.broken
    with pytest.raises(AttributeError, match="has no function 'versio'; did you mean 'version'"):
        module.versio


def test_constants_with_parameters_are_refused(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    ANYFFI_EXPORT(half, [](double x) { return x / 2; }, anyffi::arg("x")).constant();
    """
    program = f"""
        import anyffi
        try:
            anyffi.load_module({str(build("no_constant.cc", source))!r})
        except TypeError as error:
            print(error)
    """
    assert "half: a constant() has no parameters" in run_program(program, ffi.ffi_mode)


def test_functions_behind_constants(ffi: Any, path: Path) -> None:
    """C++ and an index get the function that computes the constant."""
    module = ffi.load_module(str(path))
    assert module["version"]() == module.get_function("version")() == "1.2"
    importer = ffi.system_lib()
    importer.import_module(module)
    assert importer.version == "1.2"


def test_documentation(ffi: Any, path: Path) -> None:
    doc = inspect.getdoc(ffi.load_module(str(path)))
    assert doc is not None
    functions, _, constants = doc.partition("Constants:")
    assert "count() -> int" in functions
    assert "version" not in functions
    assert "version: str\n    Of the library." in constants
    assert "limits: dict[str, list[int]]" in constants
    assert "origin: constants.Point" in constants


def test_constants_of_a_prefix(ffi: Any, path: Path) -> None:
    program = f"""
        import sys, types, anyffi
        anyffi.load_module({str(path)!r})
        target = sys.modules["constants_target"] = types.ModuleType("constants_target")
        anyffi.init_ffi_api("constants", "constants_target")
        assert target.pi == 3.125 and target.twice(2) == 4
    """
    run_program(program, ffi.ffi_mode)


def test_stub(both: Any, path: Path) -> None:
    program = f"""
        from anyffi._stubs.generate import generate
        print(generate({str(path)!r}))
    """
    stub = run_program(program, "cython")
    assert 'version: str\n"""Of the library."""\n' in stub
    assert "limits: dict[str, list[int]]\n" in stub
    assert "origin: Point\n" in stub
    assert "def count() -> int" in stub
    assert stub == run_program(program, "ctypes")
