"""The runtime as any C program uses it: the installed C headers, read by cffi, and the library that they declare.

No marshaller is involved. `c` reads the headers' plain declarations, `lib` is the library, `CODES` the
codes of the header's table of types, and `Value` one owned value.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyffi
import anyffi.testing
import pytest
from support import CPYTHON

if TYPE_CHECKING:
    from typing_extensions import Self

INCLUDE = pathlib.Path(anyffi.find_include_dir())
HEADER = INCLUDE / "anyffi" / "c_api.h"
HEADERS = (HEADER, INCLUDE / "anyffi" / "native_api.h", INCLUDE / "anyffi" / "host_api.h")


def plain_declarations() -> str:
    """Return the parts of the three headers that contain no directives."""
    parts = []
    for header in HEADERS:
        _, begin, rest = header.read_text().partition("// anyffi: plain declarations begin\n")
        plain, end, _ = rest.partition("// anyffi: plain declarations end\n")
        assert begin
        assert end
        parts.append(plain)
    return "".join(parts)


def table(name: str) -> list[list[str]]:
    """Return the rows of one of the header's tables, such as ANYFFI_TYPES."""
    _, _, rest = HEADER.read_text().partition(f"#define {name}(X)")
    body = re.match(r"(?:.*\\\n)*.*\n", rest)
    assert body is not None
    return [[word.strip(' "') for word in row.split(",")] for row in re.findall(r"X\(([^)]*)\)", body[0])]


#: NAME, code, FAMILY, PARENT, storage, type key, Python's name.
TYPES = table("ANYFFI_TYPES")
CODES = {row[0]: int(row[1]) for row in TYPES}

cffi: Any = pytest.importorskip("cffi", reason="cffi is not made for CPython 3.13t")
c: Any = cffi.FFI()
c.cdef(plain_declarations())
lib: Any = c.dlopen(anyffi.find_library("anyffi"))


class Raised(Exception):
    """An error that a C function raised, with its kind and message."""


def take_raised() -> tuple[str, str]:
    """Take the raised error of this thread; return its kind and message."""
    with Value() as error:
        lib.anyffi_error_take_raised(error.at)
        assert error.code == CODES["ERROR"]
        lib.anyffi_error_fill(error.at.as_object)  # fills the fields of a host exception
        fields = error.object("AnyffiError")
        return read_text(c.addressof(fields, "kind")), read_text(c.addressof(fields, "message"))


def check(status: int) -> None:
    if status != 0:
        raise Raised(*take_raised())


class Value:
    """An owned value, released at the end of its `with` block."""

    def __init__(self, type_code: int = 0, **fields: Any) -> None:
        self.at = c.new("AnyffiValue*")
        self.at.type_code = type_code
        for name, value in fields.items():
            setattr(self.at, name, value)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def release(self) -> None:
        lib.anyffi_value_release(self.at)
        assert bytes(self) == bytes(16)

    def __bytes__(self) -> bytes:
        return bytes(c.buffer(self.at))

    @property
    def code(self) -> int:
        found: int = self.at.type_code
        return found

    def object(self, struct: str = "AnyffiObject") -> Any:
        """The object as the struct that the header declares for its type."""
        assert self.code > 0
        assert self.at.as_object.type_code == self.code
        return c.cast(f"{struct}*", self.at.as_object)


def made(function: Any, *arguments: Any) -> Value:
    """Call a C function and return the value that it stores at its last argument."""
    value = Value()
    check(function(*arguments, value.at))
    return value


def equal(a: Value, b: Value) -> bool:
    out = c.new("int32_t*")
    check(lib.anyffi_value_equal(a.at, b.at, out))
    return bool({0: 0, 1: 1}[out[0]])


def hash_of(value: Value) -> int:
    out = c.new("int64_t*")
    check(lib.anyffi_value_hash(value.at, out))
    return int(out[0])


def own(value: Value) -> Value:
    return made(lib.anyffi_value_own, value.at)


# ---- text -----------------------------------------------------------------------------------------------


#: Width in bytes of each text encoding, and the codec for single code points.
WIDTHS = (1, 1, 2, 4)


def make_str(text: str, kind: int = 3) -> Value:
    """Create a string from units of encoding `kind`."""
    points = [ord(character) for character in text]
    units = c.new(f"uint{8 * WIDTHS[kind]}_t[]", points)
    return made(lib.anyffi_str_create, units, len(points), kind)


def read_text(at: Any) -> str:
    view = c.new("AnyffiTextView*")
    assert lib.anyffi_value_get_text_view(at, view) == 0
    units = c.cast(f"uint{8 * WIDTHS[view.encoding]}_t*", view.data)
    # Heap text and views end in NUL; inline text does only in ASCII.
    if at.type_code != CODES["STR"] or view.encoding == 0:
        assert units[view.length] == 0
    return "".join(map(chr, c.unpack(units, view.length))) if view.length else ""


def read_bytes(at: Any) -> bytes:
    view = c.new("AnyffiTextView*")
    assert lib.anyffi_value_get_text_view(at, view) == 0
    return bytes(c.buffer(view.data, view.length))


# ---- functions ------------------------------------------------------------------------------------------


def find_function(name: str) -> Value:
    with make_str(name) as key:
        function = made(lib.anyffi_registry_find, key.at)
    assert function.code == CODES["FUNCTION"], name
    return function


def call(function: Value, *arguments: Value) -> Value:
    """Call a function with borrowed arguments."""
    args = c.new("AnyffiValue[]", [argument.at[0] for argument in arguments])
    return made(lib.anyffi_function_call, function.at, args, len(arguments))


def live_blocks() -> int:
    """Count the live blocks of runtime memory, without the blocks that counting needs."""
    with find_function("testing.live_blocks") as function, call(function) as count:
        assert count.code == CODES["INT"]
        found: int = count.at.as_int
        return found


@contextlib.contextmanager
def balanced() -> Iterator[None]:
    """Assert that all runtime memory allocated inside is freed at the end."""
    before = live_blocks()
    yield
    after = live_blocks()
    # On PyPy garbage of earlier tests may be freed meanwhile.
    assert after == before or (after < before and not CPYTHON)
