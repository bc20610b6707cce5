"""Hypothesis strategies for values of every type."""

from __future__ import annotations

import ctypes
import operator
import types
from typing import Any

import numpy as np
from expected import DLPACK
from hypothesis import strategies as st

# ---- bad inputs ---------------------------------------------------------------------------------


def read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


# ---- strategies ---------------------------------------------------------------------------------


int64s = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3),
    st.sampled_from(
        [s * 2**n + d for n in (7, 8, 15, 16, 31, 32, 53, 62) for s in (1, -1) for d in (-1, 0, 1)]
    ),
)
ints = st.one_of(
    int64s,
    st.builds(
        operator.add,
        st.sampled_from([s * 2**n for n in (63, 64, 65, 127, 128, 1000) for s in (1, -1)]),
        st.integers(-3, 3),
    ),
    st.builds(operator.lshift, st.integers(), st.integers(0, 300)),
)
floats = st.floats(width=64, allow_nan=True, allow_infinity=True)
complexes = st.builds(complex, floats, floats)
#: All code points, lone surrogates included, at lengths around the limits of inline storage.
texts = st.one_of(
    *(
        st.text(st.characters(min_codepoint=0, max_codepoint=widest), max_size=size)
        for widest in (0x7F, 0xFF, 0xFFFF, 0x10FFFF)
        for size in (13, 40)
    ),
    st.text(st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF), max_size=8),
)
binaries = st.binary(max_size=40)
scalars = st.one_of(st.none(), st.booleans(), ints, floats, complexes, texts, binaries, st.just(...))
#: Without NaN, of which a dict may have two, but no container of the runtime.
hashable_scalars = st.one_of(
    st.none(),
    st.booleans(),
    ints,
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    texts,
    binaries,
    st.just(...),
)
keys = st.recursive(
    hashable_scalars,
    lambda inner: st.tuples(inner, inner) | st.tuples(inner) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
pointers = st.integers(0, 2**64 - 1).map(ctypes.c_void_p)


@st.composite
def _arrays(draw: Any) -> Any:
    """Draw an array of any layout: strides of either sign, transposed, broadcast, read-only."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    x = np.arange(np.prod(shape, dtype=int)).astype(draw(st.sampled_from(sorted(DLPACK)))).reshape(shape)
    # The Ellipsis makes the result an array even if it has no axes.
    x = x[(*(slice(None, None, draw(st.sampled_from([1, 2, -1, -2]))) for _ in shape), ...)]
    x = x.transpose(draw(st.permutations(range(x.ndim))))
    if draw(st.booleans()):
        x = np.broadcast_to(x, (2, *x.shape))
    return read_only(x) if draw(st.booleans()) else x


arrays = _arrays()


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    dicts = st.dictionaries(keys, inner, max_size=6)
    return st.one_of(
        st.lists(inner, max_size=6),
        st.lists(inner, max_size=6).map(tuple),
        dicts,
        dicts.map(types.MappingProxyType),
        st.sets(keys, max_size=6),
        st.frozensets(keys, max_size=6),
        st.builds(slice, inner, inner, inner),
    )


#: Anything nested in anything.
values = st.recursive(st.one_of(scalars, pointers, arrays), _containers, max_leaves=25)
