"""Traces as one HTML page: a tree, totals, the slowest calls, a flame chart. It loads nothing."""

from __future__ import annotations

import json

from .._typing import Any
from .page_parts import PAGE, SCRIPT, STYLE
from .reading import Calls

__all__ = ["to_html"]


class _Strings:
    """Texts, each once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Return the number of a text."""
        found = self._places.get(text)
        if found is None:
            found = self._places[text] = len(self.all)
            self.all.append(text)
        return found


def _columns(calls: Calls) -> dict[str, Any]:
    strings = _Strings()
    zero = min((call.start for call in calls.calls), default=0)
    # One lane for each thread of each process.
    lanes: dict[tuple[int, int], int] = {}
    names = []
    places: dict[tuple[int, int], int] = {}
    columns: dict[str, list[Any]] = {
        key: []
        for key in (
            "lane",
            "parent",
            "start",
            "duration",
            "name",
            "to",
            "signature",
            "args",
            "result",
            "error",
        )
    }
    for place, call in enumerate(calls.calls):
        process = call.process
        key = id(process), call.thread
        if key not in lanes:
            lanes[key] = len(lanes)
            thread = process.threads.get(call.thread, str(call.thread))
            names.append(f"{process.pid} {thread} ({process.mode})")
        places[id(process), call.number] = place
        parent = -1 if call.parent is None else places.get((id(process), call.parent), -1)
        row = (
            lanes[key],
            parent,
            call.start - zero,
            -1 if call.duration is None else call.duration,
            strings.place(call.name),
            int(call.to == "Python"),
            strings.place(call.signature or ""),
            strings.place(call.arguments_as_text()),
            strings.place(call.result_as_text()),
            int(call.is_error),
        )
        for column, value in zip(columns.values(), row):
            column.append(value)
    notes = [f"{process.pid}: {process.mode} mode, {process.command}" for process in calls.processes]
    unended = sum(call.duration is None for call in calls.calls)
    if unended:
        notes.append(f"{unended} call{'s' if unended != 1 else ''} did not return")
    lost = sum(process.lost for process in calls.processes)
    if lost:
        notes.append(f"{lost} events could not be written")
    if calls.skipped:
        notes.append(f"{calls.skipped} lines of the file say nothing")
    return {"strings": strings.all, "lanes": names, "notes": notes, **columns}


def to_html(calls: Calls) -> str:
    """Return a trace as a page."""
    data = json.dumps(_columns(calls), separators=(",", ":"))
    # Within a script element HTML has no escapes, and `</script>` would end it.
    for character in "<>&":
        data = data.replace(character, f"\\u{ord(character):04x}")
    return PAGE.replace("STYLE", STYLE, 1).replace("SCRIPT", SCRIPT, 1).replace("DATA", data, 1)
