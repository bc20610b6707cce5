"""Tensors on the memory of Python's arrays, and NumPy arrays on the memory of tensors."""

from __future__ import annotations

import functools
import struct
import sys

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable
from .codes import code
from .culprits import blame
from .device import DLDeviceType, read_device
from .dtype import dtype, find_dtype, find_torch_class
from .internal import Memory

__all__ = [
    "DLPACK_VERSION",
    "HAS_CAPSULES",
    "OF_HOST",
    "PADDED",
    "READ_ONLY",
    "count_bytes",
    "find_array_dtype",
    "lower_array",
    "lower_exporter",
    "lower_memory",
    "make_array",
    "make_interface",
    "may_be_hidden",
    "refuse_hidden",
]

#: The newest version of DLPack that the runtime supports.
DLPACK_VERSION = (1, 3)

READ_ONLY, PADDED = 1, 4  # ANYFFI_TENSOR_READ_ONLY, ANYFFI_TENSOR_PADDED


def count_bytes(count: int, bits: int, flags: int) -> int:
    """Return the number of bytes of elements without gaps between them, given the bits of each."""
    if flags & PADDED:
        bits = -8 * (-bits // 8)
    return -(-count * bits // 8)


#: Whether the runtime can read and create capsules; if not, NumPy does it.
HAS_CAPSULES = sys.implementation.name == "cpython"
#: Whether tensors export their memory through the buffer protocol.
_HAS_BUFFERS = HAS_CAPSULES


def lower_array(np: Any, x: Any) -> tuple[int, Any]:
    """Lower a NumPy array to its memory."""

    def read(name: str) -> Any:
        # Reads the array's own storage, ignoring overrides of a subclass.
        return np.ndarray.__dict__[name].__get__(x)

    try:
        element = find_dtype(read("dtype"))
    except TypeError as error:
        blame(error, x)
        raise
    assert element is not None
    shape, strides, size = read("shape"), read("strides"), read("itemsize")
    # The stride of an axis with at most one element does not matter.
    if 0 not in shape and any(stride % size for extent, stride in zip(shape, strides) if extent > 1):
        text = f"strides {strides} are not multiples of the {size} bytes of an element"
        raise blame(BufferError(text), x)
    extents = struct.pack(f"={2 * len(shape)}q", *shape, *(stride // size for stride in strides))
    address, read_only = read("__array_interface__")["data"]
    flags = (READ_ONLY if read_only else 0) | (PADDED if element[1] % 8 else 0)
    return code.TENSOR_VIEW, (address, element, len(shape), extents, flags, x)


def lower_memory(x: Memory) -> tuple[int, Any]:
    """Lower memory that does not belong to an array."""
    strides, step = [], 1
    for extent in reversed(x.shape):
        strides.append(step)
        step *= extent
    extents = struct.pack(f"={2 * len(x.shape)}q", *x.shape, *reversed(strides))
    return code.TENSOR_VIEW, (x.address, x.element, len(x.shape), extents, x.flags, x.owner)


def lower_exporter(x: Any, export: Callable[..., Any]) -> tuple[int, Any]:
    """Lower an object with a method `__dlpack__`, which `export` calls."""
    if not HAS_CAPSULES:
        return _lower_through_numpy(x)
    try:
        return code.TENSOR, export(max_version=DLPACK_VERSION)
    except TypeError:
        pass
    # It is older than DLPack's versions.
    return code.TENSOR, export()


def may_be_hidden(cls: type) -> bool:
    """Return whether a class is PyTorch's tensor class, of which `refuse_hidden` may reject instances."""
    return issubclass(cls, find_torch_class("Tensor") or ())


def refuse_hidden(x: Any) -> None:
    """Reject a tensor that PyTorch exports although its memory contains the negated values."""
    if may_be_hidden(type(x)) and x.is_neg():
        raise BufferError("Can't export tensors with the negative bit set, use tensor.resolve_neg()")


def _lower_through_numpy(x: Any) -> tuple[int, Any]:
    import numpy as np

    type_code, (*memory, flags, array) = lower_array(np, np.from_dlpack(x))
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        # It exports unversioned capsules, which have no read-only flag, and treats all as read-only.
        flags &= ~READ_ONLY
    return type_code, (*memory, flags, array)


#: NumPy's names of data types, without the byte order.
_NUMPY_NAMES = {
    **{f"int{8 * size}": f"i{size}" for size in (1, 2, 4, 8)},
    **{f"uint{8 * size}": f"u{size}" for size in (1, 2, 4, 8)},
    **{f"float{8 * size}": f"f{size}" for size in (2, 4, 8)},
    **{f"complex{8 * size}": f"c{size}" for size in (8, 16)},
    "bool": "b1",
}
_BYTE_ORDER = "<" if sys.byteorder == "little" else ">"
#: Devices whose memory the CPU can read.
OF_HOST = (
    DLDeviceType.kDLCPU,
    DLDeviceType.kDLCUDAHost,
    DLDeviceType.kDLROCMHost,
    DLDeviceType.kDLCUDAManaged,
)


def make_interface(tensor: Any, element: str | None = None) -> dict[str, Any]:
    """Return the `__array_interface__` of a tensor.

    Parameters
    ----------
    tensor : Tensor
        A tensor with the methods of a backend's core.
    element : str, optional
        Another name for the element type.

    Raises
    ------
    AttributeError
        NumPy has no such type, or cannot access the memory.
    """
    device, data_type, shape = tensor._anyffi_device(), tensor._anyffi_dtype(), tensor._anyffi_shape()
    element = element or _NUMPY_NAMES.get(str.__str__(data_type))
    if element is None:
        raise AttributeError(f"NumPy has no dtype for {data_type}")
    if read_device(device)[0] not in OF_HOST:
        raise AttributeError(f"a tensor on {device} is not in memory that NumPy can read")
    address = tensor._anyffi_data_ptr()
    if not address and 0 not in shape:
        # NumPy would allocate memory.
        raise AttributeError("the tensor has elements but no memory")
    size = int(element[1:])
    # PyPy's NumPy treats NULL as an error, though nothing is read there.
    address = address or size
    return {
        "version": 3,
        "shape": shape,
        "strides": tuple([stride * size for stride in tensor._anyffi_strides()]),
        "typestr": f"{'|' if size == 1 else _BYTE_ORDER}{element}",
        "data": (address, bool(tensor._anyffi_flags() & READ_ONLY)),
    }


class _Memory:
    """Exports the memory of a tensor with another element type."""

    def __init__(self, tensor: Any, interface: dict[str, Any]) -> None:
        self.tensor = tensor
        self.__array_interface__ = interface


@functools.cache
def _import_numpy() -> Any:
    # Kept, as cython mode keeps NumPy's functions: `sys.modules` may change.
    try:
        import numpy
    except ImportError as error:
        raise ImportError("NumPy is needed to make an array of a tensor: pip install numpy") from error
    return numpy


def make_array(tensor: Any) -> Any:
    """Return a NumPy array on the memory of a tensor, which it keeps alive.

    Raises
    ------
    TypeError
        Neither NumPy nor ml_dtypes has a dtype for the elements, or NumPy cannot access the memory.
    ImportError
        NumPy is not installed.
    """
    np = _import_numpy()
    data_type: dtype = tensor._anyffi_dtype()
    name = str.__str__(data_type)
    try:
        extended = None if name in _NUMPY_NAMES else _find_extended(np, data_type, tensor._anyffi_flags())
        element = extended or _NUMPY_NAMES.get(name)
        if _HAS_BUFFERS:
            # Both are several times as fast as `__array_interface__`.
            try:
                # It treats any contiguous memory as row-major.
                if element is not None and tensor._anyffi_is_contiguous():
                    return np.ndarray(tensor._anyffi_shape(), element, tensor)
                if extended is None:
                    return np.asarray(memoryview(tensor))
            except BufferError:
                pass
        interface = make_interface(tensor, None if extended is None else f"u{extended.itemsize}")
    except AttributeError as error:
        raise TypeError(str(error)) from None
    array = np.asarray(_Memory(tensor, interface))
    return array if extended is None else array.view(extended)


def find_array_dtype(tensor: Any) -> Any:
    """Return the dtype of the array that `make_array` makes of a tensor.

    Raises
    ------
    AttributeError
        Neither NumPy nor ml_dtypes has a dtype for the elements.
    """
    np = _import_numpy()
    data_type: dtype = tensor._anyffi_dtype()
    element = _NUMPY_NAMES.get(str.__str__(data_type))
    if element is not None:
        return np.dtype(element)
    found = _find_extended(np, data_type, tensor._anyffi_flags())
    if found is None:
        raise AttributeError(f"NumPy has no dtype for {data_type}")
    return found


def _find_extended(np: Any, data_type: dtype, flags: int) -> Any:
    """Return ml_dtypes' dtype for elements of whole bytes, or None.

    Raises
    ------
    AttributeError
        Elements are packed several to a byte.
    """
    if data_type.bits * data_type.lanes % 8 and not flags & PADDED:
        raise AttributeError(f"elements of {data_type} share bytes, and those of NumPy's arrays do not")
    name = str.__str__(data_type)
    found = _extended.get(name)
    if found is None:
        try:
            import ml_dtypes

            found = np.dtype(getattr(ml_dtypes, name))
        except (ImportError, AttributeError):
            return None
        _extended[name] = found
    return found


#: The dtypes of ml_dtypes by name.
_extended: dict[str, Any] = {}
