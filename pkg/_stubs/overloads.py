"""Overloads for type checkers: each is reachable, and two that accept one call agree on its result."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

__all__ = ["Overload", "arrange", "takes_more"]

#: Type checkers accept each of them where the next one is expected.
_NUMBERS = {"bool": 0, "int": 1, "float": 2, "complex": 3}
#: Abstract classes of containers by name.
_ABSTRACT = {
    **dict.fromkeys(("Array", "List", "Sequence", "Shape", "list", "tuple"), "Sequence"),
    **dict.fromkeys(("Dict", "Map", "Mapping", "dict"), "Mapping"),
    **dict.fromkeys(("AbstractSet", "FrozenSet", "Set", "set"), "Set"),
}
#: The elements of these sequences.
_ITEMS = {"bytes": "int", "str": "str"}


@dataclasses.dataclass
class Overload:
    """One overload of a function, with annotations for the stub."""

    function: Any
    parameters: list[inspect.Parameter]
    result: str


def arrange(overloads: list[Overload], classes: Mapping[str, type]) -> list[Overload]:
    """Sort overloads, narrow ones first; omit hidden ones; widen results.

    Parameters
    ----------
    overloads : list of Overload
        In the order in which the function tries them.
    classes : mapping of str to type
        The stub's classes by name.
    """
    types = _Types(classes)
    kept: list[Overload] = []
    for overload in sorted(overloads, key=_narrowness):
        hiding = next((i for i, earlier in enumerate(kept) if _hides(earlier, overload, types)), None)
        if hiding is not None:
            if any("Annotated" in parameter.annotation for parameter in overload.parameters):
                kept[hiding] = _merge(kept[hiding], overload)
            continue
        results = [overload.result]
        for earlier in kept:
            if _share_calls(earlier, overload, types) and not types.covers(overload.result, earlier.result):
                results.append(earlier.result)
        kept.append(dataclasses.replace(overload, result=_union(*results)))
    return kept


def takes_more(
    ours: list[Overload], theirs: list[Overload], classes: Mapping[str, type], *, returns_less: bool = True
) -> bool:
    """Return whether type checkers accept one function in the place of another one; False in doubt.

    Parameters
    ----------
    ours, theirs : list of Overload
        Those of the functions, as the stub has them.
    classes : mapping of str to type
        The stub's classes by name.
    returns_less : bool
        Whether the results count.
    """
    types = _Types(classes)

    def fits(first: Overload, second: Overload) -> bool:
        return _takes_all(first, second, types) and (
            not returns_less or types.covers(second.result, first.result)
        )

    if len(ours) > 1 and len(theirs) > 1:
        return len(ours) == len(theirs) and all(map(fits, ours, theirs))
    return all(any(fits(first, second) for first in ours) for second in theirs)


def _union(*annotations: str) -> str:
    members = (ast.unparse(member) for annotation in annotations for member in _members(annotation))
    return " | ".join(dict.fromkeys(members))


def _merge(first: Overload, second: Overload) -> Overload:
    """Return an overload for both: type checkers do not know the tensors that only one of them accepts."""
    parameters = [
        ours.replace(annotation=_union(ours.annotation, theirs.annotation))
        for ours, theirs in zip(first.parameters, second.parameters)
    ]
    parameters += first.parameters[len(parameters) :]
    return dataclasses.replace(first, parameters=parameters, result=_union(first.result, second.result))


def _narrowness(overload: Overload) -> list[tuple[int, bool]]:
    """Return the sort key: type checkers try overloads in order, so narrow ones come first."""
    return [
        (
            max((_NUMBERS.get(name, 0) for name in _names(parameter.annotation)), default=0),
            any(_ABSTRACT.get(name) == "Sequence" for name in _names(parameter.annotation)),
        )
        for parameter in overload.parameters
    ]


def _names(annotation: str) -> Iterator[str]:
    """Iterate over all names in an annotation, without their modules."""
    for node in ast.walk(ast.parse(annotation, mode="eval")):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield _name(node)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def _required(overload: Overload) -> int:
    needed = (
        index + 1
        for index, parameter in enumerate(overload.parameters)
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
    )
    return max(needed, default=0)


def _hides(first: Overload, second: Overload, types: _Types) -> bool:
    """Return whether the first accepts every call that the second accepts."""
    return (
        _takes_all(first, second, types)
        # Keyword arguments are matched to parameters by these names.
        and all(ours.name == theirs.name for ours, theirs in zip(first.parameters, second.parameters))
    )


def _takes_all(first: Overload, second: Overload, types: _Types) -> bool:
    """Return whether the first accepts every call with positional arguments that the second accepts."""
    return (
        len(first.parameters) >= len(second.parameters)
        and _required(first) <= _required(second)
        and all(
            ours.kind == theirs.kind and types.covers(ours.annotation, theirs.annotation)
            for ours, theirs in zip(first.parameters, second.parameters)
        )
    )


def _share_calls(first: Overload, second: Overload, types: _Types) -> bool:
    """Return whether there may be a call that both accept."""
    count = max(_required(first), _required(second))
    if count > min(len(first.parameters), len(second.parameters)):
        return False
    pairs = zip(first.parameters[:count], second.parameters[:count])
    return all(types.overlap(ours.annotation, theirs.annotation) for ours, theirs in pairs)


class _Types:
    """Relations between the annotations of a stub."""

    def __init__(self, classes: Mapping[str, type]) -> None:
        self._classes = classes

    def covers(self, wide: str, narrow: str) -> bool:
        """Return whether type checkers accept one type as the other; False in doubt."""
        return all(any(self._covers(w, n) for w in _members(wide)) for n in _members(narrow))

    def overlap(self, first: str, second: str) -> bool:
        """Return whether a value may be of both types; True in doubt.

        An int used as a float does not count: type checkers allow it.
        """
        return any(self._overlap(a, b) for a in _members(first) for b in _members(second))

    def _covers(self, wide: ast.expr, narrow: ast.expr) -> bool:
        (name, parameters), (other, others) = _split(wide), _split(narrow)
        if (name, parameters) == (other, others) or name in ("Any", "object"):
            return True
        if name in _NUMBERS and other in _NUMBERS:
            return _NUMBERS[other] <= _NUMBERS[name]
        if name == "Sequence" and other in _ITEMS:
            return self.covers(parameters[0], _ITEMS[other])
        if name == other and name in ("AbstractSet", "Sequence"):
            return self.covers(parameters[0], others[0])
        return self._is_subclass(other, name)

    def _overlap(self, a: ast.expr, b: ast.expr) -> bool:
        (name, parameters), (other, others) = _split(a), _split(b)
        names = {name, other}
        if "object" in names or (name == other and not parameters):
            return True
        # Any function may be one of the others' types, too.
        if names == {"bool", "int"} or names == {"Callable"}:
            return True
        for text, (sequence, items) in ((name, (other, others)), (other, (name, parameters))):
            if text in _ITEMS and _ABSTRACT.get(sequence) == "Sequence":
                return self.overlap(_ITEMS[text], items[0] if items else "int")
        if name in _ABSTRACT and _ABSTRACT[name] == _ABSTRACT.get(other):
            return all(self.overlap(x, y) for x, y in zip_longest(parameters, others, fillvalue="object"))
        return self._is_subclass(name, other) or self._is_subclass(other, name)

    def _is_subclass(self, name: str, base: str) -> bool:
        cls, of = self._classes.get(name), self._classes.get(base)
        if cls is None:
            return False
        return issubclass(cls, of) if of is not None else base == "Object"


def _members(annotation: str) -> Iterator[ast.expr]:
    """Iterate over the types of a union."""
    waiting = [ast.parse(annotation, mode="eval").body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp):
            waiting += [node.right, node.left]
        else:
            yield node


def _split(node: ast.expr) -> tuple[str, list[str]]:
    """Return the name of a type, without its module, and its parameters; annotations are left out."""
    if not isinstance(node, ast.Subscript):
        return _name(node), []
    parameters = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if _name(node.value) == "Annotated":
        return _split(parameters[0])
    return _name(node.value), [ast.unparse(parameter) for parameter in parameters]
