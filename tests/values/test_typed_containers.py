"""Typed container parameters: what they accept, the path to a refused element, and soundness of views."""

from __future__ import annotations

import ctypes
import types
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed import message, typed


def test_conversion_to_typed_sequences(ffi: Any) -> None:
    """A new object, the reference, a frozen copy, or TypeError: one row per given type."""
    array, list_ = typed(ffi, "array"), typed(ffi, "list")
    for given_, as_array, as_list in (
        ((1, "x"), "new", None),
        ([1, "x"], "new", "new"),
        (ffi.Array((1, "x")), "itself", None),
        (ffi.List([1, "x"]), "copy", "itself"),
    ):
        result = array(given_)
        assert type(result) is ffi.Array
        assert result == (1, "x")
        assert (result is given_) == (as_array == "itself")
        if as_list is None:
            with pytest.raises(TypeError, match="expected List"):
                list_(given_)
        else:
            result = list_(given_)
            assert type(result) is ffi.List
            assert result == [1, "x"]
            assert (result is given_) == (as_list == "itself")


def test_conversion_to_typed_mappings(ffi: Any) -> None:
    map_, dict_ = typed(ffi, "map"), typed(ffi, "dict")
    for given_, as_map, as_dict in (
        (types.MappingProxyType({"k": 1}), "new", None),
        ({"k": 1}, "new", "new"),
        (ffi.Map({"k": 1}), "itself", None),
        (ffi.Dict({"k": 1}), "copy", "itself"),
    ):
        result = map_(given_)
        assert type(result) is ffi.Map
        assert result == {"k": 1}
        assert (result is given_) == (as_map == "itself")
        if as_dict is None:
            with pytest.raises(TypeError, match="expected Dict"):
                dict_(given_)
        else:
            result = dict_(given_)
            assert type(result) is ffi.Dict
            assert (result is given_) == (as_dict == "itself")


def test_a_snapshot_does_not_change(ffi: Any) -> None:
    xs, d = ffi.List([1]), ffi.Dict(k=1)
    frozen, frozen_map = typed(ffi, "array")(xs), typed(ffi, "map")(d)
    xs.append(2)
    d["l"] = 2
    assert frozen == (1,)
    assert frozen_map == {"k": 1}
    assert typed(ffi, "array")(xs) == (1, 2)


def test_a_list_made_for_the_call_is_frozen_in_place(ffi: Any) -> None:
    """Freezing in place allocates no further block."""
    total, array, echo = (
        ffi.get_global_func("testing.total_blocks"),
        typed(ffi, "array"),
        ffi.get_global_func("testing.echo"),
    )
    items = list(range(50))

    def cost(function: Any) -> int:
        before = total()
        function(items)
        return int(total() - before)

    assert cost(array) == cost(echo)
    assert items == list(range(50))


@pytest.mark.parametrize(
    ("name", "signature", "bad", "path", "wrong"),
    [
        ("array_int", "(x: Array[int]) -> Array[int]", [1, "x"], "[1]", "expected int, got str"),
        ("array_int", "(x: Array[int]) -> Array[int]", (1, 2, None), "[2]", "expected int, got NoneType"),
        ("list_int", "(x: List[int]) -> List[int]", [1.5], "[0]", "expected int, got float"),
        ("list_float", "(x: List[float]) -> List[float]", [1.0, "x"], "[1]", "expected float, got str"),
        ("map_str_int", "(x: Map[str, int]) -> Map[str, int]", {"a": 1, "b": "x"}, '["b"]', "expected int, got str"),
        ("dict_str_int", "(x: Dict[str, int]) -> Dict[str, int]", {"a": []}, '["a"]', "expected int, got list"),
        ("dict_str_int", "(x: Dict[str, int]) -> Dict[str, int]", {5: 1}, "[key 5]", "expected str, got int"),
        ("array_array_str", "(x: Array[Array[str]]) -> Array[Array[str]]", [["a"], ["b", 5]], "[1][1]", "expected str, got int"),
        ("array_array_str", "(x: Array[Array[str]]) -> Array[Array[str]]", [["a"], "b"], "[1]", "expected Array[str], got str"),
        ("array_int", "(x: Array[int]) -> Array[int]", "text", "", "expected Array[int], got str"),
        ("list_int", "(x: List[int]) -> List[int]", (1,), "", "expected List[int], got tuple; pass list() of it"),
        ("map_str_int", "(x: Map[str, int]) -> Map[str, int]", [1], "", "expected Map[str, int], got list"),
    ],
)  # fmt: skip
def test_the_path_to_the_element(
    ffi: Any, name: str, signature: str, bad: Any, path: str, wrong: str
) -> None:
    with pytest.raises(TypeError) as caught:
        typed(ffi, name)(bad)
    assert str(caught.value) == message(name, signature, 0, "x", wrong, path)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ((1,), "tuple"),
        ([1], "list"),
        ({1: 2}, "dict"),
        (types.MappingProxyType({1: 2}), "mappingproxy"),
        ({1}, "set"),
        (frozenset({1}), "frozenset"),
        ("x", "str"),
    ],
)
def test_messages_name_pythons_types(ffi: Any, given_: Any, shown: str) -> None:
    add_one, ints = ffi.get_global_func("testing.add_one"), typed(ffi, "array_int")
    with pytest.raises(TypeError, match=rf"argument 0 \(x\): expected int, got {shown}$"):
        add_one(given_)
    with pytest.raises(TypeError, match=rf"at \[1\]: expected int, got {shown}$"):
        ints([0, given_])
    with pytest.raises(TypeError, match=rf"at \[0\]: expected int, got {shown}$"):
        ints((given_, given_))


@pytest.mark.parametrize("name", ["Array", "List", "FrozenSet", "Set", "Map", "Dict"])
def test_messages_name_runtime_containers(ffi: Any, name: str) -> None:
    given_ = getattr(ffi, name)()
    with pytest.raises(TypeError, match=f"expected int, got {name}$"):
        ffi.get_global_func("testing.add_one")(given_)
    with pytest.raises(TypeError, match=rf"at \[0\]: expected int, got {name}$"):
        typed(ffi, "array_int")([given_])


def test_which_argument_was_wrong(ffi: Any) -> None:
    defaults = typed(ffi, "defaults")
    start = "testing.typed.defaults(a: int, b: str = 'b', c: float = 0.5) -> Array[Any]: "
    for args, kwargs, rest in (
        (("x",), {}, "argument 0 (a): expected int, got str"),
        ((1, 2), {}, "argument 1 (b): expected str, got int"),
        ((1, "b", "c"), {}, "argument 2 (c): expected float, got str"),
        ((1,), {"c": None}, "argument 2 (c): expected float, got NoneType"),
        ((), {"a": "x", "b": 5}, "argument 0 (a): expected int, got str"),
    ):
        with pytest.raises(TypeError) as caught:
            defaults(*args, **kwargs)
        assert str(caught.value) == start + rest
    with pytest.raises(TypeError, match=r"unnamed\(.*\) -> int: argument 1.*: expected int, got str"):
        typed(ffi, "unnamed")(1, "x")


def test_out_of_range_inside_a_container(ffi: Any) -> None:
    append = typed(ffi, "array_int")
    assert append([2**62]) == (2**62,)
    with pytest.raises(OverflowError, match=r"at \[1\]: 18446744073709551616 does not fit int64"):
        append([1, 2**64])


def test_elements_convert_as_they_are_read(ffi: Any) -> None:
    """A typed view does not change the elements."""
    assert cases.same(ffi.to_python(typed(ffi, "list_float")([1, True, 2.5])), [1, True, 2.5])
    assert typed(ffi, "array_int")([True, 2]) == (1, 2)
    got = typed(ffi, "array_object")([1, "x", [2]])
    assert cases.same(ffi.to_python(got), (1, "x", [2]))
    with pytest.raises(TypeError, match=r"at \[1\]: expected Object, got NoneType"):
        typed(ffi, "array_object")([1, None])


def test_a_typed_view_of_a_list_that_changes_is_sound(ffi: Any) -> None:
    read = ffi.get_global_func("testing.read_as_int_while")
    xs = ffi.List([1, 2, 3])
    assert read(xs, lambda: None) == 6
    assert read(xs, lambda: xs.append(4)) == 10
    with pytest.raises(TypeError, match="expected int, got str"):
        read(xs, lambda: xs.append("text"))
    assert xs == [1, 2, 3, 4, "text"]
    xs.pop()
    assert read(xs, xs.clear) == 0
    ran = []
    with pytest.raises(TypeError, match=r"at \[1\]"):
        read(ffi.List([1, "x"]), lambda: ran.append(1))
    assert ran == []


def test_the_type_mask_never_lets_a_wrong_element_through(ffi: Any) -> None:
    """Elements may be written by the marshallers, by Python methods or by C++."""
    array_int, append = typed(ffi, "array_int"), ffi.get_global_func("testing.append")
    writers = [
        lambda xs, x: xs.append(x),
        lambda xs, x: xs.insert(0, x),
        lambda xs, x: xs.__setitem__(0, x),
        lambda xs, x: xs.__setitem__(slice(0, 1), [x]),
        lambda xs, x: xs.extend([x]),
        lambda xs, x: append(xs, x),
    ]
    for x in ("s", "a string on the heap", None, 1.5, b"b", [1], (1,), {}, object(), len, ..., slice(1), ValueError(),
              ctypes.c_void_p(1)):  # fmt: skip
        for write in writers:
            xs = ffi.List([1, 2])
            assert array_int(xs) == (1, 2)
            write(xs, x)
            with pytest.raises(TypeError, match="expected int"):
                array_int(xs)
            del xs[:]
            assert array_int(xs) == ()
        with pytest.raises(TypeError, match="expected int"):
            array_int([1, x])
        d = ffi.Dict(k=1)
        d["l"] = x
        with pytest.raises(TypeError, match="expected int"):
            typed(ffi, "map_str_int")(d)
        with pytest.raises(TypeError, match="expected int"):
            typed(ffi, "map_str_int")({"l": x})
    with pytest.raises(TypeError, match="expected str"):
        typed(ffi, "map_str_int")({1: 1})


def test_drawn_lists_against_array_of_int(ffi: Any) -> None:
    array_int, sum_ints = typed(ffi, "array_int"), ffi.get_global_func("testing.sum_ints")

    @given(st.lists(cases.scalars, max_size=6))
    def check(items: Any) -> None:
        fits = [type(item) in (int, bool) and -(2**63) <= item < 2**63 for item in items]
        wrong = [i for i, fit in enumerate(fits) if not fit]
        if wrong and type(items[wrong[0]]) is int:
            with pytest.raises(OverflowError, match=rf"at \[{wrong[0]}\]: .* does not fit int64"):
                array_int(items)
        elif wrong:
            with pytest.raises(TypeError, match=rf"at \[{wrong[0]}\]: expected int, got"):
                array_int(items)
        else:
            assert cases.same(ffi.to_python(array_int(items)), tuple(items))

    check()
    assert sum_ints(range(5) and [1, 2, True]) == 4


def test_boxes_are_unboxed(ffi: Any) -> None:
    """A boxed value that C++ returns as an object arrives as the plain value."""
    for x in (5, True, 2.5, "in place", b"bytes", ...):
        assert cases.same(typed(ffi, "object")(x), x)
        hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
        hold(typed(ffi, "object")(x))
        assert cases.same(held(), x)
        hold(None)
    assert typed(ffi, "box_int")(5) == 5


def test_results_of_callbacks_are_checked_too(ffi: Any) -> None:
    ffi.register_global_func("t.typed", lambda: "text", override=True)
    assert ffi.get_global_func("t.typed")() == "text"
    ffi.remove_global_func("t.typed")
    with pytest.raises(TypeError):
        ffi.get_global_func("testing.catch_repeatedly")(5, 1)
