"""Modules that import modules, and libraries of the process: `import_module` and `system_lib`."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

import anyffi
import pytest
from module_sources import ANOTHER_VERSION, PLAIN_C, exporting
from programs import run_program
from support import Build, needs_compilers

pytestmark = needs_compilers


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.slow("compiling")
class TestImports:
    @pytest.fixture
    def modules(self, ffi: Any, build: Build) -> list[Any]:
        sources = [exporting(f"imports_{name}", factor) for factor, name in enumerate("abc", 1)]
        sources[2] += exporting("imports_b", 7).replace("#include <anyffi/anyffi.h>", "")
        return [ffi.load_module(build(f"imports{i}.cc", source)) for i, source in enumerate(sources)]

    def test_functions_of_imports(self, ffi: Any, modules: list[Any]) -> None:
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the symbols of a process")
@pytest.mark.slow("compiling")
class TestSystemLib:
    def test_symbols_of_the_process(self, ffi: Any, build: Build) -> None:
        source = exporting("system_a", 2) + PLAIN_C.replace("__anyffi_add", "__anyffi_system_add")
        library = build("system.cc", source.replace("#include <anyffi/c_api.h>", 'extern "C" {') + "}")
        program = f"""
            import ctypes, inspect, os, anyffi
            system = anyffi.system_lib()
            assert not hasattr(system, "system_a")
            local = anyffi.load_module({str(library)!r})
            assert not hasattr(system, "system_a"), "what load_module loads is no part of the program"
            assert "system_a" not in dir(system)
            kept = ctypes.CDLL({str(library)!r}, ctypes.RTLD_GLOBAL)
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
            kept = ctypes.CDLL({str(build(name, source))!r}, ctypes.RTLD_GLOBAL)
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
