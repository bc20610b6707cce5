"""Finds the package's native files: libraries and headers."""

from __future__ import annotations

import os
import sys

from ._typing import Any

__all__ = ["find_include_dir", "find_library"]

_SPELLINGS = {"win32": "{}.dll", "darwin": "lib{}.dylib"}


def find_library(name: str) -> str:
    """Return the path of one of the package's own shared libraries.

    Parameters
    ----------
    name : str
        The name without prefix and suffix: ``"anyffi"`` is the runtime.

    Raises
    ------
    ImportError
        The package was installed without it.
    """
    return _find("lib", _SPELLINGS.get(sys.platform, "lib{}.so").format(name))


def find_include_dir() -> str:
    """Return the directory for a compiler's ``-I``: it holds ``anyffi/anyffi.h``."""
    return os.path.dirname(os.path.dirname(_find("include", "anyffi", "c_api.h")))


def _find(*parts: str) -> str:
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), *parts)
    if os.path.exists(beside):
        return beside
    # The files of an editable install lie elsewhere; the package's loader finds files, but not directories.
    # Not through `importlib.resources`, which ignores loaders on Python 3.9.
    loader: Any = sys.modules[str(__package__)].__spec__.loader  # type: ignore[union-attr]
    files = getattr(loader.get_resource_reader(__package__), "files", None)
    resource: Any = files and files()
    for part in parts:
        resource = resource and resource.joinpath(part)
    # As text, since functions of `os` may raise TypeError if CPython has no memory to call `__fspath__`.
    path = str(resource or "")
    if not os.path.isfile(path):
        raise ImportError(f"this installation of anyffi lacks {'/'.join(parts)}; reinstall it")
    return path
