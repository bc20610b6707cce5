"""Functions in C++, and what Python adds to them."""

from ._core import rotate

__all__ = ["rotate"]
