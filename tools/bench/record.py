"""The conditions of a measurement: machine, versions and commit."""

from __future__ import annotations

import datetime
import os
import pathlib
import platform
import shlex
import subprocess


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.partition("\n")[0].strip() or "unknown"


def processor() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except FileNotFoundError:
        return platform.processor() or "unknown"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def describe() -> dict[str, str]:
    """Return the lines at the head of a report."""
    changed = first_line("git", "diff", "--stat", "HEAD", "--", "cpp", "pkg", "tools") != "unknown"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": first_line("git", "rev-parse", "--short", "HEAD") + (" and changes" if changed else ""),
        "processor": f"{processor()}, {os.cpu_count()} cores, {platform.machine()}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()) + " (1, 5 and 15 minutes)",
        "system": f"{platform.system()}, {' '.join(platform.libc_ver())}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler": first_line(*shlex.split(os.environ.get("CXX", "g++")), "--version"),
    }
