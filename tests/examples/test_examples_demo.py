"""The demo shows both modes side by side, and fails when a result is wrong."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import pytest
from example_programs import NAMES
from support import ROOT, run


def demo(*folders: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, ROOT / "tools" / "demo.py", *folders])


@pytest.fixture
def program(tmp_path: pathlib.Path) -> Any:
    """Write a program with the given body of `examples`, and run the demo on it."""

    def demonstrate(body: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / "program"
        folder.mkdir(exist_ok=True)
        source = f'"""What it is for."""\nimport os\n\nimport anyffi\n\ndef examples():\n    {body}\n'
        (folder / "program.py").write_text(source, encoding="utf-8")
        return demo(folder)

    return demonstrate


@pytest.mark.slow("demo programs")
def test_all_examples_are_right(both: Any) -> None:
    done = demo()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Every result is the same in both modes and in plain Python." in done.stdout
    assert len(NAMES) == 12
    for name in NAMES:
        assert f"\n{name}: " in done.stdout
    assert "np.empty((1, 2, 1))" in done.stdout


def test_results_are_shown_side_by_side(both: Any, program: Any) -> None:
    done = program('yield "f(1)", anyffi.convert([1]), [1]')
    assert done.returncode == 0, done.stdout + done.stderr
    header, row = (line.split() for line in done.stdout.splitlines()[2:4])
    assert header == ["ctypes", "cython", "plain", "Python"]
    assert row == ["f(1)", "anyffi.List([1])", "anyffi.List([1])", "[1]"]


@pytest.mark.slow("demo programs")
def test_modes_that_differ_fail(both: Any, program: Any) -> None:
    done = program('yield "mode", os.environ["FFI_MODE"], os.environ["FFI_MODE"]')
    assert done.returncode == 1
    assert "THE MODES DIFFER" in done.stdout
    assert "Wrong: program" in done.stdout


@pytest.mark.slow("demo programs")
def test_long_values_are_compared_to_the_end(both: Any, program: Any) -> None:
    text = '"x" * 100_000 + os.environ["FFI_MODE"]'
    assert program(f'yield "text", {text}, {text}').returncode == 1


@pytest.mark.slow("demo programs")
def test_a_result_that_is_missing_in_one_mode_fails(both: Any, program: Any) -> None:
    done = program('yield from [("x", 1, 1)] * (1 + (anyffi.ffi_mode == "cython"))')
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("value", "plain"),
    [("1", "2"), ("1", "True"), ("1", "1.0"), ("[1]", "(1,)"), ("anyffi.convert((1,))", "[1]")],
)
@pytest.mark.slow("demo programs")
def test_results_unlike_plain_python_fail(both: Any, program: Any, value: str, plain: str) -> None:
    done = program(f'yield "x", {value}, {plain}')
    assert done.returncode == 1
    assert "DIFFERS FROM PLAIN PYTHON" in done.stdout


@pytest.mark.slow("demo programs")
def test_a_program_that_raises_fails(both: Any, program: Any) -> None:
    done = program("yield 1 / 0")
    assert done.returncode == 1
    assert "FAILED in FFI_MODE=ctypes" in done.stdout
    assert "ZeroDivisionError" in done.stdout


@pytest.mark.slow("demo programs")
def test_a_program_that_crashes_fails(both: Any, program: Any) -> None:
    done = program('yield os._exit(3) if anyffi.ffi_mode == "cython" else ("x", 1, 1)')
    assert done.returncode == 1
    assert "FAILED in FFI_MODE=cython, exit status 3" in done.stdout
