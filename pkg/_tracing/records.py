"""The files of recorded calls: their format, and how they are read."""

from __future__ import annotations

import io
import json
import os
import pickle
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["HEADER", "MAGIC", "NOTES", "RECORDS", "Call", "frame", "read_calls", "read_modes", "read_notes"]

#: The first line of a file of records; the second is an object of JSON about the process.
MAGIC = b"anyffi-records 2\n"
#: Before each record its size and checksum, four bytes each, least significant first.
HEADER = 8
RECORDS, NOTES = ".calls", ".notes"


def frame(record: tuple[Any, ...]) -> bytes:
    """Return a record as it stands in a file.

    It is `("begin", number, name, reference, arguments)`, where the number is the call's in its process, and
    the last two are pickles; `("end", number, outcome, arguments)`, with a pickle of the arguments after the
    call, or None if they are the same; or `(libraries,)`, for each that was loaded before its path, the time
    of its last change and its size.
    """
    written = pickle.dumps(record, protocol=5)
    return len(written).to_bytes(4, "little") + zlib.crc32(written).to_bytes(4, "little") + written


class Call(NamedTuple):
    """A recorded call."""

    #: Among all calls of a directory, from 1.
    number: int
    #: The name of the file, and the mode of the process.
    file: str
    mode: str
    libraries: list[Any]
    #: `(name, reference, arguments, outcome, arguments afterwards)`; the outcome is None if the call did not
    #: return. The record is None if it could not be read, for a reason.
    record: tuple[Any, ...] | None
    reason: str = ""


class _Unpickler(pickle.Unpickler):
    """Reads the tuples of `frame`: what a file names otherwise runs only with its call, which has a place."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every class and function."""
        raise pickle.UnpicklingError(f"a record of {module}.{name}")


class _File:
    def __init__(self, path: str) -> None:
        self.name = os.path.basename(path)
        with open(path, "rb") as file:
            data = file.read()
        if not data.startswith(MAGIC[: len(data)]):
            raise ValueError(f"{path}: no file of records, or one of another version of anyffi")
        end = data.find(b"\n", len(MAGIC))
        #: False if the process was killed within the first two lines: there are no records behind them.
        self.is_begun = end >= 0
        try:
            about = json.loads(data[len(MAGIC) : end]) if self.is_begun else {}
            self.mode = str(about.get("mode", "?"))
        except (ValueError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path}: its second line does not describe a process") from error
        #: Common to all files of a process.
        self.process = self.name[: -len(RECORDS)].rpartition("-")[0]
        self._data = memoryview(data)
        self._begin = end + 1 if self.is_begun else 0
        #: How many bytes at the end are no records, once the records were read.
        self.num_unread = 0

    def records(self) -> Iterator[Any]:
        """Return the records, up to one that is incomplete or damaged; an exception for one not read."""
        place = self._begin
        while self.is_begun and place + HEADER <= len(self._data):
            size = int.from_bytes(self._data[place : place + 4], "little")
            checksum = int.from_bytes(self._data[place + 4 : place + HEADER], "little")
            record = self._data[place + HEADER : place + HEADER + size]
            if len(record) != size or zlib.crc32(record) != checksum:
                break
            place += HEADER + size
            try:
                read = _Unpickler(io.BytesIO(record)).load()
            except Exception as error:
                read = error
            yield read
        self.num_unread = len(self._data) - place


def _files(folder: str) -> list[_File]:
    names = sorted(name for name in os.listdir(folder) if name.endswith(RECORDS))
    return [_File(os.path.join(folder, name)) for name in names]


def read_modes(folder: str) -> set[str]:
    """Return the modes of the processes that recorded."""
    return {file.mode for file in _files(folder) if file.is_begun}


def read_calls(folder: str, damaged: dict[str, int]) -> Iterator[Call]:
    """Return the calls in a directory, in the order in which they ended.

    `damaged` then has, by the name of each damaged file, how many bytes at its end could not be read.
    """
    number = 0
    process, is_whole = "", True
    libraries: list[Any] = []
    #: Those that have begun, by their numbers in the process.
    begun: dict[Any, tuple[_File, list[Any], tuple[Any, ...]]] = {}
    for file in [*_files(folder), None]:
        if file is None or file.process != process:
            for its_file, its_libraries, record in begun.values() if is_whole else ():
                number += 1
                yield Call(number, its_file.name, its_file.mode, its_libraries, (*record, None, None))
            begun.clear()
            is_whole = True
        if file is None:
            return
        process, libraries = file.process, []
        for record in file.records():
            reason = "this is no record of a call"
            if not isinstance(record, tuple):
                if isinstance(record, MemoryError):
                    reason = "MemoryError: its record could not be read"
                    # It may be the end of a call.
                    is_whole = False
                record = ()
            if len(record) == 1 and isinstance(record[0], list):
                libraries = record[0]
            elif len(record) == 5 and record[0] == "begin" and isinstance(record[1], int):
                begun[record[1]] = file, libraries, record[2:]
            elif len(record) == 4 and record[0] == "end" and isinstance(record[1], int):
                # The oldest files are removed.
                found = begun.pop(record[1], None)
                if found is not None and record[2] is not None:
                    number += 1
                    yield Call(number, found[0].name, file.mode, found[1], (*found[2], *record[2:]))
            else:
                number += 1
                yield Call(number, file.name, file.mode, libraries, None, reason)
        if file.num_unread:
            damaged[file.name] = file.num_unread
            is_whole = False


def read_notes(folder: str) -> Counter[tuple[str, str]]:
    """Return why calls were not recorded: functions and reasons, with the number of processes."""
    found: Counter[tuple[str, str]] = Counter()
    for name in sorted(os.listdir(folder)):
        if not name.endswith(NOTES):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            for line in file:
                try:
                    note = json.loads(line)
                    found[str(note["name"]), str(note["reason"])] += 1
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
    return found
