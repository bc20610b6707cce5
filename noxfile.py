"""The sessions that developers run; `tools/dev.py` sets up the environment and starts them.

All sessions use the environment that they are started in, so that a second run starts at once.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import nox

nox.needs_version = ">=2026.4.10"
nox.options.default_venv_backend = "none"
nox.options.sessions = ["test"]

# The tests of a file share expensive fixtures, so they stay on one worker. In pytest-xdist's own order, by
# the number of tests, slow files that compile come last, so that one worker is still busy when the others are
# done.
IN_PARALLEL = ("-n", "auto", "--dist=loadfile", "--no-loadscope-reorder")
#: The quick tier: about three minutes on two cores.
QUICK = ("-m", "not slow", "--hypothesis-profile=quick", *IN_PARALLEL)

ROOT = pathlib.Path(__file__).resolve().parent


def build_directory() -> pathlib.Path:
    return pathlib.Path(os.environ["ANYFFI_BUILD_DIR"])


def build(session: nox.Session) -> None:
    """Rebuild what has changed. Importing the package would do so, too, but show errors less clearly."""
    session.run("ninja", "-C", str(build_directory()), "--quiet")


@nox.session
def test(session: nox.Session) -> None:
    """Run all tests, in both modes; `--quick` for the inner loop.

    Other arguments are passed to pytest; the C++ tests are skipped then.
    """
    build(session)
    if not session.posargs:
        run_cpp_tests(session)
    run_tests(session)
    if "--quick" in session.posargs:
        session.log("Left out: the tests marked slow, as counted above, most examples, the C++ tests.")


def run_tests(session: nox.Session, *arguments: str) -> None:
    """Run pytest with some arguments, and those of the session, where `--quick` means the quick tier."""
    given = [word for word in session.posargs if word != "--quick"]
    if "--quick" in session.posargs:
        given[:0] = QUICK
    session.run("python", "-m", "pytest", *arguments, *(given or IN_PARALLEL))


def run_cpp_tests(session: nox.Session) -> None:
    tests = json.loads((build_directory() / "meson-info" / "intro-tests.json").read_text())
    if tests:
        session.run("ninja", "-C", str(build_directory()), "--quiet", "tests/cpp/anyffi_tests")
        session.run(str(build_directory() / "tests" / "cpp" / "anyffi_tests"), "--gtest_brief=1")
    else:
        session.warn("C++ tests are skipped: GoogleTest is not installed (`apt-get install libgtest-dev`).")


@nox.session
def pypy(session: nox.Session) -> None:
    """Run the Python tests on PyPy, in ctypes mode; `--quick` for the quick tier."""
    build(session)
    run_tests(session, "--modes=ctypes")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Run the fuzzers of C++ and of the Python API, random programs, and the property tests; see `--help`."""
    build(session)
    session.run("python", str(ROOT / "tools" / "fuzz.py"), *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Let each allocation of many operations fail in turn; the last line tells how many failed."""
    build(session)
    tests = [f"tests/lifetime/{name}.py" for name in ("test_memory", "test_memory_faults")]
    session.run("python", "-m", "pytest", *tests, *(session.posargs or IN_PARALLEL))


@nox.session
def stress(session: nox.Session) -> None:
    """Stress-test processes by forks, exits, imports, signals and threads; see `--help`."""
    build(session)
    session.run("python", str(ROOT / "tools" / "stress.py"), *session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Run the demo programs in both modes, side by side."""
    build(session)
    session.run("python", str(ROOT / "tools" / "demo.py"), *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmark, which compares with other libraries; `--help` lists the options."""
    build(session)
    session.run("python", "-m", "bench", *session.posargs, env={"PYTHONPATH": str(ROOT / "tools")})


@nox.session
def instructions(session: nox.Session) -> None:
    """Compare instruction counts of calls with the recorded ones; `--update` records new ones."""
    build(session)
    session.run(
        "python", "-m", "bench.instructions", *session.posargs, env={"PYTHONPATH": str(ROOT / "tools")}
    )


@nox.session
def asan(session: nox.Session) -> None:
    """Run the Python tests under AddressSanitizer and UndefinedBehaviorSanitizer; both are tested first.

    `--quick` for the quick tier.
    """
    build(session)
    session.env.update(sanitizer_variables())
    # These build packages without the sanitizers.
    left_out = [f"--ignore=tests/tooling/test_{name}.py" for name in ("build", "downstream")]
    session.run("python", str(ROOT / "tools" / "prove_sanitizer.py"))
    # A sanitizer writes to the file descriptor and ends the process: what pytest captured would be lost.
    run_tests(session, "--capture=sys", *left_out)


def sanitizer_variables() -> dict[str, str]:
    """Preload both libraries: with libasan alone, the first C++ throw aborts."""

    def library(name: str) -> str:
        compiler = os.environ.get("CXX", "g++")
        return subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()

    return {
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        "PYTHONMALLOC": "malloc",
        # Python itself leaks some memory at exit; the tests count live objects instead. They also try to
        # allocate more memory than there is.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }


@nox.session
def tsan(session: nox.Session) -> None:
    """Run the C++ tests under ThreadSanitizer, in a separate build; arguments are passed to GoogleTest."""
    session.run("python", str(ROOT / "tools" / "tsan.py"), *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and types of everything; `--fix` formats, and applies automatic fixes."""
    fix = "--fix" in session.posargs
    session.run("ruff", "check", *(["--fix"] if fix else []), ".")
    session.run("ruff", "format", *([] if fix else ["--check"]), ".")
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    cpp = [name for name in tracked if name.endswith((".h", ".cc", ".c"))]
    session.run("clang-format", *(["-i"] if fix else ["--dry-run", "--Werror"]), *cpp)
    session.run("cython-lint", *[name for name in tracked if name.endswith((".pyx", ".pxd", ".pxi"))])
    run_mypy(session)


def run_mypy(session: nox.Session) -> None:
    """Check the package under its installed name."""
    path = ROOT / ".dev" / "mypy_path"
    path.mkdir(parents=True, exist_ok=True)
    package = path / "anyffi"
    if not package.is_symlink():
        package.symlink_to(ROOT / "pkg", target_is_directory=True)
    session.run("mypy", "-p", "anyffi", env={"MYPYPATH": str(path)})
    programs = [f"tests/tooling/typing_of_{name}.py" for name in ("users", "dataclasses")]
    session.run("mypy", "noxfile.py", "tools", *programs, env={"MYPYPATH": str(path)})
