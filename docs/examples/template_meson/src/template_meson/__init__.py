"""Functions in C++, and what Python adds to them."""

from ._core import dot

__all__ = ["dot"]
