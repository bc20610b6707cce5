"""One function of each kind of arguments, compared with NumPy's for whatever Hypothesis thinks of."""

from typing import Any

import _npx as npx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

settings.register_profile("example", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("example")

NUMBERS = st.integers(-4, 4).map(lambda number: number / 2)
MATRIX = arrays.arrays("float64", arrays.array_shapes(min_dims=2, max_dims=2, max_side=4), elements=NUMBERS)
VECTOR = arrays.arrays("int64", st.integers(1, 6), elements=st.integers(-3, 3))


def same(result: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-12, atol=1e-12, strict=True)


@given(array=VECTOR, flags=st.tuples(st.booleans(), st.booleans(), st.booleans()))
def test_flags_that_ask_for_more_results(array: Any, flags: Any) -> None:
    results, expected = npx.unique(array, *flags), np.unique(array, *flags)
    if not any(flags):
        results, expected = [results], [expected]
    assert len(results) == len(expected)
    for result, part in zip(results, expected):
        same(result, part)


@given(array=MATRIX, q=st.integers(0, 100), method=st.sampled_from(["linear", "lower", "midpoint", "hazen"]))
def test_names_as_options(array: Any, q: int, method: str) -> None:
    same(npx.percentile(array, q, axis=0, method=method), np.percentile(array, q, axis=0, method=method))


@given(arrays=st.lists(VECTOR, min_size=2, max_size=4))
def test_arrays_as_separate_arguments(arrays: Any) -> None:
    for result, expected in zip(npx.atleast_2d(*arrays), np.atleast_2d(*arrays)):
        same(result, expected)


@given(array=VECTOR, position=st.integers(0, 1), values=VECTOR)
def test_positions(array: Any, position: int, values: Any) -> None:
    same(npx.insert(array, position, values), np.insert(array, position, values))
    same(npx.delete(array, [0, -1]), np.delete(array, [0, -1]))


@given(
    seed=st.integers(0, 2**32 - 1), array=VECTOR, weights=st.lists(st.integers(1, 5), min_size=1, max_size=4)
)
def test_in_place_and_lists_of_floats(seed: int, array: Any, weights: Any) -> None:
    npx.random.seed(seed)
    state = np.random.RandomState(seed)
    expected = array.copy()
    assert npx.random.shuffle(array) is None
    state.shuffle(expected)
    same(array, expected)
    parts = [weight / sum(weights) for weight in weights]
    same(npx.random.multinomial(9, parts, size=(2, 2)), state.multinomial(9, parts, size=(2, 2)))


@given(array=MATRIX)
def test_several_results(array: Any) -> None:
    u, s, vh = map(np.asarray, npx.linalg.svd(array, full_matrices=False))
    same(s, np.linalg.svd(array, compute_uv=False))
    same(u * s @ vh, array)
    q, r = map(np.asarray, npx.linalg.qr(array))
    same(q @ r, array)
    values, vectors = map(np.asarray, npx.linalg.eigh(array @ array.T))
    same(vectors * values @ vectors.T, array @ array.T)
