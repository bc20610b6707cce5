"""Stubs for C++ functions: their content, and that mypy accepts them."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pathlib
import sys
from typing import Any

import pytest
from programs import declarations, stubgen
from support import ROOT, Build, needs_compilers, run

pytestmark = needs_compilers

SOURCE = r"""
#include <anyffi/anyffi.h>
using namespace anyffi;

struct Point {
  static constexpr FixedText kTypeKey{"stubs.Point"};
  static constexpr const char* kDoc = "A place on the plane.";
  static constexpr auto fields() {
    return anyffi::fields(field<&Point::x>("x", "To the right."), field<&Point::int_>("int"));
  }
  double x;
  int64_t int_;
};
struct Color {
  static constexpr FixedText kTypeKey{"stubs.Color"};
  static Color from_value(Variant<String, Array<Ref<Color>>>) { return {}; }
};
struct Pixel : Point {
  using Parent = Point;
  static constexpr FixedText kTypeKey{"stubs.Pixel"};
  static constexpr auto fields() { return anyffi::fields(field<&Pixel::names>("names")); }
  Pixel(double x, Array<String> names) : Point{x, 1}, names(std::move(names)) {}
  Array<String> names;
};
ANYFFI_REGISTER_OBJECT(Point);
ANYFFI_REGISTER_OBJECT(Pixel);
ANYFFI_REGISTER_OBJECT(Color);

#define DEF(name) ANYFFI_REGISTER_GLOBAL("stubs." name).def
DEF("numbers")([](int8_t, double, bool, const char*) { return uint64_t(1); },
               arg("a"), arg("b") = 1.5, arg("c") = true, arg("d") = "it's \"x\"\n")
    .doc("Numbers, and \"\"\"quotes\"\"\" and a \\.\n\nFurther words in \"quotes\"");
DEF("containers")([](Array<int64_t>, Map<String, Array<double>>, List<String>, Dict<String, int64_t>, Set<int64_t>,
                     FrozenSet<int64_t>, Shape x) { return x; },
                  arg("a"), arg("m"), arg("l"), arg("d"), arg("s"), arg("f"), arg("shape"));
DEF("give_array")([](Map<String, List<int64_t>> m, Dict<int64_t, AnyValue>) {
                    return Array<Map<String, List<int64_t>>>{m};
                  });
DEF("either")([](Variant<int64_t, Array<String>>, Optional<String> y) { return y; }, arg("x"), arg("y") = nullptr);
DEF("area")([](double r) { return r; }, arg("r")).def([](double w, double) { return w; }, arg("w"), arg("h"))
    .doc("Of a rectangle.").def([](int64_t r) { return r; }, arg("r"));
DEF("pair")([](Tuple<int64_t, String> x) { return x; }, arg("x"));
DEF("tensors")([](TensorView, Optional<Tensor> out, DataType, Device) { return out; },
               arg("x"), arg("out") = nullptr, arg("dtype") = DataType::of<float>(), arg("device") = Device());
DEF("functions")([](Function f) { return f; }, arg("f"));
DEF("objects")([](Ref<Point> p, ObjectRef, AnyValue) { return p; }, arg("p"), arg("o"), arg("any"));
DEF("mix")([](Array<Ref<Color>> xs) { return xs; }, arg("xs"));
DEF("no_names")([](int64_t, String) {});
DEF("slice")([](Slice s) { return s; }, arg("s"));
DEF("int")([](int64_t x) { return x; }, arg("x"));
DEF("lambda")([] {});
DEF("nested.deeper")([] {});
ANYFFI_REGISTER_GLOBAL("stubs.packed").def_packed([](Args, AnyValue*) {});
DEF("point")([](double x) { return make_object<Point>(x, 2); }, arg("x"));
DEF("pixel")([] { return make_object<Pixel>(3.0, Array<String>{"a"}); });
// Possible in C, refused by the C++ API.
static const AnyffiValue kOne = anyffi_make_int(1);
static const AnyffiParamInfo kKeyword[] = {{"a", nullptr, "int"}, {"from", nullptr, "int"}, {"c", nullptr, "int"}};
static const AnyffiParamInfo kRequiredLast[] = {{"a", &kOne, "int"}, {"b", nullptr, "int"}};
static int give_last(void*, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  *result = args[num_args - 1];
  return 0;
}
static bool define(const char* name, int32_t count, int32_t required, const AnyffiParamInfo* params) {
  static AnyffiFunctionInfo infos[2];
  static int used = 0;
  AnyffiFunctionInfo& info = infos[used++] = {};
  info.struct_size = sizeof(info);
  info.name = name;
  info.num_params = count;
  info.num_required = required;
  info.params = params;
  info.result_type = "int";
  AnyValue key(name), function;
  return anyffi_function_create(&give_last, nullptr, nullptr, &info, function.out()) == 0 &&
         anyffi_registry_set(&key.raw(), &function.raw(), 0) == 0;
}
const bool kDefined = define("stubs.keyword", 3, 3, kKeyword) && define("stubs.required_last", 2, 0, kRequiredLast);
static int64_t twice(int64_t x) { return 2 * x; }
ANYFFI_EXPORT(stubs_twice, &twice, arg("x"));
"""

#: The stub of each function, below the imports.
EXPECTED = r'''
@overload
def area(r: _builtins.int) -> _builtins.int: ...
@overload
def area(r: float) -> float: ...
@overload
def area(w: float, h: float) -> float:
    """Of a rectangle."""
def containers(a: Sequence[_builtins.int], m: Mapping[str, Sequence[float]], l: anyffi.List[str] | list[str], \
d: anyffi.Dict[str, _builtins.int] | dict[str, _builtins.int], s: anyffi.Set[_builtins.int] | set[_builtins.int], \
f: AbstractSet[_builtins.int], shape: Sequence[_builtins.int]) -> anyffi.Shape: ...
def either(x: _builtins.int | Sequence[str], y: str | None = None) -> str | None: ...
def functions(f: Callable[..., Any]) -> Callable[..., Any]: ...
def give_array(arg0: Mapping[str, anyffi.List[_builtins.int] | list[_builtins.int]], \
arg1: anyffi.Dict[_builtins.int, Any] | dict[_builtins.int, Any], /) \
-> anyffi.Array[anyffi.Map[str, anyffi.List[_builtins.int]]]: ...
def int(x: _builtins.int) -> _builtins.int: ...
def keyword(a: _builtins.int, arg1: _builtins.int, /, c: _builtins.int) -> _builtins.int: ...
def mix(xs: Sequence[anyffi.Object | str | Sequence[anyffi.Object]]) -> anyffi.Array[anyffi.Object]: ...
def no_names(arg0: _builtins.int, arg1: str, /) -> None: ...
def numbers(a: _builtins.int, b: float = 1.5, c: bool = True, d: str = 'it\'s "x"\n') -> _builtins.int:
    """Numbers, and \"\"\"quotes\"\"\" and a \\.

    Further words in \"quotes\"
    """
def objects(p: anyffi.Object, o: object, any: Any) -> anyffi.Object: ...
def packed(*args: Any) -> Any: ...
def pair(x: tuple[_builtins.int, str] | anyffi.Array[_builtins.int | str] | list[_builtins.int | str]) \
-> anyffi.Array[_builtins.int | str]: ...
def pixel() -> anyffi.Object: ...
def point(x: float) -> anyffi.Object: ...
def required_last(a: _builtins.int, b: _builtins.int) -> _builtins.int: ...
def slice(s: _builtins.slice) -> _builtins.slice: ...
def tensors(x: _Exporter, out: _Exporter | None = None, dtype: Any = ..., device: anyffi.Device = ...) \
-> anyffi.Tensor | None: ...
# No name in Python: 'lambda'
'''.replace("\\\n", "")


LIBRARY = '''
class Color(anyffi.Object):
    ...
class Pixel(Point):
    @property
    def names(self) -> anyffi.Array[str]: ...
class Point(anyffi.Object):
    """A place on the plane."""
    @property
    def x(self) -> float:
        """To the right."""
    @property
    def int(self) -> _builtins.int: ...
def stubs_twice(x: _builtins.int) -> _builtins.int: ...
'''


@pytest.fixture(scope="session")
def library(build: Build) -> pathlib.Path:
    return build("stubs.cc", SOURCE)


def test_functions_of_a_prefix(library: pathlib.Path) -> None:
    text = stubgen("stubs", "--load", library)
    assert text.startswith("# Written by `python -m anyffi stubgen stubs`.\nimport anyffi\n")
    assert "\nclass _Exporter(Protocol):\n" in text
    assert text[text.index("\n@overload") :] == EXPECTED


def test_a_folder_of_sources_is_no_module(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "stubs").mkdir()
    text = stubgen("stubs", "--load", library, folder=tmp_path)
    assert text[text.index("\n@overload") :] == EXPECTED


@pytest.mark.slow("compiling")
def test_functions_of_a_library(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert declarations(stubgen(library)) == LIBRARY
    output = tmp_path / "out.pyi"
    assert stubgen(library, "-o", output) == ""
    assert output.read_text() == stubgen(library)
    both = stubgen(library, "--prefix", "stubs")
    assert "\ndef point(x: float) -> Point: ...\n" in both
    assert "\ndef stubs_twice(x: _builtins.int) -> _builtins.int: ...\n" in both
    assert str(library.parent) not in both


def test_a_module_in_a_folder_comes_before_an_installed_one(tmp_path: pathlib.Path) -> None:
    package = tmp_path / "anyffi_stub_package"
    package.mkdir()
    (package / "__init__.py").write_text("from ._core import WHERE\n")
    (package / "_core.py").write_text("WHERE = __file__\nfound: int = 1\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "anyffi_stub_package.py").write_text("raise SystemError\n")
    text = stubgen("anyffi_stub_package._core", "--path", tmp_path, folder=other)
    assert "\nWHERE: str\nfound: int\n" in text


MODULE = '''
"""Points and more."""

import os

import anyffi

__version__: str = "1.0"
VERSION = "1.0"
TABLE = {{"a": 1}}
_hidden = 1
library = anyffi.load_module({library!r})
anyffi.init_ffi_api("stubs", __name__)


@anyffi.register_object("stubs.Point")
class Point(anyffi.Object):
    """A place on the plane."""

    kind = "point"

    def scaled(self, by, *more: bytes, flag: bool = True) -> float:
        """Times `by`."""
        return self.x * by

    @property
    def twice(self):
        return 2 * self.x

    @classmethod
    def make(cls, x: float = 0.0):
        return point(x)  # noqa: F821


@anyffi.register_object("stubs.Pixel")
class Pixel(Point):
    pass


class Helper(ValueError):
    def help(self): ...


class Stack(anyffi.List):
    pass


ORIGIN = point(0.0)  # noqa: F821


def helper(a, /, b: float = 1, *, c: "str" = "x", **others) -> None:
    """Of Python."""
'''

OF_CLASSES = """
class Helper(ValueError):
    def help(self) -> Any: ...
ORIGIN: Point
class Pixel(Point):
    @property
    def names(self) -> anyffi.Array[str]: ...
class Point(anyffi.Object):
    \"\"\"A place on the plane.\"\"\"
    def scaled(self, by: Any, *more: bytes, flag: bool = True) -> float:
        \"\"\"Times `by`.\"\"\"
    @property
    def twice(self) -> Any: ...
    @classmethod
    def make(cls, x: float = 0.0) -> Any: ...
    kind: str
    @property
    def x(self) -> float:
        \"\"\"To the right.\"\"\"
    @property
    def int(self) -> _builtins.int: ...
"""


@pytest.fixture
def package(library: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "points.py").write_text(MODULE.format(library=os.fspath(library)))
    return tmp_path


@pytest.mark.slow("compiling")
def test_a_module_with_classes(package: pathlib.Path) -> None:
    text = stubgen("points", folder=package)
    assert '"""Points and more."""' in text
    assert OF_CLASSES.strip() in text
    assert "def point(x: float) -> Point: ..." in text
    assert "def objects(p: Point, o: object, any: Any) -> Point: ..." in text
    helper = "def helper(a: Any, /, b: float = 1, *, c: str = 'x', **others: Any) -> None:"
    assert f'{helper}\n    """Of Python."""' in text
    assert "\nclass Stack(anyffi.List[Any]):\n    ...\n" in text
    assert "\n__version__: str\n" in text
    for line in ("VERSION: str", "TABLE: Any", "library: anyffi.Module"):
        assert f"\n{line}\n" in text
    assert "_hidden" not in text
    assert "os" not in [line.split(":")[0] for line in text.splitlines()]


USER = """
import anyffi
import numpy as np

import points
from points import Point

p: Point = points.point(1.5)
x: float = p.x + points.pixel().x + p.scaled(2, b"x", flag=False)
names: anyffi.Array[str] = points.pixel().names
n: int = points.numbers(1, c=False)
points.containers([1], {"a": (1.5,)}, ["x"], {"a": 1}, {1}, frozenset(), (4,))
points.tensors(np.zeros(3), points.tensors(np.zeros(3)))
points.pair((1, "x"))
points.functions(len)(1, 2)
points.no_names(1, "x")
points.mix(["red", points.mix([])])
p.x = 2.0  # type: ignore[misc]
points.numbers("x")  # type: ignore[arg-type]
points.numbers()  # type: ignore[call-arg]
points.numbers(1, e=1)  # type: ignore[call-arg]
points.containers(1, {}, [], {}, set(), (), ())  # type: ignore[arg-type]
points.tensors([1])  # type: ignore[arg-type]
points.objects(1, 1, 1)  # type: ignore[arg-type]
points.pair((1, 2))  # type: ignore[arg-type]
points.no_such_function()  # type: ignore[attr-defined]
"""


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
@pytest.mark.slow("mypy")
def test_mypy_accepts_it_and_refuses_what_the_functions_refuse(package: pathlib.Path) -> None:
    (package / "anyffi").symlink_to(ROOT / "pkg", target_is_directory=True)
    stubgen("points", "-o", package / "points.pyi", folder=package)
    for source in ("stubs", "testing", "anyffi.List", "anyffi.type"):
        stubgen(
            source,
            "-o",
            package / f"{source.replace('.', '_')}_.pyi",
            "--load",
            "anyffi.testing",
            "--load",
            "points",
            folder=package,
        )
    (package / "user.py").write_text(USER)
    files = [*package.glob("*.pyi"), package / "user.py"]
    assert len(files) == 6
    done = run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", package / "cache", *files],
               MYPYPATH=os.fspath(package), LD_PRELOAD=None)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["no_such_module"],
            "'no_such_module' is neither a module to import nor a prefix of registered functions",
        ),
        (["./missing.so"], "./missing.so cannot be loaded: FileNotFoundError: "),
        (["anyffi", "--load", "no_such_module"], "no_such_module cannot be loaded: ModuleNotFoundError: "),
        (["anyffi", "--prefix", "x"], "a prefix belongs to the path of a library, and 'anyffi' is none"),
        (["anyffi", "-o", "/no/such/folder/x.pyi"], "[Errno 2] No such file or directory"),
    ],
)
def test_error_messages(words: list[str], message: str) -> None:
    assert stubgen(*words).startswith(f"python -m anyffi stubgen: {message}")


# ---- stubs agree with modules ------------------------------------------------------------------------------


@pytest.mark.keeps_live(reason="a module stays loaded, with what it registered")
@pytest.mark.slow("compiling")
def test_fields_are_properties(ffi: Any, library: pathlib.Path) -> None:
    ffi.load_module(library)
    make_pixel, make_point = map(ffi.get_global_func, ("stubs.pixel", "stubs.point"))

    @ffi.register_object("stubs.Point")
    class Point(ffi.Object):  # type: ignore[misc, name-defined]
        int = "the class's own"

    @ffi.register_object("stubs.Pixel")
    class Pixel(Point):
        pass

    pixel = make_pixel()
    assert type(pixel) is Pixel
    assert (pixel.x, pixel.names, pixel.int) == (3.0, ("a",), "the class's own")
    assert make_point(1.5).x == 1.5
    assert inspect.getdoc(Point.x) == "To the right."
    with pytest.raises(AttributeError):
        pixel.x = 1.0
    with pytest.raises(AttributeError):
        make_point(1.5).names
    ffi.register_object("stubs.Point")(type("Other", (ffi.Object,), {}))


@pytest.mark.slow("compiling")
def test_a_parameter_that_python_cannot_spell(ffi: Any, library: pathlib.Path) -> None:
    ffi.load_module(library)
    function = ffi.get_global_func("stubs.keyword")
    assert str(inspect.signature(function)) == "(a: 'int', arg1: 'int', /, c: 'int') -> 'int'"
    assert function(1, **{"from": 2, "c": 3}) == 3
