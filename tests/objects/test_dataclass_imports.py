"""Dataclasses of modules that import each other: names that an annotation can use before they are bound."""

from __future__ import annotations

import importlib
import pathlib
import sys
from types import ModuleType
from typing import Any, Callable

import pytest

pytestmark = pytest.mark.keeps_live("types are never freed")

Write = Callable[..., ModuleType]


@pytest.fixture
def load(ffi: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write the modules of a package, by their names, and import one of them."""
    given = ModuleType("ffi_of_this_test")
    given.ffi = ffi  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, given.__name__, given)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write_and_import(package: str, first: str, **sources: str) -> ModuleType:
        for name in [x for x in sys.modules if x.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        (tmp_path / package).mkdir()
        for name, source in {"__init__": "", **sources}.items():
            header = "from __future__ import annotations\nfrom ffi_of_this_test import ffi\n"
            (tmp_path / package / f"{name}.py").write_text(header + source)
        importlib.invalidate_caches()
        return importlib.import_module(f"{package}.{first}")

    return write_and_import


TREES = """
from dataclasses import field
from typing import TYPE_CHECKING, List, Optional
if TYPE_CHECKING:
    {}
@ffi.dataclass
class Tree:
    leaf: Optional[{}] = None
    leaves: List[{}] = field(default_factory=list)
"""
LEAVES = """
from . import trees
@ffi.dataclass
class Leaf:
    tree: trees.Tree
"""


@pytest.mark.parametrize(
    ("package", "line", "name"),
    [
        ("imports_a", "from .leaves import Leaf", "Leaf"),
        ("imports_b", "from imports_b.leaves import Leaf as Other", "Other"),
        ("imports_c", "from . import leaves", "leaves.Leaf"),
        ("imports_d", "import imports_d.leaves", "imports_d.leaves.Leaf"),
        ("imports_e", "import imports_e.leaves as m", "m.Leaf"),
        ("imports_f", "from .. import nothing; from ....x import y; from .leaves import Leaf", "Leaf"),
    ],
)
def test_imports_for_type_checkers(package: str, line: str, name: str, load: Write) -> None:
    trees = load(package, "trees", trees=TREES.format(line, name, name), leaves=LEAVES)
    tree = trees.Tree()
    with pytest.raises(TypeError, match=rf"leaf: expected {package}.leaves.Leaf \| None, got int"):
        tree.leaf = 1
    Leaf = importlib.import_module(f"{package}.leaves").Leaf
    tree.leaf = Leaf(tree)
    tree.leaves.append(tree.leaf)
    assert tree.leaves[0].tree is tree
    with pytest.raises(TypeError, match=rf"leaf: expected {package}.leaves.Leaf \| None, got .*Tree"):
        tree.leaf = tree


def test_imports_for_type_checkers_of_what_is_imported(load: Write) -> None:
    source = """
import typing
if typing.TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePath
if not typing.TYPE_CHECKING:
    PurePath = int
@ffi.dataclass
class Files:
    names: Sequence[str]
    path: PurePath = 0
"""
    files = load("imports_g", "files", files=source)
    made = files.Files(["a"], 5)
    made.names = ("b", "c")
    assert (list(made.names), made.path) == (["b", "c"], 5)
    with pytest.raises(TypeError, match="names.* expected str, got int"):
        made.names = [1]


@pytest.mark.parametrize("first", ["trees", "leaves"])
def test_modules_that_are_being_imported(first: str, load: Write) -> None:
    package = f"imports_of_{first}"
    source = """
from . import leaves
from typing import Optional
@ffi.dataclass
class Tree:
    leaf: Optional[leaves.Leaf] = None
"""
    load(package, first, trees=source, leaves=LEAVES)
    trees, leaves = (sys.modules[f"{package}.{name}"] for name in ("trees", "leaves"))
    tree = trees.Tree()
    tree.leaf = leaves.Leaf(tree)
    assert tree.leaf.tree is tree
    with pytest.raises(TypeError, match=rf"leaf: expected {package}.leaves.Leaf \| None, got int"):
        tree.leaf = 1


def test_what_a_module_does_not_have_is_an_error(load: Write) -> None:
    source = "import decimal\n@ffi.dataclass\nclass A:\n    x: decimal.Desimal\n"
    with pytest.raises(AttributeError, match="Desimal"):
        load("imports_h", "wrong", wrong=source)
