"""An int in a mapping of objects: boxed where C++ reads an object, unboxed where it reads an int."""

from collections.abc import Iterator
from typing import Any

import anyffi

module = anyffi.load_module("./libint_func.so")


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    values: dict[str, Any] = {"answer": 42, "least": -(2**63), "flag": True, "list": [1, 2]}
    yield "int_func(42)", module.int_func(42), ~42
    for key in ("answer", "least", "flag"):
        yield f'int_func_of_item(values, "{key}")', module.int_func_of_item(values, key), ~int(values[key])


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
