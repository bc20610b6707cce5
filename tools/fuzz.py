"""Search for inputs that break the runtime or make the modes differ.

    python3 tools/dev.py fuzz [cpp] [python] [programs] [properties] [--seconds N]

`cpp` runs the fuzzers of tests/fuzz, built with Clang's libFuzzer and sanitizers; they share the time.
`python` runs programs that atheris generates, guided by the branches that they reach; `programs` runs random
ones; both compare the modes. `properties` runs the property tests with very many examples, which may take
long. Without a name, all four. Findings are stored below .dev/fuzz/findings, and the last lines say how
to run them again.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

import dev

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / ".dev" / "fuzz"
BUILD = HOME / "build"
FINDINGS = HOME / "findings"
PROGRAM = BUILD / "tests" / "fuzz" / "anyffi_fuzz"
#: The folder from which the fuzzer of the Python API imports the package.
PACKAGES = HOME / "packages"
PYTHON_PROGRAM = ROOT / "tests" / "fuzz" / "python_api.py"
ASAN_LEFT_OUT = ("asan_preinit.cpp.o", "sanitizer_coverage_libcdep_new.cpp.o")
TARGETS = ("json", "library", "program", "text")
PARTS = ("cpp", "python", "programs", "properties")
PROGRAMS_TEST = "tests/check/test_random_programs.py"
#: Allocations of the fuzzers may fail; undefined behaviour ends the run.
VARIABLES = {
    # Python itself leaks some memory at exit; each program counts the runtime's objects itself.
    "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
#: The maximum number of report lines that are printed; the file has all of them.
SHOWN = 40


def configure() -> None:
    """Configure the fuzzers' build directory, again if the options in this file have changed."""
    options = ["fuzzers=true", "development=true", "b_sanitize=address,undefined", "b_lundef=false"]
    options += ["buildtype=debugoptimized", "optimization=1"]
    options += [f"python.{kind}libdir={PACKAGES}" for kind in ("pure", "plat")]
    words: list[str | pathlib.Path] = ["meson", "setup", BUILD, ROOT, *(f"-D{word}" for word in options)]
    stamp = BUILD / "options.txt"
    if not stamp.is_file() or stamp.read_text() != str(options):
        shutil.rmtree(BUILD, ignore_errors=True)
        compilers = {"CC": "clang", "CXX": "clang++"}
        subprocess.run(words, check=True, env={**os.environ, **compilers}, stdout=subprocess.DEVNULL)
        stamp.write_text(str(options))


def build(*targets: pathlib.Path) -> None:
    """Rebuild some files of the build directory if they are out of date."""
    names = [path.relative_to(BUILD) for path in targets]
    subprocess.run(["ninja", "-C", BUILD, "--quiet", *names], check=True)


def run_fuzzer(
    name: str, command: Sequence[str | pathlib.Path], variables: Mapping[str, str], seconds: int
) -> str | None:
    """Run a fuzzer; return what was found."""
    target = name.rpartition(" ")[2]
    corpus, seeds = HOME / "corpus" / target, ROOT / "tests" / "fuzz" / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    words = [f"-max_total_time={seconds}", "-timeout=120", "-rss_limit_mb=3000"]
    words.append(f"-artifact_prefix={FINDINGS}/{target}-")
    dictionary = ROOT / "tests" / "fuzz" / f"{target}.dict"
    if dictionary.is_file():
        words.append(f"-dict={dictionary}")
    folders = [corpus, *([seeds] if seeds.is_dir() else [])]
    log = HOME / f"{target}.log"
    with log.open("wb") as file:
        all_words = [*command, *words, *folders]
        environment = {**os.environ, **VARIABLES, **variables}
        done = subprocess.run(all_words, check=False, stdout=file, stderr=file, env=environment)
    lines = log.read_text(errors="backslashreplace").splitlines()
    if done.returncode == 0:
        print(f"{name}: {last_figures(lines)}", flush=True)
        return None
    report = [line for line in lines if not line.startswith(("#", "\tNEW_FUNC", "INFO:"))]
    kept = [line.rpartition(" ")[2] for line in report if "Test unit written to" in line]
    assigned = [f"{key}={value}" for key, value in variables.items()]
    again = " ".join([*assigned, *map(str, command), *(kept[-1:] or ["(no input was kept)"])])
    return "\n".join([f"{name} found, in {log}:", *report[-SHOWN:], f"To run it again: {again}"])


def last_figures(lines: list[str]) -> str:
    """Return the last lines of a run: how much code was reached, and how many inputs were run."""
    figures = [
        line.split("\t", 1)[-1].strip() for line in lines if line.startswith("#") and line[1:2].isdigit()
    ]
    return "; ".join([*figures[-1:], *lines[-1:]]) or "nothing was run"


def fuzz_cpp(seconds: int) -> list[str]:
    build(PROGRAM)
    at_once = min(os.cpu_count() or 1, len(TARGETS))
    share = max(1, seconds * at_once // len(TARGETS))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        found = pool.map(
            lambda target: run_fuzzer(f"cpp {target}", [PROGRAM, f"--target={target}"], {}, share), TARGETS
        )
        return [report for report in found if report is not None]


def install_package() -> None:
    """Compile the package with the libraries that count the branches taken, and install it below `.dev`."""
    # Reconfigures if necessary, so that the list of targets is up to date.
    build(BUILD / "build.ninja")
    described = json.loads((BUILD / "meson-info" / "intro-targets.json").read_text())
    build(*(pathlib.Path(name) for target in described if target["installed"] for name in target["filename"]))
    install = ["meson", "install", "-C", str(BUILD), "--no-rebuild", "--only-changed", "--quiet"]
    subprocess.run(install, check=True)


def link_runtime() -> pathlib.Path:
    """Link libFuzzer and AddressSanitizer into a library to preload, because Python is not linked with them.

    Leaves out the sanitizer's objects that only programs need, and its own counters of branches.
    """
    library, archive, stub = (HOME / name for name in ("runtime.so", "asan.a", "stub.cc"))
    names = [f"libclang_rt.{name}-{platform.machine()}.a" for name in ("fuzzer_no_main", "asan", "asan_cxx")]
    fuzzer, asan, asan_cxx = (printed_by_clang(f"-print-file-name={name}") for name in names)
    shutil.copy(asan, archive)
    subprocess.run(["ar", "d", archive, *ASAN_LEFT_OUT], check=True)
    stub.write_text("namespace __sanitizer { void InitializeCoverage(bool, const char*) {} }\n")
    words: list[str | pathlib.Path] = ["clang++", "-fPIC", "-shared", "-o", library, stub]
    words += ["-Wl,--whole-archive", fuzzer, archive, asan_cxx, "-Wl,--no-whole-archive"]
    subprocess.run([*words, "-lpthread", "-ldl", "-lm", "-lrt"], check=True)
    return library


def printed_by_clang(question: str) -> str:
    return subprocess.check_output(["clang++", question], text=True).strip()


def fuzz_python(seconds: int) -> list[str]:
    environment = dev.environment_of("fuzz python")
    environment.set_up()
    python = environment.bin / "python"
    if subprocess.run([python, "-c", "import atheris"], check=False, capture_output=True).returncode != 0:
        return left_out("python", "there is no atheris for this interpreter")
    install_package()
    # With only the sanitizer preloaded, the first C++ throw aborts.
    preloaded = f"{link_runtime()}:{printed_by_clang('-print-file-name=libstdc++.so')}"
    variables = {"PYTHONPATH": str(PACKAGES), "PYTHONMALLOC": "malloc", "LD_PRELOAD": preloaded}
    found = run_fuzzer("python", [python, PYTHON_PROGRAM], variables, seconds)
    return [] if found is None else [found]


def left_out(part: str, why: str) -> list[str]:
    """Report that a part is skipped, which is a failure if it was named in a manual run."""
    print(f"{part} is left out: {why}.", flush=True)
    return [f"{part}: {why}"] if part in sys.argv[1:] and not os.environ.get("CI") else []


def run_tests(*words: str, **variables: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "--hypothesis-profile=fuzz", *words]
    return subprocess.run(command, check=False, cwd=ROOT, env={**os.environ, **variables}).returncode


def fuzz_programs(seconds: int) -> list[str]:
    running, finding = HOME / "program.txt", FINDINGS / "program.txt"
    variables = {"ANYFFI_FUZZ_SECONDS": str(seconds), "ANYFFI_FUZZ_WRITES": str(running)}
    # The test may run this long without counting as a hang.
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
    parser.add_argument("--seconds", type=int, default=60, help="of each but properties (default: 60)")
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
    parts = given.parts or PARTS
    FINDINGS.mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    for part, fuzz in (("cpp", fuzz_cpp), ("python", fuzz_python)):
        if part in parts and shutil.which("clang++") is None:
            found += left_out(part, "there is no Clang (apt-get install clang libclang-rt-14-dev)")
        elif part in parts:
            configure()
            found += fuzz(given.seconds)
    if "programs" in parts:
        found += fuzz_programs(given.seconds)
    if "properties" in parts:
        found += fuzz_properties()
    print(*found, sep="\n\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
