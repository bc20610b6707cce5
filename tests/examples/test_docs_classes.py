"""docs/classes.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import pytest
from pages import blocks, run_examples
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

PAGE = "classes.md"


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build) -> None:
    library = build("shop.cc", "\n".join(blocks(PAGE, "cpp")))
    link = library.with_name("shop.so")
    if not link.exists():
        link.symlink_to(library)
    here = pathlib.Path.cwd()
    os.chdir(library.parent)
    try:
        assert run_examples(PAGE, ffi) > 15
    finally:
        os.chdir(here)
        ffi.register_object("shop.Money")(ffi.Object)
