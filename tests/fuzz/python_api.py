"""The fuzzer of the Python API: random programs in both modes at once, guided by coverage.

    python python_api.py CORPUS ... [OPTIONS]     with the options of libFuzzer; a single file is run once

Started by the session `fuzz`, with a package compiled for it. An input is a list of records: the steps of a
program, the steps of users' code inside of it, and its initial values.
"""

from __future__ import annotations

import pathlib
import struct
import sys
from typing import Any, Callable

import atheris

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
with atheris.instrument_imports(include=["anyffi"]):
    import anyffi.testing
    from anyffi._backend import open_backend

    BOTH = open_backend("cython"), open_backend("ctypes")

from random_programs import Step, compare, record_class

#: Limits of the first byte of a record: below the first one it is a step, below the second one a step of
#: users' code.
_INNER, _VALUE = 240, 250
_MOST_STEPS, _MOST_VALUES = 40, 8


def _wide(data: bytes) -> str:
    return "".join(chr(unit) for (unit,) in struct.iter_unpack("=H", data[: len(data) & ~1]))


#: Functions that read a value, by the first byte of its record from `_VALUE` on.
_READERS: list[Callable[[bytes], Any]] = [
    lambda data: data.decode("latin-1"),
    lambda data: data.decode("utf-8", "surrogateescape"),
    _wide,
    bytes,
    lambda data: int.from_bytes(data, "little", signed=True),
    lambda data: struct.unpack("=d", data.ljust(8, b"\0")[:8])[0],
]


def read(data: bytes) -> tuple[list[Step], list[Step], list[Any]]:
    """Return the program of an input: its steps, those of users' code, and the first values."""
    steps: list[Step] = []
    inner: list[Step] = []
    values: list[Any] = []
    at = 0
    while at + 4 <= len(data) and len(steps) < _MOST_STEPS:
        kind = data[at]
        if kind < _VALUE:
            number, a, b, c = data[at : at + 4]
            (steps if kind < _INNER else inner).append((number, a, b, c))
            at += 4
            continue
        size = data[at + 1]
        if len(values) < _MOST_VALUES:
            values.append(_READERS[kind - _VALUE](data[at + 2 : at + 2 + size]))
        at += 2 + size
    return steps, inner, values


def run(data: bytes) -> None:
    compare(BOTH, *read(data))


def main() -> None:
    # Registered before the first count, because types are never freed.
    anyffi.testing.new_counted_child(0)
    anyffi.get_global_func("testing.authoring.register_types")()
    for ffi in BOTH:
        record_class(ffi)
    atheris.Setup(sys.argv, run, enable_python_coverage=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
