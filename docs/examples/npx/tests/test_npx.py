"""The tests of the project: run python -m pytest in the folder with the built library."""

from typing import Any

import _npx as npx
import anyffi
import numpy as np
import pytest
from npx import examples

X = np.arange(-6.0, 6.0).reshape(3, 4)[:, ::-1]


def check(result: Any, expected: Any) -> None:
    assert type(result) is anyffi.Tensor
    np.testing.assert_array_equal(result, expected, strict=True)


def test_examples() -> None:
    for text, result, expected in examples():
        np.testing.assert_array_equal(result, expected, err_msg=text)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
def test_broadcasting_and_promotion(dtype: str) -> None:
    column = np.array([[0], [1], [5]], dtype)
    for x in (X, X.astype(np.float32), X.astype(np.int16)):
        check(npx.add(x, column), np.add(x, column))
        check(npx.multiply(column, x), np.multiply(column, x))
        check(npx.where(column, x, 7), np.where(column, x, 7))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(axis: Any, keepdims: bool) -> None:
    for name in ("sum", "prod", "max", "mean"):
        expected = np.asarray(getattr(np, name)(X, axis=axis, keepdims=keepdims))
        check(getattr(npx, name)(X, axis=axis, keepdims=keepdims), expected)
        out = np.zeros_like(expected)
        getattr(npx, name)(X, axis, out=out, keepdims=keepdims)
        np.testing.assert_array_equal(out, expected)


def test_sequences_of_arrays() -> None:
    check(npx.concatenate([X, X[:1]]), np.concatenate([X, X[:1]]))
    check(npx.stack((X, -X), axis=-1), np.stack((X, -X), axis=-1))
    for part, expected in zip(npx.split(X, [1, 3], axis=1), np.split(X, [1, 3], axis=1)):
        check(part, expected)
    check(npx.einsum("ij,kj,i->k", X, X, X[:, 0]), np.einsum("ij,kj,i->k", X, X, X[:, 0]))


def test_a_seed_begins_the_stream_that_numpy_has() -> None:
    npx.random.seed(7)
    expected = np.random.RandomState(7)
    for size in (5, (3, 4)):
        check(npx.random.uniform(size=size), expected.uniform(size=size))


def test_errors_are_those_of_numpy() -> None:
    for library in (npx, np):
        with pytest.raises(np.exceptions.AxisError):
            library.sum(X, axis=2)
        with pytest.raises(ValueError, match="broadcast"):
            library.add(X, X[:2])
        with pytest.raises(IndexError):
            library.take(X, [12])
