"""The example npx does what NumPy does: einsum and tensordot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npx_cases import DTYPES, FEW, agree, arrays, same

SPECS = (
    *("ii", "ii->i", "ij->ji", "ij,jk", "ij,jk->ik", "i,i", "ij,ij->", "i,j->ij", "ijk->k", "ba"),
    *("...i->...", "...ij,...jk->...ik", "i...,i...", "ij,jk,kl->il", " i j -> j ", "...", "i...->..."),
    *("ij,j", "iij", "i->ii", "i->j", "i,", "i.j", "i1", "...i->i", "ij->i->j", "......"),
)


@pytest.mark.parametrize("spec", SPECS)
@FEW
@given(data=st.data(), extent=st.sampled_from([0, 1, 2, 3, 3]))
def test_einsum(npx: Any, spec: str, data: Any, extent: int) -> None:
    operands = []
    for part in spec.split("->")[0].split(","):
        ndim = sum(map(str.isalpha, part)) + ("..." in part) * data.draw(st.integers(0, 1))
        operands.append(data.draw(arrays(DTYPES, st.just((extent,) * ndim), tame=True)))
    agree(npx.einsum, np.einsum, spec, *operands, exact=False, scale=1000)


def test_einsum_of_other_operands(npx: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    for operands in ((), (x, x), (x[0],), (np.ones((2, 2, 2)),)):
        agree(npx.einsum, np.einsum, "ij->i", *operands)
    agree(npx.einsum, np.einsum, "ij,jk", x, x)
    out = npx.zeros(2)
    assert npx.einsum("ij->i", x, out=out, optimize=True) is out
    same(out, x.sum(axis=1))


AXES = st.integers(0, 3) | st.tuples(
    *(
        st.integers(-3, 2)
        | st.lists(st.integers(-3, 2), max_size=2, unique_by=lambda axis: axis % 3).map(tuple),
    )
    * 2
)


@given(data=st.data(), extent=st.integers(0, 3), axes=AXES)
def test_tensordot(npx: Any, data: Any, extent: int, axes: Any) -> None:
    x, y = (data.draw(arrays(DTYPES[1:], st.just((extent,) * 3), tame=True)) for _ in range(2))
    agree(npx.tensordot, np.tensordot, x, y, axes, exact=False, scale=1000)


def test_tensordot_of_nested_axes(npx: Any) -> None:
    x = np.arange(4.0).reshape(2, 2)
    agree(npx.tensordot, np.tensordot, x, x, ((1, 0), (0, 1)))
    agree(npx.tensordot, np.tensordot, x, np.ones((3, 2)), (1, 0))
    agree(npx.tensordot, np.tensordot, x, np.ones((3, 2)), [[1], [1]])


SHAPES = st.sampled_from([(2,), (3,), (2, 2), (2, 3), (3, 2), (2, 2, 3), (1, 3, 2), (0, 2), ()])


@given(data=st.data(), shapes=st.tuples(SHAPES, SHAPES))
def test_matmul(npx: Any, data: Any, shapes: Any) -> None:
    x, y = (data.draw(arrays(DTYPES[1:], st.just(shape), tame=True)) for shape in shapes)
    agree(npx.matmul, np.matmul, x, y, exact=False, scale=100)
    agree(npx.inner, np.inner, x, y, exact=False, scale=100)
