"""Functions in C++, and what Python adds to them."""

from ._core import count

__all__ = ["count"]
