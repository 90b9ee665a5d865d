"""Comparisons again, where the outcomes that one side lacks more often are filled in.

A difference within strata is stated as shown only if it would be, whatever these outcomes are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import ScopeKind
from fairgauge.inference.filled_outcomes import filled_both_ways
from fairgauge.measure._gap_sides import comparison_of, numbers_of_sides
from fairgauge.measure.slices import Compared, Slice
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.disparities import is_significant
from fairgauge.results.estimates import Estimate


def holds_filled(estimate: Estimate, part: Slice, shown: Callable[[Slice, Compared], bool]) -> bool:
    """Return whether a difference is shown, whatever outcomes one side lacks more often.

    ``shown`` decides it of counts in which these are filled in, for the one comparison.
    """
    assert isinstance(estimate.definition, Contrast)
    sides = numbers_of_sides(estimate, part)
    filled = filled_both_ways(part.counts, part.outcome, estimate.definition.of, sides, part.spec)
    compared = comparison_of(estimate, part)
    return filled is not None and all(
        shown(Slice(counts, part.outcome, part.spec), compared) for counts in filled
    )


def concluded_whatever_is_missing(
    estimates: Iterable[Estimate], slices: Sequence[Slice], level: float
) -> Iterator[Estimate]:
    """Yield estimates; of those adjusted for strata that missing outcomes could undo, none counts.

    They are tested again at the ``level`` at which all comparisons hold together.
    """
    for each in estimates:
        adjusted = each.scope.kind is ScopeKind.POOLED and isinstance(each.definition, Contrast)
        counted = [part for part in slices if _is_of(each, part)] if adjusted else []
        shown = partial(_is_shown, each, level)
        if counted and is_significant(each) and not holds_filled(each, counted[0], shown):
            yield replace(each, reason=Reason.of(ReasonCode.OUTCOMES_MISSING))
        else:
            yield each


def _is_of(each: Estimate, part: Slice) -> bool:
    """Return whether an estimate is of a slice, that of the worst class of the class that it is."""
    named = part.counts.feature, part.outcome.class_scope.name
    at = part.outcome.threshold
    return (each.feature, each.class_scope.name) == named and each.threshold in (None, at)


def _is_shown(each: Estimate, level: float, filled: Slice, compared: Compared) -> bool:
    """Return whether other counts show an adjusted difference, in the same direction."""
    (found,) = filled.pooled(each.definition, compared=compared)
    neutral, value = each.definition.neutral, found.value
    if value is None or (value > neutral) != ((each.value or 0.0) > neutral):
        return False
    if found.key not in filled.together:
        return found.p_value is not None and found.p_value <= 1 - level
    limits, at = filled.together[found.key]
    low, high = limits(level)
    return not low[at] <= neutral <= high[at]
