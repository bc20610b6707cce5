"""The list of public classes; `build` makes them for each backend."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from collections.abc import Set as AbstractSet
from types import FunctionType

from .._builtins import *  # noqa: F403
from .._rules.codes import code, row_name
from .._typing import Any, Optional
from .docs import FunctionAnnotations, FunctionDoc, FunctionGlobals, ModuleDoc
from .function import FunctionMethods
from .mappings import DictMethods, MapMethods
from .module import ModuleMethods
from .object import ObjectMethods
from .runtime import Runtime
from .sequences import ArrayMethods, ListMethods, ShapeMethods
from .sets import FrozenSetMethods, SetMethods
from .tensor import TensorMethods, make_properties
from .views import CORES as VIEW_CORES
from .views import build_views

__all__ = ["CLASSES", "CORES", "build"]

_Row = tuple[type, str, bool, Optional[type]]

#: All public classes, by name: methods, base, whether a backend has a class of its own below it, and the
#: class of `collections.abc` that it implements. A base precedes the classes that derive from it.
CLASSES: dict[str, _Row] = {
    "Object": (ObjectMethods, "", True, None),
    "Function": (FunctionMethods, "Object", True, None),
    "Module": (ModuleMethods, "Object", False, None),
    "Array": (ArrayMethods, "Object", True, Sequence),
    "Shape": (ShapeMethods, "Array", False, None),
    "List": (ListMethods, "Object", True, MutableSequence),
    "Map": (MapMethods, "Object", True, Mapping),
    "Dict": (DictMethods, "Object", True, MutableMapping),
    "FrozenSet": (FrozenSetMethods, "Object", True, AbstractSet),
    "Set": (SetMethods, "Object", True, MutableSet),
    "Tensor": (TensorMethods, "Object", True, None),
}

#: The names under which a backend has its own classes.
CORES = (*(f"{name}Core" for name, (_, _, has_core, _) in CLASSES.items() if has_core), *VIEW_CORES)


def build(core: Any) -> dict[str, Any]:
    """Create the public classes over a backend, and the functions of the runtime that their methods call.

    Parameters
    ----------
    core : module
        The backend.
    """
    capsule = core.create_exchange()
    views = {"_anyffi_views": build_views(core)}
    own: dict[str, dict[str, Any]] = {
        "Function": {
            "__doc__": FunctionDoc(FunctionMethods.__doc__),
            "__annotations__": FunctionAnnotations(),
            "__globals__": FunctionGlobals(),
        },
        "Module": {"__doc__": ModuleDoc(ModuleMethods.__doc__), "__slots__": ("__dict__",)},
        "Map": views,
        "Dict": views,
        "Tensor": make_properties(core.TensorCore),
    }
    if capsule is not None:
        own["Tensor"]["__dlpack_c_exchange_api__"] = capsule
    classes: dict[str, Any] = {}
    for name, (methods, base, has_core, abstract) in CLASSES.items():
        bases = [methods]
        if base:
            bases.append(classes[base])
        if has_core:
            bases.append(getattr(core, f"{name}Core"))
        for method in vars(methods).values():
            # The name that pickles and errors about wrong arguments show.
            if isinstance(method, FunctionType):
                method.__qualname__ = f"{name}.{method.__name__}"
                method.__module__ = "anyffi"
        namespace = {
            "__slots__": (),
            "__module__": "anyffi",
            "__qualname__": name,
            "__doc__": methods.__doc__,
            **own.get(name, {}),
            **core.methods_of(name, methods),
        }
        classes[name] = type(name, tuple(bases), namespace)
        if abstract is not None:
            abstract.register(classes[name])  # type: ignore[attr-defined]
    for name, cls in classes.items():
        core.set_class(getattr(code, row_name(name)), cls)
    classes["Object"]._anyffi_runtime = Runtime(core)
    return classes
