"""Keyword-only parameters behave like those of Python's functions, with the same messages."""

from __future__ import annotations

import inspect
from itertools import combinations
from typing import Any, Callable

import pytest
from programs import stubgen
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::kw_only;

static std::string text(int64_t a, int64_t b, int64_t c) {
  return std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c);
}
static anyffi::String shown(const AnyValue& a, const AnyValue& b, const AnyValue& c) {
  return a.repr() + " " + b.repr() + " " + c.repr();
}
ANYFFI_EXPORT(all, &text, kw_only(), arg("a"), arg("b"), arg("c"));
ANYFFI_EXPORT(two, &text, arg("a"), kw_only(), arg("b"), arg("c"));
ANYFFI_EXPORT(one, &text, arg("a"), arg("b"), kw_only(), arg("c"));
ANYFFI_EXPORT(some, &text, arg("a"), arg("b") = 5, kw_only(), arg("c"));
ANYFFI_EXPORT(most, &text, arg("a") = 4, kw_only(), arg("b") = 5, arg("c"));
ANYFFI_EXPORT(none, &text, arg("a") = 4, arg("b") = 5, kw_only(), arg("c") = 6);
ANYFFI_EXPORT(anything, &shown, arg("a"), kw_only(), arg("b") = "long enough for the heap", arg("c"));
ANYFFI_EXPORT(total, [](const std::vector<int64_t>& xs, const std::vector<int64_t>& ys) {
  int64_t sum = 0;
  for (int64_t x : xs) sum += x;
  for (int64_t y : ys) sum += 100 * y;
  return sum;
}, arg("xs"), kw_only(), arg("ys"));
ANYFFI_EXPORT(texts, [](const char* a, const char* b) { return std::string(a ? a : "-") + (b ? b : "-"); },
              arg("a") = nullptr, kw_only(), arg("b") = nullptr);
ANYFFI_EXPORT(unlocked, &text, arg("a"), kw_only(), arg("b"), arg("c") = 3).release_gil();
ANYFFI_EXPORT(pick, [](int64_t, int64_t) { return "two ints"; }, arg("x"), arg("y"))
    .def([](int64_t, int64_t) { return "named"; }, arg("x"), kw_only(), arg("scale"))
    .def([](const std::string&, int64_t) { return "str"; }, arg("x"), kw_only(), arg("y") = 1);
ANYFFI_EXPORT(pick_one, [](int64_t, int64_t) { return "ints"; }, arg("x"), kw_only(), arg("y"))
    .def([](const std::string&, int64_t) { return "str"; }, arg("x"), kw_only(), arg("y"));
template <class... A>
static int64_t sum(A... each) { return (each + ...); }
using I = int64_t;
ANYFFI_EXPORT(sixteen, &sum<I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I>, arg("a"), kw_only(), arg("b"), arg("c"),
              arg("d"), arg("e"), arg("f"), arg("g"), arg("h"), arg("i"), arg("j"), arg("k"), arg("l"), arg("m"),
              arg("n"), arg("o"), arg("p"));
ANYFFI_EXPORT(sixteen_or_none, &sum<I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I>, arg("a"), kw_only(), arg("b"),
              arg("c"), arg("d"), arg("e"), arg("f"), arg("g"), arg("h"), arg("i"), arg("j"), arg("k"), arg("l"),
              arg("m"), arg("n"), arg("o"), arg("p"))
    .def([](std::string) { return int64_t{0}; }, arg("a"));

ANYFFI_EXPORT(call, [](const anyffi::Function& f, const anyffi::AnyValue& x) { return f(x, 2, 3); }, arg("f"),
              arg("x"));

namespace kwo {
struct Box {
  Box(int64_t width, int64_t height) : width(width), height(height) {}
  std::string scaled(int64_t by, int64_t plus) const { return text(width * by + plus, height, plus); }
  int64_t width, height;
};
struct Flat {
  int64_t height;
};
struct Pair {
  Pair(int64_t a, int64_t b) : a(a), b(b) {}
  explicit Pair(const std::string& s) : a(0), b(static_cast<int64_t>(s.size())) {}
  int64_t a, b;
};
}  // namespace kwo
ANYFFI_CLASS(kwo::Box, "kwo.Box")
    .init<int64_t, int64_t>(arg("width"), kw_only(), arg("height"))
    .field("width", &kwo::Box::width)
    .field("height", &kwo::Box::height)
    .method("scaled", &kwo::Box::scaled, arg("by"), kw_only(), arg("plus") = 0)
    .method("only", [](kwo::Box& self, int64_t x) { return self.width + x; }, kw_only(), arg("x"))
    .op(anyffi::ops::call, [](kwo::Box& self, int64_t x) { return self.width - x; }, kw_only(), arg("x"))
    .static_method("square", [](int64_t size) { return kwo::Box(size, size).scaled(1, 0); }, kw_only(),
                   arg("size") = 1);
ANYFFI_CLASS(kwo::Flat, "kwo.Flat").init<int64_t>(kw_only(), arg("height")).field("height", &kwo::Flat::height);
ANYFFI_CLASS(kwo::Pair, "kwo.Pair")
    .init<int64_t, int64_t>(arg("a"), kw_only(), arg("b"))
    .init<std::string>(kw_only(), arg("s"))
    .init([](double a, double b) { return kwo::Pair(static_cast<int64_t>(a * 10), static_cast<int64_t>(b * 10)); },
          arg("a"), kw_only(), arg("b") = 0.5)
    .field("a", &kwo::Pair::a)
    .field("b", &kwo::Pair::b);
"""


def all(*, a: int, b: int, c: int) -> str:
    return f"{a} {b} {c}"


def two(a: int, *, b: int, c: int) -> str:
    return f"{a} {b} {c}"


def one(a: int, b: int, *, c: int) -> str:
    return f"{a} {b} {c}"


def some(a: int, b: int = 5, *, c: int) -> str:
    return f"{a} {b} {c}"


def most(a: int = 4, *, b: int = 5, c: int) -> str:
    return f"{a} {b} {c}"


def none(a: int = 4, b: int = 5, *, c: int = 6) -> str:
    return f"{a} {b} {c}"


EXAMPLES: list[Callable[..., str]] = [all, two, one, some, most, none]


@pytest.fixture
def kwo(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("kwo.cc", SOURCE))


def outcome(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    try:
        return str(function(*args, **kwargs))
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_calls_are_those_of_python(kwo: Any, example: Callable[..., str]) -> None:
    function = getattr(kwo, example.__name__)
    for count in range(5):
        for size in range(5):
            for names in combinations(("c", "a", "b", "d"), size):
                args, kwargs = tuple(range(count)), {name: 10 + i for i, name in enumerate(names)}
                # Twice: the second call uses the plan that the first one made.
                for _ in range(2):
                    assert outcome(function, args, kwargs) == outcome(example, args, kwargs)
                computed = {f"<{name}"[1:]: value for name, value in kwargs.items()}
                assert outcome(function, args, computed) == outcome(example, args, kwargs)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_signatures_are_those_of_python(kwo: Any, example: Callable[..., str]) -> None:
    shown, expected = inspect.signature(getattr(kwo, example.__name__)), inspect.signature(example)
    assert str(shown).replace("'", "") == str(expected).replace("'", "")
    assert [p.kind for p in shown.parameters.values()] == [p.kind for p in expected.parameters.values()]


def test_signatures_of_members(kwo: Any) -> None:
    def shown(function: Any) -> str:
        return str(inspect.signature(function)).replace("'", "")

    assert shown(kwo.Box) == "(width: int, *, height: int) -> None"
    assert shown(kwo.Box.scaled) == "(self, by: int, *, plus: int = 0) -> str"
    assert shown(kwo.Box(1, height=2).scaled) == "(by: int, *, plus: int = 0) -> str"
    assert shown(kwo.Box.only) == "(self, *, x: int) -> int"
    assert shown(kwo.Box.square) == "(*, size: int = 1) -> str"
    assert shown(kwo.pick).endswith("| (x: str, *, y: int = 1) -> str")
    assert "all(*, a: int, b: int, c: int) -> str" in kwo.__doc__


def test_stubs(kwo: Any) -> None:
    text = stubgen(kwo.__file__)
    for line in (
        "def all(*, a: int, b: int, c: int) -> str: ...",
        "def most(a: int = 4, *, b: int = 5, c: int) -> str: ...",
        "    def __init__(self, width: int, *, height: int) -> None: ...",
        "    def scaled(self, by: int, *, plus: int = 0) -> str: ...",
        "    def only(self, *, x: int) -> int: ...",
        "    def square(*, size: int = 1) -> str: ...",
        "def pick(x: int, *, scale: int) -> str: ...",
    ):
        assert f"{line}\n" in text


def test_arguments_of_any_type(kwo: Any) -> None:
    long = "é" * 99
    assert kwo.anything([1], c=(2,)) == "[1] 'long enough for the heap' (2,)"
    assert kwo.anything(c=long, b=2**80, a=None) == f"None {2**80} {long!r}"
    assert kwo.total([1, 2], ys=(3, 4)) == kwo.total(ys=[3, 4], xs=(1, 2)) == 703
    assert [kwo.texts(), kwo.texts("a"), kwo.texts(b="b"), kwo.texts(None, b=None)] == [
        "--",
        "a-",
        "-b",
        "--",
    ]
    assert kwo.unlocked(1, b=True) == kwo.unlocked(b=1, a=1) == "1 1 3"
    with pytest.raises(
        TypeError, match=r"^two\(a: int, \*, b: int, c: int\) -> str: .*\(b\): expected int, got str$"
    ):
        kwo.two(1, b="", c=3)
    with pytest.raises(TypeError, match=r"^total\(.*\(ys\), at \[1\]: expected int, got str$"):
        kwo.total([1], ys=[1, ""])
    with pytest.raises(TypeError, match=r"^total\(\) missing 1 required keyword-only argument: 'ys'$"):
        kwo.total([1])
    with pytest.raises(TypeError, match=r"^total\(\) takes 1 positional argument but 2 were given$"):
        kwo.total([1], [2])


def test_many_parameters(kwo: Any) -> None:
    named = {name: 2**i for i, name in enumerate("abcdefghijklmnop")}
    backwards = dict(reversed(list(named.items())))
    for function in (kwo.sixteen, kwo.sixteen_or_none):
        assert function(**named) == function(**backwards) == 2**16 - 1
        del backwards["a"]
        assert function(1, **backwards) == 2**16 - 1
        backwards["a"] = 1
    with pytest.raises(
        TypeError, match=r"^sixteen\(\) missing 15 required keyword-only arguments: 'b', 'c',"
    ):
        kwo.sixteen(1)
    assert kwo.sixteen_or_none("") == 0


def test_classes(kwo: Any) -> None:
    box = kwo.Box(2, height=3)
    assert (box.width, box.height) == (2, 3)
    assert kwo.Box(height=3, width=2).scaled(by=2) == box.scaled(2) == "4 3 0"
    assert box.scaled(2, plus=5) == box.scaled(plus=5, by=2) == kwo.Box.scaled(box, 2, plus=5) == "9 3 5"
    assert (box.only(x=1), box(x=1), kwo.Box.square(), kwo.Box.square(size=7)) == (3, 1, "1 1 0", "7 7 0")
    for call, words in (
        (lambda: kwo.Box(2, 3), r"takes 1 positional argument but 2 were given"),
        (lambda: kwo.Box(2), r"missing 1 required keyword-only argument: 'height'"),
        (lambda: box.scaled(2, 3), r"takes 2 positional arguments but 3 were given"),
        (
            lambda: box.scaled(2, 3, plus=1),
            r"takes 2 positional arguments but 3 positional arguments \(and 1 key",
        ),
        (lambda: box.only(1), r"takes 1 positional argument but 2 were given"),
        (lambda: box.only(), r"missing 1 required keyword-only argument: 'x'"),
        (lambda: box(1), r"takes 1 positional argument but 2 were given"),
        (lambda: kwo.Box.square(3), r"takes 0 positional arguments but 1 was given"),
    ):
        with pytest.raises(TypeError, match=words):
            call()


def test_a_class_of_python(kwo: Any) -> None:
    class Crate(kwo.Box):  # type: ignore[misc]
        def __init__(self, width: int) -> None:
            super().__init__(width, height=width)

        def scaled(self, by: int, *, plus: int = 1) -> str:
            return "crate " + super().scaled(by, plus=plus)

    assert Crate(3).height == 3
    assert Crate(3).scaled(2) == "crate 7 3 1"


@pytest.mark.keeps_live("the types have a recipe to make them")
def test_copies_by_a_constructor(ffi: Any, kwo: Any) -> None:
    for box in (kwo.Box(4, height=5), kwo.Flat(height=5)):
        again = ffi.from_json(ffi.to_json(box))
        assert type(again) is type(box)
        assert again.height == 5
    assert kwo.Box.__match_args__ == ("width",)
    assert not hasattr(kwo.Flat, "__match_args__")


def test_overloads(kwo: Any) -> None:
    assert kwo.pick(1, 2) == kwo.pick(1, y=2) == kwo.pick(y=1, x=2) == "two ints"
    assert kwo.pick(1, scale=2) == kwo.pick(scale=1, x=2) == "named"
    assert kwo.pick("") == kwo.pick("", y=2) == kwo.pick(y=1, x="") == "str"
    assert [kwo.pick_one(1, y=2), kwo.pick_one("", y=2), kwo.pick_one(x="a" * 99, y=2)] == [
        "ints",
        "str",
        "str",
    ]
    assert kwo.pick_one(True, y=2) == "ints"
    for args in ((1,), ("", 2), (1, 2, 3), ()):
        with pytest.raises(TypeError, match=r"^pick\(\): no overload takes ") as caught:
            kwo.pick(*args)
        assert str(caught.value).count("\n") == 3
    with pytest.raises(TypeError, match=r"takes 1 positional argument but 2 were given") as caught:
        kwo.pick_one(1, 2)
    assert "pick_one(x: str, *, y: int) -> str: pick_one() takes 1 positional" in str(caught.value)
    with pytest.raises(TypeError, match=r"missing 1 required keyword-only argument: 'y'"):
        kwo.pick_one("")


def test_overloaded_constructors(kwo: Any) -> None:
    def parts(pair: Any) -> tuple[int, int]:
        return pair.a, pair.b

    assert parts(kwo.Pair(1, b=2)) == parts(kwo.Pair(b=2, a=1)) == (1, 2)
    assert parts(kwo.Pair(s="abc")) == (0, 3)
    assert [parts(kwo.Pair(1.5)), parts(kwo.Pair(1.5, b=2))] == [(15, 5), (15, 20)]
    for args in ((1, 2), ("abc",)):
        with pytest.raises(TypeError, match=r"no overload takes"):
            kwo.Pair(*args)


def test_a_caller_in_cpp_gives_positions(kwo: Any) -> None:
    for function in (kwo.two, two):
        with pytest.raises(TypeError, match=r"^two\(\) takes 1 positional argument but 3 were given$"):
            kwo.call(function, 1)
