"""FFI_TRACEBACK=1: C++ frames in Python's tracebacks, in every mode."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
from typing import Any

import anyffi
import pytest
from programs import run_program
from support import CXX, cpython_only, needs_compilers, run

needs_addr2line = pytest.mark.skipif(
    shutil.which("addr2line") is None and shutil.which("llvm-addr2line") is None,
    reason="needs addr2line of binutils or LLVM to read lines",
)
pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

SOURCE = """\
#include <anyffi/anyffi.h>
#include <stdexcept>
#include <vector>

struct Unknown {};

struct Coded : std::runtime_error {
  using std::runtime_error::runtime_error;
  int64_t code = 7;
};
ANYFFI_EXCEPTION(Coded, "shapes.Coded", "ValueError").attribute("code", &Coded::code);

__attribute__((noinline)) int64_t check(int64_t how) {
  std::vector<int64_t> one{1};
  if (how == 1) throw anyffi::Error("KeyError", "an Error");
  if (how == 2) throw std::invalid_argument("a standard one");
  if (how == 3) return one.at(7);
  if (how == 4) throw Unknown();
  if (how == 5) throw Coded("with an attribute");
  return how;
}

namespace shapes {
__attribute__((noinline)) int64_t area(int64_t how) { return check(how) + 1; }
}  // namespace shapes

static int64_t apply(anyffi::Function f, int64_t how) {
  int64_t found = f(how).cast<int64_t>();
  return found + 1;
}

static anyffi::String swallow(anyffi::Function f, int64_t how) {
  try {
    apply(f, how);
  } catch (const anyffi::Error& error) {
    return error.traceback().cast<anyffi::String>();
  }
  return "nothing";
}

static void pass(anyffi::AnyValue error) { throw anyffi::Error(error); }

struct Maker {
  ~Maker() { made = anyffi::Error("ValueError", "a destructor's").value(); }
  anyffi::AnyValue& made;
};

static int64_t unwind(const anyffi::Function& f, bool catches) {
  static auto* made = new anyffi::AnyValue();
  if (!made->is_none()) throw anyffi::Error(*made);
  struct Catcher {
    ~Catcher() { swallow(f, 2); }
    anyffi::Function f;
  };
  if (catches) {
    Catcher catcher{f};
    throw std::invalid_argument("the outer one");
  }
  Maker maker{*made};
  throw std::invalid_argument("the outer one");
}
ANYFFI_EXPORT(unwind, &unwind);
ANYFFI_EXPORT(area, &shapes::area, anyffi::arg("how"));
ANYFFI_EXPORT(apply, &apply);
ANYFFI_EXPORT(swallow, &swallow);
ANYFFI_EXPORT(pass, &pass);
"""
LINES = SOURCE.splitlines()

#: Defines a function that shows an exception: class, text, and traceback without frames of the package.
SHOW = """
    import os, sys, traceback
    import anyffi
    module = anyffi.load_module(os.environ["LIBRARY"])

    def show(work, *args):
        try:
            work(*args)
        except BaseException as error:
            print(type(error).__name__, error)
            for frame, line in traceback.walk_tb(error.__traceback__.tb_next):
                if not str(frame.f_globals.get("__name__")).startswith("anyffi._"):
                    print("   ", os.path.basename(frame.f_code.co_filename), line, frame.f_code.co_name)
            return error
"""
#: The line number at which a program that follows SHOW begins.
FIRST = SHOW.count("\n") + 2


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that compiles the source with options, once."""
    folder = tmp_path_factory.mktemp("frames")
    source = folder / "shapes.cc"
    source.write_text(SOURCE)

    def compile_(*options: str) -> pathlib.Path:
        library = folder / f"shapes{''.join(options)}.so"
        if not library.exists():
            flags = ["-std=c++17", "-shared", "-fPIC", "-I", anyffi.find_include_dir()]
            runtime = pathlib.Path(anyffi.find_library("anyffi")).parent
            command = [CXX, *options, *flags, source, "-o", library, "-L", runtime, "-lanyffi"]
            done = run(command, LD_PRELOAD=None)
            assert done.returncode == 0, done.stderr
        return library

    return compile_


def place(code: str, name: str) -> str:
    """Return the text of a frame at the line that contains some code."""
    [number] = [i + 1 for i, line in enumerate(LINES) if code in line]
    return f"    shapes.cc {number} {name}"


def outcome(library: pathlib.Path, mode: str, program: str, **variables: str | None) -> list[str]:
    body = "".join(f"    {line}\n" for line in program.strip("\n").splitlines())
    environment: dict[str, Any] = {"FFI_TRACEBACK": "1", "LIBRARY": os.fspath(library), **variables}
    return run_program(f"{SHOW}\n{body}", mode, **environment).splitlines()


def modes(ffi: Any) -> list[str]:
    """Return the mode of a test's backend; check mode comes with cython."""
    return [ffi.ffi_mode, "check"] if ffi.ffi_mode == "cython" else [ffi.ffi_mode]


AREA = place("return check(how) + 1", "shapes::area")
APPLY = place("f(how).cast", "apply")

ERRORS = """
for how in range(1, 6):
    show(module.area, how)
"""
EXPECTED_ERRORS = [
    "KeyError 'an Error'",
    AREA,
    place("how == 1", "check"),
    "ValueError a standard one",
    AREA,
    place("how == 2", "check"),
    "IndexError vector::_M_range_check: __n (which is 7) >= this->size() (which is 1)",
    AREA,
    place("how == 3", "check"),
    "RuntimeError C++ exception of type Unknown",
    AREA,
    place("how == 4", "check"),
    "Coded with an attribute",
    AREA,
    place("how == 5", "check"),
]


@needs_addr2line
@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
def test_where_errors_are_thrown(ffi: Any, compiled: Any, optimize: str) -> None:
    library = compiled("-g", optimize)
    for mode in modes(ffi):
        found = outcome(library, mode, ERRORS)
        assert [line for line in found if "_M_range" not in line] == [
            line for line in EXPECTED_ERRORS if "_M_range" not in line
        ]


@needs_addr2line
def test_frames_are_in_order(ffi: Any, compiled: Any) -> None:
    """Frames of C++ are between their Python callers and the Python code that they called."""
    program = """
def back(how):
    return module.area(how)
def outer(how):
    return module.apply(back, how)
def fail(how):
    raise LookupError("Python's")
show(module.apply, outer, 2)
show(module.apply, fail, 1)
show(module.area, "text")
show(anyffi.List([1]).pop, 7)
"""
    back, outer, fail = (
        f"    <string> {FIRST + 1 + 2 * i} {name}" for i, name in enumerate(("back", "outer", "fail"))
    )
    expected = [
        "ValueError a standard one",
        *(APPLY, outer, APPLY, back, AREA, place("how == 2", "check")),
        "LookupError Python's",
        *(APPLY, fail),
        "TypeError area(how: int) -> int: argument 0 (how): expected int, got str",
        "IndexError pop index out of range",
    ]
    for mode in modes(ffi):
        assert outcome(compiled("-g", "-O0"), mode, program) == expected


@needs_addr2line
def test_an_exception_that_cpp_gets_and_throws(ffi: Any, compiled: Any) -> None:
    program = """
error = ValueError("made in Python")
assert show(module.pass_, error) is error
error.__traceback__ = None
assert show(lambda: module.apply(lambda how: module.pass_(error), 0)) is error
"""
    library = compiled("-g", "-O0")
    passed = place("throw anyffi::Error(error)", "pass")
    call = f"    <string> {FIRST + 3} <lambda>"
    expected = ["ValueError made in Python", passed, "ValueError made in Python", call, APPLY, call, passed]
    for mode in modes(ffi):
        source = program.replace("module.pass_", 'getattr(module, "pass")')
        assert outcome(library, mode, source) == expected


@needs_addr2line
def test_destructors_have_errors_of_their_own(ffi: Any, compiled: Any) -> None:
    program = """
for catches in (True, False, False):
    show(module.unwind, module.area, catches)
"""
    lines = [i + 1 for i, line in enumerate(LINES) if '"the outer one"' in line]
    expected = []
    for line in lines:
        expected += ["ValueError the outer one", f"    shapes.cc {line} unwind"]
    for mode in modes(ffi):
        *found, title, caller, destructor = outcome(compiled("-g", "-O0"), mode, program)
        assert found == expected
        assert (title, caller.split()[-1]) == ("ValueError a destructor's", "unwind")
        assert destructor == place("~Maker()", "Maker::~Maker")


@needs_addr2line
def test_cpp_reads_them_too(ffi: Any, compiled: Any) -> None:
    program = """
def back(how):
    return module.area(how)
print(module.swallow(back, 2))
"""
    library = compiled("-g", "-O0")
    expected = [f'  File "<string>", line {FIRST + 1}, in back']
    for code, name in (("return check(how) + 1", "shapes::area"), ("how == 2", "check")):
        [number] = [i for i, line in enumerate(LINES) if code in line]
        file = library.parent / "shapes.cc"
        expected += [f'  File "{file}", line {number + 1}, in {name}', f"    {LINES[number].strip()}"]
    for mode in modes(ffi):
        first, *shown = outcome(library, mode, program)
        # From 3.13 on, Python shows the lines of a program that is an argument, too.
        assert [first, *shown[-len(expected) :]] == [*expected, ""]


@needs_addr2line
def test_python_prints_the_lines(ffi: Any, compiled: Any) -> None:
    library = os.fspath(compiled("-g", "-O0"))
    program = "import anyffi, os; anyffi.load_module(os.environ['LIBRARY']).area(2)"
    done = run([sys.executable, "-c", program], FFI_MODE=ffi.ffi_mode, FFI_TRACEBACK="1", LIBRARY=library)
    for code, name in (("return check(how) + 1", "shapes::area"), ("how == 2", "check")):
        [number] = [i for i, line in enumerate(LINES) if code in line]
        assert f'shapes.cc", line {number + 1}, in {name}\n    {LINES[number].strip()}\n' in done.stderr
    assert done.stderr.endswith("ValueError: a standard one\n")


def test_it_is_off(ffi: Any, compiled: Any) -> None:
    for setting in (None, "", "0"):
        found = outcome(compiled("-g", "-O0"), ffi.ffi_mode, ERRORS, FFI_TRACEBACK=setting)
        assert len(found) == 5
    done = run([sys.executable, "-c", "import anyffi"], FFI_TRACEBACK="yes")
    assert "ImportError: FFI_TRACEBACK='yes' is not a choice of anyffi; choose one of: 0, 1" in done.stderr


def test_errors_are_the_same(ffi: Any, compiled: Any) -> None:
    program = """
import pickle
for how in range(1, 6):
    try:
        module.area(how)
    except Exception as error:
        again = pickle.loads(pickle.dumps(error))
        print(type(error), error.args, type(again), again.args, error.__cause__, error.__context__)
        print(anyffi.structural_equal(error, again), anyffi.structural_hash(error) == anyffi.structural_hash(again))
"""
    library = compiled("-g", "-O0")
    assert outcome(library, ffi.ffi_mode, program) == outcome(
        library, ffi.ffi_mode, program, FFI_TRACEBACK="0"
    )


@pytest.mark.parametrize("is_stripped", [False, True], ids=["plain", "stripped"])
def test_without_debug_information(ffi: Any, compiled: Any, is_stripped: bool) -> None:
    """Frames have the names of functions if the library has them, but never those of neighbouring functions."""
    library = compiled("-O0", *(["-s"] if is_stripped else []))
    static_function = "\nshow(module.apply, lambda how: 1 / 0, 1)"
    found = outcome(library, ffi.ffi_mode, ERRORS + static_function)
    last = ["<lambda>"] if is_stripped else ["apply", "<lambda>"]
    assert [line.split()[-1] for line in found if line.startswith("    ")] == [
        *["shapes::area", "check"] * 5,
        *last,
    ]


def test_without_addr2line(ffi: Any, compiled: Any, tmp_path: pathlib.Path) -> None:
    found = outcome(compiled("-g", "-O0"), ffi.ffi_mode, ERRORS, PATH=os.fspath(tmp_path))
    names = [line.split()[-2:] for line in found if line.startswith("    ")]
    assert names == [["0", "shapes::area"], ["0", "check"]] * 5
    broken = tmp_path / "addr2line"
    broken.write_text("#!/bin/sh\necho 0x0\necho garbage\n")
    broken.chmod(0o755)
    assert outcome(compiled("-g", "-O0"), ffi.ffi_mode, ERRORS, PATH=f"{tmp_path}:/bin:/usr/bin") == found


@needs_addr2line
def test_inline_code_has_its_lines(ffi: Any, compiled: Any, tmp_path: pathlib.Path) -> None:
    program = r"""
area = "#include <stdexcept>\nint64_t area(int64_t side) {\n  if (side < 0)\n    throw std::out_of_range(\"no\");\n"
module = anyffi.cpp.load_inline("inlined", area + "  return side * side;\n}\n", functions=["area"])
error = show(module.area, -1)
print(traceback.extract_tb(error.__traceback__)[-1].line)
"""
    expected = ["IndexError no", "    inlined 4 area", 'throw std::out_of_range("no");']
    cache = os.fspath(tmp_path)
    assert outcome(compiled("-g", "-O0"), ffi.ffi_mode, program, XDG_CACHE_HOME=cache) == expected


@needs_addr2line
@cpython_only("PyPy counts no references")
def test_nothing_is_left(ffi: Any, compiled: Any) -> None:
    """Neither memory of the runtime nor references; a forked process shows frames, too."""
    program = """
import gc, sys
import anyffi.testing
blocks = anyffi.get_global_func("testing.live_blocks")
def fail(how):
    return module.area(how)
def work():
    for how in range(1, 5):
        for function, *args in ((module.area, how), (module.apply, fail, how)):
            try:
                function(*args)
            except Exception:
                pass
work()
gc.collect()
before = blocks(), sys.getrefcount(fail), sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else 0
for each in range(20):
    work()
gc.collect()
assert (blocks(), sys.getrefcount(fail)) == before[:2], (before, blocks(), sys.getrefcount(fail))
child = os.fork()
if child == 0:
    show(module.area, 2)
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    assert outcome(compiled("-g", "-O0"), ffi.ffi_mode, program) == EXPECTED_ERRORS[3:6]
