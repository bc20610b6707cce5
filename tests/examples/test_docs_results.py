"""docs/results.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pytest
from pages import blocks, run_examples
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

PAGE = "results.md"


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = build("results.cc", "\n".join(blocks(PAGE, "cpp")))
    # A copy for each mode, because the page changes the library's state.
    shutil.copy(library, tmp_path / "results.so")
    monkeypatch.chdir(tmp_path)
    assert run_examples(PAGE, ffi) > 25
