"""Threads with small stacks: walks through deep values raise RecursionError where a stack ends before Python's limit."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from programs import run_program
from support import CPYTHON_313T, SANITIZED

pytestmark = pytest.mark.skipif(SANITIZED, reason="the sanitizers' frames leave no room on such stacks")

#: Expressions that put a level around `x`, by name.
_LEVELS = {
    "List": "anyffi.List([x])",
    "Array": "anyffi.Array([x])",
    "Dict": "anyffi.Dict({1: x})",
    "FrozenSet": "anyffi.FrozenSet([x])",
    "objects of Python": "anyffi.List([Equal(x)])",
}

_PROGRAM = """
    import copy, gc, pickle, threading, anyffi, anyffi.testing
    from anyffi import structure

    class Equal:
        def __init__(self, x):
            self.x = x
        def __eq__(self, other):
            return isinstance(other, Equal) and self.x == other.x
        def __hash__(self):
            return hash(self.x)

    @anyffi.dataclass("testing.SmallStack")
    class Link(anyffi.Object):
        next: object = None

    def nest(depth, make):
        x = 1
        for _ in range(depth):
            x = make(x)
        return x

    def make(x):
        return {level}

    echo = anyffi.get_global_func("testing.echo")
    a, b = nest(3_000, make), nest(3_000, make)
    linked = nest(3_000, Link)
    plain = nest(190, lambda x: [x])
    uses = {{
        "eq": lambda: a == b,
        "lt": lambda: a < b,
        "hash": lambda: hash(a),
        "in": lambda: a in anyffi.List([b]),
        "index": lambda: anyffi.List([b]).index(a),
        "structural": lambda: structure.structural_equal(a, b),
        "diff": lambda: structure.diff(a, b),
        "repr": lambda: repr(a),
        "pickle": lambda: pickle.dumps(a),
        "deepcopy": lambda: copy.deepcopy(a),
        "to_python": lambda: anyffi.to_python(a),
        "to_json": lambda: structure.to_json(a),
        "collect": lambda: gc.collect(),
        "argument": lambda: echo(plain),
        "a list": lambda: a == plain,
        "objects": lambda: pickle.dumps(linked),
        "copied objects": lambda: copy.deepcopy(linked),
    }}

    def run():
        for name, use in uses.items():
            print(name, flush=True)  # the last one, if the process ends
            try:
                use()
            except (RecursionError, TypeError, ValueError):
                pass

    for kib in {sizes}:
        print(kib, flush=True)
        threading.stack_size(kib * 1024)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    print("ended")
"""


_counts_calls = pytest.mark.skipif(
    not (3, 11) <= sys.version_info < (3, 14),
    reason="calls of Python's functions take the stack before 3.11; the interpreter measures it itself from 3.14 on",
)


@_counts_calls
@pytest.mark.parametrize("level", _LEVELS.values(), ids=_LEVELS)
def test_walks_on_small_stacks(ffi: Any, level: str) -> None:
    if ffi.ffi_mode == "check":
        pytest.skip("both marshallers together need more stack than is left")
    # Free-threaded CPython 3.13 releases a traceback's frames by recursion, for which small stacks have no room.
    sizes = (128, 192, 256) if CPYTHON_313T else (64, 96, 128, 192, 256)
    program = _PROGRAM.format(level=level, sizes=sizes)
    assert run_program(program, ffi.ffi_mode).endswith("\nended\n")


_RECURSION = """
    import sys, threading, anyffi, anyffi.testing

    echo = anyffi.get_global_func("testing.echo")

    class Value:
        def __anyffi_value__(self):
            return echo(Value())
    class Index:
        def __index__(self):
            return echo(Index())
    class Exporter:
        def __dlpack__(self, **options):
            return echo(Exporter())
    class Mapping:
        def keys(self):
            return anyffi.Dict(Mapping())
        def __getitem__(self, key):
            return 1
    class Listed:
        def __iter__(self):
            return iter(anyffi.List(Listed()))
    class Set:
        def __iter__(self):
            return iter(anyffi.Set(Set()))
    class Less:
        def __lt__(self, other):
            return anyffi.List([Less(), Less()]).sort()
    @anyffi.dataclass("testing.SmallPost")
    class Post:
        x: int = 0
        def __post_init__(self):
            Post()
    @anyffi.dataclass("testing.SmallInit", init=False)
    class Init:
        x: int = 0
        def __init__(self):
            Init()
    @anyffi.dataclass("testing.SmallFactory")
    class Factory:
        x: object = anyffi.field(default_factory=lambda: Factory())

    def key(x):
        anyffi.List([1, 2]).sort(key=key)

    def extend():
        anyffi.List().extend(extend())
        yield 1

    def update():
        anyffi.Dict().update(update())
        yield 1, 1

    uses = {
        "__anyffi_value__": lambda: echo(Value()),
        "__index__": lambda: echo(Index()),
        "__dlpack__": lambda: echo(Exporter()),
        "keys": lambda: anyffi.Dict(Mapping()),
        "a list": lambda: anyffi.List(Listed()),
        "a set": lambda: anyffi.Set(Set()),
        "__lt__": lambda: anyffi.List([Less(), Less()]).sort(),
        "key": lambda: key(1),
        "__post_init__": Post,
        "__init__": Init,
        "default_factory": Factory,
        "extend": lambda: list(extend()),
        "update": lambda: list(update()),
    }

    def run():
        for name, use in uses.items():
            print(name, flush=True)  # the last one, if the process ends
            try:
                use()
            except RecursionError:
                continue
            print("no error")

    threading.stack_size(384 * 1024)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    print("ended")
"""


@_counts_calls
def test_code_of_users_that_comes_back(ffi: Any) -> None:
    """Python's limit only counts Python functions, between which a conversion's frames use up the stack."""
    if ffi.ffi_mode == "check":
        pytest.skip("both marshallers together need more stack than is left")
    found = run_program(_RECURSION, ffi.ffi_mode)
    assert found.endswith("\nended\n")
    assert "no error" not in found


def test_what_is_not_deep_has_room(ffi: Any) -> None:
    program = """
        import copy, pickle, threading, anyffi

        def nest(depth):
            x = anyffi.List([1])
            for _ in range(depth):
                x = anyffi.List([x])
            return x

        def run():
            assert nest(4) == nest(4)
            assert repr(nest(2)) == "anyffi.List([anyffi.List([anyffi.List([1])])])"
            assert pickle.loads(pickle.dumps(nest(2))) == nest(2) == copy.deepcopy(nest(2))
            print("ended")

        threading.stack_size(64 * 1024)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    """
    assert run_program(program, ffi.ffi_mode) == "ended\n"
