"""Shapes of the methods of containers, at two sizes, beside Python's own."""

from __future__ import annotations

from typing import NamedTuple

from ..rows import Snippet
from .laws import METHOD, Shape
from .methods import TABLES

SIZES = (3, 1000)


class Kind(NamedTuple):
    """A kind of elements: those of a container, one that it does not have, and as many others."""

    elements: str
    absent: str
    apart: str
    sizes: tuple[int, ...] = SIZES


KINDS = {
    "ints": Kind("range(1000, 1000 + n)", "-1", "range(-2000, -2000 + n)"),
    "str": Kind("(f'key{i}' for i in range(n))", "'nothing'", "(f'no{i}' for i in range(n))"),
    "floats": Kind("(i + 0.5 for i in range(n))", "-1.5", "(-9.5 - i for i in range(n))", (1000,)),
    "long str": Kind(
        "(f'a text that is no value, {i}' for i in range(n))",
        "'another text that is no value'",
        "(f'another text, {i}' for i in range(n))",
        (1000,),
    ),
    "pairs": Kind("((i, i + 1) for i in range(n))", "(-1, -1)", "((-i, 0) for i in range(n))", (1000,)),
}

SETUP = """
import copy, pickle, types
from collections.abc import Iterable
import anyffi
import numpy as np
cls = {cls}
n = {size}
keys = list({elements})
absent, first, last = {absent}, keys[0], keys[-1]
pair = [first, last]
np_1, np_first = np.int64(1), np.array(keys[:1])[0]
apart = make({apart})
pairs = [(key, 7) for key in keys]
x, y, plain = make(keys), make(keys), {plain}(of(keys))
longer, other, half = make([*keys, absent]), make([*keys[:-1], absent]), make(keys[: n // 2 + 1])
pickled = pickle.dumps(dict(x) if type(x) is types.MappingProxyType else x, 5)
"""

#: Makes a container of keys, from what the class is called with.
MAKERS = {
    "mapping": "of = lambda keys: dict.fromkeys(keys, 7)\nmake = lambda keys: CLS(of(keys))\n",
    "other": "of = list\nmake = lambda keys: CLS(list(keys))\n",
}


def setup_of(cls: str, plain: str, kind: str, size: int) -> str:
    maker = MAKERS["mapping" if plain in ("dict", "types.MappingProxyType") else "other"].replace("CLS", cls)
    of_kind = {name: getattr(KINDS[kind], name) for name in ("elements", "absent", "apart")}
    text = SETUP.format(cls=cls, plain=plain, size=size, **of_kind)
    return f"import types, anyffi\n{maker}{text}"


def shapes_of(name: str, kind: str, size: int) -> list[Shape]:
    plain, table = TABLES[name]
    ours, theirs = (setup_of(cls, plain, kind, size) for cls in (f"anyffi.{name}", plain))
    found = []
    for method, statements in table.items():
        for statement in statements:
            mine, pythons = statement if isinstance(statement, tuple) else (statement, statement)
            snippets = {"anyffi": Snippet(mine, ours), "python": Snippet(pythons, theirs)}
            label = mine.replace("\n", "; ")
            series = f"{name} of {kind}: {label}"
            label = f"{series}, n={size:,}"
            found.append(Shape(label, f"{name}.{method}", snippets, law=METHOD, series=series, size=size))
    return found


SHAPES = [
    shape
    for name in TABLES
    for kind, row in KINDS.items()
    if kind == "ints" or name != "Shape"
    for size in row.sizes
    for shape in shapes_of(name, kind, size)
]
