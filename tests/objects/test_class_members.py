"""What classes of C++ have in Python: constants, methods, fields, properties and operators."""

from __future__ import annotations

import dis
import sys
from typing import Any

import pytest
from class_sources import CLASSES
from support import CPYTHON, FREE_THREADED, Build, collect, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def geo(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("classes.cc", CLASSES))


def test_constants(geo: Any) -> None:
    assert (geo.Vec.SIZE, geo.Vec.NAMES, geo.Vec.ZERO) == (2, "xy", geo.Vec(0, 0))
    assert geo.Vec.ZERO is geo.Vec.ZERO is geo.Vec(1).ZERO
    assert geo.Vec.AXES == [geo.Vec(1, 0), geo.Vec(0, 1)]
    assert {"SIZE", "ZERO"} <= set(dir(geo.Vec))
    constant = geo.Vec.__dict__["SIZE"]
    assert constant.__doc__ == "How many coordinates there are."
    assert constant.__get__(None, geo.Vec) == constant.__get__(geo.Vec(1)) == 2
    with pytest.raises(AttributeError, match="read-only"):
        geo.Vec(1).SIZE = 3

    class Derived(geo.Vec):
        SIZE = 5

    assert (Derived.SIZE, Derived.NAMES, geo.Vec.SIZE) == (5, "xy", 2)


def test_methods(geo: Any) -> None:
    index = geo.Index(3)
    assert [index.add(5), index.add("four"), index.add(x=6), index.add(text="ab")] == [1, 2, 3, 4]
    assert geo.Index.add(index, 7) == 5
    add = index.add
    assert add(8) == 6
    assert (add.__self__, add.__func__) == (index, geo.Index.add)
    assert index.add_slowly(x=9) == 7
    assert index.get_name() == "none"
    assert (geo.Index.twice(4), index.twice(x=5)) == (8, 10)
    assert index.like(geo.Index(3))
    with pytest.raises(
        TypeError, match="descriptor 'get_name' for 'geo.Index' objects doesn't apply to a 'int' object"
    ):
        geo.Index.get_name(5)
    with pytest.raises(TypeError, match="doesn't apply to a 'Vec' object"):
        geo.Index.get_name(geo.Vec(1))
    with pytest.raises(TypeError, match=r"unbound method get_name\(\) needs an argument"):
        geo.Index.get_name()
    with pytest.raises(TypeError, match=r"takes 1 positional argument but 2 were given"):
        index.get_name(1)
    with pytest.raises(TypeError, match="expected geo.Index, got geo.Vec"):
        index.like(geo.Vec(1))


@pytest.mark.skipif(not CPYTHON or sys.version_info < (3, 10), reason="cannot make classes immutable")
def test_the_class_of_methods_cannot_be_changed(geo: Any) -> None:
    cls = type(geo.Index.__dict__["get_name"])
    with pytest.raises(TypeError, match=r"^cannot set '__get__' attribute of immutable type 'Method'"):
        cls.__get__ = None
    with pytest.raises(TypeError, match=r"^cannot set '__module__' attribute of immutable type"):
        del cls.__module__
    assert geo.Index(3).get_name() == "none"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the interpreter does not specialize instructions")
def test_the_interpreter_remembers_methods(geo: Any, ffi: Any) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("methods that marshal in Python are no method descriptors of the interpreter")
    if FREE_THREADED and sys.version_info < (3, 14):
        pytest.skip("the interpreter specializes no instructions without the GIL")

    def call(index: Any) -> None:
        for _ in range(100):
            index.get_name()

    call(geo.Index(3))
    names = [each.opname for each in dis.get_instructions(call, adaptive=True)]
    assert {"LOAD_METHOD_NO_DICT", "LOAD_ATTR_METHOD_NO_DICT"} & {*names}


def test_fields(geo: Any) -> None:
    index = geo.Index(3)
    index.ef = 12
    index.ef += 1
    index.name = "zoë"
    assert (index.ef, index.name, index.get_name()) == (13, "zoë", "zoë")
    for name, value, message in (
        ("ef", "x", "^geo.Index.ef: expected int, got str$"),
        ("ef", 1.5, "^geo.Index.ef: expected int, got float$"),
        ("name", 5, "^geo.Index.name: expected str, got int$"),
        ("where", 5, "^geo.Index.where: expected geo.Vec, got int$"),
        ("ef", [1], "^geo.Index.ef: expected int, got list$"),
        ("ef", {1}, "^geo.Index.ef: expected int, got set$"),
        ("ef", memoryview(b"x"), "^geo.Index.ef: expected int, got memoryview$"),
        ("tag", None, "^geo.Counted.tag: expected int, got None"),
    ):
        with pytest.raises(TypeError, match=message):
            setattr(index, name, value)
    with pytest.raises(OverflowError):
        index.ef = 2**70
    assert index.ef == 13
    for name in ("fixed", "size"):
        # Python's own words, which name the attribute since 3.10.
        words = f"'{name}'" if hasattr(property, "__set_name__") else "attribute"
        with pytest.raises(AttributeError, match=words):
            setattr(index, name, 4)
        with pytest.raises(AttributeError):
            delattr(index, name)
    with pytest.raises(AttributeError, match="nothing"):
        index.nothing = 1
    with pytest.raises(AttributeError):
        index.nothing
    assert geo.Index.ef.__doc__ == "Breadth of a search."
    assert geo.Index.ef.__get__(index) == 13
    with pytest.raises((TypeError, AttributeError)):
        geo.Index.ef.__get__(geo.Vec(1))
    with pytest.raises((TypeError, AttributeError)):
        geo.Index.ef.__set__(geo.Vec(1), 1)


def test_a_field_of_a_class_refers_into_its_owner(geo: Any) -> None:
    index = geo.Index(3)
    where = index.where
    where.x = 9
    assert index.where.x == 9
    index.where = geo.Vec(3, 4)
    assert (where.x, where.y) == (3, 4)
    collect()
    before = geo.live()
    del index
    collect()
    assert geo.live() == before
    assert where.y == 4
    where += geo.Vec(1, 1)
    assert where.x == 4
    del where
    collect()
    assert geo.live() == before - 1


def test_properties(geo: Any) -> None:
    index = geo.Index(3)
    index.breadth = 20
    assert (index.breadth, index.ef, index.size, index.kind) == (20, 20, 0, 2)
    assert geo.Index.breadth.__doc__ == "The breadth."
    with pytest.raises(ValueError, match="a breadth is positive"):
        index.breadth = 0
    with pytest.raises(TypeError, match="expected int, got str"):
        index.breadth = "x"
    assert index.breadth == 20


def test_operators(geo: Any) -> None:
    one, two = geo.Vec(1, 2), geo.Vec(3, 4)
    assert ((one + two).x, (-one).y, one * two, (one * 2).y, (2 * one).y) == (4, -2, 11, 4, 4)
    assert one == geo.Vec(1, 2)
    assert one != two
    assert one < two
    assert two > one
    assert (one == 5, one != 5, one == "x", one in [two, one]) == (False, True, False, True)
    same = one
    one += two
    assert one is same
    assert (same.x, same.y) == (4, 6)
    for use, words in (
        (lambda: one + 5, r"unsupported operand type\(s\) for \+: 'Vec' and 'int'"),
        (lambda: one * "x", "can't multiply|unsupported operand"),
        (lambda: one < 5, "'<' not supported between instances of 'Vec' and 'int'"),
        (lambda: one <= two, "'<=' not supported"),
        (lambda: geo.Vec.__add__(5, one), "descriptor '__add__' for 'geo.Vec' objects"),
        (lambda: hash(one), "unhashable type: 'Vec'"),
    ):
        with pytest.raises(TypeError, match=words):
            use()
    assert geo.Vec.__add__(one, 5) is NotImplemented
    for operands in ((), (two, two)):
        with pytest.raises(TypeError, match="__add__"):
            one.__add__(*operands)
    assert one.itself() is one
    assert list(geo.Vec(7, 8)) == [7, 8]  # by index

    class Other:
        def __radd__(self, left: Any) -> str:
            return f"added to {left.x}"

        def __eq__(self, other: object) -> bool:
            return True

    assert one + Other() == "added to 4.0"
    assert one == Other()


def test_items_calls_and_iteration(geo: Any) -> None:
    index = geo.Index(3)
    for x in (5, 6, 7):
        index.add(x)
    index[1] = 60
    assert (len(index), index[1], 60 in index, 8 in index, index(4), list(index)) == (
        3,
        60,
        True,
        False,
        12,
        [5, 60, 7],
    )
    with pytest.raises(IndexError):
        index[3]
    with pytest.raises(TypeError):
        index["x"]
    collect()
    before = geo.live()
    iterator = iter(index)
    del index
    collect()
    assert geo.live() == before
    assert [*iterator] == [5, 60, 7]
    assert next(iterator, None) is None
    del iterator
    collect()
    assert geo.live() == before - 1


def test_an_object_that_can_be_called_is_no_function(geo: Any, ffi: Any) -> None:
    compose = ffi.get_global_func("testing.stl.compose")
    for called in (geo.Index(3), type("Own", (geo.Index,), {})(3)):
        with pytest.raises(TypeError, match=r"\], got geo\.Index; pass its \.__call__$"):
            compose(called, abs)
        assert callable(compose(called.__call__, abs))
    with pytest.raises(TypeError, match=r"\], got geo\.Vec$"):
        compose(geo.Vec(1), abs)


def test_other_methods_of_python(geo: Any) -> None:
    with geo.Guard() as guard:
        assert (guard.depth, str(guard), bool(guard), hash(guard)) == (1, "1", True, 5)
    assert (guard.depth, bool(guard)) == (0, False)


def test_representation(geo: Any, ffi: Any) -> None:
    assert repr(geo.Vec(1, 2)) == str(geo.Vec(1, 2)) == "geo.Vec(x=1.0, y=2.0)"
    assert repr(geo.Square(2)) == "geo.Square(side=2.0)"
    assert repr(geo.Leaf()).startswith(
        "geo.Leaf(tag=7, dim=1, space='leaf', ef=10, where=geo.Vec(x=1.0, y=2.0)"
    )
    node = geo.Node("a")
    node.children.append(node)
    assert repr(node) == "geo.Node(name='a', children=anyffi.List([geo.Node(...)]))"
    assert repr(node) == repr(node)
    node.children.clear()
    assert ffi.get_global_func("anyffi.value.repr")(geo.Vec(1)) == "geo.Vec(x=1.0, y=0.0)"


def test_odd_names(geo: Any) -> None:
    odd = geo.OddGeometry()
    assert (odd._anyffi_address_(), odd._anyffi_move_from_(1)) == (1, 2)
    assert getattr(odd, "class")() == 3
    assert repr(odd) == "OddGeometry(x=1)"
    assert type(odd).__name__ == "OddGeometry"
