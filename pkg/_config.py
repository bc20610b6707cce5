"""The command `anyffi-config`: prints options and paths for compilers and build systems."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from ._library import find_include_dir, find_library

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the requested options and paths, in order, on one line.

    Parameters
    ----------
    argv : sequence of str, optional
        The options; by default those of the process.
    """
    include = find_include_dir()
    lib = os.path.dirname(find_library("anyffi"))
    answers = {
        "--cflags": (f"-I{include}", "options for the compiler"),
        "--libs": (f"-L{lib} -lanyffi", "options for the linker"),
        "--includedir": (include, "where the headers are"),
        "--libdir": (lib, "where the library is"),
        "--cmakedir": (os.path.join(lib, "cmake", "anyffi"), "anyffi_DIR, for CMake's find_package(anyffi)"),
        "--pkgconfigdir": (os.path.join(lib, "pkgconfig"), "what PKG_CONFIG_PATH needs, for Meson too"),
    }
    parser = argparse.ArgumentParser(
        "anyffi-config", description="Where anyffi is installed.", allow_abbrev=False
    )
    for option, (_, description) in answers.items():
        parser.add_argument(option, dest="wanted", action="append_const", const=option, help=description)
    wanted: list[str] = parser.parse_args(argv).wanted or []
    if not wanted:
        parser.error("no option given; --help lists them")
    for option in wanted:
        path = answers[option][0]
        if option in ("--cmakedir", "--pkgconfigdir") and not os.path.isdir(path):
            # The CMake and pkg-config files find headers and library relative to themselves.
            parser.exit(1, f"anyffi-config: {option} needs an ordinary installation, not an editable one\n")
    print(*(answers[option][0] for option in wanted))


if __name__ == "__main__":
    main()
