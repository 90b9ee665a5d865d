"""Comparisons again, where outcomes that one side lacks more often, or groups, are filled in.

A difference within strata is stated as shown only if it would be, whatever these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import ScopeKind, WhyInconclusive
from fairgauge.inference.filled_outcomes import filled_both_ways, placed_both_ways
from fairgauge.inference.missing_values import differs_without_group, share_of
from fairgauge.measure._gap_sides import comparison_of, numbers_of_sides
from fairgauge.measure.slices import Compared, Slice
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts
from fairgauge.results.disparities import is_significant
from fairgauge.results.estimates import Estimate
from fairgauge.stats.arrays import Index


def could_be_undone(
    estimate: Estimate,
    part: Slice,
    shown: Callable[[Slice, Compared], bool],
    columns: Iterable[Index] = (),
) -> WhyInconclusive | None:
    """Return what is missing that could leave a difference not shown; None where nothing could.

    It is the outcomes that one side lacks more often, or the groups of rows without one that have
    other rates than the others, over all rows or within strata: all may be of one side. Where they
    have higher rates within strata than both sides, or lower ones, no mixture of these, those with
    a favourable outcome may be of one side and the others of the other.

    Parameters
    ----------
    shown : decides it of counts in which these are filled in, for the one comparison.
    columns : the level of every stratum in each column that strata cross.
    """
    assert isinstance(estimate.definition, Contrast)
    sides, of, masks = numbers_of_sides(estimate, part), estimate.definition.of, part.outcome
    compared = comparison_of(estimate, part)

    def holds(filled: list[GroupCounts] | None) -> bool:
        return filled is not None and all(
            shown(Slice(counts, masks, part.spec), compared) for counts in filled
        )

    if not holds(filled_both_ways(part.counts, masks, of, sides, part.spec)):
        return WhyInconclusive.MISSING_OUTCOMES
    unlike = part.counts, masks, share_of(of) or of, part.spec, [*columns]
    if differs_without_group(*unlike):
        apart = differs_without_group(*unlike, sides)
        placed = (
            placed_both_ways(part.counts, masks, of, sides, apart=each) for each in {False, apart}
        )
        if not all(map(holds, placed)):
            return WhyInconclusive.MISSING_GROUPS
    return None


def concluded_whatever_is_missing(
    estimates: Iterable[Estimate], slices: Sequence[Slice], level: float
) -> Iterator[Estimate]:
    """Yield estimates; of those adjusted for strata that what is missing could undo, none counts.

    They are tested again at the ``level`` at which all comparisons hold together. Nor does one
    count that shows no difference where rows without a group have other rates than the others.
    """

    @cache
    def unlike(part: Slice, of: Statistic) -> bool:
        return differs_without_group(part.counts, part.outcome, of, part.spec)

    def missing(each: Estimate, part: Slice) -> ReasonCode | None:
        assert isinstance(each.definition, Contrast)
        if is_significant(each):
            undone = could_be_undone(each, part, partial(_is_shown, each, level))
            return None if undone is None else _MISSING[undone]
        without = each.reason is None and each.value is not None
        return ReasonCode.GROUPS_MISSING if without and unlike(part, each.definition.of) else None

    for each in estimates:
        adjusted = each.scope.kind is ScopeKind.POOLED and isinstance(each.definition, Contrast)
        counted = [part for part in slices if _is_of(each, part)] if adjusted else []
        code = missing(each, counted[0]) if counted else None
        yield each if code is None else replace(each, reason=Reason.of(code))


_MISSING = {
    WhyInconclusive.MISSING_OUTCOMES: ReasonCode.OUTCOMES_MISSING,
    WhyInconclusive.MISSING_GROUPS: ReasonCode.GROUPS_MISSING,
}


def _is_of(each: Estimate, part: Slice) -> bool:
    named = part.counts.feature, part.outcome.class_scope.name
    at = part.outcome.threshold
    return (each.feature, each.class_scope.name) == named and each.threshold in (None, at)


def _is_shown(each: Estimate, level: float, filled: Slice, compared: Compared) -> bool:
    (found,) = filled.pooled(each.definition, compared=compared)
    neutral, value = each.definition.neutral, found.value
    if value is None or (value > neutral) != ((each.value or 0.0) > neutral):
        return False
    if found.key not in filled.together:
        return found.p_value is not None and found.p_value <= 1 - level
    limits, at = filled.together[found.key]
    low, high = limits(level)
    return not low[at] <= neutral <= high[at]
