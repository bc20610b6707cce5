"""The type checkers that users run, both in strict mode."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import sys
from collections.abc import Sequence

import pytest
from support import ROOT, run

needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")


def find_pyright() -> str | None:
    """Return the path of pyright, from PATH or from the environment of `tools/dev.py lint`."""
    of_lint = [str(path) for path in (ROOT / ".dev").glob("*-lint/env/bin/pyright")]
    return shutil.which("pyright") or next(iter(of_lint), None)


needs_pyright = pytest.mark.skipif(
    find_pyright() is None,
    reason="needs pyright: `tools/dev.py lint` installs it, or `pip install pyright[nodejs]`",
)


def run_mypy(folder: pathlib.Path, *words: object, search: Sequence[pathlib.Path] = ()) -> str:
    """Return mypy's errors for files of a folder; empty if there are none."""
    path = os.pathsep.join(map(str, search))
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", *words]
    done = run([*command, "--cache-dir", folder / ".mypy_cache"], cwd=folder, MYPYPATH=path, LD_PRELOAD=None)
    return done.stdout + done.stderr


def run_pyright(
    folder: pathlib.Path,
    included: Sequence[str],
    *,
    search: Sequence[pathlib.Path] = (),
    roots: Sequence[str] = (),
    python: object = sys.executable,
) -> str:
    """Return pyright's errors for files of a folder; empty if there are none. `roots` have their own modules."""
    paths = [str(path) for path in search]
    # Stubs of installed packages, such as NumPy's, may need the syntax of this version.
    minor = min(max(sys.version_info.minor, 10), 14)
    settings = {
        "typeCheckingMode": "strict",
        "include": list(included),
        "pythonVersion": f"3.{minor}",
        # Errors that the files expect must occur.
        "reportUnnecessaryTypeIgnoreComment": "error",
        "extraPaths": paths,
        "executionEnvironments": [{"root": root, "extraPaths": paths} for root in roots],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [find_pyright(), "--project", folder, "--pythonpath", python, "--outputjson"]
    done = run(command, cwd=folder, LD_PRELOAD=None)
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 0, done.stdout + done.stderr
    return "\n".join(
        f"{each['file']}:{each['range']['start']['line'] + 1}: {each['message']}"
        for each in found["generalDiagnostics"]
        if each["severity"] != "information"
    )
