"""Search for inputs that break the runtime or make the modes differ.

    python3 tools/dev.py fuzz [cpp] [programs] [properties] [--seconds N]

`cpp` runs the fuzzers of tests/fuzz, built with Clang's libFuzzer and sanitizers; they share the time.
`programs` compares random programs in both modes. `properties` runs the property tests with very many
examples, however long that takes. Without a name, all three. What is found is below .dev/fuzz/findings,
and the last lines say how to run it again.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / ".dev" / "fuzz"
BUILD = HOME / "build"
FINDINGS = HOME / "findings"
PROGRAM = BUILD / "tests" / "fuzz" / "anyffi_fuzz"
TARGETS = ("json", "library", "program", "text")
PARTS = ("cpp", "programs", "properties")
PROGRAMS_TEST = "tests/check/test_random_programs.py"
#: The fuzzers' allocations may fail, and what is undefined ends the run.
VARIABLES = {"ASAN_OPTIONS": "allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
#: Lines of a report that are shown; the file has all.
SHOWN = 40


def build() -> None:
    """Configure the fuzzers' own build directory once, and compile what has changed."""
    compilers = {"CC": "clang", "CXX": "clang++"}
    if not (BUILD / "build.ninja").is_file():
        options = ["fuzzers=true", "cython=disabled", "b_sanitize=address,undefined", "b_lundef=false"]
        options += ["buildtype=debugoptimized", "optimization=1"]
        setup: list[str | pathlib.Path] = [
            "meson",
            "setup",
            BUILD,
            ROOT,
            *(f"-D{option}" for option in options),
        ]
        subprocess.run(setup, check=True, env={**os.environ, **compilers}, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", BUILD, "--quiet", PROGRAM.relative_to(BUILD)], check=True)


def run_target(target: str, seconds: int) -> str | None:
    """Run one fuzzer; return what was found."""
    corpus, seeds = HOME / "corpus" / target, ROOT / "tests" / "fuzz" / "corpus" / target
    words: list[str] = []
    corpus.mkdir(parents=True, exist_ok=True)
    dictionary = ROOT / "tests" / "fuzz" / f"{target}.dict"
    if dictionary.is_file():
        words.append(f"-dict={dictionary}")
    limits = [f"-max_total_time={seconds}", "-timeout=25", "-rss_limit_mb=3000"]
    folders = [corpus, *([seeds] if seeds.is_dir() else [])]
    prefix = f"-artifact_prefix={FINDINGS}/{target}-"
    log = HOME / f"{target}.log"
    with log.open("wb") as file:
        command: list[str | pathlib.Path] = [PROGRAM, f"--target={target}", *limits, *words, prefix, *folders]
        done = subprocess.run(command, check=False, stdout=file, stderr=file, env={**os.environ, **VARIABLES})
    lines = log.read_text(errors="backslashreplace").splitlines()
    if done.returncode == 0:
        print(f"cpp {target}: {lines[-1] if lines else 'nothing was run'}", flush=True)
        return None
    report = [line for line in lines if not line.startswith(("#", "\tNEW_FUNC", "INFO:"))]
    kept = [line.rpartition(" ")[2] for line in report if "Test unit written to" in line]
    again = f"{PROGRAM.relative_to(ROOT)} --target={target} {kept[-1] if kept else '(no input was kept)'}"
    return "\n".join([f"cpp {target} found, in {log}:", *report[-SHOWN:], f"To run it again: {again}"])


def fuzz_cpp(seconds: int) -> list[str]:
    at_once = min(os.cpu_count() or 1, len(TARGETS))
    share = max(1, seconds * at_once // len(TARGETS))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        found = pool.map(lambda target: run_target(target, share), TARGETS)
        return [report for report in found if report is not None]


def run_tests(*words: str, **variables: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "--hypothesis-profile=fuzz", *words]
    return subprocess.run(command, check=False, cwd=ROOT, env={**os.environ, **variables}).returncode


def fuzz_programs(seconds: int) -> list[str]:
    running, finding = HOME / "program.txt", FINDINGS / "program.txt"
    variables = {"ANYFFI_FUZZ_SECONDS": str(seconds), "ANYFFI_FUZZ_WRITES": str(running)}
    # It is no hang that this test takes its time.
    if run_tests(PROGRAMS_TEST, f"-ofaulthandler_timeout={seconds + 300}", **variables) == 0:
        return []
    if not running.is_file():
        return ["programs: the test did not begin; see above"]
    shutil.copy(running, finding)
    again = f"ANYFFI_FUZZ_READS={finding} python -m pytest {PROGRAMS_TEST}"
    return [f"programs found what is above. To run it again: {again}"]


def fuzz_properties() -> list[str]:
    failed = run_tests("-m", "hypothesis", "-n", "auto", "--dist=loadfile", f"--deselect={PROGRAMS_TEST}")
    return ["properties: see above"] if failed else []


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/dev.py fuzz", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seconds", type=int, default=60, help="of cpp, and of programs (default: 60)")
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
    parts = given.parts or PARTS
    FINDINGS.mkdir(parents=True, exist_ok=True)
    found = []
    if "cpp" in parts and shutil.which("clang++") is None:
        print("C++ is not fuzzed: there is no Clang (apt-get install clang libclang-rt-14-dev).", flush=True)
        found += ["cpp: there is no Clang"] if "cpp" in given.parts and not os.environ.get("CI") else []
    elif "cpp" in parts:
        build()
        found += fuzz_cpp(given.seconds)
    if "programs" in parts:
        found += fuzz_programs(given.seconds)
    if "properties" in parts:
        found += fuzz_properties()
    print(*found, sep="\n\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
