"""docs/classes.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

from typing import Any

import pytest
from pages import blocks, directory_of, run_examples
from support import CPYTHON, Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

PAGE = "classes.md"


@pytest.mark.skipif(not CPYTHON, reason="the page moves an object to C++, which PyPy cannot")
@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build) -> None:
    library = build("shop.cc", "\n".join(blocks(PAGE, "cpp")))
    try:
        with directory_of(library, "shop.so"):
            assert run_examples(PAGE, ffi) > 15
    finally:
        ffi.register_object("shop.Money")(ffi.Object)
