"""Reports: results as text and in Markdown."""

from __future__ import annotations

import dataclasses
from typing import Any

from .bars import BARS, LIMITS, Table


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A bar and the measured value; None if something that it needs is missing."""

    section: str
    text: str
    limit: float
    value: float | None
    instructions: float | None
    holds: bool

    @property
    def word(self) -> str:
        return "?" if self.value is None else "pass" if self.holds else "MISS"


def judge(result: dict[str, Any]) -> list[Verdict]:
    """Judge every bar whose row or figure was measured."""
    verdicts = []
    for section, bars in BARS.items():
        table: Table = result["times"].get(section, {})
        for bar in bars:
            if bar.row not in table:
                continue
            ratio = bar.ratio(table)
            counted = bar.ratio(result["instructions"].get(section, {}))
            holds = ratio is not None and ratio <= bar.limit
            verdicts.append(Verdict(section, bar.text, bar.limit, ratio, counted, holds))
    for limit in LIMITS:
        if limit.figure in result["figures"]:
            value = result["figures"][limit.figure]
            verdicts.append(
                Verdict("figures", limit.text, limit.limit, value, None, limit.holds(value)),
            )
    return verdicts


def show(number: float | None) -> str:
    """Format a number with about three digits."""
    if number is None:
        return ""
    return (
        f"{number:,.0f}" if abs(number) >= 100 else f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
    )


def columns(table: Table) -> list[str]:
    """List the contenders that were measured."""
    return list(dict.fromkeys(contender for row in table.values() for contender in row))


def table_lines(table: Table) -> list[str]:
    """Format a table: a line per row, a column per contender."""
    names = columns(table)
    width = max([len(name) for name in table], default=0)
    lines = [" " * width + "".join(f"{name:>11}" for name in names)]
    for row, found in table.items():
        lines.append(f"{row:{width}}" + "".join(f"{show(found.get(name)):>11}" for name in names))
    return lines


def verdict_lines(verdicts: list[Verdict]) -> list[str]:
    """Format a line per bar: the ratio or figure, and the ratio of instructions in brackets."""
    lines = []
    for verdict in verdicts:
        counted = f"({show(verdict.instructions)})" if verdict.instructions is not None else ""
        value = f"{show(verdict.value):>8} {counted:9}"
        lines.append(f"{verdict.word:4} {value} {verdict.section:8}{verdict.text}")
    return lines


def markdown_table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def markdown_of(table: Table) -> list[str]:
    names = columns(table)
    rows = [[row, *(show(found.get(name)) for name in names)] for row, found in table.items()]
    return markdown_table(["", *names], rows)


def markdown(result: dict[str, Any], verdicts: list[Verdict]) -> str:
    """Format the whole report."""
    about = {**result["about"], "versions": ", ".join(f"{k} {v}" for k, v in result["versions"].items())}
    lines = ["# Results", "", *(f"- {what}: {value}" for what, value in about.items()), ""]
    lines += [f"- not measured: {what}: {reason}" for what, reason in result["missing"].items()]
    lines += ["", "## Bars", ""]
    rows = [
        [each.text, each.section, show(each.value), show(each.instructions), each.word] for each in verdicts
    ]
    lines += markdown_table(["bar", "table", "measured", "instructions", "verdict"], rows)
    for curves in result["growth"]:
        lines += ["", f"## {curves['name']}: nanoseconds by number of {curves['axis']}", ""]
        places = list(dict.fromkeys(place for times in curves["series"].values() for place in times))
        series = curves["series"].items()
        rows = [[name, *(show(times.get(place)) for place in places)] for name, times in series]
        lines += markdown_table(["", *(f"{int(place):,}" for place in places)], rows)
    for title, tables in (("nanoseconds", result["times"]), ("instructions", result["instructions"])):
        for section, table in tables.items():
            lines += ["", f"## {section}, {title}", "", *markdown_of(table)]
    return "\n".join(lines) + "\n"
