"""Messages of errors about calls with keywords that no overload takes."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

using anyffi::arg;

namespace bykey {
struct Sum {
  explicit Sum(int64_t start = 0) : total(start) {}
  Sum(const std::string& text, int64_t times) : total(static_cast<int64_t>(text.size()) * times) {}
  int64_t add(int64_t x, int64_t times) { return total += x * times; }
  int64_t add(const std::string& x, int64_t times) { return add(static_cast<int64_t>(x.size()), times); }
  int64_t add(const std::vector<int64_t>& xs) { return total += static_cast<int64_t>(xs.size()); }
  int64_t total;
};
}  // namespace bykey

ANYFFI_CLASS(bykey::Sum, "bykey.Sum")
    .init<int64_t>(arg("start"))
    .init<const std::string&, int64_t>(arg("text"), arg("times"))
    .method("add", anyffi::overload_cast<int64_t, int64_t>(&bykey::Sum::add), arg("x"), arg("times") = 1)
    .method("add", anyffi::overload_cast<const std::string&, int64_t>(&bykey::Sum::add), arg("x"), arg("times") = 1)
    .method("add", anyffi::overload_cast<const std::vector<int64_t>&>(&bykey::Sum::add), arg("xs"));
ANYFFI_EXPORT(call, [](const anyffi::Function& f, int64_t x) { return f(x).cast<int64_t>(); }, arg("f"), arg("x"))
    .def([](const anyffi::Function& f, double x) { return f(x).cast<double>(); }, arg("f"), arg("x"));
"""


class Mine:
    pass


@pytest.fixture
def bykey(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("bykey.cc", SOURCE))


def refusal(function: Any, *args: Any, **kwargs: Any) -> str:
    """Return the first line of the message of a call, and check that further calls raise the same."""
    messages = set()
    for _ in range(3):
        with pytest.raises(TypeError) as caught:
            function(*args, **kwargs)
        messages.add(str(caught.value))
    (message,) = messages
    return message.splitlines()[0]


def test_keywords_are_named(bykey: Any) -> None:
    add, name = bykey.Sum(1).add, "add(): no overload takes "
    assert refusal(add, 1.5) == f"{name}(Sum, float)"
    assert refusal(add, x=1.5) == f"{name}(Sum, x=float)"
    assert refusal(add, "a", times="b") == f"{name}(Sum, str, times=str)"
    assert refusal(add, times=1, x=None) == f"{name}(Sum, times=int, x=NoneType)"
    assert refusal(add, xs=[1, "b"]) == f"{name}(Sum, xs=list)"
    assert refusal(add, x=memoryview(b"x"), times=2) == f"{name}(Sum, x=memoryview, times=int)"
    assert refusal(add, [], times=Mine()) == f"{name}(Sum, list, times={__name__}.Mine)"
    assert refusal(add, other=1) == f"{name}(Sum, other=int)"


def test_keywords_of_constructors_are_named(bykey: Any) -> None:
    name = "Sum(): no overload takes "
    assert refusal(bykey.Sum, start="x") == f"{name}(start=str)"
    assert refusal(bykey.Sum, "x", times="y") == f"{name}(str, times=str)"
    assert refusal(bykey.Sum, times=1, text=2) == f"{name}(times=int, text=int)"


def test_an_error_of_a_callback_stays_as_it_is(bykey: Any) -> None:
    """Even if it is about a function of the same name with as many arguments."""
    raised = []

    def inner(x: Any) -> Any:
        try:
            return bykey.call(inner, "bad")
        except TypeError as error:
            raised.append((error, error.args))
            raise

    for kwargs in ({"f": inner, "x": 1}, {"x": 1, "f": inner}):
        with pytest.raises(TypeError) as caught:
            bykey.call(**kwargs)
        error, args = raised.pop()
        assert caught.value is error
        assert error.args == args
        assert args[0].startswith("call(): no overload takes (function, str)\n")
    assert refusal(bykey.call, x="bad", f=inner) == "call(): no overload takes (x=str, f=function)"
    assert refusal(bykey.call, inner, x="bad") == "call(): no overload takes (function, x=str)"
