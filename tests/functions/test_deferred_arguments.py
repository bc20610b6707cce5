"""Containers, text and times that C++ passes to Python functions and gets from them, in every way of calling."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/array.h>
#include <anyffi/stl/chrono.h>
#include <anyffi/stl/complex.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

#include <thread>

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Function;

namespace deferred {
using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;
using Rows = std::vector<std::vector<double>>;
using Pairs = std::vector<std::pair<int64_t, std::string>>;
using Table = std::map<std::string, Ints>;
using Names = std::set<std::string>;
using Complex = std::complex<double>;
using Seconds = std::chrono::duration<double>;
using Mixed = std::vector<std::variant<int64_t, double, std::string>>;
using Maybe = std::optional<std::string>;
using Triple = std::array<double, 3>;
using Keys = std::map<std::variant<int64_t, double>, int64_t>;

// Each way of a call: through std::function, `call`, `cast`, and a method that Python overrides.
template <class T>
T through_std(const std::function<T(const T&)>& f, const T& x) { return f(x); }
template <class T>
T through_call(const Function& f, const T& x) { return f.template call<T>(x); }
template <class T>
T through_cast(const Function& f, const T& x) { return f(x).template cast<T>(); }

struct Mapper {
  virtual ~Mapper() = default;
  virtual Ints ints(const Ints& x) const { return x; }
  virtual std::string text(const std::string& a, const Texts& b) const { return a + std::to_string(b.size()); }
};
}  // namespace deferred

using namespace deferred;

#define EACH(NAME, T)                                \
  ANYFFI_EXPORT(NAME##_std, &through_std<T>);        \
  ANYFFI_EXPORT(NAME##_call, &through_call<T>);      \
  ANYFFI_EXPORT(NAME##_cast, &through_cast<T>);
EACH(ints, Ints)
EACH(texts, Texts)
EACH(rows, Rows)
EACH(pairs, Pairs)
EACH(table, Table)
EACH(names, Names)
EACH(complex, Complex)
EACH(seconds, Seconds)
EACH(mixed, Mixed)
EACH(maybe, Maybe)
EACH(triple, Triple)
EACH(text, std::string)

struct PyMapper : anyffi::Overridable<Mapper> {
  using Overridable::Overridable;
  Ints ints(const Ints& x) const override { return override_or<Ints>("ints", [&] { return Mapper::ints(x); }, x); }
  std::string text(const std::string& a, const Texts& b) const override {
    return override_or<std::string>("text", [&] { return Mapper::text(a, b); }, a, b);
  }
};
ANYFFI_CLASS(Mapper, "deferred.Mapper").overridable<PyMapper>().init<>()
    .method("ints", &Mapper::ints).method("text", &Mapper::text);
ANYFFI_EXPORT(call_ints, [](const Mapper& mapper, const Ints& x) { return mapper.ints(x); });
ANYFFI_EXPORT(call_text, [](const Mapper& mapper, const std::string& a, const Texts& b) { return mapper.text(a, b); });

// A function of C++ gets what a function of Python would get.
ANYFFI_EXPORT(total, [](const Ints& x, const Texts& names) {
  int64_t sum = static_cast<int64_t>(names.size());
  for (int64_t value : x) sum += value;
  return sum;
});
ANYFFI_EXPORT(sum_of, [](const Function& f) { return f.call<int64_t>(Ints{1, 2, 3}, Texts{"a", "b"}); });
// Two keys that Python takes for one, and text that is not UTF-8: errors of the conversion.
ANYFFI_EXPORT(equal_keys, [](const Function& f) { f(Keys{{int64_t{1}, 1}, {1.0, 2}}); });
ANYFFI_EXPORT(not_utf8, [](const Function& f) { f(Texts{"a", "\xff"}); });
// The first argument is released if the second one cannot be made.
ANYFFI_EXPORT(second_fails, [](const Function& f) { f(Ints{1, 2}, Texts{"\xff"}); });
ANYFFI_EXPORT(keep_all, [](anyffi::List<AnyValue> x) { return x; });
ANYFFI_EXPORT(count, [](const Function& f, int64_t times) {
  Ints x(10);
  for (int64_t i = 0; i < times; ++i) f.call<void>(x, i);
});
ANYFFI_EXPORT(without_lock, [](const Function& f) {
  Ints made;
  std::thread([&] { made = f.call<Ints>(Ints{4, 5}); }).join();
  return made;
}).release_gil();
"""

SECOND = datetime.timedelta(seconds=1.5)
VALUES: dict[str, list[Any]] = {
    "ints": [[], [1, -2, 2**63 - 1], list(range(300))],
    "texts": [[], ["", "a", "mystery", "é" * 20, "x" * 100]],
    "rows": [[], [[]], [[1.0, 2.5], [float("inf")]]],
    "pairs": [[(1, "a"), (2, "b" * 40)]],
    "table": [{}, {"a": [1, 2], "b": []}],
    "names": [set(), {"a", "b" * 30}],
    "complex": [1j, 2.5 - 1j],
    "seconds": [SECOND],
    "mixed": [[1, 2.5, "three"]],
    "maybe": [None, "", "text " * 10],
    "triple": [[1.0, 2.0, 3.0]],
    "text": ["", "a", "é", "ascii " * 20, "\N{GRINNING FACE}" * 3, "\0" * 20],
}


@pytest.fixture
def deferred(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("deferred.cc", SOURCE))


@pytest.mark.parametrize("way", ["std", "call", "cast"])
@pytest.mark.parametrize("name", VALUES)
def test_values(deferred: Any, name: str, way: str) -> None:
    given: list[Any] = []
    for value in VALUES[name]:
        result = deferred[f"{name}_{way}"](lambda x: given.append(x) or x, value)
        assert (result, type(result)) == (value, type(value))
        assert (given[-1], type(given[-1])) == (value, type(value))
    if name == "rows":
        assert [type(row) for row in given[-1]] == [list, list]


@pytest.mark.parametrize("way", ["std", "call", "cast"])
def test_other_results(ffi: Any, deferred: Any, way: str) -> None:
    ints, texts, text = (deferred[f"{name}_{way}"] for name in ("ints", "texts", "text"))
    results: list[Any] = [(1, 2), ffi.List([1, 2]), ffi.Array([1, 2]), range(1, 3), [True, 2], [1, 2]]
    assert [ints(lambda x, made=made: made, []) for made in results] == [[1, 2]] * len(results)

    class Text(str):
        pass

    assert (text(lambda x: Text("sub"), "a"), texts(lambda x: (Text("b"), "c"), [])) == ("sub", ["b", "c"])
    assert deferred[f"complex_{way}"](lambda x: 2, 1j) == 2
    assert deferred[f"seconds_{way}"](lambda x: 0.25, SECOND) == datetime.timedelta(seconds=0.25)


@pytest.mark.parametrize("way", ["std", "call"])
def test_refused_results(deferred: Any, way: str) -> None:
    def refused(name: str, value: Any, made: Any) -> str:
        def give(x: Any) -> Any:
            return made

        with pytest.raises((TypeError, OverflowError, ValueError, RecursionError)) as caught:
            deferred[f"{name}_{way}"](give, value)
        return f"{type(caught.value).__name__}: {caught.value}"

    itself: list[Any] = []
    itself.append(itself)
    messages = [
        refused("ints", [], [1, "a"]),
        refused("ints", [], None),
        refused("ints", [], [2**70]),
        refused("rows", [], itself),
        refused("texts", [], ["a", 5]),
        refused("text", "", 5),
        refused("text", "", "\ud800"),
        refused("table", {}, {1: [1]}),
        refused("names", set(), {1}),
        refused("triple", [1.0, 2.0, 3.0], [1.0]),
        refused("seconds", SECOND, "long"),
    ]
    name = "the result of <function test_refused_results.<locals>.refused.<locals>.give>"
    assert [message.replace(name, "RESULT") for message in messages] == [
        "TypeError: RESULT, at [1]: expected int, got str",
        "TypeError: RESULT: expected Sequence[int], got NoneType",
        "OverflowError: RESULT, at [0]: 1180591620717411303424 does not fit int64",
        "RecursionError: RESULT: a list that contains itself cannot be passed",
        "TypeError: RESULT, at [1]: expected str, got int",
        "TypeError: RESULT: expected str, got int",
        "UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed",
        "TypeError: RESULT, at [key 1]: expected str, got int",
        "TypeError: RESULT, at [1]: expected str, got int",
        "ValueError: RESULT: expected 3 elements, got [1.0]",
        "TypeError: RESULT: expected timedelta | float, got str",
    ]


@pytest.mark.parametrize("way", ["std", "call", "cast"])
def test_refused_objects(deferred: Any, way: str) -> None:
    """The object that is made from a refused result is released once, and not once more: others stay valid."""
    refused = [2**700, b"bytes" * 20, "text" * 20, 2j, {1: 2}, {1}, slice(1, 2), range(3), object()]
    for name, value in [
        ("ints", []),
        ("pairs", []),
        ("table", {}),
        ("names", set()),
        ("triple", [1.0, 2.0, 3.0]),
    ]:
        for made in refused[:4]:
            others = [2**700 + i for i in range(3)]
            kept = deferred.keep_all(others)
            for _ in range(5):
                with pytest.raises((TypeError, ValueError)):
                    deferred[f"{name}_{way}"](lambda x, made=made: made, value)
            assert kept == others
    for made in refused:
        with pytest.raises(TypeError):
            deferred[f"table_{way}"](lambda x, made=made: [made], {})
        with pytest.raises(TypeError):
            deferred[f"seconds_{way}"](lambda x, made=made: [made], SECOND)


def test_overrides(deferred: Any) -> None:
    class Doubler(deferred.Mapper):  # type: ignore[misc]
        def ints(self, x: list[int]) -> list[int]:
            assert type(x) is list
            return [2 * value for value in x]

        def text(self, a: str, b: list[str]) -> str:
            return a.join(b)

    mapper = Doubler()
    assert deferred.call_ints(mapper, [1, 2]) == [2, 4]
    assert deferred.call_text(mapper, ", " * 9, ["a", "b"]) == "a" + ", " * 9 + "b"
    assert deferred.call_text(deferred.Mapper(), "n", ["a"]) == "n1"

    class Wrong(deferred.Mapper):  # type: ignore[misc]
        def ints(self, x: list[int]) -> Any:
            return len(x)

    with pytest.raises(TypeError, match="expected Sequence\\[int\\], got int"):
        deferred.call_ints(Wrong(), [1])


def test_functions_of_cpp(deferred: Any) -> None:
    assert deferred.sum_of(deferred.total) == 8
    assert deferred.sum_of(lambda x, names: sum(x) + len(names)) == 8


def test_arguments_that_cannot_be_made(ffi: Any, deferred: Any) -> None:
    calls: list[Any] = []
    for function in (lambda *args: calls.append(args), ffi.Function(deferred.total)):
        with pytest.raises(ValueError, match="two keys of a C\\+\\+ map are equal in Python"):
            deferred.equal_keys(function)
        with pytest.raises(UnicodeDecodeError):
            deferred.not_utf8(function)
        with pytest.raises(UnicodeDecodeError):
            deferred.second_fails(function)
    assert calls == []


def test_exceptions_of_callbacks(deferred: Any) -> None:
    def fail(*args: Any) -> Any:
        raise KeyError(args)

    for function, value in [
        (deferred.ints_std, [1]),
        (deferred.texts_call, ["a"]),
        (deferred.text_cast, "a"),
    ]:
        with pytest.raises(KeyError) as caught:
            function(fail, value)
        assert caught.value.args == ((value,),)


def test_arguments_are_the_callees(deferred: Any) -> None:
    """Each call gets a list of its own, which it may keep and change."""
    kept: list[Any] = []

    def keep(x: list[int], number: int) -> None:
        x.append(number)
        kept.append(x)

    deferred.count(keep, 3)
    assert kept == [[0] * 10 + [number] for number in range(3)]


def test_other_threads(deferred: Any) -> None:
    threads = []

    def note(x: list[int]) -> list[int]:
        threads.append(threading.get_ident())
        return x[::-1]

    assert deferred.without_lock(note) == [5, 4]
    assert threads[0] != threading.get_ident()


def test_reentrance(deferred: Any) -> None:
    def nest(depth: int) -> Callable[[list[int]], list[int]]:
        return lambda x: deferred.ints_std(nest(depth - 1), [*x, depth]) if depth else x

    assert deferred.ints_call(nest(5), []) == [5, 4, 3, 2, 1]
