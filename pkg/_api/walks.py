"""Visits values and all their parts, and makes values with other parts."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._objects.runtime import Runtime
from .._rules.callbacks import Interrupted, VisitInterrupt, choose_function, stop_at_interrupt
from .._rules.paths import AccessPath, AccessStep, read_child
from .._typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WalksApi"]

#: The number of the state that `pickle()` stores, among the parts of an object.
_STATE_PART = -1
_SLICE_PARTS = ("start", "stop", "step")


class WalksApi:
    """Functions that walk through values, with one backend."""

    Array: Any
    Dict: Any
    FrozenSet: Any
    List: Any
    Map: Any
    Set: Any

    _core: Any
    _runtime: Runtime

    def visit(
        self, value: Any, function: Callable[[Any], Any] | Mapping[Any, Any], *, order: str = "pre"
    ) -> VisitInterrupt | None:
        """Call a function with a value and all its parts.

        An object with several references is visited once.

        Parameters
        ----------
        value : object
            Its parts are those of `structural_equal`.
        function : callable or mapping
            Called with each value. If it returns False before the parts, they are skipped; if it returns a
            `VisitInterrupt`, the walk ends. A mapping has a function for each type or tuple of types: the
            first match is called, if there is one.
        order : str
            ``"pre"``: before the parts of each value; ``"post"``: after them.

        Returns
        -------
        VisitInterrupt or None
            The result that ended the walk.

        Examples
        --------
        >>> anyffi.structure.visit([1, ["two"]], print)
        anyffi.List([1, anyffi.List(['two'])])
        1
        anyffi.List(['two'])
        two
        """
        if order not in ("pre", "post"):
            raise ValueError(f"the order is 'pre' or 'post', not {order!r}")
        chosen = stop_at_interrupt(choose_function(function, lambda part: None))
        try:
            self._runtime.structure_visit(value, self._core.to_object(chosen), order == "post")
        except Interrupted as interrupted:
            return interrupted.interrupt
        return None

    def map(self, value: Any, function: Callable[[Any], Any] | Mapping[Any, Any]) -> Any:
        """Return a function's result for a value, after the value's parts were mapped in the same way.

        Unchanged parts are not copied, and shared parts stay shared. The given value does not change.

        Parameters
        ----------
        value : object
            Its parts are those of `structural_equal`.
        function : callable or mapping
            Called with each value, whose parts are already replaced, and returns the replacement; called once
            for an object with several references. A mapping has a function for each type or tuple of types:
            the first match is called; values without a match are kept.

        Raises
        ------
        ValueError
            The value contains itself, or two keys became equal.
        TypeError
            A C++ object with a changed part has neither a constructor for its fields nor ``pickle()``.

        Examples
        --------
        >>> anyffi.structure.map([1, "a", [2]], {int: lambda x: x + 1})
        anyffi.List([2, 'a', anyffi.List([3])])
        """
        chosen = choose_function(function, lambda part: part)
        return self._runtime.structure_map(value, self._core.to_object(chosen))

    def children(self, value: Any) -> list[tuple[AccessStep, Any]]:
        """Return the direct parts of a value, and the steps that lead to them.

        Parameters
        ----------
        value : object
            Its parts are those of `structural_equal`, in the order of `visit`.

        Returns
        -------
        list of tuple
            An `AccessStep` and a part, each. An entry of a mapping gives two: its key, with the step
            ``("element", key)``, and its value, with ``("key", key)``. A value without parts gives none.

        Examples
        --------
        >>> for step, part in anyffi.structure.children({"a": 1}):
        ...     print(step.kind, step.key, part)
        element a a
        key a 1
        """
        return [read_child(row) for row in self._runtime.structure_children(value)]

    def map_children(self, value: Any, function: Callable[[Any], Any] | Mapping[Any, Any]) -> Any:
        """Return a value whose direct parts are a function's results for the direct parts of another value.

        If no part changes, it is the value itself. The function decides whether to recurse into the parts.

        Parameters
        ----------
        value : object
            Its parts are those that `children` returns. It does not change.
        function : callable or mapping
            Called with each part, and returns the replacement; called for each reference to an object. A
            mapping has functions by type, as for `map`.

        Raises
        ------
        ValueError, TypeError
            The value cannot be made: see `map`.

        Examples
        --------
        >>> def negate(x):
        ...     return -x if isinstance(x, int) else anyffi.structure.map_children(x, negate)
        >>> anyffi.structure.map_children([1, "a", [2]], negate)
        anyffi.List([-1, 'a', anyffi.List([-2])])
        """
        chosen = choose_function(function, lambda part: part)
        return self._runtime.structure_map_children(value, self._core.to_object(chosen))

    def copy(self, value: Any) -> Any:
        """Return a deep copy of a value: of its containers, tensors and C++ objects.

        Shared parts stay shared, also in values that contain themselves. Immutable containers of immutable
        values, functions and Python objects are not copied.

        Parameters
        ----------
        value : object
            Its parts are those of `structural_equal`.

        Raises
        ------
        TypeError
            A C++ object cannot be created: see `map`.

        Examples
        --------
        >>> value = anyffi.List([[1], [2]])
        >>> other = anyffi.structure.copy(value)
        >>> other[0].append(5)
        >>> value
        anyffi.List([anyffi.List([1]), anyffi.List([2])])
        """
        return self._runtime.structure_map(value, None)

    def replace(self, value: Any, path: AccessPath, part: Any) -> Any:
        """Return a copy of a value with one part, at a path, replaced.

        Only the values on the path are copied.

        Parameters
        ----------
        value : object
            It does not change.
        path : AccessPath
            A path from `first_mismatch` or `diff`, to an existing part.
        part : object
            The new one.

        Raises
        ------
        AttributeError, IndexError, KeyError
            The path does not lead to a part of the value.

        Examples
        --------
        >>> value = anyffi.List([{"w": 1}, [2]])
        >>> path = anyffi.structure.first_mismatch(value, [{"w": 3}, [2]]).path
        >>> anyffi.structure.replace(value, path, 5)
        anyffi.List([anyffi.Dict({'w': 5}), anyffi.List([2])])
        """
        if not isinstance(path, AccessPath):
            raise TypeError(f"path: expected AccessPath, got {type(path).__name__}")
        value = self._core.to_object(value)
        owners: list[Any] = []
        numbers: list[int] = []
        for step in path.steps:
            found = AccessPath([step]).resolve(value)
            owners.append(value)
            numbers.append(self._number_of(value, *step))
            # A C++ container in a field is read as one of Python.
            value = self._core.to_object(found)
        for owner, number in zip(reversed(owners), reversed(numbers)):
            part = self._runtime.structure_replace(owner, number, part)
        return part

    def _number_of(self, value: Any, kind: str, name: Any) -> int:
        """Return the number of a part, as `anyffi.structure.replace` counts them."""
        number: int
        if kind == "field":
            if name == "__getstate__()":
                number = _STATE_PART
            elif isinstance(value, slice):
                if name not in _SLICE_PARTS:
                    raise AttributeError(f"a slice has no part {name!r}")
                number = _SLICE_PARTS.index(name)
            else:
                number = self._runtime.structure_field_index(value, name)
        elif kind == "index":
            # A value in which the index is a key has no such part.
            if not isinstance(value, (self.Array, self.List)):
                raise IndexError(f"there is no index {name} in {type(value).__name__}")
            size = len(value)
            if not -size <= name < size:
                raise IndexError(f"there is no index {name} among {size}")
            number = name % size
        else:
            is_mapping = isinstance(value, (self.Map, self.Dict))
            has_such = is_mapping or (kind == "element" and isinstance(value, (self.FrozenSet, self.Set)))
            if not has_such or name not in value:
                raise KeyError(name)
            # A Dict finds what the container itself finds, such as keys with a NaN.
            number = self.Dict(zip(value, range(len(value))))[name]
            if is_mapping:
                number = 2 * number + (kind == "key")
        return number
