"""Imports within the package point one way.

Read from the source, without importing it: imports inside functions, those that only type checkers see, stubs and
Cython's files count as well.
"""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping

import pytest
from support import ROOT

PACKAGE = ROOT / "pkg"

#: Lowest first. A module imports only modules before it in this list, or in its own folder.
LAYERS = (
    ("_typing", "names for annotations"),
    ("_reimport", "what a second import finds"),
    ("_builtins", "Python's builtins as they are at import"),
    ("_library", "where the native files are"),
    ("_mode", "what FFI_MODE says"),
    ("_current", "the API in use, for what is below the modules that make it"),
    ("_rules", "what values, containers, keywords and errors mean to every backend"),
    ("_ctypes", "a backend"),
    ("_cython", "a backend"),
    ("_check", "a backend over both"),
    ("_pickling", "what pickles name; finds functions and modules through the API in use"),
    ("_objects", "methods of the public classes, over what every backend offers"),
    ("_public", "the public classes by name"),
    ("_api", "the public functions, which take and return public classes"),
    ("_dataclasses", "the public functions that make dataclasses, for type checkers to see"),
    ("_backend", "opens backends by name and puts classes and functions together"),
    ("_tracing", "what watches calls"),
    ("registry", "public"),
    ("module", "public"),
    ("structure", "public"),
    ("testing", "public"),
    ("debug", "public"),
    ("pytest_plugin", "public"),
    ("_exports", "C++ text for `cpp`"),
    ("cpp", "public"),
    ("__init__", "public: what `anyffi` itself offers"),
    ("_config", "a command"),
    ("_stubs", "what the command `stubgen` writes"),
    ("__main__", "commands"),
)
RANKS = {name: rank for rank, (name, _) in enumerate(LAYERS)}

Graph = Mapping[str, set[str]]


def modules_of(package: pathlib.Path) -> dict[str, list[pathlib.Path]]:
    """Return the files of each module, by its name within the package; what Cython includes belongs to `_core`."""
    modules: dict[str, list[pathlib.Path]] = {}
    for path in sorted(package.rglob("*.p*")):
        if path.suffix in (".py", ".pyi", ".pyx", ".pxd", ".pxi"):
            folder = path.relative_to(package).parts[:-1]
            stem = path.stem if path.suffix in (".py", ".pyi") else "_core"
            modules.setdefault(".".join((*folder, stem)).removesuffix(".__init__"), []).append(path)
    return modules


def absolute_names(path: pathlib.Path, folder: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Return what a file imports from the package: each name with its module, as a path within the package."""
    if path.suffix not in (".py", ".pyi"):
        for line in re.findall(r"^\s*(?:from|c?import) +anyffi\b.*", path.read_text(), re.MULTILINE):
            found = re.fullmatch(r"\s*from anyffi(?:\.([\w.]+))? c?import \(?([\w, ]+)\)?", line)
            assert found, f"{path}: {line}"
            for name in found[2].split(","):
                yield (*filter(None, (found[1] or "").split(".")), name.split()[0])
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            yield from (tuple(name[1:]) for name in names if name[0] == "anyffi")
        elif isinstance(node, ast.ImportFrom):
            of = (node.module or "").split(".") if node.module else []
            if node.level:
                of = [*folder[: len(folder) + 1 - node.level], *of]
            elif of[:1] == ["anyffi"]:
                of = of[1:]
            else:
                continue
            yield from ((*of, alias.name) for alias in node.names)


def draw(package: pathlib.Path) -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    modules = modules_of(package)
    graph: dict[str, set[str]] = {}
    for module, paths in modules.items():
        graph[module] = set()
        for path in paths:
            for name in absolute_names(path, path.relative_to(package).parts[:-1]):
                # `from package import module`, or a name of the module; else of the package itself.
                found = next(
                    (
                        ".".join(name[:end])
                        for end in (len(name), len(name) - 1)
                        if ".".join(name[:end]) in modules
                    ),
                    "__init__",
                )
                graph[module] |= {found} - {module}
    return graph


def component(module: str) -> str:
    return module.partition(".")[0]


def between_components(graph: Graph) -> dict[str, set[str]]:
    drawn: dict[str, set[str]] = {}
    for module, imported in graph.items():
        drawn.setdefault(component(module), set()).update(set(map(component, imported)) - {component(module)})
    return drawn


def find_circle(graph: Graph) -> list[str]:
    """Return the modules of one circle, the first one twice; none if there is no circle."""
    done: set[str] = set()

    def walk(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node not in done:
            for other in sorted(graph.get(node, ())):
                found = walk(other, [*path, node])
                if found:
                    return found
            done.add(node)
        return []

    return next(filter(None, (walk(node, []) for node in sorted(graph))), [])


def upward(graph: Graph, ranks: Mapping[str, int]) -> list[str]:
    """Return the imports of higher modules."""
    return [
        f"{module} imports {other}"
        for module, imported in sorted(graph.items())
        for other in sorted(imported)
        if ranks[component(other)] > ranks[component(module)]
    ]


GRAPH = draw(PACKAGE)


def test_every_module_has_its_layer() -> None:
    assert {component(module) for module in GRAPH} == set(RANKS)


def test_no_import_points_up() -> None:
    assert upward(GRAPH, RANKS) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert find_circle(GRAPH) == []


def test_no_folders_import_each_other_in_a_circle() -> None:
    assert find_circle(between_components(GRAPH)) == []


@pytest.mark.parametrize("name", [name for name, _ in LAYERS if (PACKAGE / name).is_dir()])
def test_every_folder_states_its_purpose(name: str) -> None:
    tree = ast.parse((PACKAGE / name / "__init__.py").read_text())
    purpose = (ast.get_docstring(tree) or "").partition("\n")[0]
    assert purpose.endswith(".")


# ---- the test itself ----


def write(folder: pathlib.Path, files: Mapping[str, str]) -> pathlib.Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "again",
    [
        "from .a import x",
        "from . import a",
        "def f():\n    from .a import x",
        "from ._typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import x",
        "import anyffi.a",
        "from anyffi.a import x",
    ],
)
def test_a_circle_of_modules_is_found(tmp_path: pathlib.Path, again: str) -> None:
    graph = draw(write(tmp_path, {"a.py": "from .b import y", "b.py": again, "_typing.py": ""}))
    assert find_circle(graph) == ["a", "b", "a"]


def test_a_circle_of_folders_is_found(tmp_path: pathlib.Path) -> None:
    files = {
        "one/__init__.py": "",
        "one/a.py": "from ..two.b import y",
        "one/c.py": "",
        "two/__init__.py": "",
        "two/b.py": "from ..one.c import x",
    }
    graph = draw(write(tmp_path, files))
    assert find_circle(graph) == []
    assert find_circle(between_components(graph)) == ["one", "two", "one"]


def test_a_circle_through_compiled_code_and_stubs_is_found(tmp_path: pathlib.Path) -> None:
    files = {
        "_cython/__init__.py": "from ._core import x",
        "_cython/_core.pyx": "",
        "_cython/core.pxi": "from anyffi import rules as r",
        "rules.py": "",
        "rules.pyi": "from ._cython import x",
    }
    graph = draw(write(tmp_path, files))
    assert find_circle(graph) == ["_cython", "_cython._core", "rules", "_cython"]


def imports_that_point_up(graph: Graph, order: Iterable[str]) -> list[str]:
    return upward(graph, {name: rank for rank, name in enumerate(order)})


def test_an_import_that_points_up_is_found(tmp_path: pathlib.Path) -> None:
    graph = draw(write(tmp_path, {"a.py": "from .b import y", "b.py": ""}))
    assert imports_that_point_up(graph, ["b", "a"]) == []
    assert imports_that_point_up(graph, ["a", "b"]) == ["a imports b"]
