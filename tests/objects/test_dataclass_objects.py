"""Objects of dataclasses: pickles, copies, life, drafts, and what C++ sees of them."""

from __future__ import annotations

import abc
import copy
import gc
import pickle
import sys
import threading
import weakref
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import numpy as np
import pytest
from pickles import every_protocol, tensor_of
from support import collect

#: The classes of each backend, declared once: types are never freed.
_declared: dict[type, Any] = {}


class Classes:
    def __init__(self, ffi: Any) -> None:
        @ffi.dataclass("test.objects.Leaf")
        class Leaf:
            x: int
            text: str = "some text that is not stored inline"

        @ffi.dataclass("test.objects.Node", eq=False)
        class Node:
            value: Any = None
            next: Node | None = None
            children: list[Any] = field(default_factory=list)
            leaf: Leaf | None = None

        @ffi.dataclass("test.objects.Frozen", frozen=True)
        class Frozen:
            x: int
            y: Any = field(default=None, compare=False)

        @ffi.dataclass("test.objects.Late", eq=False)
        class Late:
            x: int
            y: int = field(init=False)
            other: Any = field(init=False)

        class Open(Leaf):
            def __init__(self, x: int, extra: Any) -> None:
                super().__init__(x)
                self.extra = extra

        class Marked(Leaf):
            __slots__ = ("left", "right")

        self.Leaf, self.Node, self.Frozen, self.Late, self.Open = Leaf, Node, Frozen, Late, Open
        self.Marked = Marked


@pytest.fixture
def classes(ffi: Any) -> Any:
    core = ffi.Object
    if core not in _declared:
        _declared[core] = Classes(ffi)
    found = _declared[core]
    module = sys.modules[__name__]
    for cls in vars(found).values():
        cls.__qualname__ = cls.__name__
        cls.__module__ = __name__
        setattr(module, cls.__name__, cls)
    return found


@pytest.fixture(autouse=True)
def declare(classes: Any) -> Any:
    """Declare the classes before the blocks of a test are counted, and collect its cycles."""
    yield
    gc.collect()


first = pytest.mark.keeps_live("the first test declares the types")


@first
def test_declared(classes: Any) -> None:
    assert classes.Leaf(1).x == 1


@first
@every_protocol
def test_pickles(protocol: int, classes: Any) -> None:
    leaf = classes.Leaf(3)
    node = classes.Node([1, leaf], children=[leaf], leaf=leaf)
    node.next = node
    again = pickle.loads(pickle.dumps(node, protocol))
    assert again.next is again
    assert again.leaf == leaf
    assert again.leaf is not leaf
    assert again.value[1] is again.leaf is again.children[0]
    assert pickle.loads(pickle.dumps(classes.Frozen(1, [2]), protocol)).y == [2]
    opened = pickle.loads(pickle.dumps(classes.Open(1, [leaf]), protocol))
    assert (type(opened), opened.x, opened.extra) == (classes.Open, 1, [leaf])
    late = pickle.loads(pickle.dumps(classes.Late(1), protocol))
    assert late.x == 1
    with pytest.raises(AttributeError):
        late.y


def test_classes_that_are_equal(classes: Any) -> None:
    class Meta(type(classes.Leaf)):  # type: ignore[misc]
        def __eq__(cls, other: object) -> bool:
            return isinstance(other, Meta)

        def __hash__(cls) -> int:
            return 1

    class First(classes.Leaf, metaclass=Meta):  # type: ignore[misc, name-defined]
        __slots__ = ("first",)

    class Second(classes.Leaf, metaclass=Meta):  # type: ignore[misc, name-defined]
        __slots__ = ("second",)

    assert First == Second
    for cls, name in ((First, "first"), (Second, "second")):
        leaf = cls(1)
        setattr(leaf, name, 2)
        again = copy.deepcopy(leaf)
        assert (type(again) is cls, again.x, getattr(again, name)) == (True, 1, 2)


def test_classes_that_die_with_their_objects(classes: Any) -> None:
    for i in range(50):
        name = f"slot{i}"

        class New(classes.Leaf):  # type: ignore[misc, name-defined]
            __slots__ = (name,)

            def __del__(self) -> None:
                # The collector may have ended weak references to the class already.
                self.__reduce_ex__(2)

        leaf = New.kept = New(i)
        setattr(leaf, name, i)
        assert [*leaf.__reduce_ex__(2)[2]][2:] == [name]
        del New, leaf
        collect()


@first
def test_tensors_of_objects_are_pickled_out_of_band(classes: Any, ffi: Any) -> None:
    array = np.arange(1000.0)
    tensor = tensor_of(ffi, array)
    node = classes.Node([tensor], children=[tensor], next=classes.Node(tensor))
    buffers: list[Any] = []
    data = pickle.dumps(node, protocol=5, buffer_callback=buffers.append)
    # One buffer for all references to the tensor.
    (buffer,) = buffers
    assert len(data) < 1000
    assert bytes(buffer.raw()) == array.tobytes()
    again = pickle.loads(data, buffers=[bytearray(buffer.raw())])
    assert again.value[0] is again.children[0] is again.next.value
    np.testing.assert_array_equal(np.asarray(again.next.value), array)
    buffer.release()
    with pytest.raises(pickle.UnpicklingError, match="not enough out-of-band buffers|no more buffers"):
        pickle.loads(data, buffers=[])


@first
def test_pickles_of_classes_with_slots(classes: Any) -> None:
    marked = classes.Marked(1)
    marked.left = [marked]
    again = pickle.loads(pickle.dumps(marked))
    assert type(again) is classes.Marked
    assert again.left[0] is again
    assert again.x == 1
    assert not hasattr(again, "right")


@first
def test_copies(classes: Any, ffi: Any) -> None:
    leaf = classes.Leaf(3)
    node = classes.Node([leaf], children=[leaf, {"a": leaf}])
    node.next = node
    shallow, deep = copy.copy(node), copy.deepcopy(node)
    assert shallow is not node
    assert shallow.children is node.children
    assert shallow.next is node
    assert deep.next is deep
    assert deep.children[0] is deep.value[0] is deep.children[1]["a"]
    assert deep.children[0] == leaf
    assert deep.children[0] is not leaf
    inside = copy.deepcopy(ffi.List([leaf, leaf]))
    assert inside[0] is inside[1] is not leaf


def test_nothing_leaks(classes: Any, ffi: Any) -> None:
    for _ in range(20):
        leaf = classes.Leaf(1, text="t" * 50)
        leaf.text = "u" * 60
        node = classes.Node(leaf, children=[leaf, "x" * 40], leaf=leaf)
        node.children = [leaf]
        node.value = {"a": [leaf]}
        for wrong in ("x", [3], 1.5):
            with pytest.raises(TypeError):
                node.leaf = wrong
            with pytest.raises(TypeError):
                classes.Leaf(wrong)
        with pytest.raises(TypeError):
            classes.Node(1, 2, 3, 4, 5, 6)
        classes.Late(1)
        classes.Frozen(3, [leaf])


def test_cycles_are_collected(classes: Any) -> None:
    node = classes.Node()
    node.children = [1, lambda: node]
    node.value = {"self": [lambda: node]}
    node.next = classes.Node(lambda: node)
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None


def test_drafts_are_collected(classes: Any) -> None:
    late = classes.Late(1)
    late.other = [lambda: late]
    gone = weakref.ref(late)
    del late
    gc.collect()
    assert gone() is None


def test_identity(classes: Any, ffi: Any) -> None:
    leaf = classes.Leaf(3)
    node = classes.Node(leaf=leaf)
    assert node.leaf is leaf
    echo = ffi.get_global_func("testing.echo")
    assert echo(leaf) is leaf
    assert ffi.List([node])[0].leaf is leaf
    number = id(leaf)
    del leaf
    assert node.leaf.x == 3
    del number


def test_drafts(classes: Any, ffi: Any) -> None:
    late = classes.Late(1)
    with pytest.raises(AttributeError, match=r"^'Late' object has no attribute 'y'$"):
        late.y
    assert not hasattr(late, "other")
    with pytest.raises(AttributeError):
        repr(late)
    echo = ffi.get_global_func("testing.echo")
    assert echo(late) is late
    node = classes.Node(late)
    assert node.value is late
    late.y = 4
    late.other = "x"
    assert (late.x, late.y, late.other, node.value is late) == (1, 4, "x", True)
    assert "y=4" in repr(late)
    with pytest.raises(AttributeError):
        del late.y
    empty = object.__new__(classes.Leaf)
    with pytest.raises(ValueError, match="is empty: __init__ was not called"):
        empty.x
    with pytest.raises(ValueError, match="is empty"):
        empty.x = 3
    again = classes.Late(2)
    again.__init__(3)
    assert again.x == 3


@dataclass
class Hostile:
    """Its conversion changes what it is stored into."""

    run: Any

    def __index__(self) -> int:
        self.run()
        return 7


def test_code_that_runs_during_an_assignment(classes: Any) -> None:
    leaf = classes.Leaf(1)

    def raise_error() -> None:
        raise KeyError("mine")

    leaf.x = Hostile(lambda: setattr(leaf, "x", 3))
    assert leaf.x == 7
    with pytest.raises(KeyError, match="mine"):
        leaf.x = Hostile(raise_error)
    assert classes.Leaf(Hostile(gc.collect)).x == 7
    node = classes.Node()

    class Releasing:
        def __del__(self) -> None:
            node.value = "from __del__"

    node.value = Releasing()
    node.value = None
    gc.collect()
    assert node.value in (None, "from __del__")


def test_threads(classes: Any) -> None:
    leaf = classes.Leaf(1)
    failures: list[Any] = []

    def work(number: int) -> None:
        try:
            for _ in range(200):
                leaf.text = "text of some length, by a thread " * number
                assert leaf.text.startswith("text")
                classes.Node(leaf, children=[leaf]).leaf = leaf
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i + 1,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_deep_chains(classes: Any) -> None:
    node = None
    for i in range(20_000):
        node = classes.Node(i, node)
    del node


@pytest.mark.keeps_live("types are never freed")
def test_any_object_as_a_field(ffi: Any) -> None:
    """Numbers and short text are boxed, as in C++; None is refused."""
    holder = ffi.dataclass("test.AnyObject")(
        type("AnyObject", (), {"__annotations__": {"x": ffi.Object}, "__module__": __name__})
    )
    shared = ffi.List([1])
    for value in (0x41414141, 1.5, True, "abc", b"ab", "text that is not inline", 2**70, shared):
        made = holder(value)
        for each in (made, ffi.from_json(ffi.to_json(made)), ffi.copy(made)):
            assert each.x == value
            assert type(each.x) is type(value)
        assert ffi.structural_equal(made, holder(value))
        assert not ffi.structural_equal(made, holder("other"))
        made.x = 7
        assert made.x == 7
    assert holder(shared).x is shared
    with pytest.raises(TypeError, match=r"expected Object, got None"):
        holder(None)


@pytest.mark.keeps_live("types are never freed")
def test_a_state_has_no_memory(ffi: Any) -> None:
    cls = ffi.dataclass("test.State")(
        type("State", (), {"__annotations__": {"x": int}, "__module__": __name__})
    )
    made = cls(1)
    with pytest.raises(AttributeError, match=r"^'State' object has no attribute '_memory'"):
        made.__setstate__({"_memory": b"123"})
    assert made.x == 1


@pytest.mark.keeps_live("types are never freed")
def test_states_that_are_refused(ffi: Any) -> None:
    cls = ffi.dataclass("test.StateRefused", slots=False)(
        type("State", (), {"__annotations__": {"x": int, "y": str}, "__module__": __name__})
    )
    made = cls(1, "a")
    for name in ("__dict__", "__weakref__"):
        with pytest.raises(AttributeError, match=f"^'State' object has no attribute '{name}'"):
            made.__setstate__({"x": 2, name: {"z": 1}})
    # Nothing is set.
    assert (made.x, made.__getstate__()) == (1, {"x": 1, "y": "a"})
    with pytest.raises(TypeError, match=r"attribute name must be string|expected str, got int"):
        made.__setstate__({1: 2})
    with pytest.raises(TypeError, match="expected int, got str"):
        made.__setstate__({"y": "b", "x": "c"})
    # A name that is not interned, as from a pickle, and an attribute that is not a field.
    made.__setstate__({str(b"y", "ascii"): "long text, no value", str(b"another", "ascii"): 3})
    assert made.__getstate__() == {"x": 1, "y": "long text, no value", "another": 3}
    assert copy.copy(made).__getstate__() == made.__getstate__()


@pytest.mark.keeps_live("types are never freed")
def test_states_of_frozen_classes(ffi: Any) -> None:
    class Ordered(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            return [("x", 7), ("y", "z")]

    @ffi.dataclass("test.FrozenState", frozen=True, slots=False)
    class Frozen:
        x: int
        y: str = "a"

    made = Frozen(1)
    assert made.__getstate__() == {"x": 1, "y": "a"}
    for again in (copy.copy(made), copy.deepcopy(made)):
        assert again == made
        with pytest.raises(FrozenInstanceError):
            again.x = 2
    made.__setstate__({"x": 3, "other": 4})
    assert made.__getstate__() == {"x": 3, "y": "a", "other": 4}
    made.__setstate__(Ordered(a=1))
    assert made.__getstate__() == {"x": 7, "y": "z", "other": 4}
    with pytest.raises(TypeError, match="expected int, got str"):
        made.__setstate__({"x": "c"})


@pytest.mark.keeps_live("types are never freed")
def test_new_objects_have_defaults(ffi: Any) -> None:
    class Base(abc.ABC):
        @abc.abstractmethod
        def run(self) -> None: ...

    @ffi.dataclass("test.NewDefaults")
    class Made:
        x: int = 5
        y: str = field(default="a text that is no value", init=False)
        z: Any = field(default_factory=list)

    @ffi.dataclass("test.NewAbstract")
    class Abstract(Base):
        x: int = 5

    fresh = Made.__new__(Made, 1, y=2)
    # The generated `__init__` would set the others.
    assert fresh.__getstate__() == {"y": "a text that is no value"}
    with pytest.raises(AttributeError):
        fresh.z
    with pytest.raises(TypeError, match="abstract class"):
        Abstract.__new__(Abstract)
    with pytest.raises(TypeError):
        Made.__new__(fresh)
