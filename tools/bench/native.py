"""Builds the measured libraries in `native/`, once per compiler, source and Python version."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig

SOURCES = pathlib.Path(__file__).resolve().parent / "native"
HEADERS = SOURCES.parents[2] / "cpp" / "include"
# The flags that the other libraries recommend for speed.
COMMON = ("-O3", "-DNDEBUG", "-fvisibility=hidden")
PYTHON = f"-I{sysconfig.get_paths()['include']}"


class Missing(Exception):
    """A requirement of a contender is not installed."""


def build_directory() -> pathlib.Path:
    """Return the folder for built libraries."""
    directory = pathlib.Path(os.environ["ANYFFI_BUILD_DIR"]) / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def compile_library(
    name: str, sources: list[pathlib.Path], *options: str, form: tuple[str, ...] = ("-fPIC", "-shared")
) -> pathlib.Path:
    """Compile a library, or another output by the flags `form`, unless the same build exists already."""
    cxx = any(source.suffix != ".c" for source in sources)
    compiler = shlex.split(os.environ.get("CXX", "g++") if cxx else os.environ.get("CC", "gcc"))
    command = [*compiler, *(["-std=c++17"] if cxx else []), *COMMON, *form, *map(str, sources), *options]
    digest = hashlib.sha256(repr((command, sys.version)).encode())
    for source in (*sources, *sorted(SOURCES.glob("*.h")), *sorted(HEADERS.rglob("*.h"))):
        digest.update(source.read_bytes())
    folder = build_directory() / f"{name}-{digest.hexdigest()[:16]}"
    library = folder / f"{name}.so"
    if not library.exists():
        folder.mkdir(exist_ok=True)
        partial = folder / "partial.so"
        try:
            done = subprocess.run([*command, "-o", str(partial)], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise Missing(f"there is no compiler {compiler[0]}") from None
        if done.returncode != 0:
            raise Missing(f"{name} does not compile:\n{done.stderr.strip()}")
        partial.replace(library)
    return library


def import_extension(path: pathlib.Path) -> object:
    """Import an extension module from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
