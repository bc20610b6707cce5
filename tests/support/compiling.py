"""Runs the compiler on the headers."""

from __future__ import annotations

import subprocess

from support import CXX, ROOT, run

INCLUDE = ROOT / "cpp" / "include"


def compile_text(source: str, *options: object) -> subprocess.CompletedProcess[str]:
    command = [CXX, "-std=c++17", f"-I{INCLUDE}", *options, "-x", "c++", "-"]
    return run(command, stdin=source, LD_PRELOAD=None)
