"""Pickles of containers, and of subclasses with attributes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import cases
import pytest
from programs import run_program

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles(ffi: Any, protocol: int) -> None:
    """Pickles of either backend are read by the process's backend."""
    import anyffi

    def through(x: Any) -> Any:
        return pickle.loads(pickle.dumps(x, protocol))

    content = [
        1,
        -(2**63),
        2**80,
        1.5,
        None,
        ...,
        "\ud800",
        "a string on the heap",
        b"bytes",
        (1, [2]),
        {"k": {3: 4}},
        True,
    ]
    for name, value in (("List", content), ("Array", tuple(content)), ("Dict", dict(enumerate(content)))):
        made = through(getattr(ffi, name)(value))
        assert type(made) is getattr(anyffi, name)
        assert cases.same(anyffi.to_python(made), value)
    made = through(ffi.Map(a=(1, 2), b=[3]))
    assert type(made) is anyffi.Map
    assert list(made.items()) == [("a", (1, 2)), ("b", [3])]
    assert type(through(ffi.Shape([1, 2]))) is anyffi.Shape
    for name in ("Set", "FrozenSet"):
        made = through(getattr(ffi, name)([3, "two", (1, 2)]))
        assert type(made) is getattr(anyffi, name)
        assert list(made) == [3, "two", (1, 2)]
    shared = ffi.List()
    first, second = through(ffi.List([shared, shared]))
    assert first is second
    for name in ("List", "Array", "Dict", "Map", "Set", "FrozenSet"):
        assert through(getattr(ffi, name)()) == getattr(ffi, name)()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles_of_what_holds_itself(ffi: Any, protocol: int) -> None:
    xs = ffi.List([1])
    d = ffi.Dict(xs=xs)
    array = ffi.Array([xs, d])
    xs.extend([xs, array])
    d["map"] = ffi.Map(d=d)
    for x in (xs, d, array):
        made = pickle.loads(pickle.dumps(x, protocol))
        made_list = made if x is xs else made["xs"] if x is d else made[0]
        assert made_list[1] is made_list
        made_dict = made_list[2][1]
        assert made_dict["map"]["d"] is made_dict
        assert made_list[2] is made_dict["xs"][2]
        made_list.clear()
        made_dict.clear()
        del made, made_list, made_dict
    xs.clear()
    d.clear()


#: Subclasses of both backends' classes, by the names that pickle looks up.
_made_classes: dict[str, Any] = {}


def subclass_of(cls: Any, *, slots: bool = False, state: bool = False) -> Any:
    namespace: dict[str, Any] = {"__slots__": ("slot", "__private")} if slots else {}
    if state:
        namespace["__getstate__"] = lambda self: {"state": self.attribute}
        namespace["__setstate__"] = lambda self, given: self.__dict__.update(restored=given)
    name = f"{cls.__name__}_{id(cls)}_{slots}_{state}"
    made = type(name, (cls,), {"__module__": __name__, "__qualname__": name, **namespace})
    return _made_classes.setdefault(name, made)


def __getattr__(name: str) -> Any:
    """Let pickle find the classes made here."""
    try:
        return _made_classes[name]
    except KeyError:
        raise AttributeError(name) from None


@pytest.mark.keeps_live("classes are kept where pickle finds them")
def test_subclasses_keep_class_and_attributes(ffi: Any) -> None:
    for base, content in (
        ("List", [1, [2]]),
        ("Array", (1, [2])),
        ("Dict", {"a": [1]}),
        ("Map", {"a": [1]}),
        ("Set", {1, "two"}),
        ("FrozenSet", {1, "two"}),
        ("Shape", (1, 2)),
    ):
        cls = subclass_of(getattr(ffi, base))
        x = cls(content)
        x.attribute = ["mine"]
        for made, deep in (
            (copy.copy(x), False),
            (copy.deepcopy(x), True),
            *((pickle.loads(pickle.dumps(x, protocol)), True) for protocol in PROTOCOLS),
        ):
            assert type(made) is cls
            assert made is not x
            assert made == x
            assert made.attribute == ["mine"]
            assert (made.attribute is x.attribute) is not deep

        with_slots = subclass_of(getattr(ffi, base), slots=True)
        x = with_slots(content)
        x.slot = ["in a slot"]
        for made in (
            copy.copy(x),
            copy.deepcopy(x),
            *(pickle.loads(pickle.dumps(x, p)) for p in PROTOCOLS if p > 1),
        ):
            assert type(made) is with_slots
            assert made.slot == ["in a slot"]
            assert not hasattr(made, f"_{with_slots.__name__}__private")

        with_state = subclass_of(getattr(ffi, base), state=True)
        x = with_state(content)
        x.attribute = 5
        for made in (copy.copy(x), copy.deepcopy(x), *(pickle.loads(pickle.dumps(x, p)) for p in PROTOCOLS)):
            assert made.restored == {"state": 5}
            assert made == x


@pytest.mark.keeps_live("classes are kept where pickle finds them")
def test_a_subclass_is_not_constructed_again(ffi: Any) -> None:
    for base in (ffi.List, ffi.Array, ffi.Set, ffi.FrozenSet, ffi.Shape):

        class Picky(base):  # type: ignore[misc, valid-type]
            def __init__(self, first: Any, second: Any) -> None:
                super().__init__([first, second])

        x = Picky(1, 2)
        for made in (copy.copy(x), copy.deepcopy(x)):
            assert type(made) is Picky
            assert list(made) == [1, 2]
    # Methods return the public class, as Python's methods do for subclasses.
    assert type(x.thaw()) is ffi.List
    assert type(subclass_of(ffi.FrozenSet)([1]).copy()) is ffi.FrozenSet
    assert type(subclass_of(ffi.Set)([1]).copy()) is ffi.Set


@pytest.mark.parametrize("key", ["Int", "Str", "Tensor", "Function", "Object"])
def test_pickles_that_name_a_type_of_the_runtime(key: str) -> None:
    from anyffi._pickling import unpickle_object, unpickle_value

    for unpickle in (unpickle_object, unpickle_value):
        with pytest.raises(ValueError, match=f"^type '{key}' of the runtime has no class"):
            unpickle(key, (1,))


def test_pickles_that_name_a_foreign_class() -> None:
    from anyffi._pickling import unpickle_container, unpickle_object

    with pytest.raises(TypeError, match="^no object can be made of <class 'int'> and the content in a pick"):
        unpickle_container(int, (1,))
    with pytest.raises(TypeError, match="^no object can be made of <class 'int'> and the state in a pickle$"):
        unpickle_object(int, (1,))


def test_pickles_of_containers_make_containers_only() -> None:
    """An `Unpickler` that only allows this function can neither load a library nor call another function."""
    from anyffi._pickling import unpickle_container

    for name in ("load_module", "Function", "_anyffi_make", ""):
        with pytest.raises(ValueError, match=rf"^there is no container '{name}'$"):
            unpickle_container(name, "x")


def test_what_pickles_consist_of(both: Any) -> None:
    """Both modes reduce containers to the same parts, also after entries were removed."""
    described = []
    for ffi in both:
        d, s = ffi.Dict(a=1, b="a string on the heap", c=None), ffi.Set(["x", 2.5, b"y"])
        del d["a"]
        s.remove(2.5)
        made = [ffi.List([1, True, 1 + 2j]), ffi.Array([...]), ffi.Shape([2, 3]), ffi.Map(k=2**80), d, s]
        made += [ffi.FrozenSet(s), ffi.List([[1], "x"]), ffi.Dict(k=(1, {2})), ffi.Set(), ffi.Dict()]
        parts = [x.__reduce__() for x in made]
        described.append(
            [
                (maker.__name__, *(list(x) if hasattr(x, "__next__") else x for x in rest))
                for maker, *rest in parts
            ]
        )
    cython, ctypes = described
    assert cython == ctypes
    kinds = [type(content[1]).__name__ for _, content, *_ in cython if len(content) > 1]
    assert kinds == ["tuple", "tuple", "dict", "list", "list", "list"]


def test_a_class_registered_in_place_of_list(ffi: Any) -> None:
    """Copies and pickles of Lists are of the registered class."""
    source = """
        import anyffi, copy, pickle

        @anyffi.register_object("List")
        class Mine(anyffi.List):
            pass

        xs = anyffi.convert([1, 2])
        for made in (xs, copy.copy(xs), copy.deepcopy(xs), pickle.loads(pickle.dumps(xs))):
            assert type(made) is Mine and made == [1, 2]
        """
    run_program(source, ffi.ffi_mode)
