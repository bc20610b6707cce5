"""The example `text` against plain Python: tokens, counts and n-grams of texts of any width, in chunks of any size."""

from __future__ import annotations

import io
import random
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import example_programs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CPYTHON, SANITIZED, collect, cpython_only, run_python

RULES = ("split", "words")
each_rule = pytest.mark.parametrize("rule", RULES)

#: Where PyPy's `str.split` differs from CPython's, and from its own `str.isspace`.
UNALIKE = "" if CPYTHON else "\x1c\x1d\x1e\x1f\u180e"
EVERY = [c for c in map(chr, range(sys.maxunicode + 1)) if c not in UNALIKE]
SPACES = [c for c in EVERY if c.isspace()]
#: Characters of each width, with white space, NUL and a lone surrogate.
CHARACTERS = st.sampled_from([*"ab_Z09'.,-\0\x1b\x7f", *SPACES, *"éªµ§÷漢字。、👍🐋𝄞", "\ud800", "\udc00"])
TEXT = st.text(CHARACTERS | st.characters(exclude_characters=UNALIKE))
#: Few tokens, so that they repeat; some too long for inline storage.
TOKENS = st.lists(st.sampled_from(["a", "b", "né", "漢字", "👍" * 9, "a_long_token", "é_long_token", "\0"]))
ENCODABLE = st.text(
    CHARACTERS.filter(lambda c: not "\ud800" <= c <= "\udfff")
    | st.characters(codec="utf-8", exclude_characters=UNALIKE)
)
CHUNK = st.integers(1, 20)


@pytest.fixture(scope="module")
def text(ffi: Any) -> Iterator[types.ModuleType]:
    with example_programs.loaded(ffi, "text") as programs:
        # A type is registered at its first use, and never freed.
        list(programs["text"].examples())
        yield programs["text"]


# ---- texts in memory -------------------------------------------------------------------------------------


@given(value=TEXT)
def test_tokens_of_a_text(ffi: Any, text: Any, value: str) -> None:
    assert ffi.to_python(text.split(value)) == value.split()
    assert ffi.to_python(text.words(value)) == text.plain.words(value)
    assert ffi.to_python(text.characters(value)) == list(value)


@pytest.mark.parametrize("highest", [0x7F, 0xFF, 0xFFFF, sys.maxunicode])
def test_every_character(ffi: Any, text: Any, highest: int) -> None:
    # Under the allocator of the sanitizers, the time of Python's own `str.translate` is quadratic.
    step = 50 if SANITIZED and highest > 0xFFFF else 1
    value = "a".join([c for c in EVERY if ord(c) <= highest][::step])
    assert ffi.to_python(text.split(value)) == value.split()
    assert ffi.to_python(text.words(value)) == text.plain.words(value)


@given(value=st.text(st.characters(max_codepoint=0x7F, exclude_characters="\x1c\x1d\x1e\x1f")))
def test_words_of_ascii_are_those_of_a_regular_expression(ffi: Any, text: Any, value: str) -> None:
    assert ffi.to_python(text.words(value)) == re.findall(r"\w+|[^\w\s]", value, re.ASCII)


@given(
    tokens=TOKENS, vocabulary=st.dictionaries(st.sampled_from(["a", "né", "a_long_token"]), st.integers(0, 9))
)
def test_vocabulary(ffi: Any, text: Any, tokens: list[str], vocabulary: dict[str, int]) -> None:
    expected = [vocabulary.get(token, -1) for token in tokens]
    assert ffi.to_python(text.encode(tokens, vocabulary)) == expected
    shared = ffi.convert(vocabulary)
    assert ffi.to_python(text.encode(ffi.convert(tokens), shared, unknown=-1)) == expected
    shared["b"] = 99
    assert ffi.to_python(text.encode(["b", "c"], shared, 7)) == [99, 7]


@given(tokens=TOKENS, n=st.integers(1, 4))
def test_ngrams(ffi: Any, text: Any, tokens: list[str], n: int) -> None:
    counts = ffi.to_python(text.ngrams(tokens, n))
    assert list(counts.items()) == list(text.plain.ngrams(tokens, n).items())


def test_many_ngrams(ffi: Any, text: Any) -> None:
    tokens = random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=20_000)
    for n in (1, 3):
        assert ffi.to_python(text.ngrams(tokens, n)) == dict(text.plain.ngrams(tokens, n))
    assert text.ngrams(["a", "b", "a", "b"], 2)["a", "b"] == 2


def test_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="n is a number from 1 to 100"):
        text.ngrams(["a"], 0)
    with pytest.raises(ValueError, match="the rules are 'split' and 'words'"):
        text.module.read_tokens("sentences")
    with pytest.raises(TypeError, match=r"argument 0 \(tokens\), at \[1\]: expected str, got int"):
        text.encode(["a", 1], {})
    with pytest.raises(TypeError, match=r'argument 1 \(vocabulary\), at \["a"\]: expected int, got str'):
        text.encode(["a"], {"a": "b"})
    with pytest.raises(TypeError, match=r"argument 0 \(vocabulary\).*expected str, got int"):
        text.module.read_codes({1: 1})
    with pytest.raises(TypeError, match=r"expected bytes, got str"):
        text.module.feed(text.module.read_tokens(), "a")
    with pytest.raises(TypeError, match=r"expected text\.Reader, got List"):
        text.module.feed(text.words("a"), b"a")


# ---- streams ---------------------------------------------------------------------------------------------


@each_rule
@given(value=ENCODABLE, chunk=CHUNK)
def test_tokens_of_a_file(ffi: Any, text: Any, rule: str, value: str, chunk: int) -> None:
    batches = list(text.read_tokens(io.BytesIO(value.encode()), rule, chunk))
    assert all(type(batch) is ffi.List for batch in batches)
    assert [token for batch in batches for token in batch] == text.plain.RULES[rule](value)


@each_rule
@given(value=ENCODABLE, chunk=CHUNK, known=st.integers(0, 10))
def test_codes_of_a_file(text: Any, rule: str, value: str, chunk: int, known: int) -> None:
    tokens = text.plain.RULES[rule](value)
    vocabulary = {token: number for number, token in enumerate(tokens[:known])}
    batches = text.read_codes(io.BytesIO(value.encode()), vocabulary, -5, rule, chunk)
    codes = np.concatenate([np.asarray(batch) for batch in batches])
    assert codes.dtype == np.int64
    assert codes.tolist() == [vocabulary.get(token, -5) for token in tokens]


@each_rule
@given(value=ENCODABLE, chunk=CHUNK, n=st.integers(1, 3))
def test_ngrams_of_a_file(ffi: Any, text: Any, rule: str, value: str, chunk: int, n: int) -> None:
    counts = ffi.to_python(text.count_ngrams(io.BytesIO(value.encode()), n, rule, chunk))
    plain = text.plain
    assert list(counts.items()) == list(plain.ngrams(plain.RULES[rule](value), n).items())
    assert counts == dict(plain.count_ngrams(io.BytesIO(value.encode()), n, rule))


@given(
    data=st.binary()
    | st.lists(st.sampled_from([b"a ", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xf0\x9f"])).map(b"".join),
    chunk=CHUNK,
)
def test_what_is_no_utf8(text: Any, data: bytes, chunk: int) -> None:
    data = data.translate(None, UNALIKE.encode())
    try:
        expected = data.decode().split()
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            list(text.read_tokens(io.BytesIO(data), chunk=chunk))
    else:
        batches = text.read_tokens(io.BytesIO(data), chunk=chunk)
        assert [token for batch in batches for token in batch] == expected


def test_a_token_longer_than_all_chunks(text: Any) -> None:
    for token in ("a" * 5000, "\xe9" * 5000, "\u6f22" * 5000, "\U0001f40b" * 5000):
        batches = text.read_tokens(io.BytesIO(f" {token} b".encode()), chunk=7)
        assert [found for batch in batches for found in batch] == [token, "b"]


def test_texts_one_after_the_other(ffi: Any, text: Any) -> None:
    """The end of a text ends its last token, and no n-gram spans two texts."""
    module = text.module
    reader = module.read_tokens()
    assert [module.feed(reader, b"a b"), module.finish(reader)] == [["a"], ["b"]]
    assert [module.feed(reader, b"c"), module.finish(reader), module.finish(reader)] == [[], ["c"], []]
    reader = module.read_ngrams(2)
    assert module.feed(reader, b"a b") is None
    assert module.finish(reader) == {("a", "b"): 1}
    assert module.feed(reader, b"a b c") is None
    assert module.finish(reader) == {("a", "b"): 2, ("b", "c"): 1}


def test_a_reader_keeps_its_initial_vocabulary(ffi: Any, text: Any) -> None:
    vocabulary = ffi.convert({"a": 1})
    reader = text.module.read_codes(vocabulary)
    vocabulary["a"] = "changed"
    assert np.asarray(text.module.feed(reader, b"a b ")).tolist() == [1, -1]


# ---- memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["elevenchars a, n\xe9 \u6f22\u5b57\n", "longer_than_eleven a\n"])
def test_tokens_allocate_no_memory(ffi: Any, text: Any, line: str) -> None:
    total_blocks = ffi.get_global_func("testing.total_blocks")
    module = text.module
    readers = [module.read_codes({"a": 1}), module.read_ngrams(2)]
    if line.startswith("elevenchars"):
        # Only tokens that fit inline need no memory in a list.
        readers += [module.read_tokens(rule) for rule in RULES]

    def blocks(reader: Any, times: int) -> int:
        data = line.encode() * times
        module.feed(reader, data)
        before = total_blocks()
        module.feed(reader, data)
        return total_blocks() - before

    for reader in readers:
        assert blocks(reader, 1000) <= blocks(reader, 10) + 2


@pytest.mark.unrecorded("each backend has allocations of its own")
def test_each_allocation_fails_in_turn(ffi: Any, text: Any) -> None:
    fail, live = map(ffi.get_global_func, ("testing.fail_allocation", "testing.live_blocks"))
    module = text.module
    data = "a long_long_token n\xe9 \u6f22\u5b57\u6f22\u5b57\u6f22\u5b57 a".encode()
    makers = [
        lambda: module.read_tokens("words"),
        lambda: module.read_codes({"a": 1}),
        lambda: module.read_ngrams(2),
    ]

    def read(make: Any) -> Any:
        reader = make()
        return [ffi.to_python(module.feed(reader, data)), ffi.to_python(module.finish(reader))]

    for make in makers:
        read(make)
        collect()
        before, failures, done = live(), 0, False
        while not done:
            fail(failures)
            try:
                read(make)
                done = True
            except MemoryError:
                failures += 1
            finally:
                fail(-1)
        assert failures > 5
        collect()
        assert live() == before


PROGRAM = """
import io, os, sys
sys.path.insert(0, {folder!r})
os.chdir({libraries!r})
import text

class File:
    "Reads as many megabytes of a text as one likes."
    def __init__(self, megabytes):
        self.left = megabytes << 20
    def read(self, size):
        size = min(size, self.left)
        self.left -= size
        return (LINES * (size // len(LINES) + 1))[:size]

LINES = "The quick brown fox jumps over the \u6f22\u5b57 dog, over_and_over_again.\\n".encode() * 16

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))

def read(megabytes):
    tokens = sum(map(len, text.read_tokens(File(megabytes), "words")))
    codes = sum(batch.shape[0] for batch in text.read_codes(File(megabytes), {{"fox": 1}}))
    return tokens, codes, len(text.count_ngrams(File(megabytes), 2))

small = read(2)
before = peak()
large = read({megabytes})
print(large[0] > 10 * small[0], large[1] > 10 * small[1], large[2] >= small[2], peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from Linux")
@pytest.mark.skipif(SANITIZED, reason="the sanitizer keeps freed memory for a while")
@cpython_only("PyPy collects when it likes, and does not know how much memory its objects stand for")
def test_a_file_needs_the_memory_of_a_chunk(ffi: Any) -> None:
    folder = example_programs.EXAMPLES / "text"
    program = PROGRAM.format(folder=str(folder), libraries=str(example_programs.libraries()), megabytes=40)
    *grew, kilobytes = run_python(program, ffi_mode=ffi.ffi_mode).split()
    assert grew == ["True", "True", "True"]
    # A tenth of the bytes read.
    assert int(kilobytes) < 4 << 10
