"""Text and bytes that a C++ function only reads are not copied, unless it keeps them; nor are large results."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest
from support import CPYTHON, run_in_threads

from tests.support.support import Build

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
using namespace anyffi;

static List<> kept;
static Bytes kept_bytes;
static String kept_text;

ANYFFI_EXPORT(codes, [](const Bytes& b, const String& s) {
  return std::vector<int64_t>{b.value().type_code(), s.value().type_code()};
});
ANYFFI_EXPORT(sizes, [](const Bytes& b, const String& s) { return b.size() + s.size(); });
ANYFFI_EXPORT(keep, [](const Bytes& b, const String& s) {
  Bytes copied = b;
  String moved = String(s);
  kept.push_back(b);
  kept.push_back(s);
  kept.push_back(b.value());
  kept.push_back(AnyValue(s));
  kept.push_back(std::move(copied));
  kept.push_back(std::move(moved));
  kept_bytes = b;
  kept_text = s;
  auto by_copy = [b, s] { kept.push_back(b), kept.push_back(s); };
  by_copy();
});
ANYFFI_EXPORT(take, [] {
  kept.push_back(kept_bytes);
  kept.push_back(kept_text);
  List<> result = kept;
  kept = List<>();
  kept_bytes = Bytes();
  kept_text = String();
  return result;
});
ANYFFI_EXPORT(same_bytes, [](const Bytes& b) -> const Bytes& { return b; });
ANYFFI_EXPORT(same_text, [](const String& s) -> const String& { return s; });
ANYFFI_EXPORT(by_value, [](Bytes b, String s) {
  kept.push_back(std::move(b));
  kept.push_back(std::move(s));
});
ANYFFI_EXPORT(call, [](const Bytes& b, const String& s, const Function& f) { return f(b, s); });
ANYFFI_EXPORT(call_part, [](const String& s, const Function& f) {
  AnyffiTextView text;
  anyffi_value_get_text_view(&s.value().raw(), &text);
  return f(String(text.data, text.length / 2, text.encoding), s);
});
ANYFFI_EXPORT(text, [](int64_t size, const std::string& end) {
  std::string text(static_cast<size_t>(size), 'x');
  return text + end;
});
ANYFFI_EXPORT(texts, [](int64_t size) {
  std::string text(static_cast<size_t>(size), 'x');
  return std::vector<std::string>{text, text};
});
"""
TEXTS = (
    "",
    "short",
    "exactly 11c",
    "longer than inline",
    "Größe über alles",
    "雪" * 20,
    "😀" * 20,
    "a\0b" * 20,
    "x" * 100_000,
)


@pytest.fixture(scope="module")
def lib(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("borrowed_text.cc", SOURCE))
    for name in dir(module):
        getattr(module, name)
    module.take()
    return module


def test_long_ones_are_borrowed(ffi: Any, lib: Any) -> None:
    str_view, bytes_view = -6, -7
    assert lib.codes(b"x" * 100, "x" * 100) == [bytes_view, str_view]
    assert lib.codes(b"x" * 1_000_000, "雪" * 1_000_000) == [bytes_view, str_view]
    assert lib.codes(bytearray(100), "x") != [bytes_view, str_view]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_kept_outlives_the_argument(ffi: Any, lib: Any, text: str) -> None:
    data = text.encode()
    given, given_bytes = "".join(list(text)), bytes(bytearray(data))
    assert lib.sizes(given_bytes, given) == len(data) + len(text)
    lib.keep(given_bytes, given)
    lib.by_value(given_bytes, given)
    del given, given_bytes
    gc.collect()
    _ = ["y" * len(text) for _ in range(10)], [b"y" * len(data) for _ in range(10)]
    assert ffi.to_python(lib.take()) == [data, text] * 6
    assert lib.same_text(text) == text
    assert lib.same_bytes(data) == data
    assert lib.call(data, text, lambda b, s: [b, s]) == [data, text]


def test_other_types_are_refused(ffi: Any, lib: Any) -> None:
    with pytest.raises(TypeError, match=r"argument 0 \(arg0\): expected bytes, got str"):
        lib.sizes("x" * 100, "x")
    with pytest.raises(TypeError, match=r"argument 1 \(arg1\): expected str, got bytes"):
        lib.sizes(b"x", b"x" * 100)
    with pytest.raises(TypeError, match=r"argument 1 \(arg1\): expected str, got int"):
        lib.sizes(b"x", 1)


@pytest.mark.parametrize("size", [0, 11, 12, 4095, 4096, 4160, 1_000_000])
@pytest.mark.parametrize("end", ["", "a", "\0", "é", "雪", "x" * 63 + "é"])
def test_large_results(ffi: Any, lib: Any, size: int, end: str) -> None:
    assert lib.text(size, end) == "x" * size + end
    assert ffi.to_python(lib.texts(size)) == ["x" * size] * 2
    table = ffi.Dict({lib.texts(size)[0]: 1})
    assert table["x" * size] == 1


@pytest.mark.parametrize("size", [10_000, 100_000, 1_000_000])
def test_long_ones_reach_callbacks(ffi: Any, lib: Any, size: int) -> None:
    apply = ffi.get_global_func("testing.apply")
    for text in ("x" * size, "é" * size, "雪" * size, "😀" * size):
        data = text.encode()
        assert lib.call(data, text, lambda b, s: (b, s)) == (data, text)
        assert apply(lambda *args: args, text, data, text) == (text, data, text)
        assert lib.call_part(text, lambda half, whole: (len(half), whole)) == (size // 2, text)

        def nested(depth: int, text: str = text) -> int:
            return 1 + apply(lambda s: 0 if s != text else depth and nested(depth - 1), text)

        assert nested(5) == 6


@pytest.mark.skipif(not CPYTHON, reason="refcounts")
def test_calls_keep_no_text(ffi: Any, lib: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    text, data = "x" * 100_000, b"x" * 100_000
    before = sys.getrefcount(text), sys.getrefcount(data)

    def fail(*args: Any) -> None:
        raise ValueError(len(args))

    for _ in range(10):
        with pytest.raises(ValueError, match="^2$"):
            apply(fail, text, data)
        with pytest.raises(ValueError, match="^2$"):
            lib.call(data, text, fail)
        with pytest.raises(TypeError):
            lib.call(data, 5, fail)
        with pytest.raises(UnicodeEncodeError):
            apply(lib.text, 5, "\ud800" * 100_000)
    assert (sys.getrefcount(text), sys.getrefcount(data)) == before


def test_threads_pass_one_text(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    text, wrong = "x" * 100_000, []

    def run() -> None:
        for _ in range(200):
            if apply(lambda a, b: (a, b), text, text) != (text, text):
                wrong.append(1)

    run_in_threads([run] * 4)
    assert not wrong
