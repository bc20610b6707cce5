"""The installed headers: includes point one way, and no other code includes headers of `detail/`."""

from __future__ import annotations

import pathlib
import re

from support import ROOT

INCLUDE = ROOT / "cpp" / "include"
INCLUDES = {
    path.relative_to(INCLUDE).as_posix(): re.findall(
        r"^#include <(anyffi/[^>]+)>", path.read_text(), re.MULTILINE
    )
    for path in sorted(INCLUDE.rglob("*.h"))
}


def test_headers_include_each_other_without_a_circle() -> None:
    finished: set[str] = set()

    def visit(header: str, path: tuple[str, ...]) -> None:
        assert header not in path, " -> ".join((*path, header))
        if header not in finished:
            for included in INCLUDES[header]:
                visit(included, (*path, header))
            finished.add(header)

    for header in INCLUDES:
        visit(header, ())
    assert len(finished) > 40


def test_the_c_headers_include_no_cpp_header() -> None:
    assert INCLUDES["anyffi/c_api.h"] == []
    for header in ("host_api", "native_api", "inline"):
        assert INCLUDES[f"anyffi/{header}.h"] == ["anyffi/c_api.h"]


def test_cpp_headers_need_no_front_end() -> None:
    assert [header for header in INCLUDES if "anyffi/host_api.h" in INCLUDES[header]] == []


def test_the_contents_page_lists_every_public_header() -> None:
    listed = set(INCLUDES["anyffi/anyffi.h"])
    apart = ("anyffi/detail/", "anyffi/stl/")
    public = {header for header in INCLUDES if not header.startswith(apart)}
    assert public - listed == {"anyffi/anyffi.h", "anyffi/host_api.h", "anyffi/native_api.h"}
    assert listed - public == {"anyffi/detail/check_callable.h", "anyffi/detail/check_names.h"}


def test_docs_and_examples_include_no_detail() -> None:
    pages: list[pathlib.Path] = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    sources = [path for path in (ROOT / "docs" / "examples").rglob("*") if path.suffix in (".cc", ".h", ".c")]
    assert len(sources) > 30
    for path in (*pages, *sources):
        assert "anyffi/detail/" not in path.read_text(), path
