"""Stubs of functions with standard containers, of overloads, and of unusual modules."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys
from typing import Any

import pytest
from programs import declarations, stubgen
from support import ROOT, Build, needs_compilers, run, slow_except

pytestmark = needs_compilers

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/unordered_map.h>
#include <anyffi/stl/vector.h>
using namespace anyffi;

struct Base {
  static constexpr FixedText kTypeKey{"stub_types.Base"};
};
struct Derived : Base {
  using Parent = Base;
  static constexpr FixedText kTypeKey{"stub_types.Derived"};
};
ANYFFI_REGISTER_OBJECT(Base);
ANYFFI_REGISTER_OBJECT(Derived);

#define DEF(name) ANYFFI_REGISTER_GLOBAL("stub_types." name).def
DEF("vector")([](std::vector<int64_t> x) { return x; }, arg("x"));
DEF("nested")([](std::map<std::string, std::vector<double>> x) { return x; }, arg("x"));
DEF("sets")([](std::set<int64_t>, std::optional<std::vector<bool>> y) { return y; }, arg("x"), arg("y") = nullptr);
DEF("optional")([](Optional<std::set<int64_t>> x) { return x; }, arg("x"));
DEF("no_items")([](std::tuple<> x) { return x; }, arg("x"));
DEF("own")([](List<int64_t> x, Array<std::vector<int64_t>>) { return x; }, arg("x"), arg("y"));

DEF("int_or_float")([](double) { return "float"; }, arg("x")).def([](int64_t) { return 1; }, arg("x"));
DEF("bool_or_int")([](bool) { return "bool"; }, arg("x")).def([](int64_t x) { return x; }, arg("x"));
DEF("str_or_many")([](std::vector<std::string>) { return 1.5; }, arg("x"))
    .def([](std::string x) { return x; }, arg("x"));
DEF("same")([](int8_t) { return 1; }, arg("x")).def([](int64_t) { return 1.5; }, arg("x"));
DEF("perhaps")([](Optional<int64_t>) { return 1; }, arg("x")).def([](Optional<String>) { return "x"; }, arg("x"));
DEF("objects")([](Ref<Derived>) { return 1; }, arg("x")).def([](Ref<Base>) { return "x"; }, arg("x"))
    .def([](ObjectRef) { return 1.5; }, arg("x"));
DEF("apart")([](int64_t) { return 1; }, arg("x")).def([](int64_t, String) { return "x"; }, arg("x"), arg("y"))
    .def([](Map<String, int64_t>) { return 1.5; }, arg("x"));
DEF("of_bools")([](std::vector<bool>) { return 1; }, arg("x")).def([](std::vector<int64_t>) { return "x"; }, arg("x"));
DEF("either_way")([](int64_t, double) { return 1; }, arg("x"), arg("y"))
    .def([](double, int64_t) { return "x"; }, arg("x"), arg("y"));
DEF("matrix")([](TypedView<const double, shape<any, 3>, row_major>) { return 1; }, arg("x").convert());
DEF("pick")([](TypedView<const double, 1>) { return 1; }, arg("x"))
    .def([](TypedTensor<float, 2> x) { return x; }, arg("x"))
    .def([](String x) { return x; }, arg("x"));
"""

EXPECTED = """
def apart(x: int) -> int: ...
@overload
def apart(x: Mapping[str, int]) -> float: ...
@overload
def apart(x: int, y: str) -> str: ...
@overload
def bool_or_int(x: bool) -> str: ...
@overload
def bool_or_int(x: int) -> int | str: ...
@overload
def either_way(x: int, y: float) -> int: ...
@overload
def either_way(x: float, y: int) -> str: ...
@overload
def int_or_float(x: int) -> int: ...
@overload
def int_or_float(x: float) -> str: ...
def matrix(x: Annotated[_Exporter, 'float64[:, 3, row_major]'] | Sequence[Sequence[float]]) -> int: ...
def nested(x: Mapping[str, Sequence[float]]) -> dict[str, list[float]]: ...
def no_items(x: tuple[()] | anyffi.Array[Any] | list[Any]) -> tuple[()]: ...
@overload
def objects(x: Derived) -> int: ...
@overload
def objects(x: Base) -> str | int: ...
@overload
def objects(x: object) -> float | str | int: ...
@overload
def of_bools(x: Sequence[bool]) -> int: ...
@overload
def of_bools(x: Sequence[int]) -> str | int: ...
def optional(x: AbstractSet[int] | None) -> set[int] | None: ...
def own(x: anyffi.List[int] | list[int], y: Sequence[Sequence[int]]) -> anyffi.List[int]: ...
@overload
def perhaps(x: str | None) -> str: ...
@overload
def perhaps(x: int | None) -> int | str: ...
@overload
def pick(x: Annotated[_Exporter, 'float64[:]'] | Annotated[_Exporter, 'float32[:, :, writable]'])\
 -> int | Annotated[anyffi.Tensor, 'float32[:, :]']: ...
@overload
def pick(x: str) -> str: ...
def same(x: int) -> int: ...
def sets(x: AbstractSet[int], y: Sequence[bool] | None = None) -> list[bool] | None: ...
@overload
def str_or_many(x: str) -> str: ...
@overload
def str_or_many(x: Sequence[str]) -> float | str: ...
def vector(x: Sequence[int]) -> list[int]: ...
""".lstrip()

MODULE = """
import anyffi

anyffi.load_module({library!r})
anyffi.init_ffi_api("stub_types", __name__)


@anyffi.register_object("stub_types.Base")
class Base(anyffi.Object):
    pass


@anyffi.register_object("stub_types.Derived")
class Derived(Base):
    pass
"""

USER = """
from collections.abc import Set as AbstractSet

import anyffi

import typed

xs: list[int] = [1]
numbers: list[int] = typed.vector(xs)
typed.vector((1, 2))
typed.vector(anyffi.Array(numbers))
typed.vector(range(2))
by_name: dict[str, list[int]] = {"a": [1]}
found: float = typed.nested(by_name)["a"][0]
typed.sets({1}, (True,))
typed.sets(frozenset({1}), typed.sets(anyffi.Set([1])))
typed.own([1], [(1,)])
one: int = typed.int_or_float(1)
two: str = typed.int_or_float(1.5)
typed.matrix(anyffi.from_dlpack(xs))
typed.matrix([[1.0, 2], (3, 4)])
typed.matrix(["x"])  # type: ignore[list-item]
typed.matrix(1.0)  # type: ignore[arg-type]
three: float = typed.str_or_many(["x"])  # type: ignore[assignment]
typed.vector(["x"])  # type: ignore[list-item]
typed.vector({1})  # type: ignore[arg-type]
typed.own((1,), [])  # type: ignore[arg-type]
typed.sets([1])  # type: ignore[arg-type]
"""


@pytest.fixture
def package(build: Build, tmp_path: pathlib.Path) -> pathlib.Path:
    library = build("stub_types.cc", SOURCE)
    (tmp_path / "typed.py").write_text(MODULE.format(library=os.fspath(library)))
    return tmp_path


@pytest.mark.slow("compiling")
def test_containers_and_overloads(package: pathlib.Path) -> None:
    text = stubgen("typed", folder=package)
    functions = [line for line in text.splitlines(keepends=True) if line.startswith(("def ", "@overload"))]
    assert "".join(functions) == "@overload\n" + EXPECTED


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
@pytest.mark.slow("mypy")
def test_mypy_agrees(package: pathlib.Path) -> None:
    (package / "anyffi").symlink_to(ROOT / "pkg", target_is_directory=True)
    stubgen("typed", "-o", package / "typed.pyi", folder=package)
    (package / "user.py").write_text(USER)
    done = run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", package / "cache", package / "typed.pyi",
                package / "user.py"], MYPYPATH=os.fspath(package), LD_PRELOAD=None)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.keeps_live(reason="a module stays loaded, with what it registered")
@pytest.mark.slow("compiling")
def test_signatures_name_parameter_and_result_types(ffi: Any, build: Build) -> None:
    ffi.load_module(build("stub_types.cc", SOURCE))
    shown = {
        "vector": "(x: 'Sequence[int]') -> 'list[int]'",
        "nested": "(x: 'Mapping[str, Sequence[float]]') -> 'dict[str, list[float]]'",
        "sets": "(x: 'AbstractSet[int]', y: 'Sequence[bool] | None' = None) -> 'list[bool] | None'",
        "optional": "(x: 'AbstractSet[int] | None') -> 'set[int] | None'",
    }
    for name, signature in shown.items():
        assert str(ffi.get_global_func(f"stub_types.{name}").__signature__) == signature


# ---- odd modules -------------------------------------------------------------------------------------------

HOSTILE = {
    "doc_of_int": ("__doc__ = 5\nX = 1", "\nX: int\n"),
    "no_name": ("del __name__\nX = 1\nclass C: pass", "\nX: int\n"),
    "odd_name": ("__name__ = 5\nX = 1", "\nX: int\n"),
    "odd_all": ("__all__ = 5\nX = 1", "\nX: int\n"),
    "all_of_anything": ("__all__ = [5, 'X', None]\nX = 1", "\nX: int\n"),
    "keys": ("globals().update({'lambda': 1, 'a b': 1, '__debug__x': 1, '': 1, 'X': 1, '\\udc80': 1})\n"
             "globals()[5] = 1",
             "\nX: int\n"),
    "controls": ("__doc__ = 'a\\0b\\r\\f \\udc80 \\u2028 \"\"\" \\\\'\nX = 1", "a\\x00b\\r\\x0c \\\\udc80 \\u2028"),
    "docs": ("def f(): pass\nf.__doc__ = 'x\\0\"'\nclass C:\n    __doc__ = 5\n    p = property(lambda self: 1, doc=5)",
             "def p(self) -> Any: ..."),
    "lies": ("class int: pass\nclass str_:\n    __name__ = 'str'\n"
             "def f(x: int, y: str_(), z: 'nothing', *, w: None) -> type(None): pass",
             "def f(x: int, y: Any, z: Any, *, w: None) -> Any: ..."),
    "bases": ("class B:\n    __module__ = 'builtins'\nclass C(B): pass\ndel B", "class C(B):\n"),
    "equal_to_nothing": ("class N:\n    def __eq__(self, other): raise ValueError\n"
                         "    def __bool__(self): raise ValueError\n"
                         "def f(x: N() = N(), y: N = N()): pass\nX = N()",
                         "def f(x: Any = ..., y: N = ...) -> Any: ..."),
}  # fmt: skip


@pytest.mark.parametrize("name", slow_except(["bases", "keys"], sorted(HOSTILE), "stubgen processes"))
def test_unusual_modules(tmp_path: pathlib.Path, name: str) -> None:
    source, shown = HOSTILE[name]
    (tmp_path / f"hostile_{name}.py").write_text(source)
    text = stubgen(f"hostile_{name}", folder=tmp_path)
    assert shown in text
    compile(text, name, "exec", dont_inherit=True)


REFUSED = {
    "exits": ("raise SystemExit(0)", "cannot be loaded: SystemExit: 0"),
    "no_module": ("import sys\nsys.modules[__name__] = 5", "cannot be described: "),
    "looked_at": ("class M(type):\n    __module__ = property(lambda self: 1 / 0)\nclass C(metaclass=M): pass",
                  "cannot be described: ZeroDivisionError: "),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_modules_without_a_stub(tmp_path: pathlib.Path, name: str) -> None:
    source, message = REFUSED[name]
    (tmp_path / f"refused_{name}.py").write_text(source)
    output = stubgen(f"refused_{name}", folder=tmp_path)
    assert output.startswith(f"python -m anyffi stubgen: refused_{name} {message}")


def test_odd_names_of_functions(tmp_path: pathlib.Path) -> None:
    (tmp_path / "odd_functions.py").write_text(
        "import anyffi\n"
        "for name in ('match', 'None', '__debug__', 'with space', 'int'):\n"
        "    anyffi.register_global_func('odd\\nprefix.' + name, lambda *args: 1)\n"
    )
    text = stubgen("odd\nprefix", "--load", "odd_functions", folder=tmp_path)
    assert text.startswith("# Written by `python -m anyffi stubgen odd\\nprefix`.\n")
    assert "def int(*args: Any) -> Any: ...\ndef match(*args: Any) -> Any: ...\n" in declarations(text)
    assert text.endswith(
        "# No name in Python: 'None'\n# No name in Python: '__debug__'\n# No name in Python: 'with space'\n"
    )
