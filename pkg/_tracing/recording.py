"""Records of calls, with their arguments and outcomes, to be replayed: those of FFI_RECORD."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import json
import os
import pickle
import random
import sys
import time
import warnings
from collections import Counter
from types import FunctionType

from .. import _current, _mode
from .._api.modules import loaded_paths
from .._builtins import *  # noqa: F403
from .._rules.errors import is_from_handler
from .._rules.locks import make_lock
from .._typing import Any
from .observing import Described, Watcher, unobserved, watch
from .records import MAGIC, NOTES, RECORDS, frame
from .rendering import name_of_class, render, type_of
from .views import reduce_view

__all__ = ["Recorder", "describe_error", "record_to", "stamp_library"]

#: A directory has this many files before the oldest is removed; a single call may fill one of them.
_FILES = 8
#: Arguments that no call can change.
_FIXED = frozenset([type(None), bool, int, float, complex, str, bytes, type(...)])
_MOST_NOTES = 1000
#: Errors of recording that must not be raised by the next call; CPython turns a lost MemoryError into the
#: last one.
_EXHAUSTED = (RecursionError, MemoryError, SystemError)


class _TooLarge(Exception):
    """The arguments or the result are larger than a record may be."""


class _Bounded(io.RawIOBase):
    """A buffer for a pickle of at most so many bytes."""

    def __init__(self, most: int) -> None:
        self.parts: list[bytes] = []
        self._left = most

    def write(self, data: Any) -> int:
        size = len(data) if type(data) is bytes else memoryview(data).nbytes
        self._left -= size
        if self._left < 0:
            raise _TooLarge
        self.parts.append(bytes(data))
        return size


class _Pickler(pickle.Pickler):
    """Pickles what another process can load."""

    def __init__(self, memory: Any, most: int) -> None:
        super().__init__(memory, protocol=5)
        self._most = most

    def reducer_override(self, x: Any) -> Any:
        """Refuse what only this program defines, and keep what views of arrays share."""
        if (isinstance(x, type) or type(x) is FunctionType) and x.__module__ == "__main__":
            raise pickle.PicklingError(
                f"{x.__qualname__} is defined in __main__, the program itself; move it to a module"
            )
        return reduce_view(x, self._most)


def _pack(x: Any, most: int) -> bytes:
    memory = _Bounded(most)
    try:
        # The functions that pickling calls are not part of the program.
        with unobserved:
            _Pickler(memory, most).dump(x)
    except BaseException as error:
        if isinstance(error, Exception) or is_from_handler(error):
            raise
        # A SystemExit that `__reduce__` raises counts as its error, and does not end the program.
        raise pickle.PicklingError(f"pickling raised {name_of_class(type(error))}") from None
    return b"".join(memory.parts)


def _pack_call(function: bytes, args: tuple[Any, ...], kwargs: dict[str, Any], most: int) -> bytes:
    """Pickle the arguments of a call, together: an object that is given twice stays one."""
    return _pack((args, kwargs), most - len(function))


def _pass_on(error: Exception) -> None:
    """Raise what a signal handler raised: it is the program's, and no reason to skip a record."""
    if is_from_handler(error):
        raise error


def describe_error(exception: BaseException) -> tuple[str, str, str]:
    """Return `("raise", class, text)`."""
    cls = type(exception)
    try:
        text = str.__str__(str(exception))
    except Exception as error:
        _pass_on(error)
        text = f"<text whose __str__ raises {name_of_class(type(error))}>"
    return "raise", f"{cls.__module__}.{cls.__qualname__}", text


class Recorder(Watcher):
    """Writes calls of C++ by Python to files in a directory.

    Parameters
    ----------
    folder : str
        Made if it does not exist, for its owner alone.
    sample : float
        The part of the calls that is recorded, above 0 to 1, chosen at random.
    size : int
        How many bytes the directory may have; the oldest files are removed. A call may have an eighth.
    """

    def __init__(self, folder: str, sample: float = 1.0, size: int = 64 * 2**20) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder
        self._size = size
        self._most = size // _FILES
        self._sample = sample
        self._lock = make_lock()
        self._numbers = itertools.count()
        #: Why calls could not be recorded, by function and reason.
        self._notes: Counter[tuple[str, str]] = Counter()
        self._has_warned = False
        self._open()

    def _open(self) -> None:
        pid = os.getpid()
        # Not that of `random`, which programs seed.
        self._random = random.Random()
        self._stem = f"{int(time.time() * 1000)}-{pid}"
        self._number = 0
        self._file: int | None = None
        self._path = ""
        self._left = self._num_libraries = 0
        # Last: if this fails in a child, the file is still the parent's.
        self._pid = pid

    def begin_call(self, function: Any, known: Described, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Pickle the arguments, as they are before the call."""
        if self._sample < 1 and self._random.random() >= self._sample:
            return None
        try:
            reference = _reference_of(function, known)
            packed = _pack_call(reference, args, kwargs or {}, self._most)
        except Exception as error:
            _pass_on(error)
            self._note(known, _reason(error))
            return None
        # No generator: if memory is exhausted, CPython would print the MemoryError of closing it.
        may_change = not _FIXED.issuperset(map(type, (*args, *(kwargs or {}).values())))
        number = next(self._numbers)
        record = known, number, reference, packed, (args, kwargs or {}) if may_change else None
        # Written before the call, which may end the process.
        self._append_of(number, "begin", known.signature or known.name, reference, packed)
        return record

    def end(self, record: Any, result: Any) -> None:
        """Write the result of a call."""
        outcome: Any = None
        try:
            outcome = ("return", _pack(result, self._most))
        except Exception as error:
            _pass_on(error)
            # Of a function or an opaque object at least the type can be compared.
            outcome = ("show", type_of(result), render(result), _reason(error))
        finally:
            self._write(record, outcome)

    def fail(self, record: Any, exception: BaseException) -> None:
        """Write the exception of a call."""
        self._write(record, describe_error(exception))

    def _write(self, record: Any, outcome: Any) -> None:
        """Write the outcome of a call; None if it is not known: the call is then not replayed."""
        known, number, reference, packed, arguments = record
        after = None
        try:
            if arguments is not None:
                after = _pack_call(reference, arguments[0], arguments[1], self._most)
        except Exception as error:
            outcome = None
            _pass_on(error)
            self._note(known, f"after the call: {_reason(error)}")
        finally:
            self._append_of(number, "end", outcome, None if after == packed else after)

    def _append_of(self, number: int, kind: str, *content: Any) -> None:
        """Append a record of a call; if that fails, an "end" without an outcome."""
        try:
            self._append(frame((kind, number, *content)))
        except BaseException:
            # The "begin" may be in the file, and without an "end" the call would count as one that never
            # returned.
            with contextlib.suppress(OSError):
                self._append(frame(("end", number, None, None)))
            raise

    def _append(self, data: bytes) -> None:
        try:
            with self._lock:
                self._append_alone(data)
        except OSError as error:
            self._warn(error)
            raise

    def _warn(self, error: OSError) -> None:
        """Warn once that calls are not recorded."""
        if self._has_warned or is_from_handler(error):
            return
        self._has_warned = True
        text = f"FFI_RECORD={self._folder}: calls are not recorded while it cannot be written: {error}"
        # Showing the warning may call functions itself. It has no place in the program, since none is to
        # blame.
        with unobserved:
            warnings.warn_explicit(text, RuntimeWarning, "anyffi", 0)

    def _append_alone(self, data: bytes) -> None:
        if os.getpid() != self._pid:
            # After a fork the file is the parent's.
            self._open()
        if self._file is None or self._left < len(data) or not os.path.exists(self._path):
            # If somebody has removed the file, later records would be lost with it.
            self._begin_file(len(data))
        num_libraries = len(loaded_paths)
        if self._num_libraries != num_libraries:
            # The libraries come first, because objects of their classes cannot be loaded before them.
            data = frame((list(map(stamp_library, loaded_paths)),)) + data
        assert self._file is not None
        self._left -= len(data)
        if os.write(self._file, data) == len(data):
            # Only after the write succeeded, since a full disk refuses this record, too.
            self._num_libraries = num_libraries
        else:
            # Records after an incomplete one would not be found, so a new file is begun.
            os.close(self._file)
            self._file = None
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)

    def _begin_file(self, size: int) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file = None
        self._remove_oldest(size)
        path = os.path.join(self._folder, f"{self._stem}-{self._number:06}{RECORDS}")
        self._number += 1
        about = {"mode": _mode.ffi_mode, "pid": self._pid, "command": list(map(str, sys.argv))}
        begun = MAGIC + json.dumps(about).encode() + b"\n"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        written = 0
        try:
            written = os.write(file, begun)
        finally:
            if written != len(begun):
                # The disk is full: records without the first lines could not be read.
                os.close(file)
                os.unlink(path)
        if written != len(begun):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        self._file, self._path = file, path
        self._left = self._most - len(begun)
        self._num_libraries = 0

    def _remove_oldest(self, size: int) -> None:
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.endswith((RECORDS, NOTES)):
                    # Another process may have removed it.
                    with contextlib.suppress(OSError):
                        found.append((entry.stat().st_mtime_ns, entry.name, entry.stat().st_size))
        total = sum(each[2] for each in found) + max(size, self._most)
        for _, name, its_size in sorted(found):
            if total <= self._size:
                break
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self._folder, name))
            total -= its_size

    def _note(self, known: Described, reason: str) -> None:
        key = known.signature or known.name, reason
        self._notes[key] += 1
        # The first note is written at once, since the process may be killed.
        if self._notes[key] == 1 and len(self._notes) <= _MOST_NOTES:
            line = json.dumps({"name": key[0], "reason": reason}) + "\n"
            path = os.path.join(self._folder, f"{self._stem}{NOTES}")
            try:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                try:
                    os.write(file, line.encode())
                finally:
                    os.close(file)
            except OSError as error:
                self._warn(error)
                raise


def stamp_library(path: str) -> tuple[str, int, int]:
    """Return a library, and by what one sees later that its file is another one."""
    try:
        about = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, about.st_mtime_ns, about.st_size


def _reason(error: Exception) -> str:
    if isinstance(error, _TooLarge):
        return "larger than a record may be"
    text = describe_error(error)[2]
    if isinstance(error, pickle.PicklingError):
        return text[:300]
    return f"{name_of_class(type(error))}: {text[:300]}"


def _reference_of(function: Any, known: Described) -> bytes:
    """Return the pickle of what finds the function in another process."""
    if known.reference is None:
        try:
            known.reference = _pack(_find_member(function) or function, 2**16)
        except Exception as error:
            _pass_on(error)
            if isinstance(error, _EXHAUSTED):
                raise
            # Without its traceback, which refers to the function.
            known.reference = pickle.PicklingError(_reason(error))
    if isinstance(known.reference, Exception):
        raise pickle.PicklingError(*known.reference.args)
    found: bytes = known.reference
    return found


#: Where a function stands in what is an attribute of a class.
_PARTS = ("_function", "fget", "fset", "__func__")


def _find_member(function: Any) -> tuple[str, str, str] | None:
    """Return the key of a class of C++, the name of an attribute, and where in that the function is."""
    classes = _current.api._classes
    for cls in (*classes._made.values(), *classes._registered.values()):
        key = cls.__dict__.get("_anyffi_type_key")
        for name, member in zip(cls.__dict__, cls.__dict__.values()):
            if key is None:
                break
            if member is function:
                return key, name, ""
            for part in _PARTS:
                if getattr(member, part, None) is function:
                    return key, name, part
    return None


def record_to(folder: str, sample: float, size: int) -> Recorder:
    """Record calls until the interpreter ends."""
    made = Recorder(os.path.abspath(folder), sample, size)
    watch(made)
    return made
