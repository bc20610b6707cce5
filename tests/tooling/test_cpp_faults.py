"""What may go wrong while `anyffi.cpp` builds: no space, no files, killed compilers and processes, broken caches."""

from __future__ import annotations

import pathlib
import shutil
import sys
from typing import Any

import anyffi
import pytest
from programs import run_program
from support import CXX, SANITIZED, run

pytestmark = [
    pytest.mark.skipif(shutil.which(CXX) is None, reason="needs a C++ compiler"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sets limits of processes"),
    pytest.mark.skipif(
        SANITIZED, reason="compilers run without the sanitizers, which these processes would need"
    ),
    pytest.mark.slow("compiling"),
]

TWICE = "int64_t twice(int64_t x) { return 2 * x; }"
#: Builds a library from a file, and calls it.
BUILD = f"""
import os, re, pathlib, anyffi, anyffi.cpp
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "anyffi"
source = cache.parent / "fast.cc"
source.write_text('#include <anyffi/anyffi.h>\\n{TWICE}\\nANYFFI_EXPORT(twice, &twice);\\n')
def build():
    return anyffi.cpp.build("fast", [source])
def check():
    assert anyffi.load_module(build()).twice(4) == 8
    # The only folders are those that `load_inline` keeps for debuggers.
    folders = [path for path in cache.rglob("*") if path.is_dir()]
    assert all(re.fullmatch("inline-[0-9a-f]{{32}}", path.name) for path in folders), folders
"""


@pytest.fixture
def home(tmp_path: pathlib.Path) -> dict[str, str]:
    """Return variables of a process with a cache of its own."""
    return {"XDG_CACHE_HOME": str(tmp_path)}


def compiler(folder: pathlib.Path, script: str) -> str:
    """Make a compiler of a script, which gets the path of the real one and the folder."""
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\nreal={shutil.which(CXX)}\nfolder={folder}\n{script}")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("size", [16, 4000])
def test_no_space(ffi: Any, home: dict[str, str], size: int) -> None:
    """A limit of the size of files stands for a full disk."""
    program = f"""{BUILD}
import resource
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
def use():
    return anyffi.cpp.load_inline("inline", "{TWICE}", "twice").twice(4)
for attempt, where in ((build, "fast cannot be built"), (use, "XDG_CACHE_HOME|inline cannot be built")):
    limit({size})
    try:
        attempt()
    except (OSError, RuntimeError) as error:
        text = str(error)
    else:
        raise AssertionError("built")
    finally:
        limit(resource.RLIM_INFINITY)
    assert any(words in text for words in where.split("|")), text
assert use() == 8
check()
"""
    run_program(program, ffi.ffi_mode, **home)


def test_no_file_descriptors(ffi: Any, home: dict[str, str]) -> None:
    program = f"""{BUILD}
import resource
outcomes = set()
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
used = max(map(int, os.listdir("/proc/self/fd")))
for more in range(10):
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + more, hard))
    try:
        build()
        outcomes.add("built")
    except OSError as error:
        assert "Too many open files" in str(error), error
        outcomes.add("refused")
    except RuntimeError as error:
        assert "fast cannot be built" in str(error), error
        outcomes.add("refused")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
assert "refused" in outcomes
check()
"""
    run_program(program, ffi.ffi_mode, **home)


def test_a_killed_compiler(
    home: dict[str, str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'for last; do :; done; echo half > "$last"; kill -9 $$\n'
    monkeypatch.setenv("CXX", compiler(tmp_path, script))
    monkeypatch.setenv("XDG_CACHE_HOME", home["XDG_CACHE_HOME"])
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"(?s)^fast cannot be built .*it was ended by SIGKILL"):
            anyffi.cpp.load_inline("fast", TWICE, "twice")
    assert [path.name for path in (tmp_path / "anyffi").glob("*.so")] == []


def test_a_killed_process(ffi: Any, home: dict[str, str], tmp_path: pathlib.Path) -> None:
    """What it left is removed by the next process that builds the same."""
    (tmp_path / "kill").touch()
    script = 'if [ -e "$folder/kill" ]; then rm "$folder/kill"; kill -9 $PPID; fi\nexec "$real" "$@"\n'
    home["CXX"] = compiler(tmp_path, script)
    killed = run([sys.executable, "-c", f"{BUILD}build()"], FFI_MODE=ffi.ffi_mode, **home)
    assert killed.returncode == -9
    assert [path for path in (tmp_path / "anyffi").iterdir() if path.is_dir()]
    run_program(f"{BUILD}check()", ffi.ffi_mode, **home)


def test_a_cache_that_cannot_be_written(ffi: Any, home: dict[str, str], tmp_path: pathlib.Path) -> None:
    """Its libraries are used; the error about one that it lacks says what can be done."""
    run_program(f"{BUILD}check()", ffi.ffi_mode, **home)
    program = f"""{BUILD}
import contextlib
# Simulated, since root can write anywhere.
@contextlib.contextmanager
def lock(stem):
    raise PermissionError(13, "Permission denied", stem + ".lock")
    yield
anyffi.cpp._lock = lock
check()
source.write_text(source.read_text() + "// changed")
try:
    build()
except PermissionError as error:
    assert "Permission denied; anyffi.cpp writes to its cache, which XDG_CACHE_HOME moves" in str(error), error
    assert error.filename.startswith(str(cache)), error
else:
    raise AssertionError("built")
"""
    run_program(program, ffi.ffi_mode, **home)
    taken = tmp_path / "file"
    taken.touch()
    program = f"""
import anyffi.cpp
try:
    anyffi.cpp.load_inline("fast", "{TWICE}", "twice")
except NotADirectoryError as error:
    assert "which XDG_CACHE_HOME moves" in str(error) and "{taken}" in str(error), error
else:
    raise AssertionError("built")
"""
    run_program(program, ffi.ffi_mode, XDG_CACHE_HOME=str(taken))


@pytest.mark.parametrize("size", [0, 4096])
def test_a_library_cut_short_in_the_cache(ffi: Any, home: dict[str, str], size: int) -> None:
    run_program(f"{BUILD}check()", ffi.ffi_mode, **home)
    program = f"""{BUILD}
os.truncate(build(), {size})
check()
"""
    run_program(program, ffi.ffi_mode, **home)
