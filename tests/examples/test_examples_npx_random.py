"""The example npx does what NumPy does: random numbers, the same ones from the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from npx_cases import agree, arrays, outcome, same
from tensors import NUMPY

SEED = st.integers(0, 2**32 - 1)
EXTENTS = st.lists(st.integers(0, 3), max_size=3).map(tuple)
SIZE = st.none() | st.integers(0, 4) | EXTENTS


def seeded(npx: Any, seed: int) -> tuple[Any, Any]:
    """Return the functions of both libraries, seeded alike."""
    npx.random.seed(seed)
    return npx.random, np.random.RandomState(seed)


@given(seed=SEED, size=SIZE, number=st.floats(0.25, 3))
def test_distributions(npx: Any, seed: int, size: Any, number: float) -> None:
    ours, theirs = seeded(npx, seed)
    agree(ours.uniform, theirs.uniform, -number, number, size, exact=False)
    for name in ("exponential", "weibull", "pareto", "rayleigh", "power", "gamma"):
        agree(getattr(ours, name), getattr(theirs, name), number, size=size, exact=False)
    for name in ("normal", "logistic", "gumbel", "gamma"):
        agree(getattr(ours, name), getattr(theirs, name), number, 2.5, size, exact=False)
    agree(ours.gamma, theirs.gamma, 1, size=size, exact=False)


@given(seed=SEED, extents=st.lists(st.integers(-1, 3), max_size=3))
def test_extents_as_arguments(npx: Any, seed: int, extents: Any) -> None:
    ours, theirs = seeded(npx, seed)
    agree(ours.rand, theirs.rand, *extents)
    agree(ours.randn, theirs.randn, *extents, exact=False)
    agree(ours.rand, theirs.rand, "2")


def test_refuses(npx: Any) -> None:
    ours, theirs = seeded(npx, 0)
    for seed in (-1, 2**32):
        agree(ours.seed, theirs.seed, seed)
    for name in ("exponential", "weibull", "pareto", "rayleigh", "power", "gamma"):
        agree(getattr(ours, name), getattr(theirs, name), -1.0)
    for name in ("normal", "logistic", "gumbel", "gamma"):
        agree(getattr(ours, name), getattr(theirs, name), 1.0, -1.0)
    agree(ours.uniform, theirs.uniform, 0.0, np.inf)
    agree(ours.uniform, theirs.uniform, size=(-1,))


WEIGHTS = st.lists(st.integers(0, 3), min_size=1, max_size=5).map(
    lambda weights: [weight / max(1, sum(weights)) for weight in weights]
)


@given(
    seed=SEED,
    size=SIZE,
    array=arrays(shapes=st.integers(0, 5).map(lambda size: (size,))),
    replace=st.booleans(),
)
def test_choice(npx: Any, seed: int, size: Any, array: Any, replace: bool) -> None:
    ours, theirs = seeded(npx, seed)
    agree(ours.choice, theirs.choice, array, size, replace)
    agree(ours.choice, theirs.choice, len(array), size=size, replace=replace)
    agree(ours.choice, theirs.choice, np.ones((2, 2)))


@given(seed=SEED, size=SIZE, p=WEIGHTS, replace=st.booleans())
def test_choice_by_weights(npx: Any, seed: int, size: Any, p: Any, replace: bool) -> None:
    ours, theirs = seeded(npx, seed)
    agree(ours.choice, theirs.choice, len(p), size, replace, p)
    agree(ours.choice, theirs.choice, len(p) + 1, size, replace, np.array(p))


@given(seed=SEED, array=arrays(shapes=EXTENTS))
def test_shuffle(npx: Any, seed: int, array: Any) -> None:
    def run(random: Any) -> Any:
        mine = array.copy() if array.flags.writeable else array
        assert random.shuffle(mine) is None
        return mine

    ours, theirs = (outcome(run, random) for random in seeded(npx, seed))
    if isinstance(theirs, type):
        assert ours is theirs
    else:
        same(ours, theirs)


@given(seed=SEED, n=st.integers(-1, 40), pvals=WEIGHTS, size=SIZE)
def test_multinomial(npx: Any, seed: int, n: int, pvals: Any, size: Any) -> None:
    # Since NumPy 2.5 an outcome that is impossible takes no random number.
    assume(NUMPY < (2, 5) or 0.0 not in pvals)
    ours, theirs = seeded(npx, seed)
    agree(ours.multinomial, theirs.multinomial, n, pvals, size)
    agree(ours.multinomial, theirs.multinomial, n, np.array([*pvals, 1.0]), size)


def test_multinomial_of_many_trials(npx: Any) -> None:
    npx.random.seed(3)
    pvals = np.array([0.5, 0.2, 0.3])
    for n in (500, 10**6, 10**15):
        result = np.asarray(npx.random.multinomial(n, pvals, size=4000))
        assert (result.sum(axis=1) == n).all()
        spread = np.sqrt(n * pvals * (1 - pvals))
        assert (abs(result.mean(axis=0) - n * pvals) < 5 * spread / np.sqrt(4000)).all()
        np.testing.assert_allclose(result.std(axis=0), spread, rtol=0.1)
