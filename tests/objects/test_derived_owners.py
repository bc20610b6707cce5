"""What a Python class added to an owner lives as long as references into it; cycles through both are collected."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from programs import run_program
from support import Build, compiles_classes, count_live, cpython_only

pytestmark = [*compiles_classes, cpython_only("PyPy keeps no wrapper alive for C++")]

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>

#include <vector>

namespace derived_owners {
int64_t alive = 0;
struct Wheel {
  int64_t size = 3;
};
struct Body {
  Wheel wheel;
};
struct World {
  Body body;
  Body* shared = &body;
  World() { ++alive; }
  World(const World&) = delete;
  ~World() { --alive; }
  Body* get() { return shared; }
};
World* remembered = nullptr;
struct Link {
  Link* next = nullptr;
};
struct Links {
  std::vector<Link> all;
  explicit Links(int64_t size) : all(size) {
    for (int64_t i = 1; i < size; ++i) all[i - 1].next = &all[i];
  }
};
}  // namespace derived_owners

using namespace derived_owners;
using anyffi::Returns;

ANYFFI_CLASS(Wheel, "derived_owners.Wheel").field("size", &Wheel::size);
ANYFFI_CLASS(Body, "derived_owners.Body").field("wheel", &Body::wheel);
ANYFFI_CLASS(World, "derived_owners.World")
    .init<>()
    .field("body", &World::body)
    .method("get", &World::get).returns(Returns::kReferenceInternal)
    .method("get_free", &World::get).returns(Returns::kReference)
    .method("get_kept", &World::get).returns(Returns::kReference).keep_alive<0, 1>()
    .method("watch", [](World& world) -> std::function<int64_t()> { return [&world] { return world.body.wheel.size; }; })
    .keep_alive<0, 1>()
    .method("mark", [](World&, anyffi::AnyValue value) { return value; }).keep_alive<0, 1>()
    .method("hold", [](World&, anyffi::List<anyffi::AnyValue> list) { return list; }).keep_alive<2, 1>()
    .method("share", [](World& world, World& other) { world.shared = other.get(); });
ANYFFI_CLASS(Link, "derived_owners.Link")
    .method("next", [](Link& link) { return link.next; }).returns(Returns::kReferenceInternal);
ANYFFI_CLASS(Links, "derived_owners.Links")
    .init<int64_t>()
    .method("first", [](Links& links) { return &links.all[0]; }).returns(Returns::kReferenceInternal);
ANYFFI_EXPORT(remember, [](World& world) { remembered = &world; });
ANYFFI_EXPORT(recall, [] { return remembered; }).returns(Returns::kReference);
ANYFFI_EXPORT(live, [] { return alive; });
"""

Get = Callable[[Any], Any]
WAYS: dict[str, Get] = {
    "method": lambda world: world.get(),
    "field": lambda world: world.body,
    "field of a field": lambda world: world.body.wheel,
    "keep_alive": lambda world: world.get_kept(),
}


@pytest.fixture
def module(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("derived_owners.cc", SOURCE))


@pytest.fixture
def world_class(module: Any) -> Any:
    class MyWorld(module.World):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    return MyWorld


@pytest.mark.parametrize("get", WAYS.values(), ids=WAYS)
def test_an_owner_keeps_what_python_has_added(module: Any, world_class: Any, get: Get) -> None:
    before = count_live(module)
    world = world_class("mine")
    module.remember(world)
    part = get(world)
    del world
    assert count_live(module) == before + 1
    assert (type(module.recall()), module.recall().name) == (world_class, "mine")
    del part
    assert count_live(module) == before


@pytest.mark.parametrize("get", WAYS.values(), ids=WAYS)
def test_cycles_with_an_owner_are_collected(module: Any, world_class: Any, get: Get) -> None:
    before = count_live(module)
    world = world_class("mine")
    world.part = get(world)
    world.parts = [get(world)]
    part = get(world)
    del world
    assert count_live(module) == before + 1
    del part
    assert count_live(module) == before


@pytest.mark.parametrize("kind", ["function", "tensor", "lists", "dict", "argument"])
def test_cycles_with_values_that_keep_an_owner_alive_are_collected(
    ffi: Any, module: Any, world_class: Any, kind: str
) -> None:
    calls: dict[str, Get] = {
        "function": lambda world: world.watch(),
        "tensor": lambda world: world.mark(np.zeros(3)),
        "lists": lambda world: world.mark([1, [2]]),
        "dict": lambda world: world.mark({"a": [2]}),
        "argument": lambda world: world.hold(ffi.List([1])),
    }
    before = count_live(module)
    world = world_class("mine")
    world.part = calls[kind](world)
    part = world.part
    del world
    assert count_live(module) == before + 1
    del part
    assert count_live(module) == before


@pytest.mark.parametrize(
    "value", [object(), print, ValueError("x"), ...], ids=["object", "function", "error", "none"]
)
def test_results_that_cannot_keep_an_owner_alive(module: Any, world_class: Any, value: Any) -> None:
    before = count_live(module)
    world = world_class("mine")
    if value is ...:
        # Results that refer to nothing need no owner.
        assert [world.mark(x) for x in (None, 1, "text", "t" * 50)] == [None, 1, "text", "t" * 50]
    else:
        with pytest.raises(TypeError) as caught:
            world.mark(value)
        assert str(caught.value) == (
            "mark: keep_alive<0, 1>(): the result is an object of Python, which cannot keep an argument alive. "
            "Objects of C++ classes, tensors and functions of C++ can"
        )
        del caught  # its frames hold arguments
    del world
    assert count_live(module) == before


def test_an_object_that_python_has_begins_to_keep_others_alive(module: Any, world_class: Any) -> None:
    before = count_live(module)
    world = world_class("mine")
    world.part = world.get_free()
    assert world.get_kept() is world.part
    del world
    assert count_live(module) == before


def test_the_second_of_two_owners_is_kept_with_what_python_has_added(module: Any, world_class: Any) -> None:
    before = count_live(module)
    first, second = world_class("first"), world_class("second")
    second.share(first)
    part = first.get()
    assert second.get() is part
    module.remember(second)
    del first, second
    assert count_live(module) == before + 2
    assert module.recall().name == "second"
    del part
    assert count_live(module) == before


LONG_LIST = """
import gc, threading
import anyffi

module = anyffi.load_module({library!r})

class Links(module.Links):
    pass

def walk():
    links = Links({size})
    links.itself = links
    link = links.first()
    del links
    while (following := link.next()) is not None:
        link = following
        del following
    gc.collect()
    print("collected")

threading.stack_size(512 * 1024)
thread = threading.Thread(target=walk)
thread.start()
thread.join()
"""


def test_the_collector_visits_objects_that_refer_into_each_other(ffi: Any, build: Build) -> None:
    library = build("derived_owners.cc", SOURCE)
    # In a process of its own: recursion through all of them would crash it.
    output = run_program(LONG_LIST.format(library=str(library), size=20_000), ffi.ffi_mode)
    assert output == "collected\n"
