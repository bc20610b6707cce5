"""Pointers that refuse None by `arg("x").not_none()`, like parameters of type NotNull."""

from __future__ import annotations

import inspect
import pydoc
import sys
from typing import Any

import pytest
from programs import stubgen
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
using anyffi::arg;
using anyffi::NotNull;

// A library that does not expect NULL.
namespace ray {
struct Callback {
  explicit Callback(int64_t x = 0) : x(x) {}
  virtual ~Callback() = default;
  virtual int64_t report(const Callback* other, int64_t by) const { return x + other->x * by; }
  int64_t x;
};
struct Loud : Callback {
  using Callback::Callback;
};
struct Token {
  explicit Token(int64_t x) : x(x) {}
  int64_t x;
};
struct World {
  World() = default;
  explicit World(const Callback* first) : sum(first->x) {}
  World(std::shared_ptr<Callback> first, int64_t by) : sum(first->x * by) {}
  int64_t ray_cast(Callback* callback, int64_t p1, int64_t p2) const { return callback->x + sum * p1 - p2; }
  int64_t count(Callback* const& callback) noexcept { return ++callback->x; }
  void keep(std::shared_ptr<Callback> callback) { kept = std::move(callback); }
  int64_t own(std::unique_ptr<Token> token) { return sum = token->x; }
  Callback* same(Callback* callback) { return callback; }
  int64_t call(const Callback* through, const Callback* other) const { return through->report(other, 10); }
  static int64_t twice(const Callback* callback) { return 2 * callback->x; }
  int64_t sum = 0;
  std::shared_ptr<Callback> kept;
};
struct PyCallback : anyffi::Overridable<Callback> {
  using Overridable::Overridable;
  int64_t report(const Callback* other, int64_t by) const override {
    return override_or<int64_t>("report", [&] { return Callback::report(other, by); }, other, by);
  }
};
}  // namespace ray

ANYFFI_CLASS(ray::Callback, "ray.Callback")
    .overridable<ray::PyCallback>()
    .init<int64_t>(arg("x") = 0)
    .field("x", &ray::Callback::x)
    .method("report", &ray::Callback::report, arg("other").not_none(), arg("by") = 1);
ANYFFI_CLASS(ray::Loud, "ray.Loud", ray::Callback).init<int64_t>(arg("x"));
ANYFFI_CLASS(ray::Token, "ray.Token").init<int64_t>(arg("x")).field("x", &ray::Token::x);
ANYFFI_CLASS(ray::World, "ray.World")
    .init<>()
    .init<const ray::Callback*>(arg("first").not_none())
    .init<std::shared_ptr<ray::Callback>, int64_t>(arg("first").not_none(), arg("by"))
    .init([](ray::Callback* a, ray::Callback* b, ray::Callback* c) {
      ray::World made(a);
      made.sum += b->x + (c ? c->x : 0);
      return made;
    }, arg("a").not_none(), arg("b").not_none(), arg("c"))
    .field("sum", &ray::World::sum)
    .method("ray_cast", &ray::World::ray_cast, arg("callback").not_none(), arg("p1"), arg("p2") = 2)
    .method("count", &ray::World::count, arg("callback").not_none())
    .release_gil()
    .method("keep", &ray::World::keep, arg("callback").not_none())
    .method("own", &ray::World::own, arg("token").not_none())
    .method("same", &ray::World::same, arg("callback").not_none())
    .returns(anyffi::Returns::kReference)
    .method("held", [](ray::World&, ray::Callback*) {}, arg("callback").not_none())
    .keep_alive<1, 2>()
    .method("call", &ray::World::call, anyffi::kw_only(), arg("through").not_none(), arg("other"))
    .static_method("twice", &ray::World::twice, arg("callback").not_none())
    .static_method("pick", [](ray::Callback*) { return "object"; }, arg("x").not_none())
    .static_method("pick", [](anyffi::Optional<std::string>) { return "text or none"; }, arg("x"))
    .op(anyffi::ops::add, [](const ray::World& world, ray::Callback* more) { return world.sum + more->x; },
        arg("more").not_none());

ANYFFI_EXPORT(plain, [](ray::Callback* p, int64_t by) { return p->x * by; }, arg("p").not_none(), arg("by") = 2)
    .doc("Read it.")
    .def([](const std::shared_ptr<ray::Callback>& p, const std::string& text) { return text + std::to_string(p->x); },
         arg("p").not_none(), arg("text"));
ANYFFI_EXPORT(by_default, [](const ray::Callback* p) { return p->x; }, arg("p").not_none() = ray::Callback(7));
ANYFFI_EXPORT(moved, [](std::shared_ptr<ray::Callback>&& p) { return p.use_count() > 0 ? p->x : 0; },
              arg("p").not_none());
ANYFFI_EXPORT(returned, [](const std::shared_ptr<ray::Callback>& p) -> const std::shared_ptr<ray::Callback>& { return p; },
              arg("p").not_none());
ANYFFI_EXPORT(passed_on, [](std::shared_ptr<ray::Callback>&& p) -> std::shared_ptr<ray::Callback>&& {
  return std::move(p);
}, arg("p").not_none());
ANYFFI_EXPORT(made, [] {
  return anyffi::Function::from([](ray::Callback* p) { return p->x; }, arg("p").not_none());
});
ANYFFI_EXPORT(marked, [](const ray::Callback* p, std::unique_ptr<ray::Token> q) { return p->x + q->x; },
              arg("p").not_none(), arg("q").not_none());
ANYFFI_REGISTER_GLOBAL("ray.alike")
    .def([](NotNull<const ray::Callback*> p, NotNull<std::unique_ptr<ray::Token>> q) { return p->x + (*q).x; },
         arg("p"), arg("q"));
"""


@pytest.fixture
def ray(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("ray.cc", SOURCE))


def signature(function: Any) -> str:
    return str(inspect.signature(function)).replace("'", "")


def test_objects_are_taken(ray: Any) -> None:
    callback, loud = ray.Callback(5), ray.Loud(6)
    world = ray.World(callback)
    assert world.sum == 5
    assert [world.ray_cast(callback, 1), world.ray_cast(p2=0, p1=2, callback=loud)] == [8, 16]
    assert [world.count(callback), callback.x, world.count(loud)] == [6, 6, 7]
    assert world.same(callback) is callback
    assert world.same(loud) is loud
    assert [ray.World.twice(callback), world + loud] == [12, 12]
    assert [ray.World(loud, 3).sum, ray.World(callback, loud, None).sum] == [21, 13]
    assert [ray.plain(callback), ray.plain(p=callback, by=3), ray.plain(callback, "a")] == [12, 18, "a6"]
    assert [ray.by_default(), ray.by_default(callback)] == [7, 6]
    assert [ray.moved(callback), ray.made()(callback)] == [6, 6]
    assert [ray.World.pick(x) for x in (callback, "a", None)] == ["object", "text or none", "text or none"]
    assert [ray.returned(callback), ray.passed_on(loud)] == [callback, loud]
    world.keep(callback)
    world.held(loud)


CALLS = {
    "ray_cast": "ray.World().ray_cast({}, 1)",
    "count": "ray.World().count({})",
    "keep": "ray.World().keep({})",
    "own": "ray.World().own(token={})",
    "same": "ray.World().same({})",
    "held": "ray.World().held({})",
    "call": "ray.World().call(through={}, other=None)",
    "twice": "ray.World.twice({})",
    "report": "ray.Callback().report({})",
    "by_default": "ray.by_default({})",
    "moved": "ray.moved({})",
    "marked": "ray.marked(ray.Callback(), {})",
    "made": "ray.made()({})",
}


@pytest.mark.parametrize("name", CALLS)
def test_none_is_refused(ray: Any, name: str) -> None:
    for bad, got in (("None", "NoneType"), ("5", "int"), ("ray.World()", "ray.World")):
        with pytest.raises(TypeError, match=rf"expected ray\.(Callback|Token), got {got}$"):
            eval(CALLS[name].format(bad), {"ray": ray})


def test_overloads_refuse_none(ray: Any) -> None:
    def message(call: Any, *args: Any) -> str:
        with pytest.raises(TypeError, match="no overload takes") as raised:
            call(*args)
        return str(raised.value)

    callback = ray.Callback(1)
    for args, parameter in (
        ((None,), "0 (first)"),
        ((None, 2), "0 (first)"),
        ((callback, None, None), "1 (b)"),
        ((None, callback, callback), "0 (a)"),
    ):
        assert f"argument {parameter}: expected ray.Callback, got NoneType" in message(ray.World, *args)
    for args in ((None,), (None, 2), (None, "a")):
        assert "argument 0 (p): expected ray.Callback, got NoneType" in message(ray.plain, *args)
    with pytest.raises(TypeError, match="unsupported operand"):
        ray.World() + None


def test_it_is_as_with_a_not_null(ffi: Any, ray: Any) -> None:
    alike = ffi.get_global_func("ray.alike")
    assert signature(ray.marked) == signature(alike) == "(p: ray.Callback, q: ray.Token) -> int"
    one, token = ray.Callback(2), ray.Token(3)
    for args in ((None, token), (one, None), (token, one), (one,), (one, 5), (5, None)):
        words = []
        for function in (ray.marked, alike):
            with pytest.raises((TypeError, ValueError)) as raised:
                function(*args)
            words.append(f"{type(raised.value)} {raised.value}".replace("ray.alike", "marked"))
        assert words[0] == words[1]


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="PyPy refers to each object more than once")
def test_an_object_is_moved(ray: Any) -> None:
    token = ray.Token(4)
    assert ray.World().own(token) == 4
    with pytest.raises(ValueError, match=r"C\+\+ took the object"):
        token.x


def test_overridden_methods(ray: Any) -> None:
    class Mine(ray.Callback):
        def report(self, other: Any, by: int = 1) -> int:
            return super().report(other, by) + 1000 if other is not None else -1

    mine, other = Mine(1), ray.Callback(2)
    assert ray.World().call(through=mine, other=other) == 1021
    # C++ may pass NULL to an override.
    assert ray.World().call(through=mine, other=None) == -1
    with pytest.raises(TypeError, match=r"\(other\): expected ray\.Callback, got NoneType$"):
        super(Mine, mine).report(None)


def test_signatures_and_help(ray: Any) -> None:
    for function, shown in (
        (ray.World.ray_cast, "(self, callback: ray.Callback, p1: int, p2: int = 2) -> int"),
        (ray.World.keep, "(self, callback: ray.Callback) -> None"),
        (ray.World.own, "(self, token: ray.Token) -> int"),
        (ray.World.call, "(self, *, through: ray.Callback, other: ray.Callback | None) -> int"),
        (ray.World.twice, "(callback: ray.Callback) -> int"),
        (ray.Callback.report, "(self, other: ray.Callback, by: int = 1) -> int"),
        (ray.moved, "(p: ray.Callback) -> int"),
        (ray.made(), "(p: ray.Callback) -> int"),
    ):
        assert signature(function) == shown
    shown = pydoc.render_doc(ray.World.ray_cast, renderer=pydoc.plaintext).replace("'", "")
    assert "callback: ray.Callback," in shown
    text = stubgen(ray.__file__)
    for line in (
        "    def report(self, other: Callback, by: int = 1) -> int: ...",
        "    def ray_cast(self, callback: Callback, p1: int, p2: int = 2) -> int: ...",
        "    def same(self, callback: Callback) -> Callback | None: ...",
        "    def twice(callback: Callback) -> int: ...",
        "    def __init__(self, a: Callback, b: Callback, c: Callback | None) -> None: ...",
        "def moved(p: Callback) -> int: ...",
    ):
        assert f"{line}\n" in text
