"""docs/debugging.md: its program under the debuggers, as its transcripts show."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import sys
from typing import Any

import pytest
from pages import blocks
from support import CXX, FREE_THREADED, SANITIZED, cpython_only, needs_compilers, run, run_python

pytestmark = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    cpython_only("shows the messages of CPython's debugger"),
]

PAGE = "debugging.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Make a directory with the library and the programs."""
    import anyffi

    folder = tmp_path_factory.mktemp("debugging")
    runtime = pathlib.Path(anyffi.find_library("anyffi")).parent
    flags = ["-g", "-O0", "-std=c++17", "-shared", "-fPIC", "-I", anyffi.find_include_dir()]
    for source in blocks(PAGE, "cpp"):
        name = pathlib.Path(source.split()[1])
        (folder / name).write_text(source)
        command = [CXX, *flags, name, "-o", name.with_suffix(".so"), "-L", runtime, "-lanyffi"]
        done = run(command, cwd=folder, LD_PRELOAD=None)
        assert done.returncode == 0, done.stderr
    for block in blocks(PAGE, "python"):
        if block.startswith("# ") and block.split()[1].endswith(".py"):
            (folder / block.split()[1]).write_text(block)
    program = next(block for block in blocks(PAGE, "python") if block.startswith("# fails.py"))
    (folder / "works.py").write_text(program.replace('[1.5, "two"]', "[1.5, 1.5]"))
    return folder


def check_transcript(block: str, prompt: str, folder: pathlib.Path, **env: str) -> None:
    """Run a transcript's command with its input, and find its lines in the output, in order."""
    first, *lines = block.splitlines()
    words = first.removeprefix("$ ").split()
    env.update(word.split("=") for word in words if "=" in word)
    command = [sys.executable if word == "python" else word for word in words if "=" not in word]
    typed = [line.removeprefix(prompt) for line in lines if line.startswith(prompt)]
    done = run(["sh", "-c", f"{shlex.join(command)} 2>&1"], stdin="\n".join([*typed, ""]), cwd=folder, **env)
    output, place = done.stdout, 0
    for line in lines:
        if not line.startswith(prompt):
            found = re.compile(re.escape(line).replace(r"\.\.\.", ".*")).search(output, place)
            assert found, f"{line!r} is not in the output after {output[:place]!r}:\n{output[place:]}"
            place = found.end()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="older debuggers write other lines")
def test_pdb(folder: pathlib.Path) -> None:
    for block in blocks(PAGE, "pdb"):
        check_transcript(block, "(Pdb) ", folder)


@pytest.mark.skipif(SANITIZED, reason="gdb does not end where the sanitizers are preloaded")
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
@pytest.mark.parametrize("mode", ["cython", "ctypes"])
def test_gdb(folder: pathlib.Path, mode: str, request: pytest.FixtureRequest) -> None:
    if mode not in request.config.getoption("--modes"):
        pytest.skip(f"without {mode} mode")
    [block] = blocks(PAGE, "gdb")
    check_transcript(block, "(gdb) ", folder, FFI_MODE=mode)


def test_console(folder: pathlib.Path, both: Any) -> None:
    for block in blocks(PAGE, "console"):
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            words = command.replace("python ", f"{shlex.quote(sys.executable)} ")
            done = run(["sh", "-c", f"{words} 2>&1"], cwd=folder, FFI_MODE=None)
            expected = re.escape(output).replace(r"\.\.\.", ".*")
            assert re.fullmatch(expected, done.stdout), f"{command}\n{done.stdout}"


@pytest.mark.skipif(SANITIZED, reason="the sanitizers are preloaded already")
@pytest.mark.skipif(
    shutil.which("g++") is None, reason="the page's command takes g++, with its AddressSanitizer"
)
def test_address_sanitizer(folder: pathlib.Path, ffi: Any) -> None:
    [block] = blocks(PAGE, "asan")
    lines = block.splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    shell = ["sh", "-c", "\n".join(["exec 2>&1", *commands])]
    if FREE_THREADED:
        shell[-1] = shell[-1].replace(" PYTHONMALLOC=malloc", "")
    output = run(shell, cwd=folder, FFI_MODE=ffi.ffi_mode, PATH=path, LD_PRELOAD=None).stdout
    if "cannot find" in output and "libasan" in output:
        pytest.skip("AddressSanitizer is not installed")
    for line in lines[len(commands) :]:
        found = re.search(re.escape(line).replace(r"\.\.\.", ".*"), output)
        assert found, f"{line!r} is not in the rest of the output:\n{output}"
        output = output[found.end() :]


_DROPS = """
#include <anyffi/anyffi.h>
ANYFFI_EXPORT(drop, [](anyffi::List<> xs) {
  anyffi::AnyValue value(xs);
  anyffi_object_release(reinterpret_cast<AnyffiValue*>(&value)->as_object);
}, anyffi::arg("xs"));
"""


@pytest.mark.skipif(SANITIZED, reason="the sanitizers are preloaded already")
@pytest.mark.skipif(shutil.which("g++") is None, reason="it is the compiler of the page's command")
def test_address_sanitizer_watches_objects(tmp_path: pathlib.Path, ffi: Any) -> None:
    """With FFI_LEAK_CHECK=1: otherwise the runtime keeps their memory."""
    (tmp_path / "stale.cc").write_text(_DROPS)
    (tmp_path / "uses.py").write_text(
        "import anyffi\nxs = anyffi.List([1])\nfor _ in range(2):\n    anyffi.load_module('./stale.so').drop(xs)\n"
    )
    [block] = blocks(PAGE, "asan")
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    shell = ["sh", "-c", "\n".join(["exec 2>&1", *commands])]
    if FREE_THREADED:
        shell[-1] = shell[-1].replace(" PYTHONMALLOC=malloc", "")
    output = run(
        shell, cwd=tmp_path, FFI_MODE=ffi.ffi_mode, FFI_LEAK_CHECK="1", PATH=path, LD_PRELOAD=None
    ).stdout
    if "cannot find" in output and "libasan" in output:
        pytest.skip("AddressSanitizer is not installed")
    assert "ERROR: AddressSanitizer: heap-use-after-free" in output, output


@pytest.mark.skipif(shutil.which("addr2line") is None, reason="binutils is not installed")
def test_traceback(folder: pathlib.Path, both: Any) -> None:
    [block] = blocks(PAGE, "traceback")
    command, _, output = block.removeprefix("$ ").partition("\n")
    words = command.replace("python ", f"{shlex.quote(sys.executable)} ")
    done = run(["sh", "-c", f"{words} 2>&1"], cwd=folder)
    shown = re.sub(r"^ +[~^]+\n", "", done.stdout, flags=re.MULTILINE)
    assert re.fullmatch(re.escape(output).replace(r"\.\.\.", ".*"), shown), done.stdout


@pytest.mark.parametrize("mode", ["cython", "ctypes"])
def test_cycles_and_leaks(mode: str, request: pytest.FixtureRequest) -> None:
    if mode not in request.config.getoption("--modes"):
        pytest.skip(f"without {mode} mode")
    examples = [block for block in blocks(PAGE, "python") if block.startswith(">>>")]
    code = f"""
import doctest, anyffi
test = doctest.DocTestParser().get_doctest({"".join(examples)!r}, {{"anyffi": anyffi}}, "page", "page", 0)
print(doctest.DocTestRunner(verbose=False).run(test))
"""
    output = run_python(code, ffi_mode=mode)
    assert output.startswith("TestResults(failed=0"), output


def test_the_fixture(folder: pathlib.Path, ffi: Any) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", folder]
    done = run([sys.executable, "-m", "pytest", *options], FFI_MODE=ffi.ffi_mode, cwd=folder)
    assert "2 passed, 1 error" in done.stdout, done.stdout
    assert "ERROR test_scale.py::test_that_leaks" in done.stdout, done.stdout
    assert "objects of anyffi are still alive" in done.stdout
    assert "<List anyffi.List([1.5])>" in done.stdout


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_the_message_on_the_page(folder: pathlib.Path, ffi: Any) -> None:
    module = ffi.load_module(folder / "scale.so")
    with pytest.raises(TypeError) as caught:
        module.scale([1.5, "two"], by=2)
    assert f"TypeError: {caught.value}\n" in "".join(blocks(PAGE, ""))
