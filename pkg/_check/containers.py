"""Reads of containers by both marshallers: by index and key, by iteration, and of all elements at once.

ctypes reads first, then cython. A thread or finalizer may change the container in between, so they disagree
only if both, when they read again, read the same as before.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any, Callable, NamedTuple

from .. import _cython
from .._builtins import *  # noqa: F403
from .._ctypes import iterators, mappings, sequences
from .._ctypes.abi import platform, translate_error
from .._ctypes.containers import unwrap_as
from .._ctypes.iterators import copy_iterator
from .._ctypes.mappings import ABSENT, find_item
from .._cython import _core
from .._rules import containers as rules
from .._rules.codes import code
from .._rules.containers import ELEMENTS, ITEMS, KEYS, checks_self
from .._rules.values import find_on_type
from .compare import same, same_exception
from .journal import Journal, thread
from .pack import is_from_ctypes, is_from_cython, mismatch, raising
from .text import show, show_all

__all__ = ["ArrayCore", "DictCore", "FrozenSetCore", "ListCore", "MapCore", "SetCore", "read_by_both"]

_Function = Callable[[Any], Any]

#: How often both read again if there are other threads, and by how many seconds each pause is longer than the
#: last.
_TURNS, _PAUSE = 20, 1e-4


class _Outcome(NamedTuple):
    """The result of a read, or the exception that it raised."""

    value: Any
    raised: BaseException | None

    def agrees(self, other: _Outcome) -> bool:
        if self.raised is None or other.raised is None:
            return self.raised is other.raised and same(self.value, other.value)
        return same_exception(self.raised, other.raised)

    def __str__(self) -> str:
        if self.raised is not None:
            return raising(self.raised)
        return f"reads {show_all(self.value) if type(self.value) is tuple else show(self.value)}"


def _run(read: _Function, key: Any) -> _Outcome:
    try:
        return _Outcome(read(key), None)
    except BaseException as exception:
        return _Outcome(None, translate_error(exception))


def _is_race(first: _Outcome, second: _Outcome) -> bool:
    """Return whether another thread may have changed a container's size between two iterations."""
    changed = type(first.raised) is RuntimeError or type(second.raised) is RuntimeError
    return changed and threading.active_count() > 1


def read_by_both(
    place: str,
    key: Any,
    by_ctypes: _Function,
    by_cython: _Function,
    again: tuple[_Function, _Function] | None = None,
) -> Any:
    """Read by both marshallers, and again if they disagree. The functions get the key.

    `again` are the functions of ctypes and cython that read again, if they are others.
    """
    journal, former = Journal(), thread.journal
    first = second = reads = None
    try:
        thread.journal = journal
        journal.begin(key)
        first = _run(by_ctypes, key)
        second = _run(by_cython, next(journal.replay_for((key,))))
        if not first.agrees(second):
            if first.raised is not None and not is_from_ctypes(first.raised, journal):
                raise first.raised
            # Compiled iterators end without adding a frame.
            ended = type(second.raised) is StopIteration
            if second.raised is None or ended or is_from_cython(second.raised, journal):
                reads = tuple(zip(again or (by_ctypes, by_cython), (first, second)))
                if not _is_race(first, second) and _stay(reads, key, journal):
                    raise mismatch(place, str(second), str(first))
        if second.raised is not None:
            raise second.raised
        return second.value
    finally:
        thread.journal = former
        journal.close()
        # The tracebacks of their exceptions refer to this frame.
        del first, second, reads


def _stay(reads: tuple[tuple[_Function, _Outcome], ...], key: Any, journal: Journal) -> bool:
    """Return whether both reads give the same outcomes again.

    Other threads and finalizers may change the container between two reads. A thread may also restore the
    first content, such as an empty list, but hardly in step with the reads, many times in a row.
    """
    for turn in range(1 if threading.active_count() == 1 else _TURNS):
        time.sleep(turn * _PAUSE)
        for read, outcome in reads:
            if not _run(read, next(journal.replay_for((key,)))).agrees(outcome):
                return False
    return True


#: As in the ctypes marshaller.
_METHODS = ("__length_hint__", "__reduce__", "__setstate__")
_SLOTS = ("__iter__", "__next__", *_METHODS)


class _Iterator:
    """The iterators of both marshallers, advanced together until a change of the container separates them."""

    __slots__ = ("_by_ctypes", "_by_cython", "_place")

    _compiled: Any
    _place: str
    _by_ctypes: Any
    _by_cython: Any

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        compiled = cls._compiled
        made = object.__new__(cls)
        made._place, made._by_ctypes, made._by_cython = "", None, compiled.__new__(compiled)
        return made

    def __init__(self, *args: object, **kwargs: object) -> None:
        rules.refuse_iterator(type(self).__name__)

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        if self._by_ctypes is None:
            return next(self._by_cython)
        by_ctypes, by_cython = self._by_ctypes, self._by_cython
        former_ctypes, former_cython = copy_iterator(by_ctypes), _core.copy_iterator(by_cython)

        def again(key: None) -> Any:
            self._by_ctypes = None
            return next(copy_iterator(former_ctypes))

        try:
            return read_by_both(
                self._place,
                None,
                lambda key: next(by_ctypes),
                lambda key: next(by_cython),
                (again, lambda key: next(_core.copy_iterator(former_cython))),
            )
        except StopIteration:
            raise
        except BaseException:
            self._by_ctypes = None
            raise

    def __length_hint__(self) -> Any:
        return self._by_cython.__length_hint__()

    def __reduce__(self) -> Any:
        return self._by_cython.__reduce__()


@platform.final
@checks_self("anyffi.EntryIterator", slots=True, only=_SLOTS, methods_in_c=_METHODS)
class EntryIterator(_Iterator):
    """Iterates over entries."""

    __slots__ = ()
    _compiled = _core.EntryIterator
    __module__ = "anyffi"


@platform.final
@checks_self("anyffi.SequenceIterator", slots=True, only=_SLOTS, methods_in_c=_METHODS)
class SequenceIterator(_Iterator):
    """Iterates by index."""

    __slots__ = ()
    _compiled = _core.SequenceIterator
    __module__ = "anyffi"

    def __setstate__(self, index: Any) -> None:
        self._by_cython.__setstate__(index)
        if self._by_ctypes is not None:
            self._by_ctypes.__setstate__(index)


def _pair(cls: type[_Iterator], place: str, by_ctypes: Any, by_cython: Any) -> _Iterator:
    """Return an iterator that advances those of both marshallers."""
    made = object.__new__(cls)
    made._place, made._by_ctypes, made._by_cython = f"{place}, iterator", by_ctypes, by_cython
    return made


# ---- wrappers: the compiled classes with reads that are checked -----------------------------------------


def _find_compiled(core: Any, self: Any, start: int, stop: int, value: Any) -> Any:
    return core._anyffi_find(self, value, start, stop)


def _sequence_class(place: str, core: Any, row: int) -> Any:
    @checks_self(place, slots=True)
    class Checked(core):  # type: ignore[misc]
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            if type(key) is slice:
                return core.__getitem__(self, key)
            index = key if type(key) is int else rules.as_index(self, key)
            by_ctypes = partial(sequences.get_item, self, row)
            return read_by_both(f"{place}, item", index, by_ctypes, partial(core.__getitem__, self))

        def __iter__(self) -> Any:
            return self._anyffi_iterate(False)

        def _anyffi_iterate(self, backwards: bool) -> Any:
            by_ctypes = iterators.iterate_sequence(self, unwrap_as(self, row), backwards)
            return _pair(SequenceIterator, place, by_ctypes, core._anyffi_iterate(self, backwards))

        def _anyffi_find(self, value: Any, start: int, stop: int) -> int:
            def by_ctypes(value: Any) -> int:
                return sequences.find_value(self, row, value, start, stop)

            by_cython = partial(_find_compiled, core, self, start, stop)
            return int(read_by_both(f"{place}, search", value, by_ctypes, by_cython))

        def _anyffi_items(self) -> list[Any]:
            def by_ctypes(key: None) -> tuple[Any, ...]:
                return tuple(sequences.list_items(unwrap_as(self, row)))

            return list(
                read_by_both(f"{place}, items", None, by_ctypes, lambda key: tuple(core._anyffi_items(self)))
            )

    return Checked


def _mapping_class(place: str, core: Any, row: int) -> Any:
    @checks_self(place, slots=True)
    class Checked(core):  # type: ignore[misc]
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            found = self._anyffi_get(key, ABSENT)
            if found is not ABSENT:
                return found
            if row == code.DICT:
                return rules.missing_item(self, key)
            raise KeyError(key)

        def __contains__(self, key: Any) -> Any:
            def by_ctypes(key: Any) -> bool:
                return find_item(self, row, key) is not ABSENT

            return read_by_both(f"{place}, key", key, by_ctypes, partial(core.__contains__, self))

        def _anyffi_get(self, key: Any, default: Any) -> Any:
            by_ctypes = partial(find_item, self, row)
            found = read_by_both(
                f"{place}, item", key, by_ctypes, lambda key: core._anyffi_get(self, key, ABSENT)
            )
            return default if found is ABSENT else found

        def __iter__(self) -> Any:
            return self._anyffi_iterate(KEYS, False)

        def _anyffi_iterate(self, what: int, backwards: bool) -> Any:
            by_ctypes = iterators.iterate_entries(self, unwrap_as(self, row), what, backwards)
            return _pair(EntryIterator, place, by_ctypes, core._anyffi_iterate(self, what, backwards))

        def _anyffi_pairs(self) -> Any:
            return list(self._anyffi_iterate(ITEMS, False))

    return Checked


def _set_class(place: str, core: Any, row: int) -> Any:
    @checks_self(place, slots=True)
    class Checked(core):  # type: ignore[misc]
        __slots__ = ()

        def __contains__(self, element: Any) -> Any:
            cls = type(element)
            if issubclass(cls, (set, _cython.SetCore)) or find_on_type(cls, "__anyffi_value__") is not None:
                # For a set, this method is called again with a frozenset.
                return core.__contains__(self, element)
            by_ctypes = partial(mappings.has_element, self, row)
            return read_by_both(f"{place}, element", element, by_ctypes, partial(core.__contains__, self))

        def __iter__(self) -> Any:
            return self._anyffi_iterate()

        def _anyffi_iterate(self) -> Any:
            by_ctypes = iterators.iterate_entries(self, unwrap_as(self, row), ELEMENTS, False)
            return _pair(EntryIterator, place, by_ctypes, core._anyffi_iterate(self))

        def _anyffi_elements(self) -> Any:
            return list(self._anyffi_iterate())

    return Checked


ArrayCore: Any = _sequence_class("anyffi.Array", _cython.ArrayCore, code.ARRAY)
ListCore: Any = _sequence_class("anyffi.List", _cython.ListCore, code.LIST)
MapCore: Any = _mapping_class("anyffi.Map", _cython.MapCore, code.MAP)
DictCore: Any = _mapping_class("anyffi.Dict", _cython.DictCore, code.DICT)
FrozenSetCore: Any = _set_class("anyffi.FrozenSet", _cython.FrozenSetCore, code.FROZEN_SET)
SetCore: Any = _set_class("anyffi.Set", _cython.SetCore, code.SET)
