"""Every value type through the C ABI alone: created, read, compared, copied and released."""

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
from c_abi_rows import SAMPLES, Sample
from c_abi_values import Plain, exact, read, tensor_data

every_type = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


def test_every_row_is_here() -> None:
    borrowed = {row[0] for row in TYPES if row[4] == "BORROWED"}
    elsewhere = {"UNSET", "OBJECT", "BOX", "PY_OBJECT"}
    assert {sample.row for sample in SAMPLES} == set(CODES) - borrowed - elsewhere


@every_type
def test_made_and_read(sample: Sample) -> None:
    with balanced(), sample.make() as value:
        assert value.code == CODES[sample.row]
        assert exact(read(value.at)) == exact(sample.value)
        if sample.text is not None:
            with made(lib.anyffi_value_repr, value.at) as text:
                assert read_text(text.at) == sample.text


@every_type
def test_size(sample: Sample) -> None:
    out = c.new("int64_t*")
    with balanced(), sample.make() as value:
        if sample.size is not None:
            check(lib.anyffi_value_get_size(value.at, out))
            assert out[0] == sample.size
        else:
            with pytest.raises(Raised, match="TypeError"):
                check(lib.anyffi_value_get_size(value.at, out))


@every_type
def test_copies(sample: Sample) -> None:
    """Copying an object retains it; copying anything else copies the bytes."""
    with balanced(), sample.make() as value:
        with own(value) as copy:
            assert bytes(copy) == bytes(value)
            assert exact(read(copy.at)) == exact(sample.value)
            if value.code > 0:
                assert value.object().strong_count == 2
        if value.code > 0:
            assert value.object().strong_count == 1
            lib.anyffi_object_retain(value.object())
            assert value.object().strong_count == 2
            lib.anyffi_object_release(value.object())
            lib.anyffi_object_retain_weak(value.object())
            assert value.object().weak_count & ~0x70000000 == 2
            assert lib.anyffi_object_lock_weak(value.object()) == 1
            assert value.object().strong_count == 2
            lib.anyffi_object_release(value.object())
            lib.anyffi_object_release_weak(value.object())


def test_a_weak_reference_to_a_dead_object() -> None:
    with balanced():
        value = make_str("long enough for the heap")
        header = value.object()
        lib.anyffi_object_retain_weak(header)
        value.release()
        assert lib.anyffi_object_lock_weak(header) == 0
        lib.anyffi_object_release_weak(header)


@every_type
def test_hash(sample: Sample) -> None:
    with balanced(), sample.make() as one, sample.make() as other:
        if not sample.hashable:
            with pytest.raises(Raised, match="TypeError.*unhashable"):
                hash_of(one)
        elif equal(one, other):
            assert hash_of(one) == hash_of(other)
        if isinstance(sample.value, (int, float, complex)):
            assert hash_of(one) == hash(sample.value)


#: Types compared by identity.
BY_IDENTITY = {"TENSOR", "ERROR", "FUNCTION"}
#: Immutable and mutable types that compare equal.
PAIRS = {"MAP": "DICT", "FROZEN_SET": "SET"}


def comparable(sample: Sample) -> Any:
    """Return a Python value that compares like values of this type."""
    if sample.row in BY_IDENTITY:
        return object()
    return Plain(PAIRS[sample.row], sample.value.parts) if sample.row in PAIRS else sample.value


@every_type
def test_comparison(sample: Sample) -> None:
    """Compare all pairs: values are equal if the Python values are."""
    with balanced(), sample.make() as value:
        assert equal(value, value)
        for other_sample in SAMPLES:
            expected = comparable(sample) == comparable(other_sample)
            with other_sample.make() as other:
                assert equal(value, other) is expected, other_sample.name
                assert equal(other, value) is expected, other_sample.name


# ---- values that may only be borrowed, and boxes ----------------------------------------------------------


@pytest.mark.parametrize(
    "sample",
    [k for k in SAMPLES if k.row in ("STR", "STR_OBJECT", "BYTES", "BYTES_OBJECT")],
    ids=lambda k: k.name,
)
def test_borrowed_text(sample: Sample) -> None:
    with balanced(), sample.make() as value:
        text = c.new("AnyffiTextView*")
        assert lib.anyffi_value_get_text_view(value.at, text) == 0
        is_str = isinstance(sample.value, str)
        view = Value(CODES["STR_VIEW" if is_str else "BYTES_VIEW"], as_pointer=c.cast("void*", text.data))
        view.at.aux = text.length << 2 | (text.encoding if is_str else 0)
        assert equal(view, value)
        assert hash_of(view) == hash_of(value)
        assert lib.anyffi_type_get_family(view.code) == lib.anyffi_type_get_family(value.code)
        with own(view) as owned:
            assert owned.code == value.code
            assert read(owned.at) == sample.value


def test_a_borrowed_tensor_is_not_kept() -> None:
    data, _extents = tensor_data([2, 2], [1, 2], c.new("float[]", 4))
    with balanced():
        view = Value(CODES["TENSOR_VIEW"], as_pointer=data)
        assert lib.anyffi_type_get_family(view.code) == CODES["TENSOR"]
        with pytest.raises(Raised, match="TypeError.*cannot be stored"):
            own(view)


@every_type
def test_boxes(sample: Sample) -> None:
    """An inline value can be boxed as an object, and is unboxed when it becomes an owned value."""
    with balanced(), sample.make() as value:
        if value.code > 0:
            return
        with made(lib.anyffi_box_create, value.at) as box:
            assert box.code == CODES["BOX"]
            assert exact(read(box.at).parts) == exact([sample.value])
            assert equal(box, value)
            with own(box) as opened:
                assert bytes(opened) == bytes(value)


@pytest.mark.parametrize("lanes", [0, 1], ids=["of no bytes", "float32"])
def test_copies_of_odd_tensors(lanes: int) -> None:
    """Elements of zero bytes, of which there may be any number; an axis of one element, with any stride."""
    memory = c.new("float[]", [1.5, 2.5])
    data, _extents = tensor_data(
        [1, 1 << 50, 1] if lanes == 0 else [1, 2, 1], [2**63 - 1, 1, -(2**63)], memory
    )
    data.dtype.lanes = lanes
    with balanced(), made(lib.anyffi_tensor_copy, data, 0) as copy:
        tensor = copy.object("AnyffiTensor").tensor
        assert [tensor.shape[axis] for axis in range(3)] == [data.shape[axis] for axis in range(3)]
        if lanes:
            assert list(c.cast("float*", tensor.data)[0:2]) == [1.5, 2.5]
