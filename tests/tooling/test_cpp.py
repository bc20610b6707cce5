"""`anyffi.cpp`: C++ compiled from Python."""

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
from support import SANITIZED

pytestmark = [
    pytest.mark.skipif(shutil.which(os.environ.get("CXX", "c++")) is None, reason="needs a C++ compiler"),
    pytest.mark.keeps_live(reason="a module stays loaded, with what it registered"),
]


@pytest.fixture
def cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Use a cache directory of the test; under sanitizers the compiler runs without them."""
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


@pytest.mark.slow("compiling")
def test_edited_code_replaces_what_it_registered(cache: pathlib.Path) -> None:
    source = """
    inline int64_t factor = {0};
    struct Edited {{
      static constexpr anyffi::FixedText kTypeKey{{"cpp.Edited"}};
      {1};
    }};
    ANYFFI_REGISTER_OBJECT(Edited);
    ANYFFI_REGISTER_GLOBAL("cpp.scaled").def([](int64_t x) {{ return factor * x; }});
    ANYFFI_EXPORT(edited, [] {{ return anyffi::make_object<Edited>(); }});
    """
    try:
        for factor, members in ((2, "int8_t a"), (3, "int64_t a, b")):
            module = anyffi.cpp.load_inline("edited", source.format(factor, members))
            assert anyffi.get_global_func("cpp.scaled")(7) == 7 * factor
            assert type(module.edited()) is module.Edited
        with pytest.raises(ValueError, match=r"'cpp\.scaled' is already registered"):
            anyffi.cpp.load_inline("other", source.format(4, "int64_t a, b"))
        anyffi.cpp.load_inline("other", source.format(5, "int64_t a, b"), override=True)
        assert anyffi.get_global_func("cpp.scaled")(7) == 35
    finally:
        anyffi.remove_global_func("cpp.scaled")


@pytest.mark.slow("compiling")
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


@pytest.mark.slow("compiling")
def test_docs_and_own_exports(cache: pathlib.Path) -> None:
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


SCALE = """
anyffi::AnyValue scale(double x, anyffi::AnyValue by) { return by; }
"""


@pytest.mark.slow("compiling")
def test_parameters(cache: pathlib.Path) -> None:
    defaults = {
        "none": None, "yes": True, "no": False, "least": -(2**63) + 1, "most": 2**63 - 1, "tenth": 0.1,
        "tiny": 5e-324, "minus": -0.0, "text": "\t\"\\??/\n\x01\x7fé€\U0001f600'", "empty": "",
    }  # fmt: skip
    code = "".join(
        f"anyffi::AnyValue {name}(int64_t, anyffi::AnyValue x) {{ return x; }}\n" for name in defaults
    )
    written = {f"{name}(n, x={value!r})": f"Of {name}: \x02\\." for name, value in defaults.items()}
    module = anyffi.cpp.load_inline("defaults", code, written)
    for name, value in defaults.items():
        function = getattr(module, name)
        assert repr(function(n=0)) == repr(value)
        assert type(function(0)) is type(value)
        assert function(n=1, x=2) == function(1, x=2) == 2
        assert list(inspect.signature(function).parameters) == ["n", "x"]
        assert inspect.getdoc(function) == f"Of {name}: \x02\\."


@pytest.mark.slow("compiling")
def test_keyword_only_parameters(cache: pathlib.Path) -> None:
    # The standard library has a function of this name, too.
    code = "using namespace std;\nint64_t swap(int64_t x, int64_t y, int64_t z) { return x - y - z; }"
    swap = anyffi.cpp.load_inline("swap", code, "swap(x, *, y=1, z)").swap
    assert swap(5, z=2) == swap(z=2, x=5, y=1) == 2
    assert [parameter.default for parameter in inspect.signature(swap).parameters.values()][1] == 1
    with pytest.raises(TypeError, match=r"^swap\(\) missing 1 required keyword-only argument: 'z'$"):
        swap(5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("(x: int)", "only names and defaults"),
        ("(*x)", "only names and defaults"),
        ("(x, /)", "only names and defaults"),
        ("(**x)", "only names and defaults"),
        ("(x=1, y)", "cannot be read"),
        ("(x=f())", "cannot be read"),
        ("(x=[])", "cannot be a default"),
        ("(x=1e999)", "cannot be a default"),
        ("(x=9223372036854775808)", "cannot be a default"),
        ("(x='\\0')", "cannot be a default"),
        ("(from)", "cannot be read"),
        ("(x, x)", "cannot be read"),
        ("(x, *, x)", "cannot be read"),
        ("(x, *)", "cannot be read"),
        ("(*, x: int)", "only names and defaults"),
        ("(x): return 1 #)", "cannot be read"),
    ],
)
def test_unreadable_parameters(cache: pathlib.Path, parameters: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        anyffi.cpp.load_inline("fast", TWICE, f"twice{parameters}")


@pytest.mark.slow("compiling")
def test_more_parameters_than_there_are(cache: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"more arg\(\.\.\.\) than the function has parameters"):
        anyffi.cpp.load_inline("fast", TWICE, "twice(x, y)")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", "null", '{"headers": 1}', '{"headers": {"/no/such": ""}}']
)
@pytest.mark.slow("compiling")
def test_an_invalid_manifest(cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    source = _write(cache, "a.cc", _exported(TWICE, "twice"))
    path = anyffi.cpp.build("broken_cache", [source])
    (manifest,) = cache.glob("*.json")
    manifest.write_text(content)
    assert anyffi.cpp.build("broken_cache", [source]) == path
    monkeypatch.setattr(anyffi.cpp, "_run", None)
    assert anyffi.cpp.build("broken_cache", [source]) == path


@pytest.mark.slow("compiling")
def test_a_built_library_is_found(cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = anyffi.cpp.load_inline("fast", TWICE, "twice")
    (built,) = libraries(cache)
    monkeypatch.setattr(anyffi.cpp, "_run", None)
    again = anyffi.cpp.load_inline("fast", TWICE, "twice")
    assert again.twice(1) == first.twice(1)
    assert libraries(cache) == [built]


@pytest.mark.slow("compiling")
def test_a_change_of_the_input_rebuilds(cache: pathlib.Path, tmp_path: pathlib.Path) -> None:
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


@pytest.mark.slow("compiling")
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


@pytest.mark.slow("compiling")
def test_errors_name_lines_of_the_code(cache: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)^broken cannot be built .*broken:2:.*error"):
        anyffi.cpp.load_inline("broken", "int good();\nint bad( { }", "good")
    with pytest.raises(RuntimeError, match=r"(?s)functions to export:1:.*missing"):
        anyffi.cpp.load_inline("broken", TWICE, "missing")
    assert libraries(cache) == []


def test_bad_names(cache: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="must be an identifier, got '../x'"):
        anyffi.cpp.load_inline("../x", TWICE, "twice")
    for bad in ("", "a b", "1a", "a(", "a)", "twice(x))", "::twice", "a;b(x)"):
        with pytest.raises(ValueError, match=r"are written as 'name' or|cannot be read"):
            anyffi.cpp.load_inline("fast", TWICE, bad)


def test_other_types_are_refused(cache: pathlib.Path) -> None:
    load: Any = anyffi.cpp.load_inline
    for args, kwargs, message in (
        ((5, TWICE), {}, "the name of a module must be a str, got int"),
        (("fast", None), {}, "cpp_source must be a str, got NoneType"),
        (("fast", TWICE, 5), {}, "functions must be a str, a sequence or a mapping, got int"),
        (("fast", TWICE, [5]), {}, "functions to export are written as str, got int"),
        (("fast", TWICE, b"twice"), {}, "functions to export are written as str, got int"),
        (("fast", TWICE, {"twice": 5}), {}, "the doc of 'twice' must be a str, got int"),
        (("fast", TWICE, {5: ""}), {}, "functions to export are written as str, got int"),
        (("fast", TWICE), {"extra_cflags": "-O3"}, "extra_cflags must be a sequence of str, got str"),
        (("fast", TWICE), {"extra_ldflags": [1]}, "extra_ldflags must be a sequence of str, got int in it"),
        (("fast", TWICE), {"extra_include_paths": [None]},
         "extra_include_paths must be a sequence of path-like, got NoneType in it"),
    ):  # fmt: skip
        with pytest.raises(TypeError) as caught:
            load(*args, **kwargs)
        assert str(caught.value) == message
    build: Any = anyffi.cpp.build
    with pytest.raises(TypeError, match="sources must be a sequence of path-like, got str"):
        build("fast", "a.cc")
    with pytest.raises(ValueError, match="the doc of 'twice' has a null character in it"):
        load("fast", TWICE, {"twice": "a\0b"})


@pytest.mark.slow("compiling")
def test_fewer_parameters_than_there_are(cache: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"fewer arg\(\.\.\.\) than the function has parameters"):
        anyffi.cpp.load_inline("fast", "int64_t add(int64_t x, int64_t y) { return x + y; }", "add(x)")


def test_no_compiler(cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, message in (
        ("no-such-compiler -x", r"\$CXX is 'no-such-compiler', which is not there"),
        ("'", r"""\$CXX is "'", which is not a command: No closing quotation"""),
        ("true", r"^fast cannot be built \(.*\):\nit wrote no 0\.o: is .*true a C\+\+ compiler\?"),
    ):
        monkeypatch.setenv("CXX", command)
        with pytest.raises(RuntimeError, match=message):
            anyffi.cpp.load_inline("fast", TWICE, "twice")


@pytest.mark.skipif(
    SANITIZED, reason="compilers run without the sanitizers, which these processes would need"
)
@pytest.mark.slow("compiling")
def test_many_processes_build_the_same(cache: pathlib.Path) -> None:
    program = f"""
        import subprocess, sys
        code = '''import anyffi; print(anyffi.cpp.load_inline("fast", "{TWICE}", "twice").twice(4))'''
        running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]
        print(*[int(process.communicate()[0]) for process in running])
    """
    assert run_program(program, "ctypes").split() == ["8"] * 4
    assert len(libraries(cache)) == 1


@pytest.mark.slow("compiling")
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
    magics["anyffi", "cell"](" twice(x)  scale(x, by = ' a') ", TWICE + SCALE)
    assert names["twice"](x=3) == 6
    assert names["scale"](3.0) == " a"


def test_importing_anyffi_does_not_import_it() -> None:
    done = run_program(
        "import sys, anyffi; print('anyffi.cpp' in sys.modules, 'cpp' in dir(anyffi))", "ctypes"
    )
    assert done.split() == ["False", "True"]
