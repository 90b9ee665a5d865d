"""What was measured, as text for a terminal and as a page of the documentation."""

from __future__ import annotations

import datetime as dt
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.measure import Cost

_LIBRARIES = ("fairgauge", "duckdb", "numpy", "narwhals", "pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class Line:
    """One measurement, or a number that follows from some.

    Attributes
    ----------
    rows : rows that were worked on, if the cost of one is of interest.
    target, met : what was promised of the line, and whether it was kept.
    """

    what: str
    cost: Cost | None = None
    rows: int = 0
    value: str = ""
    target: str = ""
    met: bool = True

    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table: what, CPU, wall, per row, memory, value, target, verdict."""
        verdict = ("pass" if self.met else "short") if self.target else ""
        cost = self.cost
        if cost is None:
            return (self.what, "", "", "", "", self.value, self.target, verdict)
        per_row = f"{cost.cpu / self.rows * 1e9:.1f} ns" if self.rows else ""
        speed = f"{self.rows / cost.wall / 1e6:.1f} M rows/s" if self.rows else ""
        memory = f"{cost.memory / 1e6:.0f} MB" if cost.memory else ""
        times = (f"{cost.cpu:.3f} s", f"{cost.wall:.3f} s")
        return (self.what, *times, per_row, memory, self.value or speed, self.target, verdict)


@dataclass(frozen=True)
class Section:
    """Measurements that belong together, and what a reader should know of them."""

    title: str
    lines: list[Line]
    note: str = ""


_HEAD = ("", "CPU", "wall", "CPU a row", "memory", "", "target", "")


def shown(section: Section) -> str:
    """Return a section for a terminal."""
    rows = [_HEAD, *(line.cells() for line in section.lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    texts = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    return "\n".join(["", section.title, *(f"  {text}" for text in texts)])


def page(sections: list[Section]) -> str:
    """Return the page of the documentation."""
    about = (
        "Written by `make bench`. Every line is the least of several runs, each in a fresh "
        "process, ours and the peers' in turn; importing and preparing the input are not counted, "
        "but for whole commands. CPU is of all threads; memory is what the work added."
    )
    machine = (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {_processor()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}; {', '.join(_versions())}."
    )
    lines = ["# Benchmarks", "", about, "", machine]
    for section in sections:
        lines += ["", f"## {section.title}", "", _row(_HEAD), _row(("---",) * len(_HEAD))]
        lines += [_row(line.cells()) for line in section.lines]
        lines += ["", section.note] if section.note else []
    return "\n".join(lines) + "\n"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _versions() -> list[str]:
    found = []
    for library in _LIBRARIES:
        try:
            found.append(f"{library} {version(library)}")
        except PackageNotFoundError:
            found.append(f"no {library}")
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()
