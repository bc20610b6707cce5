"""Programs in which each allocation fails in turn, and whose state must remain correct.

    LD_PRELOAD=FAILING_MEMORY PYTHONMALLOC=malloc python fault_programs.py NAME [LIBRARY]

Each prints how many allocations have failed.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import gc
import os
import pickle
import sys
import tempfile
import types
import weakref
from collections.abc import Callable
from typing import Any

import anyffi
import anyffi.debug
import anyffi.testing
from failing_memory import Faults
from fault_changes import change

__all__ = ["PROGRAMS"]


def load_again(faults: Faults, library: str = "") -> None:
    """A library keeps its state when it is loaded again."""
    module = anyffi.load_module(library)
    calls = module.count()
    for point in faults.each(least=20):
        with contextlib.suppress(Exception):  # other tests look at its kind
            faults.attempt(lambda: anyffi.load_module(library))
        calls += 1
        assert anyffi.load_module(library).count() == calls, point


def keep_overrides(faults: Faults, library: str = "") -> None:
    """An object of a Python class that C++ keeps stays alive with all its attributes."""
    module = anyffi.load_module(library)
    module.forget()
    finalized = []

    class Circle(module.Shape):  # type: ignore[misc, name-defined]
        def area(self) -> float:
            return 12.0

    class Finalized(Circle):
        def __del__(self) -> None:
            finalized.append(self.label)

    def make(cls: Any, has_attribute: bool, is_called: bool) -> Any:
        circle = cls("circle")
        if has_attribute:
            circle.name = lambda: "round"
        if is_called:
            module.name_of(circle)
        return circle

    for cls, has_attribute, is_called in [
        (Circle, False, False),
        (Circle, True, False),
        (Circle, True, True),
        (Finalized, True, True),
    ]:
        for point in faults.each(least=3):
            finalized.clear()
            held = [make(cls, has_attribute, is_called)]
            module.keep(held[0])
            faults.attempt(held.clear)
            shape = module.kept_at(0)
            assert (type(shape), finalized) == (cls, []), point
            expected = (12.0, "round" if has_attribute else "shape circle")
            assert (module.kept_area(), shape.name()) == expected, point
            del shape
            module.forget()
            gc.collect()
            assert finalized == ["circle"] * (cls is Finalized), (point, finalized)


def trace(faults: Faults, library: str = "") -> None:
    """A trace counts the events that it loses."""
    apply = anyffi.get_global_func("testing.apply")

    def use() -> bool:
        apply(lambda x: x, 5)
        return True

    with anyffi.trace() as traced:
        use()
        use()
    per_use = (len(traced.events) - 3) // 2
    for point in faults.each(least=20):
        with anyffi.trace() as traced:
            use()
            succeeded = faults.attempt(use)
            use()
        # A call that fails before it reaches C++ has fewer events.
        missing = 3 * per_use + 3 - len(traced.events)
        lost = traced.events[-1]["lost"]
        assert missing == lost or not succeeded, (point, missing, lost)
        # Nor is the last use recorded inside a call whose end was lost.
        depths = [event["depth"] for event in traced.events if event["event"] == "call"]
        assert depths[-2:] == [0, 1], (point, depths)


def end_trace(faults: Faults, library: str = "") -> None:
    """A trace sees no later calls, its file is closed, and the error of a callback is kept."""
    apply = anyffi.get_global_func("testing.apply")

    def fail(x: int) -> None:
        raise ValueError(x)

    def use() -> None:
        with contextlib.suppress(ValueError):
            apply(fail, 5)

    def use_traced() -> None:
        with traced:
            use()

    use()
    before = len(os.listdir("/proc/self/fd"))
    for point in faults.each(least=20):
        for path in (None, "/dev/null"):
            traced = anyffi.trace(path)
            faults.attempt(use_traced)
            seen = len(traced.events)
            use()
            assert len(traced.events) == seen, point
            del traced
        assert len(os.listdir("/proc/self/fd")) == before, point


def show(faults: Faults, library: str = "") -> None:
    """No container stays marked as one that contains itself."""
    shown = anyffi.Dict({1: anyffi.Array((anyffi.List([anyffi.List([anyffi.Set([2])])]),))})
    text = repr(shown)
    for point in faults.each(least=5):
        # What keeps a set's size changes from one to the next.
        for _ in range(12):
            faults.attempt(lambda: repr(shown))
            assert repr(shown) == text, (point, repr(shown))


def list_live(faults: Faults, library: str = "") -> None:
    """Elements that could not be listed are released."""
    live_objects, blocks = anyffi.debug.live_objects, anyffi.testing.live_blocks
    live_objects()
    kept = anyffi.List([lambda: "kept"])
    live_objects()
    gc.collect()
    before = blocks()
    for point in faults.each(least=10):
        faults.attempt(live_objects)
        assert anyffi.testing.use_count(kept) == 1, point
        gc.collect()
        assert blocks() == before, (point, blocks() - before)


def unpickle(faults: Faults, library: str = "") -> None:
    """A MemoryError is raised; no function or module is returned that would be looked up later."""
    module = anyffi.load_module(library)
    for value in (module, module.count):
        data = pickle.dumps(value)
        text = repr(pickle.loads(data))
        for point in faults.each(least=20):
            found = faults.attempt(lambda: pickle.loads(data))
            assert found is None or repr(found) == text, (point, found)


def describe(faults: Faults, library: str = "") -> None:
    """A description of a function, which is read once, is complete."""
    operations: list[Callable[[Any], Any]] = [repr, lambda f: f.__doc__, lambda f: str(f.__signature__)]
    for operation in operations:
        expected = operation(anyffi.load_module(library).greet)
        for point in faults.each():
            # A new wrapper, which has no description yet.
            function = anyffi.load_module(library).get_function("greet")
            found = faults.attempt(functools.partial(operation, function))
            assert found in (None, expected), (point, found)
            assert operation(function) == expected, point
            del function


def record(faults: Faults, library: str = "") -> None:
    """Calls are recorded after one without memory."""
    echo = anyffi.get_global_func("testing.echo")
    for point in faults.each(least=50):
        faults.attempt(lambda: echo(-1))
        echo(point)


def sort(faults: Faults, library: str = "") -> None:
    """A list whose sort failed has its elements, even if memory is exhausted when the key raises."""

    def key(x: Any) -> Any:
        if x == 2:
            faults.begin()
            raise ValueError(x)
        return x

    def sort_all() -> None:
        with contextlib.suppress(ValueError):
            xs.sort(key=key)

    for point in faults.each():
        xs = anyffi.List([3, "text", 2, [1]])
        faults.attempt(sort_all, begins=False)
        assert xs == [3, "text", 2, [1]], (point, xs)


def reduce(faults: Faults, library: str = "") -> None:
    """Mappings are pickled without memory for pairs: an iterator over the items of a dict would end the process."""
    held: list[Any] = []
    contents: list[dict[str, Any]] = [{"a": 1}, {"k": [2**80, 1j]}]
    for content in contents:
        mapping = anyffi.Dict(content)
        for point in faults.each(least=2):
            # Makes the interpreter use up its free pairs, which it would reuse.
            held.extend([(i, held) for i in range(2100)])
            reduced: Any = faults.attempt(mapping.__reduce__)
            assert reduced is None or dict(reduced[4]) == content, point


def pop(faults: Faults, library: str = "") -> None:
    """What is popped stays where it was if there is no memory to return it."""
    first, second = "a text on the heap", "another text on the heap"
    contents: Any = [first, 2**70, [1], (second, 1j), slice(1, 2**70), len, 2.5]
    pairs: Any = {first: [1], 2: second, "k": 2**70, object: slice(first, 1), second: (1, 2)}

    class Key:
        def __anyffi_value__(self) -> Any:
            return first

    class Position:
        def __index__(self) -> int:
            return 2

    lists = [anyffi.List, type("OwnList", (anyffi.List,), {})]
    dicts = [anyffi.Dict, type("OwnDict", (anyffi.Dict,), {})]
    sets = [anyffi.Set, type("OwnSet", (anyffi.Set,), {})]
    keys: list[Any] = [*pairs, Key()]
    indexes: list[Any] = [*range(-len(contents), len(contents)), Position()]
    cases: list[tuple[Any, Any, Callable[[Any], Any]]] = [
        *((cls, contents, lambda x, i=i: x.pop(i)) for cls in lists for i in indexes),
        *((cls, contents, lambda x: x.pop()) for cls in lists),
        *((cls, pairs, lambda x, k=k: x.pop(k)) for cls in dicts for k in keys),
        *((cls, pairs, lambda x: x.popitem()) for cls in dicts),
        *((cls, {first: 2**70}, lambda x: x.popitem()) for cls in dicts),
        *((cls, [1, last], lambda x: x.pop()) for cls in sets for last in (first, (1, 2), 2**70)),
    ]
    blocks, trim = anyffi.testing.live_blocks, anyffi.get_global_func("testing.fail_allocation")
    for cls, content, operation in cases:
        after = cls(content)
        expected = operation(after)
        before = blocks()
        for point in faults.each():
            x: Any = cls(content)
            # Free lists of the runtime would hide allocations.
            trim(-1)
            popped = faults.attempt(lambda: operation(x))
            assert popped in (None, expected), (point, popped)
            wanted = cls(content) if popped is None else after
            assert (x, list(x)) == (wanted, list(wanted)), (point, popped, x)
        x = popped = wanted = None
        gc.collect()
        assert blocks() == before, blocks() - before


def read_pairs(faults: Faults, library: str = "") -> None:
    """Dicts are read without memory for pairs: an iterator over their items would end the process."""
    held: list[Any] = []
    defaults = anyffi.get_global_func("testing.typed.defaults")

    @anyffi.dataclass("faults.pairs.Holder")
    class Holder:
        content: Any

    class Own(dict):  # type: ignore[type-arg]
        pass

    class Shown(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            return {"shown": self["a"]}.items()

    echo = anyffi.get_global_func("testing.echo")
    holder = Holder({"a": 1, "b": [2]})
    mappers = {int: lambda x: x + 1, object: lambda x: x}
    operations: list[Callable[[], Any]] = [
        lambda: anyffi.to_python(anyffi.structure.map([1, "a"], mappers)),
        lambda: defaults(a=1, c=2.0),
        lambda: anyffi.asdict(holder),
        lambda: echo(Own(a=1, b=[2])),
        lambda: echo(types.MappingProxyType(Own(a=1, b=[2]))),
        lambda: echo(types.MappingProxyType(Shown(a=1))),
        lambda: echo(collections.OrderedDict(a=1, b=[2])),
        lambda: echo(types.MappingProxyType(collections.OrderedDict(a=1, b=[2]))),
        lambda: anyffi.Function(type("Callable", (), {"__call__": len})) and 1,
    ]
    for operation in operations:
        expected = operation()
        for point in faults.each():
            # Makes the interpreter use up its free pairs, which it would reuse.
            held.extend([(i, held) for i in range(2100)])
            found = faults.attempt(operation)
            assert found is None or found == expected, (point, found)
        held.clear()


def read_records(faults: Faults, library: str = "") -> None:
    """A recorded call that cannot be read is listed as such, not as damaged or as one that did not return."""
    from anyffi._tracing.records import MAGIC, RECORDS, frame, read_calls

    calls = [(number, "f", b"reference", b"arguments") for number in range(3)]
    ends = [(number, ("return", b"result"), None) for number in range(3)]
    records = [("begin", *call) for call in calls] + [("end", *end) for end in ends]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, f"1-000000{RECORDS}"), "wb") as file:
            file.write(MAGIC + b'{"mode": "ctypes"}\n' + b"".join(map(frame, records)))
        expected = [call.record for call in read_calls(folder, {})]
        assert len(expected) == 3
        for point in faults.each(least=20):
            damaged: dict[str, int] = {}
            found: Any = None
            try:
                found = faults.attempt(lambda into=damaged: [*read_calls(folder, into)])
            except (OSError, RuntimeError) as error:  # CPython's own
                assert "allocate" in str(error), point
            for call in found or ():
                is_unread = call.record is None and "MemoryError" in call.reason
                assert is_unread or call.record in expected, (point, call)
            assert found is None or len(found) == 3, (point, found)
            assert damaged == {}, point


def find_libraries(faults: Faults, library: str = "") -> None:
    """The paths of the package's libraries are found, also in an editable installation."""
    path = anyffi.find_library("anyffi")
    for point in faults.each(least=5):
        assert faults.attempt(lambda: anyffi.find_library("anyffi")) in (None, path), point


def create_types(faults: Faults, library: str = "") -> None:
    """The types that the ctypes backend creates by a function of CPython at import are complete, or missing."""
    if anyffi.ffi_mode != "ctypes":
        return
    from anyffi._ctypes.cpython_wrappers import final

    class Base:
        """A text."""

        __slots__ = ()

    for point in faults.each(least=10):
        made: Any = None
        # ctypes raises it without memory to convert an argument.
        with contextlib.suppress(ctypes.ArgumentError):
            made = faults.attempt(lambda: final(Base))
        if made is not None:
            assert (made.__name__, made.__doc__, made.__base__, type(made())) == (
                "Base",
                "A text.",
                Base,
                made,
            ), point
    made = None
    gc.collect()
    before = sys.getrefcount(Base)
    made = final(Base)
    reference = weakref.ref(made)
    del made
    gc.collect()
    assert (reference(), sys.getrefcount(Base)) == (None, before)


def cross_exceptions(faults: Faults, library: str = "") -> None:
    """C++ catches one of Python as its class or a MemoryError; one of C++ has its attributes or is a MemoryError."""
    trim = anyffi.get_global_func("testing.fail_allocation")
    module = anyffi.load_module(library)
    text = "a text on the heap of the runtime"
    try:
        module.fail("sold out")
    except ValueError as error:
        sold_out = type(error)

    def refuse() -> None:
        raise sold_out(text)

    def is_right(result: str) -> bool:
        # An exception whose text cannot be created has the text "(no text)", as everywhere. CPython raises
        # SystemError if it has lost a MemoryError.
        return result in (
            f"sold out: {text}",
            "sold out: (no text)",
            "error MemoryError",
            "error SystemError",
        )

    def has_attributes(error: Any) -> bool:
        return (str(error), error.days, error.names, error.total) == ("spoilt", 3, ["pear", "fig"], 6)

    operations: list[tuple[Callable[[], Any], Callable[[Any], bool], Callable[[Any], bool]]] = [
        (lambda: module.caught(refuse), is_right, lambda error: False),
        (lambda: module.fail("spoilt"), lambda result: False, has_attributes),
    ]
    for operation, is_result, is_error in operations:
        # CPython 3.14 imports more for the first traceback than there are rounds.
        with contextlib.suppress(ValueError):
            operation()
        for point in faults.each(least=3):
            # Free lists of the runtime would hide allocations.
            trim(-1)
            result = raised = None
            try:
                result = faults.attempt(operation)
            except Exception as error:
                raised = error
            assert result is None or is_result(result), (point, result)
            assert raised is None or is_error(raised), (point, raised, vars(raised))


#: By name.
PROGRAMS: dict[str, Callable[..., None]] = {
    program.__name__: program
    for program in (
        load_again,
        keep_overrides,
        trace,
        end_trace,
        show,
        list_live,
        unpickle,
        describe,
        record,
        sort,
        reduce,
        pop,
        change,
        read_pairs,
        read_records,
        find_libraries,
        create_types,
        cross_exceptions,
    )
}

if __name__ == "__main__":
    _faults = Faults()
    PROGRAMS[sys.argv[1]](_faults, *sys.argv[2:])
    print(_faults.count)
