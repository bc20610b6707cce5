"""Values at every boundary, and values that change or lie while they are converted."""

from __future__ import annotations

import collections
import gc
import struct
import sys
import types
import weakref
from typing import Any

import cases
import numpy as np
import pytest
from programs import run_program
from support import cpython_only

LONG = "a string that is long enough"


def echoed(ffi: Any, x: Any) -> Any:
    return ffi.to_python(ffi.get_global_func("testing.echo")(x))


# ---- boundaries -----------------------------------------------------------------------------------------

_BITS = (7, 8, 15, 16, 31, 32, 53, 63, 64, 127)
EDGES = sorted({sign * 2**bits + step for bits in _BITS for sign in (1, -1) for step in (-1, 0, 1)})
RANGES = {
    **{f"int{bits}": range(-(2 ** (bits - 1)), 2 ** (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": range(2**bits) for bits in (8, 16, 32, 64)},
}


@pytest.mark.parametrize("name", RANGES)
def test_integers_at_every_edge_of_a_parameter(ffi: Any, name: str) -> None:
    function = ffi.get_global_func("testing.typed." + name)
    for x in EDGES:
        if x in RANGES[name]:
            assert cases.same(function(x), x)
        else:
            with pytest.raises(OverflowError):
                function(x)


def test_integers_at_every_edge_come_back(ffi: Any) -> None:
    seen = ffi.get_global_func("testing.describe")
    for x in EDGES:
        for form in (x, cases.IntSubclass(x), cases.Indexable(x)):
            assert seen(form) == cases.describe_int(x)
            assert cases.same(echoed(ffi, [form]), [x])
        assert ffi.convert({x: x})[float(x) if float(x) == x else x] == x


def test_special_floats_keep_their_bits(ffi: Any) -> None:
    patterns = (0x0, 0x1, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001,
                0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF)  # fmt: skip
    for bits in (sign << 63 | pattern for sign in (0, 1) for pattern in patterns):
        x = struct.unpack("d", struct.pack("Q", bits))[0]
        for form in (x, np.float64(x), cases.FloatSubclass(x)):
            assert cases.same(echoed(ffi, form), x)
        assert cases.same(echoed(ffi, (complex(x, -x),)), (complex(x, -x),))
        assert cases.same(ffi.get_global_func("testing.typed.float64")(x), x)
        assert cases.same(ffi.get_global_func("testing.apply")(lambda y: y, x), x)


# ---- text and bytes -------------------------------------------------------------------------------------


def test_adjacent_surrogates_are_never_one_character(ffi: Any) -> None:
    seen, apply, size = map(ffi.get_global_func, ("testing.describe", "testing.apply", "testing.size"))
    for length in range(1, 14):
        for start in range(2):
            text = ("\ud83d\ude00" * 7)[start : start + length]
            for x in (text, text + "\0", "\xe9" + text, text + "\U0001f600"):
                assert cases.same(echoed(ffi, [x]), [x])
                assert seen(x) == cases.describe(x)
                assert apply(lambda got, x=x: got == x, x) is True
                assert size(x) == len(x)


@cpython_only("PyPy holds text as UTF-8 and needs several times the memory")
@pytest.mark.parametrize("unit", ["a", "\u4e2d", "\U0010ffff", b"\0"], ids=ascii)
def test_256_megabytes(ffi: Any, unit: Any) -> None:
    x = unit * (2**28 // (sys.getsizeof(unit * 3) - sys.getsizeof(unit * 2)))
    size, echo = map(ffi.get_global_func, ("testing.size", "testing.echo"))
    assert size(x) == len(x)
    assert echo(x) == x


def test_views_of_memory_are_read_as_bytes_reads_them(ffi: Any) -> None:
    block = bytes(range(24))
    views = [
        memoryview(block)[::2],
        memoryview(block)[::-1],
        memoryview(block)[20:2:-3],
        memoryview(block)[5:5],
        memoryview(bytearray(block)).toreadonly(),
        memoryview(block).cast("I")[::-2],
        memoryview(block).cast("B", (2, 3, 4)),
        memoryview(np.arange(24, dtype="u1").reshape(4, 6).T),
        memoryview(np.arange(24, dtype="u1").reshape(4, 6)[::-1, ::2]),
        memoryview(np.array(1.5, "f4")),
    ]
    for view in views:
        assert cases.same(echoed(ffi, [view]), [view.tobytes()])
        assert ffi.get_global_func("testing.typed.bytes")(view) == view.tobytes()


def test_a_view_that_is_released_on_the_way(ffi: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    for arguments in (lambda first, view: (first, view), lambda first, view: ([first, [view]],)):
        view = memoryview(bytearray(b"more than eleven bytes"))

        class Releases:
            def __index__(self, view: Any = view) -> int:
                view.release()
                return 1

        with pytest.raises(ValueError, match="released memoryview"):
            nop(*arguments(Releases(), view))


# ---- what changes while it is converted -----------------------------------------------------------------


class _Meddler:
    """Changes a container from the inside, once, in a method that the conversion calls."""

    def __init__(self, change: Any) -> None:
        self.change = change

    def _meddle(self) -> None:
        change, self.change = self.change, lambda: None
        change()


class MeddlesInIndex(_Meddler):
    def __index__(self) -> int:
        self._meddle()
        return 7


class MeddlesInValue(_Meddler):
    def __anyffi_value__(self) -> Any:
        self._meddle()
        return 7


class MeddlesInExport(_Meddler):
    def __dlpack__(self, **options: Any) -> Any:
        self._meddle()
        return np.arange(3).__dlpack__()

    def __dlpack_device__(self) -> Any:
        return 1, 0


class MeddlesInKeys(_Meddler, cases.OwnMapping):
    def __init__(self, change: Any) -> None:
        cases.OwnMapping.__init__(self, {"a": 1})
        _Meddler.__init__(self, change)

    def keys(self) -> Any:
        self._meddle()
        return ["a"]


class MeddlesInItems(MeddlesInKeys):
    def keys(self) -> Any:
        return ["a"]

    def __getitem__(self, key: Any) -> Any:
        self._meddle()
        return 1


MEDDLERS = [MeddlesInIndex, MeddlesInValue, MeddlesInExport, MeddlesInKeys, MeddlesInItems]


def _shrink(x: Any) -> None:
    x.clear()


def _grow(x: Any) -> None:
    for i in range(1000):
        if isinstance(x, list):
            x.append(i)
        elif isinstance(x, set):
            x.add(i)
        else:
            x[i] = LONG


@pytest.mark.parametrize("change", [_shrink, _grow])
@pytest.mark.parametrize("meddler", MEDDLERS)
def test_a_container_that_is_changed_by_what_it_holds(ffi: Any, meddler: Any, change: Any) -> None:
    """It converts as if it had first been copied."""
    seen = ffi.get_global_func("testing.describe")
    inside, text = seen([meddler(lambda: None)])[len("List[") : -1], cases.describe(LONG, False)
    xs: list[Any] = []
    xs.extend([meddler(lambda: change(xs)), LONG, [LONG], LONG])
    assert seen(xs) == f"List[{inside}, {text}, List[{text}], {text}]"
    d: dict[Any, Any] = {}
    d.update(a=meddler(lambda: change(d)), b=LONG)
    assert seen(d) == f"Dict{{{cases.describe('a')}: {inside}, {cases.describe('b')}: {text}}}"
    # What comes later is read when its turn comes.
    later = [1]
    assert seen((meddler(later.clear), later)) == f"Array[{inside}, List[]]"


@pytest.mark.parametrize("change", [_shrink, _grow])
@pytest.mark.parametrize("hook", ["__hash__", "__eq__"])
def test_a_container_that_is_changed_by_its_keys(ffi: Any, hook: str, change: Any) -> None:
    """Opaque keys are hashed and compared while the runtime's own container is made."""
    armed: list[Any] = []

    class Key:
        def __hash__(self) -> int:
            if hook == "__hash__" and armed:
                armed.pop()()
            return 5

        def __eq__(self, other: object) -> bool:
            if hook == "__eq__" and armed:
                armed.pop()()
            return self is other

    first, second = Key(), Key()
    echo = ffi.get_global_func("testing.echo")
    d: dict[Any, Any] = {first: LONG, second: [LONG]}
    armed.append(lambda: change(d))
    got = echo(d)
    assert not armed
    assert list(got) == [first, second]
    assert (got[first], got[second]) == (LONG, [LONG])
    s: set[Any] = {first, second}
    armed.append(lambda: change(s))
    assert set(echo(s)) == {first, second}
    assert not armed


def test_keys_that_raise_while_the_runtime_compares_them(ffi: Any) -> None:
    armed = False

    class Key:
        def __hash__(self) -> int:
            return 5

        def __eq__(self, other: object) -> bool:
            if armed:
                raise ZeroDivisionError("eq")
            return self is other

    d = {Key(): LONG, Key(): LONG}
    s = set(d)
    armed = True
    for x in (d, s, {"k": [d]}, types.MappingProxyType(d), (s,)):
        with pytest.raises(ZeroDivisionError, match="^eq$"):
            ffi.get_global_func("testing.nop")(LONG, x)


# ---- subclasses that override everything ----------------------------------------------------------------


def _refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise AssertionError("an override was called")


#: Without these nothing can be made.
_KEPT = {
    "__new__",
    "__init__",
    "__init_subclass__",
    "__subclasshook__",
    "__class__",
    "__class_getitem__",
    "__doc__",
}


def _overriding(base: type) -> Any:
    """A subclass every method of which raises."""
    lies: dict[str, Any] = {name: _refuse for name in dir(base) if name not in _KEPT}
    if base in (str, bytes, frozenset):  # to be a key
        lies["__hash__"] = lambda self: 1
    return type(f"{base.__name__}Lying", (base,), lies)


BUILTINS: Any = [
    (int, 5),
    (int, 2**70),
    (float, 2.5),
    (complex, 1.5 - 2j),
    (str, "short"),
    (str, LONG + "\ud83d\ude00"),
    (bytes, b"short"),
    (bytes, b"bytes that are long enough"),
    (bytearray, b"bytes that are long enough"),
    (tuple, (1, LONG, [2])),
    (list, [1, LONG, [2]]),
    (dict, {"a": 1, LONG: [2]}),
    (collections.OrderedDict, {"b": 1, "a": 2}),
    (set, {LONG}),
    (frozenset, frozenset({LONG})),
]


@cpython_only("PyPy's own readers of the builtins call some overrides")
@pytest.mark.parametrize(
    ("base", "value"), BUILTINS, ids=[f"{base.__name__}-{i}" for i, (base, _) in enumerate(BUILTINS)]
)
def test_subclasses_that_override_everything(ffi: Any, base: Any, value: Any) -> None:
    """They are read from the builtin's own storage."""
    cls = _overriding(base)
    if issubclass(base, dict):
        x = base.__new__(cls)
        for key, item in value.items():
            base.__setitem__(x, key, item)
        plain = value
    else:
        x, plain = cls(value), bytes(value) if base is bytearray else value
    seen, echo = map(ffi.get_global_func, ("testing.describe", "testing.echo"))
    assert seen([x]) == seen([plain])
    for got in (echo(x), echo((x,))[0], ffi.get_global_func("testing.apply")(lambda: x)):
        assert cases.same(ffi.to_python(got), plain)
    if base in (str, bytes, frozenset):
        assert ffi.to_python(echo({x: 1})) == {plain: 1}


def test_exceptions_that_override_everything_stay_themselves(ffi: Any) -> None:
    x = _overriding(ValueError)("x")
    echo = ffi.get_global_func("testing.echo")
    assert echo(x) is x
    assert echo([x])[0] is x
    assert ffi.get_global_func("testing.describe")(x) == "Error(ValueErrorLying)"


# ---- arguments ------------------------------------------------------------------------------------------


def test_ten_thousand_arguments(ffi: Any) -> None:
    apply, describe, nop = map(ffi.get_global_func, ("testing.apply", "testing.describe", "testing.nop"))
    args: list[Any] = [[i, LONG] if i % 3 else object() for i in range(10_000)]
    got = apply(lambda *got: [len(got), got[1], got[-1]], *args)
    assert got[:2] == [10_000, [1, LONG]]
    assert got[2] is args[-1]
    assert describe(*args).count("\n") == 9_999
    args[7_000] = cases.REFUSED
    with pytest.raises(ZeroDivisionError):
        nop(*args)


@cpython_only("counts are CPython's")
@pytest.mark.parametrize("place", range(9))
def test_an_argument_that_cannot_cross(ffi: Any, place: int) -> None:
    """What was made for the others is given back, and those behind it are not asked."""
    asked: list[int] = []

    class Asked:
        def __init__(self, number: int) -> None:
            self.number = number

        def __index__(self) -> int:
            asked.append(self.number)
            return 5

    token = object()
    args: list[Any] = [[token, LONG, Asked(i)] for i in range(9)]
    args[place] = {"k": [token, cases.REFUSED]}
    before = sys.getrefcount(token)
    for name in ("nop", "apply", "describe"):
        asked.clear()
        with pytest.raises(ZeroDivisionError, match="^refused$"):
            ffi.get_global_func("testing." + name)(*args)
        assert asked == list(range(place))
        assert sys.getrefcount(token) == before


@cpython_only("PyPy finalizes later")
def test_the_class_of_an_argument_is_not_kept(ffi: Any) -> None:
    def use() -> Any:
        made: list[Any] = [type("Made", (base,), {}) for base in (object, int, list, Exception)]
        for name in ("echo", "describe", "nop"):
            function = ffi.get_global_func("testing." + name)
            for cls in made:
                function(cls())
                function(cls)
                function([{cls: cls()}])
        return [weakref.ref(cls) for cls in made]

    references = use()
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


# ---- the process ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_handler_of_a_signal_is_replaced(ffi: Any) -> None:
    program = """
        def masks():
            with open("/proc/self/status") as status:
                return [line for line in status if line.startswith(("SigCgt", "SigIgn", "SigBlk"))]
        before = masks()
        import anyffi, anyffi.testing as t
        t.apply(lambda: t.echo([1]))
        assert masks() == before, (before, masks())
    """
    run_program(program, ffi.ffi_mode)


def test_the_end_of_the_interpreter_with_everything_alive(ffi: Any) -> None:
    program = """
        import atexit, sys, threading, anyffi, anyffi.testing as t

        class Late:
            def __init__(self):
                self.kept = [t.echo, t.apply, anyffi.List([1, self]), anyffi.convert(lambda: self), ValueError(self)]
            def __del__(self):
                try:
                    self.kept[1](lambda: self.kept[0]([self.kept[2]]))
                except Exception:
                    pass

        late = [Late() for _ in range(50)]
        sys.late = anyffi.convert({"late": late, "f": late[0].__del__})
        t.hold([late, lambda: late, RuntimeError(late)])
        anyffi.register_global_func("late.f", lambda x: (late, x))
        begun = threading.Barrier(5)
        ended = threading.Event()

        def run():
            begun.wait()
            while not ended.is_set():
                t.apply(lambda x: t.echo([x, late[0]]), {"k": [1]})

        for thread in [threading.Thread(target=run) for _ in range(4)]:
            thread.start()
        begun.wait()
        atexit.register(lambda: print(t.apply(lambda: "at exit")))
        threading.Timer(0.05, ended.set).start()
    """
    assert run_program(program, ffi.ffi_mode) == "at exit\n"
