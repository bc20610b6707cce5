"""Exit of the interpreter with live objects, `fork`, and signal handlers of the process."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Any

import pytest
from override_sources import OVERRIDES
from programs import run_program
from support import SANITIZED, Build, cpython_only, needs_compilers, slow_except


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_handler_of_a_signal_is_replaced(ffi: Any) -> None:
    program = """
        def masks():
            with open("/proc/self/status") as status:
                return [line for line in status if line.startswith(("SigCgt", "SigIgn", "SigBlk"))]
        before = masks()
        import anyffi, anyffi.testing as t
        t.apply(lambda: t.echo([1]))
        assert masks() == before, (before, masks())
    """
    run_program(program, ffi.ffi_mode)


@cpython_only("PyPy has no subinterpreters")
@pytest.mark.parametrize("kind", ["isolated", "legacy"])
@pytest.mark.parametrize("imported", [True, False], ids=["after the main one", "before it"])
def test_subinterpreters_are_refused(ffi: Any, imported: bool, kind: str) -> None:
    """Callbacks would never return there. From 3.12 on, isolated ones have a GIL of their own."""
    attempt = """
        import subprocess
        # An editable package is built again by a process, which isolated interpreters may not start.
        subprocess.run = lambda *words, **options: None
        try:
            import anyffi
        except ImportError as error:
            print("main interpreter" in str(error), flush=True)
    """
    program = f"""
        import textwrap
        try:
            import _interpreters as interpreters
            made, run = interpreters.create("{kind}"), interpreters.exec
        except ImportError:
            import _xxsubinterpreters as interpreters
            made, run = interpreters.create(isolated={kind == "isolated"}), interpreters.run_string
        if {imported}:
            import anyffi
        for _ in range(2):
            error = run(made, {textwrap.dedent(attempt)!r})
            assert error is None, error
        interpreters.destroy(made)
        import anyffi.testing as t
        assert t.apply(lambda: 3) == 3
    """
    assert run_program(program, ffi.ffi_mode) == "True\n" * 2


def test_exit_with_everything_alive(ffi: Any) -> None:
    program = """
        import atexit, sys, threading, anyffi, anyffi.testing as t

        class Late:
            def __init__(self):
                self.kept = [t.echo, t.apply, anyffi.List([1, self]), anyffi.convert(lambda: self), ValueError(self)]
            def __del__(self):
                try:
                    self.kept[1](lambda: self.kept[0]([self.kept[2]]))
                except Exception:
                    pass

        late = [Late() for _ in range(50)]
        sys.late = anyffi.convert({"late": late, "f": late[0].__del__})
        t.hold([late, lambda: late, RuntimeError(late)])
        anyffi.register_global_func("late.f", lambda x: (late, x))
        begun = threading.Barrier(5)
        ended = threading.Event()

        def run():
            begun.wait()
            while not ended.is_set():
                t.apply(lambda x: t.echo([x, late[0]]), {"k": [1]})

        for thread in [threading.Thread(target=run) for _ in range(4)]:
            thread.start()
        begun.wait()
        atexit.register(lambda: print(t.apply(lambda: "at exit")))
        threading.Timer(0.05, ended.set).start()
    """
    assert run_program(program, ffi.ffi_mode) == "at exit\n"


_AT_EXIT = {
    "live objects": """
        xs = anyffi.convert([1, {"k": (2,)}])
        f = anyffi.convert(lambda: xs)
    """,
    "held by cpp": """
        class Token:
            def __del__(self):
                pass
        t.hold([Token(), lambda: 5, ValueError("x"), object()])
    """,
    "registered": """
        @anyffi.register_global_func("exit.f")
        def f(x):
            return x
        g = anyffi.get_global_func("exit.f")
    """,
    "a cycle through cpp": """
        class Owner:
            pass
        owner = Owner()
        owner.callback = anyffi.convert(lambda: owner)
        t.hold(owner)
    """,
    "in builtins": """
        import builtins, sys
        builtins.kept = anyffi.convert([object()])
        sys.kept = anyffi.convert(lambda: None)
        class Late:
            def __init__(self):
                self.echo = t.echo
            def __del__(self):
                try:
                    self.echo([1])
                except Exception:
                    pass
        builtins.late = Late()
    """,
    "calls at exit": """
        import atexit
        atexit.register(lambda: t.apply(lambda: t.echo([1, "two"])))
    """,
    "an error kept": """
        try:
            t.raise_error("ValueError", "x")
        except ValueError as error:
            kept = error
        t.hold(kept)
    """,
    "a daemon thread": """
        import threading
        begun = threading.Event()
        def run():
            while True:
                t.apply(lambda x: begun.set(), [1])
        threading.Thread(target=run, daemon=True).start()
        begun.wait()
    """,
    "a daemon thread without the lock": """
        import threading
        begun = threading.Event()
        def run():
            released = anyffi.get_global_func("testing.authoring.released")
            while True:
                released(lambda *args: begun.set(), [])
        threading.Thread(target=run, daemon=True).start()
        begun.wait()
    """,
    "weak references": """
        import weakref
        xs = anyffi.convert([1])
        weakref.finalize(xs, t.nop, 1)
    """,
}


@pytest.mark.parametrize("name", slow_except(["held by cpp", "a daemon thread"], _AT_EXIT, "process exit"))
def test_exit(ffi: Any, name: str) -> None:
    program = "import anyffi, anyffi.testing as t\n" + textwrap.dedent(_AT_EXIT[name]) + "\nprint('end')\n"
    # ctypes may report a callback that runs at exit, and AddressSanitizer the unwound stack of its thread.
    noisy = name.startswith("a daemon thread") and (ffi.ffi_mode == "ctypes" or SANITIZED)
    assert run_program(program, ffi.ffi_mode, noisy=noisy) == "end\n"


#: A class with overrides, whose objects a World keeps alive; they print when they are destroyed.
_KEPT = """
#include <anyffi/anyffi.h>
#include <cstdio>
namespace exits {
struct Listener {
  virtual ~Listener() {
    std::puts("destroyed");
    std::fflush(stdout);
  }
  virtual void hear() {}
};
struct PyListener : anyffi::Overridable<Listener> {
  void hear() override { override_or<void>("hear", [&] { Listener::hear(); }); }
};
struct World {
  Listener* listener = nullptr;
};
}  // namespace exits
ANYFFI_CLASS(exits::Listener, "exits.Listener").overridable<exits::PyListener>().init<>();
ANYFFI_CLASS(exits::World, "exits.World")
    .init<>()
    .method("set", [](exits::World& world, exits::Listener* listener) { world.listener = listener; })
    .keep_alive<1, 2>();
"""


@needs_compilers
@cpython_only("PyPy leaves objects alive at exit on purpose")
def test_an_object_with_overrides_that_another_one_keeps_is_destroyed(ffi: Any, build: Build) -> None:
    program = f"""
        import anyffi
        exits = anyffi.load_module({os.fspath(build("exits.cc", _KEPT))!r})
        class Mine(exits.Listener):
            def hear(self):
                pass
        world, mine = exits.World(), Mine()
        world.set(mine)
        print("end", flush=True)
    """
    assert run_program(program, ffi.ffi_mode) == "end\ndestroyed\n"


@cpython_only("locks cannot be renewed on PyPy")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_lock_that_a_thread_held_at_a_fork(ffi: Any) -> None:
    program = """
        import os, threading, warnings
        from anyffi._rules.locks import make_lock

        # Python warns of forks in a process with threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        lock = make_lock()
        is_held, may_end = threading.Event(), threading.Event()

        def hold():
            with lock:
                is_held.set()
                may_end.wait()

        thread = threading.Thread(target=hold, daemon=True)
        thread.start()
        is_held.wait()
        pid = os.fork()
        if not pid:
            os._exit(0 if lock.acquire(timeout=20) else 3)
        assert os.waitpid(pid, 0)[1] == 0
        assert not lock.acquire(blocking=False)
        may_end.set()
        thread.join()
    """
    run_program(program, ffi.ffi_mode)


#: Two threads without the GIL that take locks of the runtime all the time.
_SEARCHERS = """
#include <anyffi/anyffi.h>
#include <atomic>
#include <thread>
static std::atomic<bool> may_end{false};
static std::thread threads[2];
ANYFFI_EXPORT(start, [] {
  for (std::thread& each : threads) {
    each = std::thread([] {
      while (!may_end) {
        anyffi::Function::get_global("anyffi.record.create");
        anyffi_type_find("a type that nobody knows");
      }
    });
  }
});
ANYFFI_EXPORT(stop, [] {
  may_end = true;
  for (std::thread& each : threads) each.join();
}).release_gil();
"""


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_locks_of_the_runtime_at_a_fork(ffi: Any, build: Build) -> None:
    program = f"""
        import os, signal, warnings, anyffi

        # Python warns of forks in a process with threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        searchers = anyffi.load_module({os.fspath(build("searchers.cc", _SEARCHERS))!r})
        searchers.start()
        for number in range(30):
            pid = os.fork()
            if not pid:
                signal.alarm(20)  # ends a child that waits for ever
                anyffi.get_global_func("anyffi.record.create")
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        searchers.stop()
    """
    run_program(program, ffi.ffi_mode)


@pytest.mark.slow("forks")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_containers_that_threads_use_at_a_fork(ffi: Any) -> None:
    """Without the GIL a thread that does not exist in the child may own the lock of containers at the fork."""
    program = """
        import os, signal, threading, warnings, anyffi

        # Python warns of forks in a process with threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        shared, may_end = anyffi.List(range(50)), threading.Event()

        def use():
            while not may_end.is_set():
                shared.append(1), shared.pop(), list(shared)

        threads = [threading.Thread(target=use) for _ in range(4)]
        for each in threads:
            each.start()
        try:
            for number in range(200):
                pid = os.fork()
                if not pid:
                    signal.alarm(20)  # ends a child that waits for ever
                    shared.append(anyffi.List([1]).pop())
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
        finally:
            may_end.set()
            for each in threads:
                each.join()
    """
    run_program(program, ffi.ffi_mode)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_works(ffi: Any) -> None:
    program = """
        import os, anyffi, anyffi.testing as t
        t.hold([1, lambda: 2])
        pid = os.fork()
        assert t.apply(lambda x: x + 1, 1) == 2
        assert t.held()[1]() == 2
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
    """
    run_program(program, ffi.ffi_mode)


@cpython_only("PyPy has no gc.freeze")
@needs_compilers
def test_exit_with_overrides_that_outlive_the_package(ffi: Any, build: Build) -> None:
    """Objects that the garbage collector no longer sees are freed after the package's modules are cleared."""
    program = f"""
        import __main__, gc, anyffi
        module = anyffi.load_module({str(build("overrides.cc", OVERRIDES))!r})

        class Circle(module.Shape):
            def area(self):
                return 1.0

        class Finalized(Circle):
            def __del__(self, write=print):
                write("finalized", flush=True)

        kept = [Circle("kept"), Finalized("kept")]
        for circle in kept:
            module.keep(circle)
        gc.freeze()
    """
    assert run_program(program, ffi.ffi_mode) == "finalized\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_memory_of_threads_in_a_forked_child(ffi: Any) -> None:
    """A forked child can run threads, which may get the memory of the parent's threads."""
    program = """
        import os, signal, threading, warnings, anyffi, anyffi.testing as t

        # Python warns of forks in a process with threads.
        warnings.simplefilter("ignore", DeprecationWarning)

        def run(body):
            arrived, done = threading.Barrier(9), threading.Event()
            def work():
                t.hold(None)
                lists = [anyffi.List([number]) for number in range(50)]
                del lists
                arrived.wait()
                done.wait()
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            arrived.wait()
            try:
                body()
            finally:
                done.set()
            for thread in threads:
                thread.join()

        def fork():
            pid = os.fork()
            if not pid:
                signal.alarm(20)  # ends a child that waits for ever
                run(t.live_blocks)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0

        run(fork)
    """
    run_program(program, ffi.ffi_mode)
