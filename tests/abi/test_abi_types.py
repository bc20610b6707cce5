"""Type metadata through the C ABI alone, and types that C registers."""

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
    call,
    check,
    equal,
    find_function,
    hash_of,
    lib,
    made,
    own,
    read_text,
)
from c_abi_values import make_int, read
from support import collect


def text(pointer: Any) -> str | None:
    return None if pointer == c.NULL else c.string(pointer).decode()


def ancestors(code: int) -> list[int]:
    info = lib.anyffi_type_get_info(code)
    return [info.ancestors[i] for i in range(info.depth)]


def fields(code: int) -> dict[str | None, tuple[str | None, str | None]]:
    """Return type and documentation of the fields that a type itself declares."""
    info = lib.anyffi_type_get_info(code)
    rows = [info.fields[i] for i in range(info.num_fields)]
    return {text(row.name): (text(row.type_name), text(row.doc)) for row in rows}


def get(value: Value, name: str) -> Value:
    """Read a field of an object, searching its type before the ancestors."""
    for code in (value.code, *reversed(ancestors(value.code))):
        info = lib.anyffi_type_get_info(code)
        for i in range(info.num_fields):
            if text(info.fields[i].name) == name:
                return made(info.fields[i].get, value.at.as_object, info.fields + i)
    raise LookupError(name)


# ---- types of the runtime and of C++ ----------------------------------------------------------------------


def test_all_types_are_listed() -> None:
    count = lib.anyffi_type_list(c.NULL, 0)
    codes = c.new("int32_t[]", count)
    assert lib.anyffi_type_list(codes, count) == count
    found = list(codes)
    assert found == sorted(found)
    assert set(CODES.values()) <= set(found)
    for code in found:
        info = lib.anyffi_type_get_info(code)
        assert info.type_code == code
        found_by_key = lib.anyffi_type_find(info.type_key)
        # A key may have been registered again for a class by a newer version of its library.
        assert found_by_key == info or (code not in CODES.values() and found_by_key.type_code > code)
        assert ancestors(code) == [*ancestors(info.parent), info.parent] or info.parent == code
        for other in found:
            assert lib.anyffi_type_is_a(code, other) == (other == code or other in ancestors(code))
    assert lib.anyffi_type_get_info(found[-1] + 1) == c.NULL
    assert lib.anyffi_type_get_info(127) == lib.anyffi_type_get_info(-100) == c.NULL
    assert lib.anyffi_type_find(b"nonsense") == c.NULL


STRUCTS = {
    "BOX": "AnyffiBox",
    "STR_OBJECT": "AnyffiStrObject",
    "BYTES_OBJECT": "AnyffiBytesObject",
    "BIG_INT": "AnyffiBigInt",
    "COMPLEX": "AnyffiComplex",
    "SLICE": "AnyffiSlice",
    "ERROR": "AnyffiError",
    "FUNCTION": "AnyffiFunction",
    "PY_OBJECT": "AnyffiPyObject",
    "TENSOR": "AnyffiTensor",
    **dict.fromkeys(("ARRAY", "LIST", "SHAPE"), "AnyffiSequence"),
    **dict.fromkeys(("MAP", "DICT", "SET", "FROZEN_SET"), "AnyffiMapping"),
}


@pytest.mark.parametrize("row", TYPES, ids=lambda row: row[0])
def test_sizes_of_instances(row: list[str]) -> None:
    is_object = row[4] == "OBJECT"
    struct = STRUCTS.get(row[0], "AnyffiObject" if is_object else "AnyffiValue")
    assert lib.anyffi_type_get_info(int(row[1])).instance_size == c.sizeof(struct)


@pytest.mark.parametrize("row", TYPES, ids=lambda row: row[0])
def test_metadata_of_the_runtime_types(row: list[str]) -> None:
    doc = text(lib.anyffi_type_get_info(int(row[1])).doc)
    if row[4] == "BORROWED" or row[0] in ("MISSING", "UNSET"):
        assert doc is None
    else:
        assert doc is not None
        assert doc.endswith(".")
    assert fields(int(row[1])) == {}


def test_a_type_of_cpp() -> None:
    with (
        find_function("testing.new_counted_child") as new,
        make_int(21) as number,
        call(new, number) as child,
    ):
        parent = lib.anyffi_type_find(b"testing.Counted").type_code
        assert ancestors(child.code) == [CODES["OBJECT"], parent]
        assert text(lib.anyffi_type_get_info(parent).doc) == "An object whose instances are counted."
        assert text(lib.anyffi_type_get_info(child.code).doc) is None
        assert text(lib.anyffi_type_get_info(child.code).python_name) == "CountedChild"
        assert fields(parent) == {
            "number": ("int", "What it was made from."),
            "doubled": ("int", "Twice the number."),
        }
        assert fields(child.code) == {"name": ("str", "Always the same.")}
        for name, expected in (("number", 21), ("doubled", 42), ("name", "child")):
            with get(child, name) as value:
                assert read(value.at) == expected
        with (
            make_int(2**62) as large,
            call(new, large) as other,
            pytest.raises(Raised, match="too large to double"),
        ):
            get(other, "doubled")


# ---- types that C registers -------------------------------------------------------------------------------

POINT = "c_abi.Point"
c.cdef("typedef struct Point { AnyffiObject header; int64_t x; } Point;")
#: Objects for which the deleter was called.
deleted: list[int] = []


@c.callback("int(AnyffiObject*, const AnyffiFieldInfo*, AnyffiValue*)")  # type: ignore[untyped-decorator]
def _get_x(point: Any, field: Any, out: Any) -> int:
    out.type_code, out.as_int = CODES["INT"], c.cast("Point*", point).x
    return 0


@c.callback("int(AnyffiObject*, const AnyffiFieldInfo*, AnyffiValue*)")  # type: ignore[untyped-decorator]
def _get_y(point: Any, field: Any, out: Any) -> int:
    return int(lib.anyffi_error_raise(b"LookupError", b"there is no y"))


@c.callback("int(const AnyffiValue*, int64_t*)")  # type: ignore[untyped-decorator]
def _hash(point: Any, out: Any) -> int:
    out[0] = 1000 + c.cast("Point*", point.as_object).x
    return 0


@c.callback("int(const AnyffiValue*, const AnyffiValue*, int32_t*)")  # type: ignore[untyped-decorator]
def _equal(a: Any, b: Any, out: Any) -> int:
    same_type = a.type_code == b.type_code
    out[0] = same_type and c.cast("Point*", a.as_object).x == c.cast("Point*", b.as_object).x
    return 0


@c.callback("int(const AnyffiValue*, AnyffiValue*)")  # type: ignore[untyped-decorator]
def _text(point: Any, out: Any) -> int:
    shown = f"Point({c.cast('Point*', point.as_object).x})".encode()
    return int(lib.anyffi_str_from_utf8(shown, len(shown), out))


@c.callback("void(AnyffiObject*, int32_t)")  # type: ignore[untyped-decorator]
def _delete(point: Any, what: int) -> None:
    deleted.append(what)
    if what & 2:
        lib.anyffi_free(point)


def register(info: Any) -> int:
    out = c.new("int32_t*")
    check(lib.anyffi_type_register(info, out))
    return int(out[0])


#: Names and fields of registered types, which are never freed.
_kept: list[Any] = []


def type_info(key: str, parent: int) -> Any:
    info = c.new("AnyffiTypeInfo*")
    info.struct_size = c.sizeof("AnyffiTypeInfo")
    info.parent = parent
    info.type_key = name = c.new("char[]", key.encode())
    _kept.extend((info, name))
    return info


@pytest.fixture(scope="module")
def point_code() -> int:
    info = type_info(POINT, CODES["OBJECT"])
    rows = c.new("AnyffiFieldInfo[]", 2)
    names = [c.new("char[]", name) for name in (b"x", b"To the right.", b"int", b"y")]
    rows[0].name, rows[0].doc, rows[0].type_name, rows[0].get = *names[:3], _get_x
    rows[1].name, rows[1].get = names[3], _get_y
    doc = c.new("char[]", b"A place on the line.")
    _kept.extend((*names, rows, doc))
    info.fields, info.num_fields, info.doc = rows, 2, doc
    info.hash, info.equal, info.repr = _hash, _equal, _text
    info.instance_size = c.sizeof("Point")
    return register(info)


def make_point(code: int, x: int) -> Value:
    point = c.cast("Point*", lib.anyffi_alloc(c.sizeof("Point")))
    point.header.type_code = code
    point.header.weak_count = point.header.strong_count = 1
    point.header.deleter, point.header.wrapper = _delete, c.NULL
    point.x = x
    return Value(code, as_object=c.cast("AnyffiObject*", point))


@pytest.mark.keeps_live("types live for ever")
def test_a_type_of_c(point_code: int) -> None:
    assert point_code >= 128
    info = lib.anyffi_type_get_info(point_code)
    assert (text(info.type_key), text(info.python_name)) == (POINT, "Point")
    assert text(info.doc) == "A place on the line."
    assert (info.family, info.parent, info.storage) == (point_code, CODES["OBJECT"], 2)
    assert fields(point_code) == {"x": ("int", "To the right."), "y": (None, None)}
    # Registering a key again returns the same type, or fails for another parent.
    assert register(type_info(POINT, CODES["OBJECT"])) == point_code
    child = register(type_info("c_abi.Child", point_code))
    assert ancestors(child) == [CODES["OBJECT"], point_code]
    for key, parent, message in (
        (
            POINT,
            child,
            "registered by another library, with the parent 'Object', and here with 'c_abi.Child'",
        ),
        ("c_abi.Bad", CODES["LIST"], "cannot derive from List"),
        ("c_abi.Bad", 100_000, "cannot derive from an unknown type"),
        ("List", CODES["OBJECT"], "is reserved for the runtime"),
        ("", CODES["OBJECT"], "needs a type key"),
    ):
        with pytest.raises(Raised, match=message):
            register(type_info(key, parent))


def test_an_object_of_c(point_code: int) -> None:
    deleted.clear()
    with balanced(), make_point(point_code, 5) as one, make_point(point_code, 5) as same:
        with make_point(point_code, 6) as other:
            assert (equal(one, same), equal(one, other)) == (True, False)
        assert deleted == [3]
        assert hash_of(one) == 1005
        with made(lib.anyffi_value_repr, one.at) as shown:
            assert read_text(shown.at) == "Point(5)"
        with get(one, "x") as x, make_int(5) as five:
            assert equal(x, five)
        with pytest.raises(Raised, match="there is no y"):
            get(one, "y")
        with made(lib.anyffi_mapping_create, CODES["DICT"], 0) as d:
            existed = c.new("int32_t*")
            check(lib.anyffi_mapping_set(d.at.as_object, own(one).at, make_int(1).at, existed))
            check(lib.anyffi_mapping_set(d.at.as_object, own(same).at, make_int(2).at, existed))
            assert existed[0] == 1
        lib.anyffi_object_retain_weak(one.object())
        header = one.object()
        deleted.clear()
        one.release()
        assert deleted == [1]
        lib.anyffi_object_release_weak(header)
        assert deleted == [1, 2]


def test_an_object_of_c_in_python(ffi: Any, point_code: int) -> None:
    seen: list[Any] = []

    def look(x: Any) -> Any:
        get_field = ffi.get_global_func("anyffi.Object.get_field")
        seen.extend((type(x).__name__, get_field(x, "x"), ffi.get_global_func("anyffi.value.repr")(x)))
        return [x, x]

    ffi.register_global_func("c_abi.look", look)
    try:
        with find_function("c_abi.look") as function, make_point(point_code, 7) as point:
            with call(function, point) as both:
                first, second = (both.object("AnyffiSequence").data[i].as_object for i in (0, 1))
                assert first == second == point.at.as_object
            collect()
            assert point.object().strong_count == 1
            assert point.object().wrapper == c.NULL
    finally:
        ffi.remove_global_func("c_abi.look")
    assert seen == ["Point", 7, "Point(7)"]
    _, doc, _, fields, *_ = ffi.get_global_func("anyffi.type.describe")(point_code)
    assert fields == (("x", "int", "To the right.", False), ("y", None, None, False))
    assert doc == "A place on the line."
