"""All shapes of the map."""

from __future__ import annotations

from . import calls, containers, directions, tensors
from .laws import Shape

SHAPES: list[Shape] = [*calls.SHAPES, *directions.SHAPES, *containers.SHAPES, *tensors.SHAPES]
