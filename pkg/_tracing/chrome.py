"""Traces in Chrome's format, which https://ui.perfetto.dev and chrome://tracing show."""

from __future__ import annotations

from .._typing import Any
from .reading import Call, Calls

__all__ = ["to_chrome"]


def to_chrome(calls: Calls) -> dict[str, Any]:
    """Return a trace as the object that a file of Chrome's Trace Event Format holds."""
    zero = min((call.start for call in calls.calls), default=0)
    events: list[dict[str, Any]] = []
    # Not the pid: a process may have more than one trace.
    numbers = {id(process): number for number, process in enumerate(calls.processes, 1)}
    for process in calls.processes:
        number = numbers[id(process)]
        events.append(_name("process_name", number, 0, f"{process.pid} {process.mode} {process.command}"))
        events += [_name("thread_name", number, key, name) for key, name in process.threads.items()]
    for call in calls.calls:
        events.append(_event(call, numbers[id(call.process)], zero))
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _name(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _event(call: Call, process: int, zero: int) -> dict[str, Any]:
    event = {
        "ph": "B" if call.duration is None else "X",
        "name": call.name,
        "cat": call.to,
        "pid": process,
        "tid": call.thread,
        "ts": (call.start - zero) / 1000,
        "args": {
            "signature": call.signature,
            "arguments": call.arguments_as_text(),
            "result": call.result_as_text(),
        },
    }
    if call.duration is not None:
        event["dur"] = call.duration / 1000
    return event
