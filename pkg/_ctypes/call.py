"""The way of a call: arguments into an array of values, the function, its result."""

from __future__ import annotations

from collections import deque
from ctypes import ArgumentError, c_char, c_int32

from .. import _binding, _errors
from .._types import code
from .._typing import TYPE_CHECKING, Any
from .abi import VALUE, VALUE_SIZE, Function, FunctionInfo, library, platform, unhide
from .cell import Cell, empty
from .pack import pack
from .unpack import drop_raised, raise_error, raise_taken, unpack, unpack_copy
from .wrapper import ObjectCore, unwrap

__all__ = ["FunctionCore"]

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_NONE, _INT = code.NONE, code.INT
_join = platform.join
_value = VALUE.pack
_value_of = VALUE.unpack
_take_raised = library.error_take_raised
_take_back = platform.plain(library.args_release)
_make, _take = platform.plain(library.args_make), platform.plain(library.args_take)
_Arguments = platform.memory_class(_take_back)
#: Empty cells for the next results: to make one costs a quarter of a call. A cell is put back where all went
#: well: what tracebacks hold is not used again, because a call that is interrupted relies on its cell to go.
_results: deque[Any] = deque(maxlen=8)
_take_cell = _results.pop
_put_cell = _results.append
#: Tells where arguments end.
_END = _value(code.UNSET, 0, 0)
#: Memory of the same kind for the arguments of calls that make objects for them.
_MANY = 9
_memories: deque[Any] = deque(maxlen=8)
_take_memory, _put_memory = _memories.pop, _memories.append


if TYPE_CHECKING:
    _Traversed = ObjectCore
else:
    #: While nobody else holds a function over a callable, garbage collection sees the callable, so that one
    #: that refers to its function is collected.
    _Traversed = platform.traversed(ObjectCore, library.wrapper_traverse)


class FunctionCore(_Traversed):
    """A function of the runtime."""

    #: What is called and its first argument, once a call has found them; what it says of itself, once asked.
    __slots__ = ("_described", "_target")

    _described: _binding.Info | None
    _target: tuple[Any, Any]

    if TYPE_CHECKING:  # the public class has it

        def _call_overload(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        # One frame with no more calls than needed: it is what a ctypes call costs above ctypes.
        try:
            if kwargs:
                info = self._info()
                if _binding.is_overloaded(info):
                    return self._call_overload(args, kwargs)
                args = _binding.bind(info, args, kwargs)
            try:
                target, context = _get_target(self)
            except AttributeError:
                target = None
            if target is None:  # not above, where the AttributeError becomes the context of what is raised
                target, context = _find_target(self)
            # What must outlive the call; while it is empty there is nothing to give back either.
            keep: list[Any] = []
            cells: list[Any] = []
            values = value = None
            try:
                for x in args:
                    if type(x) is int and _INT64_MIN <= x <= _INT64_MAX:
                        cells.append(_value(_INT, 0, x))
                    else:
                        cells.append(pack(x, keep))
                values = _give(cells) if keep else _join(cells)
                try:
                    result = _take_cell()
                except IndexError:
                    result = None
                if result is None:
                    result = Cell(VALUE_SIZE)
                try:
                    try:
                        status = target(context, values, len(cells), result)
                    except BaseException:
                        # A signal handler raised it while the function polled. What the function made of
                        # that is void.
                        drop_raised()
                        raise
                    if status != 0:
                        _take_raised(result)
                    value = _value_of(result)
                    if status != 0:
                        raise_error(value)
                    # Before the arguments go, which the result may borrow from.
                    answer = value[2] if value[0] == _INT else None if value[0] == _NONE else unpack(value)
                finally:
                    if value is None or value[0] != _NONE:
                        empty(result)
                _put_cell(result)
                del result
            finally:
                if keep and values is not None:
                    _take_back(values)
                elif keep:
                    for cell in cells:
                        if type(cell) is not bytes:
                            empty(cell)
            if keep and len(cells) < _MANY:
                _put_memory(values)
                del values
            return answer
        except BaseException as exception:
            # What the traceback of a long-lived exception holds would live as long: the arguments, in the
            # frames of this package.
            del args, kwargs
            if type(exception) is not ArgumentError:
                # Its cause and context are its own, as they came.
                raise exception.with_traceback(  # noqa: B904
                    _errors.without_frames(exception.__traceback__, (__package__,))
                )
            hidden = unhide(exception)
        # Out of there, so that the ArgumentError is not its context.
        try:
            raise hidden
        finally:
            del hidden

    def _take(self, other: ObjectCore) -> None:
        super()._take(other)
        for name in FunctionCore.__slots__:
            if hasattr(other, name):
                delattr(other, name)

    def _info(self) -> _binding.Info | None:
        try:
            return self._described
        except AttributeError:
            pass
        info = Function.from_address(_check_function(unwrap(self), self)).info
        self._described = _describe(info.contents) if info else None
        return self._described


def _give(cells: list[Any]) -> Any:
    """The arguments of a call as memory that owns what the callee may take.

    That is what recipes say, and what the cells held.
    """
    count = len(cells)
    try:
        values = _take_memory() if count < _MANY else None
    except IndexError:
        values = None
    if values is None:
        values = _Arguments(_END * max(_MANY, count + 1))
    if _make(values, _join([*cells, _END])) != 0:
        raise_taken()
    for index, cell in enumerate(cells):
        if type(cell) is not bytes:
            _take(values, index, cell)
    return values


_get_target = FunctionCore.__dict__["_target"].__get__


def _find_target(wrapper: FunctionCore) -> tuple[Any, Any]:
    function = Function.from_address(_check_function(unwrap(wrapper), wrapper))
    wrapper._target = (
        platform.guard(platform.call_type(function.call)),
        platform.context_of(function.self or 0),
    )
    return wrapper._target


def _check_function(address: int, wrapper: ObjectCore) -> int:
    """Raises unless a wrapper holds a function."""
    type_code = c_int32.from_address(address).value
    if type_code != code.FUNCTION and not library.type_is_a(type_code, code.FUNCTION):
        raise TypeError(f"this {type(wrapper).__name__} is no function")
    return address


def _describe(info: FunctionInfo) -> _binding.Info:
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
    return _value_of((c_char * VALUE_SIZE).from_address(address))


def _text(utf8: Any) -> Any:
    # Doc strings come from C++ authors; one in another encoding must not hide the function.
    return None if utf8 is None else utf8.decode("utf-8", "backslashreplace")
