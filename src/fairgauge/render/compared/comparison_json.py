"""A comparison for programs: strict JSON, and a row of CSV for every disparity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.render.estimate_rows import cell

if TYPE_CHECKING:
    from fairgauge.comparison.changes import Change
    from fairgauge.comparison.comparison import Comparison
    from fairgauge.render.estimate_rows import Cell

_WHICH = ("metric", "feature", "group", "stratum", "class", "threshold")
_SEEN = ("value", "low", "high", "reference", "n_group", "n_reference", "status")
_CHANGE = ("by", "change", "low", "high", "p_value", "p_adjusted", "direction")
COLUMNS = (
    *_WHICH,
    *(f"{side}_{name}" for side in ("old", "new") for name in _SEEN),
    *(name if name not in ("low", "high") else f"change_{name}" for name in _CHANGE),
    "crossed", "beyond_doubt", "reason",
)  # fmt: skip
"""The columns of a row of CSV, in order."""


def to_json(comparison: Comparison, *, indent: int | None = 2) -> str:
    """Write the comparison as strict JSON; names stay as they are in the data."""
    return comparison.to_json(indent) + "\n"


def to_csv(comparison: Comparison) -> str:
    """Write every change as a row of CSV; texts can do no harm in a spreadsheet."""
    lines = [",".join(COLUMNS)]
    lines += [",".join(map(cell, _row(each))) for each in comparison.changes]
    return "\n".join(lines) + "\n"


def _row(each: Change) -> list[Cell]:
    return [
        *(getattr(each, "class_" if name == "class" else name) for name in _WHICH),
        *(getattr(side, name) for side in (each.old, each.new) for name in _SEEN),
        *(getattr(each, name) for name in _CHANGE),
        "yes" if each.crossed else "no",
        "yes" if each.sure else "no",
        each.reason,
    ]
