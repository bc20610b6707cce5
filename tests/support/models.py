"""Python's containers as models for the runtime's, and the comparison of operations on both."""

from __future__ import annotations

import types
from typing import Any, Callable

from hypothesis import strategies as st
from support import words_of

SEQUENCES = [("Array", tuple), ("List", list)]
MAPPINGS = [("Map", types.MappingProxyType), ("Dict", dict)]
SETS = [("Set", set), ("FrozenSet", frozenset)]
#: Python's class by the name of the runtime's class; no name contains an earlier one.
PLAIN: dict[str, Any] = dict([*SEQUENCES, *MAPPINGS, *reversed(SETS)])

#: Elements of sets, few enough for drawing the same ones again.
elements = st.integers(0, 9) | st.sampled_from(["a", "b", 1.0, True, None, (1, 2), frozenset({1}), 2**70])
few_elements = st.lists(elements, max_size=6)


def outcome(function: Callable[[], Any], ffi: Any) -> Any:
    """Return the result as a Python value, or the exception; of a TypeError only the class: the text names the type."""
    try:
        return ffi.to_python(ffi.get_global_func("testing.echo")(function()))
    except TypeError:
        return TypeError
    except Exception as error:
        return type(error), words_of(error)


def assert_alike(ffi: Any, ours: Any, pythons: Any, operation: Callable[[Any], Any]) -> None:
    """Assert that the operation has the same result, or exception, on both, and leaves them equal."""
    assert outcome(lambda: operation(ours), ffi) == outcome(lambda: operation(pythons), ffi)
    assert ffi.to_python(ours) == pythons


class Kept:
    """An opaque object that can be copied."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]


class Element:
    """An opaque object, compared by identity, that may hold its container."""

    holds: Any
