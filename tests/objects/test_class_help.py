"""`help`, `inspect` and `typing` show as much of C++ classes as of Python's."""

from __future__ import annotations

import collections.abc
import inspect
import pydoc
import sys
import typing
from typing import Any

import pytest
from precise_sources import PRECISE
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

namespace rope {
enum class Kind { kSilk };
struct Rope {
  struct Knot {
    int64_t size = 0;
  };
  explicit Rope(double length, Kind kind = Kind::kSilk) : length(length), kind(kind) {}
  virtual ~Rope() = default;
  virtual double strength(double load) const { return length * load; }
  virtual std::string name() const { return "rope"; }
  int64_t cut(const std::vector<double>& places, const std::optional<Knot>& knot) { return places.size() + knot->size; }
  double length;
  Kind kind;
};
struct PyRope : anyffi::Overridable<Rope> {
  using Overridable::Overridable;
  double strength(double load) const override {
    return override_or<double>("strength", [&] { return Rope::strength(load); }, load);
  }
  std::string name() const override { return override_pure<std::string>("name"); }
};
struct Load {
  explicit Load(double kilograms = 1, int64_t pieces = 1) : kilograms(kilograms), pieces(pieces) {}
  double kilograms;
  int64_t pieces;
};
struct Hook {};
}  // namespace rope

using anyffi::arg;

ANYFFI_ENUM(rope::Kind, "rope.Kind").value("SILK", rope::Kind::kSilk);
ANYFFI_CLASS(rope::Rope::Knot, "rope.Rope.Knot").init<>();
ANYFFI_CLASS(rope::Rope, "rope.Rope")
    .overridable<rope::PyRope>()
    .doc("Something to hold on to.")
    .init<double, rope::Kind>(arg("length"), arg("kind") = rope::Kind::kSilk)
    .doc("Make a rope of a length.")
    .field("length", &rope::Rope::length, "In metres.")
    .method("strength", &rope::Rope::strength, arg("load") = 1.5)
    .doc("Return how much it bears.")
    .property("name", &rope::Rope::name)
    .doc("What it is called.")
    .method("cut", &rope::Rope::cut, arg("places"), arg("knot"))
    .method("tie", [](const rope::Rope&, rope::Rope::Knot& knot) -> rope::Rope::Knot& { return knot; }, arg("knot"))
    .static_method("most", [](rope::Kind) { return 2.0; }, arg("kind"))
    .doc("Return the largest length.");
ANYFFI_CLASS(rope::Load, "rope.Load")
    .init<double, int64_t>(arg("kilograms"), arg("pieces"))
    .field("kilograms", &rope::Load::kilograms)
    .field("pieces", &rope::Load::pieces);
ANYFFI_CLASS(rope::Hook, "rope.Hook").init<>().op(anyffi::ops::repr, [](const rope::Hook&) { return "a hook"; });
ANYFFI_EXPORT(lift, [](const rope::Load& load, const rope::Hook&, const std::vector<rope::Load>& more) {
  return load.kilograms + static_cast<double>(more.size());
}, arg("load") = rope::Load(2.5, 3), arg("hook") = rope::Hook(), arg("more") = std::vector<rope::Load>(1));
ANYFFI_EXPORT(rows, [](anyffi::TypedView<const double, anyffi::shape<anyffi::any, 3>> rows) { return rows.size(); },
              arg("rows"));
"""


@pytest.fixture
def rope(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("rope.cc", SOURCE))


def test_docs(rope: Any) -> None:
    cls = rope.Rope
    for member, doc in (
        (cls, "Something to hold on to."),
        (cls.__init__, "Make a rope of a length."),
        (cls.length, "In metres."),
        (cls.strength, "Return how much it bears."),
        (cls(1).strength, "Return how much it bears."),
        (cls.name, "What it is called."),
        (cls.most, "Return the largest length."),
        (cls.cut, None),
    ):
        assert inspect.getdoc(member) == doc


@pytest.mark.unrecorded("Python's versions show signatures in several ways")
def test_help_of_overridable_methods_is_that_of_any(rope: Any) -> None:
    text = pydoc.plain(pydoc.render_doc(rope.Rope)).replace("'", "").replace("rope.Kind", "Kind")
    for line in (
        "strength(self, load: float = 1.5) -> float",
        "     Return how much it bears.",
        "     What it is called.",
        "most(kind: Kind) -> float",
        "In metres.",
        "__init__(self, length: float, kind: Kind = <Kind.SILK: 0>) -> None",
    ):
        assert line in text


def test_signatures(rope: Any) -> None:
    shown = {
        "Rope": "(length: 'float', kind: 'rope.Kind' = <Kind.SILK: 0>) -> None",
        "Rope.__init__": "(self, length: 'float', kind: 'rope.Kind' = <Kind.SILK: 0>) -> None",
        "Rope.strength": "(self, load: 'float' = 1.5) -> 'float'",
        "Rope.name.fget": "(self) -> 'str'",
        "Rope.most": "(kind: 'rope.Kind') -> 'float'",
    }
    for path, text in shown.items():
        found: Any = rope
        for part in path.split("."):
            found = getattr(found, part)
        assert str(inspect.signature(found)) == text
    assert str(inspect.signature(rope.Rope(1).strength)) == "(load: 'float' = 1.5) -> 'float'"


def test_defaults_of_classes(rope: Any) -> None:
    """Shown as `repr` returns them; an object without one is shown by its class."""
    signature = inspect.signature(rope.lift)
    assert str(signature) == (
        "(load: 'rope.Load' = rope.Load(kilograms=2.5, pieces=3), hook: 'rope.Hook' = rope.Hook(...), "
        "more: 'Sequence[rope.Load]' = [rope.Load(kilograms=1.0, pieces=1)]) -> 'float'"
    )
    assert inspect.signature(rope.lift) == signature
    # The default in the signature is only for show: calls do not get it.
    assert type(signature.parameters["load"].default) is not rope.Load
    assert rope.lift() == 3.5


@pytest.mark.skipif(sys.version_info < (3, 10), reason="unions of classes need Python 3.10")
def test_type_hints(rope: Any, ffi: Any) -> None:
    cls, hints = rope.Rope, typing.get_type_hints
    assert hints(cls.strength) == {"self": cls, "load": float, "return": float}
    assert hints(cls(1).strength) == hints(cls.strength)
    assert hints(cls.__init__) == {"length": float, "kind": rope.Kind, "return": type(None)}
    assert hints(cls.most) == {"kind": rope.Kind, "return": float}
    assert hints(cls.name.fget) == {"self": cls, "return": str}
    assert hints(cls.tie) == {"self": cls, "knot": cls.Knot, "return": cls.Knot}
    assert hints(cls.cut) == {
        "self": cls,
        "places": collections.abc.Sequence[float],
        "knot": typing.Optional[cls.Knot],
        "return": int,
    }
    assert hints(cls) == {}
    assert inspect.get_annotations(cls.most, eval_str=True) == hints(cls.most)
    rows = hints(rope.rows, include_extras=True)["rows"]
    assert rows == typing.Annotated[ffi.Tensor, "float64[:, 3]"]
    assert hints(ffi.get_global_func("anyffi.Object.keep_alive"))["object"] is typing.Any


@pytest.mark.skipif(sys.version_info < (3, 10), reason="unions of classes need Python 3.10")
def test_type_hints_of_pointers_and_callbacks(ffi: Any, build: Build) -> None:
    desk, hints = ffi.load_module(build("desk.cc", PRECISE)), typing.get_type_hints
    assert hints(desk.Desk.find_or_none)["return"] == typing.Optional[desk.Pen]
    assert hints(desk.choose)["f"] == collections.abc.Callable[[desk.Pen], collections.abc.Sequence[float]]


def test_type_hints_of_dataclasses_are_their_own(ffi: Any) -> None:
    @ffi.dataclass("test.class_help.Mine")
    class Mine:
        x: int

    assert typing.get_type_hints(Mine) == {"x": int}


def test_every_function_has_type_hints(ffi: Any) -> None:
    if sys.version_info < (3, 10):
        pytest.skip("unions of classes need Python 3.10")
    for name in ffi.list_global_func_names():
        function = ffi.get_global_func(name)
        for each in function.overloads or (function,):
            assert typing.get_type_hints(each).keys() == each.__annotations__.keys()


@pytest.mark.skipif(sys.version_info < (3, 10), reason="unions of classes need Python 3.10")
def test_a_type_hint_with_bool_and_a_tensor_of_bool(ffi: Any) -> None:
    hints = typing.get_type_hints(ffi.get_global_func("testing.tensors.to_bool"))
    tensor, _, number = typing.get_args(hints["x"])
    assert (tensor, number, repr(number)) == (ffi.Tensor, bool, repr(bool))
    assert [isinstance(x, number) for x in (True, 1)] == [True, False]
    assert issubclass(bool, number)
    assert number(3) is True


@pytest.mark.parametrize(
    "name",
    ["Object", "Function", "Module", "Tensor", "Shape", "Array", "List", "Map", "Dict", "Set", "FrozenSet"],
)
def test_hints_of_a_class_are_its_own(ffi: Any, name: str) -> None:
    base = getattr(ffi, name)
    assert typing.get_type_hints(base) == {}
    assert typing.get_type_hints(type("Mine", (base,), {"__annotations__": {"x": int}})) == {"x": int}
