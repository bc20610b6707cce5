"""Classes of C++ in Python: construction, inheritance, subclasses, copies, pickles and identity."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import weakref
from typing import Any

import pytest
from class_sources import CLASSES
from support import Build, collect, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def geo(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("classes.cc", CLASSES))


def test_construction(geo: Any) -> None:
    index = geo.Index(3)
    assert (index.dim, index.space, index.ef) == (3, "l2", 10)
    assert geo.Index(dim=4, space="ip").space == geo.Index(4, "ip").space == "ip"
    assert (geo.Index("cosine").dim, geo.Index(space="cosine").space) == (1, "cosine")
    assert type(index) is geo.Index
    assert geo.Moved(5).value == 5
    with pytest.raises(ValueError, match="dim is negative"):
        geo.Index(-1)
    with pytest.raises(
        TypeError, match=r"Vec\(x: float, y: float = 0.0\) -> geo.Vec: argument 0 \(x\): expected float"
    ):
        geo.Vec("x")
    with pytest.raises(TypeError, match=r"Vec\(\) missing 1 required positional argument: 'x'"):
        geo.Vec()
    with pytest.raises(TypeError, match=r"Vec\(\) got an unexpected keyword argument 'z'"):
        geo.Vec(1, z=2)
    with pytest.raises(TypeError, match=r"Index\(\): no overload takes \(list\)"):
        geo.Index([])


def test_classes_without_constructors(geo: Any) -> None:
    for cls in (geo.Counted, geo.Abstract):
        with pytest.raises(TypeError, match=rf"^cannot create '{cls.__module__}.{cls.__name__}' instances"):
            cls()
    assert geo.Square(2).area() == geo.area(geo.Square(2)) == 4


def test_initialization_happens_once(geo: Any) -> None:
    vec = geo.Vec(1)
    with pytest.raises(TypeError, match="^Vec is already initialized$"):
        vec.__init__(2)
    assert vec.x == 1
    collect()
    before = geo.live()
    index = geo.Index(1)
    with pytest.raises(TypeError, match="already initialized"):
        index.__init__(1)
    assert geo.live() == before + 1
    with pytest.raises(
        TypeError, match="descriptor '__init__' requires a 'geo.Vec' object but received a 'int'"
    ):
        geo.Vec.__init__(5, 1)
    with pytest.raises(TypeError, match="descriptor '__init__' of 'geo.Vec' object needs an argument"):
        geo.Vec.__init__()
    with pytest.raises(TypeError, match="requires a 'geo.Vec' object but received a 'Square'"):
        geo.Vec.__init__(object.__new__(geo.Square), 1)


def test_objects_that_were_not_initialized(geo: Any) -> None:
    class Lazy(geo.Vec):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

    lazy = Lazy()
    uses = (
        lambda: lazy.x,
        lambda: setattr(lazy, "x", 1),
        lazy.itself,
        lambda: geo.sum([lazy]),
        lambda: lazy + lazy,
    )
    for use in uses:
        with pytest.raises(ValueError, match="this Lazy is empty: __init__ was not called"):
            use()
    assert repr(lazy).endswith("Lazy object, not initialized>")
    geo.Vec.__init__(lazy, 4)
    assert lazy.x == 4


def test_inheritance(geo: Any) -> None:
    assert [cls.__qualname__ for cls in geo.Leaf.__mro__[:4]] == ["Leaf", "Index", "Counted", "Object"]
    leaf, index = geo.Leaf(), geo.Index(2)
    # The base lies at an offset in the derived class.
    for x in (leaf, index):
        assert isinstance(x, geo.Counted)
        assert (x.tag, x.kind, geo.tag_of(x), geo.tag_of_ref(x)) == (7, 2, 27, 7)
        x.tag = 8
        assert (geo.tag_of(x), geo.Counted.tag.__get__(x), x.dim) == (28, 8, x.dim)
    assert leaf.add(5) == 1
    assert (leaf.depth, leaf.space) == (1, "leaf")
    assert type(geo.new_leaf()) is geo.Leaf
    with pytest.raises(TypeError, match="expected geo.Index, got geo.Vec"):
        index.like(geo.Vec(1))


def test_values(geo: Any, ffi: Any) -> None:
    vec = geo.Vec(1, 2)
    assert geo.moved(vec).x == 100
    assert vec.x == 1
    total = geo.sum([vec, geo.Vec(2), vec])
    assert (total.x, total.y) == (4, 4)
    with pytest.raises(TypeError, match=r"argument 0 \(all\), at \[1\]: expected geo.Vec, got int"):
        geo.sum([vec, 5])
    echo = ffi.get_global_func("testing.echo")
    assert echo(vec) is vec
    assert echo([vec])[0] is vec
    assert geo.Wide(5).is_aligned()
    assert geo.Wide(6).x == 6


def test_copies_and_pickles(geo: Any, ffi: Any) -> None:
    vec = geo.Vec(1, 2)
    for made in (copy.copy(vec), copy.deepcopy(vec), copy.deepcopy(ffi.List([vec]))[0],
                 *(pickle.loads(pickle.dumps(vec, protocol)) for protocol in range(6))):  # fmt: skip
        assert made == vec
        assert made is not vec
        assert type(made).__qualname__ == "Vec"
    assert type(copy.copy(vec)) is type(copy.deepcopy(vec)) is geo.Vec
    pair = copy.deepcopy([vec, vec])
    assert pair[0] is pair[1]
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle 'Index' object"):
            make(geo.Index(1))


def test_copies_with_other_values(geo: Any) -> None:
    class Derived(geo.Vec):  # type: ignore[misc, name-defined]
        extra: Any = None

    vec, derived = geo.Vec(1, 2), Derived(1, 2)
    derived.extra = [1]
    for value in (vec, derived):
        made = value.__replace__(y=5)
        assert (type(made), made.x, made.y, value.y) == (type(value), 1, 5, 2)
        assert value.__replace__() == value
        if sys.version_info >= (3, 13):
            assert copy.replace(value, x=7).x == 7
    assert derived.__replace__(x=0).extra is derived.extra
    for name in ("z", "itself", "__class_getitem__", "_anyffi_address"):
        with pytest.raises(
            TypeError, match=rf"^Vec\.__replace__\(\) got an unexpected keyword argument '{name}'$"
        ):
            vec.__replace__(**{name: 1})
    with pytest.raises(TypeError, match="expected float, got str"):
        vec.__replace__(x="text")
    assert not hasattr(geo.Index(1), "__replace__")


class Attributes:
    """A Python base, beside a C++ class, of the class below."""

    extra: Any


def test_subclasses_in_python(geo: Any) -> None:
    class Derived(geo.Vec, Attributes):  # type: ignore[misc, name-defined]
        __qualname__ = "Derived"

        def __init__(self, x: float, extra: Any = None) -> None:
            super().__init__(x, 7)
            self.extra = extra

        def twice(self) -> float:
            return 2 * float(self.x)

    globals()["Derived"] = Derived  # where `pickle` finds it
    made = Derived(4, [1])
    assert (made.x, made.y, made.extra, made.twice(), made == geo.Vec(4, 7)) == (4, 7, [1], 8, True)
    assert isinstance(made, geo.Vec)
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(other) is Derived
        assert (other.x, other.extra) == (4, [1])
    assert copy.copy(made).extra is made.extra
    assert copy.deepcopy(made).extra is not made.extra
    assert type(made + made) is geo.Vec
    assert made.itself() is made


def test_constructors_called_by_classes_of_python(geo: Any) -> None:
    class Derived(geo.Vec):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            assert super().__init__(*args, **kwargs) is None
            assert self.itself() is self

    class Further(Attributes, Derived):
        pass

    for cls in (Derived, Further):
        assert (cls(1, 2) == geo.Vec(1, 2), cls(1).x, cls(y=3, x=1).y) == (True, 1, 3)
        made = weakref.ref(cls(1))
        collect()
        assert made() is None
        for wrong in ((1, "2"), ([],), (1, 2, 3), ("x" * 100,)):
            with pytest.raises(TypeError) as direct:
                geo.Vec(*wrong)
            with pytest.raises(TypeError) as derived:
                cls(*wrong)
            assert str(derived.value) == str(direct.value)
        again = cls(1)
        with pytest.raises(TypeError, match=f"^{cls.__name__} is already initialized$"):
            again.__init__(2)
        assert again.x == 1
    bare = Derived.__new__(Derived)
    assert geo.Vec.__init__(bare, 7) is None
    assert bare.x == 7
    with pytest.raises(
        TypeError, match="descriptor '__init__' requires a 'geo.Vec' object but received a 'Moved'"
    ):
        geo.Vec.__init__(geo.Moved(1), 7)


def test_a_constructor_that_initializes_its_object(geo: Any, ffi: Any) -> None:
    count = 0

    def ask() -> int:
        nonlocal count
        count += 1
        if count == 2:
            made.__init__("test_classes.ask")
        return count

    ffi.register_global_func("test_classes.ask", ask, override=True)
    try:
        # The class has all its short cuts once there is an object.
        assert geo.Asked("test_classes.ask").answer == 1
        made = geo.Asked.__new__(type("Derived", (geo.Asked,), {}))
        with pytest.raises(TypeError, match="^Derived is already initialized$"):
            made.__init__("test_classes.ask")
    finally:
        ffi.remove_global_func("test_classes.ask")
    assert made.answer == 3


def test_weak_references_and_identity(geo: Any, ffi: Any) -> None:
    vec = geo.Vec(1)
    ref = weakref.ref(vec)
    assert ref() is vec
    del vec
    collect()
    assert ref() is None


def test_an_object_that_goes_away_during_its_method(geo: Any) -> None:
    holder = [geo.Index(1)]
    holder[0].add(1)
    holder[0].add(2)
    seen = []

    def clear(x: int) -> None:
        holder.clear()
        gc.collect()
        seen.append(x)

    collect()
    before = geo.live()
    holder[0].each(clear)
    assert seen == [1, 2]
    collect()
    assert geo.live() == before - 1


def test_match(geo: Any) -> None:
    assert geo.Vec.__match_args__ == ("x", "y")
    assert geo.Square.__match_args__ == ("side",)
    assert not hasattr(geo.Guard, "__match_args__")
    if sys.version_info < (3, 10):
        return
    scope = {"geo": geo}
    exec(
        "def find(v):\n"
        "    match v:\n"
        "        case geo.Vec(0.0, y): return 'x is 0', y\n"
        "        case geo.Vec(x, y=0.0): return 'y is 0', x\n"
        "        case geo.Square(side): return 'side', side\n",
        scope,
    )
    found = [scope["find"](v) for v in (geo.Vec(0, 2), geo.Vec(3), geo.Square(4), geo.Vec(1, 1))]
    assert found == [("x is 0", 2), ("y is 0", 3), ("side", 4), None]


def test_nothing_is_left(geo: Any) -> None:
    from anyffi import debug

    index = geo.Index(1)
    index.add(1)

    def use() -> None:
        geo.Index(2).add(3)
        index.where.x = 4.0
        assert index.where.x == 4
        list(index)
        geo.Vec(1) + geo.Vec(2)
        assert (geo.Vec(1) == 5) is False
        copy.copy(geo.Vec(1))
        pickle.loads(pickle.dumps(geo.Vec(1)))
        for wrong in (
            lambda: geo.Index([]),
            lambda: index.add([]),
            lambda: setattr(index, "ef", []),
            lambda: geo.Vec.itself(1),
        ):
            with pytest.raises(TypeError):
                wrong()

    def count() -> int:
        collect()
        return sum(map(len, debug.live_objects().values()))

    use()
    before = count(), geo.live()
    for _ in range(20):
        use()
    assert (count(), geo.live()) == before
