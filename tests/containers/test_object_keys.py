"""Objects of the runtime as keys and elements: equal where their classes say so, as in Python's own dicts and sets."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from support import cpython_only

pytestmark = pytest.mark.keeps_live("types are never freed")


def point(ffi: Any, **options: Any) -> Any:
    cls = type("Point", (), {"__annotations__": {"x": int}, "__module__": __name__})
    return ffi.dataclass("keys.Point" + "".join(options), **options)(cls)


def test_equal_objects_are_one_key(ffi: Any) -> None:
    cls = point(ffi, frozen=True)
    d = ffi.Dict({cls(1): "one"})
    assert d[cls(1)] == "one"
    assert cls(2) not in d
    d[cls(1)] = "again"
    assert d == {cls(1): "again"}
    assert d.pop(cls(1)) == "again"
    s = ffi.Set([cls(1), cls(2), cls(1)])
    assert s == {cls(1), cls(2)}
    assert s - {cls(1)} == {cls(2)} == s & {cls(2), cls(3)}
    assert len(s | ffi.Set([cls(2), cls(3)])) == 3
    s.discard(cls(1))
    assert list(s) == [cls(2)]
    assert {(cls(1), 2): 3} == ffi.Dict({(cls(1), 2): 3})
    assert (cls(1), 2) in ffi.Set([(cls(1), 2)])
    assert frozenset([cls(1)]) in ffi.Set([frozenset([cls(1)])])
    assert list(ffi.List([cls(1), cls(2)])).index(cls(2)) == ffi.List([cls(1), cls(2)]).index(cls(2))


def test_objects_without_wrappers(ffi: Any) -> None:
    """The wrappers of the keys are gone: new ones are compared."""
    cls = point(ffi, frozen=True)
    echo = ffi.get_global_func("testing.echo")
    d = echo({cls(i): i for i in range(50)})
    assert [d[cls(i)] for i in range(50)] == list(range(50))
    assert ffi.to_python(d) == {cls(i): i for i in range(50)}


def test_unhashable_classes(ffi: Any) -> None:
    cls = point(ffi)
    for operation in (
        lambda: ffi.Set([cls(1)]),
        lambda: ffi.Dict()[cls(1)],
        lambda: cls(1) in ffi.Set(),
        lambda: operator.setitem(ffi.Dict(), (1, cls(1)), 2),
    ):
        with pytest.raises(TypeError, match="^unhashable type: 'Point'$"):
            operation()
    assert cls(1) in ffi.List([cls(1)])


def test_identity_where_nothing_is_defined(ffi: Any) -> None:
    cls = point(ffi, eq=False)
    one, other = cls(1), cls(1)
    assert list(ffi.Set([one, other, one])) == [one, other]
    assert ffi.Dict({one: 1}).get(other) is None


def test_exceptions_propagate(ffi: Any) -> None:
    class Key:
        n: int
        fail: str = ""

        def __hash__(self) -> int:
            if self.fail == "hash":
                raise ZeroDivisionError("hash")
            return -1 if self.fail else hash(-2)  # both become -2

        def __eq__(self, other: object) -> Any:
            if self.fail == "eq" or getattr(other, "fail", None) == "eq":
                raise ZeroDivisionError("eq")
            return other.n == self.n if isinstance(other, type(self)) else NotImplemented

    made = ffi.dataclass(eq=False)(Key)
    d = ffi.Dict({made(1): "one", made(2): "two"})
    assert d[made(2)] == "two"
    assert made(3) not in d
    for fail in ("hash", "eq"):
        for operation in (
            lambda k: d[k],
            lambda k: k in d,
            lambda k: operator.setitem(d, k, 1),
            lambda k: operator.delitem(d, k),
            lambda k: d.pop(k, None),
            lambda k: ffi.Set([*d, k]),
        ):
            with pytest.raises(ZeroDivisionError, match=fail):
                operation(made(5, fail))
    assert len(d) == 2


def test_a_key_that_changes_the_dict_during_lookup(ffi: Any) -> None:
    d = ffi.Dict()
    acts: list[Any] = []

    class Nasty:
        n: int

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            if acts:
                acts.pop()()
            return False

    cls = ffi.dataclass(eq=False)(Nasty)

    def refill() -> None:
        d.clear()
        d.update({i: str(i) for i in range(200)})

    for act in (d.clear, refill):
        for operation in (
            lambda k: d.get(k),
            lambda k: operator.setitem(d, k, 1),
            lambda k: d.pop(k, None),
            lambda k: k in d,
        ):
            d.clear()
            d.update({cls(i): i for i in range(3)})
            acts.append(act)
            operation(cls(4))
            assert not acts
            assert len(d) in (0, 1, 200, 201)
    d.clear()


def test_classes_of_python_below(ffi: Any) -> None:
    """A Python subclass decides while the wrapper exists; without one, the object is of its type's class again."""
    cls = point(ffi, eq=False)

    class Named(cls):  # type: ignore[misc,valid-type]
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and self.x == other.x

        def __hash__(self) -> int:
            return hash(self.x)

    one, plain = Named(1), cls(1)
    d = ffi.Dict({one: 1, plain: 2})
    assert d[Named(1)] == 1
    assert Named(2) not in d
    assert d[plain] == 2
    assert cls(1) not in d

    class Unhashable(cls):  # type: ignore[misc,valid-type]
        __hash__ = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="unhashable type: 'Unhashable'"):
        ffi.Set([Unhashable(1)])


def test_equal_to_values(ffi: Any) -> None:
    """An object may equal a number, or an object that is opaque to the runtime."""

    class Wide:
        x: int

        def __hash__(self) -> int:
            return hash(self.x)

        def __eq__(self, other: object) -> bool:
            return self.x == getattr(other, "x", other)

    class Opaque:
        x = 3

        def __hash__(self) -> int:
            return hash(3)

    cls = ffi.dataclass(eq=False)(Wide)
    for key in (3, 3.0, Opaque()):
        assert ffi.Dict({key: "three"})[cls(3)] == "three"
        assert ffi.Dict({cls(3): "three"})[key] == "three"
        assert key in ffi.Set([cls(2), cls(3)])
    assert ffi.Set([cls(3)]) == {3}
    value_equal = ffi.Object._anyffi_runtime.value_equal
    assert value_equal(cls(3), 3)
    assert value_equal([cls(3)], [3])
    assert not value_equal(cls(3), [3])


@cpython_only("PyPy's compiler crashes if the stack ends while it traces")
def test_recursion_ends(ffi: Any) -> None:
    class Deep:
        x: object = None

        def __hash__(self) -> int:
            return hash(ffi.FrozenSet([self]))

        def __eq__(self, other: object) -> bool:
            return self in ffi.List([other])

    cls = ffi.dataclass(eq=False)(Deep)

    def further(frames: int) -> Any:
        return further(frames - 1) if frames else ffi.Set([cls()])

    # The limit may be reached in any step.
    for frames in range(20):
        with pytest.raises(RecursionError):
            further(frames)
