"""The tests of the project: run python -m pytest in the folder with the built library."""

import io
import random

import anyffi
import numpy as np
import plain
import pytest
import text

TOKENS = ["a", "b_1", "na\u00efve", "\u6f22\u5b57\u3002", "\U0001f40b", "don't", "a_token_of_many_letters"]
SPACES = [" ", "\n", " \t", "\u3000"]
DRAWN = random.Random(7)
VALUE = "".join(DRAWN.choice(choices) for _ in range(100) for choices in (TOKENS, SPACES)).rstrip()
VOCABULARY = {"na\u00efve": 0, "a": 1, "'": 2}

each_rule = pytest.mark.parametrize("rule", ["split", "words"])
each_chunk = pytest.mark.parametrize("chunk", [1, 100, text.CHUNK])


def file() -> io.BytesIO:
    return io.BytesIO(VALUE.encode())


def test_examples() -> None:
    for call, result, expected in text.examples():
        assert anyffi.to_python(result) == expected, call


def test_texts_in_memory() -> None:
    assert text.characters(VALUE) == list(VALUE)
    assert text.split(VALUE) == VALUE.split()
    tokens = text.words(VALUE)
    assert tokens == plain.words(VALUE)
    assert text.encode(tokens, VOCABULARY) == plain.encode(tokens, VOCABULARY)


@each_rule
@each_chunk
def test_tokens_of_a_file(rule: str, chunk: int) -> None:
    expected = plain.RULES[rule](VALUE)
    read = text.read_tokens(file(), rule, chunk)
    assert [token for tokens in read for token in tokens] == expected
    read = text.read_codes(file(), VOCABULARY, -1, rule, chunk)
    codes = [code for tensor in read for code in np.asarray(tensor).tolist()]
    assert codes == plain.encode(expected, VOCABULARY)


@each_rule
@each_chunk
@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngrams_of_a_file(rule: str, chunk: int, n: int) -> None:
    counts = text.count_ngrams(file(), n, rule, chunk)
    assert anyffi.to_python(counts) == dict(plain.count_ngrams(file(), n, rule))


@pytest.mark.parametrize("end", [b"\xff", "\u6f22".encode()[:2]])
def test_what_is_no_utf8(end: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        list(text.read_tokens(io.BytesIO(b"abc " + end)))
