"""An element of an array that is passed as an array of objects: the cost does not depend on its length."""

from collections.abc import Iterator
from typing import Any

import anyffi

tuple_getitem = anyffi.load_module("./libtuple_getitem.so").tuple_getitem


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    mixed = (1, "two", 3.0, (4,))
    array = anyffi.convert(mixed)
    for index in (0, 1, 2, -1):
        yield f'tuple_getitem((1, "two", 3.0, (4,)), {index})', tuple_getitem(array, index), mixed[index]
    yield "tuple_getitem(array, 3) is array[3]", tuple_getitem(array, 3) is array[3], True
    for size in (10, 10_000):
        long_array = anyffi.convert(tuple(range(size)))
        yield f"tuple_getitem(range_of_{size}, 7)", tuple_getitem(long_array, 7), 7


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
