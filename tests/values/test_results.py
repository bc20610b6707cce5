"""Results and arguments of callbacks that are copies: Python's own containers, and NumPy's arrays."""

from __future__ import annotations

import gc
import inspect
import json
import pickle
import sys
import types
from typing import Any

import cases
import numpy as np
import pytest
from support import FREE_THREADED, cpython_only, run_in_threads

LONG = "a text that is stored apart"
WIDE = "\u4e00\0\ud800"
BIG = 2**70


@pytest.fixture
def results(ffi: Any) -> Any:
    return lambda name: ffi.get_global_func("testing.results." + name)


COPIES = [
    ("nested", []),
    ("nested", [[], ["", "a", "b" * 11, "\xe9", LONG, "\u4e00" * 9, "nul\0" * 9]]),
    ("pairs", {"": [], "x": [(1, 2.0), (-(2**63), -0.0)], LONG: [(2**63 - 1, 1e300)]}),
    ("unordered", {"x": (1, "y", None), "z": (2, LONG, 0.5)}),
    ("set_of_vectors", {(), (1, 2), (3,)}),
    ("set_of_sets", {frozenset({"a", LONG}), frozenset()}),
    ("map_of_keys", {((1, ("a", LONG)), (2, ())): [1], (): []}),
    ("optional", {(1,), (), None}),
    ("Optional", None),
    ("Optional", [[1], []]),
    ("Variant", [[1], []]),
    ("any", [None, True, 1, 2.5, "a", WIDE, b"\0", BIG, -BIG, 1j, ..., slice(1, None, "x")]),
    ("map_of_any", {"a": BIG, LONG: b"b" * 50}),
]


@pytest.mark.parametrize(("name", "x"), COPIES)
def test_copies_become_pythons_own(ffi: Any, results: Any, name: str, x: Any) -> None:
    function = results(name)
    found = function(x)
    assert type(found) is type(x)
    assert found == x
    assert repr(sorted(found, key=repr) if found else found) == repr(sorted(x, key=repr) if x else x)
    assert ffi.to_python(found) is found
    assert function(x) is not found or found is None
    if name not in ("any", "map_of_any"):
        assert json.dumps(found, default=list, skipkeys=True)
    assert pickle.loads(pickle.dumps(found)) == x


def test_what_is_shared_stays_shared(ffi: Any, results: Any) -> None:
    kept, again = results("vector_of_kept")()
    assert type(kept) is ffi.List
    assert kept is again
    assert kept is results("kept")()
    (name, cells, shared), *_ = rows = results("rows")([("n", [1], kept)])
    assert cases.same(rows, [("n", [1.0], kept)])
    assert (type(name), type(cells), shared is kept) == (str, list, True)
    union = results("union")([[1], "a", ffi.List(["b"])])
    assert list(map(type, union)) == [list, str, ffi.List]
    assert list(map(type, results("any")([[1], {"a": 1}, (1,)]))) == [ffi.List, ffi.Dict, ffi.Array]
    assert type(results("Variant")({"a": 1})) is ffi.Dict
    assert type(results("shared_vector")([1])) is ffi.List
    x = results("tuple")()
    assert (type(x), type(x[1])) == (ffi.Array, ffi.List)
    for made in (results("value")(), results("list_of_vectors")()):
        assert (type(made), type(made[0])) == (ffi.List, ffi.List)
        made[0].append(5)
        assert made == [[1, 5], [2]]


def test_what_cpp_gets_stays_a_reference(ffi: Any, results: Any) -> None:
    nested, x = results("nested"), [["a"], [LONG]]
    for name in ("forward", "forward_packed"):
        made = results(name)(nested, x)
        assert made == x
        assert type(made) is ffi.List
        assert made[0] is made[0]
        for item in [made[0], *made, made.pop(), made[:1][0], made.freeze()[0], (made + [])[0]]:
            assert type(item) is ffi.List
    assert type(results("first")(nested, x)) is ffi.List
    for name in ("in_any", "in_list"):
        assert list(map(type, results(name)(nested, x))) == [ffi.List, ffi.List]
    made = results("forward")(results("pairs"), {"x": [(1, 2.0)]})
    assert (type(made), type(made["x"]), type(made["x"][0])) == (ffi.Dict, ffi.List, ffi.Array)
    for item in (
        made.get("x"),
        next(iter(made.values())),
        made.setdefault("x"),
        made.copy()["x"],
        made.pop("x"),
    ):
        assert type(item) is ffi.List
    assert results("forward")(results("set_of_vectors"), {(1, 2)}) == {(1, 2)}
    assert (1, 2) in results("forward")(results("set_of_vectors"), {(1, 2)})
    assert results("is_equal")(nested, x, x) is True
    # Called by a Python function in between, `nested` returns Python's own list.
    assert results("first")(lambda y: nested(y), x) == ["a"]


def test_callbacks_get_pythons_own(ffi: Any, results: Any) -> None:
    seen: list[Any] = []
    results("call")(lambda *args: seen.append(args), [["x"], [LONG]])
    assert cases.same(seen, [([["x"], [LONG]], [1], {"a": 1}, (1, 2.0), {3})])
    seen.clear()
    assert results("call_typed")(lambda xs, shared: seen.append((xs, shared)) or xs) == [1, 2]
    ((xs, shared),) = seen
    assert cases.same(xs, [1, 2])
    assert shared["kept"] is results("kept")()
    array = np.arange(3.0)
    made = results("call_native")(lambda *args: args and seen.append(args), array)
    assert made is None
    native, tensor, copied, kept, optional = seen[1]
    assert np.shares_memory(native, array)
    assert (type(native), type(tensor)) == (np.ndarray, ffi.Tensor)
    assert cases.same(copied, [1, 2])
    assert cases.same(optional, [1])
    assert kept is results("kept")()


def test_fields_are_copied(ffi: Any, results: Any) -> None:
    table = results("table")()
    get = ffi.get_global_func("anyffi.Object.get_field")
    assert cases.same(get(table, "rows"), [[1], [2, 3]])
    assert get(table, "shared") is results("kept")()


def test_overloads_and_locks(results: Any) -> None:
    assert cases.same(results("overloaded")(2), [2, 2])
    assert cases.same(results("overloaded")("a"), ("a", 1))
    assert cases.same(results("overloaded")(n=1), [1])
    assert cases.same(results("unlocked")(2), [[1.5], [1.5]])


def test_failures_leave_nothing(results: Any) -> None:
    with pytest.raises(ValueError, match="no conversion"):
        results("fail")(1000)
    with pytest.raises(TypeError, match="unhashable"):
        results("set_of_maps")({types.MappingProxyType({})} if sys.version_info >= (3, 12) else {_Hashable()})


def test_failures_in_a_map(ffi: Any, results: Any) -> None:
    with pytest.raises(ValueError, match="no conversion"):
        results("fail_map")()
    # A List that C++ keeps cannot be a key, and stays a List.
    with pytest.raises(TypeError, match="unhashable"):
        results("native_in_key")()
    assert type(results("kept")()) is ffi.List
    assert cases.same(results("native_key")(), [([1, 2], 1)])


def test_keys_that_cpp_keeps(ffi: Any, results: Any) -> None:
    made, before, runtime = results("shared_keys")()
    assert made == {((1,), (2,))}
    assert type(before) is ffi.List
    assert type(before[0]) is ffi.List
    assert type(runtime) is ffi.Set
    assert runtime == made


class _Hashable(dict):  # type: ignore[type-arg]
    def __hash__(self) -> int:  # type: ignore[override]
        return 1


def test_a_big_result(results: Any) -> None:
    function = results("count")
    assert function(0) == []
    found = function(200_000)
    assert found == list(range(200_000))


@pytest.mark.unfreezes
@cpython_only("PyPy's collector calls nothing in the middle of a call")
@pytest.mark.skipif(FREE_THREADED, reason="without the GIL, a collection waits until the process has grown")
def test_the_collector_sees_complete_containers(results: Any) -> None:
    """A callback of the collector, which runs during the conversion, reads every list: none may be incomplete."""
    function, x = results("any"), [[i] for i in range(50)]
    phases: list[str] = []

    def look(phase: str, info: dict[str, int]) -> None:
        phases.append(phase)
        for found in gc.get_objects():
            if type(found) is list and len(found) == 50:
                repr(found)

    # Existing objects do not matter here, and would make each collection slow.
    gc.freeze()
    gc.callbacks.append(look)
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(3):
            assert len(function(x)) == 50
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(look)
        gc.unfreeze()
    assert "stop" in phases


def test_threads(results: Any) -> None:
    function, failures = results("pairs"), []

    def run() -> None:
        for i in range(200):
            x = {str(i): [(i, 0.5)] * 5, LONG: []}
            if function(x) != x:
                failures.append(i)

    run_in_threads([run] * 4)
    assert not failures


SIGNATURES = {
    "nested": "list[list[str]]",
    "pairs": "dict[str, list[tuple[int, float]]]",
    "unordered": "dict[str, tuple[int, str, float | None]]",
    "rows": "list[tuple[str, list[float], List[int]]]",
    "set_of_vectors": "set[tuple[int, ...]]",
    "set_of_sets": "set[frozenset[str]]",
    "map_of_keys": "dict[tuple[tuple[int, tuple[str, ...]], ...], list[int]]",
    "optional": "set[tuple[int, ...] | None]",
    "union": "list[list[int] | str | List[str]]",
    "Variant": "list[list[int]] | str | Dict[str, int]",
    "kept": "List[int]",
    "vector_of_kept": "list[List[int]]",
    "tuple": "Array[int | Sequence[int]]",
    "native": "Any",
    "native_list": "list[list[int]]",
    "native_array": "tuple[str, ...]",
    "native_map": "MappingProxyType[str, int]",
    "native_frozen_set": "frozenset[int]",
    "native_tuple": "tuple[int, list[int]]",
    "native_tensors": "tuple[numpy.ndarray, numpy.ndarray | None, list[numpy.ndarray], Tensor]",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(results: Any, name: str) -> None:
    assert inspect.signature(results(name)).return_annotation == SIGNATURES[name]
