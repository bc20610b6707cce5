"""C++ compiled where it is used: from a string, a file or a notebook's cell.

A library's name has hashes of sources, options, compiler and headers, and it is kept in the user's cache. So
nothing is built twice, and several processes may build the same library at once.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Union

from . import _mode
from ._backend import active as _active
from ._exports import Functions, exports, split_functions
from ._library import find_include_dir, find_library
from .module import Module

__all__ = ["build", "load_inline", "load_ipython_extension"]

_Paths = Sequence[Union[str, "os.PathLike[str]"]]

#: File errors that using another cache avoids.
_NO_CACHE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOTDIR)

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
        The name of the module, by which compiler messages refer to its lines.
    cpp_source : str
        The code. ``anyffi/anyffi.h`` is included before its first line.
    functions : str, sequence of str or mapping of str to str, optional
        The functions to export, from the global namespace: by their names, such as ``"scale"``, or with names
        and defaults of their parameters, such as ``"scale(x, by=2.0)"``, which keyword arguments need. The
        values of a mapping are docs. Functions that the code exports with ``ANYFFI_EXPORT`` need no mention.
    extra_cflags, extra_ldflags : sequence of str, optional
        Options for the compiler and the linker, after those that are always given (``-O2 -std=c++17``).
        With ``-g`` debuggers show the lines of `cpp_source`, which stays in the user's cache, as do
        tracebacks with ``FFI_TRACEBACK=1``, which adds such an option.
    extra_include_paths : sequence of path-like, optional
        Further folders in which ``#include`` searches.
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
        `functions` cannot be parsed.
    """
    _check_name(name)
    if not isinstance(cpp_source, str):
        raise TypeError(f"cpp_source must be a str, got {type(cpp_source).__name__}")
    exported = exports(functions, cpp_source)
    text = f'#include <anyffi/anyffi.h>\n#line 1 "{name}"\n{cpp_source}\n{exported}'.encode()
    with _cache_errors():
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
    """Compile C++ files, in parallel, to a library for `load_module`.

    Nothing is done if the same was built before: with equal contents of the files and of the headers that
    they include, options and compiler. System headers count by the compiler's version.

    Parameters
    ----------
    name : str
        The beginning of the library's name.
    sources : sequence of path-like
        The files.
    extra_cflags, extra_ldflags, extra_include_paths
        As in `load_inline`.

    Returns
    -------
    str
        The path of the library in the user's cache: below ``anyffi`` in ``$XDG_CACHE_HOME``, or ``~/.cache``.

    Raises
    ------
    RuntimeError
        There is no compiler, it refuses the code, or it was ended: the message is the compiler's.
    OSError
        A source cannot be read, or the cache does not have the library and cannot be written.
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
    cflags = ["-std=c++17", "-O2", "-fPIC", *_version_flags(compiler)]
    if _mode.ffi_traceback:
        # With DWARF 5, addr2line confuses files if a source sets its file name by `#line`.
        cflags.append("-gdwarf-4")
    cflags += extra_cflags
    if debug_dir is not None and any(flag.startswith("-g") for flag in cflags):
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
    with _cache_errors():
        cache = _make_cache()
        manifest = os.path.join(cache, stem + ".json")
        # An existing library needs neither the lock nor a writable cache.
        found = _find_built(manifest)
        if found is not None:
            return found
        with _lock(os.path.join(cache, stem)):
            found = _find_built(manifest)
            if found is not None:
                return found
            _remove_left(cache, stem)
            return _compile(name, compiler, cflags, ldflags, paths, cache, stem)


def _compile(
    name: str,
    compiler: list[str],
    cflags: list[str],
    ldflags: list[str],
    paths: list[str],
    cache: str,
    stem: str,
) -> str:
    """Compile, link, and write a manifest of the result; other processes see all of it or nothing."""
    with tempfile.TemporaryDirectory(prefix=stem, dir=cache) as folder:
        objects = [os.path.join(folder, f"{i}.o") for i in range(len(paths))]

        def compile_one(path: str, made: str) -> None:
            command = [*compiler, *cflags, "-MMD", "-MF", made + ".d", "-c", path, "-o", made]
            _run(name, command, made, made + ".d")

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, paths, objects))
        library = os.path.join(folder, "library")
        _run(name, [*compiler, *objects, *ldflags, "-o", library], library)
        headers = {path: _digest_file(path) for path in _headers_of(objects)}
        content = json.dumps(headers, sort_keys=True).encode()
        target = os.path.join(cache, f"{stem}-{_digest(content)}{_SUFFIX}")
        described = os.path.join(folder, "manifest")
        size = os.path.getsize(library)
        with open(described, "w", encoding="utf-8") as file:
            json.dump({"library": target, "size": size, "headers": headers}, file)
        os.replace(library, target)
        os.replace(described, os.path.join(cache, stem + ".json"))
    return target


def _write(path: str, content: bytes) -> None:
    """Write a file unless it exists."""
    if os.path.exists(path):
        return
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        made = os.path.join(folder, "made")
        with open(made, "wb") as file:
            file.write(content)
        os.replace(made, path)


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
    given = os.environ.get("CXX", "")
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise RuntimeError(f"no C++ compiler: $CXX is {given!r}, which is not a command: {error}") from None
    for candidate in [words] if words else [["c++"], ["g++"], ["clang++"]]:
        path = shutil.which(candidate[0])
        if path is not None:
            return [path, *candidate[1:]]
    missing = f"$CXX is {words[0]!r}, which is not there" if words else "there is no c++, g++ or clang++"
    raise RuntimeError(f"no C++ compiler: {missing}; install one, or name it in the environment variable CXX")


def _version_flags(compiler: list[str]) -> list[str]:
    """Return the options that separate two versions of a library in one process.

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


def _cache_path() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "anyffi")


def _make_cache() -> str:
    cache = _cache_path()
    os.makedirs(cache, exist_ok=True)
    return cache


@contextlib.contextmanager
def _cache_errors() -> Iterator[None]:
    """Add the purpose of the cache, and how to move it, to file errors."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_CACHE:
            raise
        text = f"{error.strerror}; anyffi.cpp writes to its cache, which XDG_CACHE_HOME moves"
        raise OSError(error.errno, text, error.filename or _cache_path()) from None


def _remove_left(cache: str, stem: str) -> None:
    """Remove files of processes that were killed while they built this library, which is locked."""
    for entry in os.scandir(cache):
        if entry.name.startswith(stem) and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)


@contextlib.contextmanager
def _lock(stem: str) -> Iterator[None]:
    """Let one process build at a time; without file locks each process builds its own library."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(stem + ".lock", "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _find_built(manifest: str) -> str | None:
    """Return the library that was built with the current headers, or None."""
    try:
        with open(manifest, encoding="utf-8") as file:
            built = json.load(file)
        unchanged = all(_digest_file(path) == digest for path, digest in built["headers"].items())
        library: str = built["library"]
        # The system may have crashed before all of the library was written.
        unchanged = unchanged and os.path.getsize(library) == built["size"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return library if unchanged else None


def _headers_of(objects: list[str]) -> Iterator[str]:
    """Iterate over the headers in the compiler's dependency files."""
    for made in objects:
        with open(made + ".d", encoding="utf-8") as file:
            _, _, prerequisites = file.read().replace("\\\n", " ").partition(":")
        for path in shlex.split(prerequisites)[1:]:
            yield os.path.abspath(path)


def _run(name: str, command: list[str], *outputs: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    message = done.stderr or done.stdout
    if done.returncode == 0:
        missing = [path for path in outputs if not os.path.exists(path)]
        if not missing:
            return
        message = f"it wrote no {os.path.basename(missing[0])}: is {command[0]} a C++ compiler? {message}"
    elif done.returncode < 0:
        message = f"it was ended by {_signal_name(-done.returncode)}; is there enough memory? {message}"
    raise RuntimeError(f"{name} cannot be built ({shlex.join(command)}):\n{message}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def load_ipython_extension(ipython: Any) -> None:
    """Register the cell magic ``%%anyffi``, after ``%load_ext anyffi.cpp``.

    The cell is C++. The functions to export follow the magic, written as for `load_inline`. They become names
    of the notebook.
    """

    def anyffi(line: str, cell: str) -> None:
        module = load_inline("cell", cell, split_functions(line))
        ipython.push({name: getattr(module, name) for name in dir(module) if not name.startswith("__")})

    ipython.register_magic_function(anyffi, "cell")
