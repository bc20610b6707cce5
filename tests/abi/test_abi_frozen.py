"""The C ABI is the one that is kept in `frozen/`: exported symbols, and declarations compared by abidiff."""

from __future__ import annotations

import pathlib
import re
import shutil
import struct
import subprocess

import frozen
import pytest
from c_abi import INCLUDE
from support import EXPORTED_TYPES, needs_compilers

HOW = "if the rules at the top of anyffi/c_api.h allow the change: python tests/support/frozen.py"

needs_abidiff = pytest.mark.skipif(
    shutil.which("abidiff") is None or struct.calcsize("P") != 8,
    reason="takes abidiff of libabigail, on a 64-bit machine (apt-get install abigail-tools)",
)


@pytest.mark.skipif(shutil.which("nm") is None, reason="takes nm of binutils")
def test_the_exported_symbols() -> None:
    kept = frozen.SYMBOLS.read_text().split()
    exported = frozen.exported_symbols()
    assert kept == sorted(kept)
    assert set(kept) - set(exported) == set(), f"no longer exported; {HOW}"
    assert set(exported) - set(kept) == set(), f"new; {HOW}"


def test_what_is_exported_is_declared() -> None:
    declared = {re.findall(r"(\w+)\(", prototype)[0] for prototype in frozen.prototypes()}
    # Exceptions of C++ have no declarations in C.
    of_cpp = set(re.findall(r"(anyffi_\w+)\(", (INCLUDE / "anyffi" / "exception.h").read_text())) - declared
    assert len(of_cpp) == 5
    assert declared | of_cpp | EXPORTED_TYPES == set(frozen.SYMBOLS.read_text().split())


def compare(tmp_path: pathlib.Path, include: pathlib.Path) -> tuple[int, str]:
    """Return the status and the report of abidiff for the declarations below a folder."""
    now = tmp_path / "declarations.abi"
    frozen.write_declarations(now, include)
    words = ["abidiff", frozen.DECLARATIONS, now]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@needs_compilers
@needs_abidiff
def test_the_declarations(tmp_path: pathlib.Path) -> None:
    status, report = compare(tmp_path, INCLUDE)
    assert status == 0, f"{report}\n{HOW}"


@needs_compilers
@needs_abidiff
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  double real;\n", "  double more;\n  double real;\n"),
        ("  double real;\n", "  float real;\n"),
        ("ANYFFI_SET_XOR = 3", "ANYFFI_SET_XOR = 4"),
    ],
    ids=["member", "type", "number"],
)
def test_a_change_is_found(tmp_path: pathlib.Path, before: str, after: str) -> None:
    """The comparison can fail: of a header with a member more, a narrower one, another number of an enumeration."""
    changed = tmp_path / "include"
    shutil.copytree(INCLUDE, changed)
    header = changed / "anyffi" / "c_api.h"
    text = header.read_text()
    # AnyffiComplex; that of AnyffiComplexRecipe is in another header.
    assert text.count(before) == 1
    header.write_text(text.replace(before, after))
    status, report = compare(tmp_path, changed)
    assert status != 0
    assert re.search("changed|changes", report)
