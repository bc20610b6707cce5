"""Projects of users find an installation: by anyffi-config, pkg-config, CMake and Meson."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
from typing import Any, Callable

import pytest
from support import ROOT, run

CXX = os.environ.get("CXX", "c++")

pytestmark = [
    pytest.mark.skipif(shutil.which(CXX) is None, reason="needs a C++ compiler"),
    pytest.mark.keeps_live(reason="a module stays loaded, with what it registered"),
]

SOURCE = """
#include <anyffi/anyffi.h>
static int64_t twice(int64_t x) { return 2 * x; }
ANYFFI_EXPORT(twice, &twice, anyffi::arg("x"));
"""

Config = Callable[..., str]


@pytest.fixture(scope="session")
def config(pure: pathlib.Path) -> Config:
    """The command of an ordinary installation: what it prints."""
    code = f"import sys; sys.path.insert(0, {str(pure)!r}); from anyffi._config import main; main()"

    def ask(*options: str) -> str:
        done = run([sys.executable, "-S", "-c", code, *options], FFI_MODE=None)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return ask


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "demo.cc").write_text(SOURCE)
    return tmp_path


def built(ffi: Any, folder: pathlib.Path, *commands: list[str], **variables: str) -> None:
    """Run what builds a library, load it, and call it."""
    for command in commands:
        done = run(command, LD_PRELOAD=None, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
    (library,) = folder.rglob("libdemo.so")
    assert ffi.load_module(library).twice(x=21) == 42


def test_plain_compiler(ffi: Any, config: Config, project: pathlib.Path) -> None:
    found = config("--cflags", "--libs").split()
    output = str(project / "libdemo.so")
    built(
        ffi, project, [CXX, "-std=c++17", "-shared", "-fPIC", str(project / "demo.cc"), "-o", output, *found]
    )


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="needs pkg-config")
def test_pkg_config(ffi: Any, config: Config, project: pathlib.Path) -> None:
    command = f"cd {project} && {CXX} -std=c++17 -shared -fPIC demo.cc -o libdemo.so $(pkg-config --cflags --libs anyffi)"
    built(ffi, project, ["sh", "-c", command], PKG_CONFIG_PATH=config("--pkgconfigdir"))


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="Meson finds it by pkg-config")
def test_meson(ffi: Any, config: Config, project: pathlib.Path) -> None:
    (project / "meson.build").write_text(
        "project('demo', 'cpp', default_options: ['cpp_std=c++17'])\n"
        "shared_library('demo', 'demo.cc', dependencies: dependency('anyffi', version: '>=0.1'))\n"
    )
    meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
    folder = project / "build"
    built(
        ffi,
        folder,
        [*meson, "setup", str(folder), str(project)],
        [*meson, "compile", "-C", str(folder)],
        PKG_CONFIG_PATH=config("--pkgconfigdir"),
    )


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_cmake(ffi: Any, config: Config, project: pathlib.Path) -> None:
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.15)\n"
        "project(demo CXX)\n"
        "find_package(anyffi 0.1 REQUIRED)\n"
        "add_library(demo SHARED demo.cc)\n"
        "target_link_libraries(demo PRIVATE anyffi::anyffi)\n"
    )
    folder = project / "build"
    found = f"-Danyffi_DIR={config('--cmakedir')}"
    built(
        ffi,
        folder,
        ["cmake", "-S", str(project), "-B", str(folder), found],
        ["cmake", "--build", str(folder)],
    )


def test_directories(config: Config, pure: pathlib.Path) -> None:
    folders = config("--includedir", "--libdir").split()
    assert folders == [str(pure / "anyffi" / "include"), str(pure / "anyffi" / "lib")]
    assert (pure / "bin" / "anyffi-config").exists()


def test_bad_questions() -> None:
    command = [sys.executable, "-m", "anyffi._config"]
    nothing = run(command)
    assert nothing.returncode == 2
    assert "say what is wanted" in nothing.stderr
    editable = run([*command, "--cmakedir"])
    assert editable.returncode == 1
    assert "needs an ordinary installation" in editable.stderr
    assert run([*command, "--includedir"]).stdout.strip() == str(ROOT / "cpp" / "include")
