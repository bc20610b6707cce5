"""Turning values of the runtime into Python's own, and back."""

from __future__ import annotations

import functools
import sys
from types import MappingProxyType

from ._array import refuse_hidden
from ._container_rules import ITEMS
from ._device import Device, read_device
from ._mappings import DictMethods, MapMethods
from ._rules import bind, find_on_type
from ._runtime import Runtime
from ._sequences import ArrayMethods, ListMethods
from ._sets import FrozenSetMethods, SetMethods
from ._tensor import TensorMethods
from ._types import code
from ._typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from ._public import Tensor

__all__ = ["ConvertApi", "to_python"]

#: What was converted, by address, and the wrapper that keeps the address taken; None while it is at work.
_Memo = dict[int, Optional[tuple[Any, Any]]]

_CONTAINERS = (ArrayMethods, ListMethods, MapMethods, DictMethods, FrozenSetMethods, SetMethods)


def to_python(value: Any) -> Any:
    """Turn the runtime's containers into Python's own, deeply.

    Parameters
    ----------
    value : object
        An `Array`, `List`, `Map`, `Dict`, `FrozenSet` or `Set` becomes an exact `tuple`, `list`,
        `mappingproxy`, `dict`, `frozenset` or `set`, the parts of a slice are converted; everything else is
        returned as it is.

    Raises
    ------
    RecursionError
        A container holds itself, or the nesting is too deep for Python.

    Examples
    --------
    >>> anyffi.to_python(anyffi.List([1, (2, 3)]))
    [1, (2, 3)]
    """
    return _convert(value, {})


@functools.cache
def _nesting_kinds() -> int:
    """The kinds of values that hold others, as each sequence notes what it holds (`anyffi_type_bit`)."""
    nesting = (code.ARRAY, code.LIST, code.MAP, code.DICT, code.FROZEN_SET, code.SET, code.SLICE)
    return 1 << 63 | sum(1 << (15 + int(type_code)) for type_code in nesting)


def _convert(value: Any, memo: _Memo) -> Any:
    cls = type(value)
    if cls is slice:
        return slice(_convert(value.start, memo), _convert(value.stop, memo), _convert(value.step, memo))
    if not issubclass(cls, _CONTAINERS):
        return value
    address = value._address
    if address in memo:
        found = memo[address]
        if found is None:
            raise RecursionError("a container that holds itself has no Python form")
        return found[0]
    memo[address] = None
    made = _convert_container(cls, value, memo)
    memo[address] = made, value
    return made


def _convert_container(cls: type, value: Any, memo: _Memo) -> Any:
    if issubclass(cls, (ListMethods, ArrayMethods)):
        # Asked before and after: reading may run code that changes the sequence.
        kinds = value._type_mask()
        items = value._items()
        if (kinds | value._type_mask()) & _nesting_kinds():
            items = [_convert(item, memo) for item in items]
        return items if issubclass(cls, ListMethods) else tuple(items)
    if issubclass(cls, (FrozenSetMethods, SetMethods)):
        return value._plain([_convert(element, memo) for element in value])
    made = {_convert(key, memo): _convert(item, memo) for key, item in value._iterate(ITEMS, False)}
    return made if issubclass(cls, DictMethods) else MappingProxyType(made)


class ConvertApi:
    """Conversion, over one backend."""

    _core: Any
    _runtime: Runtime
    to_python = staticmethod(to_python)

    def convert(self, value: Any) -> Any:
        """The runtime's own object for a Python value.

        Parameters
        ----------
        value : object
            A callable gives a `Function` always; a list a `List`, and so on. A value that has no wrapper
            comes back as a C++ function that returns its argument would give it.

        Examples
        --------
        >>> anyffi.convert([1, 2])
        anyffi.List([1, 2])
        """
        return self._core.to_object(value)

    def from_dlpack(
        self,
        ext_tensor: Any,
        *,
        device: Device | str | None = None,
        copy: bool | None = None,
        require_alignment: int = 0,
        require_contiguous: bool = False,
    ) -> Tensor:
        """A tensor on the memory of another library's array.

        Parameters
        ----------
        ext_tensor : object
            What has a method ``__dlpack__``, or a capsule of DLPack that nobody has used yet.
        device : Device or str, optional
            Where the tensor is to lie. By default, where the array does.
        copy : bool, optional
            Whether to copy. By default only a library that cannot share its memory does.
        require_alignment : int
            Refuse an address that this does not divide; 0 for none.
        require_contiguous : bool
            Refuse elements that do not lie side by side.

        Returns
        -------
        Tensor
            A new one, unless `ext_tensor` is a `Tensor` itself and is not copied.

        Raises
        ------
        TypeError, BufferError
            The object does not export its memory, or not in a form that DLPack knows, or not as asked.
        ValueError
            The memory is not as required.

        Examples
        --------
        >>> numbers = anyffi.from_dlpack(numpy.arange(3.0))
        >>> numbers
        anyffi.Tensor(shape=(3,), dtype='float64', device='cpu:0')
        >>> anyffi.from_dlpack(numbers) is numbers
        True
        >>> anyffi.from_dlpack(numbers, copy=True) is numbers
        False
        """
        if device is not None and not isinstance(device, (str, Device)):
            raise TypeError(f"expected a Device or its name, got {type(device).__name__}")
        place = Device(device) if isinstance(device, str) else device
        exporter = None if _is_array(ext_tensor) else _Exporter(ext_tensor, place, copy)
        made: Tensor = self._core.to_object(exporter or ext_tensor)
        if place is not None and made.device != place:
            raise BufferError(f"a tensor on {made.device} cannot become one on {place}")
        if copy and (exporter is None or not exporter.was_asked):
            made = self._runtime.tensor_copy(made)
        if require_alignment and made.data_ptr() % require_alignment:
            raise ValueError(f"the memory is not aligned to {require_alignment} bytes")
        if require_contiguous and not made.is_contiguous():
            raise ValueError("the elements do not lie side by side")
        return made


def _is_array(x: Any) -> bool:
    """Whether an object becomes a tensor in a way of its own."""
    ndarray = getattr(sys.modules.get("numpy"), "ndarray", TensorMethods)
    return issubclass(type(x), (TensorMethods, ndarray))


class _Exporter:
    """What is meant as an array, whatever else it may be, and what is asked of it."""

    def __init__(self, exported: Any, device: Device | None, copy: bool | None) -> None:
        cls = type(exported)
        self.export = find_on_type(cls, "__dlpack__")
        if self.export is None and cls.__name__ != "PyCapsule":
            raise TypeError(
                f"expected an array that exports its memory, or a capsule of DLPack, got {cls.__name__}"
            )
        self.exported = exported
        self.wishes: dict[str, Any] = {}
        if device is not None:
            self.wishes["dl_device"] = read_device(device)
        if copy is not None:
            self.wishes["copy"] = copy
        #: Whether the exporter has heard what is asked; one from before there were versions has not.
        self.was_asked = False

    def __dlpack__(self, **options: Any) -> Any:
        if self.export is None:
            return self.exported
        self.was_asked = "max_version" in options
        wishes = self.wishes if self.was_asked else {}
        refuse_hidden(self.exported)
        return bind(self.export, self.exported)(**options, **wishes)
