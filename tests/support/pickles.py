"""Protocols of pickles, and values that went through a pickle."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)

every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def through(x: Any, protocol: int) -> Any:
    return pickle.loads(pickle.dumps(x, protocol))


def tensor_of(ffi: Any, array: Any) -> Any:
    return ffi.get_global_func("testing.echo")(array)
