"""Programs that stress a process for some seconds: forks, start methods, exits, imports, signals, threads.

    python stress.py NAME [--seconds N] [--calls N]

FFI_MODE selects the mode. A program prints how many rounds it ran, and fails at the first wrong result; the caller
ends one that hangs.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import itertools
import multiprocessing
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any, Callable

import anyffi
import anyffi.testing as t
from sharing import use_shared

_call_released = anyffi.get_global_func("testing.authoring.released")


def _released(function: Callable[[], Any]) -> Any:
    """Return the result of a function that is called from C++ code without the interpreter's lock."""
    found: list[Any] = []
    assert _call_released(lambda: found.append(function()), ["a text"]) == ["a text"]
    return found[0]


def _one_call(number: int) -> None:
    """Make calls of each kind, and check the results."""
    xs = anyffi.List([number, "a text that has its own memory", (number,)])
    assert t.echo(xs) is xs
    assert xs[2] == (number,)
    assert t.apply(lambda x: x + 1, number) == number + 1
    assert t.apply(lambda: t.apply(t.add_one, number)) == number + 1
    assert _released(lambda: number) == number
    try:
        t.apply(_fail, number)
    except ValueError as error:
        assert error.args == (number,)
    else:
        raise AssertionError("the error of a callback was lost")
    name = f"stress.{number}.{threading.get_ident()}"
    anyffi.register_global_func(name, lambda: number, override=True)
    assert anyffi.get_global_func(name)() == number
    anyffi.remove_global_func(name)
    assert anyffi.to_python(anyffi.Dict({"k": xs})) == {"k": list(xs)}


def _fail(number: int) -> None:
    raise ValueError(number)


def _rounds(seconds: float) -> Iterator[int]:
    """Count rounds until the time has passed; at least one."""
    end = time.monotonic() + seconds
    for number in itertools.count():
        yield number
        if time.monotonic() > end:
            return


class _Threads:
    """Run threads that make calls until the block ends, which then raises the error of one of them."""

    def __init__(self, count: int, body: Callable[[int], object] = _one_call) -> None:
        self._ended, self._errors, self._body = False, list[BaseException](), body
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(count)]

    def _run(self, first: int) -> None:
        try:
            for number in itertools.count(first):
                if self._ended:
                    return
                self._body(number)
        except BaseException as error:
            self._errors.append(error)

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *error: object) -> None:
        self._ended = True
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]


# ---- forks ------------------------------------------------------------------------------------------------


def fork(seconds: float) -> int:
    """Fork while other threads are in calls, from calls and callbacks; each child makes calls and exits."""
    with _Threads(3):
        for number in _rounds(seconds):
            for fork_now in (os.fork, lambda: t.apply(os.fork), lambda: _released(os.fork)):
                child = fork_now()
                if child == 0:
                    _exit_after(lambda number=number: _one_call(number))
                status = os.waitpid(child, 0)[1]
                assert status == 0, f"a child ended with status {status}"
    return number + 1


def _exit_after(body: Callable[[], object]) -> None:
    status = 1
    try:
        body()
        gc.collect()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


# ---- multiprocessing ---------------------------------------------------------------------------------------


def _work(value: Any) -> Any:
    _one_call(len(value))
    return anyffi.List([value, len(value)])


def start_methods(seconds: float) -> int:
    """Send containers through pools of each start method, while threads of this process are in calls."""
    # A forked child must not wait for locks that other threads had.
    given = [anyffi.Array([i, "a text that has its own memory"]) for i in range(8)]
    pools = 0
    for _ in _rounds(seconds):
        for method in multiprocessing.get_all_start_methods():
            with _Threads(2), multiprocessing.get_context(method).Pool(2) as pool:
                for made, x in zip(pool.map(_work, given), given):
                    assert type(made) is anyffi.List
                    assert made == [x, 2], method
            pools += 1
    return pools


# ---- exits -------------------------------------------------------------------------------------------------

_EXITS = {
    "in a callback": "t.apply(lambda: sys.exit(3))",
    "in a callback of a callback": "released(lambda: t.apply(lambda: sys.exit(3)), [])",
    "in a method of an element": """
class Key:
    def __hash__(self): sys.exit(3)
anyffi.Dict({"a": 1}).get(Key())
""",
    "in a finalizer's callback": """
class Late:
    def __del__(self): t.apply(lambda: t.echo([self]))
kept = anyffi.convert(Late())
sys.exit(3)
""",
    "at exit": "import atexit; atexit.register(lambda: t.apply(lambda: t.echo([1]))); sys.exit(3)",
    "from a thread": """
def leave():
    try: t.apply(lambda: sys.exit(3))
    except SystemExit: pass
thread = threading.Thread(target=leave); thread.start(); thread.join(); sys.exit(3)
""",
}
_BUSY = """
import sys, threading, anyffi, anyffi.testing as t
released = anyffi.get_global_func("testing.authoring.released")
begun = threading.Barrier({threads} + 1)
def busy():
    begun.wait()
    while True:
        t.apply(lambda x: t.echo([x]), 1)
        released(lambda: None, ["a"])
        for x in anyffi.Dict(a=1).items(): anyffi.Set(x)
for _ in range({threads}): threading.Thread(target=busy, daemon=True).start()
begun.wait()
"""


def exits(seconds: float) -> int:
    """End processes within callbacks, while daemon threads are in calls."""
    cases = list(itertools.product(_EXITS.items(), (3, 0)))
    for number in _rounds(seconds):
        (where, body), threads = cases[number % len(cases)]
        command = [sys.executable, "-c", _BUSY.format(threads=threads) + body]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 3, f"{where}: exit {done.returncode}\n{done.stderr}"
        assert "Fatal" not in done.stderr, f"{where}: {done.stderr}"
        # A daemon thread that the interpreter interrupts at its end may be in ctypes, which prints an error.
        assert threads or not done.stderr, f"{where}: {done.stderr}"
    return number + 1


_EMBEDDED = """
import anyffi, anyffi.testing as t
class Late:
    def __del__(self):
        try: t.apply(lambda: t.echo([self]))
        except Exception: pass
t.hold([Late(), lambda: Late(), ValueError(Late())])
anyffi.register_global_func("embedded", lambda: Late())
kept = anyffi.Dict({"k": [Late()], "f": anyffi.convert(lambda: kept)})
assert t.apply(lambda x: x + 1, 1) == 2
"""
_REFUSED = """
try: import anyffi
except ImportError as error: assert "has ended" in str(error), error
else: raise AssertionError("imported twice")
"""


def embed(seconds: float) -> int:
    """Run interpreters in one process that leave objects behind when they end; later ones refuse the import."""
    # Imported late: needs pytest, which the interpreter that runs other programs may lack.
    from embedding import build_embedding, run_embedded

    with tempfile.TemporaryDirectory() as folder:
        program = build_embedding(pathlib.Path(folder))
        if program is None:
            return 0  # CPython has no library
        if run_embedded(program, anyffi.ffi_mode, *["import ctypes"] * 2).returncode != 0:
            return 0  # CPython 3.12.1 crashes when a second interpreter imports ctypes
        for number in _rounds(seconds):
            done = run_embedded(program, anyffi.ffi_mode, _EMBEDDED, *[_REFUSED] * (number % 3 + 1))
            assert (done.returncode, done.stderr) == (0, ""), f"exit {done.returncode}\n{done.stderr}"
    return number + 1


# ---- imports -----------------------------------------------------------------------------------------------


def imports(seconds: float) -> int:
    """Remove the package from `sys.modules`, import and reload it, while threads are in calls."""
    first, echo = sys.modules["anyffi"], t.echo
    with _Threads(3):
        for number in _rounds(seconds):
            for name in [name for name in sys.modules if name.partition(".")[0] == "anyffi"]:
                if random.random() < 0.5:
                    sys.modules.pop(name, None)
            again = importlib.import_module("anyffi")
            testing = importlib.import_module("anyffi.testing")
            assert again is first
            assert testing.echo([number]) == [number]
            assert type(echo([1])) is again.List
            importlib.reload(
                importlib.import_module(random.choice(["anyffi", "anyffi.testing", "anyffi.registry"]))
            )
    return number + 1


# ---- signals -----------------------------------------------------------------------------------------------


class _Interrupt(BaseException):
    """The exception that a signal handler raises."""


#: In ctypes mode an exception that a handler raises before the first line of a callback arrives as
#: KeyboardInterrupt.
_INTERRUPTS = (_Interrupt, *((KeyboardInterrupt,) if anyffi.ffi_mode == "ctypes" else ()))


def signals(seconds: float) -> int:
    """Let a signal handler raise at any moment of calls and callbacks, and another one make calls."""
    is_armed = False
    raised = 0

    def interrupt(number: int, frame: object) -> None:
        nonlocal is_armed
        if is_armed:
            is_armed = False
            raise _Interrupt

    def call(number: int, frame: object) -> None:
        assert t.apply(lambda: t.echo([number])) == [number]

    def attempt(number: int) -> bool:
        nonlocal is_armed
        try:
            is_armed = True
            _one_call(number)
            is_armed = False
        except _INTERRUPTS:
            return True
        return False

    def send(number: int) -> None:
        signal.pthread_kill(main, signal.SIGUSR1)
        time.sleep(0.0005)

    main = threading.get_ident()
    # ctypes prints the exceptions that it loses.
    sys.unraisablehook = lambda lost: None
    former = [signal.signal(signal.SIGALRM, interrupt), signal.signal(signal.SIGUSR1, call)]
    attempt(0)
    gc.collect()
    before = t.live_blocks()
    with _Threads(1, send):
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0007)
        for number in _rounds(seconds):
            raised += attempt(number)
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in zip((signal.SIGALRM, signal.SIGUSR1), former):
        signal.signal(number, handler)
    for name in [name for name in anyffi.list_global_func_names() if name.startswith("stress.")]:
        anyffi.remove_global_func(name)
    gc.collect()
    assert t.live_blocks() == before, f"{t.live_blocks() - before} blocks were lost"
    assert raised > 0, "no handler raised anything"
    return raised


# ---- sharing ---------------------------------------------------------------------------------------------


def sharing(seconds: float) -> int:
    """Use the same containers, objects, functions and names in 8 threads at once."""
    with _Threads(7, use_shared):
        for number in _rounds(seconds):
            for i in range(100):
                use_shared(100 * number + i)
    return number + 1


# ---- the soak ----------------------------------------------------------------------------------------------

#: The maximum growth of memory after the first calls, because of malloc's arenas for each thread and the
#: like.
_MOST_GROWTH = 16 << 20


def soak(seconds: float, calls: int = 0) -> int:
    """Make calls in 16 threads, for a time or up to a number of calls; memory must not grow."""
    apply, echo, add_one, blocks = t.apply, t.echo, t.add_one, t.live_blocks
    done = [0] * 16

    def body(slot: int, enough: Callable[[int], bool]) -> None:
        made, shared = 0, anyffi.List([1, 2])
        while not enough(made):
            for i in range(100):
                assert add_one(i) == i + 1
                assert echo(shared) is shared
                assert apply(add_one, i) == i + 1
                assert echo([i, "x"]) == [i, "x"]
                made += 4 + 1
            done[slot] += 500

    def run(enough: Callable[[int], bool]) -> None:
        errors: list[BaseException] = []

        def guarded(slot: int) -> None:
            try:
                body(slot, enough)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=guarded, args=(slot,)) for slot in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()
        if errors:
            raise errors[0]

    run(lambda made: made >= 5000)
    live, size = blocks(), _resident()
    end = time.monotonic() + seconds
    run((lambda made: made >= calls // 16) if calls else lambda made: time.monotonic() > end)
    assert blocks() == live, f"{blocks() - live} blocks were lost"
    # ThreadSanitizer keeps more and more memory of its own.
    grown = 0 if "TSAN_OPTIONS" in os.environ else _resident() - size
    assert grown < _MOST_GROWTH, f"the process has grown by {grown >> 20} MiB"
    return sum(done)


def _resident() -> int:
    """Return the size of the process in memory, or its maximum so far if the system reports no other."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


PROGRAMS: dict[str, Callable[..., int]] = {
    "fork": fork,
    "start_methods": start_methods,
    "exits": exits,
    "embed": embed,
    "imports": imports,
    "signals": signals,
    "sharing": sharing,
    "soak": soak,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--calls", type=int, default=0)
    given = parser.parse_args()
    run = functools.partial(soak, calls=given.calls) if given.name == "soak" else PROGRAMS[given.name]
    print(run(given.seconds))


if __name__ == "__main__":
    main()
