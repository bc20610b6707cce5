"""Declarations of Python functions and classes in a stub, from their source."""

from __future__ import annotations

import ast
import copy
import enum
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Union

from .._objects.container import Container
from .annotations import Annotations
from .expressions import is_type, literal, repeated, unquote
from .source import Assignment, Definition, Imported, Source, is_overload, statements
from .text import docstring, parameter_texts

__all__ = ["PythonDeclarations"]

_Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
#: Results of methods that Python defines, where the source does not say.
_RESULTS = {
    **dict.fromkeys(
        ("init", "del", "setattr", "delattr", "setitem", "delitem", "init_subclass", "set_name"), "None"
    ),
    **dict.fromkeys(("len", "hash", "index", "int", "length_hint", "sizeof"), "int"),
    **dict.fromkeys(("bool", "contains", "instancecheck", "subclasscheck"), "bool"),
    **dict.fromkeys(("str", "repr", "format", "fspath"), "str"),
    **{name: name for name in ("bytes", "float", "complex")},
}


class PythonDeclarations:
    """Writes the declarations of a module's source.

    Parameters
    ----------
    source : Source
        Of the module.
    annotations : Annotations
        Of the stub, which collects what must be imported.
    taken : set of str
        Names that the stub defines, which may hide builtins.
    member : callable
        Iterates over the lines for an attribute of a class that its source does not declare.
    """

    def __init__(
        self,
        source: Source,
        annotations: Annotations,
        taken: set[str],
        member: Callable[[str, Any, str], Iterator[str]],
    ) -> None:
        self._source = source
        self._annotations = annotations
        self._taken = taken
        self._member = member
        #: Private declarations that others refer to, and that are not written yet.
        self.needed: list[str] = []
        self._written: set[str] = set()

    def declare(self, name: str, value: Any) -> Iterator[str] | None:
        """Return the lines of a declaration; None if the source has none for this value."""
        self._written.add(name)
        nodes = self._source.defined.get(name, [])
        last = nodes[-1] if nodes else None
        if isinstance(last, ast.AnnAssign):
            return iter([f"{name}: {self._annotation(last.annotation)}"])
        if isinstance(last, ast.Assign):
            return self._verbatim(last) if _is_alias(value) else None
        if last is None or isinstance(last, ast.ClassDef) != isinstance(value, type) or not callable(value):
            return None
        return self._definitions(nodes, value, "")

    def _definitions(self, nodes: Sequence[ast.stmt], value: Any, indent: str) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                yield from self._class(node, value, indent)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from self._function(node, value, indent)

    def needed_lines(self, values: dict[str, Any]) -> Iterator[str]:
        """Return the declarations of private names that what was declared refers to."""
        while self.needed:
            name = self.needed.pop()
            if name in self._written:
                continue
            self._written.add(name)
            nodes = self._source.defined[name]
            if isinstance(nodes[-1], Assignment):
                yield from self._verbatim(nodes[-1])
            else:
                yield from self._definitions(nodes, values.get(name), "")

    def _verbatim(self, node: ast.stmt) -> Iterator[str]:
        shown = copy.deepcopy(node)
        self._resolve(shown)
        yield ast.unparse(shown)

    # ---- functions ----

    def _function(self, node: _Function, value: Any, indent: str) -> Iterator[str]:
        marks = [*self._marks(node)]
        parameters = [*self._parameters(node.args)]
        if indent and "staticmethod" not in marks and parameters and node.args.args + node.args.posonlyargs:
            first = [*node.args.posonlyargs, *node.args.args][0]
            if first.annotation is None:
                parameters[0] = parameters[0].replace(annotation=inspect.Parameter.empty)
        result = self._annotation(node.returns)
        if node.returns is None and indent and node.name[:2] == node.name[-2:] == "__":
            known = _RESULTS.get(node.name[2:-2], result)
            result = known if known in ("None", result) else self._builtin(known)
        word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        head = f"{indent}{word} {node.name}({', '.join(parameter_texts(parameters))}) -> {result}:"
        yield from (f"{indent}@{mark}" for mark in marks)
        is_documented = not any(mark.endswith((".setter", ".deleter")) for mark in marks)
        lines = [*docstring(_doc(node, value), indent + "    ")] if is_documented else []
        yield head if lines else f"{head} ..."
        yield from lines

    def _parameters(self, given: ast.arguments) -> Iterator[inspect.Parameter]:
        positional = [*given.posonlyargs, *given.args]
        missing: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
        defaults = iter([*missing, *given.defaults])
        for argument in given.posonlyargs:
            yield self._parameter(argument, inspect.Parameter.POSITIONAL_ONLY, next(defaults))
        for argument in given.args:
            yield self._parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD, next(defaults))
        if given.vararg:
            yield self._parameter(given.vararg, inspect.Parameter.VAR_POSITIONAL)
        for argument, default in zip(given.kwonlyargs, given.kw_defaults):
            yield self._parameter(argument, inspect.Parameter.KEYWORD_ONLY, default)
        if given.kwarg:
            yield self._parameter(given.kwarg, inspect.Parameter.VAR_KEYWORD)

    def _parameter(self, given: ast.arg, kind: Any, default: ast.expr | None = None) -> inspect.Parameter:
        value = inspect.Parameter.empty if default is None else literal(default)
        return inspect.Parameter(
            given.arg, kind, annotation=self._annotation(given.annotation), default=value
        )

    def _marks(self, node: _Function | ast.ClassDef) -> Iterator[str]:
        """Iterate over the decorators that matter to type checkers: registrations do not."""
        for each in node.decorator_list:
            mark = copy.deepcopy(each)
            root: ast.AST = mark
            while isinstance(root, (ast.Attribute, ast.Call)):
                root = root.func if isinstance(root, ast.Call) else root.value
            found = self._source.imported.get(getattr(root, "id", ""))
            is_ours = found is not None and found.module.partition(".")[0] == "anyffi"
            is_registration = is_ours and not _is_dataclass(mark, found)
            is_of_property = isinstance(mark, ast.Attribute) and mark.attr in ("setter", "deleter", "getter")
            if is_of_property or (not is_registration and self._resolve(mark)):
                yield ast.unparse(mark)

    # ---- classes ----

    def _class(self, node: ast.ClassDef, cls: Any, indent: str) -> Iterator[str]:
        yield from (f"{indent}@{mark}" for mark in self._marks(node))
        shown = [*filter(None, (self._base(base, index, cls) for index, base in enumerate(node.bases)))]
        shown += [ast.unparse(keyword) for keyword in node.keywords if self._resolve(keyword.value)]
        yield f"{indent}class {node.name}({', '.join(shown)}):" if shown else f"{indent}class {node.name}:"
        lines = [
            *docstring(ast.get_docstring(node), indent + "    "),
            *self._body(node, cls, indent + "    "),
        ]
        yield from lines or [f"{indent}    ..."]

    def _base(self, base: ast.expr, index: int, cls: Any) -> str | None:
        bases = cls.__bases__ if isinstance(cls, type) else ()
        found = bases[index] if index < len(bases) else object
        is_container = issubclass(found, Container) and found.__module__ == "anyffi"
        if is_container and isinstance(base, (ast.Name, ast.Attribute)):
            # Containers have types of elements.
            return self._annotations.given(found.__name__)
        shown = copy.deepcopy(base)
        return ast.unparse(shown) if self._resolve(shown) else None

    def _body(self, node: ast.ClassDef, cls: Any, indent: str) -> Iterator[str]:
        values = dict(vars(cls)) if isinstance(cls, type) else {}
        is_enum = isinstance(cls, type) and issubclass(cls, enum.Enum)
        is_dataclass = "__dataclass_fields__" in values
        declared: set[str] = set()
        overloaded = {getattr(each, "name", "") for each in statements(node.body) if is_overload(each)}
        for each in statements(node.body):
            if isinstance(each, Definition):
                declared.add(each.name)
                if _is_shown(each.name) and (each.name not in overloaded or is_overload(each)):
                    yield from self._definitions([each], values.get(each.name), indent)
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                declared.add(each.target.id)
                # A private field is a parameter, too.
                if is_dataclass or _is_shown(each.target.id):
                    shown = self._annotation(each.annotation) + self._default(each)
                    yield f"{indent}{each.target.id}: {shown}"
            elif isinstance(each, ast.Assign) and is_enum and isinstance(each.targets[0], ast.Name):
                declared.add(each.targets[0].id)
                yield f"{indent}{each.targets[0].id} = {repeated(each.value)}"
        for name, value in values.items():
            if name not in declared:
                yield from self._member(name, value, indent)
        for name, annotation in self._set_by_init(node):
            if name not in declared and name not in values:
                yield f"{indent}{name}: {annotation}"

    def _default(self, node: ast.AnnAssign) -> str:
        """Return the default of an attribute; of `field(...)` what its parameter depends on."""
        if node.value is None:
            return ""
        if not isinstance(node.value, ast.Call) or not self._is_field(node.value.func):
            return " = ..."
        given = {keyword.arg: keyword.value for keyword in node.value.keywords}
        shown = [f"{name}={ast.unparse(given[name])}" for name in ("init", "kw_only") if name in given]
        has_default = "default" in given or "default_factory" in given
        if not shown:
            return " = ..." if has_default else ""
        if has_default:
            # The checker compares the default's type with the annotation.
            cast, anything = (self._annotations.shorten(f"typing.{name}") for name in ("cast", "Any"))
            shown.append(f"default={cast}({anything}, ...)")
        func = copy.deepcopy(node.value.func)
        return f" = {ast.unparse(func)}({', '.join(shown)})" if self._resolve(func) else " = ..."

    def _is_field(self, node: ast.expr) -> bool:
        """Return whether an expression is `field` of `dataclasses` or `anyffi`."""
        found = self._source.imported.get(getattr(getattr(node, "value", node), "id", ""))
        if found is None or found.module not in ("dataclasses", "anyffi"):
            return False
        return (node.attr if isinstance(node, ast.Attribute) else found.name) == "field"

    def _set_by_init(self, node: ast.ClassDef) -> Iterator[tuple[str, str]]:
        """Iterate over the public attributes that `__init__` sets."""
        seen = set()
        for init in node.body:
            if not isinstance(init, ast.FunctionDef) or init.name != "__init__" or not init.args.args:
                continue
            of_parameters = {
                argument.arg: argument.annotation for argument in [*init.args.args, *init.args.kwonlyargs]
            }
            for each in ast.walk(init):
                if not isinstance(each, Assignment):
                    continue
                target = each.targets[0] if isinstance(each, ast.Assign) else each.target
                if (
                    not isinstance(target, ast.Attribute)
                    or ast.unparse(target.value) != init.args.args[0].arg
                ):
                    continue
                annotation: ast.expr | None = None
                if isinstance(each, ast.AnnAssign):
                    annotation = each.annotation
                elif isinstance(each.value, ast.Name):
                    annotation = of_parameters.get(each.value.id)
                if _is_shown(target.attr) and target.attr not in seen:
                    seen.add(target.attr)
                    yield target.attr, self._annotation(annotation)

    # ---- annotations ----

    def _annotation(self, node: ast.expr | None) -> str:
        return ast.unparse(self._expression(node))

    def _expression(self, node: ast.expr | None) -> ast.expr:
        """Return an annotation for the stub: `Any` for what is no type there."""
        try:
            found = None if node is None else unquote(node)
        except (SyntaxError, ValueError):
            found = None
        if found is None or not is_type(found) or not self._resolve(found):
            return ast.Name(self._annotations.shorten("typing.Any"))
        return found

    def _resolve(self, node: ast.AST) -> bool:
        """Import or declare what an expression names; return whether all is known."""
        if not self._source.is_known(node):
            return False
        for each in ast.walk(node):
            if not isinstance(each, ast.Name):
                continue
            if each.id in self._source.defined:
                self.needed.append(each.id)
            elif each.id in self._source.imported:
                self._annotations.add_import(each.id, self._source.imported[each.id])
            else:
                each.id = self._builtin(each.id)
        return True

    def _builtin(self, name: str | None) -> str:
        return self._annotations.shorten(f"builtins.{name}") if name in self._taken else str(name)


def _is_alias(value: object) -> bool:
    """Return whether a value is a type, a generic one, or a variable of types; not one of C++."""
    if isinstance(value, type):
        return "_anyffi_type_key" not in vars(value)
    return type(value).__module__ in ("typing", "typing_extensions", "types")


def _is_dataclass(mark: ast.expr, found: Imported | None) -> bool:
    """Return whether a decorator of ours is `dataclass`, which tells type checkers of a constructor."""
    called = mark.func if isinstance(mark, ast.Call) else mark
    name = called.attr if isinstance(called, ast.Attribute) else found and found.name
    return name == "dataclass"


def _is_shown(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _doc(node: _Function, value: Any) -> object:
    found = getattr(value, "__func__", value)
    doc = getattr(found, "__doc__", None) if callable(found) or isinstance(found, property) else None
    return doc if isinstance(doc, str) else ast.get_docstring(node)
