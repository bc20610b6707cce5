"""Shapes of the methods of containers, at two sizes, compared with Python's own."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..rows import Snippet
from .laws import METHOD, Shape
from .methods import TABLES

SIZES = (3, 1000)


class Kind(NamedTuple):
    """A kind of elements: those of a container, an absent one, and as many others.

    `fresh` is the fastest Python iterator that creates new objects for the elements, as reading our
    containers does; `fresh_setup` defines its names. `is_built`: writing to our containers creates an object
    for each.
    """

    elements: str
    absent: str
    apart: str
    fresh: str
    fresh_setup: str
    sizes: tuple[int, ...] = SIZES
    is_built: bool = False


LINES = "lines = '\\n'.join(keys)"
KINDS = {
    "ints": Kind(
        "range(1000, 1000 + n)",
        "-1",
        "range(-2000, -2000 + n)",
        "numbers",
        "numbers = array.array('q', keys)",
    ),
    "str": Kind(
        "(f'key{i}' for i in range(n))",
        "'nothing'",
        "(f'no{i}' for i in range(n))",
        "lines.split('\\n')",
        LINES,
    ),
    "floats": Kind(
        "(i + 0.5 for i in range(n))",
        "-1.5",
        "(-9.5 - i for i in range(n))",
        "numbers",
        "numbers = array.array('d', keys)",
        (1000,),
    ),
    "long str": Kind(
        "(f'a text that is no value, {i}' for i in range(n))",
        "'another text that is no value'",
        "(f'another text, {i}' for i in range(n))",
        "lines.split('\\n')",
        LINES,
        (1000,),
        is_built=True,
    ),
    "pairs": Kind(
        "((i, i + 1) for i in range(n))",
        "(-1, -1)",
        "((-i, 0) for i in range(n))",
        "zip(firsts, seconds)",
        "firsts, seconds = zip(*keys)",
        (1000,),
        is_built=True,
    ),
}

SETUP = """
import array, copy, pickle, types
from collections.abc import Iterable
import anyffi
import numpy as np
cls = {cls}
n = {size}
keys, again = list({elements}), list({elements})
{fresh_setup}
absent, first, last = {absent}, keys[0], keys[-1]
pair = [first, last]
np_1, np_first = np.int64(1), np.array(keys[:1])[0]
apart = make({apart})
pairs = [(key, 7) for key in keys]
x, y, plain = make(keys), make(again), {plain}(of(again))
longer, other = make([*again, absent]), make([*again[:-1], absent])
half = make(again[: n // 2 + 1])
pickled = pickle.dumps(dict(x) if type(x) is types.MappingProxyType else x, 5)
"""

#: Statements that create a Python object for each element, and statements that create one of ours for each
#: element of `plain`.
READING = (
    "list(x)",
    "tuple(x)",
    "[*x]",
    "set(x)",
    "dict.fromkeys(x)",
    "first_, *_ = x",
    "for a, b in x: pass",
)
WRITING = ("cls(plain)", "x.clear(); x.extend(plain)", "x.clear(); x.update(plain)")
CONCATENATING = ("x + plain", "plain + x")
#: How Python creates the result of `to_python` from the keys `x`.
MADE = {
    "dict": "dict.fromkeys(x, 7)",
    "types.MappingProxyType": "types.MappingProxyType(dict.fromkeys(x, 7))",
}

#: Code that defines how to make a container of keys.
MAKERS = {
    "mapping": "of = lambda keys: dict.fromkeys(keys, 7)\nmake = lambda keys: CLS(of(keys))\n",
    "other": "of = list\nmake = lambda keys: CLS(list(keys))\n",
}


def setup_of(cls: str, plain: str, kind: str, size: int) -> str:
    maker = MAKERS["mapping" if plain in ("dict", "types.MappingProxyType") else "other"].replace("CLS", cls)
    of_kind = {name: getattr(KINDS[kind], name) for name in ("elements", "absent", "apart", "fresh_setup")}
    text = SETUP.format(cls=cls, plain=plain, size=size, **of_kind)
    return f"import types, anyffi\n{maker}{text}"


def in_python(name: str, statement: str, kind: Kind) -> str | None:
    """Return the Python statement to compare with, if it must be one that creates as many objects."""
    plain = TABLES[name][0]
    if statement == "x.to_python()":
        return replace_name("x", kind.fresh, MADE.get(plain, f"{plain}(x)"))
    if plain in MADE:
        return None
    if statement in CONCATENATING and kind.is_built:
        return replace_name("plain", f"{plain}({kind.fresh})", statement)
    if statement in READING:
        return replace_name("x", kind.fresh, statement)
    return replace_name("plain", kind.fresh, statement) if statement in WRITING and kind.is_built else None


def replace_name(name: str, expression: str, statement: str) -> str:
    """Replace a name; backslashes in the expression stay, unlike in a template of `re.sub`."""
    return re.sub(rf"\b{name}\b", lambda _: expression, statement)


def shapes_of(name: str, kind: str, size: int) -> list[Shape]:
    plain, table = TABLES[name]
    ours, theirs = (setup_of(cls, plain, kind, size) for cls in (f"anyffi.{name}", plain))
    found = []
    for method, statements in table.items():
        for statement in statements:
            mine, pythons = statement if isinstance(statement, tuple) else (statement, statement)
            pythons = in_python(name, mine, KINDS[kind]) or pythons
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
