"""Where values of two runs differ: containers, tensors and errors by content, objects by state."""

from __future__ import annotations

import copyreg
import ctypes
import math
import sys
from typing import Any

from .._rules.decisions import is_wrapper_class
from .._rules.dtype import find_torch_class
from .rendering import MOST, render, type_of

__all__ = ["find_difference"]

_SCALARS = (type(None), bool, int, str, bytes, bytearray, type(...))
#: Each level takes three frames of Python, within the interpreter's limit of 1,000. Containers may have 200
#: levels.
_MOST_LEVELS = 280


def find_difference(expected: Any, found: Any, where: str = "") -> str | None:
    """Return where two values differ, and how; None if they do not."""
    return _Comparison().find(expected, found, where, 0)


class _Comparison:
    def __init__(self) -> None:
        #: Pairs that are being or were compared, with the values, so that no other objects get their
        #: identities.
        self._seen: dict[tuple[int, int], Any] = {}

    def find(self, expected: Any, found: Any, where: str, level: int) -> str | None:
        if expected is found:
            return None
        if type(expected) is not type(found):
            return _show(expected, found, where)
        key = id(expected), id(found)
        if key in self._seen:
            return None
        if level > _MOST_LEVELS:
            raise RecursionError(f"values of more than {_MOST_LEVELS} levels are not compared")
        self._seen[key] = expected, found
        return self._find_in(expected, found, where, level)

    def _find_in(self, expected: Any, found: Any, where: str, level: int) -> str | None:
        cls = type(expected)
        if cls in _SCALARS:
            return None if expected == found else _show(expected, found, where)
        if cls is float:
            return None if _same_float(expected, found) else _show(expected, found, where)
        if cls is complex:
            is_same = _same_float(expected.real, found.real) and _same_float(expected.imag, found.imag)
            return None if is_same else _show(expected, found, where)
        np: Any = sys.modules.get("numpy")
        if np is not None and hasattr(np, "ndarray") and issubclass(cls, np.ndarray):
            return self._find_in_arrays(expected, found, where, level)
        if issubclass(cls, (str, bytes, int)):
            return None if cls.__eq__(expected, found) else _show(expected, found, where)
        form = _FORMS.get(
            cls.__name__ if cls in _BUILTINS else type_of(expected) if is_wrapper_class(cls) else ""
        )
        if form == "set":
            return None if expected == found else _show(expected, found, where)
        if form is not None:
            is_mapping = form == "mapping"
            one, other = (expected.items(), found.items()) if is_mapping else (expected, found)
            return self._find_in_sequences([*one], [*other], where, level, is_mapping)
        if is_wrapper_class(cls) and type_of(expected) in ("Tensor", "Function", "Module"):
            return self._find_in_wrappers(expected, found, where, level)
        return self._find_in_states(expected, found, where, level)

    def _find_in_sequences(
        self, expected: Any, found: Any, where: str, level: int, is_mapping: bool = False
    ) -> str | None:
        if len(expected) != len(found):
            return _show(expected, found, f"{where} (of {len(expected)} and {len(found)} elements)")
        for index, (one, other) in enumerate(zip(expected, found)):
            if is_mapping:
                difference = self.find(one[0], other[0], f"{where}, key {index}", level + 1)
                difference = difference or self.find(
                    one[1], other[1], f"{where}[{render(one[0])}]", level + 1
                )
            else:
                difference = self.find(one, other, f"{where}[{index}]", level + 1)
            if difference is not None:
                return difference
        return None

    def _find_in_arrays(self, expected: Any, found: Any, where: str, level: int) -> str | None:
        if (expected.shape, expected.dtype) != (found.shape, found.dtype):
            return _show(expected, found, where)
        if expected.dtype.hasobject:
            return self.find(expected.tolist(), found.tolist(), where, level + 1)
        np = sys.modules["numpy"]
        one, other = np.ascontiguousarray(expected), np.ascontiguousarray(found)
        if one.tobytes() == other.tobytes():
            return None
        # -0.0 and the many NaNs are differences, too.
        width = one.dtype.itemsize
        rows = [x.reshape(-1).view(np.uint8).reshape(-1, width) for x in (one, other)]
        index = int((rows[0] != rows[1]).any(axis=1).argmax())
        place = ", ".join(str(int(i)) for i in np.unravel_index(index, one.shape))
        shown = _show(one.reshape(-1)[index].item(), other.reshape(-1)[index].item(), f"{where}[{place}]")
        return shown if one.reshape(-1)[index] != other.reshape(-1)[index] else f"{shown}, by their bytes"

    def _find_in_wrappers(self, expected: Any, found: Any, where: str, level: int) -> str | None:
        if type_of(expected) != "Tensor":
            return None if render(expected) == render(found) else _show(expected, found, where)
        if render(expected) != render(found):
            return _show(expected, found, where)
        return self._find_in_states(expected, found, where, level)

    def _find_in_states(self, expected: Any, found: Any, where: str, level: int) -> str | None:
        """Compare what `pickle` would store."""
        # Other callables, such as modules of PyTorch, have a state.
        if isinstance(expected, type) or (callable(expected) and _name(expected)[0] is not None):
            return None if _name(expected) == _name(found) else _show(expected, found, where)
        try:
            states = _reduce(expected), _reduce(found)
        except Exception:
            return None if render(expected) == render(found) else _show(expected, found, where)
        return self.find(states[0], states[1], f"{where}, state", level + 1)


_BUILTINS = (tuple, list, dict, set, frozenset)
#: Of containers, Python's and those of the runtime.
_FORMS = {
    **dict.fromkeys(("tuple", "list", "Array", "Shape", "List"), "sequence"),
    **dict.fromkeys(("dict", "Map", "Dict"), "mapping"),
    **dict.fromkeys(("set", "frozenset", "FrozenSet", "Set"), "set"),
}


def _reduce(x: Any) -> Any:
    content = _read_torch(x)
    if content is not None:
        return content
    reduce = copyreg.dispatch_table.get(type(x))
    found = reduce(x) if reduce else x.__reduce_ex__(4)
    return list(map(_listed, found[1:])) if isinstance(found, tuple) else found


def _read_torch(x: Any) -> list[Any] | None:
    """Return the parts of a dense tensor of PyTorch, whose pickle has an address; None for other objects."""
    kind: Any = find_torch_class("Tensor")
    if kind is None or not isinstance(x, kind):
        return None
    if x.device.type != "cpu" or str(x.layout) != "torch.strided" or x.is_quantized:
        return None
    elements = x.detach().resolve_conj().resolve_neg().contiguous()
    memory = ctypes.string_at(elements.data_ptr(), elements.numel() * elements.element_size())
    return [str(x.dtype), tuple(x.shape), x.requires_grad, memory]


def _listed(part: Any) -> Any:
    return [*part] if hasattr(part, "__next__") else part


def _name(x: Any) -> Any:
    return getattr(x, "__qualname__", None), type(x)


def _same_float(a: float, b: float) -> bool:
    return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)


def _show(expected: Any, found: Any, where: str) -> str:
    place = f"at {where.lstrip(', ')}: " if where else ""
    shown = [f"{type_of(x)} {render(x)}" for x in (expected, found)]
    if shown[0] == shown[1] or max(map(len, shown)) >= MOST:
        shown = [f"{text} ({type(x).__name__})" for text, x in zip(shown, (expected, found))]
    return f"{place}{shown[0]} became {shown[1]}"
