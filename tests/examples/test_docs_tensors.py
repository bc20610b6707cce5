"""docs/tensors.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

from typing import Any

import pytest
from pages import blocks, directory_of, run_examples
from support import CPYTHON, Build, needs_compilers

pytestmark = needs_compilers

PAGE = "tensors.md"


@pytest.mark.skipif(not CPYTHON, reason="the page shows when CPython frees memory")
@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build) -> None:
    library = build("matrices.cc", "\n".join(blocks(PAGE, "cpp")))
    with directory_of(library, "matrices.so"):
        assert run_examples(PAGE, ffi) > 25
