"""Run a program of Python threads under ThreadSanitizer, without the GIL.

    python3 tools/dev.py tsan python [SECONDS]

CPython is compiled with the sanitizer, once (15 minutes), as are the runtime and the compiled marshaller.
Then the stress programs `sharing` and `soak` run in each mode. A report fails the run, unless CPython lists
it as a race of its own, or tools/tsan_python_suppressions.txt gives a reason why it is harmless.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Mapping

from debian_interpreters import KEPT
from free_threaded_interpreters import compile_source

__all__ = ["main"]

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / ".dev" / "tsan"
BUILD, PACKAGES = HOME / "python", HOME / "packages"
#: The newest version whose sources Debian's stable releases have.
VERSION = "3.13t"
INTERPRETER = KEPT / f"{VERSION}-tsan"
REASONS = ROOT / "tools" / "tsan_python_suppressions.txt"
PROGRAM = ROOT / "tests" / "support" / "stress.py"
NAMES = ("sharing", "soak")


def build(compilers: Mapping[str, str], fixed: list[str]) -> pathlib.Path:
    """Compile what is missing or out of date; return the interpreter."""
    python = INTERPRETER / "bin" / f"python{VERSION}"
    if not python.exists():
        # The build runs the new interpreter, whose own races are not of interest.
        variables = {**compilers, "TSAN_OPTIONS": "report_bugs=0"}
        compile_source(VERSION, INTERPRETER, "--with-thread-sanitizer", runner=fixed, **variables)
    environment = {**os.environ, **compilers, "TSAN_OPTIONS": "report_bugs=0"}
    if not (BUILD / "build.ninja").is_file():
        BUILD.mkdir(parents=True, exist_ok=True)
        machine = BUILD / "machine.ini"
        machine.write_text(f"[binaries]\npython = '{python}'\n")
        options = ["cython=enabled", "development=true", "b_sanitize=thread", "b_lundef=false"]
        options += ["buildtype=debugoptimized", "optimization=1"]
        options += [f"python.{kind}libdir={PACKAGES}" for kind in ("pure", "plat")]
        setup = ["meson", "setup", str(BUILD), str(ROOT), "--native-file", str(machine)]
        setup += [f"-D{option}" for option in options]
        subprocess.run([*fixed, *setup], check=True, env=environment, stdout=subprocess.DEVNULL)
    ninja = ["ninja", "-C", str(BUILD), "--quiet", "install"]
    subprocess.run([*fixed, *ninja], check=True, env=environment, stdout=subprocess.DEVNULL)
    return python


def main(compilers: Mapping[str, str], fixed: list[str], seconds: float) -> int:
    """Build, and run the programs for some seconds together; return the number of those that failed.

    Parameters
    ----------
    compilers : mapping of str to str
        ``CC`` and ``CXX``.
    fixed : list of str
        A command that runs others at fixed addresses, which the sanitizer needs; may be empty.
    seconds : float
        Of all programs together.
    """
    python = build(compilers, fixed)
    suppressions = HOME / "suppressions.txt"
    suppressions.write_text((INTERPRETER / "tsan_suppressions.txt").read_text() + REASONS.read_text())
    failures = 0
    runs = [(name, mode) for name in NAMES for mode in ("cython", "ctypes")]
    for name, mode in runs:
        variables = {"FFI_MODE": mode, "PYTHONPATH": str(PACKAGES)}
        variables["TSAN_OPTIONS"] = f"suppressions={suppressions} history_size=4"
        command = [*fixed, str(python), str(PROGRAM), name, f"--seconds={seconds / len(runs)}"]
        status = subprocess.run(command, check=False, env={**os.environ, **variables}).returncode
        print(f"{mode:6} {name:8} {f'exit {status}' if status else 'no report'}", flush=True)
        failures += status != 0
    return failures
