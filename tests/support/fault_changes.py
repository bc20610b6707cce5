"""A program of fault_programs.py: containers that are changed while each allocation fails in turn."""

from __future__ import annotations

import functools
import gc
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import anyffi
import anyffi.testing
from failing_memory import Faults

__all__ = ["change"]

LONG = "a text on the heap"


class Key:
    """An object whose hash and comparison allocate."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return hash(f"{self.number}a")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and f"{self.number}b" == f"{other.number}b"


KEYS: Any = [Key(number) for number in range(9)]
#: Elements of a container: few, those of a full block, and some that only Python can compare.
CONTENTS: Any = {"few": [1, LONG, (2, LONG)], "full": [*range(8)], "objects": [KEYS[0], 1, *KEYS[1:7], LONG]}
#: What it is changed by.
OTHERS: Any = {"plain": [LONG, 9, (7, LONG), 2**70, 1], "objects": [Key(1), KEYS[8], LONG, Key(20), 3]}
KINDS: Any = (list, iter, anyffi.Set, frozenset)
OPERATORS = ("__ior__", "__iand__", "__isub__", "__ixor__")
METHODS = (
    "update",
    "intersection_update",
    "difference_update",
    "symmetric_difference_update",
    "__init__",
)

Change = Callable[[Any], Any]


def call(name: str, other: Callable[[], Any], x: Any) -> Any:
    result = getattr(x, name)(other())
    return None if name.startswith("__i") else result


def list_set_changes(values: list[Any]) -> Iterator[Change]:
    for name in METHODS:
        for kind in KINDS:
            yield functools.partial(call, name, functools.partial(kind, values))
    for name in OPERATORS:
        yield functools.partial(call, name, functools.partial(anyffi.Set, values))


def list_dict_changes(values: list[Any]) -> Iterator[Change]:
    for name in ("update", "__ior__", "__init__"):
        yield functools.partial(call, name, lambda: dict.fromkeys(values, 2**70))
        yield functools.partial(call, name, lambda: anyffi.Dict({key: [LONG] for key in values}))
        yield functools.partial(call, name, lambda: [(key, LONG) for key in values])
    for key in values:
        for value in (5, 2**70, LONG, [LONG], KEYS[5]):
            yield lambda d, key=key, value=value: d.setdefault(key, value)


def change(faults: Faults, library: str = "") -> None:
    """Without memory for one of several elements, none has changed."""
    blocks, trim = anyffi.testing.live_blocks, anyffi.get_global_func("testing.fail_allocation")
    cases: list[tuple[Callable[[], Any], Change]] = []
    for content, other in itertools.product(CONTENTS.values(), OTHERS.values()):
        make_set = functools.partial(anyffi.Set, content)
        cases += zip(itertools.repeat(make_set), list_set_changes(other))
        make_dict = functools.partial(anyffi.Dict, dict.fromkeys(content, 0))
        cases += zip(itertools.repeat(make_dict), list_dict_changes(other))
    result: Any = [None]

    def run(operation: Change, x: Any) -> bool:
        # Into a list that exists: afterwards, nothing is allocated.
        result[0] = operation(x)
        return True

    for make, operation in cases:
        after = make()
        expected = repr(operation(after))
        before = blocks()
        for point in faults.each():
            x: Any = make()
            # Free lists of the runtime would hide allocations.
            trim(-1)
            has_changed = faults.attempt(functools.partial(run, operation, x))
            assert not has_changed or repr(result[0]) == expected, (point, operation, result)
            wanted = after if has_changed else make()
            assert [*map(repr, x)] == [*map(repr, wanted)], (point, operation, has_changed, x)
            assert x == wanted, (point, operation, has_changed, x)
        x = result[0] = wanted = None
        gc.collect()
        assert blocks() == before, (operation, blocks() - before)
