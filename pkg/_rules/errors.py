"""Converts between errors of the runtime and Python's exceptions, for both backends.

A Python exception is passed as a handle and returned as the same object. Its kind, the name of its class,
only matters for errors made in C++, and for C++ code that reads the kind of a Python exception.
"""

from __future__ import annotations

import _thread
import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, TypeVar, overload

__all__ = [
    "BUILTIN_KINDS",
    "MarshalMismatch",
    "class_of_kind",
    "fill",
    "is_declared",
    "is_from_handler",
    "is_main_interpreter",
    "make",
    "register_declared",
    "register_error",
    "require_first_interpreter",
    "require_loadable",
    "require_main_interpreter",
    "set_class_finder",
    "unexplained",
    "without_frames",
]

_E = TypeVar("_E", bound=BaseException)

#: The exception class for each kind. The compiled marshaller reads this dict, too.
class_of_kind: dict[str, type[BaseException]] = {
    name: found
    for name, found in vars(builtins).items()
    if isinstance(found, type) and issubclass(found, BaseException) and found.__name__ == name
}
#: The kinds of Python's builtin exceptions.
BUILTIN_KINDS = tuple(class_of_kind)
_kind_of_class: dict[type[BaseException], str] = {found: kind for kind, found in class_of_kind.items()}

#: The kinds of classes that C++ declares; errors of derived classes have the same kind.
_declared: dict[type[BaseException], str] = {}
_find_class: Callable[[str], Any] | None = None

_name_of = type.__dict__["__name__"].__get__
_traceback_of = BaseException.__dict__["__traceback__"].__get__


def require_main_interpreter(is_main: bool) -> None:
    """Raise ImportError in a subinterpreter: callbacks from C++ would wait forever for the main one."""
    if not is_main:
        raise ImportError(
            "anyffi can be imported in the main interpreter of a process only, and this is a subinterpreter; "
            "use threads or processes"
        )


def is_main_interpreter() -> bool:
    """Return whether this is the main interpreter, as far as Python code can tell."""
    # Not `from _thread import`: an ImportError without memory for its message becomes a TypeError on CPython.
    is_main = getattr(_thread, "_is_main_interpreter", None)  # CPython 3.13
    if is_main is not None:
        return bool(is_main())
    try:
        from _xxsubinterpreters import get_current, get_main  # type: ignore[import-not-found]
    except ImportError:
        return True
    return bool(get_current() == get_main())


@contextmanager
def require_loadable() -> Iterator[None]:
    """Raise that ImportError instead of CPython's and Cython's own, when a module is imported."""
    try:
        yield
    except ImportError as error:
        # "... does not support loading in subinterpreters", "Interpreter change detected ..."
        require_main_interpreter("interpreter" not in str(error).lower())
        raise


def require_first_interpreter(is_first: bool) -> None:
    """Raise ImportError if an interpreter that had imported the package has ended in this process."""
    if not is_first:
        raise ImportError(
            "anyffi was imported by an interpreter that has ended (Py_Finalize), and cannot be imported "
            "again in the same process, where C++ may hold objects of that interpreter; keep one until "
            "the process ends"
        )


class MarshalMismatch(RuntimeError):
    """The two marshallers disagree about a value: only raised in check mode, and always a bug of anyffi.

    The message contains the call, the argument or result, and the value that each marshaller produced.
    """

    __module__ = "anyffi"


@overload
def register_error(name_or_cls: type[_E]) -> type[_E]: ...
@overload
def register_error(name_or_cls: str, cls: type[_E], *, override: bool = ...) -> type[_E]: ...
@overload
def register_error(
    name_or_cls: str | None = ..., *, override: bool = ...
) -> Callable[[type[_E]], type[_E]]: ...
def register_error(
    name_or_cls: str | type[Any] | None = None,
    cls: type[Any] | None = None,
    *,
    override: bool = False,
) -> Any:
    """Raise C++ errors of a kind as an exception class.

    Parameters
    ----------
    name_or_cls : str or type, optional
        The kind; or the class itself, whose name then is the kind.
    cls : type, optional
        The exception class. Without it this is a decorator.
    override : bool
        Replace a class registered for the kind.

    Raises
    ------
    ValueError
        The kind belongs to another class, and `override` is false.

    Examples
    --------
    >>> @anyffi.register_error
    ... class NoSuchShape(ValueError):
    ...     pass
    """
    if isinstance(name_or_cls, type):
        return _register(name_or_cls.__name__, name_or_cls, override)
    if cls is not None:
        return _register(name_or_cls or cls.__name__, cls, override)

    def decorate(decorated: type[Any]) -> type[Any]:
        return _register(name_or_cls or decorated.__name__, decorated, override)

    return decorate


def _register(kind: str, cls: type[Any], override: bool) -> type[Any]:
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise TypeError(f"an exception class is needed, not {cls!r}")
    taken = class_of_kind.get(kind)
    if taken not in (None, cls) and not override:
        raise ValueError(f"error kind {kind!r} is registered already, for {taken!r}")
    class_of_kind[kind] = cls
    _kind_of_class[cls] = kind
    return cls


def set_class_finder(find: Callable[[str], Any]) -> None:
    """Set the function that returns the class for a kind that C++ declares, or None."""
    global _find_class
    _find_class = find


def register_declared(kind: str, cls: type[BaseException]) -> None:
    """Raise errors of a kind as a class that C++ declares; errors of derived classes get that kind."""
    _register(kind, cls, True)
    _declared[cls] = kind


def is_declared(cls: type[BaseException]) -> bool:
    """Return whether a class was made for a kind that C++ declares."""
    return cls in _declared


def make(kind: str, message: str, args: tuple[Any, ...] | None, cause: BaseException | None) -> BaseException:
    """Return the exception for an error made in C++.

    It is constructed from `args` if they are given, else from the message. For an unknown kind, or if
    construction fails, it is a RuntimeError with kind and message.
    """
    exception = None if args is None else _construct(kind, args)
    if exception is None:
        # A user's class may reject attributes.
        exception = _construct(kind, (message,)) or RuntimeError(f"{kind}: {message}")
    if cause is not None:
        exception.__cause__ = cause
    return exception


def unexplained() -> BaseException:
    """Return the exception for a function that failed without setting an error, in violation of the C ABI."""
    return RuntimeError("a function failed without setting an error")


def _construct(kind: str, args: tuple[Any, ...]) -> BaseException | None:
    cls = class_of_kind.get(kind)
    try:
        if cls is None and _find_class is not None:
            cls = _find_class(kind)
        if cls is None:
            return None
        exception: Any = cls(*args)
    except Exception as raised:
        # If the recursion is through the constructor, a second attempt at each level would double the time.
        if isinstance(raised, (MemoryError, RecursionError)) or is_from_handler(raised):
            raise
        return None
    return exception if isinstance(exception, BaseException) else None


def is_from_handler(exception: BaseException) -> bool:
    """Return whether a signal handler raised it: handlers may run between any two bytecodes."""
    # A program with a handler has imported the module.
    signal: Any = sys.modules.get("signal")
    if signal is None:
        return False
    codes = [getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()]
    traceback = _traceback_of(exception)
    while traceback is not None:
        if any(found is traceback.tb_frame.f_code for found in codes):
            return True
        traceback = traceback.tb_next
    return False


def fill(exception: BaseException, is_whole: bool) -> tuple[str, str, str]:
    """Return kind, message and traceback of a Python exception as text; never fails.

    Unless `is_whole`, only the kind: the text of a traceback may be long.
    """
    cls = type(exception)
    kind = _kind_of_class.get(cls) or next(
        (_declared[base] for base in cls.__mro__ if base in _declared), None
    )
    kind = kind or _name_of(cls)
    return (kind, _message(exception), _traceback(exception)) if is_whole else (kind, "", "")


def _message(exception: BaseException) -> str:
    try:
        return str.__str__(str(exception))
    except Exception:
        return f"<exception {_name_of(type(exception))} whose str() failed>"


def _traceback(exception: BaseException) -> str:
    try:
        # Imported late: the import is slow, and few programs need it.
        import traceback

        found = _traceback_of(exception)
        # Leaves out the package's own frames, which depend on the mode.
        shown = [
            line
            for (frame, _), line in zip(traceback.walk_tb(found), traceback.extract_tb(found))
            if not _is_in(frame, ("anyffi._",))
        ]
        return "".join(traceback.format_list(shown))
    except Exception:
        return ""


def _is_in(frame: FrameType, modules: tuple[str, ...]) -> bool:
    """Return whether a frame belongs to a module whose name begins with one of these prefixes."""
    return str(frame.f_globals.get("__name__")).startswith(modules)


def without_frames(traceback: TracebackType | None, modules: tuple[str, ...]) -> TracebackType | None:
    """Remove the frames of modules with these prefixes from a traceback."""
    kept = []
    while traceback is not None:
        if not _is_in(traceback.tb_frame, modules):
            kept.append(traceback)
        traceback = traceback.tb_next
    for outer, inner in zip(kept, kept[1:]):
        outer.tb_next = inner
    return kept[0] if kept else None
