"""Rows that are missing from a gap and may be unlike the others: whether they could turn it.

The rows that one side lacks beyond the share that the other lacks may all have one outcome, of
means be the highest or the lowest; and those without a group may all be of one side. Were any
missing row taken for any outcome and group, few gaps of ordinary data would be decided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import WhyInconclusive
from fairgauge.inference.missing_values import (
    differs_without_group,
    lacks_more,
    sides_and_unknown,
)
from fairgauge.measure._gap_sides import sums_of
from fairgauge.measure.slices import Slice
from fairgauge.resolve.sides import Measure

Values: TypeAlias = tuple[float, float]
"""The rates or means of both sides of a gap."""


@dataclass(frozen=True, slots=True)
class UnlikeRows:
    """Rows that are missing, and what a gap could be with them.

    Attributes
    ----------
    reason : what they lack.
    known : the rates or means of both sides without them.
    others : what these could be with them; nothing where that is not known.
    """

    reason: WhyInconclusive
    known: Values = (math.nan, math.nan)
    others: tuple[Values, ...] = ()

    def could_turn(self, value: float, *, ratio: bool) -> bool:
        """Return whether a difference or a ratio, moved as the gap is, could change its sign."""
        own = _apart((value, 1.0 if ratio else 0.0), ratio=ratio)
        known = _apart(self.known, ratio=ratio)
        return any((own + _apart(each, ratio=ratio) - known) * own <= 0 for each in self.others)


def _apart(values: Values, *, ratio: bool) -> float:
    """Return how far values are apart: their difference, of a ratio that of their logarithms."""
    group, reference = (
        (math.log(each) if each > 0 else -math.inf) if ratio else each for each in values
    )
    return group - reference


def unlike_rows(part: Slice, metric: Contrast, group: int, reference: int) -> Iterator[UnlikeRows]:
    """Yield the rows that are missing from the sides of a gap, if they may be unlike the others."""
    counted, of, spec = part.counts, metric.of, part.spec
    measure: Measure = "w" if counted.weighted else "n"
    sides, without = sides_and_unknown(counted, part.outcome, spec.profile, measure)
    zero = np.zeros(1, dtype=np.int64)
    (x_d, n_d, q_d), (x_a, n_a, q_a) = (
        (float(each[0]) for each in sums_of(of, sides.pick(np.array([which]), zero)))
        for which in (group, reference)
    )
    known = x_d / n_d, x_a / n_a
    more = lacks_more(counted, metric.needs, group, reference, spec)
    if more.any():
        side = int(more.argmax())
        share, value = float(more[side]), known[side]
        if isinstance(of, Rate):
            ends = (1 - share) * value, (1 - share) * value + share
        else:  # the largest share of a distribution that is this far from its mean
            variance = max(q_d / n_d - known[0] ** 2, q_a / n_a - known[1] ** 2, 0.0)
            reach = math.sqrt(variance * share / (1 - share))
            ends = value - reach, value + reach
        others = tuple((end, known[1]) if side == 0 else (known[0], end) for end in ends)
        yield UnlikeRows(WhyInconclusive.MISSING_OUTCOMES, known, others)
    if differs_without_group(counted, part.outcome, of, spec):
        x, n, _ = (float(each[0]) for each in sums_of(of, without.pick(zero, zero)))
        with_them = (x_d + x) / (n_d + n), (x_a + x) / (n_a + n)
        others = (with_them[0], known[1]), (known[0], with_them[1])
        yield UnlikeRows(WhyInconclusive.MISSING_GROUPS, known, others)
