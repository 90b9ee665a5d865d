"""Rows without a group: their share, and the worst cases of a contrast over their assignments.

Manski's worst cases: every unknown success may be of the group and every unknown failure of its
reference, or the other way round. Nothing is assumed of why a group is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.confusion_counts import ConfusionCounts
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import DiagnosticCode, Profile
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, known_outcome, without_group
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.sides import CountsBySide, Index, Measure
from fairgauge.results.estimates import ComparisonKey, WorstCase
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.stats.arrays import Limits, quotient
from fairgauge.stats.unknown_people import missing_bounds

_FEW = 0.01


def missing_groups(counted: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Note which share of the cases is in no group because a feature is missing.

    Cases without any outcome, which are in no rate, do not count. Where rows stand for several
    cases, it states both numbers; where there are rules, what such rows mean for them.
    """
    rows, cases = (round(without_group(counted, name)) for name in ("rows", "n"))
    if not rows:
        return
    total = round(counted.every("rows"))
    every = round(counted.every("n"))
    known = known_outcome(counted, spec)
    crossed = counted.feature_id.columns
    made = Diagnostic.note if cases / every < _FEW else Diagnostic.warning
    of_cases = {"cases": cases, "total_cases": every} if every != total else {}
    yield made(
        DiagnosticCode.MISSING_GROUPS,
        counted.feature,
        rows=rows,
        total=total,
        ruled=bool(spec.rules),
        **({"unit": "people"} if spec.of_people else {}),
        **({"known": known} if known else {}),
        **({"columns": crossed} if len(crossed) > 1 else {}),
        **of_cases,
    )


def worst_cases(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    metric: Metric,
    compared: tuple[Index, Index],
    profile: Profile,
) -> dict[ComparisonKey, WorstCase]:
    """Return the worst cases of a contrast of shares over all rows; of other metrics, none.

    Parameters
    ----------
    compared : the groups and their references, numbers as `CountsBySide` has them.
    """
    cases = round(without_group(counted, "n"))
    if not cases or not isinstance(metric, Contrast) or not isinstance(metric.of, Rate):
        return {}
    measure: Measure = "w" if counted.weighted else "n"
    sides, others = sides_and_unknown(counted, outcome, profile, measure)
    margin = np.zeros_like(compared[0])
    group, reference = (sides.pick(which, margin) for which in compared)
    unknown = others.pick(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    everyone = bool((compared[1] == sides.whole).all())
    low, high = worst_values(metric, group, reference, unknown, everyone=everyone)
    threshold = outcome.threshold if "prediction" in metric.needs else None
    return {
        (
            metric.name,
            counted.feature,
            counted.groups[at],
            OVERALL,
            outcome.class_scope,
            threshold,
        ): WorstCase(float(low[i]), float(high[i]), cases)
        for i, at in enumerate(compared[0].tolist())
    }


def most_unknown(counted: GroupCounts, outcome: OutcomeMasks, profile: Profile) -> ConfusionCounts:
    """Return the most rows without a group that protected counts allow, as one side."""
    zero = np.zeros(1, dtype=np.int64)
    return sides_and_unknown(counted, outcome, profile, "high")[1].pick(zero, zero)


def sides_and_unknown(
    counted: GroupCounts, outcome: OutcomeMasks, profile: Profile, measure: Measure
) -> tuple[CountsBySide, CountsBySide]:
    """Return the sides of comparisons, and the rows without a group as the one group there is."""
    alone = {name: counts[None, None] for name, counts in counted.unknown.items()}
    without = replace(counted, groups=(), strata=(), counts=alone, histogram=None)
    known, unknown = (
        CountsBySide(each, outcome, profile, (), measure) for each in (counted, without)
    )
    return known, unknown


def worst_values(
    metric: Contrast,
    group: ConfusionCounts,
    reference: ConfusionCounts,
    unknown: ConfusionCounts,
    *,
    everyone: bool = False,
) -> Limits:
    """Return the least and the greatest value of a contrast of shares.

    Both are attained: the same assignment takes one side as low and the other as high as it can
    be. Where the reference is ``everyone``, the unknown rows are in it, whatever their groups.
    """
    assert isinstance(metric.of, Rate)
    of, among, needs = metric.of.of, metric.of.among, metric.of.needs
    (x1, n1), (x2, n2), (x, n) = (
        (of.count(side.counts(needs)), among.count(side.counts(needs)))
        for side in (group, reference, unknown)
    )
    ours = missing_bounds(x1, n1, x, n)
    fixed = quotient(x2 + x, n2 + n)
    theirs = (fixed, fixed) if everyone else missing_bounds(x2, n2, x, n)
    return contrast_range(metric, ours, theirs)


def contrast_range(metric: Contrast, ours: Limits, theirs: Limits) -> Limits:
    """Return the ends of a contrast from those of its group's and of its reference's share."""
    first, second = (ours, theirs) if metric.order == "group - reference" else (theirs, ours)
    if metric.by == "difference":
        return first[0] - second[1], first[1] - second[0]
    low, high = quotient(first[0], second[1]), quotient(first[1], second[0])
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), np.inf, high)
