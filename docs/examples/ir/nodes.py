"""The nodes of the language: dataclasses, whose fields C++ reads and writes."""

from __future__ import annotations

from typing import Any, ClassVar

import anyffi


@anyffi.dataclass("ir.Expr", eq=False)
class Expr:
    """The base of all expressions, with operators that build larger ones, and text."""

    def __add__(self, other: Any) -> Call:
        return Call("add", (self, as_expr(other)))

    def __mul__(self, other: Any) -> Call:
        return Call("mul", (self, as_expr(other)))

    def __str__(self) -> str:
        return Printer().visit(self)


@anyffi.dataclass("ir.Var", eq=False, structural="variable")
class Var(Expr):
    """A variable, which is identified by its binding and not by its name."""

    name: str = anyffi.field(structural="ignore")


@anyffi.dataclass("ir.Const", eq=False)
class Const(Expr):
    """A number."""

    value: float


@anyffi.dataclass("ir.Call", eq=False)
class Call(Expr):
    """An operation, "add" or "mul"."""

    op: str
    args: tuple[Expr, ...]


@anyffi.dataclass("ir.Let", eq=False)
class Let(Expr):
    """A variable for a value: `var` is bound in the fields that follow, so in `body`, but not in `value`."""

    value: Expr
    var: Var = anyffi.field(structural="defines")
    body: Expr


@anyffi.dataclass("ir.Function", eq=False)
class Function(Expr):
    """A function of variables."""

    params: tuple[Var, ...] = anyffi.field(structural="defines")
    body: Expr


def as_expr(value: Any) -> Expr:
    """Return an expression for a number."""
    return value if isinstance(value, Expr) else Const(value)


class Printer:
    """Writes an expression as text: a visitor with a method for each class of nodes."""

    SIGNS: ClassVar[dict[str, str]] = {"add": " + ", "mul": " * "}

    def visit(self, expr: Expr) -> str:
        """Return the text of an expression."""
        text: str = getattr(self, f"visit_{type(expr).__name__.lower()}")(expr)
        return text

    def visit_var(self, var: Var) -> str:
        """Write `x`."""
        return var.name

    def visit_const(self, const: Const) -> str:
        """Write `2`."""
        return f"{const.value:g}"

    def visit_call(self, call: Call) -> str:
        """Write `(x + 2)`."""
        return f"({self.SIGNS[call.op].join(self.visit(arg) for arg in call.args)})"

    def visit_let(self, let: Let) -> str:
        """Write `let x = 2 in x`."""
        return f"let {let.var.name} = {self.visit(let.value)} in {self.visit(let.body)}"

    def visit_function(self, function: Function) -> str:
        """Write `fn(x) x`."""
        return f"fn({', '.join(var.name for var in function.params)}) {self.visit(function.body)}"
