"""Stubs of C++ classes with members that type checkers refuse, since they conflict with a base or each other."""

from __future__ import annotations

import pathlib

import pytest
from programs import stubgen
from support import ROOT, Build, compiles_classes
from type_checkers import needs_mypy, run_mypy

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <string>

namespace clash {
using Text = const std::string&;
struct Base {
  int64_t x = 1;
};
struct Derived : Base {
  std::string y;
};
struct Last : Derived {};
enum class Word { kName, kImag, kOther };
}  // namespace clash

using anyffi::arg;
namespace ops = anyffi::ops;
using clash::Base;
using clash::Derived;
using clash::Last;

ANYFFI_ENUM(clash::Word, "clash.Word")
    .value("name", clash::Word::kName)
    .value("imag", clash::Word::kImag)
    .value("other", clash::Word::kOther);
ANYFFI_CLASS(Base, "clash.Base")
    .init<int64_t>(arg("x"))
    .static_method("create", [] { return Base(); })
    .static_method("same", [](int64_t x) { return x; }, arg("x"))
    .method("read", [](const Base&, int64_t x) { return x; }, arg("x"))
    .method("wider", [](const Base&, int64_t x) -> Base { return {x}; }, arg("x"))
    .method("fewer", [](const Base&, int64_t x) { return x; }, arg("x"))
    .method("fewer", [](const Base&, clash::Text) { return 1; }, arg("text"))
    .method("to_property", [](const Base&) { return 1; })
    .static_method("to_method", [] { return 1; })
    .constant("NUMBER", 1)
    .constant("SAME", 1)
    .field("field", &Base::x)
    .field("closed", &Base::x)
    .op(ops::add, [](const Base& a, const Base&) { return a; }, arg("other"))
    .op(ops::iadd, [](Base& a, const Base&) -> Base& { return a; }, arg("other"))
    .op(ops::mul, [](const Base& a, const Base&) { return a; }, arg("other"))
    .op(ops::mul, [](const Base& a, double) { return a; }, arg("by"))
    .op(ops::imul, [](Base& a, double) -> Base& { return a; }, arg("by"))
    .op(ops::sub, [](const Base& a, int64_t) { return a; }, arg("by"))
    .op(ops::isub, [](Base& a, clash::Text) -> Base& { return a; }, arg("text"))
    .op(ops::itruediv, [](Base& a, int64_t) -> Base& { return a; }, arg("by"))
    .op(ops::eq, [](const Base& a, const Base&) { return a; }, arg("other"))
    .op(ops::ne, [](const Base&, const Base&) { return anyffi::AnyValue(true); }, arg("other"));
ANYFFI_CLASS(Derived, "clash.Derived", Base)
    .init<>()
    .static_method("create", [](int64_t) { return Derived(); }, arg("x"))
    .static_method("same", [](double x) { return static_cast<int64_t>(x); }, arg("number"))
    .method("read", [](const Derived&, clash::Text) { return 1; }, arg("text"))
    .doc("Read a text.")
    .method("wider", [](const Derived&, double, bool) { return Derived(); }, arg("x"), arg("more") = true)
    .method("fewer", [](const Derived&, int64_t x) { return x; }, arg("x"))
    .method("fewer", [](const Derived&, const anyffi::Bytes&) { return 1; }, arg("data"))
    .property("to_property", [](const Derived&) { return 1; })
    .method("to_method", [](const Derived&) { return 1; })
    .constant("NUMBER", "one")
    .constant("SAME", 2)
    .field("field", &Derived::y)
    .property("closed", [](const Derived& d) { return d.x; })
    .op(ops::imul, [](Derived& a, const Derived&) -> Derived& { return a; }, arg("other"));
ANYFFI_CLASS(Last, "clash.Last", Derived).static_method("create", [](int64_t) { return Last(); }, arg("x"));
"""

IGNORED = {
    "    def create(x: int) -> Derived: ...": "override",
    "    def create(x: int) -> Last: ...": "override",
    "    def read(self, text: str) -> int:": "override",
    "    def to_property(self) -> int: ...": "override",
    "    def to_method(self) -> int: ...": "override",
    "    NUMBER: ClassVar[str]": "assignment",
    "    def __imul__(self, by: float) -> Base: ...": "misc",
    "    def __imul__(self, other: Derived) -> Derived: ...": "misc, override",
    "    def __isub__(self, text: str) -> Base: ...": "misc",
    "    def __eq__(self, other: object) -> Base: ...": "override",
    "    name = 0": "assignment",
    "    imag = 1": "assignment",
}


@pytest.fixture(scope="session")
def stub(build: Build) -> str:
    return stubgen(build("clash.cc", SOURCE))


def test_what_is_ignored(stub: str) -> None:
    head, tail = "  # type: ignore[", ", unused-ignore]"
    # On the first line of a member that has several definitions, or lacks the setter of the base.
    first = {
        f"    @overload{head}override{tail}\n    def fewer(self, data: bytes) -> int: ...",
        f"    @property{head}override{tail}\n    def field(self) -> str: ...",
        f"    @property{head}misc{tail}\n    def closed(self) -> int: ...",
    }
    assert [text for text in first if text not in stub] == []
    found = [line.partition(head) for line in stub.splitlines() if head in line]
    of_lines = {line: codes[: -len(tail)] for line, _, codes in found if "@" not in line}
    assert of_lines == IGNORED
    assert stub.count(head) == len(IGNORED) + len(first)


@needs_mypy
@pytest.mark.slow("type checkers")
def test_mypy_agrees(stub: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "clash.pyi").write_text(stub)
    # Without `unused-ignore`, which is for other type checkers, mypy reports each comment that is not needed.
    (tmp_path / "exact.pyi").write_text(stub.replace(", unused-ignore]", "]"))
    (tmp_path / "anyffi").symlink_to(ROOT / "pkg", target_is_directory=True)
    assert run_mypy(tmp_path, "clash.pyi", "exact.pyi", search=[tmp_path]) == ""


HIDING = r"""
#include <anyffi/anyffi.h>

namespace hiding {
struct Kind {};
struct Figure {
  enum Which { kRound, kFlat };
  Kind kind;
};
struct SmallKind : Kind {};
}  // namespace hiding

using anyffi::arg;
using hiding::Figure;
using hiding::Kind;
ANYFFI_CLASS(Kind, "hiding.Kind").init<>();
ANYFFI_ENUM(Figure::Which, "hiding.Figure.Kind").value("ROUND", Figure::kRound).value("FLAT", Figure::kFlat);
ANYFFI_SUBMODULE(small, "");
ANYFFI_CLASS(hiding::SmallKind, "hiding.small.Kind", Kind).init<>();
ANYFFI_CLASS(Figure, "hiding.Figure")
    .init<Kind>(arg("kind"))
    .field("kind", &Figure::kind)
    .method("which", [](const Figure&, Figure::Which which) { return which; }, arg("which") = Figure::kFlat)
    // As in C#: a property that is called like its class.
    .property("Figure", [](const Figure& f) { return f; }, [](Figure& f, const Figure& other) { f = other; });
"""

HIDING_STUB = """

_Figure = Figure
_Kind = Kind

class Figure(anyffi.Object):
    __match_args__ = ('kind',)
    def __init__(self, kind: _Kind) -> None: ...
    @property
    def kind(self) -> _Kind: ...
    @kind.setter
    def kind(self, value: _Kind) -> None: ...
    def which(self, which: _Figure.Kind | int = _Figure.Kind.FLAT) -> _Figure.Kind: ...
    @property
    def Figure(self) -> _Figure: ...
    @Figure.setter
    def Figure(self, value: _Figure) -> None: ...
    class Kind(IntEnum):
        ROUND = 0
        FLAT = 1
class Kind(anyffi.Object):
    def __init__(self) -> None: ...
class small:
    class Kind(_Kind):
        def __init__(self) -> None: ...
"""

HIDING_USE = """
import hiding

figure = hiding.Figure(hiding.small.Kind())
kind: hiding.Kind = figure.kind
which: hiding.Figure.Kind = figure.Figure.which()
"""


@pytest.fixture(scope="session")
def hiding(build: Build) -> str:
    return stubgen(build("hiding.cc", HIDING))


def test_names_that_members_hide(hiding: str) -> None:
    assert hiding.endswith(HIDING_STUB)


@needs_mypy
@pytest.mark.slow("type checkers")
def test_mypy_finds_the_classes(hiding: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "hiding.pyi").write_text(hiding)
    (tmp_path / "use.py").write_text(HIDING_USE)
    (tmp_path / "anyffi").symlink_to(ROOT / "pkg", target_is_directory=True)
    assert run_mypy(tmp_path, "hiding.pyi", "use.py", search=[tmp_path]) == ""
