"""Run recorded calls again, in another mode: in a process of its own, which a call may end."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .. import _current, _mode
from .._api.modules import loaded_paths
from .differences import find_difference
from .recording import HEADER, MAGIC, NOTES, RECORDS, describe_error
from .rendering import render, type_of

__all__ = ["DEFAULT_MODE", "MODES", "main", "replay"]


class _File:
    """A file of records."""

    def __init__(self, path: str) -> None:
        self.name = os.path.basename(path)
        with open(path, "rb") as file:
            data = file.read()
        if not data.startswith(MAGIC):
            raise ValueError(f"{path}: no file of records, or one of another version of anyffi")
        end = data.find(b"\n", len(MAGIC))
        try:
            self.mode = str(json.loads(data[len(MAGIC) : end])["mode"]) if end >= 0 else "?"
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}: its second line does not describe a process") from error
        self._data = memoryview(data)
        self._begin = end + 1 if end >= 0 else len(data)
        #: How many bytes at the end are no records, once the records were read.
        self.num_unread = 0

    def records(self, libraries: list[str]) -> Iterator[tuple[Any, ...]]:
        """Return the records of calls, up to one that is incomplete or damaged.

        `libraries` then has the paths of those that were loaded before the call.
        """
        place = self._begin
        while place + HEADER <= len(self._data):
            size = int.from_bytes(self._data[place : place + 4], "little")
            checksum = int.from_bytes(self._data[place + 4 : place + HEADER], "little")
            record = self._data[place + HEADER : place + HEADER + size]
            if len(record) != size or zlib.crc32(record) != checksum:
                break
            place += HEADER + size
            try:
                found = pickle.loads(record)
            except Exception:
                found = None
            if isinstance(found, tuple) and len(found) == 1 and isinstance(found[0], list):
                libraries[:] = found[0]
            else:
                yield found if isinstance(found, tuple) else ()
        self.num_unread = len(self._data) - place


def _files(folder: str) -> list[_File]:
    names = sorted(name for name in os.listdir(folder) if name.endswith(RECORDS))
    return [_File(os.path.join(folder, name)) for name in names]


# ---- the process that runs the calls ---------------------------------------------------------------------


def _find_function(reference: bytes) -> Any:
    found = pickle.loads(reference)
    if isinstance(found, tuple):
        key, name, part = found
        member = _current.api._class_of_key(key).__dict__[name]
        return getattr(member, part) if part else member
    return found


def _run(record: tuple[Any, ...], libraries: list[str]) -> dict[str, Any]:
    """Run a call, and return what the other process prints."""
    try:
        name, reference, packed, outcome, after = record
    except ValueError:
        return {"failed": "this is no record of a call"}
    try:
        for path in libraries:
            if path not in loaded_paths:
                _current.api.load_module(path)
        function = _find_function(reference)
        args, kwargs = pickle.loads(packed)
        if outcome[0] not in ("return", "raise", "show") or len(outcome) < (
            2 if outcome[0] == "return" else 3
        ):
            raise ValueError("the outcome of the call is missing")
        expected = pickle.loads(outcome[1]) if outcome[0] == "return" else None
        expected_after = pickle.loads(packed if after is None else after)
    except Exception as error:
        return {"failed": ": ".join(describe_error(error)[1:])}
    shown = ", ".join([*map(render, args), *(f"{key}={render(x)}" for key, x in kwargs.items())])
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        found: Any = describe_error(error)
        del error
    else:
        found = ("show", type_of(result), render(result)) if outcome[0] == "show" else ("return",)
    difference = None
    if found[0] != outcome[0] or (found[0] != "return" and found != outcome[:3]):
        difference = (
            f"{_show(outcome, expected)} became {_show(found, result if found[0] == 'return' else None)}"
        )
    elif found[0] == "return":
        difference = find_difference(expected, result)
        difference = difference and f"the result: {difference}"
    if difference is None:
        difference = find_difference(expected_after, (args, kwargs))
        difference = difference and f"the arguments after the call: {difference}"
    return {"name": name, "arguments": shown, "difference": difference}


def _show(outcome: Any, result: Any) -> str:
    if outcome[0] == "raise":
        return f"{outcome[1]}: {outcome[2]}"
    return f"{outcome[1]} {outcome[2]}" if outcome[0] == "show" else f"{type_of(result)} {render(result)}"


def main(folder: str, begin: int, most: int) -> None:
    """Run calls from a number on, at most so many, and write a line of JSON before and after each."""
    # What the calls print must not come between.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    number = 0
    libraries: list[str] = []
    damaged: dict[str, int] = {}
    for file in _files(folder):
        libraries.clear()
        for record in file.records(libraries):
            number += 1
            if number <= begin:
                continue
            if number > begin + most:
                return
            print(json.dumps({"begun": number}), file=out, flush=True)
            print(json.dumps({"done": number, **_run(record, libraries)}), file=out, flush=True)
        if file.num_unread:
            damaged[file.name] = file.num_unread
    print(json.dumps({"end": number, "damaged": damaged}), file=out, flush=True)


# ---- the process that compares ---------------------------------------------------------------------------


def _name_of(folder: str, number: int) -> tuple[str, str]:
    """Return the place and the mode of a record."""
    for file in _files(folder):
        for index, _ in enumerate(file.records([]), 1):
            number -= 1
            if number == 0:
                return f"{file.name}, call {index}", file.mode
    raise LookupError(number)


def replay(folder: str, mode: str, is_alone: bool = False) -> int:
    """Run the calls recorded in a directory in one mode, and print each difference.

    Parameters
    ----------
    folder, mode : str
        The directory, and a value of FFI_MODE.
    is_alone : bool
        Whether each call gets a process of its own.

    Returns
    -------
    int
        The exit status: 0 if there is no difference, 1 if there is, 2 if calls could not be replayed.
    """
    _files(folder)
    # Names in a damaged record may be no text that can be encoded.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    counts: Counter[str] = Counter()
    begin, is_over = 0, False
    while not is_over:
        begin, is_over = _replay_from(folder, mode, begin, 1 if is_alone else 2**62, counts)
    notes = _read_notes(folder)
    for (name, reason), count in sorted(notes.items()):
        print(f"not recorded in {count} process{'es' if count > 1 else ''}: {name}: {reason}")
    print(
        f"{counts['done']} calls replayed in {mode} mode: {counts['difference']} differ, "
        f"{counts['failed']} could not be replayed"
    )
    if counts["difference"]:
        return 1
    return 2 if counts["failed"] or counts["damaged"] or not counts["done"] else 0


def _replay_from(folder: str, mode: str, begin: int, most: int, counts: Counter[str]) -> tuple[int, bool]:
    """Run calls in a new process; return how many were begun by now, and whether these are all."""
    environment = {**os.environ, "FFI_MODE": mode}
    if mode == "check" and "t" in getattr(sys, "abiflags", ""):
        environment["PYTHON_GIL"] = "1"  # which check mode needs
    for name in ("FFI_RECORD", "FFI_TRACE", "FFI_LEAK_CHECK", "FFI_STEP"):
        environment.pop(name, None)
    program = (
        "import sys; from anyffi._tracing.replaying import main; main(sys.argv[1], *map(int, sys.argv[2:]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, folder, str(begin), str(most)],
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    begun, done = begin, begin
    is_over = False
    assert child.stdout is not None
    with child:
        for line in child.stdout:
            event = json.loads(line)
            if "begun" in event:
                begun = event["begun"]
            elif "done" in event:
                done = event["done"]
                _report(folder, mode, event, counts)
            else:
                is_over = True
                for name, size in event["damaged"].items():
                    counts["damaged"] += 1
                    print(f"{name}: its last {size} bytes are damaged: their calls cannot be replayed")
    if is_over or begun == begin + most == done:
        return begun, is_over
    if begun == done:
        # Not during a call: Python itself did not start, or the package.
        raise ValueError(f"the process in {mode} mode ended with status {child.returncode}")
    place, recorded = _name_of(folder, begun)
    counts["done"] += 1
    counts["difference"] += 1
    how = f"status {child.returncode}" if child.returncode >= 0 else f"signal {-child.returncode}"
    print(f"{place}: recorded in {recorded} mode, in {mode} mode it ended the process with {how}")
    return begun, False


def _report(folder: str, mode: str, event: dict[str, Any], counts: Counter[str]) -> None:
    if "failed" in event:
        counts["failed"] += 1
        place, _ = _name_of(folder, event["done"])
        print(f"{place}: cannot be replayed: {event['failed']}")
        return
    counts["done"] += 1
    if event["difference"] is not None:
        counts["difference"] += 1
        place, recorded = _name_of(folder, event["done"])
        print(f"{place}: {event['name']}")
        print(f"    arguments: {event['arguments']}")
        print(f"    from {recorded} to {mode} mode, {event['difference']}")


def _read_notes(folder: str) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for name in sorted(os.listdir(folder)):
        if not name.endswith(NOTES):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            for line in file:
                try:
                    note = json.loads(line)
                    found[str(note["name"]), str(note["reason"])] += 1
                except (ValueError, KeyError, TypeError):
                    continue
    return found


#: What `--mode` may be.
MODES = ("ctypes", "cython", "check")
DEFAULT_MODE = "ctypes" if _mode.ffi_mode != "ctypes" else "cython"
