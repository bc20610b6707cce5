"""Functions of the testing library with typed parameters, and the message of a refused argument."""

from __future__ import annotations

from typing import Any


def typed(ffi: Any, name: str) -> Any:
    return ffi.get_global_func("testing.typed." + name)


def message(name: str, signature: str, index: int, param: str, wrong: str, path: str = "") -> str:
    place = f", at {path}" if path else ""
    return f"testing.typed.{name}{signature}: argument {index} ({param}){place}: {wrong}"
