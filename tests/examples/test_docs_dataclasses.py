"""docs/dataclasses.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pages import blocks, directory_of, run_examples
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

PAGE = "dataclasses.md"


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build) -> None:
    ffi.field = sys.modules["anyffi"].field
    library = build("plane.cc", "\n".join(blocks(PAGE, "cpp")))
    with directory_of(library, "plane.so"):
        assert run_examples(PAGE, ffi) > 10
