"""Identity of wrappers, counts, destruction, and the end of the interpreter."""

from __future__ import annotations

import sys
import threading
import types
import weakref
from typing import Any

import cases
import pytest
from programs import run_program
from support import CPYTHON, SANITIZED, STACK_ENDS, collect, cpython_only


def wrappers(ffi: Any) -> Any:
    return [
        ffi.convert([1]),
        ffi.convert((1,)),
        ffi.convert({}),
        ffi.convert(types.MappingProxyType({})),
        ffi.Shape((1, 2)),
        ffi.convert({1}),
        ffi.convert(frozenset({1})),
        ffi.get_global_func("testing.make_counter")(1),
        ffi.get_global_func("testing.nop"),
        ffi.get_global_func("testing.new_counted")(1),
    ]


@pytest.mark.unrecorded("about a function as an object")
def test_the_same_object_is_the_same_wrapper_while_one_lives(ffi: Any) -> None:
    echo, hold, held = map(ffi.get_global_func, ("testing.echo", "testing.hold", "testing.held"))
    for wrapper in wrappers(ffi):
        assert echo(wrapper) is wrapper
        hold(wrapper)
        assert held() is wrapper
        assert echo([wrapper])[0] is wrapper
        assert echo((wrapper, wrapper))[1] is wrapper
        assert echo({"k": wrapper})["k"] is wrapper
        assert echo(slice(wrapper)).stop is wrapper
        assert ffi.get_global_func("testing.apply")(lambda x: x, wrapper) is wrapper
        kind = type(wrapper)
        del wrapper
        collect()
        assert type(held()) is kind
        assert held() is held()
        hold(None)


def test_elements_keep_their_wrapper(ffi: Any) -> None:
    outer = ffi.convert([[1], {"k": (2,)}])
    assert outer[0] is outer[0]
    assert outer[1]["k"] is outer[1]["k"]
    inner = outer[0]
    del outer
    collect()
    assert inner == [1]


def test_attributes_of_a_subclass_stay_with_the_wrapper(ffi: Any) -> None:
    class MyDict(ffi.Dict):
        pass

    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
    d = MyDict(a=1)
    d.own = "attribute"
    hold(d)
    assert held() is d
    assert held().own == "attribute"
    hold(None)


def test_weak_references(ffi: Any) -> None:
    for wrapper in wrappers(ffi):
        reference = weakref.ref(wrapper)
        assert reference() is wrapper
        finalized = []
        weakref.finalize(wrapper, finalized.append, 1)
    del wrapper
    collect()
    assert reference() is None
    assert finalized == [1]


def test_a_wrapper_resurrected_by_its_finalizer(ffi: Any) -> None:
    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
    kept = []

    class Phoenix(ffi.List):
        def __del__(self) -> None:
            kept.append(self)

    xs = Phoenix([1])
    hold(xs)
    del xs
    collect()
    assert len(kept) == 1
    assert kept[0] == [1]
    assert held() == [1]
    kept[0].append(2)
    assert held() == [1, 2]
    hold(None)
    kept.clear()
    collect()


def test_destructor_of_cpp_runs_exactly_once(ffi: Any) -> None:
    new, alive, number, echo = map(
        ffi.get_global_func,
        ("testing.new_counted", "testing.counted_alive", "testing.counted_number", "testing.echo"),
    )
    before = alive()
    x = new(7)
    assert alive() == before + 1
    assert number(x) == 7
    assert echo([x])[0] is x
    holder = ffi.convert([x])
    del x
    collect()
    assert alive() == before + 1
    assert number(holder[0]) == 7
    del holder
    collect()
    assert alive() == before


def test_object_types_of_cpp(ffi: Any) -> None:
    number = ffi.get_global_func("testing.counted_number")
    child = ffi.get_global_func("testing.new_counted_child")(8)
    assert number(child) == 8
    for bad, name in ((5, "int"), ([1], "list"), (None, "NoneType"), (object(), "object")):
        with pytest.raises(TypeError, match=f"expected .*Counted.*, got {name}"):
            number(bad)
    assert type(child) is ffi.Object


def test_a_class_of_ones_own_for_a_type_of_cpp(ffi: Any) -> None:
    class Counted(ffi.Object):
        @property
        def number(self) -> int:
            return ffi.get_global_func("testing.counted_number")(self)

    try:
        ffi.register_object("testing.Counted")(Counted)
        x = ffi.get_global_func("testing.new_counted")(5)
        assert type(x) is Counted
        assert x.number == 5
        assert ffi.get_global_func("testing.new_counted_child")(6).number == 6
    finally:
        ffi.register_object("testing.Counted")(ffi.Object)
    assert not hasattr(ffi.Object, "doubled")
    with pytest.raises(ValueError, match=r"testing\.Counted"):
        ffi.register_object("testing.Countd")(Counted)
    with pytest.raises(TypeError):
        ffi.register_object("testing.Counted")(int)


@cpython_only("counts are CPython's")
def test_counts_seen_from_cpp(ffi: Any) -> None:
    use_count = ffi.get_global_func("testing.use_count")
    xs = ffi.convert([1])
    assert use_count(xs) == 1
    holder = ffi.convert([xs, xs])
    assert use_count(xs) == 3
    del holder
    assert use_count(xs) == 1
    assert use_count([1]) == 1


@pytest.mark.unrecorded("about a function as an object")
def test_only_what_the_marshaller_made_is_movable(ffi: Any) -> None:
    is_movable = ffi.get_global_func("testing.is_movable")
    for x in ([1], (1,), {}, types.MappingProxyType({}), {1}, frozenset(), slice(1), 2**70, 1j):
        assert is_movable(x) is True
    for x in wrappers(ffi):
        assert is_movable(x) is False
    for x in (None, 5, "s", "a string that is borrowed", b"b" * 50):
        assert is_movable(x) is False


@cpython_only("counts are CPython's")
def test_a_callable_read_back_keeps_its_count(ffi: Any) -> None:
    def function() -> None:
        """Something to count."""

    echo, hold, held = map(ffi.get_global_func, ("testing.echo", "testing.hold", "testing.held"))
    before = sys.getrefcount(function)
    for _ in range(10):
        assert echo(function) is function
        assert echo([function])[0] is function
    hold(function)
    for _ in range(10):
        assert held() is function
    assert sys.getrefcount(function) == before + 1
    hold(None)
    assert sys.getrefcount(function) == before


@cpython_only("counts are CPython's")
def test_failing_calls_give_everything_back(ffi: Any) -> None:
    token = object()
    text = "a string of more than eleven characters"
    before = sys.getrefcount(token), sys.getrefcount(text)

    def fail(*args: Any) -> Any:
        raise ZeroDivisionError

    attempts = [
        ("testing.nop", (token, text, [token, text], cases.REFUSED)),
        ("testing.nop", ([token, {"k": [text, cases.REFUSED]}],)),
        ("testing.nop", ({token: 1, "k": cases.REFUSED},)),
        ("testing.echo", (token, token)),
        ("testing.apply", (fail, token, text)),
        ("testing.add_one", (token,)),
        ("testing.typed.list_int", ([1, token],)),
        ("testing.typed.dict_str_int", ({"k": token},)),
        ("testing.rethrow", (fail, [token])),
    ]
    for name, args in attempts:
        function = ffi.get_global_func(name)
        for _ in range(3):
            with pytest.raises((TypeError, ZeroDivisionError)):
                function(*args)
    del attempts, args
    collect()
    assert (sys.getrefcount(token), sys.getrefcount(text)) == before


def test_chains_of_any_length_are_destroyed(ffi: Any) -> None:
    make_chain, live_blocks = map(ffi.get_global_func, ("testing.make_chain", "testing.live_blocks"))
    collect()
    before = live_blocks()
    chain = make_chain(200_000)
    assert live_blocks() >= before + 200_000
    del chain
    collect()
    assert live_blocks() == before


def test_chains_of_any_length_are_destroyed_in_a_thread(ffi: Any) -> None:
    make_chain = ffi.get_global_func("testing.make_chain")
    former = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: make_chain(200_000))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(former)


@pytest.mark.parametrize("kind", ["List", "Dict", "mixed"])
def test_chains_made_by_python_are_destroyed(ffi: Any, kind: str) -> None:
    link: Any = None
    for i in range(100_000 if CPYTHON else 20_000):
        if kind == "List" or (kind == "mixed" and i % 2):
            link = ffi.convert([link])
        else:
            link = ffi.convert({"next": link})
    del link
    collect()


def test_a_chain_through_python_callables(ffi: Any) -> None:
    """Each Function holds a closure that holds the next."""

    def wrap(inner: Any) -> Any:
        return lambda: inner

    link = None
    for _ in range(1_000 if CPYTHON else 10):  # without counts, one link goes in each round of collection
        link = ffi.convert(wrap(link))
    del link
    collect()


def test_work_on_a_chain_that_is_too_deep(ffi: Any) -> None:
    make_chain, describe, equal, hash_ = map(
        ffi.get_global_func, ("testing.make_chain", "testing.describe", "testing.equal", "testing.hash")
    )
    one, other = make_chain(100_000), make_chain(100_000)
    with pytest.raises(RecursionError):
        describe(one)
    with pytest.raises(RecursionError):
        equal(one, other)
    with pytest.raises(STACK_ENDS):
        one == other
    with pytest.raises(STACK_ENDS):
        ffi.to_python(one)
    with pytest.raises(STACK_ENDS):
        repr(one)
    with pytest.raises(TypeError):
        hash_(one)
    assert ffi.get_global_func("testing.echo")([one])[0] is one


def test_deep_python_values_raise_recursion_error(ffi: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    for wrap in (lambda x: [x], lambda x: (x,), lambda x: {1: x}, lambda x: slice(x)):
        x = cases.nested(30_000, wrap)
        with pytest.raises(RecursionError):
            nop(x)
        while x is not None:  # an ordinary deletion recurses, in CPython's slices without bound
            x = x.stop if type(x) is slice else next(iter(x.values())) if type(x) is dict else x[0]


class Owning:
    """Something that owns a wrapper, refers to itself, and looks at the wrapper when it is finalized."""

    def __init__(self, wrapper: Any, seen: list[Any]) -> None:
        self.wrapper, self.seen, self.itself = wrapper, seen, self

    def __del__(self) -> None:
        self.seen.append([*self.wrapper, self.wrapper])


def test_a_finalizer_in_a_cycle_finds_its_wrapper_whole(ffi: Any) -> None:
    seen: list[Any] = []
    Owning(ffi.List([1, "longer than what fits in place"]), seen)
    collect()
    ((number, text, wrapper),) = seen
    wrapper.append(number)
    assert ffi.to_python(wrapper) == [1, text, 1]


@pytest.mark.parametrize("name", ["Object", "Module", "Tensor"])
def test_classes_without_arguments(ffi: Any, name: str) -> None:
    cls = getattr(ffi, name)
    for args, kwargs in (((3,), {}), ((), {"x": 1})):
        with pytest.raises(TypeError, match=rf"^{name}\(\) takes no arguments$"):
            cls(*args, **kwargs)

    class Own(cls):  # type: ignore[misc, valid-type]
        def __init__(self, x: Any) -> None:
            super().__init__()
            self.x = x

    class Other(cls):  # type: ignore[misc, valid-type]
        def __new__(cls, x: Any) -> Any:
            made = super().__new__(cls)
            made.x = x
            return made

    assert (Own(5).x, Other(6).x) == (5, 6)


def test_only_public_names_are_shown(ffi: Any) -> None:
    for x in (ffi.convert(len), ffi.List([1]), ffi.convert({}), ffi.Shape((1,))):
        assert [name for name in dir(x) if name.startswith("_") and not name.startswith("__")] == []
        assert "__len__" in dir(x) or callable(x)


def test_a_wrapper_made_by_new_alone(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    for name in (
        "Object",
        "Function",
        "Module",
        "Array",
        "Shape",
        "List",
        "Map",
        "Dict",
        "FrozenSet",
        "Set",
        "Tensor",
    ):
        cls = getattr(ffi, name)
        empty = cls.__new__(cls)
        uses = [
            len, repr, str, hash, list, iter, bool, dir, echo, ffi.convert, ffi.to_python,
            lambda x: x[0], lambda x: x[0:1], lambda x: x["k"], lambda x: x(), lambda x: x(1, k=2), lambda x: 1 in x,
            lambda x: x == x, lambda x: x == [], lambda x: [x], lambda x: echo([x]), lambda x: x + x, lambda x: x * 2,
            lambda x: x.append(1), lambda x: x.pop(), lambda x: x.items(), lambda x: list(x.items()), lambda x: x.clear(),
            lambda x: x.get_function("f"), lambda x: x.f, lambda x: x.__name__, lambda x: x.__signature__, lambda x: x.shape,
            lambda x: x.same_as(x), lambda x: x.__doc__, lambda x: x.__file__, lambda x: x.update(a=1), lambda x: x | x,
            lambda x: x.add(1), lambda x: x.update([1]), lambda x: x & {1}, lambda x: x <= {1}, lambda x: x.freeze(),
            lambda x: x.thaw(), lambda x: x.sort(), lambda x: x.copy(), lambda x: reversed(x), lambda x: x._info(), lambda x: x._entry(0),
        ]  # fmt: skip
        for use in uses:
            try:
                use(empty)
            except (TypeError, ValueError, AttributeError, KeyError, IndexError, RuntimeError):
                pass
        del empty
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        echo(ffi.List.__new__(ffi.List))
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        len(ffi.List.__new__(ffi.List))


# ---- the end of the interpreter -----------------------------------------------------------------

_AT_EXIT = {
    "live objects": """
        xs = anyffi.convert([1, {"k": (2,)}])
        f = anyffi.convert(lambda: xs)
    """,
    "held by cpp": """
        class Token:
            def __del__(self):
                pass
        t.hold([Token(), lambda: 5, ValueError("x"), object()])
    """,
    "registered": """
        @anyffi.register_global_func("exit.f")
        def f(x):
            return x
        g = anyffi.get_global_func("exit.f")
    """,
    "a cycle through cpp": """
        class Owner:
            pass
        owner = Owner()
        owner.callback = anyffi.convert(lambda: owner)
        t.hold(owner)
    """,
    "in builtins": """
        import builtins, sys
        builtins.kept = anyffi.convert([object()])
        sys.kept = anyffi.convert(lambda: None)
        class Late:
            def __init__(self):
                self.echo = t.echo
            def __del__(self):
                try:
                    self.echo([1])
                except Exception:
                    pass
        builtins.late = Late()
    """,
    "calls at exit": """
        import atexit
        atexit.register(lambda: t.apply(lambda: t.echo([1, "two"])))
    """,
    "an error kept": """
        try:
            t.raise_error("ValueError", "x")
        except ValueError as error:
            kept = error
        t.hold(kept)
    """,
    "a daemon thread": """
        import threading
        begun = threading.Event()
        def run():
            while True:
                t.apply(lambda x: begun.set(), [1])
        threading.Thread(target=run, daemon=True).start()
        begun.wait()
    """,
    "a daemon thread without the lock": """
        import threading
        begun = threading.Event()
        def run():
            released = anyffi.get_global_func("testing.authoring.released")
            while True:
                released(lambda *args: begun.set(), [])
        threading.Thread(target=run, daemon=True).start()
        begun.wait()
    """,
    "weak references": """
        import weakref
        xs = anyffi.convert([1])
        weakref.finalize(xs, t.nop, 1)
    """,
}


@pytest.mark.parametrize("name", _AT_EXIT)
def test_the_end_of_the_interpreter(ffi: Any, name: str) -> None:
    import textwrap

    program = "import anyffi, anyffi.testing as t\n" + textwrap.dedent(_AT_EXIT[name]) + "\nprint('end')\n"
    # ctypes itself may tell of the callback that the interpreter's end found under way; and the address sanitizer
    # of the stack of such a thread, which is unwound.
    noisy = name.startswith("a daemon thread") and (ffi.ffi_mode == "ctypes" or SANITIZED)
    assert run_program(program, ffi.ffi_mode, noisy=noisy) == "end\n"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_a_forked_child_works(ffi: Any) -> None:
    program = """
        import os, anyffi, anyffi.testing as t
        t.hold([1, lambda: 2])
        pid = os.fork()
        assert t.apply(lambda x: x + 1, 1) == 2
        assert t.held()[1]() == 2
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
    """
    run_program(program, ffi.ffi_mode)
