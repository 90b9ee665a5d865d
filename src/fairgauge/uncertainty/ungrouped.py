"""Ungrouped: how far a contrast could move, whichever groups the rows without one are in.

Manski's worst cases: every unknown success may be of the group and every unknown failure of the
rest, or the other way round. Nothing is assumed of why a group is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.estimate import Diagnostic, Ungrouped
from fairgauge.metrics.comparisons import Contrast
from fairgauge.metrics.kinds import Rate
from fairgauge.sides import Sides
from fairgauge.stats.arrays import quotient
from fairgauge.stats.effective import missing_bounds, missing_difference_bounds
from fairgauge.words import Level, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairgauge.estimate import Compared
    from fairgauge.metrics.comparisons import Metric
    from fairgauge.metrics.side import Side
    from fairgauge.reading import Reading
    from fairgauge.sides import Measure
    from fairgauge.spec import Spec
    from fairgauge.stats.arrays import Limits
    from fairgauge.tally import Tally

_FEW = 0.01


def missing_groups(counted: Tally) -> Iterator[Diagnostic]:
    """Say which share of the rows is in no group because a feature is missing."""
    rows = _unknown_rows(counted)
    if not rows:
        return
    every = rows + int(counted.counts["rows"][:, 0].sum())
    message = (
        f"{rows / every:.1%} of the rows ({rows:,} of {every:,}) have no {counted.feature} and are "
        "in no group; a rule on a rate against the rest passes or fails only if it would whichever "
        "groups they are in"
    )
    level = Level.NOTE if rows / every < _FEW else Level.WARNING
    yield Diagnostic(level, "missing groups", message, counted.feature)


def ungrouped(
    counted: Tally, reads: Sequence[Reading], metrics: Iterable[Metric], spec: Spec
) -> dict[Compared, Ungrouped]:
    """Return the worst cases of the contrasts of shares with the rest, over all rows.

    Parameters
    ----------
    metrics : those that a rule is about; others than contrasts of shares are passed over.
    """
    rows = _unknown_rows(counted)
    contrasts = [m for m in metrics if isinstance(m, Contrast) and isinstance(m.of, Rate)]
    if not rows or not contrasts or not _with_rest(counted, spec):
        return {}
    found: dict[Compared, Ungrouped] = {}
    for reading in reads:
        group, rest, unknown = _sides(counted, reading, spec)
        for metric in contrasts:
            low, high = worst_cases(metric, group, rest, unknown)
            threshold = reading.threshold if "prediction" in metric.needs else None
            for i, name in enumerate(counted.groups):
                key = (metric.name, counted.feature, name, reading.class_, threshold)
                found[key] = Ungrouped(float(low[i]), float(high[i]), rows)
    return found


def worst_cases(metric: Contrast, group: Side, rest: Side, unknown: Side) -> Limits:
    """Return the least and the greatest value of a contrast of shares with the rest.

    Both are attained: the same assignment takes one side as low and the other as high as it can be.
    """
    assert isinstance(metric.of, Rate)
    of, among, needs = metric.of.of, metric.of.among, metric.of.needs
    sides = (group, rest) if metric.order == "group - reference" else (rest, group)
    (x1, n1), (x2, n2), (x, n) = (
        (of.count(side.counts(needs)), among.count(side.counts(needs)))
        for side in (*sides, unknown)
    )
    if metric.by == "difference":
        return missing_difference_bounds(x1, n1, x2, n2, x, n)
    low1, high1 = missing_bounds(x1, n1, x, n)
    low2, high2 = missing_bounds(x2, n2, x, n)
    low, high = quotient(low1, high2), quotient(high1, low2)
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), np.inf, high)


def _with_rest(counted: Tally, spec: Spec) -> bool:
    if isinstance(spec.reference, tuple):
        return counted.named_reference not in counted.groups
    return spec.reference is Reference.REST


def _unknown_rows(counted: Tally) -> int:
    return int(counted.unknown["rows"].sum())


def _sides(counted: Tally, reading: Reading, spec: Spec) -> tuple[Side, Side, Side]:
    """Return every group, the rest of each, and the rows without a group."""
    measure: Measure = "w" if counted.weighted else "n"
    alone = {name: counts[None, None] for name, counts in counted.unknown.items()}
    without = replace(counted, groups=(), strata=(), counts=alone, histogram=None)
    sides, others = (Sides(each, reading, spec.profile, (), measure) for each in (counted, without))
    groups = np.arange(len(counted.groups))
    margin = np.zeros_like(groups)
    return (
        sides.pick(groups, margin),
        sides.pick(sides.rest + groups, margin),
        others.pick(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)),
    )
