"""Adds C++ frames to Python tracebacks, for both backends, if FFI_TRACEBACK=1.

The runtime records return addresses (`anyffi_error_get_frames`). This module finds their source lines, and
makes traceback entries from them.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from types import CodeType, FunctionType, TracebackType

from .._builtins import *  # noqa: F403
from .._library import find_include_dir
from .._typing import Any
from .errors import is_from_handler

__all__ = ["add_frames"]

#: Libraries in which Python itself runs, besides the program and the extension modules below.
_HOST = re.compile(r"(lib)?(python|pypy|ffi)[-.\d]")
_EXTENSIONS = ("_ctypes", "anyffi._cython._core")
#: Libraries that only pass an exception on.
_PASSING = re.compile(r"lib(anyffi|stdc\+\+|gcc_s|c\+\+|c\+\+abi|unwind|c|m|pthread)\.(so|dylib)")
_PASSING_NAMES = re.compile(r"(anyffi|std|__gnu_cxx|__cxxabiv1)::|__cxa_|__gxx_|_Unwind_|get_adjusted_ptr$")
_HEADER = re.compile(r".*/include/c\+\+/.*|.*/(anyffi/(\w+/)?\w+\.h)")
_NOISE = re.compile(r" \[clone [^]]*\]| \((\.\w+)+\)| const$|\(anonymous namespace\)::")
_LINE = re.compile(r"(.*):(\d+)( \(discriminator \d+\))?")
_TOOLS = ("addr2line", "llvm-addr2line")
_SECONDS = 60
_SYMTAB = 2  # SHT_SYMTAB

#: The code at an offset in a library, by the library's file and time and the offset: innermost first.
_known: dict[tuple[str, int, str], list[tuple[CodeType, int]]] = {}


def add_frames(exception: BaseException, text: str | None) -> None:
    """Put C++ frames in front of the traceback of an exception that is about to be raised.

    Only raises exceptions of signal handlers; the traceback is then unchanged.

    Parameters
    ----------
    exception : BaseException
        An exception made from an error of the runtime, or passed on by the runtime.
    text : str or None
        The result of `anyffi_error_get_frames` for the error.
    """
    try:
        if text is not None:
            traceback = _extend(exception.__traceback__, text)
            # Classes may forbid setting attributes, as frozen dataclasses do.
            BaseException.with_traceback(exception, traceback)
    except Exception as raised:
        # Without memory, for example. The error itself matters more.
        if is_from_handler(raised):
            raise


def _extend(traceback: TracebackType | None, text: str) -> TracebackType | None:
    for code, line in _resolve(_frames_of_call(text.split("\0"))):
        # A generator's frame has no caller that it would keep alive.
        frame = FunctionType(code, {"__name__": "C++"})().gi_frame
        traceback = TracebackType(traceback, frame, 0, line)
    return traceback


def _frames_of_call(parts: list[str]) -> list[tuple[str, str, str]]:
    """Return library, offset and symbol of the C++ frames between an error and the enclosing Python code."""
    frames = list(zip(parts[1::3], parts[2::3], parts[3::3]))
    is_host = _host_of(frames)
    begin = 0
    if parts[0] == "1":
        # Python code raised it, in frames of its own, called from C++.
        while begin < len(frames) and _is_passing(frames[begin][0]):
            begin += 1
        while begin < len(frames) and is_host[begin]:
            begin += 1
    end = next((i for i in range(begin, len(frames)) if is_host[i]), len(frames))
    return [frame for frame in frames[begin:end] if not _is_passing(frame[0])]


def _host_of(frames: list[tuple[str, str, str]]) -> list[bool]:
    modules = (sys.modules.get(name) for name in _EXTENSIONS)
    files = {getattr(module, "__file__", None) for module in modules}
    if not any(_file_name(library).startswith("libpython") for library, _, _ in frames):
        files.add("")
    # Code outside of any library is JIT-compiled code of the interpreter.
    return [
        not place or library in files or _HOST.match(_file_name(library)) is not None
        for library, place, _ in frames
    ]


def _is_passing(library: str) -> bool:
    return _PASSING.match(_file_name(library)) is not None


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _resolve(frames: list[tuple[str, str, str]]) -> list[tuple[CodeType, int]]:
    """Return code objects and lines for frames, including inlined functions; innermost first."""
    keys = [(library, _time_of(library), place) for library, place, _ in frames]
    for library in {key[0] for key in keys if key not in _known}:
        missing = [
            (key, frame[2]) for key, frame in zip(keys, frames) if key[0] == library and key not in _known
        ]
        found = _look_up(library, [place for (_, _, place), _ in missing])
        for (key, symbol), rows in zip(missing, found):
            _known[key] = [_show(*row) for row in _choose(library, symbol, rows)]
    return [entry for key in keys for entry in _known[key]]


def _time_of(library: str) -> int:
    try:
        return os.stat(_file_of(library)).st_mtime_ns
    except OSError:
        return 0


def _file_of(library: str) -> str:
    program = "/proc/self/exe"
    return library or (os.path.realpath(program) if os.path.exists(program) else sys.executable)


def _choose(library: str, symbol: str, rows: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Return name, file and line of the user's functions at an offset."""
    if not any(name for name, _, _ in rows):
        rows = [(symbol, "", 0)]
    chosen = []
    for i, (full_name, file, line) in enumerate(rows):
        name = _shorten(full_name)
        is_header = bool(file) and _is_header(file)
        # The last one is the function itself; those before it are inlined into it. Names without parameters
        # lack namespaces.
        if is_header and (i + 1 < len(rows) or "(" not in full_name.replace("operator()", "")):
            continue
        if not name or ((is_header or not file) and _PASSING_NAMES.match(name)):
            continue
        if name.startswith("anyffi::") and "lambda" in name:
            # A lambda that was inlined into the code that converts its arguments.
            name = "<lambda>"
        chosen.append((name, file or f"<{_file_of(library)}>", line))
    return chosen


def _is_header(file: str) -> bool:
    """Return whether a file belongs to the standard library or to this package."""
    found = _HEADER.fullmatch(file)
    return found is not None and (not found[1] or os.path.exists(os.path.join(find_include_dir(), found[1])))


def _shorten(name: str) -> str:
    """Return the name of a C++ function without its result and parameters."""
    name = _NOISE.sub("", name)
    if name.endswith(")") and not name.endswith("operator()"):
        depth = 0
        for i in range(len(name) - 1, -1, -1):
            depth += (name[i] == ")") - (name[i] == "(")
            if depth == 0:
                name = name[:i]
                break
    # The characters of operators are not brackets.
    depth = begin = 0
    for i, sign in enumerate(name.partition("operator")[0]):
        depth += (sign in "<({[") - (sign in ">)}]")
        if sign == " " and depth == 0:
            begin = i + 1
    return name[begin:]


def _look_up(library: str, places: list[str]) -> list[list[tuple[str, str, int]]]:
    """Return functions, files and lines for offsets in a library; empty if no tool can find them."""
    nothing: list[list[tuple[str, str, int]]] = [[] for _ in places]
    try:
        # Imported late: few programs need them, and at exit they may not be importable.
        import shutil
        import subprocess
    except (ImportError, OSError):
        return nothing
    tool = next(filter(None, map(shutil.which, _TOOLS)), None)
    if tool is None:
        return nothing
    command = [tool, "-a", "-C", "-f", "-i", "-e", _file_of(library), *places]
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        has_names = _has_symbols(_file_of(library))
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=_SECONDS, check=False, **options)
    except (OSError, struct.error, subprocess.SubprocessError):
        return nothing
    groups: list[list[str]] = []
    for line in done.stdout.decode(errors="replace").split("\n")[:-1]:
        if line.startswith("0x"):
            groups.append([])
        elif groups:
            groups[-1].append(line)
    if len(groups) != len(places):
        return nothing
    return [[_read(*pair, has_names) for pair in zip(group[::2], group[1::2])] for group in groups]


def _read(name: str, place: str, has_names: bool) -> tuple[str, str, int]:
    found = _LINE.fullmatch(place)
    if found is not None and not found[1].startswith("?"):
        return name, found[1], int(found[2])
    return name if has_names and name != "??" else "", "", 0


def _has_symbols(library: str) -> bool:
    """Return whether a 64-bit ELF file has a symbol table: without one, names may be those of neighbours."""
    with open(library, "rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            return False
        file.seek(struct.unpack_from("=Q", header, 40)[0])
        size, count = struct.unpack_from("=HH", header, 58)
        sections = file.read(size * count)
    return any(struct.unpack_from("=I", sections, i * size + 4)[0] == _SYMTAB for i in range(count))


def _template() -> Any:
    yield


def _show(name: str, file: str, line: int) -> tuple[CodeType, int]:
    """Return a code object with the name and file of a C++ function, and the line."""
    code = _template.__code__
    changed: dict[str, Any] = {"co_name": name, "co_filename": file, "co_firstlineno": line}
    if sys.version_info >= (3, 11):
        # A line table that maps everything to that line, without columns: one entry for up to 8 instructions.
        size = len(code.co_code) // 2
        changed["co_qualname"] = name
        changed["co_linetable"] = b"".join(
            bytes([0x80 | 13 << 3 | min(8, size - i) - 1, 0]) for i in range(0, size, 8)
        )
    return code.replace(**changed), line
