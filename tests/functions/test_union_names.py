"""Unions in annotations and errors name each of their parts once."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from support import Build

pytestmark = pytest.mark.keeps_live("libraries are never unloaded")

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

using anyffi::arg;

template <class T>
T same(T x) {
  return x;
}
using Text = std::optional<std::string>;
ANYFFI_EXPORT(two, &same<std::variant<std::optional<int64_t>, Text>>, arg("x"));
ANYFFI_EXPORT(nested, &same<std::optional<std::optional<int64_t>>>, arg("x"));
ANYFFI_EXPORT(own, &same<anyffi::Optional<anyffi::Optional<int64_t>>>, arg("x"));
ANYFFI_EXPORT(sizes, &same<anyffi::Variant<int64_t, int32_t, double>>, arg("x"));
ANYFFI_EXPORT(inside, &same<std::vector<std::variant<int64_t, int32_t, Text>>>, arg("x"));
ANYFFI_EXPORT(alike, &same<std::variant<std::map<std::string, int64_t>, std::map<std::string, Text>, Text>>, arg("x"));
"""

EXPECTED = {
    "two": ("int | None | str", "int | None | str"),
    "nested": ("int | None", "int | None"),
    "own": ("int | None", "int | None"),
    "sizes": ("int | float", "int | float"),
    "inside": ("Sequence[int | str | None]", "list[int | str | None]"),
    "alike": (
        "Mapping[str, int] | Mapping[str, str | None] | str | None",
        "dict[str, int] | dict[str, str | None] | str | None",
    ),
}


def test_each_part_is_named_once(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("union_names.cc", SOURCE))
    for name, (taken, returned) in EXPECTED.items():
        shown = inspect.signature(getattr(module, name))
        assert (shown.parameters["x"].annotation, shown.return_annotation) == (taken, returned)
        with pytest.raises(TypeError) as caught:
            getattr(module, name)(object())
        assert str(caught.value) == (
            f"{name}(x: {taken}) -> {returned}: argument 0 (x): expected {taken}, got object"
        )
    assert [module.two(x) for x in (1, None, "a")] == [1, None, "a"]
