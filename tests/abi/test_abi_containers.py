"""Operations on containers, text and numbers, through the C ABI alone."""

from __future__ import annotations

from typing import Any

import pytest
from c_abi import (
    CODES,
    Raised,
    Value,
    balanced,
    c,
    check,
    lib,
    made,
    make_str,
    own,
    read_text,
)
from c_abi_rows import SAMPLES
from c_abi_values import Plain, exact, make_bytes, make_int, make_slice, read


def test_items() -> None:
    with balanced():
        for sample in SAMPLES:
            if sample.size is None or not isinstance(sample.value, (str, bytes)):
                continue
            with sample.make() as value:
                for i in {0, -1, sample.size - 1} if sample.size else ():
                    with make_int(i) as index, made(lib.anyffi_value_get_item, value.at, index.at) as item:
                        assert exact(read(item.at)) == exact(sample.value[i])
                with make_int(sample.size) as index, pytest.raises(Raised, match="IndexError"):
                    made(lib.anyffi_value_get_item, value.at, index.at)


def test_sequences() -> None:
    with balanced(), make_list(3) as xs:
        sequence = xs.at.as_object
        with make_int(7) as seven:
            check(lib.anyffi_sequence_set(sequence, 1, seven.at))
            check(lib.anyffi_sequence_insert(sequence, 0, seven.at))
        assert read(xs.at).parts == [7, 0, 7, 2]
        check(lib.anyffi_sequence_erase(sequence, 1, 2))
        assert read(xs.at).parts == [7, 2]
        check(lib.anyffi_sequence_reserve(sequence, 100))
        assert xs.object("AnyffiSequence").capacity >= 100
        with Value() as found:
            lib.anyffi_sequence_get(sequence, 1, found.at)
            assert read(found.at) == 2
            lib.anyffi_sequence_get(sequence, 2, found.at)
            assert found.code == CODES["UNSET"]
        with made(lib.anyffi_container_copy, xs.at, CODES["ARRAY"]) as array:
            assert read(array.at) == Plain("ARRAY", [7, 2])
        with made(lib.anyffi_container_copy, xs.at, CODES["SHAPE"]) as shape:
            assert read(shape.at) == Plain("SHAPE", [7, 2])
        address = xs.at.as_object
        with made(lib.anyffi_container_convert, xs.at, CODES["ARRAY"]) as frozen:
            assert bytes(xs) == bytes(16)  # stolen
            assert frozen.at.as_object == address  # frozen in place: the only reference
            assert read(frozen.at) == Plain("ARRAY", [7, 2])


def write_int(at: Any, number: int) -> None:
    at.type_code, at.aux, at.as_int = CODES["INT"], 0, number


def make_list(size: int) -> Value:
    xs = made(lib.anyffi_sequence_create, CODES["LIST"], size)
    sequence = xs.object("AnyffiSequence")
    for i in range(size):
        write_int(c.addressof(sequence.data, i), i)
    sequence.size, sequence.type_mask = size, 1 << -CODES["INT"]
    return xs


def test_mappings() -> None:
    with balanced(), made(lib.anyffi_mapping_create, CODES["DICT"], 20) as d:
        mapping = d.object("AnyffiMapping")
        for i in range(20):
            write_int(c.addressof(mapping.entries[i], "key"), i * i)
            write_int(c.addressof(mapping.entries[i], "value"), i)
        mapping.used, mapping.key_type_mask, mapping.value_type_mask = (
            20,
            1 << -CODES["INT"],
            1 << -CODES["INT"],
        )
        first, second = c.new("int64_t*"), c.new("int64_t*")
        check(lib.anyffi_mapping_finish(d.at.as_object, first, second))
        assert (first[0], second[0]) == (-1, -1)
        assert read(d.at) == Plain("DICT", [(i * i, i) for i in range(20)])
        number, existed = c.new("int64_t*"), c.new("int32_t*")
        with make_int(49) as key, Value() as found:
            check(lib.anyffi_mapping_find(d.at.as_object, key.at, number))
            assert number[0] == 7
            assert lib.anyffi_mapping_find_int(d.at.as_object, 49) == 7
            assert lib.anyffi_mapping_find_int(d.at.as_object, 50) == -1
            check(lib.anyffi_mapping_get(d.at.as_object, key.at, found.at))
            assert read(found.at) == 7
            check(lib.anyffi_mapping_erase(d.at.as_object, number[0]))
            check(lib.anyffi_mapping_find(d.at.as_object, key.at, number))
            assert number[0] == -1
            with own(key) as again, make_str("a value on the heap") as value:
                check(lib.anyffi_mapping_set(d.at.as_object, again.at, value.at, existed))
        assert read(d.at).parts[-1] == (49, "a value on the heap")
        with Value() as key, make_int(1) as value:
            key.at.type_code, key.at.as_float = CODES["FLOAT"], 2.5
            check(lib.anyffi_mapping_set(d.at.as_object, key.at, value.at, existed))
            # A float key may equal the int.
            assert lib.anyffi_mapping_find_int(d.at.as_object, 49) == -2
            check(lib.anyffi_mapping_erase(d.at.as_object, 20))
        assert walk(d, 1) == [i * i for i in range(20) if i != 7] + [49]
        assert walk(d, -1) == walk(d, 1)[::-1]
        lib.anyffi_mapping_clear(d.at.as_object)
        assert read(d.at) == Plain("DICT", [])
        with make_list(0) as unhashable, pytest.raises(Raised, match="TypeError"):
            check(lib.anyffi_mapping_set(d.at.as_object, own(unhashable).at, Value().at, existed))


def walk(d: Value, step: int) -> list[Any]:
    found, entry = [], 0 if step == 1 else d.object("AnyffiMapping").used - 1
    with Value() as key, Value() as value:
        while True:
            entry = lib.anyffi_mapping_next(d.at.as_object, entry, step, key.at, value.at)
            if entry < 0:
                assert key.code == value.code == CODES["UNSET"]
                return found
            found.append(read(key.at))
            entry += step
            key.release()
            value.release()


def test_equal_keys_are_found() -> None:
    with balanced(), made(lib.anyffi_mapping_create, CODES["SET"], 3) as s:
        mapping = s.object("AnyffiMapping")
        for i, x in enumerate((5, 1, 5)):
            write_int(c.addressof(mapping.entries[i], "key"), x)
            mapping.entries[i].value = Value().at[0]
        mapping.used, mapping.key_type_mask, mapping.value_type_mask = 3, 1 << -CODES["INT"], 1
        first, second = c.new("int64_t*"), c.new("int64_t*")
        check(lib.anyffi_mapping_finish(s.at.as_object, first, second))
        assert (first[0], second[0]) == (0, 2)


def same_storage(a: Value, b: Value) -> bool:
    assert read(a.at) == read(b.at)
    if a.code == CODES["STR"]:
        return bytes(a) == bytes(b)
    return a.code == b.code and a.object("AnyffiStrObject").encoding == b.object("AnyffiStrObject").encoding


def test_text_operations_return_the_narrowest_encoding() -> None:
    """Inline strings are compared as two words, so their encoding must be the narrowest."""
    wide = "a\U0001f600b\u0141c\xe9"
    with balanced(), make_str(wide) as text, make_str("") as empty:
        for start in range(len(wide)):
            for stop in range(start, len(wide) + 1):
                with (
                    made(lib.anyffi_str_slice, text.at, start, stop) as part,
                    make_str(wide[start:stop]) as same,
                ):
                    assert same_storage(part, same)
        for former in ("\U0001f600", "\u0141"):
            with (
                make_str(former) as wanted,
                made(lib.anyffi_str_replace, text.at, wanted.at, empty.at, -1) as less,
            ):
                assert read(less.at) == wide.replace(former, "")


def test_containers_narrow_strings_from_c() -> None:
    units = c.new("uint32_t[]", [ord("a"), ord("b"), 0])
    with balanced():
        view = Value(CODES["STR_VIEW"], as_pointer=c.cast("void*", units))
        view.at.aux = 2 << 2 | 3
        wide = Value(CODES["STR"])
        memory = c.buffer(wide.at)
        memory[4:12], memory[15:16] = c.buffer(units)[0:8], bytes([3 << 4 | 11 - 2])
        for value in (view, wide):
            assert read_text(value.at) == "ab"
            with own(value) as owned, make_str("ab") as same:
                assert bytes(owned) == bytes(same)


def test_numbers() -> None:
    out = c.new("double*")
    with balanced():
        for number in (2**63, -(2**70) - 1, 2**1023):
            with make_int(number) as value:
                check(lib.anyffi_big_int_get_float(value.at.as_object, out))
                assert out[0] == float(number)
        with make_int(2**1024) as value, pytest.raises(Raised, match="OverflowError"):
            check(lib.anyffi_big_int_get_float(value.at.as_object, out))
        with make_slice(1, 2, 3) as value:
            assert value.object("AnyffiSlice").step.as_int == 3


def test_utf8() -> None:
    with balanced(), make_str("caf\xe9 \U0001f600") as text, made(lib.anyffi_str_to_utf8, text.at) as utf8:
        assert read(utf8.at) == "caf\xe9 \U0001f600".encode()
        with made(lib.anyffi_str_from_utf8, b"caf\xc3\xa9", 5) as back:
            assert read(back.at) == "caf\xe9"
        with make_str("\ud800") as lone, pytest.raises(Raised, match="UnicodeEncodeError"):
            made(lib.anyffi_str_to_utf8, lone.at)
        with pytest.raises(Raised, match="UnicodeDecodeError"):
            made(lib.anyffi_str_from_utf8, b"\xff", 1)
        with make_bytes(b"x") as data, pytest.raises(Raised, match="TypeError"):
            made(lib.anyffi_str_concat, data.at, text.at)
