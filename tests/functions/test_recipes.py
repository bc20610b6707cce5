"""Arguments that a marshaller may pack by a recipe, and similar ones that it may not."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from support import CPYTHON, collect, cpython_only

LONG = "text that does not fit inline"


class OfInt(int):
    pass


class Meta(type):
    """Classes of this metaclass must not be compared or hashed."""

    def __eq__(cls, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(cls) -> int:
        raise AssertionError("hashed")


class Strange(metaclass=Meta):
    pass


STRANGE = Strange()
INTS, FLOATS, TEXTS = [*range(20)], [i / 3 for i in range(20)], [f"word{i}" for i in range(20)]
VALUES: dict[str, Any] = {
    "ints": INTS,
    "ints of every size": [s * 2**i + d for i in range(64) for s in (1, -1) for d in (-1, 0)],
    "a large int": [*INTS, 2**63],
    "a small int": [-(2**63) - 1, *INTS],
    "bools among ints": [*INTS, True],
    "an int among bools": [*[False] * 10, 1],
    "of a subclass": [*INTS, OfInt(7)],
    "a float among ints": [*INTS, 1.0],
    "floats": [*FLOATS, 0.0, -0.0, float("inf"), 5e-324],
    "an int among floats": [*FLOATS, 1],
    "texts": [*TEXTS, "", "a", "eleven char"],
    "a longer text": [*TEXTS, "twelve chars"],
    "text that is not ASCII": [*TEXTS, "ä"],
    "text beyond Latin-1": [*TEXTS, "\u20ac", "\U0001f600", "\ud800"],
    "zeros in text": ["\0" * i for i in range(12)],
    "bytes": [b"", b"eleven char", b"twelve chars", b"\0" * 40],
    "None": [None] * 20,
    "mixed": [None, True, ..., 1, 2.5, "a", LONG, b"b", (), [], {}],
    "nested": [[[[1], (2, [3])], {"k": [LONG, {1: (2,)}]}], slice(1, None), (slice(None, 2**40, -1),)],
    "slices": [slice(i, i + 1) for i in range(20)],
    "a slice of more": (slice(LONG, [1], 2.5),),
    "a slice of a large int": [slice(2**70)],
    "keys": {None: 1, True: 2, 3: [4], "k": {}, b"b": (), LONG: LONG},
    "keys of other kinds": {1.5: 1, (1, "a"): 2},
    "opaque": [1, [2, STRANGE], 3],
    "opaque among many": [*INTS, STRANGE],
    "opaque first": [STRANGE, *INTS],
    "rows": [INTS[:], INTS[:], tuple(INTS)],
}


def exact(x: Any) -> Any:
    """Return a key that distinguishes values which are `==`."""
    if isinstance(x, (list, tuple)):
        return type(x), [exact(item) for item in x]
    if isinstance(x, dict):
        return dict, [(exact(key), exact(item)) for key, item in x.items()]
    if isinstance(x, slice):
        return slice, [exact(part) for part in (x.start, x.stop, x.step)]
    return x if type(x) is Strange else (type(x), repr(x))


@pytest.mark.parametrize("name", VALUES)
def test_round_trip_of_containers(ffi: Any, name: str) -> None:
    echo, blocks = map(ffi.get_global_func, ("testing.echo", "testing.live_blocks"))
    x = VALUES[name]
    expected = [int(item) if type(item) is OfInt else item for item in x] if type(x) is list else x
    for argument, wanted in ((x, expected), ((x, 1), (expected, 1)), ({"k": x}, {"k": expected})):
        assert exact(ffi.to_python(echo(argument))) == exact(wanted)
    collect()
    before = blocks()
    echo(x)
    echo((x, x))
    collect()
    assert blocks() == before


def test_a_container_met_twice_is_one_object(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    inner = [1]
    for x in ([inner, inner], [[inner], (inner,)], {"a": inner, "b": [[inner]]}, [[2, inner], [3, [inner]]]):
        found = ffi.to_python(echo(x))
        assert found == x
        first, second = [found[key] for key in x] if type(x) is dict else found
        while type(second) is not list or second != inner:
            second = second[-1]
        while first != inner:
            first = first[-1]
        assert first is second
    assert echo([inner, [1]])[0] is not echo([inner, [1]])[1]


def test_several_arguments(ffi: Any) -> None:
    concat = ffi.get_global_func("testing.apply")
    args = [1, [2], (3, LONG), {"k": [4]}, LONG, 2**80, STRANGE, slice(5), {6}, "end"]
    for count in range(len(args)):
        found = concat(lambda *xs: ffi.to_python(list(xs)), *args[:count])
        assert ffi.to_python(found) == args[:count]


def test_errors_come_in_the_order_of_arguments(ffi: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    nan = float("nan")
    asked = []

    class Asked:
        def __index__(self) -> int:
            asked.append(self)
            raise LookupError

    if CPYTHON:  # PyPy treats all of these as one key
        with pytest.raises(ValueError, match="keys nan and nan are equal"):
            nop({nan: 1, float("nan"): 2}, Asked())
    assert not asked
    itself: list[Any] = [1]
    itself.append([itself])
    with pytest.raises(RecursionError, match="contains itself"):
        nop(itself, Asked())
    with pytest.raises(RecursionError, match="200 levels"):
        deep: Any = []
        for _ in range(200):
            deep = [deep]
        nop(deep, Asked())
    assert not asked
    with pytest.raises(LookupError):
        nop([1], Asked())


@cpython_only("counts are CPython's")
def test_functions_are_counted(ffi: Any) -> None:
    echo, nop = map(ffi.get_global_func, ("testing.echo", "testing.nop"))

    def function() -> None:
        pass

    before = sys.getrefcount(function)
    for _ in range(10):
        assert echo(function) is function
        nop(function, [1], function)
    assert sys.getrefcount(function) == before


def test_arrays_of_one_layout(ffi: Any) -> None:
    np = pytest.importorskip("numpy")
    echo = ffi.get_global_func("testing.echo")
    for make in (
        lambda: np.arange(6.0).reshape(2, 3),
        lambda: np.arange(6.0).reshape(3, 2).T,
        lambda: np.arange(12)[::-2],
        lambda: np.zeros((0, 3), "int8"),
        lambda: np.array(2.5),
        lambda: np.array([True, False]),
    ):
        for writable in (True, False, True, False):
            x = make()
            x.flags.writeable = writable
            tensor = echo(x)
            array = np.asarray(tensor)
            assert array.flags.writeable == writable
            assert (array.shape, array.dtype) == (x.shape, x.dtype)
            assert x.size == 0 or array.__array_interface__["data"][0] == x.__array_interface__["data"][0]
            assert np.array_equal(array, x)
    swapped = np.arange(6.0).reshape(2, 3).astype(">f8")
    for _ in range(2):
        with pytest.raises(TypeError, match="no DLPack code"):
            echo(swapped)
