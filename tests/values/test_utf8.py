"""Text as UTF-8 in C++: parameters that read it, and results that are decoded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.support import Build

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
using namespace anyffi;

ANYFFI_EXPORT(string, [](const std::string& x) { return x; }, arg("x"));
ANYFFI_EXPORT(view, [](std::string_view x) { return x; }, arg("x"));
ANYFFI_EXPORT(pointer, [](const char* x) { return x; }, arg("x"));
ANYFFI_EXPORT(optional, [](std::optional<std::string> x) { return x; }, arg("x"));
ANYFFI_EXPORT(second, [](int64_t n, const std::string& x) { return x + std::to_string(n); }, arg("n"), arg("x"));
ANYFFI_EXPORT(ninth, [](int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                        const std::string& x) { return x; });
ANYFFI_EXPORT(either, [](const Bytes&) { return "bytes"; }).def([](const std::string& x) { return x; });
ANYFFI_EXPORT(code, [](AnyView x) { return x.type_code(); });
ANYFFI_EXPORT(decode, [](const Bytes& x) {
  return std::string(reinterpret_cast<const char*>(x.data()), static_cast<size_t>(x.size()));
});
"""

#: Texts of every width, with lengths around the limit of inline storage and the block sizes of loops.
CHARACTERS = ["z", "\xe9", "\u4e00", "\U00020000"]
TEXTS = [character * length for character in CHARACTERS for length in (1, 2, 5, 6, 11, 12, 63, 64, 65, 1000)]
MIXED = [
    "".join(CHARACTERS) * 9,
    "ab\xe9" * 30,
    "\xe9" * 20 + "\u4e00" * 3,
    "a" * 64 + "\U0001f600\x00" + "\xff" * 9,
]


@pytest.fixture(scope="module")
def lib(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("utf8.cc", SOURCE))


def test_every_width(lib: Any) -> None:
    for text in TEXTS + MIXED:
        for _ in range(2):
            assert lib.string(text) == lib.string(x=text) == lib.view(text) == text
            assert lib.optional(text) == lib.either(text) == text
            assert lib.second(1, text) == lib.second(x=text, n=1) == text + "1"
            assert lib.ninth(*range(8), text) == text
            if "\0" not in text:
                assert lib.pointer(text) == text
        # A parameter of any other type gets the text itself.
        assert lib.code(text) == lib.code(text.encode().decode())


def test_refused_text(lib: Any) -> None:
    for text, start in (("\u4e00\ud800" * 10, 1), ("\udc80" * 20, 0)):
        for function in (lib.string, lib.view, lib.pointer, lib.optional):
            with pytest.raises(UnicodeEncodeError) as caught:
                function(text)
            assert (caught.value.object, caught.value.start) == (text, start)
        with pytest.raises(TypeError, match=r"argument 0 \(n\): expected int, got str"):
            lib.second("1", text)
    with pytest.raises(ValueError, match="embedded null character"):
        lib.pointer("\u4e00\0" * 10)
    with pytest.raises(TypeError, match="expected str, got bytes"):
        lib.string("\u4e00".encode() * 10)
    assert lib.either("\u4e00".encode() * 10) == "bytes"


@given(st.text().map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(), st.binary(max_size=4))
def test_decoding_is_pythons(lib: Any, data: bytes, more: bytes) -> None:
    for given_bytes in (data, data * 5, data + more, data * 3 + more + data):
        try:
            expected: Any = given_bytes.decode()
        except UnicodeDecodeError as error:
            expected = error.args
        try:
            got: Any = lib.decode(given_bytes)
        except UnicodeDecodeError as error:
            got = error.args
        assert got == expected
