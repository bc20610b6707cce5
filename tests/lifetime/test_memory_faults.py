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


@pytest.fixture(scope="module")
def failing_memory(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    library = tmp_path_factory.mktemp("memory") / "failing_memory.so"
    source = ROOT / "tests" / "support" / "failing_memory.c"
    done = run(
        [CC, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-o", library]
    )
    assert done.returncode == 0, done.stderr
    return library


def preloading(library: pathlib.Path) -> dict[str, str]:
    """Return the environment variables of a process whose allocations may fail."""
    # Without the GIL, CPython's objects have an allocator of their own: those of the runtime fail, and of buffers.
    malloc = {} if sysconfig.get_config_var("Py_GIL_DISABLED") else {"PYTHONMALLOC": "malloc"}
    return {"LD_PRELOAD": os.fspath(library), **malloc}


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


def run_with_library(ffi: Any, failing_memory: pathlib.Path, program: str, library: str) -> Any:
    """Run a program of text whose allocations may fail, with the path of an extension as its argument."""
    return run(
        [sys.executable, "-c", program, library],
        FFI_MODE=ffi.ffi_mode,
        **preloading(failing_memory),
        PYTHONPATH=os.fspath(ROOT / "tests" / "support"),
    )


def run_to_the_end(ffi: Any, failing_memory: pathlib.Path, program: str, library: str = "") -> None:
    """Run a program of text that prints "done"."""
    if ffi.ffi_mode == "check":
        pytest.skip("check mode allocates what both modes do, and compares them")
    done = run_with_library(ffi, failing_memory, program, library)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stdout + done.stderr[-2000:]


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

_LOAD_AGAIN = """
import sys, anyffi
from failing_memory import open_cells
cells = open_cells()
module = anyffi.load_module(sys.argv[1])
calls = module.count()
for failures in range(2000):
    cells[1] = 0
    try:
        cells[0] = failures
        anyffi.load_module(sys.argv[1])
    except Exception:
        pass  # its kind is what the other tests look at
    finally:
        cells[0] = -1
    has_failed = cells[1] > 0
    calls += 1
    assert anyffi.load_module(sys.argv[1]).count() == calls, failures
    if not has_failed:
        break
print(failures)
"""


@pytest.mark.unrecorded("a process of its own")
def test_a_library_keeps_its_state_when_it_is_loaded_again(
    ffi: Any, failing_memory: pathlib.Path, build: Build
) -> None:
    done = run_with_library(ffi, failing_memory, _LOAD_AGAIN, build("stateful.cc", STATE))
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 20


_KEEP = """
import gc, sys, anyffi
from failing_memory import least, open_cells
cells = open_cells()
module = anyffi.load_module(sys.argv[1])
module.forget()

class Circle(module.Shape):
    def area(self):
        return 12.0

def make(cls, attribute, called):
    circle = cls("circle")
    if attribute:
        circle.name = lambda: "round"
    if called:
        module.name_of(circle)
    return circle

finalized = []
class Finalized(Circle):
    def __del__(self):
        finalized.append(self.label)

for cls, attribute, called in [
    (Circle, False, False), (Circle, True, False), (Circle, True, True), (Finalized, True, True)
]:
    for failures in range(2000):
        finalized.clear()
        circle = make(cls, attribute, called)
        module.keep(circle)
        cells[1] = 0
        cells[0] = failures
        del circle
        cells[0] = -1
        shape = module.kept_at(0)
        assert type(shape) is cls and not finalized, failures
        assert (module.kept_area(), shape.name()) == (12.0, "round" if attribute else "shape circle"), failures
        del shape
        module.forget()
        gc.collect()
        assert finalized == ["circle"] * (cls is Finalized), (failures, finalized)
        if not cells[1]:
            break
    assert failures >= least(5)
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_what_cpp_keeps_keeps_its_overrides(ffi: Any, failing_memory: pathlib.Path, build: Build) -> None:
    """An object of a Python class lives on with all that it has there, whichever allocation of that fails."""
    run_to_the_end(ffi, failing_memory, _KEEP, build("overrides.cc", OVERRIDES))


_TRACED = """
import anyffi, anyffi.testing
from failing_memory import least, open_cells
cells = open_cells()
apply = anyffi.get_global_func("testing.apply")

def use():
    apply(lambda x: x, 5)

with anyffi.trace() as trace:
    use()
    use()
per_use = (len(trace.events) - 3) // 2
for failures in range(1000):
    failed = False
    with anyffi.trace() as trace:
        use()
        cells[1] = 0
        cells[0] = failures
        try:
            use()
        except MemoryError:
            failed = True
        cells[0] = -1
        use()
    # A call that fails before C++ is reached has fewer events.
    missing = 3 * per_use + 3 - len(trace.events)
    lost = trace.events[-1]["lost"]
    assert missing == lost or failed, (failures, missing, lost)
    # Nor is the last use within a call whose end is lost.
    depths = [event["depth"] for event in trace.events if event["event"] == "call"]
    assert depths[-2:] == [0, 1], (failures, depths)
    if not cells[1]:
        break
assert failures >= least(20)
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_a_trace_counts_what_it_loses(ffi: Any, failing_memory: pathlib.Path) -> None:
    run_to_the_end(ffi, failing_memory, _TRACED)


_TRACED_TO_THE_END = """
import os, anyffi, anyffi.testing
from failing_memory import least, open_cells
from memory_faults import _LOST
cells = open_cells()
apply = anyffi.get_global_func("testing.apply")

def fail(x):
    raise ValueError(x)

def use():
    try:
        apply(fail, 5)
    except (ValueError, MemoryError):
        pass
    except SystemError as error:
        assert any(words in str(error) for words in _LOST), error

def count_files():
    return len(os.listdir("/proc/self/fd"))

use()
before = count_files()
for failures in range(1000):
    for path in (None, "/dev/null"):
        trace = anyffi.trace(path)
        cells[1] = 0
        cells[0] = failures
        try:
            with trace:
                use()
        except MemoryError:
            pass
        cells[0] = -1
        has_failed = cells[1] > 0
        seen = len(trace.events)
        use()
        assert len(trace.events) == seen, failures
        del trace
    assert count_files() == before, failures
    if not has_failed:
        break
assert failures >= least(20)
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_a_trace_ends_without_memory(ffi: Any, failing_memory: pathlib.Path) -> None:
    """It sees no later calls, and its file is closed; nor does it replace the error of a callback."""
    run_to_the_end(ffi, failing_memory, _TRACED_TO_THE_END)


_SHOWN = """
import anyffi
from failing_memory import least, open_cells
from memory_faults import _LOST
cells = open_cells()
shown = anyffi.Dict({1: anyffi.Array((anyffi.List([anyffi.List([anyffi.Set([2])])]),))})
text = repr(shown)
for failures in range(1000):
    # What keeps a set's size changes from one to the next.
    for _ in range(12):
        try:
            cells[1] = 0
            cells[0] = failures
            repr(shown)
        except MemoryError:
            pass
        except SystemError as error:
            assert any(words in str(error) for words in _LOST), error
        finally:
            cells[0] = -1
        has_failed = cells[1] > 0
        assert repr(shown) == text, (failures, repr(shown))
    if not has_failed:
        break
assert failures >= least(5)
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_what_could_not_be_shown_is_shown_later(ffi: Any, failing_memory: pathlib.Path) -> None:
    """No container stays marked as one that contains itself."""
    run_to_the_end(ffi, failing_memory, _SHOWN)


_UNPICKLED = """
import sys, anyffi, pickle
from failing_memory import least, open_cells
from memory_faults import _LOST
cells = open_cells()
module = anyffi.load_module(sys.argv[1])
for value in (module, module.count):
    data = pickle.dumps(value)
    text = repr(pickle.loads(data))
    for failures in range(2000):
        found = value
        cells[1] = 0
        cells[0] = failures
        try:
            found = pickle.loads(data)
        except MemoryError:
            pass
        except SystemError as error:
            assert any(words in str(error) for words in _LOST), error
        finally:
            cells[0] = -1
        has_failed = cells[1] > 0
        assert repr(found) == text, (failures, found)
        if not has_failed:
            break
    assert failures >= least(20)
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_what_is_unpickled_without_memory_is_no_other_object(
    ffi: Any, failing_memory: pathlib.Path, build: Build
) -> None:
    """A MemoryError, and no function or module that looks for itself again."""
    run_to_the_end(ffi, failing_memory, _UNPICKLED, build("stateful.cc", STATE))


_RECORDED = """
import anyffi, anyffi.testing
from failing_memory import least, open_cells
from memory_faults import _LOST
cells = open_cells()
function = anyffi.get_global_func("testing.echo")
for failures in range(1000):
    cells[1] = 0
    cells[0] = failures
    try:
        function(-1)
    except MemoryError:
        pass
    except SystemError as error:
        assert any(words in str(error) for words in _LOST), error
    finally:
        cells[0] = -1
    has_failed = cells[1] > 0
    function(failures)
    if not has_failed:
        break
assert failures >= least(50)
print(failures)
"""


@pytest.mark.unrecorded("a process of its own")
def test_calls_are_recorded_after_one_without_memory(
    ffi: Any, failing_memory: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a call whose end could not be written one that did not return."""
    if ffi.ffi_mode == "check":
        pytest.skip("check mode allocates what both modes do, and compares them")
    monkeypatch.setenv("FFI_RECORD", os.fspath(tmp_path / "records"))
    done = run_with_library(ffi, failing_memory, _RECORDED, "")
    assert (done.returncode, done.stderr) == (0, "")
    monkeypatch.delenv("FFI_RECORD")
    listed = run([sys.executable, "-m", "anyffi", "replay", tmp_path / "records", "--list"])
    assert listed.returncode == 0, listed.stderr
    found = re.findall(r"arguments: (\d+)\n    Int \1\n", listed.stdout)
    assert found == [str(failures) for failures in range(int(done.stdout) + 1)]
    # Of those that the recorder is not told of.
    assert listed.stdout.count("it did not return") < 5, listed.stdout


_SORTED = """
import anyffi
from failing_memory import open_cells
from memory_faults import _LOST
cells = open_cells()

def key(x):
    if x == 2:
        cells[1] = 0
        cells[0] = failures
        raise ValueError(x)
    return x

for failures in range(1000):
    xs = anyffi.List([3, "text", 2, [1]])
    try:
        xs.sort(key=key)
    except (ValueError, MemoryError):
        pass
    except SystemError as error:
        assert any(words in str(error) for words in _LOST), error
    finally:
        cells[0] = -1
    assert xs == [3, "text", 2, [1]], (failures, xs)
    if not cells[1]:
        break
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_a_list_whose_sort_failed_has_its_elements(ffi: Any, failing_memory: pathlib.Path) -> None:
    """Also where there is no memory left when the key has raised."""
    run_to_the_end(ffi, failing_memory, _SORTED)


_REDUCED = """
import anyffi
from failing_memory import least, open_cells
from memory_faults import _LOST
cells = open_cells()
held = []
for content in ({"a": 1}, {"k": [2**80, 1j]}):
    mapping = anyffi.Dict(content)
    for failures in range(1000):
        # The interpreter has no pair at hand that was freed.
        held.extend([(i, held) for i in range(2100)])
        reduced = None
        try:
            cells[1] = 0
            cells[0] = failures
            reduced = mapping.__reduce__()
        except MemoryError:
            pass
        except SystemError as error:
            assert any(words in str(error) for words in _LOST), error
        finally:
            cells[0] = -1
        has_failed = cells[1] > 0
        assert reduced is None or dict(reduced[4]) == content, failures
        if not has_failed:
            break
    assert failures >= least(2), failures
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_mappings_are_pickled_without_memory_for_pairs(ffi: Any, failing_memory: pathlib.Path) -> None:
    """An iterator over the items of a dict would end the process."""
    run_to_the_end(ffi, failing_memory, _REDUCED)


_EXCEPTIONS = """
import sys, anyffi, anyffi.testing
from failing_memory import least, open_cells
from memory_faults import _LOST
cells = open_cells()
trim = anyffi.get_global_func("testing.fail_allocation")
module = anyffi.load_module(sys.argv[1])
text = "a text on the heap of the runtime"
try:
    module.fail("sold out")
except ValueError as error:
    SoldOut = type(error)

def refuse():
    raise SoldOut(text)

def is_right(result):
    # The text of an exception that cannot be made is "(no text)", as everywhere. CPython makes a SystemError where it
    # has lost a MemoryError.
    return result in (f"sold out: {text}", "sold out: (no text)", "error MemoryError", "error SystemError")

def has_attributes(error):
    return (str(error), error.days, error.names, error.total) == ("spoilt", 3, ["pear", "fig"], 6)

for call, is_result, is_error in (
    (lambda: module.caught(refuse), is_right, lambda error: False),
    (lambda: module.fail("spoilt"), lambda result: False, has_attributes),
):
    for failures in range(1000):
        # Free lists of the runtime would hide allocations.
        trim(-1)
        result = raised = None
        try:
            cells[1] = 0
            cells[0] = failures
            result = call()
        except MemoryError:
            pass
        except SystemError as error:
            assert any(words in str(error) for words in _LOST), error
        except Exception as error:
            raised = error
        finally:
            cells[0] = -1
        has_failed = cells[1] > 0
        assert result is None or is_result(result), (failures, result)
        assert raised is None or is_error(raised), (failures, raised, vars(raised))
        result = raised = None
        if not has_failed:
            break
    assert failures >= least(3), failures
print("done")
"""


@pytest.mark.unrecorded("a process of its own")
def test_exceptions_without_memory_are_no_others(
    ffi: Any, failing_memory: pathlib.Path, build: Build
) -> None:
    """C++ catches one of Python as its class or a MemoryError; one of C++ has its attributes or is a MemoryError."""
    run_to_the_end(ffi, failing_memory, _EXCEPTIONS, build("failures.cc", FAILURES))
