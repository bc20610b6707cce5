"""Tokens, vocabularies and n-grams of text, and of files larger than memory.

A text is a str, or a UTF-8 file that is read in chunks: then only a chunk and the counts are in
memory. Two rules define tokens: "split", as in `str.split`, and "words", for runs of letters, digits and
`_`, and for each other visible character by itself.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import anyffi
import plain

module = anyffi.load_module("./libtext.so")

characters = module.characters
split = module.split
words = module.words
encode = module.encode
ngrams = module.ngrams

#: In bytes: large enough to hide the overhead of a chunk, small enough for a processor's cache.
CHUNK = 1 << 16


def _read(reader: Any, file: BinaryIO, chunk: int) -> Iterator[Any]:
    """Yield the results of a reader for each chunk of a file, and for its end."""
    while data := file.read(chunk):
        yield module.feed(reader, data)
    yield module.finish(reader)


def read_tokens(file: BinaryIO, rule: str = "split", chunk: int = CHUNK) -> Iterator[Any]:
    """Cut a file into tokens.

    Parameters
    ----------
    file : binary file
        UTF-8 text.
    rule : {"split", "words"}
        The rule that defines tokens.
    chunk : int
        The number of bytes to read at once.

    Yields
    ------
    anyffi.List of str
        The tokens of a chunk.

    Raises
    ------
    UnicodeDecodeError
        The file is not valid UTF-8. Positions count from the beginning of the chunk.
    """
    return _read(module.read_tokens(rule), file, chunk)


def read_codes(
    file: BinaryIO,
    vocabulary: Mapping[str, int],
    unknown: int = -1,
    rule: str = "split",
    chunk: int = CHUNK,
) -> Iterator[Any]:
    """Cut a file into tokens, and look up their numbers.

    Parameters
    ----------
    file : binary file
        UTF-8 text.
    vocabulary : mapping from str to int
        Copied: later changes have no effect.
    unknown : int
        The number for tokens that the vocabulary lacks.
    rule, chunk
        As in `read_tokens`.

    Yields
    ------
    anyffi.Tensor
        An int64 tensor for each chunk.
    """
    return _read(module.read_codes(vocabulary, unknown, rule), file, chunk)


def count_ngrams(file: BinaryIO, n: int = 1, rule: str = "split", chunk: int = CHUNK) -> Any:
    """Count the n-grams of a file.

    Parameters
    ----------
    file : binary file
        UTF-8 text.
    n : int
        The number of tokens in an n-gram.
    rule, chunk
        As in `read_tokens`.

    Returns
    -------
    anyffi.Dict
        The count of each n-gram, in the order of first appearance. A key is a str for n = 1, else an
        `anyffi.Array` of str, which an equal tuple finds, too.
    """
    *_, counts = _read(module.read_ngrams(n, rule), file, chunk)
    return counts


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    line = "Don't panic: 42\u3000\U0001f40b\U0001f40b, na\u00efve \u6f22\u5b57\u3002"
    tokens = plain.words(line)
    vocabulary = {"panic": 0, "42": 1, ",": 2}
    data = line.encode() * 1000
    yield "characters('na\u00efve')", characters("na\u00efve"), list("na\u00efve")
    yield "split(line)", split(line), line.split()
    yield "words(line)", words(line), tokens
    yield "encode(tokens, vocabulary)", encode(tokens, vocabulary), plain.encode(tokens, vocabulary)
    yield "ngrams(list('abab'), 2)", ngrams(list("abab"), 2), {("a", "b"): 2, ("b", "a"): 1}
    for n in (1, 2):
        counts = dict(plain.count_ngrams(io.BytesIO(data), n))
        yield f"count_ngrams(file, {n})", count_ngrams(io.BytesIO(data), n, chunk=100), counts


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {ascii(result)[:100]}")
