"""Functions, modules and errors that cross processes: errors about what a worker cannot find reach the caller."""

from __future__ import annotations

import os
import pathlib
import pickle
import shutil
import sys
from typing import Any

import anyffi
import anyffi.testing
import pytest
from programs import run_program
from support import Build, cpython_only, needs_compilers, run

SOURCE = r"""
#include <anyffi/anyffi.h>
using anyffi::arg;
ANYFFI_EXPORT(twice, [](int64_t x) { return 2 * x; }, arg("x"));
ANYFFI_EXPORT(pair, [](int64_t x) { return anyffi::List<anyffi::AnyValue>{x, "text", nullptr}; }, arg("x"));
ANYFFI_EXPORT(fail, [](int64_t x) -> int64_t { throw anyffi::Error("WorkerError", "got {}", x); }, arg("x"));
ANYFFI_REGISTER_GLOBAL("workers.thrice").def([](int64_t x) { return 3 * x; }, arg("x"));
"""

#: Only the parent process runs `here`.
PROGRAM = """
import concurrent.futures, multiprocessing, sys, threading
import anyffi, numpy as np
import worker_part

def show(what, future):
    try:
        print(what, repr(future.result(timeout=60)))
    except Exception as error:
        print(what, type(error).__name__, error)

def in_tensor(x):
    return anyffi.convert(np.arange(x))

def use(module, x):
    return module.twice(x)

if __name__ == "__main__":
    library, lost = sys.argv[1:]
    module = anyffi.load_module(library)
    gone = anyffi.load_module(lost)
    of_gone = gone.twice
    import os
    os.remove(lost)
    anyffi.register_global_func("workers.here", lambda x: x)
    for method in ("spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
            show("export", pool.submit(module.twice, 4))
            show("global", pool.submit(anyffi.get_global_func("workers.thrice"), 4))
            show("python", pool.submit(anyffi.get_global_func("worker_part.halve"), 8))
            show("function", pool.submit(anyffi.Function(worker_part.halve), 6))
            show("module", pool.submit(use, module, 4))
            show("result", pool.submit(module.pair, 1))
            show("tensor", pool.submit(in_tensor, 3))
            show("error", pool.submit(module.fail, 3))
            show("refused", pool.submit(module.twice, "x"))
            show("here", pool.submit(anyffi.get_global_func("workers.here"), 4))
            show("gone", pool.submit(of_gone, 4))
            show("gone module", pool.submit(use, gone, 4))
            show("after", pool.submit(module.twice, 5))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            pool.apply_async(of_gone, (4,)).get(timeout=60)
        except ImportError as error:
            print("pool", error)
"""

WORKER_PART = """
import anyffi

@anyffi.register_error
class WorkerError(ValueError):
    pass

@anyffi.register_global_func("worker_part.halve")
def halve(x):
    return x // 2
"""

SHOWN = """\
export 8
global 12
python 4
function 3
module 8
result anyffi.List([1, 'text', None])
tensor anyffi.Tensor(shape=(3,), dtype='int64', device='cpu:0')
error WorkerError got 3
refused TypeError twice(x: int) -> int: argument 0 (x): expected int, got str
here ImportError cannot use what was pickled as 'workers.here': no function 'workers.here' is registered{near}; Python \
code registered it, and must do so in every process. A pickle names functions and modules; libraries must have the \
same paths in every process
gone ImportError cannot use what was pickled as '{lost}', 'twice': [Errno 2] No such file or directory: '{lost}'. A \
pickle names functions and modules; libraries must have the same paths in every process
gone module ImportError cannot use what was pickled as '{lost}': [Errno 2] No such file or directory: '{lost}'. A \
pickle names functions and modules; libraries must have the same paths in every process
after 10
"""


@needs_compilers
@pytest.mark.slow("processes")
@cpython_only("PyPy's ProcessPoolExecutor starts no process here")
def test_workers(ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
    library = build("workers.cc", SOURCE)
    lost = shutil.copy(
        build("lost.cc", SOURCE.replace("workers.thrice", "workers.lost")), tmp_path / "liblost.so"
    )
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "worker_part.py").write_text(WORKER_PART)
    relative = os.path.relpath(library, tmp_path)
    done = run([sys.executable, "program.py", relative, lost], cwd=tmp_path, FFI_MODE=ffi.ffi_mode)
    assert (done.returncode, done.stderr) == (0, "")
    expected = SHOWN.format(lost=lost, near="; did you mean 'workers.thrice'?")
    of_pool = f"pool cannot use what was pickled as '{lost}', 'twice': "
    assert done.stdout.startswith(2 * expected + of_pool)


@needs_compilers
def test_a_library_that_changed(ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
    library = shutil.copy(
        build("changes.cc", SOURCE.replace("workers.thrice", "changes.old")), tmp_path / "c.so"
    )
    written = run_program(
        f"""
        import anyffi, pickle
        module = anyffi.load_module({os.fspath(library)!r})
        print(pickle.dumps([anyffi.get_global_func("changes.old"), module.twice, module]).hex())
        """,
        ffi.ffi_mode,
    )
    changed = build(
        "changed.cc", SOURCE.replace("workers.thrice", "changes.new").replace("twice", "double_it")
    )
    shutil.copy(changed, library)
    shown = run_program(
        f"""
        import anyffi, pickle
        for function in pickle.loads(bytes.fromhex({written.strip()!r}))[:2]:
            try:
                function(1)
            except ImportError as error:
                print(error, type(error.__cause__).__name__)
        """,
        ffi.ffi_mode,
    )
    first, second = shown.splitlines()
    assert (
        f"no function 'changes.old' is registered; did you mean 'changes.new'?; {library} registered it"
        in first
    )
    assert "has no function 'twice'" in second
    assert (first.rpartition(" ")[2], second.rpartition(" ")[2]) == ("ValueError", "AttributeError")


def test_what_was_not_found_is_pickled_as_it_was(ffi: Any) -> None:
    from anyffi import _pickling

    for late in (
        _pickling.unpickle_function("workers.missing"),
        _pickling.unpickle_function("workers.missing", "/no/such.so"),
        _pickling.unpickle_function("workers.missing", None, "no_such_module"),
        _pickling.unpickle_export("/no/such.so", "f"),
        _pickling.unpickle_module("/no/such.so"),
        _pickling.unpickle_module("/no/such.so", _pickling.unpickle_module("/nor/this.so")),
    ):
        data = pickle.dumps(late)
        assert pickle.dumps(pickle.loads(data)) == data
        with pytest.raises(ImportError, match="cannot use what was pickled as"):
            late() if callable(late) else late.function
        with pytest.raises(ImportError, match="cannot use what was pickled as"):
            late(1) if callable(late) else late["function"]
        with pytest.raises(AttributeError):
            late.__no_such_name__


ERRORS = [
    ("ValueError", "text \ud800 \U0001f600"),
    ("KeyError", "key"),
    ("KeyboardInterrupt", ""),
    ("UnicodeDecodeError", "not made of one text"),
    ("NoSuchKind", "text"),
    ("MarshalMismatch", "text"),
    ("OSError", "text"),
]


@pytest.mark.parametrize(("kind", "message"), ERRORS)
def test_errors_of_cpp(ffi: Any, kind: str, message: str) -> None:
    try:
        ffi.get_global_func("testing.raise_error")(kind, message)
    except BaseException as error:
        raised = error
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        made = pickle.loads(pickle.dumps(raised, protocol))
        assert (type(made), made.args, str(made)) == (type(raised), raised.args, str(raised))


@pytest.mark.parametrize("call", [("testing.add_one", "x"), ("testing.add_one", 2**70), ("testing.add_one",)])
def test_errors_of_arguments(ffi: Any, call: tuple[Any, ...]) -> None:
    name, *args = call
    with pytest.raises((TypeError, OverflowError)) as caught:
        ffi.get_global_func(name)(*args)
    made = pickle.loads(pickle.dumps(caught.value))
    assert (type(made), made.args) == (type(caught.value), caught.value.args)


def test_an_object_of_cpp_says_what_to_do(ffi: Any) -> None:
    with pytest.raises(
        TypeError, match=r"cannot pickle '\w+' object: C\+\+ does not say what of it to store."
    ):
        pickle.dumps(ffi.get_global_func("testing.authoring.account")(1))


def test_a_function_over_python(ffi: Any) -> None:
    made = pickle.loads(pickle.dumps(ffi.Function(len)))
    assert type(made) is anyffi.Function
    assert made([1, 2]) == 2
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(ffi.Function(lambda: 1))
