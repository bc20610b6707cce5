"""Find the interpreters that anyffi supports; those that are not installed come from Debian's packages.

They are kept below `.dev/interpreters/`. Python versions from Debian are unpacked there with the
libraries that they need, which they find there. Debian has no packages of versions without the GIL: most
are put together from a wheel.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

from debian_interpreters import Unavailable, unpack, unpacked
from free_threaded_interpreters import make, path_of

__all__ = [
    "SUPPORTED",
    "Unavailable",
    "find_installed",
    "find_newest",
    "find_or_make",
    "is_version",
    "split_versions",
]

#: From the oldest to the newest. `t`: without the GIL.
SUPPORTED = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "3.13t", "3.14t", "3.15t")

_ASK = (
    "import sys; print('%d.%d' % sys.version_info[:2] + ('t' if 't' in getattr(sys, 'abiflags', '') else ''))"
)


def is_version(word: str) -> bool:
    return re.fullmatch(r"3\.\d+t?|newest", word) is not None


def split_versions(words: list[str]) -> tuple[list[str], list[str]]:
    """Split arguments into the versions at their beginning and the rest."""
    count = next((i for i, word in enumerate(words) if not is_version(word)), len(words))
    return words[:count], words[count:]


def find_installed(version: str, *, needs_headers: bool = True) -> str | None:
    """Return the path of an installed CPython, or of one that was created here before."""
    for path in _candidates(version):
        # pyenv puts a command for each version of any of its interpreters on PATH, even if it is not the
        # active one.
        asked = subprocess.run(
            [path, "-S", "-c", _ASK],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        if asked.stdout.strip() == version and (not needs_headers or _has_headers(path)):
            return path
    return None


def _candidates(version: str) -> Iterator[str]:
    yield sys.executable
    found = shutil.which(f"python{version}")
    if found is not None:
        yield found
    yield from sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python")))
    for made in (unpacked(version), path_of(version)):
        if made.exists():
            yield str(made)


def _has_headers(python: str) -> bool:
    ask = (
        "import os, sysconfig; print(os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    )
    return subprocess.check_output([python, "-S", "-c", ask], text=True).strip() == "True"


def find_newest() -> str:
    """Return the newest supported version with a GIL that is installed or available.

    Raises
    ------
    Unavailable
        There is none.
    """
    for version in reversed([x for x in SUPPORTED if not x.endswith("t")]):
        try:
            find_or_make(version)
        except Unavailable:
            continue
        return version
    raise Unavailable("no supported version is installed or can be had")


def find_or_make(version: str) -> str:
    """Return the path of an interpreter.

    Raises
    ------
    Unavailable
        It is neither installed nor available for this machine.
    """
    found = find_installed(version)
    if found is not None:
        return found
    if shutil.which("apt-get") is None:
        raise Unavailable("it is not installed, and there is no apt-get to get it with")
    try:
        return str(make(version) if version.endswith("t") else unpack(version))
    except subprocess.CalledProcessError as error:
        command = " ".join(str(word) for word in error.cmd if not str(word).startswith("--option"))
        raise Unavailable(f"it is not installed, and this failed: {command}") from None
