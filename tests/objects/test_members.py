"""Members of C++ classes take and return the same Python types as functions do."""

from __future__ import annotations

import copy
import ctypes
import pickle
import sys
import weakref
from typing import Any

import pytest
from member_sources import BOXES
from support import Build, collect, compiles_classes

pytestmark = compiles_classes

np = pytest.importorskip("numpy")


@pytest.fixture
def box(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("boxes.cc", BOXES))


def exact(value: Any) -> Any:
    """Return a value with the types of everything inside."""
    if type(value) is dict:
        return dict, [(exact(key), exact(item)) for key, item in value.items()]
    if type(value) in (list, tuple, set):
        return type(value), [exact(item) for item in value]
    return type(value), value


def test_a_field_without_memory(box: Any, ffi: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """ctypes raises an ArgumentError if it has no memory for an argument."""
    if ffi.ffi_mode != "ctypes":
        pytest.skip("cython mode calls nothing by ctypes")
    from anyffi._ctypes import native

    def fail(*args: Any) -> Any:
        raise ctypes.ArgumentError("argument 1: MemoryError: ")

    one = box.Box()
    monkeypatch.setattr(native, "_make_plain", lambda *args: native._UNREAD)
    monkeypatch.setattr("anyffi._ctypes.plain.string_at", fail)
    with pytest.raises(MemoryError):
        print(one.rows)


class Part:
    pass


@pytest.mark.parametrize("derived", [False, True])
def test_refused_values_of_properties(box: Any, derived: bool) -> None:
    """The messages are those about a field of the same type."""

    class Derived(box.Box):  # type: ignore[misc]
        pass

    one = (Derived if derived else box.Box)()
    for value in (
        "text",
        5,
        [[1], "x"],
        [[1], [2, "x"]],
        [[1], [2, Part()]],
        [[1], {"a": 1}],
        Part(),
        [[1], Part()],
        [[2**70]],
        [[1.5]],
        np.zeros(3),
        [[np.zeros(())]],
        np.array(["a"]),
        [[1], [np.array(["a"])]],
        None,
    ):
        with pytest.raises((TypeError, OverflowError)) as by_field:
            one.rows = value
        with pytest.raises((TypeError, OverflowError)) as by_property:
            one.all = value
        with pytest.raises((TypeError, OverflowError)) as by_function:
            type(one).all.fset(one, value)
        wanted = str(by_field.value).replace("box.Box.rows", "box.Box.all")
        assert wanted.startswith("box.Box.all")
        for found in (by_property.value, by_function.value):
            assert (type(found), str(found)) == (type(by_field.value), wanted)
    # Errors about the object, and about how many arguments there are, are those of any method.
    with pytest.raises(
        TypeError, match="descriptor 'all' for 'box.Box' objects doesn't apply to a 'int' object"
    ):
        type(one).all.fset(3, [])
    with pytest.raises(TypeError, match=r"all\(\) missing 1 required positional argument"):
        type(one).all.fset(one)


def test_results_are_containers_of_python(box: Any, ffi: Any) -> None:
    one = box.Box()
    rows = [[1], [2, 3]]
    for given, wanted in (
        (one.rows, rows),
        (one.get_rows(), rows),
        (one.show_rows(), rows),
        (one.all, rows),
        (one[1], [2, 3]),
        (one + one, rows + rows),
        (list(one), rows),
        (one(), {"a": [1]}),
        (one.named, {"a": [1]}),
        (one.keys, {4}),
        (one.pair, (5, "five")),
        (one.maybe, [6]),
        (box.Box.pairs(), [(1, "x")]),
        (one.native_shared(), [7]),
        (box.Box.rows.__get__(one), rows),
        (one.__getstate__(), rows),
    ):
        assert exact(given) == exact(wanted)
    assert type(one.shared) is type(one.same_rows()) is ffi.List
    one.shared.append(8)
    assert one.shared == [7, 8]
    assert repr(one).startswith(
        "box.Box(rows=[[1], [2, 3]], named={'a': [1]}, keys={4}, pair=(5, 'five'), maybe=[6]"
    )
    # Each read returns a copy.
    one.rows.append(5)
    assert one.rows == rows
    seen: list[Any] = []
    one.each(seen.append)
    assert exact(seen) == exact(rows)


def test_fields_of_other_objects(box: Any, ffi: Any) -> None:
    rows = box.Box.__dict__["rows"]
    for other in (5, "text", box.Box, object()):
        words = rf"descriptor 'rows' for '[\w.]+' objects doesn't apply to a '{type(other).__name__}' object"
        for access in (
            lambda: rows.__get__(other),
            lambda: rows.__set__(other, []),
            lambda: rows.fget(other),
        ):
            with pytest.raises(TypeError, match=words):
                access()
    with pytest.raises(AttributeError, match="'List' object has no attribute 'rows'"):
        rows.__get__(ffi.List())


def test_containers_can_be_assigned(box: Any) -> None:
    one = box.Box()
    one.rows = ([1], (2,))
    assert one.rows == [[1], [2]]
    one.named = {"b": [2]}
    one.keys = {1: 2}.keys()
    one.pair = [1, "x"]
    one.maybe = None
    one.all = [[9]]
    assert (one.named, one.keys, one.pair, one.maybe, one.rows) == ({"b": [2]}, {1}, (1, "x"), None, [[9]])
    for name, value, message in (
        ("rows", [[1], ["x"]], r"^box.Box.rows, at \[1\]\[0\]: expected int, got str$"),
        ("named", {"k": 1}, r"""^box.Box.named, at \["k"\]: expected """),
        ("keys", 5, "^box.Box.keys: expected AbstractSet.*, got int$"),
        ("pair", (1,), "^box.Box.pair: "),
        ("maybe", b"x", "^box.Box.maybe: expected .*, got bytes$"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            setattr(one, name, value)
    assert (one.named, one.rows) == ({"b": [2]}, [[9]])


def test_typed_tensors(box: Any) -> None:
    one = box.Box()
    rows = np.arange(6, dtype="f4").reshape(2, 3)
    assert one.sum(rows) == one.sum(rows=rows) == box.Box.sum(one, rows) == 15
    assert one.sum_any([[2, 3]], by=2) == one.sum_any(rows[1:].astype("i4")) + 1 == 4
    assert box.Box.first([[5.0]]) == 5
    made = box.Box([[1, 2], [3, 4]])
    assert made.rows == box.Box(rows=np.array([[1, 2], [3, 4]])).rows == [[1, 2], [3, 4]]
    with pytest.raises(
        TypeError, match=r"sum\(self: box.Box, rows: float32.*argument 1 \(rows\): expected .*float64"
    ):
        one.sum(rows.astype("f8"))
    with pytest.raises(TypeError, match=r"argument 1 \(rows\): expected .*, got list; pass numpy.asarray"):
        one.sum([[1.0]])
    with pytest.raises(TypeError, match=r"Box\(\): no overload takes \(str\)"):
        box.Box("x")


def test_iterables(box: Any) -> None:
    one = box.Box()
    assert one.extend([1]) == 3
    assert one.extend(x for x in (1, 2)) == 5
    assert one.extend({5: 6}) == 6
    assert one.extend(items=range(1)) == 7
    with pytest.raises(TypeError, match=r"argument 1 \(items\): expected Iterable\[int\], got int"):
        one.extend(5)

    def fail() -> Any:
        yield 1
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        one.extend(fail())
    assert len(one.rows) == 7


def test_state_is_of_python(box: Any) -> None:
    one = box.Box([[5]])
    for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (type(made).__qualname__, made.rows) == ("Box", [[5]])


class Witness:
    """Shows whether it is alive."""


def assert_is_collected(make: Any) -> None:
    witness = Witness()
    ref = weakref.ref(witness)
    kept = make(witness)
    del witness
    collect()
    assert ref() is not None, "it is in use"
    del kept
    collect()
    assert ref() is None


cycles = pytest.mark.skipif(
    sys.implementation.name == "pypy", reason="PyPy does not collect cycles through C++"
)


@cycles
@pytest.mark.parametrize("name", ["Button", "Wide"])
def test_cycles_through_fields(box: Any, name: str) -> None:
    def through_function(witness: Any) -> Any:
        button = getattr(box, name)()
        seen = []

        def on_click(x: Any) -> None:
            seen.append((x, button, witness))

        button.on_click = on_click
        button.click()
        assert seen[0][0] is button
        return button

    def through_tags(witness: Any) -> Any:
        button = getattr(box, name)()
        holder = lambda: (button, witness)  # noqa: E731
        button.tags = [1, holder]
        return button

    def through_an_inner_object(witness: Any) -> Any:
        button = getattr(box, name)()
        inner = button.box
        button.on_click = lambda: (button, witness)
        return inner

    assert_is_collected(through_function)
    assert_is_collected(through_tags)
    assert_is_collected(through_an_inner_object)


@cycles
def test_cycles_through_other_members(box: Any) -> None:
    def through_visitor(witness: Any) -> Any:
        found: list[Any] = [witness]
        panel = box.Panel(lambda: found)
        found.append(panel)
        return panel

    def through_a_derived_class(witness: Any) -> Any:
        wide = box.Wide()
        wide.other = lambda: (wide, witness)
        return wide

    def through_a_subclass(witness: Any) -> Any:
        class Mine(box.Wide):  # type: ignore[misc, name-defined]
            pass

        mine = Mine()
        mine.witness = witness
        mine.on_click = lambda: mine
        return mine

    assert_is_collected(through_visitor)
    assert_is_collected(through_a_derived_class)
    assert_is_collected(through_a_subclass)


def test_a_function_can_be_emptied(box: Any) -> None:
    class Click:
        def __call__(self, x: Any) -> None:
            pass

    button = box.Button()
    assert button.on_click is None
    click = Click()
    watched = weakref.ref(click)
    button.on_click = click
    assert button.on_click is click
    button.on_click = None
    del click
    collect()
    assert button.on_click is watched() is None
    with pytest.raises(TypeError, match=r"on_click: expected Callable\[\[Any\], None\] \| None, got int"):
        button.on_click = 1
    assert button.on_click is None


def hold_witness(inner: Any) -> Witness:
    found: list[Any] = [Witness(), inner]
    inner.set(lambda: found)
    return found[0]  # type: ignore[no-any-return]


def test_references_inside_of_an_owner_stay(box: Any) -> None:
    outer = box.Outer()
    inner = outer.inner
    ref = weakref.ref(hold_witness(inner))
    # The inner object does not own what its content refers to.
    del inner
    collect()
    assert outer.inner.get()()[0] is ref()
    assert outer.inner.held is outer.inner.get()
