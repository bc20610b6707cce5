"""Loading of users' libraries, good ones and bad ones."""

from __future__ import annotations

import inspect
import os
import pathlib
import pickle
import shutil
import sys
from typing import Any

import anyffi
import pytest
from programs import run_program
from support import CC, CXX, Build, collect, needs_compilers, run

pytestmark = needs_compilers


GOOD = """
#include <anyffi/anyffi.h>
using anyffi::arg;
static int64_t add_one(int64_t x) { return x + 1; }
ANYFFI_EXPORT(add_one, &add_one, arg("x"));
ANYFFI_EXPORT(scale, [](double x, double by) { return x * by; }, arg("x"), arg("by") = 2.0);
ANYFFI_EXPORT(fail, [] { throw anyffi::Error("KeyError", "from the module"); });
ANYFFI_REGISTER_GLOBAL("modules_good.registered").def([](int64_t x) { return x * 2; }, arg("x")).doc("Twice.");
"""


@pytest.fixture
def good(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("good.cc", GOOD))


@pytest.mark.keeps_live(reason="a module stays loaded, with what it registered")
class TestGood:
    def test_calls(self, ffi: Any, good: Any) -> None:
        assert type(good) is ffi.Module
        assert good.add_one(41) == 42
        assert good.add_one(x=41) == 42
        assert good.scale(1.5) == 3.0
        assert good.scale(1.5, by=4.0) == 6.0
        with pytest.raises(KeyError) as caught:
            good.fail()
        assert caught.value.args == ("from the module",)
        with pytest.raises(
            TypeError, match=r"add_one\(x: int\) -> int: argument 0 \(x\): expected int, got str"
        ):
            good.add_one("x")
        assert ffi.get_global_func("modules_good.registered")(4) == 8

    def test_functions_as_attributes(self, ffi: Any, good: Any) -> None:
        assert type(good.add_one) is ffi.Function
        assert good["add_one"](1) == good.get_function("add_one")(1) == 2
        assert str(inspect.signature(good.scale)) == "(x: 'float', by: 'float' = 2.0) -> 'float'"
        assert {"add_one", "scale", "fail"} <= set(dir(good))
        assert "modules_good.registered" not in dir(good)
        assert hasattr(good, "add_one")
        assert not hasattr(good, "nonsense")
        for unknown in ("ad_one", "add_ones"):
            with pytest.raises(AttributeError, match="add_one") as caught:
                getattr(good, unknown)
            assert unknown in str(caught.value)
        for odd in ("", "\0", "\ud800", "a b", "__anyffi_module", "__wrapped__"):
            with pytest.raises(AttributeError):
                getattr(good, odd)

    def test_loading_again(self, ffi: Any, good: Any, build: Build) -> None:
        path = build("good.cc", GOOD)
        again = ffi.load_module(str(path))
        assert again.add_one(1) == 2
        assert again.__file__ == good.__file__ == str(path)
        assert path.name in repr(good)
        os.chdir(path.parent)
        assert ffi.load_module(path.name).add_one(2) == 3

    def test_modules_of_one_library_are_equal(self, ffi: Any, good: Any, build: Build) -> None:
        again, other = ffi.load_module(good.__file__), ffi.load_module(build("plain.c", PLAIN_C))
        assert again == good
        assert hash(again) == hash(good)
        assert len({good, again, other}) == 2
        assert good != other
        assert good != good.__file__
        assert ffi.List([other, again]).index(good) == 1
        assert again.add_one == good.add_one
        assert again["add_one"].same_as(good.add_one)
        assert ffi.load_module(other.__file__).add == other.add
        program = ffi.system_lib()
        assert program == ffi.system_lib() != ffi.system_lib("x")
        assert program != good
        assert hash(program) == hash(ffi.system_lib())

    def test_no_container(self, good: Any) -> None:
        for use in (iter, list, lambda module: "add_one" in module, lambda module: [*module]):
            with pytest.raises(TypeError, match="not iterable|not a container"):
                use(good)
        with pytest.raises(TypeError, match="has no len"):
            len(good)

    def test_an_unknown_name_is_shown_whole(self, good: Any) -> None:
        with pytest.raises(AttributeError) as caught:
            good.get_function("add_one\0zzz")
        assert "has no function 'add_one\0zzz'" in str(caught.value)

    def test_as_a_value(self, ffi: Any, good: Any) -> None:
        assert ffi.get_global_func("testing.echo")(good) is good
        with pytest.raises(TypeError, match="got Module"):
            ffi.get_global_func("testing.add_one")(good)


@pytest.fixture(autouse=True)
def _stay_here() -> Any:
    here = os.getcwd()
    yield
    os.chdir(here)


def test_no_such_file(ffi: Any, tmp_path: pathlib.Path) -> None:
    missing = tmp_path / "missing.so"
    with pytest.raises((OSError, ImportError), match=r"missing\.so"):
        ffi.load_module(missing)
    with pytest.raises((OSError, ImportError)):
        ffi.load_module(tmp_path)
    with pytest.raises(FileNotFoundError) as caught:
        ffi.load_module("")
    assert caught.value.filename == ""
    for bad in (5, None, ["x"], object()):
        with pytest.raises(TypeError):
            ffi.load_module(bad)
    for function in (anyffi.load_module, anyffi.get_global_func, anyffi.to_python):
        with pytest.raises(TypeError) as wrong:
            function()
        assert str(wrong.value).startswith(f"{function.__name__}() missing 1 required positional argument")
    with pytest.raises(TypeError) as wrong:
        ffi.system_lib().import_module()
    if sys.version_info >= (3, 10):
        assert str(wrong.value).startswith("Module.import_module() missing 1 required")
    with pytest.raises((ValueError, OSError)):
        ffi.load_module("nul\0inside.so")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"not a library\n" * 100, b"\x7fELF" + b"\xff" * 4000])
def test_no_library(ffi: Any, tmp_path: pathlib.Path, content: bytes) -> None:
    path = tmp_path / "bad.so"
    path.write_bytes(content)
    with pytest.raises((ValueError, OSError), match=r"bad\.so: "):
        ffi.load_module(path)


@pytest.mark.parametrize("length", [100, 1000, 4096, 8192])
def test_a_library_cut_short(ffi: Any, build: Build, tmp_path: pathlib.Path, length: int) -> None:
    path = tmp_path / "short.so"
    path.write_bytes(build("good.cc", GOOD).read_bytes()[:length])
    with pytest.raises(ValueError, match=r"short\.so: .*byte \d+"):
        ffi.load_module(path)


C_FUNCTION = """
int __anyffi_f(void* s, void* a, int32_t n, void* r) { (void)s; (void)a; (void)n; (void)r; return 0; }
"""
ANOTHER_VERSION = [
    ("newer.c", "#include <stdint.h>\nint32_t __anyffi_abi_version = 999;" + C_FUNCTION),
    ("older.c", "#include <stdint.h>\nint32_t __anyffi_abi_version = 0;" + C_FUNCTION),
    ("newer_table.c", "#include <anyffi/c_api.h>\nAnyffiModuleTable __anyffi_module = "
     "{ANYFFI_ABI_VERSION + 1, sizeof(AnyffiModuleTable), 0};\n"),
    ("older_table.c", "#include <anyffi/c_api.h>\nAnyffiModuleTable __anyffi_module = "
     "{ANYFFI_ABI_VERSION - 1, sizeof(AnyffiModuleTable), 0};\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source"), ANOTHER_VERSION, ids=[name for name, _ in ANOTHER_VERSION])
def test_another_abi_version(ffi: Any, build: Build, name: str, source: str) -> None:
    library = build(name, source)
    age = name[:5]
    with pytest.raises(
        ImportError, match=rf"built for version \d+ of anyffi's ABI, which is {age} than .*; build it again"
    ) as caught:
        ffi.load_module(library)
    assert str(library) in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="writes the header of an ELF file")
@pytest.mark.parametrize(
    ("machine", "name"), [(183, "aarch64"), (62, "x86-64"), (243, "riscv"), (4242, "another machine")]
)
def test_another_architecture(
    ffi: Any, build: Build, tmp_path: pathlib.Path, machine: int, name: str
) -> None:
    content = bytearray(build("good.cc", GOOD).read_bytes())
    if machine == int.from_bytes(content[18:20], sys.byteorder):
        pytest.skip("this is the machine's own")
    content[18:20] = machine.to_bytes(2, sys.byteorder)
    path = tmp_path / "foreign.so"
    path.write_bytes(content)
    with pytest.raises(OSError, match=rf"foreign\.so: built for {name}, while this process runs on "):
        ffi.load_module(path)
    content[4] ^= 3
    path.write_bytes(content)
    with pytest.raises(OSError, match=f"built for {name} with another word size"):
        ffi.load_module(path)


def test_a_missing_symbol(ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
    (tmp_path / "missing.c").write_text("int not_there(void); int f(void) { return not_there(); }\n")
    (tmp_path / "forgot.c").write_text("int anyffi_x(void); int f(void) { return anyffi_x(); }\n")
    for name in ("missing", "forgot"):
        command = [CC, "-shared", "-fPIC", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.so"]
        assert run(command, LD_PRELOAD=None).returncode == 0
    with pytest.raises(OSError, match=r"missing\.so: undefined symbol: not_there"):
        ffi.load_module(tmp_path / "missing.so")
    with pytest.raises(OSError, match=r"undefined symbol: anyffi_x; link the library with -lanyffi"):
        ffi.load_module(tmp_path / "forgot.so")
    source = "#include <anyffi/anyffi.h>\nlong far(const char*, double);\nANYFFI_EXPORT(near, [] { far(nullptr, 1); });\n"
    named = r"libmangled\.so: undefined symbol: far\(char const\*, double\) \(_Z3farPKcd\)$"
    with pytest.raises(OSError, match=named):
        ffi.load_module(build("mangled.cc", source))


PLAIN_C = """
#include <anyffi/c_api.h>
int32_t __anyffi_abi_version = ANYFFI_ABI_VERSION;
int __anyffi_add(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  (void)self;
  if (num_args != 2 || args[0].type_code != ANYFFI_INT || args[1].type_code != ANYFFI_INT) {
    return anyffi_error_raise("TypeError", "add() takes two ints");
  }
  result->type_code = ANYFFI_INT;
  result->as_int = args[0].as_int + args[1].as_int;
  return 0;
}
int __anyffi_silent(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  (void)self, (void)args, (void)num_args, (void)result;
  return -1;
}
int __anyffi_echo(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  (void)self, (void)num_args;
  *result = args[0];
  if (args[0].type_code > 0) anyffi_object_retain(args[0].as_object);
  return 0;
}
"""


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_plain_c(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("plain.c", PLAIN_C))
    assert module.add(2, 3) == 5
    with pytest.raises(TypeError, match="two ints"):
        module.add(1)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        module.add(1, b=2)
    assert str(inspect.signature(module.add)) == "(*args)"
    with pytest.raises(RuntimeError):
        module.silent()
    with pytest.raises(AttributeError):
        module.nonsense
    assert "add" in module.add.__name__


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_a_borrowed_argument_returned_by_c_is_owned(ffi: Any, build: Build) -> None:
    """C code that returns its argument by value returns what it borrowed: the marshallers own it at once."""
    echo = ffi.load_module(build("plain.c", PLAIN_C)).echo
    for text in ("short", "a string on the heap " * 5, b"bytes that are long enough"):
        argument = text + text[:0]
        result = echo(argument)
        assert result == text
    assert echo([1, 2]) == [1, 2]


def exporting(name: str, value: int, other: str = "") -> str:
    return f"""
    #include <anyffi/anyffi.h>
    static int64_t {name}(int64_t x) {{ return {value} * x; }}
    ANYFFI_EXPORT({name}, &{name}, anyffi::arg("x"));
    {other}
    """


@pytest.mark.keeps_live(reason="a module stays loaded")
class TestReloading:
    def test_functions_outlive_their_module(self, ffi: Any, build: Build) -> None:
        module = ffi.load_module(build("plain.c", PLAIN_C))
        add, scale = module.add, ffi.load_module(build("good.cc", GOOD)).scale
        del module
        collect()
        assert add(2, 3) == 5
        assert scale(1.5, by=2.0) == 3.0

    def test_a_file_that_was_put_in_the_place_of_another(
        self, ffi: Any, build: Build, tmp_path: pathlib.Path
    ) -> None:
        path = tmp_path / "reloaded.so"
        modules = []
        for factor in (2, 3, 4):
            shutil.copy(build(f"reloaded{factor}.cc", exporting("scaled", factor)), tmp_path / "new.so")
            os.replace(tmp_path / "new.so", path)
            modules.append(ffi.load_module(path))
            assert modules[-1].__file__ == str(path)
            assert ffi.load_module(path).scaled(10) == 10 * factor
        assert [module.scaled(x=10) for module in modules] == [20, 30, 40]

    def test_a_file_that_was_written_to(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
        path = tmp_path / "written.so"
        shutil.copy(build("reloaded2.cc", exporting("scaled", 2)), path)
        module = ffi.load_module(path)
        os.utime(path, ns=(0, 0))
        with pytest.raises(ValueError, match=r"written\.so: was written to after"):
            ffi.load_module(path)
        assert module.scaled(1) == 2


@pytest.mark.keeps_live(reason="a module stays loaded")
class TestImports:
    @pytest.fixture
    def modules(self, ffi: Any, build: Build) -> list[Any]:
        sources = [exporting(f"imports_{name}", factor) for factor, name in enumerate("abc", 1)]
        sources[2] += exporting("imports_b", 7).replace("#include <anyffi/anyffi.h>", "")
        return [ffi.load_module(build(f"imports{i}.cc", source)) for i, source in enumerate(sources)]

    def test_functions_of_what_is_imported(self, ffi: Any, modules: list[Any]) -> None:
        a, b, c = modules
        with pytest.raises(AttributeError, match="imports_b"):
            a.imports_b
        assert a.import_module(b) is None
        b.import_module(c)
        assert (a.imports_a(1), a.imports_b(1), a.imports_c(1)) == (1, 2, 3)
        assert a["imports_c"].same_as(c.imports_c)
        assert {"imports_a", "imports_b", "imports_c"} <= set(dir(a))
        assert "imports_a" not in dir(b)
        a.import_module(b)
        assert a.imports == [b]
        assert a.imports[0] is b
        assert c.imports == []
        with pytest.raises(AttributeError, match="imports_c") as caught:
            a.imports_cc
        assert "'imports_cc'" in str(caught.value)

    def test_the_order_of_imports(self, modules: list[Any]) -> None:
        a, b, c = modules
        a.import_module(c)
        a.import_module(b)
        assert a.imports == [c, b]
        assert a.imports_b(1) == 7
        assert b.imports_b(1) == 2

    def test_no_circles(self, ffi: Any, modules: list[Any]) -> None:
        a, b, c = modules
        a.import_module(b)
        b.import_module(c)
        for importer, imported in ((c, a), (b, a), (a, a)):
            with pytest.raises(ValueError, match="cannot import itself"):
                importer.import_module(imported)
        assert c.imports == []
        for wrong in (None, 1, "a", ffi.Object, os):
            with pytest.raises(TypeError, match="Module"):
                a.import_module(wrong)

    def test_long_chains_and_many_paths(self, ffi: Any, modules: list[Any], build: Build) -> None:
        path = modules[0].__file__
        top = modules[2]
        for _ in range(300):
            middle = [ffi.load_module(path) for _ in range(2)]
            for module in middle:
                module.import_module(top)
            top = ffi.load_module(path)
            for module in middle:
                top.import_module(module)
        assert top.imports_c(1) == 3
        with pytest.raises(AttributeError):
            top.nonsense

    def test_pickled(self, modules: list[Any]) -> None:
        a, b, c = (anyffi.load_module(module.__file__) for module in modules)
        a.import_module(b)
        b.import_module(c)
        made = pickle.loads(pickle.dumps(a))
        assert made.imports_c(1) == 3
        assert [module.__file__ for module in made.imports] == [b.__file__]


@pytest.mark.skipif(sys.platform != "linux", reason="the loader tells of symbols there")
class TestSystemLib:
    def test_what_the_program_sees(self, ffi: Any, build: Build) -> None:
        source = exporting("system_a", 2) + PLAIN_C.replace("__anyffi_add", "__anyffi_system_add")
        library = build("system.cc", source.replace("#include <anyffi/c_api.h>", 'extern "C" {') + "}")
        program = f"""
            import ctypes, inspect, os, anyffi
            system = anyffi.system_lib()
            assert not hasattr(system, "system_a")
            local = anyffi.load_module({str(library)!r})
            assert not hasattr(system, "system_a"), "what load_module loads is no part of the program"
            assert "system_a" not in dir(system)
            ctypes.CDLL({str(library)!r}, ctypes.RTLD_GLOBAL)
            assert system.system_a(x=2) == 4
            assert str(inspect.signature(system.system_a)) == "(x: 'int') -> 'int'"
            assert system.system_a.same_as(local.system_a)
            assert system.system_add(2, 3) == 5
            assert system.system_add.same_as(system.system_add)
            assert {{"system_a", "system_add"}} <= set(dir(system))
            part = anyffi.system_lib("system_")
            assert part.a(3) == 6 and part.add(1, 1) == 2
            assert "a" in dir(part) and "system_a" not in dir(part)
            for name in ("module", "abi_version", "nonsense"):
                assert not hasattr(system, name)
            try:
                system.system_b
            except AttributeError as error:
                assert "the program has no function 'system_b'" in str(error)
                assert "system_a" in str(error)
            assert repr(system) == "<anyffi.Module of the program>"
            assert not hasattr(system, "__file__")
            local.import_module(part)
            assert local.a(1) == 2
        """
        run_program(program, ffi.ffi_mode)

    def test_loaded_before_the_program(self, ffi: Any, build: Build) -> None:
        library = build("preloaded.cc", exporting("preloaded", 3))
        preloaded = f"{os.environ.get('LD_PRELOAD', '')} {library}".strip()
        runtime = os.path.dirname(anyffi.find_library("anyffi"))
        program = "import anyffi; print(anyffi.system_lib().preloaded(2))"
        assert run_program(program, ffi.ffi_mode, LD_PRELOAD=preloaded, LD_LIBRARY_PATH=runtime) == "6\n"

    def test_of_another_version(self, ffi: Any, build: Build) -> None:
        name, source = ANOTHER_VERSION[0]
        program = f"""
            import ctypes, anyffi
            ctypes.CDLL({str(build(name, source))!r}, ctypes.RTLD_GLOBAL)
            try:
                anyffi.system_lib().f
            except ImportError as error:
                assert "built for version 999 of anyffi's ABI, which is newer" in str(error)
                print("refused")
        """
        assert run_program(program, ffi.ffi_mode) == "refused\n"

    def test_no_prefix(self, ffi: Any) -> None:
        for wrong in (None, 1, b"x"):
            with pytest.raises(TypeError):
                ffi.system_lib(wrong)
        assert not hasattr(ffi.system_lib("\ud800\0"), "x")


TAKEN = """
#include <anyffi/anyffi.h>
ANYFFI_REGISTER_GLOBAL("modules_taken.first").def([] { return 1; });
ANYFFI_REGISTER_GLOBAL("testing.nop").def([] { return 2; });
ANYFFI_REGISTER_GLOBAL("modules_taken.last").def([] { return 3; });
ANYFFI_EXPORT(taken, [] { return 4; });
"""

NEEDS = """
#include <anyffi/anyffi.h>
static int64_t count = 0;
struct Needs {
  static anyffi::Function find() { return anyffi::Function::get_global("modules_anew.needed"); }
  Needs() = default;
  Needs(Needs&&) { find(); }
  anyffi::AnyValue operator()() const { return find()(); }
};
ANYFFI_REGISTER_GLOBAL("modules_anew.first").def([] { return ++count; });
ANYFFI_REGISTER_GLOBAL("modules_anew.second").def(Needs());
ANYFFI_EXPORT(next, [] { return ++count; });
"""


class TestLoadingAnew:
    """Initialisers run once; a library whose load was undone is loaded as a copy, once its cause may be gone."""

    def test_a_name_that_was_taken(self, ffi: Any, build: Build) -> None:
        program = f"""
            import anyffi, os
            path = {str(build("taken.cc", TAKEN))!r}
            anyffi.register_global_func("testing.nop", len)
            def copies():
                if not os.path.exists("/proc/self/maps"):
                    return 0
                with open("/proc/self/maps") as file:
                    return len({{line.split()[5] for line in file if "anyffi-" in line}})
            for _ in range(3):
                try:
                    anyffi.load_module(path)
                except ValueError as error:
                    assert "'testing.nop' is already registered" in str(error), error
                assert copies() == 0
            anyffi.register_global_func("modules_taken.last", len)
            anyffi.remove_global_func("testing.nop")
            for _ in range(2):
                try:
                    anyffi.load_module(path)
                except ValueError as error:
                    assert "'modules_taken.last' is already registered" in str(error), error
                else:
                    raise SystemExit("loaded")
                assert copies() <= 1
            anyffi.remove_global_func("modules_taken.last")
            modules = [anyffi.load_module(path) for _ in range(3)]
            assert copies() <= 2
            assert [anyffi.get_global_func(name)() for name in
                    ("modules_taken.first", "testing.nop", "modules_taken.last")] == [1, 2, 3]
            assert [module.__file__ for module in modules] == [path] * 3
        """
        run_program(program, ffi.ffi_mode)

    def test_an_initialiser_that_failed(self, ffi: Any, build: Build) -> None:
        program = f"""
            import anyffi
            path = {str(build("needs.cc", NEEDS))!r}
            for _ in range(2):
                try:
                    anyffi.load_module(path)
                except AttributeError as error:
                    assert "modules_anew.needed" in str(error)
                else:
                    raise SystemExit("loaded")
                assert anyffi.get_global_func("modules_anew.first", allow_missing=True) is None
            anyffi.register_global_func("modules_anew.needed", lambda: "there")
            assert [anyffi.load_module(path).next() for _ in range(3)] == [1, 2, 3]
            assert anyffi.get_global_func("modules_anew.first")() == 4
            assert anyffi.get_global_func("modules_anew.second")() == "there"
        """
        run_program(program, ffi.ffi_mode, TMPDIR="")

    def test_no_room_for_a_copy(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
        program = f"""
            import anyffi, os
            path = {str(build("needs.cc", NEEDS))!r}
            for error in (AttributeError, OSError, OSError):
                try:
                    anyffi.load_module(path)
                except error as caught:
                    if error is OSError:
                        assert "cannot be loaded anew, after it failed: no copy" in str(caught)
                else:
                    raise SystemExit("loaded")
                anyffi.register_global_func("modules_anew.needed", dict, override=True)
            os.environ["TMPDIR"] = os.path.dirname(os.path.dirname(os.environ["TMPDIR"]))
            assert anyffi.load_module(path).next() == 1
        """
        run_program(program, ffi.ffi_mode, TMPDIR=str(tmp_path / "missing" / "too"))

    def test_what_a_dependency_failed_with_stays(
        self, ffi: Any, build: Build, tmp_path: pathlib.Path
    ) -> None:
        failing = build("taken.cc", TAKEN)
        source = tmp_path / "depends.cc"
        source.write_text(exporting("depends", 1))
        library = pathlib.Path(anyffi.find_library("anyffi")).parent
        command = [CXX, "-shared", "-fPIC", "-std=c++17", f"-I{anyffi.find_include_dir()}", source, "-o", tmp_path / "depends.so",
                   "-Wl,--no-as-needed", failing, "-L", library, "-lanyffi"]  # fmt: skip
        done = run(command, LD_PRELOAD=None)
        assert done.returncode == 0, done.stderr
        program = f"""
            import anyffi
            anyffi.register_global_func("testing.nop", len)
            for again in (False, True):
                try:
                    anyffi.load_module({str(tmp_path / "depends.so")!r})
                except ValueError as error:
                    assert "'testing.nop' is already registered" in str(error)
                else:
                    raise SystemExit("loaded without what it depends on")
                if not again:
                    anyffi.remove_global_func("testing.nop")
        """
        run_program(program, ffi.ffi_mode)

    @pytest.mark.keeps_live(reason="a module stays loaded")
    def test_a_file_that_was_mended(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
        """What the loader refused was never in memory, so its file may be written to."""
        path = tmp_path / "mended.so"
        (tmp_path / "missing.c").write_text("int not_there(void); int f(void) { return not_there(); }\n")
        command = [CC, "-shared", "-fPIC", tmp_path / "missing.c", "-o", path]
        assert run(command, LD_PRELOAD=None).returncode == 0
        for _ in range(2):
            with pytest.raises(OSError, match="undefined symbol: not_there"):
                ffi.load_module(path)
        path.write_bytes(build("plain.c", PLAIN_C).read_bytes())
        assert ffi.load_module(path).add(2, 3) == 5


def test_a_name_that_is_taken(ffi: Any, build: Build) -> None:
    program = f"""
        import anyffi, anyffi.testing as t
        for _ in range(2):
            try:
                anyffi.load_module({str(build("taken.cc", TAKEN))!r})
            except ValueError as error:
                assert "testing.nop" in str(error), error
            else:
                raise SystemExit("loaded")
        assert t.nop() is None
        assert [n for n in anyffi.list_global_func_names() if "taken" in n] == []
    """
    run_program(program, ffi.ffi_mode)


def test_object_classes(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    using anyffi::FixedText;
    struct Base { static constexpr FixedText kTypeKey{"modules.Base"}; };
    struct Derived { using Parent = Base; static constexpr FixedText kTypeKey{"modules.Derived"}; };
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
def test_object_classes_of_one_key_and_two_layouts(ffi: Any, build: Build, members: str, words: str) -> None:
    """The second library is refused: what one of them makes the other would take for something else."""
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
    ("x, y z", "f(x: int, y z: float) -> float: parameter 1 cannot have the name 'y z': it is no identifier"),
    ("2x, y", "f(2x: int, y: float) -> float: parameter 0 cannot have the name '2x': it is no identifier"),
    (", y", "f(: int, y: float) -> float: parameter 0 cannot have the name '': it is no identifier"),
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


@pytest.mark.keeps_live(reason="what a library failed with is kept")
@pytest.mark.parametrize(
    ("names", "error", "message"),
    [(tuple(map('arg("{}")'.format, names.split(", "))), ValueError, message) for names, message in NAMES]
    + [(('arg("x")', f'arg("y") = {default}'), *expected) for default, *expected in DEFAULTS],
)
def test_parameters_that_cannot_be(
    ffi: Any, build: Build, names: tuple[str, str], error: type, message: str
) -> None:
    path = build(f"named_{sum(map(ord, ''.join(names)))}.cc", NAMED % names)
    for _ in range(2):
        with pytest.raises(error) as caught:
            ffi.load_module(path)
        assert str(caught.value) == message
    assert ffi.get_global_func("modules_named.before", allow_missing=True) is None


@pytest.mark.keeps_live(reason="a module stays loaded")
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


def test_an_initialiser_that_throws_registers_nothing(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    struct Refuses {
      Refuses() = default;
      Refuses(Refuses&&) { throw anyffi::Error("ZeroDivisionError", "while it was registered"); }
      void operator()() const {}
    };
    ANYFFI_REGISTER_GLOBAL("modules_throws.f").def(Refuses());
    """
    program = f"""
        import anyffi
        try:
            anyffi.load_module({str(build("throws.cc", source))!r})
        except ZeroDivisionError as error:
            assert "while it was registered" in str(error)
        else:
            raise SystemExit("loaded")
        assert anyffi.get_global_func("modules_throws.f", allow_missing=True) is None
    """
    run_program(program, ffi.ffi_mode)


def test_a_library_with_nothing_of_ours(ffi: Any, build: Build) -> None:
    path = build("stranger.c", "int answer(void) { return 42; }\n")
    try:
        module = ffi.load_module(path)
    except (ImportError, OSError, ValueError) as error:
        assert str(path) in str(error)
    else:
        with pytest.raises(AttributeError):
            module.answer


def test_an_exception_of_cpp_passes_through_a_module_in_c(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    #include <stdexcept>
    ANYFFI_EXPORT(modules_through, [](const anyffi::Function& f) { return f(); }, anyffi::arg("f"));
    ANYFFI_EXPORT(modules_throw, [] { throw std::out_of_range("in another library"); });
    """
    program = f"""
        import anyffi
        module = anyffi.load_module({str(build("through.cc", source))!r})
        own = ValueError("own")
        def fail():
            raise own
        try:
            module.modules_through(fail)
        except ValueError as error:
            assert error is own
        try:
            module.modules_through(module.modules_throw)
        except IndexError as error:
            assert error.args == ("in another library",)
            print("ended")
    """
    assert run_program(program, ffi.ffi_mode) == "ended\n"


def test_the_testing_library_is_not_loaded_by_import(ffi: Any) -> None:
    program = """
        import anyffi
        assert not [name for name in anyffi.list_global_func_names() if name.startswith("testing.")]
        import anyffi.testing
        assert anyffi.get_global_func("testing.add_one")(1) == 2
        assert "add_one" in dir(anyffi.testing)
        try:
            anyffi.testing.no_such_function
        except AttributeError as error:
            assert "no_such_function" in str(error)
    """
    run_program(program, ffi.ffi_mode)
