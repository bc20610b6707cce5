"""Container error messages and checks of arguments, for both backends.

The messages are those of Python's own containers.
"""

from __future__ import annotations

import operator
import sys
from types import FunctionType, MappingProxyType

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, NoReturn, TypeVar
from .codes import code
from .culprits import locate_method
from .decisions import find_on_type, is_changeable, is_wrapper_class
from .internal import MISSING
from .slots import document_slot

__all__ = [
    "ELEMENTS",
    "ITEMS",
    "KEYS",
    "PLAIN_ITERABLES",
    "PLAIN_SEQUENCES",
    "PLAIN_SETS",
    "VALUES",
    "as_bound",
    "as_count",
    "as_index",
    "as_position",
    "assignment_out_of_range",
    "changed_keys",
    "changed_size",
    "checks_self",
    "clip_index",
    "container_code",
    "has_pair",
    "hashable",
    "holds_scalars",
    "index_out_of_range",
    "missing_item",
    "no_pickle",
    "reduce_iterator",
    "refuse_iterator",
    "slot_refusal",
    "text_signature",
    "unpack_slice",
    "wrong_object",
    "wrong_self",
]

#: What an iterator over entries yields.
KEYS, VALUES, ITEMS, ELEMENTS = range(4)

#: Python's classes whose items are read without users' code; by id, since comparing classes may run code of
#: their metaclasses.
PLAIN_SETS, PLAIN_SEQUENCES = frozenset(map(id, (set, frozenset))), frozenset(map(id, (list, tuple)))
PLAIN_ITERABLES = PLAIN_SETS | PLAIN_SEQUENCES

_Class = TypeVar("_Class", bound=type)


def _name_in_c(cls: type) -> str:
    """Return the name of a class in the interpreter's messages; for a C class with its module."""
    return (
        cls.__name__
        if is_changeable(cls) or cls.__module__ == "builtins"
        else f"{cls.__module__}.{cls.__name__}"
    )


#: Special methods that are not C slots: their messages are those of methods.
_NO_SLOTS = ("__reversed__", "__reduce__", "__copy__", "__deepcopy__", "__array__")

#: The default for `self`, or an argument, that is missing.
_NONE: Any = MISSING


def wrong_self(name: str, shown: str, given: Any, *, is_slot: bool | None = None) -> TypeError:
    """Return the interpreter's error for a method that got a `self` of another class, or none."""
    if is_slot is None:
        is_slot = name.startswith("__") and name not in _NO_SLOTS
    if given is _NONE:
        text = f"unbound method {shown.rpartition('.')[2]}.{name}() needs an argument"
    elif is_slot:
        text = f"descriptor {name!r} requires a {shown!r} object but received a {_name_in_c(type(given))!r}"
    else:
        got = _name_in_c(type(given))
        text = f"descriptor {name!r} for {shown!r} objects doesn't apply to a {got!r} object"
    return TypeError(text)


#: CO_VARARGS and CO_VARKEYWORDS of `inspect`, whose import would take a fifth of this package's import time.
_VAR_POSITIONAL, _VAR_KEYWORD = 0x04, 0x08
_STARS = _VAR_POSITIONAL | _VAR_KEYWORD


def _checked(cls: type, shown: str, method: Any) -> Any:
    """Return a method that checks `self`; up to two more arguments are passed without a tuple and a dict.

    `isinstance` would believe an object with a false `__class__`.
    """
    name = method.__name__
    called = (shown if name == "__init__" else f"{shown}.{name}"), None
    code = method.__code__
    is_positional = name.startswith("__") or code.co_argcount in (1, code.co_posonlyargcount)
    count = 0 if code.co_flags & _STARS or code.co_kwonlyargcount or not is_positional else code.co_argcount

    check_self: Any
    if count == 1:

        def check_self(self: Any = _NONE, /, *rest: Any) -> Any:
            if type(self) is not cls and not issubclass(type(self), cls):
                raise wrong_self(name, shown, self)
            return method(self, *rest) if rest else method(self)

    elif count == 2:

        def check_self(self: Any = _NONE, first: Any = _NONE, /, *rest: Any) -> Any:
            if type(self) is not cls and not issubclass(type(self), cls):
                raise wrong_self(name, shown, self)
            if first is _NONE:
                return method(self)
            try:
                return method(self, first, *rest) if rest else method(self, first)
            except Exception as exception:
                locate_method(exception, (first, *rest), called)
                raise

    elif count == 3:

        def check_self(self: Any = _NONE, first: Any = _NONE, second: Any = _NONE, /, *rest: Any) -> Any:
            if type(self) is not cls and not issubclass(type(self), cls):
                raise wrong_self(name, shown, self)
            try:
                if second is _NONE:
                    return method(self) if first is _NONE else method(self, first)
                return method(self, first, second, *rest)
            except Exception as exception:
                given = (first,) if second is _NONE else (first, second, *rest)
                locate_method(exception, given, called)
                raise

    else:

        def check_self(self: Any = _NONE, /, *args: Any, **kwargs: Any) -> Any:
            if type(self) is not cls and not issubclass(type(self), cls):
                raise wrong_self(name, shown, self)
            try:
                return method(self, *args, **kwargs)
            except Exception as exception:
                locate_method(exception, (*args, *kwargs.values()), (called[0], tuple(kwargs)))
                raise

    # Errors about a wrong number of arguments show this name; before Python 3.10 they take it from the code.
    method.__qualname__ = name
    made = check_self.__code__
    if sys.version_info < (3, 10):
        made = made.replace(co_name=name)
    if 0 < count < 4:
        # Errors about keywords show the names of positional-only parameters.
        made = made.replace(co_varnames=code.co_varnames[:count] + made.co_varnames[count:])
    check_self.__code__ = made
    return check_self


#: The start of messages about the number of its arguments.
_NAME_OF_SETITEM = "__setitem__" if sys.version_info >= (3, 14) else ""


def slot_refusal(
    cls: type, shown: str, name: str, wanted: int, args: tuple[Any, ...], named: Any
) -> TypeError:
    """Return the error of a C class's slot wrapper for arguments that it does not accept.

    Parameters
    ----------
    cls : type
        The required class of `self`.
    shown, name : str
        The names of the class and of the method.
    wanted : int
        The number of arguments besides `self`.
    args : tuple
        The positional arguments, `self` included.
    named : dict
        Arguments by keyword.
    """
    if not args:
        return TypeError(f"descriptor {name!r} of {shown!r} object needs an argument")
    if not issubclass(type(args[0]), cls):
        return wrong_self(name, shown, args[0], is_slot=True)
    if named:
        return TypeError(f"wrapper {name}() takes no keyword arguments")
    before = f"{_NAME_OF_SETITEM} " if wanted == 2 else ""
    return TypeError(f"{before}expected {wanted} argument{'s'[: wanted != 1]}, got {len(args) - 1}")


def _innermost(method: Any) -> Any:
    while hasattr(method, "__wrapped__"):
        method = method.__wrapped__
    return method


def _as_slot(cls: type, shown: str, method: Any) -> Any:
    """Return a method that checks its arguments as a C class's slot wrapper does."""
    name = method.__name__
    wanted = _innermost(method).__code__.co_argcount - 1
    called = f"{shown}.{name}", None

    def check_none(self: Any = _NONE, /, *rest: Any, **named: Any) -> Any:
        if rest or named or (type(self) is not cls and not issubclass(type(self), cls)):
            raise slot_refusal(cls, shown, name, wanted, () if self is _NONE else (self, *rest), named)
        return method(self)

    def check_all(*args: Any, **named: Any) -> Any:
        # Fast path: `self` usually has exactly this class.
        is_own = len(args) == wanted + 1 and (type(args[0]) is cls or issubclass(type(args[0]), cls))
        if named or not is_own:
            raise slot_refusal(cls, shown, name, wanted, args, named)
        try:
            return method(*args)
        except Exception as exception:
            locate_method(exception, args[1:], called)
            raise

    return check_all if wanted else check_none


def _as_method(cls: type, shown: str, method: Any) -> Any:
    """Return a method that checks its arguments as a C method without keywords does."""
    name = method.__name__
    wanted = _innermost(method).__code__.co_argcount - 1
    takes = "exactly one argument" if wanted else "no arguments"
    full = f"{shown.rpartition('.')[2]}.{name}()"

    def check_self(self: Any = _NONE, /, *rest: Any, **named: Any) -> Any:
        if type(self) is not cls and not issubclass(type(self), cls):
            raise wrong_self(name, shown, self, is_slot=False)
        if named:
            raise TypeError(f"{full} takes no keyword arguments")
        if len(rest) != wanted:
            raise TypeError(f"{full} takes {takes} ({len(rest)} given)")
        return method(self, *rest)

    return check_self


def text_signature(method: Any) -> str:
    """Return a docstring for a method that `checks_self`, beginning with a signature, as for C methods."""
    innermost = method.__wrapped__
    code = innermost.__code__
    names = code.co_varnames
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    defaults = [_NONE] * (count - len(innermost.__defaults__ or ())) + list(innermost.__defaults__ or ())
    parts = ["$self"]
    for i in range(1, count):
        default = defaults[i]
        if default is _NONE or default is None or type(default) is int:
            parts.append(names[i] if default is _NONE else f"{names[i]}={default!r}")
    parts.insert(max(code.co_posonlyargcount, 1), "/")
    # Only the last default can be an expression that is no literal.
    if count > 1 and len(parts) <= count:
        parts.append("*" + names[count - 1])
    if code.co_flags & _VAR_POSITIONAL:
        parts.append("*" + names[count + keywords])
    elif keywords:
        parts.append("*")
    for name in names[count : count + keywords]:
        parts.append(f"{name}={innermost.__kwdefaults__[name]!r}")
    if code.co_flags & _VAR_KEYWORD:
        parts.append("**" + names[count + keywords + 1])
    return f"{method.__name__}({', '.join(parts)})\n--\n\n{method.__doc__ or ''}"


def checks_self(
    shown: str, *, slots: bool = False, only: tuple[str, ...] = (), methods_in_c: tuple[str, ...] = ()
) -> Callable[[_Class], _Class]:
    """Make the public methods of a class, including inherited ones, reject a `self` of another class.

    Methods of Python's own classes do so, too. Without the check they would raise AttributeError.

    Parameters
    ----------
    shown : str
        The name of the class in the message.
    slots : bool
        Whether all methods have the messages of slot wrappers; otherwise only special methods have.
    only : tuple of str
        The names of the methods; by default all public ones.
    methods_in_c : tuple of str
        The names of methods with the messages of C methods without keywords.
    """

    def decorate(cls: _Class) -> _Class:
        methods: dict[str, Any] = {}
        for base in reversed(cls.__mro__[:-1]):
            methods.update(vars(base))
        for name, method in methods.items():
            is_public = name in only if only else name.startswith("__") or not name.startswith("_")
            if name == "__hash__" and name not in vars(cls):
                # As in C, errors name the method of the base.
                continue
            if isinstance(method, FunctionType) and is_public:
                is_slot = slots or (name.startswith("__") and name not in (*_NO_SLOTS, "__init__"))
                check = _as_method if name in methods_in_c else _as_slot if is_slot else _checked
                checked = check(cls, shown, method)
                checked.__name__, checked.__qualname__ = name, f"{shown.rpartition('.')[2]}.{name}"
                checked.__doc__, checked.__wrapped__ = method.__doc__, method
                # C methods have signatures without types, too.
                method.__annotations__ = {}
                checked.__annotations__ = {}
                if is_slot and name not in methods_in_c and name != "__init__":
                    document_slot(checked, name)
                setattr(cls, name, checked)
        return cls

    return decorate


def wrong_object(wrapper: Any) -> TypeError:
    """Return the error for a wrapper that was put into another type's class by `x.__class__ = ...`."""
    return TypeError(f"this {type(wrapper).__name__} holds an object of another type")


# ---- sequences ----------------------------------------------------------------------------------------


def _plain_name(container: Any) -> str:
    plain: type = type(container)._anyffi_plain
    return plain.__name__


def as_index(sequence: Any, key: Any) -> int:
    """Convert a key that is not a slice to a position, which may be negative."""
    if find_on_type(type(key), "__index__") is None:
        name = _plain_name(sequence)
        raise TypeError(f"{name} indices must be integers or slices, not {type(key).__name__}")
    index = operator.index(key)
    if not -sys.maxsize - 1 <= index <= sys.maxsize:
        raise IndexError(f"cannot fit {type(key).__name__!r} into an index-sized integer")
    return index


def as_count(times: Any) -> int:
    """Convert an operand of `*` to a count."""
    count = operator.index(times)
    if not -sys.maxsize - 1 <= count <= sys.maxsize:
        raise OverflowError(f"cannot fit {type(times).__name__!r} into an index-sized integer")
    return count


def as_position(index: Any) -> int:
    """Convert an argument to a position."""
    position = operator.index(index)
    if not -sys.maxsize - 1 <= position <= sys.maxsize:
        raise OverflowError("Python int too large to convert to C ssize_t")
    return position


def as_bound(bound: Any) -> int:
    """Convert an argument that limits a search to a position, clipped to the range of positions."""
    if find_on_type(type(bound), "__index__") is None:
        raise TypeError("slice indices must be integers or have an __index__ method")
    return max(-sys.maxsize - 1, min(operator.index(bound), sys.maxsize))


def unpack_slice(which: slice) -> tuple[int | None, int | None, int | None]:
    """Convert the parts of a slice to ints or None, clipped to the range of positions."""
    # In the interpreter's order: the step is converted first.
    step = _part_of_slice(which.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    return _part_of_slice(which.start), _part_of_slice(which.stop), step


#: From Python 3.15 on the wording is that for positions, although None is also accepted.
_OR_NONE = "" if sys.version_info >= (3, 15) else " or None"


def _part_of_slice(part: Any) -> int | None:
    if part is None:
        return None
    if find_on_type(type(part), "__index__") is None:
        raise TypeError(f"slice indices must be integers{_OR_NONE} or have an __index__ method")
    return max(-sys.maxsize - 1, min(operator.index(part), sys.maxsize))


def index_out_of_range(sequence: Any) -> IndexError:
    return IndexError(f"{_plain_name(sequence)} index out of range")


def assignment_out_of_range(sequence: Any) -> IndexError:
    return IndexError(f"{_plain_name(sequence)} assignment index out of range")


def clip_index(index: Any, size: int, step: int) -> int:
    """Convert the argument of an iterator's `__setstate__`, clipped to the sequence."""
    if not issubclass(type(index), int):
        raise TypeError("an integer is required")
    place: int = int.__add__(index, 0)
    if not -sys.maxsize - 1 <= place <= sys.maxsize:
        raise OverflowError("Python int too large to convert to C ssize_t")
    return min(max(place, 0), size) if step > 0 else min(max(place, -1), size - 1)


def hashable(element: Any) -> Any:
    """Return the element, or a constant for a NaN, for the hash of its container.

    Python hashes a NaN by identity, and each read of an element makes a new object.
    """
    cls = type(element)
    return sys.hash_info.nan if (cls is float or cls is complex) and element != element else element


def refuse_iterator(name: str) -> NoReturn:
    """Raise the error for calling the class of an iterator."""
    raise TypeError(f"cannot create 'anyffi.{name}' instances")


def no_pickle(name: str) -> TypeError:
    """Return the error for pickling an iterator that Python cannot restore."""
    return TypeError(f"cannot pickle 'anyffi.{name}' object")


def reduce_iterator(sequence: Any, index: int, step: int) -> tuple[Any, ...]:
    """Return the `__reduce__` value of an iterator; `sequence` is None if it is exhausted."""
    if sequence is None:
        return iter, ((),)
    return (iter if step > 0 else reversed), (sequence,), index


def holds_scalars(type_mask: int) -> bool:
    """Return whether containers with these types hold only inline values, text and bytes."""
    # The highest bit is ANYFFI_CHECKED.
    scalars = 0xFFFF | 1 << (15 + code.STR_OBJECT) | 1 << (15 + code.BYTES_OBJECT) | 1 << 62
    return not type_mask & ~scalars


# ---- mappings -----------------------------------------------------------------------------------------


def missing_item(mapping: Any, key: Any) -> Any:
    """Call a subclass's `__missing__` for an absent key, or raise KeyError."""
    missing = find_on_type(type(mapping), "__missing__")
    if missing is None:
        raise KeyError(key)
    return missing.__get__(mapping, type(mapping))(key)


def has_pair(mapping: Any, pair: object) -> bool:
    """Return whether a mapping contains a pair of key and value."""
    if not isinstance(pair, tuple) or tuple.__len__(pair) != 2:
        return False
    key, value = tuple.__iter__(pair)
    found = mapping._anyffi_get(key, _NONE)
    return found is not _NONE and (found is value or bool(found == value))


def changed_size(what: int) -> RuntimeError:
    """Return the error of an iterator over keys, values, items or elements."""
    name = "Set" if what == ELEMENTS else "dictionary"
    return RuntimeError(f"{name} changed size during iteration")


def changed_keys() -> RuntimeError:
    """Return the error of an iterator that finds more entries than at the start: keys were exchanged."""
    return RuntimeError("dictionary keys changed during iteration")


#: Rows of the type table, by the id of the Python class in a container's `_anyffi_plain`.
_ROWS = {
    id(tuple): "ARRAY",
    id(list): "LIST",
    id(MappingProxyType): "MAP",
    id(dict): "DICT",
    id(frozenset): "FROZEN_SET",
    id(set): "SET",
}


def container_code(cls: type) -> int:
    """Return the type code of the containers that a class wraps; 0 for other classes."""
    row = _ROWS.get(id(find_on_type(cls, "_anyffi_plain"))) if is_wrapper_class(cls) else None
    return 0 if row is None else getattr(code, row)
