"""Exceptions of signal handlers, raised between any two bytecodes, leak nothing."""

from __future__ import annotations

import datetime
import dis
import functools
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import cases
import pytest
from anyffi import structure
from support import ROOT, collect, cpython_only, slow_except

pytestmark = pytest.mark.unrecorded(reason="interrupts come at different steps in each mode")

LONG = "a string that lies on the heap"


def _calling(name: str, *args: Any) -> Callable[[Any], Callable[[], Any]]:
    return lambda ffi: lambda f=ffi.get_global_func("testing." + name): f(*args)


def _on(make: Callable[[Any], Any], do: Callable[[Any], Any]) -> Callable[[Any], Callable[[], Any]]:
    return lambda ffi: lambda x=make(ffi): do(x)


def _fail(*args: Any) -> None:
    raise LookupError(LONG)


def _expecting(cls: type, work: Callable[[], Any]) -> None:
    try:
        work()
    except cls:
        pass


#: Factories of calls over a backend, by name.
WORK: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "list": _calling("echo", [1, 2]),
    "nested": _calling("echo", [LONG, (1, [2**70]), {LONG: 1j}, slice([1]), frozenset([3])]),
    "shared": lambda ffi: lambda x=[LONG]: ffi.get_global_func("testing.echo")([x, x, (x,)]),
    "arguments": _calling("nop", [1], LONG, (2,), {3: 4}),
    "opaque": _calling("echo", [cases.Indexable, LookupError(LONG)]),
    "wrapper": _on(lambda ffi: ffi.List([1]), lambda x: [x[0], list(x), x + [2]]),
    "items": _on(lambda ffi: ffi.List([LONG, [2]]), lambda x: (x[0], x[1], *x)),
    "set item": _on(lambda ffi: ffi.List([1]), lambda x: x.__setitem__(0, [LONG])),
    "lookup": _on(lambda ffi: ffi.Dict({LONG: [1], (1, 2): 3}), lambda d: (d[LONG], d[1, 2], *d.items())),
    "dict set": _on(lambda ffi: ffi.Dict(), lambda d: d.__setitem__((1, LONG), [1])),
    "membership": _on(lambda ffi: ffi.Set([(1, LONG)]), lambda s: ((1, LONG) in s, [1] in [*s])),
    "paths": _calling("as.paths", [LONG, "b"]),
    "times": _calling("as.time", datetime.datetime(2020, 1, 1)),
    "text of Python's": _calling("describe", [len, {"k": cases.Getattr}]),
    "walks": lambda ffi: (
        lambda: (
            structure.map([1, (LONG, 2)], {int: lambda number: number + 1}),
            structure.diff([1, LONG], [2, LONG, 3]),
            ffi.from_json(ffi.to_json([LONG, {LONG: 2**70}])),
        )
    ),
    "new wrapper": lambda ffi: lambda: ffi.convert([LONG]),
    "callback": _calling("apply", lambda *args: [LONG, *args], 1, [2]),
    "failing callback": lambda ffi: (
        lambda: _expecting(LookupError, lambda: ffi.get_global_func("testing.apply")(_fail, [1]))
    ),
    "error": lambda ffi: (
        lambda: _expecting(ValueError, lambda: ffi.get_global_func("testing.raise_error")("ValueError", LONG))
    ),
    "refused": lambda ffi: (
        lambda: _expecting(ZeroDivisionError, lambda: ffi.get_global_func("testing.echo")([cases.REFUSED]))
    ),
    "function": lambda ffi: lambda: ffi.get_global_func("testing.nop"),
}


@pytest.fixture
def live(ffi: Any) -> Callable[[], int]:
    """Count blocks, after another failure has replaced the error of an interrupted call."""
    blocks, fail = map(ffi.get_global_func, ("testing.live_blocks", "testing.raise_error"))

    def count() -> int:
        _expecting(ValueError, lambda: fail("ValueError", ""))
        return int(blocks())

    return count


@functools.cache
def _stops(code: CodeType) -> frozenset[int]:
    """Return the offsets before which CPython checks for signals: after calls, and at function entry.

    Backward jumps are omitted, since loops contain calls. At other offsets CPython itself may lose the handled
    exception when a trace function raises.
    """
    looks = [False, *(i.opname.startswith(("CALL", "RESUME")) for i in dis.get_instructions(code))]
    return frozenset(i.offset for i, after in zip(dis.get_instructions(code), looks) if after)


def interrupted(work: Callable[[], Any], step: int) -> bool:
    """Run `work` with KeyboardInterrupt at its checkpoint number `step`; return False if it has fewer."""
    left = step

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lasti in _stops(frame.f_code):
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return left < 0


@cpython_only("opcodes are CPython's")
@pytest.mark.parametrize("name", slow_except(["list", "items", "callback"], WORK, "interrupts"))
def test_an_interrupt_at_any_step_leaks_nothing(
    ffi: Any, live: Callable[[], int], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # ctypes only reports an interrupt before the first line of a hook; pytest would keep its traceback's frames.
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    work = WORK[name](ffi)
    for _ in range(2):
        work()
    before = live()
    step = 0
    while interrupted(work, step):
        if live() != before:
            # An exception may lie in a cycle with its own traceback.
            collect()
            assert live() == before, f"lost by an interrupt at place {step}"
        step += 1
    work()
    assert live() == before


@pytest.fixture
def fired(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Append to a list at every signal of the timer, whose handler then raises KeyboardInterrupt."""
    # In code that the collector runs, the interrupt is only reported; pytest would keep its traceback's frames.
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    signals: list[int] = []

    def handler(signum: int, frame: FrameType | None) -> None:
        signals.append(signum)
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, handler)
    yield signals
    signal.signal(signal.SIGALRM, former)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
@pytest.mark.parametrize("name", slow_except(["list"], ["list", "nested", "callback", "items"], "interrupts"))
def test_signals_leak_nothing(ffi: Any, live: Callable[[], int], fired: list[int], name: str) -> None:
    work = WORK[name](ffi)
    work()
    collect()
    before = live()

    def wait(count: int) -> None:
        signal.setitimer(signal.ITIMER_REAL, 1e-4 + (count % 17) * 1.3e-5)
        # Other code that the collector runs may swallow the interrupt, but the signal is counted.
        while len(fired) == count:
            work()
            # A signal received by another thread is handled when this one takes the interpreter lock.
            time.sleep(0)

    for count in range(300):
        # The loop is outside the `try`: Python 3.13.0 omits its end from the exception table.
        try:
            wait(count)
        except KeyboardInterrupt:
            pass
    collect()
    assert live() == before


def _functions(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _functions(constant)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="handlers have different instructions before 3.12")
@cpython_only("reads the exception table of a function")
@pytest.mark.parametrize("name", ["call.py", "callback.py", "objects.py", "unpack.py", "wrapper.py"])
def test_no_handler_is_left_by_an_uncovered_jump(name: str) -> None:
    """CPython 3.14 has jumps in handlers that no entry of a function's exception table covers."""
    path = ROOT / "pkg" / "_ctypes" / name
    found = []
    for code in _functions(compile(path.read_text(), path, "exec")):
        rows = dis.Bytecode(code).exception_entries
        last = ""
        for step in dis.get_instructions(code):
            if step.opname in ("PUSH_EXC_INFO", "POP_EXCEPT", "RERAISE"):
                last = step.opname
            is_left = not any(row.start <= step.offset < row.end for row in rows)
            if last == "PUSH_EXC_INFO" and step.opname == "JUMP_BACKWARD" and is_left:
                found.append(code.co_name)
    assert found == []
