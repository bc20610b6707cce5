"""Every kind of value through the C ABI alone: made, read, compared, copied and given back."""

from __future__ import annotations

from typing import Any

import pytest
from c_abi import (
    CODES,
    TYPES,
    Raised,
    Value,
    balanced,
    c,
    check,
    equal,
    hash_of,
    lib,
    made,
    make_str,
    own,
    read_text,
)
from c_abi_values import (
    KINDS,
    Kind,
    Plain,
    exact,
    read,
    tensor_data,
)

every_type = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def test_every_row_is_here() -> None:
    borrowed = {row[0] for row in TYPES if row[4] == "BORROWED"}
    elsewhere = {"UNSET", "OBJECT", "BOX", "PY_OBJECT"}
    assert {kind.row for kind in KINDS} == set(CODES) - borrowed - elsewhere


@every_type
def test_made_and_read(kind: Kind) -> None:
    with balanced(), kind.make() as value:
        assert value.code == CODES[kind.row]
        assert exact(read(value.at)) == exact(kind.value)
        if kind.text is not None:
            with made(lib.anyffi_value_repr, value.at) as text:
                assert read_text(text.at) == kind.text


@every_type
def test_size(kind: Kind) -> None:
    out = c.new("int64_t*")
    with balanced(), kind.make() as value:
        if kind.size is not None:
            check(lib.anyffi_value_get_size(value.at, out))
            assert out[0] == kind.size
        else:
            with pytest.raises(Raised, match="TypeError"):
                check(lib.anyffi_value_get_size(value.at, out))


@every_type
def test_copies(kind: Kind) -> None:
    """A copy of an object is another count of it; a copy of anything else is the same bytes."""
    with balanced(), kind.make() as value:
        with own(value) as copy:
            assert bytes(copy) == bytes(value)
            assert exact(read(copy.at)) == exact(kind.value)
            if value.code > 0:
                assert value.object().strong_count == 2
        if value.code > 0:
            assert value.object().strong_count == 1
            lib.anyffi_object_retain(value.object())
            assert value.object().strong_count == 2
            lib.anyffi_object_release(value.object())
            lib.anyffi_object_retain_weak(value.object())
            assert value.object().weak_count & ~0x40000000 == 2
            assert lib.anyffi_object_lock_weak(value.object()) == 1
            assert value.object().strong_count == 2
            lib.anyffi_object_release(value.object())
            lib.anyffi_object_release_weak(value.object())


def test_a_weak_reference_to_what_is_gone() -> None:
    with balanced():
        value = make_str("long enough for the heap")
        header = value.object()
        lib.anyffi_object_retain_weak(header)
        value.release()
        assert lib.anyffi_object_lock_weak(header) == 0
        lib.anyffi_object_release_weak(header)


@every_type
def test_hash(kind: Kind) -> None:
    with balanced(), kind.make() as one, kind.make() as other:
        if not kind.hashable:
            with pytest.raises(Raised, match="TypeError.*unhashable"):
                hash_of(one)
        elif equal(one, other):
            assert hash_of(one) == hash_of(other)
        if isinstance(kind.value, (int, float, complex)):
            assert hash_of(one) == hash(kind.value)


#: Objects that are equal to themselves alone.
BY_IDENTITY = {"TENSOR", "ERROR", "FUNCTION"}
#: What is equal to its twin that may change.
PAIRS = {"MAP": "DICT", "FROZEN_SET": "SET"}


def comparable(kind: Kind) -> Any:
    """What compares as values of the kind do."""
    if kind.row in BY_IDENTITY:
        return object()
    return Plain(PAIRS[kind.row], kind.value.parts) if kind.row in PAIRS else kind.value


@every_type
def test_comparison(kind: Kind) -> None:
    """Each with each, equal where Python's values are."""
    with balanced(), kind.make() as value:
        assert equal(value, value)
        for other_kind in KINDS:
            expected = comparable(kind) == comparable(other_kind)
            with other_kind.make() as other:
                assert equal(value, other) is expected, other_kind.name
                assert equal(other, value) is expected, other_kind.name


# ---- values that may only be borrowed, and boxes ----------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [k for k in KINDS if k.row in ("STR", "STR_OBJECT", "BYTES", "BYTES_OBJECT")],
    ids=lambda k: k.name,
)
def test_borrowed_text(kind: Kind) -> None:
    with balanced(), kind.make() as value:
        text = c.new("AnyffiTextView*")
        assert lib.anyffi_value_get_text_view(value.at, text) == 0
        is_str = isinstance(kind.value, str)
        view = Value(CODES["STR_VIEW" if is_str else "BYTES_VIEW"], as_pointer=c.cast("void*", text.data))
        view.at.aux = text.length << 2 | (text.encoding if is_str else 0)
        assert equal(view, value)
        assert hash_of(view) == hash_of(value)
        assert lib.anyffi_type_get_family(view.code) == lib.anyffi_type_get_family(value.code)
        with own(view) as owned:
            assert owned.code == value.code
            assert read(owned.at) == kind.value


def test_a_borrowed_tensor_is_not_kept() -> None:
    data, _extents = tensor_data([2, 2], [1, 2], c.new("float[]", 4))
    with balanced():
        view = Value(CODES["TENSOR_VIEW"], as_pointer=data)
        assert lib.anyffi_type_get_family(view.code) == CODES["TENSOR"]
        with pytest.raises(Raised, match="TypeError.*cannot be kept"):
            own(view)


@every_type
def test_boxes(kind: Kind) -> None:
    """What lies in place can be an object too, and is itself again wherever a value is owned."""
    with balanced(), kind.make() as value:
        if value.code > 0:
            return
        with made(lib.anyffi_box_create, value.at) as box:
            assert box.code == CODES["BOX"]
            assert exact(read(box.at).parts) == exact([kind.value])
            assert equal(box, value)
            with own(box) as opened:
                assert bytes(opened) == bytes(value)
