"""C and Python through the C ABI: values in both directions, and calls in both directions."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any, Callable

import anyffi
import pytest
from c_abi import (
    CODES,
    TYPES,
    Raised,
    Value,
    balanced,
    c,
    call,
    check,
    find_function,
    lib,
    made,
    make_str,
    own,
    take_raised,
)
from c_abi_rows import SAMPLES, Sample
from c_abi_values import (
    OWNER,
    Plain,
    exact,
    make_int,
    make_tensor,
    read,
    read_tensor_data,
    release_owner,
    released,
)
from support import CPYTHON, collect

every_type = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@every_type
def test_a_value_goes_to_python_and_comes_back(ffi: Any, sample: Sample) -> None:
    seen: list[Any] = []

    def look(x: Any) -> Any:
        seen.append((type(x), x == sample.python(ffi) if sample.python else None))
        return x

    ffi.register_global_func("c_abi.look", look)
    try:
        with sample.make() as value, find_function("c_abi.look") as function, call(function, value) as back:
            assert exact(read(back.at)) == exact(sample.value)
            if value.code > CODES["SLICE"] and sample.row != "ERROR":
                assert back.at.as_object == value.at.as_object
    finally:
        ffi.remove_global_func("c_abi.look")
    ((cls, is_equal),) = seen
    assert is_equal in (None, True)
    names = {row[0]: row[6] for row in TYPES}
    names.update(MISSING="_Missing", ERROR="ValueError")
    assert cls.__name__ == names[sample.row]


@every_type
def test_both_marshallers_pack_the_same_code(ffi: Any, sample: Sample) -> None:
    """Each marshaller packs the same code and value that C creates."""
    if sample.python is None:
        return
    kept: list[Any] = []

    @c.callback("AnyffiCall")  # type: ignore[untyped-decorator]
    def keep(self: Any, args: Any, num_args: int, result: Any) -> int:
        owned = made(lib.anyffi_value_own, args)
        kept.append((owned.code, exact(read(owned.at))))
        owned.release()
        return 0

    with (
        make_str("c_abi.keep") as name,
        made(lib.anyffi_function_create, keep, c.NULL, c.NULL, c.NULL) as function,
    ):
        check(lib.anyffi_registry_set(name.at, function.at, 0))
        try:
            ffi.get_global_func("c_abi.keep")(sample.python(ffi))
        finally:
            existed = c.new("int32_t*")
            check(lib.anyffi_registry_remove(name.at, existed))
            assert existed[0] == 1
    assert kept == [(CODES[sample.row], exact(sample.value))]


# ---- functions of C, called from Python -------------------------------------------------------------------


@contextlib.contextmanager
def registered(name: str, body: Callable[..., Value], info: Any = c.NULL) -> Iterator[None]:
    """Register a function whose body gets owned arguments, and returns an owned value or raises `Raised`."""

    def run(self: Any, args: Any, num_args: int, result: Any) -> int:
        try:
            given = [made(lib.anyffi_value_own, args + i) for i in range(num_args)]
            with contextlib.ExitStack() as stack:
                value = body(*map(stack.enter_context, given))
        except Raised as error:
            cls, message = error.args
            return int(lib.anyffi_error_raise(cls.encode(), message.encode()))
        result[0] = value.at[0]
        return 0

    callback = c.callback("AnyffiCall", run)
    released.clear()
    with (
        make_str(name) as key,
        made(lib.anyffi_function_create, callback, OWNER, release_owner, info) as function,
    ):
        check(lib.anyffi_registry_set(key.at, function.at, 0))
        with pytest.raises(Raised, match="ValueError.*already"):
            check(lib.anyffi_registry_set(key.at, function.at, 0))
    existed = c.new("int32_t*")
    try:
        yield
    finally:
        collect()
        with make_str(name) as key:
            check(lib.anyffi_registry_remove(key.at, existed))
            assert existed[0] == 1
            check(lib.anyffi_registry_remove(key.at, existed))
            assert existed[0] == 0
        if CPYTHON:
            assert released == ["the owner"]


def function_info(
    name: bytes, doc: bytes, params: list[tuple[bytes, Value | None, bytes]]
) -> tuple[Any, list[Any]]:
    """Return the metadata of a function, and the objects that must outlive it."""
    kept: list[Any] = [c.new("char[]", text) for text in (name, doc, b"int")]
    rows = c.new("AnyffiParamInfo[]", len(params))
    for row, (param, default, type_name) in zip(rows, params):
        kept += [c.new("char[]", param), c.new("char[]", type_name), default]
        row.name, row.type_name = kept[-3], kept[-2]
        if default is not None:
            row.default_value = default.at
    info = c.new("AnyffiFunctionInfo*")
    info.struct_size = c.sizeof("AnyffiFunctionInfo")
    info.name, info.doc, info.result_type = kept[:3]
    info.params, info.num_params = rows, len(params)
    info.num_required = sum(default is None for _, default, _ in params)
    return info, [*kept, rows]


def test_a_function_of_c_with_names_and_defaults(ffi: Any) -> None:
    seven = Value(CODES["INT"], as_int=7)
    info, _kept = function_info(b"subtract", b"Return x - y.", [(b"x", None, b"int"), (b"y", seven, b"int")])

    def subtract(x: Value, y: Value | None = None) -> Value:
        other = 7 if y is None or y.code == CODES["MISSING"] else y.at.as_int
        return Value(CODES["INT"], as_int=x.at.as_int - other)

    with registered("c_abi.subtract", subtract, info):
        function = ffi.get_global_func("c_abi.subtract")
        assert function(10) == 3
        assert function(10, 1) == function(y=1, x=10) == 9
        assert function(x=10) == 3
        assert (function.__name__, function.__doc__) == ("subtract", "Return x - y.")
        assert str(inspect.signature(function)) == "(x: 'int', y: 'int' = 7) -> 'int'"
        with pytest.raises(TypeError, match=r"subtract\(\) missing 1 required positional argument: 'x'"):
            function(y=1)
        del function


def test_c_calls_a_python_callable(ffi: Any) -> None:
    with registered("c_abi.apply", lambda f, *args: call(f, *args)):
        apply = ffi.get_global_func("c_abi.apply")
        assert apply(lambda *xs: xs, 1, "two") == (1, "two")
        assert apply(apply, lambda x: x + 1, 1) == 2

        def fail() -> None:
            raise ValueError("of Python's")

        # The C function only forwards the message.
        with pytest.raises(ValueError, match="^of Python's$"):
            apply(fail)
        del apply


def test_an_error_of_c(ffi: Any) -> None:
    def fail() -> Value:
        raise Raised("LookupError", "nowhere")

    with registered("c_abi.fail", fail):
        function = ffi.get_global_func("c_abi.fail")
        with pytest.raises(LookupError, match="^nowhere$") as caught:
            function()
        assert type(caught.value) is LookupError
        del function, caught


# ---- functions of Python and C++, called from C -----------------------------------------------------------


def test_functions_of_cpp() -> None:
    with balanced(), make_int(41) as number, make_str("41") as text:
        with find_function("testing.add_one") as add_one, call(add_one, number) as more:
            assert read(more.at) == 42
            with pytest.raises(Raised, match="TypeError.*argument 0 .x.: expected int, got str"):
                call(add_one, text)
            with pytest.raises(Raised, match="TypeError.*takes 1 positional argument but 2 were given"):
                call(add_one, number, number)
        with (
            find_function("testing.apply") as apply,
            find_function("testing.add_one") as add_one,
            call(apply, add_one, number) as more,
        ):
            assert read(more.at) == 42
        with pytest.raises(Raised, match="TypeError.*'str' object is not callable"):
            call(text)
        with make_str("testing.there is none") as name, made(lib.anyffi_registry_find, name.at) as nothing:
            assert nothing.code == CODES["NONE"]


def test_a_function_of_python(ffi: Any) -> None:
    def divide(x: float, by: float) -> float:
        return x / by

    ffi.register_global_func("c_abi.divide", divide)
    try:
        with make_int(1) as one, make_int(0) as zero, find_function("c_abi.divide") as function:
            with call(function, one, one) as ratio:
                assert exact(read(ratio.at)) == exact(1.0)
            with pytest.raises(Raised) as caught:
                call(function, one, zero)
            assert caught.value.args == ("ZeroDivisionError", "division by zero")
            with pytest.raises(Raised, match="TypeError.*missing 1 required positional argument: 'by'"):
                call(function, one)
            assert function.object("AnyffiFunction").handle != c.NULL
    finally:
        ffi.remove_global_func("c_abi.divide")


def test_names_are_listed(ffi: Any) -> None:
    with balanced(), made(lib.anyffi_registry_list) as names:
        found = read(names.at).parts
    assert found == sorted(found) == ffi.list_global_func_names()


def test_arguments_are_flagged_as_movable() -> None:
    with (
        balanced(),
        find_function("testing.is_movable") as is_movable,
        make_str("long enough for the heap") as text,
    ):
        for flags in (0, 1):
            text.at.aux = flags
            with call(is_movable, text) as answer:
                assert read(answer.at) is bool(flags)
        with own(text) as copy:
            assert copy.at.aux == 0  # an owned value has no flags


def test_strong_and_weak_counts() -> None:
    with (
        balanced(),
        find_function("testing.hold") as hold,
        find_function("testing.held") as held,
        make_str("long enough for the heap") as text,
    ):
        call(hold, text).release()
        assert text.object().strong_count == 2
        with call(held) as same:
            assert same.at.as_object == text.at.as_object
            assert text.object().strong_count == 3
        call(hold, Value()).release()
        assert text.object().strong_count == 1


def test_raise_and_take_errors() -> None:
    with balanced(), Value() as error:
        lib.anyffi_error_take_raised(error.at)
        assert error.code == CODES["NONE"]
        assert lib.anyffi_error_raise(b"ValueError", b"first") == -1
        assert lib.anyffi_error_raise(b"KeyError", b"second") == -1
        assert take_raised() == ("KeyError", "second")
        lib.anyffi_error_take_raised(error.at)
        assert error.code == CODES["NONE"]


def test_modules() -> None:
    with (
        balanced(),
        make_str(anyffi.find_library("anyffi_testing")) as path,
        made(lib.anyffi_module_load, path.at) as module,
    ):
        with made(lib.anyffi_module_get_path, module.at) as found:
            assert read(found.at) == read(path.at)
        with make_str("nonsense") as name, pytest.raises(Raised, match="AttributeError"):
            made(lib.anyffi_module_get_function, module.at, name.at)
    with make_str("/nowhere/lib.so") as path, pytest.raises(Raised, match="(OS|FileNotFound)Error"):
        made(lib.anyffi_module_load, path.at)


# ---- tensors between libraries ----------------------------------------------------------------------------


def test_a_tensor_releases_its_memory_once() -> None:
    released.clear()
    with balanced(), make_tensor() as tensor:
        out = c.new("AnyffiManagedTensor**")
        check(lib.anyffi_tensor_to_dlpack(tensor.at.as_object, out))
        assert (out[0].major, out[0].flags) == (1, 0)
        assert read_tensor_data(out[0].tensor) == read_tensor_data(tensor.object("AnyffiTensor").tensor)
        assert tensor.object().strong_count == 2
        with made(lib.anyffi_tensor_from_dlpack, out[0]) as other:
            assert other.object("AnyffiTensor").tensor.data == tensor.object("AnyffiTensor").tensor.data
        assert tensor.object().strong_count == 1
        source = tensor.object("AnyffiTensor")
        with made(lib.anyffi_tensor_copy, c.addressof(source, "tensor"), source.flags) as copy:
            data = copy.object("AnyffiTensor").tensor
            assert read_tensor_data(data)[1:3] == ([2, 3], [3, 1])
            assert list(c.cast("float*", data.data)[0:6]) == [0, 2, 4, 1, 3, 5]
        assert released == []
    assert released == ["the owner"]


def test_python_reads_the_memory_of_a_tensor(ffi: Any) -> None:
    def look(x: Any) -> list[list[float]]:
        rows: list[list[float]] = np.asarray(x).tolist()
        return rows

    np = pytest.importorskip("numpy")
    ffi.register_global_func("c_abi.look", look)
    try:
        with (
            make_tensor() as tensor,
            find_function("c_abi.look") as function,
            call(function, tensor) as rows,
        ):
            assert read(rows.at) == Plain(
                "LIST", [Plain("LIST", [0.0, 2.0, 4.0]), Plain("LIST", [1.0, 3.0, 5.0])]
            )
    finally:
        ffi.remove_global_func("c_abi.look")
