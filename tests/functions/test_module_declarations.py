"""Object types, parameters and defaults that a library declares, and those that are refused."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from programs import run_program
from support import Build, needs_compilers

pytestmark = needs_compilers


def test_object_classes(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    using anyffi::FixedText;
    struct Base { static constexpr FixedText kTypeKey{"modules.Base"}; };
    struct Derived : Base { using Parent = Base; static constexpr FixedText kTypeKey{"modules.Derived"}; };
    ANYFFI_REGISTER_OBJECT(Derived);
    ANYFFI_EXPORT(version, [] { return 1; });
    #ifdef CONTRADICTS
    struct Other { static constexpr FixedText kTypeKey{"modules.Derived"}; };
    ANYFFI_REGISTER_OBJECT(Other);
    #endif
    """
    program = f"""
        import anyffi
        library = anyffi.load_module({str(build("object_classes.cc", source))!r})
        for key in ("modules.Base", "modules.Derived"):
            assert anyffi.register_object(key)(type("Own", (anyffi.Object,), {{}}))
        try:
            anyffi.load_module({str(build("contradicts.cc", "#define CONTRADICTS" + source))!r})
        except ValueError as error:
            assert "modules.Derived" in str(error)
            print("refused")
    """
    assert run_program(program, ffi.ffi_mode) == "refused\n"


LAYOUT = """
#include <anyffi/anyffi.h>
#include <memory>
struct Thing { static constexpr anyffi::FixedText kTypeKey{"modules.Thing"}; %s };
%s
"""
MAKES_THINGS = """
ANYFFI_REGISTER_OBJECT(Thing);
ANYFFI_EXPORT(make, [](int64_t x) { return anyffi::make_object<Thing>(Thing{x}); }, anyffi::arg("x"));
ANYFFI_EXPORT(read, [](const Thing& t) { return t.x; }, anyffi::arg("thing"));
"""
READS_THINGS = """
ANYFFI_EXPORT(look, [](const Thing& t) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(&t)); },
              anyffi::arg("thing"));
"""


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ("int64_t* x;", "8 bytes, aligned to 8, beginning with pointer here"),
        ("double x;", "8 bytes, aligned to 8, beginning with float64 here"),
        ("int32_t x, y;", "8 bytes, aligned to 4, beginning with int32, int32 here"),
        ("int64_t x[3];", "24 bytes, aligned to 8, beginning with int64, int64, int64 here"),
        ("int64_t x; bool last;", "16 bytes, aligned to 8, beginning with int64, int8 here"),
        ("Thing(int64_t); std::unique_ptr<int> a, b;", "16 bytes, aligned to 8 here"),
        ("alignas(16) int64_t x;", "16 bytes, aligned to 16, beginning with int64 here"),
    ],
)
@pytest.mark.slow("compiling")
def test_object_types_of_one_key_and_two_layouts(ffi: Any, build: Build, members: str, words: str) -> None:
    """The second library is refused: it would misread the objects of the first."""
    number = sum(members.encode())
    first = build("layout_first.cc", LAYOUT % ("int64_t x;", MAKES_THINGS))
    same = build("layout_same.cc", LAYOUT % ("int64_t x;", MAKES_THINGS))
    other = build(f"layout_{number}.cc", LAYOUT % (members, READS_THINGS + "ANYFFI_REGISTER_OBJECT(Thing);"))
    late = build(f"layout_late_{number}.cc", LAYOUT % (members, READS_THINGS))
    program = f"""
        import anyffi
        first, same = anyffi.load_module({str(first)!r}), anyffi.load_module({str(same)!r})
        assert same.read(first.make(5)) == 5 and first.read(same.make(6)) == 6
        try:
            anyffi.load_module({str(other)!r})
        except ValueError as error:
            print(error)
        try:
            anyffi.load_module({str(late)!r}).look(first.make(7))
        except ValueError as error:
            print(error)
    """
    refused = (
        "type 'modules.Thing' is already registered by another library, with another layout: its objects take "
        f"8 bytes, aligned to 8, beginning with int64 there, and {words}; build both libraries with the same "
        "definition of it, or give one of the types another key, and start a new process\n"
    )
    assert run_program(program, ffi.ffi_mode) == refused * 2


NAMES = [
    ("x, x", "f(x: int, x: float) -> float: parameter 1 cannot have the name 'x': another parameter has it"),
    ("x, y z", "f(x: int, y z: float) -> float: parameter 1 cannot have the name 'y z': it is not an identifier"),
    ("2x, y", "f(2x: int, y: float) -> float: parameter 0 cannot have the name '2x': it is not an identifier"),
    (", y", "f(: int, y: float) -> float: parameter 0 cannot have the name '': it is not an identifier"),
    ("x, lambda", "f(x: int, lambda: float) -> float: parameter 1 cannot have the name 'lambda': it is a keyword of"
     " Python"),
]  # fmt: skip
DEFAULTS = [
    ('"two"', TypeError, "f(x: int, y: float = 'two') -> float: the default of parameter 1 (y): expected float, "
     "got str"),
    ("nullptr", TypeError, "f(x: int, y: float = None) -> float: the default of parameter 1 (y): expected float, "
     "got NoneType"),
    ("std::nullopt", TypeError, "f(x: int, y: float = None) -> float: the default of parameter 1 (y): expected float, "
     "got NoneType"),
]  # fmt: skip
NAMED = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
using anyffi::arg;
ANYFFI_REGISTER_GLOBAL("modules_named.before").def([] { return 1; });
ANYFFI_EXPORT(f, [](int64_t, double y) { return y; }, %s, %s);
"""


@pytest.mark.keeps_live(reason="the error of a library that failed is kept")
@pytest.mark.parametrize(
    ("names", "error", "message"),
    [(tuple(map('arg("{}")'.format, names.split(", "))), ValueError, message) for names, message in NAMES]
    + [(('arg("x")', f'arg("y") = {default}'), *expected) for default, *expected in DEFAULTS],
)
@pytest.mark.slow("compiling")
def test_invalid_parameters(
    ffi: Any, build: Build, names: tuple[str, str], error: type, message: str
) -> None:
    path = build(f"named_{sum(map(ord, ''.join(names)))}.cc", NAMED % names)
    for _ in range(2):
        with pytest.raises(error) as caught:
            ffi.load_module(path)
        assert str(caught.value) == message
    assert ffi.get_global_func("modules_named.before", allow_missing=True) is None


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.slow("compiling")
def test_none_as_a_default(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    #include <anyffi/stl/optional.h>
    using anyffi::arg;
    static std::optional<double> twice(std::optional<double> x) { return x ? std::optional(2 * *x) : std::nullopt; }
    ANYFFI_EXPORT(twice, &twice, arg("x") = std::nullopt);
    ANYFFI_EXPORT(give, [] { return std::nullopt; });
    ANYFFI_EXPORT(cast, [](const anyffi::AnyValue& x) {
      return x.cast<std::optional<double>>();
    }, arg("ünï"));
    """
    module = ffi.load_module(build("nullopt.cc", source))
    assert module.twice() is module.twice(None) is module.give() is None
    assert module.twice(x=2) == 4.0
    assert (module.cast(1.5), module.cast(ünï=None)) == (1.5, None)
    assert str(inspect.signature(module.twice)) == "(x: 'float | None' = None) -> 'float | None'"


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.slow("compiling")
def test_a_bool_is_an_int_before_a_float(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    #include <anyffi/stl/variant.h>
    ANYFFI_EXPORT(kind, [](double) { return "float"; })
        .def([](int32_t) { return "int"; })
        .def([](double, int64_t) { return "float, int"; })
        .def([](int64_t, double) { return "int, float"; });
    ANYFFI_EXPORT(held, [](std::variant<double, int16_t, int64_t> x) { return x.index(); });
    ANYFFI_EXPORT(own, [](std::variant<double, int64_t, bool> x) { return x.index(); });
    ANYFFI_EXPORT(variant, [](const anyffi::Variant<double, int64_t>& x) { return x.index(); });
    ANYFFI_EXPORT(floating, [](std::variant<float, double> x) { return x.index(); });
    """
    module = ffi.load_module(build("bools.cc", source))
    assert [module.kind(x) for x in (True, 1, 1.0)] == ["int", "int", "float"]
    assert [module.kind(*x) for x in ((True, 1.0), (1.0, True), (True, True))] == [
        "int, float", "float, int", "float, int"
    ]  # fmt: skip
    assert [module.held(x) for x in (True, 1, 1.0, 2**40)] == [1, 1, 0, 2]
    assert [module.own(x) for x in (True, 1, 1.0)] == [2, 1, 0]
    assert [module.variant(x) for x in (False, 1, 1.0)] == [1, 1, 0]
    assert [module.floating(x) for x in (True, 1, 1.0)] == [0, 0, 0]
