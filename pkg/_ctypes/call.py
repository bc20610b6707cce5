"""The way of a call: arguments into an array of values, the function, its result."""

from __future__ import annotations

from collections import deque
from ctypes import ArgumentError, c_char, c_int32

from .._rules import errors as _errors
from .._rules import keywords as _binding
from .._rules.codes import code
from .._typing import TYPE_CHECKING, Any
from .abi import VALUE, VALUE_SIZE, Function, FunctionInfo, library, platform, unhide
from .cell import Cell, empty
from .pack import pack
from .unpack import drop_raised, raise_error, unpack, unpack_copy
from .wrapper import ObjectCore, unwrap

__all__ = ["FunctionCore"]

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_NONE, _INT = code.NONE, code.INT
_join = platform.join
_value = VALUE.pack
_value_of = VALUE.unpack
_take_raised = library.error_take_raised
_call_recipe = platform.plain(library.function_call_recipe)
#: Empty cells for the next results: to make one costs a quarter of a call. A cell is put back where all went
#: well: what tracebacks hold is not used again, because a call that is interrupted relies on its cell to go.
_results: deque[Any] = deque(maxlen=8)
_take_cell = _results.pop
_put_cell = _results.append


if TYPE_CHECKING:
    _Traversed = ObjectCore
else:
    #: While nobody else holds a function over a callable, garbage collection sees the callable, so that one
    #: that refers to its function is collected.
    _Traversed = platform.traversed(ObjectCore, library.wrapper_traverse)


class FunctionCore(_Traversed):
    """A function of the runtime."""

    #: What is called and its first argument, and the same for a call by recipe, once a call has found them;
    #: what it says of itself, once asked.
    __slots__ = ("_described", "_target")

    _described: _binding.Info | None
    _target: tuple[Any, Any, Any, Any]

    if TYPE_CHECKING:  # the public class has it

        def _call_overload(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        # One frame with no more calls than needed: it is what a ctypes call costs above ctypes.
        # What must outlive the call; while it is empty nothing needs to be made for it either.
        keep: list[Any] = []
        try:
            if kwargs:
                info = self._info()
                if _binding.is_overloaded(info):
                    return self._call_overload(args, kwargs)
                args = _binding.bind(info, args, kwargs)
            try:
                target, context, call_recipe, whole = _get_target(self)
            except AttributeError:
                target = None
            if target is None:  # not above, where the AttributeError becomes the context of what is raised
                target, context, call_recipe, whole = _find_target(self)
            cells: list[Any] = []
            for x in args:
                if type(x) is int and _INT64_MIN <= x <= _INT64_MAX:
                    cells.append(_value(_INT, 0, x))
                else:
                    cells.append(pack(x, keep))
            values = _join(cells)
            try:
                result = _take_cell()
            except IndexError:
                result = None
            if result is None:
                result = Cell(VALUE_SIZE)
            value = None
            try:
                try:
                    if keep:
                        status = call_recipe(whole, values, len(values) // VALUE_SIZE, result)
                    else:
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
                answer = value[2] if value[0] == _INT else None if value[0] == _NONE else unpack(value)
            finally:
                if value is None or value[0] != _NONE:
                    empty(result)
            _put_cell(result)
            return answer
        except BaseException as exception:
            # Finalizers may run late.
            for kept in keep:
                if type(kept) is Cell:
                    empty(kept)
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


_get_target = FunctionCore.__dict__["_target"].__get__


def _find_target(wrapper: FunctionCore) -> tuple[Any, Any, Any, Any]:
    address = _check_function(unwrap(wrapper), wrapper)
    function = Function.from_address(address)
    wrapper._target = (
        platform.guard(platform.call_type(function.call)),
        platform.context_of(function.self or 0),
        _call_recipe,
        platform.context_of(address),
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
