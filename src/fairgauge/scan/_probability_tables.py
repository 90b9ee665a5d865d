"""What is wrong with the probabilities of groups of a row, and how their columns are named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import quote
from fairgauge.question.probabilities import Probabilities
from fairgauge.scan._sql import identifier

Floats = NDArray[np.float64]

OUTSIDE, PARTLY_MISSING, OFF = -1, -2, -3
"""What is wrong with the probabilities of a row, in place of its cell."""


def wrong_rows(p: Floats, tolerance: float) -> dict[int, NDArray[np.bool_]]:
    """Return in which rows probabilities are none, by what is wrong with them."""
    missing = np.isnan(p)
    whole = ~missing.any(axis=1)
    outside = whole & ((p < 0) | (p > 1)).any(axis=1)
    return {
        OUTSIDE: outside,
        PARTLY_MISSING: ~whole & ~missing.all(axis=1),
        OFF: whole & ~outside & (np.abs(p.sum(axis=1) - 1) > tolerance),
    }


def described(
    wrong: NDArray[np.bool_], p: Floats, feature: Probabilities, kind: int
) -> tuple[int, str] | None:
    """Return the first row that is wrong, and its probabilities."""
    found = np.flatnonzero(wrong)
    if not len(found):
        return None
    at = int(found[0])
    pairs = zip(feature.groups, p[at].tolist(), strict=True)
    shown = ", ".join(f"{g} {'missing' if np.isnan(v) else f'{v:.10g}'}" for g, v in pairs)
    total = "" if kind != OFF else f", which sum to {p[at].sum():.10g}"
    return at, shown + total


def wrong_probabilities(
    kind: int, rows: int, first: tuple[int, str] | None, feature: Probabilities
) -> str:
    """Return what is wrong with the probabilities of some rows, where, and what to do."""
    what, remedy = {
        OUTSIDE: ("{} below 0 or above 1", "a probability is between 0 and 1"),
        PARTLY_MISSING: (
            "some but not all of {} missing",
            "a row has all probabilities, or none where nothing is known of it",
        ),
        OFF: (
            "{} that do not sum to 1",
            (
                "name the column of every group; of probabilities that are "
                "rounded in print set tolerance, such as 0.001"
            ),
        ),
    }[kind]
    which = f"the first is row {first[0] + 1:,}, with {first[1]}" if first else ""
    number = f"{rows:,} {'row has' if rows == 1 else 'rows have'}"
    where = f" ({which})" if which else ""
    return f"{quote(feature.name)}: {number} {what.format('probabilities')}{where}; {remedy}"


def part_names(feature: Probabilities) -> list[str]:
    """Return the names of the columns of single probabilities, as SQL."""
    return [identifier(f"{feature.name} (probability {i})") for i in range(len(feature.columns))]
