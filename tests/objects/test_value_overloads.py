"""Overloads of which one takes an object that is made of a value: an exact match precedes it, however it is passed."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

namespace choice {
struct Angle {
  double degrees = 0;
};
}  // namespace choice

ANYFFI_TYPE_KEY(choice::Angle, "choice.Angle");
template <>
struct anyffi::FromValue<choice::Angle> {
  static choice::Angle from_value(double degrees) { return {degrees}; }
};
ANYFFI_BIND(choice::Angle).init<>();

#define EXPORT(NAME, PARAMETER)                                   \
  ANYFFI_EXPORT(NAME, [](PARAMETER) { return "angle"; })          \
      .def([](double) { return "float"; })
EXPORT(by_value, choice::Angle);
EXPORT(by_reference, const choice::Angle&);
EXPORT(by_ref, anyffi::Ref<choice::Angle>);
EXPORT(by_pointer, choice::Angle*);
EXPORT(by_shared, std::shared_ptr<choice::Angle>);
EXPORT(by_optional, std::optional<choice::Angle>);
EXPORT(by_own_optional, anyffi::Optional<choice::Angle>);
using AngleOrText = std::variant<choice::Angle, std::string>;
EXPORT(by_variant, AngleOrText);
using OwnAngleOrText = anyffi::Variant<anyffi::Ref<choice::Angle>, anyffi::String>;
EXPORT(by_own_variant, OwnAngleOrText);

using FloatOrText = std::variant<double, std::string>;
using FloatsOrNone = std::variant<std::monostate, std::vector<double>>;
ANYFFI_EXPORT(of_numbers, [](FloatOrText) { return "float | str"; })
    .def([](int64_t) { return "int"; })
    .def([](FloatsOrNone) { return "None | Sequence[float]"; });
"""

NAMES = ["by_value", "by_reference", "by_ref", "by_pointer", "by_shared", "by_optional", "by_own_optional"]
VARIANTS = ["by_variant", "by_own_variant"]


@pytest.fixture
def choice(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("choice.cc", SOURCE))


@pytest.mark.parametrize("name", [*NAMES, *VARIANTS])
def test_an_exact_match_precedes_a_conversion(choice: Any, name: str) -> None:
    function = getattr(choice, name)
    assert [function(1.5), function(choice.Angle())] == ["float", "angle"]


def test_a_union_takes_exactly_what_its_alternatives_take(choice: Any) -> None:
    chosen = [choice.of_numbers(x) for x in (1, True, 1.5, "text", None, [1.5])]
    assert chosen == ["int", "int", "float | str", "float | str", *2 * ["None | Sequence[float]"]]
