"""Every allocation of a process may fail, Python's own included: MemoryError or success, nothing lost, no crash."""

from __future__ import annotations

import os
import pathlib
import re
import sys
import sysconfig
from typing import Any

import pytest
from exception_sources import FAILURES
from memory_calls import CALLS
from override_sources import OVERRIDES
from support import CC, CPYTHON, ROOT, SANITIZED, Build, needs_compilers, run

pytestmark = [
    needs_compilers,
    pytest.mark.skipif(
        not CPYTHON or SANITIZED or not sys.platform.startswith("linux"),
        reason="replaces the malloc of CPython and of glibc",
    ),
    pytest.mark.slow("allocation failures"),
]

#: How many operations one process runs.
TOGETHER = 8
#: Operations, and programs of `PROGRAMS`, for which many allocations in a row fail: an attempt to report the first error
#: fails, too, and so does one to report that. Not all from one on: CPython 3.11 to 3.13 try forever to enter some handlers.
IN_A_ROW = 300
LASTING = ("mismatch", "list", "big dict", "set update", "array copied", "nested callbacks", "error of C++", "overload",
           "no overload", "struct", "std map", "deep copies", "keywords", "dict set", "objects from wrong values")  # fmt: skip
LASTING_PROGRAMS = ("cross_exceptions", "load_again", "sort", "show")
#: CPython before 3.11 allocates a frame for each call, without which an object with overrides is not finalized, and
#: lost; and `code_dealloc` frees a cache again that was freed when memory was exhausted.
LOST_BEFORE_311 = ("keep_overrides", "change")


@pytest.fixture(scope="module")
def failing_memory(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    library = tmp_path_factory.mktemp("memory") / "failing_memory.so"
    source = ROOT / "tests" / "support" / "failing_memory.c"
    done = run(
        [CC, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-o", library]
    )
    assert done.returncode == 0, done.stderr
    if not survives(library):
        pytest.skip(
            "this release of CPython damages memory if an allocation fails while it raises an exception"
        )
    return library


@pytest.fixture(scope="module")
def long_failing_memory(failing_memory: pathlib.Path) -> pathlib.Path:
    if not survives(failing_memory, IN_A_ROW):
        pytest.skip("CPython before 3.11 ends the process if it cannot create a MemoryError many times")
    return failing_memory


def survives(library: pathlib.Path, in_a_row: int = 1) -> bool:
    """Return whether CPython itself can raise exceptions while allocations fail."""
    program = ROOT / "tests" / "support" / "failing_memory.py"
    return run([sys.executable, program], **preloading(library, in_a_row)).returncode == 0


def preloading(library: pathlib.Path, in_a_row: int = 1) -> dict[str, str]:
    """Return the environment variables of a process whose allocations may fail."""
    # Without the GIL, CPython's objects have their own allocator: only those of the runtime and of buffers fail.
    malloc = {} if sysconfig.get_config_var("Py_GIL_DISABLED") else {"PYTHONMALLOC": "malloc"}
    return {"LD_PRELOAD": os.fspath(library), "FAILING_IN_A_ROW": str(in_a_row), **malloc}


@pytest.mark.unrecorded("a process of its own")
@pytest.mark.parametrize("first", range(0, len(CALLS), TOGETHER))
def test_each_allocation_of_the_process_fails(
    ffi: Any, first: int, failing_memory: pathlib.Path, record_property: Any
) -> None:
    if ffi.ffi_mode == "check":
        pytest.skip("check mode allocates what both modes do, and compares them")
    program = ROOT / "tests" / "support" / "memory_faults.py"
    done = run(
        [sys.executable, program, ffi.ffi_mode, *[*CALLS][first : first + TOGETHER]],
        FFI_MODE=ffi.ffi_mode,
        **preloading(failing_memory),
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr[-300:]}"
    *wrong, count = done.stdout.splitlines()
    assert wrong == []
    record_property("faults", int(count))
    assert int(count) > 0


@pytest.mark.unrecorded("a process of its own")
def test_many_allocations_in_a_row_fail(
    ffi: Any, long_failing_memory: pathlib.Path, record_property: Any
) -> None:
    if ffi.ffi_mode == "check":
        pytest.skip("check mode allocates what both modes do, and compares them")
    done = run(
        [sys.executable, ROOT / "tests" / "support" / "memory_faults.py", ffi.ffi_mode, *LASTING],
        FFI_MODE=ffi.ffi_mode,
        **preloading(long_failing_memory, IN_A_ROW),
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr[-300:]}"
    *wrong, count = done.stdout.splitlines()
    assert wrong == []
    record_property("faults", int(count))


@pytest.mark.unrecorded("a process of its own")
def test_each_allocation_fails_while_frames_of_errors_are_recorded(
    ffi: Any, failing_memory: pathlib.Path, record_property: Any
) -> None:
    if ffi.ffi_mode == "check":
        pytest.skip("check mode allocates what both modes do, and compares them")
    done = run(
        [
            sys.executable,
            ROOT / "tests" / "support" / "memory_faults.py",
            ffi.ffi_mode,
            "callback caught",
            "error of C++",
        ],
        FFI_MODE=ffi.ffi_mode,
        FFI_TRACEBACK="1",
        **preloading(failing_memory),
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr[-300:]}"
    *wrong, count = done.stdout.splitlines()
    assert wrong == []
    record_property("faults", int(count))


@pytest.mark.unrecorded("a process of its own")
@pytest.mark.parametrize("fault", ["import", "exit"])
def test_an_allocation_fails_at_import_or_exit(
    ffi: Any, fault: str, failing_memory: pathlib.Path, record_property: Any
) -> None:
    if ffi.ffi_mode == "check":
        pytest.skip("check mode imports what both modes do")
    program = ROOT / "tests" / "support" / "process_faults.py"
    done = run(
        [sys.executable, "-W", "ignore", program, fault, 25],
        FFI_MODE=ffi.ffi_mode,
        **preloading(failing_memory),
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="",
        PYTHONPYCACHEPREFIX=os.fspath(failing_memory.parent),
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr[-1000:]}"
    *wrong, count = done.stdout.splitlines()
    assert wrong == [], done.stderr[-1000:]
    record_property("faults", int(count))


STATE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/class.h>

namespace stateful {
struct Kept {};
int64_t calls = 0;
}  // namespace stateful

ANYFFI_CLASS(stateful::Kept, "stateful.a_key_that_is_long_enough_to_be_allocated.Kept").init<>();
ANYFFI_EXPORT(count, [] { return ++stateful::calls; });
"""

DEFAULTS = r"""
#include <anyffi/anyffi.h>

using anyffi::arg;

ANYFFI_EXPORT(greet, [](anyffi::AnyView, int64_t times) { return times; },
              arg("name") = anyffi::Array<>{"a text that is long enough to be allocated"}, arg("times") = 5)
    .doc("A text that is long enough to be allocated.");
"""

#: The programs of fault_programs.py, and the libraries of those that load one.
PROGRAMS = {
    "load_again": {"stateful.cc": STATE},
    "keep_overrides": {"overrides.cc": OVERRIDES},
    "trace": {},
    "end_trace": {},
    "show": {},
    "list_live": {},
    "unpickle": {"stateful.cc": STATE},
    "describe": {"described.cc": DEFAULTS},
    "sort": {},
    "reduce": {},
    "pop": {},
    "change": {},
    "read_pairs": {},
    "read_records": {},
    "find_libraries": {},
    "create_types": {},
    "cross_exceptions": {"failures.cc": FAILURES},
}


def run_program(ffi: Any, failing_memory: pathlib.Path, name: str, *library: str, in_a_row: int = 1) -> int:
    """Run one of fault_programs.py, and return the number of attempts in which allocations have failed."""
    if ffi.ffi_mode == "check":
        pytest.skip("check mode allocates what both modes do, and compares them")
    program = ROOT / "tests" / "support" / "fault_programs.py"
    done = run(
        [sys.executable, program, name, *library],
        FFI_MODE=ffi.ffi_mode,
        **preloading(failing_memory, in_a_row),
    )
    # On stderr may be MemoryErrors that could not be raised, such as of finalizers.
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return int(done.stdout)


@pytest.mark.unrecorded("a process of its own")
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_allocation_of_a_program_fails(
    ffi: Any, name: str, failing_memory: pathlib.Path, build: Build, record_property: Any
) -> None:
    if sys.version_info < (3, 11) and ffi.ffi_mode == "ctypes" and name in LOST_BEFORE_311:
        pytest.skip("CPython before 3.11 cannot call a Python function, or frees its cache twice")
    libraries = [build(*source) for source in PROGRAMS[name].items()]
    record_property("faults", run_program(ffi, failing_memory, name, *libraries))


@pytest.mark.unrecorded("a process of its own")
@pytest.mark.parametrize("name", LASTING_PROGRAMS)
def test_many_allocations_of_a_program_fail(
    ffi: Any, name: str, long_failing_memory: pathlib.Path, build: Build, record_property: Any
) -> None:
    libraries = [build(*source) for source in PROGRAMS[name].items()]
    record_property("faults", run_program(ffi, long_failing_memory, name, *libraries, in_a_row=IN_A_ROW))


@pytest.mark.unrecorded("a process of its own")
def test_calls_are_recorded_after_one_without_memory(
    ffi: Any, failing_memory: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call whose end could not be written is not listed as one that did not return, save for a few."""
    monkeypatch.setenv("FFI_RECORD", os.fspath(tmp_path / "records"))
    count = run_program(ffi, failing_memory, "record")
    monkeypatch.delenv("FFI_RECORD")
    listed = run([sys.executable, "-m", "anyffi", "replay", tmp_path / "records", "--list"])
    assert listed.returncode == 0, listed.stderr
    found = re.findall(r"arguments: (\d+)\n    Int \1\n", listed.stdout)
    assert found == [str(point) for point in range(count + 1)]
    # In these cases the recorder is not told of the end.
    assert listed.stdout.count("it did not return") < 5, listed.stdout
