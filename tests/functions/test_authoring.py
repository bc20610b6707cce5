"""Methods, references, overloads, structs and objects registered from C++, used from Python."""

from __future__ import annotations

import inspect
import math
import pydoc
import threading
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st


def authored(ffi: Any, name: str) -> Any:
    return ffi.get_global_func("testing.authoring." + name)


# ---- callables ------------------------------------------------------------------------------------------


def test_methods(ffi: Any) -> None:
    account = authored(ffi, "account")(10)
    assert authored(ffi, "deposit")(account, 5) == 15
    assert authored(ffi, "deposit")(account, amount=5) == 20
    assert authored(ffi, "get_balance")(account=account) == 20
    assert str(inspect.signature(authored(ffi, "deposit"))) == (
        "(account: 'testing.Account', amount: 'int') -> 'int'"
    )
    for bad in (5, None, [account], ffi.List()):
        with pytest.raises(TypeError, match=r"argument 0 \(account\): expected testing.Account, got"):
            authored(ffi, "deposit")(bad, 5)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'amount'"):
        authored(ffi, "deposit")(account)


def test_references_to_objects(ffi: Any) -> None:
    a, b = authored(ffi, "account")(10), authored(ffi, "account")()
    authored(ffi, "transfer")(a, b, 4)
    assert [authored(ffi, "get_balance")(x) for x in (a, b)] == [6, 4]
    assert authored(ffi, "total")(a, b) == 10
    authored(ffi, "transfer")(a, a, 4)
    assert authored(ffi, "get_balance")(a) == 6
    xs = ffi.List([1])
    assert authored(ffi, "append_twice")(xs, 2) is None
    assert xs == [1, 2, 2]


def test_functors(ffi: Any) -> None:
    assert authored(ffi, "adder")(3) == 8
    assert authored(ffi, "noexcept")(1, b=2) == 3


# ---- structs, enumerations ------------------------------------------------------------------------------


@given(x=st.floats(allow_nan=False), y=st.floats(allow_nan=False))
def test_a_struct(ffi: Any, x: float, y: float) -> None:
    assert cases.same(ffi.to_python(authored(ffi, "point")((x, y))), (x, y))
    assert authored(ffi, "norm")([x, y]) == pytest.approx(math.hypot(x, y))
    assert cases.same(ffi.to_python(authored(ffi, "points")([(x, y)] * 3)), [(x, y)] * 3)


def test_structs_in_containers(ffi: Any) -> None:
    assert authored(ffi, "centre")([(0, 0), (2, 4)]) == (1.0, 2.0)
    name = r"tuple\[float, float\]"
    for bad, error, match in (
        ("x", TypeError, f"expected {name}, got str"),
        ((1, "x"), TypeError, r"argument 0 \(p\), at \[1\]: expected float, got str"),
        ((1,), ValueError, "expected 2 elements, got"),
        ((math.nan, 1), ValueError, "^a Point has no NaN$"),
    ):
        with pytest.raises(error, match=match):
            authored(ffi, "point")(bad)
    for function in ("centre", "points"):
        with pytest.raises(TypeError, match=r"at \[1\]\[0\]: expected float, got str"):
            authored(ffi, function)([(0, 0), ("x", 0)])
        with pytest.raises(ValueError, match="a Point has no NaN"):
            authored(ffi, function)([(math.nan, 0)])


def test_a_struct_that_holds_itself(ffi: Any) -> None:
    tree: Any = ()
    for _ in range(150):
        tree = (tree, ())
    assert authored(ffi, "tree")(tree) == tree
    xs = ffi.List()
    xs.append(xs)
    with pytest.raises(RecursionError):
        authored(ffi, "tree")(xs)
    xs.clear()


def test_an_enumeration_is_its_number(ffi: Any) -> None:
    color = authored(ffi, "color")
    assert cases.same(color(), 7)
    assert cases.same(color(1), 1)
    assert color(color=200) == 200
    with pytest.raises(OverflowError, match="300 does not fit uint8"):
        color(300)
    with pytest.raises(TypeError, match="expected int, got str"):
        color("red")


# ---- objects made from values ---------------------------------------------------------------------------


def value(x: Any) -> int:
    return int(x.value)


def test_an_object_is_made_from_a_value(ffi: Any) -> None:
    int_imm = authored(ffi, "int_imm")
    made = int_imm(5)
    assert isinstance(made, ffi.Object)
    assert authored(ffi, "imm_value")(made) == 5
    assert int_imm(made) is made
    # `from_value` is a conversion: overloads that take the value itself are preferred.
    assert [authored(ffi, "imm_or_int")(x) for x in (made, 3, "a")] == ["IntImm", "int", "str"]
    assert authored(ffi, "imm_value")(6) == 6
    for bad, got in (
        ("x", "str"),
        (None, "NoneType"),
        (1.5, "float"),
        (authored(ffi, "account")(1), "testing.Account"),
    ):
        with pytest.raises(TypeError, match=f"expected testing.IntImm, got {got}"):
            int_imm(bad)
    with pytest.raises(ValueError, match="^an IntImm is not negative$"):
        int_imm(-1)
    with pytest.raises(OverflowError):
        int_imm(2**64)


def test_elements_are_made_from_values(ffi: Any) -> None:
    int_imms, imm_value = authored(ffi, "int_imms"), authored(ffi, "imm_value")
    one = authored(ffi, "int_imm")(1)
    for xs in ([one, 2, 3], (one, 2, 3), ffi.List([one, 2, 3]), ffi.Array([one, 2, 3])):
        result = int_imms(xs)
        assert type(result) is ffi.Array
        assert [imm_value(x) for x in result] == [1, 2, 3]
        assert result[0] is one
        assert int_imms(result) is result
    assert int_imms(()) == ()
    assert authored(ffi, "sum_imms")({"a": 1, "b": one}) == 2
    assert authored(ffi, "sum_imm_vector")([1, one, 3]) == 5
    with pytest.raises(TypeError, match=r"argument 0 \(xs\), at \[1\]: expected testing.IntImm, got str"):
        int_imms([1, "x"])
    with pytest.raises(TypeError, match=r'at \["b"\]: expected testing.IntImm, got str'):
        authored(ffi, "sum_imms")({"a": 1, "b": "x"})
    with pytest.raises(ValueError, match="not negative"):
        int_imms([1, -1])


def test_an_inherited_conversion_makes_nothing(ffi: Any) -> None:
    named = authored(ffi, "new_named_imm")(4)
    assert authored(ffi, "named_imm")(named) == 4
    assert authored(ffi, "imm_value")(named) == 4
    with pytest.raises(TypeError, match="expected testing.NamedImm, got int"):
        authored(ffi, "named_imm")(4)


def test_conversions_that_change_the_container(ffi: Any) -> None:
    """A conversion may call Python code that empties the List being converted."""
    xs = ffi.List()
    for name in ("called", "called_pair", "called_vector"):
        for clear in (
            lambda: xs.clear(),
            lambda: xs.pop(),
            lambda: xs.append(1),
            lambda: xs.__setitem__(1, "x" * 50),
        ):
            xs[:] = [clear, lambda: None]
            try:
                authored(ffi, name)(xs)
            except (RuntimeError, TypeError, ValueError):
                pass
    xs.clear()
    d = ffi.Dict()
    for clear in (lambda: d.clear(), lambda: d.pop("l"), lambda: d.__setitem__("m", 5)):
        d.clear()
        d.update(k=clear, l=lambda: None)
        try:
            authored(ffi, "called_map")(d)
        except (RuntimeError, TypeError):
            pass
    d.clear()
    with pytest.raises(ZeroDivisionError):
        authored(ffi, "called")([lambda: 1 // 0])


def test_conversions_that_need_themselves(ffi: Any) -> None:
    depth = authored(ffi, "depth")
    nested: Any = ()
    for expected in range(1, 30):
        assert depth(nested) == expected
        nested = (nested,)
    xs = ffi.List()
    xs.append(xs)
    with pytest.raises(RecursionError):
        depth(xs)
    xs.clear()


# ---- overloads ------------------------------------------------------------------------------------------


def test_overloads_by_arity(ffi: Any) -> None:
    area = authored(ffi, "area")
    assert area(2) == 12.0
    assert area(2, 3) == 6.0
    assert area(r=2) == 12.0
    assert area(w=2, h=3) == area(2, h=3) == area(h=3, w=2) == 6.0


def test_overloads_by_type(ffi: Any) -> None:
    """An overload that takes the arguments unconverted precedes one that converts them."""
    kind = authored(ffi, "kind")
    for x, expected in (
        (1.5, "float"),
        (1, "int"),
        (2**70, "float"),
        (True, "bool"),
        ("text", "str"),
        ((1, 2), "ints"),
        ([1, 2], "ints"),
        (["a"], "texts"),
        (authored(ffi, "account")(1), "account"),
    ):
        assert kind(x) == expected
        assert ffi.get_global_func("testing.apply")(kind, x) == expected
    assert kind(1, "y") == kind(1, "y", 2.5) == kind(1, z=2) == kind(z=1, x=1) == "three"
    assert kind(x=1) == "int"
    assert kind(x=1.5) == "float"
    assert kind(text="a") == "str"
    assert kind(items=["a"]) == "texts"
    with pytest.raises(TypeError, match="no overload takes"):
        kind(items=("a",))
    with pytest.raises(TypeError, match="no overload takes"):
        kind(x="a")


def test_an_overload_that_is_too_narrow(ffi: Any) -> None:
    narrow = authored(ffi, "narrow")
    assert narrow(5) == 5000
    assert narrow(500) == 500
    with pytest.raises(
        TypeError, match=r"(?s)takes \(int\)\n.*70000 does not fit int8\n.*70000 does not fit int16"
    ):
        narrow(70_000)


def test_no_overload(ffi: Any) -> None:
    name = "testing.authoring.area"
    circle, rectangle = f"{name}(r: float) -> float", f"{name}(w: float, h: float) -> float"
    for args, kwargs, expected in (
        (("x",), {},
         [f"{name}(): no overload takes (str)",
          f"    {circle}: argument 0 (r): expected float, got str",
          f"    {rectangle}: {name}() missing 1 required positional argument: 'h'"]),
        (([1], {}), {},
         [f"{name}(): no overload takes (list, dict)",
          f"    {circle}: {name}() takes 1 positional argument but 2 were given",
          f"    {rectangle}: argument 0 (w): expected float, got list"]),
        ((), {"h": "x", "w": 1},
         [f"{name}(): no overload takes (h=str, w=int)",
          f"    {rectangle}: argument 1 (h): expected float, got str"]),
        ((1,), {"r": 1},
         [f"{name}(): no overload takes (int, r=int)",
          f"    {circle}: {name}() got multiple values for argument 'r'",
          f"    {rectangle}: {name}() got an unexpected keyword argument 'r'"]),
    ):  # fmt: skip
        with pytest.raises(TypeError) as caught:
            authored(ffi, "area")(*args, **kwargs)
        assert str(caught.value).splitlines() == expected


def test_an_error_of_the_body_ends_overload_resolution(ffi: Any) -> None:
    with pytest.raises(TypeError, match="^from the body$"):
        authored(ffi, "raises")(1)
    assert authored(ffi, "raises")("x") == "never for an int"


@pytest.mark.unrecorded("about a function as an object")
def test_signatures_of_overloads(ffi: Any) -> None:
    area = authored(ffi, "area")
    assert area.__name__ == "testing.authoring.area"
    assert area.__doc__ == (
        "testing.authoring.area(r: float) -> float\n    Of a circle, roughly.\n\n"
        "testing.authoring.area(w: float, h: float) -> float\n    Of a rectangle."
    )
    assert str(inspect.signature(area)) == "(r: 'float') -> 'float' | (w: 'float', h: 'float') -> 'float'"
    inspect.signature(area).bind(1, h=2)
    circle, rectangle = area.overloads
    assert type(circle) is ffi.Function
    assert circle(2) == 12.0
    assert rectangle(2, h=3) == 6.0
    assert circle.__doc__ == "Of a circle, roughly."
    assert circle.overloads == ()
    assert ffi.convert(len).overloads == ()
    # Since Python 3.14 without quotes around annotations.
    shown = pydoc.render_doc(area, renderer=pydoc.plaintext).replace("'float'", "float")
    for text in ("Of a circle", "Of a rectangle", "(w: float, h: float)"):
        assert text in shown
    assert "overloads" in dir(area)


def test_arguments_of_overloads_are_not_moved(ffi: Any) -> None:
    kind = authored(ffi, "kind")
    xs = ffi.List(["a"])
    for _ in range(3):
        assert kind(xs) == "texts"
    assert xs == ["a"]


# ---- calls ----------------------------------------------------------------------------------------------


def test_an_object_made_for_the_call_can_be_reused(ffi: Any) -> None:
    is_unique = authored(ffi, "is_unique")
    assert is_unique([1, 2])
    assert is_unique(xs=[1, 2])
    assert not is_unique(ffi.List([1, 2]))


def test_a_body_that_releases_the_lock(ffi: Any) -> None:
    released = authored(ffi, "released")
    seen = []
    assert released(lambda: seen.append(threading.get_ident()), ["a", "b"]) == ["a", "b"]
    assert seen == [threading.get_ident()]
    with pytest.raises(TypeError, match=r"argument 1 \(xs\), at \[0\]: expected str, got int"):
        released(len, [1])
    with pytest.raises(ZeroDivisionError):
        released(lambda: 1 // 0, [])
    for _ in range(3):
        with pytest.raises(KeyError, match="unlocked"):
            authored(ffi, "released_fails")()
    assert released.__doc__ == "Call f without the host's lock."


def test_containers_in_bodies_that_release_the_lock(ffi: Any) -> None:
    append = authored(ffi, "append_unlocked")
    xs = ffi.List()
    assert append(xs, 3) == 3
    assert xs == [0, 1, 2]
    threads = [threading.Thread(target=append, args=(xs, 20_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        xs.append(-1)
        xs.pop()
    for thread in threads:
        thread.join()
    assert len(xs) == 80_003
    with pytest.raises(TypeError, match=r"at \[1\]: expected int, got str"):
        append([1, "x"], 1)


def test_another_thread_runs_while_the_lock_is_released(ffi: Any) -> None:
    """Two bodies that wait for each other finish only if neither holds the lock."""
    wait = ffi.get_global_func("testing.authoring.meet")
    other = threading.Thread(target=wait, args=(2,))
    other.start()
    wait(2)
    other.join()
    with pytest.raises(ValueError, match="at least one thread"):
        wait(0)
