"""Judges measured shapes by their laws."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..report import show
from .laws import GROWTH_LIMIT, MODES_LIMIT, MODES_MOST, Law, Shape

MODES = "modes, cython"

Times = dict[str, dict[str, float]]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How a shape compares with its law; without a ratio it could not be compared."""

    shape: str
    group: str
    law: str
    limit: float
    ratio: float | None
    times: dict[str, float]
    note: str = ""

    @property
    def excess(self) -> float:
        """By how much the ratio exceeds the limit; 1 or less if the law holds."""
        return self.ratio / self.limit if self.ratio else 0.0

    @property
    def holds(self) -> bool:
        return self.ratio is not None and self.excess <= 1


def compare(name: str, group: str, law: Law, found: dict[str, float], note: str = "") -> Verdict:
    """Compare anyffi's figure with that of the law's contender."""
    ours, theirs = found.get("anyffi"), found.get(law.of)
    ratio = ours / theirs if ours and theirs else math.inf if not ours else None
    return Verdict(name, group, f"{law.name}, {law.of}", law.limit, ratio, found, note)


def judge(shapes: list[Shape], times: Times, refused: dict[str, dict[str, str]]) -> list[Verdict]:
    """Compare each measured shape with its law's contender."""
    verdicts = []
    for shape in shapes:
        if shape.name not in times:
            continue
        found, law, note = times[shape.name], shape.law, ""
        ours, theirs = found.get("anyffi"), found.get(law.of)
        if not ours and not theirs and law.of in refused[shape.name]:
            continue
        if not ours:
            note = "refused: " + refused[shape.name].get("anyffi", "")
        elif not theirs:
            note = f"no {law.of}: " + refused[shape.name].get(law.of, "not installed")
        verdicts.append(compare(shape.name, shape.group, law, found, note))
    return verdicts


def judge_growth(shapes: list[Shape], times: Times) -> list[Verdict]:
    """Compare the growth of shapes, from their smallest to their largest size, with the law's contender."""
    series: dict[str, list[Shape]] = {}
    for shape in shapes:
        if shape.series and {"anyffi", shape.law.of} <= set(times.get(shape.name, ())):
            series.setdefault(shape.series, []).append(shape)
    verdicts = []
    for name, members in series.items():
        small, large = members[0], members[-1]
        if small.size == large.size:
            continue
        grows = {who: times[large.name][who] / times[small.name][who] for who in ("anyffi", small.law.of)}
        ratio = grows["anyffi"] / max(grows[small.law.of], 1.0)
        mine, theirs = show(grows["anyffi"]), show(grows[small.law.of])
        note = f"{mine} times from {small.size} to {large.size}, not {theirs}"
        verdicts.append(
            Verdict(
                name, small.group, f"growth, {small.law.of}", GROWTH_LIMIT, ratio, times[large.name], note
            )
        )
    return verdicts


def judge_modes(shapes: list[Shape], cython: Times, ctypes: Times) -> list[Verdict]:
    """Compare anyffi's two modes."""
    verdicts = []
    for shape in shapes:
        fast, slow = (times.get(shape.name, {}).get("anyffi") for times in (cython, ctypes))
        if fast and slow:
            both = {"cython": fast, "ctypes": slow}
            verdicts.append(Verdict(shape.name, shape.group, MODES, MODES_LIMIT, slow / fast, both))
    return verdicts


def lines(verdicts: list[Verdict]) -> list[str]:
    """Format the shapes that exceed their laws, the worst first."""
    broken = sorted((each for each in verdicts if each.excess > 1), key=lambda each: -each.excess)
    made = [f"{'excess':>7} {'ratio':>8} {'limit':>5} {'anyffi':>11}  {'law':20} shape"]
    for each in broken:
        ours = each.times.get("anyffi", each.times.get("ctypes"))
        note = f"  ({each.note})" if each.note else ""
        made.append(
            f"{show(each.excess):>7} {show(each.ratio):>8} {each.limit:5g} {show(ours):>11}  {each.law:20} "
            f"{each.shape}{note}"
        )
    return made


def summary(verdicts: list[Verdict]) -> list[str]:
    """Count for each law in how many shapes it holds."""
    laws: dict[str, list[Verdict]] = {}
    for each in verdicts:
        laws.setdefault(each.law, []).append(each)
    made = []
    for law, members in laws.items():
        compared = [each for each in members if each.ratio is not None]
        holding, without = sum(each.holds for each in compared), len(members) - len(compared)
        more = f", {without} more without a comparison" if without else ""
        if law == MODES:
            more += (
                f", {sum(each.excess * each.limit > MODES_MOST for each in compared)} exceed {MODES_MOST:g}"
            )
        made.append(f"{law}: {holding} of {len(compared)} shapes hold{more}")
    return made


def as_rows(verdicts: list[Verdict]) -> list[dict[str, Any]]:
    return [{**dataclasses.asdict(each), "excess": each.excess, "holds": each.holds} for each in verdicts]
