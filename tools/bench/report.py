"""Tables of what was measured, as text."""

from __future__ import annotations

from .bars import BARS, Table


def show(number: float) -> str:
    """A number with about three digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 1 else f"{number:.2f}"


def columns(table: Table) -> list[str]:
    """Every contender that did anything."""
    return list(dict.fromkeys(contender for row in table.values() for contender in row))


def table_lines(table: Table) -> list[str]:
    """A line for each row, a column for each contender."""
    names = columns(table)
    width = max([len(name) for name in table], default=0)
    lines = [" " * width + "".join(f"{name:>12}" for name in names)]
    for row, found in table.items():
        cells = (show(found[name]) if name in found else "" for name in names)
        lines.append(f"{row:{width}}" + "".join(f"{cell:>12}" for cell in cells))
    return lines


def bar_lines(mode: str, times: Table, counted: Table) -> list[str]:
    """A line for each bar whose row was measured: pass or miss, its ratio, and that of the instructions."""
    lines = []
    for bar in BARS[mode]:
        ratio = bar.ratio(times)
        if ratio is not None:
            verdict = "pass" if ratio <= bar.limit else "MISS"
            counts = bar.ratio(counted)
            second = f"({counts:.2f})" if counts is not None else ""
            lines.append(f"{verdict}  {ratio:6.2f} {second:7} {bar.text}")
        elif bar.row in times:
            lines.append(f"  ?                    {bar.text}: not measured")
    return lines
