"""Bases of Python classes: C++ classes of which one derives from the other, and Python classes beside them."""

from __future__ import annotations

import copy
import gc
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

VIRTUAL = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

using anyffi::arg;

namespace virt {
struct Named {
  virtual ~Named() = default;
  std::string name = "none";
};
struct Body : virtual Named {
  explicit Body(int64_t size) : size(size) { ++live; }
  Body(const Body& other) : Named(other), size(other.size) { ++live; }
  ~Body() override { --live; }
  virtual int64_t area() const { return size; }
  int64_t size;
  static inline int64_t live = 0;
};
struct PyBody : anyffi::Overridable<Body> {
  using Overridable::Overridable;
  int64_t area() const override {
    return override_or<int64_t>("area", [&] { return Body::area(); });
  }
};
struct Solid : virtual Named {
  int64_t density = 5;
};
struct Cube : Body, Solid {
  explicit Cube(int64_t size) : Body(size) {}
  int64_t area() const override { return 6 * size * size; }
};
struct Plain { int64_t b = 5; };
struct Above : virtual Plain { int64_t a = 1; };
alignas(Above) static char place[sizeof(Above)];
/// Not bound: its objects are those of Cube, with another distance to the virtual base.
struct Hidden : Cube {
  explicit Hidden(int64_t size) : Cube(size) { name = "hidden"; }
  int64_t more[5] = {};
};
}  // namespace virt

ANYFFI_CLASS(virt::Named, "virt.Named")
    .init<>()
    .field("name", &virt::Named::name)
    .method("greet", [](const virt::Named& self) { return "I am " + self.name; });
ANYFFI_CLASS(virt::Body, "virt.Body", virt::Named)
    .overridable<virt::PyBody>()
    .init<int64_t>(arg("size"))
    .field("size", &virt::Body::size)
    .method("area", &virt::Body::area)
    .copyable();
ANYFFI_CLASS(virt::Cube, "virt.Cube", virt::Body).init<int64_t>(arg("size")).field("density", &virt::Cube::density).copyable();
ANYFFI_CLASS(virt::Plain, "virt.Plain").field("b", &virt::Plain::b);
ANYFFI_CLASS(virt::Above, "virt.Above", virt::Plain).field("a", &virt::Above::a);
ANYFFI_EXPORT(place_above, [] { return new (virt::place) virt::Above; }).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(place_plain, [] {
  reinterpret_cast<virt::Above*>(virt::place)->~Above();
  return new (virt::place) virt::Plain; }).returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(name_of, [](const virt::Named& named) { return named.name; }, arg("named"));
ANYFFI_EXPORT(name_shared, [](std::shared_ptr<virt::Named> named, std::string name) { named->name = name; return named; },
              arg("named"), arg("name"));
ANYFFI_EXPORT(itself, [](virt::Named& named) -> virt::Named& { return named; }, arg("named"));
ANYFFI_EXPORT(make_hidden, [](int64_t size) -> std::unique_ptr<virt::Body> {
  return std::make_unique<virt::Hidden>(size); }, arg("size"));
ANYFFI_EXPORT(area_of, [](const virt::Body& body) { return body.area(); }, arg("body"));
ANYFFI_EXPORT(names, [](const std::vector<std::shared_ptr<virt::Named>>& all) {
  std::string text; for (const auto& each : all) text += each->name + ";"; return text; }, arg("all"));
ANYFFI_EXPORT(live, [] { return virt::Body::live; });
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


def test_a_virtual_base(ffi: Any, build: Build) -> None:
    virt = ffi.load_module(build("virt.cc", VIRTUAL))
    assert virt.Cube.__mro__[:3] == (virt.Cube, virt.Body, virt.Named)
    cube, hidden, body = virt.Cube(2), virt.make_hidden(3), virt.Body(4)
    assert [type(x) for x in (cube, hidden, body)] == [virt.Cube, virt.Cube, virt.Body]
    for x, name in ((cube, "cube"), (hidden, "another"), (body, "body"), (virt.Named(), "plain")):
        x.name = name
        assert (x.name, x.greet(), virt.name_of(x)) == (name, f"I am {name}", name)
        assert virt.itself(x) is x
        assert virt.name_shared(x, name.upper()) is x
        assert x.name == name.upper()
    assert (cube.size, cube.density, hidden.size, hidden.density) == (2, 5, 3, 5)
    assert [virt.area_of(x) for x in (cube, hidden, body)] == [24, 54, 4]
    assert virt.names([cube, hidden, body]) == "CUBE;ANOTHER;BODY;"
    copied = copy.copy(cube)
    copied.name = "copy"
    assert (copied.name, copied.size, cube.name) == ("copy", 2, "CUBE")
    with pytest.raises(TypeError, match=r"expected virt\.Body, got virt\.Named"):
        virt.area_of(virt.Named())
    del cube, hidden, body, copied, x
    gc.collect()
    assert virt.live() == 0


def test_a_class_of_python_below_a_virtual_base(ffi: Any, build: Build) -> None:
    virt = ffi.load_module(build("virt.cc", VIRTUAL))

    class Ball(virt.Body):  # type: ignore[misc, name-defined]
        def area(self) -> int:
            return 3 * int(self.size) + len(self.name)

    ball = Ball(2)
    ball.name = "ball"
    assert (virt.area_of(ball), virt.name_of(ball), virt.itself(ball)) == (10, "ball", ball)
    ball.name = "a ball"
    assert virt.area_of(ball) == 12


def test_a_destroyed_object_with_a_virtual_base_is_not_read(ffi: Any, build: Build) -> None:
    virt = ffi.load_module(build("virt.cc", VIRTUAL))
    above = virt.place_above()
    assert (above.a, above.b) == (1, 5)
    plain = virt.place_plain()
    assert (type(plain), plain.b, plain is above) == (virt.Plain, 5, False)
