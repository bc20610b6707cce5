"""mypy and pyright, both strict, accept the programs of docs/examples, the stubs of their libraries, and users' code."""

from __future__ import annotations

import pathlib
import shutil
import sys

import pytest
from programs import stubgen
from support import ROOT, build_directory
from type_checkers import needs_mypy, needs_pyright, run_mypy, run_pyright

pytestmark = pytest.mark.slow("type checkers")

EXAMPLES = sorted(
    folder.name
    for folder in (ROOT / "docs" / "examples").iterdir()
    if (folder / f"{folder.name}.py").exists()
)
#: Python modules over a library, by the folder of the example.
MODULES = {"zeros": ["_npi"], "neighbours": ["hnsw"], "npx": ["_npx", "_npx.linalg", "_npx.random"]}


@pytest.fixture(scope="session")
def package_path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder that has the package under its installed name."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "anyffi").symlink_to(ROOT / "pkg", target_is_directory=True)
    return folder


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of the examples, with stubs of the modules over their libraries."""
    folder = tmp_path_factory.mktemp("examples")
    for name in EXAMPLES:
        shutil.copytree(ROOT / "docs" / "examples" / name, folder / name)
    libraries = build_directory() / "docs" / "examples"
    for name, modules in MODULES.items():
        for module in modules:
            stem = folder.joinpath(name, *module.split("."))
            output = stem / "__init__.pyi" if stem.is_dir() else stem.with_suffix(".pyi")
            assert stubgen(module, "-o", output, folder=folder / name, cwd=libraries) == ""
    return folder


@needs_mypy
def test_mypy_accepts_the_examples(examples: pathlib.Path, package_path: pathlib.Path) -> None:
    files = [f"{name}/{name}.py" for name in EXAMPLES] + [*examples.rglob("*.pyi")]
    folders = [examples / name for name in EXAMPLES]
    assert run_mypy(examples, "--explicit-package-bases", *files, search=[package_path, *folders]) == ""


@needs_pyright
def test_pyright_accepts_the_examples(examples: pathlib.Path, package_path: pathlib.Path) -> None:
    included = [f"{name}/{name}.py" for name in EXAMPLES]
    included += [f"{name}/{modules[0]}*" for name, modules in MODULES.items()]
    assert run_pyright(examples, included, search=[package_path], roots=EXAMPLES) == ""


@needs_pyright
def test_pyright_accepts_the_programs_of_users(tmp_path: pathlib.Path, package_path: pathlib.Path) -> None:
    for name in ("typing_of_users.py", "typing_of_dataclasses.py"):
        shutil.copy(ROOT / "tests" / "tooling" / name, tmp_path)
    assert run_pyright(tmp_path, ["*.py"], search=[package_path]) == ""


PYTHON_PART = '''
"""Python functions and classes."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union, overload

import anyffi

if TYPE_CHECKING:
    from pathlib import Path

__version__ = "1.2"
T = TypeVar("T")
Number = Union[int, float]
_Private = Optional["Point"]
LIMIT: int = 5


class Color(enum.Enum):
    RED = 1
    GREEN = "g"


@dataclasses.dataclass
class Size:
    """How big."""

    w: int
    h: float = 0.0


@anyffi.dataclass("python_part.Span", structural="identity")
class Span(anyffi.Object):
    """From one to the other."""

    start: int
    stop: int = anyffi.field(default=0, structural="ignore")
    sizes: list[Size] = anyffi.field(default_factory=list)
    count: int = anyffi.field(init=False, default=0)


class Row(NamedTuple):
    a: int
    b: str = "x"


class _Base(Generic[T]):
    item: T


class Point(_Base[int]):
    """On the plane."""

    count = 0

    def __init__(self, x: float, y: "Number" = 1, *, tag=None):
        self.x = x
        self.y: Number = y
        self.tag = tag
        self._z = 1

    @property
    def twice(self) -> float:
        """Two times."""
        return 2 * self.x

    @twice.setter
    def twice(self, value: float) -> None:
        self.x = value / 2

    @overload
    def at(self, i: int) -> int: ...
    @overload
    def at(self, i: str) -> str: ...
    def at(self, i):
        return i

    def __len__(self):
        return 1

    @classmethod
    def make(cls, *xs: Number) -> "Point":
        return cls(xs[0])

    @staticmethod
    @functools.lru_cache
    def read(p: Path, q: "Sequence[Point]" = ()) -> dict[str, list["Point"]]:
        return {}

    def _private(self): ...

    of_cpp = anyffi.Function(lambda x: x)


def either(x: T, y: _Private = None, /, z=-1, *args: int, mode: Literal["a", "b"] = "a", **kw: Any) -> T:
    """Do either."""


async def go() -> int:
    await asyncio.sleep(0)
    return 1


@anyffi.register_global_func("python_part.registered", override=True)
def registered(x: int) -> str:
    return str(x)
'''

#: Lines that the stub has.
DECLARED = [
    "    def __init__(self, x: float, y: Number = ..., *, tag: Any = None) -> None: ...",
    "    @twice.setter\n    def twice(self, value: float) -> None: ...",
    "    @overload\n    def at(self, i: int) -> int: ...\n    @overload\n    def at(self, i: str) -> str: ...\n    def __len__(self) -> int: ...",
    "    def make(cls, *xs: Number) -> Point: ...",
    "    @functools.lru_cache\n    def read(p: Path, q: Sequence[Point] = ...) -> dict[str, list[Point]]: ...",
    "    x: float\n    y: Number\n    tag: Any\n",
    "    @staticmethod\n    def of_cpp(*args: Any) -> Any: ...",
    "class _Base(Generic[T]):\n    item: T\n",
    "def either(x: T, y: _Private = ..., /, z: Any = -1, *args: int, mode: Literal['a', 'b'] = ..., **kw: Any) -> T:",
    "def registered(x: int) -> str: ...",
    "@anyffi.dataclass('python_part.Span', structural='identity')\nclass Span(anyffi.Object):\n",
    "    sizes: list[Size] = ...\n    count: int = anyffi.field(init=False, default=cast(Any, ...))\n",
    "__version__: str",
    "LIMIT: int",
]

USER = """
from pathlib import Path

import python_part as p

point = p.Point(1.5, tag="x")
point.twice = point.twice + point.x
text: str = point.at("x")
number: int = point.at(1) + len(point) + point.item + p.Size(1, h=2.5).w + p.Row(1).a
points: dict[str, list[p.Point]] = p.Point.read(Path("."))
color: p.Color = p.Color.RED
made: p.Point = p.Point.make(1, 2.5)
span: p.Span = p.Span(1, stop=p.Span(2).start)
shown: str = p.registered(1) + p.__version__
"""


@pytest.fixture(scope="session")
def python_part(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("python_part")
    (folder / "python_part.py").write_text(PYTHON_PART)
    assert stubgen("python_part", "--path", folder, "-o", folder / "python_part.pyi") == ""
    (folder / "user.py").write_text(USER)
    return folder


@pytest.mark.parametrize("line", DECLARED)
def test_what_python_declares(python_part: pathlib.Path, line: str) -> None:
    assert line in (python_part / "python_part.pyi").read_text()


@needs_mypy
def test_mypy_accepts_the_stub_of_a_python_module(
    python_part: pathlib.Path, package_path: pathlib.Path
) -> None:
    assert run_mypy(python_part, "python_part.pyi", "user.py", search=[package_path]) == ""


KEYWORDS = """
from __future__ import annotations
import dataclasses
import anyffi

@anyffi.dataclass("keywords.Span")
class Span:
    start: int
    _unit: str = anyffi.field(kw_only=True, default="m")
    stop: int = dataclasses.field(repr=False)
    _: dataclasses.KW_ONLY
    note: str
"""


@needs_mypy
@pytest.mark.skipif(sys.version_info < (3, 10), reason="dataclasses have no kw_only")
def test_keywords_of_dataclasses(tmp_path: pathlib.Path, package_path: pathlib.Path) -> None:
    (tmp_path / "keywords.py").write_text(KEYWORDS)
    assert stubgen("keywords", "--path", tmp_path, "-o", tmp_path / "keywords.pyi") == ""
    (tmp_path / "good.py").write_text("from keywords import Span\n\nspan = Span(1, 2, note='', _unit='k')\n")
    (tmp_path / "bad.py").write_text("from keywords import Span\n\nspan = Span(1, 2, 'k', '')\n")
    assert run_mypy(tmp_path, "keywords.pyi", "good.py", search=[package_path]) == ""
    assert "Too many positional arguments" in run_mypy(tmp_path, "bad.py", search=[package_path])


@needs_pyright
def test_pyright_accepts_the_stub_of_a_python_module(
    python_part: pathlib.Path, package_path: pathlib.Path
) -> None:
    assert run_pyright(python_part, ["*.pyi", "user.py"], search=[package_path]) == ""
