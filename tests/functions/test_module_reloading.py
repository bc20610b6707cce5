"""Libraries that are loaded again: a file that was replaced, and a load that was undone."""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
from typing import Any

import anyffi
import pytest
from module_sources import GOOD, PLAIN_C, TAKEN, exporting
from programs import run_program
from support import CC, CPYTHON, CXX, SANITIZED, Build, collect, needs_compilers, run

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]


@pytest.mark.keeps_live(reason="a module stays loaded")
class TestReloading:
    def test_functions_outlive_their_module(self, ffi: Any, build: Build) -> None:
        module = ffi.load_module(build("plain.c", PLAIN_C))
        add, scale = module.add, ffi.load_module(build("good.cc", GOOD)).scale
        del module
        collect()
        assert add(2, 3) == 5
        assert scale(1.5, by=2.0) == 3.0

    def test_a_file_that_was_replaced(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
        path = tmp_path / "reloaded.so"
        modules = []
        for factor in (2, 3, 4):
            shutil.copy(build(f"reloaded{factor}.cc", exporting("scaled", factor)), tmp_path / "new.so")
            os.replace(tmp_path / "new.so", path)
            modules.append(ffi.load_module(path))
            assert modules[-1].__file__ == str(path)
            assert ffi.load_module(path).scaled(10) == 10 * factor
        assert [module.scaled(x=10) for module in modules] == [20, 30, 40]

    def test_a_file_that_was_overwritten(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
        path = tmp_path / "written.so"
        shutil.copy(build("reloaded2.cc", exporting("scaled", 2)), path)
        module = ffi.load_module(path)
        os.utime(path, ns=(0, 0))
        with pytest.raises(ValueError, match=r"written\.so: was written to after"):
            ffi.load_module(path)
        assert module.scaled(1) == 2

    @pytest.mark.unrecorded("measures memory")
    def test_loading_again_takes_no_memory(self, build: Build, tmp_path: pathlib.Path, ffi: Any) -> None:
        """This is frequent: each pickle that names a function of a library loads the library again."""

        class Counts(ctypes.Structure):
            names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
            _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

        count = getattr(ctypes.CDLL(None), "mallinfo2", None)
        if count is None or SANITIZED or not CPYTHON:
            pytest.skip(
                "counts by mallinfo2 of glibc 2.33, which on PyPy includes the interpreter's own memory"
            )
        count.restype = Counts
        folder = tmp_path / ("long" * 50)
        folder.mkdir()
        shutil.copy(build("reloaded2.cc", exporting("scaled", 2)), folder / "again.so")
        for _ in range(20):
            ffi.load_module(folder / "again.so")
        collect()
        before = count().uordblks
        for _ in range(400):
            ffi.load_module(folder / "again.so")
        collect()
        assert count().uordblks - before < 400 * 100


def version(number: int) -> str:
    return f"""
    #include <anyffi/anyffi.h>
    ANYFFI_REGISTER_GLOBAL("modules_versions.number").def([] {{ return {number}; }});
    ANYFFI_REGISTER_GLOBAL("modules_versions.overloaded")
        .def([](int64_t) {{ return {number}; }})
        .def([](const anyffi::String&) {{ return {10 * number}; }});
    """


def version_of_class(
    key: str, members: str = "int64_t a", value: str = "point->a", *, registers: bool = True
) -> str:
    """A library with a class and functions that have the same names in C++ for every key."""
    registration = "ANYFFI_REGISTER_OBJECT(Point);" if registers else ""
    return f"""
    #include <anyffi/anyffi.h>
    using anyffi::Ref;
    struct Point {{
      static constexpr anyffi::FixedText kTypeKey{{"{key}"}};
      {members};
    }};
    {registration}
    Ref<Point> create(int64_t a) {{ return anyffi::make_object<Point>(Point{{static_cast<decltype(Point::a)>(a)}}); }}
    int64_t read(const Ref<Point>& point) {{ return {value}; }}
    ANYFFI_EXPORT(point, &create);
    ANYFFI_EXPORT(value, &read);
    """


@pytest.mark.keeps_live(reason="a module stays loaded, with what it registered")
class TestNewVersions:
    """What a library registers replaces what its earlier versions registered, and nothing else."""

    @pytest.fixture
    def load(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> Any:
        def load(name: str, source: str, path: str = "versions.so", **options: bool) -> Any:
            shutil.copy(build(f"{name}.cc", source), tmp_path / "new.so")
            os.replace(tmp_path / "new.so", tmp_path / path)
            return ffi.load_module(tmp_path / path, **options)

        yield load
        for name in ffi.list_global_func_names():
            if name.startswith("modules_versions."):
                ffi.remove_global_func(name)

    def test_global_functions_are_replaced(self, ffi: Any, load: Any) -> None:
        functions = []
        for number in (1, 2, 3):
            load(f"versions{number}", version(number))
            functions.append(ffi.get_global_func("modules_versions.number"))
            overloaded = ffi.get_global_func("modules_versions.overloaded")
            assert (overloaded(0), overloaded("")) == (number, 10 * number)
        assert [function() for function in functions] == [1, 2, 3]

    def test_functions_of_others_are_not_replaced(self, ffi: Any, load: Any) -> None:
        load("versions1", version(1))
        with pytest.raises(ValueError, match=r"'modules_versions\.number' is already registered"):
            load("versions2", version(2), "others.so")
        assert ffi.get_global_func("modules_versions.number")() == 1
        ffi.register_global_func("modules_versions.number", lambda: "of Python", override=True)
        with pytest.raises(ValueError, match=r"'modules_versions\.number' is already registered"):
            load("versions2", version(2))
        assert ffi.get_global_func("modules_versions.number")() == "of Python"
        assert ffi.get_global_func("modules_versions.overloaded")(0) == 1

    def test_override(self, ffi: Any, load: Any) -> None:
        ffi.register_global_func("modules_versions.number", lambda: "of Python")
        load("versions1", version(1), override=True)
        assert ffi.get_global_func("modules_versions.number")() == 1
        load("versions2", version(2), "others.so", override=True)
        assert ffi.get_global_func("modules_versions.number")() == 2

    def test_a_failed_version_leaves_the_former_one(self, ffi: Any, load: Any) -> None:
        load("versions1", version(1))
        failing = version(2) + 'ANYFFI_REGISTER_GLOBAL("testing.nop").def([] { return 0; });'
        with pytest.raises(ValueError, match=r"'testing\.nop' is already registered"):
            load("versions_failing", failing)
        assert ffi.get_global_func("modules_versions.number")() == 1
        load("versions3", version(3))
        assert ffi.get_global_func("modules_versions.number")() == 3

    @pytest.mark.unrecorded("messages contain the key, which differs between modes")
    def test_classes_of_one_name_in_two_libraries(self, ffi: Any, load: Any) -> None:
        keys = [f"modules_versions.{name}_{ffi.ffi_mode}" for name in ("First", "Second")]
        first = load(f"first_{ffi.ffi_mode}", version_of_class(keys[0]), "first.so")
        source = version_of_class(keys[1], "int32_t a; double b[9] = {}")
        second = load(f"second_{ffi.ffi_mode}", source, "second.so")
        for module in (first, second):
            assert module.value(module.point(5)) == 5
        with pytest.raises(
            TypeError, match=r"expected modules_versions\.First_\w+, got modules_versions\.Second_\w+$"
        ):
            first.value(second.point(5))
        with pytest.raises(
            TypeError, match=r"expected modules_versions\.Second_\w+, got modules_versions\.First_\w+$"
        ):
            second.value(first.point(5))

    def test_objects_of_an_equal_class_are_exchanged(self, ffi: Any, load: Any) -> None:
        key = f"modules_versions.Equal_{ffi.ffi_mode}"
        old = load(f"equal_{ffi.ffi_mode}", version_of_class(key))
        new = load(f"negated_{ffi.ffi_mode}", version_of_class(key, value="-point->a"))
        assert new.value(old.point(5)) == -5
        assert old.value(new.point(5)) == 5

    @pytest.mark.unrecorded("messages contain the key, which differs between modes")
    @pytest.mark.parametrize("registers", [True, False])
    def test_objects_of_a_changed_class_stay_with_their_version(
        self, ffi: Any, load: Any, registers: bool
    ) -> None:
        """If the library itself does not register the class, its first object does."""
        name, members = f"{ffi.ffi_mode}_{registers}", "int64_t a, b = 7"
        key = f"modules_versions.Changed_{name}"
        old = load(f"small_{name}", version_of_class(key, registers=registers))
        point = old.point(5)
        new = load(
            f"large_{name}", version_of_class(key, members, "point->a + point->b", registers=registers)
        )
        assert new.value(new.point(5)) == 12
        assert old.value(point) == old.value(old.point(5)) == 5
        for function, other in ((new.value, point), (old.value, new.point(5))):
            with pytest.raises(
                TypeError, match=r"got modules_versions\.Changed_\w+ of another version of its library$"
            ):
                function(other)
        newest = load(f"newest_{name}", version_of_class(key, members, registers=registers))
        assert newest.value(new.point(6)) == 6


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
    """Initialisers run once; a library that failed is loaded again as a copy, since the cause may be gone."""

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
                        assert "cannot be loaded again after it failed: cannot write a copy" in str(caught)
                else:
                    raise SystemExit("loaded")
                anyffi.register_global_func("modules_anew.needed", dict, override=True)
            os.environ["TMPDIR"] = os.path.dirname(os.path.dirname(os.environ["TMPDIR"]))
            assert anyffi.load_module(path).next() == 1
        """
        run_program(program, ffi.ffi_mode, TMPDIR=str(tmp_path / "missing" / "too"))

    def test_the_error_of_a_dependency_stays(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
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
    def test_a_file_that_was_fixed(self, ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
        """A library that the loader refused is not in memory, so its file may be overwritten."""
        path = tmp_path / "fixed.so"
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
