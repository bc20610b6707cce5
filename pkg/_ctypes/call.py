"""The way of a call: arguments into an array of values, the function, its result."""

from __future__ import annotations

from ctypes import byref, c_char, c_int32
from types import TracebackType
from typing import Any

from .. import _binding
from .._types import code
from .abi import VALUE, VALUE_SIZE, Function, FunctionInfo, library
from .pack import NONE, object_value, pack, release
from .unpack import drop_raised, raise_taken, read_value, unpack, unpack_copy
from .wrapper import ObjectCore, unwrap

__all__ = ["FunctionCore", "call"]

#: Buffers for the arguments of a call and its result, by their number.
_buffer_types: Any = [c_char * (VALUE_SIZE * count) for count in range(18)]


class FunctionCore(ObjectCore):
    """A function of the runtime."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            if kwargs:
                args = _binding.bind(self._info(), args, kwargs)
            return call(unwrap(self), self, args)
        except BaseException as exception:
            # What the traceback of a long-lived exception holds would live as long: the arguments, in the
            # frames of this package.
            del args, kwargs
            raise exception.with_traceback(_without_own_frames(exception.__traceback__))

    def _info(self) -> Any:
        info = Function.from_address(_check_function(unwrap(self), self)).info
        return _describe(info.contents) if info else None


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package, which tell nobody anything."""
    kept = []
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__package__") != __package__:
            kept.append(traceback)
        traceback = traceback.tb_next
    for outer, inner in zip(kept, kept[1:]):
        outer.tb_next = inner
    return kept[0] if kept else None


def _check_function(address: int, wrapper: ObjectCore) -> int:
    """Raises unless a wrapper holds a function."""
    type_code = c_int32.from_address(address).value
    if type_code != code.FUNCTION and not library.type_is_a(type_code, code.FUNCTION):
        raise TypeError(f"this {type(wrapper).__name__} is no function")
    return address


def call(address: int, wrapper: ObjectCore, args: tuple[Any, ...]) -> Any:
    """Calls the function of a wrapper. The caller keeps wrapper and arguments alive."""
    count = len(args)
    function = object_value(_check_function(address, wrapper))
    keep: list[Any] = []
    packed: list[bytes] = []
    try:
        for x in args:
            packed.append(pack(x, keep))
        packed.append(NONE)
        make = _buffer_types[count + 1] if count < 17 else c_char * (VALUE_SIZE * (count + 1))
        values = make.from_buffer_copy(b"".join(packed))
    except BaseException:
        for value in packed:
            _release_made(VALUE.unpack(value))
        raise
    try:
        try:
            status = library.function_call(function, values, count, byref(values, VALUE_SIZE * count))
        except BaseException:
            # A signal handler raised it while the function polled. Whatever the function made of that is void.
            drop_raised()
            release(values[VALUE_SIZE * count :])
            raise
        if status != 0:
            raise_taken()
        # Before the arguments go, which the result may borrow from.
        return unpack(read_value(values, VALUE_SIZE * count))
    finally:
        if keep:
            for i in range(count):
                _release_made(read_value(values, VALUE_SIZE * i))


def _release_made(value: tuple[int, int, int]) -> None:
    """Gives back what packing made, other than what the callee took."""
    # Flags belong to objects; elsewhere the word holds text.
    if value[0] > 0 and value[1]:
        library.object_release(value[2])


def _describe(info: FunctionInfo) -> tuple[Any, ...]:
    """`(name, doc, params, number of required ones, flags, result type)`."""
    params = []
    for i in range(info.num_params):
        param = info.params[i]
        has_default = bool(param.default_value)
        default = unpack_copy(_read_at(param.default_value)) if has_default else None
        params.append((_text(param.name), has_default, default, _text(param.type_name)))
    return (
        _text(info.name),
        _text(info.doc),
        tuple(params),
        info.num_required,
        info.flags,
        _text(info.result_type),
    )


def _read_at(address: int) -> tuple[int, int, int]:
    return read_value((c_char * VALUE_SIZE).from_address(address))


def _text(utf8: Any) -> Any:
    # Doc strings come from C++ authors; one in another encoding must not hide the function.
    return None if utf8 is None else utf8.decode("utf-8", "backslashreplace")
