"""What was measured, as text for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.measure import Cost


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
    """Measurements that belong together."""

    title: str
    lines: list[Line]


_HEAD = ("", "CPU", "wall", "CPU a row", "memory", "", "target", "")


def shown(section: Section) -> str:
    """Return a section for a terminal."""
    rows = [_HEAD, *(line.cells() for line in section.lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    texts = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    return "\n".join(["", section.title, *(f"  {text}" for text in texts)])
