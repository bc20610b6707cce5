"""NumPy functions in C++: tensors in and out, `out=`, unions of types, nested sequences, errors."""

from collections.abc import Iterator
from typing import Any, Callable

import _npx as npx
import numpy as np


def outcome(function: Callable[..., Any], *args: Any) -> str:
    """Return the name of the class of the exception that a call raises."""
    try:
        function(*args)
    except Exception as error:
        return type(error).__name__
    return "no error"


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of NumPy."""
    x = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    yield "npx.zeros((2, 2))", np.asarray(npx.zeros((2, 2))), np.zeros((2, 2))
    yield "npx.full((2, 2), 10)", np.asarray(npx.full((2, 2), 10)), np.full((2, 2), 10)
    yield "npx.eye(3, k=1)", np.asarray(npx.eye(3, k=1)), np.eye(3, k=1)
    yield (
        "npx.linspace(0, 10, 8, endpoint=False)",
        np.asarray(npx.linspace(0, 10, 8, endpoint=False)),
        np.linspace(0, 10, 8, endpoint=False),
    )
    yield "npx.add(x, x[0])", np.asarray(npx.add(x, x[0])), np.add(x, x[0])
    out = np.zeros((2, 3), np.float32)
    npx.multiply(x, 2, out=out)
    yield "npx.multiply(x, 2, out=out); out", out, (2 * x).astype(np.float32)
    yield (
        "npx.sum(x, axis=(0, -1), keepdims=True)",
        np.asarray(npx.sum(x, axis=(0, -1), keepdims=True)),
        np.sum(x, axis=(0, -1), keepdims=True),
    )
    yield "npx.argmax(x, axis=1)", np.asarray(npx.argmax(x, axis=1)), np.argmax(x, axis=1)
    yield (
        "npx.concatenate([x, np.ones((2, 1))], axis=-1)",
        np.asarray(npx.concatenate([x, np.ones((2, 1))], axis=-1)),
        np.concatenate([x, np.ones((2, 1))], axis=-1),
    )
    yield "npx.split(x, (1, 2), axis=1)[1]", np.asarray(npx.split(x, (1, 2), 1)[1]), np.split(x, (1, 2), 1)[1]
    padded = np.asarray(npx.pad(x, ((1, 0), (0, 2))))
    yield "npx.pad(x, ((1, 0), (0, 2)))", padded, np.pad(x, ((1, 0), (0, 2)))
    yield "npx.where(x > 2, x, 0)", np.asarray(npx.where(x > 2, x, 0)), np.where(x > 2, x, 0)
    yield "npx.einsum('ij,kj->ik', x, x)", np.asarray(npx.einsum("ij,kj->ik", x, x)), x @ np.transpose(x)
    product = np.asarray(npx.tensordot(x, x, ((1, 0), (1, 0))))
    yield "npx.tensordot(x, x, ((1, 0), (1, 0)))", product, np.tensordot(x, x, ((1, 0), (1, 0)))
    yield "npx.take(x, [9])", outcome(npx.take, x, [9]), outcome(np.take, x, [9])


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
