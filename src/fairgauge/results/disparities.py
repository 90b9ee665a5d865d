"""Disparities: how far an estimate is from "no difference", whether significantly, and adjusted.

These functions read estimates and compute nothing new, so that every format may ask them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from fairgauge.catalogue.directions import is_ratio, is_reference_first
from fairgauge.enums import AfterAdjusting, Favourable, ReferenceKind
from fairgauge.reasons import ReasonCode
from fairgauge.results.estimates import DisparityChange, Estimate
from fairgauge.results.scopes import ClassScope
from fairgauge.start.records import replace

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


def log_of(ratio: float) -> float:
    """Return the logarithm of a ratio, which may be 0."""
    return math.log(ratio) if ratio > 0 else -math.inf


def favourable_in(favourable: Favourable, scope: ClassScope) -> Favourable:
    """Return what is better in one class: which of several classes is better nobody stated."""
    return favourable if scope.name is None else Favourable.NEITHER


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
