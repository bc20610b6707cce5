"""Calls by both marshallers.

ctypes makes the whole call, from packing to unpacking the result, but calls `_Call.invoke` instead of the
function: there cython packs the arguments too, the function is called once, and cython unpacks the result
first.
"""

from __future__ import annotations

import operator
from typing import Any, Callable

from .. import _ctypes
from .._builtins import *  # noqa: F403
from .._ctypes import abi as _abi
from .._ctypes import structs as _structs
from .._ctypes import unpack as _unpack
from .._ctypes import wrapper as _wrapper
from .._cython import FunctionCore as _FunctionCore
from .._cython import ObjectCore, _core
from .._rules import culprits as _culprits
from .._rules import errors as _errors
from .._rules import keywords as _binding
from .._rules import observing as _observing
from .._rules import refusals as _refusals
from .._rules import values as _rules
from .._rules.codes import code
from .._rules.slots import document_slot
from .compare import same_exception
from .journal import Journal, are_scalars, thread
from .pack import (
    Packing,
    is_external,
    is_from_cython,
    mismatch,
    name_of,
    raises_again,
    raising,
    without_own_frames,
)
from .plain import same_results
from .text import show, show_all

__all__ = ["FunctionCore", "set_observer"]

_library = _abi.library
_release_recipe = _abi.platform.plain(_library.recipe_release)
#: Memory for a recipe that owns the objects created from it, so that no interrupt leaks them.
_Recipe = _abi.platform.memory_class(_release_recipe, _library.recipe_finalize)
_END = _abi.VALUE.pack(code.UNSET, 0, 0)
_REFUSED = -2  # ANYFFI_REFUSED
_SIZE = _abi.VALUE_SIZE
_value_of = _abi.VALUE.unpack

_new_function = _ctypes.FunctionCore.__new__
_set_target = _ctypes.FunctionCore.__dict__["_anyffi_target"].__set__
_type_code_of = ObjectCore.__dict__["_anyffi_type_code"].__get__


class _Packer(_ctypes.FunctionCore):
    """Takes the place of the called function. The caller completes the errors that it raises."""

    __slots__ = ()

    def _locate(self, exception: BaseException, args: tuple[Any, ...]) -> None:
        pass


def _call_by_ctypes(args: tuple[Any, ...], target: Callable[..., int], context: Any) -> Any:
    """Let ctypes make a call that runs a Python function instead of one of the runtime."""
    function = _new_function(_Packer)
    _set_target(function, (target, context, _call_by_recipe, (target, context), 0))
    return function(*args)  # type: ignore[misc]


def _call_by_recipe(whole: Any, values: bytes, size: int, result: bytes) -> int:
    """Do what `anyffi_function_call_recipe` does, but let the called function release the arguments."""
    target, context = whole
    recipe = _Recipe(values + _END)
    count = _library.recipe_build(recipe, size)
    if count < 0:
        return -1
    status: int = target(context, recipe, count, result, True)
    return status


def _return_none(context: Any, values: bytes, count: int, result: bytes, made: bool = False) -> int:
    """Do nothing, like a function that returns None."""
    if made:
        _release_recipe(values)
    return 0


#: The stages of a call: ctypes packs, the function runs, ctypes unpacks the outcome.
_PACKING, _RUNNING, _UNPACKING = range(3)


class _Call(Packing):
    """The state of a call."""

    __slots__ = (
        "_arguments",
        "_by_cython",
        "_failed",
        "_outcome",
        "_problem",
        "_reading",
        "_refused",
        "_stage",
    )

    def __init__(self, function: Any, args: tuple[Any, ...], journal: Journal | None) -> None:
        super().__init__(function, args, journal)
        self._stage = _PACKING
        #: The arguments as cython packed them.
        self._arguments: list[Any] = []
        #: The result, or the error that was raised.
        self._outcome: Any = None
        self._failed = False
        #: Whether the arguments were refused. The message is completed once, at the end.
        self._refused = False
        #: The outcome as cython unpacks it, or the exception that it raises.
        self._by_cython: Any = None
        self._problem: BaseException | None = None
        self._reading: Journal | None = None

    def run(self) -> Any:
        """Make the call and return the result as cython unpacks it."""
        former = thread.journal
        problem = None
        try:
            thread.journal = self._journal
            try:
                by_ctypes = _call_by_ctypes(self._values, _Call.invoke, self)
            except BaseException as raised:
                problem = self._settle(raised)
            if problem is not None and self._stage == _PACKING:
                _culprits.locate(problem, self._values, self._function)
            if problem is None:
                if not self._failed and self._problem is None and same_results(self._by_cython, by_ctypes):
                    return self._by_cython
                problem = self._problem
                if problem is None or is_from_cython(problem, self._reading):
                    problem = self._mismatch(f"unpacks {show(by_ctypes)}")
            if self._refused:
                _refusals.explain(problem, self._values)
            raise problem
        finally:
            # Reset first, before a signal handler can run. The garbage collector does not traverse errors,
            # and the traceback of the exception in this one refers to this frame.
            thread.journal = former
            self._outcome = None
            self._close()
            del problem

    def _close(self) -> None:
        """Clear all references: frames of tracebacks refer to this call."""
        # Cleared last, since the result may borrow from the arguments.
        self._arguments.clear()
        for journal in (self._journal, self._reading):
            if journal is not None:
                journal.close()
        self._by_cython = self._problem = None

    def invoke(self, values: bytes, count: int, result: bytes, made: bool = False) -> int:
        """Run instead of the function; if `made`, release the arguments that ctypes created."""
        self._stage = _RUNNING
        try:
            self._arguments = self.compare(values[: _SIZE * count])
        finally:
            thread.journal = None
            # Before the function runs, which would otherwise see second references to them.
            if made:
                _release_recipe(values)
            if self._journal is not None:
                self._journal.close()
        status: int = _core.call_rendered(self._function, self._arguments, self._values, result)
        self._failed = status != 0
        self._refused = status == _REFUSED
        self._outcome = _core.hold_raised() if self._failed else _core.hold(result)
        type_code, _, payload = _value_of(self._outcome.cell)
        if type_code > 0:
            self._read_object(payload)
        else:
            self._read()
        self._stage = _UNPACKING
        return -1 if self._refused else status

    def _read_object(self, address: int) -> None:
        header = _structs.Header.from_address(address)
        type_code, is_new = header.type_code, not header.wrapper
        self._reading = thread.journal = Journal()
        self._read()
        self._reading.replay()
        cls = type(self._by_cython)
        if is_new and issubclass(cls, ObjectCore):
            expected = _wrapper.class_of(type_code)
            # `__new__` of a user's class may return an instance of another class.
            is_users = expected.__module__ != "anyffi" and isinstance(
                _rules.find_on_type(expected, "__new__"), staticmethod
            )
            if cls is not expected and not is_users:
                raise self._mismatch(f"unpacks an object of class {expected.__qualname__}")

    def _read(self) -> None:
        try:
            by_cython = self._outcome.read()
        except BaseException as exception:
            self._problem = exception
            return
        # The function reported a failure without setting an error.
        is_unexplained = self._failed and not issubclass(type(by_cython), BaseException)
        self._by_cython = _errors.unexplained() if is_unexplained else by_cython

    def _settle(self, raised: BaseException) -> BaseException:
        """Return the exception to raise after ctypes raised one."""
        if self._stage == _PACKING:
            return self.settle(raised)
        if self._stage == _RUNNING or is_external(raised, self._reading):
            return raised
        if self._problem is not None and not is_from_cython(self._problem, self._reading):
            return self._problem
        by_cython: BaseException | None = self._raised()
        if by_cython is not None and same_exception(by_cython, raised):
            return by_cython
        if self._reading is not None:
            self._reading.replay()
        read = _raise_error if self._failed else _unpack.unpack
        is_repeatable = raises_again(raised, read, _value_of(self._outcome.cell))
        return self._mismatch(raising(raised)) if is_repeatable else raised

    def _raised(self) -> Any:
        """Return the exception that cython unpacked from the outcome; None if the outcome is a value."""
        return self._by_cython if self._failed and self._problem is None else self._problem

    def _mismatch(self, by_ctypes: str) -> BaseException:
        raised = self._raised()
        by_cython = f"unpacks {show(self._by_cython)}" if raised is None else raising(raised)
        return mismatch(f"{name_of(self._function)}: result", by_cython, by_ctypes)

    def _pack_by_ctypes(self, x: Any) -> None:
        _call_by_ctypes((x,), _return_none, None)


def _raise_error(value: tuple[int, int, int]) -> None:
    raise _unpack.read_error(value, None)[0]


def _bind(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Bind arguments to parameters, by cython's fast path, if it applies, and by the shared rules."""
    by_cython = _core.find_places_of(function, args, named)
    try:
        by_ctypes = _binding.bind(function._anyffi_info(), args, named)
    except TypeError as exception:
        if by_cython is None:
            raise
        raise mismatch(name_of(function), f"binds {show_all(by_cython)}", raising(exception)) from exception
    if by_cython is not None and not (
        len(by_cython) == len(by_ctypes) and all(map(operator.is_, by_cython, by_ctypes))
    ):
        raise mismatch(name_of(function), f"binds {show_all(by_cython)}", f"binds {show_all(by_ctypes)}")
    return by_ctypes


def _select(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Bind keywords for each overload with both; return a function that selects among those that match."""
    by_cython = _core.find_overload_places(function, len(args), named)
    by_ctypes = [_place(overload._anyffi_info(), len(args), named) for overload in function.overloads]
    if by_cython != by_ctypes:
        raise mismatch(name_of(function), f"places {by_cython}", f"places {by_ctypes}")
    return function._anyffi_select(args, named)


def _place(info: _binding.Info, num_args: int, named: dict[str, Any]) -> list[int] | None:
    try:
        return _binding.place(info, num_args, [str.__str__(name) for name in named])
    except TypeError:
        return None


class FunctionCore(_FunctionCore):  # type: ignore[misc]
    """A function of the runtime, called by both marshallers."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            if _type_code_of(self) != code.FUNCTION:
                self._anyffi_info()  # raises TypeError unless it is a function
            if kwargs:
                if _binding.is_overloaded(self._anyffi_info()):
                    return _call(_select(self, args, kwargs), *args, *kwargs.values())
                args = _bind(self, args, kwargs)
            journal = None if are_scalars(args) else Journal()
            return _Call(self, args, journal).run()
        except BaseException as exception:
            # As in a ctypes call: frames must not keep arguments alive, and the exception keeps its context.
            del args, kwargs
            raise exception.with_traceback(without_own_frames(exception.__traceback__))  # noqa: B904


document_slot(FunctionCore.__call__, "__call__")

#: The call without an observer.
_call: Any = FunctionCore.__call__


def set_observer(observer: Any) -> None:
    """Make an observer's functions run before and after each call; None removes them."""
    call: Any = _call if observer is None else _observing.observe_call(_call, observer)
    FunctionCore.__call__ = call  # type: ignore[method-assign]
