"""Methods of `Tensor`."""

from __future__ import annotations

import operator

from .._builtins import *  # noqa: F403
from .._pickling import describe_tensor, unpickle_tensor
from .._rules.arrays import count_bytes, find_array_dtype, make_array, make_interface
from .._rules.device import Device, read_device
from .._rules.dtype import dtype
from .._typing import TYPE_CHECKING, Any, Callable
from .runtime import Runtime

__all__ = ["TensorMethods", "make_properties"]

#: Returns the size of an object itself, which PyPy does not provide.
_size_of: Callable[[Any], int] = getattr(object, "__sizeof__", lambda x: 0)

#: Docstrings of the attributes that a core reads with methods of the same name after `_anyffi_`.
_PROPERTIES = {
    "shape": "Number of elements along each axis.",
    "strides": "Strides of each axis, in elements.",
    "ndim": "Number of axes.",
    "dtype": "Type of the elements.",
    "device": "Device of the memory.",
    "nbytes": "Number of bytes of the elements, without gaps between them.",
}


def make_properties(core: Any) -> dict[str, Any]:
    """Return the properties of the public class over a backend's `TensorCore`.

    In a compiled backend they call C methods, which takes half the time of a Python property.
    """
    return {name: property(getattr(core, f"_anyffi_{name}"), doc=doc) for name, doc in _PROPERTIES.items()}


class TensorMethods:
    """An n-dimensional array on shared memory.

    A NumPy array, or any object with a method ``__dlpack__``, is passed to a function as a tensor on its own
    memory. `numpy.asarray` and the ``from_dlpack`` of other libraries make arrays on the memory of a tensor;
    it is freed with the last of them.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # every backend's core has them
        _anyffi_runtime: Runtime

        def _anyffi_shape(self) -> tuple[int, ...]: ...
        def _anyffi_strides(self) -> tuple[int, ...]: ...
        def _anyffi_ndim(self) -> int: ...
        def _anyffi_numel(self) -> int: ...
        def _anyffi_dtype(self) -> dtype: ...
        def _anyffi_device(self) -> Device: ...
        def _anyffi_nbytes(self) -> int: ...
        def _anyffi_extent(self) -> int: ...
        def _anyffi_data_ptr(self) -> int: ...
        def _anyffi_flags(self) -> int: ...
        def _anyffi_is_contiguous(self) -> bool: ...

    def size(self, axis: int) -> int:
        """Return the number of elements along an axis; negative axes count from the last."""
        return self._anyffi_shape()[operator.index(axis)]

    def numel(self) -> int:
        """Return the number of elements."""
        return self._anyffi_numel()

    # Without these, `int` and `float` would read the memory of a tensor as digits, as that of any buffer.

    def __int__(self) -> int:
        return int(_read_scalar(self, "int"))

    def __float__(self) -> float:
        return float(_read_scalar(self, "float"))

    def __complex__(self) -> complex:
        return complex(_read_scalar(self, "complex"))

    def __sizeof__(self) -> int:
        """Return the size of the wrapper and of the memory from the first to the last element."""
        return _size_of(self) + self._anyffi_extent()

    def _anyffi_count_bytes(self) -> int:
        """Return `nbytes`, even if it exceeds 64 bits."""
        return self._anyffi_bytes_of(self._anyffi_numel())

    def _anyffi_count_extent(self) -> int:
        """Return the number of bytes from the first to the last element, even if it exceeds 64 bits."""
        steps = [
            (extent - 1) * abs(stride) for extent, stride in zip(self._anyffi_shape(), self._anyffi_strides())
        ]
        return self._anyffi_bytes_of(1 + sum(steps)) if self._anyffi_numel() else 0

    def _anyffi_bytes_of(self, count: int) -> int:
        element = self._anyffi_dtype()
        return count_bytes(count, element.bits * element.lanes, self._anyffi_flags())

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._anyffi_data_ptr()

    def is_contiguous(self) -> bool:
        """Return whether the elements are contiguous in row-major order."""
        return self._anyffi_is_contiguous()

    def __dlpack_device__(self) -> tuple[int, int]:
        return read_device(self._anyffi_device())

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return make_interface(self)

    @property
    def __numpy_dtype__(self) -> Any:
        # `numpy.result_type`, which `jax.numpy.asarray` calls, refuses a `dtype` that is none of NumPy's.
        return find_array_dtype(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = make_array(self)
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a tensor of {array.dtype} cannot be an array of {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle the elements in row-major order: out of band, without a copy, from protocol 5 on."""
        compact = self if self._anyffi_is_contiguous() else self._anyffi_runtime.tensor_copy(self)
        return unpickle_tensor, describe_tensor(compact, self._anyffi_flags(), protocol)

    def __repr__(self) -> str:
        text: str = self._anyffi_runtime.value_repr(self)
        return text


def _read_scalar(tensor: Any, wanted: str) -> Any:
    """Return the only element of a tensor without axes."""
    if tensor._anyffi_ndim():
        shape = tensor._anyffi_shape()
        raise TypeError(f"only a tensor without axes converts to {wanted}, not one of shape {shape}")
    try:
        return memoryview(tensor)[()]
    except (BufferError, NotImplementedError, TypeError):
        # Python's views do not read complex numbers, and PyPy has none of tensors.
        return make_array(tensor).item()
