"""Users' classes may have attributes and methods of any name that does not begin with `_anyffi_`."""

from __future__ import annotations

import copy
import pickle
from typing import Any, Callable

import pytest
from support import CPYTHON, Build, compiles_classes

pytestmark = compiles_classes

#: Names with a leading "_" that a user may well choose.
NAMES = [
    "_address",
    "_classes",
    "_compare",
    "_data_ptr",
    "_defaults",
    "_device",
    "_dtype",
    "_elements",
    "_entries",
    "_find",
    "_frozen",
    "_get",
    "_handle",
    "_hash",
    "_info",
    "_items",
    "_iterate",
    "_key",
    "_make",
    "_memory",
    "_move_from",
    "_name",
    "_new",
    "_operand",
    "_overrides",
    "_pairs",
    "_plain",
    "_record",
    "_release",
    "_restore",
    "_runtime",
    "_shape",
    "_size",
    "_slice",
    "_take",
    "_target",
    "_type_code",
    "_type_key",
    "_update",
    "_views",
]

CONTAINERS: dict[str, tuple[Any, list[Callable[[Any], Any]]]] = {
    "List": (
        [1, 2],
        [lambda x: x[0], lambda x: x[:1], lambda x: x + [3], lambda x: x.append(3), lambda x: x.sort()],
    ),
    "Array": ((1, 2), [lambda x: x[0], lambda x: x[1:], lambda x: x + (3,), hash]),
    "Dict": (
        {"a": 1},
        [lambda x: x["a"], lambda x: x | {"b": 2}, lambda x: x.update(b=2), lambda x: [*x.items()]],
    ),
    "Set": ({1, 2}, [lambda x: x | {3}, lambda x: x <= {1}, lambda x: x.add(3), lambda x: 2 in x]),
}
EVERYTHING: list[Callable[[Any], Any]] = [len, list, repr, lambda x: x == x, copy.copy, copy.deepcopy]


def use(x: Any, calls: list[Callable[[Any], Any]]) -> list[str]:
    return [repr(call(x)) for call in calls]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_subclasses_of_containers(ffi: Any, kind: str) -> None:
    base: Any = getattr(ffi, kind)
    content, calls = CONTAINERS[kind]
    expected = use(type("Own", (base,), {})(content), EVERYTHING + calls)
    for name in NAMES:
        own = type("Own", (base,), {})(content)
        setattr(own, name, "mine")
        assert use(own, EVERYTHING + calls) == expected, name
        assert getattr(own, name) == getattr(copy.deepcopy(own), name) == "mine"
        cls = type("Own", (base,), {name: lambda self: "mine"})
        assert use(cls(content), EVERYTHING + calls) == expected, name


SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>

namespace names {
struct Box {
  int64_t x = 0;
  int64_t get() const { return x; }
};
}  // namespace names

ANYFFI_CLASS(names::Box, "names.Box")
    .init([](int64_t x) { return names::Box{x}; }, anyffi::arg("x"))
    .field("x", &names::Box::x)
    .method("get", &names::Box::get)
    .pickle([](const names::Box& b) { return b.x; }, [](int64_t x) { return names::Box{x}; });
ANYFFI_EXPORT(read, [](const names::Box& box) { return box.x; });
ANYFFI_EXPORT(take, [](std::unique_ptr<names::Box> box) { return box->x; });
"""


@pytest.mark.parametrize("is_method", [False, True])
def test_subclasses_of_cpp_classes(ffi: Any, build: Build, is_method: bool) -> None:
    module = ffi.load_module(build("names.cc", SOURCE))
    for name in NAMES:
        members: dict[str, Any] = {"__module__": __name__, "__qualname__": "Own"}
        if is_method:
            members[name] = lambda self: "mine"
        globals()["Own"] = cls = type("Own", (module.Box,), members)
        box: Any = cls(3)
        if not is_method:
            setattr(box, name, "mine")
        box.x += 1
        assert (box.get(), module.read(box), repr(box)) == (4, 4, f"{__name__}.Own(x=4)"), name
        for other in (copy.copy(box), copy.deepcopy(box), pickle.loads(pickle.dumps(box))):
            assert (type(other), other.x) == (cls, 4), name
            assert is_method or getattr(other, name) == "mine"
        module.Box.__setstate__(box, 7)
        assert module.read(box) == 7, name
        if CPYTHON:
            assert module.take(cls(5)) == 5
    del globals()["Own"]


def test_fields_of_dataclasses(ffi: Any) -> None:
    namespace = {"__annotations__": dict.fromkeys(NAMES, int), "__module__": __name__}
    cls = ffi.dataclass("names.Fields")(type("Fields", (), namespace))
    made = cls(*range(len(NAMES)))
    assert [getattr(copy.copy(made), name) for name in NAMES] == [*range(len(NAMES))]
    assert made == cls(**{name: i for i, name in enumerate(NAMES)})


def test_names_of_the_package(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("names.cc", SOURCE))
    names = (
        "List",
        "Dict",
        "Set",
        "Array",
        "Map",
        "FrozenSet",
        "Shape",
        "Tensor",
        "Function",
        "Module",
        "Object",
    )
    record = ffi.dataclass("names.Own")(
        type("Own", (), {"__annotations__": {"x": int}, "__module__": __name__})
    )
    for cls in (*(getattr(ffi, name) for name in names), module.Box, record):
        private = {name for base in cls.__mro__ for name in vars(base) if name.startswith("_")}
        assert {name for name in private if not name.startswith(("__", "_anyffi_"))} <= {"_abc_impl"}, cls


def test_functions_of_a_class_that_has_an_attribute_of_any_name(ffi: Any) -> None:
    class Proxy(ffi.Function):  # type: ignore[misc]
        def __getattr__(self, name: str) -> int:
            return 42

    negate = Proxy(lambda x: -x)
    assert (negate.anything, negate(1)) == (42, -1)
    with pytest.raises(TypeError, match=r"takes no keyword arguments$"):
        negate(x=1)
    with pytest.raises(ValueError, match="^this Proxy is empty: "):
        Proxy.__new__(Proxy).__name__
