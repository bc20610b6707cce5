"""C++ compiled where it is used: from a string, a file or a notebook's cell.

A library is named by a hash of sources, options, compiler and headers, and kept in the user's cache. So
nothing is built twice, and several processes may build the same library at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Union

from ._backend import active as _active
from ._exports import Functions, exports, split_functions
from ._library import find_include_dir, find_library
from .module import Module

__all__ = ["build", "load_inline", "load_ipython_extension"]

_Paths = Sequence[Union[str, "os.PathLike[str]"]]

_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def load_inline(
    name: str,
    cpp_source: str,
    functions: Functions = None,
    *,
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: _Paths = (),
    override: bool = False,
) -> Module:
    """Compile C++ and load it as a module.

    The global functions and object types that the code registers replace those of an earlier module of this
    name.

    Parameters
    ----------
    name : str
        Of the module; compiler messages name lines of it.
    cpp_source : str
        The code. ``anyffi/anyffi.h`` is included before its first line.
    functions : str, sequence of str or mapping of str to str, optional
        The functions to export, from the global namespace: by their names, such as ``"scale"``, or with names
        and defaults of their parameters, such as ``"scale(x, by=2.0)"``, which keyword arguments need. The
        values of a mapping are docs. What the code exports itself with ``ANYFFI_EXPORT`` needs no mention.
    extra_cflags, extra_ldflags : sequence of str, optional
        Options for the compiler and the linker, after those that are always given (``-O2 -std=c++17``).
        With ``-g`` debuggers show the lines of `cpp_source`, which stays in the user's cache.
    extra_include_paths : sequence of path-like, optional
        Where ``#include`` looks, too.
    override : bool
        As in `load_module`.

    Returns
    -------
    Module
        The functions are its attributes.

    Raises
    ------
    RuntimeError
        There is no compiler, or it refuses the code: the message is the compiler's, with line numbers of
        `cpp_source`.
    ValueError
        What `functions` says cannot be read.
    """
    _check_name(name)
    if not isinstance(cpp_source, str):
        raise TypeError(f"cpp_source must be a str, got {type(cpp_source).__name__}")
    text = f'#include <anyffi/anyffi.h>\n#line 1 "{name}"\n{cpp_source}\n{exports(functions)}'.encode()
    kept = os.path.join(_make_cache(), f"{name}-{_digest(text)}")
    os.makedirs(kept, exist_ok=True)
    source = os.path.join(kept, f"{name}.cc")
    _write(os.path.join(kept, name), cpp_source.encode())
    _write(source, text)
    path = _build(name, [source], extra_cflags, extra_ldflags, extra_include_paths, kept)
    return _active._load(path, f"inline {name}", override)


def build(
    name: str,
    sources: _Paths,
    *,
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: _Paths = (),
) -> str:
    """Compile C++ files, at the same time, to a library for `load_module`.

    Nothing is done if the same was built before: with equal contents of the files and of the headers that
    they include, options and compiler. System headers count by the compiler's version.

    Parameters
    ----------
    name : str
        What the library's name begins with.
    sources : sequence of path-like
        The files.
    extra_cflags, extra_ldflags, extra_include_paths
        As in `load_inline`.

    Returns
    -------
    str
        Where the library lies, in the user's cache: below ``anyffi`` in ``$XDG_CACHE_HOME``, or ``~/.cache``.

    Raises
    ------
    RuntimeError
        There is no compiler, or it refuses the code: the message is the compiler's.
    OSError
        A source cannot be read, or the cache not be written.
    """
    return _build(name, sources, extra_cflags, extra_ldflags, extra_include_paths, None)


def _build(
    name: str,
    sources: _Paths,
    extra_cflags: Sequence[str],
    extra_ldflags: Sequence[str],
    extra_include_paths: _Paths,
    debug_dir: str | None,
) -> str:
    """As `build`; debuggers look for relative names of sources in `debug_dir`."""
    _check_name(name)
    _check_items("sources", sources, str, os.PathLike)
    _check_items("extra_include_paths", extra_include_paths, str, os.PathLike)
    _check_items("extra_cflags", extra_cflags, str)
    _check_items("extra_ldflags", extra_ldflags, str)
    paths = [os.path.abspath(os.fspath(path)) for path in sources]
    compiler = _find_compiler()
    cflags = ["-std=c++17", "-O2", "-fPIC", *_version_flags(compiler), *extra_cflags]
    if debug_dir is not None and any(flag.startswith("-g") for flag in extra_cflags):
        cflags.append(f"-fdebug-prefix-map={os.getcwd()}={debug_dir}")
    for folder in (*extra_include_paths, find_include_dir()):
        cflags += ["-I", os.path.abspath(os.fspath(folder))]
    runtime = os.path.dirname(find_library("anyffi"))
    ldflags = ["-shared", *extra_ldflags, "-L", runtime, "-lanyffi"]
    identity = [
        _stamp(compiler[0]),
        compiler,
        cflags,
        ldflags,
        [(path, _digest_file(path)) for path in paths],
    ]
    stem = f"{name}-{_digest(json.dumps(identity).encode())}"
    cache = _make_cache()
    with _lock(os.path.join(cache, stem)):
        manifest = os.path.join(cache, stem + ".json")
        found = _find_built(manifest)
        if found is not None:
            return found
        with tempfile.TemporaryDirectory(prefix=stem, dir=cache) as folder:
            objects = [os.path.join(folder, f"{i}.o") for i in range(len(paths))]
            commands = [
                [*compiler, *cflags, "-MMD", "-MF", made + ".d", "-c", path, "-o", made]
                for path, made in zip(paths, objects)
            ]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(lambda command: _run(name, command), commands))
            library = os.path.join(folder, "library")
            _run(name, [*compiler, *objects, *ldflags, "-o", library])
            headers = {path: _digest_file(path) for path in _headers_of(objects)}
            content = json.dumps(headers, sort_keys=True).encode()
            target = os.path.join(cache, f"{stem}-{_digest(content)}{_SUFFIX}")
            os.replace(library, target)
            described = os.path.join(folder, "manifest")
            with open(described, "w", encoding="utf-8") as file:
                json.dump({"library": target, "headers": headers}, file)
            os.replace(described, manifest)
        return target


def _write(path: str, content: bytes) -> None:
    """Write a file unless it exists."""
    if os.path.exists(path):
        return
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a module must be a str, got {type(name).__name__}")
    if not name.isidentifier():
        raise ValueError(f"the name of a module must be an identifier, got {name!r}")


def _check_items(given: str, items: Any, *kinds: type) -> None:
    of = "str" if kinds == (str,) else "path-like"
    if isinstance(items, (str, bytes)) or not isinstance(items, Sequence):
        raise TypeError(f"{given} must be a sequence of {of}, got {type(items).__name__}")
    for item in items:
        if not isinstance(item, kinds):
            raise TypeError(f"{given} must be a sequence of {of}, got {type(item).__name__} in it")


def _find_compiler() -> list[str]:
    words = shlex.split(os.environ.get("CXX", ""))
    for candidate in [words] if words else [["c++"], ["g++"], ["clang++"]]:
        path = shutil.which(candidate[0])
        if path is not None:
            return [path, *candidate[1:]]
    missing = f"$CXX is {words[0]!r}, which is not there" if words else "there is no c++, g++ or clang++"
    raise RuntimeError(f"no C++ compiler: {missing}; install one, or name it in the environment variable CXX")


def _version_flags(compiler: list[str]) -> list[str]:
    """Return the options that keep two versions of a library in one process apart.

    By default GCC makes inline variables unique in a process, so that a new version would use the old one's.
    """
    program = os.path.basename(os.path.realpath(shutil.which(compiler[-1]) or compiler[0]))
    return ["-fno-gnu-unique"] if "g++" in program and "clang" not in program else []


def _stamp(path: str) -> list[Any]:
    """Identify a version of a program without running it, which would take longer than the rest."""
    real = os.path.realpath(path)
    status = os.stat(real)
    return [real, status.st_size, status.st_mtime_ns]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _digest_file(path: str) -> str:
    with open(path, "rb") as file:
        return _digest(file.read())


def _make_cache() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    cache = os.path.join(home, "anyffi")
    os.makedirs(cache, exist_ok=True)
    return cache


@contextlib.contextmanager
def _lock(stem: str) -> Iterator[None]:
    """Let one process build at a time; without file locks each builds its own."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(stem + ".lock", "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _find_built(manifest: str) -> str | None:
    """Return the library that was built with the present headers, or None."""
    try:
        with open(manifest, encoding="utf-8") as file:
            built = json.load(file)
        unchanged = all(_digest_file(path) == digest for path, digest in built["headers"].items())
        library: str = built["library"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return library if unchanged and os.path.exists(library) else None


def _headers_of(objects: list[str]) -> Iterator[str]:
    """Iterate over the headers in the compiler's dependency files."""
    for made in objects:
        with open(made + ".d", encoding="utf-8") as file:
            _, _, prerequisites = file.read().replace("\\\n", " ").partition(":")
        for path in shlex.split(prerequisites)[1:]:
            yield os.path.abspath(path)


def _run(name: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} cannot be built ({shlex.join(command)}):\n{done.stderr or done.stdout}")


def load_ipython_extension(ipython: Any) -> None:
    """Register the cell magic ``%%anyffi``, after ``%load_ext anyffi.cpp``.

    The cell is C++. The functions to export follow the magic, written as for `load_inline`. They become names
    of the notebook.
    """

    def anyffi(line: str, cell: str) -> None:
        module = load_inline("cell", cell, split_functions(line))
        ipython.push({name: getattr(module, name) for name in dir(module) if not name.startswith("__")})

    ipython.register_magic_function(anyffi, "cell")
