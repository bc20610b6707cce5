"""Calls of Python's subclasses of C++ classes, which make an object by the constructor of C++."""

from __future__ import annotations

import abc
import gc
import weakref
from typing import Any

import pytest
from override_sources import OVERRIDES
from support import Build, collect, compiles_classes, cpython_only

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>

namespace called {
struct Pair {
  int64_t x, y;
  Pair(int64_t x, int64_t y) : x(x), y(y) {}
};
int64_t live = 0;
struct Loud {
  explicit Loud(int64_t x) {
    if (x < 0) throw anyffi::Error("ValueError", "too quiet");
    ++live;
  }
  Loud(const Loud&) = delete;
  ~Loud() { --live; }
};
}  // namespace called

ANYFFI_CLASS(called::Pair, "called.Pair")
    .init<int64_t, int64_t>(anyffi::arg("x"), anyffi::arg("y") = 5)
    .init([](anyffi::List<int64_t> xs) { return called::Pair(xs[0], xs[1]); }, anyffi::arg("xs"))
    .field("x", &called::Pair::x)
    .field("y", &called::Pair::y);
ANYFFI_CLASS(called::Loud, "called.Loud").init<int64_t>(anyffi::arg("x"));
ANYFFI_EXPORT(live, [] { return called::live; });
"""


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("called.cc", SOURCE))


@pytest.fixture
def over(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("overrides.cc", OVERRIDES))
    yield module
    module.forget()


def test_arguments(lib: Any) -> None:
    class Mine(lib.Pair):  # type: ignore[misc, name-defined]
        pass

    class Other(Mine):
        __slots__ = ()

    for cls in (Mine, Other):
        made = [
            cls(1, 2),
            cls(1),
            cls(1, y=2),
            cls(x=1, y=2),
            cls(y=2, x=1),
            cls([1, 2]),
            cls(xs=[1, 2]),
            cls(*[1]),
        ]
        assert [type(x) for x in made] == [cls] * 8
        assert [(x.x, x.y) for x in made] == [(1, 2), (1, 5), *[(1, 2)] * 5, (1, 5)]
    Mine(1).extra = 2
    for args in ((), ("a", 1), (1, 2, 3), ([],)):
        with pytest.raises((TypeError, IndexError)):
            Mine(*args)
    with pytest.raises(TypeError):
        Mine(1, z=2)


def test_errors_of_the_constructor(lib: Any) -> None:
    class Mine(lib.Loud):  # type: ignore[misc, name-defined]
        pass

    assert lib.live() == 0
    for args, named in (((-1,), {}), ((), {"x": -1})):
        with pytest.raises(ValueError, match="too quiet"):
            Mine(*args, **named)
    made = Mine(x=1)
    assert lib.live() == 1
    del made
    collect()
    assert lib.live() == 0


def test_what_changes_a_class_later(lib: Any) -> None:
    class Mine(lib.Pair):  # type: ignore[misc, name-defined]
        pass

    assert Mine(1, 2).x == 1

    def init(self: Any, x: int) -> None:
        lib.Pair.__init__(self, x, x)
        self.seen = True

    Mine.__init__ = init
    assert (Mine(4).y, Mine(4).seen) == (4, True)
    del Mine.__init__
    assert Mine(1, 2).y == 2
    made = []

    def new(cls: Any, *args: Any) -> Any:
        made.append(args)
        return object.__new__(cls)

    Mine.__new__ = new  # type: ignore[method-assign, assignment]
    assert (Mine(1, 2).y, made) == (2, [(1, 2)])


def test_metaclasses_and_abstract_classes(lib: Any) -> None:
    class Counting(type):
        count = 0

        def __call__(cls, *args: Any) -> Any:
            Counting.count += 1
            return super().__call__(*args)

    class Counted(lib.Pair, metaclass=Counting):  # type: ignore[misc, name-defined]
        pass

    assert (Counted(1, 2).y, Counted(1).y, Counting.count) == (2, 5, 2)

    class Abstract(lib.Pair, abc.ABC):  # type: ignore[misc, name-defined]
        @abc.abstractmethod
        def area(self) -> float: ...

    class Concrete(Abstract):
        def area(self) -> float:
            return float(self.x * self.y)

    with pytest.raises(TypeError, match="abstract"):
        Abstract(1, 2)
    assert Concrete(2, 3).area() == 6
    Concrete.__abstractmethods__ = frozenset({"area"})
    with pytest.raises(TypeError, match="abstract"):
        Concrete(2, 3)


def test_objects_whose_functions_are_overridden(over: Any) -> None:
    class Named(over.Shape):  # type: ignore[misc, name-defined]
        def area(self) -> float:
            return 5.0

    class Loud(Named):
        def name(self) -> str:
            return "LOUD"

    for cls, name in ((Named, "shape a"), (Loud, "LOUD"), (Named, "shape a")):
        for made in (cls("a"), cls(label="a")):
            assert (over.area_of(made), over.name_of(made)) == (5, name)
    with pytest.raises(NotImplementedError):
        over.area_of(over.Shape("a"))


@cpython_only("PyPy destroys objects later")
def test_finalizers_run_once(over: Any) -> None:
    ended = []

    class Plain(over.Shape):  # type: ignore[misc, name-defined]
        def area(self) -> float:
            return 1.0

    class Ending(Plain):
        def __del__(self) -> None:
            ended.append(over.area_of(self))

    for cls in (Plain, Ending, Plain, Ending):
        made = cls("a")
        seen = weakref.ref(made)
        del made
        gc.collect()
        assert seen() is None
    assert ended == [1, 1]
    Plain.__del__ = lambda self: ended.append("plain")
    Plain("a")
    Ending("a")
    assert ended == [1, 1, "plain", 1]
