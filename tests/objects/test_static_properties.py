"""Static properties and fields: attributes of C++ classes that Python reads and writes on the class."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest
from programs import stubgen
from support import Build, collect, compiles_classes

pytestmark = compiles_classes

np = pytest.importorskip("numpy")

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

namespace mill {
struct Grain {
  int64_t size = 1;
};
struct Mill {
  static int64_t speed() { return speed_; }
  static void set_speed(int64_t speed) {
    if (speed < 0) throw anyffi::Error("ValueError", "speed is negative");
    speed_ = speed;
  }
  static inline int64_t speed_ = 3;
  static inline int64_t num_reads = 0;
  static inline std::vector<std::string> names{"old"};
  static inline Grain grain;
  static inline const double kRatio = 0.5;
  int64_t own = 7;
};
struct Windmill : Mill {};
}  // namespace mill

ANYFFI_CLASS(mill::Grain, "mill.Grain").init<>().field("size", &mill::Grain::size);
ANYFFI_CLASS(mill::Mill, "mill.Mill")
    .init<>()
    .field("own", &mill::Mill::own)
    .static_property("speed", &mill::Mill::speed, &mill::Mill::set_speed)
    .doc("How fast they all turn.")
    .static_property("num_reads", [] { return ++mill::Mill::num_reads; })
    .static_field("names", &mill::Mill::names, "What they are called.")
    .static_field("grain", &mill::Mill::grain)
    .static_field("ratio", &mill::Mill::kRatio)
    .constant("MOST", 9);
ANYFFI_CLASS(mill::Windmill, "mill.Windmill", mill::Mill).init<>();
ANYFFI_EXPORT(speed, &mill::Mill::speed);
"""


@pytest.fixture
def mill(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("mill.cc", SOURCE))
    module.Mill.speed = 3
    module.Mill.names = ["old"]
    return module


def test_the_class_has_them(mill: Any) -> None:
    assert (mill.Mill.speed, mill.Mill.names, mill.Mill.ratio) == (3, ["old"], 0.5)
    mill.Mill.speed = 5
    assert (mill.Mill.speed, mill.speed()) == (5, 5)
    mill.Mill.names = ("a", "b")
    assert mill.Mill.names == ["a", "b"]
    first = mill.Mill.num_reads
    assert mill.Mill.num_reads == first + 1


def test_objects_and_derived_classes_share_them(mill: Any) -> None:
    class Own(mill.Windmill):  # type: ignore[misc]
        pass

    for owner in (mill.Mill(), mill.Windmill, mill.Windmill(), Own, Own()):
        owner.speed += 1
        assert owner.speed == mill.speed() == mill.Mill.speed
    assert mill.Mill.speed == 8
    assert "speed" not in vars(Own)


def test_an_object_is_referred_to(mill: Any) -> None:
    mill.Mill.grain.size = 4
    assert mill.Mill.grain.size == 4
    assert mill.Mill.grain is mill.Windmill().grain
    new = mill.Grain()
    mill.Mill.grain = new
    new.size = 9
    assert mill.Mill.grain.size == 1


class Part:
    pass


def test_refused(mill: Any) -> None:
    for owner in (mill.Mill, mill.Mill()):
        for name in ("num_reads", "ratio"):
            with pytest.raises(AttributeError, match=f"static property '{name}' has no setter"):
                setattr(owner, name, 1)
        with pytest.raises(AttributeError, match="static property 'speed' cannot be deleted"):
            del owner.speed
        with pytest.raises(TypeError, match=r"^mill\.Mill\.speed: expected int, got str$"):
            owner.speed = "fast"
        with pytest.raises(TypeError, match=r"^mill\.Mill\.speed: expected int, got .*\.Part$"):
            owner.speed = Part()
        with pytest.raises(
            OverflowError, match=r"^mill\.Mill\.speed: 9223372036854775808 does not fit int64$"
        ):
            owner.speed = 2**63
        with pytest.raises(TypeError, match=r"^mill\.Mill\.speed, at \[0\]: dtype <U1 has no DLPack code"):
            owner.speed = [np.array(["a"])]
        with pytest.raises(ValueError, match="speed is negative"):
            owner.speed = -1
    assert mill.Mill.speed == 3


def test_other_attributes_are_those_of_any_class(mill: Any) -> None:
    class Own(mill.Mill):  # type: ignore[misc]
        speed = "hidden"

    Own.speed = "changed"
    Own.other = 1
    assert (Own.speed, Own.other, mill.Mill.speed) == ("changed", 1, 3)
    del Own.speed, Own.other
    assert Own.speed == 3
    assert Own().own == 7
    assert mill.Mill.MOST == 9
    assert type(mill.Grain) is type


def test_a_registered_class_derives_from_that_of_the_module(ffi: Any, mill: Any) -> None:
    with pytest.raises(TypeError, match=r"^mill.Mill has static properties: class Plain has to derive from"):

        @ffi.register_object("mill.Mill")
        class Plain(ffi.Object):  # type: ignore[misc]
            pass


def test_help(mill: Any) -> None:
    assert inspect.getdoc(inspect.getattr_static(mill.Mill, "speed")) == "How fast they all turn."
    text = pydoc.plain(pydoc.render_doc(mill.Mill))
    assert "speed\n |      How fast they all turn." in text
    assert "names\n |      What they are called." in text


def test_stubs(mill: Any) -> None:
    text = stubgen(mill.__file__)
    assert '    speed: ClassVar[int]\n    """How fast they all turn."""\n' in text
    assert "    names: ClassVar[list[str]]\n" in text
    assert "    grain: ClassVar[Grain]\n" in text


def test_names_of_two_kinds_of_members(ffi: Any, build: Build) -> None:
    begin = "#include <anyffi/anyffi.h>\n"
    begin += "struct {0} {{ int64_t f() {{ return 1; }} static int64_t g() {{ return 2; }} }};\n"
    begin += 'ANYFFI_CLASS({0}, "twice.{0}").init<>()'
    words = "{}: there is a member of this name already, which is no overload"
    both = "{}: a method and a static method have this name, which in Python is that of one attribute"
    for name, members, wanted in (
        ("Methods", '.method("f", &Methods::f).static_method("f", &Methods::g)', both),
        ("Statics", '.static_method("f", &Statics::g).method("f", &Statics::f)', both),
        ("Twos", '.static_property("f", &Twos::g).static_property("f", &Twos::g)', words),
        ("Mixed", '.static_property("f", &Mixed::g).property("f", &Mixed::f)', words),
        ("Consts", '.constant("f", 1).static_property("f", &Consts::g, [](int64_t) {})', words),
        ("Hidden", '.method("f", &Hidden::f).static_property("f", &Hidden::g)', words),
    ):
        library = build(f"{name.lower()}.cc", f"{begin.format(name)}{members};\n")
        with pytest.raises(ValueError, match=wanted.format(f"twice.{name}: f")):
            ffi.load_module(library)


VARIABLES = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

namespace variables {
struct Fixed {
  const int64_t size = 4;
};
struct Movable {
  Movable() = default;
  Movable(Movable&&) = default;
  Movable& operator=(Movable&&) = default;
};
struct All {
  static inline const char* text = "text";
  static inline std::string_view view = "view";
  static inline Fixed fixed;
  static inline Movable movable;
  static inline Fixed* pointer = &fixed;
  static inline std::vector<Fixed*> pointers{&fixed};
  static inline std::function<int64_t(int64_t)> callback;
  static inline std::map<std::string, anyffi::AnyValue> table;
  std::map<std::string, anyffi::AnyValue> own_table;
};
}  // namespace variables

using namespace variables;
using anyffi::Returns;

ANYFFI_CLASS(Fixed, "variables.Fixed").field("size", &Fixed::size);
ANYFFI_CLASS(Movable, "variables.Movable");
ANYFFI_CLASS(All, "variables.All")
    .init<>()
    .field("own_table", &All::own_table)
    .static_field("text", &All::text)
    .static_field("view", &All::view)
    .static_field("fixed", &All::fixed)
    .static_field("movable", &All::movable)
    .static_field("pointer", &All::pointer).returns(Returns::kReference)
    .static_field("pointers", &All::pointers).returns(Returns::kReference)
    .static_field("callback", &All::callback)
    .static_field("table", &All::table);
"""


@pytest.fixture
def variables(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("variables.cc", VARIABLES))


def test_what_refers_to_others_is_read_only(variables: Any) -> None:
    cls = variables.All
    assert (cls.text, cls.view, cls.fixed.size) == ("text", "view", 4)
    assert cls.pointer is cls.pointers[0] is cls.fixed
    for name in ("text", "view", "fixed", "movable", "pointer", "pointers"):
        with pytest.raises(AttributeError, match=f"^static property '{name}' has no setter$"):
            setattr(cls, name, getattr(cls, name))


def test_none_empties_a_function(variables: Any) -> None:
    cls = variables.All
    assert cls.callback is None
    assert cls.__dict__["callback"].type_name == "Callable[[int], int] | None"
    cls.callback = abs
    assert cls.callback is abs
    cls.callback = None
    assert cls.callback is None
    with pytest.raises(TypeError, match=r"expected Callable\[\[int\], int\] \| None, got int$"):
        cls.callback = 3


@pytest.mark.parametrize("name", ["table", "own_table"])
def test_what_is_released_finds_the_new_value(variables: Any, name: str) -> None:
    """Assigning to a `std::map` directly would release its elements while they are still in it."""
    found: list[Any] = []
    owner = variables.All if name == "table" else variables.All()

    class Watching:
        def __del__(self) -> None:
            found.append(dict(getattr(owner, name)))

    setattr(owner, name, {"a": Watching(), "b": Watching()})
    setattr(owner, name, {"c": 1})
    collect(lambda: len(found) == 2)
    assert found == [{"c": 1}, {"c": 1}]
