"""Build and installation: exported symbols, headers, installed files."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys

import pytest
from c_abi import plain_declarations
from compiling import INCLUDE, compile_text
from support import EXPORTED_TYPES, ROOT, build_directory, run

HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wnon-virtual-dtor", "-Werror")


def declared_functions() -> set[str]:
    for_cpp_alone = (INCLUDE / "anyffi" / "exception.h").read_text()
    without_comments = re.sub(r"//.*|/\*.*?\*/", "", plain_declarations() + for_cpp_alone)
    return set(re.findall(r"\b(anyffi_\w+)\(", without_comments))


def test_the_library_exports_what_the_headers_declare_and_nothing_else() -> None:
    import anyffi

    nm = ["nm", "--dynamic", "--defined-only", "--format=posix"]
    done = run([*nm, anyffi.find_library("anyffi")], LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    symbols = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
    # Type A is the node of the version script, not a symbol.
    exported = {name.partition("@")[0] for name, kind in symbols if kind != "A"}
    assert exported == declared_functions() | EXPORTED_TYPES


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.slow("compiling")
def test_every_header_compiles_alone_as_cpp17(header: str) -> None:
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", *WARNINGS, "-fsyntax-only", "-I", INCLUDE, "-x", "c++", "-"]
    done = run(command, stdin=f"#include <{header}>\n", LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr


def test_the_editable_install_serves_the_checkout() -> None:
    code = "import anyffi, anyffi.testing as t; print(anyffi.__file__); print(t.add_one(41))"
    done = run([sys.executable, "-c", code], PATH="/usr/local/bin:/usr/bin:/bin", FFI_MODE=None)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(ROOT / "pkg" / "__init__.py"), "42"]


def test_the_marshaller_depends_on_its_own_files_alone() -> None:
    """pip's environment, with Cython's files, is gone after it has compiled an editable installation."""
    depfiles = list(build_directory().rglob("*.pyx.c.dep"))
    if not depfiles:
        pytest.skip("this build has no compiled marshaller")
    (depfile,) = depfiles
    _, _, dependencies = depfile.read_text().partition(":")
    paths = [build_directory() / path for path in dependencies.split() if path != "\\"]
    assert len(paths) > 5
    assert [path for path in paths if ROOT / "pkg" not in path.resolve().parents] == []


def test_no_comprehension_of_new_objects() -> None:
    """Out of memory, Cython's comprehensions release an object twice that they cannot append; loops do not."""
    for path in build_directory().rglob("_core.pyx.c"):
        assert "ListComp_AppendAndDecref(__pyx_t" not in path.read_text()


def test_every_file_of_the_package_is_installed() -> None:
    installed = json.loads((build_directory() / "meson-info" / "intro-installed.json").read_text())
    names = {pathlib.Path(destination).name for destination in installed.values()}
    assert {"libanyffi.so", "libanyffi_debug.so", "libanyffi_testing.so", "libanyffi_fixtures.so"} <= names
    has_cython = any(name.startswith("_core.") for name in names)
    for path in (ROOT / "pkg").rglob("*"):
        is_installed = path.suffix in (".py", ".pyi") or path.name == "py.typed"
        if is_installed and (has_cython or path.parent.name != "_cython"):
            assert str(path) in installed
    include = pathlib.Path(installed[str(INCLUDE / "anyffi")])
    assert include.parts[-3:] == ("anyffi", "include", "anyffi")


def test_the_version_is_defined_once_and_read_late() -> None:
    import importlib.metadata

    code = (
        "import sys, anyffi; print('importlib.metadata' in sys.modules, '__version__' in dir(anyffi)); "
        "print(anyffi.__version__, anyffi.__version__)"
    )
    done = run([sys.executable, "-c", code], FFI_MODE=None)
    assert done.returncode == 0, done.stderr
    stated = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())
    assert stated is not None
    assert importlib.metadata.version("anyffi") == stated[1]
    assert done.stdout.split() == ["False", "True", stated[1], stated[1]]


def test_the_description_of_the_package_has_no_links_into_the_tree() -> None:
    import importlib.metadata

    described = importlib.metadata.metadata("anyffi")
    assert described["Description-Content-Type"] == "text/markdown"
    # From Python 3.15 on, the text is in a header.
    text = str(described.get_payload() or described["Description"])
    assert text.startswith("# anyffi\n")
    assert re.findall(r"\]\((?!https://)", text) == []
    # The examples of the description are those of the README.
    readme = (ROOT / "README.md").read_text()
    for block in re.findall(r"```(?:python|cpp)\n(.*?)```", text, re.DOTALL):
        assert block.rstrip() in readme


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("anyffi::TensorView f(anyffi::TensorView x) { return x; }", "store or return a Tensor"),
        ("void f(anyffi::TensorView x) { anyffi::AnyValue y = x; }", "store or return a Tensor"),
        (
            "void f(anyffi::List<> xs, anyffi::TensorView x) { xs.push_back(anyffi::AnyValue(x)); }",
            "a Tensor",
        ),
        ("void f(anyffi::AnyValue x) { x.cast<anyffi::TensorView>(); }", "convert to a Tensor"),
        ("void f(anyffi::List<anyffi::TensorView> x) { x[0]; }", "convert to a Tensor"),
        (
            "void f() { anyffi::TensorView x = anyffi::Tensor::empty({2}, anyffi::DataType::of<float>()); }",
            "deleted",
        ),
        ("void f(anyffi::Tensor x) { x.data<const char*>(); }", "DataTypeOf"),
    ],
)
@pytest.mark.slow("compiling")
def test_what_does_not_compile(source: str, message: str) -> None:
    """Code that would keep a borrowed tensor is rejected by the compiler."""
    program = f"#include <anyffi/anyffi.h>\n{source}\nANYFFI_EXPORT(f, &f);\n"
    done = compile_text(program, "-fsyntax-only")
    assert done.returncode != 0
    assert message in done.stderr
