"""Measures the requested shapes, in a process of one mode.

Every shape gets a few short rounds, and more if these do not decide whether its law holds.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import types
from typing import Any

from ..contenders import Find
from ..rows import Snippet
from ..timing import Stopwatch, compile_loop, race
from .laws import Shape
from .libraries import load
from .table import SHAPES

Options = dict[str, Any]

#: A statement that takes this many nanoseconds is not unrolled; the limit for all rounds of a shape, in
#: nanoseconds.
LONG, PATIENCE = 20_000, 300_000_000
#: More rounds are measured if the ratio to the law's limit is between these.
NEAR = (0.75, 1.4)


class Refused(Exception):
    """A contender cannot run a statement."""


def set_up(snippet: Snippet, find: Find) -> dict[str, Any]:
    """Return the names that a setup defines. Raises `Refused`."""
    names: dict[str, Any] = {"find": find, "module": find("module")}
    if snippet.function is not None:
        names["f"] = find(snippet.function)
        if names["f"] is None:
            raise Refused(f"there is no {snippet.function}")
    run(snippet.setup, names)
    return names


def run(code: Any, names: dict[str, Any]) -> None:
    try:
        exec(code, names)
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}".partition("\n")[0]) from None


def prepare(snippet: Snippet, find: Find) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the names that a setup defines and those that the statement uses, after running both once.

    Raises `Refused`.
    """
    names = set_up(snippet, find)
    code = compile(snippet.statement, "statement", "exec")
    run(code, names)
    # Names used in functions that the statement defines, one level deep, are included.
    used = {
        *code.co_names,
        *(name for c in code.co_consts if isinstance(c, types.CodeType) for name in c.co_names),
    }
    return names, {name: value for name, value in names.items() if name in used}


def stopwatch_of(snippet: Snippet, names: dict[str, Any], slice_ns: int) -> Stopwatch:
    once = compile_loop(snippet.statement, names, 1)
    taken = min(once(iter((None,))) for _ in range(2))
    if taken < LONG:
        return Stopwatch(snippet.statement, names, slice_ns, 10)
    return Stopwatch(snippet.statement, names, slice_ns, 1, warm_up=min(20, slice_ns // taken))


def measure(
    shape: Shape, finders: dict[str, Find], options: Options
) -> tuple[dict[str, float], dict[str, str]]:
    """Return nanoseconds by contender, and the reasons why others could not run the shape."""
    stopwatches, refused, alive = {}, {}, []
    for contender, snippet in shape.snippets.items():
        if contender not in finders or contender not in options["contenders"]:
            continue
        try:
            # Objects of the setup that the statement does not use stay alive, too: results may refer to them.
            names, used = prepare(snippet, finders[contender])
            alive.append(names)
            stopwatches[contender] = stopwatch_of(snippet, used, options["slice_ns"])
        except Refused as error:
            refused[contender] = str(error)
    racing = list(stopwatches.values())
    start = time.perf_counter_ns()
    race(racing, 2)
    affordable = PATIENCE // (time.perf_counter_ns() - start)
    race(racing, min(options["rounds"], affordable))
    if is_near(shape, stopwatches):
        race(racing, min(options["more_rounds"], affordable))
    return {contender: each.best for contender, each in stopwatches.items()}, refused


def is_near(shape: Shape, stopwatches: dict[str, Stopwatch]) -> bool:
    if not {"anyffi", shape.law.of} <= set(stopwatches):
        return False
    ratio = stopwatches["anyffi"].best / stopwatches[shape.law.of].best
    return NEAR[0] < ratio / shape.law.limit < NEAR[1]


def main() -> None:
    options: Options = json.loads(sys.argv[1])
    finders = load(options["paths"], tuple(options["contenders"]))
    shapes = {shape.name: shape for shape in SHAPES}
    # Collections do not visit imported modules then.
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(measure(shapes[request["shape"]], finders, request)), flush=True)


if __name__ == "__main__":
    main()
