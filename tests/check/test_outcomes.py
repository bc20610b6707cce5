"""The recorder of outcomes finds differences between modes that a test itself does not check."""

from __future__ import annotations

import os
import pathlib
import sys
import textwrap

import pytest
from support import ROOT, cpython_only, run

SAMPLE = textwrap.dedent("""
    import pytest

    def test_alike(ffi):
        ffi.get_global_func("testing.echo")([1, {"k", "l"}, object(), slice(2.5)])
        ffi.register_global_func("sample.\\ud800", lambda: "\\ud800", override=True)
        ffi.get_global_func("sample.\\ud800")()
        ffi.remove_global_func("sample.\\ud800")

    def test_type(ffi):
        assert ffi.get_global_func("testing.echo")([1 if ffi.ffi_mode == "ctypes" else True]) == [1]

    def test_swallowed(ffi):
        try:
            ffi.get_global_func("testing.raise_error")("ValueError", ffi.ffi_mode)
        except ValueError:
            pass

    def test_raised(ffi):
        with pytest.raises((KeyError, IndexError)):
            raise KeyError(1) if ffi.ffi_mode == "ctypes" else IndexError(1)

    @pytest.mark.parametrize("x", [1, 2])
    def test_converted(ffi, x):
        ffi.convert([x] * x if ffi.ffi_mode == "ctypes" else [x])

    @pytest.mark.unrecorded("differs on purpose")
    def test_left_out(ffi):
        ffi.get_global_func("testing.echo")(ffi.ffi_mode)
""")

DIFFERENCES = {
    "test_type[*]": ["cython: testing.echo: List 1( bool True )", "ctypes: testing.echo: List 1( int '1' )"],
    "test_swallowed[*]": [
        "cython: testing.raise_error: ValueError('cython')",
        "ctypes: testing.raise_error: ValueError('ctypes')",
    ],
    "test_raised[*]": ["cython: pytest.raises: IndexError('1')", "ctypes: pytest.raises: KeyError('1')"],
    "test_converted[*-2]": [
        "cython: convert: List 1( int '2' )",
        "ctypes: convert: List 2( int '2' int '2' )",
    ],
}


@cpython_only("needs both modes")
@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.slow("test runs")
def test_differences_fail_the_run(tmp_path: pathlib.Path, workers: str) -> None:
    (tmp_path / "sample.py").write_text(SAMPLE)
    options = ["-c", ROOT / "pyproject.toml", "-p", "conftest", "-p", "no:cacheprovider", "-n", workers]
    path = os.pathsep.join(
        [str(ROOT / "tests"), str(ROOT / "tests" / "support"), os.environ.get("PYTHONPATH", "")]
    )
    done = run([sys.executable, "-m", "pytest", *options, tmp_path / "sample.py"], PYTHONPATH=path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "14 passed" in done.stdout
    assert "outcomes: 6 tests compared, 4 differ" in done.stdout
    for test, (one, other) in DIFFERENCES.items():
        assert f"{test}\n  outcome 0\n    {one}\n    {other}\n" in done.stdout
