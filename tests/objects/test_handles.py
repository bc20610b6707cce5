"""Objects that refer into others, which they keep alive."""

from __future__ import annotations

import gc
import re
import weakref
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from handle_sources import HANDLES
from support import CPYTHON, Build, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def handles(ffi: Any, build: Build) -> Any:
    return ffi.load_module(str(build("handles.cc", HANDLES)))


def values(found: Any) -> list[int]:
    gc.collect()
    return [each.value for each in found]


@pytest.mark.parametrize(
    "read",
    [
        lambda document: [document.first()],
        lambda document: document.all(),
        lambda document: document.by_name()["a"],
        lambda document: document.as_array(),
        list,
        lambda document: [next(iter(document))],
    ],
    ids=["object", "vector", "map", "array", "iteration", "iterator"],
)
def test_results_keep_what_they_refer_to(handles: Any, read: Callable[[Any], Any]) -> None:
    assert values(read(handles.Document())) in ([1], [1, 2, 3])


def test_an_empty_result_keeps_nothing(handles: Any) -> None:
    assert handles.Document().by_name()["b"] == []


def test_iteration_over_references(handles: Any) -> None:
    car = handles.Car()
    for wheel in car:
        wheel.size += 4
    assert car.sizes() == 56
    assert [x is y for x, y in zip(car, car.all())] == [True, True]
    for kind in (handles.Car, handles.Truck):
        wheels = list(kind())
        gc.collect()
        assert [wheel.size for wheel in wheels] == [1, 2]


@pytest.mark.parametrize("name", ["ByReference", "ByPointer", "ByIndex"])
def test_iterators_that_hold_their_elements(handles: Any, name: str) -> None:
    make = getattr(handles, name)
    assert [each.value for each in make()] == [1, 2, 3]
    found = list(make())
    assert (values(found), len(set(map(id, found)))) == ([1, 2, 3], 3)
    assert next(iter(make())).value == 1


def test_elements_without_a_copy_that_iterators_hold(handles: Any) -> None:
    with pytest.raises(TypeError, match="an iterator holds its elements, which cannot be copied"):
        list(handles.Wholes())


def test_iteration_over_pointers(handles: Any) -> None:
    train = handles.Train()
    for wheel in train:
        if wheel is not None:
            wheel.size += 4
    a, b, nothing = train
    del train, wheel
    gc.collect()
    assert (a.size, b.size, nothing) == (5, 6, None)


def test_the_value_of_a_property_is_kept_alive(handles: Any) -> None:
    definition = handles.Definition()
    assert definition.wheel is None
    definition.wheel = handles.Wheel(7)
    gc.collect()
    assert definition.wheel.size == 7


@pytest.mark.skipif(not CPYTHON, reason="on PyPy, objects live on without their Python part")
def test_objects_that_are_kept_alive_keep_their_python_part(handles: Any) -> None:
    class Tagged(handles.Texture):  # type: ignore[misc, name-defined]
        tag = ""

    class Doubling(handles.Listener):  # type: ignore[misc, name-defined]
        by = 0

        def hear(self, x: int) -> int:
            return self.by * x

    world = handles.World()
    texture, listener = Tagged(), Doubling()
    texture.tag, listener.by = "mine", 2
    world.texture = texture
    world.add(listener)
    # Assigned again, but kept only once.
    world.texture = texture
    with pytest.raises(ValueError, match="other objects refer to this object"):
        handles.World().take(texture)
    found = weakref.ref(texture), weakref.ref(listener)
    del texture, listener
    gc.collect()
    assert (world.texture.tag, world.texture.id, world.say(4)) == ("mine", 3, 8)
    del world
    gc.collect()
    assert [ref() for ref in found] == [None, None]


@pytest.mark.skipif(not CPYTHON, reason="PyPy does not collect cycles through objects of the runtime")
@pytest.mark.parametrize("name", ["Listener", "Texture"])
def test_cycles_through_what_is_kept_alive_are_collected(handles: Any, name: str) -> None:
    class Mine(getattr(handles, name)):  # type: ignore[misc]
        pass

    world, mine = handles.World(), Mine()
    if name == "Listener":
        world.add(mine)
    else:
        world.texture = mine
    mine.world = world
    found = weakref.ref(mine)
    del mine, world
    gc.collect()
    gc.collect()
    assert found() is None


def test_classes_of_others_are_made_of_values(handles: Any) -> None:
    body = handles.Body()
    assert (handles.length((3, 4)), handles.length([1, 2]), handles.length(handles.Point(1, 1))) == (25, 5, 2)
    body.position = (1, 2)
    body.velocity = (3, 4)
    body.path = [(1, 2), handles.Point(3, 4)]
    assert (body.position.x, body.velocity.y, body.path[1].x) == (1, 4, 3)
    body.position = handles.Point(5, 6)
    assert (body.position.y, handles.Body((7, 8)).position.x) == (6, 7)
    expected = r"handles.Body.position, at \[0\]: expected float, got str"
    with pytest.raises(TypeError, match=expected):
        body.position = ("a", 1)
    with pytest.raises(TypeError, match="expected handles.Point, got str"):
        body.position = "a"
    with pytest.raises(ValueError, match="no number"):
        handles.length((float("nan"), 1))
    assert body.position.y == 6


def test_a_union(handles: Any) -> None:
    one = handles.Id()
    one.whole = 258
    assert (one.first, np.asarray(one.bytes).tolist()) == (2, [2, 1, 0, 0])


def test_an_object_that_is_its_own_iterator(handles: Any) -> None:
    count = handles.Count()
    assert iter(count) is count
    assert (next(count), list(count)) == (3, [2, 1])


#: Options of the function before them, and their names in errors.
OPTIONS = (
    ("release_gil()", "release_gil()"),
    ("returns(anyffi::Returns::kReference)", "returns()"),
    ("keep_alive<1, 2>()", "keep_alive()"),
)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        (
            '.field("x", &P::x).property("x", [](const P& p) { return p.x; })',
            "x: there is a member of this name",
        ),
        (
            '.property("x", [](const P& p) { return p.x; }).field("x", &P::x)',
            "x: there is a member of this name",
        ),
        (
            '.method("f", [](P&) {}).static_method("f", [] {})',
            "f: a method and a static method have this name",
        ),
        *(
            (member, "a member cannot have the name 'a b': it is not an identifier$")
            for member in (
                '.method("a b", [](P&) {})',
                '.static_method("a b", [] {})',
                '.field("a b", &P::x)',
                '.property("a b", [](const P& p) { return p.x; })',
                '.constant("a b", 1)',
            )
        ),
        ('.method("", [](P&) {})', "a member cannot have the name '': it is not an identifier$"),
        ('.constant("C", 1).constant("C", 2)', "C: there is a member of this name"),
        ('.method("f", [](P&) {}).keep_alive<1, 2>()', r"f: keep_alive\(\) counts the result as 0"),
        (
            '.init([](const P&) { return P(); }, anyffi::arg("p")).keep_alive<0, 1>()',
            r"\w+: keep_alive\(\) .* from 1, which is the object of a method or constructor$",
        ),
        *(
            (
                f'.field("x", &P::x).{option}',
                rf"x: {re.escape(name)} stands behind .*, and not behind a field$",
            )
            for option, name in OPTIONS
        ),
    ],
)
def test_declarations_are_refused(ffi: Any, build: Build, members: str, problem: str) -> None:
    name = f"refused_{zlib.crc32(members.encode())}"
    source = (
        "#include <anyffi/anyffi.h>\nnamespace { struct P { int x = 1; }; }\n"
        f'ANYFFI_CLASS(P, "refused.{name}").init<>(){members};\n'
    )
    with pytest.raises(ValueError, match=rf"^refused\.{name}: {problem}"):
        ffi.load_module(str(build(f"{name}.cc", source)))


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ('ANYFFI_CLASS(P, "refused.1P").init<>()', "refused.1P: a class cannot have the name '1P': "),
        ('ANYFFI_CLASS(P, "refused.P q")', "refused.P q: a class cannot have the name 'P q': "),
        ('ANYFFI_CLASS(P, "refused.")', "refused.: a class cannot have the name '': "),
        ('ANYFFI_ENUM(E, "refused.2E")', "refused.2E: a class cannot have the name '2E': "),
        (
            'ANYFFI_ENUM(E, "refused.Named").value("ä", E::kA).value("b-c", E::kA)',
            "refused.Named: a member cannot have the name 'b-c': ",
        ),
        (
            'ANYFFI_EXCEPTION(X, "refused.3X", "ValueError")',
            "refused.3X: a class cannot have the name '3X': ",
        ),
        (
            'ANYFFI_EXCEPTION(X, "refused.X", "ValueError").attribute("the x", &X::x)',
            "refused.X: a member cannot have the name 'the x': ",
        ),
    ],
)
def test_names_that_are_no_identifiers(ffi: Any, build: Build, declared: str, problem: str) -> None:
    source = (
        "#include <anyffi/anyffi.h>\nnamespace { struct P {}; enum class E { kA }; struct X { int x; }; }\n"
        f"{declared};\n"
    )
    path = str(build(f"named_{zlib.crc32(declared.encode())}.cc", source))
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^{re.escape(problem)}it is not an identifier$"):
            ffi.load_module(path)


def test_options_follow_their_function(ffi: Any, build: Build) -> None:
    for option, name in OPTIONS:
        key = f"early_{name[:-2]}"
        source = (
            "#include <anyffi/anyffi.h>\nnamespace { struct P { int x = 1; }; }\n"
            f'ANYFFI_CLASS(P, "refused.{key}").{option}.init<>();\n'
        )
        problem = f"refused.{key}: {name} stands behind the method, constructor or property that it is about"
        with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
            ffi.load_module(str(build(f"{key}.cc", source)))
