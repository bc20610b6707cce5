"""Lists of objects, which C++ reads from Python's own lists and tuples, or returns as lists."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from support import CPYTHON, Build, compiles_classes, cpython_only

pytestmark = [*compiles_classes, pytest.mark.keeps_live("types are never freed")]

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/array.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/vector.h>

#include <stdexcept>

using anyffi::arg;
using anyffi::Function;

namespace herd {
struct Animal {
  explicit Animal(int64_t weight) : weight(weight) { ++live; }
  Animal(const Animal& other) : weight(other.weight) {
    if (on_copy) on_copy(weight);
    if (copies_left > 0 && --copies_left == 0) throw std::out_of_range("no more copies");
    ++live;
  }
  Animal& operator=(const Animal&) = default;
  virtual ~Animal() { --live; }
  int64_t weight;
  inline static int64_t live = 0, copies_left = 0;
  inline static std::function<void(int64_t)> on_copy;
};
struct Cow : Animal {
  using Animal::Animal;
};
using Animals = std::vector<Animal>;
using Pointers = std::vector<Animal*>;
using Shared = std::vector<std::shared_ptr<Animal>>;

template <class Items>
static int64_t sum(const Items& items) {
  int64_t total = 0;
  for (const auto& item : items) {
    if constexpr (std::is_same_v<Items, Animals>) total += item.weight;
    else total += item ? item->weight : 0;
  }
  return total;
}
static Shared kept;
}  // namespace herd
using namespace herd;

ANYFFI_CLASS(Animal, "herd.Animal").init<int64_t>(arg("weight")).field("weight", &Animal::weight).copyable();
ANYFFI_CLASS(Cow, "herd.Cow", Animal).init<int64_t>(arg("weight"));
ANYFFI_EXPORT(live, [] { return Animal::live; });
ANYFFI_EXPORT(on_copy, [](std::function<void(int64_t)> f) { Animal::on_copy = std::move(f); }, arg("f") = nullptr);
ANYFFI_EXPORT(fail_copy, [](int64_t number) { Animal::copies_left = number; }, arg("number"));
ANYFFI_EXPORT(sum_values, [](const Animals& x) { return sum(x); }, arg("x"));
ANYFFI_EXPORT(sum_pointers, [](const Pointers& x) { return sum(x); }, arg("x"));
ANYFFI_EXPORT(sum_shared, [](const Shared& x) { return sum(x); }, arg("x"));
ANYFFI_EXPORT(sum_pair, [](const std::pair<Animal*, int64_t>& x) { return x.first->weight + x.second; }, arg("x"));
ANYFFI_EXPORT(sum_array, [](const std::array<std::shared_ptr<Animal>, 2>& x) { return x[0]->weight + x[1]->weight; },
              arg("x"));
ANYFFI_EXPORT(sum_scaled, [](const Animals& x, int64_t by) { return sum(x) * by; }, arg("x"), arg("by"));
ANYFFI_EXPORT(sum_named, [](int64_t base, const Pointers& x, const Animals& y) { return base + sum(x) + sum(y); },
              arg("base"), arg("x"), arg("y"));
// Python code runs while C++ uses the pointers.
ANYFFI_EXPORT(sum_after, [](const Pointers& x, const Function& f) {
  f();
  return sum(x);
}, arg("x"), arg("f"));
// An argument that C++ takes must not be one of the pointers.
ANYFFI_EXPORT(take, [](const Pointers& x, std::unique_ptr<Animal> taken) { return sum(x) + taken->weight; },
              arg("x"), arg("taken"));
ANYFFI_EXPORT(swallow, [](std::unique_ptr<Animal> taken) { return taken->weight; }, arg("taken"));
ANYFFI_EXPORT(either, [](const Pointers& x) { return sum(x); }, arg("x"))
    .def([](const std::string& x) { return static_cast<int64_t>(x.size()); }, arg("x"));

ANYFFI_EXPORT(keep, [](Shared x) { kept = std::move(x); }, arg("x"));
ANYFFI_EXPORT(get_kept, [] { return kept; });
ANYFFI_EXPORT(prepend, [](int64_t count) {
  for (int64_t i = 0; i < count; ++i) kept.insert(kept.begin(), std::make_shared<Cow>(i));
});
ANYFFI_EXPORT(make, [](int64_t count) {
  Shared made;
  for (int64_t i = 0; i < count; ++i) made.push_back(std::make_shared<Cow>(i));
  return made;
});
ANYFFI_EXPORT(make_table, [] { return std::map<std::string, Shared>{{"a", {nullptr, kept.at(0)}}, {"b", {}}}; });
ANYFFI_EXPORT(make_pairs, [] { return std::vector<std::pair<std::string, std::shared_ptr<Animal>>>{{"a", kept.at(0)}}; });
ANYFFI_EXPORT(make_set, [] { return std::set<std::shared_ptr<Animal>>{kept.at(0)}; });
ANYFFI_EXPORT(map_kept, [](const std::function<Shared(const Shared&)>& f) { return f(kept); });

namespace herd {
struct Seldom {
  int64_t number = 1;
};
}  // namespace herd
ANYFFI_CLASS(Seldom, "herd.Seldom").field("number", &Seldom::number);
ANYFFI_EXPORT(make_seldom, [](int64_t count) { return std::vector<std::shared_ptr<Seldom>>(count, std::make_shared<Seldom>()); });
"""

SIZES = [0, 3, 7, 8, 100]


@pytest.fixture
def herd(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("herd.cc", SOURCE))
    yield module
    module.on_copy(None)
    module.fail_copy(0)
    module.keep([])


@pytest.mark.parametrize("size", SIZES)
def test_arguments(ffi: Any, herd: Any, size: int) -> None:
    animals = [(herd.Cow if i % 3 == 0 else herd.Animal)(i) for i in range(size)]
    total = sum(range(size))
    before = herd.live()
    for f in (herd.sum_values, herd.sum_pointers, herd.sum_shared):
        assert [f(x) for x in (animals, tuple(animals), ffi.List(animals))] == [total] * 3
        assert f(x=animals) == total
    assert herd.sum_named(1, animals, y=tuple(animals)) == 1 + 2 * total
    assert herd.either(animals) == total
    assert herd.live() == before


def test_fixed_sizes(herd: Any) -> None:
    a, b = herd.Animal(1), herd.Cow(2)
    assert [herd.sum_pair((a, 5)), herd.sum_pair([b, 5]), herd.sum_array((a, b)), herd.sum_array([a, b])] == [
        6,
        7,
        3,
        3,
    ]


def test_none_and_subclasses(herd: Any) -> None:
    class Named(herd.Animal):  # type: ignore[misc]
        def __init__(self, weight: int, name: str) -> None:
            super().__init__(weight)
            self.name = name

    mixed = [None, herd.Animal(1), None, Named(2, "b"), herd.Cow(3)] * 4
    assert [herd.sum_pointers(mixed), herd.sum_shared(mixed), herd.sum_pointers(tuple(mixed))] == [24, 24, 24]
    with pytest.raises(TypeError, match=r"argument 0 \(x\), at \[0\]: expected herd.Animal, got NoneType"):
        herd.sum_values(mixed)


def test_refused(herd: Any) -> None:
    animals: list[Any] = [herd.Animal(1) for _ in range(20)]
    for wrong in (5, "text", [], herd):
        given = [*animals, wrong]
        for f in (herd.sum_values, herd.sum_pointers, herd.sum_shared):
            with pytest.raises(TypeError, match=r"argument 0 \(x\), at \[20\]: expected herd.Animal"):
                f(given)


def test_copies_that_change_the_list(herd: Any) -> None:
    """The list is read as it was at the call, whatever the copy constructor does to it."""
    animals = [herd.Animal(i) for i in range(100)]
    seen = []

    def clear(weight: int) -> None:
        seen.append(weight)
        animals.clear()
        gc.collect()

    herd.on_copy(clear)
    assert herd.sum_values(animals) == sum(range(100))
    assert sorted(set(seen)) == list(range(100))
    assert animals == []


@pytest.mark.parametrize("way", ["alone", "keyword", "two"])
@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("count", [3, 20])
def test_exceptions_of_copies(herd: Any, count: int, kind: type, way: str) -> None:
    """No copy is tried twice, which could hide the exception of the first attempt."""
    animals = kind(herd.Animal(i) for i in range(count))
    before = herd.live()

    def call(x: Any) -> Any:
        return {
            "alone": lambda: herd.sum_values(x),
            "keyword": lambda: herd.sum_values(x=x),
            "two": lambda: herd.sum_scaled(x, 1),
        }[way]()

    herd.fail_copy(count)
    with pytest.raises(IndexError, match="no more copies"):
        call(animals)
    assert herd.live() == before
    seen: list[int] = []

    def stop(weight: int) -> None:
        seen.append(weight)
        if len(seen) == count:
            raise KeyboardInterrupt

    herd.on_copy(stop)
    with pytest.raises(KeyboardInterrupt):
        call(animals)
    assert (len(seen), herd.live()) == (count, before)
    herd.on_copy(seen.append)
    counts = []
    for given in (animals, kind([*animals, 5])):
        seen.clear()
        if given is animals:
            call(given)
        else:
            with pytest.raises(TypeError, match="expected herd.Animal, got int"):
                call(given)
        counts.append(len(seen))
    assert counts[0] == counts[1]


@cpython_only("PyPy collects wrappers later")
@pytest.mark.parametrize("count", [3, 20])
@pytest.mark.parametrize("kind", [list, tuple])
def test_pointers_stay_valid(herd: Any, count: int, kind: type) -> None:
    animals = [herd.Animal(i) for i in range(count)]
    before = herd.live()

    def clear() -> None:
        animals.clear()
        gc.collect()
        assert herd.live() == before

    given = animals if kind is list else kind(animals)
    assert herd.sum_after(given, clear) == sum(range(count))
    del given
    assert herd.live() == before - count


@cpython_only("PyPy cannot tell that nobody else refers to an object")
@pytest.mark.parametrize("count", [1, 20])
def test_taken_objects(herd: Any, count: int) -> None:
    # C++ can take objects of a class once a first function has taken one.
    assert herd.swallow(herd.Animal(5)) == 5
    animals = [herd.Animal(1) for _ in range(count)]
    for given in (animals, tuple(animals)):
        with pytest.raises(ValueError, match="other objects refer to this object"):
            herd.take(given, animals[0])

        def give() -> None:
            herd.swallow(animals[0])

        with pytest.raises(ValueError, match="other objects refer to this object"):
            herd.sum_after(given, give)
    assert herd.sum_pointers(animals) == count
    assert herd.take([], animals[0]) == 1
    with pytest.raises(ValueError, match="empty|moved"):
        herd.sum_pointers(animals)


@pytest.mark.parametrize("size", SIZES)
def test_results(herd: Any, size: int) -> None:
    made = herd.make(size)
    assert [type(x) for x in made] == [herd.Cow] * size
    assert [x.weight for x in made] == list(range(size))
    herd.keep(made)
    assert all(x is y for x, y in zip(made, herd.get_kept()))
    before = herd.live()
    del made
    again = herd.get_kept()
    assert [x.weight for x in again] == list(range(size))
    assert herd.live() == before


@pytest.mark.parametrize("callback", [False, True])
def test_collections_during_results(herd: Any, callback: bool) -> None:
    """When the collector runs, an unfinished list cannot be found, and its objects do not die."""

    def get() -> Any:
        if not callback:
            return herd.get_kept()
        herd.map_kept(lambda x: result.append(x) or x)
        return result.pop()

    def look(phase: str, info: dict[str, int]) -> None:
        for x in gc.get_objects():
            if type(x) is list and len(x) == 80:
                repr(x)
        made.append(herd.make(100))

    made: list[Any] = []
    result: list[Any] = []
    thresholds = gc.get_threshold()
    for delay in range(0, 24, 3):
        gc.collect()
        gc.disable()
        try:
            herd.keep([])
            herd.prepend(60)
            garbage = herd.get_kept()
            garbage.append(garbage)
            del garbage
            herd.prepend(20)
            if CPYTHON:
                gc.set_threshold(gc.get_count()[0] + delay)
                gc.callbacks.append(look)
            gc.enable()
            made.append(get())
        finally:
            gc.enable()
            if CPYTHON:
                gc.callbacks.remove(look)
                gc.set_threshold(*thresholds)
        again = herd.get_kept()
        assert [x.weight for x in again] == [*range(19, -1, -1), *range(59, -1, -1)]
        assert [x.weight for x in made[-1]] == [x.weight for x in again]
        assert all(x is y for x, y in zip(made[-1], again))


def test_nested_results(herd: Any) -> None:
    animal = herd.Animal(1)
    herd.keep([animal])
    assert herd.make_table() == {"a": [None, animal], "b": []}
    assert herd.make_table()["a"][1] is animal
    assert herd.make_pairs() == [("a", animal)]
    assert herd.make_set() == {animal}
    assert herd.map_kept(lambda x: [*x, None, x[0]]) == [animal, None, animal]
    with pytest.raises(TypeError, match="at \\[1\\]: expected herd.Animal"):
        herd.map_kept(lambda x: [*x, 5])


def test_first_object_of_a_class(herd: Any) -> None:
    made = herd.make_seldom(10)
    assert [x.number for x in made] == [1] * 10
    assert all(x is made[0] for x in made)
