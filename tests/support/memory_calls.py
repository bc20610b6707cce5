"""Operations whose allocations fail in turn, and what they leave behind."""

from __future__ import annotations

import copy
import datetime
import functools
import sys
import types
from typing import Any, Callable

import anyffi
import cases
import numpy as np
from anyffi._rules.codes import code

__all__ = ["CALLS", "LONG", "alike", "make_tree", "settle"]

LONG = "a string on the heap of the runtime"
EPOCH, ONE_DAY = datetime.datetime(2020, 1, 1), datetime.timedelta(days=1)


def _fail(*args: Any) -> Any:
    raise ValueError(LONG)


class Exporter:
    """An array that only has `__dlpack__`."""

    def __dlpack__(self, **options: Any) -> Any:
        return np.zeros(3).__dlpack__(**options)


class Key:
    """An object whose hash and comparison run Python code."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.text == other.text


class NoCapsule:
    """An exporter that does not return a capsule."""

    def __dlpack__(self, **options: Any) -> Any:
        return 5


class OldExporter:
    """An array that only supports DLPack without versions."""

    def __dlpack__(self) -> Any:
        return np.zeros(3).__dlpack__()


def _export(tensor: Any) -> None:
    """Export a capsule of each version, consumed and unused."""
    for options in ({}, {"max_version": (1, 0)}):
        np.from_dlpack(tensor)
        tensor.__dlpack__(**options)


def _flat(tensor: Any) -> None:
    """Request contiguous memory."""
    if sys.implementation.name != "cpython":
        raise BufferError
    np.frombuffer(tensor)


def _catching(function: Callable[..., Any], *args: Any) -> Any:
    """Return the exception as a result, except MemoryError."""
    try:
        return function(*args)
    except MemoryError:
        raise
    except Exception as error:
        return type(error), str(error)


Call = Callable[[Any], Callable[[], Any]]


def _calling(name: str, *args: Any) -> Call:
    def make(ffi: Any) -> Callable[[], Any]:
        function = ffi.get_global_func("testing." + name)
        return lambda: _catching(function, *args)

    return make


def _refusing(*described: Any) -> Call:
    """Return an operation that fails to declare a type: everything that it created is freed."""

    def make(ffi: Any) -> Callable[[], Any]:
        declare = ffi.get_global_func("anyffi.record.declare")
        return lambda: _catching(declare, "Array", LONG, code.OBJECT, [("x", LONG, x) for x in described])

    return make


def _on(
    make: Callable[[Any], Any], act: Callable[[Any], Any], undo: Callable[[Any], Any] = lambda x: None
) -> Call:
    """Return an operation on an object that outlives the call."""

    def prepare(ffi: Any) -> Callable[[], Any]:
        x = make(ffi)

        def run() -> Any:
            result = _catching(act, x)
            undo(x)
            return result

        return run

    return prepare


def _copying_deeply(value: Any) -> Callable[[], Any]:
    return lambda: copy.deepcopy(value)


@functools.lru_cache(None)
def make_tree(ffi: Any) -> Any:
    """Return an object of a dataclass that holds others. Types are never freed, so that it is declared once."""

    @ffi.dataclass("test.memory.Tree")
    class Tree:
        name: str
        children: list[Any]
        found: Any = None

    return Tree(LONG, [Tree("leaf", [])], {LONG: (Tree("key", []), {LONG})})


@functools.lru_cache(None)
def make_let(ffi: Any) -> Callable[[], Any]:
    """Return a function that makes objects which bind variables. Their types are declared once."""

    @ffi.dataclass("test.memory.Name", structural="variable")
    class Name:
        text: str = anyffi.field(default="", structural="ignore")

    @ffi.dataclass("test.memory.Let")
    class Let:
        names: list[Name] = anyffi.field(structural="defines")
        body: Any = None

    def make() -> Any:
        names = [Name(LONG) for _ in range(3)]
        return Let(names, names)

    return make


def _comparing_variables(ffi: Any) -> Callable[[], Any]:
    make = make_let(ffi)
    return lambda: ffi.structural_equal(make(), make())


def _unfolding(ffi: Any, unfold: Callable[..., Any]) -> Callable[[], Any]:
    # A copy, which must be freed unless a reference was lost.
    return functools.partial(unfold, copy.deepcopy(make_tree(ffi)))


def _naming_children(ffi: Any, value: Any) -> Callable[[], Any]:
    return lambda: [step.key for step, _ in ffi.children(value)]


CALLS: dict[str, Call] = {
    "scalars": _calling("echo", 5),
    "big ints": _calling("echo", [2**64, -(10**400)]),
    "big int out of range": _calling("typed.int64", 2**64),
    "complex": _calling("echo", [1j, 2.5]),
    "borrowed text": _calling("echo", LONG),
    "borrowed bytes": _calling("echo", b"bytes that are long enough"),
    "bytearray": _calling("echo", bytearray(b"bytes that are long enough")),
    "str subclass": _calling("echo", cases.StrSubclass(LONG)),
    "list": _calling("echo", [1, LONG, [2, (3, b"bytes that are long enough")]]),
    "tuple": _calling("echo", tuple(range(100))),
    "dict": _calling("echo", {"a": 1, LONG: [1], (1, LONG): {"k": None}}),
    "big dict": _calling("echo", {i: str(i) * 20 for i in range(100)}),
    "map": _calling("echo", types.MappingProxyType({"a": LONG})),
    "set": _calling("echo", {LONG, 5, (1, LONG)}),
    "frozenset": _calling("echo", frozenset({LONG, frozenset({LONG})})),
    "big set": _calling("echo", set(range(100))),
    "set that is frozen": _calling("typed.frozen_set", {LONG, 1}),
    "own value": _calling("echo", cases.OwnValue([LONG, *[cases.OwnValue((LONG, 1))] * 2])),
    "own mapping": _calling("echo", cases.OwnMapping({"a": LONG})),
    "array": _calling("echo", np.zeros((2, 3))),
    "strided array": _calling("tensor.sum", np.zeros((2, 3))[:, ::2]),
    "arrays": _calling("nop", [np.zeros(3), (np.zeros(()),)], np.zeros((2, 0))),
    "array refused": _calling("echo", np.zeros(2, object)),
    "array refused by convert": lambda ffi: lambda: _catching(ffi.convert, [np.zeros(2, object)]),
    "array refused by a Dict": _on(
        lambda ffi: ffi.Dict, lambda x: _catching(lambda: x(k=np.zeros(2, object)))
    ),
    "array refused by a List": _on(
        lambda ffi: ffi.List(), lambda xs: _catching(xs.append, np.zeros(2, object))
    ),
    "no capsule": lambda ffi: lambda: _catching(ffi.List, [NoCapsule()]),
    "array refused as a result": _calling("apply", lambda: [np.zeros(2, object)]),
    "exporter": _calling("echo", Exporter()),
    "old exporter": _calling("echo", OldExporter()),
    "tensor repr": _on(lambda ffi: ffi.convert(np.zeros((2, 3))), repr),
    "tensor attributes": _on(
        lambda ffi: ffi.convert(np.zeros((2, 3))),
        lambda x: (
            x.shape,
            x.strides,
            x.dtype,
            x.device,
            x.numel(),
            x.data_ptr() == 0,
            x.is_contiguous(),
            len(x),
        ),
    ),
    "array of a tensor": _on(
        lambda ffi: ffi.convert(np.zeros((2, 3))[::-1]), lambda x: np.asarray(x).tolist()
    ),
    "buffer refused": _on(lambda ffi: ffi.convert(np.zeros((2, 3))[:, ::2]), lambda x: _catching(_flat, x)),
    "tensor export": _on(lambda ffi: ffi.convert(np.zeros((2, 3))), _export),
    "tensor copy": _on(lambda ffi: ffi.convert(np.zeros((2, 3))), lambda x: x.__dlpack__(copy=True) and None),
    "array copied": lambda ffi: lambda: ffi.from_dlpack(np.zeros((3, 2))[::2], copy=True),
    "exporter copied": lambda ffi: lambda: ffi.from_dlpack(Exporter(), device="cpu", copy=True),
    "tensor in C++": _calling("tensor.make", (2, 3), np.dtype("f4")),
    "tensor mismatch": _calling("tensor.sum", np.zeros(2, "f4")),
    "dtypes": _calling("echo", [np.float32, "float32", anyffi.dtype("float32"), anyffi.Device("cpu")]),
    "slice": _calling("echo", slice(LONG, [1], None)),
    "shared": _calling("echo", cases.nested(10, lambda x: [x, x], LONG)),
    "callable": _calling("echo", [len, _fail]),
    "exception": _calling("echo", ValueError("x")),
    "opaque": _calling("echo", [object, cases.Getattr, cases]),
    "many arguments": _calling("nop", *([[i] for i in range(30)])),
    "describe": _calling("describe", [LONG, {"k": LONG}]),
    "copies": _calling("results.pairs", {LONG: [(1, 2.0)], "k": []}),
    "copied keys": _calling("results.map_of_keys", {((1, (LONG,)), (2, ("a",))): [1], (): []}),
    "copied sets": _calling("results.set_of_sets", {frozenset({LONG}), frozenset()}),
    "copies in part": _calling("results.fail_map"),
    "shared keys": _on(lambda ffi: ffi.get_global_func("testing.results.shared_keys"), lambda f: f()[0]),
    "native": _calling("results.native", [{"k": (LONG, {1})}]),
    "native array": _on(
        lambda ffi: ffi.get_global_func("testing.results.native"), lambda f: f([np.zeros(3)])[0].tolist()
    ),
    "copies for a callback": _calling("results.call", lambda *args: [*args[:4]], [[LONG]]),
    "callback": _calling("apply", lambda a, b, c: [a, b, c], LONG, [1], {"k": LONG}),
    "callback that raises": _calling("apply", _fail, [1]),
    "callback caught": _calling("catch_error", _fail, [1]),
    "callback rethrown": _calling("rethrow", _fail, [1]),
    "nested callbacks": _calling("apply", lambda x: [x, LONG], [LONG]),
    "error of C++": _calling("raise_error", "ValueError", LONG),
    "standard exception": _calling("throw_std", "out_of_range"),
    "mismatch": _calling("add_one", LONG),
    "mismatch inside": _calling("typed.dict_str_int", {LONG: LONG}),
    "too few": _calling("typed.defaults"),
    "defaults": _calling("typed.defaults", 1),
    "typed array": _calling("typed.array_int", [1, 2, 3]),
    "vector": _calling("stl.vector_string", [LONG, "x"]),
    "wrong element of a vector": _calling("stl.vector_int", [1, 10**100]),
    "paths": _on(
        lambda ffi: ffi.get_global_func("testing.as.paths"), lambda f: [*map(str, f([LONG, "x", b"y"]))]
    ),
    "times": _on(
        lambda ffi: ffi.get_global_func("testing.as.times"),
        lambda f: [*map(str, f({ONE_DAY: [EPOCH + i * ONE_DAY for i in range(3)]})[ONE_DAY])],
    ),
    "hash of Python's": _calling("hash", (1, Key(LONG))),
    "equality of Python's": _calling("equal", [Key(LONG)], [Key(LONG)]),
    "std map": _calling("stl.map", {LONG: 1}),
    "std set": _calling("stl.unordered_set", {LONG, "x"}),
    "std tuple": _calling("stl.tuple", (1, LONG, [1.5])),
    "std variant": _calling("stl.variant", LONG),
    "std function": _calling("stl.apply", lambda a, b: a, 1, LONG),
    "function of functions": _calling("stl.compose", abs, abs),
    "struct": _calling("authoring.points", [(1, 2), (3, 4)]),
    "struct that refuses": _calling("authoring.point", (float("nan"), 1)),
    "objects from values": _calling("authoring.sum_imms", {"a": 1, LONG: 2}),
    "objects from wrong values": _calling("authoring.int_imms", [1, -1]),
    "method": _calling("authoring.account", 5),
    "overload": _calling("authoring.kind", [LONG]),
    "no overload": _calling("authoring.area", LONG),
    "too large for the first overload": _calling("authoring.narrow", 500),
    "overload by keywords": _on(
        lambda ffi: ffi.get_global_func("testing.authoring.area"), lambda area: area(h=2, w=3)
    ),
    "what overloads say": _on(
        lambda ffi: ffi.get_global_func("testing.authoring.area"), lambda area: area.__doc__
    ),
    "without the lock": _calling("authoring.released", abs, [LONG]),
    "box": _calling("typed.object", 5),
    "not UTF-8": _calling("typed.c_str", LONG + "\ud800"),
    "UTF-8": _calling("typed.c_str", LONG + "\u4e2d"),
    "object": _calling("new_counted", 5),
    "native function": _calling("make_counter", 5),
    "hash": _calling("hash", (1, LONG, (2,))),
    "equal": _calling("equal", [LONG, {LONG: 1}], [LONG, {LONG: 1}]),
    "item": _calling("item", {LONG: LONG}, LONG),
    "no item": _calling("item", {LONG: LONG}, "k"),
    "iterate": _calling("iterate", "abc\u4e2d" * 10),
    "hold": lambda ffi: lambda: [ffi.get_global_func("testing.hold")(x) for x in ([LONG], None)],
    "append": _on(
        lambda ffi: ffi.List([1]), lambda x: x.append([LONG]), lambda x: x.__delitem__(slice(1, None))
    ),
    "insert": _on(
        lambda ffi: ffi.List([1]), lambda x: x.insert(0, LONG), lambda x: x.__delitem__(slice(None, -1))
    ),
    "set item": _on(
        lambda ffi: ffi.List([1]), lambda x: x.__setitem__(0, LONG), lambda x: x.__setitem__(0, 1)
    ),
    "add": _on(lambda ffi: ffi.List([1]), lambda x: [*x, LONG]),
    "slicing": _on(lambda ffi: ffi.List([1, LONG, [2]]), lambda x: x[1:]),
    "to_python": _on(lambda ffi: ffi.List([1, LONG, [2]]), lambda x: len(x)),
    # Undone by what needs no memory: `pop` keeps what it cannot return.
    "dict set": _on(
        lambda ffi: ffi.Dict(a=1), lambda x: x.__setitem__(LONG, [1]), lambda x: x.__delitem__(LONG)
    ),
    "set add": _on(lambda ffi: ffi.Set([1]), lambda s: s.add((LONG, 1)), lambda s: s.clear()),
    "set update": _on(
        lambda ffi: ffi.Set([1]), lambda s: s.update([LONG, 2]), lambda s: s.difference_update([LONG, 2])
    ),
    "set operator": _on(lambda ffi: ffi.Set([1]), lambda s: s | {LONG}),
    "concatenation": _on(lambda ffi: ffi.Shape((1, 2)), lambda shape: shape + (3,)),
    "shape": lambda ffi: lambda: ffi.Shape((1, 2, 3)),
    "freeze": _on(lambda ffi: ffi.Set([LONG]), lambda s: s.freeze()),
    "frozen elements": lambda ffi: lambda: ffi.FrozenSet([LONG, 1, 2]),
    "snapshot": lambda ffi: lambda xs=ffi.List([LONG]): ffi.get_global_func("testing.typed.array")(xs),
    "convert": lambda ffi: lambda: ffi.convert(lambda: 5) and ffi.convert([LONG]) and None,
    "lookup": lambda ffi: lambda: ffi.get_global_func("testing.nop") and None,
    "unknown name": lambda ffi: lambda: ffi.get_global_func("testing." + LONG, allow_missing=True),
    "register": lambda ffi: lambda: ffi.register_global_func("t.memory", _fail, override=True) and None,
    "names": lambda ffi: lambda: "testing.nop" in ffi.list_global_func_names(),
    "declaration refused": _refusing(
        ("int",), ("List", ("tuple", ("self",), ("literal", LONG))), ("Tensor",)
    ),
    "signature": _on(
        lambda ffi: ffi.get_global_func("testing.typed.defaults"), lambda f: str(f.__signature__)
    ),
    "keywords": _on(lambda ffi: ffi.get_global_func("testing.typed.defaults"), lambda f: f(a=1, c=2.0)),
    "deep copies": lambda ffi: _copying_deeply(
        ffi.List([LONG, ffi.Dict({LONG: ffi.Array([ffi.List([1])])})])
    ),
    "deep copy of a shape": lambda ffi: _copying_deeply(ffi.Shape((1, 2))),
    "variables compared": _comparing_variables,
    "state restored": _on(
        lambda ffi: copy.deepcopy(make_tree(ffi)),
        lambda tree: tree.__setstate__({"name": LONG, "children": [tree.children[0]]}),
    ),
    "field refused": lambda ffi: lambda: _catching(setattr, make_tree(ffi), "name", 5),
    "children": lambda ffi: _naming_children(ffi, ffi.Dict({LONG: [1], "k": {2}})),
    "fields as children": lambda ffi: _naming_children(ffi, make_tree(ffi)),
    "children mapped": lambda ffi: functools.partial(
        ffi.map_children, ffi.List([LONG, [1], 2]), {int: lambda x: LONG}
    ),
    "fields by name": lambda ffi: _unfolding(ffi, ffi.asdict),
    "fields in order": lambda ffi: _unfolding(ffi, ffi.astuple),
}


def settle(ffi: Any, name: str) -> None:
    """Undo the effects of a call whose later allocation failed."""
    if name == "hold":
        ffi.get_global_func("testing.hold")(None)


def alike(ffi: Any, one: Any, other: Any) -> bool:
    if isinstance(one, ffi.Object):
        return type(one) is type(other)
    return cases.same(one, other)
