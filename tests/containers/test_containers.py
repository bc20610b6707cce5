"""All containers: `repr`, construction, `freeze` and `thaw`, abstract base classes, subclasses, untyped use in C++."""

from __future__ import annotations

import collections.abc
from typing import Any

import pytest
from models import MAPPINGS, SEQUENCES
from support import STACK_ENDS


def test_repr(ffi: Any) -> None:
    assert repr(ffi.Array([1, "two", [3]])) == "anyffi.Array((1, 'two', anyffi.List([3])))"
    assert repr(ffi.Array([1])) == "anyffi.Array((1,))"
    assert repr(ffi.List()) == "anyffi.List([])"
    assert repr(ffi.Dict({"a": (1,)})) == "anyffi.Dict({'a': anyffi.Array((1,))})"
    assert repr(ffi.Map({1: None})) == "anyffi.Map({1: None})"
    xs = ffi.List([1])
    assert str(xs) == repr(xs)
    d = ffi.Dict()
    xs.append(d)
    d["xs"] = xs
    assert repr(xs) == "anyffi.List([1, anyffi.Dict({'xs': ...})])"
    xs.clear()


def test_a_container_that_holds_itself(ffi: Any) -> None:
    xs = ffi.List([1])
    xs.append(xs)
    assert xs[1] is xs
    assert xs in xs
    assert "..." in repr(xs)
    with pytest.raises(STACK_ENDS):
        ffi.to_python(xs)
    with pytest.raises(RecursionError):
        ffi.get_global_func("testing.describe")(xs)
    other = ffi.List([1])
    other.append(other)
    with pytest.raises(RecursionError):
        ffi.get_global_func("testing.equal")(xs, other)
    with pytest.raises(STACK_ENDS):
        xs == other
    xs.clear()
    other.clear()


def test_construction(ffi: Any) -> None:
    assert ffi.List(range(3)) == [0, 1, 2]
    assert ffi.Array(i for i in "ab") == ("a", "b")
    assert ffi.List("ab") == ["a", "b"]
    assert ffi.List(ffi.Array([1])) == [1]
    assert ffi.Dict([("a", 1)], b=2) == {"a": 1, "b": 2}
    assert ffi.Map({"a": 1}, b=2) == {"a": 1, "b": 2}
    assert ffi.Dict(ffi.Map(a=1)) == {"a": 1}
    assert ffi.Dict(ffi.Dict(a=1)) == {"a": 1}
    for cls in (ffi.List, ffi.Array, ffi.Dict, ffi.Map):
        with pytest.raises(TypeError):
            cls(5)
        with pytest.raises(TypeError):
            cls([], [])


def test_freeze_and_thaw_give_new_objects(ffi: Any) -> None:
    array = ffi.Array([1, [2]])
    thawed = array.thaw()
    assert type(thawed) is ffi.List
    frozen = thawed.freeze()
    assert type(frozen) is ffi.Array
    thawed.append(3)
    assert array == frozen == (1, [2])
    # Elements are shared, as with `copy`.
    assert array[1] is thawed[1] is frozen[1]

    mapping = ffi.Map({"b": 1, "a": [2]})
    thawed = mapping.thaw()
    assert type(thawed) is ffi.Dict
    frozen = thawed.freeze()
    assert type(frozen) is ffi.Map
    thawed["c"] = 3
    assert list(mapping.items()) == list(frozen.items()) == [("b", 1), ("a", [2])]
    assert mapping["a"] is thawed["a"] is frozen["a"]


def test_abstract_base_classes(ffi: Any) -> None:
    abc = collections.abc
    assert isinstance(ffi.Array(), abc.Sequence)
    assert not isinstance(ffi.Array(), abc.MutableSequence)
    assert isinstance(ffi.List(), abc.MutableSequence)
    assert isinstance(ffi.Map(), abc.Mapping)
    assert not isinstance(ffi.Map(), abc.MutableMapping)
    assert isinstance(ffi.Dict(), abc.MutableMapping)
    assert isinstance(ffi.Array(), abc.Hashable)
    for x in (ffi.List(), ffi.Dict(), ffi.Map()):
        assert not isinstance(x, abc.Hashable)
    for x in (ffi.Array(), ffi.List(), ffi.Dict(), ffi.Map()):
        assert isinstance(x, ffi.Object)
        assert not callable(x)


def test_pattern_matching_names(ffi: Any) -> None:
    """The same methods as Python's own classes have."""
    for name, plain in (*SEQUENCES, ("Shape", tuple), *MAPPINGS):
        public = {method for method in dir(plain) if not method.startswith("_")}
        missing = public - set(dir(getattr(ffi, name)))
        assert missing <= {"fromkeys"}, (name, missing)


def test_subclasses(ffi: Any) -> None:
    class MyList(ffi.List):
        extra = 5

    xs = MyList([1, 2])
    assert type(xs) is MyList
    assert xs == [1, 2]
    assert ffi.get_global_func("testing.echo")(xs) is xs
    xs.attribute = 3
    assert (xs.attribute, xs.extra) == (3, 5)
    xs.append(3)
    assert ffi.get_global_func("testing.sum_ints")(xs) == 6


def test_untyped_work_in_cpp(ffi: Any) -> None:
    size, item, iterate = map(ffi.get_global_func, ("testing.size", "testing.item", "testing.iterate"))
    for x in ("a\u4e2d\U0001f600", b"bytes", (1, "two"), [1, [2]], "x" * 100):
        assert size(x) == len(x)
        assert iterate(x) == list(x)
        for index in range(-len(x), len(x)):
            assert item(x, index) == x[index]
        for index in (len(x), -len(x) - 1, 2**62, -(2**63)):
            with pytest.raises(IndexError):
                item(x, index)
        with pytest.raises(TypeError):
            item(x, "0")
    assert size({"a": 1}) == 1
    assert item({"a": [1]}, "a") == [1]
    with pytest.raises(KeyError) as caught:
        item({"a": 1}, "b")
    assert caught.value.args == ("b",)
    with pytest.raises(TypeError, match="unhashable"):
        item({"a": 1}, [1])
    for x in (None, 5, 1.5, True, len, ValueError(), object()):
        with pytest.raises(TypeError):
            size(x)
        with pytest.raises(TypeError):
            item(x, 0)


@pytest.mark.parametrize("name", ["Array", "Shape", "Map", "FrozenSet"])
def test_an_immutable_container_made_of_one_of_its_class_is_that_one(ffi: Any, name: str) -> None:
    cls = getattr(ffi, name)
    x = cls({1: 2} if name == "Map" else [1, 2])
    assert cls(x) is x
    assert cls.__new__(cls, x) is x
    assert type.__call__(cls, x) is x
    with pytest.raises(TypeError, match="already initialized and immutable"):
        x.__init__({})

    class Derived(cls):  # type: ignore[misc, valid-type]
        pass

    made = Derived(x)
    assert made is not x
    assert type(made) is Derived
    assert cls(made) == made
    assert type(cls(made)) is cls
    assert Derived(made) is not made


@pytest.mark.parametrize("name", ["Array", "Dict", "FrozenSet", "List", "Map", "Set", "Shape"])
def test_constructors_that_were_replaced(ffi: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cls = getattr(ffi, name)
    former = cls.__init__
    calls: list[Any] = []

    def replaced(self: Any, *args: Any) -> None:
        calls.append(args)
        former(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(cls, "__init__", replaced)
        assert len(cls()) == 0
        assert calls == [()]
    assert len(cls()) == 0
    assert calls == [()]


def test_constructors_read_any_iterable_once(ffi: Any) -> None:
    for cls in (ffi.List, ffi.Array, ffi.Shape, ffi.Set, ffi.FrozenSet):
        for make in (lambda: iter([1, 2]), lambda: (1, 2), lambda: [1, 2], lambda: {1: 0, 2: 0}.keys()):
            assert sorted(cls(make())) == [1, 2]
        for other in (ffi.List, ffi.Array, ffi.Shape, ffi.Set, ffi.FrozenSet):
            made = other([1, 2])
            copy = cls(made)
            assert type(copy) is cls
            assert sorted(copy) == [1, 2]
        with pytest.raises(TypeError):
            cls(iterable=[1])
    for cls in (ffi.Map, ffi.Dict):
        for content in ({"a": 1}, [("a", 1)], ffi.Map(a=1), ffi.Dict(a=1)):
            assert list(cls(content).items()) == [("a", 1)]
            assert list(cls(content, b=2).items()) == [("a", 1), ("b", 2)]
    d = ffi.Dict(a=1)
    copy = ffi.Dict(d)
    copy["b"] = 2
    assert d == {"a": 1}


def test_same_as(ffi: Any) -> None:
    x, y = ffi.List([1]), ffi.List([1])
    assert x.same_as(x)
    assert not x.same_as(y)
    assert not x.same_as([1])
    assert not x.same_as(other=None)
    with pytest.raises(TypeError, match="doesn't apply to a 'int' object"):
        ffi.Object.same_as(5, x)


@pytest.mark.parametrize(
    ("name", "method", "args"),
    [
        ("List", "append", (1,)), ("List", "insert", (0, 1)), ("List", "sort", ()), ("List", "copy", ()),
        ("List", "index", (1,)), ("List", "__len__", ()), ("List", "__add__", ([1],)), ("List", "__eq__", ([1],)),
        ("List", "__iter__", ()), ("Dict", "get", (1,)), ("Dict", "__getitem__", (1,)), ("Set", "add", (1,)),
    ],
)  # fmt: skip
def test_methods_refuse_objects_that_lie_about_their_class(
    ffi: Any, name: str, method: str, args: Any
) -> None:
    """The methods do not ask such an object for attributes."""
    cls = getattr(ffi, name)
    with pytest.raises(TypeError, match=f"^descriptor '{method}' .* a 'Lying'( object)?$"):
        getattr(cls, method)(_lying(cls), *args)


#: The message of methods that accept any iterable about an object that only claims to be one.
NOT_ITERABLE = "^'Lying' object is not iterable$"


@pytest.mark.parametrize(
    ("name", "method", "message"),
    [
        ("List", "extend", NOT_ITERABLE), ("List", "__add__", "can only concatenate list"),
        ("List", "__eq__", None), ("Dict", "__eq__", None),
        ("Dict", "__or__", None), ("Set", "union", NOT_ITERABLE), ("Set", "intersection", NOT_ITERABLE),
        ("Set", "symmetric_difference", NOT_ITERABLE), ("Set", "issubset", NOT_ITERABLE),
        ("Set", "isdisjoint", NOT_ITERABLE), ("Set", "update", NOT_ITERABLE), ("Set", "__le__", None),
        ("Set", "__eq__", None), ("Set", "__or__", None), ("Set", "same_as", False),
    ],
)  # fmt: skip
def test_operands_that_lie_about_their_class(ffi: Any, name: str, method: str, message: Any) -> None:
    cls = getattr(ffi, name)
    operand = _lying(cls)
    if message is None or message is False:
        assert getattr(cls(), method)(operand) is (NotImplemented if message is None else False)
        return
    with pytest.raises(TypeError, match=message):
        getattr(cls(), method)(operand)


def _lying(cls: type) -> Any:
    class Lying:
        __class__ = property(lambda self: cls)  # type: ignore[assignment]

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    return Lying()


@pytest.mark.parametrize("name", ["Array", "List", "Shape", "Map", "Dict", "Set", "FrozenSet"])
def test_none_is_no_content(ffi: Any, name: str) -> None:
    with pytest.raises(TypeError, match="^'NoneType' object is not iterable$"):
        getattr(ffi, name)(None)
