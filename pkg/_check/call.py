"""Calls by both marshallers.

ctypes makes the whole call, from packing to reading the result, and finds `_Call.reach` in the place of the
function. There cython packs as well, the function is called once, and cython reads the result first.
"""

from __future__ import annotations

import operator
from typing import Any, Callable

from .. import _ctypes
from .._cython import FunctionCore as _FunctionCore
from .._cython import ObjectCore, _core
from .._rules import errors as _errors
from .._rules import keywords as _binding
from .._rules import values as _rules
from .._rules.codes import code
from .compare import same, same_exception
from .journal import Journal, are_leaves, thread
from .pack import (
    Packing,
    comes_back,
    failure,
    is_cythons,
    is_outside,
    mismatch,
    name_of,
    room,
    without_own_frames,
)
from .text import show, show_all

__all__ = ["FunctionCore"]

_abi, _unpack, _wrapper = map(room, ("abi", "unpack", "wrapper"))
_library = _abi.library
_take_back = _abi.platform.plain(_library.recipe_release)
#: Memory for a recipe that owns what was made of it, wherever an interrupt comes.
_Recipe = _abi.platform.memory_class(_take_back)
_END = _abi.VALUE.pack(code.UNSET, 0, 0)
_SIZE = _abi.VALUE_SIZE
_value_of = _abi.VALUE.unpack

_new_function = _ctypes.FunctionCore.__new__
_set_target = _ctypes.FunctionCore.__dict__["_target"].__set__
_type_code_of = ObjectCore.__dict__["_type_code"].__get__


def _call_by_ctypes(args: tuple[Any, ...], target: Callable[..., int], context: Any) -> Any:
    """Lets ctypes call a Python function in the place of one of the runtime."""
    function = _new_function(_ctypes.FunctionCore)
    _set_target(function, (target, context, _call_by_recipe, (target, context)))
    return function(*args)


def _call_by_recipe(whole: Any, values: bytes, size: int, result: bytes) -> int:
    """What `anyffi_function_call_recipe` does, with a function that gives the arguments back itself."""
    target, context = whole
    recipe = _Recipe(values + _END)
    count = _library.recipe_build(recipe, size)
    if count < 0:
        return -1
    status: int = target(context, recipe, count, result, True)
    return status


def _return_none(context: Any, values: bytes, count: int, result: bytes, made: bool = False) -> int:
    """A function that does nothing."""
    if made:
        _take_back(values)
    return 0


#: While ctypes packs, while the function is at work, while ctypes reads what came of it.
_PACKING, _AT_WORK, _READING = range(3)


class _Call(Packing):
    """A call under way."""

    __slots__ = ("_arguments", "_failed", "_mine", "_outcome", "_problem", "_reading", "_stage")

    def __init__(self, function: Any, args: tuple[Any, ...], journal: Journal | None) -> None:
        super().__init__(function, args, journal)
        self._stage = _PACKING
        #: The arguments as cython made them.
        self._arguments: list[Any] = []
        #: The result, or the error that was raised.
        self._outcome: Any = None
        self._failed = False
        #: What cython makes of the outcome, or raises instead.
        self._mine: Any = None
        self._problem: BaseException | None = None
        self._reading: Journal | None = None

    def run(self) -> Any:
        """The result as cython makes it."""
        former = thread.journal
        problem = None
        try:
            thread.journal = self._journal
            try:
                theirs = _call_by_ctypes(self._values, _Call.reach, self)
            except BaseException as raised:
                problem = self._settle(raised)
            if problem is None:
                if not self._failed and self._problem is None and same(self._mine, theirs):
                    return self._mine
                problem = self._problem
                if problem is None or is_cythons(problem, self._reading):
                    problem = self._misread(show(theirs))
            raise problem
        finally:
            # First, while no signal handler can come between. The collector does not see what an error holds:
            # its exception, whose traceback leads here.
            thread.journal = former
            self._outcome = None
            self._close()
            del problem

    def _close(self) -> None:
        """Lets go of everything; frames that tracebacks lead to hold this call."""
        # The result may have been borrowed from them until now.
        self._arguments.clear()
        for journal in (self._journal, self._reading):
            if journal is not None:
                journal.close()
        self._mine = self._problem = None

    def reach(self, values: bytes, count: int, result: bytes, made: bool = False) -> int:
        """What stands in the function's place; `made` tells that it is to give the arguments back."""
        self._stage = _AT_WORK
        try:
            self._arguments = self.compare(values[: _SIZE * count])
        finally:
            thread.journal = None
            # Nobody is to see that they were made twice, by their counts for example.
            if made:
                _take_back(values)
            if self._journal is not None:
                self._journal.close()
        status: int = _core.call_rendered(self._function, self._arguments, result)
        self._failed = status != 0
        self._outcome = _core.hold_raised() if self._failed else _core.hold(result)
        type_code, _, payload = _value_of(self._outcome.cell)
        if type_code > 0:
            self._read_object(payload)
        else:
            self._read()
        self._stage = _READING
        return status

    def _read_object(self, address: int) -> None:
        header = _abi.Header.from_address(address)
        type_code, is_new = header.type_code, not header.wrapper
        self._reading = thread.journal = Journal()
        self._read()
        self._reading.replay()
        cls = type(self._mine)
        if is_new and issubclass(cls, ObjectCore):
            expected = _wrapper.class_of(type_code)
            # A class of a user's own may make instances of another one.
            if cls is not expected and not isinstance(_rules.find_on_type(expected, "__new__"), staticmethod):
                raise self._misread(f"an object of class {expected.__qualname__}")

    def _read(self) -> None:
        try:
            mine = self._outcome.read()
        except BaseException as exception:
            self._problem = exception
            return
        # As both marshallers have it, for a function that fails against the rules.
        is_unexplained = self._failed and not issubclass(type(mine), BaseException)
        self._mine = _errors.unexplained() if is_unexplained else mine

    def _settle(self, raised: BaseException) -> BaseException:
        """What is to be raised where ctypes raised."""
        if self._stage == _PACKING:
            return self.settle(raised)
        if self._stage == _AT_WORK or is_outside(raised, self._reading):
            return raised
        if self._problem is not None and not is_cythons(self._problem, self._reading):
            return self._problem
        mine: BaseException | None = self._raised()
        if mine is not None and same_exception(mine, raised):
            return mine
        if self._reading is not None:
            self._reading.replay()
        read = _unpack.raise_error if self._failed else _unpack.unpack
        is_misread = comes_back(raised, read, _value_of(self._outcome.cell))
        return self._misread(failure(raised)) if is_misread else raised

    def _raised(self) -> Any:
        """The exception that cython makes of the outcome; None if it is a value."""
        return self._mine if self._failed and self._problem is None else self._problem

    def _misread(self, theirs: str) -> BaseException:
        raised = self._raised()
        mine = show(self._mine) if raised is None else failure(raised)
        return mismatch(f"{name_of(self._function)}: result", "reads", mine, theirs)

    def _pack_by_ctypes(self, x: Any) -> None:
        _call_by_ctypes((x,), _return_none, None)


def _bind(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments in their places. cython has a way of its own to find these, besides the one of both."""
    mine = _core.find_places_of(function, args, named)
    try:
        theirs = _binding.bind(function._info(), args, named)
    except TypeError as exception:
        if mine is None:
            raise
        raise mismatch(name_of(function), "binds", show_all(mine), failure(exception)) from exception
    if mine is not None and not (len(mine) == len(theirs) and all(map(operator.is_, mine, theirs))):
        raise mismatch(name_of(function), "binds", show_all(mine), show_all(theirs))
    return theirs


class FunctionCore(_FunctionCore):  # type: ignore[misc]
    """A function of the runtime, called by both marshallers."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            if _type_code_of(self) != code.FUNCTION:
                self._info()  # which refuses what is no function
            if kwargs:
                if _binding.is_overloaded(self._info()):
                    return self._call_overload(args, kwargs)
                args = _bind(self, args, kwargs)
            journal = None if are_leaves(args) else Journal()
            return _Call(self, args, journal).run()
        except BaseException as exception:
            # As in a ctypes call: frames hold arguments, and the context is the exception's own.
            del args, kwargs
            raise exception.with_traceback(without_own_frames(exception.__traceback__))  # noqa: B904
