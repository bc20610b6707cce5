"""The functions that pickles refer to. Names and arguments never change, so that old pickles can be read.

A pickle made by one backend can be read by any other. Classes of the package are referred to by their names
in `anyffi`. A function or module that is not found only fails when it is used: in a worker, an error during
unpickling would reach no caller.
"""

from __future__ import annotations

import importlib
import math
import reprlib
import sys

from . import _current
from ._rules.arrays import PADDED, READ_ONLY, count_bytes
from ._rules.device import Device
from ._rules.dtype import dtype, read_dtype
from ._rules.errors import is_from_handler
from ._rules.internal import Memory
from ._typing import Any, Callable

__all__ = [
    "LateFunction",
    "describe_tensor",
    "unpickle_api",
    "unpickle_callable",
    "unpickle_container",
    "unpickle_export",
    "unpickle_function",
    "unpickle_module",
    "unpickle_object",
    "unpickle_program",
    "unpickle_tensor",
    "unpickle_value",
]

_CONTAINERS = frozenset({"Array", "Shape", "List", "Map", "Dict", "FrozenSet", "Set"})
#: Only CPython prevents a buffer from being resized while ctypes uses its memory.
_LOCKS_BUFFERS = sys.implementation.name == "cpython"


def unpickle_api() -> Any:
    """Return the object whose methods are the functions of `anyffi`."""
    return _current.api


def unpickle_container(cls: Any, content: Any = ()) -> Any:
    """Make a container of a named public class, or of a user's class without running its `__init__`."""
    if not isinstance(cls, str):
        return _find_maker(cls, "_anyffi_make", "content")(content)
    # An Unpickler that permits only this function must not give access to anything else.
    if cls not in _CONTAINERS:
        raise ValueError(f"there is no container {cls!r}")
    return getattr(_current.api, cls)(content)


def unpickle_callable(function: Any) -> Any:
    """Return a Python function as a function of the runtime."""
    return _current.api.Function(function)


def unpickle_function(name: str, library: str | None = None, module: str | None = None) -> Any:
    """Return the registered function with a name, after loading the library or module that registers it."""
    return _find(LateFunction(_find_function, unpickle_function, name, library, module))


def unpickle_object(cls: Any, state: Any) -> Any:
    """Make an object of a class, or of the type with a key, without running its `__init__`."""
    if isinstance(cls, str):
        cls = _current.api._class_of_key(cls)
    restore = _find_maker(cls, "_anyffi_restore", "state")
    made = restore(state)
    if type(made) is cls and "_anyffi_type_key" in cls.__dict__:
        return made
    return cls._anyffi_take(made)


def _find_maker(cls: Any, name: str, what: str) -> Any:
    maker = getattr(cls, name, None)
    if maker is None:
        raise TypeError(f"no object can be made of {cls!r} and the {what} in a pickle")
    return maker


def unpickle_value(key: str, *args: Any) -> Any:
    """Call the class for a key: an exception class, or an enumeration with a member's value."""
    return _current.api._class_of_key(key)(*args)


def unpickle_export(path: str | None, name: str) -> Any:
    """Return a function of the module at a path, or of the program itself."""
    return _find(LateFunction(_find_export, unpickle_export, path, name))


def unpickle_module(path: str, *imports: Any) -> Any:
    """Load the module at a path, and make it import others."""
    return _find(_LateModule(_load_module, unpickle_module, path, *imports))


def unpickle_program(prefix: str, *imports: Any) -> Any:
    """Return the program itself as a module that imports others."""
    return _find(_LateModule(_load_program, unpickle_program, prefix, *imports))


def _find_function(name: str, library: str | None, module: str | None) -> Any:
    function = _current.api.get_global_func(name, allow_missing=True)
    if function is not None:
        return function
    if library is not None:
        _current.api.load_module(library)
    elif module is not None:
        importlib.import_module(module)
    try:
        return _current.api.get_global_func(name)
    except ValueError as error:
        if library is not None:
            raise ValueError(f"{error}; {library} registered it, and has changed since") from None
        registrar = "Python code" if module is None else f"the Python module {module!r}"
        raise ValueError(f"{error}; {registrar} registered it, and must do so in every process") from None


def _find_export(path: str | None, name: str) -> Any:
    return (_load_program("") if path is None else _load_module(path)).get_function(name)


def _load_module(path: str, *imports: Any) -> Any:
    return _import_all(_current.api.load_module(path), imports)


def _load_program(prefix: str, *imports: Any) -> Any:
    return _import_all(_current.api.system_lib(prefix), imports)


def _import_all(module: Any, imports: tuple[Any, ...]) -> Any:
    for imported in imports:
        module.import_module(imported._find() if isinstance(imported, _LateModule) else imported)
    return module


class _Late:
    """An object that is looked up again at each use; its pickle is that of the original."""

    def __init__(self, find: Callable[..., Any], unpickle: Callable[..., Any], *args: Any) -> None:
        self._origin = unpickle, args
        self._finder = find

    def __reduce__(self) -> tuple[Any, ...]:
        unpickle, args = self._origin
        # As short as pickles of older versions.
        while args and args[-1] is None:
            args = args[:-1]
        return unpickle, args

    def _find(self) -> Any:
        try:
            return self._finder(*self._origin[1])
        except Exception as error:
            # Not an error of the lookup; CPython turns a lost MemoryError into a SystemError.
            if isinstance(error, (MemoryError, SystemError)) or is_from_handler(error):
                raise
            places = [each for each in self._origin[1] if isinstance(each, str)]
            raise ImportError(
                f"cannot use what was pickled as {', '.join(map(repr, places))}: {error}. "
                "A pickle names functions and modules; libraries must have the same paths in every process"
            ) from error


class LateFunction(_Late):
    """Represents a function that was not found when it was unpickled."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; ImportError if it still is not found."""
        return self._find()(*args, **kwargs)


class _LateModule(_Late):
    """Represents a module that could not be loaded."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._find(), name)

    def __getitem__(self, name: str) -> Any:
        return self._find()[name]


def _find(late: Any) -> Any:
    """Return the object; if it is not found, one that raises the error when it is used."""
    try:
        return late._find()
    except ImportError:
        return _current.api.Function(late) if isinstance(late, LateFunction) else late


def describe_tensor(tensor: Any, flags: int, protocol: int) -> tuple[Any, ...]:
    """Return the arguments of `unpickle_tensor`.

    Parameters
    ----------
    tensor : Tensor
        A compact tensor.
    flags : int
        The flags of the pickled tensor, of which `tensor` may be a copy.
    protocol : int
        The protocol of the pickle.

    Raises
    ------
    TypeError
        The memory is not on the CPU.
    """
    device, data_type, shape = tensor._anyffi_device(), tensor._anyffi_dtype(), tensor._anyffi_shape()
    if device != Device("cpu"):
        raise TypeError(f"cannot pickle a tensor on {device}")
    kept = flags & (READ_ONLY | PADDED)
    view = _view_of(tensor, read_dtype(data_type), shape, kept)
    if flags & READ_ONLY:
        view = view.toreadonly()
    content: Any
    if protocol >= 5:
        from pickle import PickleBuffer

        content = PickleBuffer(view)
    else:
        content = bytes(view) if flags & READ_ONLY else bytearray(view)
    return content, str(data_type), shape, kept


def _view_of(tensor: Any, element: tuple[int, int, int], shape: tuple[int, ...], flags: int) -> memoryview:
    """Return the memory of a compact tensor on the CPU."""
    try:
        return memoryview(tensor)
    except (BufferError, TypeError):
        # The elements have no format; or this is PyPy.
        import ctypes

        memory = (ctypes.c_char * _size_of(element, shape, flags)).from_address(tensor._anyffi_data_ptr())
        memory.tensor = tensor  # type: ignore[attr-defined]  # keeps it alive
        return memoryview(memory)


def unpickle_tensor(content: Any, data_type: str, shape: tuple[int, ...], flags: int) -> Any:
    """Return a tensor on the memory of a writable buffer, or on a copy of a read-only one.

    Raises
    ------
    ValueError
        The sizes of buffer and tensor differ, the flags are unknown, or the shape is invalid.
    """
    import ctypes

    if flags & ~(READ_ONLY | PADDED):
        raise ValueError(f"unknown flags of a tensor: {flags}")
    if not all(isinstance(size, int) and abs(size) <= sys.maxsize for size in shape):
        raise ValueError(f"the dimensions of a tensor are ints of 64 bits, not {reprlib.repr(shape)}")

    element = read_dtype(dtype(data_type))
    size = _size_of(element, shape, flags)
    view = memoryview(content)
    if view.nbytes != size:
        raise ValueError(f"a tensor of {size} bytes cannot be made of {view.nbytes} bytes")
    memory: Any
    if _LOCKS_BUFFERS:
        # Uses the first byte only: a class of arrays of this size would take ten times as long to make. Uses
        # the view, because exporting the memory again might give another address.
        memory = ctypes.c_char.from_buffer(
            (bytearray(view) if view.readonly else view.cast("B")) if size else bytearray(1)
        )
    else:
        memory = (ctypes.c_char * size).from_buffer_copy(content)
    return _current.api.convert(Memory(ctypes.addressof(memory), element, shape, flags, memory))


def _size_of(element: tuple[int, int, int], shape: tuple[int, ...], flags: int) -> int:
    _, bits, lanes = element
    return count_bytes(math.prod(shape), bits * lanes, flags)
