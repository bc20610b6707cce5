"""Each workload in the table of the example npx does what NumPy does."""

from __future__ import annotations

import csv
import functools
import re
import warnings
from typing import Any, Callable

import example_programs
import numpy as np
import pytest
from npx_cases import same

FOLDER = example_programs.EXAMPLES / "npx"
with (FOLDER / "workloads.csv").open(encoding="utf-8", newline="") as table:
    WORKLOADS = list(csv.DictReader(table))
COVERED = [row for row in WORKLOADS if row["covered"] == "yes"]


#: Normalise results that are free in sign, phase or order, or nearly 0.
MULTIPLIED: dict[str, Callable[..., list[Any]]] = {
    "linalg.eig": lambda values, vectors: [vectors * values @ np.linalg.inv(vectors)],
    "linalg.eigh": lambda values, vectors: [values, vectors * values @ vectors.T],
    "linalg.svd": lambda u, s, vh: [s, u * s @ vh],
    "linalg.qr": lambda q, r: [q @ r],
    "linalg.slogdet": lambda sign, logarithm: [sign * np.exp(logarithm)],
}


#: NumPy 2.5 removed products of vectors in a plane, and real numbers for real eigenvalues.
REFERENCES: dict[str, Callable[..., Any]] = {
    "cross": lambda a, b: a[0] * b[1] - a[1] * b[0],
    "linalg.eig": lambda matrix: [*map(np.real_if_close, np.linalg.eig(matrix))],
    "linalg.eigvals": lambda matrix: np.real_if_close(np.linalg.eigvals(matrix)),
}


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return (np.arange(np.prod(shape)).reshape(shape) + 1) / 4


def bind(function: Callable[..., Any], arguments: str) -> Callable[[], Any]:
    """Return the call of a function with arguments as the table spells them."""
    code = re.sub(
        r"(integer )?array\[([\dx]+)\]",
        lambda m: f"numbers({m[2].replace('x', ',')})" + ".astype(int)" * bool(m[1]),
        arguments,
    )
    names = {
        "numbers": numbers,
        "array": np.array,
        "arange": np.arange,
        "float32": np.float32,
        "bind": functools.partial,
    }
    bound: Callable[[], Any] = eval(
        f"bind(function, {code.replace(';', ',')})", {**names, "function": function}
    )
    return bound


def find(module: Any, name: str) -> Any:
    return functools.reduce(lambda place, part: getattr(place, part, None), name.split("."), module)


@pytest.mark.parametrize("row", COVERED, ids=lambda row: row["function"])
def test_covered(npx: Any, row: dict[str, str]) -> None:
    name, arguments = row["function"], row["arguments"]
    reference = REFERENCES.get(name) or find(np, name)
    if name.startswith("random."):
        npx.random.seed(5)
        reference = getattr(np.random.RandomState(5), name.partition(".")[2])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        results = bind(find(npx, name), arguments)()
        # NumPy has renamed it.
        expected = bind(reference, arguments.replace("interpolation=", "method="))()
    if not isinstance(expected, (tuple, list)):
        results, expected = [results], [expected]
    assert len(results) == len(expected)
    if name in MULTIPLIED:
        results = MULTIPLIED[name](*map(np.asarray, results))
        expected = MULTIPLIED[name](*map(np.asarray, expected))
    for result, part in zip(results, expected):
        if part is None or isinstance(part, np.int32):  # the changed argument; a rank
            assert result == part
        else:
            same(result, part, exact=False)


def test_all_are_covered(npx: Any) -> None:
    assert len(WORKLOADS) == 183
    assert len(COVERED) == 183
    assert "all 183 are covered" in (FOLDER / "README.md").read_text(encoding="utf-8")
