"""A comparison for programs: strict JSON, and a row of CSV for every disparity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.render.estimate_rows import cell
from fairgauge.render.reason_sentences import describe_reason
from fairgauge.report.plain_values import number, plain_estimate

if TYPE_CHECKING:
    from fairgauge.comparison.changes import Change
    from fairgauge.comparison.comparison import Comparison
    from fairgauge.render.estimate_rows import Cell

_WHICH = ("metric", "feature", "group", "scope", "stratum", "class_scope", "class", "average",
          "threshold")  # fmt: skip
_SEEN = ("value", "low", "high", "reference", "n_group", "n_reference", "status")
_CHANGE = ("by", "change", "low", "high", "p_value", "p_adjusted", "direction")
COLUMNS = (
    *_WHICH,
    *(f"{side}_{name}" for side in ("old", "new") for name in _SEEN),
    *(name if name not in ("low", "high") else f"change_{name}" for name in _CHANGE),
    "crossed", "significant", "reason",
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
    old, new = plain_estimate(each.old), plain_estimate(each.new)
    low, high = each.interval or (None, None)
    return [
        *(new[name] for name in _WHICH[:-1]),
        each.threshold,
        *(number(side[name]) for side in (old, new) for name in _SEEN),
        each.by,
        each.change,
        low,
        high,
        each.p_value,
        each.p_adjusted,
        None if each.direction is None else str(each.direction),
        "yes" if each.crossed else "no",
        "yes" if each.significant else "no",
        describe_reason(each.reason) if each.reason else None,
    ]
