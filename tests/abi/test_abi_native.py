"""Operations on containers that run no code of the host, through the C ABI alone."""

from __future__ import annotations

from typing import Any

import pytest
from c_abi import CODES, Value, balanced, c, check, lib, made, make_str
from c_abi_values import Plain, make_int, read


def write_int(at: Any, number: int) -> None:
    at.type_code, at.aux, at.as_int = CODES["INT"], 0, number


def make_list(size: int) -> Value:
    xs = made(lib.anyffi_sequence_create, CODES["LIST"], size)
    sequence = xs.object("AnyffiSequence")
    for i in range(size):
        write_int(c.addressof(sequence.data, i), i)
    sequence.size, sequence.type_mask = size, 1 << -CODES["INT"]
    return xs


def make_ints(code: str, *numbers: int) -> Value:
    made_set = made(lib.anyffi_mapping_create, CODES[code], len(numbers))
    mapping = made_set.object("AnyffiMapping")
    for i, number in enumerate(numbers):
        write_int(c.addressof(mapping.entries[i], "key"), number)
        value = c.addressof(mapping.entries[i], "value")
        value.type_code, value.aux, value.as_int = CODES["NONE"], 0, 0
    mapping.used, mapping.key_type_mask, mapping.value_type_mask = len(numbers), 1 << -CODES["INT"], 1
    first, second = c.new("int64_t*"), c.new("int64_t*")
    check(lib.anyffi_mapping_finish(made_set.at.as_object, first, second))
    return made_set


def test_equality() -> None:
    with balanced(), make_int(1) as one, make_int(2) as two, make_str("text") as text, make_list(1) as xs:
        assert lib.anyffi_value_equal_native(one.at, one.at) == 1
        assert lib.anyffi_value_equal_native(one.at, two.at) == 0
        assert lib.anyffi_value_equal_native(one.at, text.at) == 0
        assert lib.anyffi_value_equal_native(text.at, text.at) == 1
        assert lib.anyffi_value_equal_native(one.at, xs.at) == -1
        assert lib.anyffi_value_equal_native(xs.at, xs.at) == 1


def test_searches() -> None:
    equal = c.new("int32_t*")
    with balanced(), make_list(5) as xs, make_list(5) as ys, make_int(3) as three, make_list(1) as inner:
        a, b = xs.at.as_object, ys.at.as_object
        assert (lib.anyffi_sequence_find(a, three.at, 0, 100, equal), equal[0]) == (3, 1)
        assert lib.anyffi_sequence_find(a, three.at, 4, 100, equal) == -1
        assert lib.anyffi_sequence_find(a, three.at, 0, 3, equal) == -1
        assert (lib.anyffi_sequence_mismatch(a, b, 0, equal), equal[0]) == (-1, 1)
        check(lib.anyffi_sequence_set(b, 4, three.at))
        assert (lib.anyffi_sequence_mismatch(a, b, 0, equal), equal[0]) == (4, 0)
        check(lib.anyffi_sequence_set(a, 1, inner.at))
        assert (lib.anyffi_sequence_mismatch(a, b, 0, equal), equal[0]) == (1, -1)
        assert (lib.anyffi_sequence_find(a, three.at, 0, 100, equal), equal[0]) == (1, -1)


@pytest.mark.parametrize(
    "cut", [slice(0, 5, 1), slice(4, None, -1), slice(1, 5, 2), slice(3, 3, 1), slice(9, 20, 1)]
)
def test_slices(cut: slice) -> None:
    with balanced(), make_list(5) as xs, make_str("a text on the heap") as text:
        check(lib.anyffi_sequence_set(xs.at.as_object, 2, text.at))
        elements = [0, 1, "a text on the heap", 3, 4]
        count = len(elements[cut])
        arguments = (xs.at.as_object, CODES["ARRAY"], cut.start, cut.step, count)
        with made(lib.anyffi_sequence_slice, *arguments) as array:
            assert read(array.at) == Plain("ARRAY", elements[cut])
    with (
        balanced(),
        make_list(5) as xs,
        made(lib.anyffi_sequence_slice, xs.at.as_object, CODES["LIST"], 1, 3, 99) as rest,
    ):
        assert read(rest.at) == Plain("LIST", [1, 4])


def test_splices() -> None:
    with balanced(), make_list(5) as xs, make_list(2) as ys:
        cells = ys.object("AnyffiSequence").data
        check(lib.anyffi_sequence_splice(xs.at.as_object, 1, 3, cells, 2))
        assert read(xs.at) == Plain("LIST", [0, 0, 1, 4])


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("OR", [3, 1, 2, 7]), ("AND", [3, 2]), ("SUB", [1]), ("XOR", [1, 7])],
)
def test_combinations(operation: str, expected: list[Any]) -> None:
    with balanced(), make_ints("SET", 3, 1, 2) as a, make_ints("FROZEN_SET", 7, 2, 3) as b:
        which = getattr(lib, f"ANYFFI_SET_{operation}")
        arguments = (a.at.as_object, b.at.as_object, which, CODES["FROZEN_SET"])
        with made(lib.anyffi_set_combine, *arguments) as both:
            assert read(both.at) == Plain("FROZEN_SET", [(number, None) for number in expected])


def test_relations() -> None:
    with (
        balanced(),
        make_ints("SET", 1, 2) as a,
        make_ints("SET", 2, 1, 5) as b,
        make_ints("SET", 9) as other,
    ):
        first, second, third = (s.at.as_object for s in (a, b, other))
        assert lib.anyffi_set_relate(first, second, 1) == 1
        assert lib.anyffi_set_relate(second, first, 1) == 0
        assert lib.anyffi_set_relate(first, third, 0) == 1
        assert lib.anyffi_set_relate(first, second, 0) == 0


def test_updates() -> None:
    with balanced(), make_ints("SET", 1, 2) as a, make_ints("SET", 2, 5, 1) as b:
        check(lib.anyffi_mapping_reserve(a.at.as_object, 100))
        assert a.object("AnyffiMapping").capacity >= 102
        check(lib.anyffi_mapping_update(a.at.as_object, b.at.as_object))
        assert read(a.at) == Plain("SET", [(1, None), (2, None), (5, None)])
        check(lib.anyffi_mapping_update(a.at.as_object, a.at.as_object))
        assert read(a.at) == Plain("SET", [(1, None), (2, None), (5, None)])
