"""Users' `__hash__`, `__eq__` and functions that change what is compared, copied, mapped or read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from programs import run_program

pytestmark = pytest.mark.keeps_live("types are never freed")

CHANGED = r"^a (List|Dict) was changed while (it was|its parts were) read$"


class Hook:
    """A key whose `__eq__` is a function."""

    def __init__(self, on_equal: Any) -> None:
        self.on_equal = on_equal

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return bool(self.on_equal())


#: Runs in a process of its own: with two backends, an arriving object gets the class of the host.
OWNER = """
    import anyffi, numpy
    from anyffi import structure

    change = None

    def make(annotation, **more):
        @anyffi.dataclass("test.Owner", eq=False)
        class Owner:
            __annotations__ = {"owner": annotation, **more}

            def __hash__(self):
                if change is not None:
                    change(self)
                return 1

            def __eq__(self, other):
                return self is other

        return Owner

    def refused(run, *args):
        try:
            run(*args)
        except RuntimeError as error:
            assert "was changed while" in str(error), error
        else:
            raise AssertionError("not refused")
"""


def test_json_whose_objects_change_a_list(ffi: Any) -> None:
    """An object in a cycle gets the container before it is filled."""
    program = """
    xs = anyffi.List()
    xs.extend([anyffi.Set([make(list)(xs)]), *range(3000)])
    text = anyffi.to_json(xs)
    change = lambda self: self.owner.extend(range(1000))
    refused(anyffi.from_json, text)
    change = None
    assert len(anyffi.from_json(text)) == 3001
    """
    run_program(OWNER + program, ffi.ffi_mode)


def test_json_whose_objects_change_a_dict(ffi: Any) -> None:
    program = """
    d = anyffi.Dict()
    d.update({0: anyffi.Set([make(dict)(d)]), **dict.fromkeys(range(1, 3000), 7)})
    text = anyffi.to_json(d)
    change = lambda self: self.owner.update(dict.fromkeys(range(1000)))
    refused(anyffi.from_json, text)
    change = None
    made = anyffi.from_json(text)
    assert (len(made), next(iter(made[0])).owner is made) == (3000, True)
    """
    run_program(OWNER + program, ffi.ffi_mode)


def test_objects_are_drafts_until_their_fields_are_set(ffi: Any) -> None:
    program = """
    x = make(object, t=anyffi.Tensor)(None, numpy.zeros(2))
    x.owner = anyffi.Set([x])
    text = anyffi.to_json(x)
    seen = []
    change = lambda self: seen.append(hasattr(self, "t"))
    for made in (anyffi.from_json(text), structure.copy(x)):
        assert made.t.shape == (2,) and made in made.owner
    assert False in seen, seen
    assert type(anyffi.from_json(text)) is type(x)
    """
    run_program(OWNER + program, ffi.ffi_mode)


def test_a_copy_whose_hook_removes_entries(ffi: Any) -> None:
    program = """
    d = anyffi.Dict({anyffi.FrozenSet([make(list)([1])]): "a value that is not inline, as it is long"})
    d.update(dict.fromkeys(range(3), "x" * 100))
    change = lambda self: d.clear()
    refused(structure.copy, d)
    """
    run_program(OWNER + program, ffi.ffi_mode)


def test_a_map_whose_function_removes_the_key(ffi: Any) -> None:
    mapping = ffi.Dict({1: "one", 3: "three", 5: "five"})

    def change(x: Any) -> Any:
        if x == 1:
            del mapping[1]
        return x

    for run in (ffi.map, ffi.visit):
        mapping.clear()
        mapping.update({1: "one", 3: "three"})
        with pytest.raises(RuntimeError, match=CHANGED):
            run(mapping, change)


@pytest.mark.parametrize("compare", ["first_mismatch", "diff", "structural_equal"])
def test_comparisons_whose_hook_empties_both(ffi: Any, compare: str) -> None:
    def empty() -> bool:
        a.clear()
        b.clear()
        kept.append(ffi.List([object(), "x" * 50]))
        return False

    kept: list[Any] = []
    run = getattr(ffi, compare)
    a, b = ffi.List([Hook(empty)]), ffi.List([Hook(empty)])
    assert bool(run(a, b)) is (compare != "structural_equal")
    assert (len(a), len(b), len(kept)) == (0, 0, 1)


def test_equal_keys_whose_hook_empties_the_other(ffi: Any) -> None:
    calls = [-100]

    def empty() -> bool:
        calls[0] += 1
        if calls[0] == 2:
            b.clear()
        return True

    a, b = (ffi.Dict({Hook(empty): ["a" * 100]}) for _ in range(2))
    calls[0] = 0
    assert ffi.structural_equal(a, b) is False
    assert len(b) == 0


def test_names_that_are_not_ascii(ffi: Any) -> None:
    fields = {"__annotations__": {"größe": int, "x": int}, "__module__": __name__}
    cls = ffi.dataclass("test.Größe")(type("Größe", (), fields))
    text = ffi.to_json(cls(7, 8))
    assert json.loads(text)["nodes"] == [{"type": "test.Größe", "data": {"größe": 7, "x": 8}}]
    again = ffi.from_json(text)
    assert (type(again), again.größe, again.x) == (cls, 7, 8)


def test_a_key_has_no_null_characters(ffi: Any) -> None:
    with pytest.raises(ValueError, match=r"without null characters, not 'test\.A\\x00other'"):
        ffi.dataclass("test.A\0other")(type("A", (), {"__annotations__": {"x": int}}))
