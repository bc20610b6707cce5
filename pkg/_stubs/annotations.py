"""Annotations in stubs, from the type names in a function's metadata."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Callable

from .source import Imported

__all__ = ["Annotations"]

#: The protocol of tensors of all libraries, which a stub declares where it needs it. NumPy declares
#: `__dlpack__` for arrays of numbers alone.
_EXPORTER = "_Exporter"
_EXPORTER_CLASS = f"""
class {_EXPORTER}({{Protocol}}):
    def __dlpack_device__(self) -> {{Any}}: ...
"""

#: By the runtime's name of a type; `{0}` and `{1}` are its own parameters.
_BOTH = {
    "None": "None",
    "Any": "typing.Any",
    **{name: f"builtins.{name}" for name in ("bool", "bytes", "complex", "float", "int", "slice", "str")},
    "Function": "collections.abc.Callable[..., typing.Any]",
    "Device": "anyffi.Device",
    "Module": "anyffi.Module",
    "Exception": "builtins.BaseException",
    "ellipsis": "types.EllipsisType",
}
#: Annotations of parameters. Tensors and dtypes come from many libraries, which a stub does not import.
_TAKEN = {
    **_BOTH,
    "Object": "builtins.object",
    "Array": "collections.abc.Sequence[{0}]",
    "List": "anyffi.List[{0}] | builtins.list[{0}]",
    "Map": "collections.abc.Mapping[{0}, {1}]",
    "Dict": "anyffi.Dict[{0}, {1}] | builtins.dict[{0}, {1}]",
    "FrozenSet": "collections.abc.Set[{0}]",
    "Set": "anyffi.Set[{0}] | builtins.set[{0}]",
    "Shape": "collections.abc.Sequence[builtins.int]",
    "Tensor": _EXPORTER,
    "dtype": "typing.Any",
    "c_void_p": "ctypes.c_void_p | None",
    "Iterable": "collections.abc.Iterable[{0}]",
    "PathLike": "os.PathLike[builtins.str] | os.PathLike[builtins.bytes]",
    "datetime": "datetime.datetime",
    "timedelta": "datetime.timedelta",
    # Containers of C++'s standard library.
    "Sequence": "collections.abc.Sequence[{0}]",
    "Mapping": "collections.abc.Mapping[{0}, {1}]",
    "AbstractSet": "collections.abc.Set[{0}]",
}
#: Annotations of results.
_GIVEN = {
    **_BOTH,
    "Object": "typing.Any",
    **{name: f"anyffi.{name}[{{0}}]" for name in ("Array", "List", "FrozenSet", "Set")},
    **{name: f"anyffi.{name}[{{0}}, {{1}}]" for name in ("Map", "Dict")},
    **{name: f"anyffi.{name}" for name in ("Shape", "Tensor", "dtype")},
    "c_void_p": "ctypes.c_void_p",
    # Copies.
    **{name: f"builtins.{name}[{{0}}]" for name in ("list", "set", "frozenset")},
    "dict": "builtins.dict[{0}, {1}]",
    "MappingProxyType": "types.MappingProxyType[{0}, {1}]",
    "numpy.ndarray": "numpy.ndarray[typing.Any, typing.Any]",
    "Iterator": "collections.abc.Iterator[{0}]",
    "Path": "pathlib.Path",
    "datetime": "datetime.datetime",
    "timedelta": "datetime.timedelta",
}

#: Annotations of what the runtime's containers of a result hold.
_HELD = {
    **_GIVEN,
    "Sequence": "anyffi.List[{0}]",
    "Mapping": "anyffi.Dict[{0}, {1}]",
    "AbstractSet": "anyffi.Set[{0}]",
}
_HOLDERS = ("Array", "List", "Map", "Dict", "Set", "FrozenSet")

#: Names of the types of a tensor's elements.
_ELEMENTS = re.compile(r"(bool|u?int|b?float|complex|handle|code)\d*(_\w+)?(x\d+)?")

_QUALIFIED = re.compile(
    r"\b(anyffi|builtins|collections\.abc|ctypes|datetime|enum|numpy|os|pathlib|types|typing)\.(\w+)"
)
_IMPORTED_AS = {"collections.abc.Set": "AbstractSet"}


class Annotations:
    """Translates names of types, and collects the imports that a stub needs.

    Parameters
    ----------
    taken : collection of str
        Names that the stub defines, which hide builtins and imports.
    imported : mapping of str to Imported
        Names that the stub may import for other reasons.
    classes : mapping of str to str
        The stub's classes by the keys of the types that they stand for.
    find_type : callable
        The code of the type that has a key; None if there is none.
    find_source : callable
        The name of what an object of a type can be made from, by its code; None if there is no such thing.
    """

    def __init__(
        self,
        taken: Collection[str],
        imported: Mapping[str, Imported],
        classes: Mapping[str, str],
        find_type: Callable[[str], int | None],
        find_source: Callable[[int], str | None],
    ) -> None:
        self._taken = taken
        self._imported = imported
        self._classes = classes
        self._find_type = find_type
        self._find_source = find_source
        #: Keys of types that are being translated: the source of an object may itself contain such objects.
        self._under_way: set[str] = set()
        self._imports: dict[str, set[str]] = {}
        self._modules: set[str] = set()
        self._exports = False

    def taken(self, type_name: str | None) -> str:
        """Return the annotation of a parameter."""
        return self._translate(type_name, _TAKEN)

    def given(self, type_name: str | None) -> str:
        """Return the annotation of a result or field."""
        return self._translate(type_name, _GIVEN)

    def shorten(self, text: str) -> str:
        """Replace qualified names by those that the stub imports."""
        return _QUALIFIED.sub(lambda found: self._use(*found.groups()), text)

    def add_import(self, name: str, imported: Imported, *, is_public: bool = False) -> None:
        """Import what a name of the source stands for; a public one is also a name of the stub."""
        if imported.name is None:
            is_alias = is_public or name != imported.module.partition(".")[0]
            self._modules.add(f"{imported.module} as {name}" if is_alias else imported.module)
        else:
            is_alias = is_public or name != imported.name
            text = f"{imported.name} as {name}" if is_alias else name
            names = self._imports.setdefault(imported.module, set())
            if is_public:
                names.discard(name)
            if f"{imported.name} as {name}" not in names:
                names.add(text)

    def header(self) -> str:
        """Return the imports and declarations that the annotations need."""
        protocol = ""
        if self._exports:
            protocol = _EXPORTER_CLASS.format(
                Protocol=self.shorten("typing.Protocol"), Any=self.shorten("typing.Any")
            )
        modules = [f"import {line}" for line in sorted(self._modules)]
        imports = [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self._imports.items())
        ]
        return "".join(f"{line}\n" for line in [*modules, *imports]) + protocol

    def _use(self, module: str, name: str) -> str:
        shown = _IMPORTED_AS.get(f"{module}.{name}", name)
        is_usual = self._imported.get(module, Imported(module, None)) == Imported(module, None)
        if module == "anyffi" and module not in self._taken and is_usual:
            self._modules.add(module)
            return f"{module}.{name}"
        elsewhere = self._imported.get(shown, Imported(module, name)) != Imported(module, name)
        if module == "anyffi" or shown in self._taken or elsewhere:
            alias = "_" + module.replace(".", "_")
            self._modules.add(f"{module} as {alias}")
            return f"{alias}.{name}"
        if module != "builtins":
            self._imports.setdefault(module, set()).add(name if shown == name else f"{name} as {shown}")
        return shown

    def _translate(self, type_name: str | None, table: Mapping[str, str]) -> str:
        try:
            tree = ast.parse(type_name or "Any", mode="eval").body
        except SyntaxError:
            # A type key may be any text.
            return self._object(type_name or "", table)
        return self._node(tree, table)

    def _node(self, node: ast.expr, table: Mapping[str, str]) -> str:
        if isinstance(node, ast.BinOp):
            return " | ".join(dict.fromkeys(self._node(part, table) for part in _members(node)))
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            return "None" if node.value is None else "..."
        root, parameters = node, []
        if isinstance(node, ast.Subscript):
            root = node.value
            if isinstance(root, ast.Name) and _ELEMENTS.fullmatch(root.id):
                tensor = self._node(ast.Name("Tensor"), table)
                return f"{self.shorten('typing.Annotated')}[{tensor}, {ast.unparse(node)!r}]"
            elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            # A tuple without elements is tuple[()].
            if elements and isinstance(elements[0], ast.List):
                return self._callable(elements[0].elts, elements[1], table)
            held = _HELD if table is _GIVEN and ast.unparse(root) in _HOLDERS else table
            parameters = [self._node(element, held) for element in elements]
        name = ast.unparse(root)
        if name == "tuple":
            return self._tuple(parameters, table)
        template = table.get(name)
        if template is None:
            return self._object(name, table)
        if template is _EXPORTER:
            self._exports = True
        while len(parameters) < template.count("{"):
            parameters.append(self.shorten("typing.Any"))
        return self.shorten(template).format(*parameters)

    def _callable(self, parameters: list[ast.expr], result: ast.expr, table: Mapping[str, str]) -> str:
        """Return the annotation of a function: its parameters are passed in the opposite direction."""
        is_called_by_cpp = table is _TAKEN
        inward, outward = (_GIVEN, _TAKEN) if is_called_by_cpp else (_TAKEN, _GIVEN)
        shown = ", ".join(self._node(parameter, inward) for parameter in parameters)
        # What a callback returns may be anything if C++ ignores it.
        is_ignored = is_called_by_cpp and ast.unparse(result) == "None"
        returned = self.shorten("builtins.object") if is_ignored else self._node(result, outward)
        return self.shorten("collections.abc.Callable[[{0}], {1}]").format(shown, returned)

    def _tuple(self, parameters: list[str], table: Mapping[str, str]) -> str:
        union = " | ".join(dict.fromkeys(parameters)) or self.shorten("typing.Any")
        if table is _HELD:
            return self.shorten("anyffi.Array[{0}]").format(union)
        if table is _GIVEN:
            return self.shorten("builtins.tuple[{0}]").format(", ".join(parameters) or "()")
        exact = ", ".join(parameters) or "()"
        return self.shorten("builtins.tuple[{0}] | anyffi.Array[{1}] | builtins.list[{1}]").format(
            exact, union
        )

    def _object(self, key: str, table: Mapping[str, str]) -> str:
        code = self._find_type(key)
        # Some types are registered when they are first used. No other name has a dot.
        is_object = code is not None or "." in key
        shown = self._classes.get(key) or self.shorten("anyffi.Object" if is_object else "typing.Any")
        source = self._find_source(code) if code is not None and table is _TAKEN else None
        if source is None or key in self._under_way:
            return shown
        self._under_way.add(key)
        members = [shown, self._translate(source, table)]
        self._under_way.remove(key)
        return " | ".join(members)


def _members(node: ast.expr) -> Iterator[ast.expr]:
    """Iterate over the types of a union."""
    if isinstance(node, ast.BinOp):
        yield from _members(node.left)
        yield from _members(node.right)
    else:
        yield node
