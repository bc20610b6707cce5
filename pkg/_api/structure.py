"""Operations on values and all that they consist of."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._objects.runtime import Runtime
from .._rules.callbacks import Interrupted, VisitInterrupt, choose_function, stop_at_interrupt
from .._rules.paths import AccessPath, Edit, Mismatch, read_difference
from .._typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["StructureApi"]


class StructureApi:
    """Comparison, hashes and differences by structure, with one backend."""

    _core: Any
    _runtime: Runtime

    def structural_equal(
        self, a: Any, b: Any, *, map_free_vars: bool = False, skip_tensor_content: bool = False
    ) -> bool:
        """Return whether two values have the same type and the same parts, at all levels.

        The parts are elements, keys and values, whose order does not matter, and the fields of objects.
        Unlike `==`, it tells ``1`` from ``1.0``, and a `List` from an `Array`.

        Parameters
        ----------
        a, b : object
            Values of any type, of any depth, also such that contain themselves.
        map_free_vars : bool
            Let variables that nothing binds stand for each other, one for one.
        skip_tensor_content : bool
            Compare only the types and shapes of tensors.

        Raises
        ------
        BufferError
            A tensor is not in memory that the CPU can read.

        Examples
        --------
        >>> anyffi.structure.structural_equal([1, {"a": 2, "b": 3}], [1, {"b": 3, "a": 2}])
        True
        >>> anyffi.structure.structural_equal([1], [1.0])
        False
        """
        same: bool = self._runtime.structure_equal(a, b, bool(map_free_vars), bool(skip_tensor_content))
        return same

    def structural_hash(
        self, value: Any, *, map_free_vars: bool = False, skip_tensor_content: bool = False
    ) -> int:
        """Return a hash of 64 bits that is the same for values of the same structure.

        It is the same in every process and on every machine.

        Parameters
        ----------
        value : object
            As for `structural_equal`, with the same options.

        Examples
        --------
        >>> structural_hash = anyffi.structure.structural_hash
        >>> structural_hash({"a": 1, "b": 2}) == structural_hash({"b": 2, "a": 1})
        True
        """
        number: int = self._runtime.structure_hash(value, bool(map_free_vars), bool(skip_tensor_content))
        return number

    def first_mismatch(
        self, a: Any, b: Any, *, map_free_vars: bool = False, skip_tensor_content: bool = False
    ) -> Mismatch | None:
        """Return where two values first differ, or None if they have the same structure.

        Parameters
        ----------
        a, b : object
            As for `structural_equal`, with the same options.

        Examples
        --------
        >>> found = anyffi.structure.first_mismatch([1, {"w": 2}], [1, {"w": 3}])
        >>> print(found)
        [1]["w"]
        >>> found.left, found.right
        (2, 3)
        """
        for row in self._runtime.structure_diff(a, b, bool(map_free_vars), bool(skip_tensor_content), True):
            found: Mismatch = read_difference(Mismatch, row)
            return found
        return None

    def diff(
        self, a: Any, b: Any, *, map_free_vars: bool = False, skip_tensor_content: bool = False
    ) -> list[Edit]:
        """Return the changes that make the second value of the first.

        Elements of sequences are compared by their indices. An object with several references is compared
        once: its changes are at the first path that leads to it.

        Parameters
        ----------
        a, b : object
            As for `structural_equal`, with the same options.

        Examples
        --------
        >>> anyffi.structure.diff([1, 2], [1, 3, 4])
        [<anyffi.structure.Edit: replace [1]: 2 -> 3>, <anyffi.structure.Edit: add [2]: 4>]
        """
        rows = self._runtime.structure_diff(a, b, bool(map_free_vars), bool(skip_tensor_content), False)
        return [read_difference(Edit, row) for row in rows]

    def visit(
        self, value: Any, function: Callable[[Any], Any] | Mapping[Any, Any], *, order: str = "pre"
    ) -> VisitInterrupt | None:
        """Call a function with a value and all that it consists of.

        An object with several references is visited once.

        Parameters
        ----------
        value : object
            Its parts are those of `structural_equal`.
        function : callable or mapping
            Called with each value. If it returns False before the parts, they are left out; if it returns a
            `VisitInterrupt`, the walk ends. A mapping has one for each type or tuple of types: the first that
            fits is called, if one does.
        order : str
            ``"pre"``: before the parts of each value; ``"post"``: after them.

        Returns
        -------
        VisitInterrupt or None
            What has ended the walk.

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
        """Return what a function makes of a value, after it was called with all parts.

        Only what has changed is made again; what is shared stays so. The value itself does not change.

        Parameters
        ----------
        value : object
            Its parts are those of `structural_equal`.
        function : callable or mapping
            Called with each value, whose parts have been replaced by its results, and returns what takes its
            place; with an object that has several references once. A mapping has one for each type or tuple
            of types: the first that fits is called; what none fits stays.

        Raises
        ------
        ValueError
            The value contains itself, or two keys have become equal.
        TypeError
            An object of C++ with a changed part has no constructor for its fields, and no ``pickle()``.

        Examples
        --------
        >>> anyffi.structure.map([1, "a", [2]], {int: lambda x: x + 1})
        anyffi.List([2, 'a', anyffi.List([3])])
        """
        chosen = choose_function(function, lambda part: part)
        return self._runtime.structure_map(value, self._core.to_object(chosen))

    def copy(self, value: Any) -> Any:
        """Return a deep copy of a value: of containers, tensors and objects of C++.

        What is shared stays so, also in values that contain themselves. Immutable containers of immutable
        values, functions and objects of Python are not copied.

        Parameters
        ----------
        value : object
            Its parts are those of `structural_equal`.

        Raises
        ------
        TypeError
            An object of C++ cannot be made: see `map`.

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
        """Return a value like another one, with another part at a path.

        Only what the path leads through is made again.

        Parameters
        ----------
        value : object
            It does not change.
        path : AccessPath
            As of `first_mismatch` and `diff`, to a part that there is.
        part : object
            The new one.

        Raises
        ------
        AttributeError, IndexError, KeyError
            The path leads to no part of the value.

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
            value = found
        for owner, number in zip(reversed(owners), reversed(numbers)):
            part = self._runtime.structure_replace(owner, number, part)
        return part

    def _number_of(self, value: Any, kind: str, name: Any) -> int:
        """Return the number of a part, as `anyffi.structure.replace` counts them."""
        if kind == "index":
            size = len(value)
            if not -size <= name < size:
                raise IndexError(f"there is no index {name} among {size}")
            number: int = name % size
        elif kind == "field":
            parts = ("start", "stop", "step")
            if isinstance(value, slice):
                number = parts.index(name)
            else:
                number = 0 if name == "__getstate__()" else self._runtime.structure_field_index(value, name)
        else:
            keys = list(value)
            if name not in keys:
                raise KeyError(name)
            number = keys.index(name) * (2 if kind == "key" else 1) + (kind == "key")
        return number

    def to_json(self, value: Any, *, metadata: Any = None) -> str:
        """Return the JSON of a value, from which `from_json` makes it again.

        What has several references is written once. Objects are written by the key of their type, with what
        ``pickle()`` stores in C++, else with their fields.

        Parameters
        ----------
        value : object
            Anything but functions, pointers, exceptions and objects that only Python knows.
        metadata : object, optional
            Anything that `json.dumps` takes: written beside the value, and read by `json.loads` alone.

        Raises
        ------
        TypeError
            There is such a thing in the value; the message says where.
        BufferError
            A tensor is not in memory that the CPU can read.

        Examples
        --------
        >>> print(anyffi.structure.to_json([1, {"w": 2.5}]), end="")
        {"format": "anyffi", "version": 1, "root": {"ref": 0}, "nodes": [
        {"type": "List", "data": [1, {"ref": 1}]},
        {"type": "Dict", "data": {"w": 2.5}}]}
        """
        text: str = self._runtime.json_write(value)
        if metadata is None:
            return text
        import json

        return f'{text[: text.rindex("}")]}, "metadata": {json.dumps(metadata, allow_nan=False)}}}\n'

    def from_json(self, text: str | bytes) -> Any:
        """Return the value that `to_json` wrote, or Apache TVM-FFI's `to_json_graph_str`.

        Objects are made by the functions of their types: only load text from others if every type that is
        registered may be made of anything.

        Parameters
        ----------
        text : str or bytes
            In UTF-8, if bytes.

        Raises
        ------
        ValueError
            It is no such text; the message has the position.

        Examples
        --------
        >>> anyffi.structure.from_json(anyffi.structure.to_json([1, (2.5, b"x")]))
        anyffi.List([1, anyffi.Array((2.5, b'x'))])
        """
        if not isinstance(text, (str, bytes, bytearray)):
            raise TypeError(f"expected str or bytes, got {type(text).__name__}")
        return self._runtime.json_read(text)
