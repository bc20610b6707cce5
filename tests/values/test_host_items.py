"""C++ containers that are filled directly from Python's: the same outcome as by way of the runtime's containers."""

from __future__ import annotations

import collections
import gc
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from support import CPYTHON, FREE_THREADED, collect

NAN = math.nan


class Int(int):
    pass


class Own(int):
    """An int that equals only itself."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class List(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("subclasses are read from their storage")


class Indexed:
    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


Pair = collections.namedtuple("Pair", "x y")
LOOP: list[Any] = []
LOOP.append(LOOP)
TEXTS = [
    "",
    "a",
    "x" * 11,
    "x" * 12,
    "x" * 5000,
    "\xe9",
    "\u20ac" * 9,
    "\U0001f600" * 40,
    "nul\0in",
    "\xe9" * 4000,
]
SIZES = (0, 1, 2, 63, 64, 65, 127, 128, 129, 1000)

#: Arguments by function. Both modes accept the same ones, and refuse others with the same errors.
VALUES: dict[str, list[Callable[[], Any]]] = {
    "vector_int": [
        *(lambda n=n: list(range(n)) for n in SIZES),
        *(
            lambda n=n: [*range(n), bad]
            for n in (0, 63, 64, 200)
            for bad in (1.5, "x", None, 2**63, [1], (1,), {})
        ),
        lambda: [True, False, Int(7), 2**62, -(2**63), 2**63 - 1, Indexed(5)],
        lambda: [Indexed(5)] * 3,
        lambda: (1, 2, 3),
        lambda: List([1, 2]),
        lambda: Pair(1, 2),
        lambda: range(5),
        lambda: {1, 2},
        lambda: {1: 2},
        lambda: collections.deque([1]),
        lambda: "text",
        lambda: LOOP,
        lambda: None,
        lambda: [Decimal(1)],
    ],
    "vector_int8": [lambda: [127, -128], lambda: [1] * 100 + [128], lambda: [-129]],
    "vector_uint64": [lambda: [0, 2**63, 2**64 - 1], lambda: [2**64], lambda: [-1], lambda: [2**63] * 200],
    "vector_bool": [
        lambda: [True, False] * 100,
        lambda: [0, 1, True],
        lambda: [True] * 70 + [2],
        lambda: [1.0],
    ],
    "vector_double": [
        lambda: [1, 2.5, True, 2**70, Int(3), -0.0, NAN, math.inf],
        lambda: [2**1024],
        lambda: [1.5] * 64 + ["x"],
        lambda: [Fraction(1, 2)],
        lambda: [1j],
    ],
    "vector_float32": [lambda: [1.5, NAN, math.inf, 7], lambda: [0.0] * 65 + [1e39], lambda: [1e39]],
    "vector_string": [
        lambda: TEXTS,
        lambda: TEXTS * 20,
        lambda: ["a"] * 100 + ["\ud800"],
        lambda: ["ab\udc80" * 30],
        lambda: [b"bytes"],
        lambda: ["a", None],
        lambda: ["a", ["b"]],
    ],
    "vector_optional": [
        lambda: [None, "a", "\xe9", None] * 40,
        lambda: [None, 1],
        lambda: ["\ud800"],
        lambda: [[None]],
    ],
    "vector_complex": [
        lambda: [1j, 2, 2.5, True, 2**70, complex(NAN, 1)] * 30,
        lambda: [1j, "x"],
        lambda: [2**1024],
    ],
    "vector_any": [lambda: [1, [2, "x"], {"a": None}], lambda: [[1]] * 3],
    "vector_pair": [
        lambda: [(i, i / 2) for i in range(200)],
        lambda: [[1, 2.5], (3, 4), Pair(5, 6.5)],
        lambda: [(1, 2)] * 64 + [(1, 2, 3)],
        lambda: [(1, 2)] * 64 + [(1,)],
        lambda: [(1, 2), ()],
        lambda: [(1, "x")],
        lambda: [(1, 2), 3],
        lambda: [(1, 2), (2**63, 1)],
        lambda: [(Indexed(1), 2)],
    ],
    "vector_vector_float": [
        lambda: [[float(i)] * (i % 70) for i in range(140)],
        lambda: [[1], (2, 3), [], List([4])],
        lambda: [[1.5]] * 3,
        lambda: [[1], [2, "x"]],
        lambda: [[1], [[2]]],
        lambda: [[1], 2],
        lambda: [range(3), [1]],
        lambda: LOOP,
        lambda: [LOOP],
    ],
    "vector_list": [lambda: [[[1, 2], (3, 4)], []] * 40, lambda: [[[1, 2], [3]]], lambda: [[[1, 2, 3]]]],
    "vector_map": [
        lambda: [{"a": [1, 2.5], "\xe9": []}, {}] * 40,
        lambda: [{"a": [1]}, {"b": ["x"]}],
        lambda: [{1: []}],
        lambda: [collections.OrderedDict(b=[1], a=(2,)), collections.defaultdict(list, c=[3])],
    ],
    "array": [
        lambda: [1, 2.5, True],
        lambda: [1, 2],
        lambda: (1, 2, 3, 4),
        lambda: [1, 2, "x"],
        lambda: range(3),
    ],
    "array_string": [lambda: ["a", "\u20ac" * 20], lambda: ["a"], lambda: ["a", 1]],
    "array_empty": [list, lambda: (), lambda: [1]],
    "large_array": [lambda: list(range(300)), lambda: [0] * 299, lambda: [0] * 301],
    "tuple": [lambda: (1, "a", [1.5]), lambda: [1, "a", ()], lambda: (1, "a"), lambda: (1, "a", ["x"])],
    "tuple_empty": [lambda: (), list, lambda: [1]],
    "pair": [
        lambda: ("a", 1),
        lambda: ("\xe9" * 20, 2**63 - 1),
        lambda: (1, "a"),
        lambda: ("a", 2**63),
        lambda: "ab",
    ],
    "deque": [lambda: list(range(200)), lambda: [1, "x"]],
    "list": [lambda: TEXTS, lambda: [1]],
    "optional_vector": [lambda: None, lambda: [1, 2], lambda: (), lambda: [1, None]],
    "map": [
        *(lambda n=n: {f"key{i}": i for i in range(n)} for n in SIZES),
        lambda: {"a": 1, "b": "x"},
        lambda: {"a": 1, 2: 3},
        lambda: {"a": 2**63},
        lambda: collections.Counter("mystr"),
        lambda: [("a", 1)],
    ],
    "map_float": [
        lambda: {1.5: [1], 2: [2, 3]},
        lambda: {NAN: [1]},
        lambda: {NAN: [1], float("nan"): [2]},
        lambda: {2**53: [1], 2**53 + 1: [2]},
    ],
    "unordered_map_float": [
        lambda: {1.5: [1], 2: [2, 3], True: []},
        lambda: {NAN: [1]},
        lambda: {NAN: [1], float("nan"): [2]},
        lambda: {2**53: [1], 2**53 + 1: [2]},
    ],
    "unordered_map": [
        lambda: {i: str(i) for i in range(300)},
        lambda: {Own(1): "a", Own(2): "b"},
        lambda: {Own(1): "a", Own(1): "b"},
        lambda: {True: "a", 2: "b"},
        lambda: {1.0: "a"},
    ],
    "map_pair": [
        lambda: {(i, i / 2): str(i) for i in range(100)},
        lambda: {(1, NAN): "a"},
        lambda: {(1, NAN): "a", (1, float("nan")): "b"},
        lambda: {(1, 2.0): "a", (True, 3): "b"},
        lambda: {(2**53, 2**53): "a", (2**53, 2**53 + 1): "b"},
        lambda: {frozenset((1, 2)): "a"},
    ],
    "set": [
        *(lambda n=n: set(range(n)) for n in SIZES),
        lambda: frozenset((1, True, 2)),
        lambda: {1, 2, "x"},
        lambda: {Own(1), Own(1)},
        lambda: {2**63},
        lambda: [1],
    ],
    "set_float": [lambda: {1.5, 2, NAN}, lambda: {NAN, float("nan")}, lambda: {2**53, 2**53 + 1}],
    "set_set": [lambda: {frozenset((1, 2)), frozenset()}, lambda: {frozenset((1, "x"))}, lambda: {(1, 2)}],
    "unordered_set": [lambda: set(TEXTS), lambda: {"a", b"a"}],
}


def _outcome(function: Any, x: Any) -> tuple[Any, ...]:
    try:
        result = function(x)
    except Exception as error:
        return type(error), str(error)
    return type(result), repr(result)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_both_modes_convert_alike(both: tuple[Any, Any], name: str) -> None:
    for make in VALUES[name]:
        one, other = (_outcome(ffi.get_global_func("testing.stl." + name), make()) for ffi in both)
        assert one == other


@pytest.mark.parametrize("name", sorted(VALUES))
def test_nothing_is_left(ffi: Any, name: str) -> None:
    function = ffi.get_global_func("testing.stl." + name)
    live = ffi.get_global_func("testing.live_blocks")
    for make in VALUES[name]:
        x = make()
        _outcome(function, x)
        collect()
        before = live()
        for _ in range(3):
            _outcome(function, x)
        collect(until=lambda: live() == before)
        assert live() == before


BIG: dict[str, Any] = {
    "vector_int": list(range(1000)),
    "vector_uint64": [5] * 1000,
    "vector_double": [0.5, 1, True] * 300,
    "vector_bool": [True] * 1000,
    "vector_string": ["a text of more than eleven characters", "\u20ac" * 20] * 500,
    "vector_complex": [1j] * 1000,
    "vector_optional": [None, "a"] * 500,
    "vector_pair": [(1, 2.5)] * 1000,
    "vector_vector_float": [[1.5], (2, 3)] * 500,
    "vector_map": [{"a": [1, 2]}] * 100,
    "map": {f"a rather long key, {i}": i for i in range(1000)},
    "unordered_map": dict.fromkeys(range(1000), "x" * 20),
    "set": set(range(1000)),
    "unordered_set": {f"a rather long text, {i}" for i in range(1000)},
    "deque": list(range(1000)),
}


@pytest.mark.skipif(not CPYTHON, reason="only the compiled marshaller fills containers directly")
@pytest.mark.skipif(FREE_THREADED, reason="without the GIL, containers become the runtime's own first")
@pytest.mark.parametrize("name", sorted(BIG))
def test_the_runtime_makes_no_objects(both: tuple[Any, Any], name: str) -> None:
    ffi, _ = both
    function = ffi.get_global_func("testing.stl." + name)
    total = ffi.get_global_func("testing.total_bytes")
    function(BIG[name])
    before = total()
    with pytest.raises(TypeError):
        function(BIG[name], 1)
    # The call converts its arguments before it fails because of their number.
    assert total() - before < 5000


def test_users_code_changes_what_follows(ffi: Any) -> None:
    rows = ffi.get_global_func("testing.stl.rows")

    class Changing:
        def __init__(self, change: Callable[[], None]) -> None:
            self.change = change

        def __index__(self) -> int:
            self.change()
            return 1

    given: Any = [[1], [2]]
    texts = ["a"]
    # An argument is converted before user code of later ones runs, and after that of earlier ones.
    assert rows(given, texts, Changing(lambda: (given.clear(), texts.clear()))) == 4
    assert (given, texts) == ([], [])
    given = [[Changing(lambda: texts.append("b"))], [3]]
    assert rows(given, texts) == 3
    # User code that runs in the middle of a container shrinks and grows it.
    inner = [1] * 200
    given = [[1], [2, Changing(lambda: (given.clear(), inner.clear()))], inner, [3]]
    assert rows(given) in (3, 4)
    given = [[i] for i in range(100)]
    given[70] = [Changing(lambda: given.extend([["x"]] * 1000))]
    assert rows(given) == 100
    assert rows(x=[[1]], z=Changing(lambda: None)) == 2
    assert rows(z=2, y=["a", "b"], x=[[1], ()]) == 6


def test_errors_of_users_code_pass_through(ffi: Any) -> None:
    rows = ffi.get_global_func("testing.stl.rows")

    class Failing:
        def __index__(self) -> int:
            raise KeyError("mine")

    for given in ([[Failing()]], [[1]] * 100 + [[Failing()]]):
        with pytest.raises(KeyError, match="mine"):
            rows(given)
    with pytest.raises(KeyError, match="mine"):
        rows([[1]], ["a"], Failing())
    with pytest.raises(TypeError, match=r"argument 0 \(x\), at \[1\]\[0\]: expected int, got str"):
        rows([[1], ["x"]], ["a"])
    with pytest.raises(TypeError, match=r"argument 1 \(y\), at \[70\]: expected str, got int"):
        rows([[1]], ["a"] * 70 + [1])


def test_other_ways_of_calling(ffi: Any) -> None:
    assert ffi.get_global_func("testing.stl.unlocked")([1] * 100) == 100
    rvalue = ffi.get_global_func("testing.stl.rvalue")
    assert rvalue(["a"] * 70) == ["a"] * 70 + ["end"]
    assert rvalue(x=("b",), last="c") == ["b", "c"]
    given = ["a"]
    assert rvalue(given) == ["a", "end"]
    assert given == ["a"]
    assert ffi.get_global_func("testing.apply")(rvalue, ["a"]) == ["a", "end"]


def test_a_first_argument_beside_others(ffi: Any) -> None:
    rvalue = ffi.get_global_func("testing.stl.rvalue")
    rows = ffi.get_global_func("testing.stl.rows")
    assert rvalue(["a"], "b") == ["a", "b"]
    for bad in (["a"], 1, None):
        with pytest.raises(TypeError, match=r"argument 1 \(last\): expected str"):
            rvalue(["a"], bad)
    with pytest.raises(TypeError, match=r"argument 0 \(x\), at \[0\]: expected str, got int"):
        rvalue([1], 2)
    with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments but 3 were given"):
        rvalue([1], "b", "c")
    with pytest.raises(TypeError, match=r"argument 2 \(z\): expected int, got float"):
        rows([[1]], [], 1.5)
    # The body raises, after its argument was read.
    with pytest.raises(IndexError):
        ffi.get_global_func("testing.stl.at")([1, 2], 5)
    assert ffi.get_global_func("testing.stl.at")([1, 2], 1) == 2


def test_elements_are_not_kept(ffi: Any) -> None:
    function = ffi.get_global_func("testing.stl.vector_vector_float")
    row = [1.5] * 10
    text = "a text of more than eleven characters"
    if not CPYTHON:
        return
    before = sys.getrefcount(row), sys.getrefcount(text)
    function([row] * 100)
    ffi.get_global_func("testing.stl.vector_string")([text] * 100)
    gc.collect()
    assert (sys.getrefcount(row), sys.getrefcount(text)) == before


CHOSEN: list[tuple[Any, ...]] = [
    ([],),
    ((),),
    ({},),
    (set(),),
    ([1, 2],),
    ((1, 2, 3),),
    (List([1]),),
    (["a", "b" * 40, "\xe9"],),
    ([1, "a"],),
    ([1.5, 2],),
    ([None],),
    ([[1]],),
    ([Indexed(1)],),
    ([2**70],),
    ({"a": 1},),
    ({1: 1},),
    ({"a": "b"},),
    (collections.OrderedDict(a=1),),
    (1, [1, 2]),
    (1.5, [1, 2]),
    (True, (1, 2)),
    (1, ["a"]),
    ("name", {1, 2}),
    ("n" * 100, frozenset({1})),
    ("\xe9" * 20, {1}),
    ("name", {"a"}),
    ([1, 2], [3]),
    ([1], (2,)),
    ([1], ["a"]),
    (True,),
    ([1], 2),
    (1, 2, [3]),
    (1, 2, 3, 4, [5]),
]


@pytest.mark.parametrize("args", CHOSEN, ids=lambda args: repr(args)[:40].encode("ascii", "replace").decode())
def test_overloads_choose_by_containers_as_they_are_packed(ffi: Any, args: tuple[Any, ...]) -> None:
    chosen = ffi.get_global_func("testing.stl.chosen")

    def outcome(*given: Any) -> Any:
        try:
            return chosen(*given)
        except TypeError as error:
            assert "no overload takes" in str(error)
            return "refused"

    packed = [ffi.convert(x) if isinstance(x, (list, tuple, dict, set, frozenset)) else x for x in args]
    for _ in range(3):
        assert outcome(*args) == outcome(*packed)


def test_overloads_choose_by_containers(ffi: Any) -> None:
    chosen = ffi.get_global_func("testing.stl.chosen")
    assert chosen([1, 2]) == (0, 2)
    assert chosen(["a"]) == (1, 1)
    assert chosen({"a": 1}) == (2, 1)
    assert chosen([1.5]) == (3, 1)
    assert chosen(1, [1]) == (5, 1)
    assert chosen(1.5, [1]) == (4, 1)
    assert chosen("a", {1}) == (6, 1)
    assert chosen([1], [2, 3]) == (7, 1)
    assert chosen(True) == (8, 1)
