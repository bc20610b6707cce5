"""Stubs of C++ classes: their content, and that mypy and pyright, both strict, accept them and their use."""

from __future__ import annotations

import pathlib

import pytest
from class_sources import CLASSES
from enum_sources import METRICS
from exception_sources import FAILURES
from member_sources import BOXES
from nested_sources import NESTED
from precise_sources import PRECISE
from programs import stubgen
from support import ROOT, Build, needs_compilers
from type_checkers import needs_mypy, needs_pyright, run_mypy, run_pyright

pytestmark = [needs_compilers, pytest.mark.slow("type checkers")]

#: Lines that must be refused have a `type: ignore`; unused ones are errors.
USER = """
from __future__ import annotations
import box
import desk
import geo
import space
import numpy as np
import mart
import zoo

one = box.Box()
other = box.Box([[1.0, 2.0]])
rows: list[list[int]] = one.rows
one.rows = ((1,), (2,))
named: dict[str, list[int]] = one.named
keys: set[int] = one.keys
pair: tuple[int, str] = one.pair
maybe: list[int] | None = one.maybe
rows = one.get_rows()
rows = one.show_rows()
rows = one.all
one.all = [(1,)]
row: list[int] = one[1]
rows = one + other
named = one()
pairs: list[tuple[int, str]] = box.Box.pairs()
array = np.zeros((1, 2), "f4")
total: float = one.sum(array) + one.sum(rows=array) + one.sum_any([[1.0]], by=2)
size: int = one.extend(x for x in (1, 2)) + one.extend(items={1: 2})
one.each(print)
for each in one:
    print(each)
one.extend(5)  # type: ignore[arg-type]
one.sum(5)  # type: ignore[arg-type]
one.rows = 5  # type: ignore[assignment]
button = box.Wide()
button.on_click = print
button.on_click = None
try:
    mart.fail("spoilt")
except mart.Frozen as error:
    days: int = error.days
    degrees: int = error.degrees
    mart.Frozen("again", days=days, degrees=1)
    mart.Frozen("again", colour=1)  # type: ignore[call-arg]
button.box.rows = [[1]]
button.click()
panel = box.Panel(lambda: 5)

vec = geo.Vec(1, y=2)
vec = vec + vec
vec = vec * 2
dot: float = vec * vec
vec += vec
same: bool = vec == vec and vec < vec and vec != 5
sizes: int = geo.Vec.SIZE + vec.SIZE
names: str = geo.Vec.NAMES
axes: list[geo.Vec] = [geo.Vec.ZERO, *geo.Vec.AXES]
geo.Vec.SIZE = "2"  # type: ignore[assignment]
index = geo.Index(dim=3)
index = geo.Index("cosine")
count: int = index.add(5) + index.add(text="x") + len(index) + index[0] + index(4) + geo.Index.twice(3)
index[0] = 5
index.where.x += 1
index.where = vec
index.fixed = 5  # type: ignore[misc]
leaf: geo.Index = geo.Leaf()
tag: int = geo.tag_of(leaf) + leaf.tag + leaf.kind
vec = geo.sum([vec, vec])
with geo.Guard() as guard:
    print(guard.depth, hash(guard), bool(guard))
geo.Index([])  # type: ignore[call-overload]

metric: space.Metric = space.echo(space.Metric.IP)
metric = space.echo(1)
metric = space.Index(metric).metric
metrics: list[space.Metric] = space.vector([metric, 0])
access: space.Access = space.access(space.Access.READ | space.Access.WRITE)
space.echo("IP")  # type: ignore[arg-type]
try:
    mart.fail("sold out")
except mart.SoldOut as error:
    refused: ValueError = error
kind: zoo.Shape.Type = zoo.Shape().type
joint: zoo.Joint.Type = zoo.Joint().type
unit: zoo.Shape.Size.Unit = zoo.Shape.Size().unit
zoo.name(zoo.Shape.Type.CIRCLE)
broken: ValueError = zoo.Shape.Failure()
ink: str = desk.Desk(["red"]).first().ink
ink = desk.Desk(["red"]).find_or_none("red").ink  # type: ignore[union-attr]
desk.keep(None)  # type: ignore[arg-type]
desk.each(lambda number, ratios: ratios.append(number))
desk.each(divmod)  # type: ignore[arg-type]
desk.choose(lambda pen: [float(len(pen.ink))])
desk.choose(lambda pen: pen.ink)  # type: ignore[arg-type, return-value]
total = desk.adder(1.0)((1, 2.5))
"""

DECLARED = [
    "class Box(anyffi.Object):",
    "    @property\n    def rows(self) -> list[list[int]]: ...",
    "    @rows.setter\n    def rows(self, value: Sequence[Sequence[int]]) -> None: ...",
    "    def __init__(self) -> None: ...",
    "    def __getitem__(self, i: int) -> list[int]:",
    "    def __iter__(self) -> Iterator[list[int]]: ...",
    "    def extend(self, items: Iterable[int]) -> int: ...",
    "    def pairs() -> list[tuple[int, str]]: ...",
    "class Wide(Button):",
]
VALUES = [
    'class Metric(IntEnum):\n    """How points are compared.',
    "    L2 = 0\n    IP = 1\n",
    "class Access(IntFlag):\n    READ = 1\n",
    "def echo(metric: Metric | int = Metric.IP) -> Metric: ...",
    "def metric(self) -> Metric: ...",
    "class Failure(ValueError): ...",
    'class SoldOut(Failure):\n    """No more of it."""',
    'class Spoilt(Failure):\n    """It cannot be eaten."""\n    days: int\n    """For how long."""\n',
    "    names: list[str]\n    total: int\n",
]


@pytest.fixture(scope="session")
def folder(build: Build, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("class_stubs")
    sources = (
        ("box", "boxes.cc", BOXES),
        ("geo", "classes.cc", CLASSES),
        ("space", "metrics.cc", METRICS),
        ("mart", "failures.cc", FAILURES),
        ("zoo", "zoo.cc", NESTED),
        ("desk", "desk.cc", PRECISE),
    )
    for name, file, source in sources:
        library = build(file, source)
        assert stubgen(library, "-o", folder / f"{name}.pyi") == ""
        # Stands for the module that loads the library.
        (folder / f"{name}.py").write_text("")
    (folder / "user.py").write_text(USER)
    (folder / "anyffi").symlink_to(ROOT / "pkg", target_is_directory=True)
    return folder


def test_declarations(folder: pathlib.Path) -> None:
    text = (folder / "box.pyi").read_text()
    for line in DECLARED:
        assert line in text
    values = (folder / "space.pyi").read_text() + (folder / "mart.pyi").read_text()
    for line in VALUES:
        assert line in values
    assert "_anyffi_" not in text


@needs_mypy
def test_mypy_accepts_them(folder: pathlib.Path) -> None:
    shown = ("box.pyi", "desk.pyi", "geo.pyi", "space.pyi", "mart.pyi", "zoo.pyi", "user.py")
    assert run_mypy(folder, *shown, search=[folder]) == ""


@needs_pyright
def test_pyright_accepts_them(folder: pathlib.Path) -> None:
    assert run_pyright(folder, ["*.pyi", "user.py"], search=[folder]) == ""
