"""An object of a C++ class, created from an object, an int, a mapping and a bool, and owned by Python."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import anyffi

module = anyffi.load_module("./libcached_op.so")
cached_op = module.cached_op


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    flags = {"static_alloc": "true", "inline_limit": "2"}
    handle = anyffi.convert([1, 2])
    before = module.destroyed()
    op = cached_op(handle, 3, flags, is_np=True)
    yield "isinstance(op, anyffi.Object)", isinstance(op, anyffi.Object), True
    yield "module.fields(op)", module.fields(op), ([1, 2], 3, MappingProxyType(flags), True)
    yield "module.fields(op)[0] is handle", module.fields(op)[0] is handle, True
    again = op
    del op
    yield "module.destroyed(), one of two names gone", module.destroyed() - before, 0
    del again
    yield "module.destroyed(), both gone", module.destroyed() - before, 1


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
