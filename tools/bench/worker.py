"""Measures rows in a process of one mode; prints the result as JSON."""

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
from .rows import Row, Snippet
from .table import ROWS
from .timing import Stopwatch, compile_loop, race

Options = dict[str, Any]


def names_of(snippet: Snippet, contender: str, contenders: Contenders) -> dict[str, Any] | None:
    """Return the names that a statement uses; None if the contender cannot run it."""
    names: dict[str, Any] = {}
    if snippet.function is not None:
        names["f"] = contenders.find(contender, snippet.function)
        if names["f"] is None:
            return None
    try:
        exec(snippet.setup, names)
        # Run once, to find out whether the contender refuses it.
        exec(snippet.statement, dict(names))
    except ImportError as error:
        contenders.missing[str(error.name)] = str(error)
        return None
    except TypeError as error:
        contenders.missing[f"{contender} for {snippet.statement}"] = str(error).partition("\n")[0]
        return None
    names.pop("__builtins__", None)
    return names


def warm_up(statement: str, names: dict[str, Any], seconds: float) -> None:
    """Run a statement until a just-in-time compiler has compiled it."""
    loop = compile_loop(statement, names, 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        loop(itertools.repeat(None, 1000))


def time_row(row: Row, runnable: dict[str, dict[str, Any]], options: Options) -> dict[str, float]:
    """Time each contender, in nanoseconds."""
    if sys.implementation.name != "cpython":
        for contender, names in runnable.items():
            warm_up(row.snippets[contender].statement, names, options["warm_up_s"])
    stopwatches = {
        contender: Stopwatch(row.snippets[contender].statement, names, options["slice_ns"], row.unrolled)
        for contender, names in runnable.items()
    }
    race(list(stopwatches.values()), options["rounds"])
    return {contender: stopwatch.best / row.per for contender, stopwatch in stopwatches.items()}


def run_to_count(row: Row, runnable: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Run three parts for each contender, for callgrind to count; the first is a warm-up.

    Returns how many more repetitions the third has than the second, in the order of the parts.
    """
    # A statement that repeats its task needs few repetitions.
    turns = 20 if row.unrolled > 1 else 5
    for contender, names in runnable.items():
        loop = compile_loop(row.snippets[contender].statement, names, row.unrolled)
        loop(itertools.repeat(None, turns))
        os.getloadavg()
        loop(itertools.repeat(None, turns))
        os.getloadavg()
        loop(itertools.repeat(None, 2 * turns))
        os.getloadavg()
    return dict.fromkeys(runnable, turns * row.unrolled * row.per)


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
        allowed = options.get("contenders", row.snippets)
        found = (
            (name, names_of(snippet, name, contenders))
            for name, snippet in row.snippets.items()
            if name in allowed
        )
        runnable = {contender: names for contender, names in found if names is not None}
        if counting:
            gc.disable()
            result[row.name] = run_to_count(row, runnable)
        else:
            result[row.name] = time_row(row, runnable, options)
    print(json.dumps({"rows": result, "missing": contenders.missing, "versions": versions()}))


if __name__ == "__main__":
    main()
