"""Objects of C++ classes as keys and elements: equal where operators of the classes say so."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes


BOUND = """
    #include <anyffi/anyffi.h>
    namespace till {
    struct Money {
      explicit Money(int64_t cents) : cents(cents) {}
      int64_t cents;
      bool operator==(const Money& other) const { return cents == other.cents; }
    };
    struct Coin : Money { using Money::Money; };
    struct Flag { bool is_set = false; };
    struct Wrong { };
    }
    ANYFFI_TYPE_KEY(till::Money, "till.Money");
    ANYFFI_TYPE_KEY(till::Coin, "till.Coin", till::Money);
    ANYFFI_TYPE_KEY(till::Flag, "till.Flag");
    ANYFFI_TYPE_KEY(till::Wrong, "till.Wrong");
    using namespace anyffi;
    ANYFFI_BIND(till::Money)
        .init<int64_t>()
        .op(ops::eq)
        .op(ops::eq, [](const till::Money& self, int64_t cents) { return self.cents == cents; })
        .op(ops::hash, [](const till::Money& self) {
          if (self.cents == 13) throw Error("ValueError", "unlucky");
          return self.cents;
        });
    ANYFFI_BIND(till::Coin).init<int64_t>();
    ANYFFI_BIND(till::Flag).init<>().op(ops::eq, [](const till::Flag&, const till::Flag&) { return true; });
    ANYFFI_BIND(till::Wrong).init<>().op(ops::hash, [](const till::Wrong&) { return String("x"); });
    static int64_t count_distinct(int64_t n) {
      Dict<> found;
      for (int64_t i = 0; i < n; ++i) found.set(make_object<till::Money>(i % 7), i);
      return found.size();
    }
    ANYFFI_EXPORT(count_distinct, &count_distinct);
"""


def test_operators_of_cpp(ffi: Any, build: Build) -> None:
    mod = ffi.load_module(build("shop_keys.cc", textwrap.dedent(BOUND)))
    assert mod.count_distinct(100) == 7
    money = mod.Money
    d = ffi.Dict({money(5): "five"})
    assert d[money(5)] == d[5] == d[mod.Coin(5)] == "five"
    assert money(6) not in d
    assert "5" not in d
    assert ffi.Dict({5: 1})[money(5)] == 1
    assert len(ffi.Set([money(1), mod.Coin(1), money(2), 2])) == 2
    with pytest.raises(ValueError, match="unlucky"):
        ffi.Set([money(13)])
    with pytest.raises(TypeError, match="unhashable type: 'Flag'"):
        ffi.Set([mod.Flag()])
    with pytest.raises(TypeError, match="__hash__ method should return an integer"):
        ffi.Set([mod.Wrong()])

    class Euro(money):  # type: ignore[misc,valid-type]
        def __eq__(self, other: object) -> bool:
            return False

        def __hash__(self) -> int:
            return hash(5)

    assert Euro(5) not in d
    assert d[money(5)] == "five"


def test_registered_classes(ffi: Any, build: Build) -> None:
    """A class that is registered for a C++ type decides what equals its objects."""
    source = """
        #include <anyffi/anyffi.h>
        struct Cell { int64_t n = 0; };
        ANYFFI_TYPE_KEY(Cell, "keys.Cell");
        ANYFFI_BIND(Cell).init<>().field("n", &Cell::n);
    """
    mod = ffi.load_module(build("cells.cc", textwrap.dedent(source)))
    assert len(ffi.Set([mod.Cell(), mod.Cell()])) == 2

    @ffi.register_object("keys.Cell")  # type: ignore[untyped-decorator]
    class Cell(ffi.Object):  # type: ignore[misc,name-defined]
        n: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Cell) and self.n == other.n

        def __hash__(self) -> int:
            return self.n

    one, other = Cell(), Cell()
    assert len(ffi.Set([one, other])) == 1
    other.n = 3
    assert len(ffi.Set([one, other])) == 2
