"""A class like a dict of functions: its truth, its keys and items, and the functions that its methods accept."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/chrono.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>

namespace registries {
struct Rule {
  double factor = 2;
  double apply(double x) const { return factor * x; }
};
struct Registry {
  std::map<std::string, std::function<double(double)>> rules;
  explicit operator bool() const { return !rules.empty(); }
  void add(const std::string& name, std::function<double(double)> rule) { rules[name] = std::move(rule); }
  void add_only(std::function<double(double)> rule) { rules[""] = std::move(rule); }
  auto begin() const { return rules.begin(); }
  auto end() const { return rules.end(); }
};
}  // namespace registries

using anyffi::arg;
using registries::Registry;
using registries::Rule;
ANYFFI_CLASS(Rule, "registries.Rule").init<>().op(anyffi::ops::call, &Rule::apply, arg("x"));
ANYFFI_CLASS(Registry, "registries.Registry")
    .init<>()
    .op(anyffi::ops::bool_)
    .method("add", &Registry::add, arg("name"), arg("rule"))
    .method("add_only", &Registry::add_only, arg("rule"))
    .static_method("wait", [](std::chrono::milliseconds time) { return time.count(); }, arg("time"))
    .static_method("wait", [](int64_t minutes, int64_t seconds) { return minutes + seconds; },
                   arg("minutes"), arg("seconds"))
    .iterate(&Registry::begin, &Registry::end, [](const auto& entry) { return entry.first; })
    .iterate("items", &Registry::begin, &Registry::end);
"""


@pytest.fixture
def registries(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("registries.cc", SOURCE))


def test_an_explicit_conversion_to_bool_is_the_truth_of_an_object(registries: Any) -> None:
    registry = registries.Registry()
    assert bool(registry) is False
    registry.add("one", abs)
    assert bool(registry) is True
    assert str(inspect.signature(registries.Registry.__bool__)) == "(self) -> 'bool'"


def test_iteration_over_what_a_function_returns_for_each_element(registries: Any) -> None:
    registry = registries.Registry()
    assert list(registry) == []
    registry.add("one", abs)
    registry.add("half", lambda x: x / 2)
    assert list(registry) == ["half", "one"]
    assert {name: rule(-3.0) for name, rule in registry.items()} == {"half": -1.5, "one": 3.0}
    assert [*map(type, registry.items())] == [tuple, tuple]


def test_methods_say_what_to_pass_for_an_object_that_can_be_called(registries: Any) -> None:
    registry, rule = registries.Registry(), registries.Rule()
    calls = [
        lambda: registry.add("r", rule),
        lambda: registry.add("r" * 40, rule),
        lambda: registry.add("r", rule=rule),
        lambda: registry.add_only(rule),
        lambda: registries.Registry.add_only(registry, rule),
        lambda: registry.add_only(registries.Rule()),
    ]
    for call in calls:
        with pytest.raises(
            TypeError,
            match=r"\(rule\): expected Callable\[\[float\], float\], got registries\.Rule; pass its \.__call__$",
        ):
            call()
    with pytest.raises(TypeError, match=r"\(rule\): expected .*, got registries\.Registry$"):
        registry.add_only(registry)
    assert not registry
    registry.add_only(rule.__call__)
    assert dict(registry.items())[""](4.0) == 8.0


def test_a_class_that_is_not_described_as_copyable_says_how_it_would_be(registries: Any) -> None:
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError, match=r"with pickle\(\) in C\+\+, or copyable\(\) for copies alone, or"
        ):
            copied(registries.Registry())


def test_messages_of_overloads_about_values_give_no_advice(registries: Any) -> None:
    assert (registries.Registry.wait(1.5), registries.Registry.wait(1, 2)) == (1500, 3)
    with pytest.raises(TypeError) as refused:
        registries.Registry.wait(float("nan"))
    assert str(refused.value).split("\n") == [
        "wait(): no overload takes (float)",
        "    wait(time: timedelta | float) -> int: argument 0 (time): a duration cannot be NaN, got nan",
        "    wait(minutes: int, seconds: int) -> int: wait() missing 1 required positional argument: 'seconds'",
    ]
