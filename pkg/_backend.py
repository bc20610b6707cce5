"""The interface of a backend, and the function that opens one by name."""

from __future__ import annotations

import atexit
import importlib
from types import FunctionType

from . import _current, _mode
from ._api.convert import ConvertApi
from ._api.dataclasses import DataclassApi
from ._api.modules import ModuleApi
from ._api.registry import RegistryApi
from ._api.structure import StructureApi
from ._api.walks import WalksApi
from ._objects import classes
from ._objects.bound import BoundClasses
from ._objects.records import Records
from ._pickling import unpickle_api
from ._rules.locks import make_lock
from ._typing import Any

__all__ = ["CORE", "Api", "active", "open_backend", "set_observer"]

#: The names that a backend defines; docs/backends.md describes each.
CORE = (
    "NAME",
    *classes.CORES,
    "methods_of",
    "set_attributes",
    "set_class",
    "set_class_maker",
    "set_constant_class",
    "set_constructor",
    "set_constructor_class",
    "set_field_class",
    "set_method_class",
    "set_module_class",
    "set_observer",
    "set_record_class",
    "create_exchange",
    "create_record",
    "field_getter",
    "field_setter",
    "get_attributes",
    "get_function",
    "iterate_elements",
    "need_stack",
    "plan_record",
    "renew_wrapper",
    "revive_wrapper",
    "to_object",
    "to_plain",
    "shut_down",
)

_MODULES = {"ctypes": "anyffi._ctypes", "cython": "anyffi._cython", "check": "anyffi._check"}


class Api(RegistryApi, ModuleApi, ConvertApi, StructureApi, WalksApi, DataclassApi):
    """The public classes and functions over one backend."""

    __module__ = "anyffi"

    def __init__(self, core: Any) -> None:
        self._core = core
        self.ffi_mode: str = core.NAME
        # One by one: CPython slows down the attributes of an instance whose `__dict__` was accessed.
        public = classes.build(core)
        for name, cls in public.items():
            setattr(self, name, cls)
        for name, function in core.methods_of("Api", Api).items():
            setattr(self, name, function.__get__(self, Api))
        self._runtime = self.Object._anyffi_runtime
        self._classes = self.Object._anyffi_classes = BoundClasses(core, public)
        self._type_keys = {}
        self._records = Records(core, public, self._classes)

    def __reduce__(self) -> tuple[Any, ...]:
        # Methods that are public functions are pickled by reference to this object.
        return unpickle_api, ()


for _part in (RegistryApi, ModuleApi, ConvertApi, StructureApi, WalksApi, DataclassApi):
    for _name, _function in vars(_part).items():
        # Users see them as functions of `anyffi`: in argument errors, in `help`, and in pickles.
        if isinstance(_function, FunctionType):
            _function.__qualname__ = _name
            _function.__module__ = "anyffi"

_opened: dict[str, Api] = {}
_observer: Any = None
_lock = make_lock()


def open_backend(name: str) -> Api:
    """Return the public classes and functions over a backend, creating them at the first call.

    Parameters
    ----------
    name : str
        ``"ctypes"`` or ``"cython"``. `anyffi` itself offers the backend that `anyffi.ffi_mode` names; the
        other one may be opened in addition, and each accepts the other's objects. In mode ``"check"`` only
        ``"check"`` can be opened.
    """
    if (name == "check") != (_mode.ffi_mode == "check"):
        raise ImportError(f"the mode of this process is {_mode.ffi_mode}: {name!r} cannot be opened in it")
    with _lock:
        if name not in _opened:
            core = importlib.import_module(_MODULES[name])
            _opened[name] = Api(core)
            if _observer is not None:
                core.set_observer(_observer)
        return _opened[name]


def set_observer(observer: Any) -> None:
    """Make an observer see the calls and callbacks of every backend (`_rules/observing.py`); None removes it.

    It must always be the same observer, since the compiled marshaller keeps it forever.
    """
    global _observer
    with _lock:
        _observer = observer
        for api in _opened.values():
            api._core.set_observer(observer)


def _shut_down() -> None:
    """Release Python's objects at exit: the runtime outlives Python, and must call no hook afterwards."""
    try:
        for api in _opened.values():
            api._classes.release_written()
    finally:
        active._core.shut_down()


#: The API over the backend that FFI_MODE chose.
if _current.api is None:
    _current.api = open_backend(_mode.ffi_mode)
    atexit.register(_shut_down)
active: Api = _current.api
