"""Run the examples on pages of the documentation."""

from __future__ import annotations

import doctest
import os
import pathlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support import ROOT


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of one language."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run_examples(page: str, ffi: Any) -> int:
    """Run the Python examples of a page in order, and return how many there are."""
    examples = doctest.DocTestParser().get_doctest(
        "\n".join(blocks(page, "python")), {"anyffi": ffi}, page, page, 0
    )
    output: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(examples, out=output.append).failed == 0, "".join(output)
    return len(examples.examples)


@contextmanager
def directory_of(library: pathlib.Path, name: str) -> Iterator[None]:
    """Change to the directory of a library, which has the name that the page uses."""
    link = library.with_name(name)
    if not link.exists():
        link.symlink_to(library)
    here = pathlib.Path.cwd()
    os.chdir(library.parent)
    try:
        yield
    finally:
        os.chdir(here)
