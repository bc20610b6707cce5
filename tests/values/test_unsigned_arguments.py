"""Unsigned ints of 64 bits above those of int64, at every place of a call."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/vector.h>

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::kw_only;
using anyffi::String;
using U = uint64_t;

ANYFFI_EXPORT(only, [](U x) { return x; }, arg("x"));
ANYFFI_EXPORT(by_reference, [](const U& x) { return x; }, arg("x"));
ANYFFI_EXPORT(unlocked, [](U x) { return x; }, arg("x")).release_gil();
ANYFFI_EXPORT(after_text, [](const String&, U x, int64_t) { return x; }, arg("s"), arg("x"), arg("y") = 1);
ANYFFI_EXPORT(after_call, [](const anyffi::Function& f, U x) { return f(x).cast<U>(); }, arg("f"), arg("x"));
ANYFFI_EXPORT(after_items, [](const std::vector<U>& xs, U x) { return xs.at(0) ^ x; }, arg("xs"), arg("x"));
ANYFFI_EXPORT(by_keyword, [](int64_t, U x) { return x; }, arg("y") = 3, kw_only(), arg("x"));
ANYFFI_EXPORT(last, [](U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U x) { return x; });
ANYFFI_EXPORT(any, [](const AnyValue& x, U) { return x; }, arg("x"), arg("u"));
ANYFFI_EXPORT(signed_first, [](int64_t x, U) { return x; }, arg("x"), arg("u"));
ANYFFI_EXPORT(optional, [](std::optional<U> x) { return x; }, arg("x") = nullptr);
ANYFFI_EXPORT(either, [](int64_t) { return "int64"; }, arg("x"))
    .def([](U) { return "uint64"; }, arg("x"))
    .def([](double) { return "double"; }, arg("x"));

struct Counter {
  explicit Counter(U start) : value(start) {}
  U add(U step) { return value += step; }
  U value;
};
ANYFFI_CLASS(Counter, "unsigned_arguments.Counter")
    .init<U>(arg("start"))
    .method("add", &Counter::add, arg("step"))
    .field("value", &Counter::value);
"""

LARGE = [2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]


@pytest.fixture(scope="module")
def library(build: Build) -> Any:
    return build("unsigned_arguments.cc", SOURCE)


@pytest.mark.parametrize("x", LARGE)
def test_every_place(ffi: Any, library: Any, x: int) -> None:
    module = ffi.load_module(library)
    calls: list[Callable[[], Any]] = [
        lambda: module.only(x),
        lambda: module.only(x=x),
        lambda: module.by_reference(x),
        lambda: module.unlocked(x),
        lambda: module.after_text("text", x),
        lambda: module.after_text(x=x, s="a text that no value holds inline"),
        lambda: module.after_call(lambda y: y, x),
        lambda: module.after_call(x=x, f=lambda y: y),
        lambda: module.after_items([0], x),
        lambda: module.after_items(x=x, xs=(0,)),
        lambda: module.after_items(ffi.List([0]), x),
        lambda: module.by_keyword(x=x),
        lambda: module.by_keyword(5, x=x),
        lambda: module.last(*range(19), x),
        lambda: module.any(x, x),
        lambda: module.optional(x),
        lambda: module.Counter(x).value,
        lambda: module.Counter(0).add(x),
        lambda: module.Counter(start=0).add(step=x),
    ]
    for call in calls:
        found = call()
        assert found == x
        assert type(found) is int
    assert module.either(x) == ("int64" if x < 2**63 else "uint64")


@pytest.mark.parametrize("x", [-1, 2**64, -(2**63) - 1, 2**640])
def test_beyond(ffi: Any, library: Any, x: int) -> None:
    module = ffi.load_module(library)
    for call in (module.only, module.Counter, module.Counter(0).add):
        with pytest.raises(OverflowError, match=f"{x} does not fit uint64"):
            call(x)
    with pytest.raises(OverflowError, match=f"argument 1 \\(x\\): {x} does not fit uint64"):
        module.after_text("text", x)


def test_errors_name_the_value(ffi: Any, library: Any) -> None:
    module = ffi.load_module(library)
    with pytest.raises(OverflowError, match="argument 0 .*9223372036854775808 does not fit int64"):
        module.signed_first(2**63, 2**63)
    with pytest.raises(TypeError, match=r"argument 0 \(s\): expected str, got int"):
        module.after_text(2**63, 2**63)


class Tracked(int):
    """An int of another class, whose value is large."""


def test_other_kinds_of_ints(ffi: Any, library: Any) -> None:
    module = ffi.load_module(library)
    assert module.only(Tracked(2**63)) == 2**63
    assert module.after_text("s", Tracked(2**63)) == 2**63
