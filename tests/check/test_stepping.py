"""FFI_STEP and debuggers: ctypes mode converts element by element, with the same results; frames at a failing call."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from support import ROOT, run

STEPS = """
import sys
import anyffi, anyffi.testing
from anyffi._ctypes import objects, pack
seen = []
nested = objects.pack_nested
def spy(x, *args):
    seen.append(x)
    return nested(x, *args)
objects.pack_nested = pack.pack_nested = spy
def debugger(*args): pass
if {traces}:
    sys.settrace(debugger)
result = anyffi.to_python(anyffi.testing.echo([1, "two", [3.0]]))
sys.settrace(None)
assert result == [1, "two", [3.0]], result
print(seen)
"""


def steps(ffi_step: str | None, traces: bool) -> str:
    done = run(
        [sys.executable, "-c", STEPS.format(traces=traces)],
        FFI_MODE="ctypes",
        FFI_STEP=ffi_step,
        COVERAGE_PROCESS_START=None,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("ffi_step", "traces", "expected"),
    [
        (None, False, "[]"),
        (None, True, "[[1, 'two', [3.0]], [3.0]]"),
        ("", True, "[[1, 'two', [3.0]], [3.0]]"),
        ("1", False, "[[1, 'two', [3.0]], [3.0]]"),
        ("0", True, "[]"),
    ],
)
def test_when_elements_are_converted_one_by_one(ffi_step: str | None, traces: bool, expected: str) -> None:
    assert steps(ffi_step, traces) == expected


def test_which_mode_it_chooses() -> None:
    def choose(ffi_mode: str | None, ffi_step: str) -> str:
        done = run(
            [sys.executable, "-c", "import anyffi; print(anyffi.ffi_mode)"],
            FFI_MODE=ffi_mode,
            FFI_STEP=ffi_step,
        )
        return done.stdout.strip() or done.stderr.splitlines()[-1]

    assert choose(None, "1") == choose("auto", "1") == choose("ctypes", "1") == "ctypes"
    assert choose("ctypes", "0") == choose("ctypes", "") == "ctypes"
    for mode in ("cython", "check"):
        assert choose(mode, "1").startswith("ImportError: FFI_STEP=1 steps through ctypes mode")
    assert (
        choose("ctypes", "yes")
        == "ImportError: FFI_STEP='yes' is not a choice of anyffi; choose one of: 0, 1"
    )


@pytest.mark.slow("the tests of other folders again")
def test_the_core_tests_while_stepping() -> None:
    core = (
        "values/test_roundtrip.py",
        "values/test_typed_containers.py",
        "containers/test_container_methods.py",
    )
    done = run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--modes=ctypes",
            *(f"tests/{name}" for name in core),
        ],
        cwd=ROOT,
        FFI_MODE="ctypes",
        FFI_STEP="1",
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_results_do_not_depend_on_a_debugger(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    values = [
        [1, 2, 3, 4, 5],
        (1.5, None),
        {"a": {1, 2}, "b": (b"x", slice(1, 2))},
        [[], [[]]],
        ["text" * 9, 2**70],
    ]
    plain = [ffi.to_python(echo(x)) for x in values]
    former = sys.gettrace()
    sys.settrace(lambda *args: None)
    try:
        traced = [ffi.to_python(echo(x)) for x in values]
    finally:
        sys.settrace(former)
    assert plain == traced == values


# ---- tracebacks ------------------------------------------------------------------------------------------


class Failing:
    def __index__(self) -> int:
        raise LookupError("of __index__")


def divide(x: float) -> float:
    return x / 0


ERRORS = (LookupError, TypeError, ValueError, ZeroDivisionError)


def failing_calls(ffi: Any) -> Iterator[tuple[str, Any]]:
    named = {
        name: ffi.get_global_func(f"testing.{name}") for name in ("add_one", "nop", "apply", "raise_error")
    }
    yield "wrong type", lambda: named["add_one"]("x")
    yield "keyword", lambda: named["add_one"](y=1)
    yield "missing", lambda: named["add_one"]()
    yield "error of C++", lambda: named["raise_error"]("ValueError", "no")
    yield "callback", lambda: named["apply"](divide, 1.5)
    yield "callback by keyword", lambda: named["apply"](divide, x=1.5)
    yield "conversion", lambda: named["nop"](1, Failing())
    yield "conversion in a list", lambda: named["nop"](1, [2, Failing()])
    yield "result of a callback", lambda: named["apply"](lambda: [Failing()])
    yield "index", lambda: ffi.List([1])[5]
    yield "key", lambda: ffi.Dict({1: 2})["k"]
    yield "element", lambda: ffi.List([1]).append(Failing())
    yield "item", lambda: ffi.Dict().__setitem__(1, Failing())


def test_cython_shows_no_frames_of_its_own(ffi: Any) -> None:
    if ffi.ffi_mode != "cython":
        pytest.skip("ctypes mode shows its frames")
    for name, call in failing_calls(ffi):
        if name in ("index", "item"):
            continue  # a subscript shows the one frame of its slot
        with pytest.raises(ERRORS) as caught:
            call()
        modules = {frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(caught.value.__traceback__)}
        assert not any(module.startswith("anyffi._") for module in modules), name


def test_ctypes_keeps_the_names(ffi: Any) -> None:
    if ffi.ffi_mode != "ctypes":
        pytest.skip("cython mode has no frames")
    for name, call in failing_calls(ffi):
        with pytest.raises(ERRORS) as caught:
            call()
        for frame, _ in traceback.walk_tb(caught.value.__traceback__):
            code = frame.f_code
            if "_ctypes" in code.co_filename:
                count = code.co_argcount + code.co_kwonlyargcount
                assert set(code.co_varnames[:count]) <= set(frame.f_locals), (name, code.co_name)


def test_arguments_of_a_failed_call(ffi: Any) -> None:
    if ffi.ffi_mode != "ctypes":
        pytest.skip("cython mode has no frames")
    add_one, nop = map(ffi.get_global_func, ("testing.add_one", "testing.nop"))
    with pytest.raises(TypeError) as caught:
        add_one("abc")
    [found] = [
        frame.f_locals
        for frame, _ in traceback.walk_tb(caught.value.__traceback__)
        if "arguments" in frame.f_locals
    ]
    [argument] = found["arguments"]
    assert (argument.index, argument.name, argument.value) == (0, "x", "abc")
    assert repr(argument) == "<argument 0 (x): 'abc' -> Str('abc')>"
    assert found["args"] == ("abc",)
    xs = ffi.List()
    with pytest.raises(LookupError) as caught:
        nop(None, True, 1.5, b"\x00", "\xe9", "\u20ac" * 20, ..., xs, [1], print, Failing(), 7)
    [found] = [
        frame.f_locals
        for frame, _ in traceback.walk_tb(caught.value.__traceback__)
        if "arguments" in frame.f_locals
    ]
    packed = [repr(argument.packed) for argument in found["arguments"]]
    assert packed[:5] == ["None", "Bool(True)", "Float(1.5)", r"Bytes(b'\x00')", r"Str('\xe9')"]
    assert packed[5].startswith("StrView of 20 UCS-2 at 0x") or packed[5].startswith("StrView of 20")
    assert packed[6] == "Ellipsis"
    assert packed[7] == f"List at {xs._anyffi_address:#x}"
    assert packed[8].startswith(("Int(1), List to create of the 1 values before", "List at"))
    assert packed[10:] == ["None", "None"]
    assert len(found["arguments"]) == 12


def test_what_a_single_argument_was_packed_to(ffi: Any) -> None:
    """The call replaces the steps of a recipe by the objects that it creates."""
    if ffi.ffi_mode != "ctypes":
        pytest.skip("cython mode has no frames")
    add_one = ffi.get_global_func("testing.add_one")
    flat = "Float(1.5), Str('two'), List to create of the 2 values before"
    for given, shown in (([1.5, "two"], flat), ([[1], "two"], "an object created for the call")):
        with pytest.raises(TypeError) as caught:
            add_one(given)
        [found] = [
            frame.f_locals["arguments"]
            for frame, _ in traceback.walk_tb(caught.value.__traceback__)
            if "arguments" in frame.f_locals
        ]
        # Python itself creates the object on PyPy, and while this test is traced.
        assert repr(found[0].packed).startswith((shown, "Int(1), List to create", "List at"))
