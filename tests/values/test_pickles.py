"""Pickles in every protocol: each mode reads those of the other, and both write the same bytes."""

from __future__ import annotations

import copy
import pathlib
import pickle
import pickletools
import signal
import types
from collections.abc import Iterator
from typing import Any, Callable

import anyffi
import anyffi.cpp
import anyffi.testing
import cases
import numpy as np
import pytest
from pickles import PROTOCOLS, every_protocol, tensor_of, through
from programs import run_program
from support import Build, cpython_only, needs_compilers, slow_except

#: Values to pickle, made with the classes of a backend.
MAKERS: dict[str, Callable[[Any], Any]] = {
    "List": lambda ffi: ffi.List(
        [1, -(2**63), 2**80, 1.5, None, ..., "\ud800", "a string on the heap", b"bytes"]
    ),
    "Array": lambda ffi: ffi.Array([(1, [2]), {"k": {3: 4}}, True, -0.0, 1 - 2j]),
    "Shape": lambda ffi: ffi.Shape([1, 2]),
    "Dict": lambda ffi: ffi.Dict(a=(1, 2), b=[3]),
    "Map": lambda ffi: ffi.Map({"a": (1, 2), ("b",): [3]}),
    "Set": lambda ffi: ffi.Set([3, "two", (1, 2)]),
    "FrozenSet": lambda ffi: ffi.FrozenSet([3, "two", b"x"]),
    "shared": lambda ffi: ffi.List([ffi.List()] * 2),
    "slice": lambda ffi: ffi.List([slice(1, None, -2)]),
    "dtype and Device": lambda ffi: ffi.List([anyffi.dtype("float8_e4m3fnx4"), anyffi.Device("cuda", 3)]),
    "mappingproxy": lambda ffi: ffi.Map(types.MappingProxyType({"k": 1})),
    "Function": lambda ffi: ffi.List([ffi.get_global_func("testing.add_one")]),
    "Module": lambda ffi: ffi.load_module(anyffi.find_library("anyffi_testing")),
    "Tensor": lambda ffi: tensor_of(ffi, np.arange(6, dtype="float32").reshape(2, 3)),
}


@every_protocol
@pytest.mark.parametrize("name", MAKERS)
def test_both_modes_write_the_same(both: tuple[Any, Any], name: str, protocol: int) -> None:
    one, other = (pickle.dumps(MAKERS[name](ffi), protocol) for ffi in both)
    assert one == other


#: PyPy's module of the class of `list[int]`.
_PYPY = "_pypy_generic_alias"
#: Modules of Python, which any pickle may name.
_OF_PYTHON = {
    "builtins",
    "__builtin__",
    "copy_reg",
    "copyreg",
    "dataclasses",
    "enum",
    "types",
    "_codecs",
    _PYPY,
}
_PROMISED = {"anyffi", "anyffi._pickling", "anyffi.cpp", "anyffi.testing"}


def modules_in(data: bytes) -> Iterator[str]:
    """Return the modules that a pickle names, in any protocol."""
    texts: list[Any] = []
    memo: list[Any] = []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            yield argument.partition(" ")[0]
        elif opcode.name == "STACK_GLOBAL":
            yield texts[-2]
        elif opcode.name == "MEMOIZE":
            memo.append(texts[-1] if texts else None)
        elif opcode.name in ("BINGET", "LONG_BINGET"):
            texts.append(memo[argument] if argument < len(memo) else None)
        elif "UNICODE" in opcode.name:
            texts.append(argument)


def test_the_modules_of_a_pickle_are_found() -> None:
    for protocol in PROTOCOLS:
        # The second object takes the module's name from the memo.
        data = pickle.dumps([anyffi.Device("cpu"), anyffi.dtype, cases.itself], protocol)
        assert {*modules_in(data)} - _OF_PYTHON == {"anyffi", "cases"}


def public_things(ffi: Any) -> Iterator[Any]:
    """Return objects that users can get: classes, functions, methods both bound and not, and instances."""
    for module in (anyffi, anyffi.cpp, anyffi.registry, anyffi.module):
        for name in module.__all__:
            thing = getattr(module, name)
            if not isinstance(thing, types.ModuleType):
                yield thing
            if isinstance(thing, type):
                yield getattr(ffi, name, thing)
                yield from (
                    method for method in vars(thing).values() if isinstance(method, types.FunctionType)
                )
    yield anyffi.testing.open_backend
    for make in MAKERS.values():
        yield make(ffi)
        yield make(ffi).__repr__
    yield from (iter(ffi.List([1])), reversed(ffi.List([1])), iter(ffi.Set([1])), iter(ffi.Dict(a=1)))
    yield from (ffi.List[int], anyffi.DLDeviceType.kDLCPU, anyffi.MarshalMismatch("x"))


@every_protocol
def test_pickles_name_promised_modules_alone(ffi: Any, protocol: int) -> None:
    count = 0
    for thing in public_things(ffi):
        try:
            data = pickle.dumps(thing, protocol)
        except pickle.PicklingError:
            # A method of the other backend: its name refers to the class of the process's own backend.
            assert ffi.Object is not anyffi.Object, thing
            continue
        assert {*modules_in(data)} <= _PROMISED | _OF_PYTHON, thing
        pickle.loads(data)
        count += 1
    assert count > 60


#: Runs in both modes; prints only types and values.
_PROGRAM = """
import pickle, sys
import anyffi, anyffi.testing, numpy as np
protocol, data = {protocol}, {data!r}
if data is None:
    x = anyffi.List([
        (1, [2**70], ...), {{"k": {{3.5: "\\ud800"}}}}, {{4, 5}}, frozenset([6]), slice(1, 2), b"bytes",
        anyffi.Shape([7]), anyffi.Map(a=1), anyffi.dtype("int4x2"), anyffi.Device("cpu"),
        anyffi.testing.add_one, anyffi.testing.library, np.arange(3, dtype="int16"),
    ])
    x.append(x[0])
    print(pickle.dumps(x, protocol).hex())
    data = pickle.dumps(x, protocol).hex()
x = pickle.loads(bytes.fromhex(data))
print(x[0] is x[-1], x[10](41), np.asarray(x[12]), [type(y).__name__ for y in x])
print(x)
x.clear()
"""


@pytest.mark.parametrize(
    "protocol", slow_except([pickle.HIGHEST_PROTOCOL], range(pickle.HIGHEST_PROTOCOL + 1), "old protocols")
)
def test_each_mode_reads_the_pickles_of_the_other(both: tuple[Any, Any], protocol: int) -> None:
    shown = set()
    for writer, reader in (("cython", "ctypes"), ("ctypes", "cython")):
        program = _PROGRAM.format(protocol=protocol, data=None)
        written, _, shown_there = run_program(program, writer).partition("\n")
        shown |= {shown_there, run_program(_PROGRAM.format(protocol=protocol, data=written), reader)}
    (once,) = shown
    assert once.startswith("True 42 [0 1 2] ['Array', 'Dict', 'Set', 'FrozenSet', 'slice', 'bytes', 'Shape',")


# ---- functions and modules ------------------------------------------------------------------------------


@pytest.mark.unrecorded("about a function as an object")
@every_protocol
def test_a_function_is_pickled_by_name(ffi: Any, protocol: int) -> None:
    ffi.register_global_func("pickles.python", len)
    native = ffi.get_global_func("testing.add_one")
    ffi.register_global_func("pickles.alias", native)
    try:
        for name in ("testing.add_one", "pickles.python"):
            function = ffi.get_global_func(name)
            made = through(function, protocol)
            assert made.same_as(function)
            assert type(made) is anyffi.Function
            assert copy.copy(function) is copy.deepcopy(function) is function
        ffi.register_global_func("testing.add_one", lambda x: x, override=True)
        assert b"pickles.alias" in pickle.dumps(native, protocol)
        assert through(native, protocol).same_as(native)
    finally:
        ffi.register_global_func("testing.add_one", native, override=True)
        ffi.remove_global_func("pickles.python")
        ffi.remove_global_func("pickles.alias")


def test_a_function_without_a_name_is_refused_at_once(ffi: Any) -> None:
    function = ffi.get_global_func("testing.make_counter")(1)
    with pytest.raises(
        TypeError, match="cannot pickle <anyffi.Function .*>: C\\+\\+ made it at run time, so"
    ):
        pickle.dumps(function)
    assert copy.copy(function) is copy.deepcopy(function) is function


@cpython_only("PyPy raises the exception of a handler later than where the signal is sent")
def test_what_a_signal_handler_raises_while_a_function_is_found(
    ffi: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exception reaches the program, which does not get a function that fails later instead."""

    def handle(*_: object) -> None:
        raise LookupError("from the handler")

    (tmp_path / "pickles_interrupted.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    monkeypatch.syspath_prepend(tmp_path)
    data = b"canyffi._pickling\nunpickle_function\n(Vpickles.nowhere\nNVpickles_interrupted\ntR."
    former = signal.signal(signal.SIGINT, handle)
    try:
        with pytest.raises(LookupError, match="from the handler"):
            pickle.loads(data)
    finally:
        signal.signal(signal.SIGINT, former)


def test_a_function_that_was_removed(ffi: Any) -> None:
    ffi.register_global_func("pickles.gone", len)
    data = pickle.dumps(ffi.get_global_func("pickles.gone"))
    ffi.remove_global_func("pickles.gone")
    function = pickle.loads(data)
    with pytest.raises(ImportError, match="cannot use what was pickled as 'pickles.gone': no function"):
        function()
    # It pickles as before, and is looked up again at the next call.
    assert pickle.dumps(function) == data
    ffi.register_global_func("pickles.gone", len)
    assert function([1, 2]) == 2
    ffi.remove_global_func("pickles.gone")


@every_protocol
def test_a_module_is_pickled_by_path(ffi: Any, protocol: int) -> None:
    module = ffi.load_module(anyffi.find_library("anyffi_testing"))
    made = through(module, protocol)
    assert type(made) is anyffi.Module
    assert made.__file__ == module.__file__
    with pytest.raises(AttributeError):
        made.nonsense


@needs_compilers
@pytest.mark.keeps_live(reason="a module stays loaded")
@every_protocol
def test_a_function_of_a_module_is_pickled_by_path_and_name(ffi: Any, build: Build, protocol: int) -> None:
    source = """
    #include <anyffi/anyffi.h>
    using anyffi::arg;
    ANYFFI_EXPORT(pickled, [](double x) { return x; }, arg("x")).def([](double x, double y) { return x + y; });
    ANYFFI_REGISTER_GLOBAL("pickles.registered").def([](int64_t x) { return 2 * x; });
    extern "C" ANYFFI_EXPORT_SYMBOL int __anyffi_plain(void*, AnyffiValue*, int32_t, AnyffiValue* result) {
      result->type_code = ANYFFI_INT;
      result->as_int = 5;
      return 0;
    }
    """
    module = ffi.load_module(build("pickled.cc", source))
    importer = ffi.load_module(anyffi.find_library("anyffi_testing"))
    importer.import_module(module)
    for function in (module.pickled, module.plain, importer.pickled, importer.plain):
        made = through(function, protocol)
        assert made.same_as(function)
        assert module.__file__.encode() in pickle.dumps(function, protocol)
    data = pickle.dumps(ffi.get_global_func("pickles.registered"), protocol)
    program = f"""
        import anyffi, pickle
        assert anyffi.get_global_func("pickles.registered", allow_missing=True) is None
        assert pickle.loads({data!r})(5) == 10
        assert pickle.loads({data!r}).same_as(anyffi.get_global_func("pickles.registered"))
    """
    run_program(program, ffi.ffi_mode)
    gone = pickle.loads(pickle.dumps(module.plain, protocol).replace(b"plain", b"gone?"))
    with pytest.raises(ImportError, match=r"libpickled.so' has no function 'gone\?'"):
        gone(1)


@every_protocol
def test_the_system_library_is_pickled_by_prefix(ffi: Any, protocol: int) -> None:
    library = ffi.load_module(anyffi.find_library("anyffi_testing"))
    for prefix in ("", "some_"):
        program = ffi.system_lib(prefix)
        assert through(program, protocol) == program
        library.import_module(program)
    made = through(library, protocol)
    assert made.imports == [ffi.system_lib(""), ffi.system_lib("some_")]


#: Tensors have tests of their own.
_OTHERS = [
    pytest.param(x, id=name) for x, name in zip(cases.EXAMPLES, cases.EXAMPLE_IDS) if "tensor" not in name
]


@pytest.mark.parametrize("x", _OTHERS)
def test_a_list_pickles_if_its_elements_do(ffi: Any, x: Any) -> None:
    row = cases.row_of(x)
    try:
        expected = through(cases.plain(x), 4)
    except Exception:
        pytest.skip("Python cannot pickle it")
    made = anyffi.to_python(through(ffi.List([x]), 4)[0])
    if row.plain is cases.itself and row.name != "pointer":
        assert type(made) is type(expected)
    else:
        assert cases.same(made, expected)
