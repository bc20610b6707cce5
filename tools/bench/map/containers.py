"""Shapes of the methods of containers, at two sizes, beside Python's own."""

from __future__ import annotations

from ..rows import Snippet
from .laws import METHOD, Shape
from .methods import TABLES

SIZES = (3, 1000)
ELEMENTS = {"ints": "range(1000, 1000 + n)", "str": "(f'key{i}' for i in range(n))"}
ABSENT = {"ints": "-1", "str": "'nothing'"}
#: As many elements that no other container has.
APART = {"ints": "range(-2000, -2000 + n)", "str": "(f'no{i}' for i in range(n))"}

SETUP = """
import copy, pickle, types
import anyffi
cls = {cls}
n = {size}
keys = list({elements})
absent, first, last = {absent}, keys[0], keys[-1]
pair = [first, last]
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
    text = SETUP.format(
        cls=cls, plain=plain, size=size, elements=ELEMENTS[kind], apart=APART[kind], absent=ABSENT[kind]
    )
    return f"import types, anyffi\n{maker}{text}"


def shapes_of(name: str, kind: str, size: int) -> list[Shape]:
    plain, table = TABLES[name]
    ours, theirs = (setup_of(cls, plain, kind, size) for cls in (f"anyffi.{name}", plain))
    found = []
    for method, statements in table.items():
        for statement in statements:
            mine, pythons = statement if isinstance(statement, tuple) else (statement, statement)
            snippets = {"anyffi": Snippet(mine, ours), "python": Snippet(pythons, theirs)}
            series = f"{name} of {kind}: {mine}"
            label = f"{series}, n={size:,}"
            found.append(Shape(label, f"{name}.{method}", snippets, law=METHOD, series=series, size=size))
    return found


SHAPES = [
    shape
    for name in TABLES
    for kind in ELEMENTS
    if not (name == "Shape" and kind == "str")
    for size in SIZES
    for shape in shapes_of(name, kind, size)
]
