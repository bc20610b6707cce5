"""An extension that is built once works with every installed interpreter, in each mode that it supports."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import sys
import textwrap
from typing import NamedTuple

import pytest
from interpreters import SUPPORTED, find_installed
from support import CC, ROOT, Build, build_directory, needs_compilers, run

pytestmark = [needs_compilers, pytest.mark.slow("other interpreters")]

EXTENSION = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/complex.h>
using namespace anyffi;
static List<double> scale(List<double> xs, double by) {
  for (int64_t i = 0; i < xs.size(); ++i) xs.set(i, xs[i] * by);
  return xs;
}
ANYFFI_EXPORT(scale, &scale, arg("xs"), arg("by") = 2.0);
ANYFFI_EXPORT(swap, [](Map<String, AnyValue> m, Function f) {
  List<AnyValue> out;
  for (const auto& [key, value] : m) out.push_back(f(value, key));
  return out;
}, arg("m"), arg("f"));
ANYFFI_EXPORT(fail, [](String x) { throw Error("KeyError", AnyValue(x)); }, arg("x"));
ANYFFI_EXPORT(whole, [](AnyValue x) { return x; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("interpreters.turn")
    .def([](std::complex<double> x) { return x * std::complex<double>(0, 1); }, arg("x"));
"""

PROGRAM = """
import gc, inspect, sys
sys.path.insert(0, {package!r})
import anyffi
m = anyffi.load_module({library!r})
assert m.scale([1.0, 2], by=3) == [3.0, 6.0]
assert str(inspect.signature(m.scale)) == "(xs: 'List[float]', by: 'float' = 2.0) -> 'List[float]'"
assert m.swap({{"a": 1, "\\u20ac" * 20: [2]}}, lambda value, key: (key, value)) == [("a", 1), ("\\u20ac" * 20, [2])]
own = ValueError("own")
try:
    m.swap({{"a": 1}}, lambda *args: (_ for _ in ()).throw(own))
except ValueError as error:
    assert error is own
try:
    m.fail("key")
except KeyError as error:
    assert error.args == ("key",)
try:
    m.scale((1.0,))
except TypeError as error:
    assert "argument 0 (xs): expected List, got " in str(error) or "expected List[float], got " in str(error), error
for x in (None, True, 2**100, -1.5, "\\ud800", "x" * 100, b"y" * 50, slice(1, None), ..., len, own, object()):
    assert m.whole(x) == x or m.whole(x) is x
assert anyffi.to_python(m.whole([(1, {{2}}), {{"k": [3]}}])) == [(1, {{2}}), {{"k": [3]}}]
assert anyffi.get_global_func("interpreters.turn")(2) == 2j
gc.collect()
print(anyffi.ffi_mode)
"""


class Interpreter(NamedTuple):
    """An interpreter that anyffi supports."""

    name: str
    path: str
    include: str
    suffix: str


@functools.lru_cache(maxsize=1)
def interpreters() -> tuple[Interpreter, ...]:
    """Find one interpreter of each version and implementation; those without the GIL are left out."""
    ask = (
        "import sys, sysconfig as s; v = sys.version_info; assert v >= (3, 9); print(sys.implementation.name + "
        "'%d.%d' % v[:2], sys.executable, s.get_path('include'), s.get_config_var('EXT_SUFFIX'), sep='\\n')"
    )
    paths = [find_installed(version, needs_headers=False) for version in SUPPORTED if version[-1] != "t"]
    found = []
    for path in filter(None, (*paths, shutil.which("pypy3"))):
        done = run([path, "-S", "-c", ask], LD_PRELOAD=None)
        if done.returncode == 0:
            found.append(Interpreter(*done.stdout.splitlines()))
    return tuple(sorted(found))


@pytest.fixture(scope="session")
def others() -> tuple[Interpreter, ...]:
    """Return all interpreters except the one that runs the tests."""
    own = "{}{}.{}".format(sys.implementation.name, *sys.version_info)
    found = tuple(interpreter for interpreter in interpreters() if interpreter.name != own)
    if not found:
        pytest.skip("there is no other interpreter")
    return found


def check(interpreter: Interpreter, package: pathlib.Path, library: pathlib.Path, mode: str) -> None:
    program = textwrap.dedent(PROGRAM).format(package=os.fspath(package), library=os.fspath(library))
    done = run(
        [interpreter.path, "-S", "-B", "-W", "error", "-c", program],
        FFI_MODE=mode,
        LD_PRELOAD=None,
        PYTHONPATH=None,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{mode}\n", ""), interpreter.name


def test_ctypes(others: tuple[Interpreter, ...], pure: pathlib.Path, build: Build) -> None:
    library = build("interpreters.cc", EXTENSION)
    for interpreter in others:
        check(interpreter, pure, library, "ctypes")


def build_cython(
    interpreter: Interpreter, pure: pathlib.Path, folder: pathlib.Path, *options: str
) -> pathlib.Path:
    """Build the package with the compiled marshaller for an interpreter, from the C code that all share."""
    code = [*build_directory().glob("pkg/_cython/_core*.p/_core.pyx.c")]
    if not code:
        pytest.skip("there is no compiled marshaller")
    package = folder / interpreter.name
    shutil.copytree(pure / "anyffi", package / "anyffi")
    cython = package / "anyffi" / "_cython"
    cython.mkdir()
    shutil.copy(ROOT / "pkg" / "_cython" / "__init__.py", cython)
    command = [CC, "-std=c11", "-O0", "-w", "-shared", "-fPIC", *options, "-I", interpreter.include,
               "-I", ROOT / "cpp" / "include", "-I", ROOT / "pkg" / "_cython", code[0],
               "-o", cython / f"_core{interpreter.suffix}", "-L", package / "anyffi" / "lib", "-lanyffi",
               "-Wl,-rpath,$ORIGIN/../lib"]  # fmt: skip
    done = run(command, LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    return package


def has_headers(interpreter: Interpreter) -> bool:
    return interpreter.name.startswith("cpython") and os.path.exists(
        os.path.join(interpreter.include, "Python.h")
    )


def test_cython(
    others: tuple[Interpreter, ...], pure: pathlib.Path, build: Build, tmp_path: pathlib.Path
) -> None:
    """The compiled marshaller is built for each version from the same C code."""
    library = build("interpreters.cc", EXTENSION)
    with_headers = [interpreter for interpreter in others if has_headers(interpreter)]
    if not with_headers:
        pytest.skip("there is no other CPython with its headers")
    for interpreter in with_headers:
        check(interpreter, build_cython(interpreter, pure, tmp_path), library, "cython")


def test_cython_without_known_layouts(pure: pathlib.Path, build: Build, tmp_path: pathlib.Path) -> None:
    """As for an unknown, newer interpreter: only public functions are used."""
    found = [interpreter for interpreter in interpreters() if has_headers(interpreter)]
    if not found:
        pytest.skip("there is no CPython with its headers")
    package = build_cython(found[-1], pure, tmp_path, "-DANYFFI_KNOWN_LAYOUT=0")
    check(found[-1], package, build("interpreters.cc", EXTENSION), "cython")
