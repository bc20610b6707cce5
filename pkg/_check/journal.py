"""Users' code runs once: a journal records it for the first marshaller and replays it for the second.

While the first marshaller packs, the journal records the results of the rules, which alone run users' code,
and the content of each container when it was read, because users' code may change it. The second marshaller
packs copies of these containers, and its calls of rules are replayed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from ctypes import addressof
from typing import Any, Callable

from .._builtins import *  # noqa: F403
from .._rules import errors as _errors
from .._rules import values as _rules
from .._rules.codes import code
from .capsule import copy_capsule
from .compare import same

__all__ = ["Journal", "Rules", "are_scalars", "equals", "hash_of", "make_error", "thread"]


class _Thread(threading.local):
    #: The journal that records or replays the calls of this thread; None while users' code runs.
    journal: Journal | None = None


thread = _Thread()

#: By the identity of a container: the container, and its items, or its keys and values in turn.
_Contents = dict[int, tuple[Any, Any]]

_lower = _rules.lower
#: Ids of classes, since hashing or comparing a class may run code of its metaclass.
_SCALARS = frozenset(map(id, (int, float, bool, str, bytes, type(None), type(...))))


def are_scalars(values: Iterable[Any]) -> bool:
    """Return whether all values are exact builtins without parts, for which no users' code runs."""
    return _SCALARS.issuperset(map(id, map(type, values)))


class _Pairs:
    """A copy of a dict whose keys cannot be hashed again, since that would run users' code."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self.pairs = pairs

    def __anyffi_value__(self) -> Any:
        """Never called; its presence makes the marshaller call `lower`, which is replayed."""
        raise NotImplementedError


class _Call:
    """A call: function and arguments, result or exception, and whether it was replayed."""

    __slots__ = ("args", "function", "raised", "replayed", "value")

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = args
        self.value: Any = None
        self.raised: BaseException | None = None
        self.replayed = False


class Journal:
    """The calls and the containers read while the first marshaller works."""

    __slots__ = (
        "_arguments",
        "_calls",
        "_copies",
        "_made",
        "_next",
        "_replays",
        "_structs",
        "copied",
        "disorder",
    )

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._next = 0
        self._replays = False
        #: The packed arguments, in order, each with the containers read in it.
        self._arguments: list[tuple[Any, _Contents]] = []
        #: Copies of the containers in the argument being packed again, by the id of the original.
        self._copies: dict[int, Any] = {}
        #: The structs of the capsules that the first marshaller gets instead of the users' capsules.
        self._structs: list[Any] = []
        #: Maps the addresses of these structs to those of the originals.
        self.copied: dict[int, int] = {}
        #: Exceptions that the rules made for a marshaller to raise.
        self._made: list[BaseException] = []
        #: Whether the second marshaller made its calls in another order.
        self.disorder = False

    # ---- the first marshaller ------------------------------------------------------------------------

    def begin(self, argument: Any) -> None:
        """Begin an argument. A container in two arguments is read once for each."""
        if not self._replays:
            self._arguments.append((argument, {}))

    def record(self, container: Any, items: Any) -> None:
        """Record the content of a container in the argument."""
        if not self._replays:
            self._arguments[-1][1][id(container)] = container, items

    def has_made(self, exception: BaseException) -> bool:
        """Return whether the rules made an exception."""
        return any(made is exception for made in self._made)

    def has_unreplayed(self, exception: BaseException) -> bool:
        """Return whether a call raised the exception and was not replayed."""
        return any(call.raised is exception and not call.replayed for call in self._calls)

    def close(self) -> None:
        """Clear all references: tracebacks of recorded exceptions refer, through frames, to this journal."""
        for call in self._calls:
            call.raised = None
        self._calls.clear()
        self._arguments.clear()
        self._copies.clear()

    # ---- the second one ------------------------------------------------------------------------------

    def replay(self) -> None:
        """Replay the calls from now on, starting with the first."""
        self._replays = True
        self._next = 0
        self.disorder = False
        for call in self._calls:
            call.replayed = False

    def replay_for(self, values: tuple[Any, ...]) -> Iterator[Any]:
        """Replay the calls; yield the value to pack in place of each argument."""
        self.replay()
        arguments = iter(self._arguments)
        argument, contents = next(arguments, (None, {}))
        for x in values:
            # The first marshaller does not call `begin` for arguments that it packs inline, such as ints.
            if x is not argument:
                yield x
                continue
            self._copies = _copy(contents)
            yield self._copies.get(id(x), x)
            argument, contents = next(arguments, (None, {}))

    # ---- both ----------------------------------------------------------------------------------------

    def call(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call a function and record it, or replay its call."""
        if self._replays:
            return self._replay_call(function, args)
        # The second operand is a new object each time, and must not be kept alive here.
        call = _Call(function, args[:1] if function is _equal else args)
        # Calls made by users' code have journals of their own.
        thread.journal = None
        try:
            call.value = self._record_made(function(*args))
        except BaseException as exception:
            call.raised = exception
            raise
        finally:
            thread.journal = self
            self._calls.append(call)
        if function is _lower and call.value[0] == code.TENSOR:
            # A capsule can be consumed only once, so the first marshaller gets a copy that owns nothing.
            capsule, struct, address = copy_capsule(call.value[1])
            if struct is not None:
                self._structs.append(struct)
                self.copied[addressof(struct)] = address
            return code.TENSOR, capsule
        return call.value

    def _record_made(self, value: Any) -> Any:
        if issubclass(type(value), BaseException):
            self._made.append(value)
        return value

    def _replay_call(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if function is _lower and type(args[0]) is _Pairs:
            return code.DICT, args[0].pairs
        call = self._find(function, args)
        if call is None:
            # A finalizer that runs now made this call, or a faulty marshaller, whose value will then differ.
            thread.journal = None
            try:
                return self._record_made(function(*args))
            finally:
                thread.journal = self
        if call.raised is not None:
            raise call.raised
        return self._with_copies(*call.value) if self._copies and function is _lower else call.value

    def _find(self, function: Callable[..., Any], args: tuple[Any, ...]) -> _Call | None:
        calls = self._calls
        for start, stop in ((self._next, len(calls)), (0, self._next)):
            for index in range(start, stop):
                call = calls[index]
                if not call.replayed and call.function is function and self._has_arguments(call.args, args):
                    call.replayed = True
                    self.disorder = self.disorder or index < self._next
                    self._next = index + 1
                    return call
        return None

    def _has_arguments(self, recorded: tuple[Any, ...], given: tuple[Any, ...]) -> bool:
        get = self._copies.get
        return all(
            one is other or get(id(one)) is other or same(one, other) for one, other in zip(recorded, given)
        )

    def _with_copies(self, type_code: int, payload: Any) -> tuple[int, Any]:
        get = self._copies.get
        if type_code in (code.ARRAY, code.LIST):
            payload = tuple([get(id(item), item) for item in payload])
        elif type_code in (code.DICT, code.MAP, code.SET, code.FROZEN_SET):
            payload = [(get(id(key), key), get(id(item), item)) for key, item in payload]
        elif type_code == code.UNSET:
            payload = get(id(payload), payload)
        return type_code, payload


def _copy(contents: _Contents) -> dict[int, Any]:
    """Copy lists and dicts as they were when they were read, and tuples and slices that contain them."""
    copies: dict[int, Any] = {}
    for x, items in contents.values():
        if type(x) is list:
            copies[id(x)] = []
        elif type(x) is dict:
            copies[id(x)] = {} if are_scalars(items[::2]) else _Pairs([])
    if not copies:
        return copies
    # Before they are filled: each cycle contains a list or dict.
    _copy_immutable(contents, copies)
    get = copies.get
    for x, items in contents.values():
        if type(x) is list:
            copies[id(x)].extend([get(id(item), item) for item in items])
        elif type(x) is dict:
            parts = [get(id(item), item) for item in items]
            pairs = zip(parts[::2], parts[1::2])
            copy = copies[id(x)]
            if type(copy) is dict:
                copy.update(pairs)
            else:
                copy.pairs.extend(pairs)
    return copies


def _copy_immutable(contents: _Contents, copies: dict[int, Any]) -> None:
    """Add copies of the tuples and slices that contain something copied, at any depth."""
    waiting = [x for x, _ in contents.values() if type(x) is tuple or type(x) is slice]
    met = set()
    while waiting:
        x = waiting[-1]
        items = contents[id(x)][1]
        if id(x) not in met:
            met.add(id(x))
            inner = [item for item in items if type(item) is tuple or type(item) is slice]
            waiting.extend([item for item in inner if id(item) in contents and id(item) not in met])
            continue
        waiting.pop()
        parts = [copies.get(id(item), item) for item in items]
        if id(x) not in copies and any(part is not item for part, item in zip(parts, items)):
            copies[id(x)] = tuple(parts) if type(x) is tuple else slice(*parts)


def _journalled(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        journal = thread.journal
        return function(*args) if journal is None else journal.call(function, args)

    return call


def _equal(x: Any, other: Any) -> bool:
    return bool(x == other)


#: Hashes an opaque key, and compares it with another one.
hash_of, equals = _journalled(hash), _journalled(_equal)
make_error = _journalled(_errors.make)


class Rules:
    """The functions of `_rules` that the marshallers use, recorded or replayed by a journal."""

    lower = staticmethod(_journalled(_rules.lower))
    nested_too_deep = staticmethod(_journalled(_rules.nested_too_deep))
    contains_itself = staticmethod(_journalled(_rules.contains_itself))
    equal_keys = staticmethod(_journalled(_rules.equal_keys))
    empty_wrapper = staticmethod(_journalled(_rules.empty_wrapper))
