"""The direct parts of values, and values made of other parts."""

from __future__ import annotations

import enum
import functools
from typing import Any, Callable

import anyffi
import pytest
from calculus_sources import IR
from support import CPYTHON, Build, needs_compilers

pytestmark = pytest.mark.keeps_live("types are never freed")

#: Values, and the steps to their parts.
PARTS: list[tuple[Any, list[tuple[str, Any]]]] = [
    ([5, ["a"], "a"], [("index", 0), ("index", 1), ("index", 2)]),
    ((5, [6]), [("index", 0), ("index", 1)]),
    (
        {"a": [1], (1, 2): {"b": 3}},
        [("element", "a"), ("key", "a"), ("element", (1, 2)), ("key", (1, 2))],
    ),
    ({3, (4,)}, [("element", 3), ("element", (4,))]),
    (frozenset({"x"}), [("element", "x")]),
    (slice(1, [2]), [("field", "start"), ("field", "stop"), ("field", "step")]),
]


def path(step: Any) -> Any:
    from anyffi.structure import AccessPath

    return AccessPath([step])


def parts_of(ffi: Any, value: Any) -> list[Any]:
    return [part for _, part in ffi.children(value)]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(("value", "steps"), PARTS, ids=lambda x: type(x).__name__)
def test_children(ffi: Any, value: Any, steps: list[Any]) -> None:
    from anyffi.structure import AccessStep

    value = ffi.convert(value)
    found = ffi.children(value)
    assert type(found) is list
    assert {type(step) for step, _ in found} == {AccessStep}
    # A set of Python has its own order.
    assert sorted(repr(ffi.to_python(step.key)) for step, _ in found) == sorted(repr(x) for _, x in steps)
    assert [step.kind for step, _ in found] == [kind for kind, _ in steps]
    for step, part in found:
        assert ffi.structural_equal(path(step).resolve(value), part)
    visited: list[Any] = []
    ffi.visit(value, lambda x: (visited.append(x), len(visited) == 1)[1])
    assert parts_of(ffi, value) == visited[1:]
    mapped: list[Any] = []
    assert ffi.map_children(value, lambda x: (mapped.append(x), x)[1]) is value or isinstance(value, slice)
    assert parts_of(ffi, value) == mapped


@pytest.mark.parametrize(
    "value", [None, 5, 2**70, 1.5, 1j, "text", "a text on the heap", b"x", ..., len], ids=repr
)
def test_leaves_have_none(ffi: Any, value: Any) -> None:
    def fail(part: Any) -> Any:
        raise AssertionError(part)

    assert ffi.children(value) == []
    assert ffi.map_children(value, fail) == value
    for empty in ((), [], {}, set(), frozenset()):
        assert ffi.children(empty) == []
        assert ffi.to_python(ffi.map_children(empty, fail)) == empty


def test_parts_are_the_objects_themselves(ffi: Any) -> None:
    inner, function = ffi.List([1]), print
    parts = parts_of(ffi, ffi.Dict({"k": inner, "f": function}))
    assert parts[1] is inner
    assert parts[3] is function


def test_each_part_can_be_replaced(ffi: Any) -> None:
    for value, steps in PARTS:
        value = ffi.convert(value)
        for number, (step, _) in enumerate(ffi.children(value)):
            made = ffi.replace(value, path(step), "new")
            assert ffi.to_python(parts_of(ffi, made))[number] == "new"
            others = parts_of(ffi, value)
            others[number] = "new"
            assert parts_of(ffi, made) == others
        assert len(ffi.children(value)) == len(steps)


def test_paths_that_lead_to_no_part(ffi: Any) -> None:
    """Such a step may name something that can be read, but that is no part."""
    for value, step, error in (
        ({0: "a"}, ("index", 0), IndexError),
        ([1, 0], ("key", 0), KeyError),
        ([1, 0], ("element", 0), KeyError),
        ("ab", ("index", 0), IndexError),
        ("ab", ("element", "b"), KeyError),
    ):
        with pytest.raises(error):
            ffi.replace(value, path(step), 9)


def test_one_level_is_mapped(ffi: Any) -> None:
    def more(x: Any) -> Any:
        return x + 1 if type(x) is int else x

    for value, mapped in (
        ([1, [1], "a"], [2, [1], "a"]),
        ((1, (1,)), (2, (1,))),
        ({1: 1, "a": [1]}, {2: 2, "a": [1]}),
        ({1, (1,)}, {2, (1,)}),
        (frozenset({1, (1,)}), frozenset({2, (1,)})),
        (slice(1, (1,)), slice(2, (1,))),
    ):
        given = ffi.convert(value)
        made = ffi.map_children(given, more)
        assert type(made) is type(given)
        assert ffi.to_python(made) == mapped
        assert ffi.to_python(given) == value
    shape = ffi.Shape([1, 2])
    assert type(ffi.map_children(shape, more)) is ffi.Shape
    assert ffi.to_python(ffi.map_children(shape, str)) == ("1", "2")
    assert ffi.to_python(ffi.map_children([1, "a"], {int: lambda x: -x, str: str.upper})) == [-1, "A"]
    assert ffi.to_python(ffi.map_children(ffi.Map({1: 2}), more)) == {2: 3}


def test_what_does_not_change_is_shared(ffi: Any) -> None:
    kept = ffi.List([2])
    value = ffi.List([1, kept, (kept,), "a text on the heap", 2**70])
    assert ffi.map_children(value, lambda x: x) is value
    assert ffi.map_children(value, {bytes: len}) is value
    made = ffi.map_children(value, lambda x: 5 if x == 1 else x)
    assert made == [5, *value[1:]]
    assert made[1] is kept
    assert made[2][0].same_as(kept)


def test_a_function_sees_each_reference(ffi: Any) -> None:
    """A part is mapped at each of its places, since scopes may differ between them."""
    shared = ffi.List([1])
    seen: list[Any] = []
    made = ffi.map_children(ffi.List([shared, shared]), lambda x: (seen.append(x), len(seen))[1])
    assert seen == [shared, shared]
    assert made == [1, 2]


def test_values_that_contain_themselves(ffi: Any) -> None:
    value = ffi.List([1])
    value.append(value)
    assert parts_of(ffi, value)[1] is value
    assert ffi.map_children(value, lambda x: x) is value
    made = ffi.map_children(value, lambda x: 2 if x == 1 else x)
    assert made[0] == 2
    assert made[1] is value
    value.clear()


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize("value", [Color.RED, Level.LOW, len, ValueError("x"), object], ids=repr)
def test_objects_of_python_are_unchanged(ffi: Any, value: Any) -> None:
    if not CPYTHON:
        pytest.skip("on PyPy each conversion of an object makes a new handle")
    whole = ffi.List([value])
    assert ffi.map_children(whole, lambda x: x) is whole


def test_failures_are_those_of_map(ffi: Any) -> None:
    def fail(x: Any) -> Any:
        if x == 3:
            raise ZeroDivisionError("three")
        return x if x != 1 else 7

    value = ffi.List([1, [2], 3])
    for run in (ffi.map_children, ffi.map):
        with pytest.raises(ZeroDivisionError, match="three"):
            run(value, fail)
        assert ffi.to_python(value) == [1, [2], 3]
    for given, function in (
        ({1: 2, 3: 4}, {int: lambda x: 0}),
        ({1, 2}, {int: lambda x: 0}),
        ({1: 2}, {int: lambda x: [x]}),
        ([1], 1),
        ([1], {int: 1}),
        ([1], {"int": print}),
    ):
        found = outcome(ffi.map_children, given, function)
        assert found == outcome(ffi.map, given, function)
        assert issubclass(found[0], (TypeError, ValueError))


def test_a_function_that_changes_the_value(ffi: Any) -> None:
    def remove(x: Any) -> Any:
        mapping.pop(x, None)
        return x

    mapping = ffi.Dict({1: "one", 3: "three"})
    with pytest.raises(RuntimeError, match="^a Dict was changed while its parts were read$"):
        ffi.map_children(mapping, remove)
    values = ffi.List(["a text on the heap", [1], 3])
    assert ffi.map_children(values, lambda x: (values.clear(), 5)[1]) == [5]


def test_dataclasses(ffi: Any) -> None:
    class Point:
        x: int
        rest: object = None

    Point = ffi.dataclass("children.Point", frozen=True)(Point)  # type: ignore[misc]
    rest = ffi.List([1])
    point = Point(1, rest)
    assert ffi.children(point) == [(("field", "x"), 1), (("field", "rest"), rest)]
    made = ffi.map_children(point, {int: lambda x: x + 1})
    assert type(made) is Point
    assert (made.x, made.rest is rest, point.x) == (2, True, 1)
    assert ffi.map_children(point, lambda x: x) is point
    for wrong in ("a", None, 2**70, [1], 1.5):
        change = {int: lambda x, wrong=wrong: wrong}
        found = outcome(ffi.map_children, Point(1), change)
        assert found == outcome(ffi.map, Point(1), change)
        assert found[1].startswith("children.Point.x: ")

    class Colored(Point):
        """A class in Python only, whose attributes are not fields."""

    colored = Colored(1, rest)
    object.__setattr__(colored, "color", "red")
    assert ffi.map_children(colored, lambda x: x) is colored
    assert colored.color == "red"
    assert [step.key for step, _ in ffi.children(colored)] == ["x", "rest"]
    change = {int: lambda x: x + 1}
    assert type(ffi.map_children(colored, change)) is type(ffi.map(colored, change)) is Point


def test_a_pass_with_an_environment(ffi: Any) -> None:
    class Var:
        name: str = anyffi.field(structural="ignore")

    class Let:
        value: object
        var: object = anyffi.field(structural="defines")
        body: object

    Var = ffi.dataclass("children.Var", structural="variable", eq=False)(Var)  # type: ignore[misc]
    Let = ffi.dataclass("children.Let")(Let)  # type: ignore[misc]

    @functools.singledispatch
    def substitute(value: Any, known: dict[Any, Any]) -> Any:
        return ffi.map_children(value, lambda part: substitute(part, known))

    @substitute.register(Var)
    def _(var: Any, known: dict[Any, Any]) -> Any:
        return known.get(var, var)

    @substitute.register(Let)
    def _(let: Any, known: dict[Any, Any]) -> Any:
        inner = {var: value for var, value in known.items() if var is not let.var}
        return Let(substitute(let.value, known), let.var, substitute(let.body, inner))

    x, y = Var("x"), Var("y")
    term = ffi.List([x, Let((x, 1), x, {"k": x}), Let(x, y, (x, [y]))])
    expected = ffi.List([5, Let((5, 1), x, {"k": x}), Let(5, y, (5, [y]))])
    assert ffi.structural_equal(substitute(term, {x: 5}), expected)
    assert ffi.structural_equal(substitute(term, {}), term)
    leaf = ffi.List([x, {"k": (x,)}])
    assert substitute(leaf, {y: 1}) is leaf


def test_recursion_ends(ffi: Any) -> None:
    def walk(value: Any) -> Any:
        return ffi.map_children(value, walk)

    value: Any = ffi.List()
    for _ in range(20_000):
        value = ffi.List([value])
    with pytest.raises(RecursionError):
        walk(value)


SUBSTITUTE = """
static AnyValue substitute(const AnyValue& value, const AnyValue& var, const AnyValue& by) {
  if (value.type_code() == var.type_code() && value.raw().as_object == var.raw().as_object) return by;
  return anyffi::structural_map_children(value, anyffi::Function::from([&](const AnyValue& part) {
    return substitute(part, var, by);
  }));
}
ANYFFI_EXPORT(substitute, &substitute, arg("value"), arg("var"), arg("by"));
ANYFFI_EXPORT(children, [](AnyValue value) { return anyffi::structural_children(value); }, arg("value"));

struct Even {
  const int64_t number;
  explicit Even(int64_t number) : number(number / 2 * 2) {}
};
ANYFFI_CLASS(Even, "calculus.Even").init<int64_t>(arg("number")).field("number", &Even::number);
"""


@needs_compilers
@pytest.mark.slow("compiling")
def test_objects_of_cpp(ffi: Any, build: Build) -> None:
    calculus = ffi.load_module(build("calculus_children.cc", IR + SUBSTITUTE))
    x, y = calculus.Var("x"), calculus.Var("y")
    pair = calculus.Pair(x, [x, 1])
    term = calculus.Lambda([y], pair)
    assert [step for step, _ in ffi.children(term)] == [("field", "params"), ("field", "body")]
    assert parts_of(ffi, term)[1] is pair
    assert ffi.to_python(calculus.children(calculus.Pair(1, 2))) == ((0, "a", 1), (0, "b", 2))
    # Fields that are compared by identity, or not compared, are parts, too.
    assert ffi.children(calculus.Unique(5)) == [(("field", "number"), 5)]
    assert ffi.children(x) == [(("field", "name"), "x")]
    assert ffi.children(calculus.Plain()) == []
    saved = calculus.Saved(1, 2)
    ((step, state),) = ffi.children(saved)
    assert step == ("field", "__getstate__()")
    assert path(step).resolve(saved) == state == (1, 2)
    changed = ffi.map_children(saved, lambda state: (*state[:1], 7))
    assert changed.__getstate__() == (1, 7)

    made = ffi.map_children(pair, lambda part: y if part is x else part)
    assert type(made) is calculus.Pair
    assert made.a is y
    assert made.b is pair.b
    assert ffi.map_children(pair, lambda part: part) is pair
    made = calculus.substitute(term, x, 5)
    assert (made.body.a, ffi.to_python(made.body.b), made.params is term.params) == (5, [5, 1], True)
    assert calculus.substitute(term, calculus.Var("z"), 5) is term
    for given, change, error in (
        (x, {str: lambda name: 5}, TypeError),
        (calculus.Unique(1), {int: str}, TypeError),
        (calculus.Even(2), {int: lambda number: number + 1}, ValueError),
    ):
        found = outcome(ffi.map_children, given, change)
        assert found == outcome(ffi.map, given, change)
        assert found[0] is error
