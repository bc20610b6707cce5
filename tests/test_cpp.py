"""C++ that is compiled where it is used."""

from __future__ import annotations

import inspect
import os
import pathlib
import shutil
import types
from typing import Any

import anyffi
import pytest
from programs import run_program

pytestmark = [
    pytest.mark.skipif(shutil.which(os.environ.get("CXX", "c++")) is None, reason="needs a C++ compiler"),
    pytest.mark.keeps_live(reason="a module stays loaded, with what it registered"),
]


@pytest.fixture
def cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Where libraries are kept; in the sanitizers' session the compiler is to run without them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    return tmp_path / "anyffi"


def libraries(cache: pathlib.Path) -> list[str]:
    return sorted(path.name for path in cache.glob("*.so"))


TWICE = "int64_t twice(int64_t x) { return 2 * x; }"


def test_a_function_in_one_line(cache: pathlib.Path) -> None:
    fast = anyffi.cpp.load_inline("fast", TWICE, functions=["twice"])
    assert type(fast) is anyffi.Module
    assert fast.twice(21) == 42
    with pytest.raises(TypeError, match="expected int, got str"):
        fast.twice("x")
    assert dir(fast).count("twice") == 1


def test_in_both_modes(cache: pathlib.Path, ffi: Any) -> None:
    path = anyffi.cpp.build("fast", [_write(cache, "a.cc", _exported(TWICE, "twice"))])
    assert ffi.load_module(path).twice(21) == 42


def _exported(source: str, name: str) -> str:
    return f"#include <anyffi/anyffi.h>\n{source}\nANYFFI_EXPORT({name}, &{name});\n"


def _write(folder: pathlib.Path, name: str, text: str) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def test_docs_and_exports_of_its_own(cache: pathlib.Path) -> None:
    module = anyffi.cpp.load_inline(
        "documented",
        """
        using anyffi::arg;
        double half(double x) { return x / 2; }
        static double scale(double x, double by) { return x * by; }
        ANYFFI_EXPORT(scale, &scale, arg("x"), arg("by") = 2.0);
        """,
        {"half": 'Half of "it".\n\nOf what? \\ — of x.'},
    )
    assert module.half(3) == 1.5
    assert inspect.getdoc(module.half).endswith('Half of "it".\n\nOf what? \\ — of x.')
    assert module.scale(3.0) == 6.0
    assert module.scale(3.0, by=3.0) == 9.0


def test_what_was_built_is_found(cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = anyffi.cpp.load_inline("fast", TWICE, "twice")
    (built,) = libraries(cache)
    monkeypatch.setattr(anyffi.cpp, "_run", None)
    again = anyffi.cpp.load_inline("fast", TWICE, "twice")
    assert again.twice(1) == first.twice(1)
    assert libraries(cache) == [built]


def test_what_changes_a_build(cache: pathlib.Path, tmp_path: pathlib.Path) -> None:
    header = _write(tmp_path / "include", "factor.h", "#define FACTOR 2\n")
    code = '#include "factor.h"\nint64_t scaled(int64_t x) { return FACTOR * x + EXTRA; }'

    def scaled(extra: int = 0) -> int:
        module = anyffi.cpp.load_inline(
            "scaled", code, "scaled", extra_cflags=[f"-DEXTRA={extra}"], extra_include_paths=[header.parent]
        )
        return int(module.scaled(10))

    assert scaled() == 20
    assert scaled(1) == 21
    header.write_text("#define FACTOR 3\n")
    assert scaled() == 30
    assert scaled(1) == 31
    assert len(libraries(cache)) == 4


def test_several_files(cache: pathlib.Path, tmp_path: pathlib.Path) -> None:
    _write(tmp_path / "src", "shared.h", "int one();\n")
    sources = [
        _write(tmp_path / "src", "one.cc", '#include "shared.h"\nint one() { return 1; }\n'),
        _write(
            tmp_path / "src",
            "all.cc",
            '#include "shared.h"\n' + _exported("int two() { return 2 * one(); }", "two"),
        ),
    ]
    assert anyffi.load_module(anyffi.cpp.build("several", sources)).two() == 2
    other = _write(tmp_path / "other", "one.cc", '#include "shared.h"\nint one() { return 1; }\n')
    _write(tmp_path / "other", "shared.h", "#error the other header\n")
    with pytest.raises(RuntimeError, match="the other header"):
        anyffi.cpp.build("several", [other])


def test_errors_name_lines_of_the_code(cache: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)^broken cannot be built .*broken:2:.*error"):
        anyffi.cpp.load_inline("broken", "int good();\nint bad( { }", "good")
    with pytest.raises(RuntimeError, match=r"(?s)functions to export:1:.*missing"):
        anyffi.cpp.load_inline("broken", TWICE, "missing")
    assert libraries(cache) == []


def test_bad_names(cache: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="must be an identifier, got '../x'"):
        anyffi.cpp.load_inline("../x", TWICE, "twice")
    with pytest.raises(ValueError, match=r"named by identifiers, got 'a\(\)'"):
        anyffi.cpp.load_inline("fast", TWICE, "a()")


def test_no_compiler(cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -x")
    with pytest.raises(RuntimeError, match=r"\$CXX is 'no-such-compiler', which is not there"):
        anyffi.cpp.load_inline("fast", TWICE, "twice")


def test_many_processes_build_the_same(cache: pathlib.Path) -> None:
    program = f"""
        import subprocess, sys
        code = '''import anyffi; print(anyffi.cpp.load_inline("fast", "{TWICE}", "twice").twice(4))'''
        running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]
        print(*[int(process.communicate()[0]) for process in running])
    """
    assert run_program(program, "ctypes").split() == ["8"] * 4
    assert len(libraries(cache)) == 1


def test_a_cell_of_a_notebook(cache: pathlib.Path) -> None:
    magics: dict[str, Any] = {}
    names: dict[str, Any] = {}
    shell = types.SimpleNamespace(
        register_magic_function=lambda function, kind: magics.update({(function.__name__, kind): function}),
        push=names.update,
    )
    anyffi.cpp.load_ipython_extension(shell)
    magics["anyffi", "cell"]("twice", TWICE)
    assert names["twice"](2) == 4


def test_importing_anyffi_does_not_import_it() -> None:
    done = run_program(
        "import sys, anyffi; print('anyffi.cpp' in sys.modules, 'cpp' in dir(anyffi))", "ctypes"
    )
    assert done.split() == ["False", "True"]
