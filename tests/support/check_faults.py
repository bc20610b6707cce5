"""Inject many faults into the ctypes marshaller, and print what check mode reports for each.

A program, run in its own process: prints a JSON object from the fault's name to the class and message raised.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import struct
from collections.abc import Iterator
from typing import Any, Callable
from unittest import mock

import anyffi
import anyffi.testing as t
from anyffi._rules import keywords, values
from anyffi._rules.codes import code

(
    abi,
    call,
    callback,
    iterators,
    mappings,
    native,
    objects,
    pack,
    plain,
    recipe,
    runs,
    scalars,
    sequences,
    unpack,
    wrapper,
) = (
    importlib.import_module(f"anyffi._ctypes.{name}")
    for name in (
        "abi",
        "call",
        "callback",
        "iterators",
        "mappings",
        "native",
        "objects",
        "pack",
        "plain",
        "recipe",
        "runs",
        "scalars",
        "sequences",
        "unpack",
        "wrapper",
    )
)

VALUE = struct.Struct("=iIq")
#: Objects that must stay alive.
kept: list[Any] = []

#: The faults, by name.
faults: dict[str, Callable[[], Any]] = {}


def fault(function: Callable[[], Any]) -> Callable[[], Any]:
    faults[function.__name__] = function
    return function


@contextlib.contextmanager
def broken(owner: Any, name: Any, value: Any) -> Iterator[None]:
    """Replace a name of a module or an entry of a table."""
    table = owner if isinstance(owner, dict) else vars(owner)
    former = table[name]
    table[name] = value
    try:
        yield
    finally:
        table[name] = former


def changed(owner: Any, name: Any, change: Callable[[Any], Any]) -> Any:
    """Wrap a function to change its result."""
    former = (owner if isinstance(owner, dict) else vars(owner))[name]
    return broken(owner, name, lambda *args: change(former(*args)))


@contextlib.contextmanager
def misread(change: Callable[[Any], Any]) -> Iterator[None]:
    """Replace the function that reads builtin containers."""
    with changed(recipe, "_read_container", change), changed(objects, "_read_container", change):
        yield


def drop_last(opened: tuple[int, Any]) -> tuple[int, Any]:
    return opened[0], opened[1][:-1] if isinstance(opened[1], (tuple, list)) else opened[1]


def echo(*args: Any) -> Any:
    """Return the first argument; the target of a fault in callbacks."""
    return args[0] if args else "abc"


def as_int(aux: int, payload: int) -> int:
    """Return the payload of a float as an int."""
    return payload


class One:
    def __index__(self) -> int:
        return 1


SHARED = [1]
#: More containers than a single recipe holds.
MANY_SHARED = [[i] for i in range(8)]

# ---- arguments -----------------------------------------------------------------------------------


@fault
def wrong_code() -> None:
    with broken(call, "_INT", code.BOOL):
        t.nop(5)


@fault
def wrong_code_of_a_keyword() -> None:
    with broken(call, "_INT", code.POINTER):
        t.add_one(x=41)


@fault
def wrong_place_of_a_keyword() -> None:
    with changed(keywords, "bind", lambda bound: bound[::-1]):
        t.raise_error(message="m", kind="k")


@fault
def wrong_code_of_an_element() -> None:
    parts = ("k", 7)
    read, other = recipe.write_items, runs.pointer_to(parts)

    def read_other(pointer: bytes, type_code: int, values: bytes) -> int:
        return read(other if type_code == code.DICT else pointer, type_code, values)

    with mock.patch.object(recipe, "write_items", read_other):
        t.nop("x", [1, {"k": 2.5}])


@fault
def swapped_arguments() -> None:
    with changed(call, "_join", lambda made: made[16:32] + made[:16] if len(made) == 32 else made):
        t.nop("a", "b")


@fault
def dropped_argument() -> None:
    with changed(call, "_join", lambda made: made[:16]):
        t.nop(1, 2)


@fault
def widened_range() -> None:
    with broken(call, "_INT64_MAX", 2**64):
        t.nop(0, 2**63)


@fault
def dropped_element() -> None:
    with misread(drop_last):
        t.nop([1, 2, 3])


@fault
def dropped_entry() -> None:
    with misread(lambda opened: drop_last(drop_last(opened))):
        t.nop({"a": 1, "b": 2})


@fault
def changed_text() -> None:
    encode = changed(scalars, "_encode", lambda made: (made[0][:-1] + b"?", made[1]))
    with encode, broken(scalars, "_view_text", lambda x: None):
        t.nop("longer than what fits in pläce")


@fault
def shifted_text() -> None:
    # One character more than the size of the view, so that nothing beyond the text is read.
    longer = "longer than what fits in pläce\0"
    former = scalars._view_text(longer)
    with changed(scalars, "_view_text", lambda _: (former[0], former[1] + 1)):
        t.nop(longer[:-1])


@fault
def wrong_width() -> None:
    encode = broken(scalars, "_encode", lambda x: (x.encode("utf-16-le"), 2))
    with encode, broken(scalars, "_view_text", lambda x: None):
        t.nop("Latin-1, and longer than what fits in pläce")


@fault
def missing_flag() -> None:
    former = abi.library.recipe_build

    def make(recipe: bytes, size: int) -> Any:
        count = former(recipe, size)
        made = VALUE.iter_unpack(recipe[: VALUE.size * count])
        values = b"".join(VALUE.pack(type_code, 0, payload) for type_code, _, payload in made)
        ctypes.memmove(recipe, values, len(values))
        return count

    with mock.patch.object(abi.library, "recipe_build", make):
        t.nop([1])


@fault
def lost_sharing() -> None:
    with broken(recipe, "_write_shared", lambda x, keep, met, depth: recipe.write_container(x, keep)):
        t.nop([SHARED, SHARED])


@fault
def lost_sharing_of_many() -> None:
    former = objects.pack_nested
    with broken(objects, "pack_nested", lambda x, memo, depth: former(x, {}, depth)):
        t.nop(MANY_SHARED + MANY_SHARED)


@fault
def exchanged_sharing() -> None:
    one, other = [1], [1]
    exchanged = code.ARRAY, (one, other, other, one)
    with misread(lambda opened: exchanged if opened and opened[0] == code.ARRAY else opened):
        t.nop((one, other, one, other))


@fault
def reference_too_many() -> None:
    def share(address: int) -> Any:
        kept.append(former(address))
        return former(address)

    former = objects._retain
    with broken(objects, "_retain", share):
        t.nop(MANY_SHARED + MANY_SHARED)


@fault
def another_object() -> None:
    former = objects._pack_handle
    with broken(objects, "_pack_handle", lambda x, *create: former(echo, *create)):
        t.nop([object()])


@fault
def users_code_in_another_order() -> None:
    one, other = One(), One()
    with misread(lambda opened: (opened[0], (other, one)) if opened and opened[0] == code.ARRAY else opened):
        t.nop((one, other))


@fault
def raises_what_cython_does_not() -> None:
    with broken(values, "MAX_DEPTH", 3):
        t.nop(1, [[[[1]]]])


@fault
def does_not_raise_what_cython_does() -> None:
    x: Any = 1
    for _ in range(201):
        x = [x]
    with broken(values, "MAX_DEPTH", 1000):
        t.nop(x)


# ---- results -------------------------------------------------------------------------------------


@fault
def result_of_another_type() -> None:
    with changed(unpack, "_take_value", int):
        t.echo(1.5)


@fault
def part_of_another_type() -> None:
    with broken(unpack._inline_readers, code.FLOAT, as_int):
        t.echo(slice(0, 1.5))


@fault
def lost_result() -> None:
    with broken(call, "_NONE", code.FLOAT):
        t.echo(2.5)


@fault
def changed_result() -> None:
    with changed(unpack, "_take_value", lambda found: found.upper()):
        t.echo("longer than what fits in place")


@fault
def unreadable_result() -> None:
    with broken(unpack._inline_readers, code.ELLIPSIS, None):
        t.echo(...)


@fault
def another_wrapper() -> None:
    other = anyffi.List()
    with changed(unpack, "_take_value", lambda found: other):
        t.echo([1])


@fault
def another_class() -> None:
    with broken(wrapper.classes, code.LIST, anyffi.Array):
        t.echo([1])


@fault
def another_exception() -> None:
    with broken(unpack._object_readers, code.ERROR, lambda address: ValueError("other")):
        t.raise_error("KeyError", "k")


# ---- callbacks -----------------------------------------------------------------------------------


@fault
def argument_of_a_callback() -> None:
    with broken(unpack._inline_readers, code.FLOAT, as_int):
        t.apply(echo, 0, 1.5)


@fault
def swapped_arguments_of_a_callback() -> None:
    with broken(callback, "_callable_of", lambda f: lambda *args: f(*args[::-1])):
        t.apply(echo, 1, 2)


@fault
def unreadable_argument_of_a_callback() -> None:
    with broken(unpack._inline_readers, code.ELLIPSIS, None):
        t.apply(echo, ...)


@fault
def result_of_a_callback() -> None:
    with changed(scalars.scalar_packers, id(str), lambda cell: cell[:4] + b"A" + cell[5:]):
        t.apply(echo)


@fault
def element_of_a_callbacks_result() -> None:
    with misread(drop_last):
        t.apply(lambda: [1, 2])


@fault
def callback_that_ctypes_cannot_leave() -> None:
    with broken(values, "MAX_DEPTH", 3):
        t.apply(lambda: [[[[1]]]])


# ---- conversion ----------------------------------------------------------------------------------


@fault
def conversion() -> None:
    with misread(drop_last):
        anyffi.convert([1, 2])


# ---- reads of containers -------------------------------------------------------------------------


@fault
def item_of_another_type() -> None:
    with broken(unpack._inline_readers, code.FLOAT, as_int):
        anyffi.List([1.5])[0]


@fault
def unreadable_item() -> None:
    with broken(unpack._inline_readers, code.ELLIPSIS, None):
        anyffi.Array([...])[-1]


@fault
def another_index() -> None:
    former = sequences._sequence_get
    with mock.patch.object(sequences, "_sequence_get", lambda address, i, out: former(address, i + 1, out)):
        anyffi.Array([1, 2, 3])[1]


@fault
def index_beyond_the_end() -> None:
    former = sequences._sequence_get
    with mock.patch.object(sequences, "_sequence_get", lambda address, i, out: former(address, 0, out)):
        anyffi.List([1, 2, 3])[5]


@fault
def iteration_that_skips() -> None:
    with mock.patch.object(iterators.SequenceIterator, "__next__", return_value=1):
        [*anyffi.List([1, 2])]


@fault
def iteration_that_ends_early() -> None:
    def end(cursor: Any, what: int, part: Any, item: Any) -> Any:
        ctypes.memmove(part, VALUE.pack(code.UNSET, 0, 0), VALUE.size)
        return iterators._UNREAD

    with mock.patch.object(iterators, "_read_entry", end):
        anyffi.Dict({"a": 1}).items().__iter__().__next__()


@fault
def lost_items() -> None:
    with changed(sequences, "list_items", lambda items: items[:-1]):
        anyffi.Array([1, 2])._anyffi_items()


@fault
def lost_items_of_all_levels() -> None:
    with changed(plain, "read_parts", lambda found: (found[0][:-1], *found[1:])):
        anyffi.to_python(anyffi.Array([(1, 2), [3]]))


@fault
def lost_items_of_a_copy() -> None:
    with changed(native, "read_parts", lambda found: (found[0][:-1], *found[1:])):
        anyffi.get_global_func("testing.stl.vector_int")([1, 2])


@fault
def copy_that_stays_a_reference() -> None:
    with mock.patch.object(native, "_NATIVE", 0):
        anyffi.get_global_func("testing.results.pairs")({"x": [(1, 2.0)]})


@fault
def copy_for_a_callback_that_stays_a_reference() -> None:
    with mock.patch.object(native, "_NATIVE", 0):
        anyffi.get_global_func("testing.results.call")(lambda *args: None, [["x"]])


@fault
def lost_key() -> None:
    with mock.patch.object(mappings, "_mapping_get", return_value=0):
        anyffi.Map({"a": 1})["a"]


@fault
def lost_element() -> None:
    with mock.patch.object(abi.library, "mapping_find", return_value=0):
        (1, One()) in anyffi.Set([(1, 1)])


def said_of(function: Callable[[], Any]) -> tuple[str, str]:
    try:
        function()
    except BaseException as error:
        return type(error).__name__, str(error)
    return "nothing", ""


if __name__ == "__main__":
    print(json.dumps({name: said_of(function) for name, function in faults.items()}))
