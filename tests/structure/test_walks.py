"""Visiting, mapping, copying and replacing."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import pytest
from calculus_sources import IR
from support import CPYTHON, Build, needs_compilers


def plain(ffi: Any, value: Any) -> Any:
    return ffi.to_python(value)


def test_visits(ffi: Any) -> None:
    shared = ffi.List([5])
    value = ffi.List([1, (2, {"a": 3}), {4}, shared, shared, slice(6, None)])
    seen: list[Any] = []
    ffi.visit(value, lambda x: seen.append(plain(ffi, x)))
    assert seen[0] == plain(ffi, value)
    assert seen[1:] == [1, (2, {"a": 3}), 2, {"a": 3}, "a", 3, {4}, 4, [5], 5, slice(6, None), 6, None, None]
    post: list[Any] = []
    ffi.visit(value, lambda x: post.append(plain(ffi, x)), order="post")
    assert post[-1] == seen[0]
    assert len(post) == len(seen)
    assert post[0] == 1
    short: list[Any] = []
    ffi.visit(value, lambda x: (short.append(plain(ffi, x)), not isinstance(x, ffi.Array))[1])
    assert 2 not in short
    assert 4 in short
    with pytest.raises(ValueError, match="order"):
        ffi.visit(value, print, order="in")
    with pytest.raises(TypeError, match="callable"):
        ffi.visit(value, 1)
    with pytest.raises(TypeError, match="callable"):
        ffi.map(value, {int: 1})
    with pytest.raises(TypeError, match=r"^a function for .*: isinstance\(\) arg"):
        ffi.map(value, {"int": print})


def test_a_function_for_all_other_types(ffi: Any) -> None:
    for rest in (object, Any, (Any, str)):
        seen: list[Any] = []
        ffi.visit(ffi.List([1, "a", None]), {int: lambda x: seen.append(-x), rest: seen.append})
        assert seen[1:] == [-1, "a", None]
        assert ffi.map(ffi.List([1, "a"]), {str: lambda x: x + "b", rest: lambda x: x}) == ffi.List([1, "ab"])


def test_a_walk_ends_where_a_function_says_so(ffi: Any) -> None:
    from anyffi.structure import VisitInterrupt

    value = ffi.List([1, (2, {"a": 3}), 4])
    for order in ("pre", "post"):
        seen: list[Any] = []

        def find(x: Any, seen: list[Any] = seen) -> Any:
            seen.append(x)
            return VisitInterrupt([x]) if x == 3 else None

        found = ffi.visit(value, find, order=order)
        assert type(found) is VisitInterrupt
        assert found.value == [3]
        assert repr(found) == "VisitInterrupt([3])"
        assert 4 not in seen
    assert ffi.visit(value, lambda x: None) is None
    # It only ends the walk whose function returns it.
    outer = ffi.visit(value, lambda x: ffi.visit(x, lambda y: VisitInterrupt(y)) and None)
    assert outer is None


def test_functions_by_type(ffi: Any) -> None:
    value = ffi.List([1, 2.5, "a", (3, True)])
    seen: list[Any] = []
    rows = {
        bool: lambda x: seen.append("bool"),
        (int, float): seen.append,
        ffi.Array: lambda x: seen.append(len(x)),
    }
    ffi.visit(value, rows)
    assert seen == [1, 2.5, 2, 3, "bool"]
    seen.clear()
    ffi.visit(value, {ffi.Array: lambda x: False, int: seen.append})
    assert seen == [1]
    made = ffi.map(value, {bool: lambda x: x, int: lambda x: x + 1, str: str.upper})
    assert plain(ffi, made) == [2, 2.5, "A", (4, True)]
    assert ffi.map(value, {bytes: len}) is value
    assert ffi.map(value, {}) is value


def test_structural_keys(ffi: Any) -> None:
    from anyffi.structure import StructuralKey

    first, second = StructuralKey({"a": [1], "b": {2}}), StructuralKey({"b": {2}, "a": [1]})
    other = StructuralKey({"a": [1.0], "b": {2}})
    assert first == second
    assert hash(first) == hash(second)
    assert first != other
    assert first != 1
    assert first.__hash__() == ffi.structural_hash(first.key)
    assert {first: 1, other: 2}[second] == 1
    value = ffi.Dict({first: 1})
    value[second] = 5
    assert dict(value.items()) == {first: 5}
    assert pickle.loads(pickle.dumps(first)) == second
    assert repr(first) == "StructuralKey(anyffi.Dict({'a': anyffi.List([1]), 'b': anyffi.Set({2})}))"
    shared: Any = ffi.List([1])
    for _ in range(60):
        shared = ffi.List([shared, shared])
    assert StructuralKey(shared) == StructuralKey(ffi.copy(shared))


def test_exceptions_of_functions_arrive(ffi: Any) -> None:
    def fail(x: Any) -> Any:
        if x == 3:
            raise ZeroDivisionError("three")
        return x

    value = ffi.List([1, [2, [3]]])
    for order in ("pre", "post"):
        with pytest.raises(ZeroDivisionError):
            ffi.visit(value, fail, order=order)
    with pytest.raises(ZeroDivisionError):
        ffi.map(value, fail)
    assert plain(ffi, value) == [1, [2, [3]]]


def test_maps(ffi: Any) -> None:
    def more(x: Any) -> Any:
        return x + 1 if isinstance(x, int) else x

    value = ffi.List([1, ("a", [2]), {"k": 3}, {4}, frozenset([5]), slice(6, 7), "s"])
    assert plain(ffi, ffi.map(value, more)) == [
        2,
        ("a", [3]),
        {"k": 4},
        {5},
        frozenset([6]),
        slice(7, 8),
        "s",
    ]
    assert plain(ffi, value)[0] == 1
    assert ffi.map(3, more) == 4
    assert ffi.map("a string that is not stored inline", lambda x: x) == "a string that is not stored inline"
    with pytest.raises(ValueError, match="equal"):
        ffi.map({1: 2, 3: 4}, lambda x: 0 if isinstance(x, int) else x)
    assert plain(ffi, ffi.map(ffi.Shape([1, 2]), lambda x: "x" if x == 1 else x)) == ("x", 2)


def test_what_does_not_change_is_not_made_again(ffi: Any) -> None:
    kept, shared = ffi.List([1]), ffi.List([2])
    value = ffi.List([kept, shared, (shared,)])
    made = ffi.map(value, lambda x: 5 if x == 2 and isinstance(x, int) else x)
    assert made[0] is kept
    assert made[1].same_as(made[2][0])
    assert not made[1].same_as(shared)
    assert ffi.map(value, lambda x: x) is value


def test_a_value_that_contains_itself_cannot_be_mapped(ffi: Any) -> None:
    value = ffi.List()
    value.append(value)
    with pytest.raises(ValueError, match="a value that contains itself cannot be mapped"):
        ffi.map(value, lambda x: x)
    count = 0

    def visit(x: Any) -> None:
        nonlocal count
        count += 1

    ffi.visit(value, visit)
    assert count == 1
    value.clear()


def test_copies(ffi: Any) -> None:
    array = numpy.arange(3)
    inner = ffi.List([array])
    immutable = ffi.Array((1, "a"))
    value = ffi.List([inner, {"k": inner}, (inner,), immutable, {7}, len, None])
    made = ffi.copy(value)
    assert ffi.structural_equal(made, value)
    assert made[0].same_as(made[1]["k"])
    assert made[0].same_as(made[2][0])
    assert not made[0].same_as(inner)
    assert made[3] is immutable
    numpy.asarray(made[0][0])[0] = 9
    assert array[0] == 0
    value = ffi.List([1])
    value.append(ffi.Dict({"me": value, "set": {1}}))
    made = ffi.copy(value)
    assert made[1]["me"].same_as(made)
    assert ffi.structural_equal(made, value)
    made.clear()
    value.clear()


def test_a_failing_copy_of_a_cycle_leaves_nothing(ffi: Any) -> None:
    class Opaque:
        pass

    value = ffi.List([1])
    value.append(value)
    holder = ffi.Dict({"a": value})
    value.append(ffi.Array((holder, Opaque())))
    made = ffi.copy(value)
    assert ffi.structural_equal(made[0], 1)
    for each in (made, value):
        each.clear()
    holder.clear()


def test_replacing(ffi: Any) -> None:
    value = ffi.List([{"w": [1, 2], (1, 2): 3}, {4, 5}, slice(6, 7), (8,)])
    other = [{"w": [1, 9], (1, 2): 0}, {4, 6}, slice(6, 0), (1,)]
    for edit in ffi.diff(value, other):
        if edit.op == "replace":
            value = ffi.replace(value, edit.path, edit.new)
    assert plain(ffi, value) == [{"w": [1, 9], (1, 2): 0}, {4, 5}, slice(6, 0), (1,)]
    import anyffi.structure

    path = anyffi.structure.AccessPath
    assert plain(ffi, ffi.replace(value, path([("index", 1), ("element", 5)]), 7))[1] == {4, 7}
    assert ffi.replace(value, path(), 1) == 1
    for bad, error in (
        ([("index", 9)], IndexError),
        ([("index", 0), ("key", "x")], KeyError),
        ([("key", 0)], KeyError),
        ([("index", 1), ("element", 9)], KeyError),
        ([("index", 2), ("field", "size")], AttributeError),
    ):
        with pytest.raises(error):
            ffi.replace(value, path(bad), 1)
    with pytest.raises(TypeError, match="path: expected AccessPath, got str"):
        ffi.replace(value, "[0]", 1)


def test_any_depth_and_sharing(ffi: Any) -> None:
    value = ffi.List([1])
    for _ in range(20_000):
        value = ffi.List([value])
    assert ffi.structural_equal(ffi.copy(value), value)
    assert ffi.structural_equal(ffi.map(value, lambda x: x), value)
    shared: Any = ffi.List([1])
    for _ in range(60):
        shared = ffi.List([shared, shared])
    count = 0

    def visit(x: Any) -> None:
        nonlocal count
        count += 1

    ffi.visit(shared, visit)
    assert count == 62
    assert ffi.structural_equal(ffi.copy(shared), shared)
    made = ffi.map(shared, lambda x: 2 if x == 1 and isinstance(x, int) else x)
    for _ in range(60):
        assert made[0].same_as(made[1])
        made = made[0]
    assert made[0] == 2


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.keeps_live("a module stays loaded, and its classes with it")
def test_objects(ffi: Any, build: Build) -> None:
    calculus = ffi.load_module(build("calculus.cc", IR))
    x, y = calculus.Var("x"), calculus.Var("y")
    saved = calculus.Saved(1, 2)
    term = calculus.Lambda([x], calculus.Pair(x, calculus.Pair(1, saved)))
    kept = term.body.b
    made = ffi.map(term, lambda each: y if isinstance(each, calculus.Var) else each)
    assert type(made) is calculus.Lambda
    assert made.params[0].same_as(y)
    assert made.body.a.same_as(y)
    assert made.body.b.same_as(kept)
    assert term.params[0].same_as(x)
    other = ffi.map(term, lambda each: 7 if each == 2 else each)
    assert other.body.b.b.__getstate__() == (1, 7)
    copied = ffi.copy(term)
    assert ffi.structural_equal(copied, term)
    assert copied.params[0].same_as(copied.body.a)
    assert not copied.params[0].same_as(x)
    names: list[str] = []
    ffi.visit(term, lambda each: names.append(type(each).__name__))
    assert names == ["Lambda", "List", "Var", "str", "Pair", "Pair", "int", "Saved", "Array", "int", "int"]
    with pytest.raises(TypeError, match="Plain"):
        ffi.copy([calculus.Plain()])
    path = ffi.first_mismatch(
        calculus.Pair(1, [calculus.Pair(2, 3)]), calculus.Pair(1, [calculus.Pair(2, 4)])
    ).path
    assert str(path) == ".b[0].b"
    assert ffi.replace(calculus.Pair(1, [calculus.Pair(2, 3)]), path, 9).b[0].b == 9
    with pytest.raises(TypeError, match=r"int64|str"):
        ffi.map(calculus.Var("x"), lambda each: 5 if isinstance(each, str) else each)


@pytest.mark.keeps_live("types are never freed")
@pytest.mark.unrecorded("keys of types differ between modes")
def test_copies_of_cycles_through_what_never_changes(ffi: Any) -> None:
    @ffi.dataclass(f"walks.{ffi.ffi_mode}.Node", eq=False)
    class Node:
        next: Any = None

    node = Node()
    root = node.next = ffi.Array([node, 5])
    for made in (ffi.copy(root), ffi.from_json(ffi.to_json(root))):
        assert made[0].next.same_as(made)
        assert not made.same_as(root)
        assert ffi.structural_equal(made, root)
        made[0].next = None
    node, xs = Node(), ffi.List()
    root = ffi.Map({"node": node, "deep": ffi.Array([ffi.FrozenSet([1]), ffi.Map({1: xs})])})
    node.next = ffi.Array([ffi.Array([root, xs]), root])
    xs.append(root)
    xs.append(node)
    for made in (ffi.copy(root), ffi.from_json(ffi.to_json(root))):
        assert ffi.structural_equal(made, root)
        other, ys = made["node"], made["deep"][1][1]
        assert other.next[1].same_as(made)
        assert other.next[0][0].same_as(made)
        assert other.next[0][1].same_as(ys)
        assert ys[0].same_as(made)
        assert ys[1].same_as(other)
        ys.clear()
        other.next = None
    xs.clear()
    node.next = None


UNCHANGED = [
    *(
        "short",
        "a text on the heap",
        "文字" * 20,
        b"bytes on the heap of the runtime",
        2**64,
        -(10**40),
        1j,
        1.5,
    ),
    *(
        None,
        len,
        ValueError("x"),
        slice(1, 2),
        (1, "a text on the heap", (2**64,)),
        {"a text on the heap": 1},
    ),
]


@pytest.mark.parametrize("value", UNCHANGED, ids=repr)
def test_mapping_to_the_same_changes_nothing(ffi: Any, value: Any) -> None:
    if not CPYTHON and (callable(value) or isinstance(value, BaseException)):
        pytest.skip("on PyPy each conversion of an object makes a new handle")
    whole = ffi.List([value, 0])
    assert ffi.map(whole, lambda x: x) is whole
    assert ffi.map(whole, {bytearray: print}) is whole


def test_mapping_to_others_of_the_same_class(ffi: Any) -> None:
    value = ffi.List(["a text on the heap", 2**64, 1j, slice(1, 2), 0.0, len])
    change = {
        str: str.upper,
        int: lambda x: x + 1,
        complex: lambda x: -0j,
        slice: lambda x: slice(1, 3),
        float: lambda x: -0.0,
    }
    mapped = ffi.to_python(ffi.map(value, change))
    assert mapped == ["A TEXT ON THE HEAP", 2**64 + 1, 0j, slice(1, 3), 0.0, len]
    assert repr(mapped[4]) == "-0.0"


SETTLED = """
#include <anyffi/anyffi.h>
#include <anyffi/class.h>
#include <anyffi/container/sequence.h>

using anyffi::arg;

struct Heat {
  double degrees;
};
ANYFFI_CLASS(Heat, "walks.Heat")
    .init([](double degrees) { return Heat{(degrees - 32) * 5 / 9}; }, arg("degrees"))
    .field("degrees", &Heat::degrees);

struct Hidden {
  double degrees;
  anyffi::List<int64_t> notes;
  anyffi::AnyValue next;
  int64_t hidden = 0;
};
ANYFFI_CLASS(Hidden, "walks.Hidden")
    .copyable()
    .init([](double degrees) { return Hidden{degrees / 2, {}, {}}; }, arg("degrees"))
    .field("degrees", &Hidden::degrees)
    .field("notes", &Hidden::notes)
    .field("next", &Hidden::next)
    .method("hide", [](Hidden& self, int64_t x) { self.hidden = x; }, arg("x"))
    .method("find", [](Hidden& self) { return self.hidden; });

struct Next {
  const int64_t number;
  explicit Next(int64_t number) : number(number + 1) {}
};
ANYFFI_CLASS(Next, "walks.Next").init<int64_t>(arg("number")).field("number", &Next::number);
"""


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.keeps_live("a module stays loaded, and its classes with it")
def test_what_a_constructor_changes_is_set(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("settled.cc", SETTLED))
    heat = module.Heat(212)
    assert heat.degrees == 100
    for copied in (ffi.copy(heat), ffi.from_json(ffi.to_json(heat))):
        assert copied is not heat
        assert copied.degrees == 100
    assert ffi.map(heat, {float: lambda x: x + 1}).degrees == 101
    hidden = module.Hidden(8)
    hidden.notes = [1, 2]
    hidden.hide(5)
    copied = ffi.copy(hidden)
    assert (copied.degrees, copied.find(), ffi.to_python(copied.notes)) == (4, 5, [1, 2])
    assert copied.notes is not hidden.notes
    # An object with several references keeps its hidden value, too, and may occur again in immutable containers.
    first, second = ffi.copy([hidden, hidden])
    assert first.same_as(second)
    assert first.find() == 5
    hidden.next = ffi.Array([hidden, hidden.notes, ffi.Map({"k": hidden})])
    for root in (hidden, hidden.next, [hidden]):
        copied = ffi.copy(root)
        copied = copied if root is hidden else copied[0]
        assert not copied.same_as(hidden)
        assert copied.find() == 5
        assert copied.next[0].same_as(copied)
        assert copied.next[2]["k"].same_as(copied)
        assert copied.next[1].same_as(copied.notes)
        assert not copied.notes.same_as(hidden.notes)
        copied.next = None
    hidden.next = None
    with pytest.raises(ValueError, match="makes another value of 'number', which is read-only"):
        ffi.copy(module.Next(1))


COPIES = r"""
#include <anyffi/anyffi.h>

using anyffi::AnyValue;

namespace copies {
struct Odd {
  AnyValue made;
};
struct Bare {};
}  // namespace copies

ANYFFI_CLASS(copies::Odd, "copies.Odd")
    .init<>()
    .field("made", &copies::Odd::made)
    .method("__copy__", [](const copies::Odd& self) { return self.made; });
ANYFFI_CLASS(copies::Bare, "copies.Bare").init<>().method("__copy__", [](const copies::Bare&) { return 5; });
"""


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.keeps_live("a module stays loaded, and its classes with it")
def test_a_copy_of_another_type_is_refused(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("copies.cc", COPIES))
    odd = module.Odd()
    for made in (None, 5, ffi.List([1]), module.Bare()):
        odd.made = made
        for value in (odd, [odd, odd]):
            with pytest.raises(TypeError, match=r"'copies\.Odd' cannot be copied: the __copy__ of the class"):
                ffi.copy(value)
    with pytest.raises(TypeError, match=r"'copies\.Bare' cannot be copied"):
        ffi.copy(module.Bare())
    assert copy.copy(module.Bare()) == 5
    own = type("Own", (module.Odd,), {})()
    for made in (None, module.Bare()):
        own.made = odd.made = made
        for copies in (copy.copy, copy.deepcopy):
            with pytest.raises(
                TypeError, match=f"cannot copy 'Own' object.*returned '{type(made).__name__}'"
            ):
                copies(own)
        with pytest.raises(TypeError, match=f"cannot copy 'Odd' object.*returned '{type(made).__name__}'"):
            copy.deepcopy(odd)
