"""A user's dataclasses for type checkers: code that they must accept, and code that they must refuse.

Checked and run as typing_of_users.py is.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

import anyffi

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, expected: Any) -> Any:
        return value


@anyffi.dataclass
class Point:
    x: int
    y: float = 0.0

    def scaled(self, by: float) -> Point:
        return Point(int(self.x * by), self.y * by)


@anyffi.dataclass("typing.Path", order=True, structural="identity")
class Path:
    points: list[Point] = anyffi.field(default_factory=lambda: list[Point]())
    name: str = anyffi.field(default="", structural="ignore")
    after: Path | None = dataclasses.field(default=None, repr=False)
    length: float = anyffi.field(init=False, default=0.0)


@anyffi.dataclass(frozen=True)
class Fixed:
    x: int = 0


@anyffi.dataclass
class Colored(Point):
    color: str = "red"


if sys.version_info >= (3, 10):

    @anyffi.dataclass(kw_only=True)
    class Options:
        depth: int = anyffi.field(default=3, kw_only=True)
        names: list[str]

    assert_type(Options(names=["a"]).depth, int)


def accepted() -> None:
    point = Point(1, y=2.0)
    assert_type(point, Point)
    assert_type(point.x, int)
    assert_type(point.y, float)
    assert_type(point.scaled(2.0), Point)
    point.x = 3
    path = Path([point], "first")
    assert_type(path.points, "list[Point]")
    assert_type(path.after, "Path | None")
    assert_type(path.length, float)
    assert Path() <= path
    assert_type(anyffi.field(default=1), int)
    assert_type(Colored(1, 2.0, color="blue").color, str)
    assert_type(dataclasses.replace(point, x=1), Point)
    assert [field.name for field in anyffi.fields(Point)] == ["x", "y"]
    assert anyffi.asdict(point) == {"x": 3, "y": 2.0}


def refused(point: Point, path: Path) -> None:
    Point()  # type: ignore[call-arg]
    Point("a")  # type: ignore[arg-type]
    Point(1, z=2)  # type: ignore[call-arg]
    Path([], "", None, 1.0)  # type: ignore[call-arg]
    point.x = "a"  # type: ignore[assignment]
    Fixed(1).x = 2  # type: ignore[misc]
    point.z  # type: ignore[attr-defined]
    point < point  # type: ignore[operator]
    anyffi.field(default=1, structural="variable")  # type: ignore[call-overload]
    anyffi.dataclass(structural="ignore")  # type: ignore[call-overload]


def main() -> None:
    accepted()


if __name__ == "__main__":
    main()
