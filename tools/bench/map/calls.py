"""Ways of calling: numbers of arguments, keywords, defaults, overloads, callbacks, look-ups, objects."""

from __future__ import annotations

from typing import NamedTuple

from ..rows import Snippet
from .laws import CALL, METHOD, Law, Shape
from .methods import raises


class Overload(NamedTuple):
    """A callable in C++ and its parameters' names and defaults."""

    body: str
    parameters: tuple[str, ...] = ()


class Function(NamedTuple):
    """A function that is generated for anyffi and nanobind."""

    name: str
    overloads: tuple[Overload, ...]


MOST = 20
KEYWORD_COUNTS = (1, 2, 3, 5, 8, 12, 20)
SKIPPED = (1, 6, 10)
KEYWORD_ONLY_COUNTS = (1, 5)
CALLBACK_COUNTS = (0, 1, 3, 6)

#: The parameter types of overloads, and an argument for each.
OVERLOADED = {
    "int64_t": "7",
    "double": "1.5",
    "const std::string&": "'mystr'",
    "const std::vector<int64_t>&": "[1, 2, 3]",
    "const std::map<std::string, int64_t>&": "{'one': 1}",
    "const std::set<int64_t>&": "{1, 2}",
    "const std::complex<double>&": "1j",
    "const std::optional<bool>&": "None",
}
OVERLOAD_COUNTS = (3, 8)


def body(types: list[str]) -> str:
    return f"[]({', '.join(types)}) {{}}"


def ints(count: int, first_default: int) -> Overload:
    """Make a function of ints whose parameters from `first_default` on have defaults."""
    names = (f'arg("a{i}")' + (" = 1" if i >= first_default else "") for i in range(count))
    return Overload(body(["int64_t"] * count), tuple(names))


def overloads(count: int) -> tuple[Overload, ...]:
    names = ('arg("x")', 'arg("y")')
    return tuple(Overload(body([each, "int64_t"]), names) for each in list(OVERLOADED)[:count])


def callback(count: int) -> Overload:
    numbers = "".join(f", int64_t{{{i}}}" for i in range(count))
    return Overload(f"[](const Callable& f) {{ return call<int64_t>(f{numbers}); }}")


def named_only(count: int) -> tuple[str, ...]:
    """Return the name of a parameter, and of `count` keyword-only ones with defaults."""
    return ('arg("x")', "kw_only()", *(f'arg("a{i}") = 1' for i in range(count)))


FUNCTIONS = [
    *(Function(f"ints_{count}", (ints(count, MOST),)) for count in range(MOST + 1)),
    *(Function(f"defaults_{count}", (ints(count, 0),)) for count in KEYWORD_COUNTS),
    *(Function(f"skip_{count}", (ints(count + 2, 1),)) for count in SKIPPED),
    *(Function(f"overload_{count}", overloads(count)) for count in OVERLOAD_COUNTS),
    *(Function(f"callback_{count}", (callback(count),)) for count in CALLBACK_COUNTS),
    Function("fail", (Overload('[] { throw std::runtime_error("thrown"); }'),)),
    Function("measure", (Overload("[](const Callable& f, P_Tensor x) { return call<double>(f, x); }"),)),
    Function(
        "mixed",
        (
            Overload(
                body(["int64_t", "const std::string&", "bool", "double"]),
                ('arg("n")', 'arg("s")', 'arg("b") = true', 'arg("f") = 1.5'),
            ),
        ),
    ),
    *(
        Function(f"named_{count}", (Overload(body(["int64_t"] * (count + 1)), named_only(count)),))
        for count in KEYWORD_ONLY_COUNTS
    ),
]


def numbers(count: int) -> list[str]:
    return [str(1000 + i) for i in range(count)]


def keywords(count: int, start: int = 0) -> list[str]:
    return [f"a{i}={1000 + i}" for i in range(start, count)]


def same(name: str, snippet: Snippet, group: str = "calls") -> Shape:
    """Make a shape of the same statement on anyffi's and nanobind's function."""
    return Shape(name, group, {"anyffi": snippet, "nanobind": snippet})


def typed(name: str, function: str, arguments: list[str], setup: str = "") -> Shape:
    """Make a shape of the same call of anyffi's and nanobind's function."""
    return same(name, Snippet(f"f({', '.join(arguments)})", setup, function))


def positional(count: int) -> list[Shape]:
    arguments = numbers(count)
    typed_shape = typed(f"f of {count} ints", f"ints_{count}", arguments)
    call = f"f({', '.join(arguments)})"
    erased = {
        "anyffi": Snippet(call, "", "nop"),
        "nanobind": Snippet(call, "", f"ints_{count}"),
        "tvm-ffi": Snippet(call, "", "nop"),
    }
    return [typed_shape, Shape(f"nop of {count} ints", "calls", erased)]


def by_keyword(count: int) -> list[Shape]:
    function, middle = f"ints_{count}", count // 2
    half = [*numbers(middle), *keywords(count, middle)]
    mapping = f"k = dict({', '.join(keywords(count))})"
    return [
        typed(f"{count} keywords in order", function, keywords(count)),
        typed(f"{count} keywords, reversed", function, keywords(count)[::-1]),
        typed(f"{count} arguments, half by keyword", function, half),
        typed(f"f(*args) of {count}", function, ["*a"], f"a = tuple(range({count}))"),
        typed(f"f(**kwargs) of {count}", function, ["**k"], mapping),
        typed(f"{count} defaults omitted", f"defaults_{count}", []),
        typed(f"{count} defaults, the last one by keyword", f"defaults_{count}", [f"a{count - 1}=7"]),
        typed(f"{count} defaults, all given", f"defaults_{count}", numbers(count)),
    ]


def overloaded(count: int) -> list[Shape]:
    found = []
    for i, (name, argument) in enumerate(list(OVERLOADED.items())[:count]):
        what = f"overload {i + 1} of {count}, {name}"
        found.append(typed(f"{what}, by position", f"overload_{count}", [argument, "7"]))
        found.append(typed(f"{what}, by keyword", f"overload_{count}", [f"x={argument}", "y=7"]))
    return found


def both(name: str, ours: Snippet, theirs: Snippet, law: Law = CALL, group: str = "calls") -> Shape:
    return Shape(name, group, {"anyffi": ours, law.of: theirs}, law=law)


def error(name: str, arguments: str, raised: str, function: str, setup: str = "") -> Shape:
    return same(name, Snippet(raises(f"f({arguments})", raised), setup, function), "errors")


RAISING = "def g(): raise ValueError('x')"
ERRORS = [
    error("mistyped argument", "'x'", "TypeError", "ints_1"),
    error("mistyped element", "[1, 2, 'x']", "TypeError", "take_ints"),
    error("number for text in a list", "['x', 1]", "TypeError", "take_strs"),
    error("mistyped item of a dict", "{'x': 'y'}", "TypeError", "take_map_str"),
    error("too few arguments", "", "TypeError", "ints_1"),
    error("too many arguments", "1, 2", "TypeError", "ints_1"),
    error("unknown keyword", "b=1", "TypeError", "ints_1"),
    error("no overload", "[], 7", "TypeError", "overload_3"),
    error("number out of range", "2**70", "Exception", "ints_1"),
    error("C++ throw", "", "RuntimeError", "fail"),
    error("exception of a callback", "g", "ValueError", "callback_0", RAISING),
]

NAMED = "import anyffi; get = anyffi.get_global_func"
SHAPES = [
    *(shape for count in range(MOST + 1) for shape in positional(count)),
    *(shape for count in KEYWORD_COUNTS for shape in by_keyword(count)),
    *(typed(f"{count} defaults skipped", f"skip_{count}", ["1", f"a{count + 1}=7"]) for count in SKIPPED),
    *(
        typed(f"{given} of {count} keyword-only parameters", f"named_{count}", ["1", *keywords(given)])
        for count in KEYWORD_ONLY_COUNTS
        for given in sorted({0, 1, count})
    ),
    typed("int and str by position", "mixed", ["1", "'mystr'"]),
    typed("int, str, bool, float by keyword", "mixed", ["n=1", "s='mystr'", "b=True", "f=1.5"]),
    typed("int by position, str and bool by keyword", "mixed", ["1", "s='mystr'", "b=True"]),
    typed("int and str, a float by keyword", "mixed", ["1", "'mystr'", "f=2.5"]),
    *(shape for count in OVERLOAD_COUNTS for shape in overloaded(count)),
    *(
        typed(f"callback of {count} ints", f"callback_{count}", ["g"], "def g(*args): return 7")
        for count in CALLBACK_COUNTS
    ),
    same("list(map(f, x)) of 1,000", Snippet("list(map(f, x))", "x = list(range(1000))", "ints_1")),
    same("a, b = f()", Snippet("a, b = f(3)", "", "give_pair")),
    same("a, b, c = f()", Snippet("a, b, c = f(3)", "", "give_tuple")),
    same("partial(f, 1)(2)", Snippet("g(2)", "from functools import partial\ng = partial(f, 1)", "ints_2")),
    same("d[f], a function as key", Snippet("d[f]", "d = {f: 1}", "ints_2")),
    same("f == g", Snippet("f == g", "g = find('ints_1')", "ints_2")),
    typed("f releases the interpreter lock", "released", ["7"]),
    *ERRORS,
    both("mod.f()", Snippet("m.ints_0()", "m = module"), Snippet("m.ints_0()", "m = module")),
    both("mod.f(1)", Snippet("m.ints_1(1)", "m = module"), Snippet("m.ints_1(1)", "m = module")),
    both("mod.f, without a call", Snippet("m.ints_0", "m = module"), Snippet("m.ints_0", "m = module")),
    both(
        "mod['f']", Snippet("m['ints_0']", "m = module"), Snippet("m['ints_0']", "m = {'ints_0': 1}"), METHOD
    ),
    both("get_global_func", Snippet("get('map.nop')", NAMED), Snippet("d['nop']", "d = {'nop': 1}"), METHOD),
]
