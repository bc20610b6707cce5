"""Submodules of libraries: functions, constants and classes that are grouped under a name."""

from __future__ import annotations

import copy
import importlib
import pickle
import pydoc
import sys
import types
from typing import Any

import pytest
from programs import declarations, stubgen
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
using anyffi::arg;

namespace algebra {
struct Matrix { int64_t n = 2; };
struct Dense { int64_t n = 3; };
struct Top {};
struct Alone {};
enum class Side { kLeft };
}  // namespace algebra
using namespace algebra;

ANYFFI_SUBMODULE(linalg, "Linear algebra.");
ANYFFI_SUBMODULE(empty, "A class alone.");
ANYFFI_SUBMODULE(later, "To come.");
ANYFFI_SUBMODULE(later.silent, "");
ANYFFI_CLASS(Top, "algebra.Matrix").init<>();
ANYFFI_CLASS(Matrix, "algebra.linalg.Matrix").doc("Of numbers.").init<>().field("n", &Matrix::n);
ANYFFI_CLASS(Dense, "algebra.linalg.dense.Matrix").init<>().field("n", &Dense::n);
ANYFFI_CLASS(Alone, "algebra.empty.Alone").init<>();
ANYFFI_ENUM(Side, "algebra.linalg.Side").value("LEFT", Side::kLeft);
ANYFFI_EXPORT_IN(linalg, norm, [](double x) { return x < 0 ? -x : x; }, arg("x")).doc("Return the norm.")
    .def([](const std::string& name) { return name + " norm"; }, arg("name"));
ANYFFI_EXPORT_IN(linalg, trace, [](const Matrix& m, Side) { return m.n; }, arg("m"), arg("side") = Side::kLeft);
ANYFFI_EXPORT_IN(linalg, limit, [] { return int64_t{7}; }).constant();
ANYFFI_EXPORT_IN(linalg.dense, solve, [](const Dense& m) { return m.n * 2; }, arg("m"));
ANYFFI_EXPORT(norm, [](double x) { return x; }, arg("x"));
"""


@pytest.fixture
def algebra(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("algebra.cc", SOURCE))


def test_members(algebra: Any) -> None:
    linalg = algebra.linalg
    assert isinstance(linalg, types.ModuleType)
    assert (linalg.norm(-2), linalg.norm(x=3), linalg.norm("a"), algebra.norm(-2)) == (2, 3, "a norm", -2)
    assert linalg.limit == 7
    assert linalg.trace(linalg.Matrix(), linalg.Side.LEFT) == 2
    assert linalg.dense.solve(linalg.dense.Matrix()) == 6
    with pytest.raises(TypeError, match=r"^linalg\.dense\.solve\(m: algebra\.linalg\.dense\.Matrix\)"):
        linalg.dense.solve(linalg.Matrix())
    assert isinstance(algebra.empty.Alone(), algebra.empty.Alone)
    assert len({algebra.Matrix, linalg.Matrix, linalg.dense.Matrix}) == 3
    assert linalg.Matrix.__module__ == "algebra.linalg"


def test_each_is_one_object(algebra: Any) -> None:
    assert algebra.linalg is algebra.linalg
    assert algebra.linalg.dense is algebra.linalg.dense
    assert algebra.linalg.trace is algebra.linalg.trace
    assert algebra["linalg.trace"] == algebra.linalg.trace == algebra.get_function("linalg.trace")


def test_names(algebra: Any) -> None:
    assert [name for name in dir(algebra) if not name.startswith("_")] == [
        *(
            "Matrix",
            "empty",
            "get_function",
            "import_module",
            "imports",
            "later",
            "linalg",
            "norm",
            "same_as",
        ),
    ]
    assert algebra.linalg.__all__ == ["Matrix", "Side", "dense", "limit", "norm", "trace"]
    assert {"norm", "dense", "__doc__"} <= {*dir(algebra.linalg)}
    assert algebra.linalg.__doc__ == "Linear algebra."
    assert algebra.linalg.dense.__doc__ is None
    assert algebra.linalg.dense.__name__ == "linalg.dense"
    assert repr(algebra.linalg) == f"<submodule 'linalg' of {algebra!r}>"


def test_a_submodule_without_members(algebra: Any) -> None:
    assert (algebra.later.__doc__, algebra.later.__all__) == ("To come.", ["silent"])
    assert (algebra.later.silent.__doc__, algebra.later.silent.__all__) == ("", [])
    assert pickle.loads(pickle.dumps(algebra.later.silent)).__name__ == "later.silent"
    with pytest.raises(AttributeError, match=r"has no function 'later.silent.x'"):
        algebra.later.silent.x


def test_what_is_not_there(algebra: Any) -> None:
    with pytest.raises(
        AttributeError, match=r"has no function 'linalg.tracee'; did you mean 'linalg.trace'\?$"
    ):
        algebra.linalg.tracee
    for name in ("lin", "linal", "linalg.", ".linalg", ""):
        with pytest.raises(AttributeError, match=f"has no function '{name}'"):
            getattr(algebra, name)
    assert not hasattr(algebra.linalg, "__path__")


def test_imports(algebra: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "algebra_of_tests", algebra)
    monkeypatch.setitem(sys.modules, "algebra_of_tests.linalg", algebra.linalg)
    found: dict[str, Any] = {}
    exec("from algebra_of_tests import linalg, norm\nfrom algebra_of_tests.linalg import *", found)
    assert found["linalg"] is algebra.linalg
    assert found["trace"] is algebra.linalg.trace
    assert importlib.import_module("algebra_of_tests.linalg") is algebra.linalg


def test_a_module_has_the_submodules_of_its_imports(ffi: Any, algebra: Any, build: Build) -> None:
    library = build(
        "more_algebra.cc",
        "#include <anyffi/anyffi.h>\nANYFFI_EXPORT_IN(linalg, more, [] { return 1; });\n",
    )
    module = ffi.load_module(library)
    module.import_module(algebra)
    assert (module.linalg.more(), module.linalg.limit) == (1, 7)


def test_pickles_and_copies(algebra: Any) -> None:
    for each in (algebra.linalg, algebra.linalg.dense):
        for other in (pickle.loads(pickle.dumps(each)), copy.deepcopy(each)):
            assert other.__all__ == each.__all__
    for value in (algebra.linalg.trace, algebra.linalg.dense.solve):
        # Not `==`: if both backends of this process have looked the function up, each has a wrapper of it.
        assert pickle.loads(pickle.dumps(value)).same_as(value)


@pytest.mark.unrecorded("Python's versions show signatures in several ways")
def test_help(algebra: Any) -> None:
    text = pydoc.plain(pydoc.render_doc(algebra.linalg))
    for words in ("linalg - Linear algebra.", "Return the norm.", "class Matrix(anyffi.Object)", "limit = 7"):
        assert words in text
    assert "linalg.dense.solve(m: algebra.linalg.dense.Matrix) -> int" in algebra.__doc__
    assert "__doc__" not in algebra.__doc__


def test_stubs(algebra: Any) -> None:
    wanted = '''
class Matrix(anyffi.Object):
    def __init__(self) -> None: ...
class empty:
    """A class alone."""
    class Alone(anyffi.Object):
        def __init__(self) -> None: ...
class later:
    """To come."""
    class silent: ...
class linalg:
    """Linear algebra."""
    class Matrix(anyffi.Object):
        """Of numbers."""
        def __init__(self) -> None: ...
        @property
        def n(self) -> int: ...
        @n.setter
        def n(self, value: int) -> None: ...
    class Side(IntEnum):
        LEFT = 0
    class dense:
        class Matrix(anyffi.Object):
            def __init__(self) -> None: ...
            @property
            def n(self) -> int: ...
            @n.setter
            def n(self, value: int) -> None: ...
        @staticmethod
        def solve(m: linalg.dense.Matrix) -> int: ...
    limit: int
    @overload
    @staticmethod
    def norm(name: str) -> str: ...
    @overload
    @staticmethod
    def norm(x: float) -> float:
        """Return the norm."""
    @staticmethod
    def trace(m: linalg.Matrix, side: linalg.Side | int = linalg.Side.LEFT) -> int: ...
def norm(x: float) -> float: ...
'''
    assert declarations(stubgen(algebra.__file__)) == wanted


def test_a_name_for_two_classes_of_a_submodule_is_refused(ffi: Any, build: Build) -> None:
    source = """
        #include <anyffi/anyffi.h>
        struct TwiceOne {};
        ANYFFI_CLASS(TwiceOne, "twice.part.f");
        ANYFFI_EXPORT_IN(part, f, [] {});
    """
    words = r"the class twice\.part\.f and the function part\.f would be one attribute of the module, part\.f"
    with pytest.raises(ValueError, match=words):
        ffi.load_module(build("twice_in_part.cc", source))


def test_classes_of_submodules_that_are_not_declared(ffi: Any, build: Build) -> None:
    source = """
        #include <anyffi/anyffi.h>
        struct PlainFile {};
        struct WaveFile {};
        ANYFFI_CLASS(PlainFile, "files.File");
        ANYFFI_CLASS(WaveFile, "files.wave.File");
    """
    words = r"File: give one of them another name, or declare the submodule of files\.wave\.File: "
    with pytest.raises(ValueError, match=words + r'ANYFFI_SUBMODULE\(wave, "\.\.\."\)$'):
        ffi.load_module(build("undeclared_part.cc", source))
    module = ffi.load_module(build("declared_part.cc", source + 'ANYFFI_SUBMODULE(wave, "Sound.");'))
    assert module.wave.File is not module.File


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        (
            "twice_exported",
            "ANYFFI_EXPORT_IN(part, f, [](int64_t) {}); ANYFFI_EXPORT_IN(part, f, [](double) {});",
            r"part\.f is exported twice: further overloads follow the first by \.def\(\.\.\.\), in one declaration",
        ),
        (
            "hidden_by_function",
            "ANYFFI_EXPORT(part, [] {}); ANYFFI_EXPORT_IN(part, f, [] {});",
            r"the function part and the submodule of part\.f would be one attribute of the module",
        ),
        (
            "hidden_by_class",
            'struct HidingOne {}; ANYFFI_CLASS(HidingOne, "hiding.part"); ANYFFI_EXPORT_IN(part.inner, f, [] {});',
            r"the class part and the submodule of part\.inner\.f would be one attribute of the module",
        ),
    ],
)
def test_names_that_would_be_hidden_are_refused(
    ffi: Any, build: Build, name: str, code: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        ffi.load_module(build(f"{name}.cc", f"#include <anyffi/anyffi.h>\n{code}\n"))
