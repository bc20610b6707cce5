"""A small compiler's expressions: defined in Python, changed in C++, equal up to the names of variables."""

import functools
from collections.abc import Iterator
from typing import Any

import anyffi
from anyffi import structure
from nodes import Call, Const, Function, Let, Var

passes = anyffi.load_module("./libir.so")


@functools.singledispatch
def inline(expr: Any, values: dict[Any, Any]) -> Any:
    """Replace the variables of all `let` by their values: a pass whose environment has the known values."""
    return structure.map_children(expr, lambda part: inline(part, values))


@inline.register(Var)
def inline_var(var: Var, values: dict[Any, Any]) -> Any:
    """Replace a variable that has a value."""
    return values.get(var, var)


@inline.register(Let)
def inline_let(let: Let, values: dict[Any, Any]) -> Any:
    """Add the variable to the environment of the body."""
    return inline(let.body, {**values, let.var: inline(let.value, values)})


def count(expr: Any, cls: type) -> int:
    """Return the number of different nodes of a class: a visitor."""
    found = 0

    def see(part: Any) -> None:
        nonlocal found
        found += isinstance(part, cls)

    structure.visit(expr, see)
    return found


def outcome(function: Any, *args: Any) -> str:
    """Return the class and message of the exception that a call raises."""
    try:
        function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def make(names: str) -> Function:
    """Make a function of two variables with the given names, and a third one inside."""
    x, y, t = map(Var, names)
    return Function((x, y), Let(x * 2 + (Const(1) + 2), t, t * y + t))


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    f, g = make("xyt"), make("abc")
    yield "f = make('xyt')", str(f), "fn(x, y) let t = ((x * 2) + (1 + 2)) in ((t * y) + t)"
    yield "passes.evaluate(f, [10, 2])", passes.evaluate(f, [10, 2]), 69.0

    # Variables that are bound at the same place are equal, whatever their names.
    yield "structural_equal(f, make('abc'))", anyffi.structural_equal(f, g), True
    same = anyffi.structural_hash(f) == anyffi.structural_hash(g)
    yield "structural_hash(f) == structural_hash(g)", same, True
    x, y = Var("x"), Var("y")
    first, second = Function((x, y), x + y), Function((y, x), x + y)
    yield "fn(x, y) (x + y) and fn(y, x) (x + y)", anyffi.structural_equal(first, second), False
    yield "first_mismatch(...)", str(anyffi.first_mismatch(first, second)), ".body.args[0]"

    folded = passes.fold(f)
    yield "passes.fold(f)", str(folded), "fn(x, y) let t = ((x * 2) + 3) in ((t * y) + t)"
    yield "f is unchanged", str(f) == str(make("xyt")), True
    yield "folded.body is f.body", folded.body is f.body, False
    (edit,) = structure.diff(f, folded)
    yield "structure.diff(f, folded)[0].path", str(edit.path), ".body.value.args[1]"
    yield "passes.fold(folded) is folded", passes.fold(folded) is folded, True
    yield "fold(x * 1 + 0)", str(passes.fold(x * 1 + 0)), "x"

    inlined = inline(folded, {})
    yield "inline(folded, {})", str(inlined), "fn(x, y) ((((x * 2) + 3) * y) + ((x * 2) + 3))"
    # A shared node stays one node, so that C++ can find common parts.
    yield "count(inlined, Const)", count(inlined, Const), 2
    yield "passes.evaluate(inlined, [10, 2])", passes.evaluate(inlined, [10, 2]), 69.0

    text = anyffi.to_json(f)
    yield "from_json(to_json(f))", str(anyffi.from_json(text)), str(f)
    yield "structural_equal(from_json(text), f)", anyffi.structural_equal(anyffi.from_json(text), f), True
    hostile = text.replace('"value": 2.0', '"value": "2"', 1)
    failed = "ValueError: TypeError: ir.Const.value: expected float, got str, in the node at position 1009"
    yield "from_json(hostile)", outcome(anyffi.from_json, hostile).partition(" (")[0], failed

    failed = "TypeError: ir.Function.body: expected ir.Expr, got str"
    yield "Function((x,), 'x')", outcome(Function, (x,), "x"), failed
    failed = "NameError: nothing binds the variable y"
    yield "passes.evaluate(Function((x,), y), [1])", outcome(passes.evaluate, Function((x,), y), [1]), failed
    failed = "ValueError: no operation is called sub"
    yield "passes.fold(Call('sub', ()))", outcome(passes.fold, Call("sub", ())), failed


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
