"""String operations in C++ against those of `str`: text of every width, lone surrogates included.

One property per operation; the functions `testing.text.*` call the methods of `anyffi::String`.
"""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import cpython_only

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

#: Few code points of each width, so that needles are found: letters of both cases, white space of every width, high
#: and low surrogates, the limits of each width, and pairs whose bytes overlap those of other pairs.
_POINTS = (
    "\0aAbzZ@[`{ \t\n\x1f\x7f",
    "\x80\x85\xa0\xe9\xc9\xff",
    "\u0100\u0101\u0141\u2003\u2028\u3000\ud800\ud83d\udc00\udfff\uffff",
    "\U00010000\U0001f600\U0010ffff",
)
#: Of at most one width, so that all pairs of widths occur.
texts = st.one_of(
    *(st.text(st.sampled_from("".join(_POINTS[: width + 1])), max_size=40) for width in range(len(_POINTS))),
    st.text(st.sampled_from("ab"), max_size=80),
    st.text(st.characters(), max_size=20),
)
#: Short texts, which occur in others.
needles = st.one_of(
    st.text(st.sampled_from("ab"), max_size=3), st.text(st.sampled_from("".join(_POINTS)), max_size=2)
)
indices = st.one_of(
    st.integers(-45, 45), st.sampled_from((INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX))
)
counts = st.one_of(st.integers(-2, 6), st.sampled_from((INT64_MIN, INT64_MAX)))


@st.composite
def _with_parts(draw: Any) -> tuple[str, str]:
    """Draw a text and a likely substring."""
    text = draw(texts)
    start, stop = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    return text, draw(st.one_of(st.just(text[start:stop]), st.just(text[start : start + 1]), needles))


with_parts = _with_parts()


def same(got: Any, expected: Any) -> None:
    assert got == expected
    assert type(got) is type(expected)


def operation(ffi: Any, name: str) -> Any:
    return ffi.get_global_func(f"testing.text.{name}")


def test_comparison(ffi: Any) -> None:
    compare, equal = operation(ffi, "compare"), ffi.get_global_func("testing.equal")

    @given(texts, texts)
    @example("\ud83d\ude00", "\U0001f600")  # two surrogates are two code points, and compare less
    @example("\uffff", "\U00010000")
    @example("\xff" * 12, "\xff" * 11 + "\u0100")
    @example("a" * 12, "a" * 12 + "\0")
    def check(a: str, b: str) -> None:
        same(compare(a, b), (a > b) - (a < b))
        same(compare(a, a), 0)
        same(equal(a, b), a == b)

    check()


def test_hash(ffi: Any) -> None:
    """Equal texts have equal hashes, however they were made."""
    concat, of = operation(ffi, "concat"), ffi.get_global_func("testing.hash")

    @given(texts, texts)
    def check(a: str, b: str) -> None:
        assert of(concat(a, b)) == of(a + b)

    check()


def test_concatenation(ffi: Any) -> None:
    concat = operation(ffi, "concat")

    @given(texts, texts)
    def check(a: str, b: str) -> None:
        same(concat(a, b), a + b)

    check()


def test_size_index_and_iteration(ffi: Any) -> None:
    size, item, iterate = (ffi.get_global_func(f"testing.{name}") for name in ("size", "item", "iterate"))

    @given(texts, indices)
    def check(s: str, index: int) -> None:
        same(size(s), len(s))
        same(list(iterate(s)), list(s))
        if -len(s) <= index < len(s):
            same(item(s, index), s[index])
        else:
            with pytest.raises(IndexError, match="^string index out of range$"):
                item(s, index)

    check()


def test_slice(ffi: Any) -> None:
    slice_ = operation(ffi, "slice")

    @given(texts, indices, indices)
    def check(s: str, start: int, stop: int) -> None:
        same(slice_(s, start, stop), s[start:stop])
        same(slice_(s, start), s[start:])

    check()


@pytest.mark.parametrize("name", ["find", "rfind"])
def test_find(ffi: Any, name: str) -> None:
    find, expected = operation(ffi, name), getattr(str, name)

    @given(with_parts, indices, indices)
    @example(("", ""), 0, 0)
    @example(("abc", ""), 3, INT64_MAX)
    @example(("abc", ""), 4, INT64_MAX)
    @example(("\u0101\u0101", "\u0101"), 1, 2)
    @example(("\u4100\u0041", "\u4141"), 0, 9)  # the bytes occur, but not aligned to code points
    @example(("\u4100\0\U00010000A", "A"), 0, 9)
    def check(pair: tuple[str, str], start: int, stop: int) -> None:
        s, needle = pair
        same(find(s, needle), expected(s, needle))
        same(find(s, needle, start), expected(s, needle, start))
        same(find(s, needle, start, stop), expected(s, needle, start, stop))

    check()


@pytest.mark.parametrize("name", ["startswith", "endswith"])
def test_prefix_and_suffix(ffi: Any, name: str) -> None:
    test, expected = operation(ffi, name), getattr(str, name)

    @given(with_parts)
    def check(pair: tuple[str, str]) -> None:
        s, part = pair
        same(test(s, part), expected(s, part))
        same(test(part, s), expected(part, s))
        same(test(s, s), True)

    check()


@cpython_only(
    "PyPy's own `split` takes U+001C to U+001F for no white space, and room for as many pieces as it may make"
)
def test_split(ffi: Any) -> None:
    split = operation(ffi, "split")

    @given(with_parts, counts)
    @example(("a b ", " "), 1)
    @example((" a  b  c ", "b"), 2)
    @example((" a ", " "), 0)
    def check(pair: tuple[str, str], most: int) -> None:
        s, separator = pair
        same(list(split(s)), s.split())
        same(list(split(s, None, most)), s.split(None, most))
        if separator:
            same(list(split(s, separator)), s.split(separator))
            same(list(split(s, separator, most)), s.split(separator, most))
        else:
            with pytest.raises(ValueError, match="^empty separator$"):
                split(s, separator)

    check()


def test_join(ffi: Any) -> None:
    join = operation(ffi, "join")

    @given(texts, st.lists(texts, max_size=6))
    def check(separator: str, pieces: list[str]) -> None:
        same(join(separator, pieces), separator.join(pieces))
        same(join(separator, tuple(pieces)), separator.join(pieces))

    check()


@pytest.mark.parametrize("name", ["strip", "lstrip", "rstrip"])
def test_strip(ffi: Any, name: str) -> None:
    strip, expected = operation(ffi, name), getattr(str, name)

    @given(texts, texts)
    def check(s: str, characters: str) -> None:
        same(strip(s), expected(s))
        same(strip(s, characters), expected(s, characters))

    check()


def test_replace(ffi: Any) -> None:
    replace = operation(ffi, "replace")

    @given(with_parts, needles, counts)
    @example(("", ""), "x", 1)
    @example(("abc", ""), "\U0001f600", -1)
    @example(("\U0001f600", "\U0001f600"), "a", -1)  # the result is narrower
    def check(pair: tuple[str, str], replacement: str, most: int) -> None:
        s, former = pair
        same(replace(s, former, replacement), s.replace(former, replacement))
        same(replace(s, former, replacement, most), s.replace(former, replacement, most))

    check()


_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def test_ascii_case(ffi: Any) -> None:
    """Only A to Z change: `str.lower` depends on the Unicode version and may change the length."""
    lower, upper = operation(ffi, "ascii_lower"), operation(ffi, "ascii_upper")

    @given(texts)
    @example("\xe9\xdf\u0130\ufb01\u212a")
    def check(s: str) -> None:
        same(lower(s), s.translate(_LOWER))
        same(upper(s), s.translate(_UPPER))
        if s.isascii():
            same(lower(s), s.lower())
            same(upper(s), s.upper())

    check()


def test_white_space(ffi: Any) -> None:
    """All white space of Unicode, and nothing else."""
    spaces = "".join(character for character in map(chr, range(0x110000)) if character.isspace())
    strip, split = operation(ffi, "strip"), operation(ffi, "split")
    assert strip(spaces) == ""
    assert list(split(spaces)) == []
    others = "".join(character for character in map(chr, range(0x110000)) if not character.isspace())
    assert list(split(others)) == [others]
    assert split(spaces.join("abc")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("compare", ("a", b"a")),
        ("concat", ("a", 1)),
        ("slice", (None, 0)),
        ("find", ("a", 97)),
        ("split", ("a", b"a")),
        ("join", ("a", ["b", 1])),
        ("join", ("a", "bc")),
        ("strip", ("a", 1)),
        ("replace", ("a", "a", None)),
        ("ascii_lower", (b"a",)),
    ],
)
def test_other_types_are_refused(ffi: Any, name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        operation(ffi, name)(*arguments)
