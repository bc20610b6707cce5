#!/usr/bin/env python3
"""Run the example programs in both modes and show the results side by side.

    python tools/demo.py [FOLDER ...]        by default all folders of docs/examples

Exits with 1 if a program fails, or if a result differs between the modes or from plain Python's. Needs
`ANYFFI_BUILD_DIR`, which `tools/dev.py demo` sets: the examples' libraries are there.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unicodedata
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
MODES = ("ctypes", "cython")
CALL_WIDTH = 46
#: Three values beside a call fill the rest of the terminal's width, by default 130 columns.
VALUE_WIDTH = max(16, (shutil.get_terminal_size((130, 24)).columns - CALL_WIDTH) // 3 - 2)
#: No terminal shows more of a value.
MAX_SHOWN = 400
CHILD = "--child"


class Outcome(NamedTuple):
    """The results of a program in one mode."""

    rows: list[dict[str, Any]]
    times: dict[str, float]
    seconds: float


# ---- in the child: one program, one mode ----


def describe(value: Any) -> str:
    """Describe a value in full, for comparison between processes."""
    import numpy as np

    if isinstance(value, np.ndarray):
        order = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "?"
        return f"{value!r} {value.dtype} {value.shape} {order} {value.tobytes()!r} {value.flags.writeable}"
    return f"{type(value).__qualname__} {value!r}"


def equals_plain(value: Any, plain: Any) -> bool:
    import anyffi
    import numpy as np

    if isinstance(plain, np.ndarray):
        return describe(value) == describe(plain)
    return describe(anyffi.to_python(value)) == describe(plain)


def run_child(program: pathlib.Path) -> None:
    """Run a program and print its outcome as JSON."""
    sys.path[0] = str(program.parent)
    module = importlib.import_module(program.stem)
    rows = [
        {
            "call": call,
            "shown": shorten(repr(value), MAX_SHOWN),
            "digest": hashlib.sha256(describe(value).encode("utf-8", "surrogatepass")).hexdigest(),
            "plain": shorten(repr(plain), MAX_SHOWN),
            "right": equals_plain(value, plain),
        }
        for call, value, plain in module.examples()
    ]
    times = dict(module.timings()) if hasattr(module, "timings") else {}
    print(json.dumps({"rows": rows, "times": times}))


# ---- in the parent: all programs, both modes ----


def run(program: pathlib.Path, mode: str) -> Outcome | None:
    """Run a program in a mode; print the reason and return None if it fails."""
    start = time.monotonic()
    libraries = pathlib.Path(os.environ["ANYFFI_BUILD_DIR"], "docs", "examples")
    result = subprocess.run(
        [sys.executable, __file__, CHILD, program],
        cwd=libraries,
        env={**os.environ, "FFI_MODE": mode, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
    )
    if result.returncode != 0:
        print(f"FAILED in FFI_MODE={mode}, exit status {result.returncode}\n{result.stdout}{result.stderr}")
        return None
    return Outcome(**json.loads(result.stdout.splitlines()[-1]), seconds=time.monotonic() - start)


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shorten(text: str, limit: int) -> str:
    """Put text on one line and cut it to a number of terminal columns."""
    text = " ".join(text.split())
    if width(text) <= limit:
        return text
    while width(text) > limit - 3:
        # Long texts are cut to `limit` characters first.
        text = text[:limit] if len(text) > limit else text[:-1]
    return text + "..."


def line(call: str, *values: str) -> str:
    cells = [
        (shorten(call, CALL_WIDTH), CALL_WIDTH),
        *((shorten(value, VALUE_WIDTH), VALUE_WIDTH) for value in values),
    ]
    return "  ".join(text + " " * (columns - width(text)) for text, columns in cells).rstrip()


def find_problem(rows: list[dict[str, Any]]) -> str:
    if len({row["call"] for row in rows}) != 1 or len({row["digest"] for row in rows}) != 1:
        return "THE MODES DIFFER"
    return "" if all(row["right"] for row in rows) else "DIFFERS FROM PLAIN PYTHON"


def show(program: pathlib.Path) -> bool:
    """Show a program's results; return whether all are right."""
    docstring = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    print(f"\n{program.parent.name}: {' '.join(docstring.partition(chr(10) * 2)[0].split())}")
    outcomes = [run(program, mode) for mode in MODES]
    done = [outcome for outcome in outcomes if outcome is not None]
    if len(done) < len(MODES):
        return False
    print(line("", *MODES, "plain Python"))
    right = len({len(outcome.rows) for outcome in done}) == 1
    for rows in zip(*(outcome.rows for outcome in done)):
        problem = find_problem(list(rows))
        right = right and not problem
        print(line(rows[0]["call"], *(row["shown"] for row in rows), rows[0]["plain"]) + problem)
    if done[0].times:
        print(line("nanoseconds for a call", *MODES))
    for call in done[0].times:
        print(line(call, *(f"{outcome.times[call]:.0f}" for outcome in done)))
    print(
        line(
            "seconds, with the start of Python",
            *(f"{outcome.seconds:.1f}" for outcome in done),
        )
    )
    return right


def main(folders: list[str]) -> int:
    if "ANYFFI_BUILD_DIR" not in os.environ:
        sys.exit(f"{__file__}: run `python3 tools/dev.py demo` instead, which sets ANYFFI_BUILD_DIR")
    # Characters that the terminal cannot show must not end the demo.
    sys.stdout.reconfigure(errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    chosen = [pathlib.Path(folder).resolve() for folder in folders] or sorted(
        program.parent.resolve() for program in EXAMPLES.glob("*/*.py") if program.stem == program.parent.name
    )
    wrong = [folder.name for folder in chosen if not show(folder / f"{folder.name}.py")]
    if wrong:
        print(f"\nWrong: {', '.join(wrong)}")
        return 1
    print("\nEvery result is the same in both modes and in plain Python.")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        run_child(pathlib.Path(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1:]))
