"""Programs of random steps: methods of containers, calls, callbacks that raise and re-enter, conversions.

A program is a list of tuples of small ints, so that Hypothesis shortens it well. `run_program` runs it on one backend
and returns the outcome of each step as text: the exact type and value, or class and text of the exception. `compare`
runs it on two.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import gc
import itertools
import operator
import pickle
import re
import types
from collections.abc import Iterator
from typing import Any, Callable, Optional

import numpy as np
from anyffi import _current
from anyffi.structure import Mismatch
from outcomes import shown, shown_error
from support import CPYTHON

#: Text that differs between runs, and the name of the mode in the key of the dataclass, also where a long message was
#: cut within it.
_OWN = re.compile(r"0x[0-9a-fA-F]+|(?<=random_programs\.)c\w+|\b\w{1,6}(?=\.Record\b)")

Step = tuple[int, int, int, int]

#: The maximum number of steps that users' code inside of other steps takes in one program, and its maximum
#: nesting.
_INNER_STEPS, _INNER_LEVELS = 12, 3
_MOST_ITEMS = 200

#: Functions that create the values for each program, because programs change some of them.
_VALUES: list[Callable[[], Any]] = [
    lambda: 0, lambda: 1, lambda: -2, lambda: 2.0, lambda: True, lambda: None, lambda: "a", lambda: "longer than inline",
    lambda: "\u0416\U0001f600", lambda: "\ud800", lambda: b"ab", lambda: 2**63, lambda: -(2**63), lambda: 2**70,
    lambda: float("nan"), lambda: 1j, lambda: ..., lambda: slice(0, 2), lambda: slice(None, None, -1),
    lambda: (1, 2), lambda: [1, 2, 3], lambda: {"a": 1, "b": 2}, lambda: {1, 2}, lambda: frozenset({"a", 1}),
    lambda: types.MappingProxyType({1: "a"}), lambda: [[1], (2, [3])], lambda: range(3), lambda: iter([1, 2]),
    lambda: bytearray(b"xy"), lambda: np.arange(3), lambda: np.float32(1.5), lambda: {"k": [1, {"l": (2,)}]},
    lambda: [(1, "a"), (2, "b")], lambda: [3, 1, 2], lambda: ValueError("given"), lambda: object(),
]  # fmt: skip

_METHODS = [
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "copy",
    "count",
    "index",
    "reverse",
    "sort",
    "get",
    "items",
    "keys",
    "values",
    "popitem",
    "setdefault",
    "update",
    "add",
    "discard",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "issubset",
    "issuperset",
    "isdisjoint",
    "intersection_update",
    "difference_update",
    "symmetric_difference_update",
    "freeze",
    "thaw",
    "fromkeys",
    "__len__",
    "__contains__",
    "__iter__",
    "__reversed__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__eq__",
    "__lt__",
    "__add__",
    "__iadd__",
    "__mul__",
    "__or__",
    "__ior__",
    "__and__",
    "__sub__",
    "__xor__",
    "__hash__",
    "__repr__",
    "__init__",
    "__length_hint__",
    "__next__",
    "tolist",
    "numpy",
    "shape",
    "dtype",
    "x",
    "items_of",
    "next",
]
_OPERATORS: list[Callable[..., Any]] = [
    *(operator.add, operator.iadd, operator.mul, operator.or_, operator.ior, operator.and_, operator.sub),
    *(
        operator.xor,
        operator.ixor,
        operator.eq,
        operator.lt,
        operator.ge,
        operator.contains,
        operator.getitem,
    ),
    operator.delitem,
]
_CLASSES = (
    "List",
    "Array",
    "Dict",
    "Map",
    "Set",
    "FrozenSet",
    "Shape",
    "Function",
    "Tensor",
    "Device",
    "Record",
)
_FUNCTIONS = [
    "echo",
    "nop",
    "add_one",
    "size",
    "describe",
    "equal",
    "append",
    "item",
    "iterate",
    "put",
    "sum_ints",
    "is_movable",
    "hide",
    "store_in_list",
    "store_in_dict",
    "typed.defaults",
    "typed.list_int",
    "typed.dict_str_int",
    "typed.array_array_str",
    "typed.set_int",
    "typed.map",
    "typed.optional_int",
    "typed.variant_int_str",
    "typed.tuple_int_str",
    "typed.many_overloads",
    "typed.shape",
    "typed.float32",
    "typed.int8",
    "typed.str",
    "typed.slice",
    "typed.tensor",
    "stl.vector_int",
    "stl.map",
    "stl.set",
    "stl.tuple",
    "stl.string",
    "stl.optional",
    "stl.vector_vector_float",
    "stl.variant",
    "stl.pair",
    "stl.chosen",
    "tensors.to_float32",
    "tensors.overloaded",
    "tensors.with_default",
    "results.overloaded",
    "results.native_list",
    "results.native_dict",
    "as.iterable",
    "as.overloaded",
    "as.path",
]
_CALLERS = (
    "apply",
    "catch_error",
    "rethrow",
    "results.call",
    "stl.apply",
    "without_lock",
    "authoring.called",
)
_KEYWORDS = ("x", "a", "b", "key", "reverse", "default", "value")
_FIELDS = ("x", "items_of", "next", "missing")
_ERRORS: list[Callable[[], BaseException]] = [
    lambda: ValueError("raised"), lambda: KeyError(1), lambda: StopIteration(2), lambda: KeyboardInterrupt(),
    lambda: RecursionError("own"), lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "own"), lambda: OSError(2, "own"),
]  # fmt: skip


class _Odd:
    """An object whose methods run steps of the program before they return or raise."""

    def __init__(self, run: _Run, number: int) -> None:
        self._run, self._number = run, number

    def _step(self, method: str, answer: Any) -> Any:
        return self._run.take_inner_step(f"{method} of {self._number}", answer)

    def __copy__(self) -> _Odd:
        return self

    def __deepcopy__(self, memo: Any) -> _Odd:
        return self

    def __reduce__(self) -> Any:
        raise pickle.PicklingError("odd")

    def __eq__(self, other: object) -> Any:
        return self._step("eq", other is self or self._number % 2 == 0)

    def __hash__(self) -> int:
        return int(self._step("hash", self._number % 3))

    def __lt__(self, other: object) -> Any:
        return self._step("lt", self._number % 2 == 0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._step(f"call with {len(args)} {sorted(kwargs)}", args[0] if args else self._number)

    def __repr__(self) -> str:
        return str(self._step("repr", "odd"))


class _OddIndex(_Odd):
    def __index__(self) -> int:
        return int(self._step("index", self._number))


class _OddIterable(_Odd):
    def __iter__(self) -> Any:
        return iter(self._step("iter", [1, self._number]))

    def __len__(self) -> int:
        return int(self._step("len", self._number % 4))


class _OddValue(_Odd):
    def __anyffi_value__(self) -> Any:
        return self._step("value", [self._number])


class _OddMapping(dict):  # type: ignore[type-arg]
    def keys(self) -> Any:
        raise AssertionError("never called for subclasses of dict")


_ODD = (_Odd, _OddIndex, _OddIterable, _OddValue)


def _has_addresses(value: Any) -> bool:
    """Return whether a Python set has elements that hash by their addresses, which determine its order."""
    return isinstance(value, (set, frozenset)) and any(map(_hashes_by_address, value))


def _hashes_by_address(x: Any) -> bool:
    if type(x).__hash__ is object.__hash__ or type(x).__name__ in ("Tensor", "Function"):
        return True
    if isinstance(x, (tuple, frozenset)) or type(x).__name__ in ("Array", "FrozenSet"):
        return any(map(_hashes_by_address, x))
    return type(x).__name__ == "Map" and any(map(_hashes_by_address, x.items()))


_records: dict[str, Any] = {}


def record_class(ffi: Any) -> Any:
    """Return the dataclass of programs on a backend, which is created once, because types are never freed."""
    name: str = ffi.ffi_mode
    if name not in _records:

        @ffi.dataclass(f"random_programs.{name}.Record")
        class Record:
            x: int = 0
            items_of: list[Any] = dataclasses.field(default_factory=list)
            next: Optional[Record] = None  # noqa: UP045

        _records[name] = Record
    return _records[name]


class _Run:
    """The state of one program on one backend."""

    def __init__(self, ffi: Any, inner: list[Step], values: list[Any]) -> None:
        self.ffi, self.log = ffi, list[str]()
        self.pool = values.copy()
        self._inner, self._taken, self._level = inner, 0, 0

    def any(self, number: int) -> Any:
        """Return a value of an earlier step or a new one."""
        if number % 3 and self.pool:
            return self.pool[number // 3 % len(self.pool)]
        number //= 3
        if number % 8 == 7:
            return _ODD[number // 8 % len(_ODD)](self, number)
        return _VALUES[number % len(_VALUES)]()

    def take_inner_step(self, where: str, answer: Any) -> Any:
        self.log.append(f"({where})")
        if self._level == _INNER_LEVELS or self._taken >= min(len(self._inner), _INNER_STEPS):
            return answer
        step = self._inner[self._taken]
        self._taken += 1
        self._level += 1
        try:
            self.take(step)
        finally:
            self._level -= 1
        if step[3] % 5 == 4:
            raise _ERRORS[step[2] % len(_ERRORS)]()
        return answer

    def take(self, step: Step) -> None:
        kind, a, b, c = step
        try:
            value = _STEPS[kind % len(_STEPS)](self, a, b, c)
            if hasattr(type(value), "__len__") and not isinstance(value, _Odd) and len(value) > _MOST_ITEMS:
                value = None
        except RecursionError:
            # The depth of the stack differs between the modes.
            self.log.append("RecursionError")
        except BaseException as error:
            self.log.append(_OWN.sub("", shown_error(error)))
        else:
            self.log.append(_OWN.sub("", shown(value)))
            # The length of a text with an address depends on the address.
            is_same = not (isinstance(value, str) and _OWN.search(value)) and not _has_addresses(value)
            if value is not None and is_same:
                self.pool.append(value)
                self.log.append(f"the value at {next(i for i, x in enumerate(self.pool) if x is value)}")
        for value in self.pool:
            if type(value) is set and _has_addresses(value):
                value.clear()

    def end(self) -> None:
        """Break up cycles, which the runtime does not collect, also those inside of copies and unpickled values."""
        left = self.pool.copy()
        # Containers may share parts, a number of times that grows exponentially with the depth.
        seen: dict[int, Any] = {}
        while left:
            value = left.pop()
            if id(value) in seen:
                continue
            seen[id(value)] = value
            if isinstance(value, (self.ffi.Map, self.ffi.Dict, dict)):
                left.extend(value.values())
            elif isinstance(value, (self.ffi.Array, self.ffi.List, tuple, list)):
                left.extend(value)
            elif isinstance(value, Iterator):
                # Raised if the container has changed.
                with contextlib.suppress(RuntimeError):
                    if type(value).__module__ == "anyffi":
                        # The container itself, because its iterator may not reach an element that refers to
                        # it.
                        left.extend(value.__reduce__()[1])
                    left.extend(itertools.islice(value, _MOST_ITEMS))
            elif isinstance(value, Mismatch):
                # A program may call `__init__` again, with any values.
                left.extend((value.left, value.right, getattr(value.path, "steps", None)))
            if isinstance(value, (self.ffi.List, self.ffi.Dict, self.ffi.Set, list, dict)):
                value.clear()
            elif isinstance(value, record_class(self.ffi)):
                left.extend((value.items_of, value.next))
                value.items_of = []
                value.next = None
        self.ffi.get_global_func("testing.hide")
        self.pool.clear()
        self._inner = []


def _make(run: _Run, a: int, b: int, c: int) -> Any:
    name = _CLASSES[a % len(_CLASSES)]
    cls = record_class(run.ffi) if name == "Record" else getattr(run.ffi, name)
    return cls(run.any(b)) if c % 8 else cls()


def _iterates_over(value: Any, container: Any) -> bool:
    """Return whether a value is an iterator over the container: extending the container by it would never end."""
    if not isinstance(value, Iterator) or isinstance(value, _Odd):
        return False
    with contextlib.suppress(TypeError):
        return any(part is container for part in value.__reduce__()[1])
    return False


def _method(run: _Run, a: int, b: int, c: int) -> Any:
    target, name = run.any(a), _METHODS[b % len(_METHODS)]
    if name == "__hash__":
        hash(target)  # which may have the address of an element in it
        return None
    # Python's own containers behave the same in both modes, except with our objects.
    method = getattr(target, name)
    args = [run.any(c + 7 * i) for i in range(c % 4)]
    if name in ("extend", "__iadd__") and any(_iterates_over(x, target) for x in args):
        return None
    # Python's messages about keywords of `__next__` differ; see test_special_methods.py.
    if c % 16 == 15 and name != "__next__":
        return method(*args, **{_KEYWORDS[b % len(_KEYWORDS)]: run.any(a)})
    return method(*args) if callable(method) else method


def _operator(run: _Run, a: int, b: int, c: int) -> Any:
    operation = _OPERATORS[a % len(_OPERATORS)]
    left, right = run.any(b), run.any(c)
    # `[x] * 2**63` and the like would use all memory.
    if operation is operator.mul and (
        (isinstance(left, int) and left > 9) or (isinstance(right, int) and right > 9)
    ):
        return None
    if operation is operator.iadd and _iterates_over(right, left):
        return None
    return operation(left, right)


def _set_item(run: _Run, a: int, b: int, c: int) -> Any:
    target = run.any(a)
    operator.setitem(target, run.any(b), run.any(c))
    return target


def _set_attribute(run: _Run, a: int, b: int, c: int) -> Any:
    target = run.any(a)
    setattr(target, _FIELDS[b % len(_FIELDS)], run.any(c))
    return target


def _call(run: _Run, a: int, b: int, c: int) -> Any:
    function = run.ffi.get_global_func("testing." + _FUNCTIONS[a % len(_FUNCTIONS)])
    args = [run.any(b + 5 * i) for i in range(c % 4)]
    named = (
        {_KEYWORDS[(b + i) % len(_KEYWORDS)]: run.any(c + i) for i in range(c // 4 % 3)} if c % 5 == 4 else {}
    )
    return function(*args, **named)


def _call_back(run: _Run, a: int, b: int, c: int) -> Any:
    name = _CALLERS[a % len(_CALLERS)]
    function = run.any(b) if b % 4 == 3 else _Odd(run, b)
    result = run.ffi.get_global_func("testing." + name)(function, *(run.any(c + i) for i in range(c % 3)))
    # Without the traceback, which has frames of the backend.
    return result[:2] if name == "catch_error" and isinstance(result, run.ffi.Array) else result


def _convert(run: _Run, a: int, b: int, c: int) -> Any:
    value = run.any(b)
    ffi = run.ffi
    conversions: list[Callable[[Any], Any]] = [
        ffi.convert, ffi.to_python, ffi.to_json, list, tuple, dict, set, sorted, len, iter, next, copy.copy,
        copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: ffi.structural_equal(x, run.any(c)),
        bool,
        lambda x: repr(x) if type(x).__module__ != "builtins" and not isinstance(x, (_Odd, ffi.Function)) else None,
        lambda x: ffi.dtype(x), lambda x: ffi.device(x), lambda x: ffi.from_json(x), ffi.from_dlpack, reversed, enumerate,
        lambda x: ffi.structural_hash(x) is None, lambda x: ffi.first_mismatch(x, run.any(c)), ffi.copy, ffi.asdict,
        lambda x: [x.x, x.items_of, x.next],
    ]  # fmt: skip
    return conversions[a % len(conversions)](value)


_STEPS = (
    _make,
    _make,
    _method,
    _method,
    _method,
    _operator,
    _set_item,
    _set_attribute,
    _call,
    _call,
    _call_back,
    _convert,
    _convert,
)


def run_program(ffi: Any, steps: list[Step], inner: list[Step], values: list[Any]) -> list[str]:
    """Run a program, and return its outcomes; the last line counts the memory blocks that it leaked."""
    live_blocks = ffi.get_global_func("testing.live_blocks")
    run = _Run(ffi, inner, values)
    before = live_blocks()
    # The API by which pickles are read.
    in_use, _current.api = _current.api, ffi
    try:
        for step in steps:
            run.take(step)
        run.end()
    finally:
        _current.api = in_use
    if CPYTHON and live_blocks() != before:
        # Collects cycles through Python's own containers.
        gc.collect()
    run.log.append(f"{live_blocks() - before} blocks")
    return run.log


def compare(both: tuple[Any, Any], steps: list[Step], inner: list[Step], values: list[Any]) -> None:
    """Run a program on two backends.

    Raises
    ------
    AssertionError
        The outcomes differ, or memory was leaked.
    """
    one, other = (run_program(ffi, steps, inner, values) for ffi in both)
    for number, (mine, theirs) in enumerate(zip(one, other)):
        assert mine == theirs, f"{mine!r} and {theirs!r} after {one[:number]}"
    assert len(one) == len(other)
    assert one[-1] == "0 blocks" or not CPYTHON, f"{one[-1]} were left after {one[:-1]}"
