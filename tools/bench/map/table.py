"""All shapes of the map."""

from __future__ import annotations

from . import calls, classes, containers, directions, keys, members, tensors
from .laws import Shape

SHAPES: list[Shape] = [
    *calls.SHAPES,
    *classes.SHAPES,
    *members.SHAPES,
    *directions.SHAPES,
    *containers.SHAPES,
    *tensors.SHAPES,
    *keys.SHAPES,
]
