"""Iterators over objects of C++ classes: elements that compare, that run code of Python, and that raise."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import weakref
from collections.abc import Iterator
from typing import Any, Callable

import pytest
from support import CPYTHON, Build, compiles_classes, frees_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>

#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

// Its copies call a function of Python.
struct Item {
  int64_t number = 0;
  anyffi::Optional<anyffi::Function> copied;
  Item() = default;
  explicit Item(int64_t n) : number(n) {}
  Item(const Item& other) : number(other.number), copied(other.copied) {
    if (copied.has_value()) (*copied)(number);
  }
  bool operator==(const Item&) const { throw std::runtime_error("items are never compared"); }
};
struct Chain {
  std::list<Item> items;
};
struct Row {
  std::vector<Item> items;
};
struct Owner {
  std::vector<std::unique_ptr<Item>> owned;
};

// A value that is a list, or else a chain: its iterators have the operators of both, and refuse those of the other one.
struct Either {
  std::vector<int64_t> list;
  std::list<int64_t> chain;
  bool is_list = false;
  struct Iterator {
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = int64_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const int64_t*;
    using reference = const int64_t&;
    std::vector<int64_t>::const_iterator in_list;
    std::list<int64_t>::const_iterator in_chain;
    bool is_list;
    reference operator*() const { return is_list ? *in_list : *in_chain; }
    Iterator& operator++() { return is_list ? ++in_list, *this : (++in_chain, *this); }
    bool operator!=(const Iterator& other) const {
      return is_list ? in_list != other.in_list : in_chain != other.in_chain;
    }
    bool operator<(const Iterator& other) const { return check(), in_list < other.in_list; }
    difference_type operator-(const Iterator& other) const { return check(), in_list - other.in_list; }
    Iterator operator+(difference_type by) const { return check(), Iterator{in_list + by, in_chain, is_list}; }
    void check() const {
      if (!is_list) throw std::invalid_argument("a chain has no offsets");
    }
  };
  Iterator begin() const { return {list.begin(), chain.begin(), is_list}; }
  Iterator end() const { return {list.end(), chain.end(), is_list}; }
};

template <class C>
void add(C& to, int64_t number, const anyffi::Function& copied) {
  to.items.emplace_back(number);
  to.items.back().copied = copied;
}

}  // namespace

using anyffi::arg;
ANYFFI_CLASS(Item, "steps.Item")
    .field("number", &Item::number)
    .op(anyffi::ops::eq, [](const Item&, const anyffi::AnyValue&) -> bool {
      throw std::runtime_error("items are never compared");
    });
ANYFFI_CLASS(Chain, "steps.Chain")
    .init<>()
    .method("add", &add<Chain>, arg("number"), arg("copied"))
    .iterate([](const Chain& self) { return self.items.begin(); }, [](const Chain& self) { return self.items.end(); });
ANYFFI_CLASS(Row, "steps.Row")
    .init<>()
    .method("add", &add<Row>, arg("number"), arg("copied"))
    .iterate([](const Row& self) { return self.items.begin(); }, [](const Row& self) { return self.items.end(); });
struct Prices {
  std::map<std::string, double> prices{{"ink", 2.5}, {"paper", 1}};
  std::vector<int64_t> counts{1, 2, 3};
  std::map<int64_t, Item> parts{{7, Item(1)}, {8, Item(2)}};
  std::map<std::string, double>::const_iterator begin() const { return prices.begin(); }
  std::map<std::string, double>::const_iterator end() const { return prices.end(); }
  std::map<int64_t, Item>::iterator parts_begin() { return parts.begin(); }
  std::map<int64_t, Item>::iterator parts_end() { return parts.end(); }
};
ANYFFI_CLASS(Prices, "steps.Prices")
    .init<>()
    .iterate("items", &Prices::begin, &Prices::end)
    .iterate("keys", &Prices::begin, &Prices::end, [](const auto& entry) -> const std::string& { return entry.first; })
    .iterate("values", &Prices::begin, &Prices::end, [](const auto& entry) { return entry.second; })
    .iterate("entries", &Prices::parts_begin, &Prices::parts_end)
    .iterate_references("parts", &Prices::parts_begin, &Prices::parts_end, [](auto& entry) -> Item& { return entry.second; })
    .iterate("doubled", [](const Prices& self) { return self.counts.begin(); },
             [](Prices* self) { return self->counts.end(); }, [](int64_t count) { return 2 * count; })
    .method("add", [](Prices& self, int64_t count) { self.counts.push_back(count); }, arg("count"));
ANYFFI_CLASS(Owner, "steps.Owner")
    .init<>()
    .method("add", [](Owner& self, int64_t number) { self.owned.push_back(std::make_unique<Item>(number)); }, arg("number"))
    .iterate_references("owned", [](Owner& self) { return self.owned.begin(); }, [](Owner& self) { return self.owned.end(); });
ANYFFI_CLASS(Either, "steps.Either")
    .init([](bool is_list) { return Either{{1, 2}, {3, 4}, is_list}; }, arg("is_list"))
    .iterate(&Either::begin, &Either::end);
"""


@pytest.fixture
def steps(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("steps.cc", SOURCE))


def _filled(cls: Any, copied: Any) -> Any:
    made = cls()
    for number in range(3):
        made.add(number, copied)
    return made


@pytest.mark.parametrize("name", ["Chain", "Row"])
def test_elements_are_not_compared_with_anything(steps: Any, name: str) -> None:
    filled = _filled(getattr(steps, name), lambda number: None)
    assert [item.number for item in filled] == [0, 1, 2]
    walk = iter(filled)
    assert isinstance(walk, Iterator)
    assert iter(walk) is walk
    assert len(list(walk)) == 3
    assert next(walk, "end") == next(walk, "end") == "end"


def test_an_element_that_asks_for_the_next_one(steps: Any) -> None:
    seen = []

    def ask(number: int) -> None:
        if asked:
            with pytest.raises(ValueError, match="already executing"):
                next(walk)
            seen.append(number)

    asked = False
    chain = _filled(steps.Chain, ask)
    walk, asked = iter(chain), True
    assert [item.number for item in walk] == [0, 1, 2]
    assert set(seen) == {0, 1, 2}


@pytest.mark.parametrize("name", ["Chain", "Row"])
def test_an_element_that_raises(steps: Any, name: str) -> None:
    def refuse(number: int) -> None:
        if refused and number == 1:
            raise KeyError(number)

    refused = False
    filled = _filled(getattr(steps, name), refuse)
    walk, refused = iter(filled), True
    assert next(walk).number == 0
    with pytest.raises(KeyError):
        next(walk)
    refused = False
    assert len(list(iter(filled))) == 3


@pytest.mark.parametrize(("is_list", "elements"), [(True, [1, 2]), (False, [3, 4])])
def test_iterators_are_what_their_category_says(steps: Any, is_list: bool, elements: list[int]) -> None:
    assert list(steps.Either(is_list)) == elements


#: Uses that Python's own iterators refuse, too.
MISUSED: list[Callable[[Any], Any]] = [
    lambda x: x.missing,
    lambda x: x + 1,
    lambda x: x[0],
    lambda x: len(x),
    lambda x: x.__next__(1),
    lambda x: x.__reduce__(1),
    lambda x: type(x).__next__(),
    lambda x: type(x).__iter__(3),
    lambda x: type(x)(),
    lambda x: type(x)(1, key=2),
    *([lambda x: type("Derived", (type(x),), {})] if CPYTHON else []),
    pickle.dumps,
    copy.copy,
    copy.deepcopy,
]


@pytest.mark.parametrize("misuse", MISUSED)
def test_what_iterators_refuse(steps: Any, misuse: Callable[[Any], Any]) -> None:
    walk = iter(steps.Either(True))
    with pytest.raises(
        (TypeError, AttributeError), match=r"ElementIterator|expected 0 arguments" if CPYTHON else None
    ):
        misuse(walk)
    assert list(walk) == [1, 2]


def test_an_iterator_made_without_init_is_at_its_end(steps: Any) -> None:
    cls = type(iter(steps.Row()))
    assert list(cls.__new__(cls)) == []


@frees_classes
def test_a_cycle_through_an_iterator_is_collected(steps: Any) -> None:
    class Kept(steps.Row):  # type: ignore[misc]
        pass

    row = Kept()
    row.walk = iter(row)
    gone = weakref.ref(row)
    del row
    gc.collect()
    gc.collect()
    assert gone() is None


def test_methods_that_return_iterators(steps: Any) -> None:
    prices = steps.Prices()
    keys = prices.keys()
    assert isinstance(keys, Iterator)
    assert list(keys) == ["ink", "paper"]
    assert list(prices.values()) == [2.5, 1.0]
    assert dict(prices.items()) == {"ink": 2.5, "paper": 1.0}
    with pytest.raises(TypeError):
        iter(prices)
    # Elements of a vector are reached by their index, through the function as well.
    doubled = prices.doubled()
    assert next(doubled) == 2
    prices.add(5)
    assert list(doubled) == [4, 6, 10]
    del prices
    assert list(keys) == []


def test_a_method_that_returns_an_iterator_over_references(steps: Any) -> None:
    owner = steps.Owner()
    owner.add(7)
    [item] = owner.owned()
    item.number = 8
    assert [each.number for each in owner.owned()] == [8]
    assert next(owner.owned()) is item
    # The values of a map, whose entries are copied.
    prices = steps.Prices()
    first, second = prices.parts()
    second.number = 9
    assert [part.number for part in prices.parts()] == [1, 9]
    assert next(prices.parts()) is first
    entries = dict(prices.entries())
    assert [entries[7].number, entries[8].number, entries[7] is first] == [1, 9, False]
    assert str(inspect.signature(steps.Prices.parts)) == "(self) -> 'Iterator[steps.Item]'"


def test_how_methods_that_return_iterators_look(steps: Any) -> None:
    assert str(inspect.signature(steps.Prices.values)) == "(self) -> 'Iterator[float]'"
    assert steps.Prices.keys.__name__ == "keys"
    assert steps.Prices.keys.__qualname__ == "Prices.keys"
    with pytest.raises(TypeError):
        steps.Prices.keys()
    with pytest.raises(TypeError, match=r"descriptor 'keys' for 'steps\.Prices' objects"):
        steps.Prices.keys(3)
