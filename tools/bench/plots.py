"""Plots of the results; none without Matplotlib."""

from __future__ import annotations

import pathlib
from typing import Any

from .bars import Table

COLOURS = {
    "anyffi": "#d62728",
    "cython": "#9467bd",
    "nanobind": "#1f77b4",
    "pybind11": "#17becf",
    "tvm-ffi": "#2ca02c",
    "cffi": "#8c564b",
    "ctypes": "#ff7f0e",
    "std": "#1f77b4",
    "raw": "#bbbbbb",
    "floor": "#777777",
    "python": "#e3b505",
    "numpy": "#e377c2",
}


def load_pyplot() -> Any:
    """Import pyplot, set up to write small and reproducible SVG files; None without Matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "anyffi", "font.size": 9})
    from matplotlib import pyplot

    return pyplot


def save(pyplot: Any, figure: Any, path: pathlib.Path) -> None:
    figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    pyplot.close(figure)


def draw_table(pyplot: Any, table: Table, title: str, unit: str, path: pathlib.Path) -> None:
    """Plot a table: a line per row and a mark per contender, on a logarithmic scale."""
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.22 * len(table)))
    contenders = list(dict.fromkeys(name for row in table.values() for name in row))
    rows = list(table)
    # anyffi last, so that its mark is on top.
    for contender in sorted(contenders, key="anyffi".__eq__):
        places = [(table[row][contender], i) for i, row in enumerate(rows) if contender in table[row]]
        size = 45 if contender == "anyffi" else 22
        axes.scatter(*zip(*places), s=size, label=contender, color=COLOURS.get(contender), zorder=2)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.grid(axis="both", color="#eeeeee", zorder=0)
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    save(pyplot, figure, path)


def draw_curves(pyplot: Any, curves: dict[str, Any], path: pathlib.Path) -> None:
    """Plot cost against size, both logarithmic: linear growth has a slope of one."""
    figure, axes = pyplot.subplots(figsize=(6, 3.2))
    for name, times in curves["series"].items():
        places = [(int(place), time) for place, time in times.items()]
        axes.plot(*zip(*places), marker="o", markersize=3, linewidth=1, label=name)
    # Linear below one, so that zero has a position.
    axes.set_xscale("symlog", linthresh=1)
    ticks = sorted({int(place) for times in curves["series"].values() for place in times})
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=7)
    axes.minorticks_off()
    axes.set_yscale("log")
    axes.grid(color="#eeeeee")
    axes.set_xlabel(curves["axis"])
    axes.set_ylabel("nanoseconds")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    save(pyplot, figure, path)


def draw(result: dict[str, Any], folder: pathlib.Path) -> None:
    """Draw a plot for each table and each set of curves."""
    pyplot = load_pyplot()
    if pyplot is None:
        print("Not drawn: plots: Matplotlib is not installed")
        return
    for unit, what in (("times", "nanoseconds"), ("instructions", "instructions")):
        for section, table in result[unit].items():
            name = f"{section.replace('+', 'p').lower()}-{what}"
            draw_table(pyplot, table, f"{section}: {what} each, less is better", what, folder / f"{name}.svg")
    for curves in result["growth"]:
        draw_curves(pyplot, curves, folder / f"growth-{curves['name']}.svg")
