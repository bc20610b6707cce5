"""Methods that take only numbers: a faster path into C++ with the behaviour of all methods."""

from __future__ import annotations

from typing import Any

import pytest
from support import Build, collect, compiles_classes

pytestmark = compiles_classes

COUNTERS = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <stdexcept>

struct Counter {
  int64_t count = 0;
  static inline int alive = 0;
  Counter() { ++alive; }
  Counter(const Counter&) = delete;
  virtual ~Counter() { --alive; }
  int64_t add(int64_t by) { return count += by; }
  void clear() { count = 0; }
  double scale(double by, int8_t times, bool is_negative) const {
    return static_cast<double>(count) * by * times * (is_negative ? -1 : 1);
  }
  int64_t fail(int64_t at) const { throw std::out_of_range("no " + std::to_string(at)); }
};
struct Derived : Counter {};
static std::shared_ptr<Counter> global;
static int64_t reset(Counter& self, int64_t count) {
  global.reset();  // what `self` refers to lives until the end of the call
  return self.count + count;
}

using anyffi::arg;
ANYFFI_CLASS(Counter, "numbers.Counter")
    .init<>()
    .method("add", &Counter::add, arg("by") = 1)
    .method("clear", &Counter::clear)
    .method("scale", &Counter::scale, arg("by"), arg("times"), arg("is_negative"))
    .method("fail", &Counter::fail, arg("at"))
    .method("add_unlocked", &Counter::add, arg("by")).release_gil()
    .method("fail_unlocked", &Counter::fail, arg("at")).release_gil()
    .method("add_kept", &Counter::add, arg("by")).keep_alive<0, 1>()
    .method("reset", &reset, arg("count"));
ANYFFI_CLASS(Derived, "numbers.Derived", Counter).init<>();
ANYFFI_EXPORT(take, [] { return global = std::make_shared<Counter>(); });
ANYFFI_EXPORT(alive, [] { return Counter::alive; });
ANYFFI_EXPORT(count_of, [](const Counter& counter) { return counter.count; });
"""


@pytest.fixture
def numbers(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("counters.cc", COUNTERS))


@pytest.mark.parametrize("name", ["add", "add_unlocked", "add_kept"])
def test_arguments_convert(name: str, numbers: Any) -> None:
    counter = numbers.Counter()
    add = getattr(counter, name)
    assert [add(1), add(True), add(by=3)] == [1, 2, 5]
    with pytest.raises(TypeError, match=r"argument 1 \(by\): expected int, got str"):
        add("x")
    with pytest.raises(OverflowError, match=r"argument 1 \(by\): 9223372036854775808 does not fit int64"):
        add(2**63)
    np = pytest.importorskip("numpy")
    assert add(np.int8(5)) == 10
    assert numbers.count_of(counter) == 10


def test_numbers_of_each_type(numbers: Any) -> None:
    counter = numbers.Counter()
    assert counter.add() == 1
    assert counter.scale(2.5, 2, True) == -5
    assert counter.scale(2, 3, 0) == 6
    assert type(counter.scale(1, 1, False)) is float
    assert counter.clear() is None
    with pytest.raises(OverflowError, match=r"argument 2 \(times\): 300 does not fit int8"):
        counter.scale(1.0, 300, True)
    with pytest.raises(TypeError, match=r"argument 3 \(is_negative\): expected bool, got str"):
        counter.scale(1.0, 3, "no")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'is_negative'"):
        counter.scale(1.0, 3)


def test_objects(numbers: Any) -> None:
    derived = numbers.Derived()
    assert [derived.add(2), numbers.Counter.add(derived, 3)] == [2, 5]
    for other in (numbers, 5, None):
        with pytest.raises(TypeError, match="numbers.Counter|Counter"):
            numbers.Counter.add(other, 1)
    # C++ releases the std::shared_ptr of the object during the call.
    assert numbers.take().reset(4) == 4
    del derived
    collect()
    assert numbers.alive() == 0


@pytest.mark.parametrize("name", ["fail", "fail_unlocked"])
def test_errors(name: str, numbers: Any) -> None:
    counter = numbers.Counter()
    before = numbers.alive()
    for _ in range(3):
        with pytest.raises(IndexError, match="no 7"):
            getattr(counter, name)(7)
    del counter
    collect()
    assert numbers.alive() == before - 1
