"""Parameters whose default is a null pointer: they accept None."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from programs import stubgen
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/string.h>

using anyffi::arg;
using anyffi::Optional;

static std::string shown(const char* text) { return text ? text : "null"; }
ANYFFI_EXPORT(shown, &shown, arg("text") = nullptr);
ANYFFI_EXPORT(named, &shown, arg("text"));
ANYFFI_EXPORT(titled, &shown, arg("text") = "untitled");
ANYFFI_EXPORT(joined, [](int64_t number, const char* before, const char* after) {
  return shown(before) + std::to_string(number) + shown(after);
}, arg("number"), arg("before") = nullptr, arg("after") = nullptr);
ANYFFI_EXPORT(notify, [](const std::function<int64_t(int64_t)>& f, std::function<void()> then) {
  if (then) then();
  return f ? f(1) : -1;
}, arg("f") = nullptr, arg("then") = nullptr);
ANYFFI_EXPORT(pick, &shown, arg("text") = nullptr).def([](int64_t) -> std::string { return "int"; }, arg("x"));
ANYFFI_EXPORT(address, [](void* pointer) { return pointer == nullptr; }, arg("pointer") = nullptr);

namespace pages {
struct Page {
  explicit Page(const char* title) : title(shown(title)) {}
  std::string named(const char* prefix) const { return shown(prefix) + title; }
  std::string title;
};
}  // namespace pages
ANYFFI_CLASS(pages::Page, "pages.Page")
    .init<const char*>(arg("title") = nullptr)
    .field("title", &pages::Page::title)
    .method("named", &pages::Page::named, arg("prefix") = nullptr)
    .method("same", [](pages::Page& self, const pages::Page* other) { return other == &self; }, arg("other") = nullptr);

ANYFFI_EXPORT(size_of, [](const Optional<anyffi::String>& text) {
  return text ? text->size() + (*text).size() - text.value().size() : text.value_or("none").size();
}, arg("text") = nullptr);
ANYFFI_EXPORT(compare, [](const Optional<int64_t>& a, Optional<int64_t> b) {
  bool found = a == b;
  b.reset();
  return found && b == nullptr && b != Optional<int64_t>(1);
}, arg("a"), arg("b"));
"""


@pytest.fixture
def pages(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("pages.cc", SOURCE))


def test_text(pages: Any) -> None:
    assert [pages.shown(), pages.shown(None), pages.shown("a"), pages.shown(text="é" * 9)] == [
        "null",
        "null",
        "a",
        "é" * 9,
    ]
    assert pages.joined(1) == "null1null"
    assert pages.joined(1, None, "!") == "null1!"
    assert pages.joined(1, after=None, before="a" * 20) == "a" * 20 + "1null"
    assert [pages.Page().title, pages.Page(title=None).title, pages.Page("b").title] == ["null", "null", "b"]
    assert pages.Page("b").named() + pages.Page("b").named("a") == "nullbab"


def test_functions(pages: Any) -> None:
    seen: list[int] = []
    assert pages.notify() == pages.notify(None, None) == -1
    assert pages.notify(lambda x: x + 1, lambda: seen.append(1)) == 2
    assert pages.notify(then=lambda: seen.append(2)) == -1
    assert seen == [1, 2]


def test_pointers_accept_none_anyway(pages: Any) -> None:
    page = pages.Page()
    assert page.same(page)
    assert not page.same()
    assert pages.address()
    assert pages.address(None)


def test_annotations(pages: Any) -> None:
    def shown(function: Any) -> str:
        return str(inspect.signature(function)).replace("'", "")

    assert shown(pages.shown) == "(text: str | None = None) -> str"
    assert shown(pages.named) == "(text: str) -> str"
    assert shown(pages.Page) == "(title: str | None = None) -> None"
    assert shown(pages.notify) == (
        "(f: Callable[[int], int] | None = None, then: Callable[[], None] | None = None) -> int"
    )
    text = stubgen(pages.__file__)
    for line in (
        "def shown(text: str | None = None) -> str: ...",
        "    def __init__(self, title: str | None = None) -> None: ...",
        "def notify(f: Callable[[int], int] | None = None, then: Callable[[], object] | None = None) -> int: ...",
    ):
        assert f"{line}\n" in text


def test_others_refuse_none(pages: Any) -> None:
    for function in (pages.named, pages.titled):
        with pytest.raises(TypeError, match=r"\(text\): expected str, got NoneType$"):
            function(None)
    assert pages.titled() == "untitled"


def test_other_types_and_values(pages: Any) -> None:
    with pytest.raises(TypeError, match=r"\(text\): expected str \| None, got int$"):
        pages.shown(5)
    with pytest.raises(ValueError, match="embedded null character"):
        pages.shown("a\0b")
    with pytest.raises(UnicodeEncodeError):
        pages.shown("\ud800")
    with pytest.raises(TypeError, match=r"\(f\): expected Callable\[\[int\], int\] \| None, got str$"):
        pages.notify("f")


def test_overloads(pages: Any) -> None:
    assert [pages.pick(), pages.pick(None), pages.pick("a"), pages.pick(1)] == ["null", "null", "a", "int"]


def test_optional_is_used_like_that_of_the_standard_library(pages: Any) -> None:
    assert [pages.size_of(), pages.size_of("ab"), pages.size_of("a" * 50)] == [4, 2, 50]
    assert pages.compare(1, 1)
    assert pages.compare(None, None)
    assert not pages.compare(None, 1)
    assert not pages.compare(2, 1)
