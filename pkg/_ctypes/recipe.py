"""Recipes: descriptions of arguments for a single call, which creates all their objects.

A container of exact builtins and NumPy arrays becomes a sequence of values, each container after its parts,
from which `anyffi_function_call_recipe` creates the objects. That takes a third of the time of a call for
each object. Packing such a container runs no users' code and never fails, so the objects may be created after
all arguments are packed. pack.py packs all other values.
"""

from __future__ import annotations

from gc import get_referents
from itertools import chain
from types import MappingProxyType

from .._builtins import *  # noqa: F403
from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform
from .owned import OwnedValue
from .runs import ONCE, create_object, pointer_to, write_items, write_run, write_run_of
from .scalars import NONE, RECIPE, borrow_bytes, borrow_str, new_object, scalar_packers
from .stepping import is_stepping
from .unpack import raise_taken
from .wrapper import refer
from .writers import find_writer, write_big_int

__all__ = [
    "SCALARS",
    "copy_items",
    "create_reference",
    "create_step",
    "dict_below",
    "read_container",
    "read_plain",
    "set_reader",
    "write_container",
    "write_plain",
    "write_slice",
]

_packer_of = scalar_packers.get
_value = VALUE.pack
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_INT, _OBJECT, _SLICE = code.INT, code.OBJECT, code.SLICE
_ARRAY, _LIST, _DICT = code.ARRAY, code.LIST, code.DICT
#: The classes, by identity, of the most frequent containers.
_CONTAINERS = frozenset(map(id, (dict, list, tuple)))
_WITH_KEYS = (_DICT, code.MAP, code.SET, code.FROZEN_SET)
#: The classes, by id, of keys that are distinct as values if they are distinct objects.
_KEYS = frozenset(map(id, (str, int, bool, bytes, type(None))))


def read_container(x: Any) -> tuple[int, Any] | None:
    """Return type code and parts of an exact container (items, or keys and values in turn), or None."""
    cls = type(x)
    if cls is list:
        return _LIST, tuple(x)
    if cls is tuple:
        return _ARRAY, x
    if cls is dict:
        return _DICT, _in_turn(x)
    if cls is slice:
        return _SLICE, (x.start, x.stop, x.step)
    return None


def _in_turn(x: dict[Any, Any]) -> tuple[Any, ...]:
    """Return keys and values in turn, without an iterator of pairs.

    If memory is short, CPython crashes when it makes one (`dictiter_new` in Objects/dictobject.c).
    """
    copied = x.copy()  # in one step, since other threads may change the dictionary
    items: list[Any] = [None] * (2 * len(copied))
    items[::2] = copied
    items[1::2] = copied.values()
    return tuple(items)


def copy_items(x: Any) -> tuple[Any, ...]:
    """Return the items of a list, tuple or set in one step, since other threads may change it."""
    # On free-threaded Python, a list copies a set while that is locked; a tuple does not.
    return tuple([*x] if type(x) is set else x)


_read_container: Callable[[Any], tuple[int, Any] | None] = read_container


def set_reader(read: Callable[[Any], tuple[int, Any] | None]) -> None:
    """Read containers with another function; see hooks.py."""
    global _read_container
    _read_container = read


#: The containers of an argument so far, by id: `ONCE`; or, for one known to occur again, its value, which is
#: None before the first occurrence and empty during it. At 0, the id of one that was written as `ONCE` and
#: then occurred again.
Met = dict[int, Any]
_ABSENT = 0


#: If more containers than this occur repeatedly, they are packed object by object.
_MOST_SHARED = 4


def write_container(
    x: Any, keep: list[Any], met: Met | None = None, depth: int = 1, whole: bool = True
) -> bytes | None:
    """Return the recipe of a container; None if it contains anything except exact builtins and arrays, or
    itself.

    Also None if a debugger steps through the conversion. `met` has the containers of this argument so far,
    except for the outermost one. If `whole`, a single object created at once may stand for the container;
    otherwise the last step is that of the container itself.
    """
    if depth == 1 and is_stepping():
        return None
    container = type(x)
    type_code: int
    items: tuple[Any, ...]
    if _read_container is read_container and (container is list or container is tuple):
        type_code, items = (_LIST, tuple(x)) if container is list else (_ARRAY, x)
    else:
        if whole and container is dict and (created := create_step(x, keep)) is not None:
            return created
        opened = _read_container(x) or _read_other(x)
        if opened is None:
            return None
        type_code, items = opened
        if type_code in _WITH_KEYS and not _are_distinct(items[::2]):
            return None
    if depth > _rules.MAX_DEPTH:
        return None
    # Keeps the items alive: text is borrowed from them, and their ids must not be reused.
    keep.append(items)
    if write_items is not None:
        values = platform.memory(VALUE_SIZE * len(items) + VALUE_SIZE)
        status = write_items(pointer_to(items), type_code, values)
        if status == 1:
            return values
        if whole and status < 0 and id(container) in _CONTAINERS:
            created = create_step(x, keep)
            if created is not None:
                return created
    run = write_run(items, met) if len(items) > 1 and depth < _rules.MAX_DEPTH else None
    if run is not None:
        return run + _value(type_code, RECIPE, len(items))
    steps: list[Any] = []
    for item in items:
        cls = type(item)
        if cls is int and _INT64_MIN <= item <= _INT64_MAX:
            steps.append(_value(_INT, 0, item))
            continue
        if item is None:
            steps.append(NONE)
            continue
        if cls is str:
            step = borrow_str(item, keep)
        elif cls is bytes:
            step = borrow_bytes(item, keep)
        elif (packer := _packer_of(id(cls))) is not None:
            step = packer(item)
            if step is None:
                step = write_big_int(item, keep)
        elif cls is slice:
            step = write_slice(item, keep)
        elif id(cls) not in _CONTAINERS and (write := find_writer(cls)) is not None:
            step = write(item, keep)
        else:
            if met is None:
                met = {id(x): ONCE}
            known = met.get(id(item), _ABSENT)
            if known == _ABSENT:
                met[id(item)] = ONCE
                step = write_container(item, keep, met, depth + 1, False)
            elif known == ONCE:
                met[0], step = id(item), None
            else:
                step = _write_shared(item, keep, met, depth + 1)
        if type(step) is not bytes:
            return _write_again(x, keep, met) if depth == 1 and met is not None and 0 in met else None
        steps.append(step)
    steps.append(_value(type_code, RECIPE, len(items)))
    return b"".join(steps)


def _create(x: Any, type_code: int) -> Any:
    """Create a list, tuple or dict in one call of the runtime.

    Return None if that needs Python code, or if a debugger steps through the conversion. A type code of 0
    means that of an argument.
    """
    if create_object is None or _read_container is not read_container or is_stepping():
        return None
    made = OwnedValue(VALUE_SIZE)
    status = create_object(pointer_to(x), type_code, made)
    if status < 0:
        raise_taken()
    return made if status else None


def create_step(x: Any, keep: list[Any], type_code: int = 0) -> bytes | None:
    """Create a list, tuple or dict as `_create` does, and return the recipe step for the object."""
    made = _create(x, type_code)
    if made is None:
        return None
    keep.append(made)
    return _value(_OBJECT, RECIPE, platform.address_of_memory(made))


def create_reference(x: Any, keep: list[Any], type_code: int = 0) -> bytes | None:
    """The same, but the object is returned in the form of a wrapper's memory."""
    made = _create(x, type_code)
    if made is None:
        return None
    keep.append(made)
    return refer(VALUE.unpack(made)[2])


def _write_again(x: Any, keep: list[Any], met: Met) -> bytes | None:
    """Write the outermost container again, now knowing one more container that occurs repeatedly."""
    again = met[0]
    shared = [key for key in met if key and met[key] != ONCE]
    if again == id(x) or len(shared) == _MOST_SHARED:
        return None
    return write_container(x, keep, {id(x): ONCE, **dict.fromkeys((*shared, again))}, whole=False)


def _write_shared(x: Any, keep: list[Any], met: Met, depth: int) -> bytes | None:
    """Return the step for a container that occurs repeatedly; the first time, creates its object."""
    packed: bytes | None = met[id(x)]
    if packed is not None:
        return packed or None
    met[id(x)] = b""
    recipe = write_container(x, keep, met, depth, False)
    if recipe is None:
        return None
    made = new_object(library.recipe_create, recipe, len(recipe) // VALUE_SIZE)
    keep.append(made)
    type_code, _, address = VALUE.unpack(made)
    met[id(x)] = _value(type_code, 0, address)
    return _value(_OBJECT, RECIPE, platform.address_of_memory(made))


def _are_distinct(keys: tuple[Any, ...]) -> bool:
    """Return whether keys that are distinct objects are known to be distinct values."""
    classes = set(map(id, map(type, keys)))
    if classes <= _KEYS:
        return True
    if not classes <= _PLAIN:
        return False
    parts = [*chain.from_iterable((key,) if id(type(key)) in SCALARS else key for key in keys)]
    # Two NaNs are one key of the runtime.
    return SCALARS.issuperset(map(id, map(type, parts))) and all(x == x for x in parts)


def dict_below(proxy: Any) -> dict[Any, Any] | None:
    """Return the dict below a MappingProxyType; None if it shows another mapping."""
    below = get_referents(proxy)
    return below[0] if len(below) == 1 and type(below[0]) is dict else None


def _read_other(x: Any) -> tuple[int, Any] | None:
    """Read an exact set, a proxy of a dict, or an instance of a remembered subclass; None for others.

    Returns None in check mode, which replays the results of `lower` for these.
    """
    cls = type(x)
    if _read_container is not read_container:
        return None
    if cls is set or cls is frozenset:
        elements = copy_items(x)
        items = [None] * (2 * len(elements))
        items[::2] = elements
        return (code.SET if cls is set else code.FROZEN_SET), tuple(items)
    if cls is MappingProxyType:
        below = dict_below(x)
        return None if below is None else (code.MAP, _in_turn(below))
    read = _rules.find_opener(cls)
    if read is None:
        return None
    type_code, parts = read(x)
    return type_code, tuple(chain.from_iterable(parts)) if type_code in _WITH_KEYS else parts


_MADE_SLICE = _value(_SLICE, RECIPE, 3)


def write_slice(x: slice, keep: list[Any]) -> bytes | None:
    """Return the recipe of a slice of ints and None; None for other parts."""
    keep.append(x)
    steps = []
    for part in (x.start, x.stop, x.step):
        if part is None:
            steps.append(NONE)
        elif type(part) is int and _INT64_MIN <= part <= _INT64_MAX:
            steps.append(_value(_INT, 0, part))
        else:
            return None
    steps.append(_MADE_SLICE)
    return b"".join(steps)


# ---- elements that are compared ------------------------------------------------------------------------

#: Up to this many items are packed faster one by one.
_SHORT = 4


def write_plain(items: Any, keep: list[Any], *, with_nans: bool = True) -> bytes | None:
    """Return the recipe of elements: exact scalars, and tuples and frozensets of these; None if there are
    others.

    Comparing such elements runs no users' code. Also None if a debugger steps through the conversion. `keep`
    as above.
    """
    if is_stepping():
        return None
    elements: Any = copy_items(items)
    if write_items is not None:
        keep.append(elements)
        values = platform.memory(VALUE_SIZE * len(elements) + VALUE_SIZE)
        if write_items(pointer_to(elements), 0, values) == 1:
            return values[:-VALUE_SIZE] if with_nans or not _has_nans(elements) else None
    short = _write_short(elements, keep) if len(elements) <= _SHORT else None
    if short is not None:
        return short
    classes = set(map(id, map(type, elements)))
    parts = read_plain(elements, classes)
    if parts is None:
        return None
    if not with_nans and (parts or id(float) in classes) and any(x != x for x in (*parts, *elements)):
        return None
    if len(classes) == 1:
        keep.append(elements)
        run = write_run_of(elements)
        if run is not None:
            return run
    written = write_container(elements, keep, whole=False)
    return None if written is None else written[:-VALUE_SIZE]


def _has_nans(elements: tuple[Any, ...]) -> bool:
    return id(float) in set(map(id, map(type, elements))) and any(x != x for x in elements)


def read_plain(elements: tuple[Any, ...], classes: set[int]) -> list[Any] | None:
    """Return the parts of tuples and frozensets among elements; None if there are others than exact scalars.

    `classes` contains the ids of the elements' classes.
    """
    if classes <= SCALARS:
        return []
    if not classes <= _PLAIN:
        return None
    parts = [*chain.from_iterable([x for x in elements if id(type(x)) not in SCALARS])]
    return parts if SCALARS.issuperset(map(id, map(type, parts))) else None


def _write_short(elements: tuple[Any, ...], keep: list[Any]) -> bytes | None:
    """Return the values of ints and text; None if there are other elements."""
    keep.append(elements)
    steps: list[Any] = []
    for x in elements:
        if type(x) is int and _INT64_MIN <= x <= _INT64_MAX:
            steps.append(_value(_INT, 0, x))
        elif type(x) is str and len(x) <= _MOST_SHORT:
            steps.append(borrow_str(x, keep))
        else:
            return None
    return b"".join(steps)


#: Longer text is not borrowed one by one.
_MOST_SHORT = 1 << 20


#: Exact scalars by the identity of the class.
SCALARS = frozenset(map(id, (int, float, bool, str, bytes, type(None))))
_PLAIN = SCALARS | {id(tuple), id(frozenset)}
