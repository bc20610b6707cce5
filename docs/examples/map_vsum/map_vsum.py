"""Sum the values of a mapping: a Python dict converts to `Map<String, int64_t>`."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import anyffi

map_vsum = anyffi.load_module("./libmap_vsum.so").map_vsum


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    yield 'map_vsum({"a": 2, "b": 3})', map_vsum({"a": 2, "b": 3}), 5
    yield "map_vsum({})", map_vsum({}), 0
    squares = {str(i): i * i for i in range(1000)}
    yield "map_vsum(squares)", map_vsum(squares), sum(squares.values())
    yield "map_vsum(MappingProxyType(squares))", map_vsum(MappingProxyType(squares)), sum(squares.values())
    yield (
        "map_vsum(map=anyffi.convert(squares))",
        map_vsum(map=anyffi.convert(squares)),
        sum(squares.values()),
    )


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
