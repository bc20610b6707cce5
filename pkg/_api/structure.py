"""Comparison by structure, and JSON."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._objects.runtime import Runtime
from .._rules.paths import Edit, Mismatch, read_difference
from .._typing import Any

__all__ = ["StructureApi"]


class StructureApi:
    """Comparison, hashes, differences and JSON, with one backend."""

    _core: Any
    _runtime: Runtime

    def structural_equal(
        self, a: Any, b: Any, *, map_free_vars: bool = False, skip_tensor_content: bool = False
    ) -> bool:
        """Return whether two values have the same type and the same parts, at all levels.

        The parts are elements, keys and values (in any order), and fields of objects. Unlike `==`, it
        distinguishes ``1`` from ``1.0``, and a `List` from an `Array`.

        Parameters
        ----------
        a, b : object
            Values of any type and depth, even if they contain themselves.
        map_free_vars : bool
            Let free variables (which nothing binds) correspond to each other, one to one.
        skip_tensor_content : bool
            Compare only the types and shapes of tensors.

        Raises
        ------
        BufferError
            A tensor is in memory that the CPU cannot read.

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
        """Return a 64-bit hash that is equal for values with the same structure.

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
        """Return where two values first differ; None if they have the same structure.

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
        """Return the changes that turn the first value into the second.

        Elements of sequences are compared by index. An object with several references is compared once: its
        changes are listed under the first path that leads to it.

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

    def to_json(self, value: Any, *, metadata: Any = None) -> str:
        """Return a value as JSON, which `from_json` reads.

        Parts with several references are written once. Objects are written with their type's key and the
        state that ``pickle()`` stores in C++, or else with their fields.

        Parameters
        ----------
        value : object
            Anything except functions, pointers, exceptions and objects that only Python knows.
        metadata : object, optional
            Any value that `json.dumps` accepts. It is stored next to the value; `from_json` ignores it.

        Raises
        ------
        TypeError
            The value contains something else; the message says where.
        BufferError
            A tensor is in memory that the CPU cannot read.

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
        """Return the value written by `to_json`, or by Apache TVM-FFI's `to_json_graph_str`.

        Objects are created by functions of their types. Only load untrusted text if it is safe to create
        objects of every registered type from arbitrary values.

        Parameters
        ----------
        text : str or bytes
            Bytes must be UTF-8.

        Raises
        ------
        ValueError
            The text has another format; the message contains the position.

        Examples
        --------
        >>> anyffi.structure.from_json(anyffi.structure.to_json([1, (2.5, b"x")]))
        anyffi.List([1, anyffi.Array((2.5, b'x'))])
        """
        if not isinstance(text, (str, bytes, bytearray)):
            raise TypeError(f"expected str or bytes, got {type(text).__name__}")
        return self._runtime.json_read(text)
