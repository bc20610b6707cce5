"""Bases of Python classes: C++ classes of which one derives from the other, and Python classes beside them."""

from __future__ import annotations

from typing import Any

import pytest
from class_sources import CLASSES
from support import Build, compiles_classes

pytestmark = compiles_classes

OTHER = """
#include <anyffi/anyffi.h>
namespace apart { struct Alone { int64_t a = 1; }; }
ANYFFI_CLASS(apart::Alone, "apart.Alone").init<>().field("a", &apart::Alone::a);
"""

DIAMOND = """
#include <anyffi/anyffi.h>
namespace facet {
struct Base {
  virtual ~Base() = default;
  int64_t get() const { return b; }
  virtual int64_t twice() const { return 2 * b; }
  int64_t b = 1;
};
struct Left : virtual Base { int64_t left = 2; };
struct Right : virtual Base {};
struct Whole : Left, Right { int64_t twice() const override { return 10 * b; } };
}  // namespace facet
ANYFFI_CLASS(facet::Whole, "facet.Whole")
    .init<>()
    .method("get", &facet::Whole::get)
    .method("twice", &facet::Base::twice)
    .field("left", &facet::Whole::left)
    .property("b", [](const facet::Whole& w) { return w.b; }, [](facet::Whole& w, int64_t b) { w.b = b; });
"""


@pytest.fixture
def geo(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("classes.cc", CLASSES))


def test_an_object_has_one_part_of_cpp(ffi: Any, geo: Any, build: Build) -> None:
    alone = ffi.load_module(build("apart.cc", OTHER)).Alone

    class Below(alone):  # type: ignore[misc, valid-type]
        pass

    for bases, names in (
        ((geo.Vec, geo.Index), r"geo\.Vec and geo\.Index"),
        ((geo.Vec, alone), r"geo\.Vec and apart\.Alone"),
        ((alone, geo.Vec), r"apart\.Alone and geo\.Vec"),
        ((geo.Vec, Below), r"geo\.Vec and .*\.Below"),
        ((geo.Leaf, geo.Index, Below), r"geo\.Leaf and .*\.Below"),
    ):
        message = rf"class Wrong has several bases in C\+\+, {names}, of which neither derives from the other"
        with pytest.raises(TypeError, match=message):
            type("Wrong", bases, {})


def test_bases_of_which_one_derives_from_the_other(ffi: Any, geo: Any) -> None:
    class Mixin:
        def shown(self) -> str:
            return f"{self.dim} of {type(self).__name__}"  # type: ignore[attr-defined]

    class Named(geo.Index):  # type: ignore[misc, name-defined]
        def name_of(self) -> str:
            return "named"

    class Mixed(Mixin, geo.Leaf, geo.Index, ffi.Object):  # type: ignore[misc, name-defined]
        pass

    class Both(Named, geo.Index, Mixin):  # type: ignore[misc, name-defined]
        pass

    class NamedLeaf(geo.Leaf, Named):  # type: ignore[misc, name-defined]
        pass

    assert Mixed().shown() == "1 of Mixed"
    assert Both(3).shown() == "3 of Both"
    assert (NamedLeaf().name_of(), NamedLeaf().depth) == ("named", 1)


def test_members_of_virtual_bases(ffi: Any, build: Build) -> None:
    whole = ffi.load_module(build("facet.cc", DIAMOND)).Whole()
    whole.b = 4
    assert (whole.get(), whole.twice(), whole.b, whole.left) == (4, 40, 4, 2)
