"""docs/authoring.md: its C++ is compiled, and its Python is run against that."""

from __future__ import annotations

import doctest
import os
import pathlib
import re
from typing import Any

import pytest
from support import ROOT, Build, needs_compilers

pytestmark = needs_compilers

PAGE = ROOT / "docs" / "authoring.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(build: Build) -> Any:
    """The directory of the libraries, as the current one."""
    library = build("shapes.cc", "\n".join(blocks("cpp")))
    link = library.with_name("shapes.so")
    if not link.exists():
        link.symlink_to(library)
    here = pathlib.Path.cwd()
    os.chdir(library.parent)
    yield library.parent
    os.chdir(here)


@pytest.mark.unrecorded("about what is printed")
@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_page(ffi: Any, folder: pathlib.Path) -> None:
    examples = doctest.DocTestParser().get_doctest(
        "\n".join(blocks("python")), {"anyffi": ffi}, PAGE.name, str(PAGE), 0
    )
    assert len(examples.examples) > 15
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(examples, out=said.append).failed == 0, "".join(said)


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_plain_c(ffi: Any, build: Build) -> None:
    (source,) = blocks("c")
    module = ffi.load_module(build("half.c", source))
    assert module.half(5.0) == 2.5
    with pytest.raises(TypeError, match="takes a float"):
        module.half("x")


def test_every_header_is_in_the_table() -> None:
    page = PAGE.read_text()
    for path in (ROOT / "cpp" / "include" / "anyffi" / "stl").glob("*.h"):
        assert path.name == "items.h" or f"stl/{path.name}" in page
