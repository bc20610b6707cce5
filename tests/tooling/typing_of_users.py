"""A user's program for type checkers: code that they must accept, and code that they must refuse.

`tools/dev.py lint` checks it, and reports every unused `type: ignore`; test_typing.py runs it.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyffi
import anyffi.testing

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from typing_extensions import assert_type
else:

    def assert_type(value: Any, expected: Any) -> Any:
        return value


def total(xs: Sequence[int], table: Mapping[str, int], chosen: AbstractSet[int]) -> int:
    return sum(xs) + sum(table.values()) + len(chosen)


def sequences(array: anyffi.Array[int], xs: anyffi.List[int]) -> None:
    assert_type(array[0], int)
    assert_type(array[:1], anyffi.Array[int])
    assert_type(array + ("a",), anyffi.Array["int | str"])
    assert_type(("a",) + array, anyffi.Array["int | str"])
    assert_type(2 * array * 2, anyffi.Array[int])
    assert_type(array.thaw(), anyffi.List[int])
    assert_type(array.index(1), int)
    assert hash(array)
    assert array < (5,)
    xs.append(4)
    xs.insert(0, 5)
    xs += [6]
    xs *= 2
    xs[0] = 7
    xs[:1] = (8, 9)
    del xs[0]
    xs.sort(key=lambda x: -x, reverse=True)
    xs.extend(array)
    assert_type(xs.pop(), int)
    assert_type(xs.copy(), anyffi.List[int])
    assert_type(xs + [1], anyffi.List[int])
    assert_type(xs.freeze(), anyffi.Array[int])
    wide: anyffi.Array[object] = array
    assert wide
    assert_type(anyffi.Shape([2, 3])[0], int)
    assert_type(sorted(xs), "list[int]")
    assert xs != [1.5]
    assert array != (1, "a")


def mappings(table: anyffi.Map[str, int], counts: anyffi.Dict[str, int]) -> None:
    assert_type(table["a"], int)
    assert_type(table.get("b"), "int | None")
    assert_type(table.get("b", "none"), "int | str")
    assert_type(table.thaw(), anyffi.Dict[str, int])
    assert_type(table | {"c": 1.5}, anyffi.Map[str, "int | float"])
    for key, value in table.items():
        counts[key] = value
    counts.update(b=2)
    counts |= {"c": 3}
    counts.setdefault("d", 4)
    assert_type(counts.pop("d"), int)
    assert_type(counts.pop("d", None), "int | None")
    assert_type(counts.popitem(), "tuple[str, int]")
    assert_type(counts.freeze(), anyffi.Map[str, int])
    assert_type(anyffi.Dict(a=1), anyffi.Dict[str, int])
    named: anyffi.Dict[int, str] = anyffi.Dict([(1, "one")])
    assert named
    assert_type(anyffi.Dict.fromkeys([1], "x"), anyffi.Dict[int, str])
    assert_type(list(reversed(counts)), "list[str]")
    assert counts != {1: 2}
    assert table != {"a": "b"}


def sets(fixed: anyffi.FrozenSet[int], chosen: anyffi.Set[int]) -> None:
    assert_type(fixed | {"a"}, anyffi.FrozenSet["int | str"])
    assert_type(fixed & {1}, anyffi.FrozenSet[int])
    assert_type(fixed.union(["a"]), anyffi.FrozenSet["int | str"])
    assert_type(fixed.thaw(), anyffi.Set[int])
    chosen.add(3)
    chosen.update([4], (5,))
    chosen |= {6}
    chosen -= {4}
    assert_type(chosen.pop(), int)
    assert_type(chosen - {3}, anyffi.Set[int])
    assert_type(chosen.freeze(), anyffi.FrozenSet[int])
    assert chosen.issubset(range(10))
    assert chosen <= set(range(10))
    assert chosen != {"a"}
    assert fixed != frozenset({"a"})


class Named(anyffi.Object):
    """A class for a type that no library has registered."""


class Stack(anyffi.List[int]):
    def top(self) -> int:
        return self[-1]


def functions() -> None:
    @anyffi.register_global_func("typing.twice", override=True)
    def twice(x: int) -> int:
        return 2 * x

    assert_type(twice(2), int)
    found = anyffi.get_global_func("typing.twice")
    assert_type(found, anyffi.Function)
    assert_type(found(21), Any)
    assert_type(found.__name__, str)
    missing = anyffi.get_global_func("typing.missing", allow_missing=True)
    assert_type(missing, "anyffi.Function | None")
    own = anyffi.Function(twice)
    assert_type(own.overloads, "tuple[Any, ...]")
    callbacks: list[Callable[..., Any]] = [own, found]
    assert callbacks
    assert own.same_as(own)

    @anyffi.register_global_func
    def typing_named(x: str) -> list[str]:
        return [x]

    assert_type(typing_named("x"), "list[str]")
    assert_type(anyffi.register_global_func("typing.len", len, override=True)([1]), int)
    anyffi.init_ffi_api("typing", __name__)
    names: Iterable[str] = anyffi.list_global_func_names()
    assert "typing.twice" in names
    for name in ("typing.twice", "typing.len", "typing_named"):
        anyffi.remove_global_func(name)
    try:
        anyffi.register_object("typing.Named")(Named)
    except ValueError as error:
        assert "typing.Named" in str(error)


@anyffi.register_error
class OwnError(ValueError):
    pass


def modules(path: pathlib.Path) -> None:
    inline = anyffi.cpp.load_inline("typed", "int f() { return 1; }", ["f"], extra_cflags=["-O0"])
    assert_type(inline, anyffi.Module)
    assert_type(anyffi.cpp.build("typed", [path]), str)
    assert_type(anyffi.testing.add_one, Any)
    assert_type(anyffi.testing.library, anyffi.Module)
    assert_type(anyffi.__version__, str)
    anyffi.load_module(path, override=True)


def failures() -> None:
    try:
        anyffi.convert(1)
    except anyffi.MarshalMismatch as error:
        assert_type(error, anyffi.MarshalMismatch)
        assert_type(str(error), str)


def values(path: pathlib.Path) -> None:
    assert_type(anyffi.to_python(anyffi.convert([1])), Any)
    assert_type(anyffi.dtype("float32").itemsize, int)
    assert_type(anyffi.device("cpu", 0), anyffi.Device)
    assert_type(anyffi.ffi_mode, str)
    assert int(anyffi.DLDeviceType.kDLCPU) == 1
    include: str = anyffi.find_include_dir()
    assert include
    module = anyffi.load_module(path)
    assert_type(module, anyffi.Module)
    assert_type(module.get_function("x"), anyffi.Function)
    assert_type(module.x, Any)  # a function, a class or a constant
    assert_type(module["x"], anyffi.Function)
    assert_type(module.__file__, str)
    module.import_module(anyffi.system_lib("prefix"))
    assert_type(module.imports, "list[anyffi.Module]")
    module.import_module(path)  # type: ignore[arg-type]


def tensors(exporter: object) -> None:
    tensor = anyffi.from_dlpack(exporter, require_contiguous=True)
    assert_type(tensor, anyffi.Tensor)
    assert_type(tensor.shape, "tuple[int, ...]")
    assert_type(tensor.dtype, anyffi.dtype)
    assert_type(tensor.device, anyffi.Device)
    assert_type(tensor.strides, "tuple[int, ...]")
    assert_type(tensor.ndim, int)
    assert_type(tensor.nbytes, int)
    assert_type(tensor.data_ptr(), int)
    assert_type(len(tensor), int)
    assert_type(memoryview(tensor).readonly, bool)


def refused(array: anyffi.Array[int], xs: anyffi.List[int], table: anyffi.Map[str, int]) -> None:
    array[0] = 1  # type: ignore[index]
    array.append(1)  # type: ignore[attr-defined]
    xs.append("a")  # type: ignore[arg-type]
    xs[0] = "a"  # type: ignore[call-overload]
    wide: anyffi.List[object] = xs  # type: ignore[assignment]
    wide.clear()
    table["a"] = 1  # type: ignore[index]
    table[1]  # type: ignore[index]
    anyffi.Shape(["a"])  # type: ignore[list-item]
    anyffi.load_module(5)  # type: ignore[arg-type]
    anyffi.get_global_func(5)  # type: ignore[call-overload]
    anyffi.Function(5)  # type: ignore[arg-type]
    anyffi.no_such_name  # type: ignore[attr-defined]
    anyffi.register_object("x")(int)  # type: ignore[type-var]


def main() -> None:
    """Run everything that needs no library of its own."""
    sequences(anyffi.Array((1, 2)), anyffi.List([3]))
    mappings(anyffi.Map(a=1), anyffi.Dict({"a": 1}))
    sets(anyffi.FrozenSet([1]), anyffi.Set([1, 2]))
    functions()
    assert total(anyffi.Array([1]), anyffi.Map({"a": 2}), anyffi.Set([3])) == 4
    assert Stack([1, 2]).top() == 2


if __name__ == "__main__":
    main()
