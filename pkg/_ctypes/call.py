"""Calls into the runtime: pack the arguments, call the function, unpack its result."""

from __future__ import annotations

import sys
from collections import deque
from ctypes import c_char, c_int32

from .._builtins import *  # noqa: F403
from .._rules import keywords as _binding
from .._rules.codes import code
from .._rules.containers import slot_refusal
from .._rules.culprits import locate
from .._rules.internal import MISSING as _MISSING
from .._rules.slots import document_slot
from .._typing import TYPE_CHECKING, Any, Callable, Optional
from .abi import VALUE, VALUE_SIZE, library, platform, translate_error, translates_errors
from .members import name_enumeration
from .native import take_native
from .owned import OwnedValue, release, release_all
from .pack import argument_writers, pack, pack_now
from .show import Arguments
from .structs import Function, FunctionInfo
from .unpack import discard_error, raise_error, take, unpack_copy
from .wrapper import ObjectCore, unwrap

__all__ = ["FunctionCore", "bind", "plain_call", "set_packer"]

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_NONE, _INT = code.NONE, code.INT
_REFUSED = -2  # ANYFFI_REFUSED
_join = platform.join
_pack: Callable[[Any, list[Any]], bytes] = pack
_packs_itself = True
_value = VALUE.pack
_value_of = VALUE.unpack
_take_raised = library.error_take_raised
_call_recipe = platform.plain(library.function_call_recipe)
#: Calls a function in place of its own C function, if threads run in parallel; else None.
_call_sectioned = platform.plain(library.function_call_sectioned) if platform.is_sectioned else None
#: A free list of memory for results: creating one costs a quarter of a call. Only a successful call returns
#: its memory, and it must be empty: a traceback may still refer to the memory of a failed call, and an
#: interrupted call relies on the finalizer.
_results: deque[Any] = deque(maxlen=8)
_pop_result = _results.pop
_push_result = _results.append
_new_arguments = Arguments.__new__
_set_call = Arguments.__dict__["_call"].__set__


#: How arguments with keywords are passed: to which function (None: the called one), and by which function
#: they are put in order (None: they are in order). In a function's plans, the key is the number of positional
#: arguments and the names as exact str: hashing a subclass could call its methods.
_Plan = tuple[Any, Optional[Callable[[tuple[Any, ...]], tuple[Any, ...]]]]
_Key = tuple[int, tuple[str, ...]]
_MOST_PLANS = 64


#: The classes of wrappers; in check mode those of both backends.
_wrapper_classes: tuple[type, ...] = (ObjectCore,)


def _own_recipes(args: tuple[Any, ...], packed: list[Any], keep: list[Any]) -> None:
    """Create the containers of earlier arguments now, because recipes borrow the objects in them."""
    for index, value in enumerate(packed):
        if type(value) is bytes and len(value) > VALUE_SIZE:
            packed[index] = pack_now(args[index], keep)


def _renew_objects(args: tuple[Any, ...], packed: list[Any], keep: list[Any]) -> None:
    """Read the objects of wrappers again, once conversions of other arguments have run code of users.

    That may have given an object to C++.
    """
    for index, x in enumerate(args):
        value = packed[index]
        if type(value) is bytes and len(value) == VALUE_SIZE and issubclass(type(x), _wrapper_classes):
            type_code, aux, address = _value_of(value)
            if type_code > 0 and not aux and x._anyffi_address != address:
                # An empty wrapper is handled like an argument that cannot be packed.
                rest = packed[index + 1 :]
                del packed[index:]
                packed += [_pack(x, keep), *rest]


class FunctionCore(ObjectCore):
    """A function of the runtime."""

    #: `_anyffi_target`, set by the first call: C function and first argument of a call and of a call with a
    #: recipe, and the bits of the parameters that distinguish members of enumerations from numbers.
    #: `_anyffi_described`, set by the first `_anyffi_info()`: the metadata. `_anyffi_plans`, set by the first
    #: call with keywords.
    __slots__ = ("_anyffi_described", "_anyffi_plans", "_anyffi_target")

    # Annotations would be inherited by users' classes.
    if TYPE_CHECKING:
        _anyffi_described: _binding.Info | None
        _anyffi_plans: dict[_Key, _Plan]
        _anyffi_target: tuple[Any, Any, Any, Any, int]

        # Defined by the public class.
        def _anyffi_select(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def __call__(self: Any = _MISSING, /, *args: Any, **kwargs: Any) -> Any:
        # A single frame with as few calls as possible: apart from ctypes itself, most of the cost of a call
        # is here. `keep` holds what must outlive the call; while it is empty, no argument is a recipe.
        keep: list[Any] = []
        packed: list[Any] = []
        result: Any = None
        has_run_code = False
        try:
            if kwargs:
                names = tuple(kwargs)
                for name in names:
                    if type(name) is not str:
                        names = tuple([str.__str__(name) for name in names])
                        break
                key = len(args), names
                try:
                    plan = _get_plans(self).get(key)
                except AttributeError:
                    plan = None
                selected, arrange = _make_plan(self, key, args, kwargs) if plan is None else plan
                if arrange is None:
                    args += tuple(kwargs.values())
                else:
                    args = arrange((*args, *kwargs.values(), _MISSING))
                if selected is not None:
                    # Called directly, because an observer has seen the call already.
                    return plain_call(selected, *args)
            try:
                target, context, call_recipe, whole, members = _get_target(self)
            except AttributeError:
                target = None
            # Outside the handler, so that the AttributeError does not become the context of an error.
            if target is None:
                target, context, call_recipe, whole, members = _find_target(self)
            for x in args:
                if type(x) is int and _INT64_MIN <= x <= _INT64_MAX:
                    packed.append(_value(_INT, 0, x))
                    continue
                write = _get_writer(id(type(x)))
                written = None if write is None else write(x, keep)
                if type(written) is bytes:
                    packed.append(written)
                else:
                    # May run users' code.
                    if packed and _packs_itself:
                        _own_recipes(args, packed, keep)
                    packed.append(_pack(x, keep))
                    has_run_code = True
            if has_run_code and len(args) > 1:
                _renew_objects(args, packed, keep)
            if members:
                _name_enumerations(args, packed, members)
            # Joined, because the runtime writes to a recipe, while debuggers read `packed`.
            values = _join((*packed, b"")) if keep else _join(packed)
            try:
                result = _pop_result() if _results else OwnedValue(VALUE_SIZE)
            except IndexError:
                # Another thread took the last one.
                result = OwnedValue(VALUE_SIZE)
            try:
                if keep:
                    status = call_recipe(whole, values, len(values) // VALUE_SIZE, result)
                else:
                    status = target(context, values, len(packed), result)
                if status != 0:
                    _take_raised(result)
            except BaseException:
                # Raised by a signal handler, or for lack of memory; it replaces the function's error.
                discard_error()
                raise
            if status != 0:
                raise_error(result, args if status == _REFUSED else None)
            value = _value_of(result)
            type_code, flags, payload = value
            if type_code == _INT:
                return payload
            if type_code == _NONE:
                answer = None
            else:
                answer = take_native(value, result) if flags and type_code > 0 else take(value, result)
            if type_code >= _NONE:
                _push_result(result)
            return answer
        except BaseException as exception:
            # Released here, because finalizers may run late.
            if result is not None:
                release(result)
            release_all(keep)
            # Translated first: the message identifies the error, and is extended below.
            translated = translate_error(exception)
            if len(packed) < len(args):
                locate(translated, args, self)
            # For debuggers, which show this frame's variables. The description is only computed when it is
            # shown.
            arguments = _new_arguments(Arguments)
            _set_call(arguments, (self, args, packed))
            packed = values = arguments  # type: ignore[assignment]
            is_function = issubclass(type(self), FunctionCore)
            if translated is exception and is_function:
                del translated
                raise
            if not is_function:
                given = () if self is _MISSING else (self,)
                translated = slot_refusal(FunctionCore, "anyffi.Function", "__call__", 0, given, {})
        # Outside the handler, so that the ArgumentError does not become the context.
        try:
            raise translated
        finally:
            del translated

    def _anyffi_move_from(self, other: ObjectCore) -> None:
        super()._anyffi_move_from(other)
        for name in FunctionCore.__slots__:
            if hasattr(other, name):
                delattr(other, name)

    def _anyffi_info(self) -> _binding.Info | None:
        try:
            return _get_described(self)
        except AttributeError:
            pass
        info = Function.from_address(_check_function(unwrap(self), self)).info
        self._anyffi_described = described = _describe(info.contents) if info else None
        return described

    def _anyffi_doc(self) -> Any:
        """Return the documentation or None; Ellipsis if it must be composed from the overloads."""
        info = self._anyffi_info()
        return ... if _binding.is_overloaded(info) else info and info[1]


def bind(self: Any = _MISSING, /, *rest: Any, **named: Any) -> Any:
    """Return the function itself: the `__get__` of the public class."""
    if not issubclass(type(self), FunctionCore) or named:
        given = () if self is _MISSING else (self, *rest)
        raise slot_refusal(FunctionCore, "anyffi.Function", "__get__", 1, given, named)
    if not 1 <= len(rest) <= 2:
        bound = "at most 2 arguments" if rest else "at least 1 argument"
        # Before Python 3.14 the name is empty, but the space after it is there.
        name = "__get__" if sys.version_info >= (3, 14) else ""
        raise TypeError(f"{name} expected {bound}, got {len(rest)}")
    if rest[0] is None and rest[-1] is None:
        raise TypeError("__get__(None, None) is invalid")
    return self


bind.__name__, bind.__qualname__ = "__get__", "Function.__get__"
document_slot(bind, "__get__")
bind.__module__ = "anyffi"  # as pickles name it

FunctionCore.__call__.__qualname__ = "Function.__call__"
document_slot(FunctionCore.__call__, "__call__")
#: `FunctionCore.__call__` without an observer.
plain_call: Any = FunctionCore.__call__

_NO_WRITERS: dict[int, Any] = {}
#: Finds the writer for arguments of a class, by the class's id.
_get_writer: Callable[[int], Any] = argument_writers.get


def set_packer(
    pack: Callable[[Any, list[Any]], bytes], default: bool, wrapper_classes: tuple[type, ...]
) -> None:
    """Pack arguments of calls with another function than the default one; see hooks.py."""
    global _pack, _get_writer, _packs_itself, _wrapper_classes
    _wrapper_classes = wrapper_classes
    _pack = pack
    _packs_itself = default
    _get_writer = argument_writers.get if default else _NO_WRITERS.get


# Not accessed by name: if the slot is empty, `__getattr__` of a user's class would be called.
_get_target = FunctionCore.__dict__["_anyffi_target"].__get__
_get_described: Callable[[Any], _binding.Info | None] = FunctionCore.__dict__["_anyffi_described"].__get__
_get_plans = FunctionCore.__dict__["_anyffi_plans"].__get__


def _make_plan(wrapper: FunctionCore, key: _Key, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan:
    info = wrapper._anyffi_info()
    in_order = list(range(len(args) + len(kwargs)))
    selected, places = None, in_order
    if _binding.is_overloaded(info):
        selected = wrapper._anyffi_select(args, kwargs)
    else:
        places = _binding.place(info, len(args), key[1])
    try:
        plans = _get_plans(wrapper)
    except AttributeError:
        plans = None
    if plans is None or len(plans) == _MOST_PLANS:
        wrapper._anyffi_plans = plans = {}
    plan = plans[key] = selected, None if places == in_order else _binding.arrange(places)
    return plan


def _find_target(wrapper: FunctionCore) -> tuple[Any, Any, Any, Any, int]:
    address = _check_function(unwrap(wrapper), wrapper)
    function = Function.from_address(address)
    members = _find_member_params(function.info.contents) if function.info else 0
    if _call_sectioned is not None:
        context = platform.context_of(address)
        wrapper._anyffi_target = _call_sectioned, context, _call_recipe, context, members
        return wrapper._anyffi_target
    wrapper._anyffi_target = (
        platform.guard(platform.call_type(function.call)),
        platform.context_of(function.self or 0),
        _call_recipe,
        platform.context_of(address),
        members,
    )
    return wrapper._anyffi_target


def _find_member_params(info: FunctionInfo) -> int:
    if info.flags & _binding.OVERLOADED:
        return -1
    has_them = info.struct_size >= FunctionInfo.member_params.offset + FunctionInfo.member_params.size
    return info.member_params if has_them else 0


def _name_enumerations(args: tuple[Any, ...], packed: list[Any], params: int) -> None:
    """Mark ints that are members of enumerations, for parameters that distinguish these from numbers."""
    for i, x in enumerate(args):
        if params >> i & 1 and type(x) is not int and type(packed[i]) is bytes:
            packed[i] = name_enumeration(x, packed[i])


def _check_function(address: int, wrapper: ObjectCore) -> int:
    """Return the address of a wrapper's object; TypeError unless it is a function."""
    type_code = c_int32.from_address(address).value
    if type_code != code.FUNCTION and not library.type_is_a(type_code, code.FUNCTION):
        raise TypeError(f"this {type(wrapper).__name__} is no function")
    return address


@translates_errors
def _describe(info: FunctionInfo) -> _binding.Info:
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
        info.num_keyword_only if info.flags & _binding.KEYWORD_ONLY else 0,
    )


def _read_at(address: int) -> tuple[int, int, int]:
    return _value_of((c_char * VALUE_SIZE).from_address(address))


def _text(utf8: Any) -> Any:
    # The text comes from C++ authors; a wrong encoding must not make the function unusable.
    return None if utf8 is None else utf8.decode("utf-8", "backslashreplace")
