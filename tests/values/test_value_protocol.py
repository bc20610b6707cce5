"""`__anyffi_value__`: objects that define their own conversion."""

from __future__ import annotations

import gc
import threading
from typing import Any

import cases
import numpy as np
import pytest
from cases import OwnValue
from support import SANITIZED


class Counting:
    """Counts the calls of `__anyffi_value__`."""

    def __init__(self, make: Any) -> None:
        self.make = make
        self.asked = 0

    def __anyffi_value__(self) -> Any:
        self.asked += 1
        return self.make()


def test_it_is_looked_up_on_the_type(ffi: Any) -> None:
    echo, seen = map(ffi.get_global_func, ("testing.echo", "testing.describe"))

    class Plain:
        pass

    x = Plain()
    x.__anyffi_value__ = lambda: 5  # type: ignore[attr-defined]
    assert echo(x) is x
    assert seen(OwnValue) == "Function(host)", "the class itself is a callable"

    class Meta(type):
        def __anyffi_value__(cls) -> str:
            return cls.__name__

    class OfMeta(metaclass=Meta):
        pass

    assert echo(OfMeta) == "OfMeta"
    y = OfMeta()
    assert echo(y) is y


def test_it_is_bound_as_special_methods_are(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")

    class Bound:
        @classmethod
        def __anyffi_value__(cls) -> str:
            return cls.__name__

    class Unbound:
        __anyffi_value__ = staticmethod(lambda: "static")

    class Property:
        @property
        def __anyffi_value__(self) -> Any:
            return lambda: "property"

    class Builtin:
        __anyffi_value__ = dict

    class NoCallable:
        __anyffi_value__ = 5

    for cls, expected in ((Bound, "Bound"), (Unbound, "static"), (Property, "property"), (Builtin, {})):
        assert echo(cls()) == expected
    with pytest.raises(TypeError, match="not callable"):
        echo(NoCallable())


def test_a_subclass_may_opt_out(ffi: Any) -> None:
    class WithoutValue(OwnValue):
        __anyffi_value__ = None  # type: ignore[assignment]
        __dlpack__ = __index__ = keys = None  # type: ignore[assignment]

    x = WithoutValue(5)
    assert ffi.get_global_func("testing.echo")(x) is x


def test_precedence(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")

    class Wrapper(ffi.List):
        def __anyffi_value__(self) -> Any:
            raise AssertionError("the runtime's own objects are what they are")

    own = Wrapper([1])
    assert echo(own) is own
    assert echo(OwnValue(own)) is own

    class Array(np.ndarray):  # type: ignore[type-arg]
        def __anyffi_value__(self) -> str:
            return "array"

    assert echo(np.zeros(3).view(Array)) == "array"

    class Str(str):
        def __anyffi_value__(self) -> int:
            return len(self)

    assert echo(Str("abc")) == 3
    assert echo({Str("abc"): Str("")}) == {3: 0}


def test_it_is_called_once_per_argument(ffi: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    x = Counting(lambda: [1])
    result = echo([x, (x,), {"k": x}])
    assert x.asked == 1
    assert result[0] is result[1][0] is result[2]["k"]
    apply = ffi.get_global_func("testing.apply")
    assert apply(lambda a, b: a is b, x, x) is False
    assert x.asked == 3
    inner: Any = [1]
    y = OwnValue(inner)
    result = echo([y, inner, OwnValue(inner)])
    assert result[0] is result[1] is result[2], "one list, whoever stands for it"


def test_shared_structure_is_converted_only_once(ffi: Any) -> None:
    x = cases.nested(60, lambda x: OwnValue([x, x]), 1)
    back = ffi.to_python(ffi.get_global_func("testing.echo")(x))
    for _ in range(60):
        assert back[0] is back[1] or back == [1, 1]
        back = back[0]


def test_a_temporary_object_as_value(ffi: Any) -> None:
    """A temporary object lives as long as the call, and may be moved from."""
    echo, seen, alive = map(
        ffi.get_global_func, ("testing.echo", "testing.describe", "testing.counted_alive")
    )
    new = ffi.get_global_func("testing.new_counted")
    # Without reference counts, objects of earlier tests may still wait for their finalizers.
    gc.collect()
    before = alive()
    fresh = Counting(lambda: ffi.List([new(5)]))
    for _ in range(3):
        assert len(echo(fresh)) == 1
        assert seen(fresh) == "List[Object(testing.Counted)]"
        assert type(ffi.get_global_func("testing.typed.array")(fresh)) is ffi.Array
        assert ffi.get_global_func("testing.apply")(lambda x: type(x) is ffi.List, fresh)
        with pytest.raises(TypeError, match="expected int, got list"):
            ffi.get_global_func("testing.add_one")(fresh)
        with pytest.raises(ZeroDivisionError):
            echo(fresh, cases.REFUSED)
        assert type(ffi.convert(fresh)) is ffi.List
    gc.collect()
    assert alive() == before
    kept = ffi.List([1])
    array = ffi.get_global_func("testing.typed.array")
    assert array(OwnValue(kept)) == (1,)
    assert kept == [1], "an object with other references is copied, not frozen in place"
    assert ffi.get_global_func("testing.append")(OwnValue(kept), 2) is kept


def test_results_and_keys(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    assert apply(lambda: OwnValue({"k": OwnValue(1)})) == {"k": 1}
    d = ffi.Dict({OwnValue("k"): 1})
    assert d[OwnValue("k")] == d["k"] == 1
    d[OwnValue("l")] = OwnValue([2])
    assert d == {"k": 1, "l": [2]}
    assert OwnValue(1) in ffi.Set([1])
    with pytest.raises(ValueError, match="are equal once they are converted"):
        apply(len, {OwnValue(1): 1, 1: 2})


def test_the_nesting_that_is_allowed(ffi: Any) -> None:
    """An object with a value adds no level; all levels fit on the stack of a small thread."""
    echo = ffi.get_global_func("testing.echo")
    deep = cases.nested(cases.MAX_NESTING, lambda x: OwnValue([OwnValue(x)]), "inside")
    results: list[Any] = []

    def run() -> None:
        result = echo(deep)
        for _ in range(cases.MAX_NESTING):
            result = result[0]
        results.append(result)

    run()
    former = threading.stack_size((4096 if SANITIZED else 512) * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(former)
    assert results == ["inside", "inside"]
    with pytest.raises(RecursionError):
        echo([deep])


def test_a_value_that_changes_the_container_around_it(ffi: Any) -> None:
    x: Any = []

    class Meddler:
        def __anyffi_value__(self) -> Any:
            x.clear()
            return [7]

    x.extend([Meddler(), "a string that is long enough", [1, 2], Meddler()])
    echo = ffi.get_global_func("testing.echo")
    assert ffi.to_python(echo(x)) == [[7], "a string that is long enough", [1, 2], [7]]
    assert x == []


def test_both_backends_call_it_in_the_same_order(both: Any) -> None:
    logs: list[Any] = []
    for ffi in both:
        log: list[Any] = []

        def make(name: str, value: Any, log: Any = log) -> Any:
            return Counting(lambda: log.append(name) or value)

        number, text, items = make("number", 5), make("text", "t" * 20), make("items", [1])
        x = [number, number, text, text, items, {"k": (items, number)}, make("chain", make("end", text))]
        ffi.get_global_func("testing.nop")(x, items)
        logs.append(log)
    assert logs[0] == logs[1]
    assert logs[0].count("items") == 2
