"""docs/authoring.md: compile its C++, and run its Python with the result."""

from __future__ import annotations

from typing import Any

import pytest
from pages import blocks, directory_of, run_examples
from support import ROOT, Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

PAGE = "authoring.md"


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, build: Build) -> None:
    library = build("shapes.cc", "\n".join(blocks(PAGE, "cpp")))
    with directory_of(library, "shapes.so"):
        assert run_examples(PAGE, ffi) > 15


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_plain_c(ffi: Any, build: Build) -> None:
    (source,) = blocks(PAGE, "c")
    module = ffi.load_module(build("half.c", source))
    assert module.half(5.0) == 2.5
    with pytest.raises(TypeError, match="takes a float"):
        module.half("x")


def test_every_header_is_in_the_table() -> None:
    page = (ROOT / "docs" / PAGE).read_text()
    for path in (ROOT / "cpp" / "include" / "anyffi" / "stl").glob("*.h"):
        assert f"stl/{path.name}" in page
