"""Loading of users' libraries, good ones and bad ones."""

from __future__ import annotations

import inspect
import os
import pathlib
from typing import Any

import pytest
from programs import run_program
from support import Build, needs_compilers

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
    with pytest.raises((OSError, ImportError, ValueError)):
        ffi.load_module("")
    for bad in (5, None, ["x"], object()):
        with pytest.raises(TypeError):
            ffi.load_module(bad)
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


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("wrong_number.c", "#include <stdint.h>\nint32_t __anyffi_abi_version = 999;\n"
         "int __anyffi_f(void* s, void* a, int32_t n, void* r) { (void)s; (void)a; (void)n; (void)r; return 0; }\n"),
        ("wrong_table.c", "#include <anyffi/c_api.h>\n"
         "AnyffiModuleTable __anyffi_module = {ANYFFI_ABI_VERSION + 1, sizeof(AnyffiModuleTable), 0};\n"),
    ],
    ids=["number", "table"],
)  # fmt: skip
def test_another_abi_version(ffi: Any, build: Build, name: str, source: str) -> None:
    with pytest.raises(
        (ImportError, OSError, ValueError), match=r"built for version \d+ of anyffi's ABI"
    ) as caught:
        ffi.load_module(build(name, source))
    assert str(build(name, source)) in str(caught.value)


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


def test_a_name_that_is_taken(ffi: Any, build: Build) -> None:
    source = """
    #include <anyffi/anyffi.h>
    ANYFFI_REGISTER_GLOBAL("modules_taken.first").def([] { return 1; });
    ANYFFI_REGISTER_GLOBAL("testing.nop").def([] { return 2; });
    ANYFFI_REGISTER_GLOBAL("modules_taken.last").def([] { return 3; });
    """
    program = f"""
        import anyffi, anyffi.testing as t
        for _ in range(2):
            try:
                anyffi.load_module({str(build("taken.cc", source))!r})
            except ValueError as error:
                assert "testing.nop" in str(error), error
            else:
                raise SystemExit("loaded")
        assert t.nop() is None
        assert [n for n in anyffi.list_global_func_names() if "taken" in n] == []
    """
    run_program(program, ffi.ffi_mode)


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
