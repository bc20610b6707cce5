"""What is popped is converted first: an exception class's constructor, which then runs, may change the container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyffi
import pytest
from support import Build, needs_compilers

SOURCE = r"""
#include <anyffi/anyffi.h>

using namespace anyffi;

namespace {

AnyValue make(const char* kind, int64_t number) {
  static const char* const kNumbers[] = {"0", "1", "2"};
  return AnyValue(AnyView(Error(kind, kNumbers[number]).value()));
}

List<> fill_list(const char* kind, int64_t size) {
  List<> made;
  for (int64_t i = 0; i < size; ++i) made.push_back(make(kind, i));
  return made;
}

Dict<> fill_dict(const char* kind, int64_t size) {
  Dict<> made;
  for (int64_t i = 0; i < size; ++i) made.set(i, make(kind, i));
  return made;
}

Set<> fill_set(const char* kind, int64_t size) {
  Set<> made;
  for (int64_t i = 0; i < size; ++i) made.add(make(kind, i));
  return made;
}

}  // namespace

ANYFFI_EXPORT(fill_list, fill_list);
ANYFFI_EXPORT(fill_dict, fill_dict);
ANYFFI_EXPORT(fill_set, fill_set);
"""

pytestmark = [needs_compilers, pytest.mark.keeps_live("registers an exception class")]


class Fixture:
    """Containers of three errors of C++, each of which becomes a new exception whenever it is converted."""

    def __init__(self, ffi: Any, module: Any) -> None:
        self.module = module
        self.kind = kind = f"PoppedIn{ffi.ffi_mode.title()}"
        self.made: list[str] = []
        self.on_make: Callable[[], Any] = lambda: None

        class Popped(Exception):
            def __init__(_, text: str) -> None:
                super().__init__(text)
                self.made.append(text)
                self.on_make()

        anyffi.register_error(kind, Popped, override=True)

    def make(self, what: str) -> Any:
        return getattr(self.module, f"fill_{what}")(self.kind, 3)

    def popped(self, what: Callable[[], Any]) -> list[str]:
        """Pop one, and return its text after those of the exceptions that were made for that."""
        self.made.clear()
        found = what()
        made, self.on_make = list(self.made), lambda: None
        return [*made, str(found)]


@pytest.fixture
def errors(ffi: Any, build: Build) -> Fixture:
    return Fixture(ffi, ffi.load_module(build("popped_errors.cc", SOURCE)))


POPS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "list last": ("list", lambda x: x.pop()),
    "list": ("list", lambda x: x.pop(-1)),
    "dict": ("dict", lambda x: x.pop(2)),
    "dict last": ("dict", lambda x: x.popitem()[1]),
    "set": ("set", lambda x: x.pop()),
}


@pytest.mark.parametrize(("what", "pop"), POPS.values(), ids=POPS)
def test_an_element_is_removed_once_it_is_converted(
    errors: Fixture, what: str, pop: Callable[[Any], Any]
) -> None:
    x = errors.make(what)
    sizes: list[int] = []
    errors.on_make = lambda: sizes.append(len(x))
    assert errors.popped(lambda: pop(x)) == ["2", "2"]
    assert (sizes, len(x)) == ([3], 2)


@pytest.mark.parametrize(("what", "pop"), POPS.values(), ids=POPS)
def test_an_element_that_cannot_be_converted_stays(
    errors: Fixture, what: str, pop: Callable[[Any], Any]
) -> None:
    x = errors.make(what)

    def fail() -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        errors.on_make = fail
        with pytest.raises(KeyboardInterrupt):
            pop(x)
        assert len(x) == 3
    errors.on_make = lambda: None
    assert errors.popped(lambda: pop(x)) == ["2", "2"]
    assert len(x) == 2


@pytest.mark.parametrize(("what", "pop"), POPS.values(), ids=POPS)
def test_what_was_removed_meanwhile_is_not_returned(
    errors: Fixture, what: str, pop: Callable[[Any], Any]
) -> None:
    x = errors.make(what)

    def pop_first() -> None:
        errors.on_make = lambda: None
        pop(x)

    errors.on_make = pop_first
    if what == "dict" and pop is POPS["dict"][1]:
        with pytest.raises(KeyError, match="2"):
            pop(x)
        assert len(x) == 2
    else:
        assert errors.popped(lambda: pop(x)) == ["2", "2", "1", "1"]
        assert len(x) == 1


@pytest.mark.parametrize(("what", "pop"), POPS.values(), ids=POPS)
def test_an_empty_container_is_noticed(errors: Fixture, what: str, pop: Callable[[Any], Any]) -> None:
    x = errors.make(what)
    errors.on_make = x.clear
    with pytest.raises(IndexError if what == "list" else KeyError):
        pop(x)
    assert len(x) == 0


@pytest.mark.parametrize(("what", "pop"), POPS.values(), ids=POPS)
def test_constructors_that_always_change_the_container(
    errors: Fixture, what: str, pop: Callable[[Any], Any]
) -> None:
    x = errors.make(what)

    def change() -> None:
        errors.on_make = lambda: None
        (x.extend if what == "list" else x.update)(errors.make(what))
        errors.on_make = change

    errors.on_make = change
    # Updating a Set converts its new elements, too.
    assert 2 <= len(errors.popped(lambda: pop(x))) <= 6


def test_entries_that_moved_are_not_mistaken(errors: Fixture) -> None:
    x = errors.make("dict")

    def move() -> None:
        errors.on_make = lambda: None
        # The same value, at another number.
        del x[0]
        for i in range(100, 200):
            x[i] = None

    errors.on_make = move
    assert errors.popped(lambda: x.pop(2)) in (["2", "2"], ["2", "2", "2"])
    assert list(x) == [1, *range(100, 200)]


@pytest.mark.parametrize("index", [-1, 0])
def test_another_element_at_the_index_is_popped(errors: Fixture, index: int) -> None:
    x = errors.make("list")

    def insert() -> None:
        errors.on_make = lambda: None
        x.insert(3 if index else 0, "inserted")

    errors.on_make = insert
    assert errors.popped(lambda: x.pop(index))[1:] == ["inserted"]
    assert len(x) == 3
