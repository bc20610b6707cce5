"""Figures of the installed package: the time of its import and the size of its library."""

from __future__ import annotations

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any

from .bars import PYTHON_MODES
from .native import Missing


def install(folder: pathlib.Path) -> pathlib.Path:
    """Install the build; return the folder to import it from."""
    build = os.environ["ANYFFI_BUILD_DIR"]
    command = ["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.rglob("anyffi/__init__.py")).parent.parent


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(site: pathlib.Path, program: str, mode: str) -> tuple[float, str]:
    """Run a program in a new interpreter without site packages; return its CPU time in ms and its output.

    CPU time, since the wall time of a whole process varies with the load of the machine.
    """
    # Not the environment's interpreter, whose start-up imports many modules.
    interpreter = getattr(sys, "_base_executable", sys.executable)
    paths = f"import sys; sys.path += [{str(site)!r}, {sysconfig.get_paths()['purelib']!r}]\n"
    command = [interpreter, "-I", "-S", "-c", paths + program]
    before = processor_seconds()
    done = subprocess.run(
        command, env={**os.environ, "FFI_MODE": mode}, stdout=subprocess.PIPE, text=True, check=True
    )
    return (processor_seconds() - before) * 1000, done.stdout


def import_ms(site: pathlib.Path, mode: str, rounds: int) -> float:
    """Return the time of the import: the fastest run with it minus the fastest without."""
    run(site, "import anyffi", mode)
    times = [(run(site, "", mode)[0], run(site, "import anyffi", mode)[0]) for _ in range(rounds)]
    return min(imported for _, imported in times) - min(bare for bare, _ in times)


def stripped_kb(library: pathlib.Path) -> float:
    copy = library.with_suffix(".stripped")
    shutil.copy(library, copy)
    try:
        subprocess.run(["strip", str(copy)], check=True)
    except FileNotFoundError:
        raise Missing("there is no `strip`") from None
    return copy.stat().st_size / 1024


def measure(options: dict[str, Any]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        site = install(pathlib.Path(name))
        figures = {
            f"import anyffi, {mode}": import_ms(site, mode, options["rounds"]) for mode in PYTHON_MODES
        }
        seen = [run(site, "import anyffi; print('numpy' in sys.modules)", mode)[1] for mode in PYTHON_MODES]
        figures["import anyffi imports NumPy"] = sum("True" in printed for printed in seen)
        figures["libanyffi, stripped"] = stripped_kb(site / "anyffi" / "lib" / "libanyffi.so")
    return figures
