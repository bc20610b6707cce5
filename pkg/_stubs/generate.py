"""Stubs for type checkers and editors, of functions that are found at run time."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from .._backend import active
from .._objects.container import Container
from .._public import Function, Module, Object, Tensor
from .._rules import keywords
from .annotations import Annotations
from .bound import describe_member, type_keys
from .overloads import Overload, arrange
from .text import PLAIN, SELF, docstring, parameter_texts, printable

__all__ = ["StubError", "generate"]

_LIBRARY_SUFFIXES = (".so", ".dylib", ".dll")


class StubError(Exception):
    """No stub can be written; the message has the reason and a remedy."""


def generate(source: str, load: Sequence[str] = ()) -> str:
    """Return the text of a stub.

    Parameters
    ----------
    source : str
        The path of a shared library, the name of a module that can be imported, or a prefix of names in the
        global registry.
    load : sequence of str
        Modules to import, and shared libraries to load, first.

    Raises
    ------
    StubError
        The source does not exist, or cannot be loaded.
    """
    for name in load:
        _load(name)
    if _is_path(source):
        library = _load(source)
        return _Stub(source, {name: _member_of(library, name) for name in _functions_of(library)}).text()
    if _can_be_imported(source):
        return _of_module(source)
    prefix = source + "."
    names = [name for name in active.list_global_func_names() if name.startswith(prefix)]
    functions = {name[len(prefix) :]: active.get_global_func(name) for name in names}
    if not functions:
        raise StubError(
            f"{source!r} is neither a module to import nor a prefix of registered functions: --load loads "
            f"what registers them. The path of a library ends in {', '.join(_LIBRARY_SUFFIXES)}"
        )
    return _Stub(source, {tail: function for tail, function in functions.items() if "." not in tail}).text()


def _of_module(name: str) -> str:
    module = _load(name)
    try:
        return _Stub(name, _members(module, name), vars(module).get("__doc__")).text()
    except StubError:
        raise
    except Exception as error:
        # Reading an attribute may run any code.
        raise StubError(f"{name} cannot be described: {type(error).__name__}: {error}") from error


def _is_path(name: str) -> bool:
    return os.sep in name or name.endswith(_LIBRARY_SUFFIXES)


def _can_be_imported(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _load(name: str) -> Any:
    try:
        return active.load_module(name) if _is_path(name) else importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise StubError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error


def _functions_of(library: Any) -> Iterator[str]:
    for name in dir(library):
        if not name.startswith("__") and not hasattr(type(library), name):
            yield name


def _member_of(library: Any, name: str) -> Any:
    """Return the function or the class of a name."""
    try:
        return library.get_function(name)
    except AttributeError:
        return getattr(library, name)


def _members(module: types.ModuleType, module_name: str) -> dict[str, Any]:
    """Return the runtime's functions in a module, and its other public names."""
    listed = vars(module).get("__all__")
    if not isinstance(listed, (list, tuple)):
        listed = None

    def is_offered(name: Any, value: Any) -> bool:
        if type(name) is not str or (name.startswith("__") and name.endswith("__")):
            return False
        if isinstance(value, types.ModuleType):
            return False
        if listed is not None and name in listed:
            return True
        if isinstance(value, Function):
            return True
        is_defined = isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType))
        at_home = not is_defined or value.__module__ == module_name
        return listed is None and at_home and not name.startswith("_")

    return {name: value for name, value in vars(module).items() if is_offered(name, value)}


class _Stub:
    """One stub, of values by name."""

    def __init__(self, source: str, members: dict[str, Any], doc: object = None) -> None:
        self._source = source
        self._doc = doc
        self._members = {name: value for name, value in members.items() if keywords.is_name(name)}
        self._left_out = sorted(set(members) - set(self._members))
        classes = {value: name for name, value in self._members.items() if isinstance(value, type)}
        self._classes = classes
        taken = set(self._members).union(*(vars(cls) for cls in classes))
        keys = type_keys(classes)
        keys |= {key: classes[cls] for cls, key in active._type_keys.items() if cls in classes}
        runtime = active._runtime
        self._annotations = Annotations(taken, keys, runtime.type_find, runtime.type_convertible_from)
        self._any = self._annotations.shorten("typing.Any")

    # ---- for bound.py ----

    @property
    def annotations(self) -> Annotations:
        return self._annotations

    def shorten(self, text: str) -> str:
        return self._annotations.shorten(text)

    def classes_by_name(self) -> dict[str, type]:
        return {name: cls for cls, name in self._classes.items()}

    def text(self) -> str:
        body = "\n".join(
            line for name, value in sorted(self._members.items()) for line in self._declare(name, value)
        )
        note = f"# Written by `python -m anyffi stubgen {printable(self._source)}`.\n"
        doc = "".join(f"{line}\n" for line in docstring(self._doc, ""))
        left_out = "".join(f"# No name in Python: {name!a}\n" for name in self._left_out)
        text = f"{note}{doc}{self._annotations.header()}\n{body}\n{left_out}"
        try:
            compile(text, self._source, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise StubError(
                f"{self._source} cannot be described: the stub would be no Python: {error}"
            ) from error
        return text

    def _declare(self, name: str, value: Any, indent: str = "") -> Iterator[str]:
        if isinstance(value, Function):
            yield from self._function(name, value, indent)
        elif isinstance(value, type):
            yield from self._class(name, value)
        elif isinstance(value, types.FunctionType):
            yield from self._python_function(name, value, indent)
        else:
            yield f"{indent}{name}: {self._variable(value)}"

    def _variable(self, value: Any) -> str:
        cls = type(value)
        if cls in PLAIN:
            return self._annotations.shorten(f"builtins.{cls.__name__}")
        if cls in (Module, Tensor):
            return self._annotations.shorten(f"anyffi.{cls.__name__}")
        return self._classes.get(cls, self._any)

    # ---- functions ----

    def _function(self, name: str, function: Any, indent: str) -> Iterator[str]:
        info = function._info()
        if keywords.is_overloaded(info):
            of_each = [Overload(each, *self.types_of(each)) for each in function.overloads]
            shown = arrange(of_each, self.classes_by_name())
            for overload in shown:
                if len(shown) > 1:
                    yield f"{indent}@{self._annotations.shorten('typing.overload')}"
                doc = overload.function.__doc__
                yield from self.define(name, overload.parameters, overload.result, doc, indent)
            return
        yield from self.define(name, *self.types_of(function), info and info[1], indent)

    def types_of(self, function: Any) -> tuple[list[inspect.Parameter], str]:
        """Return a function's parameters and result for the stub."""
        signature = function.__signature__
        parameters = []
        for parameter in signature.parameters.values():
            annotation = self._any
            if parameter.kind is not parameter.VAR_POSITIONAL:
                told = None if parameter.annotation is parameter.empty else parameter.annotation
                annotation = self._annotations.taken(told)
            parameters.append(parameter.replace(annotation=annotation))
        given = None if signature.return_annotation is signature.empty else signature.return_annotation
        return parameters, self._annotations.given(given)

    def _python_function(self, name: str, function: types.FunctionType, indent: str) -> Iterator[str]:
        signature = inspect.signature(function)
        parameters = [
            parameter.replace(annotation=self._of_python(parameter.annotation))
            for parameter in signature.parameters.values()
        ]
        if indent and parameters:
            parameters[0] = parameters[0].replace(annotation=inspect.Parameter.empty)
        result = self._of_python(signature.return_annotation)
        yield from self.define(name, parameters, result, function.__doc__, indent)

    def _of_python(self, annotation: Any) -> str:
        """Return an annotation of a Python function if it is a builtin, which needs no import."""
        found: Any = annotation
        if type(annotation) is str:
            found = None if annotation == "None" else getattr(builtins, annotation, self)
        if found is None or found is type(None):
            return "None"
        if isinstance(found, type):
            name = found.__name__
            # Another class may have the name of a builtin.
            if getattr(builtins, name, None) is found:
                return self._annotations.shorten(f"builtins.{name}")
        return self._any

    def define(
        self, name: str, parameters: list[inspect.Parameter], result: str, doc: object, indent: str
    ) -> Iterator[str]:
        shown = ", ".join(parameter_texts(parameters))
        head = f"{indent}def {name}({shown}) -> {result}:"
        lines = [*docstring(doc, indent + "    ")]
        yield head if lines else f"{head} ..."
        yield from lines

    # ---- classes ----

    def _class(self, name: str, cls: type) -> Iterator[str]:
        bases = ", ".join(filter(None, map(self._base, cls.__bases__)))
        yield ""
        yield f"class {name}({bases}):" if bases else f"class {name}:"
        lines = [*docstring(vars(cls).get("__doc__"), "    ")]
        for member, value in vars(cls).items():
            lines += self._member(member, value)
        if not issubclass(cls, Object):
            text = self._annotations.shorten("builtins.str")
            lines += [f"    def __getattr__(self, name: {text}) -> {self._any}: ..."]
        yield from lines or ["    ..."]
        yield ""

    def _base(self, base: type) -> str | None:
        if base in self._classes:
            return self._classes[base]
        if getattr(active, base.__name__, None) is base:
            # Containers have types of elements.
            qualified = self._annotations.shorten(f"anyffi.{base.__name__}")
            return self._annotations.given(base.__name__) if issubclass(base, Container) else qualified
        if base is not object and getattr(builtins, base.__name__, None) is base:
            return self._annotations.shorten(f"builtins.{base.__name__}")
        if "_type_key" in vars(base):  # of another library
            return self._annotations.shorten("anyffi.Object")
        return None

    def _member(self, name: str, value: Any) -> Iterator[str]:
        if not keywords.is_name(name):
            return
        bound = describe_member(self, name, value)
        if bound is not None:
            yield from bound
        elif isinstance(value, property):
            yield f"    @{self._annotations.shorten('builtins.property')}"
            yield from self.define(name, [SELF], self._any, value.__doc__, "    ")
        elif isinstance(value, (classmethod, staticmethod)) and isinstance(
            value.__func__, types.FunctionType
        ):
            yield f"    @{self._annotations.shorten(f'builtins.{type(value).__name__}')}"
            yield from self._python_function(name, value.__func__, "    ")
        elif isinstance(value, types.FunctionType):
            yield from self._python_function(name, value, "    ")
        elif not name.startswith("__") and name != "_type_key" and type(value) in PLAIN:
            yield f"    {name}: {self._variable(value)}"
