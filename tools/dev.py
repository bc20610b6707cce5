#!/usr/bin/env python3
"""Set up a private environment inside the checkout and run a session of noxfile.py in it.

    python3 tools/dev.py SESSION [ARGUMENTS]        demo, test, lint, asan, tsan, fuzz, pypy, bench, ...
    python3 tools/dev.py interpreters [VERSIONS] [ARGUMENTS]    test on other interpreters: 3.9 3.14t ...

Needs CPython 3.9 or later, a C++ compiler and a package index. Everything is kept below `.dev/`. The
environment is set up again when a file that describes the build has changed; ninja rebuilds changed sources.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NoReturn

import interpreters

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"
# Packages without wheels for builds without the GIL are skipped; hypothesis has some of earlier releases.
TEST_PACKAGES = (
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "numpy",
    "cffi",
    "ml_dtypes",
    "mypy",
    "scikit-build-core",
)
# Libraries that the benchmark compares with, and Matplotlib for its plots.
PEERS = ("numpy", "matplotlib", "nanobind", "pybind11", "cffi", "apache-tvm-ffi", "torch")


@dataclasses.dataclass(frozen=True)
class Environment:
    """A virtual environment, and with the group `build` an editable install with its own build directory.

    The `optional` packages are skipped if they cannot be installed; of `unpinned` ones the newest release
    with a wheel is installed.
    """

    name: str
    python: str = sys.executable
    meson_options: tuple[str, ...] = ("development=true",)
    groups: tuple[str, ...] = ("build", "test", "session")
    optional: tuple[str, ...] = ()
    unpinned: tuple[str, ...] = ()

    @property
    def home(self) -> pathlib.Path:
        return ROOT / ".dev" / self.name

    @property
    def bin(self) -> pathlib.Path:
        return self.home / "env" / BIN

    @property
    def build(self) -> pathlib.Path:
        return self.home / "build"

    def variables(self) -> dict[str, str]:
        """Return the environment variables for a command inside this environment."""
        inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH")}
        path = os.pathsep.join([str(self.bin), os.environ.get("PATH", os.defpath)])
        own = {"PATH": path, "VIRTUAL_ENV": str(self.home / "env"), "ANYFFI_BUILD_DIR": str(self.build)}
        return {**inherited, **own}

    def run(self, *command: str) -> int:
        """Run a module of this environment's Python."""
        words = [str(self.bin / "python"), "-m", *command]
        return subprocess.run(words, cwd=ROOT, env=self.variables(), check=False).returncode

    def stamp(self) -> str:
        folders = [ROOT / name for name in ("cpp", "docs", "pkg", "tests")]
        described_by = [
            ROOT / "meson.build",
            *(path for folder in folders for path in folder.rglob("meson.build")),
            ROOT / "meson.options",
            ROOT / "pyproject.toml",
            ROOT / "tools" / "constraints.txt",
            pathlib.Path(__file__),
        ]
        digest = hashlib.sha256(repr((self, ROOT)).encode())
        for path in sorted(described_by):
            digest.update(str(path).encode() + path.read_bytes())
        return digest.hexdigest()

    def create(self) -> None:
        """Create the virtual environment, even if pip is installed but Debian's python3-venv is not."""
        shutil.rmtree(self.home / "env", ignore_errors=True)
        bundled_pip = self.python != sys.executable or importlib.util.find_spec("ensurepip") is not None
        venv = [
            self.python,
            "-m",
            "venv",
            *([] if bundled_pip else ["--without-pip"]),
            str(self.home / "env"),
        ]
        made = subprocess.run(venv, check=False).returncode == 0
        if made and not bundled_pip:
            pip = [
                self.python,
                "-m",
                "pip",
                "--python",
                str(self.bin / "python"),
                "install",
                "--quiet",
                "pip",
            ]
            made = subprocess.run(pip, check=False).returncode == 0
        if not made:
            shutil.rmtree(self.home / "env", ignore_errors=True)
            fail(
                f"{self.python} cannot create a virtual environment. On Debian and Ubuntu, install:\n"
                "    apt-get install python3-venv        (pypy3-venv for PyPy)"
            )

    def write_constraints(self) -> pathlib.Path:
        lines = (ROOT / "tools" / "constraints.txt").read_text().splitlines()
        kept = [line for line in lines if line.partition("==")[0] not in self.unpinned]
        path = self.home / "constraints.txt"
        path.write_text("\n".join(kept) + "\n")
        return path

    def set_up(self) -> None:
        stamp_file = self.home / "stamp"
        stamp = self.stamp()
        if stamp_file.is_file() and stamp_file.read_text() == stamp and (self.bin / "python").exists():
            return
        print(f"Setting up {self.home.relative_to(ROOT)} (once; a minute or two):", flush=True)
        stamp_file.unlink(missing_ok=True)
        if not (self.bin / "python").exists():
            with timed("create a virtual environment"):
                self.create()
        pip = ["pip", "install", "--quiet", "--disable-pip-version-check"]
        constraints = ["--constraint", str(self.write_constraints())]
        groups = [f"--group={group}" for group in self.groups]
        steps = {
            "install pip": [*pip, *constraints, "pip"],
            f"install the packages to {', '.join(self.groups)}": [
                *pip,
                *constraints,
                "--prefer-binary",
                *groups,
            ],
        }
        if "build" in self.groups:
            options = [f"-Csetup-args=-D{option}" for option in self.meson_options]
            options += ["--no-build-isolation", "--no-deps", f"-Cbuild-dir={self.build}"]
            steps["compile anyffi"] = [*pip, *options, "--editable", "."]
        for title, step in steps.items():
            with timed(title):
                if self.run(*step) != 0:
                    fail("Set-up failed; the cause is above.")
        for package in self.optional:
            with timed(f"install {package}"):
                if self.run(*pip, *constraints, "--only-binary=:all:", package) != 0:
                    print("skipped, since it could not be installed;", end=" ", flush=True)
        stamp_file.write_text(stamp)


@contextlib.contextmanager
def timed(title: str) -> Iterator[None]:
    """Print what is being done, and how long it took."""
    print(f"  {title} ...", end=" ", flush=True)
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:.0f} s", flush=True)


def fail(message: str) -> NoReturn:
    sys.exit(f"tools/dev.py: {message}")


def environment_of(session: str) -> Environment:
    version = "py{}{}".format(*sys.version_info)
    if session == "asan":
        # Reports need line numbers, not variables. Optimizing what the sanitizers insert takes as long as the
        # rest of the compilation, and saves nothing in the tests.
        options = (
            "development=true b_sanitize=address,undefined b_lundef=false optimization=0 debug=true "
            "c_args=-g1 cpp_args=-g1 planted_faults=true"
        )
        return Environment(f"{version}-asan", meson_options=tuple(options.split()))
    if session == "pypy":
        pypy = shutil.which("pypy3")
        if pypy is None:
            fail("there is no pypy3 on PATH. On Debian and Ubuntu:\n    apt-get install pypy3 pypy3-venv")
        return Environment("pypy", python=pypy, meson_options=("development=true", "cython=disabled"))
    if session == "lint":
        return Environment(f"{version}-lint", groups=("lint", "test", "session"))
    if session == "fuzz python":
        # The environment for the fuzzer of the Python API; tools/fuzz.py compiles the package itself.
        return Environment(f"{version}-fuzz", groups=("test",), optional=("atheris",))
    if session == "bench":
        groups = ("build", "session")
        return Environment(f"{version}-bench", meson_options=(), groups=groups, optional=PEERS)
    return Environment(version)


def environment_with(version: str, python: str) -> Environment:
    name = f"py{version.replace('.', '')}"
    if not version.endswith("t"):
        return Environment(name, python)
    groups = ("build", "session")
    return Environment(name, python, groups=groups, optional=TEST_PACKAGES, unpinned=("hypothesis",))


def test_interpreters(words: list[str]) -> int:
    """Run the session `test` with each of these versions, or with all that are supported.

    Versions are such as `3.9` and `3.14t`; other arguments are those of pytest. `newest` is the newest
    version available without compiling it. With `--available` a version that is not available is no failure.
    """
    if {"-h", "--help"} & {*words}:
        print(f"{__doc__}\nSession interpreters: {test_interpreters.__doc__}")
        return 0
    words, is_strict = [word for word in words if word != "--available"], "--available" not in words
    versions, rest = interpreters.split_versions(words)
    outcomes = []
    for version in versions or interpreters.SUPPORTED:
        try:
            version = interpreters.find_newest() if version == "newest" else version
            print(f"==== CPython {version}", flush=True)
            python = interpreters.find_or_make(version)
        except interpreters.Unavailable as error:
            outcomes.append((version, f"not tested: {error}"))
            continue
        own = pathlib.Path(python) == pathlib.Path(sys.executable)
        environment = environment_of("test") if own else environment_with(version, python)
        try:
            environment.set_up()
        except SystemExit as error:
            outcomes.append((version, f"failed: {error}"))
            continue
        failed = environment.run("nox", "--session", "test", *(["--", *rest] if rest else []))
        outcomes.append((version, "failed" if failed else "passed"))
    print(*(f"==== CPython {version}: {outcome}" for version, outcome in outcomes), sep="\n")
    accepted = ("passed",) if is_strict else ("passed", "not tested")
    return int(not all(outcome.startswith(accepted) for _, outcome in outcomes))


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 9) or sys.implementation.name != "cpython":
        fail("run me with CPython 3.9 or later")
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    session, *rest = arguments
    if session == "interpreters":
        return test_interpreters(rest)
    environment = environment_of(session)
    environment.set_up()
    return environment.run("nox", "--session", session, *(["--", *rest] if rest else []))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
