"""One stub, of values by name."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

from .._backend import active
from .._objects.container import Container
from .._objects.submodules import Submodule, find_member
from .._public import Function, Module, Object, Tensor
from .._rules import keywords
from .annotations import Annotations
from .bound import describe_foreign, describe_member, nested_classes, type_keys
from .hidden import reveal
from .overloads import Overload, arrange
from .overriding import ignore_conflicts
from .python import PythonDeclarations
from .source import Source
from .text import PLAIN, SELF, docstring, parameter_texts, printable

__all__ = ["Stub"]


class Stub:
    """The stub of functions and other values.

    Parameters
    ----------
    title : str
        What the stub is of.
    members : dict of str to object
        The values that it declares. Names that are no identifiers are left out.
    source : Source
        Of the module that they come from; empty for other functions.
    module : module, optional
        The module itself; its docstring and ``__all__`` are used.
    """

    def __init__(
        self, title: str, members: dict[str, Any], source: Source, module: types.ModuleType | None = None
    ) -> None:
        self._title = title
        self._module = module
        self._members = {name: value for name, value in members.items() if keywords.is_name(name)}
        self._left_out = sorted(set(members) - set(self._members))
        classes = {value: name for name, value in self._members.items() if isinstance(value, type)}
        inside = [*_inside_of_submodules(self._members)]
        classes.update((value, name) for name, value in inside if isinstance(value, type))
        for cls, name in [*classes.items()]:
            classes.update(nested_classes(name, cls))
        #: The names of the classes that the stub declares.
        self.names = classes
        self._source = source
        taken = set(self._members).union(*(vars(cls) for cls in classes)) - set(self._source.imported)
        taken |= {name.rpartition(".")[2] for name, _ in inside}
        keys = type_keys(classes)
        keys |= {key: classes[cls] for cls, key in active._type_keys.items() if cls in classes}
        runtime = active._runtime
        #: The names that the stub has for types.
        self.annotations = Annotations(
            taken, self._source.imported, keys, runtime.type_find, runtime.type_convertible_from
        )
        self._python = PythonDeclarations(self._source, self.annotations, taken, self._member)
        self._taken = taken
        #: Classes and submodules at the top that no source declares.
        self._scopes: set[str] = set()

    def classes_by_name(self) -> dict[str, type]:
        """Return the classes that the stub declares."""
        return {name: cls for cls, name in self.names.items()}

    def text(self) -> str:
        """Return the text of the stub.

        Raises
        ------
        SyntaxError, ValueError
            It would be no Python.
        """
        lines = [line for name, value in sorted(self._members.items()) for line in self._declare(name, value)]
        values = {} if self._module is None else vars(self._module)
        lines = [*self._python.needed_lines(values), *lines, *self._listed()]
        note = f"# Written by `python -m anyffi stubgen {printable(self._title)}`.\n"
        doc = "".join(f"{line}\n" for line in docstring(values.get("__doc__"), ""))
        left_out = "".join(f"# No name in Python: {name!a}\n" for name in self._left_out)
        body = "\n".join(lines)
        head = f"{note}{doc}{self.annotations.header()}"
        text = f"{head}\n{body}\n{left_out}"
        compile(text, self._title, "exec", dont_inherit=True)
        first_names = {name.partition(".")[0] for name in self.names.values()}
        aliases, revealed = reveal(body, self._scopes, first_names, self._taken)
        return f"{head}\n{aliases}\n{revealed}\n{left_out}" if aliases else text

    def _listed(self) -> Iterator[str]:
        """Return the line of `__all__`."""
        listed = getattr(self._module, "__all__", None)
        if isinstance(listed, (list, tuple)):
            yield f"__all__ = {[name for name in listed if type(name) is str and name in self._members]!r}"

    def _declare(self, name: str, value: Any) -> Iterator[str]:
        if isinstance(value, Function):
            yield from self._function(name, value, "")
        elif isinstance(value, Submodule):
            self._scopes.add(name)
            yield from self._submodule(name, value)
        elif name in self._source.imported:
            self.annotations.add_import(name, self._source.imported[name], is_public=True)
        else:
            lines = self._python.declare(name, value)
            if lines is not None:
                yield from lines
            elif isinstance(value, type):
                self._scopes.add(name)
                yield from self.declare_class(name, value)
            else:
                yield f"{name}: {self._variable(value)}"

    def _submodule(self, name: str, submodule: Submodule) -> Iterator[str]:
        """Declare a submodule as a class that is a namespace: a stub is one file."""
        lines = [*docstring(submodule.__doc__, "    "), *self._members_of(submodule)]
        yield f"class {name}:" + ("" if lines else " ...")
        yield from lines

    def _members_of(self, submodule: Submodule) -> Iterator[str]:
        for member in filter(keywords.is_name, submodule.__all__):
            value = find_member(submodule._owner, f"{submodule.__name__}.{member}")
            if isinstance(value, Function) and not keywords.is_constant(value._anyffi_info()):
                overloads = [Overload(each, *self.types_of(each)) for each in value.overloads or (value,)]
                yield from self.define_overloads(member, overloads, "    ", is_static=True)
                continue
            declared = (
                self.declare_class(member, value) if isinstance(value, type) else self._declare(member, value)
            )
            yield from (f"    {line}" if line else line for line in declared)

    def _variable(self, value: Any) -> str:
        cls = type(value)
        if cls in PLAIN:
            return self.annotations.shorten(f"builtins.{cls.__name__}")
        if cls in (Module, Tensor):
            return self.annotations.shorten(f"anyffi.{cls.__name__}")
        return self.names.get(cls) or self._any

    @property
    def _any(self) -> str:
        return self.annotations.shorten("typing.Any")

    # ---- functions ----

    def _function(self, name: str, function: Any, indent: str) -> Iterator[str]:
        info = function._anyffi_info()
        if keywords.is_overloaded(info):
            of_each = [Overload(each, *self.types_of(each)) for each in function.overloads]
            yield from self.define_overloads(name, of_each, indent)
            return
        if keywords.is_constant(info):
            yield f"{name}: {self.types_of(function)[1]}"
            yield from docstring(info[1], "")
            return
        yield from self.define(name, *self.types_of(function), info and info[1], indent)

    def define_overloads(
        self,
        name: str,
        overloads: list[Overload],
        indent: str,
        first: tuple[inspect.Parameter, ...] = (),
        is_static: bool = False,
    ) -> Iterator[str]:
        """Declare a function that has overloads, or one; `first` precedes the parameters of each."""
        shown = arrange(overloads, self.classes_by_name()) if len(overloads) > 1 else overloads
        for overload in shown:
            if len(shown) > 1:
                yield f"{indent}@{self.annotations.shorten('typing.overload')}"
            if is_static:
                yield f"{indent}@{self.annotations.shorten('builtins.staticmethod')}"
            parameters = [*first, *overload.parameters]
            yield from self.define(name, parameters, overload.result, overload.function.__doc__, indent)

    def types_of(self, function: Any, first: int = 0) -> tuple[list[inspect.Parameter], str]:
        """Return a function's parameters, from the given one on, and its result for the stub."""
        signature = function.__signature__
        parameters = []
        for parameter in [*signature.parameters.values()][first:]:
            is_typed = parameter.kind is not parameter.VAR_POSITIONAL
            is_typed = is_typed and parameter.annotation is not parameter.empty
            annotation = self.annotations.taken(parameter.annotation if is_typed else None)
            parameters.append(parameter.replace(annotation=annotation))
        given = None if signature.return_annotation is signature.empty else signature.return_annotation
        return parameters, self.annotations.given(given)

    def define(
        self, name: str, parameters: list[inspect.Parameter], result: str, doc: object, indent: str
    ) -> Iterator[str]:
        """Declare a function."""
        shown = ", ".join(parameter_texts(parameters))
        head = f"{indent}def {name}({shown}) -> {result}:"
        lines = [*docstring(doc, indent + "    ")]
        yield head if lines else f"{head} ..."
        yield from lines

    # ---- classes ----

    def declare_class(self, name: str, cls: type) -> Iterator[str]:
        """Declare a class that has no source."""
        foreign = describe_foreign(self, name, cls)
        if foreign is not None:
            yield from foreign
            return
        bases = ", ".join(filter(None, map(self._base, cls.__bases__)))
        yield f"class {name}({bases}):" if bases else f"class {name}:"
        lines = [*docstring(vars(cls).get("__doc__"), "    ")]
        for member, value in vars(cls).items():
            lines += ignore_conflicts(self, cls, member, [*self._member(member, value, "    ")])
        if not issubclass(cls, Object):
            text = self.annotations.shorten("builtins.str")
            lines += [f"    def __getattr__(self, name: {text}) -> {self._any}: ..."]
        yield from lines or ["    ..."]

    def _base(self, base: type) -> str | None:
        if base in self.names:
            return self.names[base]
        if getattr(active, base.__name__, None) is base:
            # Containers have types of elements.
            qualified = self.annotations.shorten(f"anyffi.{base.__name__}")
            return self.annotations.given(base.__name__) if issubclass(base, Container) else qualified
        if "_anyffi_type_key" in vars(base):  # of another library
            return self.annotations.shorten("anyffi.Object")
        return None

    def _member(self, name: str, value: Any, indent: str) -> Iterator[str]:
        """Declare an attribute of a class that its source does not declare."""
        if not keywords.is_name(name):
            return
        bound = describe_member(self, name, value, indent)
        if bound is not None:
            yield from bound
            return
        if name.startswith("_"):
            return
        if isinstance(value, Function):
            # A Function in a class does not bind `self`.
            yield f"{indent}@{self.annotations.shorten('builtins.staticmethod')}"
            yield from self._function(name, value, indent)
        elif isinstance(value, property):
            yield f"{indent}@{self.annotations.shorten('builtins.property')}"
            yield from self.define(name, [SELF], self._any, value.__doc__, indent)
            if value.fset is not None:
                yield f"{indent}@{name}.setter"
                yield f"{indent}def {name}(self, value: {self._any}) -> None: ..."
        else:
            yield f"{indent}{name}: {self._variable(value)}"


def _inside_of_submodules(members: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return what submodules have, at any depth, and how the stub calls it."""
    for name, value in members.items():
        if isinstance(value, Submodule):
            path, owner = value.__name__, value._owner
            inside = {member: find_member(owner, f"{path}.{member}") for member in value.__all__}
            yield from ((f"{prefix}{name}.{member}", each) for member, each in inside.items())
            yield from _inside_of_submodules(inside, f"{prefix}{name}.")
