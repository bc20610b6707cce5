"""Structs of C++ for dataclasses: the same memory, and a check when the library is loaded."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import Any

import pytest
from support import Build, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]

SOURCE = """
#include <anyffi/anyffi.h>

#include <cmath>

namespace geo {
using namespace anyffi;
struct Point {
  bool flag;
  int64_t x;
  double y;
  String name;
  List<String> tags;
  AnyValue rest;
};
struct Point3 : Point {
  double z;
  Optional<Ref<Point>> base;
};
}  // namespace geo
using namespace geo;

ANYFFI_RECORD(Point, "geo.Point")
    .field("flag", &Point::flag)
    .field("x", &Point::x)
    .field("y", &Point::y)
    .field("name", &Point::name)
    .field("tags", &Point::tags)
    .field("rest", &Point::rest);
ANYFFI_RECORD(Point3, "geo.Point3", Point).field("z", &Point3::z).field("base", &Point3::base);

using anyffi::arg;
ANYFFI_EXPORT(norm, [](const Point& p) { return std::sqrt(static_cast<double>(p.x * p.x) + p.y * p.y); }, arg("p"));
ANYFFI_EXPORT(move, [](Point& p, int64_t by) { p.x += by, p.name = "moved", p.tags.push_back("t"); }, arg("p"), arg("by"));
ANYFFI_EXPORT(make, [](int64_t x) {
  return anyffi::make_object<Point>(Point{true, x, 0.5, "made", {"a"}, 7});
}, arg("x"));
ANYFFI_EXPORT(base_of, [](const anyffi::Ref<Point3>& p) -> AnyValue {
  if (!p->base) return AnyValue(anyffi::Ref<Point>(p));
  return AnyValue(p->base.value());
}, arg("p"));
ANYFFI_EXPORT(total, [](const anyffi::Array<anyffi::Ref<Point>>& ps) {
  int64_t sum = 0;
  for (const anyffi::Ref<Point>& p : ps) sum += p->x;
  return sum;
}, arg("ps"));
ANYFFI_EXPORT(sizes, [] { return anyffi::Tuple<int64_t, int64_t>(sizeof(Point), sizeof(Point3)); });
"""

WRONG = """
#include <anyffi/anyffi.h>
struct Other {
  int64_t x;
  MEMBER;
};
ANYFFI_RECORD(Other, "KEY").field("x", &Other::x).field("NAME", &Other::y);
ANYFFI_EXPORT(x_of, [](const Other& other) { return other.x; }, anyffi::arg("other"));
"""


def points(ffi: Any) -> Any:
    @ffi.dataclass("geo.Point")
    class Point:
        flag: bool
        x: int
        y: float = 0.0
        name: str = ""
        tags: list[str] = field(default_factory=list)
        rest: Any = None

        def twice(self) -> int:
            return 2 * self.x

    @ffi.dataclass("geo.Point3")
    class Point3(Point):
        z: float = 0.0
        base: Point | None = None

    return Point, Point3


def test_structs(ffi: Any, build: Build) -> None:
    Point, Point3 = points(ffi)
    module = ffi.load_module(build("geo.cc", SOURCE))
    point = Point(False, 3, 4.0, tags=["b"])
    assert module.norm(point) == 5.0
    module.move(point, by=2)
    assert (point.x, point.name, list(point.tags)) == (5, "moved", ["b", "t"])
    made = module.make(8)
    assert type(made) is Point
    assert (made.flag, made.x, made.y, made.name, list(made.tags), made.rest) == (
        True,
        8,
        0.5,
        "made",
        ["a"],
        7,
    )
    assert made.twice() == 16
    made.name = "n" * 40
    made.rest = [made]
    made.rest = None
    with pytest.raises(TypeError, match=r"geo\.Point\.x: expected int, got str"):
        made.x = "a"
    solid = Point3(True, 1, z=2.0)
    assert module.base_of(solid) is solid
    solid.base = point
    assert module.base_of(solid) is point
    assert module.norm(Point3(True, 0, 2.0)) == 2.0
    assert module.total([point, solid, made]) == 14
    with pytest.raises(TypeError, match=r"at \[1\]: expected geo\.Point, got str"):
        module.total([point, "x"])


def test_drafts_in_cpp(ffi: Any, build: Build) -> None:
    """Even in a draft, C++ finds a value in every field."""
    _, Point3 = points(ffi)
    module = ffi.load_module(build("geo.cc", SOURCE))
    draft = Point3.__new__(Point3)
    module.move(draft, 3)
    assert module.norm(draft) == 3.0
    with pytest.raises(AttributeError):
        draft.x


def test_the_library_is_loaded_first(ffi: Any, build: Build) -> None:
    source = SOURCE.replace("geo.P", "early.P")
    module = ffi.load_module(build("early.cc", source))
    made = module.make(3)
    assert made.__class__.__name__ == "Point"

    with pytest.raises(ValueError, match=r"field 3 is name: str at 24 in C\+\+, and name: Any at 24"):

        @ffi.dataclass("early.Point")
        class Wrong:
            flag: bool
            x: int
            y: float
            name: Any
            tags: Any
            rest: Any

    @ffi.dataclass("early.Point")
    class Point:
        flag: bool
        x: int
        y: float
        name: str
        tags: list[str]
        rest: Any

    assert type(module.make(4)) is Point
    assert module.norm(Point(True, 3, 4.0, "", [], None)) == 5.0


@pytest.mark.parametrize(
    ("member", "name", "message"),
    [
        ("double y", "y", None),
        ("int64_t y", "y", r"field 1 is y: int at 8 in C\+\+, and y: float at 8 in Python"),
        ("double y", "z", r"field 1 is z: float at 8 in C\+\+, and y: float at 8 in Python"),
        ("double y; double w", "y", "its objects take 16 bytes, .* there, and 24 bytes"),
    ],
)
def test_the_check(member: str, name: str, message: str | None, ffi: Any, build: Build) -> None:
    key = f"check.{'ok' if message is None else abs(hash((member, name)))}"
    cls = type("Other", (), {"__annotations__": {"x": int, "y": float}, "__module__": __name__})
    cls.__qualname__ = key
    cls = ffi.dataclass(key)(cls)
    source = WRONG.replace("MEMBER", member).replace("KEY", key).replace("NAME", name)
    library = build(f"{key.replace('.', '_')}.cc", source)
    if message is None:
        assert ffi.load_module(library).x_of(cls(4, 1.0)) == 4
        return
    with pytest.raises(ValueError, match=message):
        ffi.load_module(library)


MODULE = '''
from __future__ import annotations
from typing import Any, Callable, Literal, Optional, Union
import pathlib
import anyffi

@anyffi.dataclass("gen.Leaf")
class Leaf:
    """A leaf.

    Of a tree."""
    flag: bool
    x: int
    last: bool = False

@anyffi.dataclass("gen.tree.Node")
class Node(Leaf):
    more: bool = True
    next: Optional[Node] = None
    leaves: list[Leaf] = anyffi.field(default_factory=list)
    names: dict[str, Optional[int]] = anyffi.field(default_factory=dict)
    both: tuple[int, str] = (0, "")
    either: Union[int, str, None] = None
    mixed: list[Union[int, str]] = anyffi.field(default_factory=list)
    mode: Literal["a", "b"] = "a"
    path: Optional[pathlib.PurePath] = None
    paths: list[pathlib.PurePath] = anyffi.field(default_factory=list)
    call: Callable[[int], int] = abs
    any: Any = None
    number: complex = 0j
    default: str = ""
    data: bytes = b""

@anyffi.dataclass("gen.Empty")
class Empty:
    pass
'''

USER = """
#include "gen.h"
ANYFFI_EXPORT(walk, [](const gen::tree::Node& node) {
  int64_t sum = node.x + static_cast<int64_t>(node.both.get<0>()) + node.call(node.x).cast<int64_t>();
  if (node.next) sum += 100 * node.next.value()->x;
  for (const anyffi::Ref<gen::Leaf>& leaf : node.leaves) sum += 10 * leaf->x;
  return sum;
}, anyffi::arg("node"));
ANYFFI_EXPORT(empty, [] { return anyffi::make_object<gen::Empty>(); });
"""


def test_generated_structs(ffi: Any, build: Build, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import anyffi
    from anyffi.__main__ import main

    if ffi.ffi_mode != anyffi.ffi_mode:
        pytest.skip("the command uses the mode of the process")
    (tmp_path / "gen_classes.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("gen_classes", None)
    header = tmp_path / "gen.h"
    main(["stubgen", "--cpp", "gen_classes", "-o", str(header)])
    text = header.read_text()
    for line in (
        "struct Node : ::gen::Leaf {",
        "/// Of a tree.",
        "  char padding_[7];  // no member of a derived struct lies here",
        "  anyffi::Optional<anyffi::Ref<::gen::tree::Node>> next;",
        "  anyffi::List<anyffi::Ref<::gen::Leaf>> leaves;",
        "  anyffi::Dict<anyffi::String, anyffi::Optional<int64_t>> names;",
        "  anyffi::Tuple<int64_t, anyffi::String> both;",
        "  anyffi::AnyValue either;",
        "  anyffi::List<anyffi::Variant<int64_t, anyffi::String>> mixed;",
        "  anyffi::ObjectRef paths;",
        "  anyffi::String default_;",
        "ANYFFI_RECORD_FIELDS(gen::Empty);",
        'ANYFFI_TYPE_KEY(gen::tree::Node, "gen.tree.Node", gen::Leaf);',
    ):
        assert line in text, line
    classes = sys.modules["gen_classes"]
    module = ffi.load_module(build("gen.cc", text + USER.replace('#include "gen.h"', "")))
    leaf = classes.Leaf(True, 2)
    node = classes.Node(True, 1, leaves=[leaf, leaf], both=(5, "x"))
    assert module.walk(node) == 47
    node.next = node
    assert module.walk(node) == 147
    # Fields that are not set yet have the initial values of C++.
    with pytest.raises(ValueError, match="the field with this function is not set yet"):
        module.walk(classes.Node.__new__(classes.Node))
    assert type(module.empty()) is classes.Empty


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_module"], "no_such_module cannot be imported"),
        (["json"], "there is no class with anyffi.dataclass in json"),
    ],
)
def test_errors_of_the_generator(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from anyffi.__main__ import main

    with pytest.raises(SystemExit):
        main(["stubgen", "--cpp", *arguments])
    assert message in capsys.readouterr().err
