"""Disparities: how far an estimate is from "no difference", whether significantly, and adjusted.

Which side of a comparison is worse off follows from what is better for a person: the user's to
state (``favourable``), or that of the rate. These functions read estimates and compute nothing new,
so that every format may ask them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, cast

from fairgauge.catalogue import distributions
from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Cells
from fairgauge.catalogue.comparisons import Contrast, Imbalance, Metric, RowMetric
from fairgauge.catalogue.lookup import selections_called
from fairgauge.catalogue.score_statistics import Mean
from fairgauge.catalogue.statistics import Quotient, Rate, Statistic, tested_as
from fairgauge.enums import AfterAdjusting, Better, Favourable, ReferenceKind, ScopeKind, Status
from fairgauge.errors import alternatives, quote
from fairgauge.reasons import ReasonCode
from fairgauge.results.estimates import DisparityChange, Estimate
from fairgauge.results.scopes import OVERALL, ClassScope
from fairgauge.start.records import replace
from fairgauge.values import name_of

LITTLE = 0.1
"""The change-in-estimate criterion: adjusting by less than a tenth changes an estimate little."""
_LACKING = {
    ReasonCode.OUTCOMES_MISSING: AfterAdjusting.LACKS_OUTCOMES,
    ReasonCode.GROUPS_MISSING: AfterAdjusting.LACKS_GROUPS,
}
NOTHING_CONCLUDED = (AfterAdjusting.LEAVES_OUT, AfterAdjusting.NOT_COMPARABLE, *_LACKING.values())
_OF_OTHER_ROWS = (ReasonCode.STRATA_MISSING, ReasonCode.FEW_COMPARED, *_LACKING)
"""Why nothing is concluded from an adjusted comparison, however small its p-value is."""
LEAST_COMMON = 0.5
"""The share of a side in strata that both have below which nothing is decided, nor extrapolated."""
NOTED_ALONE = 0.1
"""The share of a side in strata of one side alone from which it is stated."""


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


def gap(each: Estimate) -> float:
    """Return the rate of a group less that of its reference, whichever way a metric contrasts them.

    Of a ratio without rates it is how far it is from 1; of what has a range alone, of its middle.
    """
    value, row = each.value or 0.0, each.definition
    if each.value is None and each.interval is not None:
        value = (each.interval.low + each.interval.high) / 2
    if not is_ratio(row):
        return -value if is_reference_first(row) else value
    if each.rate_group is None or each.rate_reference is None:
        return value - 1.0
    return each.rate_group - each.rate_reference


def is_reference_first(row: Metric | Statistic) -> bool:
    """Return whether a metric is the difference of the reference and the group: a vendor's."""
    return isinstance(row, Contrast) and row.by == "difference" and row.order == "reference - group"


def distance(each: Estimate) -> float:
    """Return how far an estimate is from "no difference"; a ratio as far as its inverse.

    An infinite value means that a count is 0, not how a group fares: it stands last.
    """
    value, middle = each.value or 0.0, each.definition.neutral
    if math.isinf(value):
        return -1.0
    if middle == 1:
        return abs(math.log(value)) if value > 0 else math.inf
    return abs(value if math.isnan(middle) else value - middle)


def with_joint_interval(each: Estimate) -> Estimate:
    """Return an estimate as the most extreme of several: with its joint interval, or none.

    The largest of several is partly sampling error, which a single interval does not cover.
    Those of protected counts hold for every table that agrees with the counts.
    """
    interval = each.interval if each.bounds is not None else None
    return replace(each, interval=each.simultaneous or interval)


def is_significant(each: Estimate) -> bool:
    """Return whether an estimate differs significantly from none, judged with all others.

    What is in no family does not, nor an adjusted comparison of too few, or other, rows.
    """
    if each.p_adjusted is None or each.confidence is None or is_of_other_rows(each):
        return False
    if each.simultaneous is not None:
        return each.definition.neutral not in each.simultaneous
    return each.p_adjusted <= 1 - each.confidence


def is_of_other_rows(each: Estimate) -> bool:
    """Return whether nothing is concluded from an adjusted comparison, for the rows that it has."""
    return each.reason is not None and each.reason.code in _OF_OTHER_ROWS


def after_adjusting(overall: Estimate, adjusted: Estimate) -> AfterAdjusting | None:
    """Return what becomes of a significant difference, None where it is not significant overall.

    One that is no longer significant has disappeared only where the adjusted interval excludes the
    value of all rows: otherwise the strata may merely have cost precision. Nothing is concluded
    where rows that lack something could change what is shown, or over half of a side is alone.
    """
    if overall.value is None or adjusted.value is None:
        return None
    if adjusted.reason is not None and adjusted.reason.code is ReasonCode.STRATA_MISSING:
        return AfterAdjusting.LEAVES_OUT
    if min(shares_compared(overall, adjusted)) < LEAST_COMMON:
        return AfterAdjusting.NOT_COMPARABLE
    if adjusted.reason is not None and adjusted.reason.code in _LACKING:
        return _LACKING[adjusted.reason.code]
    if not is_significant(overall):
        return None
    neutral = overall.definition.neutral
    if is_significant(adjusted):
        opposite = (overall.value - neutral) * (adjusted.value - neutral) < 0
        return AfterAdjusting.REVERSES if opposite else AfterAdjusting.REMAINS
    interval = adjusted.simultaneous or adjusted.interval
    if interval is not None and overall.value not in interval:
        return AfterAdjusting.DISAPPEARS
    before, after = overall.value - neutral, adjusted.value - neutral
    if is_ratio(overall.definition):
        before, after = log_of(overall.value / neutral), log_of(adjusted.value / neutral)
    little = math.isfinite(before) and abs(after - before) <= LITTLE * abs(before)
    return AfterAdjusting.CHANGES_LITTLE if little else AfterAdjusting.NOT_SIGNIFICANT


def shares_compared(overall: Estimate, adjusted: Estimate) -> tuple[float, float]:
    """Return the shares of a group and of its reference that are in strata with both."""
    sizes = (adjusted.n_group, overall.n_group), (adjusted.n_reference, overall.n_reference)
    group, reference = (n / of if n is not None and of else 1.0 for n, of in sizes)
    return group, reference


def shown_adjusted_alone(estimates: Sequence[Estimate]) -> list[tuple[Estimate, Estimate]]:
    """Return what differs adjusted for the strata and not over all rows, with both, largest first.

    Of the difference and the ratio of a rate it is the one that comes first, of its odds the rate.
    """
    pooled = [e for e in estimates if e.scope.kind is ScopeKind.POOLED and is_significant(e)]
    if not pooled:
        return []
    overall = {each.key: each for each in estimates if each.scope.kind is ScopeKind.OVERALL}
    found: dict[tuple[object, ...], tuple[Estimate, Estimate]] = {}
    for each in _contrasts(pooled):
        whole = overall.get(replace(each, scope=OVERALL).key)
        if whole is not None and not is_significant(whole):
            found.setdefault(_comparison_key(each), (whole, each))
    return sorted(found.values(), key=lambda pair: -abs(gap(pair[1])))


def _contrasts(estimates: Iterable[Estimate]) -> list[Estimate]:
    compared = [e for e in estimates if isinstance(e.definition, Contrast) and e.mirror_of is None]
    return sorted(compared, key=lambda e: not isinstance(cast(Contrast, e.definition).of, Rate))


def _comparison_key(each: Estimate) -> tuple[object, ...]:
    assert isinstance(each.definition, Contrast)
    return tested_as(each.definition.of), each.feature, each.group, each.class_scope, each.threshold


def with_both_sides(inside: Iterable[Estimate]) -> list[Estimate]:
    """Return the comparisons in strata that have rows of both sides: in others none is tested."""
    return [each for each in inside if each.n_group and each.n_reference]


def significant_strata(inside: Sequence[Estimate], tests: int | None = None) -> list[Estimate]:
    """Return the strata in which a comparison is significant, adjusted for all (Bonferroni).

    ``tests`` is how many are tested together, None where it is these.
    """
    tests = tests or len(with_both_sides(inside))
    tested = ((e, e.p_value) for e in inside if e.status is Status.OK and e.p_value is not None)
    return [each for each, p in tested if tests * p <= 1 - (each.confidence or 1)]


def not_shown_over_all(estimates: Iterable[Estimate]) -> list[tuple[Estimate, list[Estimate]]]:
    """Return the comparisons that show none over all rows, each with the strata that differ."""
    found: dict[tuple[object, ...], tuple[Estimate, list[Estimate]]] = {}
    compared = _contrasts(estimates)
    reasons = ((each, each.reason) for each in compared if each.reason is not None)
    decided = {_comparison_key(e) for e, of in reasons if of.code is ReasonCode.STRATA_DECIDE}
    for each in compared:
        key = _comparison_key(each)
        if each.scope.kind is ScopeKind.OVERALL:
            found.setdefault(key, (each, []))
        elif each.scope.kind is ScopeKind.STRATUM and key in found:
            overall, strata = found[key]
            strata += with_both_sides([each]) if each.metric == overall.metric else []
    inside = [each for key, each in found.items() if each[1] and key not in decided]
    tests = sum(len(strata) for _, strata in inside)
    none = [each for each in inside if not is_significant(each[0])]
    return [(overall, significant_strata(strata, tests)) for overall, strata in none]


def log_of(ratio: float) -> float:
    """Return the logarithm of a ratio, which may be 0."""
    return math.log(ratio) if ratio > 0 else -math.inf


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
    """Return the rates of decisions in words of harm, where the positive one is: not "selected"."""
    column, values = spec.get("prediction"), spec.get("positive") or [1]
    words = spec.get("words") or {}
    event, opposite = words.get("positive"), words.get("negative")
    if favourable_of(spec) is not Favourable.NEGATIVE or spec.get("preset"):
        return ()
    if event or opposite:
        return selections_called(event or f"not {opposite}", opposite or f"not {event}", "is")
    if not column or not isinstance(values, (list, tuple)):
        return ()
    named = alternatives(map(name_of, values))
    first, second = (quote(f"{column} {which} {named}")[1:-1] for which in ("=", "other than"))
    return selections_called(first, second, "has", quoted="“{}”")


def favourable_in(favourable: Favourable, scope: ClassScope) -> Favourable:
    """Return what is better in one class: which of several classes is better nobody stated."""
    return favourable if scope.name is None else Favourable.NEITHER


def better_of(row: Statistic, favourable: Favourable | None) -> Better:
    """Return which direction of a number favours a group, by what is favourable for a person.

    Of a mean of the table's own numbers only the user states it: a price, or a pay.
    """
    if isinstance(row, Mean) and row.better is Better.NEITHER:
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
    good = favourable is Favourable.POSITIVE
    if row.among == (TN + FP if good else TP + FN):
        return 0  # a favourable decision in spite of the outcome may be a gift or a burden
    return -1 if good == (event == TP + FP) else 1


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


def other_group(
    groups: Iterable[tuple[str, str]], contrast: Estimate | DisparityChange
) -> str | None:
    """Return the one group that a group is compared with: of two groups all others are one.

    None where it is compared with several together. ``groups`` are features with their groups.
    """
    reference = contrast.reference
    if reference is None or reference.kind is not ReferenceKind.OTHERS:
        return None if reference is None else reference.group
    others = (g for feature, g in groups if feature == contrast.feature and g != contrast.group)
    only = next(others, None)
    return only if all(each == only for each in others) else None
