"""FFI_MODE=check runs user code once for both marshallers."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from programs import run_program

pytestmark = pytest.mark.skipif(sys.implementation.name != "cpython", reason="needs both marshallers")


@pytest.fixture(autouse=True)
def _both(both: tuple[Any, Any]) -> None:
    """Skip these tests if only one marshaller is tested: there is nothing to compare."""


HOOKS = """
    import collections, anyffi, anyffi.testing as t

    log = []

    class Index:
        def __init__(self, value, effect=None):
            self.value, self.effect = value, effect
        def __index__(self):
            log.append(f"index {self.value}")
            if self.effect:
                self.effect()
            return self.value

    class Mapping(collections.abc.Mapping):
        def __init__(self, **entries): self.entries = entries
        def keys(self): log.append("keys"); return self.entries.keys()
        def __getitem__(self, key): log.append(f"item {key}"); return self.entries[key]
        def __iter__(self): return iter(self.entries)
        def __len__(self): return len(self.entries)

    class Key:
        def __init__(self, name): self.name = name
        def __hash__(self): log.append(f"hash {self.name}"); return 7
        def __eq__(self, other): log.append(f"equal {self.name} {other!r}"); return self is other
        def __repr__(self): log.append(f"repr {self.name}"); return f"Key({self.name})"

    class Failing(Key):
        def __hash__(self):
            log.append(f"hash {self.name}")
            if armed:
                raise LookupError(self.name)
            return 8

    class Made(Exception):
        def __init__(self, *args):
            log.append(f"made {args}")
            super().__init__(*args)

    anyffi.register_error("Made", Made)

    def see(function, *args, **kwargs):
        log.clear()
        try:
            result = anyffi.to_python(function(*args, **kwargs))
        except BaseException as error:
            result = type(error).__name__, str(error), repr(error.__context__), repr(error.__cause__)
        taken = list(log)
        print(result, taken)

    armed = False
    see(t.echo, Index(1))
    see(t.describe, Index(1), Index(2), [Index(3), (Index(4), {"k": Index(5)})])
    see(t.echo, Index("no int"))
    see(t.describe, Mapping(a=1, b=[Index(2)]))
    a, b = Key("a"), Key("b")
    see(t.describe, {a: 1, b: [2], (3, 4): 5})
    see(t.describe, {a, b, 7})
    see(t.describe, {a: {b: [a]}})
    keys = {Failing("f"): 1}
    armed = True
    see(t.echo, keys)
    see(t.echo, [1, keys, Index(1)])
    see(t.raise_error, "Made", "in C++")
    see(t.apply, lambda: Index(6))
    see(t.apply, lambda *args: args[0], Index(7))
    see(anyffi.convert, [Index(8)])
    see(t.add_one, x=Index(9))
    see(t.echo, [float("nan"), {float("nan"): 1, float("nan"): 2}])
    see(t.apply, lambda: t.echo([Index(10)]))
    see(t.echo, Index(11, lambda: t.echo([Index(12)])))

    # Of a list that changes during conversion, both use the state that ctypes read.
    changing = [1, Index(2, lambda: changing.append(3)), [4]]
    see(t.echo, changing)
    inner = [1]
    see(t.describe, [Index(2, lambda: inner.append(3)), inner, (inner, slice(inner)), {"k": inner, a: inner}])
    see(t.describe, [inner, Index(2, inner.clear), inner], inner)
    table = {"k": 1}
    see(t.describe, (Index(2, lambda: table.update(l=3)), table, {"t": table}))
    see(t.describe, [table, Index(2, table.clear), table], table)
    circle = [Index(1)]
    circle.append((circle,))
    see(t.echo, circle)
    ring = {a: 1}
    ring["ring"] = (Index(1), [ring])
    see(t.echo, ring)
    see(t.echo, collections.OrderedDict(a=[Index(1), inner], b=inner))
    late = [1]
    see(t.describe, collections.namedtuple("Named", "x y")(Index(1, lambda: late.append(2)), late))
"""


def test_user_code_runs_once_for_both_marshallers() -> None:
    """The program logs the calls of its methods: log and values are the same in all modes."""
    alone = run_program(HOOKS, "cython")
    assert alone == run_program(HOOKS, "ctypes")
    assert alone == run_program(HOOKS, "check")


def test_tensors_are_imported_once() -> None:
    program = """
        import gc, weakref, numpy as np, anyffi, anyffi.testing as t

        class Exporter:
            def __init__(self, array): self.array = array; self.asked = 0
            def __dlpack__(self, **options): self.asked += 1; return self.array.__dlpack__(**options)

        array = np.arange(6.0).reshape(2, 3)
        exporter = Exporter(array)
        for x in (array, exporter, [exporter], {"k": (array[:, ::2],)}):
            t.nop(x)
            got = anyffi.to_python(t.echo(x))
        assert exporter.asked in (4, 8)  # NumPy before 2.1 knows no versions of DLPack, and is asked again
        assert np.shares_memory(np.asarray(t.echo(exporter)), array)
        assert t.apply(lambda: Exporter(array)).shape == (2, 3)
        died = weakref.ref(array)
        del array, exporter, x, got
        gc.collect()
        assert died() is None
        gone = Exporter(5)
        Exporter.__dlpack__ = lambda self, **options: "no capsule"
        try:
            t.nop(gone)
        except TypeError as error:
            print(error)
    """
    assert run_program(program, "check") == run_program(program, "cython") != ""


def test_user_code_runs_once_in_reads_of_containers() -> None:
    program = """
        import anyffi, anyffi.testing as t

        log = []

        class Key:
            def __init__(self, name): self.name = name
            def __hash__(self): log.append(f"hash {self.name}"); return 1
            def __eq__(self, other): log.append(f"eq {self.name}"); return self is other
            def __repr__(self): return self.name

        class Index:
            def __index__(self): log.append("index"); return 1
            def __repr__(self): return "Index"

        class Made(Exception):
            def __init__(self, *args): log.append(f"made {args}")

        anyffi.register_error("Made", Made)

        def see(function):
            log.clear()
            try:
                result = function()
            except BaseException as error:
                result = type(error).__name__, str(error)
            taken = list(log)
            print(result if type(result) in (int, bool, tuple, list) else type(result).__name__, taken)

        a, b = Key("a"), Key("b")
        mapping, elements = anyffi.Dict({a: 1, (1, 2): 3}), anyffi.Set({a, (1, 2)})
        sequence = anyffi.List([0, 1])
        for key in (a, b, (1, Index()), [1], (Index(), 2), "x"):
            see(lambda: mapping[key])
            see(lambda: mapping.get(key, 7))
            see(lambda: key in mapping)
            see(lambda: key in elements)
        see(lambda: sequence[Index()])
        see(lambda: sequence["x"])
        see(lambda: sequence[5])
        try:
            t.raise_error("Made", "in C++")
        except Made as error:
            errors = anyffi.List([error])
        see(lambda: errors[0])
        see(lambda: {a} in elements)
        missing = type("Missing", (anyffi.Dict,), {"__missing__": lambda self, key: log.append("missing") or 9})({})
        see(lambda: missing["x"])
    """
    alone = run_program(program, "cython")
    assert alone == run_program(program, "ctypes")
    assert alone == run_program(program, "check")


def test_threads_share_no_journal() -> None:
    """Other threads pack while the user code of one runs."""
    program = """
        import concurrent.futures, time, anyffi, anyffi.testing as t

        class Index:
            def __init__(self, value): self.value, self.asked = value, 0
            def __index__(self):
                time.sleep(0)  # other threads run
                self.asked += 1
                return self.value

        def work(number):
            for i in range(50):
                numbers = [Index(1000 * number + i), Index(i), Index(number)]
                expected = [x.value for x in numbers]
                assert t.echo(numbers) == expected
                assert t.apply(lambda *args: [Index(x) for x in args], *numbers) == expected
                assert [x.asked for x in numbers] == [2, 2, 2]

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    """
    run_program(program, "check")
