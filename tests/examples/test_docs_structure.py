"""docs/structure.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

from typing import Any

import pytest
from pages import blocks, directory_of, run_examples
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

PAGE = "structure.md"


class Package:
    """A backend that looks like the package."""

    def __init__(self, ffi: Any) -> None:
        import anyffi

        self.structure = ffi
        self.field = anyffi.field  # belongs to no backend

    def __getattr__(self, name: str) -> Any:
        return getattr(self.structure, name)


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build) -> None:
    library = build("calc.cc", "\n".join(blocks(PAGE, "cpp")))
    with directory_of(library, "calc.so"):
        assert run_examples(PAGE, Package(ffi)) > 15
