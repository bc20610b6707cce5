"""Objects that Python knows by reference while their owner in C++ gives them away, or to another owner."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import pytest
from support import Build, collect, compiles_classes, count_live, cpython_only

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/vector.h>

namespace owners {
int64_t frames_alive = 0, tags_alive = 0;
struct Part {
  int64_t size = 5;
};
struct Frame {
  int64_t id;
  Part part;
  Frame* next = nullptr;
  explicit Frame(int64_t i) : id(i) { ++frames_alive; }
  Frame(const Frame&) = delete;
  ~Frame() {
    id = part.size = -1;
    --frames_alive;
  }
};
using Owned = std::unique_ptr<Frame>;
struct Tag {
  std::vector<Owned> frames;
  Frame* seen = nullptr;
  Tag() {
    ++tags_alive;
    frames.push_back(std::make_unique<Frame>(1));
  }
  Tag(const Tag&) = delete;
  ~Tag() { --tags_alive; }
  void add(Owned frame) { frames.push_back(std::move(frame)); }
  Frame* last() { return frames.empty() ? nullptr : frames.back().get(); }
  Owned pop() {
    Owned frame = std::move(frames.back());
    frames.pop_back();
    return frame;
  }
  Frame* adopt(Tag& source) {
    add(source.pop());
    return last();
  }
};
}  // namespace owners

using namespace owners;
using anyffi::Returns;
using anyffi::arg;

ANYFFI_CLASS(Part, "owners.Part").field("size", &Part::size);
ANYFFI_CLASS(Frame, "owners.Frame")
    .init<int64_t>(arg("id"))
    .field("id", &Frame::id)
    .field("part", &Frame::part)
    .method("link", [](Frame& frame, Frame& next) { frame.next = &next; }, arg("next"))
    .property("next", [](Frame& frame) { return frame.next; })
    .method("absorb", [](Frame&, Owned, Owned) {}, arg("first"), arg("second"))
    .method("itself", [](Frame& frame) { return &frame; }).returns(Returns::kReferenceInternal);
ANYFFI_CLASS(Tag, "owners.Tag")
    .init<>()
    .method("add", &Tag::add, arg("frame"))
    .method("make", [](Tag& tag, int64_t id) {
      tag.add(std::make_unique<Frame>(id));
      return tag.last();
    }, arg("id")).returns(Returns::kReferenceInternal)
    .method("last", &Tag::last).returns(Returns::kReferenceInternal)
    .method("last_kept", &Tag::last).returns(Returns::kReference).keep_alive<0, 1>()
    .method("last_free", &Tag::last).returns(Returns::kReference)
    .method("pop", &Tag::pop)
    .method("pop_raw", [](Tag& tag) { return tag.pop().release(); }).returns(Returns::kTakeOwnership)
    .method("pop_shared", [](Tag& tag) { return std::shared_ptr<Frame>(tag.pop()); })
    .method("pop_custom", [](Tag& tag) {
      auto destroy = [](Frame* frame) { delete frame; };
      return std::unique_ptr<Frame, void (*)(Frame*)>(tag.pop().release(), destroy);
    })
    .method("adopt", &Tag::adopt, arg("source")).returns(Returns::kReferenceInternal)
    .property("seen", [](Tag& tag) { return tag.seen; }, [](Tag& tag, Frame* frame) { tag.seen = frame; })
    .keep_alive<1, 2>();
ANYFFI_EXPORT(frames, [] { return frames_alive; });
ANYFFI_EXPORT(live, [] { return frames_alive + tags_alive; });
"""


@pytest.fixture
def owners(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("changing_owners.cc", SOURCE))
    before = count_live(module)
    yield module
    assert count_live(module) == before


@pytest.mark.parametrize("pop", ["pop", "pop_raw", "pop_shared", "pop_custom"])
@pytest.mark.parametrize("last", ["last", "last_kept", "last_free"])
def test_what_python_knows_by_reference_is_given_away(owners: Any, last: str, pop: str) -> None:
    before = count_live(owners)
    tag = owners.Tag()
    frame = getattr(tag, last)()
    assert getattr(tag, pop)() is frame
    assert tag.last() is None
    part = frame.part
    del tag
    # Objects that were kept alive for it still are.
    assert count_live(owners) == before + (2 if last == "last_kept" else 1)
    assert (frame.id, part.size) == (1, 5)
    del frame
    assert (count_live(owners) > before, part.size) == (True, 5)
    del part
    assert count_live(owners) == before


@cpython_only("PyPy refers to an object more than once, so that none can be moved to C++")
def test_what_was_given_away_is_given_back(owners: Any) -> None:
    tag = owners.Tag()
    frame = tag.last()
    tag.add(tag.pop())
    with pytest.raises(ValueError, match="this Frame is empty"):
        frame.id
    assert tag.last().id == 1


def test_what_moves_to_another_owner_keeps_both(owners: Any) -> None:
    first, second, third = owners.Tag(), owners.Tag(), owners.Tag()
    frame = first.last()
    assert second.adopt(first) is frame
    assert third.adopt(second) is frame
    del second, third
    assert (count_live(owners) >= 4, frame.id) == (True, 1)
    del first
    assert frame.id == 1


def test_what_has_had_two_owners_is_given_away(owners: Any) -> None:
    first, second = owners.Tag(), owners.Tag()
    frame = first.last()
    assert second.adopt(first) is frame
    assert second.pop() is frame
    del first, second
    count_live(owners)
    assert frame.id == 1


def test_owners_that_keep_each_other_are_released(owners: Any) -> None:
    before = count_live(owners)
    tag = owners.Tag()
    a, b = tag.make(2), tag.make(3)
    # Each object is returned as the member of the other one.
    a.link(b)
    b.link(a)
    for _ in range(2):
        assert (a.next is b, b.next is a) == (True, True)
    free = tag.last_free()
    assert free.itself() is free is b
    del tag, a, b, free
    assert count_live(owners) == before

    # The second owner keeps the object alive already.
    tag, other = owners.Tag(), owners.Tag()
    frame = tag.last()
    other.seen = frame
    assert other.seen is frame
    del tag, other, frame
    assert count_live(owners) == before

    # Objects of two owners, each of which is returned by the other one.
    tags = owners.Tag(), owners.Tag()
    a, b = (tag.last() for tag in tags)
    a.link(b)
    b.link(a)
    assert (a.next is b, b.next is a) == (True, True)
    del tags, a, b
    assert count_live(owners) == before


def test_a_refused_call_releases_its_object(owners: Any) -> None:
    before = count_live(owners)
    frame, other = owners.Tag().pop(), owners.Tag().pop()
    with pytest.raises(ValueError, match="an object that is moved to C\\+\\+ is also another argument"):
        frame.absorb(other, other)
    with pytest.raises(TypeError, match=r"argument 2 \(second\): expected owners.Frame"):
        frame.absorb(other, 1)
    assert (frame.id, other.id) == (1, 1)
    del frame, other
    assert count_live(owners) == before


def test_a_reference_is_returned_by_what_it_refers_to(owners: Any) -> None:
    tag = owners.Tag()
    frame = tag.last_free()
    assert frame.itself() is frame
    del frame
    assert tag.last().id == 1


KNOWN_BEFORE = r"""
#include <anyffi/anyffi.h>

namespace before {
struct Piece {
  int64_t size = 5;
};
struct Whole {
  anyffi::AnyValue callback;
  Piece& piece();
};
struct Base {
  int64_t first = 1;
};
struct Derived : Base {
  int64_t second = 2;
};
Piece shared;
Piece& Whole::piece() { return shared; }
Derived many[2000];
}  // namespace before

using namespace before;
using anyffi::Returns;
using anyffi::arg;

ANYFFI_CLASS(Piece, "before.Piece").field("size", &Piece::size);
ANYFFI_CLASS(Whole, "before.Whole")
    .init<>()
    .field("callback", &Whole::callback)
    .method("piece", &Whole::piece).returns(Returns::kReferenceInternal);
ANYFFI_CLASS(Base, "before.Base").field("first", &Base::first);
ANYFFI_CLASS(Derived, "before.Derived", Base).field("second", &Derived::second);
ANYFFI_EXPORT(shared_piece, []() -> Piece& { return shared; }).returns(Returns::kReference);
ANYFFI_EXPORT(base, [](int64_t i) -> Base& { return many[i]; }, arg("i")).returns(Returns::kReference);
ANYFFI_EXPORT(derived, [](int64_t i) -> Derived& { return many[i]; }, arg("i")).returns(Returns::kReference);
"""


@pytest.fixture
def before(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("known_before.cc", KNOWN_BEFORE))


@cpython_only("PyPy refers to each object more than once")
def test_cycles_through_an_owner_that_came_later(before: Any) -> None:
    def make() -> weakref.ref[Any]:
        def mark() -> Any:
            return piece

        piece, whole = before.shared_piece(), before.Whole()
        assert whole.piece() is piece
        whole.callback = mark
        return weakref.ref(mark)

    found = make()
    collect(until=lambda: found() is None)
    assert found() is None


def test_an_address_as_an_object_of_a_base_and_of_its_class(before: Any) -> None:
    # More than the table has room for at first, so that its order changes.
    bases, wholes = [], []
    for i in range(2000):
        bases.append(before.base(i))
        wholes.append(before.derived(i))
    for _ in range(2):
        assert [i for i, x in enumerate(bases) if before.base(i) is not x] == []
        assert [i for i, x in enumerate(wholes) if before.derived(i) is not x] == []
        # From now on the table has a lock for all threads.
        thread = threading.Thread(target=before.base, args=(0,))
        thread.start()
        thread.join()
