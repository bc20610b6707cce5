"""The first look: functions of a module and of the registry, keywords, containers, a callback."""

# ruff: noqa: D103, E501, E701, E702, I001, RUF100
# fmt: off
from collections.abc import Iterator
from typing import Any
import anyffi
mod = anyffi.load_module("./libdemo.so")
mod.add_one(41); mod.add_one(x=41)
anyffi.get_global_func("demo.scale")([1.0, 2.0], by=3.0)           # anyffi.List([3.0, 6.0])
anyffi.get_global_func("demo.vsum")({"a": 2, "b": 3})              # 5: a Python dict serves as Map

@anyffi.register_global_func("demo.callback")
def callback(x: int) -> int: return x * 2
# fmt: on


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    xs = anyffi.convert([1.0, 2.0])
    scaled = anyffi.get_global_func("demo.scale")(xs, by=3.0)
    yield "mod.add_one(41)", mod.add_one(41), 42
    yield "mod.add_one(x=41)", mod.add_one(x=41), 42
    yield "scale([1.0, 2.0])", anyffi.get_global_func("demo.scale")([1.0, 2.0]), [2.0, 4.0]
    yield "scale(xs, by=3.0)", scaled, [3.0, 6.0]
    yield "scale(xs, by=3.0) is xs", scaled is xs, True
    yield "count(1, None, 'x')", anyffi.get_global_func("demo.count")(1, None, "x"), 3
    yield 'vsum({"a": 2, "b": 3})', anyffi.get_global_func("demo.vsum")({"a": 2, "b": 3}), 5
    yield "callback(21)", anyffi.get_global_func("demo.callback")(21), 42
    try:
        anyffi.get_global_func("demo.fail")()
    except ValueError as error:
        yield "fail()", repr(error), "ValueError('no such thing')"


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
