"""Conversion of values and arrays to the runtime's objects, and back."""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._objects.runtime import Runtime
from .._objects.tensor import TensorMethods
from .._rules.advice import advise
from .._rules.arrays import HAS_CAPSULES, lower_exporter, refuse_hidden
from .._rules.culprits import locate_method
from .._rules.decisions import bind, find_on_type
from .._rules.device import Device, read_device
from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._public import Tensor

__all__ = ["ConvertApi"]


class ConvertApi:
    """Conversion with one backend."""

    _core: Any
    _runtime: Runtime

    def convert(self, value: Any) -> Any:
        """Convert a Python value to the runtime's object.

        Parameters
        ----------
        value : object
            A callable becomes a `Function`, a list a `List`, and so on. A value without a wrapper is returned
            as by a C++ function that returns its argument.

        Examples
        --------
        >>> anyffi.convert([1, 2])
        anyffi.List([1, 2])
        """
        return self._convert(value, "anyffi.convert")

    def _convert(self, value: Any, name: str) -> Any:
        try:
            return self._core.to_object(value)
        except Exception as exception:
            locate_method(exception, (value,), (name, None))
            raise

    def to_python(self, value: Any) -> Any:
        """Convert the runtime's containers to Python's own, at all levels.

        Parameters
        ----------
        value : object
            The parts of a slice are converted, and an `Array`, `List`, `Map`, `Dict`, `FrozenSet` or `Set`
            becomes exactly a `tuple`, `list`, `mappingproxy`, `dict`, `frozenset` or `set`; any other value
            is returned unchanged.

        Raises
        ------
        RecursionError
            A container contains itself, or is nested too deeply for Python.

        Examples
        --------
        >>> anyffi.to_python(anyffi.List([1, (2, 3)]))
        [1, (2, 3)]
        """
        return self._core.to_plain(value)

    def from_dlpack(
        self,
        ext_tensor: Any,
        *,
        device: Device | str | None = None,
        copy: bool | None = None,
        writable: bool = False,
        require_alignment: int = 0,
        require_contiguous: bool = False,
    ) -> Tensor:
        """Make a tensor on the memory of another library's array.

        Parameters
        ----------
        ext_tensor : object
            An object with a method ``__dlpack__``, or an unused DLPack capsule.
        device : Device or str, optional
            Device of the tensor; by default that of the array.
        copy : bool, optional
            Whether to copy. By default only if the library cannot share its memory.
        writable : bool
            Whether C++ may write to the memory of a library older than DLPack 1.0, which cannot declare it
            read-only. By default such memory is read-only, unless it was copied. Memory that a library
            exports as read-only stays read-only.
        require_alignment : int
            Refuse an address that is not a multiple of this; 0 accepts any.
        require_contiguous : bool
            Refuse elements that are not contiguous in row-major order.

        Returns
        -------
        Tensor
            A new one, unless `ext_tensor` is a `Tensor` and is not copied.

        Raises
        ------
        TypeError, BufferError
            The object does not export its memory, or not as the arguments require.
        ValueError
            The memory is not as required.

        Examples
        --------
        >>> import numpy
        >>> numbers = anyffi.from_dlpack(numpy.arange(3.0))
        >>> numbers
        anyffi.Tensor(shape=(3,), dtype='float64', device='cpu:0')
        >>> anyffi.from_dlpack(numbers) is numbers
        True
        >>> anyffi.from_dlpack(numbers, copy=True) is numbers
        False
        """
        is_array = _is_array(ext_tensor)
        if is_array and device is None and not (copy or require_alignment or require_contiguous):
            return self._convert(ext_tensor, "anyffi.from_dlpack")  # type: ignore[no-any-return]
        if device is not None and not isinstance(device, (str, Device)):
            raise TypeError(f"expected a Device or its name, got {type(device).__name__}")
        place = Device(device) if isinstance(device, str) else device
        exporter = None if is_array else _Exporter(ext_tensor, place, copy)
        given: Any = exporter or ext_tensor
        # An exporter gives a copy to nobody else, so it may be written, though the capsule may not say so.
        if (writable or copy) and exporter is not None and HAS_CAPSULES:
            made: Tensor = self._runtime.tensor_from_writable_capsule(
                lower_exporter(given, given.__dlpack__)[1]
            )
        else:
            made = self._convert(given, "anyffi.from_dlpack")
        if place is not None and made.device != place:
            raise BufferError(f"a tensor on {made.device} cannot become one on {place}")
        if copy and (exporter is None or not exporter.has_options):
            made = self._runtime.tensor_copy(made)
        if require_alignment and made.data_ptr() % require_alignment:
            raise ValueError(f"the memory is not aligned to {require_alignment} bytes")
        if require_contiguous and not made.is_contiguous():
            raise ValueError("the elements are not contiguous in row-major order")
        return made


def _is_array(x: Any) -> bool:
    """Return whether an object becomes a tensor without a call of its `__dlpack__`."""
    cls = type(x)
    numpy = sys.modules.get("numpy")
    ndarray = TensorMethods if numpy is None else getattr(numpy, "ndarray", TensorMethods)
    return cls is ndarray or issubclass(cls, (TensorMethods, ndarray))


class _Exporter:
    """Wraps any exporter so that the marshallers treat it as an array; passes the options on to it."""

    def __init__(self, exported: Any, device: Device | None, copy: bool | None) -> None:
        cls = type(exported)
        self.export = find_on_type(cls, "__dlpack__")
        if self.export is None and cls.__name__ != "PyCapsule":
            advice = advise(cls, "Tensor", None)
            raise TypeError(
                f"expected an array that exports its memory, or a capsule of DLPack, got {cls.__name__}"
                + (f"; pass {advice}" if advice else "")
            )
        self.exported = exported
        self.options: dict[str, Any] = {}
        if device is not None:
            self.options["dl_device"] = read_device(device)
        if copy is not None:
            self.options["copy"] = copy
        #: Whether the options were passed; exporters from before versioned DLPack take none.
        self.has_options = False

    def __dlpack__(self, **options: Any) -> Any:
        if self.export is None:
            return self.exported
        self.has_options = "max_version" in options
        chosen = self.options if self.has_options else {}
        refuse_hidden(self.exported)
        return bind(self.export, self.exported)(**options, **chosen)
