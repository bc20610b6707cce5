"""Loading of users' libraries, valid and invalid."""

from __future__ import annotations

import errno
import inspect
import os
import pathlib
import sys
from typing import Any

import anyffi
import pytest
from module_sources import ANOTHER_VERSION, GOOD, PLAIN_C
from programs import run_program
from support import CC, Build, needs_compilers, run

pytestmark = needs_compilers


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

    def test_an_attribute_is_found_once(self, ffi: Any, good: Any) -> None:
        found = good.add_one
        assert vars(good)["add_one"] is found is good.add_one is good["add_one"]
        assert "nonsense" not in vars(good)
        assert ffi.load_module(good.__file__).add_one == found

    def test_attributes_that_change(self, good: Any) -> None:
        def read() -> Any:
            return good.add_one

        cls = type(good)
        found = read()
        for _ in range(3):
            assert read() is found
        good.add_one = 5
        assert read() == 5
        vars(good)["add_one"] = 6
        assert read() == 6
        del good.add_one
        assert read() is found
        cls.add_one = property(lambda self: "of the class")
        try:
            assert read() == "of the class"
            cls.add_one = 7
            assert read() is found
            vars(good).clear()
            assert read() == 7
        finally:
            del cls.add_one
        assert read() is found
        vars(good).clear()
        assert read() is found

    def test_a_subclass_with_its_own_look_up(self, good: Any) -> None:
        class Loud(type(good)):  # type: ignore[misc]
            __slots__ = ()

            def __getattr__(self, name: str) -> Any:
                return "loud", name

        former, good.__class__ = good.__class__, Loud
        try:
            assert good.add_ones == ("loud", "add_ones")
            assert good.add_one == ("loud", "add_one")
            assert good["add_one"](1) == 2
        finally:
            good.__class__ = former
        assert good.add_one(1) == 2

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

    def test_functions_by_index(self, ffi: Any, good: Any) -> None:
        found = good["add_one"]
        assert found is good["add_one"] is good.add_one
        former = good.add_one
        try:
            good.add_one = 5
            assert good["add_one"] is found
        finally:
            good.add_one = former

        for unknown in ("ad_one", "", "a b", "_anyffi_by_name", "__dict__"):
            for _ in range(2):
                with pytest.raises(AttributeError) as caught:
                    good[unknown]
                assert caught.value.__context__ is None
        for odd in (5, None, [], {}, b"add_one", ("add_one",)):
            with pytest.raises(TypeError):
                good[odd]
        assert not any("by_name" in name for name in dir(good))

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

    def test_a_module_is_no_container(self, good: Any) -> None:
        for use in (iter, list, lambda module: "add_one" in module, lambda module: [*module]):
            with pytest.raises(TypeError, match="not iterable|not a container"):
                use(good)
        with pytest.raises(TypeError, match="has no len"):
            len(good)

    def test_an_unknown_name_is_shown_in_full(self, good: Any) -> None:
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
        pytest.skip("this is the machine's own architecture")
    content[18:20] = machine.to_bytes(2, sys.byteorder)
    path = tmp_path / "foreign.so"
    path.write_bytes(content)
    with pytest.raises(OSError, match=rf"foreign\.so: built for {name}, while this process runs on "):
        ffi.load_module(path)
    content[4] ^= 3
    path.write_bytes(content)
    with pytest.raises(OSError, match=f"built for {name} with another word size"):
        ffi.load_module(path)
    content[4] ^= 3
    content[5] ^= 3
    content[18:20] = content[18:20][::-1]
    path.write_bytes(content)
    with pytest.raises(OSError, match=f"built for {name} with another order of bytes"):
        ffi.load_module(os.fsencode(path))


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems have programs in other formats"
)
def test_files_that_are_no_library(ffi: Any, tmp_path: pathlib.Path) -> None:
    program = pathlib.Path("/bin/ls").resolve()
    if program.read_bytes()[16:18] != (3).to_bytes(2, sys.byteorder):
        pytest.skip("programs of this system are not position-independent")
    with pytest.raises(ValueError, match="not a shared library, but a program, which can only be run"):
        ffi.load_module(program)
    short = tmp_path / "short.so"
    short.write_bytes(b"\x7fELF123456")
    with pytest.raises(ValueError, match="not a complete shared library: byte 10: the ELF header goes on"):
        ffi.load_module(short)


@pytest.mark.slow("compiling")
def test_a_missing_symbol(ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
    (tmp_path / "missing.c").write_text("int not_there(void); int f(void) { return not_there(); }\n")
    (tmp_path / "forgot.c").write_text("int anyffi_x(void); int f(void) { return anyffi_x(); }\n")
    for name in ("missing", "forgot"):
        command = [CC, "-shared", "-fPIC", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.so"]
        assert run(command, LD_PRELOAD=None).returncode == 0
    with pytest.raises(OSError, match=r"missing\.so: undefined symbol: not_there"):
        ffi.load_module(tmp_path / "missing.so")
    with pytest.raises(
        OSError, match=r"undefined symbol: anyffi_x; link the library with -lanyffi, behind its sources"
    ):
        ffi.load_module(tmp_path / "forgot.so")
    source = "#include <anyffi/anyffi.h>\nlong far(const char*, double);\nANYFFI_EXPORT(near, [] { far(nullptr, 1); });\n"
    named = r"libmangled\.so: undefined symbol: far\(char const\*, double\) \(_Z3farPKcd\)$"
    with pytest.raises(OSError, match=named):
        ffi.load_module(build("mangled.cc", source))


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
    """C code may return a borrowed argument by value: the marshallers own the result at once."""
    echo = ffi.load_module(build("plain.c", PLAIN_C)).echo
    for text in ("short", "a string on the heap " * 5, b"bytes that are long enough"):
        argument = text + text[:0]
        result = echo(argument)
        assert result == text
    assert echo([1, 2]) == [1, 2]


def test_a_library_with_nothing_of_ours(ffi: Any, build: Build) -> None:
    path = build("stranger.c", "int answer(void) { return 42; }\n")
    try:
        module = ffi.load_module(path)
    except (ImportError, OSError, ValueError) as error:
        assert str(path) in str(error)
    else:
        with pytest.raises(AttributeError):
            module.answer


@pytest.mark.slow("compiling")
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


def test_a_name_without_prefix_or_suffix(ffi: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "libshapes.so").touch()
    for name in ("shapes", "shapes.so", "libshapes", "shapes.dll", "libshapes.dylib"):
        with pytest.raises(
            FileNotFoundError, match="No such file or directory, but there is .*libshapes.so"
        ) as raised:
            ffi.load_module(tmp_path / name)
        assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, str(tmp_path / name))
        assert raised.value.__context__ is None
    with pytest.raises(FileNotFoundError, match="No such file or directory: "):
        ffi.load_module(tmp_path / "other")
