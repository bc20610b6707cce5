"""Keys that could make a hash table slow, each set compared with harmless keys of the same kind."""

from __future__ import annotations

from ..rows import Snippet
from .laws import KEYS, METHOD, Shape

COUNT = 10_000

#: Expressions for a list of n distinct keys, and for harmless ones of the same kind and length.
CRAFTED = {
    "multiples of 12586269025": ("[i * 12586269025 for i in range(n)]", "ints"),
    "i << 40": ("[i << 40 for i in range(n)]", "ints"),
    "i << 32": ("[i << 32 for i in range(n)]", "ints"),
    "timestamps in nanoseconds": ("[1_700_000_000_000_000_000 + i * 1_000_000 for i in range(n)]", "ints"),
    "multiples of 2**61 - 1": ("[i * (2**61 - 1) for i in range(n)]", "big ints"),
    "floats i * 2.0**40": ("[i * 2.0**40 for i in range(n)]", "floats"),
    "floats i / 1024": ("[i / 1024 for i in range(n)]", "floats"),
    "24 characters, 8 in common": ("[f'{i:08}' + 'a' * 8 + f'{i:08}' for i in range(n)]", "str of 24"),
    "24 characters, 16 in common": ("['b' * 16 + f'{i:08}' for i in range(n)]", "str of 24"),
    "24 characters, the last 16 in common": ("[f'{i:08}' + 'b' * 16 for i in range(n)]", "str of 24"),
    "24 characters with zeros": ("[chr(0) * 16 + f'{i:08}' for i in range(n)]", "str of 24"),
    "11 characters": ("[f'key{i:08}' for i in range(n)]", "str of 11"),
    "pairs (i, 0)": ("[(i, 0) for i in range(n)]", "pairs"),
    "pairs (i, -i)": ("[(i, -i) for i in range(n)]", "pairs"),
}

RANDOM = "import random; bits = random.Random(1).getrandbits; n = 10_000\n"
HARMLESS = {
    "ints": "[bits(62) for _ in range(n)]",
    "big ints": "[bits(75) for _ in range(n)]",
    "floats": "[bits(50) / 7 for _ in range(n)]",
    "str of 24": "[f'{bits(96):024x}' for _ in range(n)]",
    "str of 11": "[f'{bits(44):011x}' for _ in range(n)]",
    "pairs": "[(bits(60), bits(60)) for _ in range(n)]",
}
WAYS = {"nop(dict)": ("dict.fromkeys(keys, 1)", "f(x)"), "nop(set)": ("set(keys)", "f(x)")}


def crafted(name: str) -> list[Shape]:
    keys, kind = CRAFTED[name]
    setups = {"anyffi": keys, "harmless": HARMLESS[kind]}
    found = []
    for way, (made, statement) in WAYS.items():
        snippets = {
            who: Snippet(statement, f"{RANDOM}keys = {expression}\nx = {made}", "nop")
            for who, expression in setups.items()
        }
        found.append(Shape(f"{way} of {name}", "keys", snippets, law=KEYS))
    look_up = {
        "anyffi": Snippet(
            "for key in keys: x[key]",
            f"{RANDOM}keys = {keys}\nimport anyffi; x = anyffi.Dict(dict.fromkeys(keys, 1))",
        ),
        "python": Snippet("for key in keys: x[key]", f"{RANDOM}keys = {keys}\nx = dict.fromkeys(keys, 1)"),
    }
    return [*found, Shape(f"look up {name}", "keys", look_up, law=METHOD)]


SHAPES = [shape for name in CRAFTED for shape in crafted(name)]
