"""Users' code runs once: what the first marshaller heard is what the second one is told.

While the first one packs, a journal takes down what the rules answer, for users' code runs nowhere else, and
what each container held when it was read, for that code may change what is read later. The second one packs
copies of those containers, and the journal answers it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from ctypes import addressof
from typing import Any, Callable

from .._rules import errors as _errors
from .._rules import values as _rules
from .._rules.codes import code
from .capsule import copy_capsule
from .compare import same

__all__ = ["Journal", "are_leaves", "equals", "hash_of", "install", "thread"]


class _Thread(threading.local):
    #: What takes down, or answers, what this thread asks just now.
    journal: Journal | None = None


thread = _Thread()

#: What a container held, by its identity: itself, and its items, or its keys and values in turn.
_Contents = dict[int, tuple[Any, Any]]

_lower = _rules.lower
#: By identity, because a metaclass may do anything when one of its classes is hashed or compared.
_LEAVES = frozenset(map(id, (int, float, bool, str, bytes, type(None), type(...))))


def are_leaves(values: Iterable[Any]) -> bool:
    """Whether all are of builtins that hold nothing, for which no users' code runs."""
    return _LEAVES.issuperset(map(id, map(type, values)))


class _Pairs:
    """Stands for a dict whose keys cannot be hashed again without running users' code."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self.pairs = pairs


class _Answer:
    """What a function was asked, what it returned or raised, and whether that was told again."""

    __slots__ = ("args", "function", "raised", "told", "value")

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = args
        self.value: Any = None
        self.raised: BaseException | None = None
        self.told = False


class Journal:
    """What was asked and read while the first marshaller worked."""

    __slots__ = (
        "_answers",
        "_arguments",
        "_copies",
        "_made",
        "_next",
        "_replays",
        "_structs",
        "copied",
        "disorder",
    )

    def __init__(self) -> None:
        self._answers: list[_Answer] = []
        self._next = 0
        self._replays = False
        #: The arguments that were packed, in order, and what was read of each.
        self._arguments: list[tuple[Any, _Contents]] = []
        #: What stands for the containers of the argument that is packed again, by the identity of these.
        self._copies: dict[int, Any] = {}
        #: What the first marshaller was given in the place of tensors of DLPack.
        self._structs: list[Any] = []
        #: What the first marshaller's tensors came out of, and what the second one's come out of.
        self.copied: dict[int, int] = {}
        #: Exceptions that the rules made for a marshaller to raise.
        self._made: list[BaseException] = []
        #: Whether the second marshaller asked in another order than the first.
        self.disorder = False

    # ---- the first marshaller ------------------------------------------------------------------------

    def begin(self, argument: Any) -> None:
        """The packing of an argument begins. What two arguments share is read twice."""
        if not self._replays:
            self._arguments.append((argument, {}))

    def note(self, container: Any, items: Any) -> None:
        """A container of the argument was read."""
        if not self._replays:
            self._arguments[-1][1][id(container)] = container, items

    def has_made(self, exception: BaseException) -> bool:
        """Whether the exception is what the rules say of a value."""
        return any(made is exception for made in self._made)

    def has_kept(self, exception: BaseException) -> bool:
        """Whether an answer was to raise the exception, and nobody asked again."""
        return any(answer.raised is exception and not answer.told for answer in self._answers)

    def close(self) -> None:
        """Lets go of everything. Tracebacks of what was raised lead to frames that hold this journal."""
        for answer in self._answers:
            answer.raised = None
        self._answers.clear()
        self._arguments.clear()
        self._copies.clear()

    # ---- the second one ------------------------------------------------------------------------------

    def replay(self) -> None:
        """From now on the answers are those that were taken down, from the first one on."""
        self._replays = True
        self._next = 0
        self.disorder = False
        for answer in self._answers:
            answer.told = False

    def replay_for(self, values: tuple[Any, ...]) -> Iterator[Any]:
        """The same; gives what is to be packed in the place of each value, which then is the current one."""
        self.replay()
        arguments = iter(self._arguments)
        argument, contents = next(arguments, (None, {}))
        for x in values:
            # The first marshaller does not begin with what needs no asking, such as an int.
            if x is not argument:
                yield x
                continue
            self._copies = _copy(contents)
            yield self._copies.get(id(x), x)
            argument, contents = next(arguments, (None, {}))

    # ---- both ----------------------------------------------------------------------------------------

    def ask(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Calls a function, or finds what it answered."""
        if self._replays:
            return self._answer(function, args)
        # What an object is compared with is made anew each time, and is not to be held here.
        answer = _Answer(function, args[:1] if function is _equal else args)
        # What users' code marshals is a matter of its own.
        thread.journal = None
        try:
            answer.value = self._keep_made(function(*args))
        except BaseException as exception:
            answer.raised = exception
            raise
        finally:
            thread.journal = self
            self._answers.append(answer)
        if function is _lower and answer.value[0] == code.TENSOR:
            # Nobody can open it twice. What the first one makes of it is thrown away.
            capsule, struct, address = copy_capsule(answer.value[1])
            if struct is not None:
                self._structs.append(struct)
                self.copied[addressof(struct)] = address
            return code.TENSOR, capsule
        return answer.value

    def _keep_made(self, value: Any) -> Any:
        if issubclass(type(value), BaseException):
            self._made.append(value)
        return value

    def _answer(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if function is _lower and type(args[0]) is _Pairs:
            return code.DICT, args[0].pairs
        answer = self._find(function, args)
        if answer is None:
            # Asked by code that happens to run now, such as a finalizer; or by a marshaller that is wrong, as
            # what it makes will show.
            thread.journal = None
            try:
                return self._keep_made(function(*args))
            finally:
                thread.journal = self
        if answer.raised is not None:
            raise answer.raised
        return self._with_copies(*answer.value) if self._copies and function is _lower else answer.value

    def _find(self, function: Callable[..., Any], args: tuple[Any, ...]) -> _Answer | None:
        answers = self._answers
        for start, stop in ((self._next, len(answers)), (0, self._next)):
            for index in range(start, stop):
                answer = answers[index]
                if not answer.told and answer.function is function and self._asks_same(answer.args, args):
                    answer.told = True
                    self.disorder = self.disorder or index < self._next
                    self._next = index + 1
                    return answer
        return None

    def _asks_same(self, noted: tuple[Any, ...], asked: tuple[Any, ...]) -> bool:
        get = self._copies.get
        return all(
            one is other or get(id(one)) is other or same(one, other) for one, other in zip(noted, asked)
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
    """What holds the same as lists and dicts held when they were read, and tuples and slices of such."""
    copies: dict[int, Any] = {}
    for x, items in contents.values():
        if type(x) is list:
            copies[id(x)] = []
        elif type(x) is dict:
            copies[id(x)] = {} if are_leaves(items[::2]) else _Pairs([])
    if not copies:
        return copies
    # In this order, because what contains itself is a list or dict somewhere on the way round.
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
    """Adds copies of the tuples and slices in which something has a copy. They may be nested deeply."""
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
    def ask(*args: Any) -> Any:
        journal = thread.journal
        return function(*args) if journal is None else journal.ask(function, args)

    return ask


def _equal(x: Any, other: Any) -> bool:
    return bool(x == other)


#: What users' classes say of a key.
hash_of, equals = _journalled(hash), _journalled(_equal)


def install() -> None:
    """Puts a journal in front of all that runs users' code while values are packed and read."""
    for name in ("lower", "nested_too_deep", "contains_itself", "equal_keys", "empty_wrapper"):
        setattr(_rules, name, _journalled(getattr(_rules, name)))
    _errors.make = _journalled(_errors.make)
