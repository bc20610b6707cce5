"""Record what each test receives from its backend, and compare the records of the two modes at the end.

A test can pass on two backends that differ if it checks only a part of each result. This records the results
of registered functions, `convert` and `to_python` (value and exact type), and all exceptions that `pytest.raises`
catches (class and message). It does not record what differs between runs: addresses, hashes, counts of live blocks,
other threads, and Hypothesis tests unless they are derandomized.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import re
import struct
import threading
import types
from collections.abc import Iterator
from typing import Any, Callable

import hypothesis
import pytest

MODES = ("cython", "ctypes")
#: Recorded outcomes per test that are kept as text; all of them go into its digest.
KEPT = 400
#: The maximum number of recorded outcomes per test.
TAKEN = 5_000
#: The maximum number of values that are written per outcome.
WIDTH = 40
#: Depth at which nested sets are only counted, since sets are written in full before they are cut.
SET_LEVELS = 2
#: Text that differs between processes: addresses and temporary directories.
_OWN = re.compile(r"""0x[0-9a-fA-F]{6,}|/\S*/pytest-of-[^\s'":]*""")
#: CPython's messages about the limit of the stack; 3.14 distinguishes the C stack from Python's recursion
#: limit.
_STACK_ENDED = re.compile(
    r"(?:maximum recursion depth exceeded|Stack overflow \(used \d+ kB\))(?: (?:while|in)\b[^'\"]*)?"
)
#: Functions whose results differ between runs.
_LEFT_OUT = {"testing.hash", "testing.live_blocks", "testing.total_blocks"}

_name_of = type.__dict__["__qualname__"].__get__


class Recorder:
    """Records the outcomes of the running test."""

    def __init__(self) -> None:
        self.outcomes: list[str] | None = None
        self._digest = hashlib.sha256()
        self._number = 0
        self._thread = threading.get_ident()

    def begin(self) -> None:
        self.outcomes, self._digest, self._number = [], hashlib.sha256(), 0

    def end(self) -> list[str]:
        """Return the recorded outcomes, followed by their digest."""
        outcomes, self.outcomes = self.outcomes or [], None
        return [*outcomes, self._digest.hexdigest()]

    @property
    def listens(self) -> bool:
        """Whether a test is running on this thread; the order of other threads is not fixed."""
        wanted = self.outcomes is not None and self._number < TAKEN
        return wanted and threading.get_ident() == self._thread

    def add(self, where: str, outcome: str) -> None:
        line = f"{where}: {_STACK_ENDED.sub('<stack ended>', _OWN.sub('<own>', outcome))}"
        # Names may contain lone surrogates, which cannot be sent to another process.
        data = line.encode("utf-8", "backslashreplace")
        self._digest.update(data)
        self._number += 1
        if self.outcomes is not None and len(self.outcomes) < KEPT:
            self.outcomes.append(data.decode())

    def record(self, where: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function and record its outcome."""
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            # A traceback would keep the arguments alive through this frame.
            del args, kwargs
            if self.listens:
                self.add(where, shown_error(error))
            raise
        if self.listens:
            self.add(where, shown(result))
        return result


# Wraps a registered function and records its outcomes. Passed to a backend, it converts to the function
# itself; without a docstring, because `__doc__` is the function's.
class RecordedFunction:
    def __init__(self, recorder: Recorder, name: str, function: Any) -> None:
        self._record, self._name, self._function = recorder.record, name, function

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._record(self._name, self._function, *args, **kwargs)

    def __anyffi_value__(self) -> Any:
        return self._function

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._function.__reduce_ex__(protocol)

    @property
    def __doc__(self) -> Any:
        return self._function.__doc__


class RecordedApi:
    """The public names of a backend, with functions that record their outcomes."""

    def __init__(self, api: Any, recorder: Recorder) -> None:
        self._api, self._recorder = api, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def __dir__(self) -> list[str]:
        return dir(self._api)

    def get_global_func(self, name: str, allow_missing: bool = False) -> Any:
        function = self._api.get_global_func(name, allow_missing)
        if self._recorder.outcomes is None or function is None or name in _LEFT_OUT:
            return function
        return RecordedFunction(self._recorder, name, function)

    def convert(self, x: Any) -> Any:
        return self._recorder.record("convert", self._api.convert, x)

    def to_python(self, x: Any) -> Any:
        return self._recorder.record("to_python", self._api.to_python, x)


# ---- how an outcome is written ---------------------------------------------------------------------------


def shown_error(error: BaseException) -> str:
    """Return class and message as text."""
    try:
        message = str(error)
    except BaseException as raised:  # user code
        message = f"<str() raises {_name_of(type(raised))}>"
    return f"{_name_of(type(error))}({_text(message)})"


def shown(x: Any, level: int = 0) -> str:
    """Return exact type and value as text; of opaque objects only the type."""
    return " ".join(itertools.islice(_parts(x, level), WIDTH))


def _parts(x: Any, level: int) -> Iterator[str]:
    cls = type(x)
    name: str = _name_of(cls)
    write = _WRITTEN.get(id(cls))
    if write is not None:
        yield f"{name} {write(x)}"
    elif issubclass(cls, BaseException):
        yield shown_error(x)
    elif cls is slice:
        yield from _bracketed(name, (x.start, x.stop, x.step), level)
    elif cls is set or cls is frozenset or _is_ours(cls, "Set", "FrozenSet"):
        # Iteration order depends on hashes.
        items = x if len(x) < WIDTH and level < SET_LEVELS else ()
        yield from (f"{name} {len(x)}(", *sorted(shown(item, level + 1) for item in items), ")")
    elif cls is tuple or cls is list or _is_ours(cls, "Array", "List", "Shape"):
        yield from _bracketed(f"{name} {len(x)}", x, level)
    elif cls is dict or cls is types.MappingProxyType or _is_ours(cls, "Map", "Dict"):
        yield from _bracketed(f"{name} {len(x)}", itertools.chain.from_iterable(x.items()), level)
    elif _is_ours(cls, "Tensor"):
        yield f"{name} {x.dtype} {x.shape} {x.strides}"
    elif _is_ours(cls, "dtype", "Device"):
        yield repr(x)
    else:
        yield name


def _is_ours(cls: type, *names: str) -> bool:
    """Return whether a class is exactly a public one; reading an instance of a subclass may run user code."""
    return _name_of(cls) in names and type(cls) is type and cls.__module__.startswith("anyffi")


def _bracketed(name: str, items: Any, level: int) -> Iterator[str]:
    yield name + "("
    for item in items:
        yield from _parts(item, level)
    yield ")"


_FRAMES_OF_BACKENDS = re.compile(r'  File "[^"]*/(pkg|anyffi)/_c[^"]*", line .*\n(    .*\n?)*')


def _text(x: Any) -> str:
    if type(x) is str and x.startswith('  File "'):
        # Each backend has its own frames; Cython's C code has none.
        return "<a traceback>" if _FRAMES_OF_BACKENDS.sub("", x) else repr("")
    if len(x) <= 200:
        return repr(x)
    return f"{x[:150]!r} to {x[-50:]!r}, {len(x)} in all"


def _bits(x: float) -> str:
    return struct.pack(">d", x).hex()


#: Functions that write values, by `id` of their class: hashing a class may run code of its metaclass.
_WRITTEN: dict[int, Callable[[Any], str]] = {
    **dict.fromkeys(map(id, (type(None), type(...), bool)), repr),
    id(int): lambda x: _text(format(x, "x")),
    id(float): _bits,
    id(complex): lambda x: f"{_bits(x.real)} {_bits(x.imag)}",
    id(str): _text,
    id(bytes): _text,
    id(ctypes.c_void_p): lambda x: "not NULL" if x.value else "NULL",
}


# ---- the run ---------------------------------------------------------------------------------------------


class Outcomes:
    """The plugin: records the outcomes of each test, and fails the run if the modes differ."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self._waiting: dict[str, list[str]] = {}
        self._compared = 0
        self._differences: list[str] = []
        self._raises = pytest.raises

    def pytest_sessionstart(self) -> None:
        pytest.raises = self._recording_raises

    def pytest_unconfigure(self) -> None:
        pytest.raises = self._raises

    def _recording_raises(self, *args: Any, **kwargs: Any) -> Any:
        met = self._raises(*args, **kwargs)
        return met if isinstance(met, pytest.ExceptionInfo) else _RecordedRaises(self.recorder, met)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        if not _is_recorded(item):
            return (yield)
        self.recorder.begin()
        try:
            return (yield)
        finally:
            item.user_properties.append(("outcomes", self.recorder.end()))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Compare; with xdist, the reports of all workers arrive here."""
        outcomes: Any = dict(report.user_properties).get("outcomes")
        if report.when != "call" or not report.passed or outcomes is None:
            return
        test = re.sub(r"(?<=[\[-])(?:cython|ctypes)(?=[]-])", "*", report.nodeid, count=1)
        others = self._waiting.pop(test, None)
        if others is None:
            self._waiting[test] = outcomes
            return
        self._compared += 1
        if outcomes != others:
            mine, theirs = (others, outcomes) if "[ctypes" in report.nodeid else (outcomes, others)
            self._differences.append(f"{test}\n{_first_difference(mine, theirs)}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._differences:
            terminalreporter.section("tests with different outcomes in the two modes")
            for difference in self._differences:
                terminalreporter.write_line(difference, red=True)
        terminalreporter.write_line(
            f"outcomes: {self._compared} tests compared, {len(self._differences)} differ"
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._differences and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


class _RecordedRaises:
    """The context of `pytest.raises`, which records the exception."""

    def __init__(self, recorder: Recorder, context: Any) -> None:
        self._recorder, self._context = recorder, context

    def __enter__(self) -> Any:
        return self._context.__enter__()

    def __exit__(self, cls: object, error: BaseException | None, traceback: object) -> Any:
        if error is not None and self._recorder.listens:
            self._recorder.add("pytest.raises", shown_error(error))
        return self._context.__exit__(cls, error, traceback)


def _is_recorded(item: pytest.Item) -> bool:
    if "ffi" not in getattr(item, "fixturenames", ()) or item.get_closest_marker("unrecorded"):
        return False
    if item.get_closest_marker("hypothesis") is None:
        return True
    # The seed depends on the test id, which contains the parameters and the mode.
    return hypothesis.settings().derandomize and item.get_closest_marker("parametrize") is None


def _first_difference(mine: list[str], theirs: list[str]) -> str:
    pairs = itertools.zip_longest(mine[:-1], theirs[:-1], fillvalue="nothing")
    for number, (one, other) in enumerate(pairs):
        if one != other:
            return f"  outcome {number}\n    {MODES[0]}: {one}\n    {MODES[1]}: {other}"
    return f"  an outcome behind the first {KEPT}"
