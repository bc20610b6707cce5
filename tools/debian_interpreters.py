"""Unpack interpreters from Debian's packages, with the libraries that they need.

Interpreters of its newest releases run below `.dev/interpreters/`; the system is not changed.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from collections.abc import Sequence

__all__ = ["KEPT", "Unavailable", "download", "patch", "unpack", "unpacked"]

KEPT = pathlib.Path(__file__).resolve().parent.parent / ".dev" / "interpreters"
#: Releases of Debian, the one with the newest interpreters first. A mirror may lack the newest packages.
_SUITES = ("unstable", "testing", "stable")
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """The interpreter is neither installed nor available for download."""


def download(folder: pathlib.Path, entry: str, *words: str) -> None:
    """Download packages of the newest release of Debian for which the mirror has all of them."""
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
    """Run apt-get with its lists and state in a folder, so that the system's do not change."""
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


def unpacked(version: str) -> pathlib.Path:
    return KEPT / version / "usr" / "bin" / f"python{version}"


def unpack(version: str) -> pathlib.Path:
    """Unpack an interpreter of a newer Debian and its libraries, including the C library."""
    print(f"Unpacking CPython {version} from Debian's packages", flush=True)
    folder, root = KEPT / f"{version}-packages", KEPT / version
    wanted = (f"python{version}-venv", f"libpython{version}-dev", "patchelf")
    download(folder, "deb", "install", "--yes", "--download-only", *wanted)
    shutil.rmtree(root, ignore_errors=True)
    for package in sorted((folder / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
    shutil.rmtree(folder)
    usr = root / "usr"
    loader, libraries = _loader(usr)
    python = unpacked(version)
    # The package's pyconfig.h includes another one by its path in an installed system.
    (described,) = usr.glob(f"include/*/python{version}/pyconfig.h")
    shutil.copy(described, usr / "include" / f"python{version}" / "pyconfig.h")
    for settings in (usr / "lib" / f"python{version}").glob("_sysconfigdata_*.py"):
        settings.write_text(
            settings.read_text().replace("'/usr/share/python-wheels", f"'{usr}/share/python-wheels")
        )
    # Loaded early, because the system's versions are too old for this C library.
    names = ("libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1")
    early = [word for name in names for word in ("--add-needed", name)]
    patch(usr, ["--force-rpath", "--set-rpath", libraries], early, ["--set-interpreter", loader], path=python)
    return python


def patch(usr: pathlib.Path, *changes: Sequence[str | pathlib.Path], path: pathlib.Path) -> None:
    """Run the unpacked patchelf once for each change, because it fails to make them in one run."""
    loader, libraries = _loader(usr)
    for options in changes:
        subprocess.run(
            [loader, "--library-path", libraries, usr / "bin" / "patchelf", *options, path], check=True
        )


def _loader(usr: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Return the unpacked dynamic loader, and the folder of its libraries."""
    (libraries,) = {path.parent for path in usr.glob("lib/*/libc.so.6")}
    return next(libraries.glob("ld-linux-*.so.*")), libraries
