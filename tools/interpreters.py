"""Find the interpreters that anyffi supports; those that are not installed come from Debian's packages.

They are kept below `.dev/interpreters/`. Debian's newest releases of Python are unpacked there with the
libraries that they need, and find these by themselves. Debian has no packages of those without the GIL, which
are compiled from its source packages: 10 minutes on one core.
"""

from __future__ import annotations

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

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
SUPPORTED = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "3.13t", "3.14t")

_KEPT = pathlib.Path(__file__).resolve().parent.parent / ".dev" / "interpreters"
#: Releases of Debian, the one with the newest interpreters first. A mirror may lack the newest sources.
_SUITES = ("unstable", "testing", "stable")
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_ASK = (
    "import sys; print('%d.%d' % sys.version_info[:2] + ('t' if 't' in getattr(sys, 'abiflags', '') else ''))"
)


class Unavailable(Exception):
    """An interpreter is neither installed nor to be had."""


def is_version(word: str) -> bool:
    return re.fullmatch(r"3\.\d+t?|newest", word) is not None


def split_versions(words: list[str]) -> tuple[list[str], list[str]]:
    """Split arguments into the versions that they begin with, and the others."""
    count = next((i for i, word in enumerate(words) if not is_version(word)), len(words))
    return words[:count], words[count:]


def find_installed(version: str, *, needs_headers: bool = True) -> str | None:
    """Return the path of an installed CPython, or of one that was made before."""
    for path in _candidates(version):
        # pyenv has a command on PATH for each version that any of its interpreters has.
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
    for made in (_unpacked(version), _compiled(version)):
        if made.exists():
            yield str(made)


def _has_headers(python: str) -> bool:
    ask = (
        "import os, sysconfig; print(os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    )
    return subprocess.check_output([python, "-S", "-c", ask], text=True).strip() == "True"


def find_newest() -> str:
    """Return the newest supported version with a GIL that is installed or can be had.

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
        It is not installed, and cannot be had here.
    """
    found = find_installed(version)
    if found is not None:
        return found
    if shutil.which("apt-get") is None:
        raise Unavailable("it is not installed, and there is no apt-get to get it with")
    try:
        return str(_compile(version) if version.endswith("t") else _unpack(version))
    except subprocess.CalledProcessError as error:
        command = " ".join(str(word) for word in error.cmd if not str(word).startswith("--option"))
        raise Unavailable(f"it is not installed, and this failed: {command}") from None


# ---- Debian's packages -----------------------------------------------------------------------------------


def _download(folder: pathlib.Path, entry: str, *words: str) -> None:
    """Download packages of the newest release of Debian that the mirror has all of."""
    for suite in _SUITES:
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _apt(folder, entry, suite, "update")
            _apt(folder, entry, suite, *words)
            return
        except subprocess.CalledProcessError as error:
            failed = error
    raise failed


def _apt(folder: pathlib.Path, entry: str, suite: str, *words: str) -> None:
    """Run apt-get with its lists and state in a folder, so that the system's stay as they are."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    sources = folder / "sources.list"
    sources.write_text(f"{entry} [signed-by={_KEYS}] {_mirror()} {suite} main\n")
    settings = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::Status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root",
    }
    options = [f"--option={name}={value}" for name, value in settings.items()]
    silent = subprocess.DEVNULL
    subprocess.run(["apt-get", *options, *words], cwd=folder, stdout=silent, stderr=silent, check=True)


def _mirror() -> str:
    """Return the address that apt is configured to get Debian's packages from."""
    rows = subprocess.check_output(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(LABEL) $(REPO_URI)"], text=True
    )
    for row in rows.splitlines():
        origin, component, label, *address = row.split()
        if (origin, component, label) == ("Debian", "main", "Debian"):
            return address[0]
    raise Unavailable(
        "it is not installed, and apt knows no archive of Debian (`apt-get update` comes first)"
    )


def _unpacked(version: str) -> pathlib.Path:
    return _KEPT / version / "usr" / "bin" / f"python{version}"


def _unpack(version: str) -> pathlib.Path:
    """Unpack an interpreter of a newer Debian, with the libraries that it needs, the C library included."""
    print(f"Unpacking CPython {version} from Debian's packages", flush=True)
    folder, root = _KEPT / f"{version}-packages", _KEPT / version
    wanted = (f"python{version}-venv", f"libpython{version}-dev", "patchelf")
    _download(folder, "deb", "install", "--yes", "--download-only", *wanted)
    shutil.rmtree(root, ignore_errors=True)
    for package in sorted((folder / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
    shutil.rmtree(folder)
    usr = root / "usr"
    (libraries,) = {path.parent for path in usr.glob("lib/*/libc.so.6")}
    loader = next(libraries.glob("ld-linux-*.so.*"))
    python = _unpacked(version)
    # The headers name this one by its place in a system.
    (described,) = usr.glob(f"include/*/python{version}/pyconfig.h")
    shutil.copy(described, usr / "include" / f"python{version}" / "pyconfig.h")
    for settings in (usr / "lib" / f"python{version}").glob("_sysconfigdata_*.py"):
        settings.write_text(
            settings.read_text().replace("'/usr/share/python-wheels", f"'{usr}/share/python-wheels")
        )
    # Loaded early: the system's own are too old for this C library.
    names = ("libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1")
    early = [word for name in names for word in ("--add-needed", name)]
    patchelf: list[str | pathlib.Path] = [loader, "--library-path", libraries, usr / "bin" / "patchelf"]
    # In one run they fail.
    for options in (["--force-rpath", "--set-rpath", libraries], early, ["--set-interpreter", loader]):
        subprocess.run([*patchelf, *options, python], check=True)
    return python


# ---- Debian's source packages ----------------------------------------------------------------------------


def _compiled(version: str) -> pathlib.Path:
    return _KEPT / version / "bin" / f"python{version}"


def _compile(version: str) -> pathlib.Path:
    print(f"Compiling CPython {version} from Debian's source package (10 minutes)", flush=True)
    release = version.rstrip("t")
    folder = _KEPT / f"{version}-source"
    _download(folder, "deb-src", "source", "--download-only", f"python{release}")
    source, built = folder / "source", folder / "build"
    source.mkdir()
    built.mkdir()
    (archive,) = folder.glob("*.orig.tar.xz")
    subprocess.run(
        ["tar", "--extract", "--strip-components=1", "--directory", source, "--file", archive], check=True
    )
    options = [f"--prefix={_KEPT / version}", "--disable-test-modules", "--disable-gil"]
    log = folder / "log"
    with log.open("w") as output:
        for command in ([str(source / "configure"), *options], ["make", "-j1"], ["make", "install"]):
            subprocess.run(
                ["nice", *map(str, command)], cwd=built, stdout=output, stderr=subprocess.STDOUT, check=True
            )
    shutil.rmtree(folder)
    return _compiled(version)
