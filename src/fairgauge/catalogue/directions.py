"""What metrics compare, and which direction of it is the better one for a person.

It follows from what is better for a person: the user's to state (``favourable``), or the rate's.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from fairgauge.catalogue import distributions
from fairgauge.catalogue.across import DifferentialFairness, Spread
from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Cells, ConfusionCounts
from fairgauge.catalogue.comparisons import Contrast, Imbalance, Metric, RowMetric
from fairgauge.catalogue.lookup import find_rate, selections_called
from fairgauge.catalogue.score_statistics import Mean, ScoreMean
from fairgauge.catalogue.statistics import Quotient, Rate, Statistic, tested_as
from fairgauge.enums import Better, Favourable, Profile, Task
from fairgauge.errors import alternatives, quote
from fairgauge.start.records import replace
from fairgauge.values import name_of


def disparity(row: Metric | Statistic) -> Hashable:
    """Return what differs, the same of metrics that are functions of one another.

    These are a share's difference, ratio, odds and standardised difference, the distances of two
    distributions of two values, and the forms of a quantile or a list's top.
    """
    if isinstance(row, Statistic):
        return tested_as(row)
    if isinstance(row, RowMetric) and (row.q is not None or row.kind == "top"):
        return row.q, row.top, row.percent
    if isinstance(row, distributions.OverallStandardisedMean):
        return tested_as(row.of)
    if isinstance(row, distributions.Distance | distributions.OverallStandardisedDifference):
        of_label = isinstance(row, distributions.Distance) and row.of == "label"
        parts = (TP + FN, TN + FP) if of_label else (TP + FP, TN + FN)
        return frozenset(parts)
    if isinstance(row, Imbalance):
        return type(row).__name__
    tests = frozenset(map(tested_as, row.statistics if isinstance(row, Metric) else ()))
    return tests if len(tests) > 1 else next(iter(tests), row.name)


def compared_number(metric: object) -> Statistic | None:
    """Return the number of groups that a metric compares, or is; None of rows, or all at once."""
    of = metric.of if isinstance(metric, Contrast) else metric
    return of if isinstance(of, Statistic) else None


def is_ratio(row: Metric | Statistic) -> bool:
    """Return whether a metric is the ratio of a number of a group to that of its reference."""
    if isinstance(row, RowMetric):
        return row.is_ratio
    return isinstance(row, Contrast) and row.by == "ratio"


def is_reference_first(row: Metric | Statistic) -> bool:
    """Return whether a metric is the difference of the reference and the group: a vendor's."""
    return isinstance(row, Contrast) and row.by == "difference" and row.order == "reference - group"


AMOUNTS = {Favourable.HIGHER: -1, Favourable.LOWER: 1}
"""The sign of a difference of amounts to the disadvantage of a group, by what is better."""
OPPOSITES = {TP + FP: TN + FN, TN + FN: TP + FP, TP + FN: TN + FP, TN + FP: TP + FN}
"""The decisions and the outcomes, each with its opposite."""
_SIGN_OF_RATE = {Better.HIGHER: -1, Better.LOWER: 1, Better.NEITHER: 0}
_TURNED = {Better.HIGHER: Better.LOWER, Better.LOWER: Better.HIGHER}
_OF_AMOUNTS = {Favourable.HIGHER: Better.HIGHER, Favourable.LOWER: Better.LOWER}


def favourable_of(spec: Mapping[str, Any]) -> Favourable:
    """Return what is better for a person, as a result was asked."""
    return Favourable(spec.get("favourable") or Favourable.POSITIVE)


def harm_in_words(spec: Mapping[str, Any]) -> tuple[Statistic, ...]:
    """Return the rates of decisions in words of harm, where the positive one is: not "selected".

    Of people who count once, an outcome is one that they had at least once.
    """
    column, values = spec.get("prediction"), spec.get("positive") or [1]
    words = spec.get("words") or {}
    event, opposite = words.get("positive"), words.get("negative")
    people = spec.get("person") and spec.get("per_person") != "each"
    once, always, quoted = (" at least once", " every time", "“{}”") if people else ("", "", "{}")
    if spec.get("preset"):
        return ()
    harmful = favourable_of(spec) is Favourable.NEGATIVE
    if not harmful or not (event or opposite or column) or not isinstance(values, (list, tuple)):
        of_people = (("selection_rate", "selected"), ("base_rate", "positive")) if people else ()
        return tuple(replace(find_rate(name), heading=word + once) for name, word in of_people)
    if event or opposite:
        event, opposite = event or f"not {opposite}", opposite or f"not {event}"
        return selections_called(event + once, opposite + always, "is", quoted)
    named = alternatives(map(name_of, values))
    first, second = (quote(f"{column} {which} {named}")[1:-1] for which in ("=", "other than"))
    return selections_called(first + once, second + always, "has", quoted="“{}”")


def better_of(row: Statistic, favourable: Favourable | None) -> Better:
    """Return which direction of a number favours a group, by what is favourable for a person.

    Of a mean of the table's own numbers only the user states it: a price, or a pay.
    """
    if isinstance(row, (Mean, ScoreMean)) and row.better is Better.NEITHER:
        return _OF_AMOUNTS.get(favourable or Favourable.POSITIVE, Better.NEITHER)
    if favourable in (Favourable.NEGATIVE, Favourable.NEITHER) and counts_outcomes(row):
        turned = _TURNED if favourable is Favourable.NEGATIVE else {}
        return turned.get(row.better, Better.NEITHER)
    return row.better


def counts_outcomes(row: Statistic) -> bool:
    """Return whether a number only counts how often an outcome, or a decision, is positive."""
    if isinstance(row, Quotient):
        return OPPOSITES.get(row.over) == row.under
    return isinstance(row, Rate) and row.among == ALL and row.of in OPPOSITES


def has_direction(row: Statistic, favourable: Favourable | None) -> bool:
    """Return whether one direction of a rate is the worse one for a group."""
    ambivalent = row.ambivalent
    if favourable is Favourable.NEGATIVE and isinstance(row, Rate):
        ambivalent = row.among == TP + FN and event_of(row) in (TP + FP, TN + FN)
    return not ambivalent and better_of(row, favourable) is not Better.NEITHER


def favours_the_least(row: Statistic, favourable: Favourable | None) -> bool:
    """Return whether the least number is the best: of negative outcomes, such as labels, too."""
    better = better_of(row, favourable)
    if better is not Better.NEITHER:
        return better is Better.LOWER
    of_negatives = isinstance(row, Rate) and not row.of[0]
    return of_negatives != (favourable is Favourable.NEGATIVE)


def is_worse_off(row: Statistic | RowMetric, difference: float, favourable: Favourable) -> bool:
    """Return whether a difference is to the disadvantage of its group."""
    if isinstance(row, RowMetric):
        return adverse_sign(row, favourable) * difference > 0
    stated = favourable is Favourable.NEGATIVE and counts_outcomes(row)
    apart = difference if favours_the_least(row, favourable) else -difference
    return (stated or has_direction(row, favourable)) and apart > 0


def adverse_sign(row: Statistic | RowMetric, favourable: Favourable) -> int:
    """Return the sign of a difference that is to the disadvantage of a group; 0 of neither.

    Predictive values have no direction: a higher one may mean a higher bar.
    """
    if isinstance(row, RowMetric):
        if row.q is not None:  # a quantile of the table's own numbers
            return AMOUNTS.get(favourable, 0)
        good = {Favourable.POSITIVE: -1, Favourable.NEGATIVE: 1}.get(favourable, 0)
        good = -1 if favourable in AMOUNTS else good  # of scores, whose best ones are stated
        return good if row.kind in ("top", "exposure") else 0
    if not isinstance(row, Rate):
        return _SIGN_OF_RATE[better_of(row, favourable)]
    if favourable is Favourable.NEITHER or row.better is Better.NEITHER:
        return 0
    if is_of_fit(row):
        return -1 if row.of == TP + TN else 1
    event = event_of(row)
    if event not in (TP + FP, TN + FN):
        return 0
    good = favourable is not Favourable.NEGATIVE
    if row.among == (TN + FP if good else TP + FN):
        return 0  # a favourable decision in spite of the outcome may be a gift or a burden
    return -1 if good == (event == TP + FP) else 1


def adverse_end(row: Metric | Statistic, favourable: Favourable) -> int:
    """Return at which end of its numbers a group is worse off: 1 of the high one, 0 of neither.

    Of how far apart groups are, it is the end that is far from 0, or from a ratio of 1.
    """
    selected = find_rate("selection_rate")
    if isinstance(row, distributions.ConditionalDisparity) or getattr(row, "kind", "") == "flip":
        return -adverse_sign(getattr(row, "margin", selected), favourable)
    if isinstance(row, distributions.OverallStandardisedDifference):
        mean = row.of if isinstance(row, distributions.OverallStandardisedMean) else selected
        return adverse_sign(mean, favourable)
    if isinstance(row, Contrast) or (isinstance(row, Spread) and math.isnan(row.neutral)):
        turned = isinstance(row, Contrast) and row.order == "reference - group"
        return adverse_sign(row.of, favourable) * (-1 if turned else 1)
    if isinstance(row, Statistic) or (isinstance(row, RowMetric) and row.kind != "consistency"):
        return adverse_sign(row, favourable)
    return {row.range[0]: 1, row.range[1]: -1}.get(row.neutral, 0)


def event_of(row: Rate) -> Cells | None:
    """Return the sum of cells that a rate's event is among all rows: TP of TP + FN is TP + FP."""
    for event in OPPOSITES:
        both = Cells(*(a * b for a, b in zip(event, row.among, strict=True)))
        if row.among != event and both == row.of:
            return event
    return None


def is_of_fit(row: Rate) -> bool:
    """Return whether a rate is of decisions that match the outcome, or do not."""
    return row.of in (TP + TN, FP + FN)


# metrics in which every outcome counts alike, as consistency does
_OF_ALL_OUTCOMES = (DifferentialFairness, distributions.Distance)
# TP, FP, FN and TN; reversed, they are those with the other outcome as the positive one
_COUNTS = np.array([[11.0, 7.0, 5.0, 3.0]])


def depends_on_positive(row: Metric | Statistic) -> bool:
    """Return whether a metric or rate of two outcomes is another one if the other is positive.

    >>> from fairgauge.catalogue.lookup import find_rate
    >>> depends_on_positive(find_rate("selection_rate")), depends_on_positive(find_rate("accuracy"))
    (True, False)
    """
    if Task.BINARY not in row.tasks or not row.needs & {"label", "prediction"}:
        return False
    if isinstance(row, Metric):
        alike = isinstance(row, _OF_ALL_OUTCOMES) or row.name == "consistency"
        return any(map(depends_on_positive, row.statistics)) if row.statistics else not alike
    if "score" in row.needs:
        return True
    sides = (
        ConfusionCounts(size=each.sum(axis=-1), cells={row.needs: each})
        for each in (_COUNTS, _COUNTS[:, ::-1])
    )
    one, other = (row.value(side, Profile.DOCUMENTED) for side in sides)
    return not np.allclose(one, other)
