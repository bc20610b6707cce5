"""Classes that several libraries describe, that are loaded again, and classes registered in their place."""

from __future__ import annotations

import inspect
import os
import pathlib
import pydoc
import shutil
import threading
from typing import Any

import pytest
from support import Build, compiles_classes, run_in_threads

pytestmark = [
    *compiles_classes,
    pytest.mark.unrecorded("keys of types differ between modes"),
]


def source(
    key: str, answer: str = "1", members: str = "int64_t x = 0;", more: str = "", last: str = ""
) -> str:
    return f"""
    #include <anyffi/anyffi.h>
    using anyffi::arg;
    struct Thing {{ {members} int64_t answer() const {{ return {answer}; }} }};
    ANYFFI_CLASS(Thing, "{key}")
        .doc("A thing.")
        .init<>()
        .method("answer", &Thing::answer){more};
    ANYFFI_EXPORT(make, [] {{ return anyffi::make_object<Thing>(); }});
    ANYFFI_EXPORT(ask, [](const Thing& thing) {{ return thing.answer(); }}, arg("thing"));
    {last}
    """


@pytest.fixture
def load(ffi: Any, build: Build, tmp_path: pathlib.Path) -> Any:
    def load(name: str, text: str, path: str = "versions.so") -> Any:
        shutil.copy(build(f"{name}_{ffi.ffi_mode}.cc", text), tmp_path / "new.so")
        os.replace(tmp_path / "new.so", tmp_path / path)
        return ffi.load_module(tmp_path / path)

    return load


def test_a_new_version_replaces_the_methods(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Same"
    first = load("same1", source(key, "x + 1", more='.field("x", &Thing::x).method("gone", &Thing::answer)'))
    old = first.Same()
    old.x = 10
    assert (old.answer(), old.gone(), first.ask(old)) == (11, 11, 11)
    second = load("same2", source(key, "x + 2", more='.field("x", &Thing::x).method("come", &Thing::answer)'))
    assert second.Same is first.Same
    assert (old.answer(), old.come(), second.ask(old), first.ask(old)) == (12, 12, 12, 11)
    assert not hasattr(old, "gone")
    assert second.Same().answer() == 2


def test_a_new_version_with_other_fields_is_another_class(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Other"
    first = load("other1", source(key, "x", more='.field("x", &Thing::x)'))
    old = first.Other()
    second = load("other2", source(key, "x", "double y = 5; int64_t x = 7;", '.field("x", &Thing::x)'))
    third = load("other3", source(key, "x", "double y = 5; int64_t x = 7;", '.field("y", &Thing::y)'))
    assert len({first.Other, second.Other, third.Other}) == 3
    assert (old.x, second.Other().x, third.Other().y) == (0, 7, 5)
    assert (first.ask(old), second.ask(second.Other()), third.ask(third.make())) == (0, 7, 7)
    with pytest.raises(TypeError, match="of another version of its library"):
        second.ask(old)
    assert type(third.make()) is third.Other


def test_libraries_share_a_class(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Shared"
    first = load("shared1", source(key, "1"), "first.so")
    second = load("shared2", source(key, "2", more='.method("more", &Thing::answer)'), "second.so")
    assert first.Shared is second.Shared
    assert (second.ask(first.Shared()), first.ask(second.make()), second.make().answer()) == (2, 1, 1)
    assert not hasattr(first.Shared, "more")
    with pytest.raises(ValueError, match="already registered by another library, with another layout"):
        load("shared3", source(key, "1", "int64_t x[9];"), "third.so")


def test_libraries_that_give_a_class_another_base(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Derived"
    load("base1", source(key), "first.so")
    text = source(key).replace(
        "struct Thing {", f'struct Base {{}}; ANYFFI_CLASS(Base, "{key}Base");\nstruct Thing : Base {{'
    )
    message = f"type '{key}' is already registered by another library, with the parent 'Object', and here with '{key}Base'; give it the same base in both"
    with pytest.raises(ValueError, match=message):
        load(
            "base2",
            text.replace(f'ANYFFI_CLASS(Thing, "{key}")', f'ANYFFI_CLASS(Thing, "{key}", Base)'),
            "second.so",
        )


def test_a_failed_load_leaves_the_class(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Failed"
    failing = 'ANYFFI_REGISTER_GLOBAL("testing.nop").def([] { return 0; });'
    with pytest.raises(ValueError, match=r"'testing\.nop' is already registered"):
        load("failed0", source(key, "5", last=failing))
    first = load("failed1", source(key, "1"))
    old = first.Failed()
    with pytest.raises(ValueError, match=r"'testing\.nop' is already registered"):
        load("failed2", source(key, "2", last=failing))
    assert (old.answer(), first.Failed().answer()) == (1, 1)
    assert load("failed3", source(key, "3")).Failed().answer() == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('.method("f", [](const Thing&, int64_t) {}, arg("class"))', "'class' cannot be a keyword|class"),
        ('.method("f", [](const Thing&, int64_t) {}, arg("x") = "text")', "default"),
        ('.init([](const Thing&) { return Thing(); }, arg("x") = 5)', "default"),
    ],
)
def test_what_a_description_gets_wrong(ffi: Any, load: Any, more: str, message: str) -> None:
    key = f"loading.{ffi.ffi_mode}.Wrong{abs(hash(more))}"
    with pytest.raises((ValueError, TypeError, OverflowError), match=message):
        load(f"wrong{abs(hash(more))}", source(key, more=more))


def test_classes_of_a_module(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Named"
    module = load("named", source(key))
    assert "Named" in dir(module)
    cls = module.Named
    assert (cls.__module__, cls.__qualname__, cls.__doc__) == (f"loading.{ffi.ffi_mode}", "Named", "A thing.")
    assert str(inspect.signature(cls)) == "() -> None"
    assert str(inspect.signature(cls.answer)) == "(self) -> 'int'"
    assert str(inspect.signature(cls().answer)) == "() -> 'int'"
    assert (cls.answer.__name__, cls.answer.__qualname__) == ("answer", "Named.answer")
    assert callable(cls.answer)
    # Since Python 3.14 without quotes around annotations.
    text = pydoc.plain(pydoc.render_doc(cls)).replace("'int'", "int")
    assert "answer(self) -> int" in text
    with pytest.raises(AttributeError, match="did you mean 'Named'"):
        module.Nmed
    assert issubclass(cls, ffi.Object)
    assert not issubclass(cls.answer.__class__, cls)


def test_a_class_registered_for_objects_that_arrive(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Registered"
    module = load("registered", source(key, "x", more='.field("x", &Thing::x)'))
    before = module.make()

    @ffi.register_object(key)  # type: ignore[untyped-decorator]
    class Own(module.Registered):  # type: ignore[misc]
        def __new__(cls, x: int) -> Any:
            return super().__new__(cls)

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    # Neither `__new__` nor `__init__` runs for objects that arrive.
    assert type(module.make()) is Own
    assert (module.make().x, Own(5).x, Own(6).answer()) == (0, 5, 6)
    assert type(before) is module.Registered

    @ffi.register_object(key)  # type: ignore[untyped-decorator]
    class Plain(ffi.Object):  # type: ignore[misc]
        def answer(self) -> str:
            return f"of Python: {self.x}"

    made = module.make()
    assert (type(made), made.answer()) == (Plain, "of Python: 0")
    made.x = 4
    assert (made.x, Plain().answer()) == (4, "of Python: 0")


def test_threads_that_need_a_class_at_once(ffi: Any, load: Any) -> None:
    key = f"loading.{ffi.ffi_mode}.Threads"
    module = load("threads", source(key))
    barrier, seen = threading.Barrier(8), []

    def work() -> None:
        barrier.wait()
        seen.append(type(module.make()))

    run_in_threads([work] * 8)
    assert len(seen) == 8
    assert set(seen) == {module.Threads}
