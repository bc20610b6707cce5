"""The file of a trace as calls."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from .._typing import Any
from .tracing import FORMAT

__all__ = ["Call", "Calls", "Process", "read", "read_file"]


class Process:
    """A process, or one trace of it: a file may have several."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.pid: int = event["pid"]
        self.mode = str(event.get("mode"))
        self.command = " ".join(map(str, event.get("command", ())))
        self.date = float(event.get("date", 0))
        #: What makes the time of an event nanoseconds since 1970.
        self.zero = int(self.date * 10**9) - int(event.get("time", 0))
        self.threads: dict[int, str] = {}
        self.calls: dict[int, Call] = {}
        self.lost = 0


class Call:
    """A call, of C++ by Python or of Python by C++."""

    def __init__(self, process: Process, event: dict[str, Any]) -> None:
        self.process = process
        self.number: int = event["id"]
        self.parent: int | None = event.get("parent")
        self.thread = int(event.get("thread", 0))
        self.depth = int(event.get("depth", 0))
        self.to = str(event.get("to"))
        self.name = str(event.get("name"))
        self.signature = event.get("signature")
        self.arguments: list[dict[str, Any]] = list(event.get("arguments", ()))
        #: Nanoseconds since 1970, and nanoseconds; None if the call did not end.
        self.start: int = process.zero + int(event["time"])
        self.duration: int | None = None
        self.result: dict[str, Any] = {}

    def end(self, event: dict[str, Any]) -> None:
        """Add what the last event of the call says."""
        self.duration = int(event["duration"])
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
        #: How many lines say nothing: of a process that was killed while it wrote, for example.
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
            process.threads[event["thread"]] = str(event["name"])
        elif what == "call":
            call = process.calls[event["id"]] = Call(process, event)
            self.calls.append(call)
        elif what in ("return", "raise"):
            process.calls[event["id"]].end(event)
        elif what == "end":
            process.lost = int(event["lost"])


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
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            found.skipped += bool(line.strip())
    if not found.processes:
        raise ValueError("this is no trace: no line of it describes a process")
    return found


def read_file(path: str | os.PathLike[str]) -> Calls:
    """Read the file of a trace."""
    with open(path, "rb") as file:
        return read(file)
