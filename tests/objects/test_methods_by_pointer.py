"""Methods whose function takes the object by pointer: as by reference, and None is refused."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from programs import stubgen
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>

#include <memory>
#include <string>

using anyffi::arg;
using anyffi::NotNull;
using anyffi::Ref;

namespace ptr {
struct Base {
  virtual ~Base() = default;
  int64_t x = 1;
};
struct Unbound {
  int64_t y = 5;
};
struct Item : Unbound, Base {
  Item() { ++live; }
  explicit Item(int64_t value) : Item() { x = value; }
  Item(const Item& other) : Unbound(other), Base(other) { ++live; }
  ~Item() override { --live; }
  static inline int64_t live = 0;
};
struct Shared : std::enable_shared_from_this<Shared> {
  int64_t x = 3;
};
inline std::shared_ptr<Item> kept;

int64_t by_function(Item* self, int64_t by) { return self->x * by; }
int64_t by_base(const Base* self) { return self->x; }
int64_t by_const_shared(std::shared_ptr<const Item> self) { return self->x; }
}  // namespace ptr

ANYFFI_CLASS(ptr::Base, "ptr.Base").init<>().field("x", &ptr::Base::x);
ANYFFI_CLASS(ptr::Item, "ptr.Item", ptr::Base)
    .init<>()
    .init<int64_t>(arg("value"))
    .static_property("live", [] { return ptr::Item::live; })
    .method("by_reference", [](ptr::Item& self, int64_t by) { return self.x * by; }, arg("by"))
    .method("by_pointer", [](ptr::Item* self, int64_t by) { return self->x * by; }, arg("by"))
    .method("by_const_pointer", [](const ptr::Item* self, int64_t by) { return self->x * by; }, arg("by") = 2)
    .method("by_function", &ptr::by_function, arg("by"))
    .method("by_base", &ptr::by_base)
    .method("by_unbound_base", [](ptr::Item* self) { return static_cast<ptr::Unbound*>(self)->y; })
    .method("by_shared", [](std::shared_ptr<ptr::Item> self, const std::string& text) {
      return text + std::to_string(self->x);
    }, arg("text"))
    .method("by_shared_reference", [](const std::shared_ptr<ptr::Item>& self, int64_t by) { return self->x * by; },
            arg("by"))
    .method("by_moved_shared", [](std::shared_ptr<ptr::Item>&& self) { return self->x; })
    .method("by_const_shared", &ptr::by_const_shared)
    .method("by_shared_base", [](std::shared_ptr<ptr::Base> self) { return self->x; })
    .method("by_not_null", [](NotNull<std::shared_ptr<ptr::Item>> self) { return self->x; })
    .method("by_not_null_pointer", [](NotNull<ptr::Item*> self) { return self->x; })
    .method("by_ref", [](const Ref<ptr::Item>& self) { return self->x; })
    .method("keep", [](std::shared_ptr<ptr::Item> self) { ptr::kept = std::move(self); })
    .static_method("kept", [] { return ptr::kept; })
    .static_method("drop", [] { ptr::kept.reset(); })
    .method("itself", [](ptr::Item* self) -> ptr::Item& { return *self; })
    .method("pointer", [](ptr::Item* self) { return self; }).returns(anyffi::Returns::kReference)
    .method("base", [](ptr::Item* self) -> ptr::Base* { return self; }).returns(anyffi::Returns::kReferenceInternal)
    .method("shared", [](std::shared_ptr<ptr::Item> self) { return self; })
    .method("pick", [](ptr::Item*, int64_t) { return "int"; }, arg("x"))
    .method("pick", [](std::shared_ptr<ptr::Item>, const std::string&) { return "str"; }, arg("x"))
    .method("unlocked", [](ptr::Item* self) { return self->x; }).release_gil()
    .property("half", [](const ptr::Item* self) { return self->x / 2; },
              [](std::shared_ptr<ptr::Item> self, int64_t half) { self->x = 2 * half; })
    .op(anyffi::ops::add, [](const ptr::Item* self, int64_t more) { return self->x + more; }, arg("more"))
    .op(anyffi::ops::len, [](std::shared_ptr<ptr::Item> self) { return self->x; })
    .pickle([](const ptr::Item* self) { return self->x; }, [](int64_t x) { return ptr::Item(x); });
ANYFFI_CLASS(ptr::Shared, "ptr.Shared")
    .init([] { return std::make_shared<ptr::Shared>(); })
    .method("uses", [](const std::shared_ptr<ptr::Shared>& self) { return self.use_count() > 1; })
    .method("x", [](ptr::Shared* self) { return self->x; });
"""


@pytest.fixture
def ptr(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("ptr.cc", SOURCE))


def test_calls(ptr: Any) -> None:
    item = ptr.Item(4)
    assert [item.by_reference(2), item.by_pointer(2), item.by_function(by=2)] == [8, 8, 8]
    assert [item.by_const_pointer(), item.by_const_pointer(by=3), item.by_shared("a")] == [8, 12, "a4"]
    assert [item.by_base(), item.by_unbound_base()] == [4, 5]
    assert [item.by_shared_reference(2), item.by_moved_shared(), item.by_const_shared()] == [8, 4, 4]
    assert [item.by_shared_base(), item.by_not_null(), item.by_not_null_pointer(), item.by_ref()] == [
        4,
        4,
        4,
        4,
    ]
    assert [item.pick(1), item.pick("a"), item.unlocked()] == ["int", "str", 4]
    assert [item.half, item + 1, len(item)] == [2, 5, 4]
    item.half = 5
    assert item.x == 10
    shared = ptr.Shared()
    assert (shared.uses(), shared.x()) == (True, 3)


def test_results_are_the_object(ptr: Any) -> None:
    item = ptr.Item(4)
    for found in (item.itself(), item.pointer(), item.base(), item.shared()):
        assert found.same_as(item)
    assert ptr.Item.live == 1


def test_a_shared_pointer_keeps_the_object(ptr: Any) -> None:
    item = ptr.Item(4)
    item.keep()
    assert ptr.Item.kept().same_as(item)
    del item
    assert (ptr.Item.live, ptr.Item.kept().x) == (1, 4)
    ptr.Item.drop()
    assert ptr.Item.live == 0
    assert ptr.Item.kept() is None


def test_other_objects_are_refused_as_by_a_reference(ptr: Any) -> None:
    names = [name for name in dir(ptr.Item) if name.startswith("by_") and "base" not in name]
    assert len(names) == 11
    for wrong in (None, 5, "a", ptr.Base(), ptr.Shared()):
        with pytest.raises(TypeError) as expected:
            ptr.Item.by_reference(wrong, 1)
        for name in names:
            method = getattr(ptr.Item, name)
            args = ("a",) if name == "by_shared" else (1,) if "by:" in str(inspect.signature(method)) else ()
            words = str(expected.value).replace("by_reference", name)
            with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
                method(wrong, *args)


def test_annotations(ptr: Any) -> None:
    text = stubgen(ptr.__file__)
    assert "None" not in text.partition("class Item")[2].partition("def kept")[0].replace("-> None", "")
    assert "    def by_shared(self, text: str) -> str: ...\n" in text
    assert "    def by_pointer(self, by: int) -> int: ...\n" in text
    signature = ptr.Item.by_shared._anyffi_info()
    assert signature[2][0][3] == "ptr.Item"


def test_a_class_of_python(ptr: Any) -> None:
    class Own(ptr.Item):  # type: ignore[misc]
        pass

    assert [Own(3).by_pointer(2), Own(3).by_shared("a"), Own(3).by_base()] == [6, "a3", 3]
