"""Measures rows in one process, which has one mode; prints the result as JSON."""

from __future__ import annotations

import gc
import itertools
import json
import os
import re
import sys
import time
from typing import Any

from .contenders import Contenders, versions
from .rows import Row, Way
from .table import ROWS
from .timing import Stopwatch, compile_loop, race

Options = dict[str, Any]


def names_of(way: Way, contender: str, contenders: Contenders) -> dict[str, Any] | None:
    """The names that a statement uses; None if the contender cannot do it here."""
    names: dict[str, Any] = {}
    if way.function is not None:
        names["f"] = contenders.find(contender, way.function)
        if names["f"] is None:
            return None
    try:
        exec(way.setup, names)
        # Once, to see whether it is refused.
        exec(way.statement, dict(names))
    except ImportError as error:
        contenders.missing[str(error.name)] = str(error)
        return None
    except TypeError as error:
        contenders.missing[f"{contender} for {way.statement}"] = str(error).partition("\n")[0]
        return None
    names.pop("__builtins__", None)
    return names


def warm_up(statement: str, names: dict[str, Any], seconds: float) -> None:
    """Let a compiler at run time see a statement for a while."""
    loop = compile_loop(statement, names, 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        loop(itertools.repeat(None, 1000))


def time_row(row: Row, ways: dict[str, dict[str, Any]], options: Options) -> dict[str, float]:
    """Nanoseconds of each contender."""
    if sys.implementation.name != "cpython":
        for contender, names in ways.items():
            warm_up(row.ways[contender].statement, names, options["warm_up_s"])
    stopwatches = {
        contender: Stopwatch(row.ways[contender].statement, names, options["slice_ns"], row.unrolled)
        for contender, names in ways.items()
    }
    race(list(stopwatches.values()), options["rounds"])
    return {contender: stopwatch.best / row.per for contender, stopwatch in stopwatches.items()}


def run_to_count(row: Row, ways: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Run what callgrind counts, for each contender three parts, of which the first only warms up.

    Says how much more often the third does what the row is about than the second, in the order of the parts.
    """
    # Of what does a thousand things at a time, a few times are many.
    turns = 20 if row.unrolled > 1 else 5
    for contender, names in ways.items():
        loop = compile_loop(row.ways[contender].statement, names, row.unrolled)
        loop(itertools.repeat(None, turns))
        os.getloadavg()
        loop(itertools.repeat(None, turns))
        os.getloadavg()
        loop(itertools.repeat(None, 2 * turns))
        os.getloadavg()
    return dict.fromkeys(ways, turns * row.unrolled * row.per)


def main() -> None:
    options: Options = json.loads(sys.argv[1])
    contenders = Contenders()
    pattern = re.compile(options["only"])
    result: dict[str, Any] = {}
    for row in ROWS:
        counting = options.get("count", False)
        wanted = pattern.search(row.name) or pattern.search(row.group)
        if not wanted or (counting and not row.counts):
            continue
        allowed = options.get("contenders", row.ways)
        found = ((name, names_of(way, name, contenders)) for name, way in row.ways.items() if name in allowed)
        ways = {contender: names for contender, names in found if names is not None}
        if counting:
            gc.disable()
            result[row.name] = run_to_count(row, ways)
        else:
            result[row.name] = time_row(row, ways, options)
    print(json.dumps({"rows": result, "missing": contenders.missing, "versions": versions()}))


if __name__ == "__main__":
    main()
