"""The commands of `python -m anyffi` about traces and records."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from .chrome import to_chrome
from .page import to_html
from .reading import read_file
from .replaying import MODES, debug_call, list_calls, replay

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add the commands to those of `python -m anyffi`."""
    trace = commands.add_parser(
        "trace",
        help="show the trace that FFI_TRACE or anyffi.trace wrote",
        description="Writes a trace as an HTML page, FILE.html, and in Chrome's format, FILE.chrome.json.",
        allow_abbrev=False,
    )
    trace.add_argument("file", metavar="FILE", help="what FFI_TRACE or anyffi.trace wrote")
    trace.add_argument("--html", metavar="PATH", help="write only this page")
    trace.add_argument("--chrome", metavar="PATH", help="write only this file in Chrome's format")
    trace.set_defaults(run=_show_trace)

    again = commands.add_parser(
        "replay",
        help="run the calls that FFI_RECORD recorded again, in another mode",
        description="Runs recorded calls again and prints where results, errors or changed arguments differ. "
        "The exit status is 0 if nothing does, 1 if something does or a call did not return, and 2 if calls "
        "could not be replayed, also with --list. Records are pickles: replay only those that you trust.",
        allow_abbrev=False,
    )
    again.add_argument("folder", metavar="DIR", help="the directory of FFI_RECORD")
    again.add_argument(
        "--mode", choices=MODES, help="by default ctypes, or cython if they were recorded in ctypes mode"
    )
    again.add_argument(
        "--alone",
        action="store_true",
        help="run each call in a process of its own: what then differs depends on more than its arguments",
    )
    again.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=60,
        help="how long a call may take; %(default)s",
    )
    again.add_argument("--list", action="store_true", help="list the calls, and run none")
    again.add_argument("--call", metavar="NUMBER", type=int, help="run only this call")
    again.add_argument("--pdb", action="store_true", help="debug that call: stop at its first line in Python")
    again.set_defaults(
        run=_replay,
        # 1 says that something differs.
        status_of_errors=2,
    )

    gdb = commands.add_parser(
        "gdb",
        help="print the path of a script for gdb, which shows values and the arguments of calls",
        description='Prints the path of a script for gdb: gdb -x "$(python -m anyffi gdb)" ...',
        allow_abbrev=False,
    )
    gdb.set_defaults(run=_print_script)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    # The range that the system's functions accept.
    if not 0 < seconds <= 10**6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from above 0 to a million")
    return seconds


def _replay(options: argparse.Namespace) -> int:
    if options.list:
        return list_calls(options.folder, options.mode)
    if options.pdb:
        if options.call is None:
            raise ValueError("--pdb debugs one call: name it by --call")
        debug_call(options.folder, options.mode, options.call)
    return replay(options.folder, options.mode, options.alone, options.timeout, options.call)


def _print_script(options: argparse.Namespace) -> int:
    print(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gdb_script.py"))
    return 0


def _show_trace(options: argparse.Namespace) -> int:
    html, chrome = options.html, options.chrome
    if html is None and chrome is None:
        html, chrome = options.file + ".html", options.file + ".chrome.json"
    calls = read_file(options.file)
    if html is not None:
        _write(html, to_html(calls))
    if chrome is not None:
        _write(chrome, json.dumps(to_chrome(calls), separators=(",", ":")) + "\n")
    return 0


def _write(path: str, text: str) -> None:
    # Arguments may be confidential, so the file is as private as the trace.
    with open(path, "w", encoding="utf-8", opener=_open_private) as file:
        file.write(text)
    print(path)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
