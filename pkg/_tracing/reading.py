"""The file of a trace as calls."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from .._typing import Any
from .tracing import FORMAT

__all__ = ["Call", "Calls", "Process", "read", "read_file"]


def _whole(value: Any) -> int:
    """Return a number of a trace: nanoseconds, an identity; ValueError for others."""
    if type(value) not in (int, float) or not -(2**63) <= value < 2**63:
        raise ValueError(value)
    return int(value)


def _texts(value: Any) -> dict[str, Any]:
    """Return what describes an argument or a result."""
    if type(value) is not dict:
        raise ValueError(value)
    return value


class Process:
    """A process, or one trace of it: a file may have several."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.pid = _whole(event["pid"])
        self.mode = str(event.get("mode"))
        self.command = " ".join(map(str, event.get("command", ())))
        self.date = float(event.get("date", 0))
        #: Added to the time of an event, it gives nanoseconds since 1970.
        self.zero = _whole(self.date * 10**9) - _whole(event.get("time", 0))
        self.threads: dict[int, str] = {}
        self.calls: dict[int, Call] = {}
        self.lost = 0


class Call:
    """A call, of C++ by Python or of Python by C++."""

    def __init__(self, process: Process, event: dict[str, Any]) -> None:
        self.process = process
        self.number = _whole(event["id"])
        parent = event.get("parent")
        self.parent = None if parent is None else _whole(parent)
        self.thread = _whole(event.get("thread", 0))
        self.depth = _whole(event.get("depth", 0))
        self.to = str(event.get("to"))
        self.name = str(event.get("name"))
        signature = event.get("signature")
        self.signature = None if signature is None else str(signature)
        self.arguments = [_texts(each) for each in event.get("arguments", ())]
        #: Nanoseconds since 1970, and nanoseconds; None if the call did not end.
        self.start: int = process.zero + _whole(event["time"])
        self.duration: int | None = None
        self.result: dict[str, Any] = {}

    def end(self, event: dict[str, Any]) -> None:
        """Add what the last event of the call says."""
        self.duration = _whole(event["duration"])
        self.result = event

    @property
    def is_error(self) -> bool:
        """Whether the call raised an exception."""
        return self.result.get("event") == "raise"

    def arguments_as_text(self) -> str:
        """Return `xs: List = [1, 2], by: Float = 2.0`."""
        return ", ".join(
            f"{x['name']}: {x.get('type')} = {x.get('value')}"
            if "name" in x
            else f"{x.get('type')} {x.get('value')}"
            for x in self.arguments
        )

    def result_as_text(self) -> str:
        """Return `Float 3.0` or `ValueError: no such thing`."""
        if self.duration is None:
            return "did not return"
        if self.is_error:
            return f"{self.result.get('error')}: {self.result.get('message')}"
        return f"{self.result.get('type')} {self.result.get('value')}"


class Calls:
    """The calls of a trace, in the order of their beginnings."""

    def __init__(self) -> None:
        self.processes: list[Process] = []
        self.calls: list[Call] = []
        #: How many lines were unreadable, for example because a process was killed while it wrote.
        self.skipped = 0

    def add(self, event: Any, current: dict[int, Process]) -> None:
        """Add an event; KeyError, TypeError or ValueError if it is none."""
        what, pid = event["event"], event["pid"]
        if what == "process":
            if event.get("format") != FORMAT:
                raise NotImplementedError(event.get("format"))
            current[pid] = Process(event)
            self.processes.append(current[pid])
            return
        process = current[pid]
        if what == "thread":
            process.threads[_whole(event["thread"])] = str(event["name"])
        elif what == "call":
            call = Call(process, event)
            process.calls[call.number] = call
            self.calls.append(call)
        elif what in ("return", "raise"):
            process.calls[_whole(event["id"])].end(event)
        elif what == "end":
            process.lost = _whole(event["lost"])


def read(lines: Iterable[bytes]) -> Calls:
    """Read the lines of a trace, and skip those that are incomplete.

    Raises
    ------
    ValueError
        Another version of the package wrote the trace, or there is none in it.
    """
    found, current = Calls(), {}  # type: tuple[Calls, dict[int, Process]]
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
            found.add(event, current)
        except NotImplementedError as error:
            raise ValueError(
                f"line {number}: a trace of format {error}, and this version of anyffi reads format {FORMAT}"
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            found.skipped += bool(line.strip())
    if not found.processes:
        raise ValueError("this is no trace: no line of it describes a process")
    return found


def read_file(path: str | os.PathLike[str]) -> Calls:
    """Read the file of a trace; the message of a ValueError has its path."""
    with open(path, "rb") as file:
        try:
            return read(file)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None
