"""Slices, operators and iteration by functions that take a pointer to the object, and over pointers."""

from __future__ import annotations

import gc
import inspect
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>

#include <iterator>
#include <memory>
#include <vector>

namespace satchel {
struct Coin {
  int64_t value = 1;
};
struct Bag {
  std::vector<Coin> coins{3};
  std::vector<std::unique_ptr<Coin>> owned;
  std::vector<std::shared_ptr<Coin>> shared;
  Bag() {
    for (int64_t i = 0; i < 3; ++i) {
      coins[static_cast<size_t>(i)].value = i;
      owned.push_back(i == 1 ? nullptr : std::make_unique<Coin>(Coin{10 + i}));
      shared.push_back(i == 1 ? nullptr : std::make_shared<Coin>(Coin{20 + i}));
    }
  }
};
struct Owned : Bag {};
struct Shared : Bag {};
struct Held : Bag {};
/// An iterator that holds its element.
struct Holding {
  using iterator_category = std::input_iterator_tag;
  mutable std::unique_ptr<Coin> coin = std::make_unique<Coin>();
  int left = 0;
  Holding(int n) : left(n) {}
  Holding(const Holding& other) : left(other.left) {}
  std::unique_ptr<Coin>& operator*() const { return coin; }
  Holding& operator++() { return --left, *this; }
  bool operator!=(const Holding& other) const { return left != other.left; }
};
}  // namespace satchel

using anyffi::arg;
using satchel::Bag;
using satchel::Coin;
using satchel::Held;
using satchel::Holding;
using satchel::Owned;
using satchel::Shared;

ANYFFI_CLASS(Coin, "satchel.Coin").init<>().field("value", &Coin::value);
ANYFFI_CLASS(Bag, "satchel.Bag")
    .init<>()
    .op(anyffi::ops::len, [](const std::shared_ptr<Bag>& bag) { return bag->coins.size(); })
    .op(anyffi::ops::getitem, [](const Bag* bag, int64_t i) { return bag->coins.at(static_cast<size_t>(i)).value; },
        arg("index"))
    .slices([](const Bag* bag) { return bag->coins.size(); },
            [](const std::shared_ptr<Bag>& bag, int64_t i) { return bag->coins.at(static_cast<size_t>(i)).value; })
    .iterate_references([](Bag* bag) { return bag->coins.begin(); }, [](Bag* bag) { return bag->coins.end(); });
ANYFFI_CLASS(Owned, "satchel.Owned")
    .init<>()
    .slices([](anyffi::Ref<Owned> bag) { return bag->coins.size(); },
            [](Owned* bag, int64_t i) { return bag->coins.at(static_cast<size_t>(i)).value; })
    .iterate_references([](Owned& bag) { return bag.owned.begin(); }, [](Owned& bag) { return bag.owned.end(); });
ANYFFI_CLASS(Shared, "satchel.Shared")
    .init<>()
    .method("drop", [](Shared& bag) { bag.shared.clear(); })
    .iterate_references([](const std::shared_ptr<Shared>& bag) { return bag->shared.begin(); },
                        [](const std::shared_ptr<Shared>& bag) { return bag->shared.end(); });
ANYFFI_CLASS(Held, "satchel.Held")
    .init<>()
    .iterate_references([](const Held*) { return Holding(2); }, [](const Held*) { return Holding(0); });
"""


@pytest.fixture
def satchel(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("sequences_by_pointer.cc", SOURCE))


def test_functions_that_take_pointers(satchel: Any) -> None:
    bag = satchel.Bag()
    assert (len(bag), bag[2], bag[1:], bag[::-2]) == (3, 2, [1, 2], [2, 0])
    assert satchel.Owned()[:2] == [0, 1]
    coins = list(bag)
    coins[0].value = 7
    assert [coin.value for coin in bag] == [7, 1, 2]
    with pytest.raises(IndexError):
        bag[3]


def test_elements_of_unique_pointers_stay_inside(satchel: Any) -> None:
    bag = satchel.Owned()
    coins = list(bag)
    assert [coin and coin.value for coin in coins] == [10, None, 12]
    coins[0].value = 5
    assert next(iter(bag)).value == 5
    del bag
    gc.collect()
    assert coins[0].value == 5
    assert str(inspect.signature(satchel.Owned.__iter__)).endswith("Iterator[satchel.Coin | None]'")


def test_elements_of_shared_pointers_outlive_it(satchel: Any) -> None:
    bag = satchel.Shared()
    coins = list(bag)
    assert [coin and coin.value for coin in coins] == [20, None, 22]
    assert next(iter(bag)) is coins[0]
    coins[0].value = 5
    assert next(iter(bag)).value == 5
    bag.drop()
    assert list(bag) == []
    assert coins[0].value == 5


def test_elements_that_an_iterator_holds_are_refused(satchel: Any) -> None:
    with pytest.raises(TypeError, match="an iterator holds its elements, which cannot be copied"):
        list(satchel.Held())
