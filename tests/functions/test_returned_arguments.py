"""Functions that return a reference to the C++ value of an argument, which only lives until the call ends."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
using anyffi::arg;
using anyffi::TypedTensor;

namespace back {
struct Item {
  int64_t x = 1;
};
using F = std::function<int64_t()>;
using Shared = std::shared_ptr<Item>;
using Numbers = TypedTensor<const double>;
}  // namespace back

ANYFFI_CLASS(back::Item, "back.Item")
    .init<>()
    .method("shared", [](const back::Shared& self) -> const back::Shared& { return self; })
    .method("moved", [](back::Shared&& self) -> back::Shared&& { return std::move(self); });
ANYFFI_EXPORT(function, [](const back::F& f) -> const back::F& { return f; }, arg("f"));
ANYFFI_EXPORT(function_or_none, [](const back::F& f) -> const back::F& { return f; }, arg("f") = nullptr);
ANYFFI_EXPORT(moved, [](back::F&& f) -> back::F&& { return std::move(f); }, arg("f") = nullptr);
ANYFFI_EXPORT(pointer, [](back::Item* const& item) -> back::Item* const& { return item; }, arg("item"))
    .returns(anyffi::Returns::kReference);
ANYFFI_EXPORT(shared, [](const back::Shared& item) -> const back::Shared& { return item; }, arg("item"));
ANYFFI_EXPORT(converted, [](const back::Numbers& x) -> const back::Numbers& { return x; }, arg("x").convert());
ANYFFI_EXPORT(text, [](const std::string& x) -> const std::string& { return x; }, arg("x"));
ANYFFI_EXPORT(texts, [](const std::vector<std::string>& x) -> const std::vector<std::string>& { return x; },
              arg("x"));
"""


@pytest.fixture
def back(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("back.cc", SOURCE))


def test_functions(back: Any) -> None:
    for same in (back.function, back.function_or_none, back.moved):
        assert same(lambda: 5)() == 5


def test_pointers(back: Any) -> None:
    item = back.Item()
    assert item.shared() is item.moved() is back.shared(item) is back.pointer(item) is item
    assert back.pointer(None) is back.shared(None) is None


def test_values(back: Any) -> None:
    assert back.text("x" * 50) == "x" * 50
    assert back.texts(["x" * 50, "y"]) == ["x" * 50, "y"]
    x = back.converted([1, 2.5])
    assert (x.shape, x.strides) == ((2,), (1,))
