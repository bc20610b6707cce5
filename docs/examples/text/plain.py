"""The functions of text.py in plain Python, as fast as is possible without `re`, for comparison."""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Callable

#: The symbols beyond ASCII; the same as in characters.h.
SYMBOLS = [
    *[(0x80, 0xA9), (0xAB, 0xB4), (0xB6, 0xB9), (0xBB, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7)],
    *[(0x2010, 0x205E), (0x20A0, 0x20CF), (0x2190, 0x2BFF), (0x2E00, 0x2E7F), (0x3001, 0x3003)],
    *[(0x3008, 0x3020), (0xFF01, 0xFF0F), (0xFF1A, 0xFF20), (0xFF3B, 0xFF40), (0xFF5B, 0xFF65)],
    (0x1F000, 0x1FAFF),
]

#: Adds spaces around each character that is a token by itself.
SET_APART = {
    code: f" {chr(code)} "
    for first, last in [(0, 0x7F), *SYMBOLS]
    for code in range(first, last + 1)
    if not (chr(code).isspace() or (code < 0x80 and chr(code).isalnum()) or chr(code) == "_")
}


def words(text: str) -> list[str]:
    """Split a text into runs of letters, digits and `_`, and the other visible characters."""
    return text.translate(SET_APART).split()


RULES: dict[str, Callable[[str], list[str]]] = {"split": str.split, "words": words}


def encode(tokens: Iterable[str], vocabulary: Mapping[str, int], unknown: int = -1) -> list[int]:
    """Look up the numbers of tokens."""
    get = vocabulary.get
    return [get(token, unknown) for token in tokens]


def ngrams(tokens: list[str], n: int) -> dict[Any, int]:
    """Count n-grams: tokens for n = 1, else tuples of them."""
    grams: Iterable[Any] = tokens if n == 1 else zip(*(tokens[i:] for i in range(n)))
    return Counter(grams)


def read_tokens(file: BinaryIO, rule: str = "split", chunk: int = 1 << 18) -> Iterator[list[str]]:
    """Cut a file into tokens, some whole lines at a time."""
    tokenize = RULES[rule]
    lines = io.TextIOWrapper(file, "utf-8", newline="\n")
    while text := lines.read(chunk) + lines.readline():
        yield tokenize(text)


def read_codes(
    file: BinaryIO, vocabulary: Mapping[str, int], unknown: int = -1, rule: str = "split"
) -> Iterator[list[int]]:
    """Look up the tokens of a file."""
    return (encode(tokens, vocabulary, unknown) for tokens in read_tokens(file, rule))


def count_ngrams(file: BinaryIO, n: int = 1, rule: str = "split") -> dict[Any, int]:
    """Count the n-grams of a file, across its lines."""
    counts: Counter[Any] = Counter()
    before: list[str] = []
    for tokens in read_tokens(file, rule):
        tokens = before + tokens
        counts.update(ngrams(tokens, n))
        before = tokens[max(0, len(tokens) - n + 1) :]
    return counts
