"""Typed containers are checked once: a later call finds every change, of a container and of those inside."""

from __future__ import annotations

import itertools
import threading
from typing import Any, Callable

import pytest

from tests.support.support import Build

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
using namespace anyffi;

struct Thing {
  static constexpr FixedText kTypeKey{"checked.Thing"};
  int64_t n;
};
struct Other {
  static constexpr FixedText kTypeKey{"checked.Other"};
  int64_t n;
};
ANYFFI_EXPORT(thing, [](int64_t n) { return make_object<Thing>(n); });
ANYFFI_EXPORT(other, [](int64_t n) { return make_object<Other>(n); });

ANYFFI_EXPORT(things, [](const List<Ref<Thing>>& xs) { return xs.size(); });
ANYFFI_EXPORT(others, [](const List<Ref<Other>>& xs) { return xs.size(); });
ANYFFI_EXPORT(thing_array, [](const Array<Ref<Thing>>& xs) { return xs.size(); });
ANYFFI_EXPORT(lists, [](const List<List<int64_t>>& xs) { return xs.size(); });
ANYFFI_EXPORT(arrays, [](const Array<Array<int64_t>>& xs) {
  int64_t sum = 0;
  for (const auto& x : xs) sum += x.size();
  return sum;
});
ANYFFI_EXPORT(list_of_arrays, [](const List<Array<int64_t>>& xs) { return xs.size(); });
ANYFFI_EXPORT(deep, [](const List<List<List<int64_t>>>& xs) { return xs.size(); });
ANYFFI_EXPORT(small, [](const List<int8_t>& xs) { return xs.size(); });
ANYFFI_EXPORT(texts, [](const List<std::string>& xs) { return xs.size(); });
ANYFFI_EXPORT(dict, [](const Dict<String, List<int64_t>>& xs) { return xs.size(); });
ANYFFI_EXPORT(map, [](const Map<String, Array<int64_t>>& xs) { return xs.size(); });
ANYFFI_EXPORT(set, [](const Set<Array<int64_t>>& xs) { return xs.size(); });
ANYFFI_EXPORT(maybe, [](const List<Optional<List<int64_t>>>& xs) { return xs.size(); });

ANYFFI_EXPORT(cpp_push, [](List<AnyValue> xs, AnyValue x) { xs.push_back(x); });
ANYFFI_EXPORT(cpp_view, [](AnyView xs, AnyView x) { xs.push_back(x); });
ANYFFI_EXPORT(cpp_set, [](List<AnyValue> xs, AnyValue x) { xs.set(xs.size() - 1, x); });
ANYFFI_EXPORT(cpp_insert, [](List<AnyValue> xs, AnyValue x) { xs.insert(0, x); });
ANYFFI_EXPORT(cpp_put, [](Dict<AnyValue, AnyValue> xs, AnyValue key, AnyValue x) { xs.set(key, x); });

// Neither of the sequences learns that its element is another one.
ANYFFI_EXPORT(swap_unnoticed, [](const ObjectRef& a, int64_t i, const ObjectRef& b, int64_t j) {
  auto element = [](const ObjectRef& sequence, int64_t at) -> AnyffiValue& {
    return reinterpret_cast<const AnyffiSequence*>(sequence.get())->data[at];
  };
  std::swap(element(a, i), element(b, j));
});
"""
SIZE = 100

Write = Callable[[Any, Any], Any]
LIST_WRITERS: dict[str, Write] = {
    "append": lambda xs, x: xs.append(x),
    "insert": lambda xs, x: xs.insert(0, x),
    "item": lambda xs, x: xs.__setitem__(1, x),
    "slice": lambda xs, x: xs.__setitem__(slice(0, 1), [x]),
    "extended slice": lambda xs, x: xs.__setitem__(slice(0, 4, 2), [x, x]),
    "extend": lambda xs, x: xs.extend([x]),
    "+=": lambda xs, x: xs.__iadd__([x]),
    "clear": lambda xs, x: (xs.clear(), xs.append(x)),
}
DICT_WRITERS: dict[str, Write] = {
    "item": lambda xs, x: xs.__setitem__("new", x),
    "existing": lambda xs, x: xs.__setitem__("k0", x),
    "update": lambda xs, x: xs.update({"new": x}),
    "|=": lambda xs, x: xs.__ior__({"k1": x}),
    "setdefault": lambda xs, x: xs.setdefault("new", x),
    "clear": lambda xs, x: (xs.clear(), xs.update(a=x)),
}


@pytest.fixture(scope="module")
def lib(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("checked_once.cc", SOURCE))
    # Functions and classes are made at first use, and kept.
    for name in ("thing", "other"):
        getattr(module, name)(1)
    for name in dir(module):
        getattr(module, name)
    for wrong in (module.things, module.lists):
        with pytest.raises(TypeError):
            wrong(ffi.List([module.other(1)]))
    return module


def list_writers(lib: Any) -> list[Write]:
    return [*LIST_WRITERS.values(), lib.cpp_push, lib.cpp_view, lib.cpp_set, lib.cpp_insert]


def passes(call: Any, container: Any) -> None:
    for _ in range(3):
        call(container)


def refuses(call: Any, container: Any) -> None:
    for _ in range(2):
        with pytest.raises((TypeError, OverflowError)):
            call(container)


@pytest.mark.parametrize("name", ["things", "thing_array", "small", "texts"])
def test_a_changed_element_is_found(ffi: Any, lib: Any, name: str) -> None:
    right, wrong = {
        "things": (lib.thing, lib.other(1)),
        "thing_array": (lib.thing, lib.other(1)),
        "small": (lambda i: i % 100, 1000),
        "texts": (str, "\ud800"),
    }[name]
    call = getattr(lib, name)
    for write in list_writers(lib):
        xs = ffi.List([right(i) for i in range(SIZE)])
        passes(call, xs)
        write(xs, wrong)
        with pytest.raises((TypeError, OverflowError, UnicodeEncodeError)):
            call(xs)
        with pytest.raises((TypeError, OverflowError, UnicodeEncodeError)):
            call(xs)
        while wrong in xs:
            xs.remove(wrong)
        passes(call, xs)


@pytest.mark.parametrize("name", ["lists", "arrays", "list_of_arrays", "maybe"])
def test_a_changed_element_of_an_element_is_found(ffi: Any, lib: Any, name: str) -> None:
    call = getattr(lib, name)
    for write in list_writers(lib):
        xs = ffi.List([ffi.List([i] * 6) for i in range(SIZE)])
        passes(call, xs)
        xs[50].append(1)
        passes(call, xs)
        inner = xs[50]
        write(inner, "text")
        with pytest.raises(TypeError, match=r"at \[50\]\[\d+\]: expected int, got str"):
            call(xs)
        refuses(call, xs)
        inner.clear()
        passes(call, xs)
        write(xs, [1, "text"])
        refuses(call, xs)


def test_every_depth(ffi: Any, lib: Any) -> None:
    for write in list_writers(lib):
        xs = ffi.List([ffi.List([ffi.List([i] * 6) for _ in range(4)]) for i in range(SIZE)])
        passes(lib.deep, xs)
        middle, inner = xs[7], xs[8][3]
        write(inner, "text")
        refuses(lib.deep, xs)
        inner.clear()
        passes(lib.deep, xs)
        write(middle, ["text"])
        refuses(lib.deep, xs)
        middle.clear()
        passes(lib.deep, xs)
        # A container that was removed no longer matters.
        gone = xs.pop()
        write(gone[0], "text")
        passes(lib.deep, xs)


@pytest.mark.parametrize("name", ["dict", "map"])
def test_mappings(ffi: Any, lib: Any, name: str) -> None:
    call = getattr(lib, name)
    for write in (*DICT_WRITERS.values(), lambda xs, x: lib.cpp_put(xs, "k2", x)):
        xs = ffi.Dict({f"k{i}": ffi.List([i]) for i in range(SIZE)})
        passes(call, xs)
        write(xs, ["text"])
        refuses(call, xs)
        for key in [key for key, value in xs.items() if "text" in value]:
            del xs[key]
        passes(call, xs)
        xs["k3"] = ffi.List([3])
        passes(call, xs)
        xs["k3"].append("text")
        with pytest.raises(TypeError, match=r'at \["k3"\]\[1\]'):
            call(xs)
        del xs["k3"]
        passes(call, xs)
        xs[5] = [1]
        refuses(call, xs)


def test_sets(ffi: Any, lib: Any) -> None:
    xs = ffi.Set(ffi.Array([i]) for i in range(SIZE))
    passes(lib.set, xs)
    xs.add(ffi.Array(["text"]))
    refuses(lib.set, xs)
    xs.discard(ffi.Array(["text"]))
    passes(lib.set, xs)
    xs |= {("text",)}
    refuses(lib.set, xs)


def test_a_check_counts_for_its_type_only(ffi: Any, lib: Any) -> None:
    xs = ffi.List([lib.thing(i) for i in range(SIZE)])
    passes(lib.things, xs)
    refuses(lib.others, xs)
    passes(lib.thing_array, xs)
    passes(lib.things, xs)
    refuses(lib.lists, xs)
    # A List of Lists converts to Arrays, each time.
    nested = ffi.List([ffi.List([i]) for i in range(SIZE)])
    passes(lib.list_of_arrays, nested)
    assert lib.arrays(nested) == SIZE
    nested[0].append(1)
    assert lib.arrays(nested) == SIZE + 1


def test_copies_are_checked_anew(ffi: Any, lib: Any) -> None:
    xs = ffi.List([lib.thing(i) for i in range(SIZE)])
    for copy in (lambda: xs[:], xs.copy, xs.freeze, lambda: xs + [], lambda: xs * 2, lambda: xs[::2]):
        passes(lib.things, xs)
        copied = copy()
        if type(copied) is ffi.List:
            passes(lib.things, copied)
            copied.append(1)
            refuses(lib.things, copied)
        passes(lib.things, xs)


def test_addresses_are_used_again(ffi: Any, lib: Any) -> None:
    thing, other = lib.thing(1), lib.other(1)
    for turn in range(300):
        right, wrong = (lib.things, lib.others) if turn % 2 else (lib.others, lib.things)
        xs = ffi.List([thing if turn % 2 else other] * SIZE)
        passes(right, xs)
        outer = ffi.List([xs] * SIZE)
        refuses(lib.lists, outer)
        refuses(wrong, xs)
        del xs, outer


def test_what_has_passed_is_not_read_again(ffi: Any, lib: Any) -> None:
    things = ffi.List([lib.thing(i) for i in range(SIZE)])
    frozen = things.freeze()
    lists = ffi.List([ffi.List([i] * 6) for i in range(SIZE)])
    values = ffi.Dict({f"k{i}": ffi.List([i] * 6) for i in range(SIZE)})
    for call, container, changed in (
        (lib.things, things, things),
        (lib.thing_array, frozen, frozen),
        (lib.lists, lists, lists[50]),
        (lib.dict, values, values["k50"]),
    ):
        passes(call, container)
        wrong = ffi.List(["text"])
        lib.swap_unnoticed(changed, 5, wrong, 0)
        assert changed[5] == "text"
        passes(call, container)
        lib.swap_unnoticed(changed, 5, wrong, 0)
        assert wrong == ["text"]


def test_threads_that_change_and_pass(ffi: Any, lib: Any) -> None:
    xs = ffi.List([ffi.List([i]) for i in range(SIZE)])
    stop = threading.Event()

    def change() -> None:
        for turn in itertools.count():
            inner = xs[turn % SIZE]
            inner.append("text")
            inner.pop()
            if stop.is_set():
                return

    def call() -> None:
        for _ in range(300):
            try:
                lib.lists(xs)
            except TypeError as error:
                assert "expected int, got str" in str(error)
            except RuntimeError as error:
                assert "changed" in str(error)

    changer = threading.Thread(target=change)
    callers = [threading.Thread(target=call) for _ in range(3)]
    for thread in (changer, *callers):
        thread.start()
    for thread in callers:
        thread.join()
    stop.set()
    changer.join()
    passes(lib.lists, xs)
    xs[3].append("text")
    refuses(lib.lists, xs)
