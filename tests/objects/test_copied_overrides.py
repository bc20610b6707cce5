"""Copies, pickles and results of factories still call the Python methods that override C++ ones."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from typing import Any

import pytest
from derived_sources import DERIVED
from pickles import every_protocol
from support import Build, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("derived.cc", DERIVED))
    yield module
    module.forget()


@pytest.fixture
def round_class(lib: Any) -> Any:
    class Round(lib.Shape):  # type: ignore[misc, name-defined]
        def __init__(self, size: int) -> None:
            super().__init__("round", size)
            self.factor = 3

        def area(self) -> int:
            return self.factor * int(super().area())

    Round.__qualname__ = "Round"
    sys.modules[__name__].Round = Round
    return Round


def test_copies(round_class: Any, lib: Any) -> None:
    shape = round_class(2)
    assert lib.area_of(shape) == 12
    for made in (copy.copy(shape), copy.deepcopy(shape)):
        assert type(made) is round_class
        made.factor, made.size = 5, 3
        assert lib.area_of(made) == 45
        again = copy.copy(made)
        del made
        gc.collect()
        assert lib.area_of(again) == 45
    assert lib.area_of(shape) == 12
    plain = copy.copy(lib.Shape("a", 4))
    assert (type(plain), lib.area_of(plain)) == (lib.Shape, 16)


@every_protocol
def test_pickles(round_class: Any, lib: Any, protocol: int) -> None:
    shape = round_class(2)
    shape.factor = 7
    made = pickle.loads(pickle.dumps(shape, protocol))
    assert (type(made), made.factor, lib.area_of(made)) == (round_class, 7, 28)
    assert lib.area_of(pickle.loads(pickle.dumps(lib.Shape("a", 4), protocol))) == 16


def test_copies_live_on_in_cpp(round_class: Any, lib: Any) -> None:
    lib.keep(copy.copy(round_class(2)))
    gc.collect()
    if sys.implementation.name != "pypy":
        assert (lib.area_of_kept(), type(lib.get_kept())) == (12, round_class)


def test_abstract_class(lib: Any) -> None:
    class Job(lib.Task):  # type: ignore[misc, name-defined]
        def run(self) -> int:
            return 10 * int(self.x)

    job = Job()
    job.x = 4
    made = copy.copy(job)
    assert (type(made), lib.run(made)) == (Job, 40)
    made.x = 5
    assert (lib.run(made), lib.run(job)) == (50, 40)
    with pytest.raises(TypeError, match=r"only objects of Python's classes that derive from derive\.Task"):
        copy.copy(lib.chore())


def test_results_of_factories(lib: Any) -> None:
    class Twice(lib.Maker):  # type: ignore[misc, name-defined]
        def make(self) -> int:
            return 2 * int(super().make())

    assert (lib.make(Twice(4)), lib.make(lib.Maker(4))) == (8, 4)
