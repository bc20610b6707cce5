"""Plots of the map: all shapes relative to their limits, and rows of shapes with a dot for each contender."""

from __future__ import annotations

import pathlib
import re
from typing import Any, NamedTuple

from ..plots import COLOURS, load_pyplot, save
from .verdict import Verdict

EXCEEDS, HOLDS = "#d62728", "#1f77b4"


class Picture(NamedTuple):
    """The shapes whose name and group match two patterns; a group of the first pattern is the label."""

    name: str
    title: str
    shapes: str
    groups: str

    def label(self, verdict: Verdict) -> str:
        found = re.search(self.shapes, verdict.shape)
        return found[1] if found and found.groups() and found[1] else verdict.shape


#: Numbers of arguments and overloads that represent all others.
COUNTS = (
    r"^(?!.*\b(2|4|5|6|7|9|1\d) ints|.*\b(1|2|5|8|20) (keywords|defaults|arguments)|f\(\*|overload [2-7])"
)
CONTAINERS = "sequences|mappings|sets"

PICTURES = (
    Picture("calls", "Ways of calling", COUNTS, "^(calls|classes|members)$"),
    Picture("scalars", "A value as argument", r"^nop\((.*)\)", "^(numbers|NumPy scalars|text|indices)$"),
    Picture("containers", "A container as argument", r"^nop\((.*)\)", f"^({CONTAINERS})$"),
    Picture(
        "objects", "An object as argument", r"^nop\((.*)\)", "^(arrays|runtime objects|passed again|objects)$"
    ),
    Picture("results", "Results and to_python", "1,000", "^(results|to_python)$"),
    *(
        Picture(
            name.lower(), f"Methods of {name}, 1,000 ints", f"^{name} of ints: (.*), n=1,000$", f"^{name}\\."
        )
        for name in ("Array", "List", "Dict", "Set")
    ),
    Picture("tensors", "Tensors", "", "^tensors$"),
    Picture("inside", "In C++", "", r"^C\+\+$"),
)


def rows_of(picture: Picture, verdicts: list[Verdict]) -> list[Verdict]:
    """Select the verdicts for a plot: laws about time, for shapes that were compared."""
    return [
        each
        for each in verdicts
        if each.times.get("anyffi")
        and not each.law.startswith(("growth", "modes"))
        and re.search(picture.shapes, each.shape)
        and re.search(picture.groups, each.group)
    ]


def draw_rows(pyplot: Any, picture: Picture, rows: list[Verdict], path: pathlib.Path) -> None:
    """Draw a row per shape, in nanoseconds; labels of shapes that exceed their laws are red."""
    figure, axes = pyplot.subplots(figsize=(7, 0.9 + 0.15 * len(rows)))
    contenders = dict.fromkeys(name for each in rows for name in each.times)
    for contender in sorted(contenders, key="anyffi".__eq__):
        places = [(each.times[contender], i) for i, each in enumerate(rows) if contender in each.times]
        size = 24 if contender == "anyffi" else 13
        axes.scatter(*zip(*places), s=size, label=contender, color=COLOURS.get(contender), zorder=2)
    limits = [(limit, i) for i, each in enumerate(rows) if (limit := limit_of(each)) is not None]
    if limits:
        axes.scatter(*zip(*limits), s=40, marker="|", color="black", linewidth=0.8, label="limit", zorder=3)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [picture.label(each) for each in rows], fontsize=6)
    for label, each in zip(axes.get_yticklabels(), rows):
        label.set_color(EXCEEDS if each.excess > 1 else "black")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="both", color="#eeeeee", zorder=0)
    axes.set_xlabel("nanoseconds")
    axes.set_title(picture.title, loc="left")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    save(pyplot, figure, path)


def limit_of(verdict: Verdict) -> float | None:
    """Return the limit for anyffi, in nanoseconds."""
    theirs = verdict.times.get(verdict.law.partition(", ")[2])
    return theirs * verdict.limit if theirs else None


def section_of(verdict: Verdict) -> str:
    """Return the row of the overview that a shape belongs to: its law and its group or class."""
    law = verdict.law.partition(",")[0]
    if law in ("growth", "modes"):
        return law
    group = verdict.group.partition(".")[0]
    return group.partition(", ")[0]


def draw_overview(pyplot: Any, verdicts: list[Verdict], path: pathlib.Path) -> None:
    """Draw every shape as a dot, at its ratio to its limit."""
    sections: dict[str, list[Verdict]] = {}
    for each in verdicts:
        if each.ratio is not None:
            sections.setdefault(section_of(each), []).append(each)
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.25 * len(sections)))
    for exceeds, colour in ((False, HOLDS), (True, EXCEEDS)):
        places = [
            # Shapes at the same position are spread over the height of the row.
            (min(each.excess, 1e6), i + (j % 9 - 4) * 0.07)
            for i, members in enumerate(sections.values())
            for j, each in enumerate(members)
            if (each.excess > 1) == exceeds
        ]
        if places:
            axes.scatter(*zip(*places), s=3, color=colour, linewidth=0, zorder=2, rasterized=True)
    holding = [sum(each.holds for each in members) for members in sections.values()]
    labels = [f"{name}: {n} of {len(sections[name])}" for name, n in zip(sections, holding)]
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(sections)), labels, fontsize=7)
    axes.set_ylim(len(sections) - 0.5, -0.5)
    axes.grid(axis="x", color="#eeeeee", zorder=0)
    axes.set_xlabel("time beside the law's limit: left of 1 the law holds")
    axes.set_title("Shapes that hold their law", loc="left")
    save(pyplot, figure, path)


def draw(verdicts: list[Verdict], folder: pathlib.Path) -> None:
    """Draw the overview and each picture that has rows."""
    pyplot = load_pyplot()
    if pyplot is None:
        print("Not drawn: pictures: Matplotlib is not installed")
        return
    if verdicts:
        draw_overview(pyplot, verdicts, folder / "map.svg")
    for picture in PICTURES:
        if rows := rows_of(picture, verdicts):
            draw_rows(pyplot, picture, rows, folder / f"map-{picture.name}.svg")
