"""State machines that run random operations on a container and on its Python counterpart, the model.

A step runs in Python or in C++ (through functions of the runtime or the testing library), on the container or on
another handle of it; outcome and content are compared after each step. Each run must free its runtime memory, and
all runs together must restore every refcount.
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
    """A Python object, compared by identity."""


#: A few objects, whose refcounts are checked.
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
#: Few enough for drawing the same ones again.
keys = st.one_of(
    st.integers(-4, 12),
    st.sampled_from(
        ["a", "b", "c", "a key on the heap", 2.5, None, (1, 2), (1, "a"), b"k", 2**70, 1j, *OPAQUE]
    ),
)


class Machine(RuleBasedStateMachine):
    """The base of all state machines: container, model, comparison, and the leak check of a run."""

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
            # The text of a TypeError names the class, which differs.
            return type(error), words_of(error) if type(error) is not TypeError else None
        return self.ffi.to_python(result)

    def both(self, operation: Callable[[Any], Any]) -> None:
        """Run the same operation on both."""
        got, expected = (
            self.outcome(lambda: operation(self.ours)),
            self.outcome(lambda: operation(self.model)),
        )
        assert cases.same(got, expected) or got == expected, (got, expected)

    def apart(self, ours: Callable[[], Any], model: Callable[[], Any]) -> None:
        """Run an operation in C++ on ours, and its counterpart in Python on the model."""
        got, expected = self.ffi.to_python(ours()), model()
        assert cases.same(got, expected), (got, expected)

    def described(self) -> str:
        """Return the expected description of the container by C++."""
        return cases.describe(self.model)

    @invariant()
    def contents_agree(self) -> None:
        if self.ours is not None:
            assert len(self.ours) == len(self.model)
            assert cases.same(self.ffi.to_python(self.ours), self.model)
            assert self.native("testing.describe")(self.ours) == self.described()

    @rule()
    def other_handle(self) -> None:
        """Pass the object through C++; on CPython it comes back in a new wrapper."""
        self.native("testing.hold")(self.ours)
        self.ours = None
        self.ours = self.native("testing.held")()

    @rule()
    def equal_in_cpp(self) -> None:
        assert self.native("testing.equal")(self.ours, self.model) is True

    def teardown(self) -> None:
        self.native("testing.hold")(None)
        self.ours = self.model = None
        # PyPy frees wrappers later.
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
