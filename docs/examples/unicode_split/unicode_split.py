"""Split a text into its characters, in any script: each is a string that needs no heap allocation.

The text is Python's help on language topics; its letters are mapped to those of other scripts,
whose code points take one, two and four bytes.
"""

import string
from collections.abc import Iterator
from pydoc_data.topics import topics
from typing import Any

import anyffi

module = anyffi.load_module("./libunicode_split.so")

#: 52 consecutive letters of each script; in Latin-1, two characters that are no letters are skipped.
LETTERS = {
    "Latin-1": [chr(code) for code in range(0xC0, 0x100) if code not in (0xD7, 0xF7)],
    "CJK": [chr(code) for code in range(0x4E00, 0x4E00 + 52)],
    "astral": [chr(code) for code in range(0x10400, 0x10400 + 52)],
}


def texts() -> dict[str, str]:
    """Return the same text in four scripts."""
    text = "".join(topics.values())
    tables = {
        name: str.maketrans(dict(zip(string.ascii_letters, letters))) for name, letters in LETTERS.items()
    }
    return {"ASCII": text, **{name: text.translate(table) for name, table in tables.items()}}


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    for split in (module.split_erased, module.split_typed):
        yield f'{split.__name__}("h\u00e9\u6f22\U0001d11e\\ud800")', split("hé漢𝄞\ud800"), list("hé漢𝄞\ud800")
    for script, text in texts().items():
        for split in (module.split_erased, module.split_typed):
            yield f'"".join({split.__name__}(text)), {script}', "".join(split(text)), text
        index = len(text) // 2
        yield f"char_at(text, {index}), {script}", module.char_at(text, index), text[index]


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text!a}\n    {ascii(result)[:100]}")
