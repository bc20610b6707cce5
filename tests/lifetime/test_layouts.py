"""Layouts of the interpreter's objects: checked at import, and finalizers that do not depend on its state."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from programs import run_program
from support import cpython_only

of_cpython = cpython_only("PyPy's objects have no address")

#: Imports anyffi with lines of layout.py replaced; prints the error.
BROKEN = """
import importlib.machinery as machinery

def get_code(self, fullname, original=machinery.SourceFileLoader.get_code):
    if fullname != "anyffi._ctypes.layout":
        return original(self, fullname)
    source = self.get_data(self.path).decode()
    for old, new in {changes!r}:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return compile(source, self.path, "exec")

machinery.SourceFileLoader.get_code = get_code
try:
    import anyffi
    print("fits")
except ImportError as error:
    print(error)
"""


def import_changed(*changes: tuple[str, str]) -> str:
    return run_program(BROKEN.format(changes=changes), "ctypes").strip()


KNOWN = "_OLDEST, _NEWEST = (3, 9), (3, 15)"
NO_BYTES = "BYTES = bytes.__basicsize__ - 1", "BYTES = bytes.__basicsize__ - 2"


@of_cpython
@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("TYPE = object.__basicsize__ - POINTER", "TYPE = 0", "an object's type"),
        (*NO_BYTES, "the content of bytes"),
        ('ASCII = sys.getsizeof("") - 1', 'ASCII = sys.getsizeof("") - 9', "ASCII text"),
        ("word == id(probe)", "word == id(words)", "the slot _memory of _Slots"),
        ("TUPLE, LIST = tuple.__basicsize__", "TUPLE, LIST = POINTER", "the items of a sequence"),
        ("SIZE + POINTER", "SIZE", "the items of a sequence"),
        (
            "SIZE = object.__basicsize__\n#: `ob_item`",
            "SIZE = POINTER\n#: `ob_item`",
            "the size of a sequence",
        ),
        ("STATE = LENGTH + 2", "LENGTH, STATE = LENGTH + POINTER, LENGTH + 2", "the length of text"),
        ("1 << (KIND + 4)", "1 << (KIND + 3)", "the state of text"),
    ],
)
def test_a_layout_that_does_not_fit_is_an_import_error(old: str, new: str, what: str) -> None:
    said = import_changed((old, new))
    version = sys.version.partition(" ")[0]
    assert f"does not know how this Python ({version}) stores {what}; it is one of the known versions" in said


@of_cpython
def test_an_unknown_version_depends_on_the_checks() -> None:
    unknown = KNOWN, "_OLDEST, _NEWEST = (3, 7), (3, 8)"
    assert import_changed(unknown) == "fits"
    assert "it is none of the known versions, 3.7 to 3.8." in import_changed(unknown, NO_BYTES)


@of_cpython
@pytest.mark.skipif("t" in getattr(sys, "abiflags", ""), reason="no refcount is read without the GIL")
def test_a_refcount_that_cannot_be_read_is_an_import_error() -> None:
    said = import_changed(("COUNT = TYPE - POINTER", "COUNT = TYPE"))
    assert "stores a refcount; it is one of" in said


def test_a_wrapper_can_end_at_the_recursion_limit(ffi: Any) -> None:
    """The object then has no wrapper: reading the element makes a new one, and does not use the old address."""
    program = """
    import anyffi

    elements = anyffi.List([anyffi.List([1])])
    kept = elements[0]

    def descend():
        global kept
        try:
            descend()
        except RecursionError:
            kept = None
            raise

    for _ in range(3):
        kept = elements[0]
        try:
            descend()
        except RecursionError:
            pass
        others = [(i, i) for i in range(1000)]
        assert type(elements[0]) is anyffi.List and elements[0] == [1]
    print("done")
    """
    assert run_program(program, ffi.ffi_mode) == "done\n"


@of_cpython
def test_an_exception_in_flight_survives_the_end_of_a_wrapper(ffi: Any) -> None:
    """Releasing the object of a wrapper may run Python code."""
    from c_abi import c, check, lib, made, make_str

    released: list[Any] = []

    @c.callback("AnyffiCall")  # type: ignore[untyped-decorator]
    def call(self: Any, args: Any, num_args: int, result: Any) -> int:
        return 0

    @c.callback("void(void*)")  # type: ignore[untyped-decorator]
    def release(self: Any) -> None:
        released.append(ffi.to_python(ffi.convert([1])))

    with (
        make_str("layouts.released") as name,
        made(lib.anyffi_function_create, call, c.NULL, release, c.NULL) as function,
    ):
        check(lib.anyffi_registry_set(name.at, function.at, 0))
        wrappers = [ffi.get_global_func("layouts.released")]
        check(lib.anyffi_registry_remove(name.at, c.new("int32_t*")))
    assert not released

    def fail() -> None:
        raise KeyError("in flight")

    with pytest.raises(KeyError, match="in flight") as caught:
        print(wrappers.pop(), fail())
    assert caught.value.__context__ is None
    assert released == [[1]]
