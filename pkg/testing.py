"""C++ functions for tests of calls, from a library that `import anyffi` does not load.

Each is registered as ``testing.NAME``, and is an attribute of this module.
"""

from __future__ import annotations

from ._backend import active as _active
from ._backend import open_backend
from ._library import find_library
from ._tracing.liveness import no_leaks
from ._typing import Any

__all__ = ["library", "no_leaks", "open_backend"]

#: The module that the functions come from.
library = _active.load_module(find_library("anyffi_testing"))

try:
    _fixtures = find_library("anyffi_fixtures")
except ImportError:
    # Functions for this project's own tests: its developers' builds alone have them.
    pass
else:
    _active.load_module(_fixtures)

# Pickles use the name of the public module.
open_backend.__module__ = no_leaks.__module__ = __name__

_PREFIX = "testing."


def __getattr__(name: str) -> Any:
    function = _active.get_global_func(_PREFIX + name, allow_missing=True)
    if function is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function


def __dir__() -> list[str]:
    names = _active.list_global_func_names()
    return sorted([*globals(), *(name[len(_PREFIX) :] for name in names if name.startswith(_PREFIX))])
