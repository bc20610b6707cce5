"""Constructors of containers, which create the container of a new wrapper in one call; see methods.py."""

from __future__ import annotations

import struct

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.containers import PLAIN_ITERABLES
from .._rules.culprits import locate_method
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, library, platform
from .methods import GIVEN, Maker, Method, call_shared, is_exactly
from .recipe import create_step, write_container, write_plain
from .scalars import RECIPE
from .unpack import need_stack, raise_taken
from .wrapper import classes, hold_memory, is_empty, memory_of, set_memory

__all__ = ["are_extents", "construction"]

_value = VALUE.pack
_last_step = struct.Struct("=iIq").unpack_from
_create = platform.plain(library.wrapper_create)
_create_set = platform.plain(library.wrapper_create_set)
_create_copy = platform.plain(library.wrapper_create_copy)

_SEQUENCES, _MAPPINGS, _SETS = (
    (code.LIST, code.ARRAY, code.SHAPE),
    (code.DICT, code.MAP),
    (code.SET, code.FROZEN_SET),
)
_IMMUTABLE = (code.ARRAY, code.SHAPE, code.MAP, code.FROZEN_SET)
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


def construction(type_code: int) -> dict[str, Maker]:
    """Return a factory of `__init__` for a public class."""
    if not platform.creates_wrappers:
        return {"__init__": _make_shared}
    create = _create_set_of if type_code in _SETS else _create_of
    alike = next(codes for codes in (_SEQUENCES, _MAPPINGS, _SETS) if type_code in codes)
    is_mapping, is_immutable = alike is _MAPPINGS, type_code in _IMMUTABLE

    def make(shared: Method) -> Method:
        shown = f"anyffi.{shared.__qualname__.partition('.')[0]}"

        def init(self: Any = GIVEN, /, *content: Any, **named: Any) -> None:
            if is_immutable and not named and len(content) == 1 and content[0] is self:
                return  # as `__new__` returned it
            is_new = type(self) is classes.get(type_code) and is_empty(self)
            given, method = (content, named), shared
            if is_new and is_mapping and (named or not _is_mapping(content)) and len(content) <= 1:
                # As the shared method does; may run users' code, which may come back.
                need_stack()
                content, named = (dict(*content, **named),), {}
                # Without the shared method's error handling, which would name places in that dict.
                method = shared.__wrapped__  # type: ignore[attr-defined]
            if is_new and not named and len(content) <= 1:
                memory = hold_memory(self, type_code)
                if content and type_code != code.SHAPE and is_exactly(content[0], *alike):
                    status = _create_copy(memory, memory_of(content[0]), type_code)
                else:
                    status = create(memory, type_code, *content)
                if status == -1:
                    raise_taken()
                if status == 1:
                    set_memory(self, memory)
                    return
            try:
                call_shared(method, self, *content, **named)
            except Exception as exception:
                args, keywords = given
                locate_method(exception, (*args, *keywords.values()), (shown, tuple(keywords)))
                raise

        return init

    return {"__init__": make}


def _make_shared(shared: Method) -> Method:
    def init(self: Any = GIVEN, /, *content: Any, **named: Any) -> None:
        call_shared(shared, self, *content, **named)

    return init


def are_extents(items: Any) -> bool:
    """Return whether a list or tuple may be the content of a Shape."""
    extents = tuple(items)
    # By id, since comparing classes may run code of their metaclasses.
    are_ints = {id(int)}.issuperset(map(id, map(type, extents)))
    return are_ints and (not extents or _INT64_MIN <= min(extents) <= max(extents) <= _INT64_MAX)


def _is_mapping(content: tuple[Any, ...]) -> bool:
    return not content or type(content[0]) is dict or is_exactly(content[0], *_MAPPINGS)


def _create_of(memory: Any, type_code: int, content: Any = GIVEN) -> int:
    keep: list[Any] = []
    cls = type(content)
    if content is GIVEN:
        content = ()
    elif cls is not dict if type_code in _MAPPINGS else (cls is not tuple and cls is not list):
        return 0
    if type_code == code.SHAPE:
        content = tuple(content)  # the checked items must be the ones that are written
        if not are_extents(content):
            return 0
    size = len(content)
    created = create_step(content, keep, type_code) if size else None
    if created is not None:
        return _create(memory, created, 1)  # type: ignore[no-any-return]
    recipe = write_container(content, keep, whole=False) if size else b""
    if recipe is None:
        return 0
    # Adds the step of the container itself, which has another type.
    if size:
        _, _, size = _last_step(recipe, len(recipe) - VALUE_SIZE)
    recipe = recipe[:-VALUE_SIZE] + _value(type_code, RECIPE, size)
    return _create(memory, recipe, len(recipe) // VALUE_SIZE)  # type: ignore[no-any-return]


def _create_set_of(memory: Any, type_code: int, content: Any = ()) -> int:
    keep: list[Any] = []
    if id(type(content)) not in PLAIN_ITERABLES:
        return 0
    recipe = write_plain(content, keep, with_nans=False)
    if recipe is None:
        return 0
    return _create_set(memory, recipe, len(recipe) // VALUE_SIZE, type_code)  # type: ignore[no-any-return]
