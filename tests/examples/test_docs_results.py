"""docs/results.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

from typing import Any

import pytest
from pages import blocks, run_examples
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

PAGE = "results.md"


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    library = build("results.cc", "\n".join(blocks(PAGE, "cpp")))
    link = library.with_name("results.so")
    if not link.exists():
        link.symlink_to(library)
    monkeypatch.chdir(library.parent)
    assert run_examples(PAGE, ffi) > 25
