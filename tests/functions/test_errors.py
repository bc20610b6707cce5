"""C++ errors in Python, and Python exceptions in C++."""

from __future__ import annotations

import builtins
import errno
import signal
import sys
import traceback
import warnings
from typing import Any, Callable

import anyffi
import cases
import pytest
from hypothesis import given
from support import CPYTHON

needs_notes = pytest.mark.skipif(sys.version_info < (3, 11), reason="notes and groups came with Python 3.11")


def raise_(error: BaseException) -> Callable[..., Any]:
    def callback(*args: Any) -> Any:
        raise error

    return callback


# ---- C++ to Python ------------------------------------------------------------------------------

#: Exception classes that cannot be constructed from one string.
_UNMAKEABLE = {
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeTranslateError",
    "BaseExceptionGroup",
    "ExceptionGroup",
}
_BUILTIN_KINDS = sorted(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type)
    and issubclass(value, BaseException)
    and name not in _UNMAKEABLE
    and value.__name__ == name
)


@pytest.mark.parametrize("kind", _BUILTIN_KINDS)
def test_a_kind_raises_its_builtin_exception(ffi: Any, kind: str) -> None:
    raise_error = ffi.get_global_func("testing.raise_error")
    cls = getattr(builtins, kind)
    with pytest.raises(cls) as caught:
        raise_error(kind, "what went wrong")
    assert type(caught.value) is cls
    assert caught.value.args == ("what went wrong",)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "kind", ["NoSuchKind", "", "int", "object", "print", "UnicodeDecodeError", "ValueError ", "Å", "IOError"]
)
def test_an_unknown_kind_raises_runtime_error(ffi: Any, kind: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        ffi.get_global_func("testing.raise_error")(kind, "msg")
    assert type(caught.value) is RuntimeError
    assert str(caught.value) == f"{kind}: msg"


@pytest.mark.unrecorded("the names of its classes contain the mode")
def test_registered_kinds(ffi: Any) -> None:
    class Registered(ValueError):
        pass

    class OtherRegistered(KeyError):
        pass

    class NeedsTwo(ValueError):
        def __init__(self, a: Any, b: Any) -> None:
            super().__init__(a, b)

    class Hostile(ValueError):
        def __new__(cls, *args: Any) -> Any:
            return 5

    raise_error = ffi.get_global_func("testing.raise_error")
    anyffi.register_error(f"Registered{ffi.ffi_mode}", Registered)
    anyffi.register_error(f"NeedsTwo{ffi.ffi_mode}", NeedsTwo)
    anyffi.register_error(f"Hostile{ffi.ffi_mode}", Hostile)
    with pytest.raises(Registered, match="^m$"):
        raise_error(f"Registered{ffi.ffi_mode}", "m")
    for name in ("NeedsTwo", "Hostile"):
        with pytest.raises(RuntimeError, match=f"^{name}{ffi.ffi_mode}: m$"):
            raise_error(f"{name}{ffi.ffi_mode}", "m")
    with pytest.raises(ValueError, match="registered already"):
        anyffi.register_error(f"Registered{ffi.ffi_mode}", NeedsTwo)
    anyffi.register_error(f"Registered{ffi.ffi_mode}", OtherRegistered, override=True)
    with pytest.raises(OtherRegistered):
        raise_error(f"Registered{ffi.ffi_mode}", "m")


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs an unused signal")
def test_what_a_signal_handler_raises_while_an_exception_is_made(ffi: Any) -> None:
    """The handler's exception arrives; one that the class itself raises is replaced by a RuntimeError."""
    by_handler = True

    class Unmakeable(Exception):
        def __init__(self, message: str) -> None:
            if by_handler:
                signal.raise_signal(signal.SIGUSR1)
            raise LookupError("by the class")

    def handler(signum: int, frame: Any) -> None:
        raise LookupError("by the handler")

    raise_error = ffi.get_global_func("testing.raise_error")
    kind = "Unmakeable"
    anyffi.register_error(kind, Unmakeable, override=True)
    former = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(LookupError, match="by the handler"):
            raise_error(kind, "m")
        by_handler = False
        with pytest.raises(RuntimeError, match=f"^{kind}: m$"):
            raise_error(kind, "m")
    finally:
        signal.signal(signal.SIGUSR1, former)


@pytest.mark.parametrize(
    ("what", "cls", "message"),
    [
        ("bad_alloc", MemoryError, None),
        ("out_of_range", IndexError, "too far"),
        ("invalid_argument", ValueError, "not that"),
        ("overflow_error", OverflowError, "too big"),
        ("domain_error", ValueError, "not defined there"),
        ("length_error", ValueError, "too long"),
        ("range_error", ValueError, "not in range"),
        ("underflow_error", RuntimeError, "too small"),
        ("runtime_error", RuntimeError, "went wrong"),
        ("future_error", RuntimeError, None),
        ("bad_cast", RuntimeError, None),
        ("failure", OSError, None),
        ("system_error", PermissionError, "[Errno 13] locked: Permission denied"),
        ("path", FileNotFoundError, "[Errno 2] No such file or directory: '/no such file'"),
        (
            "filesystem_error",
            FileNotFoundError,
            "[Errno 2] No such file or directory: '/no such file' -> '/nor this one'",
        ),
        ("several", ValueError, "not that either"),
        ("an int", RuntimeError, None),
    ],
)
def test_standard_exceptions(ffi: Any, what: str, cls: Any, message: Any) -> None:
    with pytest.raises(cls) as caught:
        ffi.get_global_func("testing.throw_std")(what)
    assert type(caught.value) is cls
    if message is not None:
        assert str(caught.value) == message


def test_errors_of_the_system_have_their_fields(ffi: Any) -> None:
    throw = ffi.get_global_func("testing.throw_std")
    with pytest.raises(OSError, match="locked") as caught:
        throw("system_error")
    assert (caught.value.errno, caught.value.filename) == (errno.EACCES, None)
    with pytest.raises(OSError, match="No such file") as caught:
        throw("filesystem_error")
    assert (caught.value.errno, caught.value.filename, caught.value.filename2) == (
        errno.ENOENT,
        "/no such file",
        "/nor this one",
    )
    kind, message, _ = ffi.get_global_func("testing.catch_error")(throw, "path")
    assert (kind, message) == ("FileNotFoundError", "[Errno 2] No such file or directory: '/no such file'")


def test_message_is_any_text(ffi: Any) -> None:
    raise_error = ffi.get_global_func("testing.raise_error")

    @given(cases.texts)
    def check(message: str) -> None:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            raise_error("ValueError", message)
        assert caught.value.args == (message,)

    check()


def test_each_raise_makes_a_new_exception(ffi: Any) -> None:
    raise_error = ffi.get_global_func("testing.raise_error")
    errors = []
    for _ in range(2):
        try:
            raise_error("ValueError", "x")
        except ValueError as error:
            errors.append(error)
    assert errors[0] is not errors[1]


def test_context_is_what_was_being_handled(ffi: Any) -> None:
    outer = KeyError("outer")
    try:
        try:
            raise outer
        except KeyError:
            ffi.get_global_func("testing.raise_error")("ValueError", "inner")
    except ValueError as error:
        assert error.__context__ is outer
        assert error.__cause__ is None


# ---- Python through C++ -------------------------------------------------------------------------

_THROUGH = ["testing.apply", "testing.rethrow", "testing.without_lock"]


@pytest.mark.parametrize("through", _THROUGH)
@pytest.mark.parametrize(
    "error",
    [ValueError("v"), KeyError("k"), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), StopIteration(5), MemoryError(),
     RecursionError("deep"), Exception(1, [2]), BaseException("base"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
     AssertionError, StopAsyncIteration(), cases.CallableError("c"), cases.ErrorWithIndex()],
    ids=repr,
)  # fmt: skip
def test_python_exception_keeps_its_identity(ffi: Any, through: str, error: Any) -> None:
    through = ffi.get_global_func(through)
    if isinstance(error, type):
        error = error()
    cause = LookupError("cause")
    args = error.args
    error.__cause__ = cause
    error.__traceback__ = None
    error.own = attribute = object()
    try:
        through(raise_(error))
    except BaseException as caught:
        assert caught is error
        assert caught.args == args
        assert caught.__cause__ is cause
        assert caught.__context__ is None
        assert caught.own is attribute
        frames = [frame.name for frame in traceback.extract_tb(caught.__traceback__)]
        assert frames[0] == "test_python_exception_keeps_its_identity"
        assert frames[-1] == "callback"
        caught.__traceback__ = caught.__cause__ = None
    else:
        pytest.fail("nothing was raised")


@needs_notes
def test_notes_and_groups(ffi: Any) -> None:
    error = ExceptionGroup("several", [ValueError(1), KeyError(2)])
    error.add_note("a note")
    with pytest.raises(ExceptionGroup) as caught:
        ffi.get_global_func("testing.rethrow")(raise_(error))
    assert caught.value is error
    assert error.__notes__ == ["a note"]
    assert [type(e) for e in error.exceptions] == [ValueError, KeyError]


def test_context_inside_of_a_callback(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    def callback() -> None:
        try:
            raise KeyError("first")
        except KeyError:
            raise ValueError("second")

    with pytest.raises(ValueError, match="second") as caught:
        apply(callback)
    assert type(caught.value.__context__) is KeyError


def test_exception_through_many_layers(ffi: Any) -> None:
    apply, rethrow = map(ffi.get_global_func, ("testing.apply", "testing.rethrow"))
    error = ValueError("deep")

    def layer(depth: int) -> Any:
        if depth == 0:
            raise error
        return (apply if depth % 2 else rethrow)(layer, depth - 1)

    with pytest.raises(ValueError, match="deep") as caught:
        layer(20)
    assert caught.value is error
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names.count("layer") == 21


def test_cpp_reads_kind_message_and_traceback(ffi: Any) -> None:
    catch = ffi.get_global_func("testing.catch_error")
    kind, message, trace = catch(raise_(ValueError("what")))
    assert (kind, message) == ("ValueError", "what")
    assert "in callback" in trace
    assert "raise error" in trace
    assert trace.index("test_errors.py") >= 0
    assert catch(raise_(KeyError("k")))[:2] == ("KeyError", "'k'")
    assert catch(raise_(Exception()))[:2] == ("Exception", "")
    assert catch(raise_(cases.CallableError("own")))[:2] == ("CallableError", "own")
    assert catch(raise_(KeyboardInterrupt()))[0] == "KeyboardInterrupt"
    assert catch(lambda: 5) == 5


def test_the_traceback_that_cpp_reads_has_no_frames_of_the_package(ffi: Any) -> None:
    catch, apply, echo, fail = map(
        ffi.get_global_func, ("testing.catch_error", "testing.apply", "testing.echo", "testing.raise_error")
    )

    class Refuses:
        def __index__(self) -> int:
            raise ValueError("index")

    for work, frames in (
        (lambda: apply(lambda: fail("KeyError", "k")), 2),
        (lambda: echo(Refuses()), 2),
        (lambda: ffi.List([Refuses()]), 2),
        (lambda: ffi.get_global_func("testing.nobody"), 1),
        (lambda: ffi.load_module("./missing.so"), 1),
        (lambda: ffi.Array(5), 1),
    ):
        _, _, trace = catch(work)
        files = [line.split('"')[1] for line in trace.splitlines() if line.startswith("  File ")]
        # The recorder of outcomes wraps the functions under test, and has frames of its own.
        assert [name for name in files if not name.endswith("outcomes.py")] == [__file__] * frames, trace


def test_cpp_reads_an_exception_whose_str_fails(ffi: Any) -> None:
    class Hostile(Exception):
        def __str__(self) -> str:
            raise self

        __repr__ = __str__

    kind, message, _ = ffi.get_global_func("testing.catch_error")(raise_(Hostile()))
    assert kind == "Hostile"
    assert "Hostile" in message


def test_cpp_reads_an_error_of_cpp(ffi: Any) -> None:
    catch, raise_error = map(ffi.get_global_func, ("testing.catch_error", "testing.raise_error"))
    assert catch(raise_error, "KeyError", "k")[:2] == ("KeyError", "k")
    assert catch(raise_error, "Own kind", "\ud800")[:2] == ("Own kind", "\ud800")
    kind, _, _ = catch(ffi.get_global_func("testing.throw_std"), "out_of_range")
    assert kind == "IndexError"


def test_swallowed_errors_leave_nothing_behind(ffi: Any) -> None:
    catch_repeatedly = ffi.get_global_func("testing.catch_repeatedly")

    def callback(i: int) -> None:
        if i % 2:
            raise ValueError(i)

    assert catch_repeatedly(callback, 1000) == 500
    assert sys.exc_info() == (None, None, None)
    ffi.get_global_func("testing.nop")()


def test_error_values_travel(ffi: Any) -> None:
    echo, hold, held = map(ffi.get_global_func, ("testing.echo", "testing.hold", "testing.held"))
    error = ValueError("v")
    assert echo(error) is error
    assert echo([error])[0] is error
    hold(error)
    assert held() is error
    hold(None)


def test_swallowed_then_raised_again_later(ffi: Any) -> None:
    error = ValueError("kept")
    catch = ffi.get_global_func("testing.catch_error")
    for _ in range(3):
        assert catch(raise_(error))[:2] == ("ValueError", "kept")
        with pytest.raises(ValueError, match="kept") as caught:
            ffi.get_global_func("testing.apply")(raise_(error))
        assert caught.value is error


# ---- errors of conversions and calls ------------------------------------------------------------


def test_unicode_errors_are_complete(ffi: Any) -> None:
    c_str = ffi.get_global_func("testing.typed.c_str")
    for text, start in (
        ("ab\ud800cd", 2),
        ("\udfff", 0),
        ("x" * 50 + "\udc80", 50),
        ("\u4e2d\ud83d\ude00", 1),
    ):
        with pytest.raises(UnicodeEncodeError) as caught:
            c_str(text)
        assert caught.value.encoding == "utf-8"
        assert caught.value.object == text
        assert caught.value.start == start
        assert start < caught.value.end <= len(text)
        assert caught.value.reason == "surrogates not allowed"


def test_unicode_error_is_pythons_own(ffi: Any) -> None:
    c_str = ffi.get_global_func("testing.typed.c_str")

    @given(cases.texts.filter(lambda text: "\0" not in text))
    def check(text: str) -> None:
        try:
            expected = len(text.encode())
        except UnicodeEncodeError as error:
            with pytest.raises(UnicodeEncodeError) as caught:
                c_str(text)
            expected_args = list(error.args)
            if not CPYTHON:
                expected_args[3] = caught.value.end  # PyPy reports only the first of several
            assert list(caught.value.args) == expected_args
        else:
            assert c_str(text) == expected

    check()


def test_no_warnings(ffi: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning):
            ffi.get_global_func("testing.apply")(raise_(DeprecationWarning("x")))


def test_callback_result_that_cannot_be_converted(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    with pytest.raises(RecursionError):
        apply(lambda: cases.nested(300, lambda x: [x]))
    with pytest.raises(ZeroDivisionError, match="^index$"):
        apply(lambda: cases.Indexable(ZeroDivisionError("index")))


def test_calling_what_is_no_function(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    for x, name in (
        (5, "int"),
        ("s", "str"),
        (None, "NoneType"),
        ([1], "List"),
        (object(), "object"),
    ):
        with pytest.raises(TypeError, match=name):
            apply(x)
