"""The package is imported again, its interpreter ended, or Python's builtins were replaced."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pytest
from embedding import build_embedding, run_embedded
from programs import run_program
from support import cpython_only, needs_compilers

REMOVE = """
import sys
def remove(prefix="anyffi"):
    for name in [name for name in sys.modules if name.startswith(prefix)]:
        del sys.modules[name]
"""


def test_modules_removed_from_sys_modules_return(ffi: Any) -> None:
    program = f"""{REMOVE}
import anyffi, anyffi.cpp, anyffi.testing as t
first, classes, xs = anyffi, anyffi.List, anyffi.List([1])
remove()
import anyffi
assert anyffi is first is sys.modules["anyffi"] and anyffi.List is classes and t.echo(xs) is xs
import anyffi.testing, anyffi.cpp
assert anyffi.testing is t and anyffi.cpp is first.cpp
remove()
from anyffi.testing import echo
assert echo(xs) is xs and sys.modules["anyffi"] is first
remove()
from anyffi._rules.codes import code
assert code.LIST and sys.modules["anyffi._rules.codes"].code is code
del sys.modules["anyffi"]
import anyffi as again, pickle
assert again is first and type(pickle.loads(pickle.dumps(xs))) is classes
"""
    run_program(program, ffi.ffi_mode)


@pytest.mark.parametrize(
    "name", ["testing", "cpp", "registry", "module", "_pickling", "_current", "_rules.codes", "_objects.sets"]
)
def test_submodules_removed_from_sys_modules_return(ffi: Any, name: str) -> None:
    program = f"""{REMOVE}
import anyffi, anyffi.testing as t, anyffi.cpp, importlib, pickle
xs, found = anyffi.List([1]), sys.modules["anyffi.{name}"]
remove("anyffi.")
assert importlib.import_module("anyffi.{name}") is found
from anyffi.testing import echo
assert echo(xs) is t.echo(xs) is xs and type(t.echo([1])) is anyffi.List
remove("anyffi.")
assert type(pickle.loads(pickle.dumps(xs))) is anyffi.List
"""
    run_program(program, ffi.ffi_mode)


def test_some_modules_removed_from_sys_modules_return(ffi: Any) -> None:
    """The module that restores the others may be among those that stay."""
    program = """
import importlib, random, sys, anyffi, anyffi.testing as t
first, classes, draw = anyffi, anyffi.List, random.Random(1)
for _ in range(20):
    for name in [name for name in sys.modules if name.partition(".")[0] == "anyffi"]:
        if draw.random() < 0.5:
            del sys.modules[name]
    assert importlib.import_module("anyffi") is first
    assert importlib.import_module("anyffi.testing").echo([1]) == [1]
    assert importlib.import_module("anyffi").List is classes
"""
    run_program(program, ffi.ffi_mode)


def test_reload(ffi: Any) -> None:
    program = """
import importlib, anyffi, anyffi.testing as t
classes, before, xs = anyffi.List, sorted(vars(anyffi)), anyffi.List([len])
assert importlib.reload(anyffi) is anyffi
assert sorted(vars(anyffi)) == before and anyffi.List is classes and t.echo(xs) is xs
assert importlib.reload(anyffi.testing).echo(xs) is xs
assert importlib.reload(anyffi.registry).get_global_func("testing.echo")(xs) is xs
"""
    run_program(program, ffi.ffi_mode)


@pytest.mark.skipif("t" not in getattr(sys, "abiflags", ""), reason="only some builds run without the GIL")
def test_without_the_lock(ffi: Any) -> None:
    """The import leaves the GIL as it is: the extension declares that it does not need it."""
    program = "import sys, anyffi, anyffi.testing; print(sys._is_gil_enabled(), anyffi.testing.echo([1]))"
    assert run_program(program, ffi.ffi_mode, PYTHON_GIL=None) == "False anyffi.List([1])\n"
    assert run_program(program, ffi.ffi_mode, PYTHON_GIL="1") == "True anyffi.List([1])\n"


@pytest.mark.skipif("t" not in getattr(sys, "abiflags", ""), reason="only some builds run without the GIL")
def test_check_mode_needs_the_lock() -> None:
    program = """
import sys
for attempt in range(2):
    try:
        import anyffi
    except ImportError as error:
        print(error)
assert not sys._is_gil_enabled()
"""
    line = (
        "FFI_MODE=check needs the global interpreter lock (GIL), which is off in this process; start Python with "
        "-X gil=1 or the environment variable PYTHON_GIL=1\n"
    )
    assert run_program(program, "check", PYTHON_GIL=None) == 2 * line


@cpython_only("PyPy ignores `__builtins__` of a module")
def test_replaced_builtins(ffi: Any) -> None:
    """Whatever becomes of `builtins`, calls and callbacks work as before."""
    program = """
import builtins, anyffi, anyffi.testing as t
values = [1, 2.5, None, "a" * 50, b"b" * 50, {"k": (1,)}, slice(1), print]
expected = t.apply(lambda x: x, values)
names = vars(builtins)
types = [name for name, found in names.items() if isinstance(found, (type, type(len))) and name[0] != "_"]
class Own(Exception): pass
def fail(): raise Own
def replaced(*args, **kwargs): raise SystemError
for name in types:
    original, names[name] = names[name], replaced
    try:
        result = t.apply(lambda x: x, values)
        try:
            t.apply(fail)
        except Own as error:
            found = error
    finally:
        names[name] = original
    assert result == expected, name
    assert type(found) is Own, name
    del found
assert len(types) > 100
"""
    run_program(program, ffi.ffi_mode)


@cpython_only("needs the library of CPython")
@needs_compilers
def test_an_interpreter_that_has_ended(ffi: Any, tmp_path: pathlib.Path) -> None:
    """A second interpreter of a process cannot import the package, since objects of the first may be left."""
    embedding = build_embedding(tmp_path)
    if embedding is None:
        pytest.skip("this interpreter is no shared library")
    code = """
for attempt in range(2):
    try:
        import anyffi, anyffi.testing as t
    except ImportError as error:
        print(error)
    else:
        print(anyffi.ffi_mode, t.apply(lambda x: x, [1]))
sys.stdout.flush()
"""
    if ffi.ffi_mode == "ctypes" and run_embedded(embedding, "ctypes", *["import ctypes"] * 2).returncode != 0:
        pytest.skip("ctypes of this interpreter, as of CPython 3.12.1, cannot be imported twice in a process")
    done = run_embedded(embedding, ffi.ffi_mode, code, code, code)
    assert (done.returncode, done.stderr) == (0, "")
    first, *others = done.stdout.splitlines()
    assert first == f"{ffi.ffi_mode} anyffi.List([1])" == others.pop(0)
    assert len(others) == 4
    for line in others:
        assert line.startswith("anyffi was imported by an interpreter that has ended (Py_Finalize), and ")
