"""Typed tensors: what a parameter requires of an array, and the message if an array does not meet it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from anyffi import Device
from support import collect
from tensors import Exporter, capsules, make, read_only
from typed_tensors import CUBE, X, refusal, typed, unaligned

# ---- reading -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [
        X, X.T, X[::-1], X[:, ::-2], X[:, 1:2], X[0:0], np.zeros((0, 0)), np.zeros((3, 0)), np.asfortranarray(X),
        np.broadcast_to(X[0], (4, 3)), np.broadcast_to(np.float64(2), (2, 2)), read_only(X.copy()),
    ],
    ids=lambda x: f"{x.shape}{x.strides}",
)  # fmt: skip
def test_two_axes(ffi: Any, x: Any) -> None:
    for given in (x, ffi.convert(x), Exporter(x) if x.flags.writeable else x):
        assert typed(ffi, "list2")(given) == x.ravel().tolist()
    for i in range(len(x)):
        for j in range(x.shape[1]):
            assert typed(ffi, "at")(x, i, j) == x[i, j]
    for i, j in ((-1, 0), (0, -1), (len(x), 0), (0, x.shape[1]), (2**62, 2**62)):
        with pytest.raises(IndexError, match="^an index is out of bounds for its axis$"):
            typed(ffi, "at")(x, i, j)


def test_other_ranks(ffi: Any) -> None:
    for x in (X[0], X[0, ::-2], X[:, 1], X[0, :0], np.broadcast_to(np.float64(1), (3,))):
        assert typed(ffi, "list1")(x) == x.tolist()
    for cube in (CUBE, CUBE.T, CUBE[:, ::-1, ::3], CUBE.transpose(1, 0, 2), CUBE[:, :0]):
        assert typed(ffi, "list3")(cube) == cube.ravel().tolist()
    assert typed(ffi, "number")(np.array(2.5)) == 5.0
    assert typed(ffi, "any_rank")(CUBE) == (3, 24)
    assert typed(ffi, "any_rank")(np.array(2.5)) == (0, 1)
    assert typed(ffi, "any_rank")(CUBE.T[::2]) == (3, 12)
    assert typed(ffi, "compact")(CUBE) == CUBE.ravel().tolist()
    assert typed(ffi, "compact")(np.array(2.5)) == [2.5]


def test_orders(ffi: Any) -> None:
    assert typed(ffi, "rows")(X) == X.ravel().tolist()
    assert typed(ffi, "columns")(X.T) == X.ravel().tolist()
    # Axes of one element, and arrays without elements, are in both orders.
    for x in (X[:1], X[:, :1].copy(), X[1:, ::3], X[:0], X[:, :0], X[:0, ::-2]):
        assert typed(ffi, "rows")(x) == typed(ffi, "columns")(x) == x.ravel().tolist()


def test_extents(ffi: Any) -> None:
    assert typed(ffi, "points")(X) == X.ravel().tolist()
    assert typed(ffi, "points")(np.zeros((0, 3))) == []


def test_writing(ffi: Any) -> None:
    for view in (np.s_[:], np.s_[::-1, ::2], np.s_[:, 1:2], np.s_[1:1]):
        x = np.zeros((2, 3), "f4")
        expected = x.copy()
        expected[view] = 2.5
        assert typed(ffi, "fill")(x[view], 2.5) is None
        assert (x == expected).all()
        assert typed(ffi, "fill")(x.T[::-1], value=1) is None
        assert (x == 1).all()


def test_subclasses_and_exporters(ffi: Any) -> None:
    class Sub(np.ndarray):
        def __getitem__(self, key: Any) -> Any:
            raise AssertionError("the memory is read, not the object")

    assert typed(ffi, "list2")(X.view(Sub)) == X.ravel().tolist()
    assert typed(ffi, "list2")(np.ma.masked_array(X)) == X.ravel().tolist()
    assert typed(ffi, "list2")(make(ffi, (2, 2))) == [0.0] * 4
    assert typed(ffi, "list1")(Exporter(X[0])) == X[0].tolist()


# ---- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "x", "reason"),
    [
        ("list2", X.astype("f4"),
         "expected a tensor of float64 with shape (*, *), got one of float32 with shape (2, 3)"),
        ("list2", X[0], "expected a tensor of float64 with shape (*, *), got one of float64 with shape (3,)"),
        ("list1", X, "expected a tensor of float64 with shape (*,), got one of float64 with shape (2, 3)"),
        ("number", X, "expected a tensor of float64 with shape (), got one of float64 with shape (2, 3)"),
        ("any_rank", X.astype("i8"), "expected a tensor of float64, got one of int64 with shape (2, 3)"),
        ("points", X.T, "expected a tensor of float64 with shape (*, 3), got one of float64 with shape (3, 2)"),
        ("rows", X.T,
         "expected a row-major tensor of float64 with shape (*, *), "
         "got one of float64 with shape (3, 2) and strides (1, 3)"),
        ("columns", X,
         "expected a column-major tensor of float64 with shape (*, *), "
         "got one of float64 with shape (2, 3) and strides (3, 1)"),
        ("compact", X[:, ::-1],
         "expected a row-major tensor of float64, got one of float64 with shape (2, 3) and strides (3, -1)"),
        ("fill", read_only(X.astype("f4")),
         "expected a writable tensor of float32 with shape (*, *), "
         "got one of float32 with shape (2, 3) that is read-only"),
        ("list2", unaligned((2, 3)),
         "expected a tensor of float64 with shape (*, *), "
         "got one of float64 with shape (2, 3) that is not aligned to 8 bytes"),
        # The first requirement that is not met is reported: the type before the rank before the order.
        ("rows", X.T[0].astype("f4"),
         "expected a row-major tensor of float64 with shape (*, *), got one of float32 with shape (2,)"),
        ("list2", None, "expected a tensor of float64 with shape (*, *), got NoneType"),
        ("list2", [[1.0]], "expected a tensor of float64 with shape (*, *), got list; pass numpy.asarray() of it"),
        ("list2", ((1.0,),), "expected a tensor of float64 with shape (*, *), got tuple; pass numpy.asarray() of it"),
        ("list2", 1.5, "expected a tensor of float64 with shape (*, *), got float"),
        ("list2", "x", "expected a tensor of float64 with shape (*, *), got str"),
        ("list2", object(), "expected a tensor of float64 with shape (*, *), got object"),
    ],
)  # fmt: skip
def test_refused(ffi: Any, name: str, x: Any, reason: str) -> None:
    arguments = (x, 1.0) if name == "fill" else (x,)
    assert refusal(typed(ffi, name), *arguments) == reason
    assert refusal(typed(ffi, name), *arguments) == reason


@pytest.mark.parametrize("dtype", [">f8", "M8[s]", "O", "S3", "i4,f4"])
def test_elements_without_a_code(ffi: Any, dtype: str) -> None:
    with pytest.raises(TypeError):
        typed(ffi, "list1")(np.zeros(2, dtype))


@capsules
def test_devices(ffi: Any) -> None:
    x = make(ffi, (2, 3), "float32", device=Device("cuda:1"))
    assert typed(ffi, "on_cuda")(x) == typed(ffi, "anywhere")(x) == 3
    assert typed(ffi, "anywhere")(X.astype("f4")) == 3
    assert refusal(typed(ffi, "on_cuda"), X.astype("f4")) == (
        "expected a tensor of float32 with shape (*, *) on cuda, got one of float32 with shape (2, 3) on the CPU"
    )
    x = make(ffi, (2, 3), device=Device("cuda:1"))
    assert refusal(typed(ffi, "list2"), x) == (
        "expected a tensor of float64 with shape (*, *) on the CPU, got one of float64 with shape (2, 3) on cuda:1"
    )
    for device in ("cuda_host", "cuda_managed", "cpu:1"):
        x = make(ffi, (2, 3), device=Device(device))
        assert typed(ffi, "rows")(x) == [0.0] * 6


def test_in_containers(ffi: Any) -> None:
    assert typed(ffi, "sum_all")({"a": [X[0], X[1]], "b": [X[0]]}) == 18.0
    with pytest.raises(TypeError) as caught:
        typed(ffi, "sum_all")({"a": [X[0]], "b": [X[0], X]})
    assert str(caught.value) == (
        "testing.tensors.sum_all(groups: Dict[str, List[float64[:]]]) -> float: "
        'argument 0 (groups), at ["b"][1]: '
        "expected a tensor of float64 with shape (*,), got one of float64 with shape (2, 3)"
    )


def test_variants(ffi: Any) -> None:
    f = typed(ffi, "variant")
    assert [f(X[0]), f(X[0].astype("f4"))] == [0, 1]
    assert refusal(f, X[0].astype("i4")) == (
        "expected float64[:] | float32[:], got a tensor of int32 with shape (3,)"
    )
    assert refusal(f, [1.0]) == "expected float64[:] | float32[:], got list"
    assert refusal(f, read_only(np.ones(3, "i4"))) == refusal(f, np.ones(3, "i4"))
    assert refusal(typed(ffi, "writable_variant"), read_only(np.ones(3))) == (
        "expected float64[:, writable] | float, got a tensor of float64 with shape (3,) that is read-only"
    )


def test_overloads(ffi: Any) -> None:
    f = typed(ffi, "overloaded")
    assert [f(X[0]), f(X), f(X[0].astype("i8"))] == ["float64[:]", "float64[:, :]", "int64[:]"]
    with pytest.raises(TypeError) as caught:
        f(X.astype("i8"))
    assert str(caught.value).splitlines()[1:] == [
        "    testing.tensors.overloaded(x: float64[:]) -> str: argument 0 (x): "
        "expected a tensor of float64 with shape (*,), got one of int64 with shape (2, 3)",
        "    testing.tensors.overloaded(x: float64[:, :]) -> str: argument 0 (x): "
        "expected a tensor of float64 with shape (*, *), got one of int64 with shape (2, 3)",
        "    testing.tensors.overloaded(x: int64[:]) -> str: argument 0 (x): "
        "expected a tensor of int64 with shape (*,), got one of int64 with shape (2, 3)",
    ]


# ---- results, references -----------------------------------------------------------------------------------


def test_results(ffi: Any) -> None:
    made = typed(ffi, "empty")(2, 3)
    assert type(made) is ffi.Tensor
    assert np.asarray(made).tolist() == [[0, 1, 2], [3, 4, 5]]
    columns = np.asarray(typed(ffi, "empty_columns")(2, 3))
    assert columns.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert columns.flags.f_contiguous
    for name in ("empty", "empty_columns"):
        for shape in ((0, 3), (3, 0), (0, 0), (1, 1)):
            assert typed(ffi, name)(*shape).shape == shape
        with pytest.raises(ValueError, match="negative dimensions"):
            typed(ffi, name)(-1, 3)
        with pytest.raises((ValueError, MemoryError)):
            typed(ffi, name)(2**40, 2**40)


def test_views_of_memory(ffi: Any) -> None:
    fixed = np.asarray(typed(ffi, "view_const")(1))
    assert fixed.tolist() == [[1.0, 2.0]]
    assert not fixed.flags.writeable
    use_count, owner = ffi.get_global_func("testing.use_count"), ffi.List([1])
    alone = use_count(owner)
    columns = np.asarray(typed(ffi, "view_columns")(owner))
    assert columns.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert columns.flags.writeable
    assert np.shares_memory(fixed, columns)
    with pytest.raises(ValueError, match="these extents are not those of the tensor's type"):
        typed(ffi, "view_refused")(owner)
    # The memory lives as long as the tensor, and no longer.
    collect(lambda: use_count(owner) == alone + 1)
    assert use_count(owner) == alone + 1
    del columns
    collect(lambda: use_count(owner) == alone)
    assert use_count(owner) == alone


def test_memory_of_vectors(ffi: Any) -> None:
    for size in (0, 1, 1000):
        made = np.asarray(typed(ffi, "moved")(size))
        assert made.dtype == np.float64
        assert made.tolist() == [1.5] * size
        assert made.flags.writeable
    assert np.asarray(typed(ffi, "reshaped")(6, 2, 3)).tolist() == [[2.5] * 3] * 2
    assert typed(ffi, "reshaped")(0, 0, 2**62).shape == (0, 2**62)
    for shape in ((2, 2), (-2, -3), (2**32, 2**32)):
        with pytest.raises((ValueError, OverflowError)):
            typed(ffi, "reshaped")(6, *shape)


def test_references(ffi: Any) -> None:
    echo = typed(ffi, "echo")
    x = X[0].copy()
    assert np.shares_memory(np.asarray(echo(x)), x)
    tensor = ffi.convert(x)
    assert echo(tensor) is tensor
    assert typed(ffi, "narrow")(tensor) is tensor
    with pytest.raises(TypeError) as caught:
        typed(ffi, "narrow")(X)
    assert str(caught.value) == (
        "expected a tensor of float64 with shape (*,), got one of float64 with shape (2, 3)"
    )


def test_views_in_callbacks(ffi: Any) -> None:
    seen = []

    def callback(x: Any, again: Any = None) -> Any:
        seen.append(x)
        return x

    x = ffi.convert(X[0].copy())
    assert typed(ffi, "call")(callback, x) is x
    assert all(each is x for each in seen)


# ---- signatures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("list2", "(x: 'float64[:, :]') -> 'List[float]'"),
        ("rows", "(x: 'float64[:, :, row_major]') -> 'List[float]'"),
        ("columns", "(x: 'float64[:, :, col_major]') -> 'List[float]'"),
        ("points", "(x: 'float64[:, 3]') -> 'List[float]'"),
        ("number", "(x: 'float64[()]') -> 'float'"),
        ("any_rank", "(x: 'float64[...]') -> 'Array[Any]'"),
        ("compact", "(x: 'float64[..., row_major]') -> 'List[float]'"),
        ("on_cuda", "(x: 'float32[:, :, cuda]') -> 'int'"),
        ("anywhere", "(x: 'float32[:, :, any_device]') -> 'int'"),
        ("fill", "(x: 'float32[:, :, writable]', value: 'float') -> 'None'"),
        ("empty", "(rows: 'int', columns: 'int') -> 'int32[:, :]'"),
        ("to_rows", "(x: 'float64[:, 3, row_major] | Sequence[Sequence[float]]') -> 'List[float]'"),
        ("to_bfloat16", "(x: 'bfloat16[...] | Sequence[Any] | float') -> 'Tensor'"),
        ("to_enum", "(x: 'int8[...] | Sequence[Any] | int') -> 'Tensor'"),
    ],
)
def test_signatures(ffi: Any, name: str, signature: str) -> None:
    assert str(inspect.signature(typed(ffi, name))) == signature
