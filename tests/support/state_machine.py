"""Every container against Python's own as the model, in long drawn sequences of operations: what the machines share.

A step is made in Python or in C++ (through functions that the runtime or the testing library registers), on the
container or on another handle of it; after each one the content is compared, as are the outcomes. When a run ends,
the runtime has the blocks of memory that it had; when all have, every Python object is held as often as before.
"""

from __future__ import annotations

import sys
from typing import Any, Callable

import cases
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from support import CPYTHON, collect, words_of


class Opaque:
    """Objects of Python, compared by identity."""


#: Some that stand for all: how often they are held is counted.
OPAQUE = [Opaque() for _ in range(3)]

values = st.one_of(
    cases.scalars.filter(lambda x: x == x),
    st.sampled_from(OPAQUE),
    st.lists(st.integers(-3, 3), max_size=3),
    st.tuples(st.integers(-3, 3), st.text(max_size=15)),
    st.frozensets(st.integers(-3, 3), max_size=3),
)
lists_of_values = st.lists(values, max_size=6)
indices = st.one_of(st.integers(-12, 12), st.sampled_from([2**63 - 1, -(2**63), 2**70, -(2**70)]))
_steps = st.one_of(st.none(), st.integers(-4, 4), st.sampled_from([2**70, -(2**70)]))
slices = st.builds(slice, st.none() | indices, st.none() | indices, _steps)
#: Few enough to be met again.
keys = st.one_of(
    st.integers(-4, 12),
    st.sampled_from(
        ["a", "b", "c", "a key on the heap", 2.5, None, (1, 2), (1, "a"), b"k", 2**70, 1j, *OPAQUE]
    ),
)


class Machine(RuleBasedStateMachine):
    """What all have: the container and its model, the comparison, and the count around a run."""

    ffi: Any
    ours: Any = None
    model: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.blocks = self.native("testing.live_blocks")()

    def native(self, name: str) -> Any:
        return self.ffi.get_global_func(name)

    def outcome(self, function: Callable[[], Any]) -> Any:
        try:
            result = function()
        except (IndexError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
            # The words of a TypeError speak of the class.
            return type(error), words_of(error) if type(error) is not TypeError else None
        return self.ffi.to_python(result)

    def both(self, operation: Callable[[Any], Any]) -> None:
        """The same operation on both."""
        got, expected = (
            self.outcome(lambda: operation(self.ours)),
            self.outcome(lambda: operation(self.model)),
        )
        assert cases.same(got, expected) or got == expected, (got, expected)

    def apart(self, ours: Callable[[], Any], model: Callable[[], Any]) -> None:
        """What is done in C++ to ours, and to the model in Python."""
        got, expected = self.ffi.to_python(ours()), model()
        assert cases.same(got, expected), (got, expected)

    def described(self) -> str:
        """What C++ is to see of the container."""
        return cases.describe(self.model)

    @invariant()
    def contents_agree(self) -> None:
        if self.ours is not None:
            assert len(self.ours) == len(self.model)
            assert cases.same(self.ffi.to_python(self.ours), self.model)
            assert self.native("testing.describe")(self.ours) == self.described()

    @rule()
    def other_handle(self) -> None:
        """The same object, by way of C++; on CPython in a new wrapper."""
        self.native("testing.hold")(self.ours)
        self.ours = None
        self.ours = self.native("testing.held")()

    @rule()
    def equal_in_cpp(self) -> None:
        assert self.native("testing.equal")(self.ours, self.model) is True

    def teardown(self) -> None:
        self.native("testing.hold")(None)
        self.ours = self.model = None
        # Elsewhere nobody can tell when a wrapper goes.
        if CPYTHON and self.native("testing.live_blocks")() != self.blocks:
            collect()
            assert self.native("testing.live_blocks")() == self.blocks


def _held() -> list[int]:
    collect()
    return [sys.getrefcount(x) for x in OPAQUE] if CPYTHON else []


def run_machine(machine: type[Machine], ffi: Any) -> None:
    over = type(f"{machine.__name__}_{ffi.ffi_mode}", (machine,), {"ffi": ffi})
    before = _held()
    run_state_machine_as_test(over, settings=settings(stateful_step_count=30))
    assert _held() == before
