"""Measures rows in one process, which has one mode; prints the result as JSON."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from .contenders import Contenders, versions
from .rows import ROWS, Row, Way
from .timing import Stopwatch, race


def names_of(way: Way, contender: str, contenders: Contenders) -> dict[str, Any] | None:
    """The names that a statement uses; None if the contender cannot do it here."""
    names: dict[str, Any] = {}
    if way.function is not None:
        names["f"] = contenders.find(contender, way.function)
        if names["f"] is None:
            return None
    try:
        exec(way.setup, names)
    except ImportError as error:
        contenders.missing[str(error.name)] = str(error)
        return None
    del names["__builtins__"]
    return names


def measure(row: Row, contenders: Contenders, rounds: int, slice_ns: int) -> dict[str, float]:
    """Nanoseconds of each contender that can do a row."""
    stopwatches = {}
    for contender, way in row.ways.items():
        names = names_of(way, contender, contenders)
        if names is None:
            continue
        try:
            stopwatches[contender] = Stopwatch(way.statement, names, slice_ns, row.unrolled)
        except TypeError as error:
            contenders.missing[f"{contender}, {row.name}"] = f"refused: {error}"
    race(list(stopwatches.values()), rounds)
    return {contender: stopwatch.best / row.per for contender, stopwatch in stopwatches.items()}


def main() -> None:
    options = json.loads(sys.argv[1])
    contenders = Contenders()
    pattern = re.compile(options["only"])
    times = {
        row.name: measure(row, contenders, options["rounds"], options["slice_ns"])
        for row in ROWS
        if pattern.search(row.name) or pattern.search(row.group)
    }
    print(json.dumps({"times": times, "missing": contenders.missing, "versions": versions()}))


if __name__ == "__main__":
    main()
