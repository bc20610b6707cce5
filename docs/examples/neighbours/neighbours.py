"""Nearest neighbours: a class library in C++ as Python classes, with NumPy arrays, threads and pickles."""

import pathlib
import pickle
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from hnsw import Index, Metric


class NamedIndex(Index):
    """An index whose points have names: a class of C++, derived from in Python."""

    def __init__(self, dim: int, metric: Metric = Metric.L2) -> None:
        super().__init__(dim, metric)
        self.names: list[str] = []

    def put(self, name: str, numbers: list[float]) -> None:
        """Add a point."""
        self.add([numbers], [len(self.names)])
        self.names.append(name)

    def find(self, numbers: list[float]) -> str:
        """Return the name of the nearest point."""
        return self.names[self.nearest(numbers).id]


def search_all(points: Any, queries: Any, k: int, metric: Metric = Metric.L2) -> Any:
    """Find the nearest points by comparing with all of them, which an index approximates.

    Returns
    -------
    numpy.ndarray
        The ids of the nearest `k` points for each query.
    """
    if metric == Metric.L2:
        distances = ((queries[:, None] - points) ** 2).sum(axis=2)
    else:
        if metric == Metric.COSINE:
            points = points / (points**2).sum(axis=1, keepdims=True) ** 0.5
        distances = -(queries @ points.T)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def recall(found: Any, exact: Any) -> float:
    """Return the fraction of the exact matches that were found."""
    hits: int = sum(len({*a} & {*b}) for a, b in zip(found.tolist(), exact.tolist()))
    return hits / int(exact.size)


def outcome(function: Any, *args: Any) -> str:
    """Return the class and message of the exception that a call raises."""
    try:
        function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    random = np.random.default_rng(0)
    points = random.standard_normal((2000, 16), dtype="f4")
    queries = random.standard_normal((50, 16), dtype="f4")
    index = Index(16, capacity=2000)
    index.add(points, range(2000))
    yield "len(index), index.dim, index.metric", [len(index), index.dim, index.metric.name], [2000, 16, "L2"]

    for metric in Metric:
        other = Index(dim=16, metric=metric, capacity=2000)
        other.add(points, np.arange(2000))
        ids, _ = other.search(queries, k=10)
        good = recall(ids, search_all(points, queries, 10, metric)) > 0.95
        yield f"recall with Metric.{metric.name} > 0.95", good, True

    ids, distances = index.search(points[:3], k=1)
    yield "index.search(points[:3])[0]", ids, np.array([[0], [1], [2]])
    yield "index.search(points[:3])[1]", distances, np.zeros((3, 1), "f4")
    yield "index.nearest(points[7].tolist()).id", index.nearest(points[7].tolist()).id, 7
    yield "index.point(7)", index.point(7), points[7]

    # Searches run in parallel, without the interpreter lock.
    expected, _ = index.search(queries, k=5)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(index.search, query[None], k=5) for query in queries]
    yield "searches by 4 threads", np.concatenate([each.result()[0] for each in found]), expected

    copy = pickle.loads(pickle.dumps(index))
    yield "pickle.loads(pickle.dumps(index)).ids()[-1]", copy.ids()[-1], 1999
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "index")
        index.save(path)
        yield "len(Index(path))", len(Index(path)), 2000
        path.write_bytes(path.read_bytes()[:100])
        failed = "Corrupt: the saved index ends after 0 of 2000 points"
        yield "Index(path)", outcome(Index, path), failed

    copy.remove(7)
    yield "7 in copy, 7 in index", [7 in copy, 7 in index], [False, True]
    failed = "IndexError: no point has the id 7"
    yield "copy.remove(7)", outcome(copy.remove, 7), failed
    failed = "Full: the index is full: it has room for 2000 points"
    yield "index.add(queries[:1], [-1])", outcome(index.add, queries[:1], [-1]), failed
    index.capacity = 3000
    index.add(queries[:1], [-1])
    yield "index.capacity = 3000; index.add(queries[:1], [-1])", index.nearest(queries[0]).id, -1
    failed = "ValueError: expected points of 16 numbers, got 3"
    yield "index.add([[1, 2, 3]], [1])", outcome(index.add, [[1, 2, 3]], [1]), failed

    colours = NamedIndex(3)
    colours.put("red", [1, 0, 0])
    colours.put("green", [0, 1, 0])
    yield "colours.find([0.2, 0.8, 0])", colours.find([0.2, 0.8, 0]), "green"


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
