"""Rows of container contents, errors and text, compared with the same in plain Python."""

from __future__ import annotations

from .rows import Row, Snippet


def beside_python(name: str, group: str, statement: str, python: str, ours: str, per: int = 1) -> Row:
    """Make a row of one statement on a Python object and on the runtime's, which the two setups define."""
    snippets = {"anyffi": Snippet(statement, ours), "python": Snippet(statement, python)}
    return Row(name, group, snippets, per, unrolled=1 if per > 1 else 10)


def of(made: str, wrapped: str = "x = anyffi.convert(y)") -> tuple[str, str]:
    """Return setups that define `x`: as a Python object, and as the runtime's."""
    return f"x = {made}", f"import anyffi\ny = {made}\n{wrapped}"


TUPLE = "x = anyffi.convert(tuple(y))"
THOUSAND = "list(range(1000, 2000))"
WORDS = "[f'key{i}' for i in range(1000)]"
DICT = "{f'key{i}': i for i in range(1000)}"
WALK = "for _ in x: pass"

CONTENTS = [
    beside_python("iterate a List of ints", "contents", WALK, *of(THOUSAND), per=1000),
    beside_python("iterate an Array of ints", "contents", WALK, *of(THOUSAND, TUPLE), per=1000),
    beside_python("iterate a List of strings", "contents", WALK, *of(WORDS), per=1000),
    beside_python("iterate an Array of strings", "contents", WALK, *of(WORDS, TUPLE), per=1000),
    beside_python("d[key]", "contents", 'x["key5"]', *of(DICT)),
    beside_python("len(a)", "contents", "len(x)", *of(THOUSAND)),
    beside_python("a[5]", "contents", "x[5]", *of(THOUSAND)),
    Row(
        "to_python of 1,000 ints",
        "contents",
        {
            "anyffi": Snippet("f(x)", f"import anyffi\nf = anyffi.to_python\nx = anyffi.convert({THOUSAND})"),
            # Creates the ints and the list in one step.
            "python": Snippet("x.tolist()", f"import array\nx = array.array('q', {THOUSAND})"),
        },
        unrolled=1,
    ),
]


def caught(call: str, error: str, setup: str = "", function: str | None = None) -> Snippet:
    return Snippet(f"try: {call}\nexcept {error}: pass", setup, function)


RAISE = "def f(x): raise TypeError('expected int, got str')"
INNER = "def g(): raise ValueError('inner')"

ERRORS = [
    Row(
        "C++ throw",
        "errors",
        {
            name: caught("f()", "RuntimeError", "", "fail")
            for name in ("anyffi", "nanobind", "pybind11", "tvm-ffi")
        },
    ),
    Row(
        "mistyped argument",
        "errors",
        {
            "anyffi": caught("f('1')", "TypeError", "", "add_one"),
            "nanobind": caught("f('1')", "TypeError", "", "add_one"),
            "python": caught("f('1')", "TypeError", RAISE),
        },
    ),
    Row(
        "error returned",
        "errors",
        {
            "anyffi": caught("f(1)", "ValueError", "", "refuse"),
            "raw": caught("f(1)", "ValueError", "", "refuse"),
            "python": caught("f('1')", "TypeError", RAISE),
        },
    ),
    Row(
        "Python exception through C++",
        "errors",
        {
            "anyffi": caught("f(g)", "ValueError", INNER, "forward"),
            "raw": caught("f(g)", "ValueError", INNER, "apply"),
            "python": caught("f(g)", "ValueError", f"{INNER}\ndef f(g): return g()"),
        },
    ),
    Row(
        "Python exception through a C++ throw",
        "errors",
        {
            "anyffi": caught("f(g)", "ValueError", INNER, "call"),
            "python": caught("f(g)", "ValueError", f"{INNER}\ndef f(g): return g()"),
        },
    ),
]

ALPHABETS = {"ASCII": "a", "Latin-1": "\xe0", "CJK": "\u4e00", "astral": "\U00020000"}


def characters(name: str, first: str) -> Row:
    text = f"x = ''.join(chr({ord(first)} + i % 26) for i in range(1024))"
    snippets = {
        "anyffi": Snippet("to_python(f(x))", f"{text}\nfrom anyffi import to_python", "split_erased"),
        "python": Snippet("list(x)", text),
    }
    return Row(f"characters of {name}", "text", snippets, 1024, 1)


TEXT = "import random\nwords = [f'word{i}' for i in range(1000)]\nd = dict.fromkeys(words, 1)\n"
TEXT += "x = ' '.join(random.Random(1).choices(words, k=1000))"

TEXTS = [
    *(characters(name, first) for name, first in ALPHABETS.items()),
    Row(
        "split into words, look them up",
        "text",
        {
            "anyffi": Snippet("f(x, d)", f"{TEXT}\nimport anyffi\nd = anyffi.convert(d)", "count_words"),
            "python": Snippet("n = 0\nfor w in x.split(): n += d.get(w, 0)", TEXT),
        },
        1000,
        1,
    ),
]
