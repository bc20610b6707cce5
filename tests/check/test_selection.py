"""FFI_MODE: which marshaller is chosen, and the error if that is not possible."""

from __future__ import annotations

import importlib.machinery
import pathlib
import shutil

import pytest
from support import ROOT, run_python

SHOW = "import anyffi; print(anyffi.ffi_mode)"
EXTENSIONS = """
import importlib.machinery, sys
suffixes = tuple(importlib.machinery.EXTENSION_SUFFIXES)
print([name for name, module in sys.modules.items()
       if name.startswith("anyffi") and (getattr(module, "__file__", None) or "").endswith(suffixes)])
"""


@pytest.fixture(scope="session")
def modes(request: pytest.FixtureRequest) -> list[str]:
    return request.config.getoption("--modes").split(",")


def test_each_mode_can_be_chosen(modes: list[str]) -> None:
    for mode in modes:
        assert run_python(SHOW, ffi_mode=mode) == mode
    if "cython" in modes:
        assert run_python(SHOW, ffi_mode="check") == "check"


@pytest.mark.parametrize("asked", [None, "", "auto"])
@pytest.mark.slow("separate install")
def test_auto_prefers_the_extension(pure: pathlib.Path, modes: list[str], asked: str) -> None:
    if "cython" in modes:
        assert run_python(SHOW, ffi_mode=asked) == "cython"
    assert run_python(SHOW, ffi_mode=asked, package_path=pure) == "ctypes"


@pytest.mark.parametrize("asked", ["nonsense", "Cython", " ctypes", "cython,ctypes"])
def test_other_values_list_the_choices(asked: str) -> None:
    output = run_python(SHOW, ffi_mode=asked)
    assert output.startswith("ImportError: ")
    assert repr(asked) in output
    for choice in ("auto", "cython", "ctypes", "check"):
        assert choice in output


def test_ctypes_loads_no_extension() -> None:
    assert run_python(f"import anyffi, anyffi.testing{EXTENSIONS}", ffi_mode="ctypes") == "[]"


@pytest.mark.parametrize("asked", ["cython", "check"])
@pytest.mark.slow("separate install")
def test_a_missing_extension_is_explained(pure: pathlib.Path, asked: str) -> None:
    output = run_python(SHOW, ffi_mode=asked, package_path=pure)
    assert output.startswith("ImportError: ")
    assert "pip install" in output
    assert "cython=enabled" in output


@pytest.mark.slow("separate install")
def test_a_broken_extension_is_an_error(pure: pathlib.Path, tmp_path: pathlib.Path) -> None:
    shutil.copytree(pure / "anyffi", tmp_path / "anyffi")
    room = tmp_path / "anyffi" / "_cython"
    room.mkdir()
    shutil.copy(ROOT / "pkg" / "_cython" / "__init__.py", room)
    broken = room / f"_core{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    broken.write_bytes(b"no library")
    for asked in (None, "auto", "cython", "check"):
        output = run_python(SHOW, ffi_mode=asked, package_path=tmp_path)
        assert output.startswith("ImportError: ")
        assert str(broken) in output


def test_the_switch_is_read_once() -> None:
    code = "import os, anyffi; os.environ['FFI_MODE'] = ''; import anyffi.testing; print(anyffi.ffi_mode)"
    assert run_python(code, ffi_mode="ctypes") == "ctypes"


@pytest.mark.slow("separate install")
def test_an_ordinary_install_works(pure: pathlib.Path) -> None:
    code = "import anyffi.testing; print(anyffi.testing.add_one(41))"
    assert run_python(code, package_path=pure) == "42"
