"""Measures how cost grows with size, in a process of one mode; prints the curves as JSON."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import threading
from collections.abc import Iterable
from typing import Any, Callable

from .contenders import Contenders
from .figures import seconds, steps_of_1_ms
from .timing import Stopwatch, race

#: Nanoseconds by series and position on the axis.
Series = dict[str, dict[int, float]]


@dataclasses.dataclass(frozen=True)
class Curves:
    """The curves of one plot."""

    name: str
    axis: str
    series: Series


class Growth:
    """Measures curves."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.contenders = Contenders()

    def race(self, statements: dict[str, tuple[str, dict[str, Any]]], per: int = 1) -> dict[str, float]:
        """Time statements, each with the names that it uses; skip those whose function `f` is None."""
        stopwatches = {
            name: Stopwatch(statement, names, self.options["slice_ns"], 1)
            for name, (statement, names) in statements.items()
            if names.get("f", True) is not None
        }
        race(list(stopwatches.values()), self.options["rounds"])
        return {name: stopwatch.best / per for name, stopwatch in stopwatches.items()}

    def along(
        self, places: Iterable[int], at: Callable[[int], dict[str, tuple[str, dict[str, Any]]]]
    ) -> Series:
        series: Series = {}
        for place in places:
            for name, time in self.race(at(place)).items():
                series.setdefault(name, {})[place] = time
        return series

    def find(self, contender: str, name: str) -> Any:
        return self.contenders.find(contender, name)

    def of(self, calls: dict[str, tuple[str, str]], **names: Any) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return the statement `f(x)` for a function of each contender, with the names that it uses."""
        return {
            label: ("f(x)", {**names, "f": self.find(contender, function)})
            for label, (contender, function) in calls.items()
        }

    # ---- the curves ----

    def arguments(self) -> Curves:
        functions = {
            "anyffi": ("anyffi", "nop"),
            "floor": ("floor", "nop"),
            "nanobind, nb::args": ("nanobind", "nop_any"),
            "tvm-ffi": ("tvm-ffi", "nop"),
        }

        def at(count: int) -> dict[str, tuple[str, dict[str, Any]]]:
            statement = f"f({', '.join(['1'] * count)})"
            return {name: (statement, {"f": self.find(*function)}) for name, function in functions.items()}

        return Curves("arguments", "arguments", self.along((0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64), at))

    def sizes(self) -> Curves:
        calls = {
            "anyffi, any": ("anyffi", "nop"),
            "anyffi, Array<int64_t>": ("anyffi", "nop_int_list"),
            "nanobind, std::vector<int64_t>": ("nanobind", "nop_int_list"),
            "nanobind, nb::list": ("nanobind", "len_lazy"),
            "tvm-ffi": ("tvm-ffi", "nop"),
        }
        places = (0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
        return Curves(
            "sizes", "ints in a list", self.along(places, lambda n: self.of(calls, x=list(range(n))))
        )

    def dict_sizes(self) -> Curves:
        calls = {
            "anyffi, any": ("anyffi", "nop"),
            "nanobind, std::map": ("nanobind", "nop_int_dict"),
            "tvm-ffi": ("tvm-ffi", "nop"),
        }
        places = (0, 1, 10, 100, 1000, 10_000, 100_000)

        def at(count: int) -> dict[str, tuple[str, dict[str, Any]]]:
            return self.of(calls, x={f"key{i}": i for i in range(count)})

        return Curves("dict-sizes", "entries in a dict", self.along(places, at))

    def depth(self) -> Curves:
        def at(levels: int) -> dict[str, tuple[str, dict[str, Any]]]:
            nested: list[Any] = []
            for _ in range(levels):
                nested = [nested]
            return self.of({"anyffi": ("anyffi", "nop"), "floor": ("floor", "nop")}, x=nested)

        return Curves("depth", "levels of nesting", self.along((0, 1, 2, 5, 10, 20, 50, 100, 190), at))

    def threads(self) -> Curves:
        """Time calls in several threads: calls of 1 ms with the lock released, and of `nop`."""
        work, nop = self.find("anyffi", "work"), self.find("anyffi", "nop")
        steps = steps_of_1_ms(work)
        bodies = {"release_gil, 1 ms": (work, steps, 20), "nop(1)": (nop, 1, 20_000)}
        series: Series = {name: {} for name in bodies}
        for count in (1, 2, 3, 4, 6, 8):
            for name, (function, argument, calls) in bodies.items():

                def several(function: Any = function, argument: int = argument, calls: int = calls) -> None:
                    def one() -> None:
                        for _ in range(calls):
                            function(argument)

                    threads = [threading.Thread(target=one) for _ in range(count)]  # noqa: B023
                    for thread in threads:
                        thread.start()
                    for thread in threads:
                        thread.join()

                best = min(seconds(several) for _ in range(self.options["rounds"]))
                series[name][count] = best * 1e9 / calls / count
        return Curves("threads", "threads", series)

    def functions(self) -> Curves:
        import anyffi

        registered = 0

        def at(count: int) -> dict[str, tuple[str, dict[str, Any]]]:
            nonlocal registered
            while registered < count:
                anyffi.register_global_func(f"bench.many.{registered}", len)
                registered += 1
            return {
                "look up by name": ("f('bench.add_one')", {"f": anyffi.get_global_func}),
                "call": ("f(1)", {"f": self.find("anyffi", "add_one")}),
            }

        return Curves(
            "functions", "registered functions", self.along((1, 10, 100, 1000, 10_000, 100_000), at)
        )

    def reading(self) -> Curves:
        """Time callees that read all, ten or none of the elements."""
        import anyffi

        def at(count: int) -> dict[str, tuple[str, dict[str, Any]]]:
            plain = list(range(1000, 1000 + count))
            ready = anyffi.convert(plain)
            found = {}
            for what, ours, lazy in (
                ("all", "sum", "sum_lazy"),
                ("ten", "sum_some", "sum_some_lazy"),
                ("none", "len", "len_lazy"),
            ):
                found[f"anyffi, list, {what}"] = ("f(x)", {"f": self.find("anyffi", ours), "x": plain})
                found[f"anyffi, List, {what}"] = ("f(x)", {"f": self.find("anyffi", ours), "x": ready})
                found[f"nb::list, {what}"] = ("f(x)", {"f": self.find("nanobind", lazy), "x": plain})
            return found

        return Curves("reading", "ints in a list", self.along((10, 100, 1000, 10_000, 100_000), at))

    def boxes(self) -> Curves:
        """Sum the ints of an existing Array: as plain values and as boxed objects."""
        import anyffi

        calls = {
            "Array<int64_t>": ("anyffi", "sum_ints"),
            "Array<AnyValue>": ("anyffi", "sum_values"),
            "Array<ObjectRef>, each boxed": ("anyffi", "sum_boxes"),
        }

        def at(count: int) -> dict[str, tuple[str, dict[str, Any]]]:
            return self.of(calls, x=anyffi.convert(tuple(range(1000, 1000 + count))))

        return Curves("boxes", "ints in an Array", self.along((10, 100, 1000, 10_000, 100_000), at))

    def weights(self) -> Curves:
        """Pass many tensors: as a Python list each time, or as one Array that exists already."""
        import anyffi

        try:
            import numpy as np
        except ImportError:
            return Curves("weights", "tensors in a container", {})
        nop = self.find("anyffi", "nop")

        def at(count: int) -> dict[str, tuple[str, dict[str, Any]]]:
            arrays = [np.zeros(4) for _ in range(count)]
            tensors = [anyffi.convert(array) for array in arrays]
            ready = anyffi.convert(tuple(tensors))
            given = {
                "list of NumPy arrays": arrays,
                "list of anyffi.Tensor": tensors,
                "anyffi.Array": ready,
            }
            found = {what: ("f(x)", {"f": nop, "x": x}) for what, x in given.items()}
            return {
                **found,
                "anyffi.Array, all read": ("f(x)", {"f": self.find("anyffi", "touch"), "x": ready}),
            }

        return Curves("weights", "tensors in a container", self.along((1, 10, 100, 1000), at))


CURVES = ("arguments", "sizes", "dict_sizes", "depth", "threads", "functions", "reading", "boxes", "weights")


def main() -> None:
    options = json.loads(sys.argv[1])
    growth = Growth(options)
    pattern = re.compile(options["only"])
    names = [name for name in CURVES if pattern.search(name) or pattern.search("growth")]
    print(json.dumps([dataclasses.asdict(getattr(growth, name)()) for name in names]))


if __name__ == "__main__":
    main()
