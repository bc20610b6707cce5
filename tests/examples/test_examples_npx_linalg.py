"""The example npx does what NumPy does: linear algebra. Factors with a free sign or phase are compared by their product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from npx_cases import FEW, WHOLE, agree, arrays, builtin_of

DTYPES = (*WHOLE, "float16", "float32", "float64", "complex64", "complex128")
EXTENT = st.integers(0, 4)
OUTER = st.sampled_from([(), (), (2,), (0,), (2, 1)])


def matrices(square: bool = False, dtypes: Any = DTYPES) -> Any:
    """Draw stacks of matrices: of small integers, so that singular ones are exactly singular, or of any numbers."""
    shapes = st.tuples(OUTER, EXTENT, EXTENT).map(
        lambda parts: (*parts[0], parts[1], parts[1] if square else parts[2])
    )

    def spread(array: Any) -> Any:
        numbers = np.random.RandomState(array.size).standard_normal(array.shape)
        return array if array.dtype.kind in "biu" else (array + numbers).astype(array.dtype)

    return st.one_of(*(arrays(dtypes, shapes, tame=True).map(change) for change in (spread, np.array)))


def adjoint(matrix: Any) -> Any:
    return np.conj(np.swapaxes(matrix, -1, -2))


def close(result: Any, expected: Any, size: float = 1) -> None:
    """Compare within the precision for small matrices of small numbers."""
    result, expected = np.asarray(result), np.asarray(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    precision = 2e-3 if result.dtype.name in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose(result, expected, rtol=precision, atol=precision * size)


def product(*parts: Any) -> Any:
    """Multiply matrices, with vectors between them as diagonals."""
    result = np.asarray(parts[0])
    for part in map(np.asarray, parts[1:]):
        result = result * part[..., None, :] if part.ndim < result.ndim else result @ part
    return result


def is_tame(matrix: Any) -> bool:
    """Return whether the inverse is about as exact as the matrix."""
    return matrix.size == 0 or bool(np.all(np.linalg.cond(np.asarray(matrix, complex)) < 1e3))


def both(npx: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Return the results of npx and NumPy; None where both raise the same."""
    found: list[Any] = []
    for library in (npx.linalg, np.linalg):
        try:
            found.append(getattr(library, name)(*args, **kwargs))
        except Exception as error:
            found.append(builtin_of(type(error)))
    if isinstance(found[0], type) or isinstance(found[1], type):
        assert found[0] is found[1]
        return None
    return found


def agrees(npx: Any, name: str, *args: Any, size: float = 1, **kwargs: Any) -> None:
    found = both(npx, name, *args, **kwargs)
    if found is not None:
        close(*found, size=size)


# ---- equations -------------------------------------------------------------------------------------------


@given(matrix=matrices(square=True))
def test_determinants(npx: Any, matrix: Any) -> None:
    agrees(npx, "det", matrix, size=1e3)
    found = both(npx, "slogdet", matrix)
    if found is not None and is_tame(matrix):
        for result, expected in zip(*found):
            close(result, expected)


@given(matrix=matrices(square=True), data=st.data())
def test_inverses(npx: Any, matrix: Any, data: Any) -> None:
    if matrix.dtype != np.float16 and not is_tame(matrix):
        return
    agrees(npx, "inv", matrix, size=1e3)
    rows = data.draw(st.sampled_from([matrix.shape[-1], matrix.shape[-1], 3]))
    outer = data.draw(st.sampled_from([(), matrix.shape[:-2], (2,)]))
    for shape in ((rows,), (*outer, rows, 2)):
        side = data.draw(arrays(DTYPES, st.just(shape), tame=True))
        agrees(npx, "solve", matrix, side, size=1e3)


def test_there_is_no_inverse(npx: Any) -> None:
    for matrix in (np.zeros((2, 2)), np.ones((2, 3, 3)), np.ones((2, 3)), np.ones(3)):
        for name in ("inv", "det", "eigvalsh", "cholesky"):
            agrees(npx, name, matrix, size=10)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        npx.linalg.inv(np.zeros((2, 2)))
    assert both(npx, "eig", np.ones((2, 3))) is None
    for name in ("eig", "svd"):
        assert both(npx, name, np.array([[1.0, np.nan], [0.0, 1.0]])) is None


@given(matrix=matrices(square=True), upper=st.booleans())
def test_cholesky(npx: Any, matrix: Any, upper: bool) -> None:
    if matrix.dtype.kind in "fc" and matrix.dtype != np.float16:
        matrix = product(matrix, adjoint(matrix)) + np.eye(matrix.shape[-1], dtype=matrix.dtype)
    found = both(npx, "cholesky", matrix)
    if found is not None:
        close(*found, size=10)
        agrees(npx, "cholesky", matrix, upper=upper, size=10)


@given(matrix=matrices(), mode=st.sampled_from(["reduced", "complete", "r", "other"]))
def test_qr(npx: Any, matrix: Any, mode: str) -> None:
    found = both(npx, "qr", matrix, mode)
    if found is None:
        return
    if mode == "r":
        close(adjoint(np.asarray(found[0])) @ found[0], adjoint(found[1]) @ found[1], size=100)
        return
    for result, expected in zip(*found):
        assert np.asarray(result).shape == expected.shape
    q, r = map(np.asarray, found[0])
    close(product(q, r), product(*found[1]), size=10)
    close(adjoint(q) @ q, adjoint(found[1][0]) @ found[1][0])
    assert not np.tril(r, -1).any()


@given(matrix=matrices(square=True), ind=st.integers(-1, 3))
def test_tensors_as_matrices(npx: Any, matrix: Any, ind: int) -> None:
    shape = {2: (1, 2), 3: (3, 1), 4: (2, 2)}.get(matrix.shape[-1], matrix.shape[-1:])
    matrix = matrix[(0,) * (matrix.ndim - 2)] if 0 not in matrix.shape else matrix
    if matrix.dtype == np.float16 or not is_tame(matrix) or 0 in matrix.shape:
        return
    agrees(npx, "tensorinv", matrix.reshape(shape + shape), ind, size=1e3)
    agrees(npx, "tensorinv", matrix.reshape(shape + matrix.shape[1:]), len(shape), size=1e3)
    agrees(npx, "tensorsolve", matrix.reshape(shape + matrix.shape[1:]), np.ones(shape), size=1e3)
    moved = np.moveaxis(matrix.reshape(shape + shape), -1, 0)
    agrees(npx, "tensorsolve", moved, np.ones(shape), (0,), size=1e3)


# ---- spectra ---------------------------------------------------------------------------------------------


@given(matrix=matrices(square=True))
@example(matrix=np.eye(4, k=1))
@example(matrix=np.roll(np.eye(4), 1, axis=0))
@example(matrix=np.array([[0.0, 1.0], [-1.0, 0.0]]))
def test_eig(npx: Any, matrix: Any) -> None:
    found = both(npx, "eig", matrix)
    if found is None:
        return
    values, vectors = map(np.asarray, found[0])
    precision = 2e-3 if vectors.dtype.name in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose(matrix @ vectors, vectors * values[..., None, :], atol=100 * precision)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), np.ones(values.shape), rtol=precision)
    np.testing.assert_allclose(values.sum(axis=-1), np.trace(matrix, axis1=-2, axis2=-1), atol=10 * precision)
    assert values.dtype.kind == "c" or matrix.dtype.kind != "c"
    np.testing.assert_array_equal(values, npx.linalg.eigvals(matrix))


@given(matrix=matrices(square=True), uplo=st.sampled_from("LUluX"))
def test_eigh(npx: Any, matrix: Any, uplo: str) -> None:
    found = both(npx, "eigh", matrix, uplo)
    if found is None:
        return
    (values, vectors), expected = found
    close(values, expected[0], size=10)
    close(
        product(vectors, values, adjoint(np.asarray(vectors))),
        product(expected[1], expected[0], adjoint(expected[1])),
        size=10,
    )
    agrees(npx, "eigvalsh", matrix, uplo, size=10)


@given(matrix=matrices(), full=st.booleans())
def test_svd(npx: Any, matrix: Any, full: bool) -> None:
    found = both(npx, "svd", matrix, full)
    if found is None:
        return
    for result, expected in zip(*found):
        assert (np.asarray(result).dtype, np.asarray(result).shape) == (expected.dtype, expected.shape)
    u, s, vh = map(np.asarray, found[0])
    close(s, found[1][1], size=10)
    rank = s.shape[-1]
    exact = matrix.astype(s.dtype) if matrix.dtype.kind in "biu" else matrix
    close(product(u[..., :rank], s, vh[..., :rank, :]), exact, size=10)
    for unitary in (adjoint(u) @ u, vh @ adjoint(vh)):
        close(unitary, np.broadcast_to(np.eye(unitary.shape[-1], dtype=unitary.dtype), unitary.shape))
    agrees(npx, "svd", matrix, compute_uv=False, size=10)


@given(matrix=matrices(), limit=st.none() | st.sampled_from([0.01, 0.5, np.array([0.1])]))
def test_rank(npx: Any, matrix: Any, limit: Any) -> None:
    exact = np.linalg.svd(matrix.astype(complex), compute_uv=False)
    if np.any((exact > 1e-9) & (exact < 1e-3)) or np.any(abs(exact - 0.01) < 1e-6):
        return
    for keyword in ("tol", "rtol"):
        if matrix.size:  # for other matrices NumPy's result is not defined
            agree(npx.linalg.matrix_rank, np.linalg.matrix_rank, matrix, **{keyword: limit})
    agree(npx.linalg.matrix_rank, np.linalg.matrix_rank, matrix.ravel())


@given(matrix=matrices(dtypes=("int8", "float64", "complex128", "float16")), data=st.data())
def test_pinv(npx: Any, matrix: Any, data: Any) -> None:
    rcond = data.draw(st.sampled_from([1e-6, 0.2, np.full(matrix.shape[:-2], 1e-6)]))
    s = np.linalg.svd(matrix.astype(complex), compute_uv=False)
    near = s / np.max(s, axis=-1, keepdims=True, initial=1e-30)
    if matrix.size == 0 or np.any((near > 1e-10) & (near < 1e-3)) or np.any(abs(near - 0.2) < 1e-6):
        return
    agrees(npx, "pinv", matrix, rcond, size=1e3)
    agrees(npx, "pinv", np.ones((2, 3, 3)), np.ones(3))


@given(matrix=matrices(), columns=st.integers(0, 2), data=st.data())
def test_lstsq(npx: Any, matrix: Any, columns: int, data: Any) -> None:
    rows = data.draw(st.sampled_from([matrix.shape[-2], matrix.shape[-2], 3]))
    side = data.draw(arrays(DTYPES, st.just((rows, columns)[: 2 - (columns == 0)]), tame=True))
    rcond = data.draw(st.sampled_from([None, 0.01]))
    s = np.linalg.svd(matrix.astype(complex), compute_uv=False)
    if np.any((s > 1e-9) & (s < 0.1)):
        return
    found = both(npx, "lstsq", matrix, side, rcond)
    if found is None:
        return
    results, expected = found
    assert results[2] == expected[2]
    for index in (0, 1, 3):
        close(results[index], expected[index], size=1e3)


ORDERS = (None, 0, 1, -1, 2, -2, 3, 0.5, np.inf, -np.inf, "fro", "nuc", "other")


@pytest.mark.parametrize("order", ORDERS)
@FEW
@given(
    array=arrays(
        (*DTYPES[:4], "float32", "float64", "complex128"),
        st.lists(st.integers(1, 3), max_size=3).map(tuple),
        tame=True,
    ),
    axis=st.none() | st.integers(-3, 2) | st.sampled_from([(0, 1), (-1, 0), (0,), (1, 1), (0, 1, 2)]),
    keepdims=st.booleans(),
)
def test_norm(npx: Any, array: Any, order: Any, axis: Any, keepdims: bool) -> None:
    with np.errstate(all="ignore"):
        agrees(npx, "norm", array, order, axis, keepdims, size=1e3)
        agrees(npx, "norm", np.arange(-4.0, 4.0).reshape(2, 4), order, (1, 0), keepdims)
