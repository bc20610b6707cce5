"""Objects of C++ behind pointers: shared, unique, owned and borrowed ones."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any

import pytest
from pointer_sources import POINTERS, UNDECLARED
from support import (
    CPYTHON,
    Build,
    collect,
    compiles_classes,
    count_live,
    cpython_only,
    run_in_threads,
)

pytestmark = compiles_classes

KEEPS = "PyPy refers to an object more than once, so that none can be moved to C++"


@pytest.fixture
def ptr(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("pointers.cc", POINTERS))
    yield module
    module.keep(None)
    module.keep_all([])
    module.take(None)


def test_shared_results(ptr: Any) -> None:
    before = count_live(ptr)
    shape = ptr.make_shared(3)
    assert type(shape) is ptr.Square
    assert (shape.side, shape.area, shape.name) == (3, 9, "shape")
    shape.side = 4
    assert shape.area == 16
    hidden = ptr.make_hidden()
    assert type(hidden) is ptr.Shape
    assert hidden.area == 42
    assert ptr.make_const().value == 4
    assert count_live(ptr) == before + 2
    del shape, hidden
    assert count_live(ptr) == before


def test_a_destructor_that_is_not_public(ptr: Any) -> None:
    before = count_live(ptr)
    book = ptr.Book()
    page = book.first
    assert (page.text, page.next.text, page.next.next) == ("one", None, None)
    assert book.first is page
    assert ptr.read(page, lambda *args: args[0] is page and args[1]) == "one"
    assert ptr.read(page.next, lambda _, text: text) is None
    with pytest.raises(TypeError, match="the destructor or operator delete of its class is not public"):
        book.tear_out()
    with pytest.raises(TypeError):
        ptr.Page()
    with pytest.raises(TypeError):
        ptr.read("page", len)
    del book
    assert page.text == "one"
    assert count_live(ptr) == before + 2
    del page
    collect()
    assert count_live(ptr) == before


def test_shared_arguments_keep_the_object(ptr: Any) -> None:
    before = count_live(ptr)
    shape = ptr.Square(2)
    shape.side = 5
    ptr.keep(shape)
    assert ptr.kept() is shape
    del shape
    assert count_live(ptr) == before + 1
    again = ptr.kept()
    assert (type(again), again.side) == (ptr.Square, 5)
    assert ptr.kept() is again
    ptr.keep(None)
    assert ptr.kept() is None
    assert again.area == 25
    del again
    assert count_live(ptr) == before


def test_a_shared_object_is_shared(ptr: Any) -> None:
    before = count_live(ptr)
    shape = ptr.make_shared(2)
    ptr.keep(shape)
    # One of C++, one of the object, one of the parameter.
    assert ptr.uses(shape) == 3
    assert ptr.kept() is shape
    del shape
    assert count_live(ptr) == before + 1
    assert ptr.kept().side == 2
    assert ptr.uses(ptr.kept()) == 3
    ptr.keep(None)
    assert count_live(ptr) == before


def test_elements(ptr: Any) -> None:
    before = count_live(ptr)
    shapes = [ptr.Square(1), ptr.make_shared(2), None]
    ptr.keep_all(shapes)
    assert all(a is b for a, b in zip(ptr.all(), shapes))
    ptr.keep_all([])
    with pytest.raises(TypeError, match=r"at \[1\]: expected ptr.Shape | None, got Node"):
        ptr.keep_all([None, ptr.Node()])
    assert [x.n for x in ptr.make_many(3)] == [0, 1, 2]
    assert ptr.sum([ptr.Counted(1), None, ptr.Counted(5)]) == 106
    assert ptr.maybe(None) is None
    node = ptr.Node(1)
    assert ptr.maybe(node) is node
    del shapes, node
    assert count_live(ptr) == before


def test_shared_from_this(ptr: Any) -> None:
    before = count_live(ptr)
    node = ptr.Node(4)
    with pytest.raises(RuntimeError, match="bad_weak_ptr"):
        node.self()
    other = ptr.Node(text="abc")
    assert (other.value, other.self()) == (3, other)
    assert other.self() is other
    node.next = other
    assert node.next is other
    assert ptr.next_value(node) == 3
    assert ptr.maybe(node) is node
    node.next = ptr.Node(8)
    assert node.next.value == 8
    node.next = None
    assert node.next is None
    with pytest.raises(TypeError, match=r"ptr.Node.next: expected ptr.Node \| None, got int"):
        node.next = 5
    del node, other
    assert count_live(ptr) == before


def test_unique_results(ptr: Any) -> None:
    before = count_live(ptr)
    shape = ptr.make_unique(3)
    assert (type(shape), shape.area) == (ptr.Square, 9)
    raw = ptr.make_raw()
    assert (type(raw), raw.area) == (ptr.Square, 9)
    assert count_live(ptr) == before + 2
    del shape, raw
    assert count_live(ptr) == before
    custom = ptr.custom()
    assert custom.n == 1
    del custom
    assert count_live(ptr) == before + 100


@cpython_only(KEEPS)
@pytest.mark.parametrize("made_by", ["Square", "make_unique"])
def test_unique_arguments_take_the_object(ptr: Any, made_by: str) -> None:
    before = count_live(ptr)
    shape = getattr(ptr, made_by)(6)
    ptr.take(shape)
    assert ptr.taken_area() == 36
    uses = (
        lambda: shape.area,
        lambda: shape.side,
        lambda: setattr(shape, "side", 1),
        lambda: ptr.take(shape),
        lambda: ptr.keep(shape),
        lambda: [shape, ptr.keep_all([shape])],
    )
    for use in uses:
        with pytest.raises(ValueError, match="this Square is empty: .*C\\+\\+ took the object"):
            use()
    assert "not initialized" in repr(shape)
    seen = ptr.see_taken()
    assert (type(seen), seen.area) == (ptr.Square, 36)
    # The pointer that comes back is owned by the object that referred to it.
    back = ptr.taken()
    assert back is seen
    assert ptr.taken() is None
    del shape, seen
    assert back.area == 36
    ptr.take(back)
    assert ptr.taken_area() == 36
    ptr.take(None)
    assert count_live(ptr) == before


@cpython_only(KEEPS)
def test_what_cannot_be_taken(ptr: Any) -> None:
    before = count_live(ptr)
    shared = ptr.make_shared(1)
    with pytest.raises(ValueError, match="argument 0 .shape.: a std::shared_ptr owns this object"):
        ptr.take(shared)
    kept = ptr.Square(2)
    ptr.keep(kept)
    with pytest.raises(ValueError, match="other objects refer to this object"):
        ptr.take(kept)
    ptr.keep(None)
    ptr.take(kept)
    counted = ptr.Counted(1)
    with pytest.raises(ValueError, match="also another argument"):
        ptr.take_with(counted, counted)
    assert ptr.take_with(counted, ptr.Counted(2)) == 3
    with pytest.raises(TypeError, match="expected ptr.Counted, got int"):
        ptr.take_with(ptr.Counted(2), 5)
    assert ptr.take_slowly(ptr.Counted(9)) == 9
    assert ptr.take_slowly(None) == -1
    with pytest.raises(ValueError, match="does not own its content alone"):
        ptr.take_slowly(getattr(ptr, "global")())
    with pytest.raises(ValueError, match="no virtual destructor"):
        ptr.take_plain(ptr.Derived())
    assert ptr.take_plain(ptr.Plain()) == 3
    # In C++ nothing would keep the square alive.
    nurse = ptr.Plain()
    nurse.keep(ptr.Square(2))
    with pytest.raises(
        ValueError, match="keeps another one alive, or its memory is released in a way of its own"
    ):
        ptr.take_plain(nurse)
    del nurse
    # A call that fails takes nothing.
    safe = ptr.Counted(3)
    with pytest.raises(TypeError):
        ptr.take_with(safe, None)
    assert safe.n == 3
    ptr.take(None)
    del shared, kept, counted, safe
    assert count_live(ptr) == before


def test_references(ptr: Any) -> None:
    before = count_live(ptr)
    machine = ptr.Machine()
    part = machine.part
    assert part.x == 5
    for same in (machine.part, machine.get_part(), machine.read_part, machine.find(True), machine.extra):
        assert same is part
    assert machine.find(False) is None
    part.x = 6
    assert machine.part.x == 6
    with pytest.raises(AttributeError):
        machine.part = part
    with pytest.raises(AttributeError):
        machine.extra = part
    inner = machine.inner
    for same in (machine.referred(), machine.pointer, machine.inners()[0], machine.inners()[2]):
        assert same is inner
    assert machine.inners()[1] is None
    for other in (machine.copied(), machine.copied_too(), machine.moved()):
        assert other is not inner
        assert (other.x, other.y) == (1, 2)
    machine.inner.x = 10
    assert (inner.x, machine.copied().x) == (10, 10)
    assert machine.itself() is machine.me() is machine
    assert count_live(ptr) == before + 1
    del machine
    assert count_live(ptr) == before + 1
    assert inner.x == 10
    del inner, part, same
    assert count_live(ptr) == before


def test_references_to_what_cpp_owns(ptr: Any) -> None:
    counted = getattr(ptr, "global")()
    assert counted.n == 7
    assert getattr(ptr, "global")() is counted
    counted.n = 8
    assert ptr.count_of(counted) == 8
    assert (ptr.count_of(None), ptr.count_of()) == (-1, -1)
    counted.n = 7
    with pytest.raises(TypeError, match=r"expected ptr.Counted \| None, got int"):
        ptr.count_of(5)


def test_what_a_shared_pointer_destroys_releases_its_object(ptr: Any) -> None:
    before = count_live(ptr)
    kept = [ptr.Counted(5)]
    ptr.open_session(kept.clear, kept[0])
    # The session ends with the result, and Python's only reference to the object with the session.
    part = ptr.close_session()
    assert kept == []
    others = [ptr.Counted(i) for i in range(10)]
    assert part.n == 5
    del part, others
    assert count_live(ptr) == before


@cpython_only("PyPy does not count references")
def test_returned_objects_are_counted_once(ptr: Any, ffi: Any) -> None:
    use_count = ffi.get_global_func("testing.use_count")
    machine, shape = ptr.Machine(), ptr.make_shared(3)
    part = machine.part
    ptr.keep(shape)
    counted = getattr(ptr, "global")()
    calls = {
        "an argument": (machine, machine.itself),
        "a pointer to an argument": (machine, machine.me),
        "inside of an argument": (part, machine.get_part),
        "a pointer to there": (part, machine.find, True),
        "what C++ owns": (counted, getattr(ptr, "global")),
        "what is shared": (shape, ptr.kept),
        "elements": (shape, lambda: ptr.all()[0]),
    }
    ptr.keep_all([shape])
    for object_, function, *args in calls.values():
        counts = use_count(object_), sys.getrefcount(object_)
        kept = [function(*args) for _ in range(10)]
        assert all(x is object_ for x in kept)
        assert use_count(object_) == counts[0]
        del kept
        collect()
        assert (use_count(object_), sys.getrefcount(object_)) == counts
    before = count_live(ptr)
    del machine, part, object_, calls, function
    assert count_live(ptr) == before - 1


@pytest.mark.parametrize("which", [0, 1])
def test_what_cpp_owns_is_no_garbage(ptr: Any, which: int) -> None:
    class Callback:
        def __init__(self, button: Any) -> None:
            self.button = button

        def __call__(self, x: int) -> int:
            return x + 1 if self.button is not None else -1

    button = ptr.shared_button() if which else ptr.button()
    button.on_click = Callback(button)
    del button
    # C++ has the object, too, and with it the callback.
    for _ in range(3):
        collect()
        assert ptr.press(which) == 2
    button = ptr.shared_button() if which else ptr.button()
    button.on_click = len


def test_keep_alive(ptr: Any) -> None:
    before = count_live(ptr)
    view = ptr.View(ptr.Counted(5))
    assert count_live(ptr) == before + 2
    assert view.n == 5
    del view
    assert count_live(ptr) == before


class Token:
    pass


@pytest.mark.parametrize("method", ["keep", "take"])
@pytest.mark.parametrize(
    "wrapped", [lambda token: [token], lambda token: lambda: token], ids=["list", "function"]
)
def test_keep_alive_of_what_is_made_for_the_call(ptr: Any, method: str, wrapped: Any) -> None:
    plain, token = ptr.Plain(), Token()
    alive = weakref.ref(token)
    getattr(plain, method)(wrapped(token))
    del token
    collect()
    assert alive() is not None
    del plain
    collect(lambda: alive() is None)
    assert alive() is None


def test_keep_alive_of_several_arguments(ptr: Any) -> None:
    plain, other = ptr.Plain(), ptr.Plain()
    tokens = [Token() for _ in range(3)]
    alive = [weakref.ref(token) for token in tokens]
    # The number has no lifetime.
    plain.keep_all(tokens[0], [tokens[1]], 5, other, tokens[2])
    del tokens
    collect()
    assert None not in [each() for each in alive]
    del plain
    collect(lambda: alive[1]() is None)
    assert [each() is None for each in alive] == [True, True, False]
    del other
    collect(lambda: alive[2]() is None)
    assert alive[2]() is None


@pytest.mark.parametrize("type_name", ["const char*", "std::string_view"])
def test_text_cannot_be_kept(ffi: Any, build: Build, type_name: str) -> None:
    number = len(type_name)
    source = f"""
        #include <anyffi/anyffi.h>
        #include <anyffi/stl/string.h>
        struct Keeper{number} {{}};
        ANYFFI_CLASS(Keeper{number}, "ptr.Keeper{number}")
            .method("keep", [](Keeper{number}&, {type_name}) {{}}, anyffi::arg("text")).keep_alive<1, 2>();
    """
    library = build(f"keeper{number}.cc", source)
    words = (
        rf"^ptr.Keeper{number}: keep: keep_alive\(\) of a text that is passed as a pointer: it ends with the"
    )
    with pytest.raises(ValueError, match=words):
        ffi.load_module(library)


@cpython_only("PyPy does not look into objects of C++")
def test_cycles_through_what_is_kept_alive(ptr: Any) -> None:
    before = count_live(ptr)
    bell, other = ptr.Bell(), ptr.Bell()
    bell.attach(lambda x=bell, y=other: (x, y))
    bell.attach([1, lambda x=bell: x])
    other.attach([lambda x=bell: x])
    nested = ptr.Bell()
    nested.attach(lambda x=bell: x)
    bell.attach(nested)
    del nested
    # Nothing is collected that Python uses.
    held = bell
    del bell, other
    assert count_live(ptr) == before + 3
    del held
    assert count_live(ptr) == before


def test_callbacks(ptr: Any) -> None:
    seen = []
    shape = ptr.Square(2)

    def check(shared: Any, pointer: Any) -> bool:
        seen.append((shared, pointer))
        return shared is pointer

    assert ptr.call_with(check, shape) is True
    assert seen[0][0] is shape
    assert ptr.call_with(check, ptr.make_shared(1)) is True


def test_a_declaration_without_an_owner(ffi: Any, build: Build) -> None:
    names = r"undeclared\.Node: next, undeclared\.Node: last, same, find, nd"
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"{names}: its result points to an object, .*\.returns\("):
            ffi.load_module(build("undeclared.cc", UNDECLARED))


def test_fields_that_own(ptr: Any) -> None:
    before = count_live(ptr)
    owner = ptr.Owner()
    square = owner.square
    assert owner.nothing is None
    assert type(square) is ptr.Square
    assert square is owner.square
    square.side = 5
    assert owner.square.area == 25
    with pytest.raises(AttributeError):
        owner.square = None
    with pytest.raises(ValueError, match="does not own its content alone"):
        ptr.take(square)
    del owner
    assert (square.area, count_live(ptr)) == (25, before + 1)
    del square
    assert count_live(ptr) == before


class Numbers(Sequence[int]):
    """A sequence that runs a function when an element is read."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> int:
        if index >= 3:
            raise IndexError
        self.run()
        return 5


USES = {
    "method": lambda ptr, x, give: x.after(give),
    "pointer": lambda ptr, x, give: ptr.after(x, give),
    "field": lambda ptr, x, give: setattr(x, "numbers", Numbers(give)),
    "next argument": lambda ptr, x, give: ptr.copy_after(x, Numbers(give)),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_what_a_call_uses_cannot_be_taken(ptr: Any, use: Any) -> None:
    before = count_live(ptr)
    x = ptr.Plain() if use is USES["next argument"] else ptr.Counted(4)
    given = []

    def give() -> None:
        with pytest.raises(ValueError, match=r"cannot be moved to C\+\+"):
            (ptr.take_plain if type(x) is ptr.Plain else ptr.take_slowly)(x)
        given.append(x)

    assert use(ptr, x, give) in (4, 6, None)
    assert given
    given.clear()
    if CPYTHON:
        assert (ptr.take_plain if type(x) is ptr.Plain else ptr.take_slowly)(x) in (3, 4)
    del x, give
    assert count_live(ptr) == before


def test_threads(ptr: Any) -> None:
    before = count_live(ptr)
    ptr.keep(ptr.make_shared(2))
    wrong = []

    def use() -> None:
        for _ in range(300):
            found = ptr.kept()
            if found.side != 2 or ptr.kept() is not found:
                wrong.append(found)
            ptr.take(None)
            ptr.make_unique(3)

    run_in_threads([use] * 4)
    assert wrong == []
    ptr.keep(None)
    del wrong
    assert count_live(ptr) == before


UNLOCKED = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/memory.h>

#include <atomic>
#include <thread>

namespace unlocked {
struct Worker {
  explicit Worker(std::function<void()> f)
      : thread([this, f = std::move(f)] {
          while (!ends) std::this_thread::yield();
          f();
        }) {}
  ~Worker() {
    ends = true;
    thread.join();
  }
  std::atomic<bool> ends{false};
  std::thread thread;
};
struct Unlocked {
  void operator()(Worker* worker) const {
    anyffi::ReleasedGil released;
    delete worker;
  }
};
using Owner = std::unique_ptr<Worker, Unlocked>;
}  // namespace unlocked

ANYFFI_CLASS(unlocked::Worker, "unlocked.Worker").init([](std::function<void()> f) {
  return unlocked::Owner(new unlocked::Worker(std::move(f)));
}, anyffi::arg("f"));
ANYFFI_EXPORT(drop_elsewhere, [](std::function<void()> f) {
  std::thread([&] { unlocked::Owner(new unlocked::Worker(f)); }).join();
}, anyffi::arg("f")).release_gil();
ANYFFI_EXPORT(part, [](const std::function<void()>& f) {
  anyffi::ReleasedGil released;
  std::thread([&] { f(); }).join();
  anyffi::ReleasedGil again;
  f();
}, anyffi::arg("f"));
"""


def test_a_destructor_without_the_interpreter_lock(ffi: Any, build: Build) -> None:
    """The thread for which the destructor waits calls Python."""
    module = ffi.load_module(build("unlocked.cc", UNLOCKED))
    seen: list[int] = []
    worker = module.Worker(lambda: seen.append(1))
    assert seen == []
    del worker
    collect()
    assert seen == [1]
    module.drop_elsewhere(lambda: seen.append(2))
    module.part(lambda: seen.append(3))
    assert seen == [1, 2, 3, 3]
