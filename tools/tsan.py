"""Run the C++ tests under ThreadSanitizer, which reports data races; or programs of Python threads.

    python3 tools/dev.py tsan [ARGUMENTS]
    python3 tools/dev.py tsan python [SECONDS]     # see tsan_python.py

The tests are built with Clang or GCC; arguments are passed to GoogleTest, such as --gtest_filter=Threads.*. A
report fails the run, unless tools/tsan_suppressions.txt lists it with a reason.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tsan_python

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / ".dev" / "tsan" / "cpp"
PROGRAM = "tests/cpp/anyffi_tests"
#: Tests exhaust memory on purpose.
OPTIONS = f"suppressions={ROOT / 'tools' / 'tsan_suppressions.txt'} allocator_may_return_null=1"


def find_compilers() -> dict[str, str]:
    """Return compilers that have the sanitizer, as CC and CXX: those that CXX selects, else Clang or GCC."""
    chosen = [(os.environ.get("CC", "cc"), os.environ["CXX"])] if "CXX" in os.environ else []
    with tempfile.TemporaryDirectory() as folder:
        for cc, cxx in chosen or [("clang", "clang++"), ("gcc", "g++")]:
            command = [*cxx.split(), "-fsanitize=thread", "-x", "c++", "-", "-o", f"{folder}/program"]
            if shutil.which(command[0]) is None:
                continue
            source = b"int main() {}"
            if subprocess.run(command, input=source, capture_output=True, check=False).returncode == 0:
                return {"CC": cc, "CXX": cxx}
    sys.exit("no compiler here has ThreadSanitizer (Debian: `apt-get install g++`)")


def build() -> None:
    """Configure the build directory once, and rebuild what is out of date."""
    if not (BUILD / "build.ninja").is_file():
        options = ["cython=disabled", "development=true", "b_sanitize=thread", "b_lundef=false"]
        options += ["buildtype=debugoptimized", "optimization=1"]
        setup = ["meson", "setup", str(BUILD), str(ROOT), *(f"-D{option}" for option in options)]
        subprocess.run(setup, check=True, env={**os.environ, **find_compilers()}, stdout=subprocess.DEVNULL)
    # Fails without GoogleTest, because the target does not exist then.
    subprocess.run(["ninja", "-C", str(BUILD), "--quiet", PROGRAM], check=True)


def main() -> int:
    # The sanitizer needs addresses that newer systems use for programs, unless randomization is off.
    fixed = ["setarch", "--addr-no-randomize"]
    if (
        shutil.which(fixed[0]) is None
        or subprocess.run([*fixed, "true"], capture_output=True, check=False).returncode != 0
    ):
        fixed = []
    if sys.argv[1:2] == ["python"]:
        seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
        return tsan_python.main(find_compilers(), fixed, seconds)
    build()
    command = [*fixed, str(BUILD / PROGRAM), "--gtest_brief=1", *sys.argv[1:]]
    return subprocess.run(command, check=False, env={**os.environ, "TSAN_OPTIONS": OPTIONS}).returncode


if __name__ == "__main__":
    sys.exit(main())
