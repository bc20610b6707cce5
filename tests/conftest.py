"""Fixtures and hooks: the backends that a test runs on, the leak check, and the last lines of a run."""

from __future__ import annotations

import collections
import compileall
import fcntl
import gc
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hosts import host_of
from hypothesis.internal.conjecture import providers
from outcomes import MODES, Outcomes, RecordedApi
from support import CC, COLLECTIONS, CPYTHON, CPYTHON_313T, CXX, ROOT, SANITIZED, Build, build_directory, run

#: Python before 3.10 cannot parse a `match` statement.
collect_ignore = ["containers/test_matching.py"] if sys.version_info < (3, 10) else []

_dev = hypothesis.settings(
    deadline=None,
    # PyPy's JIT finds little repetition in drawing; sanitizers slow down everything.
    max_examples=100 if CPYTHON and not SANITIZED else 30,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("dev", _dev)
hypothesis.settings.register_profile("ci", _dev, derandomize=True, database=None, print_blob=True)
hypothesis.settings.register_profile("fuzz", _dev, max_examples=20_000)
hypothesis.settings.register_profile("quick", _dev, max_examples=10)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")
    # Hypothesis also draws constants from the project's loaded modules, which cannot be disabled. The
    # examples of this profile must be the same in each run and in both modes.
    providers._get_local_constants = lambda: providers._local_constants
else:
    hypothesis.settings.load_profile("dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--modes",
        default=",".join(MODES),
        help="the backends to test, separated by commas, or `check`, which stands alone; a missing one fails "
        "the run (default: %(default)s)",
    )


def modes_of(config: pytest.Config) -> list[str]:
    return config.getoption("--modes").split(",")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Open every requested backend: a missing one fails the run and is never skipped."""
    modes = modes_of(session.config)
    unknown = set(modes) - {*MODES, "check"}
    if unknown:
        raise pytest.UsageError(f"--modes: {', '.join(sorted(unknown))} is none of {', '.join(MODES)}, check")
    os.environ.setdefault("FFI_MODE", modes[0])
    for mode in modes:
        try:
            import anyffi.testing
            from anyffi._backend import open_backend

            open_backend(mode)
        except ImportError as error:
            raise pytest.UsageError(f"the {mode} backend cannot be tested: {error}") from error
    session.config.stash[_live_blocks] = anyffi.testing.live_blocks
    # Types are never freed, so they are registered before the first count.
    anyffi.testing.new_counted_child(0)
    anyffi.get_global_func("testing.authoring.register_types")()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        # Programs of the tests import an editable installation, which reads bytecode but does not store it.
        # Compiling the modules takes most of the time of such an import.
        compileall.compile_dir(ROOT / "pkg", quiet=1)
    if set(modes_of(config)) == set(MODES):
        config.pluginmanager.register(Outcomes(), "outcomes")


# ---- backends --------------------------------------------------------------------------------------------


#: Names that the body of a Hypothesis test calls.
_DRAWS_BY = {"given", "run_machine"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "ffi" in metafunc.fixturenames:
        metafunc.parametrize("ffi", modes_of(metafunc.config), indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)  # before items are selected by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the Hypothesis tests, for `-m hypothesis`.

    Tests that compare the backends are deselected if only one was requested.
    """
    for item in items:
        body = getattr(getattr(item, "function", None), "__code__", None)
        if body is not None and _DRAWS_BY.intersection(body.co_names):
            item.add_marker("hypothesis")
    if len(modes_of(config)) < len(MODES):
        compares = [item for item in items if "both" in getattr(item, "fixturenames", ())]
        items[:] = [item for item in items if item not in compares]
        config.hook.pytest_deselected(items=compares)


@pytest.fixture(scope="session")
def ffi(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Public classes and functions of one backend, whose hooks the runtime calls; the test runs once per backend."""
    from anyffi._backend import open_backend

    api = open_backend(request.param)
    outcomes = request.config.pluginmanager.get_plugin("outcomes")
    with host_of(api):
        yield api if outcomes is None else RecordedApi(api, outcomes.recorder)


@pytest.fixture(scope="session")
def both() -> tuple[Any, Any]:
    """Both backends, Cython first, for tests that compare them."""
    from anyffi._backend import open_backend

    return open_backend("cython"), open_backend("ctypes")


@pytest.fixture(scope="session")
def npx(ffi: Any) -> Iterator[Any]:
    """The example npx, loaded over a backend."""
    import example_programs

    with example_programs.loaded(ffi, "npx") as programs:
        yield programs["npx"].npx


@pytest.fixture(scope="session")
def pure(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A regular (not editable) installation built with `cython=disabled`."""
    target = tmp_path_factory.mktemp("pure")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"]
    options = ["-Csetup-args=-Dcython=disabled", f"-Cbuild-dir={build_directory().parent / 'build-pure'}"]
    # The build directory is kept between runs and shared by all workers of a run.
    with (build_directory().parent / "build-pure.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run([*pip, *options, "--target", target, ROOT], LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a function that compiles a library, once per source."""
    import anyffi

    folder = tmp_path_factory.mktemp("modules")

    def compile_(
        name: str, source: str, include: str | pathlib.Path = anyffi.find_include_dir()
    ) -> pathlib.Path:
        path = folder / name
        library = folder / f"lib{path.stem}.so"
        if not library.exists():
            path.write_text(source)
            runtime = pathlib.Path(anyffi.find_library("anyffi"))
            compiler = [CC, "-std=c11"] if path.suffix == ".c" else [CXX, "-std=c++17"]
            done = run(
                [*compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", include, path, "-o", library,
                 "-L", runtime.parent, "-lanyffi"],
                LD_PRELOAD=None,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
        return library

    return compile_


# ---- the quick tier --------------------------------------------------------------------------------------

#: How many tests marked `slow` were deselected, by reason.
_left_out = pytest.StashKey["collections.Counter[str]"]()


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        marker = item.get_closest_marker("slow")
        if marker is not None and "slow" in item.config.option.markexpr:
            counts = item.config.stash.setdefault(_left_out, collections.Counter())
            counts[marker.args[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    workeroutput = getattr(session.config, "workeroutput", None)
    if workeroutput is not None:
        workeroutput["left_out"] = dict(session.config.stash.get(_left_out, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of an xdist worker: each worker collects the same tests, and the controller none."""
    node.config.stash[_left_out] = collections.Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


# ---- what a test leaves behind ---------------------------------------------------------------------------

_live_blocks = pytest.StashKey[Any]()
#: The count after the last test. Reusing it saves a collection, which takes most of the time of most tests.
_blocks_before: pytest.StashKey[int | None] = pytest.StashKey()
_module = pytest.StashKey[object]()
_passed = pytest.StashKey[bool]()


@hypothesis.given(hypothesis.strategies.none())
def _draw(nothing: None) -> None:
    """Draw once, so that Hypothesis finds the random states that it seeds."""


def pytest_collection_finish() -> None:
    """Hide the objects of the test collection from the garbage collector, which runs twice for each test."""
    # Hypothesis asks the garbage collector for references to NumPy's random state.
    _draw()
    gc.collect()
    if hasattr(gc, "freeze"):
        gc.freeze()


def settled(count: Any, expected: int | None = None) -> int:
    """Collect until the count is the expected one or stays the same, and return it.

    A count is negative if blocks from before the first count are released.
    """
    unchanged, current = 0, count()
    while current != expected and unchanged < COLLECTIONS:
        gc.collect()
        previous, current = current, count()
        unchanged = unchanged + 1 if current == previous else 0
    return current


@pytest.fixture(autouse=True)
def _live_objects(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that does not release all runtime memory, handles included.

    CPython only: PyPy finalizes objects later. Free-threaded 3.13 never frees functions, nor the objects to
    which they refer.
    """
    if not CPYTHON or CPYTHON_313T:
        yield
        return
    stash = request.config.stash
    live_blocks = stash[_live_blocks]
    # Objects left by fixtures of the previous module do not count.
    same = stash.get(_module, None) is request.module
    stash[_module] = request.module
    if request.node.get_closest_marker("unfreezes"):
        gc.unfreeze()
        same = False
    before = settled(live_blocks, stash.get(_blocks_before, None) if same else None)
    if not same:
        # Objects left by earlier modules would make each collection slower than the last.
        gc.freeze()
    yield
    stash[_blocks_before] = None
    # The traceback of a failed test keeps its objects alive for a while.
    if not request.node.stash.get(_passed, False) or request.node.get_closest_marker("keeps_live"):
        return
    after = stash[_blocks_before] = settled(live_blocks, before)
    if after > before or (after < before and not request.session.testsfailed):
        pytest.fail(f"blocks of runtime memory: {before} before the test, {after} after it", pytrace=False)


# ---- the closing line ------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.when == "call":
        item.stash[_passed] = report.passed
        report.user_properties.append(("modes", _modes_of_item(item)))
    return report  # type: ignore[return-value]


def _modes_of_item(item: pytest.Item) -> list[str]:
    if "both" in getattr(item, "fixturenames", ()):
        return list(MODES)
    callspec = getattr(item, "callspec", None)
    mode = callspec.params.get("ffi") if callspec else None
    return [mode] if mode else ["no mode"]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    counts: dict[str, int] = collections.Counter(
        mode
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, modes in report.user_properties
        if name == "modes"
        for mode in modes
    )
    ran = ", ".join(f"{mode} {counts[mode]} tests" for mode in modes_of(config))
    terminalreporter.write_line(f"modes: {ran}; {counts['no mode']} tests of no mode")
    faults = sum(
        value
        for report in terminalreporter.stats.get("passed", [])
        for name, value in report.user_properties
        if name == "faults"
    )
    if faults:
        terminalreporter.write_line(f"faults: {faults} allocations failed, one at a time")
    left_out = config.stash.get(_left_out, collections.Counter())
    if left_out:
        reasons = ", ".join(f"{reason} {count}" for reason, count in left_out.most_common())
        terminalreporter.write_line(f"quick tier: {sum(left_out.values())} slow tests left out ({reasons})")
