"""Run recorded calls again, in another mode, and say what differs."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

from .._rules.internal import FREE_THREADED
from .records import read_modes, read_notes

__all__ = ["MODES", "debug_call", "list_calls", "replay"]

#: What `--mode` may be.
MODES = ("ctypes", "cython", "check")
_ALL = 2**62
#: How many seconds Python may take to start, and to load libraries.
_START = 60

_PROGRAM = (
    "import sys; from anyffi._tracing.replayed import {0} as run; run(sys.argv[1], *map(int, sys.argv[2:]))"
)


def _environment(mode: str) -> dict[str, str]:
    environment = {**os.environ, "FFI_MODE": mode}
    if mode == "check" and FREE_THREADED:
        environment["PYTHON_GIL"] = "1"  # which check mode needs
    for name in ("FFI_RECORD", "FFI_TRACE", "FFI_LEAK_CHECK", "FFI_STEP"):
        environment.pop(name, None)
    return environment


class _Process:
    """A process that runs, or lists, at most so many calls after a number.

    `timeout`: how many seconds a call may take, without the time that Python needs to start.
    """

    def __init__(
        self, folder: str, mode: str, begin: int, most: int, timeout: float, is_listed: bool = False
    ) -> None:
        self._mode = mode
        self._timeout = timeout
        self._arguments = [_PROGRAM.format("main"), folder, str(begin), str(most), str(int(is_listed))]

    def events(self) -> Iterator[dict[str, Any]]:
        """Return what the process writes; after a call that does not return `{"died": how}`."""
        child = subprocess.Popen(
            [sys.executable, "-c", *self._arguments], env=_environment(self._mode), stdout=subprocess.PIPE
        )
        last = self._last = {}
        status = None
        try:
            assert child.stdout is not None
            for line in self._lines(child.stdout.fileno()):
                last = self._last = json.loads(line)
                yield last
            if not self._is_late:
                status = child.wait()
        finally:
            # Also after an interrupt: the process may be in a call that does not return.
            child.kill()
            child.wait()
            child.stdout.close()  # type: ignore[union-attr]
        if not last.keys().isdisjoint(("begun", "changed", "loaded")):
            how = f"status {status}" if status is None or status >= 0 else f"signal {-status}"
            late = f"it had not returned after {self._timeout:g} seconds"
            yield {"died": late if self._is_late else f"it ended the process with {how}"}
        elif "end" not in last and (status != 0 or not last):
            # Python itself, or the package, did not start.
            raise ValueError(f"the process in {self._mode} mode ended with status {status}")

    def _lines(self, place: int) -> Iterator[bytes]:
        self._is_late = False
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(place, selectors.EVENT_READ)
            while True:
                is_in_call = "begun" in self._last or "loaded" in self._last
                timeout = self._timeout if is_in_call else max(self._timeout, _START)
                self._is_late = not selector.select(timeout)
                data = b"" if self._is_late else os.read(place, 65536)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                yield from lines


def _run(
    folder: str,
    mode: str,
    timeout: float,
    is_alone: bool = False,
    begin: int = 0,
    end: int = _ALL,
    is_listed: bool = False,
) -> Iterator[dict[str, Any]]:
    """Run the calls after a number, up to another one, or list them.

    Returns what is known of each, and of files.
    """
    is_over = is_loaded = False
    while begin < end and not is_over:
        begun: dict[str, Any] = {}
        former = begin
        most = 1 if is_alone else end - begin
        for event in _Process(folder, mode, begin, most, timeout, is_listed).events():
            if "begun" in event:
                begun = event
                begin = event["begun"]
                is_loaded = False
            elif "loaded" in event:
                is_loaded = True
                begun = {**begun, "arguments": event["arguments"]}
            elif "died" in event and not is_loaded:
                # The process ended before the function was called.
                yield {**begun, "failed": f"when it was loaded, {event['died']}"}
            elif "done" in event or "died" in event:
                yield {**begun, **event}
            else:
                is_over = is_over or "end" in event
                yield event
        # A call with a process of its own may be the last.
        is_over = is_over or begin == former


def replay(
    folder: str, mode: str | None, is_alone: bool = False, timeout: float = 60, call: int | None = None
) -> int:
    """Run the calls recorded in a directory in one mode, and print each difference.

    Parameters
    ----------
    folder : str
        The directory.
    mode : str or None
        A value of FFI_MODE; None: ctypes, or cython if the calls were recorded in ctypes mode.
    is_alone : bool
        Whether each call gets a process of its own.
    timeout : float
        How many seconds a call may take.
    call : int, optional
        The number of the only call to run.

    Returns
    -------
    int
        The exit status: 0 if there is no difference, 1 if there is, or a call did not return, 2 if calls
        could not be replayed.
    """
    mode = _choose_mode(folder, mode)
    _print_all_text()
    begin, end = (0, _ALL) if call is None else (max(call, 1) - 1, call)
    counts: Counter[str] = Counter()
    differing: list[dict[str, Any]] = []
    for event in _run(folder, mode, timeout, is_alone, begin, end):
        _count(event, mode, counts, differing)
    if call is not None and not counts["done"] + counts["failed"]:
        raise ValueError(f"{folder}: there is no call {call}")
    again = _run_again(folder, mode, timeout, is_alone, begin, differing)
    for event in differing:
        _print_difference(event, mode, event["begun"] in again[event["mode"]])
    for (name, reason), count in sorted(read_notes(folder).items()):
        print(f"not recorded in {count} process{'es' if count > 1 else ''}: {name}: {reason}")
    unreturned = f", {counts['unreturned']} did not return in either" if counts["unreturned"] else ""
    print(
        f"{counts['done']} calls replayed in {mode} mode: {len(differing)} differ, "
        f"{counts['failed']} could not be replayed{unreturned}"
    )
    if differing or counts["unreturned"]:
        return 1
    return 2 if counts["failed"] or counts["damaged"] or not counts["done"] else 0


def _print_all_text() -> None:
    """Have stdout escape what it cannot encode: arguments, and names in a damaged record."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _choose_mode(folder: str, mode: str | None) -> str:
    """Return a mode, by default another one than that in which the calls of a directory were recorded.

    OSError or ValueError if it has other files than records.
    """
    recorded = read_modes(folder)
    return mode or ("cython" if recorded == {"ctypes"} else "ctypes")


def _report_files(event: dict[str, Any], counts: Counter[str]) -> None:
    if "changed" in event:
        print(f"{event['changed']} has changed since the calls were recorded")
    for name, size in event.get("damaged", {}).items():
        counts["damaged"] += 1
        print(f"{name}: its last {size} bytes are damaged: their calls cannot be replayed")


def _count(event: dict[str, Any], mode: str, counts: Counter[str], differing: list[dict[str, Any]]) -> None:
    if "begun" not in event:
        _report_files(event, counts)
    elif "failed" in event:
        counts["failed"] += 1
        print(f"{_place(event)}: cannot be replayed: {event['failed']}")
    else:
        counts["done"] += 1
        if "died" in event and not event["returned"]:
            counts["unreturned"] += 1
            _print_call(event)
            print(f"    it did not return in {event['mode']} mode, and in {mode} mode {event['died']}")
        elif _differs(event):
            differing.append(event)


def _place(event: dict[str, Any]) -> str:
    return f"{event['file']}, call {event['begun']}"


def _differs(event: dict[str, Any]) -> bool:
    return "died" in event or event.get("difference") is not None


def _run_again(
    folder: str, mode: str, timeout: float, is_alone: bool, begin: int, differing: list[dict[str, Any]]
) -> dict[str, set[int]]:
    """Return, by the mode of the record, which of the calls differ in that mode, too."""
    again: dict[str, set[int]] = {event["mode"]: set() for event in differing}
    for recorded, numbers in again.items():
        if recorded == mode or recorded not in MODES:
            continue
        end = max(event["begun"] for event in differing)
        try:
            for event in _run(folder, recorded, timeout, is_alone, begin, end):
                if "begun" in event and _differs(event):
                    numbers.add(event["begun"])
        except ValueError as error:
            print(f"the calls cannot be run in {recorded} mode again: {error}")
    return again


def _print_call(event: dict[str, Any]) -> None:
    print(f"{_place(event)}: {event['name']}")
    print(f"    arguments: {event['arguments']}")


def _print_difference(event: dict[str, Any], mode: str, is_again: bool) -> None:
    recorded = event["mode"]
    _print_call(event)
    if "died" in event:
        print(f"    recorded in {recorded} mode, in {mode} mode {event['died']}")
    else:
        print(f"    from {recorded} to {mode} mode, {event['difference']}")
    if is_again:
        print(
            f"    in {recorded} mode it differs again: not by a marshaller, but by what it depends on "
            "besides its arguments, or what pickles do not keep"
        )


def list_calls(folder: str, mode: str | None) -> int:
    """Print the recorded calls; return the exit status: 2 if any cannot be replayed, or there are none."""
    _print_all_text()
    found: Counter[str] = Counter()
    for event in _run(folder, _choose_mode(folder, mode), 60, is_listed=True):
        if "begun" not in event:
            _report_files(event, found)
            continue
        print(f"{_place(event)}: {event['name']}, in {event['mode']} mode")
        found["failed" if "failed" in event else "done"] += 1
        if "failed" in event:
            print(f"    cannot be replayed: {event['failed']}")
        else:
            print(f"    arguments: {event['arguments']}\n    {event['outcome']}")
    return 0 if found["done"] and not found["failed"] and not found["damaged"] else 2


def debug_call(folder: str, mode: str | None, call: int) -> NoReturn:
    """Run a call in `pdb`, in a program that replaces this one: a gdb that runs this one runs it, too."""
    command = [sys.executable, "-c", _PROGRAM.format("debug"), folder, str(call)]
    environment = _environment(_choose_mode(folder, mode))
    if sys.stdout is not None:
        sys.stdout.flush()
    os.execve(sys.executable, command, environment)
