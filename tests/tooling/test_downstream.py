"""Users' projects: the templates and libraries of docs/examples, built and run without access to the checkout."""

from __future__ import annotations

import dataclasses
import fcntl
import functools
import os
import pathlib
import shutil
import sys
from typing import Any, Callable

import pytest
from support import ROOT, build_directory, run
from type_checkers import needs_mypy, needs_pyright, run_mypy, run_pyright

CXX = os.environ.get("CXX", "c++")
MESON = [sys.executable, "-m", "mesonbuild.mesonmain"]

pytestmark = [
    pytest.mark.skipif(shutil.which(CXX) is None, reason="needs a C++ compiler"),
    pytest.mark.slow("downstream projects"),
]
needs_pkg_config = pytest.mark.skipif(shutil.which("pkg-config") is None, reason="needs pkg-config")
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")

TEMPLATES = {
    "template_meson": (),
    "template_scikit_build": needs_cmake,
    "template_plain": (),
}
#: Examples that are separate projects, with far more C++ than a template.
LIBRARIES = {"npx": (), "text": ()}


def each_of(projects: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [pytest.param(name, marks=projects[name]) for name in projects])


@dataclasses.dataclass(frozen=True)
class User:
    """A user's environment, with anyffi installed from its wheel."""

    home: pathlib.Path

    def run(self, *command: object, cwd: pathlib.Path | None = None, **variables: str | None) -> str:
        """Run a command, with this environment's `python`, and return its output."""
        path = os.pathsep.join([str(self.home / "bin"), os.environ["PATH"]])
        unset = {"FFI_MODE": None, "LD_PRELOAD": None, "PKG_CONFIG_PATH": None, "PYTHONPATH": None}
        # The program is looked up on the parent's PATH.
        words = ["env", *command]
        done = run(words, cwd=cwd, **{"PATH": path, "CXX": CXX, **unset, **variables})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def install(self, *words: object) -> None:
        """Install with the tests' pip, since the environment has none."""
        pip = [sys.executable, "-m", "pip", "--python", self.home / "bin" / "python"]
        self.run(*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", *words)

    @functools.cached_property
    def packages(self) -> pathlib.Path:
        return pathlib.Path(
            self.run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        )


@pytest.fixture(scope="session")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    """An environment with the wheel of this checkout and the build and test tools."""
    folder = tmp_path_factory.mktemp("user")
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps"]
    kept = build_directory().parent / "build-wheel"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run([*wheel, f"-Cbuild-dir={kept}", "--wheel-dir", folder, ROOT], LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    user = User(folder / "env")
    done = run([sys.executable, "-m", "venv", "--without-pip", user.home], LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    user.install(*folder.glob("*.whl"))
    # Makes the packages visible, but not the checkout's editable install.
    (user.packages / "tools.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path))
    return user


@pytest.fixture(scope="session")
def project(user: User, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], pathlib.Path]:
    """Copy a project and build it; install it if it is a package."""

    @functools.cache
    def build(name: str) -> pathlib.Path:
        folder = tmp_path_factory.mktemp("projects") / name
        shutil.copytree(ROOT / "docs" / "examples" / name, folder)
        if (folder / "build.sh").exists():
            # Optimizing npx takes most of the time here.
            user.run("sh", folder / "build.sh", CXXFLAGS="-O0")
        else:
            user.install(folder)
        return folder

    return build


@each_of({**TEMPLATES, **LIBRARIES})
def test_project(ffi: Any, user: User, project: Callable[[str], pathlib.Path], name: str) -> None:
    pytest_alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    shown = user.run("python", "-m", "pytest", "-q", cwd=project(name), FFI_MODE=ffi.ffi_mode, **pytest_alone)
    assert " passed" in shown
    where = user.run(
        "python", "-c", "import anyffi; print(anyffi.ffi_mode, anyffi.__file__)", FFI_MODE=ffi.ffi_mode
    )
    assert where == f"{ffi.ffi_mode} {user.packages / 'anyffi' / '__init__.py'}"


def other_pythons() -> list[str]:
    """Return interpreters of other versions and implementations than this one."""
    names = [*(f"python3.{minor}" for minor in range(9, 16)), "pypy3"]
    show_tag = "import sys; print(sys.implementation.cache_tag)"
    found = {
        run([name, "-c", show_tag], LD_PRELOAD=None).stdout.strip(): name
        for name in names
        if shutil.which(name)
    }
    return [name for tag, name in found.items() if tag not in ("", sys.implementation.cache_tag)]


@each_of(TEMPLATES)
def test_built_once_it_runs_on_every_python(
    user: User, project: Callable[[str], pathlib.Path], name: str
) -> None:
    others = other_pythons()
    if not others:
        pytest.skip("there is no other Python on the path")
    folder = project(name)
    code = (
        "import runpy, sys\n"
        "tests = runpy.run_path(sys.argv[1])\n"
        "print([function() for name, function in tests.items() if name.startswith('test_')])\n"
    )
    path = os.pathsep.join([str(user.packages), str(folder)])
    for python in others:
        tests = folder / "tests" / f"test_{name}.py"
        shown = user.run(python, "-c", code, tests, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
        assert shown.startswith("[None")


#: The stub that each template's build writes.
STUBS = {
    "template_meson": "def dot(x: Sequence[float], y: Sequence[float]) -> float:\n"
    '    """The sum of the products of two sequences of numbers."""\n',
    "template_scikit_build": "def rotate(items: anyffi.List[Any] | list[Any], by: int = 1) -> anyffi.List[Any]:\n",
    "template_plain": "def count(items: Sequence[Any]) -> anyffi.Dict[Any, int]: ...\n",
}


def installed(user: User, folder: pathlib.Path, name: str) -> pathlib.Path:
    """Return the path of a template's package."""
    return next(path for path in (folder / name, user.packages / name) if path.is_dir())


@each_of(TEMPLATES)
def test_it_has_types_and_help(user: User, project: Callable[[str], pathlib.Path], name: str) -> None:
    folder = project(name)
    package = installed(user, folder, name)
    assert (package / "py.typed").exists()
    assert STUBS[name] in (package / "_core.pyi").read_text()
    shown = user.run("python", "-c", f"import {name}; help({name})", cwd=folder)
    function = STUBS[name].partition("(")[0].removeprefix("def ")
    assert f"\n    {function}" in shown.partition("FUNCTIONS")[2].partition("DATA")[0]


@each_of(TEMPLATES)
@needs_mypy
def test_mypy_accepts_it(
    user: User, project: Callable[[str], pathlib.Path], tmp_path: pathlib.Path, name: str
) -> None:
    found = type_checked(user, project(name), tmp_path, name)
    assert run_mypy(tmp_path, *found, search=[user.packages]) == ""


@each_of(TEMPLATES)
@needs_pyright
def test_pyright_accepts_it(
    user: User, project: Callable[[str], pathlib.Path], tmp_path: pathlib.Path, name: str
) -> None:
    found = type_checked(user, project(name), tmp_path, name)
    assert run_pyright(tmp_path, found, search=[user.packages]) == ""


def type_checked(user: User, folder: pathlib.Path, to: pathlib.Path, name: str) -> list[str]:
    """Copy a template's package and tests, and return the names of what to check."""
    shutil.copytree(installed(user, folder, name), to / name)
    shutil.copytree(folder / "tests", to / "tests")
    return [name, "tests"]


#: What the program of docs/examples/embedding prints.
EMBEDDED = """\
exports find_root
exports scale
scaled: 10, 25
by the default: 20
root: 1.414214
version: 1.0
2.0 is not below 0.0"""


def test_a_program_without_python(user: User, project: Callable[[str], pathlib.Path]) -> None:
    folder = project("embedding")
    without = {"LD_LIBRARY_PATH": None}
    assert user.run(folder / "main", folder / "libplugin.so", **without) == EMBEDDED
    assert user.run(folder / "main", "./libplugin.so", cwd=folder, **without) == EMBEDDED
    missing = run([folder / "main", "./missing.so"], LD_PRELOAD=None)
    assert (missing.returncode, missing.stderr) == (
        1,
        "[Errno 2] No such file or directory: './missing.so'\n",
    )
    code = "import anyffi, sys; print(anyffi.load_module(sys.argv[1]).scale([1.0]))"
    assert user.run("python", "-c", code, folder / "libplugin.so") == "anyffi.List([2.0])"


@needs_cmake
def test_a_wheel_for_any_python(user: User, project: Callable[[str], pathlib.Path]) -> None:
    project("template_scikit_build")
    (described,) = user.packages.glob("template_scikit_build-*.dist-info/WHEEL")
    assert "Tag: py3-none-" in described.read_text()


def registers(user: User, folder: pathlib.Path, name: str) -> bool:
    """Assert that the library built in a folder registers a global function."""
    (library,) = folder.rglob("lib*.so")
    code = "import anyffi, sys; anyffi.load_module(sys.argv[1]); anyffi.get_global_func(sys.argv[2])"
    return user.run("python", "-c", code, library, name) == ""


@needs_pkg_config
def test_meson_finds_it_by_pkg_config(
    user: User, project: Callable[[str], pathlib.Path], tmp_path: pathlib.Path
) -> None:
    path = user.run("anyffi-config", "--pkgconfigdir")
    shown = user.run(*MESON, "setup", tmp_path, project("template_meson"), PKG_CONFIG_PATH=path)
    assert "Run-time dependency anyffi found: YES" in shown
    user.run(*MESON, "compile", "-C", tmp_path)
    assert registers(user, tmp_path, "template_meson.dot")


@needs_cmake
def test_plain_cmake(user: User, project: Callable[[str], pathlib.Path], tmp_path: pathlib.Path) -> None:
    found = f"-Danyffi_DIR={user.run('anyffi-config', '--cmakedir')}"
    user.run("cmake", "-S", project("template_scikit_build"), "-B", tmp_path, found)
    user.run("cmake", "--build", tmp_path)
    assert registers(user, tmp_path, "template_scikit_build.rotate")


def test_anyffi_config(user: User) -> None:
    folders = user.run("anyffi-config", "--includedir", "--libdir", "--cmakedir", "--pkgconfigdir").split()
    include, lib, cmake, pkgconfig = map(pathlib.Path, folders)
    assert (include, lib) == (user.packages / "anyffi" / "include", user.packages / "anyffi" / "lib")
    assert {path.name for path in cmake.iterdir()} == {"anyffi-config.cmake", "anyffi-config-version.cmake"}
    assert (pkgconfig / "anyffi.pc").exists()
    assert user.run("anyffi-config", "--libs", "--cflags") == f"-L{lib} -lanyffi -I{include}"


@needs_pkg_config
def test_pkg_config(user: User) -> None:
    path = user.run("anyffi-config", "--pkgconfigdir")
    include, lib, name = user.run("pkg-config", "--cflags", "--libs", "anyffi", PKG_CONFIG_PATH=path).split()
    assert os.path.samefile(include[2:], user.run("anyffi-config", "--includedir"))
    assert os.path.samefile(lib[2:], user.run("anyffi-config", "--libdir"))
    assert (include[:2], lib[:2], name) == ("-I", "-L", "-lanyffi")


def test_invalid_options() -> None:
    command = [sys.executable, "-m", "anyffi._config"]
    nothing = run(command)
    assert nothing.returncode == 2
    assert "no option given" in nothing.stderr
    editable = run([*command, "--cmakedir"])
    assert editable.returncode == 1
    assert "needs an ordinary installation" in editable.stderr
    assert run([*command, "--includedir"]).stdout.strip() == str(ROOT / "cpp" / "include")
