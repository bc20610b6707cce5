"""Results that C++ writes directly into Python's containers: the same as by way of the runtime's containers."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest
from support import CPYTHON, collect

SIZES = (0, 1, 2, 41, 42, 43, 63, 64, 125, 126, 127, 128, 129, 253, 254, 255, 256, 1000)

#: Arguments by function.
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "text": [
        (n, piece, last)
        for n in (0, 1, 3, 10, 11, 12, 2047, 5000)
        for piece in (b"x", "é".encode(), "一".encode(), "😀".encode(), b"\0")
        for last in (b"", b"a", b"\xff", b"\xed\xa0\x80")
    ],
    "text_reference": [(n,) for n in (0, 11, 12, 5000)],
    "bad_texts": [(n, after) for n in (0, 1, 126, 127, 200) for after in (0, 300)],
    "bad_key": [(n,) for n in (0, 1, 63, 200)],
    "surrogate": [()],
    "equal_elements": [(n,) for n in (0, 3, 200)],
    "equal_keys": [()],
    "nan": [(n,) for n in (0, 1, 2)],
    "nan_pairs": [(n,) for n in (0, 1, 50)],
    "frozen": [(n,) for n in SIZES],
    "dict_key": [()],
    "deep": [()],
    "deep_enough": [()],
    "numbers": [(n,) for n in SIZES],
    "complexes": [(n,) for n in SIZES],
    "complex": [()],
    "optional": [(n,) for n in (-1, *SIZES)],
    "rows": [(n, width) for n in SIZES for width in (0, 1, 2, 3, 127, 128, 300)],
    "mixed": [(n,) for n in SIZES],
    "overloaded": [(1,), ("a",), (2.5,)],
    "unlocked": [(n,) for n in SIZES],
    "patient": [([],)],
}


def _types(x: Any) -> Any:
    """The exact types of a value and of all inside."""
    if isinstance(x, dict):
        return dict, [(_types(key), _types(item)) for key, item in x.items()]
    if isinstance(x, (list, tuple)):
        return type(x), [_types(item) for item in x]
    if isinstance(x, (set, frozenset)):
        return type(x), sorted(map(repr, map(_types, x)))
    return type(x)


def _outcome(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        result = function(*args)
    except Exception as error:
        return type(error), str(error)
    return _types(result), repr(result)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_both_modes_make_the_same(both: tuple[Any, Any], name: str) -> None:
    for args in CALLS[name]:
        one, other = (_outcome(ffi.get_global_func("testing.stl.made." + name), args) for ffi in both)
        assert one == other


@pytest.mark.parametrize("name", sorted(CALLS))
def test_nothing_is_left(ffi: Any, name: str) -> None:
    function = ffi.get_global_func("testing.stl.made." + name)
    live = ffi.get_global_func("testing.live_blocks")
    for args in CALLS[name]:
        _outcome(function, args)
        collect()
        before = live()
        for _ in range(3):
            _outcome(function, args)
        collect(until=lambda: live() == before)
        assert live() == before


def test_values(ffi: Any) -> None:
    def made(name: str, *args: Any) -> Any:
        return ffi.get_global_func("testing.stl.made." + name)(*args)

    unsigned, signed, floats, small, large, flags = made("numbers", 200)
    assert unsigned == [2**64 - 1 - i for i in range(200)]
    assert signed == [(-i + 128) % 256 - 128 for i in range(200)]
    assert floats == [i / 4 for i in range(200)]
    assert (small, large) == ([1], [2**64 - 1])
    assert flags == [i % 3 == 0 for i in range(200)]
    assert made("complexes", 3) == ([-0.5j, 1 - 0.5j, 2 - 0.5j], [1.5, 1.5 + 1j, 1.5 + 2j])
    assert made("rows", 300, 2) == [[i, i] for i in range(300)]
    for n in (1, 11, 12, 5000):
        assert made("text_reference", n) == "x" * n
        for piece in "xé一😀\0":
            assert made("text", n, piece.encode(), b"end") == piece * n + "end"
    assert made("frozen", 2) == {(i, i + 1): {(), (frozenset(("a", "b")), frozenset())} for i in range(2)}
    assert made("optional", -1) is None
    assert made("mixed", 7) == [None, 1, 2.0, "3", [4] * 4, {"a", "5"}, None]
    x: Any = 7
    for _ in range(16):
        x = [x]
    assert made("deep_enough") == x
    with pytest.raises(UnicodeDecodeError):
        made("bad_texts", 200, 10)
    with pytest.raises(UnicodeDecodeError):
        made("text", 20, b"x", b"\xff")
    with pytest.raises(ValueError, match="two elements of a C\\+\\+ set are equal in Python"):
        made("equal_elements", 300)
    with pytest.raises(ValueError, match="two keys of a C\\+\\+ map are equal in Python"):
        made("nan", 2)
    with pytest.raises(TypeError, match="unhashable"):
        made("dict_key")


def test_other_ways_of_calling(ffi: Any) -> None:
    rows = ffi.get_global_func("testing.stl.made.rows")
    assert rows(width=1, size=2) == rows(2, width=1) == [[0], [1]]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        rows(1)
    assert ffi.get_global_func("testing.apply")(rows, 2, 1) == [[0], [1]]
    # C++ calls it too, and gets a List.
    assert ffi.get_global_func("testing.stl.made.called")(lambda: rows(1, 3)[0]) == 3
    assert ffi.get_global_func("testing.stl.vector_int")([1, 2]) == [1, 2]


@pytest.mark.skipif(not CPYTHON, reason="only the compiled marshaller makes containers directly")
@pytest.mark.skipif(
    sys.version_info < (3, 10), reason="containers are only made directly where C code can stop the collector"
)
def test_the_runtime_makes_no_objects(both: tuple[Any, Any]) -> None:
    ffi, _ = both
    total = ffi.get_global_func("testing.total_bytes")
    calls = (
        ("rows", (300, 3)),
        ("mixed", (1000,)),
        ("frozen", (200,)),
        ("complexes", (500,)),
        ("text", (1000, b"x", b"")),
    )
    for name, args in calls:
        function = ffi.get_global_func("testing.stl.made." + name)
        function(*args)
        before = total()
        function(*args)
        assert total() - before < 500, name


class Finalized:
    """Garbage in a cycle, which changes the values that C++ keeps when it is collected."""

    def __init__(self, change: Any) -> None:
        self.change = change
        self.cycle = self

    def __del__(self) -> None:
        self.change()


@pytest.mark.skipif(not CPYTHON, reason="PyPy's collector has no threshold")
@pytest.mark.unrecorded("the recorder's own calls would let the collector run before")
@pytest.mark.parametrize("name", ["kept_texts", "kept_rows"])
def test_the_collector_changes_nothing_meanwhile(ffi: Any, name: str) -> None:
    keep = ffi.get_global_func("testing.stl.made.keep")
    kept = ffi.get_global_func("testing.stl.made." + name)
    text = "x" * 40
    thresholds = gc.get_threshold()
    keep(1000)
    try:
        for size in (0, 5000, 3):
            before = len(kept())
            gc.collect()
            Finalized(lambda size=size: keep(size))
            gc.set_threshold(1)
            found = kept()
            gc.set_threshold(*thresholds)
            gc.collect()
            assert found in ([text] * len(found), [[text]] * len(found))
            assert len(found) in (before, size)
            assert len(kept()) == size
            assert gc.isenabled()
    finally:
        gc.set_threshold(*thresholds)
        keep(0)


@pytest.mark.skipif(not CPYTHON, reason="only the compiled marshaller makes containers directly")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the collector runs between instructions only")
@pytest.mark.skipif(sys.version_info < (3, 10), reason="C code cannot stop the collector")
@pytest.mark.unrecorded("the recorder's own calls would let the collector run")
def test_the_collector_waits(both: tuple[Any, Any]) -> None:
    rows = both[0].get_global_func("testing.stl.made.rows")
    calls: list[int] = []
    is_calling = False

    def observe(phase: str, info: dict[str, int]) -> None:
        if is_calling:
            calls.append(info["generation"])

    thresholds = gc.get_threshold()
    gc.callbacks.append(observe)
    gc.set_threshold(1)
    try:
        is_calling = True
        found = rows(1000, 2)
        is_calling = False
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(observe)
    assert len(found) == 1000
    assert calls == []


def test_a_collector_that_is_off_stays_off(ffi: Any) -> None:
    rows = ffi.get_global_func("testing.stl.made.rows")
    gc.disable()
    try:
        assert len(rows(1000, 2)) == 1000
        assert not gc.isenabled()
    finally:
        gc.enable()
