"""docs/first_extension.md and docs/third_party.md: compile their C++, and run their Python with the results."""

from __future__ import annotations

from typing import Any

import pytest
from pages import blocks, directory_of, run_examples
from support import Build, needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.parametrize(
    ("page", "library", "count"), [("first_extension.md", "smooth", 11), ("third_party.md", "knn", 9)]
)
def test_the_page(ffi: Any, build: Build, page: str, library: str, count: int) -> None:
    # The page's header is part of the same file here.
    source = "\n".join(blocks(page, "cpp")).replace(f'#include "{library}.h"\n', "")
    built = build(f"{library}.cc", source)
    with directory_of(built, f"lib{library}.so"):
        assert run_examples(page, ffi) >= count
