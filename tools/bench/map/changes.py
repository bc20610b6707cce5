"""Compares two runs of the map by ratios, because nanoseconds depend on the machine and its load."""

from __future__ import annotations

import json
import pathlib

from ..report import show
from .verdict import Verdict

#: A ratio that changed by less is not reported: even shapes that did not change vary as much between runs.
SMALLEST = 1.25


def read(path: pathlib.Path) -> dict[tuple[str, str], float]:
    """Return the ratios in a file that a run wrote, by shape and law."""
    rows = json.loads(path.read_text())["shapes"]
    return {(row["shape"], row["law"]): row["ratio"] for row in rows if row["ratio"]}


def lines(before: dict[tuple[str, str], float], verdicts: list[Verdict]) -> list[str]:
    """Format the changed ratios: slower shapes first, and the largest change first."""
    changed = []
    for each in verdicts:
        former = before.get((each.shape, each.law))
        if former and each.ratio and not 1 / SMALLEST < each.ratio / former < SMALLEST:
            changed.append((each.ratio / former, former, each))
    changed.sort(key=lambda change: -change[0])
    slower = sum(factor > 1 for factor, _, _ in changed)
    made = [f"{slower} shapes are slower, {len(changed) - slower} faster, than before"]
    for factor, former, each in changed:
        mark = "exceeds its limit" if each.excess > 1 else "holds"
        ratios = f"{show(former):>8} -> {show(each.ratio):>8}"
        made.append(f"{show(factor):>8} times: {ratios}, {mark}  {each.law}: {each.shape}")
    return made
